//! Gmsh `.msh`, versions 2.x and 4.1, text and binary.
//!
//! Gmsh reference manual, "MSH file format". A node is known by its tag; elements are of order 1 or 2.

// long: one reader for two versions of a format, which share sections and tags; each function is a section

use super::cells::{Cell, Cells};
use super::scan::{Endian, Result, Scalar, Scanner, parse, words};
use super::solids::SolidCell;
use crate::Mesh;
use standoff_geometry::division::Solid;
use standoff_linalg::Vec3;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// How numbers are stored.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Text,
    /// Byte order and type of `size_t`.
    Binary(Endian, Scalar),
}

/// (dimension, tag) of a geometric entity or of a physical group.
type Tag = (i64, i64);

/// Nodes of a quadratic hexahedron with all centres, the element with most nodes that is read.
const MOST_NODES: usize = 27;

/// The solids that become tetrahedra, by their type. Gmsh has the edges of an element in ascending order of their ends, and its faces likewise.
const SOLIDS: [(i64, SolidCell); 9] = [
    (5, SolidCell::new(Solid::Hexahedron, &[0, 1, 2, 3, 4, 5, 6, 7])),
    (6, SolidCell::new(Solid::Wedge, &[0, 1, 2, 3, 4, 5])),
    (7, SolidCell::new(Solid::Pyramid, &[0, 1, 2, 3, 4])),
    (12, SolidCell::new(Solid::Hexahedron, &HEXAHEDRON)),
    (17, SolidCell::new(Solid::Hexahedron, HEXAHEDRON.split_at(20).0)),
    (13, SolidCell::new(Solid::Wedge, &WEDGE)),
    (18, SolidCell::new(Solid::Wedge, WEDGE.split_at(15).0)),
    (14, SolidCell::new(Solid::Pyramid, &PYRAMID)),
    (19, SolidCell::new(Solid::Pyramid, PYRAMID.split_at(13).0)),
];
/// Corners, edges, faces and inside in our order, as nodes of Gmsh.
const HEXAHEDRON: [usize; 27] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 20, 25, 21, 23, 24, 22,
    26,
];
const WEDGE: [usize; 18] = [0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16];
const PYRAMID: [usize; 14] = [0, 1, 2, 3, 4, 5, 8, 10, 6, 7, 9, 11, 12, 13];

struct Reader<'a> {
    scan: Scanner<'a>,
    encoding: Encoding,
    /// Names of physical groups.
    names: BTreeMap<Tag, String>,
    /// Physical groups of each entity (4.1).
    groups: BTreeMap<Tag, Vec<i64>>,
    /// Index of a node by its tag; empty where tag = index + 1.
    index: HashMap<i64, u32>,
    cells: Cells,
    has_nodes: bool,
    /// Physical groups of each label: one per element block (4.1) or per tag (2.x).
    labels: Vec<Vec<Tag>>,
}

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut reader = Reader {
        scan: Scanner::new(path, data),
        encoding: Encoding::Text,
        names: BTreeMap::new(),
        groups: BTreeMap::new(),
        index: HashMap::new(),
        cells: Cells::default(),
        has_nodes: false,
        labels: Vec::new(),
    };
    let version = reader.header()?;
    reader.sections(version)?;
    if !reader.has_nodes {
        return Err(reader.scan.error("there is no $Nodes section", "Is the file complete?"));
    }
    reader.cells.finish();
    reader.regions();
    Ok(reader.cells.mesh)
}

/// The versions that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V2,
    V4,
}

impl Reader<'_> {
    fn header(&mut self) -> Result<Version> {
        let start = self.scan.text("$MeshFormat")?;
        if start != "$MeshFormat" {
            return Err(self.scan.unexpected(start.as_bytes(), "$MeshFormat"));
        }
        let number = self.scan.text("the format version")?;
        let version = match number {
            "4.1" => Version::V4,
            n if n == "2" || n.starts_with("2.") => Version::V2,
            n => {
                return Err(self.scan.error(
                    format!("version {n} of the Gmsh format is not supported"),
                    "Save as version 4.1 or 2.2 (gmsh -format msh41)",
                ));
            }
        };
        let binary: u8 = self.scan.parse("the file type, 0 or 1")?;
        let size: usize = self.scan.parse("the data size")?;
        self.scan.line();
        if binary > 1 {
            return Err(self.scan.error(format!("file type {binary}"), "Known are 0 and 1"));
        }
        if binary == 1 {
            let endian = match self.scan.bytes(4, "the number 1")? {
                [1, 0, 0, 0] => Endian::Little,
                [0, 0, 0, 1] => Endian::Big,
                _ => {
                    return Err(self.scan.error(
                        "the number that tells the byte order is not 1",
                        "The file is damaged, for instance by a transfer as text",
                    ));
                }
            };
            let unsigned = match size {
                8 => Scalar::U64,
                4 => Scalar::U32,
                n => {
                    return Err(self
                        .scan
                        .error(format!("data size {n}"), "Known are 4 and 8 bytes"));
                }
            };
            self.encoding = Encoding::Binary(endian, unsigned);
        }
        self.end("$EndMeshFormat")?;
        Ok(version)
    }

    fn sections(&mut self, version: Version) -> Result<()> {
        while let Some(word) = self.scan.word() {
            // the rest of the line belongs to the section's head; binary data follow at once
            self.scan.line();
            match (word, version) {
                (b"$PhysicalNames", _) => self.physical_names()?,
                (b"$Entities", Version::V4) => self.entities()?,
                (b"$Nodes", Version::V4) => self.nodes4()?,
                (b"$Nodes", Version::V2) => self.nodes2()?,
                (b"$Elements", Version::V4) => self.elements4()?,
                (b"$Elements", Version::V2) => self.elements2()?,
                (w, _) if w.starts_with(b"$") && !w.starts_with(b"$End") => self.skip(w)?,
                (w, _) => return Err(self.scan.unexpected(w, "a section ($Nodes, …)")),
            }
        }
        Ok(())
    }

    /// Skips a section that is not needed; an unfinished one at the end of the file is fine.
    fn skip(&mut self, name: &[u8]) -> Result<()> {
        if name == b"$PartitionedEntities" {
            self.cells.mesh.notes.push(
                "the mesh is partitioned; physical groups of its parts are not read".to_string(),
            );
        }
        let end = [b"$End", &name[1..]].concat();
        let target = self.scan.find(&end).map_or(usize::MAX, |i| i + end.len());
        self.scan.seek(target);
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<()> {
        let found = self.scan.text(name)?;
        if found == name { Ok(()) } else { Err(self.scan.unexpected(found.as_bytes(), name)) }
    }

    fn int(&mut self, what: &str) -> Result<i64> {
        match self.encoding {
            Encoding::Text => self.scan.parse(what),
            Encoding::Binary(e, _) => {
                let n = self.scan.binary(Scalar::I32, e, what)?;
                Ok(n.integer().unwrap_or_default())
            }
        }
    }

    /// A `size_t`, not negative.
    fn size(&mut self, what: &str) -> Result<u64> {
        match self.encoding {
            Encoding::Text => self.scan.parse(what),
            Encoding::Binary(e, s) => {
                let n = self.scan.binary(s, e, what)?;
                Ok(n.integer().unwrap_or_default() as u64)
            }
        }
    }

    fn real(&mut self, what: &str) -> Result<f64> {
        match self.encoding {
            Encoding::Text => self.scan.parse(what),
            Encoding::Binary(e, _) => Ok(self.scan.binary(Scalar::F64, e, what)?.real()),
        }
    }

    fn point(&mut self) -> Result<Vec3> {
        let mut p = Vec3::zeros();
        for k in 0..3 {
            p[k] = self.real("a coordinate")?;
            self.scan.finite(p[k])?;
        }
        Ok(p)
    }

    /// A count of things of at least so many numbers each, checked against the rest of the file.
    fn count(&mut self, numbers: usize, what: &str) -> Result<usize> {
        let n = self.size(what)?;
        let bytes = if matches!(self.encoding, Encoding::Text) { 2 } else { 4 };
        self.scan.count(n, bytes * numbers, what)
    }

    fn physical_names(&mut self) -> Result<()> {
        let n: u64 = self.scan.parse("the number of physical names")?;
        let n = self.scan.count(n, 7, "physical names")?;
        self.scan.line();
        for _ in 0..n {
            let line = self.scan.line().ok_or_else(|| self.scan.truncated("a physical name"))?;
            let mut fields = words(line);
            let dim = fields.next().and_then(parse);
            let tag = fields.next().and_then(parse);
            let quote = |b: &u8| *b == b'"';
            let name = line.iter().position(quote).zip(line.iter().rposition(quote));
            match (dim, tag, name) {
                (Some(dim), Some(tag), Some((a, b))) if a < b => {
                    let name = String::from_utf8_lossy(&line[a + 1..b]).into_owned();
                    self.names.insert((dim, tag), name);
                }
                _ => return Err(self.scan.unexpected(line, "a line: dimension tag \"name\"")),
            }
        }
        self.end("$EndPhysicalNames")
    }

    fn entities(&mut self) -> Result<()> {
        let mut counts = [0; 4];
        for c in &mut counts {
            *c = self.count(2, "entities")?;
        }
        for (dim, &n) in counts.iter().enumerate() {
            for _ in 0..n {
                let tag = self.int("an entity tag")?;
                for _ in 0..if dim == 0 { 3 } else { 6 } {
                    self.real("a corner of a bounding box")?;
                }
                let groups = self.count(1, "physical tags")?;
                let mut list = Vec::with_capacity(groups);
                for _ in 0..groups {
                    // a negative tag means the opposite orientation
                    list.push(self.int("a physical tag")?.saturating_abs());
                }
                if dim > 0 {
                    for _ in 0..self.count(1, "bounding entities")? {
                        self.int("a bounding entity")?;
                    }
                }
                self.groups.insert((dim as i64, tag), list);
            }
        }
        self.end("$EndEntities")
    }

    fn nodes4(&mut self) -> Result<()> {
        let blocks = self.count(4, "node blocks")?;
        let total = self.count(4, "nodes")?;
        self.size("the smallest node tag")?;
        self.size("the largest node tag")?;
        let (mut tags, mut points) = (Vec::with_capacity(total), Vec::with_capacity(total));
        for _ in 0..blocks {
            let dim = self.int("an entity dimension")?;
            self.int("an entity tag")?;
            let parametric = self.int("the parametric flag")? != 0;
            let n = self.count(4, "nodes")?;
            for _ in 0..n {
                tags.push(self.size("a node tag")? as i64);
            }
            for _ in 0..n {
                points.push(self.point()?);
                if parametric {
                    for _ in 0..dim.clamp(0, 3) {
                        self.real("a parametric coordinate")?;
                    }
                }
            }
        }
        if points.len() != total {
            return Err(self.scan.error(
                format!("{total} nodes are announced, the blocks hold {}", points.len()),
                "The file is damaged: write it again",
            ));
        }
        self.set_nodes(tags, points)?;
        self.end("$EndNodes")
    }

    fn nodes2(&mut self) -> Result<()> {
        let n: u64 = self.scan.parse("the number of nodes")?;
        self.scan.line();
        let n = self.scan.count(n, 8, "nodes")?;
        let (mut tags, mut points) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for _ in 0..n {
            tags.push(self.int("a node number")?);
            points.push(self.point()?);
        }
        self.set_nodes(tags, points)?;
        self.end("$EndNodes")
    }

    fn set_nodes(&mut self, tags: Vec<i64>, points: Vec<Vec3>) -> Result<()> {
        if self.has_nodes {
            return Err(self.scan.error("a second $Nodes section", "Keep one mesh per file"));
        }
        self.has_nodes = true;
        if tags.iter().enumerate().any(|(i, &t)| t != i as i64 + 1) {
            for (i, &tag) in tags.iter().enumerate() {
                if self.index.insert(tag, i as u32).is_some() {
                    return Err(self
                        .scan
                        .error(format!("node {tag} is defined twice"), "Renumber the mesh"));
                }
            }
        }
        self.cells.mesh.points = points;
        Ok(())
    }

    fn elements4(&mut self) -> Result<()> {
        let blocks = self.count(4, "element blocks")?;
        let total = self.size("the number of elements")?;
        self.size("the smallest element tag")?;
        self.size("the largest element tag")?;
        let mut found = 0;
        for _ in 0..blocks {
            let entity = (self.int("an entity dimension")?, self.int("an entity tag")?);
            let (cell, nodes) = self.element_type()?;
            let n = self.count(1 + nodes, "elements")?;
            let groups = self.groups.get(&entity).map_or(&[][..], |g| g);
            let label = self.labels.len() as u32;
            self.labels.push(groups.iter().map(|&g| (entity.0, g)).collect());
            for _ in 0..n {
                let tag = self.size("an element tag")?;
                let mut v = [0; MOST_NODES];
                for i in &mut v[..nodes] {
                    let node = self.size("a node tag")? as i64;
                    *i = self.node(node, tag as i64)?;
                }
                self.add(cell, &mut v[..nodes], label, tag as i64)?;
            }
            found += n as u64;
        }
        if found != total {
            return Err(self.scan.error(
                format!("{total} elements are announced, the blocks hold {found}"),
                "The file is damaged: write it again",
            ));
        }
        self.end("$EndElements")
    }

    fn elements2(&mut self) -> Result<()> {
        let n: u64 = self.scan.parse("the number of elements")?;
        self.scan.line();
        let n = self.scan.count(n, 6, "elements")?;
        let mut labels = BTreeMap::new();
        let mut done = 0;
        while done < n {
            // in text every element is a block of its own, with its number in front of the type
            let text = matches!(self.encoding, Encoding::Text);
            let number = if text { Some(self.int("an element number")?) } else { None };
            let (cell, nodes) = self.element_type()?;
            let block = if text { 1 } else { self.int("the elements of a block")? };
            let tags = self.int("the number of tags")?;
            if block < 1 || block as u64 > (n - done) as u64 {
                return Err(self.scan.error(
                    format!("a block of {block} elements where {} are left", n - done),
                    "The file is damaged: write it again",
                ));
            }
            let tags = self.scan.count(tags.max(0) as u64, 2, "tags")?;
            for _ in 0..block {
                let number = match number {
                    Some(n) => n,
                    None => self.int("an element number")?,
                };
                let mut physical = 0;
                for k in 0..tags {
                    let tag = self.int("a tag")?;
                    physical = if k == 0 { tag.saturating_abs() } else { physical };
                }
                let mut v = [0; MOST_NODES];
                for i in &mut v[..nodes] {
                    let node = self.int("a node number")?;
                    *i = self.node(node, number)?;
                }
                let group = (dimension(cell), physical);
                let next = self.labels.len() as u32;
                let label = *labels.entry(group).or_insert(next);
                if label == next {
                    self.labels.push(if physical == 0 { vec![] } else { vec![group] });
                }
                self.add(cell, &mut v[..nodes], label, number)?;
            }
            done += block as usize;
        }
        self.end("$EndElements")
    }

    /// The next number as an element type: shape and number of nodes.
    fn element_type(&mut self) -> Result<(Cell, usize)> {
        let kind = self.int("an element type")?;
        if let Some((_, solid)) = SOLIDS.iter().find(|s| s.0 == kind) {
            return Ok((Cell::Solid(*solid), solid.order.len()));
        }
        let other = match kind {
            15 => return Ok((Cell::Points, 1)),
            1 => return Ok((Cell::Polyline, 2)),
            2 => return Ok((Cell::Polygon, 3)),
            3 => return Ok((Cell::Polygon, 4)),
            4 => return Ok((Cell::Tet, 4)),
            8 => return Ok((Cell::QuadraticEdge, 3)),
            9 => return Ok((Cell::QuadraticTriangle, 6)),
            11 => return Ok((Cell::QuadraticTet, 10)),
            10 => return Ok((Cell::QuadraticQuadrangle, 9)),
            16 => return Ok((Cell::QuadraticQuadrangle, 8)),
            20..=31 | 92 | 93 => "elements of other orders",
            _ => "elements of unknown type",
        };
        Err(self.scan.error(
            format!("{other} are not supported"),
            "Mesh with elements of order 1 or 2 (gmsh: Mesh.ElementOrder)",
        ))
    }

    fn node(&self, tag: i64, element: i64) -> Result<u32> {
        let index = if self.index.is_empty() {
            tag.checked_sub(1)
                .and_then(|i| u32::try_from(i).ok())
                .filter(|&i| (i as usize) < self.cells.mesh.points.len())
        } else {
            self.index.get(&tag).copied()
        };
        index.ok_or_else(|| {
            self.scan.error(
                format!("element {element} refers to node {tag}, which is not defined"),
                "$Nodes must come before $Elements and hold every node",
            )
        })
    }

    fn add(&mut self, cell: Cell, v: &mut [u32], label: u32, number: i64) -> Result<()> {
        if cell == Cell::QuadraticTet {
            // Gmsh has the middles of edges 23 and 13 in this order
            v.swap(8, 9);
        }
        let added = self.cells.add(cell, v, label);
        added.map_err(|wrong| {
            let hint = wrong.hint("Write the mesh again").to_owned();
            self.scan.error(format!("element {number}: {}", wrong.what), hint)
        })
    }

    /// Physical groups become regions: named ones, groups of one name together, by dimension and
    /// tag otherwise.
    fn regions(&mut self) {
        let name = |group: &Tag| match self.names.get(group) {
            Some(n) => n.clone(),
            None => {
                let kind = ["point", "curve", "surface", "volume"];
                format!("{}-{}", kind[group.0.clamp(0, 3) as usize], group.1)
            }
        };
        // order of the regions: by dimension and tag of their first group
        let mut groups: Vec<Tag> = self.labels.iter().flatten().copied().collect();
        groups.sort_unstable();
        groups.dedup();
        let mut order: BTreeMap<String, usize> = BTreeMap::new();
        let mut names: Vec<String> = Vec::new();
        for g in &groups {
            let n = name(g);
            order.entry(n.clone()).or_insert_with(|| {
                names.push(n);
                names.len() - 1
            });
        }
        let of_label: Vec<Vec<usize>> = self
            .labels
            .iter()
            .map(|l| {
                let mut regions: Vec<usize> =
                    l.iter().filter_map(|g| order.get(&name(g)).copied()).collect();
                regions.sort_unstable();
                regions.dedup();
                regions
            })
            .collect();
        self.cells.add_regions(
            |label| of_label.get(label as usize).into_iter().flatten().copied(),
            |&k| names[k].clone(),
        );
    }
}

fn dimension(cell: Cell) -> i64 {
    match cell {
        Cell::Points => 0,
        Cell::Polyline | Cell::QuadraticEdge => 1,
        Cell::Tet | Cell::QuadraticTet | Cell::Solid(_) => 3,
        _ => 2,
    }
}
