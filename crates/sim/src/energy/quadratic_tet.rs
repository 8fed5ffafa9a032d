//! Elastic energy of quadratic tetrahedra: ten nodes, four corners and the middles of the six edges, between which positions are
//! polynomials of degree two [Hughes 2000, app. 3.I].
//!
//! Ψ = Σ w_q ψ(F(ξ_q)) over four points ξ_q, exact for elements with straight edges and a linear law, with
//! F(ξ) = ∂x/∂ξ (∂X/∂ξ)⁻¹. The volume varies within an element. It is positive everywhere, because its Bernstein coefficients are
//! (`bernstein.rs`): steps are bounded where one would fall to a fifth of what it is, and a barrier acts where one is small (`guard.rs`).

mod bernstein;
mod formulas;
mod guard;
#[cfg(test)]
mod tests;

use super::element::{Element, Elements, Hessian};
use super::formula::{self, Batch, Formula};
use super::point::Point;
use super::projection::Projection;
use super::term::Role;
use crate::material::{Lame, Law, Material};
pub use guard::CoefficientGuard;
use standoff_geometry::quadratic::EDGES;
pub use standoff_geometry::quadratic::NODES;
use standoff_linalg::{M3, Mat3, Real, V3, Vec3, lanes};

/// Blocks of the second derivative off the diagonal.
const BLOCKS: usize = NODES * (NODES - 1) / 2;

/// Points at which the energy is evaluated.
pub(crate) const POINTS: usize = 4;

/// Part of a coefficient of the volume that one step keeps, as linear elements keep that part of their volume.
const KEEP: f64 = super::tet::KEEP_VOLUME;

/// The elastic quadratic tetrahedra of a scene.
pub type QuadraticTets = Elements<QuadraticTet, NODES>;

/// One element: its rest shape and material.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticTet {
    /// (∂X/∂ξ)⁻¹ at the points, 1/m.
    inverse: [Mat3; POINTS],
    /// Rest volume that each point stands for, m³.
    volume: [f64; POINTS],
    lame: Lame,
    law: Law,
    /// Whether the law is given a barrier against inversion, where it has none by itself.
    guarded: bool,
    /// The barrier within.
    guard: CoefficientGuard,
}

/// Barycentric coordinates of point q at corner q and at the others, (5 ± 3√5)/20 and (5 − √5)/20. The rule with equal weights is exact
/// for polynomials of degree two [Hughes 2000, app. 3.I].
const NEAR: f64 = 0.585_410_196_624_968_5;
const FAR: f64 = 0.138_196_601_125_010_5;

/// ∂N/∂ξ of the ten shape functions: ξ₁, ξ₂, ξ₃ are the barycentric coordinates of corners 1, 2, 3.
type Slopes = [[f64; 3]; NODES];

/// The slopes at the points.
const AT_POINTS: [Slopes; POINTS] = {
    let mut all = [[[0.0; 3]; NODES]; POINTS];
    let mut q = 0;
    while q < POINTS {
        let mut at = [FAR; 4];
        at[q] = NEAR;
        all[q] = slopes(at);
        q += 1;
    }
    all
};

/// The slopes at barycentric coordinates.
const fn slopes(at: [f64; 4]) -> Slopes {
    let mut out = [[0.0; 3]; NODES];
    let mut n = 0;
    while n < NODES {
        let mut by = [0.0; 4];
        if n < 4 {
            by[n] = 4.0 * at[n] - 1.0;
        } else {
            let [a, b] = EDGES[n - 4];
            (by[a], by[b]) = (4.0 * at[b], 4.0 * at[a]);
        }
        out[n] = [by[1] - by[0], by[2] - by[0], by[3] - by[0]];
        n += 1;
    }
    out
}

/// The ten shape functions at barycentric coordinates.
fn shapes(at: [f64; 4]) -> [f64; NODES] {
    std::array::from_fn(|n| match n.checked_sub(4) {
        None => at[n] * (2.0 * at[n] - 1.0),
        Some(e) => 4.0 * at[EDGES[e][0]] * at[EDGES[e][1]],
    })
}

/// The shape functions at the points of the rule that is exact for polynomials of degree two over an element with so many nodes: the quadratic ones of
/// tetrahedra, the linear ones of tetrahedra or triangles. All points stand for the same part of the volume of an element with straight edges.
pub(crate) fn weights_at_points(nodes: usize) -> Vec<Vec<f64>> {
    let [near, far, points] = match nodes {
        // [Hughes 2000, app. 3.I]
        3 => [2.0 / 3.0, 1.0 / 6.0, 3.0],
        _ => [NEAR, FAR, 4.0],
    };
    let barycentric = |q: usize| std::array::from_fn(|a| if a == q { near } else { far });
    let at = |q: usize| match nodes {
        NODES => shapes(barycentric(q)).into(),
        _ => barycentric(q)[..nodes].to_vec(),
    };
    (0..points as usize).map(at).collect()
}

/// Steps of Newton's method for the place of a point, and the part of the element's size at which it has found it.
const PLACING: usize = 30;
const PLACED: f64 = 1e-14;

/// The shape functions of the element with nodes `x` where it, or its continuation beyond its faces, is at `point`: Σ N x = point. None where
/// Newton's method finds no such place.
pub(crate) fn place_in(point: &Vec3, x: &[Vec3; NODES]) -> Option<[f64; NODES]> {
    let size = (1..4).map(|k| (x[k] - x[0]).norm()).fold(0.0, f64::max);
    let mut at = [0.25; 4];
    let mut found = None;
    for _ in 0..PLACING {
        let weights = shapes(at);
        let miss = point - weights.iter().zip(x).map(|(w, x)| *w * x).sum::<Vec3>();
        if !miss.norm().is_finite() {
            return None;
        }
        // rounding may keep the last digits from vanishing
        if miss.norm() <= 100.0 * PLACED * size {
            found = Some(weights);
        }
        if miss.norm() <= PLACED * size {
            break;
        }
        let slope = Mat3::from(jacobian(&formula::plain(x), &slopes(at)));
        let step = slope.try_inverse()? * miss;
        (at[1], at[2], at[3]) = (at[1] + step.x, at[2] + step.y, at[3] + step.z);
        at[0] = 1.0 - at[1] - at[2] - at[3];
    }
    found
}

/// ∂x/∂ξ with these slopes of the shape functions. They sum to zero, so that positions relative to node 0 give the same, with less
/// rounding.
#[inline(always)]
fn jacobian<R: Real>(x: &[V3<R>; NODES], slopes: &Slopes) -> M3<R> {
    let number = |value: f64| x[0][0].constant(value);
    let mut d = M3([V3::repeat(number(0.0)); 3]);
    for n in 1..NODES {
        let y = x[n] - x[0];
        for j in 0..3 {
            d[j] = d[j] + y * number(slopes[n][j]);
        }
    }
    d
}

impl QuadraticTet {
    /// The element with rest positions `rest` of its nodes (m). `None` where a Bernstein coefficient of its volume is not positive.
    pub fn new(rest: &[Vec3; NODES], material: &Material) -> Option<Self> {
        if !rest.iter().flatten().all(|c| c.is_finite()) || !bernstein::is_positive(rest) {
            return None;
        }
        let at = |of: &Slopes| Mat3::from(jacobian(&formula::plain(rest), of));
        let mut inverse = [Mat3::zeros(); POINTS];
        let mut volume = [0.0; POINTS];
        for q in 0..POINTS {
            let d = at(&AT_POINTS[q]);
            inverse[q] = d.try_inverse()?;
            volume[q] = d.determinant() / (6.0 * POINTS as f64);
        }
        let (lame, law) = (material.lame(), material.law.clone());
        let total = volume.iter().sum();
        let guard = CoefficientGuard::new(rest, total, lame);
        Some(Self { inverse, volume, lame, law, guarded: true, guard })
    }

    /// The same element without the barrier against inversion of laws that have none by themselves, at points and within: only
    /// bounds of steps keep it from turning inside out.
    #[must_use]
    pub fn without_inversion_barrier(mut self) -> Self {
        self.guarded = false;
        self.guard.acts = false;
        self
    }

    /// The same element with it.
    #[must_use]
    pub fn with_inversion_barrier(mut self) -> Self {
        self.guarded = true;
        self.guard.acts = true;
        self
    }

    /// The barrier within, which stands for all of the element at the end of a step whose elastic energy is evaluated before it.
    pub(super) fn own_guard(&self) -> CoefficientGuard {
        self.guard.clone()
    }

    /// The element of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self {
            inverse: self.inverse.map(|i| i / g),
            volume: self.volume.map(|v| v * g.powi(3)),
            guard: self.guard.grown(g),
            ..self.clone()
        }
    }

    /// Its points.
    pub(super) fn points(&self) -> [Point<NODES>; POINTS] {
        std::array::from_fn(|q| {
            let by_row = |[a, b, c]: [f64; 3]| self.inverse[q].tr_mul(&Vec3::new(a, b, c));
            let gradients = AT_POINTS[q].map(by_row);
            Point { gradients, across: Mat3::zeros(), volume: self.volume[q] }
        })
    }

    /// Where its points are at rest positions `rest` of its nodes.
    pub(crate) fn places(rest: &[Vec3; NODES]) -> [Vec3; POINTS] {
        std::array::from_fn(|q| {
            let weights = shapes(std::array::from_fn(|a| if a == q { NEAR } else { FAR }));
            weights.iter().zip(rest).map(|(w, x)| *w * x).sum()
        })
    }

    /// Lamé's parameters of the material.
    pub fn lame(&self) -> &Lame {
        &self.lame
    }

    /// Rest volume, m³.
    pub fn volume(&self) -> f64 {
        self.volume.iter().sum()
    }

    /// Frobenius norm of ∂²ψ/∂F² at rest, Pa.
    pub fn rest_stiffness(&self) -> f64 {
        self.lame.rest_stiffness()
    }

    /// The part of the element's mass at each node: in the ratio of the diagonal of the consistent mass matrix of an element with
    /// straight edges, 1/36 at a corner and 4/27 at a middle [Hinton 1976].
    pub fn mass_part(node: usize) -> f64 {
        if node < 4 { 1.0 / 36.0 } else { 4.0 / 27.0 }
    }

    /// The integral of each shape function over the element at rest, m³: how its weight is shared by the nodes in equilibrium. Negative at
    /// the corners.
    pub fn weight_volumes(&self) -> [f64; NODES] {
        let at = |q: usize| shapes(std::array::from_fn(|a| if a == q { NEAR } else { FAR }));
        let all: [[f64; NODES]; POINTS] = std::array::from_fn(at);
        std::array::from_fn(|n| all.iter().zip(&self.volume).map(|(of, v)| of[n] * v).sum())
    }

    /// Deformation gradients F at the points.
    pub fn deformation_gradients(&self, x: &[Vec3; NODES]) -> [Mat3; POINTS] {
        let x = formula::plain(x);
        std::array::from_fn(|q| Mat3::from(jacobian(&x, &AT_POINTS[q])) * self.inverse[q])
    }

    /// The mean of F over the element at rest.
    pub fn mean_gradient(&self, x: &[Vec3; NODES]) -> Mat3 {
        self.mean(&self.deformation_gradients(x))
    }

    /// The least volume ratio, of those at the points and of the coefficients of the volume.
    pub fn least_ratio(&self, x: &[Vec3; NODES]) -> f64 {
        let points = self.deformation_gradients(x).map(|f| f.determinant());
        points.into_iter().chain(self.guard.ratios(x)).fold(f64::INFINITY, f64::min)
    }

    /// Cauchy stress at the points, Pa.
    pub fn stresses(&self, x: &[Vec3; NODES]) -> [Mat3; POINTS] {
        self.deformation_gradients(x).map(|f| self.law.cauchy_stress(&self.lame, &f))
    }

    /// The mean over the element at rest of what has these values at its points.
    pub(super) fn mean(&self, values: &[Mat3]) -> Mat3 {
        let sum: Mat3 = values.iter().zip(&self.volume).map(|(s, v)| s * *v).sum();
        sum / self.volume()
    }

    /// Whether the Bernstein coefficients of the volume are positive, and with them the volume everywhere within.
    pub fn is_positive(x: &[Vec3; NODES]) -> bool {
        bernstein::is_positive(x)
    }
}

impl Element<NODES> for QuadraticTet {
    const NAME: &'static str = "quadratic tetrahedra";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    const TRANSLATION_INVARIANT: bool = true;

    fn value(&self, x: &[Vec3; NODES]) -> f64 {
        <Self as Formula<NODES, BLOCKS>>::energy(self, &formula::plain(x)) + self.guard.value(x)
    }

    fn gradient(&self, x: &[Vec3; NODES]) -> [Vec3; NODES] {
        let mut g =
            <Self as Formula<NODES, BLOCKS>>::slope(self, &formula::plain(x)).map(Vec3::from);
        self.guard.add_gradient(x, &mut g);
        g
    }

    fn hessian_psd(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, false)
    }

    /// Several elements at once, one per lane.
    fn values(elements: &[Self], vertices: &[[u32; NODES]], x: &[Vec3], out: &mut [f64]) {
        let all = Batch { elements, vertices, x };
        lanes::dispatch(formula::Values { all, out: &mut *out });
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out) {
            *out += element.guard.value(&vertices.map(|v| x[v as usize]));
        }
    }

    /// Several elements at once, one per lane.
    fn gradients(
        elements: &[Self],
        vertices: &[[u32; NODES]],
        x: &[Vec3],
        out: &mut [[Vec3; NODES]],
    ) {
        let all = Batch { elements, vertices, x };
        lanes::dispatch(formula::Gradients { all, out: &mut *out });
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out) {
            element.guard.add_gradient(&vertices.map(|v| x[v as usize]), out);
        }
    }

    /// Several elements at once, one per lane.
    fn hessians(
        elements: &[Self],
        vertices: &[[u32; NODES]],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let (out, _) = out.as_chunks_mut::<BLOCKS>();
        let all = Batch { elements, vertices, x };
        lanes::dispatch(formula::Hessians { all, projection, out: &mut *out });
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out) {
            let project = projection.applies_to(vertices);
            element.guard.add_blocks(&vertices.map(|v| x[v as usize]), project, out);
        }
    }

    /// The largest α ≤ 1 such that the Bernstein coefficients of the volume keep a fifth of what they are all along `x` + [0, α] `dx`.
    /// With them the volume stays positive everywhere within.
    fn max_step(&self, x: &[Vec3; NODES], dx: &[Vec3; NODES]) -> f64 {
        bernstein::max_step(x, dx, KEEP)
    }
}

impl QuadraticTet {
    fn second_derivative(&self, x: &[Vec3; NODES], project: bool) -> Hessian<NODES> {
        let curvature =
            <Self as Formula<NODES, BLOCKS>>::curvature(self, &formula::plain(x), project);
        let mut blocks = curvature.map(Mat3::from);
        self.guard.add_blocks(x, project, &mut blocks);
        formula::complete(&blocks.map(|b| M3::from(&b)))
    }
}
