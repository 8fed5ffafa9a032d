//! Leaves saddles: where forces balance but the Hessian has a direction of negative curvature, the potential is lower aside.
//!
//! Newton's method ends in a saddle where symmetry keeps all directions from leading out of it, as for a straight column under a load
//! that buckles it. Directions of negative curvature are found by Lanczos' method [Parlett 1998, Ch. 15] for the pencil of the Hessian H and the projected
//! one P, whose eigenvalues are at most 1: those of what was projected are smaller, and the negative ones stand alone.

use super::direction::{assemble, may_go_on, to_vertices};
use super::line_search::{audited, find_contacts};
use super::path::Path;
use super::speedups::Forcing;
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::solver::workspace::Workspace;
use crate::thresholds::{
    ESCAPE, ESCAPE_LENGTHS, FACTORISED, HIDDEN, LANCZOS_STEPS, LOOSEST, NEGATIVE, REGULARISATIONS,
    RITZ_RESIDUAL, RITZ_SETTLED,
};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{DMatrix, SymmetricEigen};
use standoff_sparse::{BlockMatrix, BlockPattern, LinearSolver, Residuals, SolveError};

/// Moves `it` away from a saddle to where the potential is lower; whether that was possible. It stays where it is at a minimum, and where
/// rounding hides the decrease.
///
/// # Errors
/// A matrix that is too large, the limit of the time of a step, or its end by the watcher.
pub fn leave(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    gradient: &[Vec3],
    work: &mut Workspace,
) -> Result<bool, StepError> {
    may_go_on(potential, it, work)?;
    let Some(p) = find(potential, it, gradient, work)? else { return Ok(false) };
    // what is not lower aside to working precision is no saddle
    work.report.saddle = false;
    Ok(descend(potential, it, &p, work))
}

/// A displacement at `it` along which the Hessian has a negative curvature, if there is one, and with that whether the report says that it
/// is a saddle.
///
/// # Errors
/// A matrix that is too large.
pub fn find(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    work: &mut Workspace,
) -> Result<Option<Vec<Vec3>>, StepError> {
    let assemble = |projection: Projection<'_>, work: &mut Workspace| {
        assemble(potential, it, projection, projection == Projection::All, work)
    };
    let found = negative_curvature(potential, assemble, gradient, work)?;
    work.report.saddle = found.is_some();
    Ok(found)
}

/// A displacement downwards along which the matrix that `assemble` makes without projection has a negative curvature; none where it has
/// none that counts. It is a part [`ESCAPE`] of a body long.
///
/// # Errors
/// A matrix that is too large.
pub fn negative_curvature(
    potential: &IncrementalPotential<'_>,
    mut assemble: impl FnMut(Projection<'_>, &mut Workspace) -> Result<(), StepError>,
    gradient: &[Vec3],
    work: &mut Workspace,
) -> Result<Option<Vec<Vec3>>, StepError> {
    assemble(Projection::NONE, work)?;
    let hessian = work.hessian.matrix().clone();
    assemble(Projection::All, work)?;
    let Workspace { hessian: projected, linear, .. } = work;
    let mut forcing = Forcing::exact(LOOSEST);
    linear.set_tolerance(forcing.residuals(1.0));
    let mut raise = 1e-12 * projected.largest_diagonal(|_| true).unwrap_or(0.0);
    let mut found = None;
    for _ in 0..REGULARISATIONS {
        match least_eigenvector(&hessian, projected.matrix(), linear.as_mut()) {
            Ok(rows) => {
                found = rows;
                break;
            }
            // what nothing holds in a quasi-static step, which rounding may hide from the factor
            Err(
                SolveError::NotPositiveDefinite { .. }
                | SolveError::NegativeCurvature { .. }
                | SolveError::NotConverged { .. },
            ) => {
                projected.raise_diagonal(raise);
                raise *= 10.0;
            }
            // a system that is not solved tells nothing
            Err(_) => break,
        }
    }
    let Some(rows) = found else { return Ok(None) };
    let mut p = to_vertices(potential, projected, &rows);
    let slope: f64 = gradient.iter().zip(&p).map(|(g, p)| g.dot(p)).sum();
    let model = potential.context.model;
    // angles count as lengths of a body of one metre
    let reach = |(v, p): (usize, &Vec3)| match v < model.vertex_count() {
        true => p.norm() / model.scales[model.body_of[v] as usize].size,
        false => p.norm(),
    };
    let longest = p.iter().enumerate().map(reach).fold(0.0, f64::max);
    let scale = ESCAPE / longest * if slope > 0.0 { -1.0 } else { 1.0 };
    p.iter_mut().for_each(|p| *p *= scale);
    Ok(Some(p))
}

/// Whether the matrix of the last system is positive definite, as far as a system with a right-hand side without symmetry tells.
pub fn looks_definite(matrix: &BlockMatrix, linear: &mut dyn LinearSolver) -> bool {
    let mut x = vec![Vec3::zeros(); matrix.n()];
    linear.set_tolerance(Residuals { iterative: LOOSEST, factorised: FACTORISED });
    let solved = linear.improve(matrix, &beginning(matrix.pattern()), &mut x);
    !matches!(solved, Err(SolveError::NegativeCurvature { .. }))
}

/// Goes along `p` as far as the potential falls; whether it falls visibly.
fn descend(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    work: &mut Workspace,
) -> bool {
    let start = potential.value(it);
    let mut path = Path::new(potential.context.model, &it.x, p);
    let reached = fall(start, |length| {
        let fitted = path.fit(potential, it, length, work).0;
        let mut trial = Iterate::without_contacts(it.x.clone());
        path.place(&it.x, fitted, &mut trial.x);
        if !potential.within_limits(&trial.x, 1.0)
            || !audited(&potential.context, &it.x, &trial.x, work)
        {
            return None;
        }
        find_contacts(potential, &mut trial, work);
        let value = potential.value(&trial);
        Some(Trial { value, end: trial, is_last: fitted < length })
    });
    let Some(reached) = reached else { return false };
    work.before = std::mem::replace(it, reached);
    true
}

/// What a length along a direction leads to.
pub struct Trial<T> {
    /// The potential there.
    pub value: Energy,
    /// The state there.
    pub end: T,
    /// Whether something is in the way of longer ones.
    pub is_last: bool,
}

/// The end of the longest way along a direction on which a potential falls visibly from `start`, of lengths that double
/// up to all of the direction; none where it does not fall. `at` says what a length leads to, or that it is none to take.
pub fn fall<T>(start: Energy, mut at: impl FnMut(f64) -> Option<Trial<T>>) -> Option<T> {
    let (mut best, mut reached) = (start, None);
    for k in (0..=ESCAPE_LENGTHS).rev() {
        let Some(Trial { value, end, is_last }) = at(0.5_f64.powi(k)) else { break };
        let change = value.value - best.value;
        let noise = HIDDEN * best.noise().max(value.noise());
        // not of a value that is not a number
        let too_short_to_tell = change.abs() <= noise;
        if change < -noise {
            (best, reached) = (value, Some(end));
        } else if reached.is_some() || !too_short_to_tell {
            break;
        }
        if is_last {
            break;
        }
    }
    reached
}

/// A vector y of which yᵀHy / yᵀPy is below [`NEGATIVE`], close to the least of all; none where there seems to be none.
// long: one recurrence
fn least_eigenvector(
    h: &BlockMatrix,
    p: &BlockMatrix,
    linear: &mut dyn LinearSolver,
) -> Result<Option<Vec<Vec3>>, SolveError> {
    let n = h.n();
    let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    // bases of the Krylov space: V, orthonormal in P, and U = P V
    let (mut v, mut u): (Vec<Vec<Vec3>>, Vec<Vec<Vec3>>) = Default::default();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut r = beginning(p.pattern());
    for step in 0..LANCZOS_STEPS.min(3 * n) {
        let mut z = vec![Vec3::zeros(); n];
        match step {
            0 => linear.solve(p, &r, &mut z)?,
            _ => linear.improve(p, &r, &mut z)?,
        };
        let length = dot(&z, &r).max(0.0).sqrt();
        if step > 0 {
            beside.push(length);
            let (value, vector) = least_ritz(&diagonal, &beside[..step - 1]);
            let residual = length * vector[step - 1].abs();
            let is_last = step + 1 == LANCZOS_STEPS.min(3 * n) || length == 0.0;
            if value < NEGATIVE && (residual < RITZ_RESIDUAL * -value || is_last) {
                let mut y = vec![Vec3::zeros(); n];
                for (v, s) in v.iter().zip(&vector) {
                    y.iter_mut().zip(v).for_each(|(y, v)| *y += *s * v);
                }
                // systems were solved roughly
                let hy = h.mul_vec(&y).unwrap_or_default();
                return Ok((dot(&y, &hy) < 0.0).then_some(y));
            }
            if is_last || value > 0.0 && residual < RITZ_SETTLED {
                return Ok(None);
            }
        }
        v.push(z.iter().map(|z| z / length).collect());
        u.push(r.iter().map(|r| r / length).collect());
        let last = &v[step];
        r = h.mul_vec(last).unwrap_or_default();
        diagonal.push(dot(last, &r));
        // against all of the basis, twice: once leaves rounding
        for _ in 0..2 {
            for (v, u) in v.iter().zip(&u) {
                let part = dot(v, &r);
                r.iter_mut().zip(u).for_each(|(r, u)| *r -= part * u);
            }
        }
    }
    Ok(None)
}

/// The least eigenvalue of a symmetric tridiagonal matrix, with its vector.
fn least_ritz(diagonal: &[f64], beside: &[f64]) -> (f64, Vec<f64>) {
    let n = diagonal.len();
    let matrix = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    });
    let eigen = SymmetricEigen::new(matrix);
    let least = (0..n).min_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let k = least.unwrap_or(0);
    (eigen.eigenvalues[k], eigen.eigenvectors.column(k).iter().copied().collect())
}

/// A vector that no symmetry keeps from any direction, always the same: numbers of splitmix64.
fn beginning(pattern: &BlockPattern) -> Vec<Vec3> {
    let mut state = 0_u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let aside = if pattern.is_in_plane() { 0.0 } else { 1.0 };
    (0..pattern.n()).map(|_| Vec3::new(next(), next(), aside * next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Mat3;
    use standoff_sparse::{Cholesky, ConjugateGradient, Ordering};

    /// Where `fall` ends on a potential along the direction, at which something may be in the way.
    fn end(of: impl Fn(f64) -> f64, limit: f64) -> Option<f64> {
        let energy = |t: f64| Energy { value: of(t), magnitude: 1.0 };
        fall(energy(0.0), |length| {
            let end = length.min(limit);
            Some(Trial { value: energy(end), end, is_last: end < length })
        })
    }

    #[test]
    fn a_potential_is_followed_as_far_as_it_falls() {
        // lengths double: the least value is at 0.2
        assert_eq!(end(|t| t * t * (t * t - 0.08), 1.0), Some(0.25));
        assert_eq!(end(|t| -t * t, 1.0), Some(1.0));
        // not over a hill into a lower valley
        assert_eq!(end(|t| -t * t + if t > 0.1 && t < 0.5 { 1.0 } else { 0.0 }, 1.0), Some(0.0625));
        assert_eq!(end(|t| -t * t, 0.3), Some(0.3));
        assert_eq!(end(|t| t * t, 1.0), None);
        assert_eq!(end(|_| 0.0, 1.0), None);
        assert_eq!(end(|_| f64::NAN, 1.0), None);
    }

    /// A diagonal matrix of positive entries but one, which is `least`.
    fn with(least: f64) -> BlockMatrix {
        let n = 5;
        let pattern = std::sync::Arc::new(BlockPattern::diagonal(n).unwrap());
        let mut matrix = BlockMatrix::zeros(pattern);
        for row in 0..n {
            let entry = |k: usize| 1.0 + 0.1 * (3 * row + k) as f64;
            let mut block = Mat3::from_diagonal(&Vec3::new(entry(0), entry(1), entry(2)));
            if row == 3 {
                block[(1, 1)] = least;
            }
            *matrix.diagonal_block_mut(row) = block;
        }
        matrix
    }

    /// Of the pencil of such a matrix and the unit matrix the least eigenvector is found, and none where all entries are positive.
    #[test]
    fn the_least_eigenvector_is_that_of_negative_curvature() {
        let mut linear = Cholesky::new(Ordering::Automatic);
        let mut unit = with(1.0);
        (0..unit.n()).for_each(|row| *unit.diagonal_block_mut(row) = Mat3::identity());
        let found = least_eigenvector(&with(-0.5), &unit, &mut linear).unwrap().unwrap();
        let size = found.iter().map(|v| v.norm_squared()).sum::<f64>().sqrt();
        assert!(found[3].y.abs() > 0.99 * size, "{found:?}");
        assert!(least_eigenvector(&with(0.5), &unit, &mut linear).unwrap().is_none());
    }

    /// Conjugate gradients do not notice a direction of negative curvature that the right-hand side has no part of, here that in which two
    /// vertices move apart.
    #[test]
    fn a_matrix_is_seen_to_be_indefinite_where_symmetry_hides_it() {
        let coupled = |by: f64| {
            let pattern = std::sync::Arc::new(BlockPattern::from_pairs(2, &[(0, 1)]).unwrap());
            let block = |(row, column)| if row == column { 1.0 } else { by } * Mat3::identity();
            let blocks = [(0, 0), (1, 0), (1, 1)].map(block).to_vec();
            BlockMatrix::from_blocks(pattern, blocks).unwrap()
        };
        let mut linear = ConjugateGradient::new(1e-10, 100);
        let b = vec![Vec3::new(1.0, 2.0, 3.0); 2];
        for (by, definite) in [(2.0, false), (0.5, true)] {
            let mut x = vec![Vec3::zeros(); 2];
            linear.solve(&coupled(by), &b, &mut x).unwrap();
            assert_eq!(looks_definite(&coupled(by), &mut linear), definite);
        }
    }
}
