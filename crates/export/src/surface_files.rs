//! A file for every frame: PLY (binary, double precision), OBJ (text that reads back to the same bits),
//! STL (binary, single precision).

use crate::{ExportError, ExportedBody, Sequence};
use standoff_linalg::Vec3;
use standoff_run::write_atomically;
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes the bodies at their positions.
type Writer = fn(&mut dyn Write, &[ExportedBody], &[Vec<Vec3>]) -> io::Result<()>;

pub(crate) fn write(
    sequence: &Sequence,
    files: &[PathBuf],
    writer: Writer,
) -> Result<(), ExportError> {
    let bodies = sequence.bodies();
    for (frame, file) in files.iter().enumerate() {
        let positions = sequence.positions(frame, 0..bodies.len())?;
        write_atomically(file, |out| writer(out, bodies, &positions))?;
    }
    Ok(())
}

/// Number of the first vertex of every body.
fn offsets(bodies: &[ExportedBody]) -> impl Iterator<Item = u32> {
    bodies.iter().scan(0, |next, body| {
        let first = *next;
        *next += body.vertices.len() as u32;
        Some(first)
    })
}

pub(crate) fn ply(out: &mut dyn Write, bodies: &[ExportedBody], x: &[Vec<Vec3>]) -> io::Result<()> {
    let vertices: usize = x.iter().map(Vec::len).sum();
    let faces: usize = bodies.iter().map(|b| b.triangles.len()).sum();
    let edges: usize = bodies.iter().map(|b| b.edges.len()).sum();
    writeln!(out, "ply\nformat binary_little_endian 1.0\ncomment metres")?;
    writeln!(out, "element vertex {vertices}")?;
    writeln!(out, "property double x\nproperty double y\nproperty double z\nproperty int body")?;
    writeln!(out, "element face {faces}\nproperty list uchar int vertex_indices")?;
    if edges > 0 {
        writeln!(out, "element edge {edges}\nproperty int vertex1\nproperty int vertex2")?;
    }
    writeln!(out, "end_header")?;
    for (k, positions) in x.iter().enumerate() {
        for p in positions {
            for c in p.iter() {
                out.write_all(&c.to_le_bytes())?;
            }
            out.write_all(&(k as u32).to_le_bytes())?;
        }
    }
    for (body, first) in bodies.iter().zip(offsets(bodies)) {
        for triangle in &body.triangles {
            out.write_all(&[3])?;
            triangle.iter().try_for_each(|v| out.write_all(&(v + first).to_le_bytes()))?;
        }
    }
    for (body, first) in bodies.iter().zip(offsets(bodies)) {
        let mut ends = body.edges.iter().flatten();
        ends.try_for_each(|v| out.write_all(&(v + first).to_le_bytes()))?;
    }
    Ok(())
}

pub(crate) fn obj(out: &mut dyn Write, bodies: &[ExportedBody], x: &[Vec<Vec3>]) -> io::Result<()> {
    writeln!(out, "# metres")?;
    for ((body, positions), first) in bodies.iter().zip(x).zip(offsets(bodies)) {
        writeln!(out, "o {}", body.name.replace(char::is_whitespace, "_"))?;
        for p in positions {
            writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for t in &body.triangles {
            let [a, b, c] = t.map(|v| v + first + 1);
            writeln!(out, "f {a} {b} {c}")?;
        }
        for e in &body.edges {
            let [a, b] = e.map(|v| v + first + 1);
            writeln!(out, "l {a} {b}")?;
        }
        for v in &body.points {
            writeln!(out, "p {}", v + first + 1)?;
        }
    }
    Ok(())
}

pub(crate) fn stl(out: &mut dyn Write, bodies: &[ExportedBody], x: &[Vec<Vec3>]) -> io::Result<()> {
    let faces: usize = bodies.iter().map(|b| b.triangles.len()).sum();
    let mut header = [b' '; 80];
    header[..24].copy_from_slice(b"standoff, metres, binary");
    out.write_all(&header)?;
    let count = u32::try_from(faces)
        .map_err(|_| io::Error::other("an STL file has 4,294,967,295 triangles at most"))?;
    out.write_all(&count.to_le_bytes())?;
    for (body, positions) in bodies.iter().zip(x) {
        for triangle in &body.triangles {
            let corners = triangle.map(|v| positions[v as usize]);
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
            let normal = normal.try_normalize(0.0).unwrap_or_default();
            for p in [normal, corners[0], corners[1], corners[2]] {
                for c in p.iter() {
                    out.write_all(&(*c as f32).to_le_bytes())?;
                }
            }
            out.write_all(&[0, 0])?;
        }
    }
    Ok(())
}
