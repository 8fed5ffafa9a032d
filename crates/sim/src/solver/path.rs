//! Where an iterate goes along a direction: straight on, but rigid bodies and rods of one segment turn.

// long: half of it are the tests of every kind of path

use crate::body::Body;
use crate::clock::Phase;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::solver::linkage::{Affine, Linkage};
use crate::solver::workspace::Workspace;
use crate::thresholds::{FITS, KEEP_GAP, KEEP_PLANE_GAP, MOST_TURN};
use standoff_linalg::nalgebra::Rotation3;
use standoff_linalg::{Mat3, Vec3};
use std::ops::Range;

/// What limited the first step length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepLimit {
    /// Nothing: the whole Newton direction is admissible.
    None,
    /// Two surfaces would come too close.
    Contact,
    /// A vertex would come too close to a half-space.
    HalfSpace,
    /// An element would invert.
    Inversion,
}

/// The positions x(α) that a line search tries, from x(0) = x with x'(0) = p.
///
/// All vertices go to x + α p but those of rigid bodies, whose control points would move apart on tangents: a turn by θ stretches the
/// body by θ²/2, and the energy that keeps it rigid would let each iteration turn it by a thousandth. With the mean u of p over the
/// control points and the affine map L that p is about their mean c, a point at c + d goes to c + α u + exp(α ω) (I + α S) d, where
/// ω is the skew part of L and S the symmetric one. To first order that is x + α p. From x to x(α) vertices move on straight lines, which
/// collision detection sweeps. Bodies with joints go as a `Linkage`.
///
/// A rod of one segment would become longer by θ²/2 on straight lines too, and its stiffness against that is far above all else. With half
/// of its way r and the half q of the difference of its ends' directions its ends are at (|r| + α q·r/|r|) (r + α q)/|r + α q| from
/// its middle, which goes straight on: where the straight path would turn it to, with the length that it would have to first order.
#[derive(Debug)]
pub struct Path<'a> {
    model: &'a Model,
    p: &'a [Vec3],
    turns: Vec<Turn>,
    bars: Vec<Bar>,
    linkage: Option<Linkage<'a>>,
    /// x(α) − x of the last α that was tried, where bodies turn.
    displacement: Vec<Vec3>,
}

/// How a rod of one segment goes.
#[derive(Debug)]
struct Bar {
    ends: [usize; 2],
    /// Half of the way from the first end to the second one.
    half: Vec3,
    /// Displacement of the middle.
    shift: Vec3,
    /// By how much more than the middle the second end moves.
    turn: Vec3,
}

/// How a rigid body goes.
#[derive(Debug)]
struct Turn {
    control: Range<usize>,
    centre: Vec3,
    shift: Vec3,
    spin: Vec3,
    stretch: Mat3,
}

impl<'a> Path<'a> {
    /// The path from `x` along `p` (`#V`).
    pub fn new(model: &'a Model, x: &[Vec3], p: &'a [Vec3]) -> Self {
        let linkage = Linkage::new(model, x, p);
        let single = |b: &usize| model.bodies[*b].rigid && !model.joints.tree.has(*b);
        let rigid = (0..model.bodies.len()).filter(single).map(|b| &model.bodies[b]);
        let turns: Vec<Turn> = rigid.filter_map(|b| Turn::new(b.unknowns.clone(), x, p)).collect();
        let bar = |body| Bar::new(body, x, p);
        let is_held = |b: &&Body| b.vertices.clone().any(|v| model.map.is_carried(v));
        let bars: Vec<Bar> = match model.resolved.settings.solver.arcs {
            true => model.bodies.iter().filter(|b| !is_held(b)).filter_map(bar).collect(),
            false => Vec::new(),
        };
        let straight = turns.is_empty() && bars.is_empty() && linkage.is_none();
        let displacement = if straight { Vec::new() } else { p.to_vec() };
        Self { model, p, turns, bars, linkage, displacement }
    }

    /// Whether all vertices go straight on.
    fn is_straight(&self) -> bool {
        self.turns.is_empty() && self.bars.is_empty() && self.linkage.is_none()
    }

    /// The largest step length up to `alpha`, which is 1 or less than one that was found before, for which nothing touches and nothing
    /// inverts on the way to x(α). The detector then knows every pair that comes close.
    pub fn fit(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        alpha: f64,
        work: &mut Workspace,
    ) -> (f64, StepLimit) {
        if self.is_straight() {
            // what is shorter than an admissible step is admissible
            let whole = alpha == 1.0;
            return if whole {
                admissible(potential, it, self.p, work)
            } else {
                (alpha, StepLimit::None)
            };
        }
        let linked = self.linkage.as_ref().map_or(0.0, Linkage::fastest);
        let fastest = self.turns.iter().map(|t| t.spin.norm()).fold(linked, f64::max);
        let mut alpha = alpha.min(MOST_TURN / fastest);
        let mut limited = StepLimit::None;
        for tries in 0..FITS {
            self.turn(&it.x, alpha);
            let (part, limit) = admissible(potential, it, &self.displacement, work);
            if part == 1.0 {
                return (alpha, limited);
            }
            limited = limit;
            // the arc of a shorter step lies elsewhere, though not far from the part that is free
            alpha *= if tries == 0 { part } else { 0.5 * part };
        }
        // arcs that differ from step length to step length never fit: tangents do
        self.turns.clear();
        self.bars.clear();
        self.linkage = None;
        let (straight, limit) = admissible(potential, it, self.p, work);
        (straight.min(alpha), limit)
    }

    /// Puts x(α) into `out`; where bodies turn, for the α that fitted last.
    pub fn place(&self, x: &[Vec3], alpha: f64, out: &mut [Vec3]) {
        match self.is_straight() {
            true => (0..x.len()).for_each(|v| out[v] = x[v] + alpha * self.p[v]),
            false => (0..x.len()).for_each(|v| out[v] = x[v] + self.displacement[v]),
        }
    }

    /// Puts x(α) into `out`, whatever is in the way.
    #[cfg(test)]
    pub fn at(mut self, x: &[Vec3], alpha: f64, out: &mut [Vec3]) {
        self.turn(x, alpha);
        self.place(x, alpha, out);
    }

    /// Sets the displacement to that of a step length.
    fn turn(&mut self, x: &[Vec3], alpha: f64) {
        for (out, p) in self.displacement.iter_mut().zip(self.p) {
            *out = alpha * p;
        }
        for body in &self.turns {
            let turn = Rotation3::from_scaled_axis(alpha * body.spin).into_inner();
            let map = turn * (Mat3::identity() + alpha * body.stretch) - Mat3::identity();
            for v in body.control.clone() {
                self.displacement[v] = alpha * body.shift + map * (x[v] - body.centre);
            }
        }
        for bar in &self.bars {
            let ([a, b], turned) = (bar.ends, bar.turned(alpha));
            self.displacement[a] = alpha * bar.shift - turned;
            self.displacement[b] = alpha * bar.shift + turned;
        }
        if let Some(linkage) = &self.linkage {
            linkage.displace(x, alpha, &mut self.displacement);
        }
        self.model.map.spread(&mut self.displacement);
    }
}

impl Bar {
    /// None for another body, or one that does not turn.
    fn new(body: &Body, x: &[Vec3], p: &[Vec3]) -> Option<Self> {
        let is_bar = body.segments.len() == 1 && body.vertices.len() == 2 && !body.obstacle;
        if !is_bar {
            return None;
        }
        let ends @ [a, b] = [body.vertices.start, body.vertices.start + 1];
        let (half, shift, turn) = (0.5 * (x[b] - x[a]), 0.5 * (p[a] + p[b]), 0.5 * (p[b] - p[a]));
        (half.cross(&turn) != Vec3::zeros()).then_some(Self { ends, half, shift, turn })
    }

    /// By how much more than the middle the second end has moved after a step of length `alpha`.
    fn turned(&self, alpha: f64) -> Vec3 {
        let straight = self.half + alpha * self.turn;
        let length = self.half.norm() + alpha * self.turn.dot(&self.half) / self.half.norm();
        // one that would turn inside out goes straight on, where the strain tells what that is worth
        if length > 0.0 {
            straight * (length / straight.norm()) - self.half
        } else {
            alpha * self.turn
        }
    }
}

impl Turn {
    /// None where the body does not turn, or is no body any more.
    fn new(control: Range<usize>, x: &[Vec3], p: &[Vec3]) -> Option<Self> {
        let (centre, direction) = Affine::of(&control, x, p)?;
        let stretch = 0.5 * (direction.map + direction.map.transpose());
        let (shift, spin) = (direction.shift, direction.spin());
        (spin.norm() > 0.0).then_some(Self { control, centre, shift, spin, stretch })
    }
}

/// The part of a direction that joints let free.
#[cfg(test)]
pub fn kept(model: &Model, x: &[Vec3], p: &[Vec3]) -> Vec<Vec3> {
    let mut free = p.to_vec();
    if let Some(linkage) = Linkage::new(model, x, p) {
        linkage.free(x, &mut free);
        model.map.spread(&mut free);
    }
    free
}

/// The largest step length in [0, 1] along which nothing touches and nothing inverts. The detector
/// then knows every pair that comes close along that step.
pub fn admissible(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    p: &[Vec3],
    work: &mut Workspace,
) -> (f64, StepLimit) {
    let (clock, model) = (potential.context.clock, potential.context.model);
    let detector = &mut work.detector;
    let (mut alpha, mut limit) = (1.0, StepLimit::None);
    let inversion = potential.max_step(&it.x, p);
    if inversion < alpha {
        (alpha, limit) = (inversion, StepLimit::Inversion);
    }
    let plane = clock.time(Phase::Ccd, || detector.max_plane_step(model, &it.x, p, KEEP_PLANE_GAP));
    if plane < alpha {
        (alpha, limit) = (plane, StepLimit::HalfSpace);
    }
    // no further than the step can go: the boxes of a long step hold everything
    clock.time(Phase::BroadPhase, || detector.sweep(model, &it.x, p, alpha));
    let contact = clock.time(Phase::Ccd, || detector.max_step(model, &it.x, p, KEEP_GAP, alpha));
    if contact < alpha {
        (alpha, limit) = (contact, StepLimit::Contact);
    }
    (alpha, limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{BodyDef, BodyKind, Definition, JointDef, JointKind, MassProperties};
    use crate::energy::rod_joint::RodMaterial;
    use std::sync::Arc;

    fn tetrahedron() -> Model {
        let points = vec![
            Vec3::new(0.1, 0.0, 0.0),
            Vec3::new(1.0, 0.1, 0.0),
            Vec3::new(0.0, 1.2, 0.0),
            Vec3::new(0.2, 0.0, 0.7),
        ];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let masses = MassProperties::of_surface(&points, &triangles, 1000.0).unwrap();
        let body = BodyDef::rigid("a", points, Arc::new(triangles), &masses).unwrap();
        crate::build::build(&Definition { bodies: vec![body], ..Definition::default() }).unwrap().0
    }

    /// Any direction, and the positions of a path at a step length.
    fn direction(model: &Model) -> Vec<Vec3> {
        let wave = |v: usize| (v as f64 + 0.3).sin();
        let mut p: Vec<Vec3> =
            (0..model.rest.len()).map(|v| Vec3::new(wave(v), wave(2 * v), wave(3 * v))).collect();
        model.map.spread(&mut p);
        p
    }

    fn at(model: &Model, p: &[Vec3], alpha: f64) -> Vec<Vec3> {
        let mut x = model.rest.clone();
        Path::new(model, &model.rest, p).at(&model.rest, alpha, &mut x);
        x
    }

    #[test]
    fn a_path_begins_along_its_direction() {
        let model = tetrahedron();
        let p = direction(&model);
        let [e, there, back] = [1e-5, 1e-5, -1e-5];
        let [there, back] = [there, back].map(|alpha| at(&model, &p, alpha));
        for v in 0..p.len() {
            assert!(((there[v] - back[v]) / (2.0 * e) - p[v]).norm() < 1e-8);
        }
    }

    /// Two bodies of which the second hangs on the first by a joint with limits.
    fn joined(kind: JointKind) -> Model {
        let body = |name: &str, shift: Vec3| {
            let points = vec![
                Vec3::new(0.1, 0.0, 0.0) + shift,
                Vec3::new(1.0, 0.1, 0.0) + shift,
                Vec3::new(0.0, 1.2, 0.0) + shift,
                Vec3::new(0.2, 0.0, 0.7) + shift,
            ];
            let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
            let masses = MassProperties::of_surface(&points, &triangles, 1000.0).unwrap();
            BodyDef::rigid(name, points, Arc::new(triangles), &masses).unwrap()
        };
        let mut joint = JointDef::new(
            "j",
            kind,
            Some(0),
            1,
            Vec3::new(1.0, 0.5, 0.4),
            Vec3::new(1.0, 2.0, -1.0),
        );
        joint.second_point = Vec3::new(2.4, 0.7, 0.9);
        joint.limits = Some([-9.0, 9.0]);
        let definition = Definition {
            bodies: vec![body("a", Vec3::zeros()), body("b", Vec3::new(2.0, 0.5, 0.3))],
            joints: vec![joint],
            ..Definition::default()
        };
        crate::build::build(&definition).unwrap().0
    }

    /// Whatever else a direction does, also where it opens the joint, the coordinate with the limits goes as its first order says.
    #[test]
    fn coordinates_with_limits_go_linearly() {
        for kind in [JointKind::Prismatic, JointKind::Revolute, JointKind::Distance] {
            let model = joined(kind);
            let mut p = direction(&model);
            p.iter_mut().for_each(|p| *p *= 0.05);
            let e = 1e-5;
            let [there, back] = [e, -e].map(|alpha| at(&model, &p, alpha));
            for v in 0..p.len() {
                assert!(((there[v] - back[v]) / (2.0 * e) - p[v]).norm() < 1e-8, "{kind:?}");
            }
            let joint = &model.joints.all[0];
            let coordinate = joint.coordinate().unwrap();
            let value = |x: &[Vec3]| coordinate.value(&joint.gather(x), 0.0);
            let (start, rate) = (
                value(&model.rest),
                coordinate.rate(&joint.gather(&model.rest), &joint.gather(&p)),
            );
            assert!(rate.abs() > 1e-3, "{kind:?}: {rate}");
            for alpha in [0.3, 1.0] {
                let goal = start + alpha * rate;
                let error = value(&at(&model, &p, alpha)) - goal;
                // on straight lines it is off by the square of the turn
                let straight: Vec<Vec3> =
                    model.rest.iter().zip(&p).map(|(x, p)| x + alpha * p).collect();
                let off = value(&straight) - goal;
                assert!(error.abs() < off * off, "{kind:?}: {error:e}, straight {off:e}");
            }
        }
    }

    /// A rod of one segment, alone in a scene.
    fn rod() -> Definition {
        let material = RodMaterial { radius: 1e-3, young_modulus: 1e9, poisson_ratio: 0.3 };
        let segments = vec![[0, 1]];
        let (density, straight, natural_twist) = (1000.0, false, 0.0);
        let kind = BodyKind::Rod { segments, material, density, straight, natural_twist };
        let rest = vec![Vec3::new(0.1, 0.0, 0.2), Vec3::new(0.7, 0.3, -0.1)];
        let name = "rod".into();
        let bodies = vec![BodyDef { name, rest, kind, ..BodyDef::default() }];
        Definition { bodies, ..Definition::default() }
    }

    #[test]
    fn a_rod_of_one_segment_begins_along_its_direction_and_is_longer_by_what_the_first_order_says()
    {
        let model = crate::build::build(&rod()).unwrap().0;
        let p = direction(&model);
        let [there, back] = [1e-5, -1e-5].map(|alpha| at(&model, &p, alpha));
        for v in 0..2 {
            assert!(((there[v] - back[v]) / 2e-5 - p[v]).norm() < 1e-8);
        }
        let way = model.rest[1] - model.rest[0];
        for alpha in [0.1, 0.4] {
            let x = at(&model, &p, alpha);
            let expected = way.norm() + alpha * way.normalize().dot(&(p[1] - p[0]));
            assert!(((x[1] - x[0]).norm() - expected).abs() < 1e-14);
            // it does turn
            assert!((x[1] - x[0]).cross(&way).norm() > 0.005);
        }
    }

    #[test]
    fn without_arcs_a_rod_goes_straight_on() {
        let mut definition = rod();
        definition.settings.solver.arcs = false;
        let model = crate::build::build(&definition).unwrap().0;
        let p = direction(&model);
        let x = at(&model, &p, 0.5);
        assert!((0..2).all(|v| x[v] == model.rest[v] + 0.5 * p[v]));
    }

    /// A segment that the direction turns inside out goes straight on.
    #[test]
    fn a_rod_that_would_vanish_goes_straight_on() {
        let model = crate::build::build(&rod()).unwrap().0;
        let way = model.rest[1] - model.rest[0];
        let aside = Vec3::new(0.01, 0.0, 0.0);
        // the angle of the segment is a third row
        let mut p = vec![Vec3::zeros(); model.rest.len()];
        (p[0], p[1]) = (way + aside, -way - aside);
        let x = at(&model, &p, 0.9);
        assert!((0..2).all(|v| (x[v] - model.rest[v] - 0.9 * p[v]).norm() < 1e-14));
    }

    /// A body that only turns keeps its shape, and its surface goes with it.
    #[test]
    fn a_turn_keeps_distances() {
        let model = tetrahedron();
        let spin = Vec3::new(0.2, -0.9, 0.4);
        let p: Vec<Vec3> =
            model.rest.iter().map(|x| Vec3::new(1.0, 2.0, 3.0) + spin.cross(x)).collect();
        let x = at(&model, &p, 0.8);
        for (a, b) in (0..x.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let [now, before] = [&x, &model.rest].map(|x| (x[a] - x[b]).norm());
            assert!((now - before).abs() < 1e-13, "{a}, {b}: {now} instead of {before}");
        }
        assert!((x[0] - model.rest[0]).norm() > 1.0);
    }
}
