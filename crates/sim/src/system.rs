//! The Newton system: Hessian blocks of all summands scattered into one 3×3-block sparse matrix
//! over the free vertices.

use crate::contact::pairs::UNUSED;
use crate::contact::{Contact, FrictionContact, HalfSpaceContact};
use crate::energy::spring;
use crate::energy::thin::ThinAssembly;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::PhaseSeconds;
use crate::solver::Iterate;
use crate::timing::timed;
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, MatrixError, StencilAssembly};
use std::sync::Arc;

/// Matrix, pattern and scatter maps for one set of free vertices; kept while that set holds.
#[derive(Debug, Clone)]
pub struct System {
    free: Vec<bool>,
    /// Row of each vertex, or `BlockPattern::ELIMINATED`.
    row: Vec<u32>,
    /// Scene-wide vertex of each row.
    vertex: Vec<u32>,
    /// Elastic part on its own pattern, and that pattern's place in the whole.
    elastic: BlockMatrix,
    tets: StencilAssembly<4>,
    thin: ThinAssembly,
    element_hessians: Vec<[[Mat3; 4]; 4]>,
    embedding: Vec<u32>,
    /// The whole.
    matrix: BlockMatrix,
    /// Whether [`Self::begin`] was called since the elastic pattern or the step is new.
    begun: bool,
}

impl System {
    /// Prepares the scatter maps of the elastic part (elements and attachments) for the given free vertices.
    pub fn new(model: &Model, free: &[bool]) -> Result<Self, MatrixError> {
        let mut row = vec![BlockPattern::ELIMINATED; free.len()];
        let vertex: Vec<u32> = (0..free.len() as u32).filter(|&v| free[v as usize]).collect();
        for (r, &v) in vertex.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        // elements, then attachments, whose unused vertices have no row
        let row_of = |v: u32| *row.get(v as usize).unwrap_or(&BlockPattern::ELIMINATED);
        let springs = model.loads.springs.iter().map(|s| &s.vertices);
        let stencils: Vec<[u32; 4]> =
            model.elastic.vertices().iter().chain(springs).map(|t| t.map(row_of)).collect();
        let thin: Vec<Vec<u32>> =
            model.thin.stencils().map(|s| s.iter().map(|&v| row_of(v)).collect()).collect();
        let all = stencils.iter().map(|s| &s[..]).chain(thin.iter().map(|s| &s[..]));
        let pattern = Arc::new(BlockPattern::from_stencils(vertex.len(), all)?);
        let thin = ThinAssembly::new(&model.thin, &pattern, &row_of)?;
        let tets = StencilAssembly::new(pattern.clone(), &stencils)?;
        let embedding = (0..pattern.block_count() as u32).collect();
        Ok(Self {
            free: free.to_vec(),
            row,
            vertex,
            elastic: BlockMatrix::zeros(pattern.clone()),
            tets,
            thin,
            element_hessians: Vec::new(),
            embedding,
            matrix: BlockMatrix::zeros(pattern),
            begun: false,
        })
    }

    /// Forgets the contact blocks of earlier steps, so that what follows is a function of the state
    /// alone.
    pub fn forget_contacts(&mut self) {
        let base = self.elastic.pattern().clone();
        self.embedding = (0..base.block_count() as u32).collect();
        self.matrix.reset(base);
        self.begun = false;
    }

    /// The elastic pattern, at the first call in a step or with a new set of free vertices: what
    /// follows may be based on it, and on nothing before.
    pub fn begin(&mut self) -> Option<&Arc<BlockPattern>> {
        let new = !std::mem::replace(&mut self.begun, true);
        new.then(|| self.elastic.pattern())
    }

    /// The Hessian of the incremental potential at x, each summand projected to be positive
    /// semidefinite.
    pub fn assemble(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<(), MatrixError> {
        if self.free != potential.free {
            *self = Self::new(potential.model, &potential.free)?;
        }
        let scale = potential.scale;
        let mut blocks: Vec<_> = timed(&mut seconds.contact, || contact_hessians(potential, it));
        if potential.contact_scale != scale {
            let ratio = potential.contact_scale / scale;
            let all = blocks.iter_mut().flat_map(|(_, h)| h.as_flattened_mut());
            all.for_each(|block| *block *= ratio);
        }
        timed(&mut seconds.elasticity, || {
            let elastic = &potential.model.elastic;
            elastic.hessians(0..elastic.len(), &it.x, &mut self.element_hessians);
            let springs = &potential.model.loads.springs;
            spring::append_hessians(springs, potential.time, &it.x, &mut self.element_hessians);
            if let Some(damping) = &potential.damping {
                for (h, d) in self.element_hessians.iter_mut().zip(&damping.hessians) {
                    for (row, damped) in h.iter_mut().zip(d) {
                        row.iter_mut().zip(damped).for_each(|(block, d)| *block += d);
                    }
                }
            }
        });
        timed(&mut seconds.assembly, || {
            self.reserve(&blocks)?;
            self.elastic.set_zero();
            self.tets.add_to(&mut self.elastic, &self.element_hessians)?;
            let damping = potential.damping.as_ref().map(|d| &d.thin);
            self.thin.add_hessians(&potential.thin, &it.x, damping, &mut self.elastic)?;
            self.matrix.set_zero();
            self.matrix.add_embedded(&self.elastic, &self.embedding)?;
            for (vertices, hessian) in &blocks {
                self.matrix.add_stencil(&self.rows(vertices), hessian)?;
            }
            for block in self.matrix.blocks_mut() {
                *block *= scale;
            }
            self.matrix.add_diagonal(&self.diagonal(potential))
        })
    }

    /// The largest diagonal entry of the Hessian of the potential without constraints, N/m: that of E
    /// over its scale.
    ///
    /// # Errors
    /// As [`System::assemble`].
    pub fn largest_stiffness(
        &mut self,
        potential: &mut IncrementalPotential<'_>,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<f64, MatrixError> {
        potential.constraints.stiffness = 0.0;
        self.assemble(potential, it, seconds)?;
        Ok(self.largest_diagonal() / potential.contact_scale)
    }

    /// Scene-wide vertex of a block row.
    pub fn vertex(&self, row: usize) -> Option<u32> {
        self.vertex.get(row).copied()
    }

    /// The assembled matrix.
    pub fn matrix(&self) -> &BlockMatrix {
        &self.matrix
    }

    /// Adds `d` to every diagonal entry.
    pub fn raise_diagonal(&mut self, d: f64) {
        for row in 0..self.matrix.n() {
            *self.matrix.diagonal_block_mut(row) += Mat3::from_diagonal_element(d);
        }
    }

    /// The largest diagonal entry.
    pub fn largest_diagonal(&self) -> f64 {
        let block = |row| self.matrix.diagonal_block(row).diagonal().max();
        (0..self.matrix.n()).map(block).fold(0.0, f64::max)
    }

    /// Masses, and the curvature of the equality constraints.
    fn diagonal(&self, potential: &IncrementalPotential<'_>) -> Vec<f64> {
        let mass = |&v: &u32| {
            if potential.inertial[v as usize] { potential.model.mass[v as usize] } else { 0.0 }
        };
        let mut diagonal: Vec<f64> = self.vertex.iter().map(mass).collect();
        if let Some(equality) = &potential.equality {
            for (k, &v) in equality.vertices.iter().enumerate() {
                if let Some(d) = diagonal.get_mut(self.row[v as usize] as usize) {
                    *d += equality.curvature(k);
                }
            }
        }
        diagonal
    }

    fn rows(&self, vertices: &[u32; 4]) -> [u32; 4] {
        vertices.map(|v| *self.row.get(v as usize).unwrap_or(&BlockPattern::ELIMINATED))
    }

    /// Makes room for the contacts' blocks. The pattern only grows, so that symbolic work is kept,
    /// until less than half of its contact blocks are in use.
    fn reserve(&mut self, blocks: &[([u32; 4], [[Mat3; 4]; 4])]) -> Result<(), MatrixError> {
        let stencils: Vec<[u32; 4]> = blocks.iter().map(|(v, _)| self.rows(v)).collect();
        let mut pairs = BlockPattern::stencil_pairs(stencils.iter().map(|s| &s[..]));
        pairs.sort_unstable();
        pairs.dedup();
        let base = self.elastic.pattern();
        let mut pattern = self.matrix.pattern().union(&pairs)?;
        let extra = pattern.block_count() - base.block_count();
        if extra > 2 * pairs.len() + 64 {
            pattern = base.union(&pairs)?;
        }
        if !Arc::ptr_eq(&pattern, self.matrix.pattern()) {
            self.embedding = base.embedding(&pattern)?;
            self.matrix.reset(pattern);
        }
        Ok(())
    }

    /// The rows' entries of a vector over all vertices.
    pub fn gather(&self, g: &[Vec3]) -> Vec<Vec3> {
        self.vertex.iter().map(|&v| g[v as usize]).collect()
    }

    /// Spreads a vector over the free rows to all vertices, zero elsewhere.
    pub fn spread(&self, rows: &[Vec3], n: usize) -> Vec<Vec3> {
        let mut all = vec![Vec3::zeros(); n];
        for (&v, r) in self.vertex.iter().zip(rows) {
            all[v as usize] = *r;
        }
        all
    }
}

/// Vertices (`u32::MAX` where a stencil has fewer than four) and PSD Hessian of every contact and
/// friction summand, in a fixed order.
fn contact_hessians(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Vec<([u32; 4], [[Mat3; 4]; 4])> {
    let (x, barrier, friction) = (&it.x, &potential.barrier, &potential.friction);
    let pair = |c: &Contact| (c.vertices, barrier.hessian_psd(c, &c.gather(x)));
    let plane = |c: &HalfSpaceContact| {
        let mut blocks = [[Mat3::zeros(); 4]; 4];
        blocks[0][0] = barrier.half_space_hessian_psd(c, &x[c.vertex as usize]);
        ([c.vertex, UNUSED, UNUSED, UNUSED], blocks)
    };
    let sliding = |c: &FrictionContact| {
        (c.vertices, friction.contact_hessian(c, x, &potential.friction_reference))
    };
    let mut blocks: Vec<_> = it.active.contacts.par_iter().map(pair).collect();
    blocks.extend(it.active.half_space.iter().map(plane));
    blocks.par_extend(friction.contacts.par_iter().map(sliding));
    blocks.par_extend(potential.constraints.hessians());
    blocks
}
