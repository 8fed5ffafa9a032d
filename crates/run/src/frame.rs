//! Reader of the frames that [`crate::vtu`] writes, for the audit and for post-processing.
//!
//! It reads the one layout that the writer produces; other VTU files are read as meshes, by
//! [`standoff_mesh::format`].

use crate::OutputError;
use crate::vtu::{LINE, TET, TRIANGLE, VERTEX};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;
use std::path::Path;

/// A frame as read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Time, s.
    pub time: f64,
    /// Positions, m (`#V`).
    pub positions: Vec<Vec3>,
    /// Tetrahedra of the volumes.
    pub tets: Vec<[u32; 4]>,
    /// Triangles of the obstacles.
    pub triangles: Vec<[u32; 3]>,
    /// Wires of the obstacles.
    pub edges: Vec<[u32; 2]>,
    /// Bare points of the obstacles.
    pub points: Vec<u32>,
    /// Body of every cell, in the order of these four lists.
    pub cell_body: Vec<u32>,
    /// Displacement from rest, m (`#V`); empty if the frame lacks it.
    pub displacement: Vec<Vec3>,
    /// Velocity, m/s (`#V`); empty if the frame lacks it.
    pub velocity: Vec<Vec3>,
    /// Contact force, N (`#V`); empty if the frame lacks it.
    pub contact_force: Vec<Vec3>,
    /// Von Mises stress of the tetrahedra, Pa; empty if the frame lacks it.
    pub von_mises: Vec<f64>,
    /// Distance ε up to which the orientation-aware potential acts, m (`#V`); empty if the frame lacks it.
    pub contact_reach: Vec<f64>,
}

/// Reads a frame.
pub fn read_frame(path: &Path) -> Result<Frame, OutputError> {
    let bytes = std::fs::read(path).map_err(OutputError::read(path))?;
    parse(&bytes).map_err(|what| OutputError::Damaged { path: path.to_owned(), what })
}

/// Type, number of components and bytes of every array by name.
type Arrays<'a> = BTreeMap<String, (String, &'a [u8])>;

fn parse(bytes: &[u8]) -> Result<Frame, String> {
    let arrays = arrays_of(bytes)?;
    let floats = |name: &str| -> Result<Vec<f64>, String> {
        match arrays.get(name) {
            None => Ok(Vec::new()),
            Some((kind, data)) if kind == "Float64" && data.len() % 8 == 0 => {
                Ok(data.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect())
            }
            Some(_) => Err(format!("the array '{name}' is not of numbers")),
        }
    };
    let vectors = |name: &str| -> Result<Vec<Vec3>, String> {
        let values = floats(name)?;
        match values.as_chunks::<3>() {
            (chunks, []) => Ok(chunks.iter().map(|c| Vec3::from(*c)).collect()),
            _ => Err(format!("the array '{name}' is not of vectors")),
        }
    };
    let indices = |name: &str| -> Result<Vec<u32>, String> {
        match arrays.get(name) {
            Some((kind, data)) if kind == "Int32" && data.len() % 4 == 0 => {
                Ok(data.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect())
            }
            _ => Err(format!("the array '{name}' is missing or not of integers")),
        }
    };
    let types = arrays.get("types").ok_or("the array 'types' is missing")?.1;
    let (connectivity, offsets) = (indices("connectivity")?, indices("offsets")?);
    let mut frame = Frame {
        time: *floats("TimeValue")?.first().ok_or("the time is missing")?,
        positions: vectors("points")?,
        cell_body: indices("body")?,
        displacement: vectors("displacement")?,
        velocity: vectors("velocity")?,
        contact_force: vectors("contact_force")?,
        von_mises: floats("von_mises")?,
        contact_reach: floats("contact_reach")?,
        ..Frame::default()
    };
    if types.len() != offsets.len() || frame.cell_body.len() != offsets.len() {
        return Err("the lists of cells differ in length".into());
    }
    if connectivity.iter().any(|v| *v as usize >= frame.positions.len()) {
        return Err("a cell refers to a vertex that does not exist".into());
    }
    let mut start = 0;
    for (kind, end) in types.iter().zip(&offsets) {
        let cell = connectivity.get(start as usize..*end as usize).unwrap_or_default();
        start = *end;
        match (*kind, cell) {
            (TET, &[a, b, c, d]) => frame.tets.push([a, b, c, d]),
            (TRIANGLE, &[a, b, c]) => frame.triangles.push([a, b, c]),
            (LINE, &[a, b]) => frame.edges.push([a, b]),
            (VERTEX, &[a]) => frame.points.push(a),
            _ => return Err("a cell is neither tetrahedron, triangle, line nor vertex".into()),
        }
    }
    frame.von_mises.truncate(frame.tets.len());
    Ok(frame)
}

fn arrays_of(bytes: &[u8]) -> Result<Arrays<'_>, String> {
    const MARK: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
    let head = bytes
        .windows(MARK.len())
        .position(|w| w == MARK)
        .ok_or("it is not a frame of standoff (no raw appended data)")?;
    let text = std::str::from_utf8(&bytes[..head]).map_err(|_| "its head is not text")?;
    let data = &bytes[head + MARK.len()..];
    let mut arrays = BTreeMap::new();
    for tag in text.split("<DataArray ").skip(1) {
        let attribute = |key: &str| -> Result<&str, String> {
            let start = tag.find(&format!("{key}=\"")).map(|k| k + key.len() + 2);
            let value = start.and_then(|s| tag[s..].split('"').next());
            value.ok_or_else(|| format!("an array has no {key}"))
        };
        let name = attribute("Name")?;
        let offset: usize =
            attribute("offset")?.parse().map_err(|_| "an offset is not a number")?;
        let array = offset.checked_add(8).and_then(|start| {
            let size = u64::from_le_bytes(data.get(offset..start)?.try_into().ok()?);
            data.get(start..start.checked_add(usize::try_from(size).ok()?)?)
        });
        let array = array.ok_or_else(|| format!("the array '{name}' is truncated"))?;
        arrays.insert(name.to_owned(), (attribute("type")?.to_owned(), array));
    }
    Ok(arrays)
}
