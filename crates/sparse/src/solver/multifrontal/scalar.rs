//! The two precisions of a factor.

/// `f32` or `f64`.
pub(crate) trait Scalar:
    faer::traits::RealField
    + Copy
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
    const ONE: Self;
    /// Rounded to this precision.
    fn round(x: f64) -> Self;
    fn to_f64(self) -> f64;
    /// Zero in place of what would only lead to subnormal numbers, which take a hundred times as long.
    fn flush(self) -> Self;
}

impl Scalar for f32 {
    const ONE: Self = 1.0;
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
}

impl Scalar for f64 {
    const ONE: Self = 1.0;
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
