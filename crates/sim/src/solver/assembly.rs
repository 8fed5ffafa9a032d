//! The Newton system: Hessian blocks of all summands scattered into one 3×3-block sparse matrix
//! over the free vertices.

use crate::contact::pairs::UNUSED;
use crate::energy::thin::{Target, ThinAssembly};
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::PhaseSeconds;
use crate::solver::Iterate;
use crate::timing::timed;
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    BlockMatrix, BlockPattern, EdgeAssembly, EdgeBlocks, Embedding, MatrixError, StencilPlaces,
    SymmetricBlocks,
};
use std::ops::Range;
use std::sync::Arc;

/// Contacts whose Hessians are computed, then added at a time.
const CONTACTS: usize = 2048;

/// Matrix, pattern and scatter maps for one set of free vertices; kept while that set holds.
#[derive(Debug, Clone)]
pub struct System {
    free: Vec<bool>,
    /// Row of each vertex, or `BlockPattern::ELIMINATED`.
    row: Vec<u32>,
    /// Scene-wide vertex of each row.
    vertex: Vec<u32>,
    /// The pattern of elements and attachments, in that of the matrix.
    elastic: Embedding,
    tets: EdgeAssembly,
    thin: ThinAssembly,
    element_hessians: Vec<EdgeBlocks>,
    contacts: StencilPlaces,
    contact_hessians: Vec<SymmetricBlocks>,
    matrix: BlockMatrix,
    /// The matrix without contact and friction, where that was asked for.
    smooth: BlockMatrix,
    /// Whether [`Self::begin`] was called since the elastic pattern or the step is new.
    begun: bool,
    /// The same for the free vertices before: prescribed ones may be free for a part of every step.
    spare: Option<Box<System>>,
}

impl System {
    /// Prepares the scatter maps of the elastic part (elements and attachments) for the given free vertices.
    pub fn new(model: &Model, free: &[bool]) -> Result<Self, MatrixError> {
        let mut row = vec![BlockPattern::ELIMINATED; free.len()];
        let vertex: Vec<u32> = (0..free.len() as u32).filter(|&v| free[v as usize]).collect();
        for (r, &v) in vertex.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        // attachments may have vertices to spare, which have no row
        let row_of = |v: u32| *row.get(v as usize).unwrap_or(&BlockPattern::ELIMINATED);
        let tets: Vec<[u32; 4]> = model.elastic.vertices().iter().map(|t| t.map(row_of)).collect();
        let springs: Vec<[u32; 4]> =
            model.loads.springs.iter().map(|s| s.vertices.map(row_of)).collect();
        let thin: Vec<Vec<u32>> =
            model.thin.stencils().map(|s| s.iter().map(|&v| row_of(v)).collect()).collect();
        let all = tets.iter().chain(&springs).map(|s| &s[..]).chain(thin.iter().map(|s| &s[..]));
        let pattern = Arc::new(BlockPattern::from_stencils(vertex.len(), all)?);
        let thin = ThinAssembly::new(&model.thin, &pattern, &row_of)?;
        let tets = EdgeAssembly::new(pattern.clone(), &tets)?;
        Ok(Self {
            free: free.to_vec(),
            row,
            vertex,
            elastic: Embedding::identity(pattern.clone()),
            tets,
            thin,
            element_hessians: Vec::new(),
            contacts: StencilPlaces::default(),
            contact_hessians: Vec::new(),
            matrix: BlockMatrix::zeros(pattern.clone()),
            smooth: BlockMatrix::zeros(pattern),
            begun: false,
            spare: None,
        })
    }

    /// Goes over to another set of free vertices; what follows is the same as with a new system.
    fn change_free(&mut self, model: &Model, free: &[bool]) -> Result<(), MatrixError> {
        let mut next = match self.spare.take() {
            Some(spare) if spare.free == free => *spare,
            _ => Self::new(model, free)?,
        };
        next.forget_contacts();
        std::mem::swap(&mut next.element_hessians, &mut self.element_hessians);
        std::mem::swap(&mut next.contact_hessians, &mut self.contact_hessians);
        self.spare = Some(Box::new(std::mem::replace(self, next)));
        Ok(())
    }

    /// Forgets the contact blocks of earlier steps, so that what follows is a function of the state
    /// alone.
    pub fn forget_contacts(&mut self) {
        self.elastic = Embedding::identity(self.elastic.part().clone());
        self.matrix.reset(self.elastic.part().clone());
        self.begun = false;
    }

    /// The elastic pattern, at the first call in a step or with a new set of free vertices: what
    /// follows may be based on it, and on nothing before.
    pub fn begin(&mut self) -> Option<&Arc<BlockPattern>> {
        let new = !std::mem::replace(&mut self.begun, true);
        new.then(|| self.elastic.part())
    }

    /// The Hessian of the incremental potential at x, each summand projected to be positive
    /// semidefinite.
    pub fn assemble(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<(), MatrixError> {
        let contacts = self.begin_assembly(potential, it, seconds)?;
        self.add_contacts(&contacts, seconds)
    }

    /// The same without contact and friction, on a pattern that has room for them
    /// ([`System::replace_contacts`]).
    ///
    /// # Errors
    /// As [`System::assemble`].
    pub fn assemble_smooth(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<(), MatrixError> {
        self.begin_assembly(potential, it, seconds)?;
        self.smooth.reset(self.matrix.pattern().clone());
        self.smooth.blocks_mut().copy_from_slice(self.matrix.blocks());
        Ok(())
    }

    /// The matrix of the last [`System::assemble_smooth`] with contact and friction at an iterate,
    /// whose contacts have the same stencils.
    ///
    /// # Errors
    /// As [`System::assemble`].
    pub fn replace_contacts(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<(), MatrixError> {
        self.matrix.blocks_mut().copy_from_slice(self.smooth.blocks());
        let contacts = timed(&mut seconds.contact, || ContactTerms::new(potential, it));
        self.add_contacts(&contacts, seconds)
    }

    /// The product of the matrix of the last [`System::assemble_smooth`] with a vector over all vertices.
    ///
    /// # Errors
    /// Never, with a vector over all vertices.
    pub fn multiply_smooth(&self, p: &[Vec3]) -> Result<Vec<Vec3>, MatrixError> {
        Ok(self.spread(&self.smooth.mul_vec(&self.gather(p))?, p.len()))
    }

    /// Assembles all but contact and friction, with room for these; returns their terms.
    fn begin_assembly<'a>(
        &mut self,
        potential: &'a IncrementalPotential<'a>,
        it: &'a Iterate,
        seconds: &mut PhaseSeconds,
    ) -> Result<ContactTerms<'a>, MatrixError> {
        if self.free != potential.free {
            self.change_free(potential.model, &potential.free)?;
        }
        let contacts = timed(&mut seconds.contact, || ContactTerms::new(potential, it));
        let scale = potential.scale;
        timed(&mut seconds.elasticity, || {
            let elastic = &potential.model.elastic;
            elastic.hessians(0..elastic.len(), &it.x, &mut self.element_hessians);
            if let Some(damping) = &potential.damping {
                let damping = damping.hessians.as_flattened().iter();
                let all = self.element_hessians.as_flattened_mut().iter_mut();
                all.zip(damping).for_each(|(block, d)| *block += d);
            }
        });
        timed(&mut seconds.assembly, || {
            self.reserve(&contacts)?;
            let (matrix, diagonal) =
                (&mut self.matrix, diagonal(&self.vertex, &self.row, potential));
            self.tets.assemble(matrix, &self.elastic, scale, &self.element_hessians, &diagonal)?;
            let damping = potential.damping.as_ref().map(|d| &d.thin);
            let mut to = Target { matrix, embedding: &self.elastic, scale };
            self.thin.add_hessians(&potential.thin, &it.x, damping, &mut to)?;
            for spring in potential.model.loads.springs.iter().filter(|s| s.acts(potential.time)) {
                let rows = rows(&self.row, &spring.vertices);
                let hessian = spring.hessian_psd(&it.x).map(|r| r.map(|block| block * scale));
                self.matrix.add_stencil(&rows, &hessian)?;
            }
            Ok(())
        })?;
        Ok(contacts)
    }

    fn add_contacts(
        &mut self,
        contacts: &ContactTerms<'_>,
        seconds: &mut PhaseSeconds,
    ) -> Result<(), MatrixError> {
        let scale = contacts.potential.contact_scale;
        let hessians = &mut self.contact_hessians;
        for first in (0..contacts.len()).step_by(CONTACTS) {
            let range = first..(first + CONTACTS).min(contacts.len());
            timed(&mut seconds.contact, || contacts.hessians(range, hessians));
            timed(&mut seconds.assembly, || {
                self.contacts.add(&mut self.matrix, scale, first, hessians)
            })?;
        }
        Ok(())
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

    /// Makes room for the contacts' blocks. The pattern only grows, so that symbolic work is kept,
    /// until less than half of its contact blocks are in use.
    fn reserve(&mut self, contacts: &ContactTerms<'_>) -> Result<(), MatrixError> {
        let stencils: Vec<[u32; 4]> =
            contacts.vertices.iter().map(|v| rows(&self.row, v)).collect();
        let old = self.matrix.pattern().clone();
        let missing = self.contacts.find(&old, &stencils);
        let mut pattern = old.union(&missing)?;
        if !missing.is_empty() {
            self.contacts.find(&pattern, &stencils);
        }
        let base = self.elastic.part();
        let extra = pattern.block_count() - base.block_count();
        if extra > 64 && extra > 2 * self.contacts.distinct(&pattern) + 64 {
            pattern = base.union(&self.contacts.find(base, &stencils))?;
            self.contacts.find(&pattern, &stencils);
        }
        if !Arc::ptr_eq(&pattern, &old) {
            self.elastic = Embedding::new(base.clone(), pattern.clone())?;
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

fn rows(row: &[u32], vertices: &[u32; 4]) -> [u32; 4] {
    vertices.map(|v| *row.get(v as usize).unwrap_or(&BlockPattern::ELIMINATED))
}

/// Masses, and the curvature of the equality constraints, by row.
fn diagonal(vertex: &[u32], row: &[u32], potential: &IncrementalPotential<'_>) -> Vec<f64> {
    let mass = |&v: &u32| {
        if potential.inertial[v as usize] { potential.model.mass[v as usize] } else { 0.0 }
    };
    let mut diagonal: Vec<f64> = vertex.iter().map(mass).collect();
    if let Some(equality) = &potential.equality {
        for (k, &v) in equality.vertices.iter().enumerate() {
            if let Some(d) = diagonal.get_mut(row[v as usize] as usize) {
                *d += equality.curvature(k);
            }
        }
    }
    diagonal
}

/// Every summand of contact and friction, in a fixed order: pairs, half-spaces, friction,
/// constraints.
struct ContactTerms<'a> {
    potential: &'a IncrementalPotential<'a>,
    it: &'a Iterate,
    /// Vertices; `u32::MAX` where a stencil has fewer than four.
    vertices: Vec<[u32; 4]>,
}

impl<'a> ContactTerms<'a> {
    fn new(potential: &'a IncrementalPotential<'a>, it: &'a Iterate) -> Self {
        let pairs = it.active.contacts.iter().map(|c| c.vertices);
        let planes = it.active.half_space.iter().map(|c| [c.vertex, UNUSED, UNUSED, UNUSED]);
        let sliding = potential.friction.contacts.iter().map(|c| c.vertices);
        let held = potential.constraints.stencils();
        let vertices = pairs.chain(planes).chain(sliding).chain(held).collect();
        Self { potential, it, vertices }
    }

    fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Fills `out` with the PSD Hessians of a range.
    fn hessians(&self, range: Range<usize>, out: &mut Vec<SymmetricBlocks>) {
        let (x, potential) = (&self.it.x, self.potential);
        out.clear();
        out.resize(range.len(), SymmetricBlocks::default());
        let pairs = &self.it.active.contacts;
        let (begin, end) = (range.start.min(pairs.len()), range.end.min(pairs.len()));
        let (of_pairs, others) = out.split_at_mut(end - begin);
        potential.barrier.hessians(&pairs[begin..end], x, of_pairs);
        let first = (range.start + of_pairs.len()).saturating_sub(pairs.len());
        let others = others.par_iter_mut().with_min_len(16).enumerate();
        others.for_each(|(k, out)| *out = self.other_hessian(first + k));
    }

    /// Of what comes after the pairs.
    fn other_hessian(&self, mut k: usize) -> SymmetricBlocks {
        let (x, friction) = (&self.it.x, &self.potential.friction);
        let planes = &self.it.active.half_space;
        if let Some(c) = planes.get(k) {
            let mut blocks = SymmetricBlocks::default();
            blocks.0[0] = self.potential.barrier.half_space_hessian_psd(c, &x[c.vertex as usize]);
            return blocks;
        }
        k -= planes.len();
        if let Some(c) = friction.contacts.get(k) {
            return friction.contact_hessian_blocks(c, x, &self.potential.friction_reference);
        }
        self.potential.constraints.hessian(k - friction.contacts.len(), x)
    }
}
