//! Orientation-aware contact as part of a simulation: the surfaces on which it acts, the contacts at a
//! point, and their energy as a term.

// long: what connects the potential to the rest: stencils, term, loads, gaps, each short

use super::factors::OrientedMesh;
use super::pairs::{Core, Pair, PairSet};
use super::planes::{PlanePair, plane_pairs};
use super::potential::{Derivatives, OrientationPotential, Second};
use super::surface::{ActivationDistance, Parameters, Surface};
use super::{epsilon, kernel};
use crate::contact::half_space::HalfSpace;
use crate::contact::pair_forces::EachContact;
use crate::contact::potential::NAME;
use crate::energy::{Projection, Role, Term};
use rayon::prelude::*;
use standoff_geometry::broad_phase::Candidates;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count};
use std::ops::Range;
use std::sync::Arc;

/// Summands per parallel task; also the unit of the fixed order of sums.
const CHUNK: usize = 256;

/// Distance, as a part of ε, at which forces of pairs are compared with those of the IPC potential at the
/// same part of d̂.
const COMPARED_GAP: f64 = 0.5;

/// What is constant during a simulation.
#[derive(Debug, Clone)]
pub struct OrientationContact {
    /// The surface primitives.
    pub mesh: CollisionMesh,
    /// What is around them.
    pub surface: Surface,
    /// Shape of the potential.
    pub parameters: Parameters,
    /// Largest ε, m.
    pub d_hat: f64,
    /// ε of each vertex against half-spaces, m (`#V`).
    pub plane_reach: Vec<f64>,
    /// κ of this potential, Pa m, per κ of the IPC potential: such that a face–vertex pair (in the plane an
    /// edge–vertex pair) of mean areas bears at half of d̂ what a pair of the IPC potential does.
    pub stiffness_ratio: f64,
}

impl OrientationContact {
    /// Contact on the closed surfaces of `mesh`, with the ε that leave nothing to act at rest and between
    /// bodies and half-spaces at `start` (`#V`). `solid` (`#V`) tells the vertices of bodies that have an
    /// inside; for `length` see [`rest_measures`](super::surface::rest_measures).
    pub fn new(
        mesh: &CollisionMesh,
        solid: &[bool],
        parameters: Parameters,
        length: Option<f64>,
        half_spaces: &[HalfSpace],
        start: &[Vec3],
        d_hat: f64,
    ) -> Self {
        let mut surface = Surface::new(mesh, solid, length, d_hat);
        surface.epsilon = epsilon::adaptive(mesh, &surface, &parameters, start, d_hat);
        let plane_reach = vec![d_hat; start.len()];
        let mesh = mesh.clone();
        let stiffness_ratio = 1.0;
        let mut out = Self { mesh, surface, parameters, d_hat, plane_reach, stiffness_ratio };
        for pair in plane_pairs(&out.scene(start), &out.plane_reach, d_hat, half_spaces) {
            let gap = pair.gap(start);
            if gap > 0.0 {
                let eps = &mut out.plane_reach[pair.vertex as usize];
                *eps = eps.min(epsilon::RATIO * gap);
            }
        }
        out
    }

    /// Whether the potential acts on any surface.
    pub fn acts(&self) -> bool {
        self.surface.covered.contains(&true)
    }

    /// The smallest ε of each vertex, its edges and its faces, within its body and between bodies, m (`#V`); 0
    /// where the potential does not act.
    pub fn vertex_reach(&self) -> Vec<f64> {
        let (mesh, covered) = (&self.mesh, &self.surface.covered);
        let (within, between) = match &self.surface.epsilon {
            ActivationDistance::Uniform(eps) => {
                return covered.iter().map(|c| if *c { *eps } else { 0.0 }).collect();
            }
            ActivationDistance::Adaptive { within, between } => (within, between),
        };
        let mut least: Vec<f64> =
            within.vertex.iter().zip(&between.vertex).map(|(a, b)| a.min(*b)).collect();
        let mut lower = |vertices: &[u32], eps: f64| {
            for &v in vertices {
                least[v as usize] = least[v as usize].min(eps);
            }
        };
        for (e, edge) in mesh.edges.iter().enumerate() {
            lower(edge, within.edge[e].min(between.edge[e]));
        }
        for (f, face) in mesh.faces.iter().enumerate() {
            lower(face, within.face[f].min(between.face[f]));
        }
        least.iter().zip(covered).map(|(eps, c)| if *c { *eps } else { 0.0 }).collect()
    }

    /// The candidates that are left to the IPC potential: those of which an element is not covered.
    pub fn uncovered(&self, candidates: &Candidates) -> Candidates {
        let (mesh, covered) = (&self.mesh, &self.surface.covered);
        let edge = |e: u32| covered[mesh.edges[e as usize][0] as usize];
        let face = |f: u32| covered[mesh.faces[f as usize][0] as usize];
        let vertex = |v: u32| covered[v as usize];
        let keep = |list: &[[u32; 2]], both: &(dyn Fn(u32, u32) -> bool + Sync)| {
            list.par_iter().copied().filter(|&[a, b]| !both(a, b)).collect()
        };
        Candidates {
            vertex_vertex: keep(&candidates.vertex_vertex, &|a, b| vertex(a) && vertex(b)),
            edge_vertex: keep(&candidates.edge_vertex, &|e, v| edge(e) && vertex(v)),
            edge_edge: keep(&candidates.edge_edge, &|a, b| edge(a) && edge(b)),
            face_vertex: keep(&candidates.face_vertex, &|f, v| face(f) && vertex(v)),
        }
    }

    /// Magnitude of the force per κ, at half of d̂, of a face–vertex pair, in the plane of an edge–vertex
    /// pair, of mean areas whose factors are 1.
    pub fn unit_force(&self) -> f64 {
        let (mesh, measures) = (&self.mesh, &self.surface.measures);
        let mean = |sum: f64, n: usize| sum / n.max(1) as f64;
        let covered = |v: u32| self.surface.covered[v as usize];
        let faces = (0..mesh.faces.len()).filter(|&f| covered(mesh.faces[f][0]));
        let vertices = mesh.vertices.iter().filter(|v| covered(**v));
        let edges = (0..mesh.edges.len()).filter(|&e| mesh.planar && covered(mesh.edges[e][0]));
        let face = faces.clone().map(|f| measures.face[f]).sum::<f64>();
        let edge = edges.clone().map(|e| measures.edge[e]).sum::<f64>();
        let vertex = vertices.clone().map(|&v| measures.vertex[v as usize]).sum();
        let count = faces.count() + edges.count();
        let weight = mean(face + edge, count) * mean(vertex, vertices.count());
        let z = COMPARED_GAP * self.d_hat;
        -weight * kernel::kernel(z, self.d_hat, self.parameters.exponent)[1]
    }

    pub(super) fn scene<'a>(&'a self, x: &'a [Vec3]) -> OrientedMesh<'a> {
        OrientedMesh { mesh: &self.mesh, surface: &self.surface, parameters: &self.parameters, x }
    }
}

/// The contacts at a point.
#[derive(Debug, Clone, Default)]
pub struct OrientationSet {
    /// What they are contacts of; none where the potential does not act.
    pub context: Option<Arc<OrientationContact>>,
    /// Pairs of elements.
    pub pairs: Vec<Pair>,
    /// Vertices against half-spaces.
    pub planes: Vec<PlanePair>,
    /// Where the stencil of each pair, then of each vertex against a half-space, begins.
    begin: Vec<u32>,
    /// The stencils' vertices.
    vertices: Vec<u32>,
}

impl PartialEq for OrientationSet {
    fn eq(&self, other: &Self) -> bool {
        self.pairs == other.pairs && self.planes == other.planes
    }
}

/// A contact with its closest points and force, as friction and stiffness need it.
#[derive(Debug, Clone, Copy)]
pub struct Loaded {
    /// Kind of the pair; none against a half-space.
    pub kind: Option<PairKind>,
    /// The half-space, where it is against one.
    pub half_space: u32,
    /// Closest points.
    pub core: Core,
    /// Gap beyond the thickness, m.
    pub gap: f64,
    /// Magnitude of the normal force, N.
    pub force: f64,
    /// Its factor, as if the contact acted at half of its ε.
    pub at_half: f64,
}

impl OrientationSet {
    /// No contacts.
    pub const EMPTY: Self = Self {
        context: None,
        pairs: Vec::new(),
        planes: Vec::new(),
        begin: Vec::new(),
        vertices: Vec::new(),
    };

    /// All contacts at positions `x` (`#V`), out of `candidates`.
    pub fn build(
        context: &Arc<OrientationContact>,
        candidates: &Candidates,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
    ) -> Self {
        let OrientationContact { mesh, surface, parameters, d_hat, .. } = &**context;
        let mut pairs = PairSet::build(candidates, mesh, surface, parameters, x).pairs;
        for pair in &mut pairs {
            // what acts from closer by is as much weaker: h_ε(z)/(z/ε)^r instead of h_ε(z)/z^r
            pair.weight *= (pair.epsilon / d_hat).powi(parameters.exponent);
        }
        let planes =
            plane_pairs(&context.scene(x), &context.plane_reach, context.d_hat, half_spaces);
        let mut out = Self { pairs, planes, ..Self::EMPTY };
        out.find_stencils(&context.scene(x));
        out.context = Some(context.clone());
        out
    }

    fn find_stencils(&mut self, scene: &OrientedMesh<'_>) {
        let stencils = |count: usize, find: &(dyn Fn(usize, &mut Derivatives) + Sync)| {
            (0..count)
                .into_par_iter()
                .with_min_len(CHUNK)
                .map_init(Derivatives::default, |work, i| {
                    find(i, work);
                    work.vertices.clone()
                })
                .collect::<Vec<_>>()
        };
        let potential = OrientationPotential { parameters: *scene.parameters, kappa: 1.0 };
        let pairs = stencils(self.pairs.len(), &|i, work| {
            potential.find_stencil(scene, &self.pairs[i], work);
        });
        let planes = stencils(self.planes.len(), &|i, work| {
            potential.find_plane_stencil(scene, &self.planes[i], work);
        });
        self.begin = vec![0];
        self.vertices.clear();
        for stencil in pairs.iter().chain(&planes) {
            self.vertices.extend_from_slice(stencil);
            self.begin.push(self.vertices.len() as u32);
        }
    }

    /// κ of this potential per κ of the IPC potential.
    pub fn stiffness_ratio(&self) -> f64 {
        self.context.as_ref().map_or(1.0, |c| c.stiffness_ratio)
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.pairs.len() + self.planes.len()
    }

    /// Whether nothing is in contact.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Closest points, gaps and forces of all contacts at positions `x` (`#V`) under the stiffness
    /// `kappa`, Pa m^(r−1), in order.
    pub fn loaded(&self, kappa: f64, x: &[Vec3]) -> Vec<Loaded> {
        let Some(context) = &self.context else { return Vec::new() };
        let potential = OrientationPotential { parameters: context.parameters, kappa };
        let (mesh, surface) = (&context.mesh, &context.surface);
        let ratio = |gap: f64, eps: f64| {
            let slope = |z: f64| kernel::kernel(z, eps, context.parameters.exponent)[1];
            slope(gap) / slope(COMPARED_GAP * eps)
        };
        let pair = |p: &Pair| {
            let core = p.core(mesh, x);
            let gap = core.distance - p.thickness;
            let force = potential.force_magnitude(mesh, surface, p, x);
            let at_half = ratio(gap, p.epsilon);
            Loaded { kind: Some(p.kind), half_space: 0, core, gap, force, at_half }
        };
        let plane = |p: &PlanePair| {
            let (gap, force) = (p.gap(x), potential.plane_force(&context.scene(x), p));
            let at_half = ratio(gap, p.epsilon);
            let (core, half_space) = (p.core(x), p.half_space);
            Loaded { kind: None, half_space, core, gap, force, at_half }
        };
        let pairs = self.pairs.par_iter().with_min_len(CHUNK).map(pair);
        pairs.chain(self.planes.par_iter().with_min_len(CHUNK).map(plane)).collect()
    }

    /// Vertices of the elements in contact, with repetitions.
    pub fn touched(&self) -> impl Iterator<Item = u32> {
        let mesh = self.context.as_ref().map(|c| &c.mesh);
        let pairs = self.pairs.iter().flat_map(move |p| {
            let (vertices, n) = mesh.map_or(([0; 4], 0), |m| p.vertices(m));
            vertices.into_iter().take(n)
        });
        pairs.chain(self.planes.iter().map(|p| p.vertex))
    }

    /// Smallest gap d − ξ at positions `x`, m; infinite where nothing is in contact.
    pub fn min_gap(&self, x: &[Vec3]) -> f64 {
        let Some(context) = &self.context else { return f64::INFINITY };
        let pairs = self.pairs.par_iter().with_min_len(CHUNK);
        let pairs = pairs.map(|p| p.core(&context.mesh, x).distance - p.thickness);
        let least = pairs.reduce(|| f64::INFINITY, f64::min);
        self.planes.iter().map(|p| p.gap(x)).fold(least, f64::min)
    }

    /// Smallest squared distance at positions `x`, m²; infinite where nothing is in contact.
    pub fn min_d2(&self, x: &[Vec3]) -> f64 {
        let Some(context) = &self.context else { return f64::INFINITY };
        let pairs = self.pairs.iter().map(|p| p.core(&context.mesh, x).distance);
        let planes = self.planes.iter().map(|p| p.core(x).distance);
        pairs.chain(planes).map(|d| d * d).fold(f64::INFINITY, f64::min)
    }

    /// The energy under the stiffness `kappa`, Pa m^(r−1).
    pub fn term(&self, kappa: f64) -> OrientationTerm<'_> {
        let parameters = self.context.as_ref().map_or_else(Parameters::default, |c| c.parameters);
        OrientationTerm { set: self, potential: OrientationPotential { parameters, kappa } }
    }
}

/// The orientation-aware energy of a set of contacts. Second derivatives are those at the positions of
/// the set.
#[derive(Debug, Clone, Copy)]
pub struct OrientationTerm<'a> {
    set: &'a OrientationSet,
    potential: OrientationPotential,
}

impl OrientationTerm<'_> {
    fn summand_value(&self, scene: &OrientedMesh<'_>, i: usize) -> f64 {
        match self.set.pairs.get(i) {
            Some(pair) => self.potential.pair_value(scene, pair),
            None => self.potential.plane_value(scene, &self.set.planes[i - self.set.pairs.len()]),
        }
    }

    fn differentiate(
        &self,
        scene: &OrientedMesh<'_>,
        i: usize,
        second: Option<Second>,
        out: &mut Derivatives,
    ) {
        match (self.set.pairs.get(i), second) {
            (Some(pair), None) => self.potential.differentiate(scene, pair, false, out),
            (Some(pair), Some(second)) => {
                self.potential.differentiate_twice(scene, pair, second, out);
            }
            (None, _) => {
                let plane = &self.set.planes[i - self.set.pairs.len()];
                self.potential.differentiate_plane(scene, plane, second, out);
            }
        }
    }

    /// The half-space of a summand, if there is one in it.
    fn half_space(&self, i: usize) -> Option<u32> {
        let plane = i.checked_sub(self.set.pairs.len())?;
        Some(self.set.planes[plane].half_space)
    }

    /// The gradient of each summand.
    pub fn each_contact(&self, x: &[Vec3], call: &mut EachContact<'_>) {
        let Some(context) = &self.set.context else { return };
        let (scene, mut work) = (context.scene(x), Derivatives::default());
        for i in 0..self.set.len() {
            self.differentiate(&scene, i, None, &mut work);
            call(self.half_space(i), &work.vertices, &work.gradient);
        }
    }

    fn stencil(&self, i: usize) -> &[u32] {
        &self.set.vertices[self.set.begin[i] as usize..self.set.begin[i + 1] as usize]
    }
}

impl Term for OrientationTerm<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn role(&self) -> Role {
        Role::Contact
    }

    fn stencils(&self) -> Stencils<'_> {
        (0..self.set.len()).map(|i| self.stencil(i).to_vec()).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let Some(context) = &self.set.context else { return 0.0 };
        let scene = context.scene(x);
        let starts: Vec<usize> = (0..self.set.len()).step_by(CHUNK).collect();
        let sum = |&first: &usize| {
            let end = (first + CHUNK).min(self.set.len());
            (first..end).map(|i| self.summand_value(&scene, i)).sum::<f64>()
        };
        let sums: Vec<f64> = starts.par_iter().map(sum).collect();
        sums.iter().sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let Some(context) = &self.set.context else { return };
        let scene = context.scene(x);
        let starts: Vec<usize> = (0..self.set.len()).step_by(CHUNK).collect();
        let part = |&first: &usize| {
            let (mut work, mut part) = (Derivatives::default(), Vec::new());
            for i in first..(first + CHUNK).min(self.set.len()) {
                self.differentiate(&scene, i, None, &mut work);
                part.extend(work.vertices.iter().copied().zip(work.gradient.iter().copied()));
            }
            part
        };
        let parts: Vec<Vec<(u32, Vec3)>> = starts.par_iter().map(part).collect();
        for (v, g) in parts.into_iter().flatten() {
            gradient[v as usize] += g;
        }
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let Some(context) = &self.set.context else { return };
        let scene = context.scene(x);
        let mut parts = Vec::with_capacity(range.len());
        let mut rest = out;
        for i in range {
            let (part, tail) = rest.split_at_mut(block_count(self.stencil(i).len()));
            parts.push((i, part));
            rest = tail;
        }
        let one = |work: &mut Derivatives, (i, out): (usize, &mut [Mat3])| {
            let second = match projection.applies_to(self.stencil(i)) {
                true => Second::Projected,
                false => Second::AsItIs,
            };
            self.differentiate(&scene, i, Some(second), work);
            store(work, self.stencil(i), out);
        };
        parts.into_par_iter().with_min_len(16).for_each_init(Derivatives::default, one);
    }
}

/// Stores the Hessian by the vertices of a stencil: diagonal blocks, then those (a, b), a < b.
fn store(work: &Derivatives, stencil: &[u32], out: &mut [Mat3]) {
    let place: Vec<Option<usize>> =
        stencil.iter().map(|v| work.vertices.iter().position(|w| w == v)).collect();
    let block = |a: usize, b: usize| match (place[a], place[b]) {
        (Some(i), Some(j)) => *work.block(i, j),
        _ => Mat3::zeros(),
    };
    let n = stencil.len();
    let (diagonal, off) = out.split_at_mut(n);
    for (a, out) in diagonal.iter_mut().enumerate() {
        *out = block(a, a);
    }
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    for ((a, b), out) in pairs.zip(off) {
        *out = block(a, b);
    }
}
