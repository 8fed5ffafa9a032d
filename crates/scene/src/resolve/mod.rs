//! From a scene file to the definition of a simulation: reads meshes, places objects, selects
//! vertices, checks every value. What it cannot use it refuses with the place in the file.

// long: the order in which a scene is resolved, from the file to the definition

mod at;
mod attach;
mod conditions;
mod expect;
mod expectation;
mod fibres;
mod fill;
mod growth;
mod joint;
mod material;
mod object;
pub mod origin;
mod parts;
mod placed;
mod placement;
mod plane;
mod quadratic;
mod rigid;
mod robots;
mod room;
mod select;
mod sequence;
mod settings;
mod stitch;
mod thin;
mod tie;
mod weld;

use crate::decode::decode;
use crate::document::Document;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{ExpectSection, MaterialSection, Moment, OutputSection, SceneFile};
use crate::plane::write_out;
use crate::unread::{self, Given, Look};
use crate::{presets, schema, units};
use at::{At, Places};
pub use expectation::{Expectation, Piece, Subject, Subtrahend, When};
use fill::Filled;
use origin::Origins;
use placed::{Bodies, Placed};
use room::Room;
use serde::{Deserialize, Serialize};
use standoff_fill::Embedding;
pub use standoff_fill::Report as FillReport;
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_mesh::input::{self, MOST_TEXT};
use standoff_sim::BuildError;
use standoff_sim::definition::settings::{Device, Method};
use standoff_sim::definition::validate::{self, in_plane, number, vector};
use standoff_sim::definition::{BodyDef, BodyKind, Definition, HalfSpaceDef};
use standoff_sim::energy::Term;
use standoff_sim::error::LoadIndex;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Friction material of what names none.
pub const DEFAULT_FRICTION_MATERIAL: &str = "default";

/// A scene of the IPC 2020 reference, taken over without a detour through a scene file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its file.
    pub scene: PathBuf,
    /// Where its meshes are looked for first.
    pub mesh_roots: Vec<PathBuf>,
}

/// A scene, ready to be simulated.
#[derive(Debug, Clone)]
pub struct Scene {
    /// What the simulator is built from.
    pub definition: Definition,
    /// What is written, and when.
    pub output: OutputSection,
    /// The scene file with defaults and overrides filled in and absolute mesh paths.
    pub file: SceneFile,
    /// Where the definition comes from, if not from `file`.
    pub source: Option<Source>,
    /// What readers of meshes changed or left out, one sentence each.
    pub notes: Vec<String>,
    /// Objects whose surface was filled with tetrahedra, with what there is to say about it.
    pub fills: Vec<(String, FillReport)>,
    /// Surfaces that ride along with bodies.
    pub carried: Vec<Carried>,
    /// What a run must show.
    pub expectations: Vec<Expectation>,
    /// Meshes that came from memory, by the relative path that `file` gives for them. Code that
    /// saves `file` has to save them there.
    pub meshes: Meshes,
    /// Where in `file` the parts of the definition come from.
    pub origins: Origins,
}

/// Meshes in memory by the path under which objects name them.
pub type Meshes = BTreeMap<String, Mesh>;

/// A surface that rides along with a body of tetrahedra.
#[derive(Debug, Clone)]
pub struct Carried {
    /// Index of the body.
    pub body: usize,
    /// Its points as parts of the body's tetrahedra, in the body's numbering.
    pub embedding: Arc<Embedding>,
    /// Its triangles.
    pub triangles: Arc<Vec<[u32; 3]>>,
}

impl Scene {
    /// Reads a scene file and applies overrides (`key.path=value`) in order.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, SceneError> {
        Self::load_steps(path, overrides, None)
    }

    /// The same with a number of steps instead of the scene's `time.end`, which then may be anything.
    pub fn load_steps(
        path: &Path,
        overrides: &[String],
        steps: Option<u64>,
    ) -> Result<Self, SceneError> {
        let text = input::text(path, MOST_TEXT).map_err(|e| unreadable(path, &e))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(&text, path, folder, overrides, steps, Look::Everywhere, Meshes::new())
    }

    /// Reads a scene from `text`; `name` stands for the file in messages, `folder` is what mesh
    /// paths are relative to.
    pub fn parse(
        text: &str,
        name: &Path,
        folder: &Path,
        overrides: &[String],
    ) -> Result<Self, SceneError> {
        Self::parse_with(text, name, folder, overrides, Meshes::new())
    }

    /// As [`Scene::parse`], for a text that a program has written: of keys that nothing reads only those of overrides are
    /// errors.
    ///
    /// # Errors
    /// See [`SceneError`].
    pub fn parse_converted(
        text: &str,
        name: &Path,
        folder: &Path,
        overrides: &[String],
    ) -> Result<Self, SceneError> {
        Self::read(text, name, folder, overrides, None, Look::Overrides, Meshes::new())
    }

    /// As [`Scene::parse`], with meshes in memory: an object whose `mesh` is a key of `meshes` has that
    /// mesh instead of a file's.
    ///
    /// # Errors
    /// See [`SceneError`].
    pub fn parse_with(
        text: &str,
        name: &Path,
        folder: &Path,
        overrides: &[String],
        meshes: Meshes,
    ) -> Result<Self, SceneError> {
        Self::read(text, name, folder, overrides, None, Look::Everywhere, meshes)
    }

    fn read(
        text: &str,
        name: &Path,
        folder: &Path,
        overrides: &[String],
        steps: Option<u64>,
        look: Look,
        mut meshes: Meshes,
    ) -> Result<Self, SceneError> {
        let mut document = Document::parse(name, text)?;
        let (of_robots, of_scene): (Vec<_>, Vec<_>) =
            overrides.iter().partition(|o| robots::is_of_robot(o));
        for option in of_robots {
            document.set(option)?;
        }
        let robots = robots::put_in_place(&mut document, folder, &mut meshes)?;
        for option in of_scene {
            document.set(option)?;
        }
        let given = Given::new(&document);
        presets::apply(&mut document);
        {
            // the schema is larger than most scenes, and its memory is wanted back
            let types = schema::raw();
            write_out(&mut document, &types);
            units::convert_document(&mut document, &types)?;
        }
        document.refuse_control_characters()?;
        let mut file: SceneFile = decode(&document)?;
        let own_end = file.time.end;
        if let Some(steps) = steps {
            file.time.end = file.time.step * steps as f64;
        }
        // with a number of steps the scene's own end may be anything
        let end = if own_end.is_finite() && own_end > 0.0 { own_end } else { file.time.end };
        // as the library does: first whether a value may be, then whether something reads it
        settings::settings(&file, &At::root(&document))?;
        given.refuse_unread(&document, &file, look)?;
        let folder = std::path::absolute(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        })
        .unwrap_or_else(|_| folder.to_owned());
        let mut scene = resolve(file, end, &At::root(&document), &folder, &meshes)?;
        scene.meshes = meshes;
        scene.notes.splice(0..0, robots.notes(&scene.definition.gravity));
        Ok(scene)
    }

    /// A scene from the types of the scene file, with meshes in memory as in [`Scene::parse_with`]. Paths of
    /// other meshes are relative to the working directory.
    ///
    /// # Errors
    /// See [`SceneError`]; its path says where in `file` the fault is.
    pub fn from_file(file: &SceneFile, meshes: Meshes) -> Result<Self, SceneError> {
        let nowhere = |e: SceneError| SceneError { location: None, ..e };
        unread::refuse_in_code(file)?;
        let text = written(file).map_err(|e| SceneError {
            problem: Box::new(Problem::Syntax(e.to_string())),
            path: String::new(),
            object: None,
            location: None,
        })?;
        // the text was written here: places in it are unknown to the user
        Self::parse_with(&text, Path::new("scene"), Path::new(""), &[], meshes).map_err(nowhere)
    }

    /// The vertices of a body in the numbering of the whole scene.
    pub fn vertices(&self, body: &str) -> Option<Range<usize>> {
        let index = self.definition.bodies.iter().position(|b| b.name == body)?;
        let first = self.definition.bodies[..index].iter().map(|b| b.rest.len()).sum::<usize>();
        Some(first..first + self.definition.bodies[index].rest.len())
    }

    /// Adds an energy to those of the scene, over vertices in the numbering of the whole scene. No file
    /// holds it: a run with it is resumed by a program that adds it again.
    pub fn add_energy(&mut self, energy: impl Term + 'static) {
        self.definition.energies.push(Arc::new(energy));
    }

    /// Number of steps to the end of the simulation.
    pub fn steps(&self) -> u64 {
        // an end that is a multiple of the step up to rounding takes no extra step
        ((self.file.time.end / self.file.time.step) * (1.0 - 1e-12)).ceil() as u64
    }

    /// Ends the simulation after this many steps.
    pub fn set_steps(&mut self, steps: u64) {
        self.file.time.end = self.file.time.step * steps as f64;
        self.definition.settings.time.end = self.file.time.end;
    }

    /// Solves linear systems on this device. The bits of what follows depend on it.
    pub fn set_device(&mut self, device: Device) {
        self.file.solver.device = device;
        self.definition.settings.solver.device = device;
    }

    /// Whether the simulation ends at another time than the file of the scene says.
    fn ends_elsewhere(&self) -> bool {
        self.expectations.iter().any(|e| e.end != self.file.time.end)
    }

    /// The expectations that concern nothing after the end of the simulation, with their times as numbers.
    fn reached(&self) -> Vec<ExpectSection> {
        let end = self.file.time.end;
        let until = |time: f64| time <= end * (1.0 + 1e-9);
        let all = self.file.expect.iter().zip(&self.expectations);
        let reached = all.filter_map(|(section, expectation)| match expectation.when {
            When::At(time) => {
                until(time).then(|| ExpectSection { when: Moment::Time(time), ..section.clone() })
            }
            _ => until(expectation.end).then(|| section.clone()),
        });
        reached.collect()
    }

    /// The scene as TOML with every default written out but those that nothing reads; running it gives the same run.
    pub fn resolved_toml(&self) -> Result<String, toml::ser::Error> {
        let body = match self.ends_elsewhere() {
            false => written(&self.file)?,
            true => written(&SceneFile { expect: self.reached(), ..self.file.clone() })?,
        };
        Ok(format!(
            "# Written by standoff: every setting of the run, in SI units and degrees.\n{body}"
        ))
    }
}

/// The text of a scene file without settings that nothing reads.
fn written(file: &SceneFile) -> Result<String, toml::ser::Error> {
    let text = toml::to_string(file)?;
    let unread = unread::keys(file);
    let mut out = String::with_capacity(text.len());
    for section in sections(&text) {
        let name = section.lines().next().unwrap_or_default().trim_matches(['[', ']']);
        let is_read = |line: &&str| match line.split_once(" = ") {
            Some((key, _)) => !unread.contains(format!("{name}.{key}").as_str()),
            None => true,
        };
        let kept: Vec<&str> = section.lines().filter(is_read).collect();
        let keys = |lines: &[&str]| lines.iter().filter(|l| l.contains(" = ")).count();
        let all: Vec<&str> = section.lines().collect();
        // a list of tables that nothing reads, or a table of which nothing is left
        if unread.contains(name) || keys(&kept) == 0 && keys(&all) > 0 {
            continue;
        }
        kept.iter().for_each(|line| out.extend([line, "\n"]));
    }
    Ok(out)
}

/// The parts of a text of TOML that begin with a header, and what precedes the first one.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = vec![0];
    starts.extend(text.match_indices("\n[").map(|(at, _)| at + 1));
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> SceneError {
    let nearest = (error.kind() == std::io::ErrorKind::NotFound)
        .then(|| object::similar_file(path))
        .flatten();
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    SceneError {
        problem: Box::new(Problem::Unreadable { path: path.to_owned(), reason, nearest }),
        path: String::new(),
        object: None,
        location: None,
    }
}

/// `end` is that of the scene, s, which a number of steps may have replaced in `file`.
fn resolve(
    mut file: SceneFile,
    end: f64,
    at: &At<'_>,
    folder: &Path,
    meshes: &Meshes,
) -> Result<Scene, SceneError> {
    let settings = settings::settings(&file, at)?;
    at.check(vector("gravity", &Vec3::from(file.gravity)))?;
    if file.dimension.is_planar() {
        at.check(in_plane("gravity", &Vec3::from(file.gravity)))?;
        at.check(file.dimension.validate_gravity(&Vec3::from(file.gravity)))?;
        at.check(settings.validate_in_plane())?;
    }
    for (name, material) in &mut file.materials {
        check_material(material, &at.key("materials").key(name))?;
    }
    let mut definition = Definition {
        dimension: file.dimension,
        gravity: Vec3::from(file.gravity),
        settings,
        ..Definition::default()
    };
    half_spaces(&mut file, at, &mut definition)?;
    let mut filled = Filled::default();
    let (notes, origins, all) =
        objects(&mut file, at, folder, meshes, &mut definition, &mut filled)?;
    check_friction_names(&file, &definition, at)?;
    at.check(definition.validate())?;
    let expectations = expect::resolve_all(&file, end, &at.key("expect"), &all)?;
    Ok(Scene {
        definition,
        output: file.output.clone(),
        file,
        source: None,
        notes,
        fills: filled.reports,
        carried: filled.carried,
        expectations,
        meshes: Meshes::new(),
        origins,
    })
}

/// Fills in fabrics and checks the ranges of a material's numbers.
fn check_material(material: &mut MaterialSection, at: &At<'_>) -> Result<(), SceneError> {
    thin::check_shell(material, at)?;
    check_rubber(material, at)?;
    check_inelastic(material, at)?;
    fibres::check(material, at)?;
    growth::of(material, at)?;
    at.check(validate::elasticity(material.young_modulus, material.poisson_ratio))?;
    at.check(validate::density(material.density))
}

/// Checks that a material of rubber has what it needs, and nothing else.
fn check_rubber(material: &MaterialSection, at: &At<'_>) -> Result<(), SceneError> {
    let given = |key: &str| at.key(key).node().is_some();
    let Some(rubber) = &material.rubber else {
        return match material.bulk_modulus {
            Some(_) => Err(at.key("bulk_modulus").invalid(
                "the bulk modulus is that of `rubber`, which the material has not; give `poisson_ratio`",
            )),
            None => Ok(()),
        };
    };
    at.key("rubber").check(rubber.validate())?;
    for key in ["law", "young_modulus", "shell"] {
        if given(key) {
            let what = format!("`rubber` has its own constants; leave out `{key}`");
            return Err(at.key(key).invalid(what));
        }
    }
    let ratio = at.node().is_none() || given("poisson_ratio");
    match material.bulk_modulus {
        Some(_) if given("poisson_ratio") => Err(at
            .key("bulk_modulus")
            .invalid("`bulk_modulus` and `poisson_ratio` say the same; leave out one")),
        Some(k) => at.check(validate::positive("bulk_modulus", k, "a modulus must be positive (Pa)")),
        None if ratio => Ok(()),
        None => Err(at.key("rubber").invalid(
            "it needs a `bulk_modulus` (Pa) or a `poisson_ratio` beside it, for instance poisson_ratio = 0.499",
        )),
    }
}

/// Checks what of a material relaxes or yields.
fn check_inelastic(material: &MaterialSection, at: &At<'_>) -> Result<(), SceneError> {
    at.check(validate::count_of_terms(material.relaxation.len()))?;
    for (k, term) in material.relaxation.iter().enumerate() {
        at.key("relaxation").index(k).check(term.validate())?;
    }
    let Some(plasticity) = &material.plasticity else { return Ok(()) };
    let own = at.key("plasticity");
    for key in ["law", "rubber"] {
        if at.key(key).node().is_some() {
            let what = format!("`plasticity` has a law of its own, Hencky's; leave out `{key}`");
            return Err(at.key(key).invalid(what));
        }
    }
    match (plasticity.saturation_stress, plasticity.saturation_rate) {
        (Some(_), None) => {
            Err(own.invalid("`saturation_stress` needs a `saturation_rate` beside it"))
        }
        (None, Some(_)) => {
            Err(own.invalid("`saturation_rate` needs a `saturation_stress` beside it"))
        }
        _ => own.check(plasticity.validate()),
    }
}

fn half_spaces(
    file: &mut SceneFile,
    at: &At<'_>,
    definition: &mut Definition,
) -> Result<(), SceneError> {
    if let Some(height) = file.ground {
        at.check(number("ground", height, |h| h.abs() <= 1e30, "a height within 1e30 m"))?;
        definition.half_spaces.push(HalfSpaceDef {
            name: "ground".into(),
            origin: Vec3::new(0.0, height, 0.0),
            normal: Vec3::y(),
            friction_material: DEFAULT_FRICTION_MATERIAL.into(),
        });
    }
    for (k, section) in file.half_spaces.iter_mut().enumerate() {
        let at = at.key("half_spaces").index(k);
        at.key("name").require_name()?;
        if section.name.is_empty() {
            section.name = format!("half-space-{k}");
        }
        if definition.half_spaces.iter().any(|h| h.name == section.name) {
            let problem = Problem::Duplicate { what: "half-space", name: section.name.clone() };
            return Err(at.key("name").error(problem));
        }
        let friction_material =
            section.friction_material.get_or_insert_with(|| DEFAULT_FRICTION_MATERIAL.into());
        let half_space = HalfSpaceDef {
            name: section.name.clone(),
            origin: Vec3::from(section.origin),
            normal: Vec3::from(section.normal),
            friction_material: friction_material.clone(),
        };
        at.check(half_space.validate())?;
        if definition.dimension.is_planar() {
            at.check(in_plane("normal", &half_space.normal))?;
        }
        definition.half_spaces.push(half_space);
    }
    Ok(())
}

/// Whether the settings take quadratic elements.
fn takes_quadratic(definition: &Definition) -> bool {
    let solver = &definition.settings.solver;
    let projective = matches!(solver.method, Method::LbfgsPd | Method::AdmmPd);
    !projective && !solver.allow_inversion
}

/// Adds the bodies of all objects and their conditions; returns notes on their meshes, where everything comes from, and the objects.
// long: the order of what depends on all objects
fn objects(
    file: &mut SceneFile,
    at: &At<'_>,
    folder: &Path,
    meshes: &Meshes,
    definition: &mut Definition,
    filled: &mut Filled,
) -> Result<(Vec<String>, Origins, Vec<Placed>), SceneError> {
    if file.objects.is_empty() {
        return Err(at.invalid("the scene has no objects; add at least one [[objects]]"));
    }
    object::name_all(&mut file.objects, &at.key("objects"))?;
    for (k, object) in file.objects.iter().enumerate() {
        if definition.half_spaces.iter().any(|h| h.name == object.name) {
            let problem =
                Problem::Duplicate { what: "object or half-space", name: object.name.clone() };
            return Err(at.key("objects").index(k).key("name").error(problem));
        }
    }
    let mut notes = Vec::new();
    let mut all = Vec::new();
    let mut taken = HashSet::new();
    let mut room = Room::default();
    // published methods have the elements that were published
    let chooses = file.preset.is_none() && takes_quadratic(definition);
    let mut places = Places::default();
    for (k, object) in file.objects.iter_mut().enumerate() {
        let at = at.key("objects").index(k);
        all.push(object::resolve_one(
            object,
            &file.materials,
            &at,
            folder,
            meshes,
            &mut notes,
            definition,
            filled,
            &mut taken,
            &mut room,
            chooses,
        )?);
    }
    let bodies = Bodies::new(&all);
    for (k, (object, placed)) in file.objects.iter_mut().zip(&all).enumerate() {
        let at = at.key("objects").index(k);
        conditions::add(object, &at, placed, &bodies, folder, definition, &mut places)?;
    }
    let fixed = |b: &BodyDef| matches!(b.kind, BodyKind::Obstacle { .. });
    if definition.bodies.iter().all(fixed) {
        let what = "the scene has obstacles only; at least one object must be something else \
                    (give it a `role`)";
        return Err(at.key("objects").invalid(what));
    }
    no_contact(file, &at.key("objects"), &bodies, definition)?;
    attach::resolve_all(file, &at.key("attachments"), &all, definition, &mut places)?;
    joint::resolve_all(file, &at.key("joints"), &all, definition)?;
    joint::resolve_tendons(file, &at.key("tendons"), definition)?;
    stitch::resolve_all(file, &at.key("stitches"), &all, definition, &mut places.entries)?;
    tie::resolve_all(file, &at.key("ties"), &all, definition, &mut notes)?;
    check_loads(definition, &places)?;
    let own: Vec<Range<usize>> = all.iter().map(|p| p.bodies.clone()).collect();
    let origins = places.entries.origins(definition, &own, file.ground.is_some());
    Ok((notes, origins, all))
}

/// Every pressure has to find triangles, every attachment something within its distance.
fn check_loads(definition: &Definition, places: &Places<'_>) -> Result<(), SceneError> {
    let Err(error) = standoff_sim::build::loads::check(definition) else { return Ok(()) };
    let place = match &error {
        BuildError::Load { load: LoadIndex::Force(k), .. } => places.forces.get(*k),
        BuildError::Load { load: LoadIndex::Attachment(k), .. } => places.attachments.get(*k),
        // whatever else is wrong is found when the simulation is built
        _ => None,
    };
    place.map_or(Ok(()), |at| Err(at.invalid(error.to_string())))
}

/// Pairs of bodies without contact, from `self_contact` and `ignore`.
fn no_contact(
    file: &SceneFile,
    at: &At<'_>,
    bodies: &Bodies,
    definition: &mut Definition,
) -> Result<(), SceneError> {
    for (k, (object, (_, own))) in file.objects.iter().zip(bodies.all()).enumerate() {
        if object.self_contact == Some(false) {
            definition.no_contact.extend(own.clone().map(|b| (b, b)));
        }
        for (i, name) in object.ignore.iter().enumerate() {
            let others = bodies.of(name, &at.index(k).key("ignore").index(i))?;
            for a in own.clone() {
                let others = others.clone().filter(|b| *b != a);
                definition.no_contact.extend(others.map(|b| (a.min(b), a.max(b))));
            }
        }
    }
    definition.no_contact.sort_unstable();
    definition.no_contact.dedup();
    Ok(())
}

/// Every name in `[[friction.pairs]]` must be that of something in the scene.
fn check_friction_names(
    file: &SceneFile,
    definition: &Definition,
    at: &At<'_>,
) -> Result<(), SceneError> {
    let bodies = definition.bodies.iter().map(|b| &b.friction_material);
    let half_spaces = definition.half_spaces.iter().map(|h| &h.friction_material);
    let mut known: Vec<String> = bodies.chain(half_spaces).cloned().collect();
    known.sort();
    known.dedup();
    for (k, pair) in file.friction.pairs.iter().enumerate() {
        let at = at.key("friction").key("pairs").index(k);
        for (side, name) in [&pair.materials.0, &pair.materials.1].into_iter().enumerate() {
            if !known.contains(name) {
                return Err(at.key("materials").index(side).error(Problem::UnknownName {
                    what: "friction material",
                    name: name.clone(),
                    nearest: nearest_name(name, known.iter().map(String::as_str)),
                    valid: known,
                }));
            }
        }
        let same = |p: &(String, String)| {
            *p == pair.materials || (p.1 == pair.materials.0 && p.0 == pair.materials.1)
        };
        if file.friction.pairs[..k].iter().any(|p| same(&p.materials)) {
            let (a, b) = &pair.materials;
            let what = format!("the pair of friction materials '{a}' and '{b}' is given twice");
            return Err(at.key("materials").invalid(what));
        }
    }
    Ok(())
}
