//! Joints of a definition as equations of control points: of rigid bodies, and of the regions of soft ones that joints make rigid.

// long: an arm for each kind of joint, and the tests of all of their derivatives

use super::rigid::Rigidity;
use crate::body::Body;
use crate::definition::{
    CONTROL_POINTS, Definition, DriveDef, JointDef, JointKind, JointSpring, MimicDef, coordinates,
};
use crate::error::BuildError;
use crate::grip::Grips;
use crate::joints::{
    Coordinate, Coupling, Form, Integrity, Joint, Joints, Limits, POINTS, Row, Tendon, Tree, span,
};
use crate::sizes::BodyScale;
use crate::thresholds::LIMIT_BEGIN;
use standoff_linalg::Vec3;

/// What joints are built from.
pub(super) struct JointedBodies<'a> {
    /// Where the bodies lie.
    pub bodies: &'a [Body],
    /// Positions at rest and at the start, m (`#V`).
    pub rest: &'a [Vec3],
    pub start: &'a [Vec3],
    /// Masses, kg (`#V`).
    pub mass: &'a [f64],
    /// Scales of the bodies.
    pub scales: &'a [BodyScale],
    /// Regions that joints make rigid.
    pub grips: &'a Grips,
}

/// The joints of a definition.
///
/// # Errors
/// A joint of a body that is not rigid.
pub(super) fn joints(
    definition: &Definition,
    scene: &JointedBodies<'_>,
) -> Result<Joints, BuildError> {
    if definition.joints.is_empty() {
        return Ok(Joints::default());
    }
    let of_body = |b: &Body| scene.mass[b.unknowns.clone()].iter().sum::<f64>();
    let movable = scene.bodies.iter().filter(|b| !b.obstacle);
    let rigidity = Rigidity::of(definition, movable.map(of_body).sum());
    let mut all: Vec<Joint> = Vec::with_capacity(definition.joints.len());
    for (k, joint) in definition.joints.iter().enumerate() {
        if all.iter().any(|j| j.name == joint.name) {
            let problem = "another joint has the same name; give each its own".into();
            return Err(BuildError::Joint { joint: joint.name.clone(), problem });
        }
        let first_row = all.last().map_or(0, |j| j.first_row + j.rows.len());
        // regions of soft bodies stand for these from here on
        let held = JointDef {
            parent: joint.parent.map(|b| scene.grips.held(k, 0, b)),
            child: scene.grips.held(k, 1, joint.child),
            ..joint.clone()
        };
        all.push(build(&held, first_row, &rigidity, scene)?);
    }
    let mut masses: Vec<f64> = scene.bodies.iter().map(of_body).collect();
    for prescribed in &definition.prescribed {
        masses[prescribed.body] = f64::INFINITY;
    }
    let tree = Tree::new(&all, &masses);
    let couplings = couplings(definition, &all);
    let tendons = tendons(definition, &all, &rigidity, scene)?;
    let equations = all.last().map_or(0, |j| j.first_row + j.rows.len());
    let may_break = definition.joints.iter().any(JointDef::may_break);
    let integrity = vec![Integrity::Whole; if may_break { all.len() } else { 0 }];
    let intact = if may_break { all.clone() } else { Vec::new() };
    Ok(Joints { all, couplings, tendons, tree, equations, integrity, intact, masses })
}

/// The tendons of a definition.
fn tendons(
    definition: &Definition,
    all: &[Joint],
    rigidity: &Rigidity,
    scene: &JointedBodies<'_>,
) -> Result<Vec<Tendon>, BuildError> {
    let mut names: Vec<&str> = all.iter().map(|j| j.name.as_str()).collect();
    let mut tendons = Vec::with_capacity(definition.tendons.len());
    for tendon in &definition.tendons {
        if names.contains(&tendon.name.as_str()) {
            let problem = "a joint or a tendon has the same name; give each its own".into();
            return Err(BuildError::Joint { joint: tendon.name.clone(), problem });
        }
        names.push(&tendon.name);
        let joints: Vec<&Joint> = tendon.joints.iter().map(|(j, _)| &all[*j]).collect();
        let (stencil, places) = span(&joints);
        let factors = tendon.joints.iter().map(|(_, factor)| factor.abs());
        let of_joints = |of: fn(&Joint) -> f64| -> f64 {
            factors.clone().zip(&joints).map(|(factor, joint)| factor * of(joint)).sum()
        };
        let mass = |j: &&Joint| {
            let bodies = j.parent.into_iter().chain([j.child]);
            bodies.map(|b| mass_and_radius(b, scene).0).fold(f64::INFINITY, f64::min)
        };
        let along = AlongDef {
            limits: tendon.limits,
            start: tendon.start(&definition.joints),
            // the sum where every joint has turned by a radian or slid by its size
            scale: of_joints(|j| if j.turn.is_some() { 1.0 } else { j.size }),
            drive: tendon.drive.as_ref(),
            spring: tendon.spring.as_ref(),
        };
        let size = joints.iter().map(|j| j.size).fold(f64::INFINITY, f64::min);
        let lightest = joints.iter().map(mass).fold(f64::INFINITY, f64::min);
        tendons.push(Tendon {
            name: tendon.name.clone(),
            parts: tendon.joints.clone(),
            stencil,
            places,
            limits: limits(&along, rigidity, lightest, size),
            damping: tendon.damping,
            friction: tendon.friction,
            spring: tendon.spring,
            stick_rate: of_joints(|j| j.stick_rate),
            drive: tendon.drive.clone(),
        });
    }
    Ok(tendons)
}

/// The couplings of the joints.
fn couplings(definition: &Definition, all: &[Joint]) -> Vec<Coupling> {
    let following = definition.joints.iter().enumerate();
    let following = following.filter_map(|(k, joint)| joint.mimic.map(|mimic| (k, mimic)));
    let build = |(k, mimic): (usize, MimicDef)| {
        let (own, other) = (&all[k], &all[mimic.joint]);
        let (stencil, places) = span(&[own, other]);
        Coupling {
            joints: [k, mimic.joint],
            scale: if own.turn.is_some() { own.size } else { 1.0 },
            ratio: mimic.ratio,
            offset: mimic.offset,
            stiffness: own.stiffness,
            stencil,
            places,
        }
    };
    following.map(build).collect()
}

// long: a line for each field of a joint
fn build(
    joint: &JointDef,
    first_row: usize,
    rigidity: &Rigidity,
    scene: &JointedBodies<'_>,
) -> Result<Joint, BuildError> {
    let bodies = scene.bodies;
    let mut both = joint.parent.into_iter().chain([joint.child]);
    if let Some(b) = both.find(|&b| !bodies[b].rigid) {
        let problem = format!(
            "body '{}' is not rigid, so that a joint holds it at some of its vertices; select them",
            bodies[b].name
        );
        return Err(BuildError::Joint { joint: joint.name.clone(), problem });
    }
    // the smaller body's mass and radius, so that the stiffness beside it is like that of its shape
    let (mass, size) = joint
        .parent
        .into_iter()
        .chain([joint.child])
        .map(|b| mass_and_radius(b, scene))
        .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))
        .unwrap_or((1.0, 1.0));
    let child = Carrier::of(&bodies[joint.child], 0, scene.start);
    let parent = match joint.parent {
        Some(b) => Carrier::of(&bodies[b], CONTROL_POINTS, scene.start),
        None => Carrier::World,
    };
    let stencil = joint.parent.into_iter().fold(controls(&bodies[joint.child]), |mut all, b| {
        all.extend(controls(&bodies[b]));
        all
    });
    let frame = Frame::new(joint);
    let [turn, slide] = free_coordinates(joint, &frame, size, &child, &parent);
    let stick_speed = scene.scales[joint.child].stick_speed;
    Ok(Joint {
        name: joint.name.clone(),
        kind: joint.kind,
        parent: joint.parent,
        child: joint.child,
        stencil,
        rows: rows(joint, &frame, size, &child, &parent),
        first_row,
        stiffness: rigidity.joint(mass, size),
        size,
        points: [child.point(&frame.points[0]), parent.point(&frame.points[1])],
        axis: parent.direction(&joint.point, &frame.axes[0]),
        second_axis: child.direction(&joint.point, &frame.second_axis(joint)),
        turn,
        slide,
        limits: limits(&AlongDef::of(joint, size), rigidity, mass, size),
        damping: joint.damping,
        friction: joint.friction,
        armature: joint.armature,
        spring: joint.spring,
        stick_rate: stick_speed / if turn.is_some() { size } else { 1.0 },
        drive: joint.drive.clone(),
        breaking: [joint.breaking_force, joint.breaking_moment],
        broken: false,
    })
}

/// The barriers of limits between bodies of which the smaller one has this `mass` (kg) and radius `size` (m): at about half of where they begin they
/// stop it, or bear what its drive and its spring press with, whichever takes more. A limit nearer than where its barrier begins gives way until there is that room
/// at the start, from which it could not push back else.
fn limits(along: &AlongDef<'_>, rigidity: &Rigidity, mass: f64, size: f64) -> Option<Limits> {
    let AlongDef { start, scale, .. } = *along;
    let [low, high] = along.limits?;
    let travel = if (high - low).is_finite() { high - low } else { scale };
    let press = |drive: &DriveDef| {
        drive.max_effort.min((drive.stiffness + drive.damping / rigidity.time()) * travel)
    };
    let pull = |spring: &JointSpring| {
        let far = [low, high].map(|limit| (limit - spring.rest).abs());
        spring.stiffness * far.into_iter().filter(|d| d.is_finite()).fold(0.0, f64::max)
    };
    let load = along.drive.map_or(0.0, press) + along.spring.map_or(0.0, pull);
    let begin = LIMIT_BEGIN * scale.min(high - low);
    let work = rigidity.work(mass, size) / (scale * scale);
    let stiffness = work.max(load / begin);
    let range = [low.min(start - begin), high.max(start + begin)];
    Some(Limits { range, begin, stiffness })
}

/// What limits of a coordinate are built from.
struct AlongDef<'a> {
    limits: Option<[f64; 2]>,
    /// The coordinate at the start.
    start: f64,
    /// By how much it changes where the bodies move by their size.
    scale: f64,
    drive: Option<&'a DriveDef>,
    spring: Option<&'a JointSpring>,
}

impl<'a> AlongDef<'a> {
    /// Of a joint whose smaller body has a radius `size`.
    fn of(joint: &'a JointDef, size: f64) -> Self {
        Self {
            limits: joint.limits,
            start: joint.start_value(),
            scale: if joint.kind == JointKind::Revolute { 1.0 } else { size },
            drive: joint.drive.as_ref(),
            spring: joint.spring.as_ref(),
        }
    }
}

fn controls(body: &Body) -> Vec<u32> {
    body.unknowns.clone().map(|v| v as u32).collect()
}

/// Mass (kg) and greatest distance of a control point from the centre (m); of a region the mass of the body to which it belongs.
fn mass_and_radius(number: usize, scene: &JointedBodies<'_>) -> (f64, f64) {
    let body = &scene.bodies[number];
    let control = &scene.rest[body.unknowns.clone()];
    let centre = control.iter().sum::<Vec3>() / control.len() as f64;
    let radius = control.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
    let own = || scene.mass[body.unknowns.clone()].iter().sum();
    (scene.grips.owner_mass(number).unwrap_or_else(own), radius)
}

/// A joint's point with its axis and two directions across it, all unit vectors, right-handed.
struct Frame {
    /// On the child and on the parent, which differ for distances only.
    points: [Vec3; 2],
    axes: [Vec3; 3],
}

impl Frame {
    fn new(joint: &JointDef) -> Self {
        let axis = joint.axis.try_normalize(0.0).unwrap_or(Vec3::x());
        // across the coordinate axis that is furthest from the axis
        let mut other = Vec3::zeros();
        other[axis.iamin()] = 1.0;
        let across = axis.cross(&other).normalize();
        let second =
            if joint.kind == JointKind::Distance { joint.second_point } else { joint.point };
        Self { points: [second, joint.point], axes: [axis, across, axis.cross(&across)] }
    }

    /// The second axis of a universal joint, a unit vector across the first one.
    fn second_axis(&self, joint: &JointDef) -> Vec3 {
        let across = joint.second_axis - self.axes[0].dot(&joint.second_axis) * self.axes[0];
        across.try_normalize(0.0).unwrap_or(self.axes[1])
    }
}

/// What carries points: a body by its control points, or the world.
enum Carrier {
    Body { first: usize, control: [Vec3; CONTROL_POINTS] },
    World,
}

impl Carrier {
    /// A body whose control points are those of a joint from `first` on.
    fn of(body: &Body, first: usize, start: &[Vec3]) -> Self {
        let control = std::array::from_fn(|k| start[body.unknowns.start + k]);
        Self::Body { first, control }
    }

    fn point(&self, point: &Vec3) -> Form {
        match self {
            Self::World => Form::constant(*point),
            Self::Body { first, control } => {
                let mut weights = [0.0; POINTS];
                weights[*first..first + CONTROL_POINTS]
                    .copy_from_slice(&coordinates(point, control));
                Form { weights, constant: Vec3::zeros() }
            }
        }
    }

    /// A direction, of any length; `near` is a point of the joint.
    fn direction(&self, near: &Vec3, direction: &Vec3) -> Form {
        match self {
            Self::World => Form::constant(*direction),
            Self::Body { .. } => self.point(&(near + direction)) - self.point(near),
        }
    }
}

/// The row u·r of a direction that the parent carries and one of the child, of the length `size`.
fn product(
    frame: &Frame,
    size: f64,
    [on_parent, on_child]: [Vec3; 2],
    [child, parent]: [&Carrier; 2],
) -> Row {
    let point = frame.points[1];
    Row {
        along: parent.direction(&point, &on_parent),
        offset: child.direction(&point, &(size * on_child)),
        target: 0.0,
    }
}

/// The angle about the axis and the displacement along it or the distance, as far as a joint lets them free.
fn free_coordinates(
    joint: &JointDef,
    frame: &Frame,
    size: f64,
    child: &Carrier,
    parent: &Carrier,
) -> [Option<Coordinate>; 2] {
    let [axis, across, third] = frame.axes;
    let both = [child, parent];
    let turn = Coordinate::Angle {
        sine: product(frame, size, [third, across], both),
        cosine: product(frame, size, [across, across], both),
        start: joint.start,
    };
    let offset = child.point(&frame.points[0]) - parent.point(&frame.points[1]);
    let along = parent.direction(&frame.points[1], &axis);
    let slide = Coordinate::Displacement(Row { along, offset, target: -joint.start });
    let distance = joint.limits.map(|_| Coordinate::Distance(offset));
    match joint.kind {
        JointKind::Revolute | JointKind::Planar => [Some(turn), None],
        JointKind::Prismatic => [None, Some(slide)],
        JointKind::Cylindrical => [Some(turn), Some(slide)],
        JointKind::Distance => [None, distance],
        JointKind::Spherical | JointKind::Fixed | JointKind::Universal => [None, None],
    }
}

/// The equations of a joint between bodies of a radius `size`.
fn rows(joint: &JointDef, frame: &Frame, size: f64, child: &Carrier, parent: &Carrier) -> Vec<Row> {
    let Frame { points: [second, point], axes: [axis, across, third] } = *frame;
    let unit = [Vec3::x(), Vec3::y(), Vec3::z()].map(Form::constant);
    let tie = |p: Vec3| {
        let offset = child.point(&p) - parent.point(&p);
        unit.map(|along| Row { along, offset, target: 0.0 })
    };
    let on_parent = |d: Vec3| parent.direction(&point, &d);
    // a point of the child lies on the plane through the joint's point of the parent
    let on_plane = |p: Vec3, normal: Vec3| Row {
        along: on_parent(normal),
        offset: child.point(&p) - parent.point(&point),
        target: 0.0,
    };
    // a direction of the child stays at right angles to one of the parent
    let square = |on_parent_is: Vec3, on_child: Vec3| {
        product(frame, size, [on_parent_is, on_child], [child, parent])
    };
    let parallel = || [square(across, axis), square(third, axis)];
    let on_line = || {
        let ends = [point + size * axis, point - size * axis];
        ends.into_iter().flat_map(|p| [on_plane(p, across), on_plane(p, third)])
    };
    match joint.kind {
        JointKind::Spherical => tie(point).to_vec(),
        JointKind::Revolute => tie(point).into_iter().chain(parallel()).collect(),
        JointKind::Fixed => {
            tie(point).into_iter().chain(parallel()).chain([square(across, third)]).collect()
        }
        JointKind::Cylindrical => on_line().collect(),
        JointKind::Prismatic => on_line().chain([square(across, third)]).collect(),
        JointKind::Planar => {
            let at = |turn: f64| {
                let angle = turn * std::f64::consts::TAU / 3.0;
                point + size * (angle.cos() * across + angle.sin() * third)
            };
            [0.0, 1.0, 2.0].map(|turn| on_plane(at(turn), axis)).to_vec()
        }
        JointKind::Universal => {
            tie(point).into_iter().chain([square(axis, frame.second_axis(joint))]).collect()
        }
        JointKind::Distance if joint.limits.is_some() => Vec::new(),
        JointKind::Distance => {
            // (|r|² − l²)/2l
            let length = (second - point).norm();
            let offset = child.point(&second) - parent.point(&point);
            vec![Row { along: 0.5 / length * offset, offset, target: 0.5 * length }]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::context::StepContext;
    use crate::definition::expression::Expression;
    use crate::definition::{BodyDef, DriveDef, JointSpring, MassProperties, TendonDef};
    use crate::energy::{Projection, Term};
    use crate::joints::JointTerm;
    use crate::model::Model;
    use crate::past::Past;
    use crate::potential::JointEnergies;
    use crate::solver::path::Path;
    use crate::state::State;
    use standoff_linalg::Mat3;
    use standoff_sparse::block_pairs;
    use std::sync::Arc;

    const KINDS: [JointKind; 8] = [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Fixed,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
        JointKind::Universal,
        JointKind::Distance,
    ];

    fn tetrahedron(name: &str, shift: Vec3) -> BodyDef {
        let points = [[0.1, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1.2, 0.0], [0.2, 0.0, 0.7]];
        let points = points.map(|p| Vec3::from(p) + shift).to_vec();
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let masses = MassProperties::of_surface(&points, &triangles, 1000.0).unwrap();
        BodyDef::rigid(name, points, Arc::new(triangles), &masses).unwrap()
    }

    fn joint(kind: JointKind, parent: Option<usize>, child: usize, point: [f64; 3]) -> JointDef {
        let (name, point) = (format!("{kind:?} {child}"), Vec3::from(point));
        let axis = Vec3::new(0.4, -2.0, 1.0);
        let mut joint = JointDef::new(name, kind, parent, child, point, axis);
        joint.second_axis = Vec3::new(2.0, 0.9, 1.0);
        joint.second_point = point + Vec3::new(0.5, -0.4, 0.3);
        joint
    }

    /// Two bodies on the world and one on the first of them, with everything that acts along coordinates.
    fn driven() -> Model {
        let bodies = vec![
            tetrahedron("a", Vec3::zeros()),
            tetrahedron("b", Vec3::new(2.0, 0.5, 0.3)),
            tetrahedron("c", Vec3::new(-2.0, 0.5, 0.3)),
        ];
        let mut joints = vec![
            joint(JointKind::Revolute, None, 0, [-0.3, 0.2, 0.1]),
            joint(JointKind::Prismatic, Some(0), 1, [1.6, 0.4, 0.2]),
            joint(JointKind::Distance, None, 2, [-1.3, 0.1, 0.4]),
        ];
        joints[0].mimic = Some(MimicDef { joint: 1, ratio: -0.7, offset: 0.0 });
        joints[1].mimic = Some(MimicDef { joint: 2, ratio: 1.3, offset: 0.1 });
        for (joint, range) in joints.iter_mut().zip([[-1.0, 0.9], [-0.8, 0.7], [0.3, 1.9]]) {
            joint.limits = Some(range);
            joint.damping = 2.0;
            joint.friction = 1.5;
            joint.armature = 0.6;
            joint.spring = Some(JointSpring { stiffness: 4.0, rest: -0.2 });
            joint.drive = Some(DriveDef {
                position: Some(Expression::constant(0.4)),
                velocity: None,
                effort: Some(Expression::constant(0.2)),
                stiffness: 3.0,
                damping: 0.1,
                max_effort: 20.0,
            });
        }
        // two of them share a body
        let tendon = TendonDef {
            name: "tendon".into(),
            joints: vec![(0, 0.7), (1, -1.3), (2, 0.4)],
            limits: Some([-2.0, 2.2]),
            damping: 1.2,
            friction: 0.9,
            spring: Some(JointSpring { stiffness: 5.0, rest: 0.3 }),
            drive: joints[0].drive.clone(),
        };
        let definition =
            Definition { bodies, joints, tendons: vec![tendon], ..Definition::default() };
        crate::build::build(&definition).unwrap().0
    }

    /// Whether a term's gradient is that of its value at `x`, and the Hessian without projection that of the gradient.
    fn assert_derivatives(term: &dyn Term, x: &[Vec3], what: &str) {
        let n = x.len();
        let gradient = |x: &[Vec3]| {
            let mut g = vec![Vec3::zeros(); n];
            term.add_gradient(x, &mut g);
            g
        };
        let (e, g) = (1e-5, gradient(x));
        let mut hessian = vec![vec![Mat3::zeros(); n]; n];
        for (i, stencil) in term.stencils().iter().enumerate() {
            let pairs: Vec<_> = block_pairs(stencil.len()).collect();
            let mut blocks = vec![Mat3::zeros(); pairs.len()];
            term.hessians(i..i + 1, x, Projection::NONE, &mut blocks);
            for (block, (k, l)) in blocks.iter().zip(pairs) {
                let [a, b] = [stencil[k] as usize, stencil[l] as usize];
                hessian[a][b] += block;
                if k != l {
                    hessian[b][a] += block.transpose();
                }
            }
        }
        let largest = hessian.iter().flatten().map(Mat3::norm).fold(1.0, f64::max);
        for v in 0..n {
            for axis in 0..3 {
                let moved = |by: f64| {
                    let mut x = x.to_vec();
                    x[v][axis] += by;
                    x
                };
                let [there, back] = [moved(e), moved(-e)];
                let slope = (term.value(&there) - term.value(&back)) / (2.0 * e);
                assert!((slope - g[v][axis]).abs() < 1e-7 * largest, "{what}: {slope} {}", g[v]);
                let [gt, gb] = [gradient(&there), gradient(&back)];
                for u in 0..n {
                    let column = (gt[u] - gb[u]) / (2.0 * e);
                    let found = hessian[u][v].column(axis).into_owned();
                    let off = (column - found).norm();
                    assert!(off < 1e-7 * largest, "{what}: {column} {found}");
                }
            }
        }
    }

    /// What acts along coordinates: limits, drives, damping, friction and couplings, in the middle and where a barrier pushes.
    #[test]
    fn derivatives_along_coordinates_are_those_of_differences() {
        let mut model = driven();
        for joint in &mut model.joints.all {
            let limits = joint.limits.as_mut().unwrap();
            (limits.begin, limits.stiffness) = (0.8, 5.0);
            joint.stick_rate = 100.0;
        }
        model.joints.couplings.iter_mut().for_each(|c| c.stiffness = 7.0);
        let tendon = &mut model.joints.tendons[0];
        tendon.limits = Some(Limits { range: [-2.0, 2.2], begin: 2.05, stiffness: 3.0 });
        tendon.stick_rate = 100.0;
        let n = model.rest.len();
        let state = State {
            x: model.rest.clone(),
            v: vec![Vec3::zeros(); n],
            joint_multipliers: (0..model.joints.row_count())
                .map(|k| 3.0 * (k as f64).cos())
                .collect(),
            joint_coordinates: vec![[0.01, 0.02]; 4],
            joint_motion: vec![Past::uniform(0.2, -0.3, 0.1); 4],
            ..State::default()
        };
        let clock = Clock::start();
        let energies = JointEnergies::new(&StepContext::new(&model, &state, &clock), &state);
        let names: Vec<_> = energies.terms().map(|t| t.name().to_owned()).collect();
        assert_eq!(names.len(), 6, "{names:?}");
        for size in [0.02, 0.05] {
            let x: Vec<Vec3> = (0..n).map(|v| model.rest[v] + size * wave(v, 0.3)).collect();
            for term in energies.terms().filter(|t| t.name() != "joints") {
                assert!(term.within_limits(&x, 1.0), "{} {size}", term.name());
                assert_derivatives(term, &x, term.name());
            }
        }
    }

    /// Two bodies, the first on the world and the second on the first.
    fn pair(kind: JointKind) -> Model {
        let bodies =
            vec![tetrahedron("a", Vec3::zeros()), tetrahedron("b", Vec3::new(2.0, 0.5, 0.3))];
        let joints =
            vec![joint(kind, None, 0, [-0.3, 0.2, 0.1]), joint(kind, Some(0), 1, [1.6, 0.4, 0.2])];
        crate::build::build(&Definition { bodies, joints, ..Definition::default() }).unwrap().0
    }

    fn wave(v: usize, phase: f64) -> Vec3 {
        let wave = |k: usize| (k as f64 + phase).sin();
        Vec3::new(wave(v), wave(2 * v + 1), wave(3 * v + 2))
    }

    /// The gradient is that of the value, and the Hessian without projection that of the gradient.
    #[test]
    fn derivatives_are_those_of_differences() {
        for kind in KINDS {
            let model = pair(kind);
            let multipliers: Vec<f64> =
                (0..model.joints.row_count()).map(|k| 3.0 * (k as f64).cos()).collect();
            let mut joints = model.joints.all.clone();
            joints.iter_mut().for_each(|j| j.stiffness = 7.0);
            let term = JointTerm::new(&joints, &multipliers, 2.0);
            let n = model.rest.len();
            let x: Vec<Vec3> = (0..n).map(|v| model.rest[v] + 0.2 * wave(v, 0.3)).collect();
            assert_derivatives(&term, &x, &format!("{kind:?}"));
        }
    }

    /// A projected Hessian has no negative eigenvalue, also where the equations bend most.
    #[test]
    fn projected_hessians_are_positive_semidefinite() {
        for kind in KINDS {
            let model = pair(kind);
            let multipliers: Vec<f64> =
                (0..model.joints.row_count()).map(|k| 900.0 * (k as f64 + 2.0).cos()).collect();
            let mut joints = model.joints.all.clone();
            joints.iter_mut().for_each(|j| j.stiffness = 1.0);
            let term = JointTerm::new(&joints, &multipliers, 1.0);
            let least = |projection| {
                let mut blocks = vec![Mat3::zeros(); 36];
                term.hessians(1..2, &model.rest, projection, &mut blocks);
                let mut whole = standoff_linalg::nalgebra::DMatrix::zeros(24, 24);
                for (block, (k, l)) in blocks.iter().zip(block_pairs(8)) {
                    whole.view_mut((3 * k, 3 * l), (3, 3)).copy_from(block);
                    whole.view_mut((3 * l, 3 * k), (3, 3)).copy_from(&block.transpose());
                }
                whole.symmetric_eigenvalues().min()
            };
            assert!(least(Projection::All) > -1e-9, "{kind:?}");
            assert_eq!(least(Projection::NONE) < -1.0, kind != JointKind::Spherical, "{kind:?}");
        }
    }

    /// Along a direction that keeps joints to first order, the path keeps them exactly, and begins along the direction.
    #[test]
    fn a_path_keeps_joints() {
        for kind in KINDS {
            let model = pair(kind);
            let n = model.rest.len();
            // where any direction leads when what the joints do not let free is taken out
            let path = |x: &[Vec3], p: &[Vec3], alpha: f64| {
                let mut out = x.to_vec();
                Path::new(&model, x, p).at(x, alpha, &mut out);
                out
            };
            let mut p: Vec<Vec3> = (0..n).map(|v| wave(v, 0.3)).collect();
            model.map.spread(&mut p);
            let e = 1e-5;
            let [there, back] = [path(&model.rest, &p, e), path(&model.rest, &p, -e)];
            for v in 0..n {
                let off = ((there[v] - back[v]) / (2.0 * e) - p[v]).norm();
                assert!(off < 2e-8, "{kind:?}: {off:e}");
            }
            // a motion of the kind: what the path itself does with the spins of the direction alone
            let free = crate::solver::path::kept(&model, &model.rest, &p);
            let x = path(&model.rest, &free, 0.9);
            for joint in &model.joints.all {
                let error = joint.error(&x);
                assert!(error < 1e-12, "{kind:?}: {error:e}");
            }
            let moved = (0..n).map(|v| (x[v] - model.rest[v]).norm()).fold(0.0, f64::max);
            assert_eq!(moved > 0.1, kind != JointKind::Fixed, "{kind:?}");
        }
    }

    #[test]
    fn bodies_that_are_joined_do_not_touch_each_other() {
        let model = pair(JointKind::Revolute);
        assert!(!model.collision.bodies_may_collide(0, model.bodies[1].vertices.start as u32));
    }
}
