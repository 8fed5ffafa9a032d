//! Stresses at the nodes of solids, recovered from those in their elements, and with them an estimate of the error of the latter
//! [Zienkiewicz 1992].
//!
//! Stresses of elements jump from one to the next and converge one order slower than displacements. Around a node, a polynomial that fits those in
//! the elements of a patch by least squares, linear or for quadratic elements quadratic, takes what elements err in opposite senses out of them:
//!
//! ```text
//! σ*(X) = σ̄ + Σ_k A_k (m_k(ξ) − m̄_k),    ξ = (X − X_node)/size of the patch,    m = ξ₁, ξ₂, ξ₃ (, ξ₁², …, ξ₃ξ₁)
//! ```
//!
//! with means over the points of the patch, so that a patch that is flat, or too small for its polynomial, still has the part that its points
//! tell. A middle of an edge has the mean of the polynomials of both ends. Patches end where a solid ends or its material changes.

use crate::body::Body;
use crate::definition::{Definition, Substance};
use crate::energy::Solids;
use crate::energy::quadratic_tet::{self, QuadraticTet};
use crate::energy::quadratic_triangle::{self, QuadraticTriangle};
use rayon::prelude::*;
use standoff_geometry::quadratic::{EDGES, TRIANGLE_NODES};
use standoff_linalg::nalgebra::{DMatrix, DVector};
use standoff_linalg::{Mat3, Vec3};

/// Recovered stresses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recovered {
    /// Cauchy stress at each vertex, Pa (`#V`): the mean of those of all materials there; zero where there is no solid.
    pub stress: Vec<Mat3>,
    /// Root mean square over each element of how far its stress is from the recovered one, Pa, in the Frobenius norm.
    pub error: Vec<f64>,
    /// Estimated error of the stresses of the elements of each body: the root of Σ V `error`² over that of Σ V ‖σ*‖²; 0 of what has no
    /// solid elements or no stress.
    pub of_bodies: Vec<f64>,
}

/// No region, no node.
const NONE: u32 = u32::MAX;

/// Part of the greatest eigenvalue of a patch's moments below which an eigenvalue is that of a direction of which its points tell nothing.
const BLIND: f64 = 1e-8;

/// Elements by which a corner of a solid may be away from one within it whose polynomial stands for its own.
const FARTHEST: usize = 2;

/// What is recovered from: elements of solids with the stress at their points.
pub(crate) struct Source<'s> {
    pub solids: &'s Solids,
    /// Rest positions, m (`#V`).
    pub rest: &'s [Vec3],
    /// Region of each element, within which stresses are continuous.
    pub regions: &'s [u32],
    /// Cauchy stress at each point of each element, Pa.
    pub stress: &'s [Mat3],
    /// Rest volume of each element, m³.
    pub volumes: &'s [f64],
}

/// The region of each of `count` elements of solids: one for each body and what it is made of; none for rigid bodies.
pub(crate) fn regions(definition: &Definition, bodies: &[Body], count: usize) -> Vec<u32> {
    let mut of = vec![NONE; count];
    let mut next = 0;
    for (own, body) in definition.bodies.iter().zip(bodies).filter(|(_, body)| !body.rigid) {
        let mut known: Vec<Substance<'_>> = Vec::new();
        for (of, substance) in of[body.solids.clone()].iter_mut().zip(own.substances()) {
            let number = known.iter().position(|k| *k == substance).unwrap_or_else(|| {
                known.push(substance);
                known.len() - 1
            });
            *of = next + number as u32;
        }
        next += known.len() as u32;
    }
    of
}

/// Recovers the stresses of `bodies`.
pub(crate) fn recover(source: &Source<'_>, bodies: &[Body]) -> Recovered {
    let (vertices, elements) = (source.rest.len(), source.solids.len());
    let mut of_region: Vec<Vec<u32>> = Vec::new();
    for (e, &region) in source.regions.iter().enumerate().filter(|(_, r)| **r != NONE) {
        of_region.resize(of_region.len().max(region as usize + 1), Vec::new());
        of_region[region as usize].push(e as u32);
    }
    let mut stress = vec![Mat3::zeros(); vertices];
    let mut regions_at = vec![0_u32; vertices];
    let (mut error, mut square) = (vec![0.0; elements], vec![0.0; elements]);
    let mut numbers = vec![NONE; vertices];
    for elements in &of_region {
        let region = Region::new(source, elements, &mut numbers);
        let at_nodes = region.at_nodes();
        for (&e, [off, own]) in elements.iter().zip(region.errors(&at_nodes)) {
            (error[e as usize], square[e as usize]) = (off.sqrt(), own);
        }
        for (&v, at_node) in region.nodes.iter().zip(&at_nodes) {
            stress[v as usize] += at_node;
            regions_at[v as usize] += 1;
            numbers[v as usize] = NONE;
        }
    }
    for (stress, &n) in stress.iter_mut().zip(&regions_at).filter(|(_, n)| **n > 1) {
        *stress /= f64::from(n);
    }
    let of_body = |body: &Body| {
        let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
            body.solids.clone().map(|e| source.volumes[e] * of(e)).sum()
        };
        let (off, own) = (sum(&|e| error[e] * error[e]), sum(&|e| square[e]));
        if own > 0.0 { (off / own).sqrt() } else { 0.0 }
    };
    let of_bodies = bodies.iter().map(of_body).collect();
    Recovered { stress, error, of_bodies }
}

/// Elements of one region, whose nodes are numbered in the order in which elements name them.
struct Region<'s> {
    source: &'s Source<'s>,
    elements: &'s [u32],
    nodes: Vec<u32>,
    /// Numbers of the nodes of each element.
    corners: Vec<Vec<u32>>,
    /// The elements at each node that is a corner, by their place in `elements`.
    around: Vec<Vec<u32>>,
    /// The corners that a middle is between.
    ends: Vec<Option<[u32; 2]>>,
}

impl<'s> Region<'s> {
    /// `numbers` (`#V`) has none, and is left with those of the nodes.
    fn new(source: &'s Source<'s>, elements: &'s [u32], numbers: &mut [u32]) -> Self {
        let mut nodes = Vec::new();
        let mut number = |v: u32| {
            let number = &mut numbers[v as usize];
            if *number == NONE {
                *number = nodes.len() as u32;
                nodes.push(v);
            }
            *number
        };
        let all = elements.iter().map(|&e| source.solids.vertices(e as usize));
        let corners: Vec<Vec<u32>> =
            all.map(|of| of.iter().map(|&v| number(v)).collect()).collect();
        let (mut around, mut ends) = (vec![Vec::new(); nodes.len()], vec![None; nodes.len()]);
        for (k, of) in corners.iter().enumerate() {
            let (own, middles) = of.split_at(corner_count(of.len()));
            own.iter().for_each(|&n| around[n as usize].push(k as u32));
            // the edges of a triangle come first in those of a tetrahedron
            for (&middle, [a, b]) in middles.iter().zip(EDGES) {
                ends[middle as usize] = Some([own[a], own[b]]);
            }
        }
        Self { source, elements, nodes, corners, around, ends }
    }

    fn place(&self, node: usize) -> Vec3 {
        self.source.rest[self.nodes[node] as usize]
    }

    /// The stress at each node.
    fn at_nodes(&self) -> Vec<Mat3> {
        let fits: Vec<Option<Fit>> =
            (0..self.nodes.len()).into_par_iter().map(|n| self.fit(n)).collect();
        let is_outer = self.outer();
        let one = |n: usize| {
            let x = self.place(n);
            let ends = self.ends[n].unwrap_or([n as u32; 2]);
            let used = sorted(ends.iter().flat_map(|&end| self.inner_beside(end, &is_outer)));
            let fits = used.iter().filter_map(|&corner| fits[corner as usize].as_ref());
            fits.map(|f| f.at(&x)).sum::<Mat3>() / used.len() as f64
        };
        (0..self.nodes.len()).into_par_iter().map(one).collect()
    }

    /// The corners whose polynomials stand for that of a corner: itself within the region; where the region ends, where patches have
    /// elements on one side only, those within the region that are nearest to it, if there are any near it.
    fn inner_beside(&self, corner: u32, is_outer: &[bool]) -> Vec<u32> {
        if !is_outer[corner as usize] {
            return vec![corner];
        }
        let mut patch = self.around[corner as usize].clone();
        for _ in 0..FARTHEST {
            let mut inner = self.corners_of(&patch);
            inner.retain(|&n| !is_outer[n as usize]);
            if !inner.is_empty() {
                return inner;
            }
            patch = self.widened(&patch);
        }
        vec![corner]
    }

    /// The corners of some elements.
    fn corners_of(&self, elements: &[u32]) -> Vec<u32> {
        let own = |&k: &u32| {
            let of = &self.corners[k as usize];
            &of[..corner_count(of.len())]
        };
        sorted(elements.iter().flat_map(own).copied())
    }

    /// Some elements with all that share a corner with them.
    fn widened(&self, elements: &[u32]) -> Vec<u32> {
        let corners = self.corners_of(elements);
        sorted(corners.iter().flat_map(|&n| self.around[n as usize].iter().copied()))
    }

    /// Whether each corner is where the region ends: on a face, or a side of a triangle, that one element alone has.
    fn outer(&self) -> Vec<bool> {
        let mut sides: Vec<[u32; 3]> = Vec::new();
        for of in &self.corners {
            match of[..corner_count(of.len())] {
                [a, b, c] => sides.extend([[a, b, b], [b, c, c], [c, a, a]]),
                [a, b, c, d] => sides.extend([[a, b, c], [a, b, d], [a, c, d], [b, c, d]]),
                _ => {}
            }
        }
        for side in &mut sides {
            side.sort_unstable();
            if side[0] == side[1] {
                *side = [side[0], side[2], side[2]];
            }
        }
        sides.sort_unstable();
        let mut is_outer = vec![false; self.nodes.len()];
        for same in sides.chunk_by(|a, b| a == b).filter(|same| same.len() == 1) {
            same[0].iter().for_each(|&n| is_outer[n as usize] = true);
        }
        is_outer
    }

    /// The polynomial around a corner; none around a middle.
    fn fit(&self, node: usize) -> Option<Fit> {
        let mut patch = self.around[node].clone();
        let first = *patch.first()?;
        let is_quadratic = self.corners[first as usize].len() > 4;
        // a polynomial of degree two in the plane has six coefficients, in space ten
        let enough = if is_quadratic { 5 } else { 8 };
        while patch.len() < enough {
            let wider = self.widened(&patch);
            if wider.len() == patch.len() {
                break;
            }
            patch = wider;
        }
        let points = patch.iter().flat_map(|&k| self.points(k as usize));
        Some(Fit::new(self.place(node), &points.collect::<Vec<_>>(), is_quadratic))
    }

    /// Where the stress of an element is known, at rest, and what it is there.
    fn points(&self, k: usize) -> Vec<(Vec3, Mat3)> {
        let e = self.elements[k] as usize;
        let stress = &self.source.stress[self.source.solids.points_of(e)];
        let x: Vec<Vec3> = self.corners[k].iter().map(|&n| self.place(n as usize)).collect();
        let places: Vec<Vec3> = match x[..] {
            [a, b, c, ab, bc, ca] => QuadraticTriangle::places(&[a, b, c, ab, bc, ca]).into(),
            _ => match <&[Vec3; quadratic_tet::NODES]>::try_from(x.as_slice()) {
                Ok(x) => QuadraticTet::places(x).into(),
                Err(_) => vec![x.iter().sum::<Vec3>() / x.len() as f64],
            },
        };
        places.into_iter().zip(stress.iter().copied()).collect()
    }

    /// Of each element, the mean over its volume of ‖σ* − σ‖² and of ‖σ*‖².
    fn errors(&self, at_nodes: &[Mat3]) -> Vec<[f64; 2]> {
        let one = |k: usize| {
            let e = self.elements[k] as usize;
            let stress = &self.source.stress[self.source.solids.points_of(e)];
            let of: Vec<&Mat3> = self.corners[k].iter().map(|&n| &at_nodes[n as usize]).collect();
            let weights = match of.len() {
                TRIANGLE_NODES => quadratic_triangle::weights_at_points(),
                nodes => quadratic_tet::weights_at_points(nodes),
            };
            let mut sums = [0.0; 2];
            for (q, weights) in weights.iter().enumerate() {
                let smooth: Mat3 = of.iter().zip(weights).map(|(s, w)| *s * *w).sum();
                let own = stress.get(q).unwrap_or(&stress[0]);
                sums[0] += (smooth - own).norm_squared();
                sums[1] += smooth.norm_squared();
            }
            sums.map(|s| s / weights.len() as f64)
        };
        (0..self.elements.len()).into_par_iter().with_min_len(256).map(one).collect()
    }
}

/// Corners of an element with so many nodes.
fn corner_count(nodes: usize) -> usize {
    match nodes {
        TRIANGLE_NODES => 3,
        _ => nodes.min(4),
    }
}

/// Numbers in ascending order, each once.
fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A polynomial through the stresses of a patch.
struct Fit {
    centre: Vec3,
    /// Size of the patch, m.
    size: f64,
    is_quadratic: bool,
    mean: Mat3,
    /// Means of the monomials.
    means: DVector<f64>,
    /// The factor of each monomial.
    slopes: Vec<Mat3>,
}

impl Fit {
    fn new(centre: Vec3, points: &[(Vec3, Mat3)], is_quadratic: bool) -> Self {
        let n = points.len() as f64;
        let size = points.iter().map(|(x, _)| (x - centre).norm()).fold(0.0, f64::max);
        let all: Vec<DVector<f64>> =
            points.iter().map(|(x, _)| monomials(&((x - centre) / size), is_quadratic)).collect();
        let count = all[0].len();
        let means = all.iter().fold(DVector::zeros(count), |sum, m| sum + m) / n;
        let mean = points.iter().map(|(_, s)| s).sum::<Mat3>() / n;
        let mut moments = DMatrix::zeros(count, count);
        let mut products = vec![Mat3::zeros(); count];
        for (m, (_, stress)) in all.iter().zip(points) {
            let m = m - &means;
            moments.ger(1.0, &m, &m, 1.0);
            for (product, m) in products.iter_mut().zip(m.iter()) {
                *product += (stress - mean) * *m;
            }
        }
        let eigen = moments.symmetric_eigen();
        let greatest = eigen.eigenvalues.amax();
        let mut slopes = vec![Mat3::zeros(); count];
        for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if *value <= BLIND * greatest {
                continue;
            }
            let along: Mat3 = products.iter().zip(vector.iter()).map(|(p, v)| p * *v).sum();
            for (slope, v) in slopes.iter_mut().zip(vector.iter()) {
                *slope += along * (*v / *value);
            }
        }
        Self { centre, size, is_quadratic, mean, means, slopes }
    }

    fn at(&self, x: &Vec3) -> Mat3 {
        let m = monomials(&((x - self.centre) / self.size), self.is_quadratic) - &self.means;
        self.slopes.iter().zip(m.iter()).fold(self.mean, |sum, (slope, m)| sum + slope * *m)
    }
}

fn monomials(x: &Vec3, is_quadratic: bool) -> DVector<f64> {
    let [a, b, c] = [x.x, x.y, x.z];
    match is_quadratic {
        true => DVector::from_column_slice(&[a, b, c, a * a, b * b, c * c, a * b, b * c, c * a]),
        false => DVector::from_column_slice(&[a, b, c]),
    }
}
