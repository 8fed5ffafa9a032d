//! Edge against edge, clamped to the segments or not (line against line).

use super::{
    Chart, Closest, Expansion, NEARLY_PARALLEL_SIN2, PARALLEL_SIN2, PointEdgeFeature,
    orthonormal_chart, plain, point_edge, point_edge_d2, point_point, scatter_hessian,
};
use standoff_linalg::{Mat3, Real, V3, Vec3};

/// Which features of two edges a and b hold the closest points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeEdgeFeature {
    /// Ends a0 and b0.
    A0B0,
    /// Ends a0 and b1.
    A0B1,
    /// Ends a1 and b0.
    A1B0,
    /// Ends a1 and b1.
    A1B1,
    /// Edge a and end b0.
    AB0,
    /// Edge a and end b1.
    AB1,
    /// End a0 and edge b.
    A0B,
    /// End a1 and edge b.
    A1B,
    /// Both edges.
    AB,
}

impl EdgeEdgeFeature {
    /// Vertices of (a0, a1, b0, b1) that the distance depends on; the point first where it is a
    /// point against an edge.
    #[inline]
    pub fn local(self) -> &'static [usize] {
        match self {
            Self::A0B0 => &[0, 2],
            Self::A0B1 => &[0, 3],
            Self::A1B0 => &[1, 2],
            Self::A1B1 => &[1, 3],
            Self::AB0 => &[2, 0, 1],
            Self::AB1 => &[3, 0, 1],
            Self::A0B => &[0, 2, 3],
            Self::A1B => &[1, 2, 3],
            Self::AB => &[0, 1, 2, 3],
        }
    }
}

/// Scalar products that the minimisation of |w + α u − β v|² needs.
struct Products {
    /// u·u, u·v, v·v.
    uu: f64,
    uv: f64,
    vv: f64,
    /// u·w, v·w with w = a0 − b0.
    uw: f64,
    vw: f64,
    /// n = u × v and its square.
    n: Vec3,
    n2: f64,
    /// Numerator of the lines' α: α = s / n2.
    s: f64,
}

#[inline]
fn products(u: &Vec3, v: &Vec3, w: &Vec3) -> Products {
    let n = u.cross(v);
    Products {
        uu: u.norm_squared(),
        uv: u.dot(v),
        vv: v.norm_squared(),
        uw: u.dot(w),
        vw: v.dot(w),
        n2: n.norm_squared(),
        s: -w.cross(v).dot(&n),
        n,
    }
}

/// The closest feature; ends win over interiors where they tie.
///
/// Edges at an angle of sin ≤ 1e-10, or of zero length, reduce to the best point–edge or
/// point–point pair [Li 2020 thesis, App. G].
pub fn feature(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> EdgeEdgeFeature {
    use EdgeEdgeFeature::*;
    let k = products(&(a1 - a0), &(b1 - b0), &(a0 - b0));
    if k.n2 <= NEARLY_PARALLEL_SIN2 * k.uu * k.vv {
        return parallel_feature(a0, a1, b0, b1, k.n2 > PARALLEL_SIN2 * k.uu * k.vv);
    }
    // clamp α of the lines' closest points, then β, then α again
    let (t, t_end, inside) = if k.s <= 0.0 {
        (k.vw, k.vv, A0B)
    } else if k.s >= k.n2 {
        (k.vw + k.uv, k.vv, A1B)
    } else {
        ((a1 - a0).cross(&(a0 - b0)).dot(&k.n), k.n2, AB)
    };
    let (along, ends) = if t <= 0.0 {
        (-k.uw, [A0B0, A1B0, AB0])
    } else if t >= t_end {
        (k.uv - k.uw, [A0B1, A1B1, AB1])
    } else {
        return inside;
    };
    if along <= 0.0 {
        ends[0]
    } else if along >= k.uu {
        ends[1]
    } else {
        ends[2]
    }
}

/// Closest feature of nearly parallel edges: the end nearest to the other edge by value, or both
/// interiors where that is valid and strictly nearer.
#[cold]
fn parallel_feature(
    a0: &Vec3,
    a1: &Vec3,
    b0: &Vec3,
    b1: &Vec3,
    has_normal: bool,
) -> EdgeEdgeFeature {
    use EdgeEdgeFeature::*;
    let reductions = [
        (b0, a0, a1, [A0B0, A1B0, AB0]),
        (b1, a0, a1, [A0B1, A1B1, AB1]),
        (a0, b0, b1, [A0B0, A0B1, A0B]),
        (a1, b0, b1, [A1B0, A1B1, A1B]),
    ];
    let (mut best, mut best_d2) = (A0B0, f64::INFINITY);
    for (p, e0, e1, names) in reductions {
        let d2 = point_edge_d2(p, e0, e1);
        if d2 < best_d2 {
            best_d2 = d2;
            best = match point_edge::feature(p, e0, e1) {
                PointEdgeFeature::E0 => names[0],
                PointEdgeFeature::E1 => names[1],
                PointEdgeFeature::Edge => names[2],
            };
        }
    }
    if has_normal {
        let c = closest(a0, a1, b0, b1);
        let w = &c.weights;
        let inside = w[0] > 0.0 && w[1] > 0.0 && w[2] < 0.0 && w[3] < 0.0;
        if inside && c.d2() < best_d2 {
            return AB;
        }
    }
    best
}

/// Squared distance of two segments, m².
#[inline]
pub fn edge_edge_d2(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> f64 {
    let (u, v, w) = (a1 - a0, b1 - b0, a0 - b0);
    let k = products(&u, &v, &w);
    if k.n2 <= NEARLY_PARALLEL_SIN2 * k.uu * k.vv {
        return closest_on(feature(a0, a1, b0, b1), a0, a1, b0, b1).d2();
    }
    let alpha = (k.s / k.n2).clamp(0.0, 1.0);
    let beta = (k.uv * alpha + k.vw) / k.vv;
    if beta > 0.0 && beta < 1.0 {
        let q = w + u * alpha - v * beta;
        if alpha > 0.0 && alpha < 1.0 {
            let h = k.n.dot(&q);
            return h * h / k.n2;
        }
        return q.norm_squared();
    }
    let beta = if beta <= 0.0 { 0.0 } else { 1.0 };
    let alpha = ((k.uv * beta - k.uw) / k.uu).clamp(0.0, 1.0);
    (w + u * alpha - v * beta).norm_squared()
}

/// Parameters (α, β) of the closest points a0 + α u and b0 + β v of two lines that are not
/// parallel, not clamped.
#[inline]
pub fn parameters(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [f64; 2] {
    let k = products(&(a1 - a0), &(b1 - b0), &(a0 - b0));
    let alpha = k.s / k.n2;
    // β from α, so that errors of both stay on the flat direction of nearly parallel lines
    [alpha, (k.uv * alpha + k.vw) / k.vv]
}

/// Closest points of two lines that are not parallel: weights (1−α, α, −(1−β), −β).
#[inline]
pub fn closest(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> Closest<4> {
    let (weights, offset) = closest_of(&plain([a0, a1, b0, b1]));
    Closest { weights, offset: offset.into() }
}

/// [`closest`] in any number.
#[inline(always)]
fn closest_of<R: Real>(x: &[V3<R>; 4]) -> ([R; 4], V3<R>) {
    let (u, v, w) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let n = u.cross(&v);
    let n2 = n.norm_squared();
    let alpha = -w.cross(&v).dot(&n) / n2;
    // β from α, so that errors of both stay on the flat direction of nearly parallel lines
    let beta = (u.dot(&v) * alpha + v.dot(&w)) / v.norm_squared();
    // moving to the closest points first keeps the normal's rounding error from acting on a long arm
    let rough = w + u * alpha - v * beta;
    let one = alpha.constant(1.0);
    ([one - alpha, alpha, beta - one, -beta], n * (n.dot(&rough) / n2))
}

/// Second-order data of the squared distance of two lines.
#[inline]
pub fn expansion(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> Expansion<4, 2> {
    chart(&plain([a0, a1, b0, b1])).into()
}

/// [`expansion`] in any number.
#[inline(always)]
pub fn chart<R: Real>(x: &[V3<R>; 4]) -> Chart<R, 4, 2> {
    let (a, b) = (x[1] - x[0], x[2] - x[3]);
    let (tangents, slopes) =
        orthonormal_chart(&a, &b, &a.cross(&b), [-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]);
    let (weights, offset) = closest_of(x);
    Chart { weights, offset, tangents, slopes }
}

/// Squared distance of two lines, m².
#[inline]
pub fn line_line_d2(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> f64 {
    closest(a0, a1, b0, b1).d2()
}

/// Gradient of the squared distance of two lines in (a0, a1, b0, b1).
pub fn line_line_gradient(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [Vec3; 4] {
    closest(a0, a1, b0, b1).gradient()
}

/// Hessian of the squared distance of two lines in (a0, a1, b0, b1).
pub fn line_line_hessian(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [[Mat3; 4]; 4] {
    expansion(a0, a1, b0, b1).hessian()
}

/// Closest points of two segments with the feature given.
pub fn closest_on(f: EdgeEdgeFeature, a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> Closest<4> {
    let x = [a0, a1, b0, b1];
    match *f.local() {
        // weights are those of the point first; the sign of q does not matter to d²
        [i, j] => point_point::closest(x[i], x[j]).scatter(&[i, j]),
        [i, j, k] => point_edge::closest(x[i], x[j], x[k]).scatter(&[i, j, k]),
        _ => closest(a0, a1, b0, b1),
    }
}

/// Hessian of the squared distance of two segments with the feature given.
pub fn hessian_on(
    f: EdgeEdgeFeature,
    a0: &Vec3,
    a1: &Vec3,
    b0: &Vec3,
    b1: &Vec3,
) -> [[Mat3; 4]; 4] {
    let x = [a0, a1, b0, b1];
    match *f.local() {
        [i, j] => scatter_hessian(&point_point::hessian(), &[i, j]),
        [i, j, k] => scatter_hessian(&point_edge::line_hessian(x[i], x[j], x[k]), &[i, j, k]),
        _ => line_line_hessian(a0, a1, b0, b1),
    }
}

/// Gradient of the squared distance of two segments in (a0, a1, b0, b1).
pub fn gradient(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [Vec3; 4] {
    closest_on(feature(a0, a1, b0, b1), a0, a1, b0, b1).gradient()
}

/// Hessian of the squared distance of two segments in (a0, a1, b0, b1).
pub fn hessian(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [[Mat3; 4]; 4] {
    hessian_on(feature(a0, a1, b0, b1), a0, a1, b0, b1)
}

/// Orthonormal tangent vectors of edges that are not parallel: along a, and normal to it in the
/// plane of both directions [Li 2020 thesis, App. H, Eq. 9].
pub fn tangent_basis(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> [Vec3; 2] {
    let u = a1 - a0;
    let n = u.cross(&(b1 - b0));
    let t = u / u.norm();
    [t, (n / n.norm()).cross(&t)]
}
