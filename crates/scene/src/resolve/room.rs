//! Whether a scene fits into the memory at all, before its copies are made.

use super::at::At;
use crate::error::SceneError;
use crate::file::ObjectSection;
use standoff_mesh::Mesh;

/// Bytes that every vertex and every element take at least in a simulation: positions, velocities and
/// masses in definition, model and state; indices and rest shape.
const VERTEX: f64 = 400.0;
const ELEMENT: f64 = 100.0;

/// Vertices that a scene may have: their indices have 32 bits.
const MOST_VERTICES: f64 = 2e9;

/// What the objects of a scene take, bytes, and what they may take.
#[derive(Default)]
pub(super) struct Room {
    taken: f64,
    /// Requested once, as the system takes its time.
    available: Option<Option<f64>>,
}

/// Refuses copies of a mesh that cannot fit beside the objects before them, to which they are added.
pub(super) fn require(
    object: &ObjectSection,
    mesh: &Mesh,
    copies: usize,
    room: &mut Room,
    at: &At<'_>,
) -> Result<(), SceneError> {
    let elements = mesh.tets.len() + mesh.triangles.len() + mesh.edges.len() + mesh.vertices.len();
    let (count, vertices) = (copies as f64, mesh.points.len() as f64);
    room.taken += count * (VERTEX * vertices + ELEMENT * elements as f64);
    let at = match (&object.array, &object.mesh) {
        (Some(_), _) => at.key("array").key("counts"),
        (None, Some(_)) => at.key("mesh"),
        (None, None) => at.key("shape"),
    };
    let size = format!("{copies} copies of {vertices} vertices and {elements} elements");
    if count * vertices > MOST_VERTICES {
        return Err(at.invalid(format!("{size} are more vertices than {MOST_VERTICES:e}")));
    }
    match *room.available.get_or_insert_with(available) {
        Some(bytes) if room.taken > bytes => Err(at.invalid(format!(
            "the scene needs more memory than there is: with {size} at least {:.1} GB of the {:.1} GB \
             that are available; take fewer copies or a coarser mesh",
            room.taken / 1e9,
            bytes / 1e9
        ))),
        _ => Ok(()),
    }
}

/// Memory that this process may still take, bytes, where the system says so: what is free, and what its
/// limit on the address space allows.
fn available() -> Option<f64> {
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
        Some(1024.0 * line.split_whitespace().nth(1)?.parse::<f64>().ok()?)
    });
    let limit = std::fs::read_to_string("/proc/self/limits").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("Max address space"))?;
        line.split_whitespace().nth(3)?.parse::<f64>().ok()
    });
    match (free, limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
