//! The barrier potential of contact pairs, with gradient, Hessian and its PSD projection.
//!
//! A pair of weight w, thickness ξ and mollifier m adds κ w m(x) b(d² − ξ², 2ξd̂ + d̂²)
//! [Li 2020, Eq. 5; Li 2021, §5.1]. With barrier stiffness κ in N/m³ (or Pa where the potential is
//! `physical` and pairs are weighted by area) this is an energy, and forces do not depend on the
//! time step.

// long: one potential: value, gradient, Hessian and projection for pairs, and the same for half-spaces

use super::barrier::Barrier;
use super::half_space::HalfSpaceContact;
use super::pair_forces::EachContact;
use super::pairs::Contact;
use crate::energy::{Projection, Role, Term};
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_geometry::distance::mollifier;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::Stencils;
use std::ops::Range;

/// Blocks of a contact stencil's Hessian; entries beyond the stencil are zero.
pub type Blocks = [[Mat3; 4]; 4];

/// The row of all repulsion in the energies.
pub(super) const NAME: &str = "contact barrier";

/// Contacts per parallel task; also the unit of the fixed order in which energies are summed.
const CHUNK: usize = 1024;

/// Barrier, activation distance and stiffness of all contacts of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarrierPotential {
    /// The barrier.
    pub barrier: Barrier,
    /// Distance d̂ beyond the thickness at which contact forces begin, m; the greatest one where contacts have different ones.
    pub d_hat: f64,
    /// Stiffness κ of contacts with this d̂; others have the force that these have at the same part of their gap, so that one κ
    /// serves for all: N/m³, or Pa where `physical` (then pairs must be weighted by area).
    pub kappa: f64,
    /// Whether the barrier is scaled to d̂ · b/units(ŝ), in m, so that κ is a pressure
    /// [Li 2023, "Convergent IPC", §3].
    pub physical: bool,
    /// Whether the barrier of pairs with thickness is scaled by units(d̂²)/units(ŝ), so that one κ
    /// gives pairs of all thicknesses forces of the same size at the same gap. Without it they grow
    /// with (1 + 2ξ/d̂)². `physical` implies it.
    pub even: bool,
}

impl BarrierPotential {
    /// κ w [b, b′, b″] with derivatives by d²; in J, J/m², J/m⁴.
    #[inline]
    pub(super) fn scaled_derivatives(
        &self,
        d2: f64,
        weight: f64,
        thickness: f64,
        reach: f64,
    ) -> [f64; 3] {
        let d_hat = reach * self.d_hat;
        let s_hat = d_hat * (2.0 * thickness + d_hat);
        let of = |d_hat: f64| self.barrier.units(d_hat * d_hat);
        let mut units = if self.physical {
            d_hat / self.barrier.units(s_hat)
        } else if self.even && thickness > 0.0 {
            of(d_hat) / self.barrier.units(s_hat)
        } else {
            1.0
        };
        if reach != 1.0 && !self.physical {
            units *= reach * of(self.d_hat) / of(d_hat);
        }
        let scale = self.kappa * weight * units;
        self.barrier.derivatives(d2 - thickness * thickness, s_hat).map(|b| scale * b)
    }

    /// [`Self::scaled_derivatives`] as the Newton matrix has them: with the second one greater by what the forecast of the
    /// force adds, (λ − φ(g))/g along the normal at the gap g ([`ForecastForces`](super::forecast::ForecastForces)).
    #[inline]
    pub(super) fn matrix_derivatives(
        &self,
        d2: f64,
        weight: f64,
        thickness: f64,
        reach: f64,
        forecast: f64,
    ) -> [f64; 3] {
        let mut b = self.scaled_derivatives(d2, weight, thickness, reach);
        if forecast > 0.0 {
            let d = d2.sqrt();
            let excess = forecast + 2.0 * b[1] * d;
            if excess > 0.0 && d > thickness {
                b[2] += excess / (4.0 * d2 * (d - thickness));
            }
        }
        b
    }

    /// Normal force of a pair without its mollifier, N, and the stiffness along the normal in the Newton matrix, N/m.
    pub(super) fn normal(&self, c: &Contact, d2: f64) -> [f64; 2] {
        normal(self.matrix_derivatives(d2, c.weight, c.thickness, c.reach, c.forecast), d2)
    }

    /// The same of a vertex against a half-space.
    pub(super) fn half_space_normal(&self, c: &HalfSpaceContact, d2: f64) -> [f64; 2] {
        normal(self.matrix_derivatives(d2, c.weight, c.thickness, c.reach, c.forecast), d2)
    }

    /// Energy of a pair at stencil positions `x`, J; infinite where it touches.
    pub fn value(&self, c: &Contact, x: &[Vec3; 4]) -> f64 {
        let b = self.scaled_derivatives(c.d2(x), c.weight, c.thickness, c.reach)[0];
        if c.kind == PairKind::EdgeEdge && b.is_finite() {
            mollifier::value(x, c.eps_x) * b
        } else {
            b
        }
    }

    /// Gradient of the energy of a pair, N.
    pub fn gradient(&self, c: &Contact, x: &[Vec3; 4]) -> [Vec3; 4] {
        let closest = c.closest(x);
        let [b, b1, _] = self.scaled_derivatives(closest.d2(), c.weight, c.thickness, c.reach);
        if !c.is_mollified(x) {
            return closest.weights.map(|w| closest.offset * (2.0 * b1 * w));
        }
        let m = mollifier::value(x, c.eps_x);
        let dm = mollifier::gradient(x, c.eps_x);
        std::array::from_fn(|i| closest.offset * (2.0 * m * b1 * closest.weights[i]) + dm[i] * b)
    }

    /// Magnitude of the normal force of a pair, λ = −κ w m ∂b/∂(d²) 2d, N
    /// [Li 2020 thesis, App. J].
    pub fn force_magnitude(&self, c: &Contact, x: &[Vec3; 4]) -> f64 {
        let d2 = c.d2(x);
        let b1 = self.scaled_derivatives(d2, c.weight, c.thickness, c.reach)[1];
        let m = if c.is_mollified(x) { mollifier::value(x, c.eps_x) } else { 1.0 };
        -2.0 * m * b1 * d2.sqrt()
    }

    /// Magnitude of the normal force per κ of a pair of the given weight with the gap `gap` (m) beyond
    /// its thickness, mollifier aside.
    pub fn unit_force(&self, gap: f64, weight: f64, thickness: f64) -> f64 {
        let d = thickness + gap;
        let unit = Self { kappa: 1.0, ..*self };
        -2.0 * d * unit.scaled_derivatives(d * d, weight, thickness, 1.0)[1]
    }

    /// Stiffness along the normal per κ of a pair without thickness at the gap `gap` (m), mollifier aside.
    pub fn unit_stiffness(&self, gap: f64, weight: f64) -> f64 {
        let unit = Self { kappa: 1.0, ..*self };
        normal(unit.scaled_derivatives(gap * gap, weight, 0.0, 1.0), gap * gap)[1]
    }

    /// Energy of a vertex against a half-space, J; infinite where it touches or is inside.
    pub fn half_space_value(&self, c: &HalfSpaceContact, p: &Vec3) -> f64 {
        self.scaled_derivatives(c.d2(p), c.weight, c.thickness, c.reach)[0]
    }

    /// Gradient of the energy of a vertex against a half-space, N.
    pub fn half_space_gradient(&self, c: &HalfSpaceContact, p: &Vec3) -> Vec3 {
        c.plane.normal * -self.half_space_force_magnitude(c, p)
    }

    /// The block of a vertex against a half-space in the Newton matrix, N/m: as that of a pair.
    pub fn half_space_hessian_psd(&self, c: &HalfSpaceContact, p: &Vec3) -> Mat3 {
        let n = c.plane.normal;
        let [_, stiffness] = self.half_space_normal(c, c.d2(p));
        n * (n * stiffness).transpose()
    }

    /// Magnitude of the normal force of a half-space on a vertex, N.
    pub fn half_space_force_magnitude(&self, c: &HalfSpaceContact, p: &Vec3) -> f64 {
        let d2 = c.d2(p);
        -2.0 * self.scaled_derivatives(d2, c.weight, c.thickness, c.reach)[1] * d2.sqrt()
    }
}

/// The barrier energy of pairs of primitives.
#[derive(Debug, Clone, Copy)]
pub struct BarrierPairs<'a> {
    pub(super) potential: &'a BarrierPotential,
    pub(super) contacts: &'a [Contact],
}

impl Term for BarrierPairs<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn role(&self) -> Role {
        Role::Contact
    }

    fn stencils(&self) -> Stencils<'_> {
        self.contacts.iter().map(|c| c.vertices).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let value = |c: &Contact| self.potential.value(c, &c.gather(x));
        let chunks = self.contacts.par_chunks(CHUNK);
        let sums: Vec<f64> = chunks.map(|chunk| chunk.iter().map(value).sum()).collect();
        sums.iter().sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.each(x, |c, g| {
            for (&v, g) in c.stencil().iter().zip(g) {
                gradient[v as usize] += g;
            }
        });
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        self.potential.hessians(&self.contacts[range], x, projection, out);
    }
}

impl BarrierPairs<'_> {
    /// Calls with each contact and its gradient, in order.
    fn each(&self, x: &[Vec3], mut call: impl FnMut(&Contact, &[Vec3; 4])) {
        // local gradients in parallel, a bounded number at a time; then used one by one
        let mut local: Vec<[Vec3; 4]> = Vec::new();
        for block in self.contacts.chunks(64 * CHUNK) {
            block
                .par_iter()
                .with_min_len(CHUNK)
                .map(|c| self.potential.gradient(c, &c.gather(x)))
                .collect_into_vec(&mut local);
            block.iter().zip(&local).for_each(|(c, g)| call(c, g));
        }
    }

    /// The gradient of each contact.
    pub fn each_contact(&self, x: &[Vec3], call: &mut EachContact<'_>) {
        self.each(x, |c, g| call(None, c.stencil(), &g[..c.vertex_count()]));
    }
}

/// The barrier energy of vertices against half-spaces.
#[derive(Debug, Clone, Copy)]
pub struct BarrierHalfSpaces<'a> {
    pub(super) potential: &'a BarrierPotential,
    pub(super) contacts: &'a [HalfSpaceContact],
}

impl Term for BarrierHalfSpaces<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn role(&self) -> Role {
        Role::Contact
    }

    fn stencils(&self) -> Stencils<'_> {
        self.contacts.iter().map(|c| [c.vertex]).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let value =
            |c: &HalfSpaceContact| self.potential.half_space_value(c, &x[c.vertex as usize]);
        self.contacts.iter().map(value).sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for c in self.contacts {
            let v = c.vertex as usize;
            gradient[v] += self.potential.half_space_gradient(c, &x[v]);
        }
    }

    fn hessians(&self, range: Range<usize>, x: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        for (c, out) in self.contacts[range].iter().zip(out) {
            *out = self.potential.half_space_hessian_psd(c, &x[c.vertex as usize]);
        }
    }
}

impl BarrierHalfSpaces<'_> {
    /// The gradient of each contact.
    pub fn each_contact(&self, x: &[Vec3], call: &mut EachContact<'_>) {
        for c in self.contacts {
            let gradient = self.potential.half_space_gradient(c, &x[c.vertex as usize]);
            call(Some(c.half_space), &[c.vertex], &[gradient]);
        }
    }
}

/// Force and stiffness (not negative) along the normal by derivatives of the barrier by d².
#[inline]
fn normal([_, b1, b2]: [f64; 3], d2: f64) -> [f64; 2] {
    [-2.0 * b1 * d2.sqrt(), (4.0 * d2 * b2 + 2.0 * b1).max(0.0)]
}
