//! `.ply`, the polygon file format of Stanford: text and binary of either byte order.

use super::cells::{Cell, Cells};
use super::scan::{Endian, Number, Result, Scalar, Scanner, parse, words};
use crate::Mesh;
use standoff_linalg::Vec3;
use std::path::Path;

/// A property of an element.
struct Property {
    name: String,
    /// Type of the count that precedes a list.
    list: Option<Scalar>,
    scalar: Scalar,
}

struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

// long: an arm for each kind of element, then the cells that they make
pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    let (endian, elements) = header(&mut scan)?;
    let mut points = Vec::new();
    let (mut faces, mut face_vertices, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for element in &elements {
        // the smallest element: one number or a list without entries per property
        let least: usize = element
            .properties
            .iter()
            .map(|p| endian.map_or(2, |_| p.list.unwrap_or(p.scalar).size()))
            .sum();
        let n = scan.count(element.count, least, &format!("elements \"{}\"", element.name))?;
        // elements without properties take no bytes: nothing to read
        let n = if element.properties.is_empty() { 0 } else { n };
        match element.name.as_str() {
            "vertex" => vertices(&mut scan, endian, element, n, &mut points)?,
            "face" => {
                let list = element.properties.iter().position(|p| {
                    p.list.is_some() && (p.name == "vertex_indices" || p.name == "vertex_index")
                });
                for _ in 0..n {
                    let (start, at) = (face_vertices.len(), scan.next_pos(endian.is_some()));
                    values(&mut scan, endian, element, |k, v| {
                        if Some(k) == list {
                            face_vertices.push(v);
                        }
                    })?;
                    faces.push((start..face_vertices.len(), at));
                }
            }
            "edge" => {
                for _ in 0..n {
                    let (mut ends, at) =
                        ([Number::Integer(-1); 2], scan.next_pos(endian.is_some()));
                    values(&mut scan, endian, element, |k, v| {
                        match element.properties[k].name.as_str() {
                            "vertex1" => ends[0] = v,
                            "vertex2" => ends[1] = v,
                            _ => {}
                        }
                    })?;
                    edges.push((ends, at));
                }
            }
            _ => {
                for _ in 0..n {
                    values(&mut scan, endian, element, |_, _| {})?;
                }
            }
        }
    }
    let mut cells = Cells::new(points);
    let mut v = Vec::new();
    let all = faces
        .iter()
        .map(|(range, at)| (Cell::Polygon, &face_vertices[range.clone()], *at))
        .chain(edges.iter().map(|(ends, at)| (Cell::Polyline, &ends[..], *at)));
    for (k, (cell, list, at)) in all.enumerate() {
        v.clear();
        // an index that is none becomes one that is out of range
        v.extend(
            list.iter()
                .map(|n| n.integer().and_then(|i| u32::try_from(i).ok()).unwrap_or(u32::MAX)),
        );
        cells.add(cell, &v, 0).map_err(|wrong| {
            scan.point_at(at, endian.is_some());
            let hint = wrong.hint("Write the mesh again, with faces of three or more vertices");
            let hint = hint.to_owned();
            match cell {
                Cell::Polygon => scan.error(format!("face {k} (from 0): {}", wrong.what), hint),
                _ => scan.error(wrong.what, hint),
            }
        })?;
    }
    let mesh = cells.mesh;
    Ok(if faces.is_empty() && edges.is_empty() { mesh.to_points() } else { mesh })
}

/// The header: `None` for text, or the byte order, and the elements.
fn header(scan: &mut Scanner<'_>) -> Result<(Option<Endian>, Vec<Element>)> {
    if scan.line().is_none_or(|l| l.trim_ascii() != b"ply") {
        return Err(scan.error("the first line is not \"ply\"", "Is this a PLY file?"));
    }
    let mut endian = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let line = scan.line().ok_or_else(|| scan.truncated("\"end_header\""))?;
        let fields: Vec<&[u8]> = words(line).collect();
        match fields[..] {
            [] | [b"comment", ..] | [b"obj_info", ..] => {}
            [b"end_header"] => break,
            [b"format", b"ascii", _] => endian = None,
            [b"format", b"binary_little_endian", _] => endian = Some(Endian::Little),
            [b"format", b"binary_big_endian", _] => endian = Some(Endian::Big),
            [b"element", name, count] => elements.push(Element {
                name: String::from_utf8_lossy(name).into_owned(),
                count: parse(count).ok_or_else(|| scan.unexpected(count, "a number"))?,
                properties: Vec::new(),
            }),
            [b"property", ref rest @ ..] => {
                let (list, of, name) = match rest {
                    [b"list", count, of, name] => (Some(scalar(scan, count)?), of, name),
                    [of, name] => (None, of, name),
                    _ => return Err(scan.unexpected(line, "a property")),
                };
                let property = Property {
                    name: String::from_utf8_lossy(name).into_owned(),
                    list,
                    scalar: scalar(scan, of)?,
                };
                match elements.last_mut() {
                    Some(element) => element.properties.push(property),
                    None => return Err(scan.unexpected(line, "an element before its properties")),
                }
            }
            _ => return Err(scan.unexpected(line, "a line of a PLY header")),
        }
    }
    Ok((endian, elements))
}

fn scalar(scan: &Scanner<'_>, name: &[u8]) -> Result<Scalar> {
    Ok(match name {
        b"char" | b"int8" => Scalar::I8,
        b"uchar" | b"uint8" => Scalar::U8,
        b"short" | b"int16" => Scalar::I16,
        b"ushort" | b"uint16" => Scalar::U16,
        b"int" | b"int32" => Scalar::I32,
        b"uint" | b"uint32" => Scalar::U32,
        b"int64" => Scalar::I64,
        b"uint64" => Scalar::U64,
        b"float" | b"float32" => Scalar::F32,
        b"double" | b"float64" => Scalar::F64,
        _ => return Err(scan.unexpected(name, "a type of the PLY format")),
    })
}

fn vertices(
    scan: &mut Scanner<'_>,
    endian: Option<Endian>,
    element: &Element,
    n: usize,
    points: &mut Vec<Vec3>,
) -> Result<()> {
    let axis =
        |name: &str| element.properties.iter().position(|p| p.name == name && p.list.is_none());
    let (Some(x), Some(y), Some(z)) = (axis("x"), axis("y"), axis("z")) else {
        return Err(scan.error(
            "the vertices have no properties x, y and z",
            "Export the mesh with positions",
        ));
    };
    points.reserve(n);
    for _ in 0..n {
        let mut p = Vec3::zeros();
        values(scan, endian, element, |k, v| {
            for (c, axis) in [x, y, z].into_iter().enumerate() {
                if k == axis {
                    p[c] = v.real();
                }
            }
        })?;
        for c in p.iter() {
            scan.finite(*c)?;
        }
        points.push(p);
    }
    Ok(())
}

/// Reads one element and hands each value over with the index of its property.
fn values(
    scan: &mut Scanner<'_>,
    endian: Option<Endian>,
    element: &Element,
    mut take: impl FnMut(usize, Number),
) -> Result<()> {
    for (k, property) in element.properties.iter().enumerate() {
        let n = match property.list {
            None => 1,
            Some(count) => {
                let n = value(scan, endian, count)?.integer().unwrap_or(-1);
                let each = endian.map_or(2, |_| property.scalar.size());
                scan.count(u64::try_from(n).unwrap_or(u64::MAX), each, "entries of a list")?
            }
        };
        for _ in 0..n {
            take(k, value(scan, endian, property.scalar)?);
        }
    }
    Ok(())
}

fn value(scan: &mut Scanner<'_>, endian: Option<Endian>, scalar: Scalar) -> Result<Number> {
    match endian {
        Some(e) => scan.binary(scalar, e, "a value"),
        None if scalar.is_integer() => scan.parse("an integer").map(Number::Integer),
        None => scan.parse("a number").map(Number::Real),
    }
}
