//! Wavefront `.obj`: `v`, `f`, `l`, `p`; one statement per line, `\` continues a line.

use super::cells::{Cell, Cells};
use super::scan::{Result, Scanner, parse, words};
use crate::{Mesh, MeshError};
use standoff_linalg::Vec3;
use std::fmt::Write as _;
use std::path::Path;

/// Statements without geometry of vertices, polygons, lines and points.
const SKIPPED: [&[u8]; 20] = [
    b"vt",
    b"vn",
    b"g",
    b"o",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
    b"trace_obj",
    b"ctech",
    b"stech",
    b"end",
    b"call",
];
/// Statements of free-form curves and surfaces.
const FREE_FORM: [&[u8]; 14] = [
    b"vp", b"curv", b"curv2", b"surf", b"cstype", b"deg", b"bmat", b"step", b"parm", b"trim",
    b"hole", b"scrv", b"sp", b"con",
];

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    let mut cells = Cells::default();
    // elements may name vertices that follow: add them at the end, remembering where they stand
    let mut elements: Vec<Element> = Vec::new();
    let mut indices: Vec<u32> = Vec::new();
    let mut joined = Vec::new();
    loop {
        let start = scan.pos();
        let Some(line) = logical_line(&mut scan, &mut joined) else { break };
        let mut fields = words(line);
        let cell = match fields.next() {
            None => continue,
            Some(w) if w.starts_with(b"#") => continue,
            Some(b"v") => {
                let p = vertex(&scan, &mut fields)?;
                cells.mesh.points.push(p);
                continue;
            }
            Some(b"f") => Cell::Polygon,
            Some(b"l") => Cell::Polyline,
            Some(b"p") => Cell::Points,
            Some(w) if SKIPPED.contains(&w) => continue,
            Some(w) if FREE_FORM.contains(&w) => {
                return Err(scan.error(
                    "free-form curves and surfaces are not supported",
                    "Export the surface as polygons",
                ));
            }
            Some(w) => return Err(scan.unexpected(w, "a statement of the OBJ format (v, f, …)")),
        };
        let from = indices.len();
        for field in fields {
            indices.push(index(&scan, field, cells.mesh.points.len())?);
        }
        elements.push((cell, from..indices.len(), start));
    }
    if elements.is_empty() {
        // a file of nothing but vertices is a cloud of points
        return Ok(cells.mesh.to_points());
    }
    add(&mut scan, &mut cells, elements, &indices)?;
    Ok(cells.mesh)
}

/// A kind of cell, where its indices are, and where it stands in the file.
type Element = (Cell, std::ops::Range<usize>, usize);

/// Adds elements, whose vertices are all known now.
fn add(
    scan: &mut Scanner<'_>,
    cells: &mut Cells,
    elements: Vec<Element>,
    indices: &[u32],
) -> Result<()> {
    let mut faces = 0;
    for (cell, range, start) in elements {
        faces += usize::from(cell == Cell::Polygon);
        cells.add(cell, &indices[range], 0).map_err(|wrong| {
            scan.seek(start);
            let hint = wrong.hint("Check the indices of this line; they count from 1").to_owned();
            match cell {
                Cell::Polygon => scan.error(format!("face {faces} (from 1): {}", wrong.what), hint),
                _ => scan.error(wrong.what, hint),
            }
        })?;
    }
    Ok(())
}

/// A line together with those that a trailing backslash joins to it.
fn logical_line<'b, 'a: 'b>(scan: &mut Scanner<'a>, joined: &'b mut Vec<u8>) -> Option<&'b [u8]> {
    let line = scan.line()?;
    let Some(mut part) = line.strip_suffix(b"\\") else { return Some(line) };
    joined.clear();
    loop {
        joined.extend_from_slice(part);
        joined.push(b' ');
        match scan.line().map(|next| (next, next.strip_suffix(b"\\"))) {
            Some((_, Some(continued))) => part = continued,
            Some((last, None)) => {
                joined.extend_from_slice(last);
                return Some(joined);
            }
            None => return Some(joined),
        }
    }
}

/// `x y z`, with a weight or a colour after it that is ignored.
pub(crate) fn vertex<'a>(
    scan: &Scanner<'_>,
    fields: &mut impl Iterator<Item = &'a [u8]>,
) -> std::result::Result<Vec3, MeshError> {
    let mut p = Vec3::zeros();
    for c in p.iter_mut() {
        let word = fields
            .next()
            .ok_or_else(|| scan.error("a vertex needs three coordinates", "Complete this line"))?;
        let value = parse(word).ok_or_else(|| scan.unexpected(word, "a coordinate"))?;
        *c = scan.finite(value)?;
    }
    Ok(p)
}

/// The vertex of a field `v`, `v/vt`, `v//vn` or `v/vt/vn`; from 1, or from −1 backwards.
fn index(scan: &Scanner<'_>, field: &[u8], points: usize) -> std::result::Result<u32, MeshError> {
    let word = field.split(|&b| b == b'/').next().unwrap_or(field);
    let number: i64 = parse(word).ok_or_else(|| scan.unexpected(field, "a vertex index"))?;
    let from_zero = match number {
        0 => None,
        n if n > 0 => u32::try_from(n - 1).ok(),
        n => n.checked_add(points as i64).and_then(|i| u32::try_from(i).ok()),
    };
    from_zero.ok_or_else(|| {
        scan.error(
            format!("there is no vertex {number}"),
            "Indices count from 1, or backwards from −1 for the vertex just defined",
        )
    })
}

/// The mesh as OBJ text: all points, the surface, wires and bare points.
pub(crate) fn text(mesh: &Mesh) -> String {
    let mut out = String::new();
    // writing to a string cannot fail
    for p in &mesh.points {
        let _ = writeln!(out, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in mesh.surface() {
        let _ = writeln!(out, "f {} {} {}", a as u64 + 1, b as u64 + 1, c as u64 + 1);
    }
    for [a, b] in &mesh.edges {
        let _ = writeln!(out, "l {} {}", *a as u64 + 1, *b as u64 + 1);
    }
    for v in &mesh.vertices {
        let _ = writeln!(out, "p {}", *v as u64 + 1);
    }
    out
}
