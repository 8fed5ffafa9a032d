//! Energies of linear triangles in the half-plane r ≥ 0 of a body of revolution: Ψ = Σ 2π R A ψ(F) of the whole ring, with x = r and y
//! along the axis.
//!
//! F has the block of plane strain, [x₁−x₀, x₂−x₀] Dₘ⁻¹, and F₃₃ = r/R, the stretch along the circumference
//! [Timoshenko & Goodier 1970, ch. 12]. The integral has one point, the centroid, where R is positive for a triangle that touches the axis, too, and F
//! is exact where r = λ R. ψ is the law of the solid in three dimensions.
//!
//! F is linear in positions: dF = Σ dxₐ ∇Nₐᵀ + e₃ (dxₐ·e₁) kₐᵀ, with kₐ = (Nₐ/R) e₃ before anything has flowed. So an energy W(F) at a
//! point has the derivatives P ∇Nₐ + e₁ (e₃·P kₐ) by the corners.

mod guard;

pub(super) use guard::radius_barrier;
pub use guard::{RingGuard, VolumeBarrier};

use super::element::{Element, Hessian};
use super::point::Point;
use super::term::Role;
use super::tet::{KEEP_VOLUME, step::volume_step};
use crate::material::{Lame, Law, Material, PrincipalHessian};
use standoff_linalg::{Mat3, Svd, V3, Vec3, svd3};
use std::f64::consts::TAU;
use std::fmt::Debug;

/// A point of a triangle with N vertices at which its energy density is evaluated: F = Σ xₐ ∇Nₐᵀ + e₃ Σ (xₐ·e₁) kₐᵀ + `across`.
#[derive(Debug, Clone, PartialEq)]
pub struct RingPoint<const N: usize = 3> {
    /// Gradients of the shape functions at rest, 1/m.
    pub(super) gradients: [Vec3; N],
    /// kₐ: what the radius of each vertex adds to the last row of F, 1/m; 0 under plane strain.
    pub(super) hoop: [Vec3; N],
    /// What F has beside positions: e₃ e₃ᵀ under plane strain, 0 of a ring.
    pub(super) across: Mat3,
    /// Rest volume of the ring that the point stands for, m³, or under plane strain its area, m².
    pub volume: f64,
    /// Radii of the corners at rest, m; 0 on the axis, and of an element that bounds the radii of its nodes by itself.
    pub(super) radii: [f64; N],
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
        let gradients = [-(g1 + g2), g1, g2];
        let radii = rest.map(|p| p.x);
        Some(Self { gradients, hoop: [hoop; 3], across: Mat3::zeros(), volume, radii })
    }
}

impl<const N: usize> RingPoint<N> {
    /// F at positions `x` of the vertices.
    #[inline]
    pub fn deformation_gradient(&self, x: &[Vec3; N]) -> Mat3 {
        let mut f = self.across;
        for a in 1..N {
            // the gradients sum to zero
            f += (x[a] - x[0]) * self.gradients[a].transpose();
        }
        let last: Vec3 = (0..N).map(|a| self.hoop[a] * x[a].x).sum();
        for c in 0..3 {
            f[(2, c)] += last[c];
        }
        f
    }

    /// The same point without what radii add, and kₐ.
    pub fn parts(&self) -> (Point<N>, [Vec3; N]) {
        let Self { gradients, hoop, across, volume, .. } = self.clone();
        (Point { gradients, across, volume }, hoop)
    }

    /// The point of what is `g` times as long without stress.
    pub fn grown(&self, g: f64) -> Self {
        Self {
            gradients: self.gradients.map(|a| a / g),
            hoop: self.hoop.map(|k| k / g),
            across: self.across / g,
            volume: self.volume * g.powi(3),
            radii: self.radii.map(|r| r * g),
        }
    }

    /// The same point with F Fᵢ⁻¹ in the place of F.
    pub fn behind(&self, inverse: &Mat3) -> Self {
        Self {
            gradients: self.gradients.map(|g| inverse.tr_mul(&g)),
            hoop: self.hoop.map(|k| inverse.tr_mul(&k)),
            across: self.across * inverse,
            volume: self.volume,
            radii: self.radii,
        }
    }

    /// The derivative of V W by the vertices, with P = ∂W/∂F.
    pub(super) fn pulled(&self, p: &Mat3) -> [Vec3; N] {
        std::array::from_fn(|a| {
            let mut g = p * self.gradients[a];
            g.x += (p * self.hoop[a]).z;
            // nothing moves along z
            g.z = 0.0;
            g * self.volume
        })
    }

    /// The second derivative of V W by the vertices, with ∂²W/∂F² in the basis of the singular vectors of F.
    fn second_derivative(&self, svd: &Svd<f64>, principal: &PrincipalHessian) -> Hessian<N> {
        let form = principal.form(self.volume);
        let rows = svd.v.transpose();
        // ∂²(V W)/∂(F e_p)∂(F e_q); all but the last row and column of F is in the plane, whatever has flowed
        let whole: [[Mat3; 3]; 3] = std::array::from_fn(|p| {
            std::array::from_fn(|q| {
                (&(&svd.u * &form.block(&rows[p], &rows[q])) * &svd.u.transpose()).into()
            })
        });
        let mut h = [[Mat3::zeros(); N]; N];
        for a in 0..N {
            for b in a..N {
                let (ga, gb) = (&self.gradients[a], &self.gradients[b]);
                let (ka, kb) = (self.hoop[a].z, self.hoop[b].z);
                let mut m = Mat3::zeros();
                for p in 0..2 {
                    for q in 0..2 {
                        let part = ga[p] * gb[q];
                        for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 2)] {
                            m[(i, j)] += part * whole[p][q][(i, j)];
                        }
                    }
                    for i in 0..2 {
                        m[(0, i)] += ka * gb[p] * whole[2][p][(2, i)];
                        m[(i, 0)] += ga[p] * kb * whole[p][2][(i, 2)];
                    }
                }
                m[(0, 0)] += ka * kb * whole[2][2][(2, 2)];
                h[a][b] = m;
                h[b][a] = m.transpose();
            }
        }
        h
    }

    /// Puts the stiffness against antiplane shear `mu` (Pa) in the place of what motions along z have of [`Self::second_derivative`].
    fn set_antiplane(&self, mu: f64, h: &mut Hessian<N>) {
        for (row, a) in h.iter_mut().zip(&self.gradients) {
            for (block, b) in row.iter_mut().zip(&self.gradients) {
                block[(2, 2)] = self.volume * mu * a.dot(b);
            }
        }
    }
}

impl RingPoint {
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
    /// The material whose barrier also keeps corners off the axis, if one does.
    fn guards_radii(&self) -> Option<&Lame> {
        None
    }
    /// The same without its limits, where it has some.
    fn without_limits(&self) -> Option<Self> {
        None
    }
}

/// An energy at a point of a triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRing<D, const N: usize = 3> {
    /// Where it is evaluated.
    pub point: RingPoint<N>,
    /// What is evaluated.
    pub density: D,
}

impl<const N: usize> RingPoint<N> {
    /// The second derivative of V W by the vertices, projected or not.
    pub(super) fn hessian(
        &self,
        density: &impl RingDensity,
        x: &[Vec3; N],
        project: bool,
    ) -> Hessian<N> {
        let svd = Svd::from(&svd3(&self.deformation_gradient(x)));
        let mut principal = density.principal_hessian(&svd.sigma);
        principal.project_psd(project);
        let mut h = self.second_derivative(&svd, &principal);
        if let Some(mu) = density.antiplane() {
            self.set_antiplane(mu, &mut h);
        }
        h
    }
}

impl<D: RingDensity, const N: usize> AtRing<D, N> {
    /// The corners that are close to the axis beside where they are at rest, with the barrier V/N w(r/R) and its derivatives by r. F knows the radius of
    /// the centroid alone.
    fn close_to_axis<'a>(
        &'a self,
        x: &'a [Vec3; N],
    ) -> impl Iterator<Item = (usize, [f64; 3])> + 'a {
        let all = self.density.guards_radii().into_iter();
        let all = all.flat_map(|lame| (0..N).map(move |a| (a, lame)));
        all.filter_map(|(a, lame)| {
            let rest = self.point.radii[a];
            let part = self.point.volume / N as f64;
            let [w, first, second] = radius_barrier(lame, x[a].x, rest)?;
            Some((a, [part * w, part * first, part * second]))
        })
    }

    /// Adds what the barrier of the radii has.
    fn with_radii(&self, x: &[Vec3; N], mut h: Hessian<N>) -> Hessian<N> {
        self.close_to_axis(x).for_each(|(a, [_, _, second])| h[a][a][(0, 0)] += second);
        h
    }
}

impl<D: RingDensity, const N: usize> Element<N> for AtRing<D, N> {
    const NAME: &'static str = D::NAME;
    const ROLE: Role = D::ROLE;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    // a ring that is moved outwards is stretched
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        let inside = self.point.volume * self.density.psi(&self.point.deformation_gradient(x));
        inside + self.close_to_axis(x).map(|(_, [w, ..])| w).sum::<f64>()
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let mut g = self.point.pulled(&self.density.pk1(&self.point.deformation_gradient(x)));
        self.close_to_axis(x).for_each(|(a, [_, first, _])| g[a].x += first);
        g
    }

    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.with_radii(x, self.point.hessian(&self.density, x, true))
    }

    fn hessian(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.with_radii(x, self.point.hessian(&self.density, x, false))
    }

    /// The bound of the triangle; one of more than three vertices has several points, and bounds steps by itself.
    fn max_step(&self, x: &[Vec3; N], dx: &[Vec3; N]) -> f64 {
        match (x[..].try_into(), dx[..].try_into()) {
            (Ok(x), Ok(dx)) if D::BOUNDS => RingPoint::max_step(x, dx),
            _ => 1.0,
        }
    }

    fn without_limits(&self) -> Option<Self> {
        Some(Self { point: self.point.clone(), density: self.density.without_limits()? })
    }
}

/// The elasticity of a solid.
#[derive(Debug, Clone, PartialEq)]
pub struct Elasticity {
    pub(super) lame: Lame,
    pub(super) law: Law,
    /// Whether the law is given a barrier against inversion, where it has none by itself.
    pub(super) guarded: bool,
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

    fn guards_radii(&self) -> Option<&Lame> {
        self.guarded.then_some(&self.lame)
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
