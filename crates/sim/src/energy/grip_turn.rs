//! What turns the material of an edge with the grip of a joint: of a segment of a rod its twist, of an edge of a shell its normal.
//!
//! The ends of the edge are carried by control points q, but its angle θ is an unknown of its own. With the tangent t, the director a of the start of the
//! step that is carried along without twist, the material director m = cos θ a + sin θ t × a, and the same director g = Σ w q as the grip carries it,
//!
//! Ψ = ½ K ‖m − g‖².
//!
//! The angle between m and g is the moment over K, which is a million times the stiffness of the angle itself.

use super::element::{Element, Hessian};
use super::rod_joint::Frame;
use super::term::Role;
use standoff_linalg::{Dual, Mat3, Real, V3, Vec3, project_psd_array};

/// Number of variables: the vector of the edge, the director and the angle.
const N: usize = 7;

/// One edge. Vertices: the four control points, then that of the angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GripTurn {
    /// K, J.
    pub stiffness: f64,
    /// What an angle is multiplied by to be an unknown, m.
    pub lever: f64,
    /// The weights of the control points in the vector of the edge, and in its director.
    pub weights: [[f64; 4]; 2],
    /// Tangent and director at the start of the step.
    pub frame: Frame,
}

impl GripTurn {
    fn energy<T: Real>(&self, e: &V3<T>, g: &V3<T>, angle: T) -> T {
        let t = *e * e.norm().recip();
        let (from, d) =
            (V3::constant(angle, &self.frame.tangent), V3::constant(angle, &self.frame.director));
        // carried along by the smallest turn of the tangent
        let a = d - (from + t) * (t.dot(&d) * (t.dot(&from) + 1.0).recip());
        let (sin, cos) = angle.sin_cos();
        let m = a * cos + t.cross(&a) * sin;
        (m - *g).norm_squared() * (0.5 * self.stiffness)
    }

    /// Vector of the edge, director and angle.
    fn variables(&self, x: &[Vec3; 5]) -> [Vec3; 2] {
        self.weights.map(|w| (0..4).map(|k| w[k] * x[k]).sum())
    }

    fn second_derivative(&self, x: &[Vec3; 5]) -> [[f64; N]; N] {
        let [e, g] = self.variables(x);
        let jet = |v: &Vec3, first: usize| {
            V3(std::array::from_fn(|k| Dual::<Dual<f64, N>, N>::second_order(v[k], first + k)))
        };
        let angle = Dual::<Dual<f64, N>, N>::second_order(x[4].x / self.lever, 6);
        self.energy(&jet(&e, 0), &jet(&g, 3), angle).parts().2
    }

    /// Blocks by the vertices. The idle components of the angle get a stiffness that moves nothing.
    fn blocks(&self, m: &[[f64; N]; N]) -> Hessian<5> {
        let part = |a: usize, b: usize| Mat3::from_fn(|r, s| m[3 * a + r][3 * b + s]);
        let column = |a: usize| Vec3::from_fn(|r, _| m[3 * a + r][6] / self.lever);
        let mut h = [[Mat3::zeros(); 5]; 5];
        for k in 0..4 {
            for l in 0..4 {
                for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    h[k][l] += self.weights[a][k] * self.weights[b][l] * part(a, b);
                }
            }
            let by_angle: Vec3 = (0..2).map(|a| self.weights[a][k] * column(a)).sum();
            h[k][4].set_column(0, &by_angle);
            h[4][k] = h[k][4].transpose();
        }
        let square = self.lever * self.lever;
        let idle = self.stiffness / square;
        h[4][4] = Mat3::from_diagonal(&Vec3::new(m[6][6] / square, idle, idle));
        h
    }
}

impl Element<5> for GripTurn {
    const NAME: &'static str = "turns at joints";
    const ROLE: Role = Role::Constraint;
    /// Angles are unknowns.
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; 5]) -> f64 {
        let [e, g] = self.variables(x);
        let value = self.energy(&(&e).into(), &(&g).into(), x[4].x / self.lever);
        if value.is_nan() { f64::INFINITY } else { value }
    }

    fn gradient(&self, x: &[Vec3; 5]) -> [Vec3; 5] {
        let [e, g] = self.variables(x);
        let jet =
            |v: &Vec3, first: usize| V3(std::array::from_fn(|k| Dual::variable(v[k], first + k)));
        let angle = Dual::<f64, N>::variable(x[4].x / self.lever, 6);
        let d = self.energy(&jet(&e, 0), &jet(&g, 3), angle).d;
        let [by_edge, by_director] = [0, 3].map(|k| Vec3::new(d[k], d[k + 1], d[k + 2]));
        let [edge, director] = self.weights;
        let of = |k: usize| edge[k] * by_edge + director[k] * by_director;
        [of(0), of(1), of(2), of(3), Vec3::new(d[6] / self.lever, 0.0, 0.0)]
    }

    fn hessian_psd(&self, x: &[Vec3; 5]) -> Hessian<5> {
        let mut m = self.second_derivative(x);
        project_psd_array(&mut m);
        self.blocks(&m)
    }

    fn hessian(&self, x: &[Vec3; 5]) -> Hessian<5> {
        self.blocks(&self.second_derivative(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> (GripTurn, [Vec3; 5]) {
        let tangent = Vec3::new(2.0, 1.0, -0.4).normalize();
        let director = tangent.cross(&Vec3::new(0.3, 1.0, 0.2)).normalize();
        let weights = [[1.2, -0.7, -0.9, 0.4], [0.5, 0.8, -1.1, -0.2]];
        let turn =
            GripTurn { stiffness: 3.0, lever: 0.2, weights, frame: Frame { tangent, director } };
        let x = [[1.3, 0.2, 0.4], [-0.6, 0.9, 0.1], [0.2, -0.8, 0.7], [0.5, 0.4, -0.9]];
        let [a, b, c, d] = x.map(Vec3::from);
        (turn, [a, b, c, d, Vec3::new(0.13, 0.0, 0.0)])
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let (turn, x) = turn();
        let (g, h, e) = (turn.gradient(&x), turn.hessian(&x), 1e-6);
        // of the angle the first component is the unknown
        for (v, axis) in (0..5).flat_map(|v| (0..if v < 4 { 3 } else { 1 }).map(move |k| (v, k))) {
            let moved = |by: f64| {
                let mut x = x;
                x[v][axis] += by;
                x
            };
            let slope = (turn.value(&moved(e)) - turn.value(&moved(-e))) / (2.0 * e);
            assert!((slope - g[v][axis]).abs() < 1e-7, "{slope} {}", g[v]);
            let [there, back] = [turn.gradient(&moved(e)), turn.gradient(&moved(-e))];
            for u in 0..5 {
                let column = (there[u] - back[u]) / (2.0 * e);
                assert!((column - h[u][v].column(axis)).norm() < 1e-6, "{u} {v}: {column}");
            }
        }
    }

    /// Where the material is as the grip carries it, there is no energy, whatever the grip has turned to; the angle is what it turned about the tangent.
    #[test]
    fn the_material_turns_with_the_grip() {
        let (mut turn, mut x) = turn();
        let tangent = turn.variables(&x)[0].normalize();
        turn.frame.tangent = tangent;
        let along = |v: &Vec3| v - tangent * tangent.dot(v);
        turn.frame.director = along(&turn.frame.director).normalize();
        // control points that carry tangent and director
        turn.weights = [[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0]];
        let spin = standoff_linalg::nalgebra::Rotation3::new(0.7 * tangent).into_inner();
        let start = [Vec3::zeros(), tangent, turn.frame.director];
        for (p, s) in x.iter_mut().zip(start) {
            *p = spin * s;
        }
        x[4].x = 0.7 * turn.lever;
        assert!(turn.value(&x) < 1e-28);
        x[4].x += 0.01 * turn.lever;
        let expected = turn.stiffness * (1.0 - 0.01_f64.cos());
        assert!((turn.value(&x) - expected).abs() < 1e-12);
    }
}
