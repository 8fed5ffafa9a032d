//! Bending and twisting energy of a joint of a rod: a vertex between two segments
//! [Bergou 2008; Bergou 2010; Li 2020 thesis, §2.2.3 and App. M].
//!
//! With the segments' vectors e, f and unit tangents t, u, the curvature binormal is
//! κb = 2 e × f/(|e||f| + e·f), of length 2 tan(φ/2), and over the length l̄ = (|ē| + |f̄|)/2 that the
//! joint stands for
//!
//! Ψ = B/(2l̄) · ½ Σ_{j=e,f} |κb − K_j|² + C/(2l̄) (m − m̄)²,   B = E π r⁴/4,  C = G π r⁴/2.
//!
//! K_j is the joint's rest curvature, fixed to the material of segment j, and m the twist: the
//! angle from the material frame of e, carried over to f without twist, to that of f.
//!
//! A segment's frame is its director at the start of the step, carried along by the smallest turn
//! of its tangent and turned by its angle about the tangent since then; angles are unknowns. The
//! unknown is s = r θ, the way of a point on the rod's surface in m, in the first component of a
//! vertex of its own. The energy is a pure function of positions and angles, given the directors.

use super::dual::{Dual, Number, Triple};
use super::element::{Element, Hessian};
use standoff_linalg::{Mat3, Vec3, project_psd_array};

/// Number of variables of a joint: e, f and both angles.
const N: usize = 8;

/// A segment's tangent and director at the start of a step, unit vectors perpendicular to each
/// other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Tangent.
    pub tangent: Vec3,
    /// Director.
    pub director: Vec3,
}

/// One joint. Vertices: x₀, x₁, x₂ along the rod, then those of the angles of segments (x₀, x₁) and
/// (x₁, x₂).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RodJoint {
    /// B/(2l̄), J.
    bending: f64,
    /// C/(2l̄), J.
    twisting: f64,
    /// m̄, rad.
    rest_twist: f64,
    /// Rest curvature by the director and by tangent × director, of both segments.
    rest_curvature: [[f64; 2]; 2],
    /// Radii of both segments, m.
    radius: [f64; 2],
    /// Frames of both segments at the start of the step.
    frames: [Frame; 2],
    /// Twist of the frames at the start of the step, rad; counts whole turns.
    frame_twist: f64,
}

/// What a rod is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RodMaterial {
    /// Radius r, m.
    pub radius: f64,
    /// Young's modulus E, Pa.
    pub young_modulus: f64,
    /// Poisson's ratio ν: the shear modulus is G = E/(2(1+ν)).
    pub poisson_ratio: f64,
}

impl RodMaterial {
    /// Bending stiffness B = E π r⁴/4, N m².
    pub fn bending_stiffness(&self) -> f64 {
        self.young_modulus * std::f64::consts::PI * self.radius.powi(4) / 4.0
    }

    /// Twisting stiffness C = G π r⁴/2, N m².
    pub fn twisting_stiffness(&self) -> f64 {
        let shear = 0.5 * self.young_modulus / (1.0 + self.poisson_ratio);
        shear * std::f64::consts::PI * self.radius.powi(4) / 2.0
    }
}

/// Curvature binormal κb of two segments.
pub fn curvature_binormal(e: &Vec3, f: &Vec3) -> Vec3 {
    e.cross(f) * (2.0 / (e.norm() * f.norm() + e.dot(f)))
}

/// Carries a vector perpendicular to the unit vector `from` along by the smallest rotation that
/// takes `from` to the unit vector `to`.
pub fn transport(v: &Vec3, from: &Vec3, to: &Vec3) -> Vec3 {
    v - (from + to) * (to.dot(v) / (1.0 + from.dot(to)))
}

/// Angle about `tangent` from `a` to `b`, rad.
pub fn angle_about(tangent: &Vec3, a: &Vec3, b: &Vec3) -> f64 {
    tangent.dot(&a.cross(b)).atan2(a.dot(b))
}

impl RodJoint {
    /// A joint of rest length l̄ (m) with the rest curvature that it has in the frames
    /// `rest`, and rest twist m̄ (rad).
    pub fn new(
        material: &RodMaterial,
        rest_length: f64,
        rest: [Frame; 2],
        rest_curvature: Vec3,
        rest_twist: f64,
    ) -> Self {
        let components = |f: &Frame| {
            let other = f.tangent.cross(&f.director);
            [rest_curvature.dot(&f.director), rest_curvature.dot(&other)]
        };
        Self {
            bending: 0.5 * material.bending_stiffness() / rest_length,
            twisting: 0.5 * material.twisting_stiffness() / rest_length,
            rest_twist,
            rest_curvature: [components(&rest[0]), components(&rest[1])],
            radius: [material.radius; 2],
            frames: rest,
            frame_twist: 0.0,
        }
    }

    /// Twist of two frames, of the turns that bring it closest to `near`, rad.
    pub fn twist_of_frames(frames: &[Frame; 2], near: f64) -> f64 {
        let [a, b] = frames;
        let carried = transport(&a.director, &a.tangent, &b.tangent);
        let angle = angle_about(&b.tangent, &carried, &b.director);
        angle + std::f64::consts::TAU * ((near - angle) / std::f64::consts::TAU).round()
    }

    /// Takes up the frames of a step's start with their twist.
    pub fn set_frames(&mut self, frames: [Frame; 2], twist: f64) {
        self.frames = frames;
        self.frame_twist = twist;
    }

    /// Twist m at vertex positions `x`, rad.
    pub fn twist(&self, x: &[Vec3; 5]) -> f64 {
        let (t, u) = ((x[1] - x[0]).normalize(), (x[2] - x[1]).normalize());
        let moved = |f: &Frame, t: Vec3| Frame {
            tangent: t,
            director: transport(&f.director, &f.tangent, &t),
        };
        let frames = [moved(&self.frames[0], t), moved(&self.frames[1], u)];
        let [a, b] = self.angles(x);
        Self::twist_of_frames(&frames, self.frame_twist) + b - a
    }

    /// Twisting moment C/l̄ (m − m̄), N m.
    pub fn moment(&self, x: &[Vec3; 5]) -> f64 {
        2.0 * self.twisting * (self.twist(x) - self.rest_twist)
    }

    /// Rest curvature vector of segment `j` at tangent `t` and angle `theta`.
    pub fn rest_curvature(&self, j: usize, t: &Vec3, theta: f64) -> Vec3 {
        let d = transport(&self.frames[j].director, &self.frames[j].tangent, t);
        let other = t.cross(&d);
        let [a, b] = self.rest_curvature[j];
        let (s, c) = theta.sin_cos();
        d * (a * c - b * s) + other * (a * s + b * c)
    }

    fn is_straight(&self) -> bool {
        self.rest_curvature == [[0.0; 2]; 2]
    }

    #[inline]
    fn angles(&self, x: &[Vec3; 5]) -> [f64; 2] {
        [x[3].x / self.radius[0], x[4].x / self.radius[1]]
    }

    /// Gradient of the energy by e, f, θ_e, θ_f, where the twist is `twist`.
    ///
    /// With C(a, b) = a × b/(1 + a·b), the gradients of the twist of directors that are carried from the tangents t₀, u₀
    /// of the start of the step are [C(t, u) − C(t, t₀)]/|e| and [C(t, u) + C(u, u₀)]/|f|: those of [Bergou 2010]
    /// and what the directors turn about their tangents on the way. A rest curvature K_j turns as much.
    #[inline(always)]
    fn gradient_of<T: Number<N>>(
        &self,
        e: &Triple<T>,
        f: &Triple<T>,
        angles: [T; 2],
        twist: f64,
    ) -> [T; N] {
        let over_length = [e, f].map(|v| v.dot(v).sqrt().recip());
        let (t, u) = (e.scaled(over_length[0]), f.scaled(over_length[1]));
        let cosine = t.dot(&u);
        let over = (T::constant(1.0) + cosine).recip();
        let half_binormal = t.cross(&u).scaled(over);

        // |κb|² = 4 (1 − t·u)/(1 + t·u)
        let slope = over * over * (-8.0 * self.bending);
        let mut by_e = u.minus(&t.scaled(cosine)).scaled(slope);
        let mut by_f = t.minus(&u.scaled(cosine)).scaled(slope);
        let mut by_angle = [T::constant(0.0); 2];

        let turned = [(&self.frames[0], &t), (&self.frames[1], &u)]
            .map(|(frame, t)| half_curvature(t, &Triple::constant(&frame.tangent)));
        if !self.is_straight() {
            for (j, tangent) in [&t, &u].into_iter().enumerate() {
                // −B/(2l̄) κb·K
                let k = self.rest_curvature_of(j, tangent, angles[j]);
                let factor = over * (-2.0 * self.bending);
                let along = half_binormal.dot(&k);
                let (to_e, to_f) = (u.cross(&k), k.cross(&t));
                by_e = by_e.plus(&perpendicular(&to_e.minus(&u.scaled(along)), &t).scaled(factor));
                by_f = by_f.plus(&perpendicular(&to_f.minus(&t.scaled(along)), &u).scaled(factor));
                let moment = half_binormal.dot(&tangent.cross(&k)) * (-2.0 * self.bending);
                let by_tangent = turned[j].scaled(moment);
                if j == 0 {
                    by_e = by_e.plus(&by_tangent);
                } else {
                    by_f = by_f.plus(&by_tangent);
                }
                by_angle[j] = by_angle[j] + moment;
            }
        }

        let twist_by_e = half_binormal.minus(&turned[0]).scaled(over_length[0]);
        let twist_by_f = half_binormal.plus(&turned[1]).scaled(over_length[1]);
        let ([a, b, c], [x, y, z]) = (twist_by_e.0, twist_by_f.0);
        let twist_by = [a, b, c, x, y, z, T::constant(-1.0), T::constant(1.0)];
        let moment = T::with_gradient(twist - self.rest_twist, &twist_by) * (2.0 * self.twisting);
        let ([a, b, c], [x, y, z]) = (by_e.scaled(over_length[0]).0, by_f.scaled(over_length[1]).0);
        let bend_by = [a, b, c, x, y, z, by_angle[0], by_angle[1]];
        std::array::from_fn(|i| bend_by[i] + moment * twist_by[i])
    }

    /// [`Self::rest_curvature`] for any number.
    #[inline(always)]
    fn rest_curvature_of<T: Number<N>>(&self, j: usize, t: &Triple<T>, angle: T) -> Triple<T> {
        let frame = &self.frames[j];
        let (from, v) = (Triple::constant(&frame.tangent), Triple::constant(&frame.director));
        let c = t.dot(&v) * (T::constant(1.0) + t.dot(&from)).recip();
        let d = v.minus(&from.plus(t).scaled(c));
        let ([a, b], (sin, cos)) = (self.rest_curvature[j], angle.sin_cos());
        d.scaled(cos * a - sin * b).plus(&t.cross(&d).scaled(sin * a + cos * b))
    }

    /// Gradient and Hessian of the energy by e, f, θ_e, θ_f.
    fn derivatives(&self, x: &[Vec3; 5]) -> [Dual<N>; N] {
        let (e, f) = (x[1] - x[0], x[2] - x[1]);
        let variables = |v: &Vec3, first: usize| {
            Triple(std::array::from_fn(|k| Dual::variable(v[k], first + k)))
        };
        let [a, b] = self.angles(x);
        let angles = [Dual::variable(a, 6), Dual::variable(b, 7)];
        self.gradient_of(&variables(&e, 0), &variables(&f, 3), angles, self.twist(x))
    }
}

/// C(a, b) = a × b/(1 + a·b) of unit vectors.
#[inline(always)]
fn half_curvature<T: Number<N>>(a: &Triple<T>, b: &Triple<T>) -> Triple<T> {
    a.cross(b).scaled((T::constant(1.0) + a.dot(b)).recip())
}

/// The part of v that is perpendicular to the unit vector t.
#[inline(always)]
fn perpendicular<T: Number<N>>(v: &Triple<T>, t: &Triple<T>) -> Triple<T> {
    v.minus(&t.scaled(v.dot(t)))
}

impl Element<5> for RodJoint {
    const NAME: &'static str = "rod joints";
    /// Angles are unknowns.
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; 5]) -> f64 {
        let (e, f) = (x[1] - x[0], x[2] - x[1]);
        let kb = curvature_binormal(&e, &f);
        let [theta_e, theta_f] = self.angles(x);
        let mut bend = kb.norm_squared();
        if !self.is_straight() {
            let k = [(e.normalize(), theta_e), (f.normalize(), theta_f)];
            bend = (0..2)
                .map(|j| 0.5 * (kb - self.rest_curvature(j, &k[j].0, k[j].1)).norm_squared())
                .sum();
        }
        let value = self.bending * bend + self.twisting * (self.twist(x) - self.rest_twist).powi(2);
        if value.is_nan() { f64::INFINITY } else { value }
    }

    fn gradient(&self, x: &[Vec3; 5]) -> [Vec3; 5] {
        let constant = |v: Vec3| Triple([v.x, v.y, v.z]);
        let (e, f) = (constant(x[1] - x[0]), constant(x[2] - x[1]));
        let d = self.gradient_of(&e, &f, self.angles(x), self.twist(x));
        let (e, f) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
        let angle = |k: usize| Vec3::new(d[6 + k] / self.radius[k], 0.0, 0.0);
        [-e, e - f, f, angle(0), angle(1)]
    }

    /// Projected in the coordinates (e, f, s_e, s_f). The angles' idle components get the stiffness
    /// of the twist, which keeps the matrix definite and moves nothing.
    fn hessian_psd(&self, x: &[Vec3; 5]) -> Hessian<5> {
        let mut m = self.second_derivative(x);
        project_psd_array(&mut m);
        self.blocks(&m)
    }

    fn hessian(&self, x: &[Vec3; 5]) -> Hessian<5> {
        self.blocks(&self.second_derivative(x))
    }
}

impl RodJoint {
    /// The second derivative in the coordinates (e, f, s_e, s_f).
    fn second_derivative(&self, x: &[Vec3; 5]) -> [[f64; N]; N] {
        let rows = self.derivatives(x);
        let mut m: [[f64; N]; N] =
            std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (rows[i].d[j] + rows[j].d[i])));
        let scale = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 / self.radius[0], 1.0 / self.radius[1]];
        for i in 0..N {
            for j in 0..N {
                m[i][j] *= scale[i] * scale[j];
            }
        }
        m
    }

    /// Blocks by the vertices of a function of (e, f, s_e, s_f).
    fn blocks(&self, m: &[[f64; N]; N]) -> Hessian<5> {
        let block = |a: usize, b: usize| Mat3::from_fn(|r, s| m[3 * a + r][3 * b + s]);
        let (ee, ef, ff) = (block(0, 0), block(0, 1), block(1, 1));
        let fe = ef.transpose();
        let mut h = [[Mat3::zeros(); 5]; 5];
        h[0][0] = ee;
        h[0][1] = ef - ee;
        h[0][2] = -ef;
        h[1][1] = ee - ef - fe + ff;
        h[1][2] = ef - ff;
        h[2][2] = ff;
        for k in 0..2 {
            let column =
                |a: usize| Mat3::from_fn(|r, c| if c == 0 { m[3 * a + r][6 + k] } else { 0.0 });
            let (e, f) = (column(0), column(1));
            h[0][3 + k] = -e;
            h[1][3 + k] = e - f;
            h[2][3 + k] = f;
            let idle = 2.0 * self.twisting / (self.radius[k] * self.radius[k]);
            h[3 + k][3 + k] = Mat3::from_diagonal(&Vec3::new(m[6 + k][6 + k], idle, idle));
        }
        h[3][4] = Mat3::from_diagonal(&Vec3::new(m[6][7], 0.0, 0.0));
        for a in 0..5 {
            for b in 0..a {
                h[a][b] = h[b][a].transpose();
            }
        }
        h
    }
}
