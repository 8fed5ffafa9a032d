//! Elastic energy of linear triangles under plane strain: Ψ = Σ Aₑ ψ(F) per metre of depth, where F has the
//! block [x₁−x₀, x₂−x₀] Dₘ⁻¹ ∈ R^{2×2} and F₃₃ = 1, or 1/g of what has become g times as long without stress. ψ is the law of the solid in three dimensions: a
//! triangle is a prism that is held at both ends.
//!
//! The corners are 3-vectors with z = 0. Linear systems have no unknowns along z (`BlockPattern::in_plane`). What
//! iterates on whole blocks needs positive numbers there, for which the Hessian has the stiffness of antiplane shear
//! at rest, A μ ∇Nₐ·∇N_b; no motion along z comes of it.

use super::element::{Element, Elements, Hessian};
use super::guard::Guard;
use super::point::Point;
use super::term::Role;
use super::tet::{KEEP_VOLUME, step::volume_step};
use crate::material::{Lame, Law, Material, PrincipalHessian};
use standoff_linalg::{Mat3, MatN, Vec3, project_psd2};

/// One triangle: its rest shape and material.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneStrain {
    /// Gradients of the shape functions of corners 1 and 2 at rest, 1/m; corner 0's is minus their sum.
    shape: [[f64; 2]; 2],
    /// Rest area, m²; of what has grown its volume at rest per metre of depth.
    area: f64,
    /// F₃₃.
    depth: f64,
    lame: Lame,
    law: Law,
    /// Whether the law is given a barrier against inversion, where it has none by itself.
    guarded: bool,
}

/// The triangles under plane strain of a scene.
pub type PlaneStrainTriangles = Elements<PlaneStrain, 3>;

impl PlaneStrainTriangles {
    /// The same elements with the barrier against inversion for laws that have none.
    #[must_use]
    pub fn with_inversion_barrier(mut self) -> Self {
        self.elements.iter_mut().for_each(|e| e.guarded = true);
        self
    }
}

impl PlaneStrain {
    /// The triangle with rest corners `rest` (m) in the plane z = 0, with a barrier against inversion
    /// for laws that have none (`guarded`). `None` where it is clockwise or flat.
    pub fn new(rest: &[Vec3; 3], material: &Material, guarded: bool) -> Option<Self> {
        let (a, b) = (rest[1] - rest[0], rest[2] - rest[0]);
        let det = a.x * b.y - a.y * b.x;
        // what rounding may contribute to the determinant
        let noise = 8.0 * f64::EPSILON * a.abs().sum() * b.abs().sum();
        if !(det > noise && det.is_finite()) {
            return None;
        }
        let shape = [[b.y / det, -b.x / det], [-a.y / det, a.x / det]];
        let (lame, law) = (material.lame(), material.law.clone());
        Some(Self { shape, area: 0.5 * det, depth: 1.0, lame, law, guarded })
    }

    /// The element of what is `g` times as long without stress, and held at its depth.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self {
            shape: self.shape.map(|s| s.map(|c| c / g)),
            area: self.area * g.powi(3),
            depth: self.depth / g,
            ..self.clone()
        }
    }

    /// Its barrier against inversion at the end of a step.
    pub(super) fn guard(&self) -> Guard<3> {
        let [g1, g2] = self.shape.map(|[x, y]| Vec3::new(x, y, 0.0));
        Guard {
            shape: [-(g1 + g2), g1, g2],
            across: Vec3::z() * Vec3::z().transpose() * self.depth,
            volume: if self.guarded { self.area } else { 0.0 },
            lame: self.lame,
        }
    }

    /// Its point, per metre of depth.
    pub(super) fn point(&self) -> Point<3> {
        let Guard { shape, across, .. } = self.guard();
        Point { gradients: shape, across, volume: self.area }
    }

    /// Lamé's parameters of the material.
    pub fn lame(&self) -> &Lame {
        &self.lame
    }

    /// Rest area, m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Frobenius norm of ∂²ψ/∂F² at rest over the components in the plane, Pa.
    pub fn rest_stiffness(&self) -> f64 {
        let Lame { lambda, mu } = self.lame;
        let (diagonal, shear) = (lambda + 2.0 * mu, 2.0 * mu);
        (2.0 * diagonal * diagonal + 2.0 * lambda * lambda + shear * shear).sqrt()
    }

    /// The columns of F in the plane, as vectors with z = 0.
    #[inline]
    fn columns(&self, x: &[Vec3; 3]) -> [Vec3; 2] {
        let (a, b) = (x[1] - x[0], x[2] - x[0]);
        let [g1, g2] = self.shape;
        [a * g1[0] + b * g2[0], a * g1[1] + b * g2[1]].map(|c| Vec3::new(c.x, c.y, 0.0))
    }

    /// Deformation gradient F at corner positions `x`.
    #[inline]
    pub fn deformation_gradient(&self, x: &[Vec3; 3]) -> Mat3 {
        let [a, b] = self.columns(x);
        Mat3::from_columns(&[a, b, Vec3::z() * self.depth])
    }

    /// Cauchy stress, Pa, with the stress σ₃₃ that holds the depth.
    pub fn cauchy_stress(&self, x: &[Vec3; 3]) -> Mat3 {
        self.law.cauchy_stress(&self.lame, &self.deformation_gradient(x))
    }

    /// ∂²ψ/∂F² at singular values of F, the last one F₃₃, not projected.
    #[inline]
    fn principal_hessian(&self, sigma: &Vec3) -> PrincipalHessian {
        match self.guarded {
            true => self.law.guarded_hessian(&self.lame, sigma),
            false => self.law.principal_hessian(&self.lame, sigma),
        }
    }
}

/// Singular vectors of F in the plane: F = s₁ u vᵀ + s₂ u⊥ v⊥ᵀ with s₂ of the sign of det F.
struct Svd {
    s: [f64; 2],
    u: [f64; 2],
    v: [f64; 2],
}

fn svd([a, b]: &[Vec3; 2]) -> Svd {
    // v is the first eigenvector of FᵀF
    let (half, c12) = (0.5 * (a.norm_squared() - b.norm_squared()), a.dot(b));
    let r = half.hypot(c12);
    let (cos, sin) = if r == 0.0 {
        (1.0, 0.0)
    } else {
        // of the two the one without cancellation first
        let large = (0.5 * (1.0 + half.abs() / r)).sqrt();
        let small = 0.5 * (c12 / r) / large;
        if half >= 0.0 { (large, small) } else { (small.abs(), large.copysign(c12)) }
    };
    let image = a * cos + b * sin;
    let s1 = image.norm();
    let s2 = (a.x * b.y - a.y * b.x) / s1;
    Svd { s: [s1, s2], u: [image.x / s1, image.y / s1], v: [cos, sin] }
}

impl Element<3> for PlaneStrain {
    const NAME: &'static str = "plane strain";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    const TRANSLATION_INVARIANT: bool = true;

    /// A ψ(F), J per metre of depth.
    #[inline]
    fn value(&self, x: &[Vec3; 3]) -> f64 {
        let f = self.deformation_gradient(x);
        self.area
            * match self.guarded {
                true => self.law.guarded_psi(&self.lame, &f),
                false => self.law.psi(&self.lame, &f),
            }
    }

    /// Derivative by the corners (minus the forces), N per metre of depth.
    #[inline]
    fn gradient(&self, x: &[Vec3; 3]) -> [Vec3; 3] {
        let f = self.deformation_gradient(x);
        let p = match self.guarded {
            true => self.law.guarded_pk1(&self.lame, &f),
            false => self.law.pk1(&self.lame, &f),
        };
        let column = |c: usize| Vec3::new(p[(0, c)], p[(1, c)], 0.0) * self.area;
        let (p1, p2) = (column(0), column(1));
        let [g1, g2] = self.shape.map(|g| p1 * g[0] + p2 * g[1]);
        [-(g1 + g2), g1, g2]
    }

    /// Second derivative by the corners, projected onto the positive semidefinite cone, N/m per metre of
    /// depth: the analytic eigenvalues of [Smith 2019] for the motions in the plane.
    fn hessian_psd(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; 3]) -> Hessian<3> {
        self.second_derivative(x, false)
    }

    /// The largest α ≤ 1 such that the triangle keeps 20 % of its area all along `x` + [0, α] `dx`: the
    /// step of the tetrahedron over it.
    #[inline]
    fn max_step(&self, x: &[Vec3; 3], dx: &[Vec3; 3]) -> f64 {
        let (top, still) = (x[0] + Vec3::z(), dx[0]);
        volume_step(&[x[0], x[1], x[2], top], &[dx[0], dx[1], dx[2], still], KEEP_VOLUME)
    }
}

impl PlaneStrain {
    /// The second derivative by the corners, projected or as it is.
    fn second_derivative(&self, x: &[Vec3; 3], project: bool) -> Hessian<3> {
        let Svd { s, u, v } = svd(&self.columns(x));
        let h = self.principal_hessian(&Vec3::new(s[0], s[1], self.depth));
        let k = &h.stretch;
        let k = MatN::<2>::new(k[0][0], k[1][0], k[0][1], k[1][1]);
        let (k, flip, twist) = match project {
            true => (project_psd2(&k), h.flip[2].max(0.0), h.twist[2].max(0.0)),
            false => (k, h.flip[2], h.twist[2]),
        };
        let (same, cross) = (0.5 * (flip + twist), 0.5 * (flip - twist));
        // gradients of the shape functions in the basis of the right singular vectors
        let g = self.shape.map(|g| [v[0] * g[0] + v[1] * g[1], v[0] * g[1] - v[1] * g[0]]);
        let block = |a: usize, b: usize| {
            let (p, q) = (g[a], g[b]);
            let m11 = k[(0, 0)] * p[0] * q[0] + same * p[1] * q[1];
            let m22 = k[(1, 1)] * p[1] * q[1] + same * p[0] * q[0];
            let m12 = k[(0, 1)] * p[0] * q[1] + cross * p[1] * q[0];
            let m21 = k[(1, 0)] * p[1] * q[0] + cross * p[0] * q[1];
            // back from the basis of the left singular vectors u, u⊥
            let [c, s] = u;
            let (a1, a2) = (c * m11 - s * m21, c * m12 - s * m22);
            let (b1, b2) = (s * m11 + c * m21, s * m12 + c * m22);
            let dot = self.shape[a][0] * self.shape[b][0] + self.shape[a][1] * self.shape[b][1];
            let (xx, xy) = (a1 * c - a2 * s, a1 * s + a2 * c);
            let (yx, yy) = (b1 * c - b2 * s, b1 * s + b2 * c);
            Mat3::new(xx, xy, 0.0, yx, yy, 0.0, 0.0, 0.0, self.lame.mu * dot) * self.area
        };
        let (h11, h12, h22) = (block(0, 0), block(0, 1), block(1, 1));
        // a translation does nothing, so rows sum to zero
        let (h01, h02) = (-(h11 + h12.transpose()), -(h12 + h22));
        let (h10, h20) = (h01.transpose(), h02.transpose());
        [[-(h01 + h02), h01, h02], [h10, h11, h12], [h20, h12.transpose(), h22]]
    }
}
