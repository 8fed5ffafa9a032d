//! Checkpoints: files that hold the whole state of a run, so that it can continue from there.
//!
//! Little-endian: magic, format version, version of the program, fingerprint of the definition,
//! sizes, the state's arrays and constraints, the numbers of the frames written so far, what the user set
//! between steps, the forces on half-spaces, how many steps in a row the barrier finished for the barrier-free
//! solver, the forces of supports and loads, where there are joints their multipliers and coordinates, which of them are broken, and a checksum of all that. Files of later formats are refused.

// long: what is written, and what is read, in the same order

use crate::OutputError;
use crate::atomic::write_atomically;
use crate::error::later_format;
use crate::files::open_file;
use fnv::FnvHasher;
use standoff_geometry::{Pair, PairKind};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::State;
use standoff_sim::contact::{Constraint, ConstraintKey, PairForces, Party};
use standoff_sim::energy::inelastic::Internal;
use standoff_sim::joints::{Efforts, Integrity, JointTarget};
use standoff_sim::past::Past;
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"STANDOFF";
/// Grows with every change of the layout below; `tests/format_1.rs` holds it to that.
const FORMAT: u32 = 1;

/// A state and everything else that a run needs to continue from it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// The state.
    pub state: State,
    /// Numbers of the frames that the output settings have required so far, ascending.
    pub frames: Vec<u64>,
    /// Version of standoff that wrote it.
    pub program: String,
}

/// Passes bytes on and hashes them by 64-bit FNV-1a, which notices any single altered byte. It is no
/// defence against malice.
struct Hashing<'a> {
    out: &'a mut dyn Write,
    hash: FnvHasher,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hash.write(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a checkpoint of a state of the definition with this fingerprint.
pub fn write_checkpoint(
    path: &Path,
    fingerprint: u64,
    state: &State,
    frames: &[u64],
) -> Result<(), OutputError> {
    write_atomically(path, |out| write_state(out, fingerprint, state, frames))
}

/// A checkpoint as bytes, for memory instead of a file.
pub fn checkpoint_bytes(fingerprint: u64, state: &State, frames: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // memory takes whatever is written
    let _ = write_state(&mut bytes, fingerprint, state, frames);
    bytes
}

fn write_state(
    out: &mut dyn Write,
    fingerprint: u64,
    state: &State,
    frames: &[u64],
) -> io::Result<()> {
    let mut out = Hashing { out, hash: FnvHasher::default() };
    let program = env!("CARGO_PKG_VERSION");
    out.write_all(MAGIC)?;
    out.write_all(&FORMAT.to_le_bytes())?;
    out.write_all(&(program.len() as u32).to_le_bytes())?;
    out.write_all(program.as_bytes())?;
    let rods = [state.directors.len(), state.frame_twists.len()];
    let constraints = state.constraints.len();
    let (vertices, motions, turns) = (state.x.len(), state.ended.len(), state.turns.len());
    let sizes = [vertices, motions, rods[0], rods[1], turns, constraints, frames.len()];
    let numbers = [fingerprint, state.step as u64, state.time.to_bits(), state.kappa.to_bits()];
    for number in numbers {
        out.write_all(&number.to_le_bytes())?;
    }
    for size in sizes {
        out.write_all(&(size as u64).to_le_bytes())?;
    }
    for (_, list) in state.vectors() {
        for c in list.iter().flatten() {
            out.write_all(&c.to_le_bytes())?;
        }
    }
    for c in state.directors.iter().flatten().chain(&state.frame_twists) {
        out.write_all(&c.to_le_bytes())?;
    }
    for turns in &state.turns {
        out.write_all(&turns.to_le_bytes())?;
    }
    for flag in state.prescribed.iter().chain(&state.ended) {
        out.write_all(&[u8::from(*flag)])?;
    }
    write_constraints(&mut out, &state.constraints)?;
    for frame in frames {
        out.write_all(&frame.to_le_bytes())?;
    }
    write_controls(&mut out, state)?;
    write_rest(&mut out, state)?;
    let sum = out.hash.finish();
    out.out.write_all(&sum.to_le_bytes())
}

fn write_constraints(out: &mut dyn Write, constraints: &[Constraint]) -> io::Result<()> {
    for c in constraints {
        let (kind, [i, j]) = encode(&c.key);
        for number in [kind, i, j] {
            out.write_all(&number.to_le_bytes())?;
        }
        for number in [c.force, c.decay] {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(())
}

/// What was set between steps, and the forces on half-spaces.
fn write_controls(out: &mut dyn Write, state: &State) -> io::Result<()> {
    let (controls, reactions) = (&state.controls, &state.half_space_forces);
    for size in [controls.loads.len(), reactions.len()] {
        out.write_all(&(size as u64).to_le_bytes())?;
    }
    for value in std::iter::once(&controls.gravity).chain(&controls.loads) {
        out.write_all(&[u8::from(value.is_some())])?;
        for c in value.unwrap_or_default().iter() {
            out.write_all(&c.to_le_bytes())?;
        }
    }
    write_forces(out, reactions)
}

/// Steps of the barrier, and the forces of supports and loads.
fn write_rest(out: &mut dyn Write, state: &State) -> io::Result<()> {
    out.write_all(&state.fallbacks.to_le_bytes())?;
    for forces in [&state.held_forces, &state.load_forces] {
        out.write_all(&(forces.len() as u64).to_le_bytes())?;
        write_forces(out, forces)?;
    }
    write_joints(out, state)?;
    write_pairs(out, state)?;
    write_internal(out, state)?;
    write_integrity(out, &state.joint_integrity)
}

/// Which joints are broken; nothing where none can break.
fn write_integrity(out: &mut dyn Write, integrity: &[Integrity]) -> io::Result<()> {
    if integrity.is_empty() {
        return Ok(());
    }
    out.write_all(&(integrity.len() as u64).to_le_bytes())?;
    let byte = |i: &Integrity| match i {
        Integrity::Whole => 0_u8,
        Integrity::Broken => 1,
        Integrity::Apart => 2,
    };
    out.write_all(&integrity.iter().map(byte).collect::<Vec<_>>())
}

/// What flowed of solids; nothing without any and without what follows.
fn write_internal(out: &mut dyn Write, state: &State) -> io::Result<()> {
    let internal = &state.internal;
    if internal.is_empty() && state.joint_integrity.is_empty() {
        return Ok(());
    }
    out.write_all(&(internal.len() as u64).to_le_bytes())?;
    for Internal { inverse, plastic_strain } in internal {
        for c in inverse.iter().chain([plastic_strain]) {
            out.write_all(&c.to_le_bytes())?;
        }
    }
    Ok(())
}

/// What acts on what; nothing without any and without what follows.
fn write_pairs(out: &mut dyn Write, state: &State) -> io::Result<()> {
    let pairs = &state.pair_forces;
    if pairs.is_empty() && state.internal.is_empty() && state.joint_integrity.is_empty() {
        return Ok(());
    }
    out.write_all(&(pairs.len() as u64).to_le_bytes())?;
    for pair in pairs {
        for party in [pair.on, pair.by] {
            let (kind, index) = match party {
                Party::Body(index) => (0_u8, index),
                Party::HalfSpace(index) => (1, index),
            };
            out.write_all(&[kind])?;
            out.write_all(&index.to_le_bytes())?;
        }
        write_forces(out, &[pair.normal, pair.friction])?;
    }
    Ok(())
}

/// Multipliers, coordinates, motion, efforts and targets of joints; nothing without any and without what follows, as before there were joints.
fn write_joints(out: &mut dyn Write, state: &State) -> io::Result<()> {
    let (multipliers, coordinates) = (&state.joint_multipliers, &state.joint_coordinates);
    if coordinates.is_empty() && state.pair_forces.is_empty() && state.internal.is_empty() {
        return Ok(());
    }
    for size in [multipliers.len(), coordinates.len()] {
        out.write_all(&(size as u64).to_le_bytes())?;
    }
    for c in multipliers.iter().chain(coordinates.iter().flatten()) {
        out.write_all(&c.to_le_bytes())?;
    }
    for p in &state.joint_motion {
        for c in [p.x, p.v, p.x_previous, p.v_previous] {
            out.write_all(&c.to_le_bytes())?;
        }
    }
    for e in &state.joint_efforts {
        for c in [e.drive, e.spring, e.resistance, e.limit, e.coupling] {
            out.write_all(&c.to_le_bytes())?;
        }
    }
    for target in &state.controls.joints {
        for value in [target.position, target.velocity, target.effort] {
            out.write_all(&[u8::from(value.is_some())])?;
            out.write_all(&value.unwrap_or_default().to_le_bytes())?;
        }
    }
    Ok(())
}

/// Forces with their moments.
fn write_forces(out: &mut dyn Write, forces: &[[Vec3; 2]]) -> io::Result<()> {
    for c in forces.iter().flatten().flatten() {
        out.write_all(&c.to_le_bytes())?;
    }
    Ok(())
}

/// Reads a checkpoint of the definition with this fingerprint.
///
/// # Errors
/// [`OutputError::Damaged`] for a file that is cut off or altered, [`OutputError::Foreign`] for one
/// of another scene or program.
pub fn read_checkpoint(path: &Path, fingerprint: u64) -> Result<Checkpoint, OutputError> {
    let mut bytes = Vec::new();
    open_file(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(OutputError::read(path))?;
    parse_checkpoint(path, &bytes, fingerprint)
}

/// Reads a checkpoint from bytes; `path` stands for them in messages.
///
/// # Errors
/// As [`read_checkpoint`].
pub fn parse_checkpoint(
    path: &Path,
    bytes: &[u8],
    fingerprint: u64,
) -> Result<Checkpoint, OutputError> {
    let damaged =
        |what: &str| OutputError::Damaged { path: path.to_owned(), what: what.to_owned() };
    let foreign = |what: String| OutputError::Foreign { path: path.to_owned(), what };
    let cut_off = || damaged("it is truncated");
    if !bytes.starts_with(MAGIC) {
        return Err(damaged(if bytes.len() < 8 {
            "it is truncated"
        } else {
            "it is not a checkpoint"
        }));
    }
    let (body, sum) = bytes.split_last_chunk::<8>().ok_or_else(cut_off)?;
    let mut reader = Reader(body.get(8..).ok_or_else(cut_off)?);
    let format = reader.u32().ok_or_else(cut_off)?;
    if format > FORMAT {
        return Err(foreign(later_format(format, FORMAT)));
    }
    let mut hash = FnvHasher::default();
    hash.write(body);
    if hash.finish() != u64::from_le_bytes(*sum) {
        return Err(damaged("its checksum is wrong: it is truncated or altered"));
    }
    if format == 0 {
        return Err(damaged("it has format 0, which does not exist"));
    }
    let (found, checkpoint) = reader.checkpoint().ok_or_else(cut_off)?;
    if found != fingerprint {
        return Err(foreign("it belongs to another scene, or scene or meshes have changed".into()));
    }
    Ok(checkpoint)
}

/// Kind and indices of a constraint's key.
fn encode(key: &ConstraintKey) -> (u32, [u32; 2]) {
    match *key {
        ConstraintKey::Pair(Pair { kind: PairKind::VertexVertex, primitives }) => (0, primitives),
        ConstraintKey::Pair(Pair { kind: PairKind::EdgeVertex, primitives }) => (1, primitives),
        ConstraintKey::Pair(Pair { kind: PairKind::EdgeEdge, primitives }) => (2, primitives),
        ConstraintKey::Pair(Pair { kind: PairKind::FaceVertex, primitives }) => (3, primitives),
        ConstraintKey::HalfSpace(vertex, plane) => (4, [vertex, plane]),
    }
}

/// The inverse of [`encode`].
fn decode(kind: u32, ids: [u32; 2]) -> Option<ConstraintKey> {
    let pair = |kind| ConstraintKey::Pair(Pair::new(kind, ids));
    Some(match kind {
        0 => pair(PairKind::VertexVertex),
        1 => pair(PairKind::EdgeVertex),
        2 => pair(PairKind::EdgeEdge),
        3 => pair(PairKind::FaceVertex),
        4 => ConstraintKey::HalfSpace(ids[0], ids[1]),
        _ => return None,
    })
}

/// Takes numbers off the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }

    fn numbers(&mut self, n: usize) -> Option<Vec<f64>> {
        let bytes = self.take(n.checked_mul(8)?)?.as_chunks::<8>().0;
        Some(bytes.iter().map(|c| f64::from_le_bytes(*c)).collect())
    }

    fn vectors(&mut self, n: usize) -> Option<Vec<Vec3>> {
        let numbers = self.numbers(n.checked_mul(3)?)?;
        Some(numbers.as_chunks::<3>().0.iter().map(|c| Vec3::from(*c)).collect())
    }

    fn forces(&mut self, n: usize) -> Option<Vec<[Vec3; 2]>> {
        Some(self.vectors(n.checked_mul(2)?)?.as_chunks::<2>().0.to_vec())
    }

    fn party(&mut self) -> Option<Party> {
        let kind = *self.take(1)?.first()?;
        let index = self.u32()?;
        match kind {
            0 => Some(Party::Body(index)),
            1 => Some(Party::HalfSpace(index)),
            _ => None,
        }
    }

    fn pairs(&mut self, n: usize) -> Option<Vec<PairForces>> {
        // 106 bytes each: no more than the file can hold
        if n.checked_mul(106)? > self.0.len() {
            return None;
        }
        let mut one = || {
            let [on, by] = [self.party()?, self.party()?];
            let [normal, friction] = *self.forces(2)?.first_chunk()?;
            Some(PairForces { on, by, normal, friction })
        };
        (0..n).map(|_| one()).collect()
    }

    fn integers(&mut self, n: usize) -> Option<Vec<i32>> {
        let bytes = self.take(n.checked_mul(4)?)?.as_chunks::<4>().0;
        Some(bytes.iter().map(|c| i32::from_le_bytes(*c)).collect())
    }

    fn flags(&mut self, n: usize) -> Option<Vec<bool>> {
        Some(self.take(n)?.iter().map(|b| *b != 0).collect())
    }

    fn constraints(&mut self, n: usize) -> Option<Vec<Constraint>> {
        // 28 bytes each: no more than the file can hold
        if n.checked_mul(28)? > self.0.len() {
            return None;
        }
        let mut one = || {
            let key = decode(self.u32()?, [self.u32()?, self.u32()?])?;
            let (force, decay) = (f64::from_bits(self.u64()?), f64::from_bits(self.u64()?));
            Some(Constraint { key, force, decay })
        };
        (0..n).map(|_| one()).collect()
    }

    fn control(&mut self) -> Option<Option<Vec3>> {
        let given = *self.take(1)?.first()? != 0;
        let value = *self.vectors(1)?.first()?;
        Some(given.then_some(value))
    }

    fn target(&mut self) -> Option<JointTarget> {
        let mut value = || {
            let given = *self.take(1)?.first()? != 0;
            let value = *self.numbers(1)?.first()?;
            Some(given.then_some(value))
        };
        Some(JointTarget { position: value()?, velocity: value()?, effort: value()? })
    }

    fn controls(&mut self, n: usize) -> Option<Vec<Option<Vec3>>> {
        // 25 bytes each: no more than the file can hold
        if n.checked_mul(25)? > self.0.len() {
            return None;
        }
        (0..n).map(|_| self.control()).collect()
    }

    // long: a line for each field, in the order of writing
    /// Everything after the format version: the fingerprint and the rest.
    fn checkpoint(&mut self) -> Option<(u64, Checkpoint)> {
        let length = self.u32()? as usize;
        let program = String::from_utf8(self.take(length)?.to_vec()).ok()?;
        let fingerprint = self.u64()?;
        let (step, time) = (self.size()?, f64::from_bits(self.u64()?));
        let kappa = f64::from_bits(self.u64()?);
        let (vertices, motions) = (self.size()?, self.size()?);
        let (segments, corners, turns) = (self.size()?, self.size()?, self.size()?);
        let (constraints, frames) = (self.size()?, self.size()?);
        // in the order of `State::vectors`, like all that follows in the order of writing
        let mut state = State {
            step,
            time,
            x: self.vectors(vertices)?,
            v: self.vectors(vertices)?,
            a: self.vectors(vertices)?,
            x_previous: self.vectors(vertices)?,
            v_previous: self.vectors(vertices)?,
            contact_forces: self.vectors(vertices)?,
            kappa,
            targets: self.vectors(vertices)?,
            directors: self.vectors(segments)?,
            frame_twists: self.numbers(corners)?,
            turns: self.integers(turns)?,
            prescribed: self.flags(vertices)?,
            ended: self.flags(motions)?,
            constraints: self.constraints(constraints)?,
            ..State::default()
        };
        let frames = self.take(frames.checked_mul(8)?)?.as_chunks::<8>().0.iter();
        let frames = frames.map(|c| u64::from_le_bytes(*c)).collect();
        let (loads, half_spaces) = (self.size()?, self.size()?);
        state.controls.gravity = self.control()?;
        state.controls.loads = self.controls(loads)?;
        state.half_space_forces = self.forces(half_spaces)?;
        state.fallbacks = self.u64()?;
        let held = self.size()?;
        state.held_forces = self.forces(held)?;
        let loads = self.size()?;
        state.load_forces = self.forces(loads)?;
        if !self.0.is_empty() {
            let (multipliers, joints) = (self.size()?, self.size()?);
            state.joint_multipliers = self.numbers(multipliers)?;
            let coordinates = self.numbers(joints.checked_mul(2)?)?;
            state.joint_coordinates = coordinates.as_chunks::<2>().0.to_vec();
            let motion = self.numbers(joints.checked_mul(4)?)?;
            let past = |&[x, v, x_previous, v_previous]: &[f64; 4]| Past {
                x,
                v,
                a: 0.0,
                x_previous,
                v_previous,
            };
            state.joint_motion = motion.as_chunks::<4>().0.iter().map(past).collect();
            let efforts = self.numbers(joints.checked_mul(5)?)?;
            let effort = |&[drive, spring, resistance, limit, coupling]: &[f64; 5]| Efforts {
                drive,
                spring,
                resistance,
                limit,
                coupling,
            };
            state.joint_efforts = efforts.as_chunks::<5>().0.iter().map(effort).collect();
            state.controls.joints = (0..joints).map(|_| self.target()).collect::<Option<_>>()?;
        }
        if !self.0.is_empty() {
            let pairs = self.size()?;
            state.pair_forces = self.pairs(pairs)?;
        }
        if !self.0.is_empty() {
            let count = self.size()?;
            let numbers = self.numbers(count.checked_mul(10)?)?;
            let internal = |n: &[f64; 10]| Internal {
                inverse: Mat3::from_column_slice(&n[..9]),
                plastic_strain: n[9],
            };
            state.internal = numbers.as_chunks::<10>().0.iter().map(internal).collect();
        }
        if !self.0.is_empty() {
            let count = self.size()?;
            let integrity = |byte: &u8| match byte {
                0 => Some(Integrity::Whole),
                1 => Some(Integrity::Broken),
                2 => Some(Integrity::Apart),
                _ => None,
            };
            state.joint_integrity =
                self.take(count)?.iter().map(integrity).collect::<Option<_>>()?;
        }
        self.0.is_empty().then_some((fingerprint, Checkpoint { state, frames, program }))
    }
}
