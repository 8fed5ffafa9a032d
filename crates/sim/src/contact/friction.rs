//! Lagged friction: a dissipative potential of the tangential displacement of contact pairs
//! [Li 2020, §5; thesis, App. H and I].
//!
//! Normal forces λ, closest points and sliding bases P are taken from one configuration and held
//! fixed. With the tangential relative displacement u = Pᵀ Σ γᵢ (xᵢ − xᵢ*) a pair adds
//! μ λ f₀(‖u‖), whose gradient is Coulomb friction smoothed below ‖u‖ = ε ([`Slip`]).

// long: one potential: coefficients, lagging and derivatives, each short

use super::half_space::HalfSpaceContact;
use super::orientation::Loaded;
use super::pair_forces::EachContact;
use super::pairs::{Contact, UNUSED};
use super::potential::BarrierPotential;
use super::set::ContactSet;
use super::slip::{Coulomb, Slip, Smoothing};
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_geometry::distance::{
    edge_edge, plane_basis, point_edge, point_point, point_triangle,
};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::block_pairs;

/// Contacts per parallel task; also the unit of the fixed order of sums.
const CHUNK: usize = 1024;

/// The length of a vector, faster than `hypot`: what is so small that its square vanishes counts as nothing.
#[inline]
fn length(u: [f64; 2]) -> f64 {
    (u[0] * u[0] + u[1] * u[1]).sqrt()
}

/// A vector, no longer than `most`.
#[inline]
fn shortened(w: [f64; 2], most: f64) -> [f64; 2] {
    let norm = length(w);
    if norm > most { w.map(|w| w * (most / norm)) } else { w }
}

/// The sliding pair: with the vertices, the identity of a friction contact from one lagging to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrictionKey {
    /// Two primitives of meshes.
    Pair(PairKind),
    /// A vertex and the half-space of this index.
    HalfSpace(u32),
}

/// A contact whose normal force and sliding frame are lagged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrictionContact {
    /// The sliding pair.
    pub key: FrictionKey,
    /// Vertices of the stencil; the first `n` are used.
    pub vertices: [u32; 4],
    /// Number of vertices: 1 (against a half-space) to 4.
    pub n: usize,
    /// Weights γ of the vertices' displacements in the relative displacement at the closest points.
    pub gamma: [f64; 4],
    /// Orthonormal columns of the sliding basis P (3×2).
    pub basis: [Vec3; 2],
    /// μ_s λ, N.
    pub force: f64,
    /// Part of that which is lost when sliding ([`Coulomb::fall`]).
    pub fall: f64,
    /// Displacement below which friction is static, in terms of that of the set ([`FrictionSet::eps`]).
    pub stick: f64,
    /// Part of μ λ in the sliding plane that the last Newton direction forecasts, which stiffens the Newton matrix
    /// ([`FrictionSet::forecast`]).
    pub forecast: Option<[f64; 2]>,
    /// Where friction is made convex, the force that it has lost there by sliding, as part of `fall` μ_s λ in the sliding plane
    /// ([`FrictionSet::take_tangents`]).
    pub tangent: Option<[f64; 2]>,
}

impl FrictionContact {
    /// The vertices of the stencil.
    #[inline]
    pub fn stencil(&self) -> &[u32] {
        &self.vertices[..self.n]
    }

    /// Tangential relative displacement u = Pᵀ Σ γᵢ (xᵢ − xᵢ*), m.
    #[inline]
    pub fn displacement(&self, x: &[Vec3], reference: &[Vec3]) -> [f64; 2] {
        self.tangential(|v| x[v] - reference[v])
    }

    /// Pᵀ Σ γᵢ of vectors at the vertices.
    #[inline]
    fn tangential(&self, of: impl Fn(usize) -> Vec3) -> [f64; 2] {
        let mut relative = Vec3::zeros();
        for (&v, &g) in self.stencil().iter().zip(&self.gamma) {
            relative += of(v as usize) * g;
        }
        [self.basis[0].dot(&relative), self.basis[1].dot(&relative)]
    }
}

/// Coulomb coefficients by friction material.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrictionMaterials {
    /// Material of each vertex (`#V`).
    pub vertex: Vec<u16>,
    /// Material of each half-space.
    pub half_space: Vec<u16>,
    /// Symmetric table of coefficients, `coefficients[a * count + b]`.
    pub coefficients: Vec<Coulomb>,
    /// Number of materials, the table's side.
    pub count: usize,
    /// Stick speed of each vertex's body in terms of the greatest of all (`#V`), infinite where the other surface decides; empty
    /// where it is the same for all. The smaller one of a pair counts.
    pub stick: Vec<f64>,
}

impl FrictionMaterials {
    /// The same for everything, over `vertices` vertices and `half_spaces` half-spaces.
    pub fn uniform(vertices: usize, half_spaces: usize, coefficient: impl Into<Coulomb>) -> Self {
        Self {
            vertex: vec![0; vertices],
            half_space: vec![0; half_spaces],
            coefficients: vec![coefficient.into()],
            count: 1,
            stick: Vec::new(),
        }
    }

    fn coefficient(&self, a: u16, b: u16) -> Coulomb {
        self.coefficients[a as usize * self.count + b as usize]
    }

    /// The stick speed of a contact of these vertices in terms of the greatest.
    pub fn stick(&self, vertices: &[u32]) -> f64 {
        let of = |v: &u32| self.stick.get(*v as usize).copied().unwrap_or(1.0);
        vertices.iter().map(of).fold(1.0, f64::min)
    }

    /// Coefficients of a pair.
    pub fn pair(&self, c: &Contact) -> Coulomb {
        self.between(c.vertices[0], c.vertices[c.second()])
    }

    /// Coefficients between the surfaces of two vertices.
    pub fn between(&self, a: u32, b: u32) -> Coulomb {
        self.coefficient(self.vertex[a as usize], self.vertex[b as usize])
    }

    /// Coefficients of a vertex against a half-space.
    pub fn against_half_space(&self, c: &HalfSpaceContact) -> Coulomb {
        self.on_half_space(c.vertex, c.half_space)
    }

    /// Coefficients of a vertex on a half-space, by index.
    pub fn on_half_space(&self, vertex: u32, half_space: u32) -> Coulomb {
        self.coefficient(self.vertex[vertex as usize], self.half_space[half_space as usize])
    }
}

/// The friction potential of a scene at one lagging.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrictionSet {
    /// Contacts with friction, in the contact set's order.
    pub contacts: Vec<FrictionContact>,
    /// Smoothness of the transition from stick to slip.
    pub smoothing: Smoothing,
    /// Displacement ε below which friction is static, m: the speed ε_v times the displacement per
    /// velocity of the integrator (h for implicit Euler).
    pub eps: f64,
    /// Smoothness of the transition against half-spaces.
    pub half_space_smoothing: Smoothing,
    /// Whether edges that are nearly parallel have friction, by the part of their force that the
    /// mollifier leaves [Li 2020, Eq. 15: all pairs]; the IPC 2020 reference leaves them out.
    pub mollified_edges: bool,
    /// Whether Hessians take the secant f₁/y for the slope f₂ along the sliding direction. Since f₁/y
    /// falls this is an upper bound: steps no longer overshoot the kink at rest, at the price
    /// of linear convergence.
    pub secant: bool,
}

impl FrictionSet {
    /// [`FrictionSet::lagged`] without edges that are nearly parallel.
    pub fn build(
        set: &ContactSet,
        potential: &BarrierPotential,
        x: &[Vec3],
        materials: &FrictionMaterials,
        smoothing: Smoothing,
        eps: f64,
    ) -> Self {
        Self { smoothing, eps, half_space_smoothing: smoothing, ..Self::default() }
            .lagged(set, potential, x, materials)
    }

    /// The same friction with forces and frames of the contacts in `set` at positions `x` (`#V`). Pairs
    /// without force or with a coefficient of zero are left out, and unless `mollified_edges` also edges
    /// that are nearly parallel: their mollified force has no definite direction, and the
    /// point–triangle pairs around them carry the contact.
    pub fn lagged(
        &self,
        set: &ContactSet,
        potential: &BarrierPotential,
        x: &[Vec3],
        materials: &FrictionMaterials,
    ) -> Self {
        let pairs: Vec<Option<FrictionContact>> = set
            .contacts
            .par_iter()
            .with_min_len(CHUNK)
            .map(|c| lag_pair(c, potential, x, materials, self.mollified_edges))
            .collect();
        let planes = set.half_space.iter().map(|c| lag_half_space(c, potential, x, materials));
        let kappa = potential.orientation_kappa(set);
        let oriented = set.orientation.loaded(kappa, x);
        let oriented = oriented.iter().map(|c| lag_oriented(c, materials));
        let contacts = pairs.into_iter().chain(planes).chain(oriented).flatten().collect();
        Self { contacts, secant: false, ..*self }
    }

    /// The law of a contact.
    #[inline]
    fn slip(&self, c: &FrictionContact) -> Slip {
        let smoothing = if c.n == 1 { self.half_space_smoothing } else { self.smoothing };
        let slip = Slip { smoothing, eps: c.stick * self.eps, fall: c.fall };
        if c.tangent.is_some() { slip.convex() } else { slip }
    }

    /// Energy of one contact at positions `x` with displacements from `reference` (`#V`), J.
    #[inline]
    pub fn contact_value(&self, c: &FrictionContact, x: &[Vec3], reference: &[Vec3]) -> f64 {
        let u = c.displacement(x, reference);
        let value = c.force * self.slip(c).f0(length(u));
        match c.tangent {
            None => value,
            Some(t) => value - c.force * c.fall * (t[0] * u[0] + t[1] * u[1]),
        }
    }

    /// Gradient of the energy of one contact, N: minus the friction force on its vertices.
    #[inline]
    pub fn contact_gradient(
        &self,
        c: &FrictionContact,
        x: &[Vec3],
        reference: &[Vec3],
    ) -> [Vec3; 4] {
        let u = c.displacement(x, reference);
        let scale = c.force * self.slip(c).f1_over_y(length(u));
        let mut force = (c.basis[0] * u[0] + c.basis[1] * u[1]) * scale;
        if let Some(t) = c.tangent {
            force -= (c.basis[0] * t[0] + c.basis[1] * t[1]) * (c.force * c.fall);
        }
        let mut out = [Vec3::zeros(); 4];
        for i in 0..c.n {
            out[i] = force * c.gamma[i];
        }
        out
    }

    /// Hessian of the energy of one contact, N/m: the stored blocks of a stencil of four vertices.
    /// Its eigenvalues are f₂ along u and f₁/‖u‖ ≥ 0 across [Li 2020 thesis, Eq. 18]; f₂ < 0 where friction falls, and then 0 if
    /// `project`. They are times a force that is negative for pairs that the convergent potential subtracts; for those the Hessian is zero in any case.
    pub fn contact_hessian(
        &self,
        c: &FrictionContact,
        x: &[Vec3],
        reference: &[Vec3],
        project: bool,
        out: &mut [Mat3],
    ) {
        let block = self.tangential_hessian(c, x, reference, project);
        for (out, (a, b)) in out.iter_mut().zip(block_pairs(4)) {
            *out = if b < c.n { block * (c.gamma[a] * c.gamma[b]) } else { Mat3::zeros() };
        }
    }

    /// Second derivative by the relative displacement, N/m.
    fn tangential_hessian(
        &self,
        c: &FrictionContact,
        x: &[Vec3],
        reference: &[Vec3],
        project: bool,
    ) -> Mat3 {
        let k = self.stiffness(c, c.displacement(x, reference), project);
        let [p, q] = &c.basis;
        let force = c.force.max(0.0);
        p * (p * (force * k[0]) + q * (force * k[1])).transpose()
            + q * (p * (force * k[1]) + q * (force * k[2])).transpose()
    }

    /// Second derivative of f₀(‖u‖) by u as entries (0,0), (0,1), (1,1), 1/m, stiffened by the forecast, projected if that is wanted.
    fn stiffness(&self, c: &FrictionContact, u: [f64; 2], project: bool) -> [f64; 3] {
        let y = length(u);
        let slip = self.slip(c);
        let across = slip.f1_over_y(y);
        // at u = 0 the stiffness is the same in all directions; without any force there is none
        if self.secant || y == 0.0 || across == 0.0 {
            return [across, 0.0, across];
        }
        let along = if project { slip.f2(y).max(0.0) } else { slip.f2(y) };
        let w = match c.forecast {
            None => u.map(|u| u / y),
            Some(w) => shortened(w, across * y).map(|w| w / (across * y)),
        };
        let less = (across - along) / y;
        [
            across - less * w[0] * u[0],
            -0.5 * less * (w[0] * u[1] + w[1] * u[0]),
            across - less * w[1] * u[1],
        ]
    }

    /// Makes friction convex for positions near `x` (`#V`): what it loses by sliding, the convex function that its potential
    /// subtracts, is replaced by its tangent there, so that the energy has the same gradient at `x` and lies nowhere below that of
    /// friction, but for a constant [Yuille 2003]. Without `x`, friction is as it is again.
    pub fn take_tangents(&mut self, x: Option<&[Vec3]>, reference: &[Vec3]) {
        let set = Self { contacts: Vec::new(), ..*self };
        for c in self.contacts.iter_mut().filter(|c| c.fall != 0.0) {
            c.tangent = None;
            let Some(x) = x else { continue };
            let u = c.displacement(x, reference);
            let ratio = set.slip(c).lost_over_y(length(u));
            c.tangent = Some(u.map(|u| ratio * u));
        }
    }

    /// Whether the friction of some contact falls with its slip at positions `x` (`#V`), so that its potential is not convex there.
    pub fn is_falling(&self, x: &[Vec3], reference: &[Vec3]) -> bool {
        let falls = |c: &FrictionContact| {
            c.fall != 0.0 && self.slip(c).is_falling(length(c.displacement(x, reference)))
        };
        self.contacts.iter().any(falls)
    }

    /// Notes the forces that the direction `p` (`#V`, m) from `x` forecasts, as parts of μ λ.
    ///
    /// To Newton's method the force of a contact that slides is constant, so that it overshoots where the contact comes to rest or
    /// turns back. A primal–dual method has the force w as a second unknown and solves the linearisation of w = f₁(y)/y u, divided by
    /// f₁(y)/y [Chan 1999, §3]. Elimination of w leaves the Newton system in which the symmetric part of w uᵀ replaces the dyad u uᵀ of the second
    /// derivative. The matrix is stiff where the forecast has another direction than the present force, and the second derivative
    /// where both are equal, as at the minimum.
    pub fn forecast(&mut self, x: &[Vec3], reference: &[Vec3], p: &[Vec3]) {
        let set = Self { contacts: Vec::new(), ..*self };
        self.contacts.par_iter_mut().with_min_len(CHUNK).for_each(|c| {
            let u = c.displacement(x, reference);
            let du = c.tangential(|v| p[v]);
            let k = set.stiffness(c, u, true);
            let across = set.slip(c).f1_over_y(length(u));
            let w = [
                across * u[0] + k[0] * du[0] + k[1] * du[1],
                across * u[1] + k[1] * du[0] + k[2] * du[1],
            ];
            c.forecast = Some(shortened(w, 1.0));
        });
    }

    /// Energy of all contacts, J. The order of the sum is fixed.
    pub fn value(&self, x: &[Vec3], reference: &[Vec3]) -> f64 {
        let parts: Vec<f64> = self
            .contacts
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().map(|c| self.contact_value(c, x, reference)).sum())
            .collect();
        parts.iter().sum()
    }

    /// Adds the gradient of the energy of all contacts to `gradient` (`#V`), N, in a fixed order.
    pub fn add_gradient(&self, x: &[Vec3], reference: &[Vec3], gradient: &mut [Vec3]) {
        for c in &self.contacts {
            let g = self.contact_gradient(c, x, reference);
            for (&v, g) in c.stencil().iter().zip(&g) {
                gradient[v as usize] += g;
            }
        }
    }
}

impl FrictionSet {
    /// The gradient of each contact.
    pub fn each_contact(&self, x: &[Vec3], reference: &[Vec3], call: &mut EachContact<'_>) {
        for c in &self.contacts {
            let half_space = match c.key {
                FrictionKey::HalfSpace(k) => Some(k),
                FrictionKey::Pair(_) => None,
            };
            call(half_space, c.stencil(), &self.contact_gradient(c, x, reference)[..c.n]);
        }
    }
}

fn lag_pair(
    c: &Contact,
    potential: &BarrierPotential,
    x: &[Vec3],
    materials: &FrictionMaterials,
    mollified_edges: bool,
) -> Option<FrictionContact> {
    let (x, coefficient) = (c.gather(x), materials.pair(c));
    if coefficient.at_rest == 0.0 || !mollified_edges && c.is_mollified(&x) {
        return None;
    }
    let force = coefficient.at_rest * potential.force_magnitude(c, &x);
    if force == 0.0 {
        return None;
    }
    let basis = match c.kind {
        PairKind::VertexVertex => point_point::tangent_basis(&x[0], &x[1]),
        PairKind::EdgeVertex => point_edge::tangent_basis(&x[0], &x[1], &x[2]),
        // nearly parallel edges span no plane: what is across their offset
        PairKind::EdgeEdge if c.is_mollified(&x) => plane_basis(&c.closest(&x).offset),
        PairKind::EdgeEdge => edge_edge::tangent_basis(&x[0], &x[1], &x[2], &x[3]),
        PairKind::FaceVertex => point_triangle::tangent_basis(&x[1], &x[2], &x[3]),
    };
    let (vertices, n, gamma) = (c.vertices, c.vertex_count(), c.closest(&x).weights);
    let stick = materials.stick(c.stencil());
    Some(FrictionContact {
        key: FrictionKey::Pair(c.kind),
        vertices,
        n,
        gamma,
        basis,
        force,
        fall: coefficient.fall(),
        stick,
        forecast: None,
        tangent: None,
    })
}

fn lag_oriented(c: &Loaded, materials: &FrictionMaterials) -> Option<FrictionContact> {
    let (core, kind) = (&c.core, c.kind);
    let coefficient = match kind {
        None => materials.on_half_space(core.vertices[0], c.half_space),
        Some(_) => materials.between(core.vertices[0], core.vertices[core.n - 1]),
    };
    let force = coefficient.at_rest * c.force;
    let key = match kind {
        None => FrictionKey::HalfSpace(c.half_space),
        Some(kind) => FrictionKey::Pair(kind),
    };
    let mut vertices = core.vertices;
    vertices[core.n..].fill(UNUSED);
    let basis = plane_basis(&core.direction);
    let (n, gamma) = (core.n, core.weights);
    let stick = materials.stick(&core.vertices[..n]);
    (force != 0.0).then_some(FrictionContact {
        key,
        vertices,
        n,
        gamma,
        basis,
        force,
        fall: coefficient.fall(),
        stick,
        forecast: None,
        tangent: None,
    })
}

fn lag_half_space(
    c: &HalfSpaceContact,
    potential: &BarrierPotential,
    x: &[Vec3],
    materials: &FrictionMaterials,
) -> Option<FrictionContact> {
    let coefficient = materials.against_half_space(c);
    let force =
        coefficient.at_rest * potential.half_space_force_magnitude(c, &x[c.vertex as usize]);
    (force != 0.0).then(|| FrictionContact {
        key: FrictionKey::HalfSpace(c.half_space),
        vertices: [c.vertex, UNUSED, UNUSED, UNUSED],
        n: 1,
        gamma: [1.0, 0.0, 0.0, 0.0],
        basis: plane_basis(&c.plane.normal),
        force,
        fall: coefficient.fall(),
        stick: materials.stick(&[c.vertex]),
        forecast: None,
        tangent: None,
    })
}
