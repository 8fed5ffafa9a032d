use super::*;
use std::fmt::Debug;

/// Runs a kernel on the widest vectors or on single numbers.
pub(crate) fn run<K: Kernel>(kernel: K, wide: bool) -> K::Output {
    if wide { lanes::dispatch(kernel) } else { lanes::scalar(kernel) }
}

/// Asserts that results are the same on wide vectors as on single numbers, and for elements `first..` as among all
/// of them; `run(first, wide)` computes these.
pub(crate) fn assert_same_bits<T: PartialEq + Debug>(
    count: usize,
    run: impl Fn(usize, bool) -> Vec<T>,
) {
    let all = run(0, true);
    assert_eq!(all.len(), count);
    assert!(all == run(0, false), "wide vectors and single numbers");
    for first in (1..count.min(64)).chain([count / 2, count - 1]) {
        assert!(all[first..] == run(first, true), "from {first} on");
    }
}

/// Energies and gradients of all elements.
pub(in crate::energy) fn first_order<E: Formula<N, K>, const N: usize, const K: usize>(
    elements: &[E],
    vertices: &[[u32; N]],
    x: &[Vec3],
    wide: bool,
) -> (Vec<f64>, Vec<[Vec3; N]>) {
    let mut values = vec![0.0; elements.len()];
    run(Values { all: Batch { elements, vertices, x }, out: &mut values }, wide);
    let mut out = vec![[Vec3::zeros(); N]; elements.len()];
    run(Gradients { all: Batch { elements, vertices, x }, out: &mut out }, wide);
    (values, out)
}

/// Bits, since results may be NaN.
fn bits(of: &[Vec3]) -> impl Iterator<Item = u64> {
    of.iter().flatten().map(|v| v.to_bits())
}

/// Asserts that energies, gradients and Hessians have the same bits in lanes of any width, among any neighbours, and of
/// one element by itself.
pub(in crate::energy) fn assert_lanes<E: Formula<N, K>, const N: usize, const K: usize>(
    elements: &[E],
    vertices: &[[u32; N]],
    x: &[Vec3],
) {
    // every third element
    let marked: Vec<bool> = (0..x.len()).map(|v| v % (3 * N) == 1).collect();
    let projection = Projection::Marked(&marked);
    let all = |first: usize, wide: bool| {
        let (elements, vertices) = (&elements[first..], &vertices[first..]);
        let (values, gradients) = first_order(elements, vertices, x, wide);
        let mut out = vec![[Mat3::zeros(); K]; elements.len()];
        let batch = Batch { elements, vertices, x };
        run(Hessians { all: batch, projection, out: &mut out }, wide);
        let element = |e: usize| -> Vec<u64> {
            let h = out[e].iter().flatten().map(|v| v.to_bits());
            std::iter::once(values[e].to_bits()).chain(bits(&gradients[e])).chain(h).collect()
        };
        (0..elements.len()).map(element).collect::<Vec<_>>()
    };
    assert_same_bits(elements.len(), all);
    for (e, (found, element)) in all(0, true).iter().zip(elements).enumerate() {
        let x = vertices[e].map(|v| x[v as usize]);
        let h = match projection.applies_to(&vertices[e]) {
            true => element.hessian_psd(&x),
            false => element.hessian(&x),
        };
        let above = (0..N).flat_map(|a| (a + 1..N).map(move |b| (a, b)));
        let h = above.flat_map(|(a, b)| h[a][b].iter().copied().collect::<Vec<_>>());
        let single: Vec<u64> = std::iter::once(element.value(&x).to_bits())
            .chain(bits(&element.gradient(&x)))
            .chain(h.map(f64::to_bits))
            .collect();
        assert!(*found == single, "element {e}");
    }
}
