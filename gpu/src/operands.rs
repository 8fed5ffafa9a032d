//! Fixed operands of the self-test.

use crate::adapters::WORKGROUP;

/// Triples of operands.
const TRIPLES: usize = 6000;

/// Values that trees add up.
pub(crate) const TREE_VALUES: usize = 16 * WORKGROUP as usize;

/// Operands for every kind of rounding: halfway between two numbers, sums that cancel, the ends of the range, numbers below the normal
/// ones, what is not finite, and arbitrary bits.
pub(crate) fn operands() -> Vec<[f64; 3]> {
    let special = special();
    let mut random = Random(1);
    let mut all: Vec<[f64; 3]> = Vec::with_capacity(TRIPLES + special.len() * special.len());
    for &a in &special {
        for &b in &special {
            all.push([a, b, -(a * b)]);
        }
    }
    for k in 0..TRIPLES {
        let [a, b] = match k % 3 {
            0 => [random.between(-1.0, 1.0), random.between(-1.0, 1.0)],
            1 => [random.scaled(600), random.scaled(600)],
            _ => [random.bits(), random.bits()],
        };
        // what a fused operation would make of it is the error of the product
        let c = if k % 2 == 0 { -(a * b) } else { random.between(-1.0, 1.0) };
        all.push([a, b, c]);
    }
    all
}

/// Values that trees add up, of magnitudes of which every sum is rounded.
pub(crate) fn tree_values() -> Vec<f64> {
    let mut random = Random(2);
    (0..TREE_VALUES).map(|_| random.scaled(20)).collect()
}

/// Numbers at which rounding is decided.
fn special() -> Vec<f64> {
    let e = f64::EPSILON;
    let least = f64::MIN_POSITIVE;
    let positive = [
        0.0,
        1.0,
        1.0 + e,
        1.0 - e / 2.0,
        e,
        e / 2.0,
        0.75 * e,
        3.0,
        1.0 / 3.0,
        0.1,
        10.0,
        7.0,
        1e16,
        9007199254740993.0,
        1e154,
        1.5e-154,
        f64::MAX,
        f64::MAX / 2.0,
        least,
        least * (1.0 + e),
        least * 4.0,
        least / 2.0,
        f64::from_bits(1),
        f64::from_bits(0x000f_ffff_ffff_ffff),
        f64::INFINITY,
    ];
    let negative = positive.iter().map(|x| -x);
    positive.iter().copied().chain(negative).chain([f64::NAN]).collect()
}

/// Numbers that are the same at every start, by the generator splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A number whose exponent is up to so many, of either sign.
    fn scaled(&mut self, exponent: i32) -> f64 {
        let power = (self.next() % (2 * exponent as u64 + 1)) as i32 - exponent;
        self.between(-2.0, 2.0) * 2f64.powi(power)
    }

    fn bits(&mut self) -> f64 {
        f64::from_bits(self.next())
    }
}
