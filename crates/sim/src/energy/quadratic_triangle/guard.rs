//! The barrier against inversion of quadratic triangles: Ψ = Σ V b(c/C) over the Bernstein coefficients c of the area, which are C at rest, with the
//! barrier b of invertible laws (`material/inversion.rs`), as that of quadratic tetrahedra. Elastic energy is evaluated at three points, and would
//! let the element invert elsewhere. Of a ring, the same of the radii of its control points: Σ V b(p/P).

use super::bernstein::{
    COEFFICIENTS, PAIRS, WEIGHTS, coefficients, columns, control, control_points, max_step, on_axis,
};
use super::{KEEP_VOLUME, NODES};
use crate::energy::axisymmetric::radius_barrier;
use crate::energy::element::{Element, Hessian};
use crate::energy::term::Role;
use crate::material::Lame;
use crate::material::inversion::{VOLUME_RATIO, barrier};
use standoff_linalg::{Mat3, Vec3, project_psd_array};

/// The barrier of one element.
#[derive(Debug, Clone, PartialEq)]
pub struct AreaGuard {
    /// The coefficients at rest, m².
    rest: [f64; COEFFICIENTS],
    /// The radii of the control points at rest, m; 0 on the axis and under plane strain.
    radii: [f64; COEFFICIENTS],
    /// Rest volume of the element, m³.
    volume: f64,
    /// Whether there is a barrier.
    pub acts: bool,
    /// Whether the radius is bounded, too.
    is_ring: bool,
    lame: Lame,
}

impl AreaGuard {
    pub(super) fn new(
        rest: &[Vec3; NODES],
        volume: f64,
        lame: Lame,
        acts: bool,
        is_ring: bool,
    ) -> Self {
        let (points, on_axis) = (control_points(rest), on_axis(rest));
        let radius = |k: usize| if is_ring && !on_axis[k] { points[k].x } else { 0.0 };
        let radii = std::array::from_fn(radius);
        Self { rest: coefficients(&columns(rest)), radii, volume, acts, is_ring, lame }
    }

    /// The barrier of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self {
            rest: self.rest.map(|c| c * g * g),
            radii: self.radii.map(|r| r * g),
            volume: self.volume * g.powi(3),
            ..self.clone()
        }
    }

    /// The coefficients in terms of those at rest.
    pub(super) fn ratios(&self, x: &[Vec3; NODES]) -> [f64; COEFFICIENTS] {
        let now = coefficients(&columns(x));
        std::array::from_fn(|k| now[k] / self.rest[k])
    }

    /// The coefficients at which the barrier acts, with their ratios.
    fn acting(&self, x: &[Vec3; NODES]) -> impl Iterator<Item = (usize, f64)> + use<> {
        let ratios = if self.acts { self.ratios(x) } else { [1.0; COEFFICIENTS] };
        // what is not a number acts, so that it is seen
        ratios.into_iter().enumerate().filter(|(_, j)| *j < VOLUME_RATIO || j.is_nan())
    }

    /// The control points that are close to the axis, with the weights of the nodes, and the barrier and its derivatives by the radius.
    pub(super) fn close_to_axis(
        &self,
        x: &[Vec3; NODES],
    ) -> impl Iterator<Item = ([f64; NODES], [f64; 3])> + '_ {
        let points = control_points(x);
        let wanted = (0..COEFFICIENTS).filter(|_| self.acts && self.is_ring);
        wanted.filter_map(move |k| {
            let [i, l] = PAIRS[k];
            let barrier = radius_barrier(&self.lame, points[k].x, self.radii[k])?;
            Some((control(i, l), barrier.map(|b| self.volume * b)))
        })
    }

    /// The derivative of a coefficient over that at rest by the nodes.
    fn slope(&self, k: usize, [a, b]: &[[Vec3; 3]; 2]) -> [Vec3; NODES] {
        let [i, l] = PAIRS[k];
        // ∂(a × b)/∂a and ∂(a × b)/∂b
        let (by_first, by_second) =
            (|b: &Vec3| Vec3::new(b.y, -b.x, 0.0), |a: &Vec3| Vec3::new(-a.y, a.x, 0.0));
        let part = 0.5 / self.rest[k];
        std::array::from_fn(|n| {
            let first = by_first(&b[l]) * WEIGHTS[0][i][n] + by_first(&b[i]) * WEIGHTS[0][l][n];
            let second = by_second(&a[i]) * WEIGHTS[1][l][n] + by_second(&a[l]) * WEIGHTS[1][i][n];
            part * (first + second)
        })
    }

    /// Adds the second derivative, projected or not.
    pub(super) fn add_second_derivative(
        &self,
        x: &[Vec3; NODES],
        project: bool,
        out: &mut Hessian<NODES>,
    ) {
        let columns = columns(x);
        let mut own = [[0.0; 2 * NODES]; 2 * NODES];
        let mut acts = false;
        for (k, j) in self.acting(x) {
            acts = true;
            self.add_curvature(k, j, &columns, &mut own);
        }
        for (weights, [_, _, second]) in self.close_to_axis(x) {
            acts = true;
            for m in 0..NODES {
                for n in 0..NODES {
                    own[2 * m][2 * n] += second * weights[m] * weights[n];
                }
            }
        }
        if !acts {
            return;
        }
        if project {
            project_psd_array(&mut own);
        }
        for (m, row) in own.iter().enumerate() {
            for (n, value) in row.iter().enumerate() {
                out[m / 2][n / 2][(m % 2, n % 2)] += value;
            }
        }
    }

    /// Adds b″ ∇j ∇jᵀ + b′ ∇²j of a coefficient whose ratio is j, in the plane.
    fn add_curvature(
        &self,
        k: usize,
        j: f64,
        columns: &[[Vec3; 3]; 2],
        out: &mut [[f64; 2 * NODES]; 2 * NODES],
    ) {
        let [_, first, second] = barrier(&self.lame, j).map(|b| self.volume * b);
        let slope = self.slope(k, columns);
        let [i, l] = PAIRS[k];
        let part = 0.5 * first / self.rest[k];
        let [a, b] = &WEIGHTS;
        for m in 0..NODES {
            for n in 0..NODES {
                for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    out[2 * m + r][2 * n + c] += second * slope[m][r] * slope[n][c];
                }
                // of the area of the parallelogram of node m in the first column and node n in the second
                let both = |m: usize, n: usize| a[i][m] * b[l][n] + a[l][m] * b[i][n];
                let mixed = part * (both(m, n) - both(n, m));
                out[2 * m][2 * n + 1] += mixed;
                out[2 * m + 1][2 * n] -= mixed;
            }
        }
    }

    fn second_derivative(&self, x: &[Vec3; NODES], project: bool) -> Hessian<NODES> {
        let mut h = [[Mat3::zeros(); NODES]; NODES];
        self.add_second_derivative(x, project, &mut h);
        h
    }
}

impl Element<NODES> for AreaGuard {
    const NAME: &'static str = "inversion barrier within";
    const ROLE: Role = Role::Constraint;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    // as the triangles to which it belongs
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; NODES]) -> f64 {
        let area = self.acting(x).map(|(_, j)| self.volume * barrier(&self.lame, j)[0]);
        area.chain(self.close_to_axis(x).map(|(_, [b, ..])| b)).sum()
    }

    fn gradient(&self, x: &[Vec3; NODES]) -> [Vec3; NODES] {
        let mut g = [Vec3::zeros(); NODES];
        let columns = columns(x);
        for (k, j) in self.acting(x) {
            let factor = self.volume * barrier(&self.lame, j)[1];
            let slope = self.slope(k, &columns);
            g.iter_mut().zip(slope).for_each(|(g, slope)| *g += factor * slope);
        }
        for (weights, [_, first, _]) in self.close_to_axis(x) {
            g.iter_mut().zip(weights).for_each(|(g, weight)| g.x += first * weight);
        }
        g
    }

    fn hessian_psd(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, false)
    }

    /// See [`QuadraticTriangle::max_step`](super::QuadraticTriangle); it bounds the step, too, where the energy is evaluated before its end.
    fn max_step(&self, x: &[Vec3; NODES], dx: &[Vec3; NODES]) -> f64 {
        max_step(x, dx, KEEP_VOLUME, self.is_ring)
    }

    /// Nothing: it is a limit and nothing else.
    fn without_limits(&self) -> Option<Self> {
        Some(Self { acts: false, ..self.clone() })
    }
}
