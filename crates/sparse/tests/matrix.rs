//! Patterns, assembly and product against obvious twins.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Cube, Hessian, Random, assembly_of, packed, random_psd};
use proptest::prelude::*;
use standoff_linalg::nalgebra::DMatrix;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    BlockMatrix, BlockPattern, FixedAssembly, Layout, MatrixError, Stencils, VariableAssembly,
    block_count, block_pairs,
};

const NONE: u32 = BlockPattern::ELIMINATED;

fn dense(a: &BlockMatrix) -> DMatrix<f64> {
    let block = |i: u32, j: u32| a.block(i, j).unwrap_or_else(Mat3::zeros);
    DMatrix::from_fn(3 * a.n(), 3 * a.n(), |i, j| block(i as u32 / 3, j as u32 / 3)[(i % 3, j % 3)])
}

/// The lower triangle with the diagonal, as a set of (column, row).
fn set(n: u32, pairs: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
    let lower = pairs.iter().filter(|p| p.0 != NONE && p.1 != NONE);
    let lower = lower.map(|&(a, b)| (a.min(b), a.max(b)));
    lower.chain((0..n).map(|i| (i, i))).collect()
}

fn entries(p: &BlockPattern) -> Vec<(u32, u32)> {
    (0..p.n()).flat_map(|j| p.column(j).iter().map(move |&i| (j as u32, i))).collect()
}

fn pairs(n: u32) -> impl Strategy<Value = Vec<(u32, u32)>> {
    let vertex = prop_oneof![9 => 0..n, 1 => Just(NONE)];
    prop::collection::vec((vertex.clone(), vertex), 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn patterns_and_unions_are_those_of_sets(n in 1u32..30, seed in any::<u64>(), a in pairs(30), b in pairs(30)) {
        let clip = |v: u32| if v == NONE { v } else { v % n };
        let a: Vec<_> = a.into_iter().map(|(i, j)| (clip(i), clip(j))).collect();
        let b: Vec<_> = b.into_iter().map(|(i, j)| (clip(i), clip(j))).collect();
        let base = Arc::new(BlockPattern::from_pairs(n as usize, &a).unwrap());
        let wanted = set(n, &a);
        prop_assert_eq!(entries(&base), wanted.iter().copied().collect::<Vec<_>>());
        prop_assert!(base.contains(&a));
        prop_assert_eq!(base.contains(&b), set(n, &b).is_subset(&wanted));

        let union = base.union(&b).unwrap();
        let both: Vec<_> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(&*union, &BlockPattern::from_pairs(n as usize, &both).unwrap());
        prop_assert_eq!(entries(&union), set(n, &both).into_iter().collect::<Vec<_>>());
        prop_assert_eq!(Arc::ptr_eq(&union, &base), base.contains(&b));
        prop_assert!(base.is_subset_of(&union));
        prop_assert_eq!(union.is_subset_of(&base), base.contains(&b));
        let embedding = base.embedding(&union).unwrap();
        for (k, (col, row)) in entries(&base).into_iter().enumerate() {
            prop_assert_eq!(base.position(row, col), Some(k));
            prop_assert_eq!(union.position(row, col), Some(embedding[k] as usize));
        }

        // the product, against a dense one
        let mut random = Random::new(seed);
        let mut m = BlockMatrix::zeros(union.clone());
        for block in m.blocks_mut() {
            *block = Mat3::from_fn(|_, _| random.signed());
        }
        let x = random.vectors(n as usize);
        let y = m.mul_vec(&x).unwrap();
        let flat = DMatrix::from_iterator(3 * n as usize, 1, x.iter().flat_map(|v| v.iter().copied()));
        let expected = dense(&m) * flat;
        for (i, y) in y.iter().enumerate() {
            for k in 0..3 {
                prop_assert!((y[k] - expected[3 * i + k]).abs() < 1e-12);
            }
        }

        // embedding adds where it should
        let mut small = BlockMatrix::zeros(base.clone());
        small.blocks_mut().fill(Mat3::identity());
        let before = dense(&m);
        m.add_embedded(&small, &embedding).unwrap();
        prop_assert_eq!(dense(&m), before + dense(&small));
    }

    #[test]
    fn assembly_is_that_of_one_stencil_after_the_other(seed in any::<u64>(), count in 0usize..60) {
        let mut random = Random::new(seed);
        let n = 12;
        // some vertices eliminated, some stencils with a vertex twice
        let mut vertex = |_| match random.below(u64::from(n) + 2) as u32 { v if v < n => v, _ => NONE };
        let stencils: Vec<[u32; 4]> = (0..count).map(|_| std::array::from_fn(&mut vertex)).collect();
        let hessians: Vec<Hessian<4>> = (0..count).map(|_| random_psd(&mut random)).collect();
        let pattern = BlockPattern::from_stencils(n as usize, stencils.iter().map(|s| &s[..])).unwrap();
        let pattern = Arc::new(pattern);
        let mut one_by_one = BlockMatrix::zeros(pattern.clone());
        let mut slow = DMatrix::<f64>::zeros(36, 36);
        for (v, h) in stencils.iter().zip(&hessians) {
            one_by_one.add_stencil(v, h).unwrap();
            for (a, &i) in v.iter().enumerate().filter(|v| *v.1 != NONE) {
                for (b, &j) in v.iter().enumerate().filter(|v| *v.1 != NONE) {
                    let mut view = slow.fixed_view_mut::<3, 3>(3 * i as usize, 3 * j as usize);
                    view += h[a][b];
                }
            }
        }
        let mut at_once = BlockMatrix::zeros(pattern.clone());
        let mut assembly = assembly_of(&pattern, &stencils);
        assembly.assemble(&mut at_once, 1.0, &packed(&hessians), &[0.0; 12]).unwrap();
        prop_assert!((dense(&at_once) - dense(&one_by_one)).amax() < 1e-12);
        prop_assert!((dense(&at_once) - slow).amax() < 1e-12);
    }
}

/// Blocks off the diagonal of random Hessians whose rows sum to zero, and the whole Hessians.
fn balanced(count: usize, random: &mut Random) -> (Vec<Mat3>, Vec<Hessian<4>>) {
    let block = |random: &mut Random| Mat3::from_columns(&[(); 3].map(|()| random.vec3()));
    let blocks: Vec<Mat3> = (0..6 * count).map(|_| block(random)).collect();
    let whole = |blocks: &[Mat3]| {
        let mut h = [[Mat3::zeros(); 4]; 4];
        for (block, (a, b)) in blocks.iter().zip(block_pairs(4).skip(4)) {
            h[a][b] = *block;
            h[b][a] = block.transpose();
        }
        for a in 0..4 {
            let others: Mat3 = (0..4).filter(|&b| b != a).map(|b| h[a][b]).sum();
            // what the matrix holds of it is symmetric
            h[a][a] = -0.5 * (others + others.transpose());
        }
        h
    };
    let hessians = blocks.chunks(6).map(whole).collect();
    (blocks, hessians)
}

/// Lists without and with a diagonal, stencils of 4 and of 40 vertices, in several batches each, held vertices,
/// and a matrix whose pattern holds more than that of the assembly.
#[test]
fn lists_of_both_layouts_are_assembled_as_whole_hessians_one_by_one() {
    let mut random = Random::new(23);
    let cube = Cube::new(10);
    let n = cube.positions.len();
    // every seventh vertex is held
    let mut row = vec![NONE; n];
    let free: Vec<usize> = (0..n).filter(|v| v % 7 != 0).collect();
    for (r, &v) in free.iter().enumerate() {
        row[v] = r as u32;
    }
    let tets: Vec<[u32; 4]> = cube.tets.iter().map(|t| t.map(|v| row[v as usize])).collect();
    let large: Vec<[u32; 40]> =
        (0..70).map(|k| std::array::from_fn(|i| row[(97 * k + 2 * i) % n])).collect();
    let stencils = tets.iter().map(|t| &t[..]).chain(large.iter().map(|t| &t[..]));
    let part = Arc::new(BlockPattern::from_stencils(free.len(), stencils).unwrap());
    let more: Vec<_> = (0..300u32).map(|k| (k * 37 % free.len() as u32, k)).collect();
    let whole = part.union(&more).unwrap();
    assert!(whole.block_count() > part.block_count() + 200);
    let (mut blocks, hessians) = balanced(tets.len(), &mut random);
    let of_large: Vec<Hessian<40>> = large.iter().map(|_| random_psd(&mut random)).collect();
    blocks.extend(packed(&of_large));
    let diagonal: Vec<f64> = (0..free.len()).map(|i| 1.0 + i as f64).collect();

    let mut slow = BlockMatrix::zeros(whole.clone());
    for (tet, h) in tets.iter().zip(&hessians) {
        slow.add_stencil(tet, &h.map(|r| r.map(|b| 3.0 * b))).unwrap();
    }
    for (stencil, h) in large.iter().zip(&of_large) {
        slow.add_stencil(stencil, &h.map(|r| r.map(|b| 3.0 * b))).unwrap();
    }
    slow.add_diagonal(&diagonal).unwrap();

    let any: Stencils<'_> = large.iter().map(|s| s.to_vec()).collect();
    let lists = [(Stencils::from(&tets[..]), Layout::OffDiagonal), (any, Layout::Complete)];
    let mut assembly = FixedAssembly::new(part, &lists).unwrap();
    // both lists are cut into batches, which follow each other
    for (list, count) in [(0, tets.len()), (1, large.len())] {
        let of: Vec<_> = assembly.batches().iter().filter(|b| b.list() == list).collect();
        assert!(of.len() > 1, "{} batches of list {list}", of.len());
        let ends = of.iter().map(|b| b.stencils().end);
        let begins = of.iter().skip(1).map(|b| b.stencils().start).chain([count]);
        assert!(ends.eq(begins));
    }
    assert_eq!(assembly.batches().iter().map(|b| b.block_count()).sum::<usize>(), blocks.len());
    let mut run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = BlockMatrix::zeros(whole.clone());
            a.blocks_mut().fill(Mat3::from_element(5.0));
            assembly.assemble(&mut a, 3.0, &blocks, &diagonal).unwrap();
            a
        })
    };
    let a = run(1);
    for (found, want) in a.blocks().iter().zip(slow.blocks()) {
        assert!((found - want).amax() < 1e-11, "{found} {want}");
    }
    assert_eq!(a.blocks(), run(3).blocks());
    let mut elastic = BlockMatrix::zeros(assembly.pattern().clone());
    assembly.assemble(&mut elastic, 3.0, &blocks, &diagonal).unwrap();
    let mut spread = BlockMatrix::zeros(whole.clone());
    spread.blocks_mut().fill(Mat3::from_element(5.0));
    assembly.embed_matrix(&elastic, &mut spread).unwrap();
    assert_eq!(a.blocks(), spread.blocks());
    assert!(assembly.embed_matrix(&a, &mut elastic).is_err());
    assert!(assembly.assemble(&mut a.clone(), 3.0, &blocks[1..], &diagonal).is_err());
    let mut small = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(free.len()).unwrap()));
    let lacking = assembly.assemble(&mut small, 3.0, &blocks, &diagonal);
    assert!(matches!(lacking, Err(MatrixError::MissingBlock { .. })));
}

#[test]
fn stencils_looked_up_at_once_are_added_as_one_by_one() {
    let mut random = Random::new(5);
    let base = Arc::new(BlockPattern::from_pairs(50, &[(3, 1), (7, 4)]).unwrap());
    let stencils: Vec<[u32; 4]> = (0..40u32)
        .map(|k| [k % 20, (k + 3) % 20, (k * 7 + 5) % 20, (k + 11) % 20])
        .map(|s| {
            // some have fewer vertices
            let unused = |v: u32| if v % 9 == 2 { NONE } else { v };
            let distinct = s[2] != s[0] && s[2] != s[1] && s[2] != s[3];
            [s[0], s[1], if distinct { unused(s[2]) } else { NONE }, s[3]]
        })
        .collect();
    let large: Vec<[u32; 40]> =
        (0..3).map(|k| std::array::from_fn(|i| (k + i as u32) % 50)).collect();
    let hessians: Vec<Hessian<4>> = (0..40).map(|_| random_psd(&mut random)).collect();
    let of_large: Vec<Hessian<40>> = (0..3).map(|_| random_psd(&mut random)).collect();
    let mut blocks = packed(&hessians);
    blocks.extend(packed(&of_large));
    let lists: [Stencils<'_>; 2] =
        [Stencils::from(&stencils[..]), large.iter().map(|s| s.to_vec()).collect()];
    let mut list = VariableAssembly::default();
    let missing = list.find(&base, &lists, |v| v);
    assert!(list.add(&mut BlockMatrix::zeros(base.clone()), 1.0, 0, &blocks).is_err());
    let pattern = base.union(&missing).unwrap();
    let all = || stencils.iter().map(|s| &s[..]).chain(large.iter().map(|s| &s[..]));
    let wanted = BlockPattern::from_stencils(50, all().chain([&[3, 1][..], &[7, 4]]));
    assert_eq!(*pattern, wanted.unwrap());
    let mut moved = list.clone();
    moved.extend(&base, &pattern).unwrap();
    assert_eq!(list.find_again(&pattern), []);
    assert_eq!(moved, list, "the places are those of a search");
    assert!(moved.extend(&pattern, &base).is_err());
    let distinct: BTreeSet<_> = BlockPattern::stencil_pairs(all()).into_iter().collect();
    assert_eq!(list.distinct(&pattern), distinct.len());

    let (mut slow, mut fast) = (BlockMatrix::zeros(pattern.clone()), BlockMatrix::zeros(pattern));
    for (s, h) in stencils.iter().zip(&hessians) {
        slow.add_stencil(s, &h.map(|r| r.map(|b| 0.5 * b))).unwrap();
    }
    for (s, h) in large.iter().zip(&of_large) {
        slow.add_stencil(s, &h.map(|r| r.map(|b| 0.5 * b))).unwrap();
    }
    let part = 30 * block_count(4);
    list.add(&mut fast, 0.5, 0, &blocks[..part]).unwrap();
    list.add(&mut fast, 0.5, 30, &blocks[part..]).unwrap();
    for (slow, fast) in slow.blocks().iter().zip(fast.blocks()) {
        assert!((slow - fast).amax() < 1e-12);
    }
    assert!(list.add(&mut fast, 0.5, 39, &blocks[..part]).is_err());
    assert!(list.add(&mut fast, 0.5, 0, &blocks[..11]).is_err());
}

#[test]
fn threads_do_not_change_a_bit_of_assembly_and_product() {
    let cube = Cube::new(14);
    let n = cube.positions.len();
    let hessians = cube.stiffness(1.3, 0.7);
    let x = Random::new(1).vectors(n);
    let pattern = cube.pattern();
    let assembly = assembly_of(&pattern, &cube.tets);
    let (blocks, zeros) = (packed(&hessians), vec![0.0; n]);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = BlockMatrix::zeros(pattern.clone());
            assembly.clone().assemble(&mut a, 1.0, &blocks, &zeros).unwrap();
            let y = a.mul_vec(&x).unwrap();
            (a, y)
        })
    };
    let (a, y) = run(1);
    for threads in [2, 4] {
        let (b, z) = run(threads);
        assert_eq!(a.blocks(), b.blocks());
        assert_eq!(y, z);
    }
    // rigid translations are in the kernel of the stiffness, so the test sees a real operator
    let product = a.mul_vec(&vec![Vec3::new(1.0, 2.0, 3.0); n]).unwrap();
    assert!(product.iter().all(|v| v.norm() < 1e-12));
    assert!(y.iter().any(|v| v.norm() > 0.1));
}

#[test]
fn diagonals_are_added_and_read() {
    let pattern = Arc::new(BlockPattern::from_pairs(3, &[(2, 0)]).unwrap());
    let mut a = BlockMatrix::zeros(pattern);
    a.add_diagonal(&[1.0, 2.0, 3.0]).unwrap();
    a.add_diagonal_blocks(&[Mat3::identity(); 3]).unwrap();
    a.diagonal_block_mut(1)[(0, 2)] = 7.0;
    assert_eq!(*a.diagonal_block(2), 4.0 * Mat3::identity());
    assert_eq!(a.block(1, 1).unwrap()[(0, 2)], 7.0);
    assert_eq!(a.block(1, 0), None);
    assert_eq!(a.block(0, 2), Some(Mat3::zeros()));
    a.set_zero();
    assert!(a.blocks().iter().all(|b| *b == Mat3::zeros()));
    a.reset(Arc::new(BlockPattern::diagonal(5).unwrap()));
    assert_eq!((a.n(), a.blocks().len()), (5, 5));
}

#[test]
fn misuse_is_a_typed_error() {
    let bad = BlockPattern::from_pairs(3, &[(1, 3)]);
    assert_eq!(bad.unwrap_err(), MatrixError::VertexOutOfRange { vertex: 3, n: 3 });
    let too_large = BlockPattern::diagonal(u32::MAX as usize);
    assert_eq!(too_large.unwrap_err(), MatrixError::TooLarge { what: "block rows" });

    let pattern = Arc::new(BlockPattern::from_pairs(3, &[(1, 0)]).unwrap());
    assert!(pattern.union(&[(9, 0)]).is_err());
    assert!(!pattern.contains(&[(9, 0)]));
    let mut a = BlockMatrix::zeros(pattern.clone());
    let h = [[Mat3::identity(); 2]; 2];
    let missing = a.add_stencil(&[2, 0], &h).unwrap_err();
    assert_eq!(missing, MatrixError::MissingBlock { row: 2, col: 0 });
    assert!(a.blocks().iter().all(|b| *b == Mat3::zeros()), "unchanged after an error");
    assert!(matches!(
        a.add_stencil(&[0, 7], &h),
        Err(MatrixError::VertexOutOfRange { vertex: 7, n: 3 })
    ));
    assert!(a.mul_vec(&[Vec3::zeros(); 2]).is_err());
    assert!(a.add_diagonal(&[1.0]).is_err());
    assert!(a.add_embedded(&a.clone(), &[0, 1, 2, 99]).is_err());
    let list = |stencil| [(Stencils::from_iter([stencil]), Layout::Complete)];
    assert!(FixedAssembly::new(pattern.clone(), &list([1, 2])).is_err());
    let mut assembly = FixedAssembly::new(pattern, &list([0, 1])).unwrap();
    assert!(assembly.assemble(&mut a, 1.0, &[], &[0.0; 3]).is_err());
    assert!(assembly.assemble(&mut a, 1.0, &[Mat3::identity(); 3], &[]).is_err());
}
