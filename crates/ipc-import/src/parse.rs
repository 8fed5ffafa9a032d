//! From the text of a reference scene to [`ReferenceScene`].

// long: one arm for each key of the reference language, which has no structure of its own to follow

use crate::error::{ImportError, Located, Note, NoteKind, Problem};
use crate::language::{
    Integration, MeshObstacle, ReferenceScene, Script, Set, Solver, TUNING, WrittenHalfSpace,
};
use crate::shapes;
use crate::text::{Arguments, Text};
use standoff_linalg::Vec3;
use standoff_mesh::input::{self, MOST_TEXT};
use standoff_scene::error::nearest_name;
use standoff_sim::material::Law;
use standoff_sim::settings::Ccd;
use std::path::{Path, PathBuf};

/// How many files that hold nothing but the path of another one are followed.
const MAX_LINKS: usize = 8;

/// Most steps of a run.
const MAX_STEPS: f64 = 1e9;

impl ReferenceScene {
    /// Reads a scene file. A file that holds nothing but the path of another one (as some of the
    /// reference's symbolic links do on systems without them) stands for that one.
    ///
    /// # Errors
    /// The file cannot be read, or a line cannot be understood or honoured.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let mut path = path.to_owned();
        let mut links = 0;
        loop {
            let text = input::text(&path, MOST_TEXT).map_err(|e| ImportError {
                file: path.clone(),
                line: 0,
                problem: Problem::Unreadable(e.to_string()),
            })?;
            match link(&path, &text) {
                Some(target) if links < MAX_LINKS => path = target,
                _ => return Self::parse(&path, &text),
            }
            links += 1;
        }
    }

    /// Reads a scene from its text; `file` is its name in messages.
    ///
    /// # Errors
    /// As [`ReferenceScene::read`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, ImportError> {
        let scene = ReferenceScene::new(file.to_owned());
        let mut parser = Parser { text: Text::new(text), scene };
        match parser.run() {
            Ok(()) => Ok(parser.scene),
            Err(Located { line, problem }) => {
                Err(ImportError { file: file.to_owned(), line, problem })
            }
        }
    }
}

/// The file that a text of a single word names, if there is one.
fn link(path: &Path, text: &str) -> Option<PathBuf> {
    let mut words = text.split_whitespace();
    let (word, None) = (words.next()?, words.next()) else { return None };
    let target = path.parent()?.join(word);
    target.is_file().then_some(target)
}

struct Parser<'a> {
    text: Text<'a>,
    scene: ReferenceScene,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), Located> {
        while let Some((line, text)) = self.text.full_line() {
            let mut words = text.split_whitespace();
            let key = words.next().unwrap_or("");
            let mut arguments = Arguments::new(key, words);
            let known = self.lists(line, key, &mut arguments)?
                || self.bodies(line, key, &mut arguments).map_err(|p| p.at(line))?
                || self.times(line, key, &mut arguments).map_err(|p| p.at(line))?
                || self.parameters(line, key, &mut arguments).map_err(|p| p.at(line))?
                || self.implementation(line, key, &mut arguments).map_err(|p| p.at(line))?;
            if !known {
                return Err(unknown(key).at(line));
            }
        }
        Ok(())
    }

    fn note(&mut self, line: usize, kind: NoteKind, text: impl Into<String>) {
        self.scene.notes.push(Note { line, kind, text: text.into() });
    }

    /// Keys that run over several lines.
    fn lists(
        &mut self,
        line: usize,
        key: &str,
        arguments: &mut Arguments<'_>,
    ) -> Result<bool, Located> {
        match key {
            "section" => self.section(arguments),
            "tol" => {
                let values = self.numbers(line, arguments)?;
                if !values.is_empty() {
                    self.scene.tolerances = Set { line, value: values };
                }
            }
            "tuning" => {
                let values = self.numbers(line, arguments)?;
                let mut tuning = TUNING;
                tuning.iter_mut().zip(&values).for_each(|(t, v)| *t = *v);
                self.scene.tuning = Set { line, value: tuning };
            }
            "shapes" => {
                let (block, repeated) = shapes::shapes(line, arguments, &mut self.text)?;
                for line in repeated {
                    let text = "the blank at the end of the line makes the reference enter its \
                                last condition twice, with doubled effect; kept, remove the blank \
                                if it is not meant";
                    self.note(line, NoteKind::Quirk, text);
                }
                self.check_tags(&block)?;
                self.scene.shapes.extend(block);
            }
            "shapeMatrix" => {
                let shape = shapes::matrix(line, arguments, &mut self.text)?;
                self.scene.shapes.push(shape);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `section A B …`: read on if one of the names is the solver's, else skip to `section end`.
    fn section(&mut self, arguments: &mut Arguments<'_>) {
        let mut here = false;
        while let Some(word) = arguments.word() {
            here |= word == "end" || Solver::of(word) == Some(self.scene.solver.value);
        }
        while !here {
            let Some((_, text)) = self.text.full_line() else { break };
            let mut words = text.split_whitespace();
            here = (words.next(), words.next()) == (Some("section"), Some("end"));
        }
    }

    /// The N numbers of `tol N` or `tuning N` in the text that follows.
    fn numbers(&mut self, line: usize, arguments: &mut Arguments<'_>) -> Result<Vec<f64>, Located> {
        let key = arguments.key();
        let count = arguments.required("the number of values").map_err(|p| p.at(line))?;
        let count: usize = count.parse().map_err(|_| {
            Problem::malformed(format!("'{key}': expected a whole number, found '{count}'"))
                .at(line)
        })?;
        let mut values = Vec::new();
        while values.len() < count {
            match self.text.number() {
                Ok(value) => values.push(value),
                Err((at, word)) => {
                    let found =
                        if word.is_empty() { "the end".into() } else { format!("'{word}'") };
                    let what = format!(
                        "'{key}' of line {line} takes {count} numbers from the following lines, \
                         but after {} of them stands {found} (the reference would silently stop \
                         reading the scene here); list all of them, without comments",
                        values.len()
                    );
                    return Err(Problem::Malformed(what).at(at));
                }
            }
        }
        Ok(values)
    }

    /// DBC, NBC and meshSeq are numbered within their block and matched with the numbers of all
    /// shapes: only in the first block is that the same.
    fn check_tags(&self, block: &[crate::language::Shape]) -> Result<(), Located> {
        let tagged = block.iter().find(|s| {
            let o = &s.options;
            !o.dirichlet.is_empty() || !o.neumann.is_empty() || o.sequence.is_some()
        });
        match tagged {
            Some(shape) if !self.scene.shapes.is_empty() => Err(Problem::unsupported(
                "DBC, NBC or meshSeq after an earlier block of shapes (the reference would apply \
                 it to a shape of that block)",
                "move this 'shapes' block before all others",
            )
            .at(shape.line)),
            _ => Ok(()),
        }
    }

    /// What there is.
    // long: an arm for each key
    fn bodies(&mut self, line: usize, key: &str, a: &mut Arguments<'_>) -> Result<bool, Problem> {
        let scene = &mut self.scene;
        match key {
            "shape" => scene.shapes.push(shapes::single(line, a)?),
            "ground" => {
                let friction = a.number("its friction coefficient")?;
                let origin = Vec3::new(0.0, a.number("its height")?, 0.0);
                let value = WrittenHalfSpace { origin, normal: Vec3::y(), friction };
                scene.half_spaces.push(Set { line, value });
            }
            "halfSpace" => {
                let origin = a.vector("its point")?;
                let normal = a.vector("its normal")?;
                // the stiffness is read and discarded
                a.number("its stiffness")?;
                let friction = a.number("its friction coefficient")?;
                if normal.norm() == 0.0 {
                    return Err(Problem::malformed("the normal of a halfSpace must not be zero"));
                }
                scene
                    .half_spaces
                    .push(Set { line, value: WrittenHalfSpace { origin, normal, friction } });
            }
            "meshCO" => {
                let obstacle = mesh_obstacle(a)?;
                scene.mesh_obstacles.push(Set { line, value: obstacle });
            }
            "rotateModel" => {
                let value = (a.vector("its axis")?, a.number("its angle")?);
                scene.rotate_model = Some(Set { line, value });
            }
            "size" => number(&mut scene.size, line, a)?,
            "energy" => {
                let value = match a.required("the name of a material law")? {
                    "NH" => Law::NeoHookean,
                    "FCR" => Law::FixedCorotated,
                    other => {
                        return Err(Problem::malformed(format!(
                            "unknown energy '{other}'; there are NH and FCR"
                        )));
                    }
                };
                scene.law = Set { line, value };
            }
            "density" => number(&mut scene.density, line, a)?,
            "stiffness" => {
                let old = scene.stiffness.value;
                scene.stiffness = Set { line, value: pair(old, a)? };
            }
            "turnOffGravity" => scene.gravity = Set { line, value: false },
            "script" => scene.script = Set { line, value: script(a)? },
            "handleRatio" => {
                number(&mut scene.handle_ratio, line, a)?;
                if !(scene.handle_ratio.value > 0.0 && scene.handle_ratio.value < 0.5) {
                    return Err(Problem::malformed("handleRatio must be between 0 and 0.5"));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Time stepping.
    // long: an arm for each key
    fn times(&mut self, line: usize, key: &str, a: &mut Arguments<'_>) -> Result<bool, Problem> {
        let scene = &mut self.scene;
        match key {
            "time" => {
                let (end, h) = pair(scene.time.value, a)?;
                // the comparison also refuses what is no number
                if !(h > 0.0 && end > 0.0 && end / h <= MAX_STEPS) {
                    return Err(Problem::malformed(format!(
                        "'time': end {end} s and step {h} s must be positive and make at most \
                         {MAX_STEPS} steps"
                    )));
                }
                scene.time = Set { line, value: (end, h) };
            }
            "timeIntegration" => {
                let value = match a.required("BE or NM")? {
                    "BE" => Integration::BackwardEuler,
                    "NM" => {
                        let old = match scene.integration.value {
                            Integration::Newmark { beta, gamma } => (beta, gamma),
                            Integration::BackwardEuler => (0.25, 0.5),
                        };
                        let (beta, gamma) = match a.optional_number()? {
                            None => old,
                            Some(beta) => (beta, a.optional_number()?.unwrap_or(old.1)),
                        };
                        Integration::Newmark { beta, gamma }
                    }
                    other => {
                        return Err(Problem::malformed(format!(
                            "unknown time integration '{other}'; there are BE and NM"
                        )));
                    }
                };
                scene.integration = Set { line, value };
            }
            "dampingStiff" => number(&mut scene.damping_stiffness, line, a)?,
            "dampingRatio" => {
                number(&mut scene.damping_ratio, line, a)?;
                scene.damping_ratio.value = scene.damping_ratio.value.clamp(0.0, 1.0);
            }
            "DBCTimeRange" => {
                scene.dirichlet_range = Set { line, value: pair(scene.dirichlet_range.value, a)? };
            }
            "NBCTimeRange" => {
                scene.neumann_range = Set { line, value: pair(scene.neumann_range.value, a)? };
            }
            "playBackSpeed" => number(&mut scene.playback_speed, line, a)?,
            "restart" => {
                return Err(Problem::unsupported(
                    "restarting from a status file of the reference",
                    "remove the line and run from the start (`standoff resume` continues runs of \
                     Standoff)",
                ));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parameters of contact, friction and convergence.
    // long: an arm for each key
    fn parameters(
        &mut self,
        line: usize,
        key: &str,
        a: &mut Arguments<'_>,
    ) -> Result<bool, Problem> {
        let scene = &mut self.scene;
        match key {
            "selfCollisionOn" => scene.self_collision = Set { line, value: true },
            "selfCollisionOff" => scene.self_collision = Set { line, value: false },
            "selfFric" => number(&mut scene.self_friction, line, a)?,
            "dHat" | "epsv" => {
                let first = if key == "dHat" { 1 } else { 4 };
                let value = a.number("its value")?;
                scene.tuning.line = line;
                scene.tuning.value[first..first + 2].fill(value);
            }
            "fricIterAmt" => {
                let word = a.required("a whole number")?;
                let value = word.parse().map_err(|_| {
                    let what = format!("'fricIterAmt': expected a whole number, found '{word}'");
                    Problem::Malformed(what)
                })?;
                scene.friction_iterations = Set { line, value };
            }
            "useAbsParameters" => scene.absolute_parameters = Set { line, value: true },
            "kappaMinMultiplier" | "minBarrierStiffnessScale" => {
                if a.number("a number")? != 1e11 {
                    return Err(Problem::unsupported(
                        format!("{key} other than 1e11"),
                        "remove the line; the barrier stiffness is adapted within bounds that \
                         correspond to 1e11",
                    ));
                }
            }
            "constraintSolver" => {
                let name = a.word().unwrap_or("interiorPoint");
                let value = Solver::of(name).unwrap_or(Solver::InteriorPoint);
                scene.solver = Set { line, value };
                if Solver::of(name).is_none() {
                    let text = format!("unknown constraintSolver '{name}' means interiorPoint");
                    self.note(line, NoteKind::Solver, text);
                } else if value != Solver::InteriorPoint {
                    let text = format!(
                        "constraintSolver {name} is one of the methods that IPC was compared with; \
                         contact is solved by the barrier instead"
                    );
                    self.note(line, NoteKind::Motion, text);
                }
            }
            "constraintType" | "constraintOffset" => {
                let text = format!("{key} belongs to the SQP and QP solvers and has no effect");
                self.note(line, NoteKind::Motion, text);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// How the reference computes and displays: without influence on what moves how.
    fn implementation(
        &mut self,
        line: usize,
        key: &str,
        a: &mut Arguments<'_>,
    ) -> Result<bool, Problem> {
        match key {
            "CCDMethod" | "ccdMethod" => {
                let name = a.required("a name")?;
                let value = match name {
                    "TightInclusion" => Ccd::Inclusion,
                    _ => Ccd::Additive,
                };
                self.scene.ccd = Set { line, value };
                if name != "TightInclusion" {
                    let text = format!("CCDMethod {name}: additive CCD is used instead");
                    self.note(line, NoteKind::Solver, text);
                }
            }
            "warmStart" => {
                if a.optional_number()?.is_some_and(|n| n != 0.0) {
                    let text = "warmStart changes the first guess of a step, not its solution; \
                                steps start from the current positions";
                    self.note(line, NoteKind::Solver, text);
                }
            }
            "CCDTolerance"
            | "ccdTolerance"
            | "linearSolver"
            | "linSysSolver"
            | "QPSolver"
            | "useActiveSetConvergence"
            | "noActiveSetConvergence" => {
                let text = format!("{key} chooses an implementation and is not taken over");
                self.note(line, NoteKind::Solver, text);
            }
            "timeStepper" | "resolution" => {
                let text = format!("the reference does not know {key} (any more) and ignores it");
                self.note(line, NoteKind::Cosmetic, text);
            }
            "view" | "zoom" | "cameraTracking" | "appendStr" | "disableCout" => {
                self.note(line, NoteKind::Cosmetic, format!("{key} has no meaning here"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Replaces a value. Without a number the reference would keep the old one, silently.
fn number(
    target: &mut Set<f64>,
    line: usize,
    arguments: &mut Arguments<'_>,
) -> Result<(), Problem> {
    *target = Set { line, value: arguments.number("its value")? };
    Ok(())
}

/// Two numbers; a missing second one keeps its value.
fn pair(old: (f64, f64), arguments: &mut Arguments<'_>) -> Result<(f64, f64), Problem> {
    let first = arguments.number("its first value")?;
    Ok((first, arguments.optional_number()?.unwrap_or(old.1)))
}

fn mesh_obstacle(a: &mut Arguments<'_>) -> Result<MeshObstacle, Problem> {
    let file = a.required("the mesh file")?.to_owned();
    let position = a.vector("its position")?;
    let extent = a.number("its scale")?;
    // the stiffness is read and discarded
    a.number("its stiffness")?;
    let friction = a.number("its friction coefficient")?;
    let rotate = match a.word() {
        None => Vec3::zeros(),
        Some("rotate") => a.vector("an angle of 'rotate'")?,
        Some(other) => {
            return Err(Problem::unsupported(
                format!("the option '{other}' of a meshCO"),
                "there is 'rotate' with three angles only",
            ));
        }
    };
    if extent > 0.0 {
        return Ok(MeshObstacle { file, position, extent, friction, rotate });
    }
    Err(Problem::malformed("the scale of a meshCO must be positive"))
}

fn script(a: &mut Arguments<'_>) -> Result<Script, Problem> {
    let name = a.required("a name")?;
    let Some((_, script)) = Script::NAMES.iter().find(|(n, _)| *n == name) else {
        let names = Script::NAMES.map(|(n, _)| n);
        let nearest =
            nearest_name(name, names).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
        return Err(Problem::unsupported(
            format!("the script '{name}'"),
            format!("scripts are {}{nearest}", names.join(", ")),
        ));
    };
    match script {
        Script::BallHitWall { .. } => {
            let count = a.optional_number()?.unwrap_or(0.0);
            let speed = if count >= 1.0 { a.optional_number()? } else { None };
            Ok(Script::BallHitWall { speed: speed.unwrap_or(1000.0) })
        }
        script => Ok(*script),
    }
}

/// Keys of the language, for "did you mean".
const KEYS: [&str; 44] = [
    "energy",
    "timeIntegration",
    "time",
    "density",
    "stiffness",
    "turnOffGravity",
    "dampingStiff",
    "dampingRatio",
    "size",
    "rotateModel",
    "shapes",
    "shape",
    "shapeMatrix",
    "script",
    "handleRatio",
    "DBCTimeRange",
    "NBCTimeRange",
    "ground",
    "halfSpace",
    "meshCO",
    "selfCollisionOn",
    "selfCollisionOff",
    "selfFric",
    "dHat",
    "epsv",
    "tuning",
    "tol",
    "fricIterAmt",
    "useAbsParameters",
    "kappaMinMultiplier",
    "warmStart",
    "constraintSolver",
    "constraintType",
    "constraintOffset",
    "CCDMethod",
    "CCDTolerance",
    "linearSolver",
    "restart",
    "playBackSpeed",
    "view",
    "zoom",
    "cameraTracking",
    "appendStr",
    "section",
];

fn unknown(key: &str) -> Problem {
    let nearest = nearest_name(key, KEYS);
    let hint = nearest.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
    Problem::unsupported(
        format!("the key '{key}'"),
        format!(
            "the reference does not know it either and would go on without it: remove the line{hint}"
        ),
    )
}
