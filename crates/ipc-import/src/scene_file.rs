//! A plan as the text of a scene file, with a remark at each setting that needs one.

// long: the text of a scene file from its first section to its last, in the order of the file

use crate::error::{Note, NoteKind};
use crate::language::ReferenceScene;
use crate::meshes::Content;
use crate::parameters::{OBSTACLE, SHAPE, half_space_name};
use crate::plan::{Action, Effect, MatrixMember, Plan, PlannedBody, Region};
use standoff_linalg::Vec3;
use standoff_mesh::path::{absolute, relative};
use standoff_sim::definition::{Condition, Pivot};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{Ccd, Integrator, Lagging, LaggingUntil};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Names of the materials of a plan, in order of first use.
type Materials = Vec<(String, (f64, Material))>;

impl Plan {
    /// The scene file's text. Mesh paths are written relative to `folder`, the folder that the
    /// file will be in.
    pub fn scene_file(&self, scene: &ReferenceScene, notes: &[Note], folder: &Path) -> String {
        let mut out = Writer { text: String::new(), folder: absolute(folder) };
        out.header(scene, notes, self.length);
        out.settings(self, scene);
        let materials = materials(&self.bodies);
        for (name, (density, material)) in &materials {
            out.material(name, *density, material);
        }
        for (k, half_space) in self.half_spaces.iter().enumerate() {
            out.table(true, "half_spaces");
            out.entry("name", quoted(&half_space_name(k)));
            out.entry("origin", vector(&half_space.origin));
            out.entry("normal", vector(&half_space.normal));
            out.entry("friction_material", quoted(&half_space_name(k)));
        }
        for (first, count) in objects(&self.bodies) {
            out.object(self, first, count, &materials);
        }
        out.text
    }
}

/// Runs of bodies that make one object each: a single body, or all copies of a matrix if the same
/// is done to each.
fn objects(bodies: &[PlannedBody]) -> Vec<(usize, usize)> {
    let mut objects = Vec::new();
    let mut first = 0;
    while first < bodies.len() {
        let body = &bodies[first];
        let count = body.matrix.as_ref().map_or(1, |m| m.counts.iter().product::<u32>() as usize);
        let copies = &bodies[first..first + count];
        let alike = copies.iter().all(|b| {
            b.actions == body.actions && b.actions.iter().all(|a| a.region == Region::All)
        });
        match alike {
            true => objects.push((first, count)),
            false => objects.extend((first..first + count).map(|k| (k, 1))),
        }
        first += count;
    }
    objects
}

/// The matrix of which an object of `count` bodies holds all copies.
fn whole_matrix(body: &PlannedBody, count: usize) -> Option<&MatrixMember> {
    body.matrix.as_ref().filter(|m| m.counts.iter().product::<u32>() as usize == count)
}

fn object_name(body: &PlannedBody, count: usize) -> &str {
    whole_matrix(body, count).map_or(&body.name, |m| &m.name)
}

fn materials(bodies: &[PlannedBody]) -> Materials {
    let mut materials = Materials::new();
    for body in bodies.iter().filter(|b| b.elastic()) {
        if !materials.iter().any(|(_, m)| *m == body.material) {
            let name = match materials.len() {
                0 => "solid".to_owned(),
                n => format!("solid-{}", n + 1),
            };
            materials.push((name, body.material.clone()));
        }
    }
    materials
}

struct Writer {
    text: String,
    folder: PathBuf,
}

impl Writer {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn entry(&mut self, key: &str, value: impl AsRef<str>) {
        self.line(format!("{key} = {}", value.as_ref()));
    }

    /// A comment, broken at 95 characters.
    fn comment(&mut self, text: &str) {
        let mut line = String::from("#");
        for word in text.split_whitespace() {
            if line.chars().count() + word.chars().count() > 94 {
                self.line(&line);
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(line);
    }

    fn table(&mut self, array: bool, name: &str) {
        self.line(if array { format!("\n[[{name}]]") } else { format!("\n[{name}]") });
    }

    fn header(&mut self, scene: &ReferenceScene, notes: &[Note], length: f64) {
        let file = scene.file.display();
        self.comment(&format!("Converted from the scene {file} of the IPC 2020 reference code."));
        if scene.script.line > 0 {
            let script = scene.script.value.name();
            let remark = format!(
                "Its script '{script}' is written out below as positions, fixed vertices, motions \
                 and forces."
            );
            self.comment(&remark);
        }
        if !scene.absolute_parameters.value {
            let remark = format!(
                "Lengths are multiples of ℓ = {length} m, the diagonal of the box around the elastic \
                 shapes at rest."
            );
            self.comment(&remark);
        }
        for note in notes.iter().filter(|n| n.kind != NoteKind::Cosmetic) {
            self.comment(&format!("- {note}"));
        }
    }

    fn settings(&mut self, plan: &Plan, scene: &ReferenceScene) {
        let s = &plan.settings;
        self.line("");
        self.comment(
            "What the reference does otherwise than Standoff: it starts Newmark with zero acceleration and \
             takes contact like all other forces; vertices that are let go lose velocity and gravity for \
             a step; its stiffness of contact; friction on half-spaces of a lower order and with last \
             step's contacts at this step's stiffness.",
        );
        self.entry("preset", quoted("ipc-2020"));
        self.entry("gravity", vector(&plan.gravity));
        self.table(false, "time");
        self.entry("step", number(s.time.step));
        self.entry("end", number(s.time.end));
        match s.time.integrator {
            Integrator::Newmark => self.entry("integrator", quoted("newmark")),
            _ => self.entry("integrator", quoted("implicit-euler")),
        }
        if s.time.stiffness_damping != 0.0 {
            self.comment("of dampingRatio or dampingStiff");
            self.entry("stiffness_damping", number(s.time.stiffness_damping));
        }
        self.contact(plan, scene);
        self.friction(plan, scene);
        self.table(false, "solver");
        self.relative(scene, "tol", scene.tolerances.value.first().copied());
        if let Some(tolerance) = s.solver.end.velocity {
            self.entry("end.velocity", number(tolerance));
        }
        self.comment("faster than as published, to the same solutions");
        self.entry("initial_guess", quoted("extrapolation"));
        self.entry("islands", "true");
        self.entry("forecast_forces", "true");
        self.entry("linear", quoted("auto"));
        if s.solver.inversion_barrier {
            self.comment(
                "energy FCR: without this, steps end in an error where the reference lets elements invert",
            );
            self.entry("inversion_barrier", "true");
        }
        self.table(false, "output");
        self.entry("every", plan.every.to_string());
    }

    /// Says of what a length is made.
    fn relative(&mut self, scene: &ReferenceScene, key: &str, value: Option<f64>) {
        let Some(value) = value else { return };
        let unit = if scene.absolute_parameters.value { "" } else { " ℓ" };
        let text = format!("{key} {value}{unit}");
        self.comment(&text);
    }

    fn contact(&mut self, plan: &Plan, scene: &ReferenceScene) {
        let contact = &plan.settings.contact;
        self.table(false, "contact");
        let [_, start, target, ..] = scene.tuning.value;
        self.relative(scene, "dHat", Some(start.min(target)));
        if let Some(d_hat) = contact.d_hat {
            self.entry("d_hat", number(d_hat));
        }
        if let Some(start_distance) = contact.d_hat_start {
            self.relative(scene, "dHat at the start of a step", Some(start));
            self.entry("d_hat_start", number(start_distance));
        }
        if !contact.self_contact {
            self.comment(
                "selfCollisionOff; it also separates shapes from each other, see `ignore`",
            );
            self.entry("self_contact", "false");
        }
        let ccd = match contact.ccd {
            Ccd::Additive => "additive",
            Ccd::AdditivePublished => "additive-published",
            Ccd::Inclusion => "inclusion",
        };
        self.entry("ccd", quoted(ccd));
    }

    fn friction(&mut self, plan: &Plan, scene: &ReferenceScene) {
        let friction = &plan.settings.friction;
        self.table(false, "friction");
        self.comment("selfFric: between shapes, kinematic ones included");
        self.entry("coefficient", number(friction.coefficient));
        self.relative(scene, "epsv", Some(scene.tuning.value[4].min(scene.tuning.value[5])));
        self.comment(
            "per second, times 0.025 s / step: the reference makes it a displacement that does not \
             follow the time step",
        );
        if let Some(speed) = friction.stick_speed {
            self.entry("stick_speed", number(speed));
        }
        self.comment(&format!("fricIterAmt {}", scene.friction_iterations.value));
        match friction.lagging {
            Lagging::Count(n) => self.entry("lagging", n.to_string()),
            Lagging::Until(LaggingUntil::Converged) => self.entry("lagging", quoted("converged")),
            Lagging::Until(LaggingUntil::MomentumBalance) => {
                self.entry("lagging", quoted("momentum-balance"))
            }
        }
        self.entry("relaxation", friction.relaxation.to_string());
        for pair in &friction.pairs {
            self.table(true, "friction.pairs");
            if pair.materials.1 == OBSTACLE {
                self.comment(
                    "the reference builds no friction on meshCO, whatever its coefficient",
                );
            }
            let (a, b) = &pair.materials;
            self.entry("materials", format!("[{}, {}]", quoted(a), quoted(b)));
            self.entry("coefficient", number(pair.coefficient));
        }
    }

    fn material(&mut self, name: &str, density: f64, material: &Material) {
        self.table(false, &format!("materials.{name}"));
        let law = match material.law {
            Law::FixedCorotated => "fixed-corotated",
            _ => "neo-hookean",
        };
        self.entry("law", quoted(law));
        self.entry("density", number(density));
        self.entry("young_modulus", number(material.young_modulus));
        self.entry("poisson_ratio", number(material.poisson_ratio));
        self.entry("friction_material", quoted(SHAPE));
    }

    /// The bodies from `first` on as one object.
    fn object(&mut self, plan: &Plan, first: usize, count: usize, materials: &Materials) {
        let body = &plan.bodies[first];
        let matrix = whole_matrix(body, count);
        self.line("");
        if body.matrix.is_none() || matrix.is_some() {
            self.comment(&format!("line {}", body.line));
        }
        self.line("[[objects]]");
        self.entry("name", quoted(object_name(body, count)));
        let path = relative(&absolute(&body.source.path), &self.folder);
        self.entry("mesh", quoted(&path.to_string_lossy()));
        if body.elastic() {
            let name = materials.iter().find(|(_, m)| *m == body.material).map(|(n, _)| n);
            self.entry("material", quoted(name.map_or("solid", |n| n)));
        } else {
            let material = if first < plan.shapes { SHAPE } else { OBSTACLE };
            self.entry("friction_material", quoted(material));
            self.reduction(body);
        }
        self.placement(plan, first, body);
        if let Some(matrix) = matrix {
            let (counts, spacing) = (matrix.counts, vector(&matrix.spacing));
            self.entry("array", format!("{{ counts = {counts:?}, spacing = {spacing} }}"));
        }
        if !plan.self_collision && first < plan.shapes {
            self.ignore(plan, first);
        }
        self.actions(plan, body);
    }

    fn reduction(&mut self, body: &PlannedBody) {
        let part = match body.source.content {
            Content::Wires => "edges",
            Content::Points => "points",
            Content::Volume | Content::Surface => "surface",
        };
        if body.source.reduced {
            self.entry("as", quoted(part));
        }
    }

    fn placement(&mut self, plan: &Plan, index: usize, body: &PlannedBody) {
        let p = &body.placement;
        if index >= plan.shapes {
            self.comment(
                "meshCO: its position is that of the mean of the vertices, its scale that of the \
                 largest extent",
            );
        }
        if p.scale != Vec3::repeat(1.0) {
            let uniform = p.scale.x == p.scale.y && p.scale.y == p.scale.z;
            self.entry("scale", if uniform { number(p.scale.x) } else { vector(&p.scale) });
        }
        if p.rotate != Vec3::zeros() {
            self.entry("rotate", vector(&p.rotate));
        }
        self.entry("translate", vector(&p.translate));
        if let Some(turn) = &body.turned {
            self.comment("rotateModel turns the start only, about half the extents of its box");
            let (axis, angle) = (vector(&turn.axis), number(turn.angle));
            let translate = vector(&turn.translate);
            let rotate = format!("{{ axis = {axis}, angle = {angle} }}");
            self.entry("start", format!("{{ rotate = {rotate}, translate = {translate} }}"));
        }
        let (linear, angular) = body.velocity;
        if linear != Vec3::zeros() {
            self.entry("velocity", vector(&linear));
        }
        if angular != Vec3::zeros() {
            self.entry("angular_velocity", vector(&angular.map(f64::to_degrees)));
        }
    }

    /// Shapes that it does not touch: its own copies and those after it.
    fn ignore(&mut self, plan: &Plan, first: usize) {
        let all = objects(&plan.bodies[..plan.shapes]);
        let ignored = all.iter().filter(|(f, count)| *f > first || (*f == first && *count > 1));
        let names: Vec<String> =
            ignored.map(|&(f, count)| quoted(object_name(&plan.bodies[f], count))).collect();
        self.entry("self_contact", "false");
        if !names.is_empty() {
            self.entry("ignore", format!("[{}]", names.join(", ")));
        }
    }

    fn actions(&mut self, plan: &Plan, body: &PlannedBody) {
        let mut regions: Vec<(&str, &Action)> = Vec::new();
        for action in body.actions.iter().filter(|a| a.region != Region::All) {
            if !regions.iter().any(|(name, _)| *name == action.name) {
                regions.push((&action.name, action));
            }
        }
        if !regions.is_empty() {
            self.line("[objects.regions]");
        }
        for (name, action) in regions {
            self.entry(name, region(action));
        }
        for action in &body.actions {
            let kind = match action.effect {
                Effect::Hold => "fixed",
                Effect::Rigid { .. } | Effect::Sequence { .. } => "motion",
                Effect::Accelerate(_) => "forces",
            };
            self.line(format!("[[objects.{kind}]]"));
            if let Some(comment) = &action.comment {
                self.comment(comment);
            }
            if action.region != Region::All {
                self.entry("vertices", quoted(&action.name));
            }
            self.effect(action);
            if action.t0 > 0.0 {
                self.entry("start", number(action.t0));
            }
            if action.t1.is_finite() {
                self.entry("end", number(action.t1));
            }
            if let Some(Condition::AllBeyond { bodies, normal, offset }) = &action.until {
                let all = objects(&plan.bodies);
                let named =
                    all.iter().filter(|(f, n)| bodies.iter().any(|b| (*f..f + n).contains(b)));
                let names = named.map(|&(f, n)| quoted(object_name(&plan.bodies[f], n)));
                let names = names.collect::<Vec<_>>().join(", ");
                let (normal, origin) = (vector(normal), vector(&(*offset * normal)));
                let beyond =
                    format!("{{ objects = [{names}], origin = {origin}, normal = {normal} }}");
                self.entry("until", format!("{{ all_beyond = {beyond} }}"));
            }
        }
    }

    fn effect(&mut self, action: &Action) {
        match &action.effect {
            Effect::Hold => {}
            Effect::Rigid { linear, angular, pivot } => {
                if *linear != Vec3::zeros() {
                    self.entry("velocity", vector(linear));
                }
                if *angular != Vec3::zeros() {
                    self.entry("angular_velocity", vector(&angular.map(f64::to_degrees)));
                }
                match pivot {
                    Pivot::Point(p) => self.entry("pivot", vector(p)),
                    Pivot::CurrentCentre if *angular != Vec3::zeros() => {
                        self.entry("pivot", quoted("current-centre"));
                    }
                    Pivot::CurrentCentre | Pivot::StartCentre => {}
                }
            }
            Effect::Sequence { folder, .. } => {
                let path = relative(&absolute(folder), &self.folder);
                self.entry("sequence", quoted(&path.to_string_lossy()));
            }
            Effect::Accelerate(a) => self.entry("acceleration", vector(a)),
        }
    }
}

fn region(action: &Action) -> String {
    let corners = |[min, max]: &[Vec3; 2]| format!("min = {}, max = {}", vector(min), vector(max));
    match &action.region {
        Region::Fractions(c) => format!("{{ box = {{ {}, relative = true }} }}", corners(c)),
        Region::Box(c) => format!("{{ box = {{ {} }} }}", corners(c)),
        Region::All | Region::List => format!("{{ vertices = {:?} }}", action.vertices),
    }
}

/// A number that reads back to the same bits.
fn number(x: f64) -> String {
    format!("{x:?}")
}

fn vector(v: &Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                // writing to a string cannot fail
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_for_toml() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
    }
}
