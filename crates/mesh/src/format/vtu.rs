//! VTK XML `.vtu` (UnstructuredGrid) and `.vtp` (PolyData), serial: text, inline base64, appended
//! raw and base64 data, uncompressed or zlib. Writes text `.vtu`.

// long: one format: its tags, its encodings, its cells, and its writer

use super::base64::{Base64, Source};
use super::cells::{Cells, Wrong};
use super::scan::{Endian, Number, Result, Scalar, Scanner};
use super::vtk::{CELL_HINT, add_regions, cell_type};
use super::xml::{Tag, Tags};
use crate::Mesh;
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A data array as the file describes it.
struct Array {
    /// Enclosing tag: Points, Cells, Verts, Lines, Strips, Polys or CellData.
    section: String,
    name: String,
    scalar: Scalar,
    components: u64,
    format: String,
    /// Offset of its numbers: in the file, or in the appended data.
    offset: usize,
}

#[derive(Default)]
struct Piece {
    points: u64,
    /// Number of cells; of `Verts`, `Lines`, `Strips` and `Polys` together in a `.vtp`.
    cells: u64,
    arrays: Vec<Array>,
}

/// Numbers of a compressed array at most: those of as many tetrahedra as a mesh may have.
const MOST_COMPRESSED: u64 = 40_000_000;

struct File<'a> {
    scan: Scanner<'a>,
    data: &'a [u8],
    endian: Endian,
    /// Type of the numbers that head a block.
    header: Scalar,
    compressed: bool,
    /// Start of the appended data and whether they are base64.
    appended: Option<(usize, bool)>,
    pieces: Vec<Piece>,
}

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut file = File {
        scan: Scanner::new(path, data),
        data,
        endian: Endian::Little,
        header: Scalar::U32,
        compressed: false,
        appended: None,
        pieces: Vec::new(),
    };
    file.structure()?;
    let mut mesh = Cells::default();
    let mut labels: Vec<(&str, Vec<i64>, usize)> = Vec::new();
    let mut count = 0;
    for piece in &file.pieces {
        let first = mesh.mesh.points.len() as u32;
        file.points(piece, &mut mesh)?;
        let start = count;
        file.cells(piece, first, &mut mesh, &mut count)?;
        for array in piece.arrays.iter().filter(|a| a.section == "CellData") {
            if array.scalar.is_integer() && array.components == 1 {
                let values = file.integers(array, piece.cells)?;
                if values.len() == count - start {
                    match labels.iter_mut().find(|l| l.0 == array.name) {
                        Some(l) => l.1.extend(values),
                        None => labels.push((&array.name, values, start)),
                    }
                }
            }
        }
    }
    mesh.finish();
    for (name, values, start) in labels {
        // an array that some piece lacks labels nothing
        if start == 0 && values.len() == count {
            add_regions(&mut mesh, name, &values);
        }
    }
    Ok(mesh.mesh)
}

impl File<'_> {
    /// Reads the tags: kind of file, pieces and where their arrays are.
    // long: an arm for each tag
    fn structure(&mut self) -> Result<()> {
        let mut tags = Tags::new(self.data);
        let mut section = String::new();
        let mut root = false;
        while let Some(tag) = tags.next(&mut self.scan)? {
            match tag.name.as_str() {
                "VTKFile" => {
                    root = true;
                    self.root(&tag)?;
                }
                "Piece" => {
                    let points = tag.get("NumberOfPoints").and_then(|n| n.trim().parse().ok());
                    let Some(points) = points else {
                        return Err(self
                            .scan
                            .error("a piece without NumberOfPoints", "Write the file again"));
                    };
                    const CELLS: [&str; 5] = [
                        "NumberOfCells",
                        "NumberOfVerts",
                        "NumberOfLines",
                        "NumberOfStrips",
                        "NumberOfPolys",
                    ];
                    let counts = CELLS.iter().filter_map(|key| tag.get(key));
                    let cells = counts.filter_map(|n| n.trim().parse::<u64>().ok());
                    let cells = cells.fold(0, u64::saturating_add);
                    self.pieces.push(Piece { points, cells, arrays: Vec::new() });
                }
                "Points" | "Cells" | "Verts" | "Lines" | "Strips" | "Polys" | "CellData"
                | "PointData" | "FieldData" => section = tag.name,
                "DataArray" | "Array" if section == "PointData" || section == "FieldData" => {}
                "DataArray" => self.array(&tag, &section)?,
                "AppendedData" => {
                    let base64 = match tag.get("encoding") {
                        Some("raw") => false,
                        Some("base64") => true,
                        _ => {
                            return Err(self.scan.error(
                                "unknown encoding of the appended data",
                                "Known are raw and base64",
                            ));
                        }
                    };
                    self.scan.seek(tag.end);
                    let Some(start) = self.scan.find(b"_") else {
                        return Err(self.scan.truncated("_ and the appended data"));
                    };
                    self.appended = Some((start + 1, base64));
                    break;
                }
                _ => {}
            }
        }
        if !root {
            return Err(self.scan.error("there is no tag <VTKFile>", "Is this a VTK XML file?"));
        }
        Ok(())
    }

    fn root(&mut self, tag: &Tag) -> Result<()> {
        let kind = tag.get("type").unwrap_or_default();
        if kind != "UnstructuredGrid" && kind != "PolyData" {
            return Err(self.scan.error(
                format!("a VTK file of type \"{kind}\" is not supported"),
                "Save as UnstructuredGrid (.vtu) or PolyData (.vtp)",
            ));
        }
        if tag.get("byte_order") == Some("BigEndian") {
            self.endian = Endian::Big;
        }
        match tag.get("header_type") {
            None | Some("UInt32") => {}
            Some("UInt64") => self.header = Scalar::U64,
            Some(other) => {
                return Err(self.scan.error(
                    format!("header_type \"{other}\" is not supported"),
                    "Known are UInt32 and UInt64",
                ));
            }
        }
        match tag.get("compressor") {
            None | Some("") => {}
            Some("vtkZLibDataCompressor") => self.compressed = true,
            Some(other) => {
                return Err(self.scan.error(
                    format!("the compression {other} is not supported"),
                    "Save uncompressed or with zlib",
                ));
            }
        }
        Ok(())
    }

    fn array(&mut self, tag: &Tag, section: &str) -> Result<()> {
        let Some(piece) = self.pieces.last_mut() else { return Ok(()) };
        let scalar = match tag.get("type") {
            Some("Int8") => Scalar::I8,
            Some("UInt8") => Scalar::U8,
            Some("Int16") => Scalar::I16,
            Some("UInt16") => Scalar::U16,
            Some("Int32") => Scalar::I32,
            Some("UInt32") => Scalar::U32,
            Some("Int64") => Scalar::I64,
            Some("UInt64") => Scalar::U64,
            Some("Float32") => Scalar::F32,
            Some("Float64") => Scalar::F64,
            // texts and other things label no region
            _ if section == "CellData" => return Ok(()),
            other => {
                return Err(self.scan.error(
                    format!("an array of type \"{}\"", other.unwrap_or_default()),
                    "Known are Int8 to UInt64, Float32 and Float64",
                ));
            }
        };
        let format = tag.get("format").unwrap_or("ascii");
        let offset = match format {
            "appended" => tag.get("offset").and_then(|o| o.trim().parse().ok()),
            // an empty tag has no text: nothing stands before the next "<"
            "ascii" | "binary" => Some(if tag.empty { tag.start } else { tag.end }),
            _ => None,
        };
        let Some(offset) = offset else {
            return Err(self.scan.error(
                format!("an array of format \"{format}\", or without offset"),
                "Known are ascii, binary and appended",
            ));
        };
        let components = tag.get("NumberOfComponents").and_then(|n| n.trim().parse().ok());
        piece.arrays.push(Array {
            section: section.to_owned(),
            name: tag.get("Name").unwrap_or_default().to_owned(),
            scalar,
            components: components.unwrap_or(1),
            format: format.to_owned(),
            offset,
        });
        Ok(())
    }

    fn points(&self, piece: &Piece, mesh: &mut Cells) -> Result<()> {
        let Some(array) = piece.arrays.iter().find(|a| a.section == "Points") else {
            return if piece.points == 0 {
                Ok(())
            } else {
                Err(self.scan.error("a piece without the array of Points", "Write it again"))
            };
        };
        let numbers = self.numbers(array, piece.points.saturating_mul(3))?;
        if numbers.len() as u64 != piece.points.saturating_mul(3) {
            return Err(self.error_at(
                array,
                format!("{} coordinates for {} points", numbers.len(), piece.points),
            ));
        }
        for c in numbers.chunks_exact(3) {
            let p = Vec3::new(c[0].real(), c[1].real(), c[2].real());
            if !p.iter().all(|c| c.is_finite()) {
                return Err(self.error_at(array, "a coordinate is not a finite number"));
            }
            mesh.mesh.points.push(p);
        }
        Ok(())
    }

    // long: one check after the other on the way from arrays to cells
    fn cells(&self, piece: &Piece, first: u32, mesh: &mut Cells, count: &mut usize) -> Result<()> {
        for section in ["Cells", "Verts", "Lines", "Strips", "Polys"] {
            let find = |name| {
                piece.arrays.iter().find(|a: &&Array| a.section == section && a.name == name)
            };
            let (Some(connectivity), Some(offsets)) = (find("connectivity"), find("offsets"))
            else {
                continue;
            };
            let ends = self.integers(offsets, piece.cells)?;
            let most = ends.iter().copied().max().unwrap_or(0);
            let vertices = self.integers(connectivity, u64::try_from(most).unwrap_or(0))?;
            let types = match (section, find("types")) {
                ("Cells", Some(types)) => self.integers(types, piece.cells)?,
                ("Cells", None) => {
                    return Err(self.error_at(offsets, "cells without the array \"types\""));
                }
                (other, _) => {
                    let number = match other {
                        "Verts" => 2,
                        "Lines" => 4,
                        "Strips" => 6,
                        _ => 7,
                    };
                    vec![number; ends.len()]
                }
            };
            if types.len() != ends.len() {
                let what = format!("{} cells, but {} types", ends.len(), types.len());
                return Err(self.error_at(offsets, what));
            }
            let mut from = 0;
            let mut list: Vec<u32> = Vec::new();
            for (&end, &number) in ends.iter().zip(&types) {
                let range = usize::try_from(end).ok().and_then(|end| vertices.get(from..end));
                let Some(range) = range else {
                    return Err(self.error_at(offsets, format!("offset {end} is out of range")));
                };
                from = end as usize;
                list.clear();
                list.extend(range.iter().map(|&v| {
                    let v = u32::try_from(v).ok().and_then(|v| v.checked_add(first));
                    v.unwrap_or(u32::MAX)
                }));
                let added = cell_type(number)
                    .map_err(Wrong::from)
                    .and_then(|c| mesh.add(c, &list, *count as u32));
                added.map_err(|wrong| {
                    let mut scan = self.scan.clone();
                    scan.point_at(self.place(connectivity), connectivity.format == "appended");
                    let hint = wrong.hint(CELL_HINT).to_owned();
                    scan.error(format!("cell {count}: {}", wrong.what), hint)
                })?;
                *count += 1;
            }
        }
        Ok(())
    }

    /// Where an array's numbers start in the file.
    fn place(&self, array: &Array) -> usize {
        match (array.format.as_str(), self.appended) {
            ("appended", Some((start, _))) => start.saturating_add(array.offset),
            _ => array.offset,
        }
    }

    fn error_at(&self, array: &Array, what: impl Into<String>) -> crate::MeshError {
        let mut scan = self.scan.clone();
        scan.point_at(self.place(array), array.format == "appended");
        let (section, name) = (&array.section, &array.name);
        scan.error(
            format!("array \"{name}\" of {section}: {}", what.into()),
            "The file is damaged: write it again",
        )
    }

    fn integers(&self, array: &Array, most: u64) -> Result<Vec<i64>> {
        let integers: Option<Vec<i64>> =
            self.numbers(array, most)?.into_iter().map(Number::integer).collect();
        integers.ok_or_else(|| self.error_at(array, "a number that is not an integer"))
    }

    /// All numbers of an array, of which there are at most `most` by what the file says elsewhere. Compressed
    /// data become no more than that: they may hold a thousand times their size.
    fn numbers(&self, array: &Array, most: u64) -> Result<Vec<Number>> {
        let place = self.place(array);
        let rest = self.data.get(place..).unwrap_or_default();
        if array.format == "ascii" {
            return self.text_numbers(array, place);
        }
        let base64 = match (array.format.as_str(), self.appended) {
            ("appended", Some((_, base64))) => base64,
            ("appended", None) => return Err(self.error_at(array, "there are no appended data")),
            _ => true,
        };
        let mut source = if base64 { Source::Base64(Base64::new(rest)) } else { Source::Raw(rest) };
        let size = array.scalar.size();
        let most = most.min(MOST_COMPRESSED) as usize * size;
        let bytes = self.block(&mut source, most).map_err(|what| self.error_at(array, what))?;
        Ok(bytes.chunks_exact(size).filter_map(|b| array.scalar.decode(b, self.endian)).collect())
    }

    fn text_numbers(&self, array: &Array, place: usize) -> Result<Vec<Number>> {
        let mut scan = self.scan.clone();
        scan.seek(place);
        let end = scan.find(b"<").unwrap_or(self.data.len());
        let mut numbers = Vec::new();
        let mut text = scan.clone();
        text.limit(end);
        while text.peek_word().is_some() {
            numbers.push(if array.scalar.is_integer() {
                text.parse("an integer").map(Number::Integer)?
            } else {
                text.parse("a number").map(Number::Real)?
            });
        }
        Ok(numbers)
    }

    /// Bytes of a block: a header with its length, or with the lengths of its compressed parts, which become
    /// at most `most`.
    fn block(&self, source: &mut Source<'_>, most: usize) -> std::result::Result<Vec<u8>, String> {
        let number = |source: &mut Source<'_>| {
            let bytes = source.take(self.header.size())?;
            let n = self.header.decode(&bytes, self.endian).and_then(|n| n.integer());
            n.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| "a bad header".to_string())
        };
        if !self.compressed {
            let n = number(source)?;
            return source.take(n);
        }
        let parts = number(source)?;
        if parts == 0 {
            return Ok(Vec::new());
        }
        let (whole, last) = (number(source)?, number(source)?);
        let sizes: Vec<usize> = {
            let mut sizes = Vec::new();
            for _ in 0..parts {
                sizes.push(number(source)?);
            }
            sizes
        };
        let mut out = Vec::new();
        for (k, &size) in sizes.iter().enumerate() {
            let compressed = source.take(size)?;
            let expected = if k + 1 == parts && last > 0 { last } else { whole };
            if expected > most - out.len() {
                return Err(format!("it has more than the {most} bytes that the file announces"));
            }
            let part =
                miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&compressed, expected)
                    .map_err(|e| {
                        format!("part {k} cannot be decompressed ({})", e.status as i32)
                    })?;
            out.extend(part);
        }
        Ok(out)
    }
}

/// Integer arrays on the elements of a mesh, in the order of [`text`]: its regions `array=value`, where they say which value each cell has.
fn labels(mesh: &Mesh, count: usize) -> BTreeMap<&str, Vec<i64>> {
    let mut arrays: BTreeMap<&str, Vec<Option<i64>>> = BTreeMap::new();
    let (triangles, edges) = (mesh.tets.len(), mesh.tets.len() + mesh.triangles.len());
    for region in &mesh.regions {
        let Some((array, value)) = region.name.rsplit_once('=') else { continue };
        let Ok(value) = value.parse() else { continue };
        if array.contains(['&', '<', '>', '"']) {
            continue;
        }
        let values = arrays.entry(array).or_insert_with(|| vec![None; count]);
        for (first, list) in
            [(0, &region.tets), (triangles, &region.triangles), (edges, &region.edges)]
        {
            for &e in list {
                if let Some(of) = values.get_mut(first + e as usize) {
                    *of = Some(value);
                }
            }
        }
    }
    let complete = |(name, values): (_, Vec<Option<i64>>)| {
        Some((name, values.into_iter().collect::<Option<Vec<i64>>>()?))
    };
    arrays.into_iter().filter_map(complete).collect()
}

/// The integer arrays of a mesh as `.vtu` text.
fn cell_data(mesh: &Mesh, cells: &[(u8, Vec<u32>, usize)]) -> String {
    let elements = mesh.tets.len() + mesh.triangles.len() + mesh.edges.len() + mesh.vertices.len();
    let arrays = labels(mesh, elements).into_iter().map(|(name, values)| {
        let body: String = cells.iter().map(|(_, _, e)| format!("{}\n", values[*e])).collect();
        array("Int64", &format!("Name=\"{name}\""), &body)
    });
    match arrays.collect::<String>() {
        none if none.is_empty() => none,
        some => format!("<CellData>\n{some}</CellData>\n"),
    }
}

fn array(kind: &str, head: &str, body: &str) -> String {
    format!("<DataArray type=\"{kind}\" {head} format=\"ascii\">\n{body}</DataArray>\n")
}

/// The cells of a mesh in the order of [`text`]: VTK's type, vertices, and the number among its elements.
fn cells(mesh: &Mesh) -> Vec<(u8, Vec<u32>, usize)> {
    let mut all = Vec::new();
    for (t, tet) in mesh.tets.iter().enumerate() {
        all.push(match mesh.middles.get(t) {
            Some(middles) => (24, [&tet[..], middles].concat(), t),
            None => (10, tet.to_vec(), t),
        });
    }
    let first = mesh.tets.len();
    let mut t = 0;
    while let Some(triangle) = mesh.triangles.get(t) {
        // what a file has as one triangle of six nodes is written as such
        let whole = || {
            mesh.divided.binary_search(&(t as u32)).ok()?;
            quadratic::join_faces(mesh.triangles.get(t..t + 4)?).0.first().copied()
        };
        let nodes = whole();
        all.push(match (nodes, mesh.triangle_middles.get(t)) {
            (Some(nodes), _) => (22, nodes.to_vec(), first + t),
            (None, Some(middles)) => (22, [&triangle[..], middles].concat(), first + t),
            (None, None) => (5, triangle.to_vec(), first + t),
        });
        t += if nodes.is_some() { 4 } else { 1 };
    }
    let first = first + mesh.triangles.len();
    all.extend(mesh.edges.iter().enumerate().map(|(e, v)| (3, v.to_vec(), first + e)));
    let first = first + mesh.edges.len();
    all.extend(mesh.vertices.iter().enumerate().map(|(p, v)| (1, vec![*v], first + p)));
    all
}

/// The mesh as `.vtu` text: tetrahedra, triangles, wires, points, in this order, with those of its regions that are labels of all cells.
pub(crate) fn text(mesh: &Mesh) -> String {
    let all = cells(mesh);
    let cells = all.len();
    let (mut points, mut connectivity) = (String::new(), String::new());
    let (mut offsets, mut types) = (String::new(), String::new());
    // writing to a string cannot fail
    for p in &mesh.points {
        let _ = writeln!(points, "{} {} {}", p.x, p.y, p.z);
    }
    let mut end = 0;
    for (kind, vertices, _) in &all {
        for i in vertices {
            let _ = write!(connectivity, "{i} ");
        }
        connectivity.push('\n');
        end += vertices.len();
        let _ = writeln!(offsets, "{end}");
        let _ = writeln!(types, "{kind}");
    }
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">\n<Points>\n{}</Points>\n\
         <Cells>\n{}{}{}</Cells>\n{}</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
        mesh.points.len(),
        array("Float64", "Name=\"Points\" NumberOfComponents=\"3\"", &points),
        array("Int64", "Name=\"connectivity\"", &connectivity),
        array("Int64", "Name=\"offsets\"", &offsets),
        array("UInt8", "Name=\"types\"", &types),
        cell_data(mesh, &all),
    )
}
