//! Energies of linear triangles in the half-plane r ≥ 0 of a body of revolution: Ψ = Σ 2π R A ψ(F) of the whole ring, with x = r and y
//! along the axis.
//!
//! F has the block of plane strain, [x₁−x₀, x₂−x₀] Dₘ⁻¹, and F₃₃ = r/R, the stretch along the circumference
//! [Timoshenko & Goodier 1970, ch. 12]. The integral has one point, the centroid, where R is positive for a triangle that touches the axis, too, and F
//! is exact where r = λ R. ψ is the law of the solid in three dimensions.
//!
//! F is linear in positions: dF = Σ dxₐ ∇Nₐᵀ + e₃ (dxₐ·e₁) kₐᵀ, with kₐ = (Nₐ/R) e₃ before anything has flowed. So an energy W(F) at a
//! point has the derivatives P ∇Nₐ + e₁ (e₃·P kₐ) by the corners.

use super::element::{Element, Hessian};
use super::point::Point;
use super::term::Role;
use super::tet::{KEEP_VOLUME, step::volume_step};
use crate::material::inversion::{VOLUME_RATIO, barrier};
use crate::material::{Lame, Law, Material, PrincipalHessian};
use standoff_linalg::{M3, Mat3, Svd, V3, Vec3, svd3};
use std::f64::consts::TAU;
use std::fmt::Debug;

/// The point of a triangle at which its energy density is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct RingPoint {
    /// Gradients of the shape functions at rest, 1/m.
    gradients: [Vec3; 3],
    /// kₐ: what the radius of each corner adds to the last row of F, 1/m.
    hoop: [Vec3; 3],
    /// Rest volume of the ring, 2π R A, m³.
    pub volume: f64,
}

impl RingPoint {
    /// The centroid of a triangle with rest corners `rest` (m); `None` where it is clockwise or flat, or reaches behind the axis.
    pub fn new(rest: &[Vec3; 3]) -> Option<Self> {
        let (a, b) = (rest[1] - rest[0], rest[2] - rest[0]);
        let det = a.x * b.y - a.y * b.x;
        // what rounding may contribute to the determinant
        let noise = 8.0 * f64::EPSILON * a.abs().sum() * b.abs().sum();
        let radius = rest.iter().map(|p| p.x).sum::<f64>() / 3.0;
        let inside = rest.iter().all(|p| p.x >= 0.0);
        if !(det > noise && det.is_finite() && radius > 0.0 && inside) {
            return None;
        }
        let g1 = Vec3::new(b.y / det, -b.x / det, 0.0);
        let g2 = Vec3::new(-a.y / det, a.x / det, 0.0);
        let hoop = Vec3::z() / (3.0 * radius);
        let volume = TAU * radius * 0.5 * det;
        Some(Self { gradients: [-(g1 + g2), g1, g2], hoop: [hoop; 3], volume })
    }

    /// F at positions `x` of the corners.
    #[inline]
    pub fn deformation_gradient(&self, x: &[Vec3; 3]) -> Mat3 {
        // the gradients sum to zero
        let mut f = (x[1] - x[0]) * self.gradients[1].transpose();
        f += (x[2] - x[0]) * self.gradients[2].transpose();
        let last: Vec3 = (0..3).map(|a| self.hoop[a] * x[a].x).sum();
        for c in 0..3 {
            f[(2, c)] += last[c];
        }
        f
    }

    /// The same point without what radii add, and kₐ.
    pub fn parts(&self) -> (Point<3>, [Vec3; 3]) {
        let Self { gradients, hoop, volume } = self.clone();
        (Point { gradients, across: Mat3::zeros(), volume }, hoop)
    }

    /// The point of what is `g` times as long without stress.
    pub fn grown(&self, g: f64) -> Self {
        Self {
            gradients: self.gradients.map(|a| a / g),
            hoop: self.hoop.map(|k| k / g),
            volume: self.volume * g.powi(3),
        }
    }

    /// The same point with F Fᵢ⁻¹ in the place of F.
    pub fn behind(&self, inverse: &Mat3) -> Self {
        Self {
            gradients: self.gradients.map(|g| inverse.tr_mul(&g)),
            hoop: self.hoop.map(|k| inverse.tr_mul(&k)),
            volume: self.volume,
        }
    }

    /// The derivative of V W by the corners, with P = ∂W/∂F.
    fn pulled(&self, p: &Mat3) -> [Vec3; 3] {
        std::array::from_fn(|a| {
            let mut g = p * self.gradients[a];
            g.x += (p * self.hoop[a]).z;
            // nothing moves along z
            g.z = 0.0;
            g * self.volume
        })
    }

    /// The second derivative of V W by the corners, with ∂²W/∂F² in the basis of the singular vectors of F.
    fn second_derivative(&self, svd: &Svd<f64>, principal: &PrincipalHessian) -> Hessian<3> {
        let form = principal.form(self.volume);
        let vt = svd.v.transpose();
        let [g, k] = [&self.gradients, &self.hoop].map(|v| v.map(|v| &vt * &V3::from(&v)));
        let block = |a: &V3<f64>, b: &V3<f64>| -> Mat3 {
            (&(&svd.u * &form.block(a, b)) * &svd.u.transpose()).into()
        };
        let mut h = [[Mat3::zeros(); 3]; 3];
        for a in 0..3 {
            for b in a..3 {
                let mut m = block(&g[a], &g[b]);
                let (across, along) = (block(&k[a], &g[b]), block(&g[a], &k[b]));
                for i in 0..2 {
                    m[(0, i)] += across[(2, i)];
                    m[(i, 0)] += along[(i, 2)];
                }
                m[(0, 0)] += block(&k[a], &k[b])[(2, 2)];
                // motions along z are none of these
                for i in 0..2 {
                    (m[(2, i)], m[(i, 2)]) = (0.0, 0.0);
                }
                h[a][b] = m;
                h[b][a] = m.transpose();
            }
        }
        h
    }

    /// The largest α ≤ 1 such that the triangle keeps 20 % of its area, and every corner 20 % of its radius, all along `x` + [0, α] `dx`.
    fn max_step(x: &[Vec3; 3], dx: &[Vec3; 3]) -> f64 {
        let (top, still) = (x[0] + Vec3::z(), dx[0]);
        let area =
            volume_step(&[x[0], x[1], x[2], top], &[dx[0], dx[1], dx[2], still], KEEP_VOLUME);
        // a corner on the axis is held there
        let towards = x.iter().zip(dx).filter(|(x, dx)| x.x > 0.0 && dx.x < 0.0);
        towards.map(|(x, dx)| (1.0 - KEEP_VOLUME) * x.x / -dx.x).fold(area, f64::min)
    }
}

/// An energy density at the point of a ring, as a function of F.
pub trait RingDensity: Debug + Clone + Send + Sync {
    /// The energy's row in reports.
    const NAME: &'static str;
    /// What it is for.
    const ROLE: Role;
    /// Whether it keeps triangles counter-clockwise and their corners off the axis along a step.
    const BOUNDS: bool;

    /// W, Pa.
    fn psi(&self, f: &Mat3) -> f64;
    /// ∂W/∂F, Pa.
    fn pk1(&self, f: &Mat3) -> Mat3;
    /// ∂²W/∂F² at singular values of F, not projected, Pa.
    fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian;
    /// The stiffness against antiplane shear to take in the place of ∂²W/∂F², Pa. No motion along z comes of it, see
    /// `plane_strain`.
    fn antiplane(&self) -> Option<f64> {
        None
    }
    /// The same without its limits, where it has some.
    fn without_limits(&self) -> Option<Self> {
        None
    }
}

/// An energy of a triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRing<D> {
    /// Where it is evaluated.
    pub point: RingPoint,
    /// What is evaluated.
    pub density: D,
}

impl<D: RingDensity> AtRing<D> {
    fn second_derivative(&self, x: &[Vec3; 3], project: bool) -> Hessian<3> {
        let svd = Svd::from(&svd3(&self.point.deformation_gradient(x)));
        let mut principal = self.density.principal_hessian(&svd.sigma);
        principal.project_psd(project);
        let mut h = self.point.second_derivative(&svd, &principal);
        if let Some(mu) = self.density.antiplane() {
            let g = &self.point.gradients;
            for a in 0..3 {
                for b in 0..3 {
                    h[a][b][(2, 2)] = self.point.volume * mu * g[a].dot(&g[b]);
                }
            }
        }
        h
    }
}

impl<D: RingDensity> Element<3> for AtRing<D> {
    const NAME: &'static str = D::NAME;
    const ROLE: Role = D::ROLE;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    // a ring that is moved outwards is stretched
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; 3]) -> f64 {
        self.point.volume * self.density.psi(&self.point.deformation_gradient(x))
    }

    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        self.point.pulled(&self.density.pk1(&self.point.deformation_gradient(x)))
    }

    fn hessian_psd(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, false)
    }

    fn max_step(&self, x: &[Vec3; 3], dx: &[Vec3; 3]) -> f64 {
        if D::BOUNDS { RingPoint::max_step(x, dx) } else { 1.0 }
    }

    fn without_limits(&self) -> Option<Self> {
        Some(Self { point: self.point.clone(), density: self.density.without_limits()? })
    }
}

/// The elasticity of a solid.
#[derive(Debug, Clone, PartialEq)]
pub struct Elasticity {
    lame: Lame,
    law: Law,
    /// Whether the law is given a barrier against inversion, where it has none by itself.
    guarded: bool,
}

impl RingDensity for Elasticity {
    const NAME: &'static str = "axisymmetric";
    const ROLE: Role = Role::Elastic;
    const BOUNDS: bool = true;

    fn psi(&self, f: &Mat3) -> f64 {
        match self.guarded {
            true => self.law.guarded_psi(&self.lame, f),
            false => self.law.psi(&self.lame, f),
        }
    }

    fn pk1(&self, f: &Mat3) -> Mat3 {
        match self.guarded {
            true => self.law.guarded_pk1(&self.lame, f),
            false => self.law.pk1(&self.lame, f),
        }
    }

    fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian {
        match self.guarded {
            true => self.law.guarded_hessian(&self.lame, &Vec3::from(*sigma)),
            false => self.law.principal_hessian(&self.lame, &Vec3::from(*sigma)),
        }
    }

    fn antiplane(&self) -> Option<f64> {
        Some(self.lame.mu)
    }
}

/// A triangle of an elastic body of revolution.
pub type Axisymmetric = AtRing<Elasticity>;

impl Axisymmetric {
    /// The triangle with rest corners `rest` (m) with x = r ≥ 0, with a barrier against inversion for laws that have none (`guarded`).
    /// `None` where it is clockwise or flat, or reaches behind the axis.
    pub fn new(rest: &[Vec3; 3], material: &Material, guarded: bool) -> Option<Self> {
        let (lame, law) = (material.lame(), material.law.clone());
        let point = RingPoint::new(rest)?;
        Some(Self { point, density: Elasticity { lame, law, guarded } })
    }

    /// The same element with the barrier against inversion for laws that have none.
    #[must_use]
    pub fn with_inversion_barrier(mut self) -> Self {
        self.density.guarded = true;
        self
    }

    /// The element of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self { point: self.point.grown(g), density: self.density.clone() }
    }

    /// Its barrier against inversion at the end of a step.
    pub(super) fn guard(&self) -> RingGuard {
        let Elasticity { lame, guarded, .. } = self.density;
        AtRing { point: self.point.clone(), density: VolumeBarrier { lame, acts: guarded } }
    }

    /// Lamé's parameters of the material.
    pub fn lame(&self) -> &Lame {
        &self.density.lame
    }

    /// Rest volume of the ring, m³.
    pub fn volume(&self) -> f64 {
        self.point.volume
    }

    /// Circumference at rest at the centroid, m.
    pub fn circumference(&self) -> f64 {
        TAU / (3.0 * self.point.hoop[0].z)
    }

    /// Deformation gradient F at corner positions `x`.
    pub fn deformation_gradient(&self, x: &[Vec3; 3]) -> Mat3 {
        self.point.deformation_gradient(x)
    }

    /// Cauchy stress, Pa: σ₁₁ along the radius, σ₂₂ along the axis, σ₃₃ along the circumference.
    pub fn cauchy_stress(&self, x: &[Vec3; 3]) -> Mat3 {
        self.density.law.cauchy_stress(&self.density.lame, &self.deformation_gradient(x))
    }
}

/// The barrier against inversion at the end of a step, see `guard`; it bounds the step, too, where the energy is evaluated before its end.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeBarrier {
    lame: Lame,
    acts: bool,
}

/// The barrier of a triangle.
pub type RingGuard = AtRing<VolumeBarrier>;

impl VolumeBarrier {
    /// The barrier and its derivatives at J, where it acts.
    fn at(&self, j: f64) -> Option<[f64; 3]> {
        (self.acts && j < VOLUME_RATIO).then(|| barrier(&self.lame, j))
    }
}

impl RingDensity for VolumeBarrier {
    const NAME: &'static str = "inversion barrier";
    const ROLE: Role = Role::Constraint;
    const BOUNDS: bool = true;

    fn psi(&self, f: &Mat3) -> f64 {
        self.at(f.determinant()).map_or(0.0, |[b, ..]| b)
    }

    fn pk1(&self, f: &Mat3) -> Mat3 {
        // ∂J/∂F is the matrix of cofactors
        let slope = |[_, d, _]: [f64; 3]| Mat3::from(M3::from(f).cofactor()) * d;
        self.at(f.determinant()).map_or(Mat3::zeros(), slope)
    }

    fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian {
        let [_, d, dd] = self.at(sigma[0] * sigma[1] * sigma[2]).unwrap_or_default();
        PrincipalHessian::of_volume(sigma, d, dd)
    }

    /// Nothing: it is a limit and nothing else.
    fn without_limits(&self) -> Option<Self> {
        Some(Self { acts: false, ..self.clone() })
    }
}
