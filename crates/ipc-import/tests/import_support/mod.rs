//! Comparing definitions.
#![allow(dead_code)]

use standoff_ipc_import::Import;
use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::definition::{
    BodyKind, Condition, Definition, HalfSpaceDef, Load, Motion, Pivot, PrescribedDef,
};
use std::path::Path;

/// Relative tolerance of lengths and rates.
pub const TOLERANCE: f64 = 1e-12;

/// Converts an import to a scene file and resolves that.
pub fn resolve(import: &Import, folder: &Path) -> Result<Scene, String> {
    let text = import.to_toml(folder);
    Scene::parse(&text, Path::new("converted.toml"), folder, &[])
        .map_err(|e| format!("{e}\nin\n{text}"))
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= TOLERANCE * scale
}

fn same_vectors(what: &str, a: &[Vec3], b: &[Vec3], scale: f64) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{what}: {} and {} vectors", a.len(), b.len()));
    }
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        if (0..3).any(|i| !close(a[i], b[i], scale)) {
            return Err(format!("{what}[{k}]: {a:?} and {b:?}"));
        }
    }
    Ok(())
}

/// Says where two definitions differ, in anything but the names and the order of prescriptions
/// and forces.
pub fn same(a: &Definition, b: &Definition) -> Result<(), String> {
    if a.bodies.len() != b.bodies.len() {
        return Err(format!("{} and {} bodies", a.bodies.len(), b.bodies.len()));
    }
    let extent = a.bodies.iter().flat_map(|b| &b.rest).fold(0.0, |m: f64, x| m.max(x.amax()));
    for (a, b) in a.bodies.iter().zip(&b.bodies) {
        let name = &a.name;
        if a.name != b.name {
            return Err(format!("bodies {} and {}", a.name, b.name));
        }
        same_vectors(&format!("{name}.rest"), &a.rest, &b.rest, extent)?;
        same_vectors(&format!("{name}.start"), &a.start, &b.start, extent)?;
        let speed = a.velocity.iter().fold(1.0, |m: f64, v| m.max(v.amax()));
        same_vectors(&format!("{name}.velocity"), &a.velocity, &b.velocity, speed)?;
        if format!("{:?}", a.kind) != format!("{:?}", b.kind) {
            return Err(format!("{name}: the kinds differ"));
        }
        if a.friction_material != b.friction_material {
            return Err(format!("{name}: {} and {}", a.friction_material, b.friction_material));
        }
    }
    if a.settings != b.settings {
        return Err(format!("settings: {:?} and {:?}", a.settings, b.settings));
    }
    if a.gravity != b.gravity || a.no_contact != b.no_contact {
        return Err("gravity or no_contact".to_owned());
    }
    let half_space = |h: &HalfSpaceDef| format!("{h:?}");
    if !a.half_spaces.iter().map(half_space).eq(b.half_spaces.iter().map(half_space)) {
        return Err("half-spaces".to_owned());
    }
    same_prescriptions(a, b, extent)?;
    same_forces(a, b)
}

fn same_prescriptions(a: &Definition, b: &Definition, extent: f64) -> Result<(), String> {
    let sorted = |d: &Definition| {
        let mut all = d.prescribed.clone();
        all.sort_by(|p, q| {
            (p.body, &p.vertices).cmp(&(q.body, &q.vertices)).then(p.t0.total_cmp(&q.t0))
        });
        all
    };
    let (a, b) = (sorted(a), sorted(b));
    if a.len() != b.len() {
        return Err(format!("{} and {} prescriptions", a.len(), b.len()));
    }
    for (p, q) in a.iter().zip(&b) {
        same_prescription(p, q, extent).map_err(|e| format!("{} and {}: {e}", p.name, q.name))?;
    }
    Ok(())
}

fn same_prescription(p: &PrescribedDef, q: &PrescribedDef, extent: f64) -> Result<(), String> {
    if (p.body, &p.vertices, p.t0, p.t1) != (q.body, &q.vertices, q.t0, q.t1) {
        return Err("body, vertices or times".to_owned());
    }
    match (&p.motion, &q.motion) {
        (Motion::Fixed, Motion::Fixed) => {}
        (
            Motion::Rigid { linear, angular, pivot },
            Motion::Rigid { linear: l, angular: w, pivot: c },
        ) => {
            same_vectors("velocity", &[*linear, *angular], &[*l, *w], 1.0 + angular.norm())?;
            match (pivot, c) {
                (Pivot::Point(p), Pivot::Point(q)) => same_vectors("pivot", &[*p], &[*q], extent)?,
                // without rotation the pivot does not matter
                _ if *angular == Vec3::zeros() || pivot == c => {}
                _ => return Err("pivots".to_owned()),
            }
        }
        (Motion::Sequence { frames }, Motion::Sequence { frames: f }) => {
            if frames != f {
                return Err("sequences".to_owned());
            }
        }
        _ => return Err("motions of different kinds".to_owned()),
    }
    match (&p.until, &q.until) {
        (None, None) => Ok(()),
        (
            Some(Condition::AllBeyond { bodies, normal, offset }),
            Some(Condition::AllBeyond { bodies: b, normal: n, offset: o }),
        ) if bodies == b && normal == n && close(*offset, *o, extent) => Ok(()),
        _ => Err(format!("ends: {:?} and {:?}", p.until, q.until)),
    }
}

fn same_forces(a: &Definition, b: &Definition) -> Result<(), String> {
    let key = |d: &Definition| -> Vec<_> {
        let mut all: Vec<_> = d
            .forces
            .iter()
            .map(|f| {
                let load = match &f.load {
                    Load::Acceleration(a) | Load::Force(a) | Load::Traction(a) => a.at(0.0),
                    Load::Pressure(_) => panic!("the reference has no pressure"),
                };
                (f.body, f.vertices.clone(), format!("{load:?} {} {}", f.t0, f.t1))
            })
            .collect();
        all.sort();
        all
    };
    if key(a) == key(b) { Ok(()) } else { Err("forces".to_owned()) }
}

/// Mass of every vertex of the elastic bodies, kg: a quarter of that of each tetrahedron.
pub fn masses(definition: &Definition) -> Vec<f64> {
    let mut all = Vec::new();
    for body in &definition.bodies {
        let BodyKind::Volume { tets, density, .. } = &body.kind else { continue };
        let mut mass = vec![0.0; body.rest.len()];
        for t in tets {
            let x = t.map(|v| body.rest[v as usize]);
            let volume = (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0;
            for v in t {
                mass[*v as usize] += density * volume / 4.0;
            }
        }
        all.extend(mass);
    }
    all
}
