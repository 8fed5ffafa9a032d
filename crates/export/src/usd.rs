//! USD as text (`.usda`) with time samples.
//!
//! One prim per body under an `Xform`: triangles as `Mesh`, wires as linear `BasisCurves`, points as `Points`; a
//! body of several kinds has one prim for each. Metres, the scene's own axes (`upAxis`), no subdivision. A
//! time code is a frame where frames are evenly spaced: `timeCodesPerSecond` is one over their distance.

use crate::{ExportError, Sequence};
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
    for range in groups(sequence) {
        let mut all: Vec<Vec<Vec<Vec3>>> = Vec::with_capacity(codes.len());
        for frame in 0..codes.len() {
            all.push(sequence.positions(frame, range.clone()).map_err(Fault::Read)?);
        }
        for (k, body) in sequence.bodies()[range].iter().enumerate() {
            let positions: Vec<&[Vec3]> = all.iter().map(|frame| &frame[k][..]).collect();
            let name = identifier(&body.name, &mut taken);
            let kinds =
                [!body.triangles.is_empty(), !body.edges.is_empty(), !body.points.is_empty()];
            let several = kinds.iter().filter(|k| **k).count() > 1;
            let named =
                |suffix: &str| if several { format!("{name}_{suffix}") } else { name.clone() };
            if kinds[0] {
                prim(out, "Mesh", &named("triangles"), &body.name)?;
                let counts = vec!["3"; body.triangles.len()].join(", ");
                writeln!(out, "        int[] faceVertexCounts = [{counts}]")?;
                indices(out, "faceVertexIndices", body.triangles.iter().flatten())?;
                writeln!(out, "        uniform token subdivisionScheme = \"none\"")?;
                writeln!(out, "        uniform bool doubleSided = 1")?;
                samples(out, &codes, &positions, &mut |v| *v, None)?;
            }
            if kinds[1] {
                prim(out, "BasisCurves", &named("wires"), &body.name)?;
                writeln!(out, "        uniform token type = \"linear\"")?;
                let counts = vec!["2"; body.edges.len()].join(", ");
                writeln!(out, "        int[] curveVertexCounts = [{counts}]")?;
                let ends: Vec<u32> = body.edges.iter().flatten().copied().collect();
                samples(out, &codes, &positions, &mut |v| *v, Some(&ends))?;
            }
            if kinds[2] {
                prim(out, "Points", &named("points"), &body.name)?;
                samples(out, &codes, &positions, &mut |v| *v, Some(&body.points))?;
            }
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}

/// Bodies whose positions fit into the memory together.
fn groups(sequence: &Sequence) -> Vec<Range<usize>> {
    let frames = sequence.steps().len();
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut bytes = usize::MAX;
    for (k, body) in sequence.bodies().iter().enumerate() {
        let own = body.vertices.len() * frames * size_of::<Vec3>();
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

/// Positions and extents over time, and the end of the prim.
fn samples(
    out: &mut dyn Write,
    codes: &[f64],
    positions: &[&[Vec3]],
    place: &mut dyn FnMut(&Vec3) -> Vec3,
    chosen: Option<&[u32]>,
) -> io::Result<()> {
    let mut extents = Vec::new();
    writeln!(out, "        point3f[] points.timeSamples = {{")?;
    for (code, positions) in codes.iter().zip(positions) {
        let points: Vec<Vec3> = match chosen {
            None => positions.iter().map(&mut *place).collect(),
            Some(list) => list.iter().map(|v| place(&positions[*v as usize])).collect(),
        };
        let mut line = String::new();
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for (k, p) in points.iter().enumerate() {
            let p = [p.x as f32, p.y as f32, p.z as f32];
            for c in 0..3 {
                (low[c], high[c]) = (low[c].min(p[c]), high[c].max(p[c]));
            }
            let comma = if k == 0 { "" } else { ", " };
            // writing to a string does not fail
            let _ = write!(line, "{comma}({}, {}, {})", p[0], p[1], p[2]);
        }
        writeln!(out, "            {code}: [{line}],")?;
        extents.push((low, high));
    }
    writeln!(out, "        }}")?;
    writeln!(out, "        float3[] extent.timeSamples = {{")?;
    for (code, (low, high)) in codes.iter().zip(extents) {
        let corner = |c: [f32; 3]| format!("({}, {}, {})", c[0], c[1], c[2]);
        writeln!(out, "            {code}: [{}, {}],", corner(low), corner(high))?;
    }
    writeln!(out, "        }}\n    }}")
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
