//! Eight boxes against one: the inner loop of the broad phase.
//!
//! With AVX2 where the processor has it, else in plain Rust; comparisons only, so both find the same.

use super::paths::PathBox;

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

/// With AVX2; a value of this type is proof that the processor has it.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// `Some` where the processor has AVX2.
    #[inline]
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Compare for Avx2 {
    #[inline(always)]
    fn may_meet<const SWEPT: bool>(self, block: &Block, q: &PathBox) -> u32 {
        // SAFETY: `self` exists only where the processor has AVX2
        unsafe { avx2::may_meet::<SWEPT>(block, q) }
    }

    #[inline(always)]
    fn shares<const N: usize, const M: usize>(self, stencils: &Stencils, v: [u32; N]) -> u32 {
        // SAFETY: `self` exists only where the processor has AVX2
        unsafe { avx2::shares::<N, M>(stencils, v) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Block, PathBox, Stencils, WIDTH};
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(a: &[f32; WIDTH]) -> __m256 {
        // SAFETY: reads the eight floats behind the reference
        unsafe { _mm256_loadu_ps(a.as_ptr()) }
    }

    /// Where the block is not wholly above (side 0) or below (side 1) `q` on axis `k`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn reaches<const SWEPT: bool>(block: &Block, q: &PathBox, side: usize, k: usize) -> __m256 {
        let bound = |time: usize| _mm256_set1_ps(-q.0[1 - side][4 * time + k]);
        let of = &block.bounds[side];
        let start = _mm256_cmp_ps::<_CMP_LE_OQ>(load(&of[0][k]), bound(0));
        if !SWEPT {
            return start;
        }
        _mm256_or_ps(start, _mm256_cmp_ps::<_CMP_LE_OQ>(load(&of[1][k]), bound(1)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn may_meet<const SWEPT: bool>(block: &Block, q: &PathBox) -> u32 {
        let mut all = reaches::<SWEPT>(block, q, 0, 0);
        for (side, k) in [(1, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
            all = _mm256_and_ps(all, reaches::<SWEPT>(block, q, side, k));
        }
        _mm256_movemask_ps(all) as u32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn shares<const N: usize, const M: usize>(stencils: &Stencils, v: [u32; N]) -> u32 {
        let mut any = _mm256_setzero_si256();
        for theirs in &stencils[..M] {
            // SAFETY: reads the eight numbers behind the reference
            let theirs = unsafe { _mm256_loadu_si256(theirs.as_ptr().cast()) };
            for mine in v {
                let equal = _mm256_cmpeq_epi32(theirs, _mm256_set1_epi32(mine as i32));
                any = _mm256_or_si256(any, equal);
            }
        }
        _mm256_movemask_ps(_mm256_castsi256_ps(any)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn avx2_finds_what_plain_rust_finds() {
        let Some(avx2) = Avx2::detect() else {
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
