//! The thin elements of a scene: membranes, hinges and shape operators of shells, segments and corners of rods.

use super::element::{Element, Elements, Hessian};
use super::hinge::Hinge;
use super::membrane::Membrane;
use super::rod_joint::Corner;
use super::segment::Segment;
use super::shape_operator::ShapeOperator;
use rayon::prelude::*;
use standoff_linalg::Vec3;
use standoff_sparse::{BlockMatrix, BlockPattern, Embedding, MatrixError, StencilAssembly};
use std::sync::Arc;

/// Part of the barrier's range below a stretch limit that counts as close to it.
const CLOSE: f64 = 1e-4;
/// Doublings of the stiffness of stretch limits: from 1 kPa to 0.1 MPa.
const MOST_DOUBLINGS: u32 = 7;

/// All thin elements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ThinElements {
    /// Triangles of shells.
    pub membranes: Elements<Membrane, 3>,
    /// Pairs of triangles of shells.
    pub hinges: Elements<Hinge, 4>,
    /// Bending of triangles of shells.
    pub operators: Elements<ShapeOperator, 6>,
    /// Segments of rods.
    pub segments: Elements<Segment, 2>,
    /// Corners of rods.
    pub corners: Elements<Corner, 5>,
    /// How often the stiffness of the stretch limits was doubled.
    doublings: u32,
}

impl ThinElements {
    /// Ψ(x), J.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        self.membranes.value(x)
            + self.hinges.value(x)
            + self.operators.value(x)
            + self.segments.value(x)
            + self.corners.value(x)
    }

    /// Adds ∂Ψ/∂x (N) to `gradient` (`#V`).
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.membranes.add_gradient(x, gradient);
        self.hinges.add_gradient(x, gradient);
        self.operators.add_gradient(x, gradient);
        self.segments.add_gradient(x, gradient);
        self.corners.add_gradient(x, gradient);
    }

    /// Whether every triangle uses less than this part of its strain limit: 1 at the limit, 0 where
    /// its barrier begins.
    pub fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        let m = &self.membranes;
        (0..m.len())
            .into_par_iter()
            .with_min_len(512)
            .all(|e| m.elements[e].limit_use(&m.gather(e, x)).is_none_or(|used| used < part))
    }

    /// Doubles the stiffness of the stretch limits, up to 128 times what it was, where a
    /// triangle was and is closer to its limit than 1e-4 of the barrier's range [Li 2021, §4.1].
    /// `close` tells which were.
    pub fn stiffen(&mut self, x: &[Vec3], close: &mut Vec<bool>) {
        let m = &self.membranes;
        let now: Vec<bool> = (0..m.len())
            .into_par_iter()
            .with_min_len(512)
            .map(|e| {
                let limited = m.elements[e].limit.is_some();
                limited && m.elements[e].limit_use(&m.gather(e, x)).is_some_and(|u| u > 1.0 - CLOSE)
            })
            .collect();
        let twice = close.iter().zip(&now).any(|(before, now)| *before && *now);
        if twice && self.doublings < MOST_DOUBLINGS {
            self.doublings += 1;
            for limit in self.membranes.elements.iter_mut().filter_map(|m| m.limit.as_mut()) {
                limit.stiffness *= 2.0;
            }
        }
        *close = now;
    }

    /// `factor` times the projected Hessians at `x`, those of the limits of the stretch left out.
    pub fn hessians_without_limits(&self, x: &[Vec3], factor: f64) -> ThinHessians {
        let mut unlimited = self.membranes.clone();
        unlimited.elements.iter_mut().for_each(|m| m.limit = None);
        ThinHessians {
            membranes: scaled_hessians(&unlimited, x, factor),
            hinges: scaled_hessians(&self.hinges, x, factor),
            operators: scaled_hessians(&self.operators, x, factor),
            segments: scaled_hessians(&self.segments, x, factor),
            corners: scaled_hessians(&self.corners, x, factor),
        }
    }

    /// The vertices of every element.
    pub fn stencils(&self) -> impl Iterator<Item = &[u32]> {
        let membranes = self.membranes.vertices.iter().map(|v| &v[..]);
        let hinges = self.hinges.vertices.iter().map(|v| &v[..]);
        let operators = self.operators.vertices.iter().map(|v| &v[..]);
        let segments = self.segments.vertices.iter().map(|v| &v[..]);
        let corners = self.corners.vertices.iter().map(|v| &v[..]);
        membranes.chain(hinges).chain(operators).chain(segments).chain(corners)
    }
}

/// Hessians of all thin elements, N/m.
#[derive(Debug, Clone, Default)]
pub struct ThinHessians {
    membranes: Vec<Hessian<3>>,
    hinges: Vec<Hessian<4>>,
    operators: Vec<Hessian<6>>,
    segments: Vec<Hessian<2>>,
    corners: Vec<Hessian<5>>,
}

impl ThinHessians {
    /// Adds the product of all Hessians with `dx` (`#V`) to `out`.
    pub fn add_product(&self, thin: &ThinElements, dx: &[Vec3], out: &mut [Vec3]) {
        add_product(&thin.membranes.vertices, &self.membranes, dx, out);
        add_product(&thin.hinges.vertices, &self.hinges, dx, out);
        add_product(&thin.operators.vertices, &self.operators, dx, out);
        add_product(&thin.segments.vertices, &self.segments, dx, out);
        add_product(&thin.corners.vertices, &self.corners, dx, out);
    }
}

fn scaled_hessians<E: Element<N>, const N: usize>(
    elements: &Elements<E, N>,
    x: &[Vec3],
    factor: f64,
) -> Vec<Hessian<N>> {
    let mut out = Vec::new();
    elements.hessians(x, &mut out);
    out.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|b| *b *= factor);
    out
}

fn add_product<const N: usize>(
    vertices: &[[u32; N]],
    hessians: &[Hessian<N>],
    dx: &[Vec3],
    out: &mut [Vec3],
) {
    for (vertices, h) in vertices.iter().zip(hessians) {
        for (a, row) in vertices.iter().zip(h) {
            out[*a as usize] +=
                vertices.iter().zip(row).map(|(b, h)| h * dx[*b as usize]).sum::<Vec3>();
        }
    }
}

/// What Hessians are added to: `scale` times them, to a matrix in whose pattern that of the assembly is
/// embedded.
#[derive(Debug)]
pub struct Target<'a> {
    /// The matrix.
    pub matrix: &'a mut BlockMatrix,
    /// The assembly's pattern in the matrix'.
    pub embedding: &'a Embedding,
    /// Factor of all Hessians.
    pub scale: f64,
}

/// Where the Hessian blocks of one kind of element go.
#[derive(Debug, Clone)]
struct Scatter<const N: usize> {
    assembly: StencilAssembly<N>,
    hessians: Vec<Hessian<N>>,
}

impl<const N: usize> Scatter<N> {
    fn new<E: Element<N>>(
        elements: &Elements<E, N>,
        pattern: &Arc<BlockPattern>,
        row: &dyn Fn(u32) -> u32,
    ) -> Result<Self, MatrixError> {
        let stencils: Vec<[u32; N]> = elements.vertices.iter().map(|v| v.map(row)).collect();
        let assembly = StencilAssembly::new(pattern.clone(), &stencils)?;
        Ok(Self { assembly, hessians: Vec::new() })
    }

    fn add<E: Element<N>>(
        &mut self,
        elements: &Elements<E, N>,
        x: &[Vec3],
        more: Option<&[Hessian<N>]>,
        to: &mut Target<'_>,
    ) -> Result<(), MatrixError> {
        if elements.is_empty() {
            return Ok(());
        }
        elements.hessians(x, &mut self.hessians);
        if let Some(more) = more {
            let blocks = self.hessians.as_flattened_mut().as_flattened_mut();
            let more = more.as_flattened().as_flattened();
            blocks.iter_mut().zip(more).for_each(|(block, more)| *block += more);
        }
        self.assembly.add_scaled(to.matrix, to.embedding, to.scale, &self.hessians)
    }
}

/// Where the Hessian blocks of all thin elements go.
#[derive(Debug, Clone)]
pub struct ThinAssembly {
    membranes: Scatter<3>,
    hinges: Scatter<4>,
    operators: Scatter<6>,
    segments: Scatter<2>,
    corners: Scatter<5>,
}

impl ThinAssembly {
    /// Prepares the scatter maps onto a pattern that holds all stencils; `row` is the block row of a
    /// vertex.
    pub fn new(
        thin: &ThinElements,
        pattern: &Arc<BlockPattern>,
        row: &dyn Fn(u32) -> u32,
    ) -> Result<Self, MatrixError> {
        Ok(Self {
            membranes: Scatter::new(&thin.membranes, pattern, row)?,
            hinges: Scatter::new(&thin.hinges, pattern, row)?,
            operators: Scatter::new(&thin.operators, pattern, row)?,
            segments: Scatter::new(&thin.segments, pattern, row)?,
            corners: Scatter::new(&thin.corners, pattern, row)?,
        })
    }

    /// Adds the projected Hessians of all elements at `x`, and `more` if any, to a matrix.
    pub fn add_hessians(
        &mut self,
        thin: &ThinElements,
        x: &[Vec3],
        more: Option<&ThinHessians>,
        to: &mut Target<'_>,
    ) -> Result<(), MatrixError> {
        self.membranes.add(&thin.membranes, x, more.map(|m| &m.membranes[..]), to)?;
        self.hinges.add(&thin.hinges, x, more.map(|m| &m.hinges[..]), to)?;
        self.operators.add(&thin.operators, x, more.map(|m| &m.operators[..]), to)?;
        self.segments.add(&thin.segments, x, more.map(|m| &m.segments[..]), to)?;
        self.corners.add(&thin.corners, x, more.map(|m| &m.corners[..]), to)
    }
}
