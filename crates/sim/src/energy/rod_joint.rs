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
//! κb and the twist are not defined where the segments fold back onto each other (φ = 180°), and κb grows
//! without bound towards that. Both depend on φ through 1/(1 + z), z = cos φ = t·u: |κb|² = 8/(1 + z) − 4 and
//! κb = 2 t × u/(1 + z). Below a cosine z₁ this function is continued by its Taylor polynomial of the second order
//! at z₁, h(z), and the energy of the twist is multiplied by w = y³ (10 − 15 y + 6 y²), y = (1 + z)/(1 + z₁):
//!
//! Ψ = B/(2l̄) [8 h − 4 − 2 h (t × u)·(K_e + K_f) + ½ |K_e|² + ½ |K_f|²] + w C/(2l̄) (m − m̄)²,
//!
//! which is twice continuously differentiable, never negative and bounded, with bounded forces, and has its
//! maximum at 180° where the joint is straight at rest. z₁ is −½ (φ = 120°), for joints that turn by more than
//! 90° at rest 1 + z₁ is half of 1 + z at rest, so that the shape at rest is far from it.
//!
//! A segment's frame is its director at the start of the step, carried along by the smallest turn
//! of its tangent and turned by its angle about the tangent since then; angles are unknowns. Where a segment turns by
//! 180° within a step its frame is not defined either: from 120° on, the energy of the twist and the term of the rest
//! curvature of segment j are multiplied by w with y = 2 (1 + t·t₀), and the energy of the twist also by w with
//! y = 3 (1 − |Δ|/π), Δ the change in the step of the twist of the carried frames, which counts turns by what is closest to
//! the start. The
//! unknown is s = r θ, the way of a point on the rod's surface in m, in the first component of a
//! vertex of its own. The energy is a pure function of positions and angles, given the directors.

// long: one formula, for values and for numbers with derivatives

mod fold;

use super::element::{Element, Hessian};
use super::term::Role;
use fold::{
    Fold, OPPOSITE, Weight, fade, fade_change, half_curvature, perpendicular, times, value,
};
use standoff_linalg::{Dual, Mat3, Real, V3, Vec3, project_psd_array};

/// Number of variables of a joint: e, f and both angles.
const N: usize = 8;

/// 1 + t·t₀ below which a segment has turned so far in a step that its frame is not known well: by 120°.
const FAR: f64 = 0.5;

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
    /// 1 + z₁, from which on the curvature is continued.
    fold: f64,
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
/// takes `from` to the unit vector `to`; of opposite ones by the half turn about itself.
pub fn transport(v: &Vec3, from: &Vec3, to: &Vec3) -> Vec3 {
    let above = 1.0 + from.dot(to);
    if above <= OPPOSITE { *v } else { v - (from + to) * (to.dot(v) / above) }
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
        // of the joint at rest
        let above = 2.0 / (1.0 + 0.25 * rest_curvature.norm_squared());
        Self {
            fold: 0.5 * above.min(1.0),
            bending: 0.5 * material.bending_stiffness() / rest_length,
            twisting: 0.5 * material.twisting_stiffness() / rest_length,
            rest_twist,
            rest_curvature: [components(&rest[0]), components(&rest[1])],
            radius: [material.radius; 2],
            frames: rest,
            frame_twist: 0.0,
        }
    }

    /// Twist of two frames, of the turns that bring it closest to `near`, rad; `near` where their tangents are
    /// opposite.
    pub fn twist_of_frames(frames: &[Frame; 2], near: f64) -> f64 {
        let [a, b] = frames;
        if 1.0 + a.tangent.dot(&b.tangent) <= OPPOSITE {
            return near;
        }
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

    /// Twisting moment C/l̄ (m − m̄) of a joint that is not folded, N m.
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

    /// Whether it has no curvature at rest.
    pub fn is_straight(&self) -> bool {
        self.rest_curvature == [[0.0; 2]; 2]
    }

    #[inline]
    fn angles(&self, x: &[Vec3; 5]) -> [f64; 2] {
        [x[3].x / self.radius[0], x[4].x / self.radius[1]]
    }

    /// Gradient of the energy by e, f, θ_e, θ_f, given [`Self::twists`].
    ///
    /// With C(a, b) = a × b/(1 + a·b), the gradients of the twist of directors that are carried from the tangents t₀, u₀
    /// of the start of the step are [C(t, u) − C(t, t₀)]/|e| and [C(t, u) + C(u, u₀)]/|f|: those of [Bergou 2010]
    /// and what the directors turn about their tangents on the way. A rest curvature K_j turns as much.
    #[inline(always)]
    // long: one formula, part by part
    fn gradient_of<T: Real<Mask = bool>>(
        &self,
        e: &V3<T>,
        f: &V3<T>,
        angles: [T; 2],
        [twist, change]: [f64; 2],
    ) -> [T; N] {
        let over_length = [e, f].map(|v| v.dot(v).sqrt().recip());
        let (t, u) = (*e * over_length[0], *f * over_length[1]);
        let cosine = t.dot(&u);
        let fold = Fold::new(cosine + 1.0, self.fold);
        let half_binormal = t.cross(&u) * fold.h;
        let turned = [(&self.frames[0], &t), (&self.frames[1], &u)]
            .map(|(frame, t)| half_curvature(t, &V3::constant(cosine, &frame.tangent)));

        // where the fold is sharp the gradient of the twist is not that of the continued curvature
        let carried = if fold.weight.is_none() { half_binormal } else { half_curvature(&t, &u) };
        let [a, b, c] = ((carried - turned[0]) * over_length[0]).0;
        let [x, y, z] = ((carried + turned[1]) * over_length[1]).0;
        let (zero, one) = (cosine.constant(0.0), cosine.constant(1.0));
        let by_frames = [a, b, c, x, y, z, zero, zero];
        let twist_by = [a, b, c, x, y, z, -one, one];
        let twisted = zero.constant(twist - self.rest_twist).with_gradient(&twist_by);
        let faded = self.faded([&t, &u]);
        let weights = [fold.weight, faded[0], faded[1], fade_change(change, &by_frames)];
        let [by_cosine, by_turns @ .., by_change] = self.fading(twisted, &weights);
        let moment =
            weights.iter().fold(twisted * (2.0 * self.twisting), |m, w| times(m, value(w)));

        // |κb|² = 8 h − 4
        let mut slope = fold.slope * (8.0 * self.bending);
        if let Some(by_cosine) = by_cosine {
            slope = slope + by_cosine;
        }
        let [by_e, by_f] = [(&t, &u), (&u, &t)].map(|(a, b)| *b - *a * cosine);
        let mut by = ([by_e * slope, by_f * slope], [zero; 2]);
        for (j, tangent) in [&t, &u].into_iter().enumerate() {
            if let Some(factor) = by_turns[j] {
                let from = V3::constant(factor, &self.frames[j].tangent);
                by.0[j] = by.0[j] + perpendicular(&from, tangent) * factor;
            }
        }
        if !self.is_straight() {
            let turned = [0, 1].map(|j| (turned[j], faded[j]));
            self.add_rest_curvature([&t, &u], angles, &half_binormal, &fold, &turned, &mut by);
        }
        let ([by_e, by_f], [angle_e, angle_f]) = by;
        let ([a, b, c], [x, y, z]) = ((by_e * over_length[0]).0, (by_f * over_length[1]).0);
        let bend_by = [a, b, c, x, y, z, angle_e, angle_f];
        let add = |i: usize, sum: T| by_change.map_or(sum, |n| sum + n * by_frames[i]);
        std::array::from_fn(|i| add(i, bend_by[i] + moment * twist_by[i]))
    }

    /// The energy of the twist times the derivative of each weight and the other weights.
    #[inline(always)]
    fn fading<T: Real<Mask = bool>>(&self, twisted: T, weights: &[Weight<T>; 4]) -> [Option<T>; 4] {
        let energy = twisted * twisted * self.twisting;
        std::array::from_fn(|k| {
            let [_, slope] = weights[k]?;
            let others = weights.iter().enumerate().filter(|(other, _)| *other != k);
            Some(others.fold(energy * slope, |e, (_, w)| times(e, value(w))))
        })
    }

    /// [`fade`] of each segment by how far it has turned in the step.
    #[inline(always)]
    fn faded<T: Real<Mask = bool>>(&self, tangents: [&V3<T>; 2]) -> [Weight<T>; 2] {
        std::array::from_fn(|j| {
            let from = V3::constant(tangents[j][0], &self.frames[j].tangent);
            fade(tangents[j].dot(&from) + 1.0, FAR)
        })
    }

    /// Adds the gradient of −B/(2l̄) κb·(K_e + K_f) to that by the tangents and angles.
    #[inline(always)]
    fn add_rest_curvature<T: Real<Mask = bool>>(
        &self,
        tangents: [&V3<T>; 2],
        angles: [T; 2],
        half_binormal: &V3<T>,
        fold: &Fold<T>,
        turned: &[(V3<T>, Weight<T>); 2],
        (by_tangent, by_angle): &mut ([V3<T>; 2], [T; 2]),
    ) {
        let [t, u] = tangents;
        for (j, tangent) in tangents.into_iter().enumerate() {
            let k = self.rest_curvature_of(j, tangent, angles[j]);
            let (turned, faded) = &turned[j];
            let weight = faded.map(|w| w[0]);
            let factor = times(fold.h * (-2.0 * self.bending), weight);
            let along = half_binormal.dot(&k) * fold.steepness;
            let (to_e, to_f) = (u.cross(&k), k.cross(t));
            let by_e = perpendicular(&(to_e - *u * along), t) * factor;
            let by_f = perpendicular(&(to_f - *t * along), u) * factor;
            let moment = half_binormal.dot(&tangent.cross(&k)) * (-2.0 * self.bending);
            let moment = times(moment, weight);
            *by_tangent = [by_tangent[0] + by_e, by_tangent[1] + by_f];
            by_tangent[j] = by_tangent[j] + *turned * moment;
            if let Some([_, by_cosine]) = faded {
                let from = V3::constant(moment, &self.frames[j].tangent);
                let factor = half_binormal.dot(&k) * *by_cosine * (-2.0 * self.bending);
                by_tangent[j] = by_tangent[j] + perpendicular(&from, tangent) * factor;
            }
            by_angle[j] = by_angle[j] + moment;
        }
    }

    /// [`Self::rest_curvature`] for any number.
    #[inline(always)]
    fn rest_curvature_of<T: Real<Mask = bool>>(&self, j: usize, t: &V3<T>, angle: T) -> V3<T> {
        let frame = &self.frames[j];
        let (from, v) = (V3::constant(angle, &frame.tangent), V3::constant(angle, &frame.director));
        let c = t.dot(&v) * (t.dot(&from) + 1.0).recip();
        let d = v - (from + *t) * c;
        let ([a, b], (sin, cos)) = (self.rest_curvature[j], angle.sin_cos());
        d * (cos * a - sin * b) + t.cross(&d) * (sin * a + cos * b)
    }

    /// The twist m, and how much that of the carried frames has changed in the step, rad.
    fn twists(&self, x: &[Vec3; 5]) -> [f64; 2] {
        let (twist, [a, b]) = (self.twist(x), self.angles(x));
        [twist, twist - (b - a) - self.frame_twist]
    }

    /// Gradient and Hessian of the energy by e, f, θ_e, θ_f.
    fn derivatives(&self, x: &[Vec3; 5]) -> [Dual<f64, N>; N] {
        let (e, f) = (x[1] - x[0], x[2] - x[1]);
        let variables =
            |v: &Vec3, first: usize| V3(std::array::from_fn(|k| Dual::variable(v[k], first + k)));
        let [a, b] = self.angles(x);
        let angles = [Dual::variable(a, 6), Dual::variable(b, 7)];
        self.gradient_of(&variables(&e, 0), &variables(&f, 3), angles, self.twists(x))
    }
}

impl Element<5> for RodJoint {
    const NAME: &'static str = "rod joints";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("radius");
    /// Angles are unknowns.
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; 5]) -> f64 {
        let (e, f) = (x[1] - x[0], x[2] - x[1]);
        let (t, u) = (e.normalize(), f.normalize());
        let fold = Fold::new(1.0 + t.dot(&u), self.fold);
        let kb = match fold.weight {
            None => curvature_binormal(&e, &f),
            Some(_) => t.cross(&u) * (2.0 * fold.h),
        };
        let k = match self.is_straight() {
            true => [Vec3::zeros(); 2],
            false => {
                let [theta_e, theta_f] = self.angles(x);
                [self.rest_curvature(0, &t, theta_e), self.rest_curvature(1, &u, theta_f)]
            }
        };
        let faded = self.faded([&(&t).into(), &(&u).into()]);
        let weight = |faded: Option<[f64; 2]>| faded.map_or(1.0, |w| w[0]);
        let from_rest = |j: usize| match faded[j] {
            // without cancellation where the joint is nearly as at rest
            None => 0.5 * (kb - k[j]).norm_squared(),
            // without what rounding makes of the length of a vector that is carried far
            Some([weight, _]) => {
                let [a, b] = self.rest_curvature[j];
                0.5 * (kb.norm_squared() + a * a + b * b) - weight * kb.dot(&k[j])
            }
        };
        let mut bend = from_rest(0) + from_rest(1);
        if fold.weight.is_some() {
            bend += 8.0 * fold.h - 4.0 - kb.norm_squared();
        }
        let [twist, change] = self.twists(x);
        let change = weight(fade_change(change, &[0.0; N]));
        let all = weight(fold.weight) * weight(faded[0]) * weight(faded[1]) * change;
        let value = self.bending * bend + all * self.twisting * (twist - self.rest_twist).powi(2);
        if value.is_nan() { f64::INFINITY } else { value }
    }

    fn gradient(&self, x: &[Vec3; 5]) -> [Vec3; 5] {
        let (e, f) = (&(x[1] - x[0]), &(x[2] - x[1]));
        let d = self.gradient_of(&e.into(), &f.into(), self.angles(x), self.twists(x));
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
