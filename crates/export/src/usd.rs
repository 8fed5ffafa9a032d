//! USD as text (`.usda`) with time samples.
//!
//! One prim per body under an `Xform`: triangles as `Mesh`, wires as linear `BasisCurves`, points as `Points`; a
//! body of several kinds has one prim for each. What moves rigidly has points without time samples, and a translation and a
//! rotation with them, between which readers turn evenly. Metres, the scene's own axes (`upAxis`), no subdivision. A
//! time code is a frame where frames are evenly spaced: `timeCodesPerSecond` is one over their distance.

use crate::motion::{self, RigidMotion};
use crate::{ExportError, ExportedBody, Sequence};
use standoff_linalg::Vec3;
use standoff_run::{OutputError, write_atomically};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Bytes of positions that are held at a time; frames are read once for every so many.
const AT_A_TIME: usize = 512 << 20;

pub(crate) fn write(sequence: &Sequence, path: &Path) -> Result<(), ExportError> {
    let mut failure = None;
    let written = write_atomically(path, |out| match stage(sequence, out) {
        Ok(()) => Ok(()),
        Err(Fault::Written(error)) => Err(error),
        Err(Fault::Read(error)) => {
            failure = Some(error);
            Err(io::Error::other("a frame cannot be read"))
        }
    });
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(written?),
    }
}

enum Fault {
    Read(OutputError),
    Written(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Written(error)
    }
}

/// Time codes of the frames, and how many make a second.
fn time_codes(times: &[f64]) -> (Vec<f64>, f64) {
    let mut steps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f64::total_cmp);
    let step = steps.get(steps.len() / 2).copied().filter(|s| *s > 0.0).unwrap_or(1.0 / 24.0);
    // rates such as 100 are whole numbers up to rounding of the times
    let round = |x: f64| if (x - x.round()).abs() < 1e-6 { x.round() } else { x };
    let rate = round(1.0 / step);
    (times.iter().map(|t| round(t * rate)).collect(), rate)
}

fn stage(sequence: &Sequence, out: &mut dyn Write) -> Result<(), Fault> {
    let (codes, rate) = time_codes(sequence.times());
    let up = if sequence.z_up() { "Z" } else { "Y" };
    writeln!(out, "#usda 1.0\n(")?;
    writeln!(out, "    defaultPrim = \"run\"\n    metersPerUnit = 1\n    upAxis = \"{up}\"")?;
    writeln!(out, "    startTimeCode = {}", codes.first().unwrap_or(&0.0))?;
    writeln!(out, "    endTimeCode = {}", codes.last().unwrap_or(&0.0))?;
    writeln!(out, "    timeCodesPerSecond = {rate}\n    framesPerSecond = {rate}\n)\n")?;
    writeln!(out, "def Xform \"run\"\n{{")?;
    let mut taken = BTreeSet::new();
    let motions = motion::motions(sequence).map_err(Fault::Read)?;
    for range in groups(sequence, &motions) {
        let rigid = &motions[range.clone()];
        let mut all: Vec<Vec<Vec<Vec3>>> = Vec::new();
        if rigid.iter().any(Option::is_none) {
            for frame in 0..codes.len() {
                all.push(sequence.positions(frame, range.clone()).map_err(Fault::Read)?);
            }
        }
        for (k, body) in sequence.bodies()[range].iter().enumerate() {
            let name = identifier(&body.name, &mut taken);
            let moved = match &rigid[k] {
                Some(motion) => Moved::Rigidly(motion),
                None => Moved::Freely(all.iter().map(|frame| &frame[k][..]).collect()),
            };
            prims(out, body, &name, &codes, &moved)?;
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}

/// How the vertices of a body move.
enum Moved<'a> {
    /// As a whole.
    Rigidly(&'a RigidMotion),
    /// Each on its own: positions in every frame.
    Freely(Vec<&'a [Vec3]>),
}

/// The prims of a body, one for each kind of its elements.
fn prims(
    out: &mut dyn Write,
    body: &ExportedBody,
    name: &str,
    codes: &[f64],
    moved: &Moved<'_>,
) -> io::Result<()> {
    let kinds = [!body.triangles.is_empty(), !body.edges.is_empty(), !body.points.is_empty()];
    let several = kinds.iter().filter(|k| **k).count() > 1;
    let named = |suffix: &str| if several { format!("{name}_{suffix}") } else { name.to_owned() };
    if kinds[0] {
        prim(out, "Mesh", &named("triangles"), &body.name)?;
        let counts = vec!["3"; body.triangles.len()].join(", ");
        writeln!(out, "        int[] faceVertexCounts = [{counts}]")?;
        indices(out, "faceVertexIndices", body.triangles.iter().flatten())?;
        writeln!(out, "        uniform token subdivisionScheme = \"none\"")?;
        writeln!(out, "        uniform bool doubleSided = 1")?;
        samples(out, codes, moved, None)?;
    }
    if kinds[1] {
        prim(out, "BasisCurves", &named("wires"), &body.name)?;
        writeln!(out, "        uniform token type = \"linear\"")?;
        let counts = vec!["2"; body.edges.len()].join(", ");
        writeln!(out, "        int[] curveVertexCounts = [{counts}]")?;
        let ends: Vec<u32> = body.edges.iter().flatten().copied().collect();
        samples(out, codes, moved, Some(&ends))?;
    }
    if kinds[2] {
        prim(out, "Points", &named("points"), &body.name)?;
        samples(out, codes, moved, Some(&body.points))?;
    }
    Ok(())
}

/// Bodies whose positions fit into the memory together; what moves rigidly needs none.
fn groups(sequence: &Sequence, motions: &[Option<RigidMotion>]) -> Vec<Range<usize>> {
    let frames = sequence.steps().len();
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut bytes = usize::MAX;
    for (k, (body, motion)) in sequence.bodies().iter().zip(motions).enumerate() {
        let moving = if motion.is_some() { 0 } else { body.vertices.len() };
        let own = moving * frames * size_of::<Vec3>();
        match groups.last_mut() {
            Some(last) if bytes.saturating_add(own) <= AT_A_TIME => {
                last.end = k + 1;
                bytes += own;
            }
            _ => {
                groups.push(k..k + 1);
                bytes = own;
            }
        }
    }
    groups
}

fn prim(out: &mut dyn Write, kind: &str, identifier: &str, name: &str) -> io::Result<()> {
    let shown = name.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(
        out,
        "    def {kind} \"{identifier}\" (\n        displayName = \"{shown}\"\n    )\n    {{"
    )
}

fn indices<'a>(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = &'a u32>,
) -> io::Result<()> {
    let list: Vec<String> = values.map(u32::to_string).collect();
    writeln!(out, "        int[] {name} = [{}]", list.join(", "))
}

/// Positions of all or chosen vertices and their extents, with time samples where they move each on its own, and the end of the prim.
fn samples(
    out: &mut dyn Write,
    codes: &[f64],
    moved: &Moved<'_>,
    chosen: Option<&[u32]>,
) -> io::Result<()> {
    let positions = match moved {
        Moved::Freely(positions) => positions,
        Moved::Rigidly(motion) => {
            let (points, extent) = row(&motion.vertices, chosen);
            writeln!(out, "        point3f[] points = {points}")?;
            writeln!(out, "        float3[] extent = {extent}")?;
            return transform(out, codes, motion);
        }
    };
    let mut extents = Vec::with_capacity(codes.len());
    writeln!(out, "        point3f[] points.timeSamples = {{")?;
    for (code, x) in codes.iter().zip(positions) {
        let (points, extent) = row(x, chosen);
        writeln!(out, "            {code}: {points},")?;
        extents.push(extent);
    }
    writeln!(out, "        }}")?;
    writeln!(out, "        float3[] extent.timeSamples = {{")?;
    for (code, extent) in codes.iter().zip(&extents) {
        writeln!(out, "            {code}: {extent},")?;
    }
    writeln!(out, "        }}\n    }}")
}

/// Positions of all or chosen vertices in single precision, and the two corners of their box.
fn row(positions: &[Vec3], chosen: Option<&[u32]>) -> (String, String) {
    let all = (0..positions.len()).filter(|_| chosen.is_none());
    let list = chosen.unwrap_or_default().iter().map(|v| *v as usize);
    let mut points = String::from("[");
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (k, v) in all.chain(list).enumerate() {
        let p = positions[v];
        let p = [p.x as f32, p.y as f32, p.z as f32];
        for c in 0..3 {
            (low[c], high[c]) = (low[c].min(p[c]), high[c].max(p[c]));
        }
        let comma = if k == 0 { "" } else { ", " };
        // writing to a string does not fail
        let _ = write!(points, "{comma}({}, {}, {})", p[0], p[1], p[2]);
    }
    points.push(']');
    let corner = |c: [f32; 3]| format!("({}, {}, {})", c[0], c[1], c[2]);
    (points, format!("[{}, {}]", corner(low), corner(high)))
}

/// Where a body that moves rigidly is, with time samples for what changes, and the end of the prim.
fn transform(out: &mut dyn Write, codes: &[f64], motion: &RigidMotion) -> io::Result<()> {
    let centre = |k: usize| {
        let c = motion.poses[k].centre;
        format!("({}, {}, {})", c.x, c.y, c.z)
    };
    let turn = |k: usize| {
        let [w, x, y, z] = motion.poses[k].turn;
        format!("({w}, {x}, {y}, {z})")
    };
    let mut over_time = |name: &str, moves: bool, value: &dyn Fn(usize) -> String| {
        if !moves {
            return writeln!(out, "        {name} = {}", value(0));
        }
        writeln!(out, "        {name}.timeSamples = {{")?;
        for (k, code) in codes.iter().enumerate() {
            writeln!(out, "            {code}: {},", value(k))?;
        }
        writeln!(out, "        }}")
    };
    over_time("double3 xformOp:translate", motion.shifts(), &centre)?;
    over_time("quatd xformOp:orient", motion.turns(), &turn)?;
    let order = "[\"xformOp:translate\", \"xformOp:orient\"]";
    writeln!(out, "        uniform token[] xformOpOrder = {order}\n    }}")
}

/// A name that USD takes: letters, digits and underscores, not a digit first, and not taken.
fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut base: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let numbered = (2..).map(|n| format!("{base}_{n}"));
    let free = std::iter::once(base.clone()).chain(numbered).find(|n| !taken.contains(n));
    let free = free.unwrap_or(base);
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_identifiers() {
        let mut taken = BTreeSet::new();
        let of = |name: &str, taken: &mut BTreeSet<String>| identifier(name, taken);
        assert_eq!(of("cube[0,1,0]", &mut taken), "cube_0_1_0_");
        assert_eq!(of("cube(0.1.0)", &mut taken), "cube_0_1_0__2");
        assert_eq!(of("2 balls", &mut taken), "_2_balls");
        assert_eq!(of("", &mut taken), "_");
    }

    #[test]
    fn evenly_spaced_frames_have_whole_time_codes() {
        let times: Vec<f64> = (0..11).map(|k| f64::from(k) * 0.01).collect();
        let (codes, rate) = time_codes(&times);
        assert_eq!(rate, 100.0);
        assert_eq!(codes, (0..11).map(f64::from).collect::<Vec<_>>());
        // the last frame of a run may come earlier
        assert_eq!(time_codes(&[0.0, 0.1, 0.2, 0.25]), (vec![0.0, 1.0, 2.0, 2.5], 10.0));
        assert_eq!(time_codes(&[0.0]), (vec![0.0], 24.0));
    }
}
