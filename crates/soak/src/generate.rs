//! Scenes from a seed: any kinds of bodies and materials, thrown, dropped, pressed, dragged or twisted.

mod bodies;
mod joints;
mod materials;
mod planar;
mod plots;

use rand::{RngExt, SeedableRng};
use rand_xorshift::XorShiftRng;
use toml::{Table, Value};

/// A source of random numbers whose sequence does not depend on the platform.
pub struct Random(XorShiftRng);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(XorShiftRng::seed_from_u64(seed))
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// 10 to the power of a number uniform in [low, high), with three digits.
    pub fn power(&mut self, low: f64, high: f64) -> f64 {
        rounded(10f64.powf(self.between(low, high)))
    }

    /// Uniform in low ..= high.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.between(0.0, 1.0) < p
    }

    /// One of the given.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())]
    }

    /// A direction.
    pub fn direction(&mut self) -> [f64; 3] {
        loop {
            let v = [(); 3].map(|()| self.between(-1.0, 1.0));
            let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
            if (0.1..1.0).contains(&length) {
                return v.map(|c| c / length);
            }
        }
    }
}

/// How large a scene is: how many bodies, cells and steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Seven scenes of ten.
    Small,
    /// Two of ten.
    Medium,
    /// One of ten.
    Large,
}

impl Extent {
    fn random(r: &mut Random) -> Self {
        match r.integer(0, 9) {
            0..=6 => Self::Small,
            7 | 8 => Self::Medium,
            _ => Self::Large,
        }
    }

    /// Uniform in low ..= high in large scenes; in smaller ones up to 60 % or 25 % of the way to `high`.
    pub fn count(self, low: i64, high: i64, r: &mut Random) -> i64 {
        let range = high - low;
        let range = match self {
            Self::Small => (range + 2) / 4,
            Self::Medium => (3 * range + 2) / 5,
            Self::Large => range,
        };
        r.integer(low, low + range)
    }
}

/// A number with three digits: scenes are for people, too.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number")
}

/// A list of numbers.
pub fn list(values: &[f64]) -> Value {
    Value::Array(values.iter().map(|v| Value::Float(*v)).collect())
}

/// A table from keys and values.
pub fn table<const N: usize>(of: [(&str, Value); N]) -> Table {
    of.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// A body to be placed.
pub struct Item {
    /// Its `[[objects]]`, without a place.
    pub table: Table,
    /// Radius of a ball about its origin that holds it at the start, m.
    pub radius: f64,
    /// Whether it is a volume.
    pub solid: bool,
}

/// A scene under construction.
pub struct Draft {
    /// Size of the bodies, m.
    pub size: f64,
    /// How many bodies, cells and steps.
    pub extent: Extent,
    /// The bodies that move.
    pub objects: Vec<Table>,
    /// Materials by name.
    pub materials: Table,
    /// Other sections by name.
    pub sections: Table,
    /// The time that what the scene shows takes, s.
    pub duration: f64,
}

impl Draft {
    /// A section, made if it is not there.
    pub fn section(&mut self, name: &str) -> &mut Table {
        let entry = self.sections.entry(name).or_insert_with(|| Value::Table(Table::new()));
        entry.as_table_mut().expect("sections are tables")
    }
}

/// The scene of a seed, as the text of a scene file.
pub fn scene(seed: u64) -> String {
    scene_with(seed, &Parts::default())
}

/// Probabilities with which bodies are of kinds that came later.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    /// Free volumes that are rigid.
    pub rigid: f64,
    /// Rigid bodies that are joined with another one or with the world.
    pub joints: f64,
    /// Soft volumes and sheets that are joined with a rigid body or with the world.
    pub soft_joints: f64,
    /// Joints that can break.
    pub breaking: f64,
    /// Other volumes that have quadratic elements.
    pub quadratic: f64,
    /// Materials of volumes that relax or yield.
    pub inelastic: f64,
    /// Scenes with friction whose kinetic coefficient is not the static one.
    pub kinetic: f64,
    /// Materials of volumes that have fibres.
    pub fibres: f64,
    /// Materials of volumes that grow or shrink.
    pub growth: f64,
    /// Scenes in two dimensions and of bodies of revolution, which have solids and obstacles alone.
    pub planar: f64,
}

/// The same with these parts of other kinds.
pub fn scene_with(seed: u64, parts: &Parts) -> String {
    let mut r = Random::new(seed);
    let size = r.power(-2.0, 0.5);
    let mut draft = Draft {
        size,
        extent: Extent::random(&mut r),
        objects: Vec::new(),
        materials: Table::new(),
        sections: Table::new(),
        duration: 0.0,
    };
    materials::add(&mut draft, &mut r);
    let count = draft.extent.count(1, 5, &mut r);
    // from a sequence of its own, so that the other numbers stay those of the seed
    let planar = Random::new(!seed).chance(parts.planar);
    let plot = match planar {
        true => planar::arrange(&mut draft, count, &mut r),
        false => {
            let items = (0..count).map(|_| bodies::random(&draft, &mut r)).collect();
            plots::arrange(&mut draft, items, &mut r)
        }
    };
    settings(&mut draft, &mut r);
    if planar {
        return planar_scene(seed, draft, plot, parts, &mut r);
    }
    bodies::stiffen(&mut draft.objects, parts.rigid, &mut r);
    let mut joints = joints::between(&draft.objects, parts.joints, draft.duration, &mut r);
    // last, so that the other numbers stay those of the seed
    bodies::bend(&mut draft.objects, parts.quadratic, &mut r);
    materials::let_flow(&mut draft.materials, parts.inelastic, draft.duration, &mut r);
    joints::of_soft(&draft.objects, parts.soft_joints, draft.duration, &mut joints, &mut r);
    joints::weaken(&mut joints, parts.breaking, [draft.size, draft.duration], &mut r);
    if !joints.is_empty() {
        draft.sections.insert("joints".into(), joints.into());
    }
    let_slip(&mut draft, parts.kinetic, &mut r);
    materials::add_fibres(&mut draft, parts.fibres, &mut r);
    materials::let_grow(&mut draft, parts.growth, &mut r);
    text(seed, draft, plot)
}

/// The same in two dimensions, where there is nothing rigid and nothing joined.
fn planar_scene(seed: u64, mut draft: Draft, plot: &str, parts: &Parts, r: &mut Random) -> String {
    bodies::bend(&mut draft.objects, parts.quadratic, r);
    materials::let_flow(&mut draft.materials, parts.inelastic, draft.duration, r);
    let_slip(&mut draft, parts.kinetic, r);
    materials::add_fibres(&mut draft, parts.fibres, r);
    materials::let_grow(&mut draft, parts.growth, r);
    draft.materials.retain(|name, _| name.starts_with("solid"));
    if draft.sections["dimension"].is_str() {
        planar::around_the_axis(&mut draft.materials);
    }
    text(seed, draft, plot)
}

/// The text of a scene.
fn text(seed: u64, mut draft: Draft, plot: &str) -> String {
    let mut root = Table::new();
    root.insert("description".into(), format!("seed {seed}: {plot}").into());
    for (key, value) in std::mem::take(&mut draft.sections) {
        root.insert(key, value);
    }
    root.insert("materials".into(), draft.materials.into());
    root.insert(
        "objects".into(),
        Value::Array(draft.objects.into_iter().map(Value::Table).collect()),
    );
    toml::to_string(&root).expect("tables of numbers and texts")
}

/// Gives friction, if there is some, a kinetic coefficient with the probability `part`, and in half of these scenes a stick speed at which much of the motion is
/// between sticking and sliding.
fn let_slip(draft: &mut Draft, part: f64, r: &mut Random) {
    let speed = draft.size / draft.duration;
    let Some(friction) = draft.sections.get_mut("friction").and_then(Value::as_table_mut) else {
        return;
    };
    let Some(at_rest) = friction.get("coefficient").and_then(Value::as_float) else { return };
    if !r.chance(part) {
        return;
    }
    // now and then none at all
    let kinetic = if r.chance(0.1) { 0.0 } else { rounded(at_rest * r.between(0.0, 1.0)) };
    friction.insert("kinetic_coefficient".into(), kinetic.min(at_rest).into());
    if r.chance(0.5) {
        friction.insert("stick_speed".into(), rounded(speed * r.power(-3.0, 0.0)).into());
    }
}

/// Time, contact, friction and solver.
// long: a line or two for each setting
fn settings(draft: &mut Draft, r: &mut Random) {
    let steps = draft.extent.count(5, 30, r);
    let step = rounded((draft.duration / steps as f64).clamp(1e-6, 0.5));
    let size = draft.size;
    let held = draft.objects.iter().all(|o| {
        o.get("role").and_then(Value::as_str) == Some("obstacle") || o.contains_key("fixed")
    });
    let time = draft.section("time");
    time.insert("step".into(), step.into());
    time.insert("end".into(), (step * steps as f64).into());
    let integrator = match r.integer(0, 9) {
        0..=4 => "implicit-euler",
        5 | 6 => "bdf2",
        _ if held => "quasi-static",
        _ => "newmark",
    };
    time.insert("integrator".into(), integrator.into());
    if r.chance(0.2) && integrator != "quasi-static" {
        time.insert("stiffness_damping".into(), (step * r.power(-2.0, 0.5)).into());
    }
    let contact = draft.section("contact");
    contact.insert("d_hat".into(), rounded(size * r.power(-4.0, -2.0)).into());
    if r.chance(0.3) {
        contact.insert("adaptation".into(), "conditioning".into());
    }
    if r.chance(0.2) {
        contact.insert("area_weighting".into(), true.into());
    }
    if r.chance(0.3) {
        contact.insert("ccd".into(), "inclusion".into());
    }
    if r.chance(0.1) {
        contact.insert("self_contact".into(), false.into());
    }
    if r.chance(0.6) {
        let friction = draft.section("friction");
        friction.insert("coefficient".into(), rounded(r.between(0.0, 1.2)).into());
        match r.integer(0, 5) {
            0 => drop(friction.insert("lagging".into(), "converged".into())),
            1 => drop(friction.insert("lagging".into(), 2.into())),
            _ => {}
        }
    }
    let solver = draft.section("solver");
    if r.chance(0.3) {
        let linear = ["mixed-cholesky", "cholesky", "conjugate-gradient"];
        solver.insert("linear".into(), r.one(&linear).into());
    }
    if r.chance(0.2) {
        let end = solver.entry("end").or_insert_with(|| toml::Table::new().into());
        if let Some(end) = end.as_table_mut() {
            end.insert("velocity_relative".into(), r.power(-4.0, -1.0).into());
        }
    }
    if r.chance(0.1) {
        solver.insert("audit".into(), "every-path".into());
    }
}
