//! Constitutive laws of volumes: energy density ψ(F), first Piola–Kirchhoff stress ∂ψ/∂F and its
//! derivative, as functions of the deformation gradient F alone. Nothing here knows of meshes.
//!
//! A law with Lamé's parameters is one file with `psi`, `pk1` and `principal_hessian`, one variant of [`Law`], one entry
//! of [`Law::ALL`] and one line in each `match` below; `tests/material.rs` then tests it. Laws with constants of their own are in
//! [`rubber`].

mod corotated_linear;
pub mod fibres;
mod fixed_corotated;
pub mod inelastic;
pub(crate) mod inversion;
pub mod membrane;
mod neo_hookean;
mod principal;
pub mod rubber;
mod st_venant_kirchhoff;
mod stable_neo_hookean;
mod strain;
mod stretches;

pub use principal::PrincipalHessian;

use rubber::{Form, Numbers, RubberLaw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::{M3, Mat3, MatN, Real, Svd, V3, Vec3, svd3};
use std::sync::Arc;

/// A hyperelastic material: a law with Young's modulus and Poisson's ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Constitutive law.
    pub law: Law,
    /// Young's modulus E, Pa.
    pub young_modulus: f64,
    /// Poisson's ratio ν, in (−1, 0.5).
    pub poisson_ratio: f64,
}

/// Constitutive laws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (ln J)²; infinite at J ≤ 0.
    NeoHookean,
    /// ψ = μ/2 (tr FᵀF − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)² [Smith 2018]; finite at every F.
    StableNeoHookean,
    /// ψ = μ ‖F − R‖² + λ/2 (J − 1)² [Stomakhin 2012]; finite at every F.
    FixedCorotated,
    /// ψ = μ ‖F − R‖² + λ/2 tr(RᵀF − I)²; finite at every F.
    CorotatedLinear,
    /// ψ = μ ‖E‖² + λ/2 (tr E)², E = (FᵀF − I)/2; finite at every F.
    StVenantKirchhoff,
    /// ψ = K/2 (ln J)², K = λ + 2/3 μ: the volume's part of Hencky's law, of solids whose shear stress
    /// [yields](inelastic::Inelasticity::Yielding); infinite at J ≤ 0.
    #[serde(skip)]
    Volumetric,
    /// A law of rubber with its own constants.
    #[serde(skip)]
    Rubber(Arc<RubberLaw>),
}

/// The formulas of all laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    NeoHookean,
    StableNeoHookean,
    FixedCorotated,
    CorotatedLinear,
    StVenantKirchhoff,
    Volumetric,
    Polynomial,
    Gent,
    Ogden,
}

impl Material {
    /// First Lamé parameter λ = Eν/((1+ν)(1−2ν)), Pa.
    pub fn lambda(&self) -> f64 {
        let (e, nu) = (self.young_modulus, self.poisson_ratio);
        e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    }

    /// Second Lamé parameter μ = E/(2(1+ν)), Pa.
    pub fn mu(&self) -> f64 {
        self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))
    }

    /// λ and μ together.
    pub fn lame(&self) -> Lame {
        Lame { lambda: self.lambda(), mu: self.mu() }
    }

    /// Whether ψ prevents inversion by diverging at J → 0; see [`Law::has_barrier`].
    pub fn has_barrier(&self) -> bool {
        self.law.has_barrier()
    }
}

/// Lamé's parameters of linear elasticity, which every law meets at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lame<R = f64> {
    /// First parameter λ, Pa.
    pub lambda: R,
    /// Second parameter (shear modulus) μ, Pa.
    pub mu: R,
}

impl<R: Real> Lame<R> {
    /// Parameters of a fluid with the same bulk modulus.
    #[inline(always)]
    fn volume(&self) -> Self {
        Self { lambda: self.lambda + self.mu * (2.0 / 3.0), mu: self.mu.constant(0.0) }
    }
}

impl Lame {
    /// Frobenius norm of ∂²ψ/∂F² at rest, where every law is that of linear elasticity, Pa.
    pub fn rest_stiffness(&self) -> f64 {
        let Self { lambda, mu } = self;
        let (diagonal, shear) = (lambda + 2.0 * mu, 2.0 * mu);
        (3.0 * diagonal * diagonal + 6.0 * lambda * lambda + 3.0 * shear * shear).sqrt()
    }
}

impl Kind {
    /// Every one, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::NeoHookean,
        Self::StableNeoHookean,
        Self::FixedCorotated,
        Self::CorotatedLinear,
        Self::StVenantKirchhoff,
        Self::Volumetric,
        Self::Polynomial,
        Self::Gent,
        Self::Ogden,
    ];

    /// ψ(F) in any number, with Lamé's parameters `m` or the numbers that `n` gives of rubber; see [`Law::psi`].
    #[inline(always)]
    pub fn psi<R: Real>(self, m: &Lame<R>, n: impl Fn() -> Numbers<R>, f: &M3<R>) -> R {
        match self {
            Self::NeoHookean => neo_hookean::psi(m, f),
            Self::StableNeoHookean => stable_neo_hookean::psi(m, f),
            Self::FixedCorotated => fixed_corotated::psi(m, f),
            Self::CorotatedLinear => corotated_linear::psi(m, f),
            Self::StVenantKirchhoff => st_venant_kirchhoff::psi(m, f),
            Self::Volumetric => neo_hookean::psi(&m.volume(), f),
            Self::Polynomial => Form::Polynomial.psi(&n(), f),
            Self::Gent => Form::Gent.psi(&n(), f),
            Self::Ogden => Form::Ogden.psi(&n(), f),
        }
    }

    /// ∂ψ/∂F in any number; see [`Law::pk1`].
    #[inline(always)]
    pub fn pk1<R: Real>(self, m: &Lame<R>, n: impl Fn() -> Numbers<R>, f: &M3<R>) -> M3<R> {
        match self {
            Self::NeoHookean => neo_hookean::pk1(m, f),
            Self::StableNeoHookean => stable_neo_hookean::pk1(m, f),
            Self::FixedCorotated => fixed_corotated::pk1(m, f),
            Self::CorotatedLinear => corotated_linear::pk1(m, f),
            Self::StVenantKirchhoff => st_venant_kirchhoff::pk1(m, f),
            Self::Volumetric => neo_hookean::pk1(&m.volume(), f),
            Self::Polynomial => Form::Polynomial.pk1(&n(), f),
            Self::Gent => Form::Gent.pk1(&n(), f),
            Self::Ogden => Form::Ogden.pk1(&n(), f),
        }
    }

    /// ∂²ψ/∂F² in any number; see [`Law::principal_hessian`].
    #[inline(always)]
    pub fn hessian<R: Real>(
        self,
        m: &Lame<R>,
        n: impl Fn() -> Numbers<R>,
        sigma: &V3<R>,
    ) -> PrincipalHessian<R> {
        match self {
            Self::NeoHookean => neo_hookean::principal_hessian(m, sigma),
            Self::StableNeoHookean => stable_neo_hookean::principal_hessian(m, sigma),
            Self::FixedCorotated => fixed_corotated::principal_hessian(m, sigma),
            Self::CorotatedLinear => corotated_linear::principal_hessian(m, sigma),
            Self::StVenantKirchhoff => st_venant_kirchhoff::principal_hessian(m, sigma),
            Self::Volumetric => neo_hookean::principal_hessian(&m.volume(), sigma),
            Self::Polynomial => Form::Polynomial.principal_hessian(&n(), sigma),
            Self::Gent => Form::Gent.principal_hessian(&n(), sigma),
            Self::Ogden => Form::Ogden.principal_hessian(&n(), sigma),
        }
    }
}

impl Law {
    /// Every law without constants of its own.
    pub const ALL: [Law; 5] = [
        Law::NeoHookean,
        Law::StableNeoHookean,
        Law::FixedCorotated,
        Law::CorotatedLinear,
        Law::StVenantKirchhoff,
    ];

    /// Name of the law in scene files.
    pub fn key(&self) -> &'static str {
        match self {
            Law::NeoHookean => "neo-hookean",
            Law::StableNeoHookean => "stable-neo-hookean",
            Law::FixedCorotated => "fixed-corotated",
            Law::CorotatedLinear => "corotated-linear",
            Law::StVenantKirchhoff => "st-venant-kirchhoff",
            Law::Volumetric => "volumetric",
            Law::Rubber(law) => law.rubber().key(),
        }
    }

    /// Whether ψ = +∞ at J ≤ 0 by itself; the other laws are given a barrier there
    /// ([`Law::guarded_psi`]).
    #[inline(always)]
    pub fn has_barrier(&self) -> bool {
        match self {
            Law::NeoHookean | Law::Volumetric | Law::Rubber(_) => true,
            Law::StableNeoHookean
            | Law::FixedCorotated
            | Law::CorotatedLinear
            | Law::StVenantKirchhoff => false,
        }
    }

    /// Its formulas.
    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Law::NeoHookean => Kind::NeoHookean,
            Law::StableNeoHookean => Kind::StableNeoHookean,
            Law::FixedCorotated => Kind::FixedCorotated,
            Law::CorotatedLinear => Kind::CorotatedLinear,
            Law::StVenantKirchhoff => Kind::StVenantKirchhoff,
            Law::Volumetric => Kind::Volumetric,
            Law::Rubber(law) => match law.form() {
                Form::Polynomial => Kind::Polynomial,
                Form::Gent => Kind::Gent,
                Form::Ogden => Kind::Ogden,
            },
        }
    }

    /// Number `k` of a law of rubber, 0 of others.
    #[inline(always)]
    pub(crate) fn number(&self, k: usize) -> f64 {
        match self {
            Law::Rubber(law) => law.number(k),
            _ => 0.0,
        }
    }

    fn numbers(&self) -> Numbers<f64> {
        std::array::from_fn(|k| self.number(k))
    }

    /// Energy per rest volume ψ(F), J/m³; ψ(I) = 0. Relative accuracy holds near rest too: the
    /// error is that of a perturbation of F by rounding.
    pub fn psi(&self, m: &Lame, f: &Mat3) -> f64 {
        self.kind().psi(m, || self.numbers(), &f.into())
    }

    /// First Piola–Kirchhoff stress P = ∂ψ/∂F, Pa. Not finite where ψ is not.
    pub fn pk1(&self, m: &Lame, f: &Mat3) -> Mat3 {
        self.kind().pk1(m, || self.numbers(), &f.into()).into()
    }

    /// ∂²ψ/∂F² in the basis of singular vectors, at signed singular values `sigma` of F as
    /// [`svd3`] gives them. Not projected.
    pub fn principal_hessian(&self, m: &Lame, sigma: &Vec3) -> PrincipalHessian {
        self.kind().hessian(m, || self.numbers(), &sigma.into())
    }

    /// ∂²ψ/∂F², Pa, 9×9, entry (r, c) of F at index 3c + r. Not projected.
    pub fn hessian(&self, m: &Lame, f: &Mat3) -> MatN<9> {
        let svd = Svd::from(&svd3(f));
        self.principal_hessian(m, &Vec3::from(svd.sigma)).assemble(&svd)
    }

    /// The positive semidefinite matrix nearest to [`Law::hessian`], by analytic eigenvalues
    /// [Smith 2019].
    pub fn hessian_psd(&self, m: &Lame, f: &Mat3) -> MatN<9> {
        let svd = Svd::from(&svd3(f));
        let mut h = self.principal_hessian(m, &Vec3::from(svd.sigma));
        h.project_psd(true);
        h.assemble(&svd)
    }

    /// Cauchy (true) stress σ = P Fᵀ / J, Pa, symmetric.
    pub fn cauchy_stress(&self, m: &Lame, f: &Mat3) -> Mat3 {
        let sigma = self.pk1(m, f) * f.transpose() / f.determinant();
        (sigma + sigma.transpose()) * 0.5
    }
}

/// Logarithmic (Hencky) strain ½ ln FFᵀ, symmetric.
pub fn logarithmic_strain(f: &Mat3) -> Mat3 {
    let svd = svd3(f);
    let strain = svd.u * Mat3::from_diagonal(&svd.sigma.map(f64::ln)) * svd.u.transpose();
    (strain + strain.transpose()) * 0.5
}

/// Principal values of a symmetric tensor, the greatest first.
pub fn principal_values(tensor: &Mat3) -> Vec3 {
    let mut values: [f64; 3] = tensor.symmetric_eigenvalues().into();
    values.sort_by(|a, b| b.total_cmp(a));
    values.into()
}

/// Von Mises stress of a Cauchy stress, Pa: √(3/2) times the norm of its deviator.
pub fn von_mises(cauchy: &Mat3) -> f64 {
    let deviator = cauchy - Mat3::from_diagonal_element(cauchy.trace() / 3.0);
    1.5_f64.sqrt() * deviator.norm()
}
