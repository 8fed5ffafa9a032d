//! Orderings and solvers: against dense solutions, in all threads alike, and on what they must
//! refuse.

mod common;

use std::sync::Arc;

use common::{Cube, Hessian, Random, Stack, held_cube, random_psd, relative_residual};
use proptest::prelude::*;
use standoff_linalg::nalgebra::{DMatrix, DVector};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    Blend, BlockMatrix, BlockPattern, Cholesky, ConjugateGradient, FaerCholesky, Hybrid,
    LinearSolver, MixedCholesky, Ordering, Permutation, Preconditioner, Residuals, SolveError,
    SolveSeconds, Subdomains, VertexOrder,
};
use standoff_testkit::thorough;

const ORDERINGS: [Ordering; 4] =
    [Ordering::Automatic, Ordering::NestedDissection, Ordering::MinimumDegree, Ordering::Natural];

/// Every solver, with conjugate gradients to `tolerance`.
fn solvers(tolerance: f64) -> Vec<(String, Box<dyn LinearSolver>)> {
    let mut list: Vec<(String, Box<dyn LinearSolver>)> = Vec::new();
    for ordering in ORDERINGS {
        list.push((format!("{ordering:?}"), Box::new(Cholesky::new(ordering))));
        list.push((format!("mixed {ordering:?}"), Box::new(MixedCholesky::new(ordering))));
        list.push((format!("faer {ordering:?}"), Box::new(FaerCholesky::new(ordering))));
        let hybrid = Hybrid::new(ordering, tolerance, 5000);
        list.push((format!("hybrid {ordering:?}"), Box::new(hybrid)));
    }
    for preconditioner in [
        Preconditioner::BlockJacobi,
        Preconditioner::IncompleteCholesky,
        Preconditioner::StiffBlocks,
        Preconditioner::Schwarz,
        Preconditioner::TwoLevel,
    ] {
        let cg = ConjugateGradient::new(tolerance, 5000).with_preconditioner(preconditioner);
        list.push((format!("{preconditioner:?}"), Box::new(cg)));
    }
    list
}

/// A sum of random stencils, some with an eliminated vertex, plus `shift` on the diagonal.
fn random_spd(n: u32, stencils: usize, shift: f64, random: &mut Random) -> BlockMatrix {
    let mut vertex = |_| match random.below(u64::from(n) + 1) as u32 {
        v if v < n => v,
        _ => BlockPattern::ELIMINATED,
    };
    let stencils: Vec<[u32; 3]> = (0..stencils).map(|_| std::array::from_fn(&mut vertex)).collect();
    let pattern = BlockPattern::from_stencils(n as usize, stencils.iter().map(|s| &s[..])).unwrap();
    let mut a = BlockMatrix::zeros(Arc::new(pattern));
    for v in &stencils {
        let h: Hessian<3> = random_psd(random);
        a.add_stencil(v, &h).unwrap();
    }
    a.add_diagonal(&vec![shift; n as usize]).unwrap();
    a
}

fn dense_solution(a: &BlockMatrix, b: &[Vec3]) -> Vec<Vec3> {
    let n = 3 * a.n();
    let matrix = DMatrix::from_fn(n, n, |i, j| {
        a.block(i as u32 / 3, j as u32 / 3).map_or(0.0, |block| block[(i % 3, j % 3)])
    });
    let b = DVector::from_iterator(n, b.iter().flat_map(|v| v.iter().copied()));
    let x = matrix.cholesky().expect("positive definite").solve(&b);
    (0..a.n()).map(|i| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])).collect()
}

fn distance(x: &[Vec3], y: &[Vec3]) -> f64 {
    let norm = |d: f64, v: Vec3| d.max(v.amax());
    let scale = x.iter().fold(1e-300, |d, v| norm(d, *v));
    x.iter().zip(y).fold(0.0, |d, (x, y)| norm(d, x - y)) / scale
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_solver_agrees_with_a_dense_factorisation(n in 1u32..45, density in 0usize..4, seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let a = random_spd(n, density * n as usize, 0.1, &mut random);
        let b = random.vectors(n as usize);
        let expected = dense_solution(&a, &b);
        for (name, mut solver) in solvers(1e-13) {
            // the solver must not read what x holds
            let mut x = vec![Vec3::repeat(f64::NAN); n as usize];
            let report = solver.solve(&a, &b, &mut x).unwrap();
            prop_assert!(distance(&expected, &x) < 1e-9, "{}: {}", name, distance(&expected, &x));
            let residual = relative_residual(&a, &b, &x);
            prop_assert!((report.relative_residual - residual).abs() < 1e-13, "{}", name);
        }
    }

    #[test]
    fn orders_are_permutations(n in 0u32..120, density in 0usize..4, seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let pairs: Vec<_> =
            (0..density * n as usize).map(|_| (random.below(u64::from(n)) as u32, random.below(u64::from(n)) as u32)).collect();
        let pattern = BlockPattern::from_pairs(n as usize, &pairs).unwrap();
        for ordering in ORDERINGS {
            let order = VertexOrder::new(&pattern, ordering);
            let p = &order.permutation;
            prop_assert_eq!(&Permutation::from_new_to_old(p.new_to_old().to_vec()).unwrap(), p);
            for (new, &old) in p.new_to_old().iter().enumerate() {
                prop_assert_eq!(p.old_to_new()[old as usize] as usize, new);
            }
            let again = VertexOrder::new(&pattern, ordering);
            prop_assert_eq!(p, &again.permutation);
        }
    }
}

/// Solutions are as accurate as required and not much more, and are improved with the factor that there is.
#[test]
fn solutions_with_a_factor_are_as_accurate_as_required_and_improve() {
    let mut random = Random::new(41);
    let a = random_spd(400, 1200, 1e-4, &mut random);
    let b = random.vectors(400);
    let expected = dense_solution(&a, &b);
    // no system is small enough for conjugate gradients where none of their iterations are allowed
    let list: [Box<dyn LinearSolver>; 2] = [
        Box::new(MixedCholesky::new(Ordering::Automatic)),
        Box::new(Hybrid::new(Ordering::Automatic, 1e-8, 1)),
    ];
    for mut solver in list {
        assert!(solver.is_iterative());
        solver.set_tolerance(Residuals { iterative: 1e-2, factorised: 1e-3 });
        let mut x = vec![Vec3::zeros(); a.n()];
        let loose = solver.solve(&a, &b, &mut x).unwrap();
        let residual = relative_residual(&a, &b, &x);
        assert!(1e-10 < residual && residual < 1e-3, "{residual:e}");
        assert!((loose.relative_residual - residual).abs() < 1e-13);
        solver.set_tolerance(Residuals { iterative: 1e-8, factorised: 0.0 });
        let better = solver.improve(&a, &b, &mut x).unwrap();
        assert!(better.seconds.numeric == 0.0 && !better.analyzed, "{better:?}");
        assert!(relative_residual(&a, &b, &x) < 1e-10 && distance(&expected, &x) < 1e-7);
        let mut whole = vec![Vec3::zeros(); a.n()];
        let exact = solver.solve(&a, &b, &mut whole).unwrap();
        assert!(exact.iterations > loose.iterations && distance(&whole, &x) < 1e-7);
        assert_eq!(solver.improve(&a, &b, &mut whole).unwrap().iterations, 0);
    }
}

/// What is solved again with the last matrix is not factorised again, and a factor of another matrix serves for nothing.
#[test]
fn a_kept_factor_solves_again() {
    let mut random = Random::new(43);
    let [a, other] = [300, 200].map(|n| random_spd(n, 3 * n as usize, 1e-4, &mut random));
    let mut solver = Cholesky::new(Ordering::Automatic);
    let mut solve = |a: &BlockMatrix, improve: bool| {
        let b = random.vectors(a.n());
        let mut x = vec![Vec3::zeros(); a.n()];
        let report = match improve {
            true => solver.improve(a, &b, &mut x).unwrap(),
            false => solver.solve(a, &b, &mut x).unwrap(),
        };
        assert!(relative_residual(a, &b, &x) < 1e-10);
        report.seconds.numeric
    };
    assert!(solve(&a, false) > 0.0);
    assert_eq!(solve(&a, true), 0.0);
    assert!(solve(&other, true) > 0.0);
}

/// Systems of the plane: factorisations never read the third row and column of a block, and no solution has a third
/// component. What iterates needs something positive there.
#[test]
fn every_solver_leaves_out_the_third_unknown_of_the_plane() {
    let mut random = Random::new(29);
    let whole = random_spd(60, 200, 0.1, &mut random);
    let flat = |third: f64| {
        let pattern = Arc::new(BlockPattern::clone(whole.pattern()).in_plane(true));
        let first = pattern.col_ptr().to_vec();
        let mut a = BlockMatrix::from_blocks(pattern, whole.blocks().to_vec()).unwrap();
        for (k, block) in a.blocks_mut().iter_mut().enumerate() {
            block.fill_row(2, 0.0);
            block.fill_column(2, 0.0);
            block[(2, 2)] = if first.contains(&(k as u32)) { third } else { 0.0 };
        }
        a
    };
    let (a, positive) = (flat(-1.0), flat(3.0));
    let b: Vec<Vec3> = random.vectors(a.n()).iter().map(|b| Vec3::new(b.x, b.y, 0.0)).collect();
    let expected = dense_solution(&positive, &b);
    for (name, mut solver) in solvers(1e-13) {
        let mut x = vec![Vec3::repeat(f64::NAN); a.n()];
        solver.solve(&positive, &b, &mut x).unwrap();
        assert!(distance(&expected, &x) < 1e-9, "{name}: {}", distance(&expected, &x));
        assert!(x.iter().all(|x| x.z == 0.0), "{name}");
        let named = |o: &Ordering| name.ends_with(&format!("{o:?}"));
        if ORDERINGS.iter().any(named) && !name.starts_with("hybrid") {
            let mut y = x.clone();
            solver.solve(&a, &b, &mut y).unwrap();
            assert!(distance(&x, &y) < 1e-9, "{name}");
        }
    }
    // a factor of two unknowns in a row is smaller, and a pattern of three is another one
    let mut solver = Cholesky::new(Ordering::Automatic);
    solver.analyze(positive.pattern()).unwrap();
    let small = solver.factor_nonzeros();
    assert!(solver.analyze(whole.pattern()).unwrap(), "another pattern");
    assert!(2 * small < solver.factor_nonzeros(), "{small} {}", solver.factor_nonzeros());
    let wider = positive.pattern().union(&[(59, 0), (58, 1), (57, 2)]).unwrap();
    assert!(wider.is_in_plane() && wider.unknowns() == 2);
    assert!(!whole.pattern().is_in_plane() && whole.pattern().unknowns() == 3);
}

/// Multiples of the identity are factorised as one number each, with the same solutions and a factor several times smaller.
#[test]
fn isotropic_blocks_have_a_scalar_factor() {
    let pattern = Cube::new(7).pattern();
    let mut whole = BlockMatrix::zeros(pattern);
    let diagonal: Vec<usize> = whole.pattern().col_ptr().iter().map(|&k| k as usize).collect();
    let mut random = Random::new(31);
    for (k, block) in whole.blocks_mut().iter_mut().enumerate() {
        let on_diagonal = diagonal.binary_search(&k).is_ok();
        *block = Mat3::from_diagonal_element(if on_diagonal { 40.0 } else { -random.unit() });
    }
    let pattern = Arc::new(BlockPattern::clone(whole.pattern()).isotropic());
    let a = BlockMatrix::from_blocks(pattern, whole.blocks().to_vec()).unwrap();
    let b = random.vectors(a.n());
    let mut expected = vec![Vec3::zeros(); a.n()];
    Cholesky::new(Ordering::Automatic).solve(&whole, &b, &mut expected).unwrap();
    for (name, mut solver) in solvers(1e-13) {
        let mut x = vec![Vec3::repeat(f64::NAN); a.n()];
        solver.solve(&a, &b, &mut x).unwrap();
        assert!(distance(&expected, &x) < 1e-11, "{name}: {}", distance(&expected, &x));
    }
    let nonzeros = |a: &BlockMatrix| {
        let mut solver = Cholesky::new(Ordering::NestedDissection);
        solver.analyze(a.pattern()).unwrap();
        solver.factor_nonzeros()
    };
    assert!(5 * nonzeros(&a) < nonzeros(&whole), "{} {}", nonzeros(&a), nonzeros(&whole));
    let solve_in = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut x = vec![Vec3::zeros(); a.n()];
        pool.install(|| Cholesky::new(Ordering::Automatic).solve(&a, &b, &mut x)).unwrap();
        x
    };
    assert!(solve_in(1) == solve_in(3));
    assert_ne!(a.pattern(), whole.pattern());
}

#[test]
fn lists_that_are_no_bijection_are_no_permutation() {
    assert!(Permutation::from_new_to_old(vec![1, 0, 2]).is_some());
    assert!(Permutation::from_new_to_old(vec![1, 1, 2]).is_none());
    assert!(Permutation::from_new_to_old(vec![1, 3, 2]).is_none());
}

/// A solid with enough fill that orders matter: nested dissection beats the natural order by far,
/// and the automatic choice is not worse than minimum degree.
#[test]
fn fill_reducing_orders_reduce_fill() {
    let pattern = Cube::new(12).pattern();
    let cost = |ordering| VertexOrder::new(&pattern, ordering).tree.operations();
    let natural = cost(Ordering::Natural);
    assert!(cost(Ordering::MinimumDegree) < 0.7 * natural);
    assert!(cost(Ordering::Automatic) <= cost(Ordering::MinimumDegree));
    // too few operations for nested dissection to repay its time within a few factorisations, but not within many
    let small = Cube::new(9).pattern();
    let [few, many] = [VertexOrder::new, VertexOrder::for_many]
        .map(|order| order(&small, Ordering::Automatic).tree.operations());
    assert!(many < few, "{many} {few}");
    assert!(cost(Ordering::NestedDissection) < cost(Ordering::MinimumDegree));
}

/// Orders do not depend on who else orders at the same time.
#[test]
fn concurrent_orderings_agree() {
    let patterns = [Cube::new(6).pattern(), Cube::new(7).pattern()];
    let order = |k: usize| VertexOrder::new(&patterns[k % 2], Ordering::NestedDissection);
    let alone = [order(0), order(1)];
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|k| scope.spawn(move || (k, order(k)))).collect();
        for thread in threads {
            let (k, order) = thread.join().unwrap();
            assert_eq!(order.permutation, alone[k % 2].permutation);
        }
    });
}

#[test]
fn elastic_cubes_with_stiff_contacts_are_solved() {
    let mut random = Random::new(5);
    let stack = Stack::new(7, &mut random);
    let free = stack.free_matrix(0.1);
    let b = random.vectors(free.n());
    for (k, tolerance) in [([1.0, 1.0], 1e-12), ([1e6, 1e6], 1e-9), ([1e-2, 1e8], 1e-7)] {
        let a = stack.with_contacts(&free, k, &mut random);
        for ordering in ORDERINGS {
            let mut x = vec![Vec3::zeros(); a.n()];
            let report = Cholesky::new(ordering).solve(&a, &b, &mut x).unwrap();
            assert!(relative_residual(&a, &b, &x) < tolerance, "{k:?} {ordering:?} {report:?}");
            assert!(report.analyzed && report.factor_nonzeros > 0);
        }
    }
    // conjugate gradients with moderate contacts; without fill takes fewer iterations
    let a = stack.with_contacts(&free, [1e2, 1e3], &mut random);
    let mut iterations = Vec::new();
    for preconditioner in [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky] {
        let mut x = vec![Vec3::zeros(); a.n()];
        let mut cg = ConjugateGradient::new(1e-10, 5000).with_preconditioner(preconditioner);
        let report = cg.solve(&a, &b, &mut x).unwrap();
        assert!(relative_residual(&a, &b, &x) < 1.001e-10);
        iterations.push(report.iterations);
    }
    assert!(2 * iterations[1] < iterations[0], "{iterations:?}");
}

/// A solution on a superset pattern with blocks of zeros is that on the pattern itself, and the
/// symbolic factorisation is kept for all matrices on it.
#[test]
fn superset_patterns_give_the_same_solution_and_keep_symbolic_work() {
    let mut random = Random::new(11);
    let a = Cube::new(6).matrix(0.05);
    let n = a.n();
    let b = random.vectors(n);
    let extra: Vec<_> =
        (0..200).map(|_| (random.below(n as u64) as u32, random.below(n as u64) as u32)).collect();
    let superset = a.pattern().union(&extra).unwrap();
    assert!(superset.block_count() > a.pattern().block_count() + 100);
    let mut padded = BlockMatrix::zeros(superset.clone());
    padded.add_embedded(&a, &a.pattern().embedding(&superset).unwrap()).unwrap();
    for (name, mut solver) in solvers(1e-12) {
        let (mut x, mut y) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        solver.solve(&a, &b, &mut x).unwrap();
        solver.solve(&padded, &b, &mut y).unwrap();
        assert!(distance(&x, &y) < 1e-9, "{name}: {}", distance(&x, &y));
    }

    let mut solver = Cholesky::new(Ordering::Automatic);
    let mut x = vec![Vec3::zeros(); n];
    assert!(solver.solve(&padded, &b, &mut x).unwrap().analyzed);
    for _ in 0..3 {
        padded.diagonal_block_mut(random.below(n as u64) as usize)[(0, 0)] += 1.0;
        assert!(!solver.solve(&padded, &b, &mut x).unwrap().analyzed);
        assert!(relative_residual(&padded, &b, &x) < 1e-12);
    }
    // equal contents in another object count as the same pattern, different contents do not
    let copy = Arc::new(BlockPattern::clone(&superset));
    let copied = BlockMatrix::from_blocks(copy, padded.blocks().to_vec()).unwrap();
    assert!(!solver.solve(&copied, &b, &mut x).unwrap().analyzed);
    assert!(solver.solve(&a, &b, &mut x).unwrap().analyzed);
    assert!(relative_residual(&a, &b, &x) < 1e-12);
}

/// Bits depend on the system only: not on threads, not on what was solved before.
#[test]
fn threads_and_history_do_not_change_a_bit() {
    let mut random = Random::new(23);
    let a = Cube::new(if thorough() { 17 } else { 11 }).matrix(0.1);
    let other = Stack::new(6, &mut random).free_matrix(1.0);
    let b = random.vectors(a.n());
    let c = random.vectors(other.n());
    for (name, mut solver) in solvers(1e-8) {
        if name == "Natural" || name == "MinimumDegree" {
            continue;
        }
        let mut run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut x = vec![Vec3::zeros(); a.n()];
            let mut report = pool.install(|| solver.solve(&a, &b, &mut x)).unwrap();
            report.seconds = SolveSeconds::default();
            // something else in between
            let mut y = vec![Vec3::zeros(); other.n()];
            solver.solve(&other, &c, &mut y).unwrap();
            (x, report)
        };
        let first = run(1);
        for threads in [2, 4] {
            assert_eq!(run(threads), first, "{name} with {threads} threads");
        }
    }
}

/// The multifrontal factorisation against faer's supernodal one, which shares its dense kernels but
/// nothing else, on a matrix with fronts of many tiles.
#[test]
fn solutions_agree_with_those_of_faer() {
    let mut random = Random::new(37);
    let stack = Stack::new(9, &mut random);
    let free = stack.free_matrix(0.1);
    let a = stack.with_contacts(&free, [1e2, 1e4], &mut random);
    let b = random.vectors(a.n());
    let mut expected = vec![Vec3::zeros(); a.n()];
    FaerCholesky::new(Ordering::MinimumDegree).solve(&a, &b, &mut expected).unwrap();
    for (name, mut solver) in solvers(1e-12).into_iter().filter(|(n, _)| !n.contains("Natural")) {
        let mut x = vec![Vec3::zeros(); a.n()];
        solver.solve(&a, &b, &mut x).unwrap();
        assert!(distance(&expected, &x) < 1e-8, "{name}: {}", distance(&expected, &x));
    }
}

/// Conjugate gradients where they are cheap; where they are not, the factorisation until a restart.
#[test]
fn the_hybrid_solver_takes_what_is_cheaper() {
    let cube = Cube::new(17);
    let (easy, hard) = (cube.matrix(10.0), cube.matrix(1e-5));
    let b = Random::new(41).vectors(easy.n());
    let mut x = vec![Vec3::zeros(); b.len()];
    let mut solver = Hybrid::new(Ordering::Automatic, 1e-6, 5000);
    let mut factorised = |a: &BlockMatrix, restart: bool| {
        if restart {
            solver.restart(easy.pattern());
        }
        let report = solver.solve(a, &b, &mut x).unwrap();
        assert!(relative_residual(a, &b, &x) < 1.001e-6);
        report.factor_nonzeros > 0
    };
    assert!(!factorised(&easy, false));
    assert!(factorised(&hard, false));
    // without a restart what was solved before does not matter
    assert!(!factorised(&easy, false));
    assert!(!factorised(&easy, true));
    assert!(factorised(&hard, false));
    assert!(factorised(&easy, false));
    assert!(!factorised(&easy, true));
}

/// Where a factor would be too large: conjugate gradients with stiff blocks if they converge, else with a coarse level, and
/// with subdomains if that is not allowed enough iterations; the last of them until a restart.
#[test]
fn the_hybrid_solver_needs_no_factorisation() {
    let (slow, position) = held_cube(12, &|_, _, _| 1.0);
    let (hard, _) = held_cube(12, &|_, _, z| if z % 2 == 1 { 1e6 } else { 1.0 });
    let mut easy = slow.clone();
    easy.add_diagonal(&vec![1.0; slow.n()]).unwrap();
    let b = Random::new(43).vectors(slow.n());
    let mut x = vec![Vec3::zeros(); b.len()];
    let mut nonzeros = |solver: &mut dyn LinearSolver, a: &BlockMatrix, restart: bool| {
        if restart {
            solver.restart(a.pattern());
            solver.place(&position);
        }
        let report = solver.solve(a, &b, &mut x).unwrap();
        assert!(relative_residual(a, &b, &x) < 1.001e-8);
        report.factor_nonzeros
    };
    let mut of = |preconditioner, a: &BlockMatrix| {
        let cg = ConjugateGradient::new(1e-8, 5000);
        nonzeros(&mut cg.with_preconditioner(preconditioner), a, true)
    };
    let two_levels = of(Preconditioner::TwoLevel, &hard);
    let subdomains = of(Preconditioner::Schwarz, &hard);
    assert!(two_levels > 0 && subdomains > two_levels);
    let mut solver = Hybrid::new(Ordering::Automatic, 1e-8, 5000);
    solver.largest_operations = 0.0;
    assert_eq!(nonzeros(&mut solver, &easy, true), 0);
    assert_eq!(nonzeros(&mut solver, &hard, true), two_levels);
    // until the next restart
    assert!(nonzeros(&mut solver, &easy, false) > 0);
    assert_eq!(nonzeros(&mut solver, &easy, true), 0);
    solver.max_two_level = 40;
    assert_eq!(nonzeros(&mut solver, &hard, true), subdomains);
    assert!(nonzeros(&mut solver, &easy, false) > two_levels);
}

/// After a restart the order of its pattern serves patterns with some more blocks; results depend on
/// nothing before.
#[test]
fn orders_are_kept_after_a_restart() {
    let mut random = Random::new(43);
    let stack = Stack::new(8, &mut random);
    let free = stack.free_matrix(0.1);
    let a = stack.with_contacts(&free, [1e2, 1e2], &mut random);
    let b = random.vectors(a.n());
    let solve = |solver: &mut Cholesky, a: &BlockMatrix| {
        let mut x = vec![Vec3::zeros(); b.len()];
        let report = solver.solve(a, &b, &mut x).unwrap();
        assert!(relative_residual(a, &b, &x) < 1e-12);
        (x, report.factor_nonzeros, report.analyzed)
    };
    let mut solver = Cholesky::new(Ordering::MinimumDegree);
    let own = solve(&mut solver, &a);
    solver.restart(free.pattern());
    let kept = solve(&mut solver, &free);
    let with_contacts = solve(&mut solver, &a);
    // the order without contacts is poor here, so a new one was found, which is better: that of the pattern itself
    assert_eq!(with_contacts.0, own.0);
    // again, and with other systems before
    solver.restart(free.pattern());
    assert_eq!(solve(&mut solver, &free).0, kept.0);
    solver.restart(free.pattern());
    assert!(!solve(&mut solver, &free).2, "the analysis was not kept");
    // one contact more: the order is kept
    let one = BlockPattern::stencil_pairs([&stack.contacts[0][..]]);
    let pattern = free.pattern().union(&one).unwrap();
    let mut few = BlockMatrix::zeros(pattern.clone());
    few.add_embedded(&free, &free.pattern().embedding(&pattern).unwrap()).unwrap();
    let first = solve(&mut solver, &few);
    let mut other = Cholesky::new(Ordering::MinimumDegree);
    let fresh = solve(&mut other, &few);
    other.restart(free.pattern());
    assert_eq!(solve(&mut other, &few).0, first.0);
    assert_ne!(fresh.0, first.0, "ordered anew");
}

#[test]
fn one_factorisation_serves_many_right_hand_sides() {
    let mut random = Random::new(3);
    let a = Cube::new(5).matrix(0.3);
    let mut solver = Cholesky::new(Ordering::Automatic);
    let (mut x, b) = (vec![Vec3::zeros(); a.n()], random.vectors(a.n()));
    assert_eq!(solver.back_solve(&b, &mut x), Err(SolveError::NotFactorized));
    assert_eq!(solver.factorize(&a), Ok(true));
    for _ in 0..3 {
        let b = random.vectors(a.n());
        solver.back_solve(&b, &mut x).unwrap();
        assert!(relative_residual(&a, &b, &x) < 1e-13);
    }
    assert!(matches!(solver.back_solve(&b[1..], &mut x), Err(SolveError::SizeMismatch { .. })));
    // a failed factorisation leaves none behind
    let mut indefinite = a.clone();
    indefinite.diagonal_block_mut(7)[(1, 1)] = -5.0;
    assert!(solver.factorize(&indefinite).is_err());
    assert_eq!(solver.back_solve(&b, &mut x), Err(SolveError::NotFactorized));
    assert_eq!(solver.factorize(&a), Ok(false));
}

#[test]
fn indefinite_matrices_are_refused() {
    let mut a = Cube::new(5).matrix(0.1);
    let b = Random::new(2).vectors(a.n());
    *a.diagonal_block_mut(40) -= 100.0 * Mat3::identity();
    for (name, mut solver) in solvers(1e-8) {
        let mut x = vec![Vec3::zeros(); a.n()];
        let refused = solver.solve_if_definite(&a, &b, &mut x);
        let refused = matches!(refused, Err(SolveError::NotPositiveDefinite { .. }));
        assert!(refused, "{name}");
        match solver.solve(&a, &b, &mut x) {
            Err(SolveError::NotPositiveDefinite { block }) => {
                assert!(block < a.n());
                // preconditioners see it in the diagonal block itself
                assert!(block == 40 || !name.contains("Jacobi"), "{name}: {block}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    // indefinite by its couplings: all diagonal blocks are fine
    let pattern = Arc::new(BlockPattern::from_pairs(2, &[(1, 0)]).unwrap());
    let i = Mat3::identity();
    let a = BlockMatrix::from_blocks(pattern, vec![i, 2.0 * i, i]).unwrap();
    let b = [Vec3::x(), -Vec3::x()];
    for (name, mut solver) in solvers(1e-8) {
        let result = solver.solve(&a, &b, &mut [Vec3::zeros(); 2]);
        match (name.as_str(), result) {
            (
                "BlockJacobi" | "StiffBlocks" | "TwoLevel",
                Err(SolveError::NegativeCurvature { curvature, .. }),
            ) => {
                assert!(curvature < 0.0);
            }
            ("IncompleteCholesky", Err(SolveError::NegativeCurvature { .. })) => {}
            (_, Err(SolveError::NotPositiveDefinite { block: 0 | 1 })) => {}
            (_, other) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn definite_matrices_are_solved_as_such() {
    let a = Cube::new(5).matrix(0.1);
    let b = Random::new(2).vectors(a.n());
    for (name, mut solver) in solvers(1e-8) {
        let [mut x, mut y] = [0, 1].map(|_| vec![Vec3::zeros(); a.n()]);
        let report = solver.solve_if_definite(&a, &b, &mut x).unwrap();
        let again = solver.solve(&a, &b, &mut y).unwrap();
        assert_eq!(x, y, "{name}");
        assert_eq!(report.iterations, again.iterations, "{name}");
    }
}

/// A free body without mass: rigid motions cost nothing, and a load that pushes it has no answer.
#[test]
fn singular_matrices_are_refused() {
    let a = Cube::new(5).matrix(0.0);
    let b = vec![Vec3::x(); a.n()];
    for (name, mut solver) in solvers(1e-8) {
        let result = solver.solve(&a, &b, &mut vec![Vec3::zeros(); a.n()]);
        assert!(result.is_err(), "{name}: {result:?}");
    }
    // a row without any stiffness
    let zero = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(3).unwrap()));
    for (name, mut solver) in solvers(1e-8) {
        let result = solver.solve(&zero, &b[..3], &mut [Vec3::zeros(); 3]);
        assert!(
            matches!(result, Err(SolveError::NotPositiveDefinite { .. })),
            "{name}: {result:?}"
        );
    }
}

#[test]
fn what_is_not_finite_is_refused() {
    let good = Cube::new(3).matrix(0.1);
    let b = Random::new(2).vectors(good.n());
    for (name, mut solver) in solvers(1e-8) {
        let mut x = vec![Vec3::zeros(); good.n()];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut a = good.clone();
            a.blocks_mut()[17][(2, 1)] = bad;
            let result = solver.solve(&a, &b, &mut x);
            assert_eq!(result, Err(SolveError::NotFinite { what: "matrix" }), "{name}");
            let mut c = b.clone();
            c[3].y = bad;
            let result = solver.solve(&good, &c, &mut x);
            assert_eq!(result, Err(SolveError::NotFinite { what: "right-hand side" }), "{name}");
        }
        // finite, but overflows on the way
        let mut huge = good.clone();
        huge.blocks_mut().iter_mut().for_each(|block| *block *= 1e307);
        let huge_b: Vec<_> = b.iter().map(|b| b * 1e300).collect();
        let _ = solver.solve(&huge, &huge_b, &mut x);
        // and it works again after all that
        assert!(solver.solve(&good, &b, &mut x).is_ok(), "{name}");
        let short = solver.solve(&good, &b[1..], &mut x);
        assert!(matches!(short, Err(SolveError::SizeMismatch { .. })), "{name}");
        let short = solver.solve(&good, &b, &mut x[1..]);
        assert!(matches!(short, Err(SolveError::SizeMismatch { .. })), "{name}");
    }
}

#[test]
fn empty_systems_and_zero_right_hand_sides_are_solved() {
    let empty = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(0).unwrap()));
    let a = Cube::new(3).matrix(0.1);
    for (name, mut solver) in solvers(1e-8) {
        assert_eq!(solver.solve(&empty, &[], &mut []).unwrap().relative_residual, 0.0, "{name}");
        let mut x = vec![Vec3::x(); a.n()];
        let report = solver.solve(&a, &vec![Vec3::zeros(); a.n()], &mut x).unwrap();
        assert!(x.iter().all(|x| *x == Vec3::zeros()), "{name}");
        assert_eq!((report.iterations, report.relative_residual), (0, 0.0), "{name}");
    }
}

#[test]
fn conjugate_gradients_report_that_they_have_not_converged() {
    let a = Cube::new(6).matrix(1e-3);
    let b = Random::new(9).vectors(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    match ConjugateGradient::new(1e-10, 7).solve(&a, &b, &mut x) {
        Err(SolveError::NotConverged { iterations: 7, relative_residual, tolerance: 1e-10 }) => {
            assert!((relative_residual - common::relative_residual(&a, &b, &x)).abs() < 1e-14);
            assert!(relative_residual > 1e-10);
        }
        other => panic!("{other:?}"),
    }
    // a tolerance below working precision ends in a report, not in a loop
    let result = ConjugateGradient::new(1e-30, 1_000_000).solve(&a, &b, &mut x);
    assert!(
        matches!(result, Err(SolveError::NotConverged { iterations: 1..100_000, .. })),
        "{result:?}"
    );
    // no iterations at all
    let result = ConjugateGradient::new(1e-8, 0).solve(&a, &b, &mut x);
    assert!(matches!(result, Err(SolveError::NotConverged { iterations: 0, .. })), "{result:?}");
}

/// An ill-conditioned system needs and gets refinement: two scales of stiffness 1e12 apart.
#[test]
fn refinement_improves_poor_residuals() {
    let mut random = Random::new(31);
    let stack = Stack::new(5, &mut random);
    let free = stack.free_matrix(1e-3);
    let a = stack.with_contacts(&free, [1e10, 1e10], &mut random);
    let b = random.vectors(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut solver = Cholesky::new(Ordering::Automatic);
    solver.factorize(&a).unwrap();
    solver.back_solve(&b, &mut x).unwrap();
    let plain = relative_residual(&a, &b, &x);
    let report = solver.solve(&a, &b, &mut x).unwrap();
    assert!(plain > 1e-10, "{plain:e}: the system is too easy for this test");
    assert!(report.iterations > 0 && report.relative_residual < plain, "{plain:e} {report:?}");
}

/// A chain has no fill, so its incomplete factor is the complete one: one iteration suffices, and one or
/// two more to make up for single precision.
#[test]
fn incomplete_cholesky_is_exact_where_there_is_no_fill() {
    let mut random = Random::new(13);
    let n = 40u32;
    let links: Vec<[u32; 2]> = (1..n).map(|i| [i - 1, i]).collect();
    let pattern = BlockPattern::from_stencils(n as usize, links.iter().map(|l| &l[..])).unwrap();
    let mut a = BlockMatrix::zeros(Arc::new(pattern));
    for link in &links {
        a.add_stencil(link, &random_psd(&mut random)).unwrap();
    }
    a.add_diagonal(&vec![0.01; n as usize]).unwrap();
    let b = random.vectors(n as usize);
    let mut x = vec![Vec3::zeros(); n as usize];
    let mut cg = ConjugateGradient::new(1e-9, 1000);
    let jacobi = cg.solve(&a, &b, &mut x).unwrap();
    cg.preconditioner = Preconditioner::IncompleteCholesky;
    let incomplete = cg.solve(&a, &b, &mut x).unwrap();
    assert!(incomplete.iterations <= 3, "{incomplete:?}");
    assert!(jacobi.iterations > 20);
    assert!(distance(&dense_solution(&a, &b), &x) < 1e-7);
}

/// Overlapping subdomains with a coarse level: the iterations hardly grow with the matrix, which those of
/// the diagonal do.
#[test]
fn iterations_with_a_coarse_level_hardly_grow() {
    let mut random = Random::new(9);
    let mut iterations = |side: u32, preconditioner: Preconditioner| {
        let cube = Cube::new(side);
        let a = cube.matrix(1e-4);
        let b = random.vectors(a.n());
        let mut x = vec![Vec3::zeros(); a.n()];
        let mut cg = ConjugateGradient::new(1e-8, 5000).with_preconditioner(preconditioner);
        cg.place(&cube.positions);
        let report = cg.solve(&a, &b, &mut x).unwrap();
        assert!(relative_residual(&a, &b, &x) < 1.001e-8);
        report.iterations as f64
    };
    let mut of = |preconditioner| [8, 18].map(|side| iterations(side, preconditioner));
    let [small_jacobi, large_jacobi] = of(Preconditioner::BlockJacobi);
    assert!(large_jacobi > 1.5 * small_jacobi, "{small_jacobi} {large_jacobi}");
    for (preconditioner, share) in [(Preconditioner::Schwarz, 0.5), (Preconditioner::TwoLevel, 0.5)]
    {
        let [small, large] = of(preconditioner);
        println!("{preconditioner:?}: {small} and {large}, with the diagonal {large_jacobi}");
        assert!(large < 2.0 * small && large < share * large_jacobi, "{small} {large}");
    }
}

/// Random stiff cubes, a million times as stiff as what is between, of which many touch along edges and turn about
/// them: what moves as one in the coarse level must not tie them together, nor have a degree of freedom for every row.
#[test]
fn stiff_parts_that_touch_along_edges_do_not_slow_the_coarse_level_down() {
    let mut random = Random::new(3);
    let stiff: Vec<bool> = (0..8 * 8 * 8).map(|_| random.unit() < 0.3).collect();
    let cube = |x: u32, y: u32, z: u32| {
        let cell = [x, y, z].map(|c| (c * 8 / 16) as usize);
        if stiff[(cell[2] * 8 + cell[1]) * 8 + cell[0]] { 1e6 } else { 1.0 }
    };
    let (a, position) = held_cube(16, &cube);
    let b = Random::new(7).vectors(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    for (preconditioner, most) in [(Preconditioner::Schwarz, 300), (Preconditioner::TwoLevel, 800)]
    {
        let mut cg = ConjugateGradient::new(1e-8, 5000).with_preconditioner(preconditioner);
        cg.place(&position);
        let report = cg.solve(&a, &b, &mut x).unwrap();
        println!("{preconditioner:?}: {} iterations", report.iterations);
        assert!(relative_residual(&a, &b, &x) < 1.001e-8);
        assert!(report.iterations < most, "{}", report.iterations);
    }
}

/// Subdomains that are single rows, rows in line, and rows that are no displacements.
#[test]
fn degenerate_subdomains_do_no_harm() {
    let mut random = Random::new(31);
    let n = 40;
    let a = random_spd(n, 80, 0.1, &mut random);
    let b = random.vectors(n as usize);
    let expected = dense_solution(&a, &b);
    let line: Vec<Vec3> = (0..n).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
    let mut partly = line.clone();
    partly.iter_mut().step_by(3).for_each(|p| *p = Vec3::repeat(f64::NAN));
    let none = vec![Vec3::repeat(f64::NAN); n as usize];
    let same = vec![Vec3::zeros(); n as usize];
    for position in [&line, &partly, &none, &same] {
        for preconditioner in [Preconditioner::Schwarz, Preconditioner::TwoLevel] {
            let mut cg = ConjugateGradient::new(1e-12, 500).with_preconditioner(preconditioner);
            cg.place(position);
            let mut x = vec![Vec3::zeros(); n as usize];
            cg.solve(&a, &b, &mut x).unwrap();
            assert!(distance(&expected, &x) < 1e-9);
        }
    }
}

/// One subdomain is the whole matrix, so that the preconditioned eigenvalues lie between 1 and 2; many take more iterations.
#[test]
fn the_number_of_subdomains_can_be_given() {
    let a = Cube::new(9).matrix(1e-3);
    let b = Random::new(3).vectors(a.n());
    let iterations = [Some(1), Some(4), Some(60), None].map(|subdomains| {
        let mut cg = ConjugateGradient::new(1e-8, 500).with_preconditioner(Preconditioner::Schwarz);
        cg.subdomains = subdomains;
        let mut x = vec![Vec3::zeros(); a.n()];
        let first = cg.solve(&a, &b, &mut x).unwrap().iterations;
        // a solver that has subdomains follows another number
        cg.subdomains = Some(1);
        assert!(cg.solve(&a, &b, &mut x).unwrap().iterations <= 12);
        first
    });
    println!("{iterations:?}");
    let [one, four, sixty, by_size] = iterations;
    assert!(one <= 12 && one < four && four < sixty, "{iterations:?}");
    assert!(one < by_size && by_size < sixty, "{iterations:?}");
}

/// Subdomains alone: with one, its solution is that of the matrix; the symmetric blend of several is
/// symmetric, and rows that are in none are refused.
#[test]
fn subdomains_blend_their_solutions() {
    let mut random = Random::new(2);
    let a = Cube::new(6).matrix(0.1);
    let n = a.n();
    let b = random.vectors(n);
    let all: Vec<u32> = (0..n as u32).collect();
    let mut one = Subdomains::new(n, vec![all.clone()]).unwrap();
    let (mut x, mut y) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
    assert_eq!(one.apply(Blend::Mean, &b, &mut x), Err(SolveError::NotFactorized));
    assert_eq!(one.factorize(&a, |_| false), Ok(1));
    one.apply(Blend::Mean, &b, &mut x).unwrap();
    assert!(relative_residual(&a, &b, &x) < 1e-4);

    let sets = vec![all[..n / 2 + 20].to_vec(), all[n / 2 - 20..].to_vec(), Vec::new()];
    let mut two = Subdomains::new(n, sets).unwrap();
    assert_eq!(two.factorize(&a, |_| false), Ok(3));
    assert_eq!(two.factorize(&a, |j| j == 1), Ok(1));
    let c = random.vectors(n);
    let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    for blend in [Blend::Symmetric, Blend::Sum] {
        two.apply(blend, &b, &mut x).unwrap();
        two.apply(blend, &c, &mut y).unwrap();
        let (bx, cx, by) = (dot(&b, &x), dot(&c, &x), dot(&b, &y));
        assert!(bx > 0.0 && (cx - by).abs() < 1e-4 * bx, "{bx} {cx} {by}");
    }
    // other rows: only that subdomain is factorised again
    assert_eq!(two.replace(0, all.clone()), Ok(true));
    assert_eq!(two.replace(0, all.clone()), Ok(false));
    assert_eq!(two.factorize(&a, |_| false), Ok(1));
    assert!(Subdomains::new(n, vec![all[1..].to_vec()]).is_err());
    assert!(Subdomains::new(n, vec![vec![n as u32]]).is_err());
}
