//! Membrane energy of a triangle: Ψ = A ξ ψ(F) with F = [x₁−x₀, x₂−x₀] Dₘ⁻¹ ∈ R^{3×2}, A the rest
//! area and ξ the thickness [Li 2020 thesis, §2.2.2], and the strain limit of the same triangle
//! [Li 2021, §4].
//!
//! The projection of isotropic laws is analytic, in the basis of the singular vectors
//! F = Σ σᵢ uᵢ vᵢᵀ: stretches (2×2), the two combinations of u₁v₂ᵀ and u₂v₁ᵀ, and both motions out
//! of plane, of stiffness ψᵢ/σᵢ. The orthotropic law's is numeric (6×6).

// long: one element: energy, gradient, Hessian as it is and projected, for isotropic and orthotropic laws, and the limit of the stretch

mod batch;
mod first_order;

use super::element::{Element, Hessian};
use super::lanes::{Batch, Gradients, Values};
use super::projection::Projection;
use super::term::Role;
use crate::material::membrane::{MembraneLaw, Orthotropic, Principal, SheetLame, StretchLimit};
use standoff_linalg::{Mat3, MatN, Vec3, lanes, project_psd_array, project_psd2};

/// What a triangle is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sheet {
    /// The same in all directions.
    Isotropic(MembraneLaw, SheetLame),
    /// Along and across fibres.
    Orthotropic(Orthotropic),
}

/// One triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Membrane {
    /// Gradients of the shape functions of corners 1 and 2 in the triangle's plane at rest, along
    /// and across the fibres, 1/m.
    shape: [[f64; 2]; 2],
    /// Rest area, m².
    area: f64,
    /// Rest area times thickness, m³.
    volume: f64,
    sheet: Sheet,
    /// Limit of its principal stretches.
    pub limit: Option<StretchLimit>,
}

/// Singular value decomposition of F, σ₁ ≥ σ₂ ≥ 0.
struct Svd {
    s: [f64; 2],
    u: [Vec3; 2],
    v: [[f64; 2]; 2],
}

impl Membrane {
    /// The triangle with rest corners `rest` (m), thickness (m) and material. `fibre` is the
    /// direction of the fibres, which is projected onto the triangle; by default its first edge.
    /// `None` where the triangle has no area or the fibres are perpendicular to it.
    pub fn new(
        rest: &[Vec3; 3],
        thickness: f64,
        sheet: Sheet,
        fibre: Option<Vec3>,
    ) -> Option<Self> {
        let (a, b) = (rest[1] - rest[0], rest[2] - rest[0]);
        let n = a.cross(&b);
        let double_area = n.norm();
        // what rounding may contribute
        let noise = 8.0 * f64::EPSILON * a.norm() * b.norm();
        if !(double_area > noise && double_area.is_finite()) {
            return None;
        }
        let n = n / double_area;
        let along = fibre.unwrap_or(a);
        let along = along - n * n.dot(&along);
        let length = along.norm();
        if length <= 1e-6 * fibre.unwrap_or(a).norm() {
            return None;
        }
        let d1 = along / length;
        let d2 = n.cross(&d1);
        let (a, b) = ([a.dot(&d1), a.dot(&d2)], [b.dot(&d1), b.dot(&d2)]);
        let det = a[0] * b[1] - a[1] * b[0];
        let shape = [[b[1] / det, -b[0] / det], [-a[1] / det, a[0] / det]];
        let area = 0.5 * double_area;
        Some(Self { shape, area, volume: area * thickness, sheet, limit: None })
    }

    /// Whether its stretch or its strain is limited.
    pub fn is_limited(&self) -> bool {
        let strains = |sheet: &Sheet| match sheet {
            Sheet::Orthotropic(law) => law.limits.is_some(),
            Sheet::Isotropic(..) => false,
        };
        self.limit.is_some() || strains(&self.sheet)
    }

    /// Multiplies what the limits add to the energy.
    pub fn weigh_limits(&mut self, factor: f64) {
        if let Some(limit) = &mut self.limit {
            limit.stiffness *= factor;
        }
        if let Sheet::Orthotropic(law) = &mut self.sheet {
            law.limit_weight *= factor;
        }
    }

    /// Rest area, m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Rest area times thickness, m³.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Frobenius norm of ∂²ψ/∂F² at rest, Pa, without the limit.
    pub fn rest_stiffness(&self) -> f64 {
        let (a, shear) = match &self.sheet {
            Sheet::Isotropic(_, SheetLame { mu, lambda }) => {
                ([lambda + 2.0 * mu, lambda + 2.0 * mu, *lambda], *mu)
            }
            Sheet::Orthotropic(law) => (law.a, law.shear),
        };
        (a[0] * a[0] + a[1] * a[1] + 2.0 * a[2] * a[2] + 4.0 * shear * shear).sqrt()
    }

    /// The columns of F.
    #[inline]
    fn gradient_of_map(&self, x: &[Vec3; 3]) -> [Vec3; 2] {
        let (a, b) = (x[1] - x[0], x[2] - x[0]);
        let [g1, g2] = self.shape;
        [a * g1[0] + b * g2[0], a * g1[1] + b * g2[1]]
    }

    /// Principal stretches, σ₁ ≥ σ₂.
    pub fn stretches(&self, x: &[Vec3; 3]) -> [f64; 2] {
        stretches(&self.gradient_of_map(x))
    }

    /// Green's strain E₁₁, E₂₂, E₁₂ along, across the fibres, and their shear.
    pub fn strain(&self, x: &[Vec3; 3]) -> [f64; 3] {
        green_strain(&self.gradient_of_map(x))
    }

    /// ψ of the isotropic law and of the strain limit; `None` where there is neither.
    #[inline]
    fn principal(&self, s: [f64; 2]) -> Option<Principal> {
        let mut p = match &self.sheet {
            Sheet::Isotropic(law, lame) => law.principal(lame, s),
            Sheet::Orthotropic(_) if self.limit.is_none() => return None,
            Sheet::Orthotropic(_) => Principal::default(),
        };
        if let Some(limit) = &self.limit {
            limit.add(s, &mut p);
        }
        Some(p)
    }

    /// Second Piola–Kirchhoff-free first stress: columns of ∂ψ/∂F, Pa.
    fn pk1(&self, f: &[Vec3; 2]) -> [Vec3; 2] {
        let mut p = [Vec3::zeros(); 2];
        let Svd { s, u, v } = svd(f);
        if let Some(d) = self.principal(s) {
            for i in 0..2 {
                for a in 0..2 {
                    p[a] += u[i] * (d.d[i] * v[i][a]);
                }
            }
        }
        if let Sheet::Orthotropic(law) = &self.sheet {
            let d = law.green(green_strain(f)).d;
            p[0] += f[0] * d[0] + f[1] * (0.5 * d[2]);
            p[1] += f[1] * d[1] + f[0] * (0.5 * d[2]);
        }
        p
    }

    /// Von Mises equivalent of the Cauchy stress in the current plane, Pa, with the thickness at
    /// rest.
    pub fn von_mises(&self, x: &[Vec3; 3]) -> f64 {
        let f = self.gradient_of_map(x);
        let p = self.pk1(&f);
        let j = f[0].cross(&f[1]).norm();
        // σ = P Fᵀ / J, symmetric and tangential
        let sigma = (p[0] * f[0].transpose() + p[1] * f[1].transpose()) / j;
        let deviator = sigma - Mat3::from_diagonal_element(sigma.trace() / 3.0);
        (1.5 * deviator.norm_squared()).sqrt()
    }
}

#[inline]
fn green_strain(f: &[Vec3; 2]) -> [f64; 3] {
    let square = |v: &Vec3| 0.5 * (v.norm_squared() - 1.0);
    [square(&f[0]), square(&f[1]), 0.5 * f[0].dot(&f[1])]
}

/// Principal stretches by the eigenvalues of FᵀF; the smaller one by J = σ₁σ₂ = |f₁ × f₂|.
#[inline]
fn stretches(f: &[Vec3; 2]) -> [f64; 2] {
    let (c11, c22, c12) = (f[0].norm_squared(), f[1].norm_squared(), f[0].dot(&f[1]));
    let half = 0.5 * (c11 - c22);
    let s1 = (0.5 * (c11 + c22) + (half * half + c12 * c12).sqrt()).sqrt();
    let s2 = if s1 > 0.0 { f[0].cross(&f[1]).norm() / s1 } else { 0.0 };
    [s1, s2]
}

fn svd(f: &[Vec3; 2]) -> Svd {
    let s = stretches(f);
    let (c11, c22, c12) = (f[0].norm_squared(), f[1].norm_squared(), f[0].dot(&f[1]));
    let (cos, sin) = half_angle(0.5 * (c11 - c22), c12);
    let v = [[cos, sin], [-sin, cos]];
    let u1 = (f[0] * cos + f[1] * sin) / s[0];
    let image = f[1] * cos - f[0] * sin;
    let u2 = image - u1 * u1.dot(&image);
    let length = u2.norm();
    let u2 = if length > 0.0 { u2 / length } else { perpendicular(&u1) };
    Svd { s, u: [u1, u2], v }
}

/// Cosine and sine of half the angle of (a, b): the first eigenvector of [[a, b], [b, −a]].
fn half_angle(a: f64, b: f64) -> (f64, f64) {
    let r = (a * a + b * b).sqrt();
    if r == 0.0 {
        return (1.0, 0.0);
    }
    // of the two the one without cancellation first
    let large = (0.5 * (1.0 + a.abs() / r)).sqrt();
    let small = 0.5 * (b / r) / large;
    if a >= 0.0 { (large, small) } else { (small.abs(), large.copysign(b)) }
}

/// A unit vector perpendicular to a unit vector.
pub(crate) fn perpendicular(t: &Vec3) -> Vec3 {
    let axis = t.iamin();
    let e = Vec3::ith(axis, 1.0);
    (e - t * t[axis]).normalize()
}

impl Element<3> for Membrane {
    const NAME: &'static str = "membranes";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.shell.membrane_factor");
    const TRANSLATION_INVARIANT: bool = true;

    fn without_limits(&self) -> Option<Self> {
        let mut free = Self { limit: None, ..*self };
        if let Sheet::Orthotropic(law) = &mut free.sheet {
            law.limits = None;
        }
        self.is_limited().then_some(free)
    }

    /// Largest part of a strain limit that is used up: 1 at the limit, 0 at rest; `None` without one.
    fn limit_use(&self, x: &[Vec3; 3]) -> Option<f64> {
        let f = self.gradient_of_map(x);
        let isotropic =
            self.limit.map(|l| (stretches(&f)[0] - l.threshold) / (l.limit - l.threshold));
        let limits = match &self.sheet {
            Sheet::Orthotropic(law) => law.limits,
            Sheet::Isotropic(..) => None,
        };
        let e = green_strain(&f);
        let orthotropic = limits.map(|l| (0..3).map(|k| e[k].abs() / l[k]).fold(0.0, f64::max));
        match (isotropic, orthotropic) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }

    #[inline]
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        let f = self.gradient_of_map(x);
        let mut psi = self.principal(stretches(&f)).map_or(0.0, |p| p.psi);
        if let Sheet::Orthotropic(law) = &self.sheet {
            psi += law.green(green_strain(&f)).psi;
        }
        // a triangle without area is beyond a logarithm: NaN only by ∞ − ∞
        if psi.is_nan() { f64::INFINITY } else { self.volume * psi }
    }

    #[inline]
    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        let [p1, p2] = self.pk1(&self.gradient_of_map(x)).map(|p| p * self.volume);
        let [g1, g2] = self.shape.map(|g| p1 * g[0] + p2 * g[1]);
        [-(g1 + g2), g1, g2]
    }

    fn hessian_psd(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, false)
    }

    /// Several triangles at once, one per lane.
    fn values(elements: &[Self], vertices: &[[u32; 3]], x: &[Vec3], out: &mut [f64]) {
        lanes::dispatch(Values { all: Batch { elements, vertices, x }, out });
    }

    /// Several triangles at once, one per lane.
    fn gradients(elements: &[Self], vertices: &[[u32; 3]], x: &[Vec3], out: &mut [[Vec3; 3]]) {
        lanes::dispatch(Gradients { all: Batch { elements, vertices, x }, out });
    }

    /// Several triangles at once, one per lane.
    fn hessians(
        elements: &[Self],
        vertices: &[[u32; 3]],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let (out, _) = out.as_chunks_mut();
        lanes::dispatch(batch::Hessians { elements, vertices, x, projection, out });
    }
}

impl Membrane {
    /// The second derivative by the corners, projected or as it is.
    fn second_derivative(&self, x: &[Vec3; 3], project: bool) -> Hessian<3> {
        let f = self.gradient_of_map(x);
        let mut k = [[Mat3::zeros(); 2]; 2];
        let svd = svd(&f);
        if let Some(p) = self.principal(svd.s) {
            add_principal(&mut k, &svd, &p, project);
        }
        if let Sheet::Orthotropic(law) = &self.sheet {
            add_green(&mut k, &f, law, project);
        }
        let g = self.shape;
        let block = |a: usize, b: usize| {
            let mut h = Mat3::zeros();
            for i in 0..2 {
                for j in 0..2 {
                    h += k[i][j] * (self.volume * g[a][i] * g[b][j]);
                }
            }
            h
        };
        // a translation does nothing, so rows sum to zero
        let (h11, h12, h22) = (block(0, 0), block(0, 1), block(1, 1));
        let h21 = h12.transpose();
        let (h01, h02) = (-(h11 + h21), -(h12 + h22));
        let (h10, h20) = (h01.transpose(), h02.transpose());
        [[-(h01 + h02), h01, h02], [h10, h11, h12], [h20, h21, h22]]
    }
}

/// ∂²ψ/∂F² of a function of the principal stretches, in the basis of the singular vectors.
struct Stiffness {
    /// Of the stretches: a₁₁, a₂₂, a₁₂.
    stretch: [f64; 3],
    /// (flip + twist)/2, of motions u₁v₂ᵀ and u₂v₁ᵀ by themselves.
    same: f64,
    /// (flip − twist)/2, between both.
    swap: f64,
    /// Of the motions n v₁ᵀ and n v₂ᵀ out of the plane.
    bend: [f64; 2],
}

impl Stiffness {
    #[inline]
    fn new(s: [f64; 2], p: &Principal, project: bool) -> Self {
        let least = if project { 0.0 } else { f64::NEG_INFINITY };
        let flip = p.quotient.max(least);
        let sum = s[0] + s[1];
        let twist = if sum > 0.0 { ((p.d[0] + p.d[1]) / sum).max(least) } else { 0.0 };
        let [a, b, c] = [p.dd[0], p.dd[1], p.d12];
        Self {
            stretch: if project { clamp2(a, b, c) } else { [a, b, c] },
            same: 0.5 * (flip + twist),
            swap: 0.5 * (flip - twist),
            bend: [0, 1].map(|i| if s[i] > 0.0 { (p.d[i] / s[i]).max(least) } else { 0.0 }),
        }
    }
}

/// Adds ∂²ψ/∂F² of a function of the principal stretches, projected or as it is: block (a, b) belongs to the
/// columns a and b of F.
fn add_principal(k: &mut [[Mat3; 2]; 2], svd: &Svd, p: &Principal, project: bool) {
    let Svd { s, u, v } = svd;
    let Stiffness { stretch: [a11, a22, a12], same, swap, bend } = Stiffness::new(*s, p, project);
    let n = u[0].cross(&u[1]);
    let [uu11, uu22, uu12, nn] = [
        u[0] * u[0].transpose(),
        u[1] * u[1].transpose(),
        u[0] * u[1].transpose(),
        n * n.transpose(),
    ];
    let uu21 = uu12.transpose();
    for a in 0..2 {
        for b in 0..2 {
            let (v1, v2) = (v[0], v[1]);
            k[a][b] += uu11 * (a11 * v1[a] * v1[b] + same * v2[a] * v2[b])
                + uu22 * (a22 * v2[a] * v2[b] + same * v1[a] * v1[b])
                + uu12 * (a12 * v1[a] * v2[b] + swap * v2[a] * v1[b])
                + uu21 * (a12 * v2[a] * v1[b] + swap * v1[a] * v2[b])
                + nn * (bend[0] * v1[a] * v1[b] + bend[1] * v2[a] * v2[b]);
        }
    }
}

/// The nearest positive semidefinite of [[a, c], [c, b]], as [a, b, c].
fn clamp2(a: f64, b: f64, c: f64) -> [f64; 3] {
    if a >= 0.0 && b >= 0.0 && a * b >= c * c {
        return [a, b, c];
    }
    let m = project_psd2(&MatN::<2>::new(a, c, c, b));
    [m[(0, 0)], m[(1, 1)], m[(0, 1)]]
}

/// Adds ∂²ψ/∂F² of a function of Green's strain, projected or as it is.
fn add_green(k: &mut [[Mat3; 2]; 2], f: &[Vec3; 2], law: &Orthotropic, project: bool) {
    let d = law.green(green_strain(f));
    // rows: ∂E₁₁/∂F, ∂E₂₂/∂F, ∂E₁₂/∂F
    let mut de = [[0.0; 6]; 3];
    for r in 0..3 {
        de[0][r] = f[0][r];
        de[1][3 + r] = f[1][r];
        de[2][r] = 0.5 * f[1][r];
        de[2][3 + r] = 0.5 * f[0][r];
    }
    let mut m = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            for p in 0..3 {
                for q in 0..3 {
                    m[i][j] += de[p][i] * d.dd[p][q] * de[q][j];
                }
            }
        }
    }
    for r in 0..3 {
        m[r][r] += d.d[0];
        m[3 + r][3 + r] += d.d[1];
        m[r][3 + r] += 0.5 * d.d[2];
        m[3 + r][r] += 0.5 * d.d[2];
    }
    if project {
        project_psd_array(&mut m);
    }
    for a in 0..2 {
        for b in 0..2 {
            k[a][b] += Mat3::from_fn(|r, s| m[3 * a + r][3 * b + s]);
        }
    }
}
