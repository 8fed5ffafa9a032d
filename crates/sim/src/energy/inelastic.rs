//! The branches of the stress of solids that flow: their energies in one step, and what is left of them after it.
//!
//! Every point of a solid's elements at which its law is evaluated has, for each of its
//! [`Inelasticity`]s, a flow Fᵢ in the [`State`](crate::State). A step makes an energy of them in which Fᵢ is constant.

// long: the same for each kind of elements

mod in_step;

use super::axisymmetric::{AtRing, Axisymmetric, RingPoint};
use super::element::{Element, Elements};
use super::plane_strain::PlaneStrain;
use super::point::Point;
use super::quadratic_tet::{NODES, QuadraticTet};
use super::quadratic_triangle::QuadraticTriangle;
use super::solids::Solids;
use super::term::Term;
use super::tet::Tet;
use crate::material::inelastic::{
    Inelasticity, Plasticity, Relaxation, Response, deviator, scaled,
};
pub use in_step::InStep;
use rayon::prelude::*;
use standoff_geometry::quadratic::TRIANGLE_NODES;
use standoff_linalg::{Mat3, Svd, V3, Vec3, svd3};

/// Its row in reports.
pub const NAME: &str = "inelastic";

/// The internal variables of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Internal {
    /// Fᵢ⁻¹, the inverse of what flowed, of determinant 1.
    pub inverse: Mat3,
    /// Equivalent plastic strain α; 0 of what relaxes.
    pub plastic_strain: f64,
}

impl Default for Internal {
    fn default() -> Self {
        Self { inverse: Mat3::identity(), plastic_strain: 0.0 }
    }
}

/// A branch of the stress at a point: a spring that may flow, in parallel with the law.
#[derive(Debug, Clone, PartialEq)]
struct Branch<const N: usize, P = Point<N>> {
    point: P,
    /// Number of the element among those of solids.
    element: u32,
    /// Number of the point among those of the element.
    number: u8,
    /// Its shear modulus, Pa.
    mu: f64,
    rule: Rule,
}

/// A point of an element, of whichever kind.
trait AtPoint<const N: usize>: Clone + Send + Sync {
    /// The energy of a part of the stress there in one step.
    type InStep: Element<N>;

    /// F at positions `x` of the vertices.
    fn deformation_gradient(&self, x: &[Vec3; N]) -> Mat3;

    /// Rest volume that the point stands for, m³.
    fn volume(&self) -> f64;

    /// The point of what is `g` times as long without stress.
    fn grown(&self, g: f64) -> Self;

    /// The energy of a part of the stress that answers to F Fᵢ⁻¹ in the place of F.
    fn in_step(&self, inverse: &Mat3, response: Response) -> Self::InStep;
}

impl<const N: usize> AtPoint<N> for Point<N> {
    type InStep = InStep<N>;

    fn deformation_gradient(&self, x: &[Vec3; N]) -> Mat3 {
        self.deformation_gradient(x)
    }

    fn volume(&self) -> f64 {
        self.volume
    }

    fn grown(&self, g: f64) -> Self {
        self.grown(g)
    }

    fn in_step(&self, inverse: &Mat3, response: Response) -> InStep<N> {
        InStep { point: self.behind(inverse), response }
    }
}

impl<const N: usize> AtPoint<N> for RingPoint<N> {
    type InStep = AtRing<Response, N>;

    fn deformation_gradient(&self, x: &[Vec3; N]) -> Mat3 {
        self.deformation_gradient(x)
    }

    fn volume(&self) -> f64 {
        self.volume
    }

    fn grown(&self, g: f64) -> Self {
        self.grown(g)
    }

    fn in_step(&self, inverse: &Mat3, response: Response) -> AtRing<Response, N> {
        AtRing { point: self.behind(inverse), density: response }
    }
}

/// How a branch flows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Neither relaxes nor yields, beside one that yields.
    Elastic,
    Relaxing(Relaxation),
    /// With the part of the modulus of the material that it has: its own plastic strain is that of the material over this part.
    Yielding(Plasticity, f64),
}

impl<const N: usize, P: AtPoint<N>> Branch<N, P> {
    /// Fᵢ⁻¹ at the begin of a step of `h` seconds from `x`, with what relaxes of the stress that was there.
    fn begin(&self, internal: &Internal, x: &[Vec3; N], h: f64) -> Mat3 {
        let Rule::Relaxing(relaxation) = self.rule else { return internal.inverse };
        let [kept, _] = relaxation.parts(h);
        flow(&self.point.deformation_gradient(x), &internal.inverse, kept)
    }

    /// How it answers in a step of `h` seconds.
    fn response(&self, internal: &Internal, h: f64) -> Response {
        match self.rule {
            Rule::Elastic => Response::Elastic { modulus: self.mu },
            Rule::Relaxing(relaxation) => {
                let [_, left] = relaxation.parts(h);
                Response::Elastic { modulus: left * self.mu }
            }
            Rule::Yielding(plasticity, _) => {
                Response::Yielding { mu: self.mu, plasticity, alpha: internal.plastic_strain }
            }
        }
    }

    /// What is left after a step of `h` seconds from `before` to `after`, and the heat, J.
    fn end(
        &self,
        internal: &Internal,
        [before, after]: [&[Vec3; N]; 2],
        h: f64,
    ) -> (Internal, f64) {
        let inverse = self.begin(internal, before, h);
        let f = self.point.deformation_gradient(after);
        match self.rule {
            Rule::Elastic => (*internal, 0.0),
            Rule::Relaxing(relaxation) => {
                let [kept, left] = relaxation.parts(h);
                let was = self.point.deformation_gradient(before) * internal.inverse;
                let (e0, e) = (strain_deviator(&was), strain_deviator(&(f * inverse)));
                let change = e - e0 * kept;
                let squares = [e0.norm_squared(), e0.dot(&change), change.norm_squared()];
                let heat = 2.0 * self.mu * self.point.volume() * relaxation.heat(h, squares);
                let inverse = flow(&f, &inverse, left);
                (Internal { inverse, plastic_strain: 0.0 }, heat)
            }
            Rule::Yielding(plasticity, _) => {
                let alpha = internal.plastic_strain;
                let response = self.response(internal, h);
                let (left, more) = response.end(&V3::from(&svd3(&(f * inverse)).sigma));
                if more == 0.0 {
                    return (*internal, 0.0);
                }
                let heat = self.point.volume() * plasticity.work(alpha, more);
                let inverse = flow(&f, &inverse, left);
                (Internal { inverse, plastic_strain: alpha + more }, heat)
            }
        }
    }

    /// Singular value decomposition of Fₑ, and its elastic answer.
    fn elastic(&self, internal: &Internal, x: &[Vec3; N]) -> (Svd<f64>, Response) {
        let f = self.point.deformation_gradient(x) * internal.inverse;
        (Svd::from(&svd3(&f)), Response::Elastic { modulus: self.mu })
    }
}

/// The flow after which the deviator of ln √(FₑᵀFₑ) is `factor` times what it is with the flow `inverse`, as Fᵢ⁻¹.
fn flow(f: &Mat3, inverse: &Mat3, factor: f64) -> Mat3 {
    let svd = Svd::from(&svd3(&(f * inverse)));
    let Some(back) = f.try_inverse() else { return *inverse };
    let after = back * Mat3::from(svd.with_values(&scaled(&svd.sigma, factor)));
    // its determinant is 1 but for rounding
    after * (1.0 - (after.determinant() - 1.0) / 3.0)
}

/// The deviator of ln √(FᵀF).
fn strain_deviator(f: &Mat3) -> Mat3 {
    let svd = svd3(f);
    let e = Vec3::from(deviator(&V3::from(&svd.sigma)));
    svd.v * Mat3::from_diagonal(&e) * svd.v.transpose()
}

/// The branches of one kind of elements.
type Branches<const N: usize, P = Point<N>> = Elements<Branch<N, P>, N>;

/// All branches of the stress that flow, kind by kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inelastic {
    tets: Branches<4>,
    plane: Branches<3>,
    rings: Branches<3, RingPoint>,
    quadratic: Branches<NODES>,
    quadratic_triangles: Branches<TRIANGLE_NODES, RingPoint<TRIANGLE_NODES>>,
}

/// Their energies in one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InelasticStep {
    tets: Elements<InStep<4>, 4>,
    plane: Elements<InStep<3>, 3>,
    rings: Elements<AtRing<Response>, 3>,
    quadratic: Elements<InStep<NODES>, NODES>,
    quadratic_triangles: Elements<AtRing<Response, TRIANGLE_NODES>, TRIANGLE_NODES>,
}

impl InelasticStep {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let Self { tets, plane, rings, quadratic, quadratic_triangles } = self;
        let tets = (!tets.is_empty()).then_some(tets as &dyn Term);
        let plane = (!plane.is_empty()).then_some(plane as &dyn Term);
        let rings = (!rings.is_empty()).then_some(rings as &dyn Term);
        let quadratic = (!quadratic.is_empty()).then_some(quadratic as &dyn Term);
        let triangles = quadratic_triangles;
        let triangles = (!triangles.is_empty()).then_some(triangles as &dyn Term);
        tets.into_iter().chain(plane).chain(rings).chain(quadratic).chain(triangles)
    }

    /// Those that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self {
            tets: self.tets.touching(wanted),
            plane: self.plane.touching(wanted),
            rings: self.rings.touching(wanted),
            quadratic: self.quadratic.touching(wanted),
            quadratic_triangles: self.quadratic_triangles.touching(wanted),
        }
    }
}

/// Fewest branches of a task.
const TASK: usize = 256;

impl<const N: usize, P: AtPoint<N>> Branches<N, P> {
    fn yield_somewhere(&self) -> bool {
        self.elements.iter().any(|p| matches!(p.rule, Rule::Yielding(..)))
    }

    fn grown(&self, g: &impl Fn(usize) -> f64) -> Self {
        let one =
            |b: &Branch<N, P>| Branch { point: b.point.grown(g(b.element as usize)), ..b.clone() };
        self.with(self.elements.iter().map(one).collect())
    }

    fn in_step(&self, internal: &[Internal], x: &[Vec3], h: f64) -> Elements<P::InStep, N> {
        let one = |(i, branch): (usize, &Branch<N, P>)| {
            let inverse = branch.begin(&internal[i], &self.gather(i, x), h);
            branch.point.in_step(&inverse, branch.response(&internal[i], h))
        };
        self.with(self.elements.par_iter().enumerate().with_min_len(TASK).map(one).collect())
    }

    fn after(&self, internal: &[Internal], [x, y]: [&[Vec3]; 2], h: f64) -> Vec<(Internal, f64)> {
        let one = |(i, branch): (usize, &Branch<N, P>)| {
            branch.end(&internal[i], [&self.gather(i, x), &self.gather(i, y)], h)
        };
        self.elements.par_iter().enumerate().with_min_len(TASK).map(one).collect()
    }

    /// Their elastic energy, J.
    fn energy(&self, internal: &[Internal], x: &[Vec3]) -> f64 {
        let one = |(i, branch): (usize, &Branch<N, P>)| {
            let (svd, elastic) = branch.elastic(&internal[i], &self.gather(i, x));
            branch.point.volume() * elastic.psi(&svd.sigma)
        };
        self.elements.iter().enumerate().map(one).sum()
    }

    /// Adds the Cauchy stress of each to that at its point of `solids`, Pa.
    fn add_stresses(&self, internal: &[Internal], x: &[Vec3], solids: &Solids, out: &mut [Mat3]) {
        for (i, branch) in self.elements.iter().enumerate() {
            let x = self.gather(i, x);
            let (svd, elastic) = branch.elastic(&internal[i], &x);
            let j = branch.point.deformation_gradient(&x).determinant();
            let along = Mat3::from_diagonal(&Vec3::from(elastic.stress(&svd.sigma)));
            let u = Mat3::from(svd.u);
            let stress = u * along * u.transpose() / j;
            let point = solids.points_of(branch.element as usize).start + branch.number as usize;
            out[point] += (stress + stress.transpose()) * 0.5;
        }
    }

    /// Adds the plastic strain of each, by its part of the volume of its element.
    fn add_plastic_strains(&self, internal: &[Internal], volumes: &[f64], out: &mut [f64]) {
        for (branch, internal) in self.elements.iter().zip(internal) {
            if let Rule::Yielding(_, f) = branch.rule {
                let e = branch.element as usize;
                out[e] += f * internal.plastic_strain * branch.point.volume() / volumes[e];
            }
        }
    }
}

impl Inelastic {
    /// The branches where element e is `g(e)` times as long without stress.
    #[must_use]
    pub fn grown(&self, g: impl Fn(usize) -> f64) -> Self {
        Self {
            tets: self.tets.grown(&g),
            plane: self.plane.grown(&g),
            rings: self.rings.grown(&g),
            quadratic: self.quadratic.grown(&g),
            quadratic_triangles: self.quadratic_triangles.grown(&g),
        }
    }

    /// What flows in `solids`, whose element e flows as `of(e)` says.
    pub fn new<'a>(
        solids: &Solids,
        vertex_count: usize,
        of: impl Fn(usize) -> &'a [Inelasticity],
    ) -> Self {
        let [_, plane, rings, quadratic, triangles] = solids.firsts();
        Self {
            tets: branches(&solids.tets, 0, vertex_count, &of, |t: &Tet| {
                (vec![t.point()], t.lame().mu)
            }),
            plane: branches(&solids.plane, plane, vertex_count, &of, |t: &PlaneStrain| {
                (vec![t.point()], t.lame().mu)
            }),
            rings: branches(&solids.rings, rings, vertex_count, &of, |t: &Axisymmetric| {
                (vec![t.point.clone()], t.lame().mu)
            }),
            quadratic: branches(
                &solids.quadratic,
                quadratic,
                vertex_count,
                &of,
                |t: &QuadraticTet| (t.points().into(), t.lame().mu),
            ),
            quadratic_triangles: branches(
                &solids.quadratic_triangles,
                triangles,
                vertex_count,
                &of,
                |t: &QuadraticTriangle| (t.points().into(), t.lame().mu),
            ),
        }
    }

    /// Number of internal variables.
    pub fn len(&self) -> usize {
        let linear = self.tets.len() + self.plane.len() + self.rings.len();
        linear + self.quadratic.len() + self.quadratic_triangles.len()
    }

    /// Whether nothing flows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether something yields.
    pub fn yields(&self) -> bool {
        self.tets.yield_somewhere()
            || self.plane.yield_somewhere()
            || self.rings.yield_somewhere()
            || self.quadratic.yield_somewhere()
            || self.quadratic_triangles.yield_somewhere()
    }

    /// The internal variables of each kind.
    fn split<'i>(&self, internal: &'i [Internal]) -> [&'i [Internal]; 5] {
        let (tets, others) = internal.split_at(self.tets.len());
        let (plane, others) = others.split_at(self.plane.len());
        let (rings, others) = others.split_at(self.rings.len());
        let (quadratic, triangles) = others.split_at(self.quadratic.len());
        [tets, plane, rings, quadratic, triangles]
    }

    /// The energies of a step of `h` seconds from `x` with these internal variables; with h = 0 those of that instant.
    pub fn in_step(&self, internal: &[Internal], x: &[Vec3], h: f64) -> InelasticStep {
        let [tets, plane, rings, quadratic, triangles] = self.split(internal);
        InelasticStep {
            tets: self.tets.in_step(tets, x, h),
            plane: self.plane.in_step(plane, x, h),
            rings: self.rings.in_step(rings, x, h),
            quadratic: self.quadratic.in_step(quadratic, x, h),
            quadratic_triangles: self.quadratic_triangles.in_step(triangles, x, h),
        }
    }

    /// The internal variables after a step of `h` seconds between these positions, and the heat in it, J.
    pub fn after(&self, internal: &[Internal], x: [&[Vec3]; 2], h: f64) -> (Vec<Internal>, f64) {
        let [tets, plane, rings, quadratic, triangles] = self.split(internal);
        let mut all = self.tets.after(tets, x, h);
        all.extend(self.plane.after(plane, x, h));
        all.extend(self.rings.after(rings, x, h));
        all.extend(self.quadratic.after(quadratic, x, h));
        all.extend(self.quadratic_triangles.after(triangles, x, h));
        let heat = all.iter().map(|(_, heat)| heat).sum();
        (all.into_iter().map(|(internal, _)| internal).collect(), heat)
    }

    /// The elastic energy of what flows, J.
    pub fn energy(&self, internal: &[Internal], x: &[Vec3]) -> f64 {
        let [tets, plane, rings, quadratic, triangles] = self.split(internal);
        self.tets.energy(tets, x)
            + self.plane.energy(plane, x)
            + self.rings.energy(rings, x)
            + self.quadratic.energy(quadratic, x)
            + self.quadratic_triangles.energy(triangles, x)
    }

    /// Adds the Cauchy stress of what flows, Pa, to that at each point of `solids`.
    pub fn add_stresses(
        &self,
        internal: &[Internal],
        x: &[Vec3],
        solids: &Solids,
        out: &mut [Mat3],
    ) {
        let [tets, plane, rings, quadratic, triangles] = self.split(internal);
        self.tets.add_stresses(tets, x, solids, out);
        self.plane.add_stresses(plane, x, solids, out);
        self.rings.add_stresses(rings, x, solids, out);
        self.quadratic.add_stresses(quadratic, x, solids, out);
        self.quadratic_triangles.add_stresses(triangles, x, solids, out);
    }

    /// The equivalent plastic strain of each element of solids, the mean of a quadratic one.
    pub fn plastic_strains(&self, internal: &[Internal], volumes: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; volumes.len()];
        let [tets, plane, rings, quadratic, triangles] = self.split(internal);
        self.tets.add_plastic_strains(tets, volumes, &mut out);
        self.plane.add_plastic_strains(plane, volumes, &mut out);
        self.rings.add_plastic_strains(rings, volumes, &mut out);
        self.quadratic.add_plastic_strains(quadratic, volumes, &mut out);
        self.quadratic_triangles.add_plastic_strains(triangles, volumes, &mut out);
        out
    }
}

/// The branches of elements of one kind, of which the first one has the number `first` among solids.
fn branches<'a, E, P: AtPoint<N>, const N: usize>(
    elements: &Elements<E, N>,
    first: usize,
    vertex_count: usize,
    flows: &impl Fn(usize) -> &'a [Inelasticity],
    of: impl Fn(&E) -> (Vec<P>, f64),
) -> Branches<N, P> {
    let (mut vertices, mut all) = (Vec::new(), Vec::new());
    for (k, element) in elements.elements.iter().enumerate() {
        let flows = flows(first + k);
        if flows.is_empty() {
            continue;
        }
        let (points, modulus) = of(element);
        for (number, point) in points.into_iter().enumerate() {
            let (corners, element, number) =
                (elements.vertices()[k], (first + k) as u32, number as u8);
            let mut push = |mu: f64, rule: Rule| {
                vertices.push(corners);
                all.push(Branch { point: point.clone(), element, number, mu, rule });
            };
            for &what in flows {
                match what {
                    Inelasticity::Relaxing(term) => {
                        push(term.ratio * modulus, Rule::Relaxing(term))
                    }
                    Inelasticity::Yielding(plasticity) => {
                        let f = plasticity.yielding_part(modulus);
                        push(f * modulus, Rule::Yielding(plasticity.of_part(f), f));
                        if f < 1.0 {
                            push((1.0 - f) * modulus, Rule::Elastic);
                        }
                    }
                }
            }
        }
    }
    Elements::from_parts(vertices, all, vertex_count)
}

#[cfg(test)]
mod tests;
