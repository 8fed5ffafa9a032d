//! The two precisions of a factor.

use standoff_linalg::lanes::Width;

/// Lanes of a dot product: fixed, so that sums are associated alike everywhere.
pub(crate) const LANES: usize = 8;

/// `f32` or `f64`.
pub(crate) trait Scalar:
    Copy
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::ops::AddAssign
    + std::ops::SubAssign
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// Numbers of this precision, one per lane.
    type Vector<W: Width>: Copy;

    /// Lanes of a vector.
    fn lanes<W: Width>() -> usize;
    /// The number in every lane.
    fn splat<W: Width>(width: W, x: Self) -> Self::Vector<W>;
    /// The numbers as vectors; those that fill none are left out.
    fn vectors<W: Width>(x: &[Self]) -> &[Self::Vector<W>];
    /// [`Scalar::vectors`] to be written.
    fn vectors_mut<W: Width>(x: &mut [Self]) -> &mut [Self::Vector<W>];
    /// c − a b, rounded once.
    fn subtract_product<W: Width>(
        width: W,
        a: Self::Vector<W>,
        b: Self::Vector<W>,
        c: Self::Vector<W>,
    ) -> Self::Vector<W>;
    /// a b.
    fn multiply<W: Width>(width: W, a: Self::Vector<W>, b: Self::Vector<W>) -> Self::Vector<W>;
    /// c − a b of single numbers, rounded once.
    fn minus_product(a: Self, b: Self, c: Self) -> Self;
    /// The root.
    fn root(self) -> Self;

    const ONE: Self;
    const INFINITY: Self;
    /// Rounded to this precision.
    fn round(x: f64) -> Self;
    fn to_f64(self) -> f64;
    /// Zero in place of what would only lead to subnormal numbers, which take a hundred times as long.
    fn flush(self) -> Self;

    /// Lane l is the sum of the products cₛ[i] x[i] with i ≡ l, for four columns as long as `x`; `x` fills whole lanes.
    #[inline(always)]
    fn products4<W: Width>(_: W, c: [&[Self]; 4], x: &[Self]) -> [[Self; LANES]; 4] {
        products4(c, x)
    }
}

/// [`Scalar::products4`] for any precision and width.
#[inline(always)]
fn products4<T: Scalar>(c: [&[T]; 4], x: &[T]) -> [[T; LANES]; 4] {
    let mut sum = [[T::default(); LANES]; 4];
    let mut at = 0;
    while at < x.len() {
        let x = &x[at..at + LANES];
        for s in 0..4 {
            let c = &c[s][at..at + LANES];
            for l in 0..LANES {
                sum[s][l] += c[l] * x[l];
            }
        }
        at += LANES;
    }
    sum
}

/// [`Scalar::products4`] in vectors with a register for each sum, which the compiler does not find by itself.
#[inline(always)]
fn products4_in_vectors<W: Width>(width: W, c: [&[f32]; 4], x: &[f32]) -> [[f32; LANES]; 4] {
    let x = W::as_simd_f32s(x).0;
    let [c0, c1, c2, c3] = c;
    let c0 = &W::as_simd_f32s(c0).0[..x.len()];
    let c1 = &W::as_simd_f32s(c1).0[..x.len()];
    let c2 = &W::as_simd_f32s(c2).0[..x.len()];
    let c3 = &W::as_simd_f32s(c3).0[..x.len()];
    let mut sum = [width.splat_f32s(0.0); 4];
    for i in 0..x.len() {
        sum[0] = width.add_f32s(sum[0], width.mul_f32s(c0[i], x[i]));
        sum[1] = width.add_f32s(sum[1], width.mul_f32s(c1[i], x[i]));
        sum[2] = width.add_f32s(sum[2], width.mul_f32s(c2[i], x[i]));
        sum[3] = width.add_f32s(sum[3], width.mul_f32s(c3[i], x[i]));
    }
    let mut out = [[0.0; LANES]; 4];
    for s in 0..4 {
        W::as_mut_simd_f32s(&mut out[s]).0[0] = sum[s];
    }
    out
}

/// What the two precisions have alike, by the names of their vector operations.
macro_rules! in_vectors {
    ($numbers:ident, $lanes:ident, $vectors:ident, $vectors_mut:ident, $splat:ident, $negate_mul_add:ident, $mul:ident) => {
        type Vector<W: Width> = W::$numbers;

        #[inline(always)]
        fn lanes<W: Width>() -> usize {
            W::$lanes
        }
        #[inline(always)]
        fn splat<W: Width>(width: W, x: Self) -> W::$numbers {
            width.$splat(x)
        }
        #[inline(always)]
        fn vectors<W: Width>(x: &[Self]) -> &[W::$numbers] {
            W::$vectors(x).0
        }
        #[inline(always)]
        fn vectors_mut<W: Width>(x: &mut [Self]) -> &mut [W::$numbers] {
            W::$vectors_mut(x).0
        }
        #[inline(always)]
        fn subtract_product<W: Width>(
            width: W,
            a: W::$numbers,
            b: W::$numbers,
            c: W::$numbers,
        ) -> W::$numbers {
            width.$negate_mul_add(a, b, c)
        }
        #[inline(always)]
        fn multiply<W: Width>(width: W, a: W::$numbers, b: W::$numbers) -> W::$numbers {
            width.$mul(a, b)
        }
        #[inline(always)]
        fn minus_product(a: Self, b: Self, c: Self) -> Self {
            (-a).mul_add(b, c)
        }
        #[inline(always)]
        fn root(self) -> Self {
            self.sqrt()
        }

        const ONE: Self = 1.0;
        const INFINITY: Self = Self::INFINITY;
    };
}

impl Scalar for f32 {
    in_vectors!(
        f32s,
        F32_LANES,
        as_simd_f32s,
        as_mut_simd_f32s,
        splat_f32s,
        negate_mul_add_f32s,
        mul_f32s
    );

    fn round(x: f64) -> Self {
        x as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn flush(self) -> Self {
        // the root of the smallest normal number
        if self.abs() < 1e-19 { 0.0 } else { self }
    }
    #[inline(always)]
    fn products4<W: Width>(width: W, c: [&[f32]; 4], x: &[f32]) -> [[f32; LANES]; 4] {
        match W::F32_LANES {
            LANES => products4_in_vectors(width, c, x),
            _ => products4(c, x),
        }
    }
}

impl Scalar for f64 {
    in_vectors!(
        f64s,
        F64_LANES,
        as_simd_f64s,
        as_mut_simd_f64s,
        splat_f64s,
        negate_mul_add_f64s,
        mul_f64s
    );

    fn round(x: f64) -> Self {
        x
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn flush(self) -> Self {
        self
    }
}
