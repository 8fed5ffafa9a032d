//! `.stl`, text and binary. Equal vertices are joined, bit by bit, in order of first appearance.

use super::scan::{Endian, Result, Scalar, Scanner};
use crate::Mesh;
use standoff_linalg::Vec3;
use std::path::Path;

const HEADER: usize = 80;
const RECORD: usize = 50;

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    // many binary files start with "solid" too: their length decides
    let announced = data
        .get(HEADER..)
        .and_then(|d| Scalar::U32.decode(d, Endian::Little))
        .and_then(|n| n.integer());
    let exact = announced.is_some_and(|n| n as u64 * RECORD as u64 + 84 == data.len() as u64);
    let text = data.trim_ascii_start().starts_with(b"solid") && !exact;
    let mut mesh = if text { read_text(&mut scan)? } else { read_binary(&mut scan)? };
    mesh.weld();
    // a facet whose corners are not three places has no area, and no normal of its own
    let collapsed = mesh.drop_collapsed();
    if collapsed > 0 {
        mesh.notes.push(format!("{collapsed} facets with equal corners are left out"));
    }
    Ok(mesh)
}

/// Appends a triangle of three new points.
fn push(mesh: &mut Mesh, corners: [Vec3; 3]) {
    let n = mesh.points.len() as u32;
    mesh.points.extend(corners);
    mesh.triangles.push([n, n + 1, n + 2]);
}

fn read_binary(scan: &mut Scanner<'_>) -> Result<Mesh> {
    let mut mesh = Mesh::default();
    scan.bytes(HEADER, "the header of 80 bytes of a binary STL file")?;
    let n = scan.binary(Scalar::U32, Endian::Little, "the number of triangles")?;
    let n = scan.count(n.integer().unwrap_or(0) as u64, RECORD, "triangles")?;
    mesh.points.reserve(3 * n);
    for _ in 0..n {
        scan.bytes(12, "a normal")?;
        let mut corners = [Vec3::zeros(); 3];
        for c in corners.iter_mut().flat_map(|p| p.iter_mut()) {
            *c = scan.binary(Scalar::F32, Endian::Little, "a coordinate")?.real();
            scan.finite(*c)?;
        }
        scan.bytes(2, "two bytes of attributes")?;
        push(&mut mesh, corners);
    }
    Ok(mesh)
}

fn read_text(scan: &mut Scanner<'_>) -> Result<Mesh> {
    let mut mesh = Mesh::default();
    scan.line();
    // an empty name after "endsolid" may be followed by another solid
    while let Some(word) = scan.word() {
        match word.to_ascii_lowercase().as_slice() {
            b"facet" => {
                scan.line();
                keyword(scan, "outer")?;
                keyword(scan, "loop")?;
                let mut corners = [Vec3::zeros(); 3];
                for p in &mut corners {
                    keyword(scan, "vertex")?;
                    *p = scan.point()?;
                }
                keyword(scan, "endloop")?;
                keyword(scan, "endfacet")?;
                push(&mut mesh, corners);
            }
            b"endsolid" | b"solid" => {
                scan.line();
            }
            _ => return Err(scan.unexpected(word, "\"facet\" or \"endsolid\"")),
        }
    }
    Ok(mesh)
}

fn keyword(scan: &mut Scanner<'_>, name: &str) -> Result<()> {
    let found = scan.text(name)?;
    if found.eq_ignore_ascii_case(name) {
        Ok(())
    } else {
        Err(scan.unexpected(found.as_bytes(), &format!("\"{name}\" (STL holds triangles only)")))
    }
}
