//! Joints of a definition as equations of control points.

use super::rigid::Rigidity;
use crate::body::Body;
use crate::definition::{CONTROL_POINTS, Definition, JointDef, JointKind, coordinates};
use crate::error::BuildError;
use crate::joints::{Form, Joint, Joints, POINTS, Row, Tree};
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
    for joint in &definition.joints {
        if all.iter().any(|j| j.name == joint.name) {
            let problem = "another joint has the same name; give each its own".into();
            return Err(BuildError::Joint { joint: joint.name.clone(), problem });
        }
        let first_row = all.last().map_or(0, |j| j.first_row + j.rows.len());
        all.push(build(joint, first_row, &rigidity, scene)?);
    }
    let mut masses: Vec<f64> = scene.bodies.iter().map(of_body).collect();
    for prescribed in &definition.prescribed {
        masses[prescribed.body] = f64::INFINITY;
    }
    let tree = Tree::new(&all, &masses);
    Ok(Joints { all, tree })
}

/// The pairs of bodies that do not touch each other because a joint joins them.
pub(super) fn without_contact(definition: &Definition) -> impl Iterator<Item = (usize, usize)> {
    let apart = definition.joints.iter().filter(|j| !j.collide);
    apart.filter_map(|j| j.parent.map(|p| (p.min(j.child), p.max(j.child))))
}

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
            "body '{}' is not rigid: a joint is between two rigid bodies, or the world and one",
            bodies[b].name
        );
        return Err(BuildError::Joint { joint: joint.name.clone(), problem });
    }
    // the smaller body's mass and radius, so that the stiffness beside it is like that of its shape
    let (mass, size) = joint
        .parent
        .into_iter()
        .chain([joint.child])
        .map(|b| mass_and_radius(&bodies[b], scene))
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
    let frame = Frame::new(joint.point, &joint.axis);
    Ok(Joint {
        name: joint.name.clone(),
        kind: joint.kind,
        parent: joint.parent,
        child: joint.child,
        stencil,
        rows: rows(joint.kind, &frame, size, &child, &parent),
        first_row,
        stiffness: rigidity.joint(mass, size),
        size,
        points: [child.point(&joint.point), parent.point(&joint.point)],
        axis: parent.direction(&joint.point, &frame.axes[0]),
        across: [&child, &parent].map(|c| c.direction(&joint.point, &frame.axes[1])),
    })
}

fn controls(body: &Body) -> Vec<u32> {
    body.unknowns.clone().map(|v| v as u32).collect()
}

/// Mass (kg) and greatest distance of a control point from the centre (m).
fn mass_and_radius(body: &Body, scene: &JointedBodies<'_>) -> (f64, f64) {
    let control = &scene.rest[body.unknowns.clone()];
    let centre = control.iter().sum::<Vec3>() / control.len() as f64;
    let radius = control.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
    (scene.mass[body.unknowns.clone()].iter().sum(), radius)
}

/// A joint's point with its axis and two directions across it, all unit vectors, right-handed.
struct Frame {
    point: Vec3,
    axes: [Vec3; 3],
}

impl Frame {
    fn new(point: Vec3, axis: &Vec3) -> Self {
        let axis = axis.try_normalize(0.0).unwrap_or(Vec3::x());
        // across the coordinate axis that is furthest from the axis
        let mut other = Vec3::zeros();
        other[axis.iamin()] = 1.0;
        let across = axis.cross(&other).normalize();
        Self { point, axes: [axis, across, axis.cross(&across)] }
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

/// The equations of a joint between bodies of a radius `size`.
fn rows(kind: JointKind, frame: &Frame, size: f64, child: &Carrier, parent: &Carrier) -> Vec<Row> {
    let Frame { point, axes: [axis, across, third] } = *frame;
    let unit = [Vec3::x(), Vec3::y(), Vec3::z()].map(Form::constant);
    let tie = |p: Vec3| {
        let offset = child.point(&p) - parent.point(&p);
        unit.map(|along| Row { along, offset })
    };
    let on_parent = |d: Vec3| parent.direction(&point, &d);
    // a point of the child lies on the plane through the joint's point of the parent
    let on_plane = |p: Vec3, normal: Vec3| Row {
        along: on_parent(normal),
        offset: child.point(&p) - parent.point(&point),
    };
    // a direction of the child stays at right angles to one of the parent
    let square = |on_parent_is: Vec3, on_child: Vec3| Row {
        along: on_parent(on_parent_is),
        offset: child.direction(&point, &(size * on_child)),
    };
    let parallel = || [square(across, axis), square(third, axis)];
    let on_line = || {
        let ends = [point + size * axis, point - size * axis];
        ends.into_iter().flat_map(|p| [on_plane(p, across), on_plane(p, third)])
    };
    match kind {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{BodyDef, MassProperties};
    use crate::energy::{Projection, Term};
    use crate::joints::JointTerm;
    use crate::model::Model;
    use crate::solver::path::Path;
    use standoff_linalg::Mat3;
    use standoff_sparse::block_pairs;
    use std::sync::Arc;

    const KINDS: [JointKind; 6] = [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Fixed,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
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
        JointDef {
            name,
            kind,
            parent,
            child,
            point,
            axis: Vec3::new(0.4, -2.0, 1.0),
            collide: false,
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
            let gradient = |x: &[Vec3]| {
                let mut g = vec![Vec3::zeros(); n];
                term.add_gradient(x, &mut g);
                g
            };
            let (e, g) = (1e-5, gradient(&x));
            let mut hessian = vec![vec![Mat3::zeros(); n]; n];
            let stencils = term.stencils();
            for (i, stencil) in stencils.iter().enumerate() {
                let pairs: Vec<_> = block_pairs(stencil.len()).collect();
                let mut blocks = vec![Mat3::zeros(); pairs.len()];
                term.hessians(i..i + 1, &x, Projection::NONE, &mut blocks);
                for (block, (k, l)) in blocks.iter().zip(pairs) {
                    let [a, b] = [stencil[k] as usize, stencil[l] as usize];
                    hessian[a][b] += block;
                    if k != l {
                        hessian[b][a] += block.transpose();
                    }
                }
            }
            for v in 0..n {
                for axis in 0..3 {
                    let moved = |by: f64| {
                        let mut x = x.clone();
                        x[v][axis] += by;
                        x
                    };
                    let [there, back] = [moved(e), moved(-e)];
                    let slope = (term.value(&there) - term.value(&back)) / (2.0 * e);
                    assert!((slope - g[v][axis]).abs() < 1e-6, "{kind:?}: {slope}");
                    let [gt, gb] = [gradient(&there), gradient(&back)];
                    for u in 0..n {
                        let column = (gt[u] - gb[u]) / (2.0 * e);
                        let found = hessian[u][v].column(axis).into_owned();
                        assert!((column - found).norm() < 1e-6, "{kind:?}: {column} {found}");
                    }
                }
            }
        }
    }

    /// A projected Hessian has no negative eigenvalue, also where the equations bend most.
    #[test]
    fn projected_hessians_are_positive_semidefinite() {
        for kind in KINDS {
            let model = pair(kind);
            let multipliers: Vec<f64> =
                (0..model.joints.row_count()).map(|k| 900.0 * (k as f64).cos()).collect();
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
                assert!(((there[v] - back[v]) / (2.0 * e) - p[v]).norm() < 1e-8, "{kind:?}");
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
