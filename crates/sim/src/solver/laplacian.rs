//! The constant matrix of projective dynamics [Bouaziz 2014]: A = M + s Σₑ Vₑ kₑ GₑᵀGₑ over the free vertices, where Gₑ maps
//! positions to the deformation gradient of tetrahedron e, kₑ is a stiffness (Pa), and s the integrator's factor of
//! the elastic energy.
//!
//! A is a scalar matrix times the identity of three components: the factor is that of a Laplacian with one unknown per
//! vertex. It depends on which vertices are free and on s alone, so that a run factorises it once, and again if these
//! change.

use crate::material::Lame;
use crate::potential::{IncrementalPotential, Part};
use crate::step::clock::Phase;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, Cholesky, Ordering, SolveError};
use std::sync::Arc;

/// The matrix of a set of free vertices, factorised.
#[derive(Debug)]
pub struct Laplacian {
    /// Free vertices for which the factor holds.
    free: Vec<bool>,
    /// The factor s of the elastic energy for which it holds, s².
    elastic_scale: f64,
    /// Vertex of each row.
    vertex: Vec<u32>,
    cholesky: Cholesky,
    /// Whether it holds in the next step, too: not where prescribed vertices are constrained to their targets.
    lasts: bool,
}

impl Default for Laplacian {
    fn default() -> Self {
        Self {
            free: Vec::new(),
            elastic_scale: f64::NAN,
            vertex: Vec::new(),
            cholesky: Cholesky::new(Ordering::Automatic),
            lasts: false,
        }
    }
}

impl Laplacian {
    /// Factorises the matrix of a potential with the stiffness of each tetrahedron, unless the last one holds; whether
    /// it did. Constraints of prescribed vertices to their targets add their Hessians.
    ///
    /// # Errors
    /// A matrix that is not positive definite or not finite, too little memory.
    pub fn prepare(
        &mut self,
        potential: &IncrementalPotential<'_>,
        stiffness: impl Fn(&Lame) -> f64,
    ) -> Result<bool, SolveError> {
        let clock = potential.context.clock;
        let scale = potential.context.elastic_scale;
        let constrained = potential.dirichlet.is_some();
        if self.lasts && !constrained && self.elastic_scale == scale && self.free == potential.free
        {
            return Ok(false);
        }
        self.lasts = false;
        let matrix = clock.time(Phase::Assembly, || self.assemble(potential, stiffness))?;
        clock.time(Phase::Symbolic, || self.cholesky.analyze(matrix.pattern()))?;
        clock.time(Phase::Factorisation, || self.cholesky.factorize(&matrix))?;
        self.elastic_scale = scale;
        self.lasts = !constrained;
        Ok(true)
    }

    fn assemble(
        &mut self,
        potential: &IncrementalPotential<'_>,
        stiffness: impl Fn(&Lame) -> f64,
    ) -> Result<BlockMatrix, SolveError> {
        let (free, model) = (&potential.free, potential.context.model);
        self.free.clone_from(free);
        self.vertex = (0..free.len() as u32).filter(|&v| free[v as usize]).collect();
        let mut row = vec![BlockPattern::ELIMINATED; free.len()];
        for (r, &v) in self.vertex.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        let tets = &model.tets;
        let rows = |t: &[u32; 4]| t.map(|v| row[v as usize]);
        let stencils: Vec<[u32; 4]> = tets.vertices().iter().map(rows).collect();
        let n = self.vertex.len();
        let too_large = |_| SolveError::OutOfMemory { nonzeros: 16 * stencils.len() };
        let pattern = BlockPattern::from_stencils(n, stencils.iter().map(|s| &s[..]));
        let mut matrix = BlockMatrix::zeros(Arc::new(pattern.map_err(too_large)?.isotropic()));
        for (tet, stencil) in tets.elements.iter().zip(&stencils) {
            let weight = potential.context.elastic_scale * tet.volume() * stiffness(tet.lame());
            let products = tet.shape_products();
            let h = products.map(|row| row.map(|g| Mat3::from_diagonal_element(weight * g)));
            matrix.add_stencil(stencil, &h).map_err(too_large)?;
        }
        let mass = |&v: &u32| match potential.inertial[v as usize] {
            true => model.mass[v as usize],
            false => 0.0,
        };
        let mass: Vec<f64> = self.vertex.iter().map(mass).collect();
        matrix.add_diagonal(&mass).map_err(too_large)?;
        let none = Default::default();
        for t in potential.terms(&none).iter().filter(|t| t.part == Part::Dirichlet) {
            let stencils = t.term.stencils();
            let mut blocks = vec![Mat3::zeros(); stencils.len()];
            t.term.hessians(0..stencils.len(), &[], &mut blocks);
            for (k, block) in blocks.iter().enumerate() {
                let at = row[stencils.get(k)[0] as usize];
                matrix.add_stencil(&[at], &[[block * t.factor]]).map_err(too_large)?;
            }
        }
        Ok(matrix)
    }

    /// A⁻¹ q over all vertices (`#V`), zero for those that are not free.
    ///
    /// # Errors
    /// A matrix that was not factorised.
    pub fn solve(&mut self, q: &[Vec3]) -> Result<Vec<Vec3>, SolveError> {
        let right: Vec<Vec3> = self.vertex.iter().map(|&v| q[v as usize]).collect();
        let mut solution = vec![Vec3::zeros(); right.len()];
        self.cholesky.back_solve(&right, &mut solution)?;
        let mut all = vec![Vec3::zeros(); q.len()];
        for (&v, x) in self.vertex.iter().zip(&solution) {
            all[v as usize] = *x;
        }
        Ok(all)
    }
}
