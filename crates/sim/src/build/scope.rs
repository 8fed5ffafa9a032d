//! What methods and inversion are for: checks that a scene has nothing that its solver cannot do.

use crate::body::Body;
use crate::definition::settings::{ContactPotential, Integrator, Method};
use crate::definition::{BodyDef, BodyKind, Definition, Load};
use crate::energy::membrane::Sheet;
use crate::error::BuildError;
use standoff_geometry::CollisionMesh;

/// Two things that may touch: a body, and another one, itself or a half-space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MayTouch {
    /// Index of the body.
    body: usize,
    /// Name of what it may touch.
    other: String,
}

/// The first pair of a body and something else that may touch, if there is one.
pub fn first_contact(
    definition: &Definition,
    bodies: &[Body],
    collision: &CollisionMesh,
) -> Option<MayTouch> {
    let deformable = |b: usize| !bodies[b].obstacle;
    if !definition.settings.contact.enabled {
        return None;
    }
    if let (Some(h), Some(body)) =
        (definition.half_spaces.first(), (0..bodies.len()).find(|&b| deformable(b)))
    {
        return Some(MayTouch { body, other: format!("half-space '{}'", h.name) });
    }
    let pairs = (0..bodies.len()).flat_map(|a| (a..bodies.len()).map(move |b| (a, b)));
    let first = |b: usize| bodies[b].vertices.start as u32;
    let mut touching = pairs.filter(|&(a, b)| {
        (deformable(a) || deformable(b)) && collision.bodies_may_collide(first(a), first(b))
    });
    touching.next().map(|(a, b)| match a == b {
        true => MayTouch { body: a, other: "itself".into() },
        false => MayTouch { body: a, other: format!("'{}'", bodies[b].name) },
    })
}

/// Refuses what the methods of projective dynamics, `lbfgs-pd` and `admm-pd`, cannot do.
///
/// # Errors
/// [`BuildError::Unfit`] with the first such thing.
// long: an arm for each thing that is refused
pub fn check_method(
    definition: &Definition,
    bodies: &[Body],
    collision: &CollisionMesh,
) -> Result<(), BuildError> {
    let value = match definition.settings.solver.method {
        Method::LbfgsPd => "\"lbfgs-pd\"",
        Method::AdmmPd => "\"admm-pd\"",
        Method::Barrier | Method::BarrierFree | Method::Dot => return Ok(()),
    };
    let unfit = |object: String, what: &str| {
        let problem = format!("is for tetrahedra without contact, but {what}");
        Err(BuildError::Unfit { key: "solver.method", value: value.into(), object, problem })
    };
    const CHOOSE: &str = "choose \"dot\" or \"barrier\"";
    let body = |b: usize| format!("body '{}'", bodies[b].name);
    for (k, own) in definition.bodies.iter().enumerate() {
        if own.is_inelastic() {
            return unfit(body(k), &format!("this relaxes or yields; {CHOOSE}"));
        }
        if own.has_fibres() {
            return unfit(body(k), &format!("this has fibres; {CHOOSE}"));
        }
        if own.grows() {
            return unfit(body(k), &format!("this grows; {CHOOSE}"));
        }
        let kind = match &own.kind {
            BodyKind::Volume { middles, .. } if !middles.is_empty() => "made of quadratic elements",
            BodyKind::Volume { .. } | BodyKind::Obstacle { .. } => continue,
            BodyKind::Rigid { .. } => {
                return unfit(
                    body(k),
                    "this is a rigid body; choose \"barrier\" or \"barrier-free\"",
                );
            }
            BodyKind::PlaneStrain { .. } => "a solid in the plane",
            BodyKind::Shell { .. } => "a shell",
            BodyKind::Rod { .. } => "a rod",
            BodyKind::Particles { .. } => "particles",
        };
        return unfit(body(k), &format!("this is {kind}; {CHOOSE}"));
    }
    if let Some(touch) = first_contact(definition, bodies, collision) {
        let what =
            format!("this may touch {}; set `contact.enabled = false`, or {CHOOSE}", touch.other);
        return unfit(body(touch.body), &what);
    }
    if let Some(a) = definition.attachments.first() {
        return unfit(format!("attachment '{}'", a.name), &format!("this is a spring; {CHOOSE}"));
    }
    if let Some(s) = definition.stitches.first() {
        return unfit(format!("stitch '{}'", s.name), &format!("this is a spring; {CHOOSE}"));
    }
    if let Some(force) = definition.forces.iter().find(|f| matches!(f.load, Load::Pressure(_))) {
        let what = format!("this is a pressure, which follows the surface; {CHOOSE}");
        return unfit(format!("force '{}'", force.name), &what);
    }
    if let Some(energy) = definition.energies.first() {
        return unfit(
            format!("energy '{}'", energy.name()),
            &format!("this is another energy; {CHOOSE}"),
        );
    }
    Ok(())
}

/// Refuses surfaces that are carried where the method has no map from unknowns to vertices.
///
/// # Errors
/// [`BuildError::Unfit`] with the first such thing.
pub fn check_carried(definition: &Definition) -> Result<(), BuildError> {
    let value = match definition.settings.solver.method {
        Method::Barrier | Method::BarrierFree => return Ok(()),
        Method::Dot => "\"dot\"",
        Method::LbfgsPd => "\"lbfgs-pd\"",
        Method::AdmmPd => "\"admm-pd\"",
    };
    if let Some(tie) = definition.ties.first() {
        return Err(BuildError::Unfit {
            key: "solver.method",
            value: value.into(),
            object: format!("tie '{}'", tie.name),
            problem: "is for bodies whose vertices are all unknowns, but a tie carries some; choose \"barrier\" or \"barrier-free\"".into(),
        });
    }
    let Some(body) = definition.bodies.iter().find(|b| b.surface.is_some()) else { return Ok(()) };
    let but = match body.kind {
        BodyKind::Rigid { .. } => "this one is rigid; choose \"barrier\" or \"barrier-free\"",
        _ => {
            "this one touches by a surface that it carries; choose \"barrier\" or \"barrier-free\", or leave out \
             `fill.collides`"
        }
    };
    let problem = format!("is for bodies that touch by the boundary of their elements, but {but}");
    Err(BuildError::Unfit {
        key: "solver.method",
        value: value.into(),
        object: format!("body '{}'", body.name),
        problem,
    })
}

/// Refuses vertices that are held in some directions only where the method or the body has none.
///
/// # Errors
/// [`BuildError::Unfit`] with the first such thing.
pub fn check_rails(definition: &Definition) -> Result<(), BuildError> {
    let method = match definition.settings.solver.method {
        Method::Barrier | Method::BarrierFree => None,
        Method::Dot => Some("\"dot\""),
        Method::LbfgsPd => Some("\"lbfgs-pd\""),
        Method::AdmmPd => Some("\"admm-pd\""),
    };
    for p in definition.prescribed.iter().filter(|p| !p.along.is_empty()) {
        let body = &definition.bodies[p.body];
        if let (Some(method), false) = (method, matches!(body.kind, BodyKind::Obstacle { .. })) {
            return Err(BuildError::Unfit {
                key: "solver.method",
                value: method.into(),
                object: format!("'{}'", p.name),
                problem: "is for vertices that are held in all directions, but these are in some; choose \"barrier\" or \"barrier-free\"".into(),
            });
        }
        if let BodyKind::Rigid { .. } = body.kind {
            let problem = format!(
                "'{}' holds a rigid body in some directions only; a joint does that (`[[joints]]`)",
                p.name
            );
            return Err(BuildError::Body { body: body.name.clone(), problem });
        }
    }
    Ok(())
}

/// Refuses what is not for bodies of revolution.
///
/// # Errors
/// [`BuildError`] with the first such thing.
// long: a check for each thing
pub fn check_axisymmetric(definition: &Definition) -> Result<(), BuildError> {
    if !definition.dimension.is_axisymmetric() {
        return Ok(());
    }
    let settings = &definition.settings;
    let refuse = |key, value: &str, must| {
        Err(BuildError::Setting { key, value: format!("\"{value}\""), must })
    };
    if settings.solver.method == Method::Dot {
        return refuse(
            "solver.method",
            "dot",
            "it is not for bodies of revolution (`dimension = \"axisymmetric\"`); choose \"barrier\"",
        );
    }
    if settings.contact.potential == ContactPotential::OrientationAware {
        let must = "it has no form for bodies of revolution (`dimension = \"axisymmetric\"`); choose \"ipc\" or \"convergent\"";
        return refuse("contact.potential", "orientation-aware", must);
    }
    for body in &definition.bodies {
        let fail = |problem: String| Err(BuildError::Body { body: body.name.clone(), problem });
        let start = if body.start.is_empty() { &body.rest } else { &body.start };
        for (v, (rest, start)) in body.rest.iter().zip(start).enumerate() {
            if rest.x < 0.0 || start.x < 0.0 {
                let r = rest.x.min(start.x);
                return fail(format!(
                    "vertex {v} has x = {r:e}, but x is the radius in a scene of bodies of revolution; move it to x ≥ 0"
                ));
            }
            let obstacle = matches!(body.kind, BodyKind::Obstacle { .. });
            if rest.x == 0.0 && body.velocity.get(v).is_some_and(|u| u.x != 0.0) {
                return fail(format!(
                    "vertex {v} is on the axis, but its velocity has a part along the radius; make its first component 0"
                ));
            }
            if (rest.x == 0.0) != (start.x == 0.0) && !obstacle {
                return fail(format!(
                    "vertex {v} is on the axis either at rest or at the start, but not in both; what is on the axis stays there"
                ));
            }
        }
        if let BodyKind::Obstacle { points, .. } = &body.kind
            && let Some(v) =
                points.iter().find(|&&v| body.rest.get(v as usize).is_some_and(|p| p.x == 0.0))
        {
            return fail(format!(
                "the point {v} is on the axis, where it stands for no ring; make it the end of an edge"
            ));
        }
    }
    Ok(())
}

/// Refuses joints where the method does not meet them.
///
/// # Errors
/// [`BuildError::Unfit`] with the first joint.
pub fn check_joints(definition: &Definition) -> Result<(), BuildError> {
    let Some(joint) = definition.joints.first() else { return Ok(()) };
    if definition.settings.solver.method == Method::Barrier {
        return Ok(());
    }
    // other methods than these have no rigid bodies
    let problem = "goes on straight lines, on which turns open joints; choose \"barrier\"";
    Err(BuildError::Unfit {
        key: "solver.method",
        value: "\"barrier-free\"".into(),
        object: format!("joint '{}'", joint.name),
        problem: problem.into(),
    })
}

/// Refuses armatures where steps take forces from their start: which those are at the very start depends on what joints bear there.
///
/// # Errors
/// [`BuildError::Unfit`] with the first joint that has one.
pub fn check_armatures(definition: &Definition) -> Result<(), BuildError> {
    let time = &definition.settings.time;
    if time.scheme().new_part() == 1.0 {
        return Ok(());
    }
    let Some(joint) = definition.joints.iter().find(|j| j.armature > 0.0) else { return Ok(()) };
    let problem = "takes accelerations at the start, which are not known where a joint has an armature; choose \"bdf2\" or \"implicit-euler\"";
    Err(BuildError::Unfit {
        key: "time.integrator",
        value: written(time.integrator).into(),
        object: format!("joint '{}'", joint.name),
        problem: problem.into(),
    })
}

fn written(integrator: Integrator) -> &'static str {
    match integrator {
        Integrator::ImplicitEuler => "\"implicit-euler\"",
        Integrator::Bdf2 => "\"bdf2\"",
        Integrator::Newmark => "\"newmark\"",
        Integrator::ImplicitMidpoint => "\"implicit-midpoint\"",
        Integrator::AlphaBetaGamma => "\"alpha-beta-gamma\"",
        Integrator::QuasiStatic => "\"quasi-static\"",
    }
}

/// Refuses what cannot be evaluated between the start of a step and its end, where the integrator does that.
///
/// # Errors
/// [`BuildError::Unfit`] with the first such thing.
pub fn check_intermediate(definition: &Definition) -> Result<(), BuildError> {
    let time = &definition.settings.time;
    if time.scheme().beta() == 1.0 {
        return Ok(());
    }
    let value = written(time.integrator);
    const CHOOSE: &str = "choose \"implicit-euler\", \"bdf2\" or \"newmark\"";
    let unfit = |object: String, what: &str| {
        let problem = format!(
            "evaluates energies between the start of a step and its end, but {what}; {CHOOSE}"
        );
        Err(BuildError::Unfit { key: "time.integrator", value: value.into(), object, problem })
    };
    if let Method::LbfgsPd | Method::AdmmPd = definition.settings.solver.method {
        let method = "the methods \"lbfgs-pd\" and \"admm-pd\" project elements at the end";
        return unfit("setting `solver.method`".into(), method);
    }
    for body in &definition.bodies {
        let what = match &body.kind {
            _ if body.is_inelastic() => "what relaxes or yields is known at the end only",
            _ if body.grows() => "what grows has its size at the end only",
            BodyKind::Rigid { .. } => "a rigid body that turns is not rigid between them",
            BodyKind::Shell { material, .. } if limits_strains(&material.sheet) => {
                "the limits of an orthotropic law cannot be told from its elasticity, and have to hold at the end"
            }
            _ => continue,
        };
        return unfit(format!("body '{}'", body.name), what);
    }
    Ok(())
}

fn limits_strains(sheet: &Sheet) -> bool {
    matches!(sheet, Sheet::Orthotropic(law) if law.limits.is_some())
}

/// Refuses inverted elements where something would not bear them.
///
/// # Errors
/// [`BuildError::Unfit`] with the first such thing.
pub fn check_inversion(
    definition: &Definition,
    bodies: &[Body],
    collision: &CollisionMesh,
) -> Result<(), BuildError> {
    let solver = &definition.settings.solver;
    if !solver.allow_inversion {
        return Ok(());
    }
    let unfit = |object: String, problem: String| {
        Err(BuildError::Unfit {
            key: "solver.allow_inversion",
            value: "true".into(),
            object,
            problem,
        })
    };
    let body = |b: usize| format!("body '{}'", bodies[b].name);
    if solver.method == Method::BarrierFree {
        let problem = "is for other methods; choose another method, \"barrier\" or \"dot\"";
        return unfit("setting `solver.method = \"barrier-free\"`".into(), problem.into());
    }
    let touch = first_contact(definition, bodies, collision);
    // surfaces are kept apart without a word of what is inside; decomposed optimisation with both was never tried
    if let Some(touch) = touch.filter(|_| solver.method != Method::Barrier) {
        let problem = format!(
            "is for scenes without contact, or the method \"barrier\", but this may touch {}; set \
             `contact.enabled = false`, or choose that method",
            touch.other
        );
        return unfit(body(touch.body), problem);
    }
    for (k, own) in definition.bodies.iter().enumerate() {
        if let Some(problem) = cannot_be_inverted(own) {
            return unfit(body(k), problem);
        }
    }
    Ok(())
}

/// Why the elements of a body cannot be inverted, if they cannot.
fn cannot_be_inverted(body: &BodyDef) -> Option<String> {
    match &body.kind {
        BodyKind::Volume { middles, .. } if !middles.is_empty() => {
            return Some("is for linear tetrahedra, but these are quadratic".into());
        }
        BodyKind::PlaneStrain { .. } => {
            return Some("is for tetrahedra, but this is a solid in the plane".into());
        }
        _ => {}
    }
    let substances = body.all_substances();
    let law = substances.iter().map(|s| &s.material.law).find(|law| law.has_barrier())?;
    Some(format!(
        "needs an energy that is finite at J ≤ 0, which that of the law \"{}\" is not; choose another law",
        law.key()
    ))
}
