//! Mollifier of the closest points of a pair: 1 where they lie well inside their elements, 0 at the
//! border, where the pair passes into one of lower dimension.
//!
//! Each border b of an element has the argument z = (D_b² − d²)/(c d²), D_b the distance of the
//! other element to it and c = 10⁻², so that closest points nearer to the border than a tenth of the
//! distance are mollified [Huang 2024, supplement §1; c as in IPC Toolkit]. The paper's main text moves
//! the closest point instead, which leaves a jump where a pair ends at the border of its element;
//! multiplying the pair's energy, as the supplement implies and IPC Toolkit does, leaves none.

use super::kernel::mollifier;
use standoff_geometry::PairKind;
use standoff_geometry::distance::{
    PointEdgeFeature, edge_edge, point_edge, point_edge_d2, point_triangle,
};
use standoff_linalg::{Dual, Real, V3, Vec3};

/// A number with gradient and Hessian by the core vertices x₁ − x₀, x₂ − x₀, x₃ − x₀.
type Jet = Dual<Dual<f64, 9>, 9>;

/// c: squared distance of the closest point to the border, per squared distance of the pair, below
/// which the mollifier is below 1.
pub const THRESHOLD: f64 = 1e-2;

/// Arguments of the borders, those of 1 or more set to infinity. `x` are the core vertices.
fn arguments(kind: PairKind, x: &[Vec3; 4], d2: f64) -> [f64; 4] {
    let mut z = [f64::INFINITY; 4];
    let unit = THRESHOLD * d2;
    match kind {
        PairKind::VertexVertex => {}
        PairKind::EdgeVertex => {
            let alpha = point_edge::parameter(&x[2], &x[0], &x[1]);
            let square = (x[1] - x[0]).norm_squared() / unit;
            z[0] = alpha * alpha * square;
            z[1] = (1.0 - alpha) * (1.0 - alpha) * square;
        }
        PairKind::FaceVertex => {
            let [b1, b2] = point_triangle::parameters(&x[3], &x[0], &x[1], &x[2]);
            let n2 = (x[1] - x[0]).cross(&(x[2] - x[0])).norm_squared();
            // the border opposite to a vertex is at its coordinate times the height
            for (k, b) in [(0, 1.0 - b1 - b2), (1, b1), (2, b2)] {
                let side = (x[(k + 2) % 3] - x[(k + 1) % 3]).norm_squared();
                z[k] = b * b * n2 / (side * unit);
            }
        }
        PairKind::EdgeEdge => {
            let [alpha, beta] = edge_edge::parameters(&x[0], &x[1], &x[2], &x[3]);
            let (u, v) = (x[1] - x[0], x[3] - x[2]);
            let n2 = u.cross(&v).norm_squared();
            let ends = [alpha, 1.0 - alpha, beta, 1.0 - beta];
            for (k, t) in ends.into_iter().enumerate() {
                let (other, [p, a, b]) = if k < 2 { (&v, [k, 2, 3]) } else { (&u, [k, 0, 1]) };
                // from the other edge's line: never more than from the edge
                if t * t * n2 < other.norm_squared() * unit {
                    z[k] = (point_edge_d2(&x[p], &x[a], &x[b]) - d2) / unit;
                }
            }
        }
    }
    z.map(|z| if z < 1.0 { z } else { f64::INFINITY })
}

/// The mollifier of a pair with the squared distance `d2`.
pub fn value(kind: PairKind, x: &[Vec3; 4], d2: f64) -> f64 {
    arguments(kind, x, d2).into_iter().map(|z| mollifier(z)[0]).product()
}

/// The mollifier with its derivatives by the core vertices x₁ − x₀, x₂ − x₀, x₃ − x₀; `None` where it
/// is 1.
pub fn jet(kind: PairKind, x: &[Vec3; 4], d2: f64) -> Option<Jet> {
    let z = arguments(kind, x, d2);
    if z.iter().all(|z| z.is_infinite()) {
        return None;
    }
    let variable =
        |v: Vec3, first: usize| V3([0, 1, 2].map(|r| Jet::second_order(v[r], first + r)));
    let y: [V3<Jet>; 3] = [1, 2, 3].map(|k| variable(x[k] - x[0], 3 * (k - 1)));
    let between = |a: usize, b: usize| match (a, b) {
        (0, b) => y[b - 1],
        (a, 0) => -y[a - 1],
        (a, b) => y[b - 1] - y[a - 1],
    };
    let distance = match kind {
        PairKind::VertexVertex => between(0, 1).norm_squared(),
        PairKind::EdgeVertex => line_d2(&between(0, 1), &between(0, 2)),
        PairKind::FaceVertex => plane_d2(&between(0, 1).cross(&between(0, 2)), &between(0, 3)),
        PairKind::EdgeEdge => plane_d2(&between(0, 1).cross(&between(2, 3)), &between(0, 2)),
    };
    let mut product = distance.constant(1.0);
    for (k, &z) in z.iter().enumerate() {
        if z.is_infinite() {
            continue;
        }
        let border = match kind {
            PairKind::VertexVertex => unreachable!("vertices have no border"),
            PairKind::EdgeVertex => between(k, 2).norm_squared(),
            PairKind::FaceVertex => {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                line_d2(&between(a, b), &between(a, 3))
            }
            PairKind::EdgeEdge => {
                let (a, b) = if k < 2 { (2, 3) } else { (0, 1) };
                match point_edge::feature(&x[k], &x[a], &x[b]) {
                    PointEdgeFeature::E0 => between(a, k).norm_squared(),
                    PointEdgeFeature::E1 => between(b, k).norm_squared(),
                    PointEdgeFeature::Edge => line_d2(&between(a, b), &between(a, k)),
                }
            }
        };
        let argument = (border - distance) * distance.recip() * (1.0 / THRESHOLD);
        product = product * argument.compose(mollifier(z));
    }
    Some(product)
}

/// Squared distance of r from the line along e.
fn line_d2(e: &V3<Jet>, r: &V3<Jet>) -> Jet {
    let along = e.dot(r);
    r.norm_squared() - along * along * e.norm_squared().recip()
}

/// Squared distance of r from the plane across n.
fn plane_d2(n: &V3<Jet>, r: &V3<Jet>) -> Jet {
    let along = n.dot(r);
    along * along * n.norm_squared().recip()
}
