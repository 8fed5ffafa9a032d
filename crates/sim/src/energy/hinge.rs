//! Bending energy of a hinge, two triangles with a common edge:
//!
//! Ψ = c (θ − θ̄)²,  c = k · 3 |ē|²/Ā,  k = E ξ³ / (24 (1 − ν²)),
//!
//! with the dihedral angle θ (0 where flat), its rest value θ̄, the rest length |ē| of the edge, the
//! sum Ā of both rest areas and the thickness ξ [Grinspun 2003; Li 2020 thesis, §2.2.2]. θ goes on beyond
//! ±180°, where the triangles pass through each other ([`Turning`]).

#[cfg(test)]
mod tests;

use super::element::{Element, Hessian};
use super::formula::{self, Batch, Formula, Source, by_formula};
use super::projection::Projection;
use super::term::Role;
use super::turning::Turning;
use standoff_linalg::{M3, Mat3, Real, V3, Vec3, lanes};

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
    pub fn bend(&self, x: &[Vec3; 4]) -> f64 {
        Parameters::new(self).bend(angle(x))
    }

    /// Rest angle θ̄, rad.
    pub fn rest_angle(&self) -> f64 {
        self.rest_angle
    }
}

/// The dihedral angle θ in (−π, π], rad: 0 where the triangles lie in one plane on either side of
/// the edge, π where they are folded flat.
pub fn angle(x: &[Vec3; 4]) -> f64 {
    angle_of(&edges(&formula::plain(x)))
}

/// x₁−x₀, x₂−x₀, x₃−x₀.
#[inline(always)]
fn edges<R: Real>(x: &[V3<R>; 4]) -> [V3<R>; 3] {
    [x[1] - x[0], x[2] - x[0], x[3] - x[0]]
}

/// [`angle`] from the edge and the corners seen from its start.
#[inline(always)]
fn angle_of<R: Real>([e, p, q]: &[V3<R>; 3]) -> R {
    let (n1, n2) = (e.cross(p), q.cross(e));
    (n1.cross(&n2).dot(e) / e.norm()).atan2(n1.dot(&n2))
}

/// What a formula needs of a hinge.
struct Parameters<R> {
    stiffness: R,
    rest_angle: R,
    turning: Turning<R>,
}

impl<R: Real> Parameters<R> {
    #[inline(always)]
    fn new<S: Source<Hinge, R = R>>(of: S) -> Self {
        Self {
            stiffness: of.number(|h| h.stiffness),
            rest_angle: of.number(|h| h.rest_angle),
            turning: Turning {
                start: of.number(|h| h.turning.start),
                turns: of.number(|h| h.turning.turns),
            },
        }
    }

    /// θ − θ̄ from the angle of the arc tangent, rad.
    #[inline(always)]
    fn bend(&self, angle: R) -> R {
        self.turning.of(angle) - self.rest_angle
    }
}

/// A corner as seen along the edge.
#[derive(Clone, Copy)]
struct Side<R> {
    /// Where its foot lies on the edge, in units of it.
    foot: R,
    /// Inverse of its height r over the edge, 1/m.
    over_height: R,
    /// Direction u from the foot to the corner.
    out: V3<R>,
    /// t × u, in which the corner turns about the edge.
    turn: V3<R>,
}

/// The hinge as seen along its edge.
struct View<R> {
    /// Inverse of the length of the edge, 1/m.
    over_length: R,
    /// t, along the edge.
    along: V3<R>,
    /// The corners x₂ and x₃.
    sides: [Side<R>; 2],
}

impl<R: Real> View<R> {
    #[inline(always)]
    fn new([e, p, q]: &[V3<R>; 3]) -> Self {
        let ee = e.norm_squared();
        let over_length = ee.sqrt().recip();
        let along = *e * over_length;
        let sides = [Side::new(p, e, ee, &along), Side::new(q, e, ee, &along)];
        Self { over_length, along, sides }
    }
}

impl<R: Real> Side<R> {
    /// The corner `p` over the edge `e` of squared length `ee`.
    #[inline(always)]
    fn new(p: &V3<R>, e: &V3<R>, ee: R, along: &V3<R>) -> Self {
        let foot = p.dot(e) / ee;
        let across = *p - *e * foot;
        let over_height = across.norm().recip();
        let out = across * over_height;
        Self { foot, over_height, out, turn: along.cross(&out) }
    }

    /// Derivatives of ρ, τ and σ by the corner.
    #[inline(always)]
    fn local(&self, along: &V3<R>) -> [V3<R>; 3] {
        [self.out * self.over_height, self.turn * self.over_height, *along * self.over_height]
    }
}

impl Formula<4, 6> for Hinge {
    #[inline(always)]
    fn energy<S: Source<Self>>(of: S, x: &[V3<S::R>; 4]) -> S::R {
        let h = Parameters::new(of);
        let bent = h.bend(angle_of(&edges(x)));
        let value = h.stiffness * (bent * bent);
        let infinite = value.constant(f64::INFINITY);
        // also where it is NaN
        S::R::select(value.lt(infinite), value, infinite)
    }

    /// 2c (θ − θ̄) ∇θ: corner b turns by τ_b/r_b about the edge, a by τ_a/r_a.
    #[inline(always)]
    fn slope<S: Source<Self>>(of: S, x: &[V3<S::R>; 4]) -> [V3<S::R>; 4] {
        let edges = edges(x);
        let (h, angle, View { sides: [a, b], .. }) =
            (Parameters::new(of), angle_of(&edges), View::new(&edges));
        let slope = (h.stiffness + h.stiffness) * h.bend(angle);
        // a slope of 0 gives zeros, also where the hinge has no shape
        let zero = slope.constant(0.0);
        let (none, zeros) = (slope.abs().le(zero), V3::repeat(zero));
        let (by_a, by_b) = (a.turn * -(a.over_height * slope), b.turn * (b.over_height * slope));
        let foot_a = V3::select(none, &zeros, &(by_a * a.foot));
        let foot_b = V3::select(none, &zeros, &(by_b * b.foot));
        let (by_a, by_b) = (V3::select(none, &zeros, &by_a), V3::select(none, &zeros, &by_b));
        let by_e = -(foot_a + foot_b);
        [-(by_e + by_a + by_b), by_e, by_a, by_b]
    }

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
    #[inline(always)]
    // long: one formula, with its matrices written out
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; 4],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; 6] {
        let edges = edges(x);
        let View { over_length, along, sides: [a, b] } = View::new(&edges);
        let parameters = Parameters::new(of);
        let bent = parameters.bend(angle_of(&edges));
        let scale = parameters.stiffness + parameters.stiffness;
        let (zero, one) = (bent.constant(0.0), bent.constant(1.0));

        // the matrix of (ρ_a, ρ_b, τ_a, τ_b), c, and that of (σ_a, σ_b, ε₁, ε₂), d; projected λ v vᵀ of the positive eigenvalue
        let square = bent * bent;
        let value = (square + one).sqrt() + one;
        let positive = value / (value * value + square);
        let choose = |projected, as_it_is| S::R::select(project, projected, as_it_is);
        let dd = choose(positive * value * value, one + one);
        let ds = choose(-(positive * value * bent), -bent);
        let ss = choose(positive * square, zero);
        let size = choose(bent.abs() * 0.5, zero);
        let mixed = choose(-(bent * 0.5), -bent);
        let halves = scale * 0.5;
        let [same, other] = [halves * (ss + size), halves * (ss - size)];
        let [turn, against] = [halves * (size + dd), halves * (size - dd)];
        let [sum, difference] = [halves * (ds + mixed), halves * (ds - mixed)];
        let c = [
            [same, other, -sum, difference],
            [other, same, -difference, sum],
            [-sum, -difference, turn, against],
            [difference, sum, against, turn],
        ];
        let (m10, m11) = (-b.turn.dot(&a.out), -b.turn.dot(&a.turn));
        let rows = root([one, m11, m10 * m10 + m11 * m11]);
        let columns = root([m10 * m10, m10 * m11, one + m11 * m11]);
        let (size, mixed) = (size * scale, -(mixed * scale));
        let d = [
            [size * rows[0], size * rows[1], zero, mixed],
            [size * rows[1], size * rows[2], mixed * m10, mixed * m11],
            [zero, mixed * m10, size * columns[0], size * columns[1]],
            [mixed, mixed * m11, size * columns[1], size * columns[2]],
        ];

        // derivatives of the eight quantities by the corners a and b, and by e
        let [of_a, of_b] = [a.local(&along), b.local(&along)];
        let half_over = over_length * 0.5;
        let mut by_e = [[V3::repeat(zero); 4]; 2];
        for (k, (s, of)) in [(a, of_a), (b, of_b)].into_iter().enumerate() {
            by_e[0][k] = of[0] * -s.foot;
            by_e[0][2 + k] = of[1] * -s.foot;
            by_e[1][k] = s.out * half_over - of[2] * s.foot;
        }
        by_e[1][2] = a.out * over_length;
        by_e[1][3] = a.turn * over_length;

        // h_ij = Σ q_i K q_jᵀ for e, a and b
        let [mut wc, mut wd] = [[V3::repeat(zero); 4]; 2];
        let mut h00 = M3([V3::repeat(zero); 3]);
        for s in 0..4 {
            wc[s] = by(&c[s], &by_e[0]);
            wd[s] = by(&d[s], &by_e[1]);
            h00 = h00 + wc[s].dyad(&by_e[0][s]);
            h00 = h00 + wd[s].dyad(&by_e[1][s]);
        }
        let h01 = three(&[wc[0], wc[2], wd[0]], &of_a);
        let h02 = three(&[wc[1], wc[3], wd[1]], &of_b);
        let both = |of: &[V3<S::R>; 3], first, second| of[0] * first + of[1] * second;
        let [c0, c1, c2, c3] = c;
        let (a0, a1) = (both(&of_a, c0[0], c2[0]), both(&of_a, c0[2], c2[2]));
        let h11 = three(&[a0, a1, of_a[2] * d[0][0]], &of_a);
        let (a0, a1) = (both(&of_a, c0[1], c2[1]), both(&of_a, c0[3], c2[3]));
        let h12 = three(&[a0, a1, of_a[2] * d[0][1]], &of_b);
        let (b0, b1) = (both(&of_b, c1[1], c3[1]), both(&of_b, c1[3], c3[3]));
        let h22 = three(&[b0, b1, of_b[2] * d[1][1]], &of_b);
        formula::of_relative([h00, h11, h22], [h01, h02, h12])
    }
}

/// Square root of a positive semidefinite 2×2 matrix of entries (0,0), (0,1), (1,1): (M + √det M)/√(tr M + 2 √det M).
#[inline(always)]
fn root<R: Real>(m: [R; 3]) -> [R; 3] {
    let det = (m[0] * m[2] - m[1] * m[1]).max(m[0].constant(0.0)).sqrt();
    let over = (m[0] + m[2] + det + det).sqrt().recip();
    [(m[0] + det) * over, m[1] * over, (m[2] + det) * over]
}

/// Σ kᵣ qᵣ.
#[inline(always)]
fn by<R: Real>(k: &[R; 4], q: &[V3<R>; 4]) -> V3<R> {
    (q[0] * k[0] + q[1] * k[1]) + (q[2] * k[2] + q[3] * k[3])
}

/// Σ aₖ bₖᵀ.
#[inline(always)]
fn three<R: Real>(a: &[V3<R>; 3], b: &[V3<R>; 3]) -> M3<R> {
    a[0].dyad(&b[0]) + a[1].dyad(&b[1]) + a[2].dyad(&b[2])
}

impl Element<4> for Hinge {
    const NAME: &'static str = "hinges";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.shell.bending_factor");

    by_formula!(4, 6);
}
