//! Frames and the description of a run, as any program outside of Standoff would read them.

use crate::exact::Point;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A body as `run.json` lists it.
#[derive(Debug, Clone, Deserialize)]
pub struct ListedBody {
    /// Name.
    pub name: String,
    /// Whether it is an obstacle.
    pub obstacle: bool,
    /// Index of its first vertex.
    pub first_vertex: usize,
    /// Number of its vertices.
    pub vertices: usize,
    /// Its thickness in contact, m.
    pub contact_thickness: f64,
    /// Limits of the stretch of a shell.
    pub limits: Option<Limits>,
}

/// Limits of the stretch of a shell.
#[derive(Debug, Clone, Deserialize)]
pub struct Limits {
    /// Limit of the principal stretches.
    pub stretch: Option<f64>,
}

/// A half-space as `run.json` lists it.
#[derive(Debug, Clone, Deserialize)]
pub struct ListedHalfSpace {
    /// Name.
    pub name: String,
    /// A point of its plane, m.
    pub origin: Point,
    /// Outward normal.
    pub normal: Point,
}

/// Number of dimensions as `run.json` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "serde_json::Value")]
pub enum Dimension {
    /// Three.
    #[default]
    Three,
    /// The plane z = 0.
    Two,
    /// The half-plane x ≥ 0, z = 0 of bodies of revolution.
    Axisymmetric,
}

impl From<serde_json::Value> for Dimension {
    fn from(value: serde_json::Value) -> Self {
        match value.as_u64() {
            Some(3) => Self::Three,
            Some(_) => Self::Two,
            None => Self::Axisymmetric,
        }
    }
}

/// What `run.json` says about a run, as far as it is checked.
#[derive(Debug, Clone, Deserialize)]
pub struct Info {
    /// Number of dimensions.
    #[serde(default)]
    pub dimension: Dimension,
    /// Bodies in the order of their vertices.
    pub bodies: Vec<ListedBody>,
    /// Half-spaces.
    pub half_spaces: Vec<ListedHalfSpace>,
    /// Whether anything can touch anything.
    pub contact: bool,
    /// Whether tetrahedra may be inverted.
    pub allow_inversion: bool,
    /// Pairs of bodies that pass through each other; of a body with itself: no self-contact.
    pub no_contact: Vec<(usize, usize)>,
    /// Vertices at which joints hold a body at another one.
    #[serde(default)]
    pub grips: Vec<ListedGrip>,
    /// Whether bodies may touch themselves at all.
    pub self_contact: bool,
}

/// Vertices that a joint holds: what has one of them passes through the other body.
#[derive(Debug, Clone, Deserialize)]
pub struct ListedGrip {
    /// The vertices.
    pub vertices: BTreeSet<usize>,
    /// Index of the other body.
    pub other: usize,
}

impl Info {
    /// Reads `run.json` of a folder.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("run.json");
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Whether what has these vertices passes through a body at which a joint holds it.
    pub fn is_held(&self, vertices: &[usize], other: usize) -> bool {
        let holds = |g: &&ListedGrip| g.other == other;
        self.grips.iter().filter(holds).any(|g| vertices.iter().any(|v| g.vertices.contains(v)))
    }

    /// Whether two bodies may touch.
    pub fn touch(&self, a: usize, b: usize) -> bool {
        let both_fixed = self.bodies[a].obstacle && self.bodies[b].obstacle;
        let excluded = self.no_contact.contains(&(a, b)) || self.no_contact.contains(&(b, a));
        self.contact && !both_fixed && !excluded && (a != b || self.self_contact)
    }
}

/// A frame: positions and cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Positions, m.
    pub x: Vec<Point>,
    /// Positions at rest, m, to rounding.
    pub rest: Vec<Point>,
    /// Tetrahedra of the volumes.
    pub tets: Vec<[usize; 4]>,
    /// Tetrahedra with nodes in the middles of edges 01, 12, 02, 03, 13, 23.
    pub quadratic: Vec<[usize; 10]>,
    /// Triangles with nodes in the middles of edges 01, 12, 20.
    pub curved: Vec<[usize; 6]>,
    /// Triangles of shells and obstacles, in two dimensions of solids.
    pub triangles: Vec<[usize; 3]>,
    /// Segments of rods and wires.
    pub segments: Vec<[usize; 2]>,
    /// Particles and bare points.
    pub points: Vec<usize>,
    /// Velocities, m/s; empty if the frame lacks them.
    pub velocity: Vec<Point>,
    /// Contact forces, N; empty if the frame lacks them.
    pub contact_force: Vec<Point>,
}

/// The arrays of a frame: little-endian numbers behind the header, each after its length.
struct Arrays<'a> {
    header: &'a str,
    data: &'a [u8],
}

impl<'a> Arrays<'a> {
    fn new(file: &'a [u8]) -> Option<Self> {
        let mark = b"<AppendedData encoding=\"raw\">";
        let at = file.windows(mark.len()).position(|w| w == mark)?;
        let start = at + file[at..].iter().position(|b| *b == b'_')? + 1;
        let header = std::str::from_utf8(&file[..at]).ok()?;
        // what is written otherwise cannot be read here
        let plain = header.contains("header_type=\"UInt64\"") && !header.contains("compressor");
        plain.then_some(Self { header, data: &file[start..] })
    }

    /// The numbers of an array of a type; `None` where it is absent or of another type.
    fn numbers<const SIZE: usize, T>(
        &self,
        name: &str,
        kind: &str,
        read: fn([u8; SIZE]) -> T,
    ) -> Option<Vec<T>> {
        let tag = self.header.split("<DataArray ").find(|t| {
            t.contains(&format!("Name=\"{name}\"")) && t.contains(&format!("type=\"{kind}\""))
        })?;
        let offset = tag.split("offset=\"").nth(1)?.split('"').next()?.parse::<usize>().ok()?;
        let length = u64::from_le_bytes(self.data.get(offset..offset + 8)?.try_into().ok()?);
        let bytes = self.data.get(offset + 8..(offset + 8).checked_add(length as usize)?)?;
        let all = bytes.chunks_exact(SIZE).map(|c| read(c.try_into().expect("SIZE bytes")));
        Some(all.collect())
    }

    fn vectors(&self, name: &str) -> Option<Vec<Point>> {
        let flat = self.numbers(name, "Float64", f64::from_le_bytes)?;
        Some(flat.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect())
    }

    fn indices(&self, name: &str) -> Option<Vec<usize>> {
        let all = self.numbers(name, "Int32", i32::from_le_bytes)?;
        all.into_iter().map(|v| v.try_into().ok()).collect()
    }
}

impl Frame {
    /// Reads a frame (`.vtu`).
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&file).ok_or_else(|| format!("{}: not a frame", path.display()))
    }

    /// A frame from the bytes of its file.
    fn parse(file: &[u8]) -> Option<Self> {
        let arrays = Arrays::new(file)?;
        let (x, displacement) = (arrays.vectors("points")?, arrays.vectors("displacement")?);
        let rest = x.iter().zip(&displacement);
        let rest = rest.map(|(x, u)| std::array::from_fn(|k| x[k] - u[k])).collect();
        let [velocity, contact_force] =
            ["velocity", "contact_force"].map(|name| arrays.vectors(name).unwrap_or_default());
        let mut frame = Self { x, rest, velocity, contact_force, ..Self::default() };
        let connectivity = arrays.indices("connectivity")?;
        let kinds = arrays.numbers("types", "UInt8", |[b]: [u8; 1]| b)?;
        let mut first = 0;
        for (kind, end) in kinds.into_iter().zip(arrays.indices("offsets")?) {
            let of = connectivity.get(first..end)?;
            first = end;
            if of.iter().any(|v| *v >= frame.x.len()) {
                return None;
            }
            // the numbers of VTK
            match kind {
                10 => frame.tets.push(of.try_into().ok()?),
                24 => frame.quadratic.push(of.try_into().ok()?),
                22 => frame.curved.push(of.try_into().ok()?),
                5 => frame.triangles.push(of.try_into().ok()?),
                3 => frame.segments.push(of.try_into().ok()?),
                1 => frame.points.extend(of),
                _ => return None,
            }
        }
        Some(frame)
    }
}

/// The frames of a run, by their number.
pub fn frames(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("frames")).into_iter().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "vtu"))
        .collect();
    all.sort();
    all
}
