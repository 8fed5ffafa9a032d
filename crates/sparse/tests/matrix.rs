//! Patterns, assembly and product against obvious twins.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Cube, Hessian, Random, random_psd};
use proptest::prelude::*;
use standoff_linalg::nalgebra::DMatrix;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    BlockMatrix, BlockPattern, EDGES, EdgeAssembly, EdgeBlocks, Embedding, MatrixError,
    StencilAssembly, StencilPlaces, SymmetricBlocks,
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
        let mut random = Random(seed);
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
    fn assembly_is_stencil_by_stencil_to_the_bit(seed in any::<u64>(), count in 0usize..60) {
        let mut random = Random(seed);
        let n = 12;
        // some vertices eliminated, some stencils with a vertex twice
        let mut vertex = |_| match random.below(n + 2) { v if v < n => v, _ => NONE };
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
        let assembly = StencilAssembly::new(pattern, &stencils).unwrap();
        assembly.add_to(&mut at_once, &hessians).unwrap();
        prop_assert_eq!(at_once.blocks(), one_by_one.blocks());
        prop_assert!((dense(&at_once) - slow).amax() < 1e-12);
    }
}

/// Edge blocks of random elements and the whole Hessians that they stand for.
fn balanced(count: usize, random: &mut Random) -> (Vec<EdgeBlocks>, Vec<Hessian<4>>) {
    let edges: Vec<EdgeBlocks> = (0..count)
        .map(|_| {
            let rows = random.vectors(18);
            std::array::from_fn(|k| {
                Mat3::from_columns(&[rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]])
            })
        })
        .collect();
    let whole = |edges: &EdgeBlocks| {
        let mut h = [[Mat3::zeros(); 4]; 4];
        for (block, (a, b)) in edges.iter().zip(EDGES) {
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
    let hessians = edges.iter().map(whole).collect();
    (edges, hessians)
}

#[test]
fn edge_assembly_is_that_of_whole_hessians_in_a_larger_pattern_with_held_vertices() {
    let mut random = Random(23);
    let cube = Cube::new(9);
    let n = cube.positions.len();
    // every seventh vertex is held
    let mut row = vec![NONE; n];
    let free: Vec<usize> = (0..n).filter(|v| v % 7 != 0).collect();
    for (r, &v) in free.iter().enumerate() {
        row[v] = r as u32;
    }
    let tets: Vec<[u32; 4]> = cube.tets.iter().map(|t| t.map(|v| row[v as usize])).collect();
    let part = BlockPattern::from_stencils(free.len(), tets.iter().map(|t| &t[..])).unwrap();
    let part = Arc::new(part);
    let more: Vec<_> = (0..300u32).map(|k| (k * 37 % free.len() as u32, k)).collect();
    let whole = part.union(&more).unwrap();
    assert!(whole.block_count() > part.block_count() + 200);
    let embedding = Embedding::new(part.clone(), whole.clone()).unwrap();
    let (edges, hessians) = balanced(tets.len(), &mut random);
    let diagonal: Vec<f64> = (0..free.len()).map(|i| 1.0 + i as f64).collect();

    let mut slow = BlockMatrix::zeros(whole.clone());
    for (tet, h) in tets.iter().zip(&hessians) {
        slow.add_stencil(tet, &h.map(|r| r.map(|b| 3.0 * b))).unwrap();
    }
    slow.add_diagonal(&diagonal).unwrap();

    let assembly = EdgeAssembly::new(part, &tets).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = BlockMatrix::zeros(whole.clone());
            a.blocks_mut().fill(Mat3::from_element(5.0));
            assembly.assemble(&mut a, &embedding, 3.0, &edges, &diagonal).unwrap();
            a
        })
    };
    let a = run(1);
    for (found, want) in a.blocks().iter().zip(slow.blocks()) {
        assert!((found - want).amax() < 1e-12, "{found} {want}");
    }
    assert_eq!(a.blocks(), run(3).blocks());
    for i in 0..a.n() {
        assert_eq!(a.diagonal_block(i), &a.diagonal_block(i).transpose());
    }
    assert!(assembly.assemble(&mut a.clone(), &embedding, 3.0, &edges[1..], &diagonal).is_err());
    let other = Embedding::identity(whole.clone());
    assert!(assembly.assemble(&mut a.clone(), &other, 3.0, &edges, &diagonal).is_err());
}

#[test]
fn stencils_looked_up_at_once_are_added_as_one_by_one() {
    let mut random = Random(5);
    let base = Arc::new(BlockPattern::from_pairs(20, &[(3, 1), (7, 4)]).unwrap());
    let stencils: Vec<[u32; 4]> = (0..40u32)
        .map(|k| [k % 20, (k + 3) % 20, (k * 7 + 5) % 20, (k + 11) % 20])
        .map(|s| {
            // some have fewer vertices
            let unused = |v: u32| if v % 9 == 2 { NONE } else { v };
            let distinct = s[2] != s[0] && s[2] != s[1] && s[2] != s[3];
            [s[0], s[1], if distinct { unused(s[2]) } else { NONE }, s[3]]
        })
        .collect();
    let hessians: Vec<Hessian<4>> = (0..40).map(|_| random_psd(&mut random)).collect();
    let mut list = StencilPlaces::default();
    let whole: Vec<SymmetricBlocks> = hessians.iter().map(Into::into).collect();
    let missing = list.find(&base, &stencils);
    assert!(list.add(&mut BlockMatrix::zeros(base.clone()), 1.0, 0, &whole).is_err());
    let pattern = base.union(&missing).unwrap();
    let wanted = BlockPattern::from_stencils(
        20,
        stencils.iter().map(|s| &s[..]).chain([&[3, 1][..], &[7, 4]]),
    );
    assert_eq!(*pattern, wanted.unwrap());
    assert_eq!(list.find(&pattern, &stencils), []);
    let distinct: BTreeSet<_> =
        BlockPattern::stencil_pairs(stencils.iter().map(|s| &s[..])).into_iter().collect();
    assert_eq!(list.distinct(&pattern), distinct.len());

    let (mut slow, mut fast) = (BlockMatrix::zeros(pattern.clone()), BlockMatrix::zeros(pattern));
    for (s, h) in stencils.iter().zip(&hessians) {
        slow.add_stencil(s, &h.map(|r| r.map(|b| 0.5 * b))).unwrap();
    }
    list.add(&mut fast, 0.5, 0, &whole[..30]).unwrap();
    list.add(&mut fast, 0.5, 30, &whole[30..]).unwrap();
    assert_eq!(slow.blocks(), fast.blocks());
    assert!(list.add(&mut fast, 0.5, 39, &whole[..2]).is_err());
}

#[test]
fn threads_do_not_change_a_bit_of_assembly_and_product() {
    let cube = Cube::new(14);
    let n = cube.positions.len();
    let hessians = cube.stiffness(1.3, 0.7);
    let x = Random(1).vectors(n);
    let pattern = cube.pattern();
    let assembly = StencilAssembly::new(pattern.clone(), &cube.tets).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut a = BlockMatrix::zeros(pattern.clone());
            assembly.add_to(&mut a, &hessians).unwrap();
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
    assert!(StencilAssembly::new(pattern.clone(), &[[1, 2]]).is_err());
    let assembly = StencilAssembly::new(pattern, &[[0, 1]]).unwrap();
    assert!(assembly.add_to(&mut a, &[]).is_err());
    let mut other = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(3).unwrap()));
    assert_eq!(assembly.add_to(&mut other, &[h]).unwrap_err(), MatrixError::PatternMismatch);
}
