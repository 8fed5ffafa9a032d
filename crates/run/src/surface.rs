//! Surfaces as OBJ: one `o` per body, numbers that read back to the same bits.

use crate::{OutputError, Topology, write_atomically};
use standoff_linalg::Vec3;
use std::path::Path;

/// Writes the surfaces of all bodies at the given positions. Vertices inside of volumes are left
/// out; wires become `l`, bare points `p`.
pub(crate) fn write_surface(
    path: &Path,
    topology: &Topology,
    positions: &[Vec3],
) -> Result<(), OutputError> {
    let mut number = vec![0u32; positions.len()];
    let on_surface = topology.surface.iter().flatten();
    for v in on_surface.chain(topology.edges.iter().flatten()).chain(&topology.points) {
        number[*v as usize] = 1;
    }
    let mut count = 0;
    for n in number.iter_mut().filter(|n| **n == 1) {
        count += 1;
        *n = count;
    }
    write_atomically(path, |out| {
        for (p, _) in positions.iter().zip(&number).filter(|(_, n)| **n > 0) {
            writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
        }
        let (faces, edges, points) = (&topology.surface, &topology.edges, &topology.points);
        let cells =
            &topology.cell_body[topology.cells() - topology.edges.len() - topology.points.len()..];
        let mut faces = faces.iter();
        for (b, body) in topology.bodies.iter().enumerate() {
            let of_body = |(_, owner): &(_, &u32)| **owner as usize == b;
            writeln!(out, "o {}", body.name.replace(char::is_whitespace, "_"))?;
            for f in faces.by_ref().take(topology.surface_counts[b]) {
                let [i, j, k] = f.map(|v| number[v as usize]);
                writeln!(out, "f {i} {j} {k}")?;
            }
            for (e, _) in edges.iter().zip(cells).filter(|(_, owner)| **owner as usize == b) {
                let [i, j] = e.map(|v| number[v as usize]);
                writeln!(out, "l {i} {j}")?;
            }
            for (p, _) in points.iter().zip(&cells[edges.len()..]).filter(of_body) {
                writeln!(out, "p {}", number[*p as usize])?;
            }
        }
        Ok(())
    })
}
