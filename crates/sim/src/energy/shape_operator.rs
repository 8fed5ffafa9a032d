//! Bending energy of a triangle by a discrete shape operator with normals at the middles of its edges
//! [Grinspun 2006]:
//!
//! Ψ = A D/2 [ν tr² κ + (1 − ν) tr κ²],  κ = Σ_k (l_k/A) δα_k n_k n_kᵀ,  D = E ξ³ / (12 (1 − ν²)),
//!
//! with the rest area A, and of edge k the rest length l_k, the direction n_k in the plane at rest
//! across it, and the angle α_k about it from the triangle's normal to the edge's; δα_k is what it
//! differs by from rest. κ is the gradient of the normal that is linear on the triangle and has the
//! edges' at their middles, hence
//!
//! Ψ = ½ Σ_kl K_kl δα_k δα_l,  K_kl = D l_k l_l/A [ν + (1 − ν) (n_k·n_l)²].
//!
//! The normal of an edge is shared by its triangles and turns freely about the edge: its angle is an
//! unknown. For small deflections of a flat sheet this is the plate element of [Morley 1968], which
//! converges on every mesh.
//!
//! An edge's frame is that of a rod's segment (see [`super::rod_joint`]): its normal is its director at
//! the start of the step, carried along by the smallest turn of its tangent and turned by its angle
//! since then. The unknown is s = l φ, in m, in the first component of a vertex of its own. The angle from
//! the triangle's normal goes on beyond ±180° ([`Turning`]).

use super::element::{Element, Hessian};
use super::rod_joint::{Frame, angle_about, transport};
use super::term::Role;
use super::turning::Turning;
use standoff_linalg::{Mat3, Vec3, project_psd_array};
use std::f64::consts::TAU;

/// Edge k leads from corner `ENDS[k][0]` to `ENDS[k][1]` and lies opposite corner k.
pub const ENDS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];

/// One triangle. Vertices: its corners, then those of the angles of its edges, of which edge k lies
/// opposite corner k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeOperator {
    /// K_kl, J.
    stiffness: [[f64; 3]; 3],
    /// Rest lengths l_k, m.
    length: [f64; 3],
    /// Whether the frames of the edges run against [`ENDS`].
    reversed: [bool; 3],
    /// Angle about each edge's own tangent from the triangle's normal to the edge's at rest, rad.
    rest_angle: [f64; 3],
    /// Frames of the edges at the start of the step.
    frames: [Frame; 3],
    /// How the angles from the triangle's normal to the directors continue from the start of the step.
    turning: [Turning; 3],
}

/// Normal of the triangle beside an edge `e` with the opposite corner at `p`, both from the edge's
/// start, of any length: for (x₀, x₁, x₂) with its edges in this order that of the triangle.
pub fn side_normal(e: &Vec3, p: &Vec3) -> Vec3 {
    e.cross(p)
}

impl ShapeOperator {
    /// The operator over rest corners `rest` (m) of a sheet with the bending modulus k = D/2 (N m) and
    /// Poisson's ratio. `reversed` tells the edges whose frames run against [`ENDS`], `rest_angle`
    /// gives for each the angle about its own tangent from [`side_normal`] to the edge's normal, rad.
    pub fn new(
        rest: &[Vec3; 3],
        modulus: f64,
        poisson_ratio: f64,
        reversed: [bool; 3],
        rest_angle: [f64; 3],
    ) -> Self {
        let e = ENDS.map(|[a, b]| rest[b] - rest[a]);
        let area = 0.5 * e[0].cross(&e[1]).norm();
        let length = e.map(|e| e.norm());
        let stiffness = std::array::from_fn(|k| {
            std::array::from_fn(|l| {
                // between edges as between what lies across them
                let cos = e[k].dot(&e[l]) / (length[k] * length[l]);
                let shape = poisson_ratio + (1.0 - poisson_ratio) * cos * cos;
                2.0 * modulus * length[k] * length[l] / area * shape
            })
        });
        let frame = |k: usize| Frame { tangent: e[k] / length[k], director: Vec3::zeros() };
        let (frames, turning) = ([0, 1, 2].map(frame), [Turning::default(); 3]);
        Self { stiffness, length, reversed, rest_angle, frames, turning }
    }

    /// Takes up the edges' frames at the start of a step at `start`, where the angles have whole `turns`
    /// beyond the arc tangents.
    pub fn begin_step(&mut self, frames: [Frame; 3], start: &[Vec3; 6], turns: [i32; 3]) {
        self.frames = frames;
        self.turning = std::array::from_fn(|k| Turning::new(self.angle(k, start), turns[k]));
    }

    /// Whole turns of the angles beyond the arc tangents.
    pub fn turns(&self, x: &[Vec3; 6]) -> [i32; 3] {
        std::array::from_fn(|k| self.turning[k].turns(self.angle(k, x)))
    }

    /// Whole turns with which a simulation begins that starts at `x` in these frames: those that bring each
    /// angle closest to that at rest.
    pub fn first_turns(&self, x: &[Vec3; 6]) -> [i32; 3] {
        let bend = |k: usize| self.angle(k, x) + x[3 + k].x / self.length[k] - self.rest_angle[k];
        std::array::from_fn(|k| -(bend(k) / TAU).round() as i32)
    }

    /// The edges' frames at the start of the step.
    pub fn frames(&self) -> &[Frame; 3] {
        &self.frames
    }

    /// Corners at the start and the end of edge k's frame, and the opposite one.
    #[inline]
    fn corners(&self, k: usize) -> [usize; 3] {
        let [a, b] = ENDS[k];
        if self.reversed[k] { [b, a, k] } else { [a, b, k] }
    }

    /// Edge k in the direction of its frame, and the opposite corner from its start.
    #[inline]
    fn edge(&self, k: usize, x: &[Vec3; 6]) -> (Vec3, Vec3) {
        let [a, b, c] = self.corners(k).map(|v| x[v]);
        (b - a, c - a)
    }

    /// Arc tangent of the angle about edge k's frame from the triangle's normal to the carried director, rad.
    #[inline]
    fn angle(&self, k: usize, x: &[Vec3; 6]) -> f64 {
        let (e, p) = self.edge(k, x);
        let t = e / e.norm();
        let frame = &self.frames[k];
        let director = transport(&frame.director, &frame.tangent, &t);
        angle_about(&t, &side_normal(&e, &p), &director)
    }

    /// δα_k, rad, in the direction of the edge's frame.
    #[inline]
    fn bend(&self, k: usize, x: &[Vec3; 6]) -> f64 {
        let angle = self.turning[k].of(self.angle(k, x));
        angle + x[3 + k].x / self.length[k] - self.rest_angle[k]
    }

    /// δα about the edges as they run around the triangle, rad.
    #[inline]
    fn bends(&self, x: &[Vec3; 6]) -> [f64; 3] {
        [0, 1, 2].map(|k| self.sign(k) * self.bend(k, x))
    }

    #[inline]
    fn sign(&self, k: usize) -> f64 {
        if self.reversed[k] { -1.0 } else { 1.0 }
    }

    /// ∂Ψ/∂δα_k, N m, as the edges run around the triangle.
    #[inline]
    fn moments(&self, x: &[Vec3; 6]) -> [f64; 3] {
        let bends = self.bends(x);
        self.stiffness.map(|row| (0..3).map(|l| row[l] * bends[l]).sum())
    }

    /// Derivatives of δα_k about the edge's frame.
    fn slope(&self, k: usize, x: &[Vec3; 6]) -> Slope {
        let (e, p) = self.edge(k, x);
        Slope::new(e, p, self.frames[k].tangent)
    }
}

/// Gradient of the angle from a triangle's normal to the carried director by the edge e and the
/// opposite corner p, and what its derivatives need.
struct Slope {
    e: Vec3,
    p: Vec3,
    n: Vec3,
    /// Tangent at the start of the step.
    from: Vec3,
    /// |e|.
    length: f64,
    /// Where the foot of the corner lies on the edge, in units of it.
    foot: f64,
    /// |e|² + |e| (from·e).
    q: f64,
    by_e: Vec3,
    by_p: Vec3,
}

impl Slope {
    #[inline]
    fn new(e: Vec3, p: Vec3, from: Vec3) -> Self {
        let n = side_normal(&e, &p);
        let length = e.norm();
        let foot = p.dot(&e) / (length * length);
        let q = length * (length + from.dot(&e));
        let by_p = n * (-length / n.norm_squared());
        // the second part is the turn about the tangent of what is carried from the start, against
        // what is carried from a moment before
        let by_e = by_p * -foot - from.cross(&e) / q;
        Self { e, p, n, from, length, foot, q, by_e, by_p }
    }

    /// Second derivatives by (e, p) [Tamstorf 2013 for the normal's part].
    fn curvature(&self) -> [[Mat3; 2]; 2] {
        let Self { e, p, n, from, length, foot, q, by_p, .. } = self;
        let (nn, ee) = (n.norm_squared(), length * length);
        let t = e / *length;
        let mirror = (Mat3::identity() - n * n.transpose() * (2.0 / nn)) * (length / nn);
        let pp = -mirror * e.cross_matrix();
        let pe = mirror * p.cross_matrix() - n * t.transpose() / nn;
        let d_foot = p / ee - e * (2.0 * foot / ee);
        let d_q = e * 2.0 + t * from.dot(e) + from * *length;
        let carried = from.cross(e) * d_q.transpose() / (q * q) - from.cross_matrix() / *q;
        let e_e = -by_p * d_foot.transpose() - pe * *foot + carried;
        [[(e_e + e_e.transpose()) * 0.5, pe.transpose()], [pe, pp]]
    }
}

impl Element<6> for ShapeOperator {
    const NAME: &'static str = "shape operators";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.shell.bending_factor");
    /// Angles are unknowns.
    const TRANSLATION_INVARIANT: bool = false;

    #[inline]
    fn value(&self, x: &[Vec3; 6]) -> f64 {
        let (bends, moments) = (self.bends(x), self.moments(x));
        let value = 0.5 * (0..3).map(|k| bends[k] * moments[k]).sum::<f64>();
        if value.is_nan() { f64::INFINITY } else { value }
    }

    fn gradient(&self, x: &[Vec3; 6]) -> [Vec3; 6] {
        let moments = self.moments(x);
        let mut out = [Vec3::zeros(); 6];
        for k in 0..3 {
            let moment = self.sign(k) * moments[k];
            let slope = self.slope(k, x);
            let [a, b, c] = self.corners(k);
            out[a] -= (slope.by_e + slope.by_p) * moment;
            out[b] += slope.by_e * moment;
            out[c] += slope.by_p * moment;
            out[3 + k].x = moment / self.length[k];
        }
        out
    }

    /// Σ K_kl ∇α_k ∇α_lᵀ + Σ ∂Ψ/∂α_k ∇²α_k, projected in the coordinates
    /// (x₁ − x₀, x₂ − x₀, s₀, s₁, s₂). The angles' idle components get the stiffness of their own,
    /// which keeps the matrix definite and moves nothing.
    fn hessian_psd(&self, x: &[Vec3; 6]) -> Hessian<6> {
        let mut m = self.second_derivative(x);
        project_psd_array(&mut m);
        self.blocks(&m)
    }

    fn hessian(&self, x: &[Vec3; 6]) -> Hessian<6> {
        self.blocks(&self.second_derivative(x))
    }
}

/// A corner's parts of x₁ − x₀ and x₂ − x₀.
fn parts(corner: usize) -> [f64; 2] {
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]][corner]
}

impl ShapeOperator {
    /// The second derivative in the coordinates of [`ShapeOperator::hessian_psd`].
    fn second_derivative(&self, x: &[Vec3; 6]) -> [[f64; 9]; 9] {
        let moments = self.moments(x);
        let mut gradients = [[0.0; 9]; 3];
        let mut m = [[0.0; 9]; 9];
        for k in 0..3 {
            let slope = self.slope(k, x);
            let [a, b, c] = self.corners(k).map(parts);
            // coefficients of e and p by x₁ − x₀ and x₂ − x₀
            let part = [[b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]];
            let by = [slope.by_e, slope.by_p];
            for i in 0..2 {
                let g = by[0] * part[0][i] + by[1] * part[1][i];
                (0..3).for_each(|r| gradients[k][3 * i + r] = g[r]);
            }
            gradients[k][6 + k] = 1.0 / self.length[k];
            gradients[k].iter_mut().for_each(|g| *g *= self.sign(k));
            let h = slope.curvature();
            let moment = self.sign(k) * moments[k];
            for i in 0..2 {
                for j in 0..2 {
                    let mut block = Mat3::zeros();
                    for (u, h) in h.iter().enumerate() {
                        for (v, h) in h.iter().enumerate() {
                            let factor = part[u][i] * part[v][j];
                            if factor != 0.0 {
                                block += h * (moment * factor);
                            }
                        }
                    }
                    for r in 0..3 {
                        for s in 0..3 {
                            m[3 * i + r][3 * j + s] += block[(r, s)];
                        }
                    }
                }
            }
        }
        for (k, row) in self.stiffness.iter().enumerate() {
            let mut weighted = [0.0; 9];
            for (l, stiffness) in row.iter().enumerate() {
                (0..9).for_each(|j| weighted[j] += stiffness * gradients[l][j]);
            }
            for i in 0..9 {
                (0..9).for_each(|j| m[i][j] += gradients[k][i] * weighted[j]);
            }
        }
        m
    }

    /// Blocks by all vertices of a function of (x₁ − x₀, x₂ − x₀, s₀, s₁, s₂).
    fn blocks(&self, m: &[[f64; 9]; 9]) -> Hessian<6> {
        let mut h = [[Mat3::zeros(); 6]; 6];
        for i in 0..2 {
            for j in 0..2 {
                let block = Mat3::from_fn(|r, s| m[3 * i + r][3 * j + s]);
                h[i + 1][j + 1] = block;
                h[0][j + 1] -= block;
                h[i + 1][0] -= block;
                h[0][0] += block;
            }
            for k in 0..3 {
                let column = Mat3::from_fn(|r, c| if c == 0 { m[3 * i + r][6 + k] } else { 0.0 });
                h[i + 1][3 + k] = column;
                h[0][3 + k] -= column;
            }
        }
        for k in 0..3 {
            for i in 0..3 {
                h[3 + k][i] = h[i][3 + k].transpose();
            }
            for l in 0..3 {
                h[3 + k][3 + l][(0, 0)] = m[6 + k][6 + l];
            }
            let idle = self.stiffness[k][k] / (self.length[k] * self.length[k]);
            h[3 + k][3 + k][(1, 1)] = idle;
            h[3 + k][3 + k][(2, 2)] = idle;
        }
        h
    }
}
