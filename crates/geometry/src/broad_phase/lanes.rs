//! Eight boxes against one: the inner loop of the broad phase.
//!
//! With AVX2 where the processor has it, else in plain Rust; comparisons only, so both find the same.

use super::paths::PathBox;
#[cfg(target_arch = "x86_64")]
use pulp::{NullaryFnOnce, Simd, cast, m32x8, x86::V3};

/// Boxes side by side.
pub(super) const WIDTH: usize = 8;

/// Eight boxes, bound by bound as in [`PathBox`] without the unused ones.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Block {
    /// Side, then time, then axis.
    bounds: [[[[f32; WIDTH]; 3]; 2]; 2],
}

impl Block {
    pub const EMPTY: Self = Self { bounds: [[[[f32::INFINITY; WIDTH]; 3]; 2]; 2] };

    #[inline(always)]
    pub fn set(&mut self, lane: usize, b: &PathBox) {
        for side in 0..2 {
            for time in 0..2 {
                for k in 0..3 {
                    self.bounds[side][time][k][lane] = b.0[side][4 * time + k];
                }
            }
        }
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> PathBox {
        let mut b = PathBox::EMPTY;
        for side in 0..2 {
            for time in 0..2 {
                for k in 0..3 {
                    b.0[side][4 * time + k] = self.bounds[side][time][k][lane];
                }
            }
        }
        b
    }

    /// The box around all eight.
    #[inline(always)]
    pub fn union(&self) -> PathBox {
        let least =
            |v: &[f32; WIDTH]| v.iter().fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
        let mut out = PathBox::EMPTY;
        for side in 0..2 {
            for time in 0..2 {
                for k in 0..3 {
                    out.0[side][4 * time + k] = least(&self.bounds[side][time][k]);
                }
            }
        }
        out
    }

    /// Total size at the start: the sum of the sides of the boxes that are not empty.
    pub fn extent(&self) -> f64 {
        let side = |k: usize, lane: usize| {
            let [lo, minus_hi] = [0, 1].map(|side: usize| self.bounds[side][0][k][lane]);
            (-minus_hi - lo).max(0.0)
        };
        let sides = (0..3).flat_map(|k| (0..WIDTH).map(move |lane| (k, lane)));
        sides.map(|(k, lane)| f64::from(side(k, lane))).sum()
    }
}

/// Vertices of eight primitives; those beyond a primitive's own repeat its last one.
pub(super) type Stencils = [[u32; WIDTH]; 3];

/// How eight primitives are compared with one.
pub(super) trait Compare: Copy {
    /// Bit i: whether box i of the block and `q` may meet ([`PathBox::may_meet`]).
    fn may_meet<const SWEPT: bool>(self, block: &Block, q: &PathBox) -> u32;

    /// Bit i: whether primitive i, of `M` vertices, has one of the `N` vertices `v`.
    fn shares<const N: usize, const M: usize>(self, stencils: &Stencils, v: [u32; N]) -> u32;
}

/// In plain Rust.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

impl Compare for Plain {
    #[inline(always)]
    fn may_meet<const SWEPT: bool>(self, block: &Block, q: &PathBox) -> u32 {
        let [lo, minus_hi] = &block.bounds;
        let mut all = [true; WIDTH];
        for k in 0..3 {
            for (i, all) in all.iter_mut().enumerate() {
                let low = |t: usize| lo[t][k][i] <= q.hi(t, k);
                let high = |t: usize| minus_hi[t][k][i] <= -q.lo(t, k);
                *all &= (low(0) | (SWEPT & low(1))) & (high(0) | (SWEPT & high(1)));
            }
        }
        (0..WIDTH).fold(0, |mask, i| mask | u32::from(all[i]) << i)
    }

    #[inline(always)]
    fn shares<const N: usize, const M: usize>(self, stencils: &Stencils, v: [u32; N]) -> u32 {
        let shared = |i: usize| stencils[..M].iter().any(|w| v.contains(&w[i]));
        (0..WIDTH).fold(0, |mask, i| mask | u32::from(shared(i)) << i)
    }
}

/// What is done with primitives compared, compiled for the processor's instructions by [`dispatch`].
/// Mark `run` `#[inline(always)]`.
pub(super) trait Comparison {
    fn run<C: Compare>(self, compare: C);
}

/// Runs a comparison with AVX2 where the processor has it.
#[inline]
pub(super) fn dispatch(comparison: impl Comparison) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return simd.vectorize(WithAvx2(simd, comparison));
    }
    comparison.run(Plain);
}

#[cfg(target_arch = "x86_64")]
struct WithAvx2<C>(V3, C);

#[cfg(target_arch = "x86_64")]
impl<C: Comparison> NullaryFnOnce for WithAvx2<C> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.1.run(self.0);
    }
}

/// Where the block is not wholly above (side 0) or below (side 1) `q` on axis `k`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn reaches<const SWEPT: bool>(
    simd: V3,
    block: &Block,
    q: &PathBox,
    side: usize,
    k: usize,
) -> m32x8 {
    let at_start = reaches_at(simd, block, q, side, 0, k);
    match SWEPT {
        true => simd.or_m32s(at_start, reaches_at(simd, block, q, side, 1, k)),
        false => at_start,
    }
}

/// [`reaches`] at the start (0) or the end (1) of the paths. A function, because a closure need not be inlined and
/// would be compiled without AVX2 then.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn reaches_at(simd: V3, block: &Block, q: &PathBox, side: usize, time: usize, k: usize) -> m32x8 {
    let bound = simd.splat_f32s(-q.0[1 - side][4 * time + k]);
    simd.less_than_or_equal_f32s(cast(block.bounds[side][time][k]), bound)
}

#[cfg(target_arch = "x86_64")]
impl Compare for V3 {
    #[inline(always)]
    fn may_meet<const SWEPT: bool>(self, block: &Block, q: &PathBox) -> u32 {
        let mut all = reaches::<SWEPT>(self, block, q, 0, 0);
        for (side, k) in [(1, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
            all = self.and_m32s(all, reaches::<SWEPT>(self, block, q, side, k));
        }
        self.avx._mm256_movemask_ps(cast(all)) as u32
    }

    #[inline(always)]
    fn shares<const N: usize, const M: usize>(self, stencils: &Stencils, v: [u32; N]) -> u32 {
        let mut any = self.equal_u32s(cast(stencils[0]), self.splat_u32s(v[0]));
        for theirs in &stencils[..M] {
            for mine in v {
                let equal = self.equal_u32s(cast(*theirs), self.splat_u32s(mine));
                any = self.or_m32s(any, equal);
            }
        }
        self.avx._mm256_movemask_ps(cast(any)) as u32
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    #[test]
    fn avx2_finds_what_plain_rust_finds() {
        let Some(avx2) = V3::try_new() else {
            println!("skipped: no AVX2");
            return;
        };
        let mut rng = Random::new(1);
        // few different values, so that ties occur
        let mut next = || rng.below(9) as f32;
        let mut random = || {
            let lo: [f32; 8] = std::array::from_fn(|_| next());
            PathBox([lo, lo.map(|l| 1.0 - l - next())])
        };
        let (mut met, mut block) = ([0; 2], Block::EMPTY);
        for _ in 0..2000 {
            let q = random();
            for lane in 0..WIDTH {
                block.set(lane, &random());
            }
            let swept = Plain.may_meet::<true>(&block, &q);
            assert_eq!(swept, avx2.may_meet::<true>(&block, &q));
            let rest = Plain.may_meet::<false>(&block, &q);
            assert_eq!(rest, avx2.may_meet::<false>(&block, &q));
            for lane in 0..WIDTH {
                assert_eq!(swept >> lane & 1 == 1, block.get(lane).may_meet(&q));
            }
            met[0] += swept.count_ones();
            met[1] += rest.count_ones();
        }
        for _ in 0..500 {
            let mut random = || next() as u32;
            let stencils: Stencils = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            let v = [random(), random()];
            assert_eq!(Plain.shares::<2, 2>(&stencils, v), avx2.shares::<2, 2>(&stencils, v));
            assert_eq!(
                Plain.shares::<1, 3>(&stencils, [v[0]]),
                avx2.shares::<1, 3>(&stencils, [v[0]])
            );
        }
        assert!(met[0] > met[1] && met[1] > 100, "{met:?}");
    }
}
