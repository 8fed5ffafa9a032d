//! Legacy VTK `.vtk`: `UNSTRUCTURED_GRID` and `POLYDATA`, text and binary (big-endian), file
//! versions 1 to 5.1. What all VTK formats share (cell types, regions of cell data) is here too.

// long: one function for each section of the format, and what all VTK formats share

use super::cells::{Cell, Cells, Wrong};
use super::scan::{Endian, Number, Result, Scalar, Scanner, parse, words};
use super::solids::SolidCell;
use crate::Mesh;
use standoff_geometry::division::Solid;
use standoff_linalg::Vec3;
use std::path::Path;

/// Most distinct values of an integer cell array that still counts as labels of regions; more
/// are taken for numbers of elements.
const MOST_REGIONS: usize = 256;

/// Numbers from 0: the order of most solids is ours.
const ORDER: [usize; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
const VOXEL: &[usize] = &[0, 1, 3, 2, 4, 5, 7, 6];
/// A hexahedron of 27 nodes, with the centres of the faces at both ends of x, y and z; ours are in the order of [`Solid::faces`].
const TRIQUADRATIC: &[usize] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 24, 25, 22, 21, 23, 20,
    26,
];
/// A wedge of 18 nodes.
const BIQUADRATIC_WEDGE: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

/// A solid with the nodes of the file in an order.
const fn solid(of: Solid, order: &'static [usize]) -> Cell {
    // the manual of VTK says that the normal of the first triangle of a wedge points outwards, its formulas that it points inwards
    Cell::Solid(SolidCell { either: matches!(of, Solid::Wedge), ..SolidCell::new(of, order) })
}

/// Shape of a VTK cell type.
pub(super) fn cell_type(number: i64) -> std::result::Result<Cell, String> {
    let other = match number {
        1 | 2 => return Ok(Cell::Points),
        3 | 4 => return Ok(Cell::Polyline),
        5 | 7 | 9 => return Ok(Cell::Polygon),
        6 => return Ok(Cell::Strip),
        8 => return Ok(Cell::Pixel),
        10 => return Ok(Cell::Tet),
        21 => return Ok(Cell::QuadraticEdge),
        22 => return Ok(Cell::QuadraticTriangle),
        24 => return Ok(Cell::QuadraticTet),
        11 => return Ok(solid(Solid::Hexahedron, VOXEL)),
        12 => return Ok(solid(Solid::Hexahedron, ORDER.split_at(8).0)),
        13 => return Ok(solid(Solid::Wedge, ORDER.split_at(6).0)),
        14 => return Ok(solid(Solid::Pyramid, ORDER.split_at(5).0)),
        23 | 28 => return Ok(Cell::QuadraticQuadrangle),
        25 => return Ok(solid(Solid::Hexahedron, &ORDER)),
        26 => return Ok(solid(Solid::Wedge, ORDER.split_at(15).0)),
        27 => return Ok(solid(Solid::Pyramid, ORDER.split_at(13).0)),
        29 => return Ok(solid(Solid::Hexahedron, TRIQUADRATIC)),
        32 => return Ok(solid(Solid::Wedge, BIQUADRATIC_WEDGE)),
        15 | 16 => "prisms",
        42 => "polyhedra",
        21..=37 | 60..=81 => "other cells of higher order",
        n => return Err(format!("cell type {n} is unknown")),
    };
    Err(format!("{other} (cell type {number}) are not supported"))
}

/// What to do about a cell that is not supported.
pub(super) const CELL_HINT: &str =
    "Convert to cells of order 1 or 2, or to tetrahedra (ParaView: Tetrahedralize)";

/// Makes a region `name=value` of each value of an integer array over the cells.
pub(super) fn add_regions(cells: &mut Cells, name: &str, values: &[i64]) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() <= MOST_REGIONS {
        cells.add_regions(|cell| values.get(cell as usize).copied(), |v| format!("{name}={v}"));
    }
}

/// Cells of one section.
struct List {
    /// Their shape, unless CELL_TYPES says it.
    cell: Option<Cell>,
    cells: Vec<Vec<u32>>,
    /// Where the section starts, for errors.
    at: usize,
}

struct Reader<'a> {
    scan: Scanner<'a>,
    binary: bool,
    cells: Cells,
    /// Cells, until their types are known.
    lists: Vec<List>,
    types: Vec<i64>,
    /// Number of cells.
    count: usize,
}

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    let first = scan.line().unwrap_or_default();
    if !first.starts_with(b"# vtk DataFile Version") {
        return Err(scan.unexpected(first, "\"# vtk DataFile Version …\""));
    }
    scan.line();
    let encoding = scan.text("ASCII or BINARY")?;
    let binary = match encoding.to_ascii_uppercase().as_str() {
        "ASCII" => false,
        "BINARY" => true,
        _ => return Err(scan.unexpected(encoding.as_bytes(), "ASCII or BINARY")),
    };
    let mut reader = Reader {
        scan,
        binary,
        cells: Cells::default(),
        lists: Vec::new(),
        types: Vec::new(),
        count: 0,
    };
    reader.data_set()?;
    Ok(reader.cells.mesh)
}

fn scalar(scan: &Scanner<'_>, name: &str) -> Result<Scalar> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "char" | "signed_char" | "vtktypeint8" => Scalar::I8,
        "unsigned_char" | "vtktypeuint8" => Scalar::U8,
        "short" | "vtktypeint16" => Scalar::I16,
        "unsigned_short" | "vtktypeuint16" => Scalar::U16,
        "int" | "vtkidtype" | "vtktypeint32" => Scalar::I32,
        "unsigned_int" | "vtktypeuint32" => Scalar::U32,
        "long" | "vtktypeint64" => Scalar::I64,
        "unsigned_long" | "vtktypeuint64" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => return Err(scan.unexpected(name.as_bytes(), "a data type (float, int, …)")),
    })
}

impl Reader<'_> {
    fn data_set(&mut self) -> Result<()> {
        let mut attributes = false;
        while let Some(word) = self.scan.word() {
            match word.to_ascii_uppercase().as_slice() {
                b"DATASET" => {
                    let kind = self.scan.text("the kind of data set")?;
                    if !["UNSTRUCTURED_GRID", "POLYDATA"]
                        .contains(&kind.to_ascii_uppercase().as_str())
                    {
                        return Err(self.scan.error(
                            format!("the data set {kind} is not supported"),
                            "Save as UNSTRUCTURED_GRID or POLYDATA",
                        ));
                    }
                }
                b"POINTS" => self.points()?,
                b"CELLS" => self.list(None)?,
                b"CELL_TYPES" => self.cell_types()?,
                b"VERTICES" => self.list(Some(Cell::Points))?,
                b"LINES" => self.list(Some(Cell::Polyline))?,
                b"POLYGONS" => self.list(Some(Cell::Polygon))?,
                b"TRIANGLE_STRIPS" => self.list(Some(Cell::Strip))?,
                b"METADATA" => self.metadata(),
                b"FIELD" => drop(self.field(None)?),
                b"POINT_DATA" | b"CELL_DATA" => {
                    attributes = true;
                    self.finish()?;
                    self.attributes(word.eq_ignore_ascii_case(b"CELL_DATA"))?;
                    break;
                }
                _ => return Err(self.scan.unexpected(word, "a section (POINTS, CELLS, …)")),
            }
        }
        if !attributes {
            self.finish()?;
        }
        Ok(())
    }

    /// `n` numbers of a type; in text a `wide` type may be read as real.
    fn numbers(&mut self, scalar: Scalar, n: u64, what: &str) -> Result<Vec<Number>> {
        let each = if self.binary { scalar.size() } else { 2 };
        let n = self.scan.count(n, each, what)?;
        (0..n)
            .map(|_| {
                if self.binary {
                    self.scan.binary(scalar, Endian::Big, what)
                } else if scalar.is_integer() {
                    self.scan.parse(what).map(Number::Integer)
                } else {
                    self.scan.parse(what).map(Number::Real)
                }
            })
            .collect()
    }

    fn integers(&mut self, scalar: Scalar, n: u64, what: &str) -> Result<Vec<i64>> {
        let numbers = self.numbers(scalar, n, what)?;
        numbers
            .into_iter()
            .map(|v| {
                v.integer()
                    .ok_or_else(|| self.scan.error(format!("{what}: not an integer"), CELL_HINT))
            })
            .collect()
    }

    fn points(&mut self) -> Result<()> {
        let n: u64 = self.scan.parse("the number of points")?;
        let name = self.scan.text("a data type")?;
        let scalar = scalar(&self.scan, name)?;
        self.scan.line();
        let numbers = self.numbers(scalar, n.saturating_mul(3), "coordinates")?;
        for v in &numbers {
            self.scan.finite(v.real())?;
        }
        self.cells.mesh.points = numbers
            .chunks_exact(3)
            .map(|c| Vec3::new(c[0].real(), c[1].real(), c[2].real()))
            .collect();
        Ok(())
    }

    /// Cells as lists of vertices: `count i j …` each, or from version 5 on offsets and indices.
    fn list(&mut self, cell: Option<Cell>) -> Result<()> {
        let n: u64 = self.scan.parse("the number of cells")?;
        let size: u64 = self.scan.parse("the number of entries")?;
        let at = self.scan.pos();
        self.scan.line();
        let mut cells = Vec::new();
        if self.scan.peek_word() == Some(b"OFFSETS") {
            let offsets = self.named("OFFSETS", n)?;
            let entries = self.named("CONNECTIVITY", size)?;
            for w in offsets.windows(2) {
                let range = usize::try_from(w[0]).ok().zip(usize::try_from(w[1]).ok());
                let list = range.and_then(|(a, b)| entries.get(a..b)).ok_or_else(|| {
                    self.scan.error("an offset is out of range", "Write the file again")
                })?;
                cells.push(list.iter().map(|&v| vertex(v)).collect());
            }
        } else {
            let entries = self.integers(Scalar::I32, size, "entries of cells")?;
            let mut rest = &entries[..];
            for _ in 0..n {
                let list = rest
                    .split_first()
                    .and_then(|(&k, tail)| Some((usize::try_from(k).ok()?, tail)))
                    .and_then(|(k, tail)| tail.split_at_checked(k));
                let Some((list, tail)) = list else {
                    return Err(self.scan.error(
                        "the entries of the cells do not match their number",
                        "Write the file again",
                    ));
                };
                cells.push(list.iter().map(|&v| vertex(v)).collect());
                rest = tail;
            }
        }
        self.lists.push(List { cell, cells, at });
        Ok(())
    }

    fn named(&mut self, name: &str, n: u64) -> Result<Vec<i64>> {
        let found = self.scan.text(name)?;
        if found != name {
            return Err(self.scan.unexpected(found.as_bytes(), name));
        }
        let of = self.scan.text("a data type")?;
        let scalar = scalar(&self.scan, of)?;
        self.scan.line();
        self.integers(scalar, n, name)
    }

    fn cell_types(&mut self) -> Result<()> {
        let n: u64 = self.scan.parse("the number of cells")?;
        self.scan.line();
        self.types = self.integers(Scalar::I32, n, "cell types")?;
        Ok(())
    }

    /// Builds the elements from the lists and, in an unstructured grid, the types.
    fn finish(&mut self) -> Result<()> {
        for list in std::mem::take(&mut self.lists) {
            let cells = list.cells.len();
            if list.cell.is_none() && cells != self.types.len() {
                self.scan.point_at(list.at, self.binary);
                return Err(self.scan.error(
                    format!("{cells} cells, but {} cell types", self.types.len()),
                    "Write the file again",
                ));
            }
            for (k, v) in list.cells.iter().enumerate() {
                let cell = list.cell.map_or_else(|| cell_type(self.types[k]), Ok);
                let added =
                    cell.map_err(Wrong::from).and_then(|c| self.cells.add(c, v, self.count as u32));
                added.map_err(|wrong| {
                    self.scan.point_at(list.at, self.binary);
                    let hint = wrong.hint(CELL_HINT).to_owned();
                    self.scan.error(format!("cell {}: {}", self.count, wrong.what), hint)
                })?;
                self.count += 1;
            }
        }
        self.cells.finish();
        Ok(())
    }

    /// Skips a block of metadata, which ends at an empty line.
    fn metadata(&mut self) {
        self.scan.line();
        while self.scan.line().is_some_and(|l| !l.trim_ascii().is_empty()) {}
    }

    /// Data on points and cells: integer arrays of one component on cells become regions.
    // long: an arm for each attribute of the format
    fn attributes(&mut self, mut on_cells: bool) -> Result<()> {
        let mut n: u64 = self.scan.parse("the number of values")?;
        while let Some(word) = self.scan.word() {
            let word = word.to_ascii_uppercase();
            match word.as_slice() {
                b"POINT_DATA" | b"CELL_DATA" => {
                    on_cells = word == b"CELL_DATA";
                    n = self.scan.parse("the number of values")?;
                }
                b"METADATA" => self.metadata(),
                b"FIELD" => {
                    for (name, values) in self.field(on_cells.then_some(n))? {
                        self.region(&name, &values);
                    }
                }
                b"SCALARS" => {
                    let line = self.scan.line().unwrap_or_default();
                    let fields: Vec<&[u8]> = words(line).collect();
                    let (name, of) = match fields[..] {
                        [name, of, ..] => (decode(name), String::from_utf8_lossy(of)),
                        _ => return Err(self.scan.unexpected(line, "a name and a type")),
                    };
                    let components = fields.get(2).and_then(|w| parse(w)).unwrap_or(1);
                    let scalar = scalar(&self.scan, &of)?;
                    if self.scan.peek_word() == Some(b"LOOKUP_TABLE") {
                        self.scan.word();
                        self.scan.line();
                    }
                    let values = self.array(scalar, components, n)?;
                    if on_cells {
                        self.region(&name, &values);
                    }
                }
                b"VECTORS" | b"NORMALS" | b"TENSORS" | b"TENSORS6" | b"GLOBAL_IDS"
                | b"PEDIGREE_IDS" => {
                    let components = match word.as_slice() {
                        b"VECTORS" | b"NORMALS" => 3,
                        b"TENSORS" => 9,
                        b"TENSORS6" => 6,
                        _ => 1,
                    };
                    self.scan.text("a name")?;
                    let of = self.scan.text("a data type")?;
                    let scalar = scalar(&self.scan, of)?;
                    self.scan.line();
                    self.array(scalar, components, n)?;
                }
                _ => {
                    // the mesh itself is complete: an unknown attribute ends the reading
                    self.cells.mesh.notes.push(format!(
                        "attributes from \"{}\" on are not read",
                        String::from_utf8_lossy(&word[..word.len().min(40)])
                    ));
                    break;
                }
            }
        }
        Ok(())
    }

    fn region(&mut self, name: &str, values: &Option<Vec<i64>>) {
        if let Some(values) = values {
            add_regions(&mut self.cells, name, values);
        }
    }

    /// Reads an array; its values where it has one integer per cell.
    fn array(&mut self, scalar: Scalar, components: u64, n: u64) -> Result<Option<Vec<i64>>> {
        let values = self.numbers(scalar, components.saturating_mul(n), "values")?;
        let labels = scalar.is_integer() && components == 1 && values.len() == self.count;
        Ok(labels.then(|| values.iter().filter_map(|v| v.integer()).collect()))
    }

    /// Named arrays `name components tuples type`; with their labels where on `n` cells.
    fn field(&mut self, cells: Option<u64>) -> Result<Vec<(String, Option<Vec<i64>>)>> {
        self.scan.text("a name")?;
        let arrays: u64 = self.scan.parse("the number of arrays")?;
        let mut found = Vec::new();
        for _ in 0..self.scan.count(arrays, 8, "arrays")? {
            if self.scan.peek_word() == Some(b"METADATA") {
                self.metadata();
            }
            let name = decode(self.scan.text("the name of an array")?.as_bytes());
            let components = self.scan.parse("the number of components")?;
            let tuples = self.scan.parse("the number of tuples")?;
            let of = self.scan.text("a data type")?;
            if of == "string" && !self.binary {
                for _ in 0..tuples {
                    self.scan.line().ok_or_else(|| self.scan.truncated("a text"))?;
                }
                self.scan.line();
                continue;
            }
            let scalar = scalar(&self.scan, of)?;
            self.scan.line();
            let values = self.array(scalar, components, tuples)?;
            if cells == Some(tuples) {
                found.push((name, values));
            }
        }
        Ok(found)
    }
}

/// An index; one that cannot be becomes one that is out of range.
fn vertex(v: i64) -> u32 {
    u32::try_from(v).unwrap_or(u32::MAX)
}

/// A name with `%20` and the like decoded.
fn decode(name: &[u8]) -> String {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) if *first == b'%' => {
                out.push(byte);
                rest = &tail[2..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
