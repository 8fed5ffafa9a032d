//! Bending energy of a hinge, two triangles with a common edge:
//!
//! Ψ = c (θ − θ̄)²,  c = k · 3 |ē|²/Ā,  k = E ξ³ / (24 (1 − ν²)),
//!
//! with the dihedral angle θ (0 where flat), its rest value θ̄, the rest length |ē| of the edge, the
//! sum Ā of both rest areas and the thickness ξ [Grinspun 2003; Li 2020 thesis, §2.2.2]. θ goes on beyond
//! ±180°, where the triangles pass through each other ([`Turning`]).

mod batch;
mod first_order;

use super::element::{Element, Hessian};
use super::lanes::{Batch, Gradients, Values};
use super::projection::Projection;
use super::term::Role;
use super::turning::Turning;
use standoff_linalg::{Mat3, Vec3, lanes};

/// One hinge. Vertices: the edge's two ends x₀, x₁, then the corner x₂ of the triangle
/// (x₀, x₁, x₂) and x₃ of (x₁, x₀, x₃).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// c, J.
    stiffness: f64,
    /// θ̄, rad.
    rest_angle: f64,
    /// How θ continues from the start of the step.
    turning: Turning,
}

/// Bending modulus k of a sheet, N m: half of the flexural rigidity.
pub fn bending_modulus(young_modulus: f64, poisson_ratio: f64, thickness: f64) -> f64 {
    young_modulus * thickness.powi(3) / (24.0 * (1.0 - poisson_ratio * poisson_ratio))
}

impl Hinge {
    /// The hinge over rest positions `rest` (m) with the bending modulus k (N m). `rest_angle` (rad)
    /// replaces the angle of the rest positions.
    pub fn new(rest: &[Vec3; 4], modulus: f64, rest_angle: Option<f64>) -> Self {
        let e = rest[1] - rest[0];
        let double_areas =
            e.cross(&(rest[2] - rest[0])).norm() + e.cross(&(rest[3] - rest[0])).norm();
        Self {
            stiffness: modulus * 6.0 * e.norm_squared() / double_areas,
            rest_angle: rest_angle.unwrap_or_else(|| angle(rest)),
            turning: Turning::default(),
        }
    }

    /// Begins a step at positions `start` (m), at which the angle has whole `turns` beyond [`angle`].
    pub fn begin_step(&mut self, start: &[Vec3; 4], turns: i32) {
        self.turning = Turning::new(angle(start), turns);
    }

    /// Whole turns of the angle beyond [`angle`].
    pub fn turns(&self, x: &[Vec3; 4]) -> i32 {
        self.turning.turns(angle(x))
    }

    /// θ − θ̄, rad.
    #[inline]
    pub fn bend(&self, x: &[Vec3; 4]) -> f64 {
        self.turning.of(angle(x)) - self.rest_angle
    }

    /// Rest angle θ̄, rad.
    pub fn rest_angle(&self) -> f64 {
        self.rest_angle
    }
}

/// The dihedral angle θ in (−π, π], rad: 0 where the triangles lie in one plane on either side of
/// the edge.
pub fn angle(x: &[Vec3; 4]) -> f64 {
    let e = x[1] - x[0];
    let n1 = e.cross(&(x[2] - x[0]));
    let n2 = (x[3] - x[0]).cross(&e);
    // + 0 turns −0 into 0: folded flat is π
    ((n1.cross(&n2)).dot(&e) / e.norm() + 0.0).atan2(n1.dot(&n2))
}

/// The hinge as seen along its edge: lengths across, and unit vectors.
struct View {
    /// |e|.
    length: f64,
    /// t, along the edge.
    along: Vec3,
    /// Where the feet of the corners lie on the edge, in units of it.
    foot: [f64; 2],
    /// Heights r of the corners over the edge.
    height: [f64; 2],
    /// Directions u from their feet to the corners.
    out: [Vec3; 2],
    /// t × u, in which a corner turns about the edge.
    turn: [Vec3; 2],
}

impl View {
    #[inline]
    fn new(x: &[Vec3; 4]) -> Self {
        let e = x[1] - x[0];
        let ee = e.norm_squared();
        let length = ee.sqrt();
        let along = e / length;
        let side = |corner: &Vec3| {
            let p = corner - x[0];
            let foot = p.dot(&e) / ee;
            let across = p - e * foot;
            let height = across.norm();
            let out = across / height;
            (foot, height, out, along.cross(&out))
        };
        let (a, b) = (side(&x[2]), side(&x[3]));
        Self {
            length,
            along,
            foot: [a.0, b.0],
            height: [a.1, b.1],
            out: [a.2, b.2],
            turn: [a.3, b.3],
        }
    }

    /// ∇θ by the vertices: corner b turns by τ_b/r_b about the edge, a by τ_a/r_a.
    #[inline]
    fn gradient(&self) -> [Vec3; 4] {
        let (a, b) = (self.turn[0] / -self.height[0], self.turn[1] / self.height[1]);
        let e = -(a * self.foot[0] + b * self.foot[1]);
        [-(e + a + b), e, a, b]
    }

    /// Derivatives by (e, a, b) of the eight quantities of [`Hinge::second_derivative`]: ρ_a, ρ_b, τ_a, τ_b,
    /// σ_a, σ_b, ε₁, ε₂.
    #[inline]
    fn quantities(&self) -> [[f64; 9]; 8] {
        let mut rows = [[0.0; 9]; 8];
        let mut set = |row: usize, of: usize, v: Vec3| {
            (0..3).for_each(|r| rows[row][3 * of + r] = v[r]);
        };
        for k in 0..2 {
            let (r, s) = (self.height[k], self.foot[k]);
            let [out, turn, along] = [self.out[k], self.turn[k], self.along].map(|v| v / r);
            set(k, 1 + k, out);
            set(k, 0, out * -s);
            set(2 + k, 1 + k, turn);
            set(2 + k, 0, turn * -s);
            set(4 + k, 1 + k, along);
            set(4 + k, 0, self.out[k] / (2.0 * self.length) - along * s);
        }
        set(6, 0, self.out[0] / self.length);
        set(7, 0, self.turn[0] / self.length);
        rows
    }
}

impl Element<4> for Hinge {
    const NAME: &'static str = "hinges";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.shell.bending_factor");
    const TRANSLATION_INVARIANT: bool = true;

    #[inline]
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let value = self.stiffness * self.bend(x).powi(2);
        if value.is_nan() { f64::INFINITY } else { value }
    }

    #[inline]
    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let slope = 2.0 * self.stiffness * self.bend(x);
        if slope == 0.0 {
            return [Vec3::zeros(); 4];
        }
        View::new(x).gradient().map(|g| g * slope)
    }

    fn hessian_psd(&self, x: &[Vec3; 4]) -> Hessian<4> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; 4]) -> Hessian<4> {
        self.second_derivative(x, false)
    }

    /// Several hinges at once, one per lane.
    fn values(elements: &[Self], vertices: &[[u32; 4]], x: &[Vec3], out: &mut [f64]) {
        lanes::dispatch(Values { all: Batch { elements, vertices, x }, out });
    }

    /// Several hinges at once, one per lane.
    fn gradients(elements: &[Self], vertices: &[[u32; 4]], x: &[Vec3], out: &mut [[Vec3; 4]]) {
        lanes::dispatch(Gradients { all: Batch { elements, vertices, x }, out });
    }

    /// Several hinges at once, one per lane.
    fn hessians(
        elements: &[Self],
        vertices: &[[u32; 4]],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let (out, _) = out.as_chunks_mut();
        lanes::dispatch(batch::Hessians { elements, vertices, x, projection, out });
    }
}

impl Hinge {
    /// 2c [∇θ ∇θᵀ + δ ∇²θ], δ = θ − θ̄, as it is or projected, in coordinates in which it falls into blocks.
    ///
    /// Sliding a corner along the edge by a multiple of e leaves θ as it is. Measured from their feet,
    /// let the corners move out by ρ r, turn by τ r and slide by (σ − ½ u·ε) r, and let the edge tilt by
    /// ε across itself. Then θ changes by τ_b − τ_a in the first order and by
    ///
    /// ρ_a τ_a − ρ_b τ_b + σ_a (t×u_a)·ε − σ_b (t×u_b)·ε
    ///
    /// in the second. With sums and differences over √2 of what belongs to a and b, the Hessian over 2c
    /// is [[2, −δ], [−δ, 0]] for the difference of τ and the sum of ρ, [[0, −δ], [−δ, 0]] for the sum
    /// of τ and the difference of ρ, and δ [[0, B], [Bᵀ, 0]] for (σ_a, σ_b) and ε, whose projection is
    /// |δ|/2 [[(BBᵀ)^½, ±B], [±Bᵀ, (BᵀB)^½]].
    // long: one formula, with its matrices written out
    fn second_derivative(&self, x: &[Vec3; 4], project: bool) -> Hessian<4> {
        let view = View::new(x);
        let bent = self.bend(x);
        let mut c = [[0.0; 4]; 4];
        // for (difference of τ, sum of ρ): projected λ v vᵀ of the positive eigenvalue
        let value = 1.0 + (1.0 + bent * bent).sqrt();
        let scale = value / (value * value + bent * bent);
        let [dd, ds, ss] = match project {
            true => [scale * value * value, -scale * value * bent, scale * bent * bent],
            false => [2.0, -bent, 0.0],
        };
        // for (sum of τ, difference of ρ): projected, half of [[|δ|, −δ], [−δ, |δ|]]
        let [half, mixed] = if project { [0.5 * bent.abs(), -0.5 * bent] } else { [0.0, -bent] };
        // ρ_a, ρ_b, τ_a, τ_b by sums (s) and differences (d = b − a)
        for i in 0..2 {
            for j in 0..2 {
                let (si, sj) = (i as f64 * 2.0 - 1.0, j as f64 * 2.0 - 1.0);
                c[i][j] = 0.5 * (ss + half * si * sj);
                c[2 + i][2 + j] = 0.5 * (dd * si * sj + half);
                c[i][2 + j] = 0.5 * (ds * sj + mixed * si);
                c[2 + j][i] = c[i][2 + j];
            }
        }
        // (σ_a, σ_b) and ε in the basis (u_a, t × u_a)
        let b = [[0.0, 1.0], [-view.turn[1].dot(&view.out[0]), -view.turn[1].dot(&view.turn[0])]];
        let rows = root([
            [b[0][0] * b[0][0] + b[0][1] * b[0][1], b[0][0] * b[1][0] + b[0][1] * b[1][1]],
            [0.0, b[1][0] * b[1][0] + b[1][1] * b[1][1]],
        ]);
        let columns = root([
            [b[0][0] * b[0][0] + b[1][0] * b[1][0], b[0][0] * b[0][1] + b[1][0] * b[1][1]],
            [0.0, b[0][1] * b[0][1] + b[1][1] * b[1][1]],
        ]);
        let mut d = [[0.0; 4]; 4];
        for i in 0..2 {
            for j in 0..2 {
                d[i][j] = half * rows[i][j];
                d[2 + i][2 + j] = half * columns[i][j];
                d[i][2 + j] = -mixed * b[i][j];
                d[2 + j][i] = d[i][2 + j];
            }
        }
        let q = view.quantities();
        let mut weighted = [[0.0; 9]; 8];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..9 {
                    weighted[i][k] += c[i][j] * q[j][k];
                    weighted[4 + i][k] += d[i][j] * q[4 + j][k];
                }
            }
        }
        let mut m = [[0.0; 9]; 9];
        for (q, w) in q.iter().zip(&weighted) {
            for i in 0..9 {
                for j in 0..9 {
                    m[i][j] += q[i] * w[j];
                }
            }
        }
        let scale = 2.0 * self.stiffness;
        let h: [[Mat3; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| Mat3::from_fn(|r, s| scale * m[3 * i + r][3 * j + s]))
        });
        from_relative(&h)
    }
}

/// Square root of a positive semidefinite 2×2 matrix, of which the entry below the diagonal is not
/// read: (M + √det M)/√(tr M + 2 √det M).
fn root(m: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let det = (m[0][0] * m[1][1] - m[0][1] * m[0][1]).max(0.0).sqrt();
    let over = 1.0 / (m[0][0] + m[1][1] + 2.0 * det).sqrt();
    [[(m[0][0] + det) * over, m[0][1] * over], [m[0][1] * over, (m[1][1] + det) * over]]
}

/// Blocks by vertices 0 … 3 of a function of (x₁−x₀, x₂−x₀, x₃−x₀).
fn from_relative(h: &[[Mat3; 3]; 3]) -> Hessian<4> {
    let mut out = [[Mat3::zeros(); 4]; 4];
    for i in 0..3 {
        for j in 0..3 {
            out[i + 1][j + 1] = h[i][j];
            out[0][j + 1] -= h[i][j];
            out[i + 1][0] -= h[i][j];
            out[0][0] += h[i][j];
        }
    }
    out
}
