//! Steps with their supports and loads, over time.

use crate::deck::{Deck, Of, Side};
use crate::error::{Fault, Notes, Place};
use crate::history::{Course, History};
use crate::source::{Block, Line, field, label};
use std::collections::{BTreeMap, BTreeSet};

/// Increments of a static step at most.
const INCREMENTS: f64 = 100.0;

/// Time steps at least of a static step with a pressure and large displacements: within one the pressure has the direction and area of its start.
const PRESSURE_STEPS: f64 = 20.0;

/// Time of the scene.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub step: f64,
    pub end: f64,
    pub dynamic: bool,
}

/// A load by the table that it follows.
type Load<K> = BTreeMap<(K, String), History>;

/// Supports and loads.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    /// Displacements by node and direction.
    pub held: BTreeMap<(u32, u8), History>,
    /// Forces by node and direction.
    pub forces: Load<(u32, u8)>,
    pub pressures: Load<(u32, Side)>,
    /// Temperatures by node.
    pub temperatures: BTreeMap<u32, History>,
    /// Accelerations by direction, of the elements of a field.
    pub gravities: Load<(String, u8)>,
    /// The elements of these fields.
    pub heavy: BTreeMap<String, Vec<u32>>,
    pub time: Option<Time>,
    /// The line that stands for the loads in messages.
    pub at: Place,
    amplitudes: BTreeMap<String, Vec<(f64, f64)>>,
    step: Option<Step>,
}

/// The step that is being read.
#[derive(Debug, Default)]
pub(crate) struct Step {
    at: Place,
    /// Loads grow over it, if it says so; else as its procedure has it.
    ramp: Option<bool>,
    nonlinear: bool,
    /// Increment, length, and whether it has inertia.
    procedure: Option<(f64, f64, bool)>,
    held: BTreeMap<(u32, u8), (f64, String)>,
    pub forces: BTreeMap<((u32, u8), String), f64>,
    pub pressures: BTreeMap<((u32, Side), String), f64>,
    pub gravities: BTreeMap<((String, u8), String), f64>,
    temperatures: BTreeMap<u32, (f64, String)>,
    /// Supports, forces, and pressures with gravity replace all of before (OP=NEW).
    replaces: [bool; 3],
}

/// What a keyword did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Done,
    Unknown,
    /// This step and those after it are left out.
    Stop,
}

impl Conditions {
    // long: a branch for each keyword
    /// Reads a keyword of a step, or of supports before it.
    pub(crate) fn read(
        &mut self,
        block: &Block,
        deck: &Deck,
        notes: &mut Notes,
    ) -> Result<Read, Fault> {
        match block.keyword.as_str() {
            "AMPLITUDE" => self.amplitude(block, notes)?,
            "STEP" => {
                block.reads(&["NAME", "NLGEOM", "INC", "AMPLITUDE"], notes);
                // Abaqus writes NLGEOM=NO
                let nonlinear = block.option("NLGEOM").is_some_and(|n| n != "NO");
                if !nonlinear {
                    notes.add(
                        block.at,
                        "a step without NLGEOM; displacements may be large in Standoff",
                    );
                }
                self.step = Some(Step {
                    at: block.at,
                    nonlinear,
                    ramp: block.option("AMPLITUDE").map(|a| a == "RAMP"),
                    ..Default::default()
                });
            }
            "STATIC" | "DYNAMIC" | "VISCO" => self.procedure(block, notes)?,
            "BOUNDARY" => self.boundary(block, deck, notes)?,
            "CLOAD" => self.cload(block, deck, notes)?,
            "DLOAD" => self.dload(block, deck, notes)?,
            "DSLOAD" => self.dsload(block, deck, notes)?,
            "INITIAL CONDITIONS" | "TEMPERATURE" => self.temperature(block, deck, notes)?,
            "END STEP" => return self.end(notes),
            _ => return Ok(Read::Unknown),
        }
        Ok(Read::Done)
    }

    fn amplitude(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["NAME", "DEFINITION", "TIME"], notes);
        let name = block.required("NAME")?.to_uppercase();
        if block.option("DEFINITION").is_some_and(|d| d != "TABULAR") {
            let what = "an amplitude that is no table is not read";
            return Err(Fault::new(block.at, what, "Give a table of times and values"));
        }
        if block.option("TIME").is_some_and(|t| t.starts_with("TOTAL")) {
            let what = "an amplitude over the total time is not read";
            return Err(Fault::new(block.at, what, "Give it over the time of the step"));
        }
        let flat: Vec<f64> =
            block.table()?.into_iter().flatten().map(|x| x.unwrap_or(0.0)).collect();
        let points: Vec<(f64, f64)> = flat.chunks_exact(2).map(|c| (c[0], c[1])).collect();
        let ascending = points.windows(2).all(|w| w[0].0 <= w[1].0);
        if points.is_empty() || !flat.len().is_multiple_of(2) || points[0].0 < 0.0 || !ascending {
            let what =
                "an amplitude has pairs of a time and a value, with ascending times from 0 on";
            return Err(Fault::new(block.at, what, "Correct the table"));
        }
        self.amplitudes.insert(name, points);
        Ok(())
    }

    fn procedure(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        // how increments are chosen is that of Standoff
        block.reads(&["DIRECT", "SOLVER", "EXPLICIT", "ALPHA", "APPLICATION", "TIME RESET"], notes);
        let dynamic = block.keyword == "DYNAMIC";
        let row = block.table()?.into_iter().next().unwrap_or_default();
        let given = |k: usize| row.get(k).copied().flatten().filter(|x| *x > 0.0);
        let length = given(1).unwrap_or(1.0);
        let mut increment = given(0).unwrap_or(length);
        if increment < length / INCREMENTS && !dynamic || block.parameter("EXPLICIT").is_some() {
            increment = length / INCREMENTS;
            let text = format!("the step has {INCREMENTS} increments; change time.step for others");
            notes.add(block.at, text);
        }
        match &mut self.step {
            Some(step) => step.procedure = Some((increment.min(length), length, dynamic)),
            None => return Err(outside(block)),
        }
        Ok(())
    }

    /// The amplitude that a load names, or an empty name.
    pub(crate) fn course(&self, block: &Block) -> Result<String, Fault> {
        let Some(name) = block.option("AMPLITUDE") else { return Ok(String::new()) };
        if self.amplitudes.contains_key(&name) {
            return Ok(name);
        }
        let what = format!("there is no amplitude {name:?}");
        Err(Fault::new(block.at, what, "Define it above this line, by *AMPLITUDE"))
    }

    pub(crate) fn opened(&mut self, block: &Block) -> Result<&mut Step, Fault> {
        let step = self.step.as_mut().ok_or_else(|| outside(block))?;
        if block.option("OP").is_some_and(|o| o == "NEW") {
            let kind = match block.keyword.as_str() {
                "BOUNDARY" => 0,
                "CLOAD" => 1,
                _ => 2,
            };
            step.replaces[kind] = true;
        }
        Ok(step)
    }

    fn boundary(&mut self, block: &Block, deck: &Deck, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["OP", "AMPLITUDE", "TYPE"], notes);
        if let Some(kind) = block.option("TYPE").filter(|t| t != "DISPLACEMENT") {
            notes.add(block.at, format!("*BOUNDARY of the type {kind} is not converted"));
            return Ok(());
        }
        let course = self.course(block)?;
        if self.step.is_some() {
            self.opened(block)?;
        }
        for line in &block.lines {
            let fields = line.fields();
            let nodes = deck.members(Of::Nodes, fields.first().unwrap_or(&""), None, line.at)?;
            let (directions, value) = directions(&fields, line, notes)?;
            for node in &nodes {
                for direction in &directions {
                    let key = (*node, *direction);
                    match &mut self.step {
                        Some(step) => {
                            step.held.insert(key, (value, course.clone()));
                        }
                        None => {
                            self.held.insert(key, History::constant(value));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Temperatures of nodes, before the first step and in one.
    fn temperature(&mut self, block: &Block, deck: &Deck, notes: &mut Notes) -> Result<(), Fault> {
        let initial = block.keyword == "INITIAL CONDITIONS";
        block.reads(if initial { &["TYPE"] } else { &["OP", "AMPLITUDE"] }, notes);
        if let Some(kind) = block.option("TYPE").filter(|t| initial && t != "TEMPERATURE") {
            notes
                .add(block.at, format!("*INITIAL CONDITIONS of the type {kind} are not converted"));
            return Ok(());
        }
        if block.parameter("FILE").is_some() {
            notes.add(block.at, "temperatures of a file of results are not converted");
            return Ok(());
        }
        let course = if initial { String::new() } else { self.course(block)? };
        if !initial {
            self.step.as_mut().ok_or_else(|| outside(block))?;
        }
        for line in &block.lines {
            let fields = line.fields();
            let value = field(&fields, 1, line)?;
            for node in deck.members(Of::Nodes, fields.first().unwrap_or(&""), None, line.at)? {
                match self.step.as_mut().filter(|_| !initial) {
                    Some(step) => {
                        step.temperatures.insert(node, (value, course.clone()));
                    }
                    None => {
                        self.temperatures.insert(node, History::constant(value));
                    }
                }
            }
        }
        Ok(())
    }

    /// Says that a step does not end.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        match &self.step {
            None => Ok(()),
            Some(step) => Err(Fault::new(
                step.at,
                "the step has no end",
                "Complete the file: a step ends with *END STEP",
            )),
        }
    }

    // long: what stops, the time, then each kind of load
    fn end(&mut self, notes: &mut Notes) -> Result<Read, Fault> {
        let Some(step) = self.step.take() else { return Ok(Read::Done) };
        let Some((increment, length, dynamic)) = step.procedure else {
            let those = if self.time.is_some() {
                "this step and those after it are"
            } else {
                "the step is"
            };
            let text = format!(
                "{those} left out, with the loads: only *STATIC, *VISCO and *DYNAMIC are converted"
            );
            notes.add(step.at, text);
            return Ok(if self.time.is_some() { Read::Stop } else { Read::Done });
        };
        let start = self.time.map_or(0.0, |t| t.end);
        if let Some(before) = self.time {
            let begins = step.held.keys().any(|k| !self.held.contains_key(k));
            let releases = step.replaces[0] && self.held.keys().any(|k| !step.held.contains_key(k));
            let why = match () {
                () if releases => "it takes supports away (OP=NEW)",
                () if before.dynamic != dynamic => {
                    "it has inertia and the one before has not, or the reverse"
                }
                () if begins => "it holds what was free before",
                () => "",
            };
            if !why.is_empty() {
                notes.add(step.at, format!("this step and those after it are left out: {why}"));
                return Ok(Read::Stop);
            }
        } else if step.replaces[0] {
            // supports before the first step are those that it replaces
            self.held.clear();
        }
        let mut increment = increment;
        let follows = step.nonlinear && !dynamic && !step.pressures.is_empty();
        if follows && increment > length / PRESSURE_STEPS {
            increment = length / PRESSURE_STEPS;
            let text = format!(
                "the step has {PRESSURE_STEPS} increments, so that the pressure follows the surface"
            );
            notes.add(step.at, text);
        }
        let finest = self.time.map_or(increment, |t| t.step.min(increment));
        self.time = Some(Time { step: finest, end: start + length, dynamic });
        if self.at == Place::default() {
            self.at = step.at;
        }
        let usual = match step.ramp.unwrap_or(!dynamic) {
            true => Course::Ramp,
            false => Course::Jump,
        };
        let amplitudes = &self.amplitudes;
        let course = |name: &str| amplitudes.get(name).map_or(usual, |t| Course::Table(t));
        for (key, (value, name)) in step.held {
            self.held.entry(key).or_default().proceed(start, length, value, course(&name));
        }
        for (node, (value, name)) in step.temperatures {
            self.temperatures.entry(node).or_default().proceed(start, length, value, course(&name));
        }
        proceed(&mut self.forces, step.forces, step.replaces[1], [start, length], &course);
        proceed(&mut self.pressures, step.pressures, step.replaces[2], [start, length], &course);
        proceed(&mut self.gravities, step.gravities, step.replaces[2], [start, length], &course);
        Ok(Read::Done)
    }
}

/// Takes loads over the step from a start on with a length. Loads end where the step gives them by another table, or replaces all.
fn proceed<'a, K: Ord + Clone>(
    all: &mut Load<K>,
    mut new: BTreeMap<(K, String), f64>,
    replaces: bool,
    [start, length]: [f64; 2],
    course: &dyn Fn(&str) -> Course<'a>,
) {
    let given: BTreeSet<K> = new.keys().map(|k| k.0.clone()).collect();
    for key in all.keys().filter(|k| replaces || given.contains(&k.0)) {
        new.entry(key.clone()).or_insert(0.0);
    }
    for (key, value) in new {
        let course = course(&key.1);
        all.entry(key).or_default().proceed(start, length, value, course);
    }
}

fn outside(block: &Block) -> Fault {
    let what = format!("*{} stands in no step", block.keyword);
    Fault::new(block.at, what, "Write *STEP above it")
}

/// The directions that a line of *BOUNDARY holds, from 0, and the displacement.
fn directions(fields: &[&str], line: &Line, notes: &mut Notes) -> Result<(Vec<u8>, f64), Fault> {
    const TURNS: &str = "held rotations have no counterpart and are left out";
    let name = fields.get(1).map(|f| f.to_uppercase()).unwrap_or_default();
    let named: Option<&[u8]> = match name.as_str() {
        "ENCASTRE" | "PINNED" => Some(&[0, 1, 2]),
        "XSYMM" => Some(&[0]),
        "YSYMM" => Some(&[1]),
        "ZSYMM" => Some(&[2]),
        "XASYMM" => Some(&[1, 2]),
        "YASYMM" => Some(&[0, 2]),
        "ZASYMM" => Some(&[0, 1]),
        _ => None,
    };
    if let Some(named) = named {
        if name == "ENCASTRE" {
            notes.add(
                line.at,
                "ENCASTRE holds displacements; held rotations, of shells, are left out",
            );
        }
        return Ok((named.to_vec(), 0.0));
    }
    let whole = |k: usize| -> Result<u64, Fault> { label(fields[k], line.at) };
    if fields.get(1).is_none_or(|f| f.is_empty()) {
        return Err(Fault::new(line.at, "the direction is missing", "Write for example 12, 1, 3"));
    }
    let first = whole(1)?;
    let last = if fields.get(2).is_some_and(|f| !f.is_empty()) { whole(2)? } else { first };
    let value = if fields.len() > 3 { field(fields, 3, line)? } else { 0.0 };
    if first == 0 || last > 6 {
        notes.add(line.at, "directions other than 1 to 6 are not converted");
    } else if last > 3 {
        notes.add(line.at, TURNS);
    }
    Ok(((first.max(1)..=last.min(3)).map(|d| d as u8 - 1).collect(), value))
}
