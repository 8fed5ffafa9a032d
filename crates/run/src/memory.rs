//! How much memory a run takes.

use standoff_sim::definition::{BodyKind, Definition, Substance};
use standoff_sim::settings::{LinearSolver, Method};

/// Bytes that a contact pair takes: itself, its Hessian, its part of the matrix' pattern.
const PAIR: f64 = 2.5e3;

/// Bytes of the factors of overlapping subdomains per vertex, in single precision, of subdomains of so many vertices: the
/// bytes per vertex grow with that number like those of a whole factor.
const SUBDOMAINS: (f64, f64) = (5e3, 200.0);

/// Degrees of freedom of the coarse level per vertex, with subdomains and without.
const COARSE: [f64; 2] = [0.15, 0.075];

/// Numbers of the factor of a shell's matrix per n log₂ n, for n vertices: 31/4 blocks of nine in nested-dissection order, as
/// of a square grid.
const SHELL_FACTOR: f64 = 9.0 * 7.75;

/// Bytes that a shell takes per vertex beside the factor: triangles, hinges, matrix.
const SHELL_VERTEX: f64 = 1.5e3;

/// Bytes that a rod takes per segment: elements, joints with stencils of five, matrix and factor. In runs of 6·10³ to 1.3·10⁵ segments 9 to 13 kB.
const ROD_SEGMENT: f64 = 1e4;

/// Part of a volume mesh's factor that a run takes with the solver `auto`, which makes one only where conjugate gradients do not suffice: by
/// the peaks of runs of 3·10⁴ to 9·10⁵ degrees of freedom in `docs/at-size.json`, which were 0.6 to 1.1 times the estimate with it where little was in
/// contact.
const FACTORISED: f64 = 0.5;

/// Bytes of a branch that flows, in a linear tetrahedron and at a point of a quadratic one.
const BRANCH: [f64; 2] = [1.2e3, 2.4e3];

/// Pairs within the contact distance per vertex of shells that lie on each other, if d̂ is short against their edges.
const PAIRS_OF_SHELLS: f64 = 10.0;

/// How many pairs come within the contact distance d̂, m, once the shells of a definition lie on each other or on something else
/// as finely meshed, as folded and stacked cloths do. Per vertex it is about 10 (1 + d̂/ℓ)² for edges of the mean length
/// ℓ: two meshes that lie on each other have some 7 crossing edges and 2 vertices over a triangle per vertex, and the
/// contact distance makes each reach as much farther. In runs there were 7 to 12.
pub fn pairs_of_shells(definition: &Definition, d_hat: f64) -> usize {
    let mut pairs = 0.0;
    for body in &definition.bodies {
        let BodyKind::Shell { triangles, .. } = &body.kind else { continue };
        let side = |[a, b]: [u32; 2]| (body.rest[b as usize] - body.rest[a as usize]).norm();
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mean = sides.map(side).sum::<f64>() / (3 * triangles.len()).max(1) as f64;
        if mean > 0.0 {
            let reach = 1.0 + d_hat / mean;
            pairs += PAIRS_OF_SHELLS * reach * reach * body.rest.len() as f64;
        }
    }
    pairs as usize
}

/// Estimate of the peak memory of a run, bytes, with so many `pairs` within the contact distance.
///
/// Cholesky factors of volume meshes in nested-dissection order hold about 6.3·n^1.44 numbers for n
/// degrees of freedom (fitted to 10⁴ to 1.5·10⁵ degrees of freedom), and a third as many again are
/// under way during the factorisation; at 8 bytes each, 4 in single precision; half of that with `auto`. Elements, surface and
/// matrix add about 1 kB per tetrahedron; overlapping subdomains of 200 vertices take 5 kB per vertex, and a coarse level a factor of
/// its own with 0.15 degrees of freedom per vertex, 0.075 where there are no subdomains; each of the `pairs` within the contact distance about 2.5 kB.
/// `lbfgs-pd` and `admm-pd` factorise a matrix with one degree of freedom per vertex, a ninth of the numbers.
/// In two dimensions the factor is taken to have 31/4 n log₂ n blocks of four numbers for n vertices, as that of a
/// square grid in nested-dissection order, and a triangle takes 0.5 kB. The factor of a shell has as many blocks, of nine numbers, and
/// its vertices take 1.5 kB each; a segment of a rod takes 10 kB. What relaxes or yields takes 1.2 kB per tetrahedron and branch, and 2.4 kB per point of a quadratic
/// one.
// long: a few lines for each kind of body
pub fn memory(definition: &Definition, pairs: usize) -> f64 {
    let solver = &definition.settings.solver;
    let family = matches!(solver.method, Method::LbfgsPd | Method::AdmmPd);
    let mut factor = 0.0;
    let (mut tetrahedra, mut branches) = (0usize, 0.0);
    let (mut vertices, mut triangles, mut shells, mut segments) = (0usize, 0usize, 0usize, 0usize);
    for body in &definition.bodies {
        let unknown = body.unknowns().len();
        vertices += unknown;
        if let BodyKind::Volume { tets, middles, .. } = &body.kind {
            let per_element = if middles.is_empty() { BRANCH[0] } else { 4.0 * BRANCH[1] };
            let of = |s: &Substance<'_>| s.inelastic.len() + s.fibres.len();
            let count: usize = body.substances().iter().map(of).sum();
            branches += per_element * count as f64;
            // 45 blocks in place of 6
            tetrahedra += if middles.is_empty() { tets.len() } else { 8 * tets.len() };
            let part =
                if solver.linear == LinearSolver::Auto && !family { FACTORISED } else { 1.0 };
            factor += part * 8.4 * (3.0 * unknown as f64).powf(1.442);
        }
        if let BodyKind::Shell { .. } = &body.kind {
            factor += SHELL_FACTOR * unknown as f64 * (unknown.max(1) as f64).log2();
            shells += unknown;
        }
        if let BodyKind::Rod { segments: own, .. } = &body.kind {
            segments += own.len();
        }
        if let BodyKind::PlaneStrain { triangles: own, middles, .. } = &body.kind {
            // 36 blocks in place of 9
            triangles += if middles.is_empty() { own.len() } else { 4 * own.len() };
            let n = body.rest.len() as f64;
            factor += 4.0 * 7.75 * n * n.log2();
        }
    }
    if family {
        // one unknown per vertex in place of three, in double precision
        return 2e7 + 8.0 * factor / 9.0 + 2e3 * tetrahedra as f64 + 500.0 * vertices as f64;
    }
    factor *= match solver.linear {
        LinearSolver::Cholesky | LinearSolver::FaerCholesky => 8.0,
        LinearSolver::MixedCholesky | LinearSolver::Auto => 4.0,
        LinearSolver::ConjugateGradient | LinearSolver::TwoLevel | LinearSolver::Schwarz => 0.0,
    };
    let coarse = |per_vertex: f64| 67.0 * (per_vertex * vertices as f64).powf(1.442);
    factor += match solver.linear {
        LinearSolver::TwoLevel => coarse(COARSE[1]),
        LinearSolver::Schwarz => {
            let (bytes, by_default) = SUBDOMAINS;
            let size = solver
                .schwarz_subdomains
                .map_or(by_default, |n| vertices as f64 / f64::from(n.max(1)));
            vertices as f64 * bytes * (size / by_default).powf(0.442) + coarse(COARSE[0])
        }
        _ => 0.0,
    };
    2e7 + PAIR * pairs as f64
        + factor
        + 1e3 * tetrahedra as f64
        + branches
        + 500.0 * triangles as f64
        + SHELL_VERTEX * shells as f64
        + ROD_SEGMENT * segments as f64
        + 500.0 * vertices as f64
}
