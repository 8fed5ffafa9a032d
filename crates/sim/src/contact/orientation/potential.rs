//! Energies of pairs with gradient, Hessian and its projection.
//!
//! With the factors F of a pair's energy Ψ = Π F, all positive, and g = Σ ∇F/F,
//!
//! ∇Ψ = Ψ g,   ∇²Ψ = Ψ [g gᵀ + Σ (∇²F/F − ∇F∇Fᵀ/F²)].
//!
//! Factors that are 1 drop out, and so do the vertices that only they depend on.

// long: one product of factors; each function differentiates a factor into the same memory

use super::direction::Unit;
use super::factors::{Argument, CurrentMeasure, Element, OrientedMesh, Term, Varying};
use super::kernel;
use super::mollifier;
use super::pairs::{Core, Pair, PairSet, value};
use super::planes::{self, PlanePair};
use super::psd;
use super::surface::{Parameters, Surface};
use crate::contact::hessian::{RELATIVE_2, RELATIVE_3, RELATIVE_4, distance_block};
use rayon::prelude::*;
use standoff_geometry::distance::{edge_edge, point_edge, point_point, point_triangle};
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::{Mat3, Vec3};

/// Pairs per parallel task; also the unit of the fixed order in which energies are summed.
const CHUNK: usize = 256;

/// Kernel and stiffness of the potential.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OrientationPotential {
    /// Shape.
    pub parameters: Parameters,
    /// Stiffness κ, Pa m^(r−1): with r = 2 and areas in m² an energy in J.
    pub kappa: f64,
}

/// Which Hessian of a pair is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Second {
    /// The second derivative with negative eigenvalues set to zero.
    Projected,
    /// The second derivative.
    AsItIs,
}

/// Derivatives of a pair's energy by the vertices that it depends on; memory to be reused.
#[derive(Debug, Clone, Default)]
pub struct Derivatives {
    /// The vertices, each once, those of the elements first (`n`).
    pub vertices: Vec<u32>,
    /// Gradient, N (`n`).
    pub gradient: Vec<Vec3>,
    /// Hessian, N/m (`n×n` blocks, by rows); empty where only the gradient was requested.
    pub hessian: Vec<Mat3>,
    varying: Varying,
    sparse: Vec<(usize, Vec3)>,
}

impl Derivatives {
    /// Block (i, j) of the Hessian.
    #[inline]
    pub fn block(&self, i: usize, j: usize) -> &Mat3 {
        &self.hessian[i * self.vertices.len() + j]
    }

    /// Position of a vertex in the stencil.
    #[inline]
    fn place(&self, v: u32) -> usize {
        // stencils are short
        self.vertices.iter().position(|&w| w == v).unwrap_or_default()
    }

    fn insert(&mut self, v: u32) {
        if !self.vertices.contains(&v) {
            self.vertices.push(v);
        }
    }

    /// Finds the vertices that a pair with the given core and varying factors depends on.
    fn find_stencil(&mut self, core: &Core) {
        self.vertices.clear();
        self.vertices.extend_from_slice(&core.vertices[..core.n]);
        let varying = std::mem::take(&mut self.varying);
        for term in &varying.terms {
            for v in term.arguments[..term.unit.arguments()].iter().flatten() {
                self.insert(*v);
            }
        }
        for measure in varying.measures.iter().flatten() {
            match measure {
                CurrentMeasure::Square(_, ends) | CurrentMeasure::Length(_, ends) => {
                    ends.iter().for_each(|&v| self.insert(v));
                }
                CurrentMeasure::Area(face) => face.iter().for_each(|&v| self.insert(v)),
            }
        }
        self.varying = varying;
    }

    fn reset(&mut self, with_hessian: bool) {
        let n = self.vertices.len();
        self.gradient.clear();
        self.gradient.resize(n, Vec3::zeros());
        self.hessian.clear();
        if with_hessian {
            self.hessian.resize(n * n, Mat3::zeros());
        }
    }

    /// Sets the blocks of the core vertices, given in the order `local`.
    fn set_blocks<const N: usize>(&mut self, h: &[[Mat3; N]; N], local: [usize; N]) {
        let n = self.vertices.len();
        for i in 0..N {
            for j in 0..N {
                self.hessian[local[i] * n + local[j]] = h[i][j];
            }
        }
    }

    /// Adds `m` to block (i, j).
    #[inline]
    fn add_block(&mut self, i: usize, j: usize, m: &Mat3) {
        let n = self.vertices.len();
        self.hessian[i * n + j] += m;
    }

    /// Adds c v vᵀ for a sparse vector v.
    fn add_square(&mut self, c: f64, v: &[(usize, Vec3)]) {
        for &(i, a) in v {
            for &(j, b) in v {
                self.add_block(i, j, &(a * (b * c).transpose()));
            }
        }
    }

    /// Adds the block `m` between two difference vectors, and its transpose where they are two.
    fn add_between(&mut self, p: [usize; 2], q: [usize; 2], m: &Mat3, both: bool) {
        for (i, s) in [(p[0], -1.0), (p[1], 1.0)] {
            for (j, t) in [(q[0], -1.0), (q[1], 1.0)] {
                let block = m * (s * t);
                self.add_block(i, j, &block);
                if both {
                    self.add_block(j, i, &block.transpose());
                }
            }
        }
    }

    /// Adds second derivatives by the arguments of one unit vector.
    fn add_curvature(&mut self, unit: &Unit, places: &[[usize; 2]; 2], blocks: &[Mat3; 3], c: f64) {
        if unit.arguments() == 0 {
            return;
        }
        self.add_between(places[0], places[0], &(blocks[0] * c), false);
        if unit.arguments() == 2 {
            self.add_between(places[0], places[1], &(blocks[1] * c), true);
            self.add_between(places[1], places[1], &(blocks[2] * c), false);
        }
    }

    fn places(&self, arguments: &[Argument; 2]) -> [[usize; 2]; 2] {
        arguments.map(|a| a.map(|v| self.place(v)))
    }
}

/// Adds `v` to the entries of a difference vector in a sparse vector.
fn add_sparse(out: &mut Vec<(usize, Vec3)>, [tail, head]: [usize; 2], v: &Vec3) {
    for (k, v) in [(tail, -v), (head, *v)] {
        match out.iter_mut().find(|e| e.0 == k) {
            Some(e) => e.1 += v,
            None => out.push((k, v)),
        }
    }
}

/// A pair's direction as a function of its core vertices, and what it is a function of.
fn direction(kind: PairKind, core: &Core) -> (Unit, [[usize; 2]; 2]) {
    let d = |a: usize, b: usize| core.x[b] - core.x[a];
    let across = |a: Vec3, b: Vec3| {
        let sign = a.cross(&b).dot(&core.direction).signum();
        Unit::cross(&a, &b, sign)
    };
    match kind {
        PairKind::VertexVertex => (Unit::along(&d(0, 1)), [[0, 1]; 2]),
        PairKind::EdgeVertex => (Unit::across(&d(0, 1), &d(0, 2)), [[0, 1], [0, 2]]),
        PairKind::EdgeEdge => (across(d(0, 1), d(2, 3)), [[0, 1], [2, 3]]),
        PairKind::FaceVertex => (across(d(0, 1), d(0, 2)), [[0, 1], [0, 2]]),
    }
}

impl OrientationPotential {
    fn scene<'a>(
        &'a self,
        mesh: &'a CollisionMesh,
        surface: &'a Surface,
        x: &'a [Vec3],
    ) -> OrientedMesh<'a> {
        OrientedMesh { mesh, surface, parameters: &self.parameters, x }
    }

    /// Energy of a pair at positions `x` (`#V`), J; infinite where it touches.
    pub fn value(&self, mesh: &CollisionMesh, surface: &Surface, pair: &Pair, x: &[Vec3]) -> f64 {
        self.kappa * value(&self.scene(mesh, surface, x), pair)
    }

    /// Energy of all pairs, J. The order of the sum is fixed.
    pub fn set_value(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        set: &PairSet,
        x: &[Vec3],
    ) -> f64 {
        let scene = self.scene(mesh, surface, x);
        let parts: Vec<f64> = set
            .pairs
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().map(|p| value(&scene, p)).sum())
            .collect();
        self.kappa * parts.iter().sum::<f64>()
    }

    /// Magnitude of the normal force of a pair, λ = −∂Ψ/∂d with factors and mollifier held, N.
    pub fn force_magnitude(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        pair: &Pair,
        x: &[Vec3],
    ) -> f64 {
        let scene = self.scene(mesh, surface, x);
        let core = pair.core(mesh, x);
        let [p, p1, _] = self.kernel(pair, &core);
        if p == 0.0 || !p.is_finite() {
            return 0.0;
        }
        -self.kappa * value(&scene, pair) * p1 / p
    }

    /// Mollifier of a pair's closest points at positions `x` (`#V`).
    pub fn mollifier(&self, mesh: &CollisionMesh, pair: &Pair, x: &[Vec3]) -> f64 {
        let core = pair.core(mesh, x);
        mollifier::value(pair.kind, &core.x, core.distance * core.distance)
    }

    #[inline]
    fn kernel(&self, pair: &Pair, core: &Core) -> [f64; 3] {
        let z = core.distance - pair.thickness;
        kernel::kernel(z, pair.epsilon, self.parameters.exponent)
    }

    /// Gradient of the energy of a pair at positions `x`, with the vertices that it depends on there.
    pub fn gradient(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        pair: &Pair,
        x: &[Vec3],
        out: &mut Derivatives,
    ) {
        self.differentiate(&self.scene(mesh, surface, x), pair, false, out);
    }

    /// Gradient and Hessian of the energy of a pair, the latter as it is (indefinite).
    pub fn hessian(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        pair: &Pair,
        x: &[Vec3],
        out: &mut Derivatives,
    ) {
        self.differentiate(&self.scene(mesh, surface, x), pair, true, out);
    }

    /// Gradient and Hessian of the energy of a pair, the latter with its negative eigenvalues set to
    /// zero.
    pub fn hessian_psd(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        pair: &Pair,
        x: &[Vec3],
        out: &mut Derivatives,
    ) {
        self.differentiate_twice(&self.scene(mesh, surface, x), pair, Second::Projected, out);
    }

    /// Gradient and Hessian of a pair, the latter projected or as it is.
    pub(super) fn differentiate_twice(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &Pair,
        second: Second,
        out: &mut Derivatives,
    ) {
        let Some(start) = self.start(scene, pair, out) else { return out.reset(true) };
        if second == Second::Projected
            && out.varying.is_plain()
            && mollifier::value(pair.kind, &start.core.x, start.d2()) == 1.0
        {
            self.plain_psd(pair.kind, &start, out);
        } else {
            start.finish(scene, pair.kind, true, out);
            if second == Second::Projected {
                psd::project(out.vertices.len(), &mut out.hessian);
            }
        }
    }

    /// Gradient and projected Hessian of a pair whose factors are all 1: a function of the distance.
    fn plain_psd(&self, kind: PairKind, start: &Start, out: &mut Derivatives) {
        let (core, [_, p1, p2]) = (&start.core, start.kernel);
        let d = core.distance;
        let scale = start.energy / start.kernel[0];
        out.reset(true);
        for k in 0..core.n {
            out.gradient[k] = core.direction * (core.weights[k] * p1 * scale);
        }
        // derivatives by d², as the closed form takes them
        let (a, b) = ((p2 - p1 / d) / (d * d) * scale, p1 / d * scale);
        let x = &core.x;
        match kind {
            PairKind::VertexVertex => {
                let e = point_point::expansion(&x[0], &x[1]);
                out.set_blocks(&distance_block::<2, 0, 1, 1>(&e, &RELATIVE_2, a, b, true), [0, 1]);
            }
            PairKind::EdgeVertex => {
                let e = point_edge::expansion(&x[2], &x[0], &x[1]);
                out.set_blocks(
                    &distance_block::<3, 1, 2, 3>(&e, &RELATIVE_3, a, b, true),
                    [2, 0, 1],
                );
            }
            PairKind::EdgeEdge => {
                let e = edge_edge::expansion(&x[0], &x[1], &x[2], &x[3]);
                out.set_blocks(
                    &distance_block::<4, 2, 3, 5>(&e, &RELATIVE_4, a, b, true),
                    [0, 1, 2, 3],
                );
            }
            PairKind::FaceVertex => {
                let e = point_triangle::expansion(&x[3], &x[0], &x[1], &x[2]);
                out.set_blocks(
                    &distance_block::<4, 2, 3, 5>(&e, &RELATIVE_4, a, b, true),
                    [3, 0, 1, 2],
                );
            }
        }
        psd::symmetrise(core.n, &mut out.hessian);
    }

    /// Adds the gradient of the energy of all pairs to `gradient` (`#V`), N, in a fixed order.
    pub fn add_gradient(
        &self,
        mesh: &CollisionMesh,
        surface: &Surface,
        set: &PairSet,
        x: &[Vec3],
        gradient: &mut [Vec3],
    ) {
        let scene = self.scene(mesh, surface, x);
        let parts: Vec<Vec<(u32, Vec3)>> = set
            .pairs
            .par_chunks(CHUNK)
            .map(|chunk| {
                let (mut work, mut part) = (Derivatives::default(), Vec::new());
                for pair in chunk {
                    self.differentiate(&scene, pair, false, &mut work);
                    part.extend(work.vertices.iter().copied().zip(work.gradient.iter().copied()));
                }
                part
            })
            .collect();
        for (v, g) in parts.into_iter().flatten() {
            gradient[v as usize] += g;
        }
    }

    /// Gradient and, where requested, Hessian of a pair.
    pub(super) fn differentiate(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &Pair,
        with_hessian: bool,
        out: &mut Derivatives,
    ) {
        match self.start(scene, pair, out) {
            Some(start) => start.finish(scene, pair.kind, with_hessian, out),
            None => out.reset(with_hessian),
        }
    }

    /// The energy of a pair.
    pub(super) fn pair_value(&self, scene: &OrientedMesh<'_>, pair: &Pair) -> f64 {
        self.kappa * value(scene, pair)
    }

    /// The vertices that a pair's energy depends on.
    pub(super) fn find_stencil(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &Pair,
        out: &mut Derivatives,
    ) {
        self.start(scene, pair, out);
    }

    /// The energy of a vertex against a half-space.
    pub(super) fn plane_value(&self, scene: &OrientedMesh<'_>, pair: &PlanePair) -> f64 {
        self.kappa * planes::value(scene, pair)
    }

    /// The vertices that the energy of a vertex against a half-space depends on.
    pub(super) fn find_plane_stencil(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &PlanePair,
        out: &mut Derivatives,
    ) {
        self.start_plane(scene, pair, out);
    }

    /// Magnitude of the normal force of a half-space on a vertex, N.
    pub(super) fn plane_force(&self, scene: &OrientedMesh<'_>, pair: &PlanePair) -> f64 {
        let kernel = kernel::kernel(pair.gap(scene.x), pair.epsilon, self.parameters.exponent);
        match kernel {
            [p, p1, _] if p > 0.0 && p.is_finite() => -self.plane_value(scene, pair) * p1 / p,
            _ => 0.0,
        }
    }

    /// Gradient and, where requested, Hessian of a vertex against a half-space.
    pub(super) fn differentiate_plane(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &PlanePair,
        second: Option<Second>,
        out: &mut Derivatives,
    ) {
        let with_hessian = second.is_some();
        let start = self.start_plane(scene, pair, out);
        out.reset(with_hessian);
        let Some(Start { core, energy, kernel: [p, p1, p2] }) = start else { return };
        let slope = p1 / p;
        out.gradient[0] = core.direction * (core.weights[0] * slope);
        if with_hessian {
            let n = core.direction;
            out.add_block(0, 0, &(n * n.transpose() * (p2 / p - slope * slope)));
        }
        add_factors(|| (Unit::constant(core.direction), [[0; 2]; 2]), with_hessian, out);
        exponentiate(energy, with_hessian, out);
        if second == Some(Second::Projected) {
            psd::project_whole(out.vertices.len(), &mut out.hessian);
        }
    }

    fn start_plane(
        &self,
        scene: &OrientedMesh<'_>,
        pair: &PlanePair,
        out: &mut Derivatives,
    ) -> Option<Start> {
        let core = pair.core(scene.x);
        let energy = self.plane_value(scene, pair);
        out.varying.clear();
        let acts = energy != 0.0 && energy.is_finite();
        if acts {
            scene.collect(Element::Vertex(pair.vertex), 0, &core.direction, &mut out.varying);
        }
        out.find_stencil(&core);
        let kernel = kernel::kernel(pair.gap(scene.x), pair.epsilon, self.parameters.exponent);
        acts.then_some(Start { core, energy, kernel })
    }

    /// Collects what a pair's energy depends on; `None` where it is 0 or infinite.
    fn start(&self, scene: &OrientedMesh<'_>, pair: &Pair, out: &mut Derivatives) -> Option<Start> {
        let core = pair.core(scene.mesh, scene.x);
        let energy = self.kappa * value(scene, pair);
        out.varying.clear();
        let acts = energy != 0.0 && energy.is_finite();
        if acts {
            for (side, element) in pair.sides().into_iter().enumerate() {
                scene.collect(element, side, &core.direction, &mut out.varying);
            }
        }
        out.find_stencil(&core);
        let kernel = self.kernel(pair, &core);
        acts.then_some(Start { core, energy, kernel })
    }
}

/// A pair with its energy, before differentiation.
struct Start {
    core: Core,
    energy: f64,
    kernel: [f64; 3],
}

impl Start {
    fn d2(&self) -> f64 {
        self.core.distance * self.core.distance
    }

    /// Differentiates the logarithm of the energy, factor by factor, then the energy.
    fn finish(
        &self,
        scene: &OrientedMesh<'_>,
        kind: PairKind,
        with_hessian: bool,
        out: &mut Derivatives,
    ) {
        let (core, [p, p1, p2]) = (&self.core, self.kernel);
        out.reset(with_hessian);
        let slope = p1 / p;
        for k in 0..core.n {
            out.gradient[k] = core.direction * (core.weights[k] * slope);
        }
        if with_hessian {
            add_distance(kind, core, slope, p2 / p - slope * slope, out);
        }
        add_factors(|| direction(kind, core), with_hessian, out);
        add_mollifier(kind, core, with_hessian, out);
        add_measures(scene, with_hessian, out);
        exponentiate(self.energy, with_hessian, out);
    }
}

/// Adds first · ∇²d + second · ∇d∇dᵀ.
fn add_distance(kind: PairKind, core: &Core, first: f64, second: f64, out: &mut Derivatives) {
    let x = &core.x;
    let d = core.distance;
    match kind {
        PairKind::VertexVertex => {
            let n = core.direction;
            let square = n * n.transpose();
            let block = (Mat3::identity() - square) * (first / d) + square * second;
            out.add_between([0, 1], [0, 1], &block, false);
        }
        PairKind::EdgeVertex => {
            let h = point_edge::expansion(&x[2], &x[0], &x[1]).hessian();
            add_expansion(&h, [2, 0, 1], core, first, second, out);
        }
        PairKind::EdgeEdge => {
            let h = edge_edge::expansion(&x[0], &x[1], &x[2], &x[3]).hessian();
            add_expansion(&h, [0, 1, 2, 3], core, first, second, out);
        }
        PairKind::FaceVertex => {
            let h = point_triangle::expansion(&x[3], &x[0], &x[1], &x[2]).hessian();
            add_expansion(&h, [3, 0, 1, 2], core, first, second, out);
        }
    }
}

/// The same from the Hessian of d²: ∇²d = (∇²(d²)/2 − ∇d∇dᵀ)/d.
fn add_expansion<const N: usize>(
    h: &[[Mat3; N]; N],
    local: [usize; N],
    core: &Core,
    first: f64,
    second: f64,
    out: &mut Derivatives,
) {
    let over = first / core.distance;
    let square = core.direction * (core.direction * (second - over)).transpose();
    for i in 0..N {
        for j in 0..N {
            let (p, q) = (local[i], local[j]);
            let block = h[i][j] * (0.5 * over) + square * (core.weights[p] * core.weights[q]);
            out.add_block(p, q, &block);
        }
    }
}

/// Adds the varying factors; `direction` gives the pair's direction and what it is a function of.
// long: two nested loops over one sum
fn add_factors(
    direction: impl FnOnce() -> (Unit, [[usize; 2]; 2]),
    with_hessian: bool,
    out: &mut Derivatives,
) {
    if out.varying.factors.is_empty() {
        return;
    }
    let (unit, n_places) = direction();
    let varying = std::mem::take(&mut out.varying);
    let mut sum = std::mem::take(&mut out.sparse);
    let mut one = Vec::with_capacity(8);
    // gradient of the sum of all scalars by the direction
    let mut pull = Vec3::zeros();
    for factor in &varying.factors {
        sum.clear();
        for term in &varying.terms[factor.terms.clone()] {
            let places = out.places(&term.arguments);
            term_gradient(term, &unit, &n_places, &places, &mut one);
            let c = factor.first * term.inner[0];
            for &(k, g) in &one {
                out.gradient[k] += g * c;
                match sum.iter_mut().find(|e| e.0 == k) {
                    Some(e) => e.1 += g * term.inner[0],
                    None => sum.push((k, g * term.inner[0])),
                }
            }
            if !with_hessian {
                continue;
            }
            if term.inner[1] != 0.0 {
                out.add_square(factor.first * term.inner[1], &one);
            }
            pull += term.unit.value * (c * term.sign);
            let blocks = term.unit.curvature(&unit.value);
            out.add_curvature(&term.unit, &places, &blocks, c * term.sign);
            for i in 0..unit.arguments() {
                for j in 0..term.unit.arguments() {
                    let m = unit.slopes[i].transpose() * term.unit.slopes[j] * (c * term.sign);
                    out.add_between(n_places[i], places[j], &m, true);
                }
            }
        }
        if with_hessian {
            out.add_square(factor.second, &sum);
        }
    }
    if with_hessian {
        out.add_curvature(&unit, &n_places, &unit.curvature(&pull), 1.0);
    }
    (out.varying, out.sparse) = (varying, sum);
}

/// Gradient of ±n̂·û by the vertices.
fn term_gradient(
    term: &Term,
    n: &Unit,
    n_places: &[[usize; 2]; 2],
    places: &[[usize; 2]; 2],
    out: &mut Vec<(usize, Vec3)>,
) {
    out.clear();
    for i in 0..n.arguments() {
        let g = n.slopes[i].transpose() * term.unit.value * term.sign;
        add_sparse(out, n_places[i], &g);
    }
    for j in 0..term.unit.arguments() {
        let g = term.unit.slopes[j].transpose() * n.value * term.sign;
        add_sparse(out, places[j], &g);
    }
}

/// Adds the mollifier where it is below 1.
fn add_mollifier(kind: PairKind, core: &Core, with_hessian: bool, out: &mut Derivatives) {
    let Some(m) = mollifier::jet(kind, &core.x, core.distance * core.distance) else { return };
    let (value, gradient, h) = m.parts();
    let over = 1.0 / value;
    let part = |k: usize| Vec3::from_fn(|r, _| gradient[3 * k + r] * over);
    for k in 1..core.n {
        let g = part(k - 1);
        out.gradient[k] += g;
        out.gradient[0] -= g;
        if !with_hessian {
            continue;
        }
        for l in 1..core.n {
            let block = Mat3::from_fn(|r, s| h[3 * k - 3 + r][3 * l - 3 + s] * over);
            out.add_between([0, k], [0, l], &(block - g * part(l - 1).transpose()), false);
        }
    }
}

/// Adds the current measures, where they count.
fn add_measures(scene: &OrientedMesh<'_>, with_hessian: bool, out: &mut Derivatives) {
    let varying = std::mem::take(&mut out.varying);
    for side in varying.measures.iter().filter(|side| !side.is_empty()) {
        let mut sum = Vec::new();
        let mut total = 0.0;
        for measure in side {
            total += measure_gradient(scene, measure, out, &mut sum);
        }
        for &(k, g) in &sum {
            out.gradient[k] += g / total;
        }
        if !with_hessian {
            continue;
        }
        out.add_square(-1.0 / (total * total), &sum);
        for measure in side {
            match *measure {
                CurrentMeasure::Square(c, ends) => {
                    let places = ends.map(|v| out.place(v));
                    let block = Mat3::from_diagonal_element(2.0 * c / total);
                    out.add_between(places, places, &block, false);
                }
                CurrentMeasure::Length(c, ends) => {
                    let places = ends.map(|v| out.place(v));
                    let t = scene.at(ends[1]) - scene.at(ends[0]);
                    let (length, u) = (t.norm(), t.normalize());
                    let across = Mat3::identity() - u * u.transpose();
                    out.add_between(places, places, &(across * (c / (length * total))), false);
                }
                CurrentMeasure::Area(f) => add_area_hessian(scene, f, 1.0 / total, out),
            }
        }
    }
    out.varying = varying;
}

/// Adds the gradient of a measure and returns its value.
fn measure_gradient(
    scene: &OrientedMesh<'_>,
    measure: &CurrentMeasure,
    out: &Derivatives,
    sum: &mut Vec<(usize, Vec3)>,
) -> f64 {
    match *measure {
        CurrentMeasure::Square(c, ends) => {
            let t = scene.at(ends[1]) - scene.at(ends[0]);
            add_sparse(sum, ends.map(|v| out.place(v)), &(t * (2.0 * c)));
            c * t.norm_squared()
        }
        CurrentMeasure::Length(c, ends) => {
            let t = scene.at(ends[1]) - scene.at(ends[0]);
            let length = t.norm();
            add_sparse(sum, ends.map(|v| out.place(v)), &(t * (c / length)));
            c * length
        }
        CurrentMeasure::Area([p, q, r]) => {
            let (a, b) = (scene.at(q) - scene.at(p), scene.at(r) - scene.at(p));
            let n = a.cross(&b);
            let u = n.normalize();
            add_sparse(sum, [out.place(p), out.place(q)], &(b.cross(&u) * 0.5));
            add_sparse(sum, [out.place(p), out.place(r)], &(u.cross(&a) * 0.5));
            0.5 * n.norm()
        }
    }
}

/// Adds c times the Hessian of a face's area, from ∂A/∂a = ½ b × û, ∂A/∂b = ½ û × a.
fn add_area_hessian(scene: &OrientedMesh<'_>, [p, q, r]: [u32; 3], c: f64, out: &mut Derivatives) {
    let (a, b) = (scene.at(q) - scene.at(p), scene.at(r) - scene.at(p));
    let unit = Unit::cross(&a, &b, 1.0);
    let matrix = |v: &Vec3| Mat3::new(0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0);
    let aa = matrix(&b) * unit.slopes[0] * (0.5 * c);
    let ab = (matrix(&b) * unit.slopes[1] - matrix(&unit.value)) * (0.5 * c);
    let bb = matrix(&a) * unit.slopes[1] * (-0.5 * c);
    let places = out.places(&[[p, q], [p, r]]);
    out.add_between(places[0], places[0], &aa, false);
    out.add_between(places[0], places[1], &ab, true);
    out.add_between(places[1], places[1], &bb, false);
}

/// From the logarithm's derivatives to the energy's.
fn exponentiate(energy: f64, with_hessian: bool, out: &mut Derivatives) {
    let n = out.vertices.len();
    if with_hessian {
        for i in 0..n {
            for j in 0..n {
                let square = out.gradient[i] * out.gradient[j].transpose();
                let block = &mut out.hessian[i * n + j];
                *block = (*block + square) * energy;
            }
        }
    }
    out.gradient.iter_mut().for_each(|g| *g *= energy);
}
