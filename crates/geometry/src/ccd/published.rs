//! Additive continuous collision detection as published [Li 2021, Alg. 1]: the time is advanced by the
//! gap left over the largest speed at which the primitives can approach each other.

use super::query::Query;
use standoff_linalg::Vec3;

/// Part of the bound by which all advances but the first go on [Li 2021, Alg. 1].
const ADVANCE: f64 = 0.9;
/// Bound of the number of advances; the time reached is safe whatever it is.
const MAX_ADVANCES: usize = 100_000;

/// A time up to which the distance stays above ξ and at which it is at least ξ + `keep` (d₀ − ξ), with ξ
/// `min_separation` and d₀ the distance at t = 0; `None` if there is no need to stop before `t_max`. On the
/// way the gap may be smaller than the part that is kept.
///
/// Displacements are taken relative to their mean over the vertices of the pair; l_p is the sum of the
/// largest of either primitive [Li 2021, Eq. 10]. With the gap g = (d² − ξ²)/(d + ξ) [Li 2021, Eq. 12]
/// and g₀ that at the start, t grows by (1 − `keep`) g₀/l_p, then by 0.9 g/l_p as long as g ≥ `keep` g₀.
///
/// Beyond the paper: rounding of the distance and of the advance is allowed for, so that the time is
/// safe in floating-point numbers; 0 where a pair starts at or below ξ or a number is not finite.
pub fn time_of_impact(query: &Query, min_separation: f64, keep: f64, t_max: f64) -> Option<f64> {
    let keep = if keep >= 0.001 { keep.min(0.999) } else { 0.001 };
    let (count, second) = (query.kind.vertex_count(), query.kind.second());
    let mean = query.dx[..count].iter().sum::<Vec3>() / count as f64;
    let dx: Vec<Vec3> = query.dx[..count].iter().map(|d| d - mean).collect();
    let largest = |d: &[Vec3]| d.iter().map(Vec3::norm).fold(0.0, f64::max);
    let speed = (largest(&dx[..second]) + largest(&dx[second..])) * (1.0 + 8.0 * f64::EPSILON);
    // a sum, so that NaN is not lost
    let size: f64 =
        query.x[..count].iter().zip(&dx).map(|(x, d)| x.lp_norm(1) + d.lp_norm(1)).sum();
    if !size.is_finite() {
        return Some(0.0);
    }
    let floor = min_separation + 16.0 * f64::EPSILON * size;
    let gap = |t: f64| {
        let at = |k: usize| {
            if k < count { (query.x[k] - query.x[0]) + (dx[k] - dx[0]) * t } else { Vec3::zeros() }
        };
        let d2 = query.kind.d2(&std::array::from_fn(at));
        (d2 - floor * floor) / (d2.sqrt() + floor)
    };
    let start = gap(0.0);
    if start.is_nan() || start <= 0.0 {
        return Some(0.0);
    }
    if speed == 0.0 {
        return None;
    }
    let (mut t, mut left) = (0.0, start);
    for _ in 0..MAX_ADVANCES {
        let part = if t == 0.0 { 1.0 - keep } else { ADVANCE };
        let next = t + part * left / speed * (1.0 - 4.0 * f64::EPSILON);
        left = gap(next);
        if next == t || t > 0.0 && left < keep * start {
            break;
        }
        t = next;
        if t >= t_max {
            return None;
        }
    }
    Some(t)
}
