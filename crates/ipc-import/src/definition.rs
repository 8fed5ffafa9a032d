//! A plan as the definition of a simulation.

use crate::meshes::Content;
use crate::parameters::{OBSTACLE, SHAPE, half_space_name};
use crate::plan::{Action, Effect, Plan, PlannedBody};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, HalfSpaceDef, Load, Motion, PrescribedDef,
};

impl Plan {
    /// The definition, with positions as the reference computes them.
    pub fn definition(&self) -> Definition {
        let mut definition = Definition {
            gravity: self.gravity,
            settings: self.settings.clone(),
            no_contact: self.no_contact(),
            ..Definition::default()
        };
        for (k, half_space) in self.half_spaces.iter().enumerate() {
            definition.half_spaces.push(HalfSpaceDef {
                name: half_space_name(k),
                origin: half_space.origin,
                normal: half_space.normal,
                friction_material: half_space_name(k),
            });
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let friction_material = if k < self.shapes { SHAPE } else { OBSTACLE };
            definition.bodies.push(body_definition(body, friction_material));
            for action in &body.actions {
                add_action(k, body, action, &mut definition);
            }
        }
        definition
    }

    /// Without self-collision no shape touches itself or another one; obstacles still act.
    fn no_contact(&self) -> Vec<(usize, usize)> {
        if self.self_collision {
            return Vec::new();
        }
        (0..self.shapes).flat_map(|a| (a..self.shapes).map(move |b| (a, b))).collect()
    }
}

fn body_definition(body: &PlannedBody, friction_material: &str) -> BodyDef {
    let mesh = &body.source.mesh;
    let (density, material) = body.material.clone();
    let kind = match body.source.content {
        Content::Volume => BodyKind::Volume {
            tets: mesh.tets.clone(),
            middles: mesh.middles.clone(),
            density,
            material,
        },
        Content::Surface | Content::Wires | Content::Points => BodyKind::Obstacle {
            triangles: mesh.triangles.clone(),
            edges: mesh.edges.clone(),
            points: mesh.vertices.clone(),
        },
    };
    BodyDef {
        name: body.name.clone(),
        rest: body.rest.clone(),
        start: if body.turned.is_some() { body.start.clone() } else { Vec::new() },
        velocity: start_velocity(body),
        kind,
        friction_material: friction_material.to_owned(),
        contact_thickness: 0.0,
        surface: None,
        inelastic: Vec::new(),
        fibres: Vec::new(),
        growth: None,
        parts: Vec::new(),
    }
}

/// v + ω × (x − c) with c the centre of the bounding box at the start; empty at rest.
fn start_velocity(body: &PlannedBody) -> Vec<Vec3> {
    let (linear, angular) = body.velocity;
    if linear == Vec3::zeros() && angular == Vec3::zeros() {
        return Vec::new();
    }
    let (lo, hi) = crate::plan::bounds(&body.start);
    let centre = (lo + hi) / 2.0;
    body.start.iter().map(|x| linear + angular.cross(&(x - centre))).collect()
}

fn add_action(index: usize, body: &PlannedBody, action: &Action, definition: &mut Definition) {
    let name = format!("{}.{}", body.name, action.name);
    let (vertices, t0, t1) = (action.vertices.clone(), action.t0, action.t1);
    let motion = match &action.effect {
        Effect::Accelerate(a) => {
            let load = Load::Acceleration((*a).into());
            definition.forces.push(ForceDef { name, body: index, vertices, load, t0, t1 });
            return;
        }
        Effect::Hold => Motion::Fixed,
        Effect::Rigid { linear, angular, pivot } => {
            Motion::Rigid { linear: *linear, angular: *angular, pivot: *pivot }
        }
        Effect::Sequence { frames, .. } => {
            let frame = |mesh: &standoff_mesh::Mesh| -> Vec<Vec3> {
                vertices.iter().map(|v| mesh.points[*v as usize]).collect()
            };
            Motion::Sequence { frames: frames.iter().map(|f| frame(f)).collect() }
        }
    };
    let until = action.until.clone();
    definition.prescribed.push(PrescribedDef {
        t0,
        t1,
        until,
        ..PrescribedDef::new(name, index, vertices, motion)
    });
}
