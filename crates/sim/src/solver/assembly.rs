//! The Newton matrix: Hessian blocks of all terms of the incremental potential scattered into one
//! 3×3-block sparse matrix over the free vertices. In two dimensions its rows have two unknowns.

// long: the ways to assemble share the maps, the pattern and the memory of the matrix

use crate::clock::Phase;
use crate::energy::Projection;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Part, Summand};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    BlockMatrix, BlockPattern, FixedAssembly, Layout, MatrixError, Stencils, VariableAssembly,
};
use std::ops::Range;
use std::sync::Arc;

/// Blocks of contacts that are computed, then added at a time: as many as a cache holds.
const BATCH: usize = 8_192;

/// Contact blocks that the pattern may hold without use before it is rebuilt.
const SPARE_BLOCKS: usize = 64;

/// The Hessian of the incremental potential for one set of free vertices; kept while that set holds.
#[derive(Debug, Clone)]
pub struct HessianAssembly {
    free: Vec<bool>,
    /// Whether the potential was restricted to the elements of the free vertices.
    restricted: bool,
    /// Row of each vertex, or `BlockPattern::ELIMINATED`.
    row: Vec<u32>,
    /// Scene-wide vertex of each row.
    vertex: Vec<u32>,
    /// Where the blocks of the elastic part go.
    elastic: FixedAssembly,
    /// Where those of contact, friction and equality constraints go.
    variable: VariableAssembly,
    /// The blocks of a batch of a term, and of the batch that is computed while these are added.
    blocks: [Vec<Mat3>; 2],
    matrix: BlockMatrix,
    /// The matrix without contact and friction, where that was requested.
    without_contact: Option<BlockMatrix>,
    /// Inertia and elasticity alone, where that was requested.
    elastic_matrix: Option<BlockMatrix>,
    /// Whether [`Self::begin`] was called since the step or the set of free vertices is new.
    begun: bool,
    /// The same for the free vertices before: prescribed ones may be free for a part of every step.
    spare: Option<Box<HessianAssembly>>,
}

impl HessianAssembly {
    /// Prepares the scatter maps of the elastic part for the free vertices of a potential.
    ///
    /// # Errors
    /// More blocks than 32-bit indices can name.
    pub fn new(potential: &IncrementalPotential<'_>) -> Result<Self, MatrixError> {
        let free = potential.free();
        let mut row = vec![BlockPattern::ELIMINATED; free.len()];
        let vertex: Vec<u32> = (0..free.len() as u32).filter(|&v| free[v as usize]).collect();
        for (r, &v) in vertex.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        let none = Default::default();
        let terms = potential.terms(&none);
        let lists: Vec<(Stencils<'_>, Layout)> = terms
            .iter()
            .filter(|t| t.part == Part::Elastic)
            .map(|t| (t.term.stencils().map(|v| row_of(&row, v)), t.term.layout()))
            .collect();
        let stencils = lists.iter().flat_map(|(stencils, _)| stencils.iter());
        let pattern = BlockPattern::from_stencils(vertex.len(), stencils)?;
        let pattern = Arc::new(pattern.in_plane(potential.context.model.dimension.is_planar()));
        let elastic = FixedAssembly::new(pattern.clone(), &lists)?;
        Ok(Self {
            free: free.to_vec(),
            restricted: potential.is_restricted(),
            row,
            vertex,
            elastic,
            variable: VariableAssembly::default(),
            blocks: Default::default(),
            matrix: BlockMatrix::zeros(pattern),
            without_contact: None,
            elastic_matrix: None,
            begun: false,
            spare: None,
        })
    }

    /// Goes over to another set of free vertices; what follows is the same as with a new assembly.
    fn change_free(&mut self, potential: &IncrementalPotential<'_>) -> Result<(), MatrixError> {
        let mut next = match self.spare.take() {
            Some(spare) if spare.is_for(potential) => *spare,
            _ => Self::new(potential)?,
        };
        next.forget_contacts();
        std::mem::swap(&mut next.blocks, &mut self.blocks);
        self.spare = Some(Box::new(std::mem::replace(self, next)));
        Ok(())
    }

    /// Forgets the contact blocks of earlier steps, so that what follows is a function of the state
    /// alone.
    pub fn forget_contacts(&mut self) {
        self.matrix.reset(self.elastic.pattern().clone());
        self.begun = false;
    }

    /// The elastic pattern, at the first call in a step or with a new set of free vertices: what
    /// follows may be based on it, and on nothing before.
    pub fn begin(&mut self) -> Option<&Arc<BlockPattern>> {
        let new = !std::mem::replace(&mut self.begun, true);
        new.then(|| self.elastic.pattern())
    }

    /// Makes the pattern for the Hessian at an iterate.
    ///
    /// # Errors
    /// More blocks than 32-bit indices can name.
    pub fn make_pattern(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
    ) -> Result<(), MatrixError> {
        self.follow_free(potential)?;
        let terms = potential.terms(&it.contacts);
        potential.context.clock.time(Phase::Assembly, || self.reserve(&terms))
    }

    /// [`Self::make_pattern`] and [`Self::fill`], every summand projected.
    ///
    /// # Errors
    /// As these.
    pub fn assemble(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
    ) -> Result<(), MatrixError> {
        self.make_pattern(potential, it)?;
        self.fill(potential, it, Projection::All)
    }

    /// The Hessian of the incremental potential at an iterate, on the pattern that [`Self::make_pattern`] made for that iterate.
    ///
    /// # Errors
    /// A block that the pattern lacks.
    pub fn fill(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        projection: Projection<'_>,
    ) -> Result<(), MatrixError> {
        let terms = potential.terms(&it.contacts);
        let Self { elastic, blocks, vertex, matrix, .. } = self;
        fill_elastic(elastic, &mut blocks[0], vertex, potential, &terms, it, projection, matrix)?;
        self.add_variable(potential, &terms, it, projection, Part::Contact)?;
        self.add_variable(potential, &terms, it, projection, Part::Dirichlet)?;
        self.keep_on_rails(potential);
        Ok(())
    }

    /// Computes inertia and elasticity at an iterate, for [`Self::assemble_contacts`].
    ///
    /// # Errors
    /// As [`Self::assemble`].
    pub fn renew_elastic(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
    ) -> Result<(), MatrixError> {
        self.follow_free(potential)?;
        let none = Default::default();
        let Self { elastic, blocks, vertex, elastic_matrix, .. } = self;
        let matrix =
            elastic_matrix.get_or_insert_with(|| BlockMatrix::zeros(elastic.pattern().clone()));
        fill_elastic(
            elastic,
            &mut blocks[0],
            vertex,
            potential,
            &potential.terms(&none),
            it,
            Projection::All,
            matrix,
        )
    }

    /// The Hessian with inertia and elasticity of the last [`Self::renew_elastic`], contact, friction and equality
    /// constraints at another iterate. The free vertices must be the same.
    ///
    /// # Errors
    /// As [`Self::assemble`].
    pub fn assemble_contacts(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
    ) -> Result<(), MatrixError> {
        if self.elastic_matrix.is_none() || !self.is_for(potential) {
            self.renew_elastic(potential, it)?;
        }
        let terms = potential.terms(&it.contacts);
        potential.context.clock.time(Phase::Assembly, || {
            self.reserve(&terms)?;
            match &self.elastic_matrix {
                Some(part) => self.elastic.embed_matrix(part, &mut self.matrix),
                None => Ok(()),
            }
        })?;
        self.add_variable(potential, &terms, it, Projection::All, Part::Contact)?;
        self.add_variable(potential, &terms, it, Projection::All, Part::Dirichlet)?;
        self.keep_on_rails(potential);
        Ok(())
    }

    /// Takes the directions in which vertices are held out of the matrix.
    fn keep_on_rails(&mut self, potential: &IncrementalPotential<'_>) {
        for (v, free) in potential.rails().iter() {
            if let Some(row) = self.row(v) {
                self.matrix.restrict_row(row as usize, free);
            }
        }
    }

    /// Whether the last matrix has contacts, friction or equality constraints.
    pub fn has_contacts(&self) -> bool {
        !self.variable.is_empty()
    }

    /// The same without contact and friction, on a pattern that has room for them
    /// ([`Self::replace_contacts`]).
    ///
    /// # Errors
    /// As [`Self::assemble`].
    pub fn assemble_without_contact(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        projection: Projection<'_>,
    ) -> Result<(), MatrixError> {
        let terms = potential.terms(&it.contacts);
        self.assemble_elastic(potential, &terms, it, projection)?;
        self.add_variable(potential, &terms, it, projection, Part::Dirichlet)?;
        if projection != Projection::All {
            self.add_variable(potential, &terms, it, projection, Part::Curvature)?;
        }
        self.keep_on_rails(potential);
        match &mut self.without_contact {
            Some(kept) => {
                kept.reset(self.matrix.pattern().clone());
                kept.blocks_mut().copy_from_slice(self.matrix.blocks());
            }
            None => self.without_contact = Some(self.matrix.clone()),
        }
        Ok(())
    }

    /// The matrix of the last [`Self::assemble_without_contact`] with contact and friction at an
    /// iterate, whose contacts have the same stencils. Of these only friction can be indefinite without `projection`.
    ///
    /// # Errors
    /// As [`Self::assemble`].
    pub fn replace_contacts(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        projection: Projection<'_>,
    ) -> Result<(), MatrixError> {
        if let Some(kept) = &self.without_contact {
            self.matrix.blocks_mut().copy_from_slice(kept.blocks());
        }
        let terms = potential.terms(&it.contacts);
        self.add_variable(potential, &terms, it, projection, Part::Contact)?;
        self.keep_on_rails(potential);
        Ok(())
    }

    /// The product of the matrix of the last [`Self::assemble_without_contact`] with a vector over all
    /// vertices.
    ///
    /// # Errors
    /// A vector of another length.
    pub fn multiply_without_contact(&self, p: &[Vec3]) -> Result<Vec<Vec3>, MatrixError> {
        let kept = self.without_contact.as_ref().ok_or(MatrixError::PatternMismatch)?;
        Ok(self.spread(&kept.mul_vec(&self.gather(p))?, p.len()))
    }

    /// Goes over to the free vertices of a potential.
    fn follow_free(&mut self, potential: &IncrementalPotential<'_>) -> Result<(), MatrixError> {
        match self.is_for(potential) {
            true => Ok(()),
            false => self.change_free(potential),
        }
    }

    /// Whether the elements and the free vertices of a potential are those of this assembly.
    fn is_for(&self, potential: &IncrementalPotential<'_>) -> bool {
        self.restricted == potential.is_restricted() && self.free == potential.free()
    }

    /// Inertia and the elastic part, on a pattern with room for all terms.
    fn assemble_elastic(
        &mut self,
        potential: &IncrementalPotential<'_>,
        terms: &[Summand<'_>],
        it: &Iterate,
        projection: Projection<'_>,
    ) -> Result<(), MatrixError> {
        self.follow_free(potential)?;
        potential.context.clock.time(Phase::Assembly, || self.reserve(terms))?;
        let Self { elastic, blocks, vertex, matrix, .. } = self;
        fill_elastic(elastic, &mut blocks[0], vertex, potential, terms, it, projection, matrix)
    }

    /// Adds the terms of a part whose stencils vary.
    fn add_variable(
        &mut self,
        potential: &IncrementalPotential<'_>,
        terms: &[Summand<'_>],
        it: &Iterate,
        projection: Projection<'_>,
        part: Part,
    ) -> Result<(), MatrixError> {
        let clock = potential.context.clock;
        if terms.iter().all(|t| t.part != part) {
            return Ok(());
        }
        let Self { variable, matrix, blocks: [computed, next], .. } = self;
        // factor, first stencil and number of blocks of the batch that is computed
        let mut batch = (1.0, 0, 0);
        let mut first = 0;
        for t in terms.iter().filter(|t| t.part != Part::Elastic) {
            let stencils = t.term.stencils();
            let ranges = if t.part == part { batches(&stencils) } else { Vec::new() };
            for range in ranges {
                let count = stencils.blocks(range.clone());
                grow(next, count);
                let begin = first + range.start;
                let (added, ()) = clock.time_both(
                    [Phase::Assembly, Phase::Contact],
                    || variable.add(matrix, batch.0, batch.1, &computed[..batch.2]),
                    || t.term.hessians(range, &it.x, projection, &mut next[..count]),
                );
                added?;
                batch = (t.factor, begin, count);
                std::mem::swap(computed, next);
            }
            first += stencils.len();
        }
        let add = || variable.add(matrix, batch.0, batch.1, &computed[..batch.2]);
        clock.time(Phase::Assembly, add)
    }

    /// Makes room for the blocks of the terms whose stencils vary. The pattern only grows, so that
    /// symbolic work is kept, until less than half of its contact blocks are in use.
    fn reserve(&mut self, terms: &[Summand<'_>]) -> Result<(), MatrixError> {
        let variable = terms.iter().filter(|t| t.part != Part::Elastic);
        let lists: Vec<Stencils<'_>> = variable.map(|t| t.term.stencils()).collect();
        let old = self.matrix.pattern().clone();
        let missing = self.variable.find(&old, &lists, |v| row_of(&self.row, v));
        let mut pattern = old.union(&missing)?;
        if !missing.is_empty() {
            self.variable.extend(&old, &pattern)?;
        }
        let base = self.elastic.pattern();
        let extra = pattern.block_count() - base.block_count();
        let unused = || extra > 2 * self.variable.distinct(&pattern) + SPARE_BLOCKS;
        if extra > SPARE_BLOCKS && unused() {
            pattern = base.union(&self.variable.find_again(base))?;
            self.variable.extend(base, &pattern)?;
        }
        if !Arc::ptr_eq(&pattern, &old) {
            self.matrix.reset(pattern);
        }
        Ok(())
    }

    /// The product of the matrix with a vector over all vertices (`#V`), zero where there is no row.
    ///
    /// # Errors
    /// A vector of another length.
    pub fn multiply(&self, p: &[Vec3]) -> Result<Vec<Vec3>, MatrixError> {
        Ok(self.spread(&self.matrix.mul_vec(&self.gather(p))?, p.len()))
    }

    /// Positions of the rows' vertices; not finite for rows that are no vertices, of which there are
    /// `vertices`.
    pub fn positions(&self, x: &[Vec3], vertices: usize) -> Vec<Vec3> {
        let at = |&v: &u32| match (v as usize) < vertices {
            true => x[v as usize],
            false => Vec3::repeat(f64::NAN),
        };
        self.vertex.iter().map(at).collect()
    }

    /// Block row of a vertex, if it has one.
    pub fn row(&self, vertex: u32) -> Option<u32> {
        let row = row_of(&self.row, vertex);
        (row != BlockPattern::ELIMINATED).then_some(row)
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

    /// The largest diagonal entry among the vertices that are `wanted`, if there are any.
    pub fn largest_diagonal(&self, wanted: impl Fn(u32) -> bool) -> Option<f64> {
        let rows = (0..self.matrix.n()).filter(|&row| wanted(self.vertex[row]));
        rows.map(|row| self.matrix.diagonal_block(row).diagonal().max()).reduce(f64::max)
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

/// Sets `matrix`, of which `vertex` are the vertices of the rows, to inertia and the elastic part, batch by batch of the
/// elements. `blocks` is memory for a batch.
fn fill_elastic(
    elastic: &mut FixedAssembly,
    blocks: &mut Vec<Mat3>,
    vertex: &[u32],
    potential: &IncrementalPotential<'_>,
    terms: &[Summand<'_>],
    it: &Iterate,
    projection: Projection<'_>,
    matrix: &mut BlockMatrix,
) -> Result<(), MatrixError> {
    let clock = potential.context.clock;
    let lists: Vec<_> = terms.iter().filter(|t| t.part == Part::Elastic).collect();
    clock.time(Phase::Assembly, || elastic.begin(matrix))?;
    for k in 0..elastic.batches().len() {
        let batch = &elastic.batches()[k];
        let count = batch.block_count();
        clock.time(Phase::Elasticity, || {
            grow(blocks, count);
            let (term, blocks) = (&lists[batch.list()].term, &mut blocks[..count]);
            term.hessians(batch.stencils(), &it.x, projection, blocks);
        });
        clock.time(Phase::Assembly, || elastic.add(matrix, k, &blocks[..count]))?;
    }
    clock.time(Phase::Assembly, || {
        let (inertial, mass) = (potential.inertial(), &potential.context.model.mass);
        let mass = |&v: &u32| if inertial[v as usize] { mass[v as usize] } else { 0.0 };
        let diagonal: Vec<f64> = vertex.iter().map(mass).collect();
        elastic.finish(matrix, potential.context.elastic_scale, &diagonal)
    })
}

/// Makes room for `count` blocks of a batch, whatever they hold. Memory that is there is not filled with zeros again.
fn grow(blocks: &mut Vec<Mat3>, count: usize) {
    if blocks.len() < count {
        blocks.resize(count, Mat3::zeros());
    }
}

/// Row of a vertex. Attachments and contacts may have vertices to spare, which have none.
fn row_of(row: &[u32], vertex: u32) -> u32 {
    *row.get(vertex as usize).unwrap_or(&BlockPattern::ELIMINATED)
}

/// Ranges of stencils with about [`BATCH`] blocks each, at least one stencil.
fn batches(stencils: &Stencils<'_>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    while begin < stencils.len() {
        let mut end = begin + 1;
        match stencils.equal_size() {
            Some(_) => end = begin + (BATCH / stencils.blocks(begin..end)).max(1),
            None => {
                let mut count = stencils.blocks(begin..end);
                while end < stencils.len() && count + stencils.blocks(end..end + 1) <= BATCH {
                    count += stencils.blocks(end..end + 1);
                    end += 1;
                }
            }
        }
        end = end.min(stencils.len());
        ranges.push(begin..end);
        begin = end;
    }
    ranges
}
