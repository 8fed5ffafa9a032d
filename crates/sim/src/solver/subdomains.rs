//! The Hessian of subdomains with their interface weights, and the directions that it gives.
//!
//! A subdomain's Hessian Hⱼ = ∇²Eⱼ + Kⱼ, where Kⱼ makes up for what its neighbours' elements add between
//! the vertices that they share [Li 2020 thesis, Eqs. 3.9, 3.12], is the whole Hessian's part on the subdomain's vertices:
//! that is where it is taken from. Contact is many times stiffer than the solids, and a subdomain that
//! took its neighbour for a wall would hardly move: subdomains that touch each other are factorised as
//! one as long as they do.

use super::assembly::HessianAssembly;
use crate::decomposition::Decomposition;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Part};
use crate::thresholds::CHANGED_ROW;
use standoff_linalg::Vec3;
use standoff_sparse::{Blend, SolveError, Subdomains};

/// In place of the subdomain that a row belongs to.
const NOBODY: u32 = u32::MAX;

/// Factors of the subdomains of a potential.
#[derive(Debug, Default)]
pub struct SubdomainFactors {
    /// Free vertices for which the rest holds.
    free: Vec<bool>,
    /// Rows of each subdomain without contacts.
    base: Vec<Vec<u32>>,
    /// Rows of no subdomain: of vertices of obstacles that are constrained to their targets.
    loose: Vec<u32>,
    /// For each subdomain the first of those with which it is factorised as one, itself if there are none
    /// before it.
    first: Vec<u32>,
    factors: Option<Subdomains>,
    /// Traces of the diagonal blocks of each subdomain when it was factorised.
    traces: Vec<Vec<f64>>,
}

impl SubdomainFactors {
    /// Factorises every subdomain of the matrix that is assembled, with the contacts of an iterate; how
    /// many there were.
    ///
    /// # Errors
    /// A matrix that is not positive definite or not finite, too little memory.
    pub fn factorize(
        &mut self,
        potential: &IncrementalPotential<'_>,
        decomposition: &Decomposition,
        hessian: &HessianAssembly,
        it: &Iterate,
    ) -> Result<usize, SolveError> {
        if self.free != potential.free() || self.factors.is_none() {
            potential.free().clone_into(&mut self.free);
            (self.base, self.loose) = base_rows(decomposition, hessian);
            let mut sets = self.base.clone();
            sets[0].extend(&self.loose);
            self.factors = Some(Subdomains::new(hessian.matrix().n(), sets)?);
        }
        self.first = (0..self.base.len() as u32).collect();
        self.join_touching(potential, decomposition, hessian, it)?;
        self.update(hessian, |_| true)
    }

    /// Factorises the subdomains again whose contacts have changed, by their vertices or by more than a
    /// factor of 2 in the diagonal; how many there were.
    ///
    /// # Errors
    /// As [`Self::factorize`].
    pub fn follow_contacts(
        &mut self,
        potential: &IncrementalPotential<'_>,
        decomposition: &Decomposition,
        hessian: &HessianAssembly,
        it: &Iterate,
    ) -> Result<usize, SolveError> {
        self.join_touching(potential, decomposition, hessian, it)?;
        let Some(factors) = &self.factors else { return Err(SolveError::NotFactorized) };
        let changed: Vec<bool> = (0..factors.len())
            .map(|j| {
                let (rows, traces) = (factors.rows(j), &self.traces[j]);
                let ratio = |(&row, trace): (&u32, &f64)| {
                    hessian.matrix().diagonal_block(row as usize).trace() / trace
                };
                let within = |r: f64| r < CHANGED_ROW && r > 1.0 / CHANGED_ROW;
                rows.len() != traces.len() || !rows.iter().zip(traces).map(ratio).all(within)
            })
            .collect();
        self.update(hessian, |j| changed[j])
    }

    fn update(
        &mut self,
        hessian: &HessianAssembly,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<usize, SolveError> {
        let Some(factors) = &mut self.factors else { return Err(SolveError::NotFactorized) };
        let stale: Vec<bool> =
            (0..factors.len()).map(|j| wanted(j) || !factors.is_factorized(j)).collect();
        self.traces.resize(factors.len(), Vec::new());
        let matrix = hessian.matrix();
        let count = factors.factorize(matrix, wanted)?;
        for j in (0..factors.len()).filter(|&j| stale[j]) {
            let trace = |&row: &u32| matrix.diagonal_block(row as usize).trace();
            self.traces[j] = factors.rows(j).iter().map(trace).collect();
        }
        Ok(count)
    }

    /// Joins the subdomains that touch each other; those that were joined before stay so.
    fn join_touching(
        &mut self,
        potential: &IncrementalPotential<'_>,
        decomposition: &Decomposition,
        hessian: &HessianAssembly,
        it: &Iterate,
    ) -> Result<(), SolveError> {
        let Some(factors) = &mut self.factors else { return Err(SolveError::NotFactorized) };
        if factors.len() < 2 {
            return Ok(());
        }
        let mut first = self.first.clone();
        let mut claims: Vec<(u32, u32)> = self.loose.iter().map(|&row| (row, NOBODY)).collect();
        for t in potential.terms(&it.contacts).iter().filter(|t| t.part != Part::Elastic) {
            for stencil in t.term.stencils().iter() {
                let owner = decomposition.owner(stencil);
                for &v in stencil {
                    let Some(row) = hessian.row(v) else { continue };
                    match decomposition.part(v) {
                        Some(other) => join(&mut first, owner, other),
                        None if t.part == Part::Contact => claims.push((row, owner)),
                        None => {}
                    }
                }
            }
        }
        // what touches the same vertex of an obstacle touches
        claims.sort_unstable();
        claims.dedup();
        for pair in claims.windows(2) {
            if pair[0].0 == pair[1].0 && pair[1].1 != NOBODY {
                join(&mut first, pair[0].1, pair[1].1);
            }
        }
        let mut rows = vec![Vec::new(); self.base.len()];
        for (j, base) in self.base.iter().enumerate() {
            rows[root(&first, j as u32) as usize].extend(base);
        }
        for claim in claims.chunk_by(|a, b| a.0 == b.0) {
            let owner = if claim[0].1 == NOBODY { 0 } else { claim[0].1 };
            rows[root(&first, owner) as usize].push(claim[0].0);
        }
        self.first = (0..first.len() as u32).map(|j| root(&first, j)).collect();
        for (j, rows) in rows.into_iter().enumerate() {
            factors.replace(j, rows)?;
        }
        Ok(())
    }

    /// B Sᵀ diag(H₁⁻¹, …) S q over all vertices (`#V`), zero for those that are not free [Li 2020 thesis, Eq. 3.13]; or
    /// its symmetric, positive definite twin B^½ Sᵀ diag(H₁⁻¹, …) S B^½ q.
    ///
    /// # Errors
    /// Subdomains that were not factorised.
    pub fn apply(
        &mut self,
        hessian: &HessianAssembly,
        q: &[Vec3],
        blend: Blend,
    ) -> Result<Vec<Vec3>, SolveError> {
        let Some(factors) = &mut self.factors else { return Err(SolveError::NotFactorized) };
        let right = hessian.gather(q);
        let mut solution = vec![Vec3::zeros(); right.len()];
        factors.apply(blend, &right, &mut solution)?;
        Ok(hessian.spread(&solution, q.len()))
    }
}

/// Rows of the vertices of each subdomain that are free, and the rows that belong to none.
fn base_rows(
    decomposition: &Decomposition,
    hessian: &HessianAssembly,
) -> (Vec<Vec<u32>>, Vec<u32>) {
    let rows = |vertices: &Vec<u32>| vertices.iter().filter_map(|&v| hessian.row(v)).collect();
    let mut base: Vec<Vec<u32>> = decomposition.vertices.iter().map(rows).collect();
    if base.is_empty() {
        base.push(Vec::new());
    }
    let mut loose = vec![true; hessian.matrix().n()];
    base.iter().flatten().for_each(|&row| loose[row as usize] = false);
    let loose = (0..loose.len() as u32).filter(|&row| loose[row as usize]).collect();
    (base, loose)
}

/// The first of the subdomains with which `j` is joined.
fn root(first: &[u32], mut j: u32) -> u32 {
    while first[j as usize] != j {
        j = first[j as usize];
    }
    j
}

fn join(first: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(first, a), root(first, b));
    first[a.max(b) as usize] = a.min(b);
}
