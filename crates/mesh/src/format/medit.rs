//! Medit `.mesh`, text: keywords with a count and as many entries, each with a reference at its end.
//!
//! libMeshb, "The Gamma Mesh Format". A number counts from 1; sections may stand in any order.

use super::cells::{Cell, Cells};
use super::labels::{Labels, of_dimension};
use super::scan::{Result, Scanner, parse};
use super::solids::SolidCell;
use super::{fortran, middles};
use crate::Mesh;
use standoff_geometry::division::Solid;
use standoff_linalg::Vec3;
use std::ops::Range;
use std::path::Path;

/// A section of elements.
struct Section {
    keyword: &'static str,
    cell: Cell,
    nodes: usize,
    dimension: usize,
}

const fn section(keyword: &'static str, cell: Cell, nodes: usize, dimension: usize) -> Section {
    Section { keyword, cell, nodes, dimension }
}

const HEXAHEDRON: Cell = Cell::Solid(SolidCell::new(Solid::Hexahedron, &[0, 1, 2, 3, 4, 5, 6, 7]));
const WEDGE: Cell = Cell::Solid(SolidCell::new(Solid::Wedge, &[0, 1, 2, 3, 4, 5]));
const PYRAMID: Cell = Cell::Solid(SolidCell::new(Solid::Pyramid, &[0, 1, 2, 3, 4]));

const SECTIONS: [Section; 12] = [
    section("Edges", Cell::Polyline, 2, 1),
    section("EdgesP2", Cell::QuadraticEdge, 3, 1),
    section("Triangles", Cell::Polygon, 3, 2),
    section("TrianglesP2", Cell::QuadraticTriangle, 6, 2),
    section("Quadrilaterals", Cell::Polygon, 4, 2),
    section("Tetrahedra", Cell::Tet, 4, 3),
    section("TetrahedraP2", Cell::QuadraticTet, 10, 3),
    section("Hexahedra", HEXAHEDRON, 8, 3),
    // as the first description of the format spells it
    section("Hexaedra", HEXAHEDRON, 8, 3),
    section("Prisms", WEDGE, 6, 3),
    section("Wedges", WEDGE, 6, 3),
    section("Pyramids", PYRAMID, 5, 3),
];

/// Sections without elements: how many numbers an entry has, and how many of these for each dimension.
const SKIPPED: [(&str, usize, usize); 27] = [
    ("Corners", 1, 0),
    ("Ridges", 1, 0),
    ("RequiredVertices", 1, 0),
    ("RequiredEdges", 1, 0),
    ("RequiredTriangles", 1, 0),
    ("RequiredQuadrilaterals", 1, 0),
    ("RequiredTetrahedra", 1, 0),
    ("Normals", 0, 1),
    ("Tangents", 0, 1),
    ("NormalAtVertices", 2, 0),
    ("TangentAtVertices", 2, 0),
    ("TangentAtEdgeVertices", 3, 0),
    ("NormalAtTriangleVertices", 3, 0),
    ("NormalAtQuadrilateralVertices", 4, 0),
    ("SubDomainFromGeom", 4, 0),
    ("SubDomainFromMesh", 4, 0),
    ("VertexOnGeometricVertex", 2, 0),
    ("VertexOnGeometricEdge", 3, 0),
    ("EdgeOnGeometricEdge", 2, 0),
    ("EdgesOnGeometricEdges", 2, 0),
    ("PeriodicVertices", 2, 0),
    ("PeriodicEdges", 2, 0),
    ("PeriodicTriangles", 2, 0),
    ("EdgesP2Ordering", 1, 0),
    ("TrianglesP2Ordering", 3, 0),
    ("TetrahedraP2Ordering", 4, 0),
    ("CoarseHexahedra", 1, 0),
];
/// The same without a count in front.
const SINGLE: [(&str, usize, usize); 4] =
    [("AngleOfCornerBound", 1, 0), ("Time", 1, 0), ("Iterations", 1, 0), ("BoundingBox", 0, 2)];

/// An element as the file has it.
struct Element {
    section: &'static Section,
    /// Its number in its section, from 1.
    number: usize,
    reference: i64,
    nodes: Range<usize>,
    /// Where it stands in the file.
    at: usize,
}

/// Whether it has nodes in the middles of edges in an order that is not known.
fn is_quadratic(element: &Element) -> bool {
    matches!(element.section.cell, Cell::QuadraticTriangle | Cell::QuadraticTet)
}

struct Reader<'a> {
    scan: Scanner<'a>,
    /// Numbers of a point; 0 until the file says it.
    dimension: usize,
    points: Option<Vec<Vec3>>,
    elements: Vec<Element>,
    nodes: Vec<i64>,
}

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let scan = Scanner::new(path, data);
    let mut reader =
        Reader { scan, dimension: 0, points: None, elements: Vec::new(), nodes: Vec::new() };
    reader.header()?;
    reader.sections()?;
    reader.finish()
}

impl<'a> Reader<'a> {
    /// The next word that is no comment.
    fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            let word = self.scan.word()?;
            if !word.starts_with(b"#") {
                return Some(word);
            }
            self.scan.line();
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        match self.word() {
            None => Err(self.scan.truncated(what)),
            Some(w) => parse(w).ok_or_else(|| self.scan.unexpected(w, what)),
        }
    }

    fn coordinate(&mut self) -> Result<f64> {
        let what = "a coordinate";
        let word = self.word().ok_or_else(|| self.scan.truncated(what))?;
        let value = fortran::real(word).ok_or_else(|| self.scan.unexpected(word, what))?;
        self.scan.finite(value)
    }

    /// The number of entries of a section, each of so many numbers.
    fn count(&mut self, keyword: &str, numbers: usize) -> Result<usize> {
        let n: u64 = self.number(&format!("the number of {keyword}"))?;
        self.scan.count(n, 2 * numbers, keyword)
    }

    fn header(&mut self) -> Result<()> {
        let word = self.word().unwrap_or_default();
        if !word.eq_ignore_ascii_case(b"MeshVersionFormatted") {
            return Err(self.scan.error(
                "the file does not begin with MeshVersionFormatted, as a text of Medit does",
                "Other programs have files .mesh of their own: save as Medit's, as .msh of Gmsh or as .vtu",
            ));
        }
        let version: u32 = self.number("the version, 1 to 4")?;
        if !(1..=4).contains(&version) {
            let what = format!("version {version} of Medit's format is unknown");
            return Err(self.scan.error(what, "Known are 1 to 4"));
        }
        Ok(())
    }

    fn sections(&mut self) -> Result<()> {
        while let Some(word) = self.word() {
            let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
            if is("End") {
                break;
            } else if is("Dimension") {
                self.dimension = self.number("the dimension, 2 or 3")?;
                if !(2..=3).contains(&self.dimension) {
                    let what = format!("dimension {}", self.dimension);
                    return Err(self.scan.error(what, "Known are 2 and 3"));
                }
            } else if is("Vertices") {
                self.vertices()?;
            } else if let Some(section) = SECTIONS.iter().find(|s| is(s.keyword)) {
                self.elements(section)?;
            } else if let Some((keyword, each, per)) = SKIPPED.iter().find(|s| is(s.0)) {
                let numbers = each + per * self.known_dimension(keyword, *per)?;
                let count = self.count(keyword, numbers)?;
                self.skip(keyword, count * numbers)?;
            } else if let Some((keyword, each, per)) = SINGLE.iter().find(|s| is(s.0)) {
                let numbers = each + per * self.known_dimension(keyword, *per)?;
                self.skip(keyword, numbers)?;
            } else if is("Geometry") || is("Identifier") {
                self.scan.line();
            } else if is("BezierBasis") {
                self.no_control_points()?;
            } else {
                return Err(self.unknown(word));
            }
        }
        Ok(())
    }

    fn known_dimension(&self, keyword: &str, needed: usize) -> Result<usize> {
        if needed > 0 && self.dimension == 0 {
            let what = format!("{keyword} come before the keyword Dimension");
            return Err(self.scan.error(what, "Write `Dimension 3` in front of them"));
        }
        Ok(self.dimension)
    }

    fn skip(&mut self, keyword: &str, numbers: usize) -> Result<()> {
        let what = format!("a number of {keyword}");
        for _ in 0..numbers {
            let word = self.word().ok_or_else(|| self.scan.truncated(&what))?;
            fortran::real(word).ok_or_else(|| self.scan.unexpected(word, &what))?;
        }
        Ok(())
    }

    fn no_control_points(&mut self) -> Result<()> {
        let basis: i64 = self.number("the basis, 0 or 1")?;
        if basis == 0 {
            return Ok(());
        }
        Err(self.scan.error(
            "the nodes of curved elements are control points of Bézier patches (BezierBasis)",
            "Write the file with nodes on the elements (BezierBasis 0)",
        ))
    }

    fn unknown(&self, word: &[u8]) -> crate::MeshError {
        let shown = String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned();
        if !word.first().is_some_and(u8::is_ascii_alphabetic) {
            return self.scan.unexpected(word, "a keyword (Vertices, Tetrahedra, …)");
        }
        self.scan.error(
            format!("the section {shown:?} is not supported"),
            "Delete it, or save with elements of order 1 (of order 2 tetrahedra, triangles and edges are read)",
        )
    }

    fn vertices(&mut self) -> Result<()> {
        if self.points.is_some() {
            return Err(self.scan.error("a second section Vertices", "Keep one mesh per file"));
        }
        let dimension = self.known_dimension("Vertices", 1)?;
        let n = self.count("Vertices", dimension + 1)?;
        let mut points = Vec::with_capacity(n);
        for _ in 0..n {
            let mut p = Vec3::zeros();
            for k in 0..dimension {
                p[k] = self.coordinate()?;
            }
            points.push(p);
            let _: f64 = self.number("the reference of a vertex")?;
        }
        self.points = Some(points);
        Ok(())
    }

    fn elements(&mut self, section: &'static Section) -> Result<()> {
        let n = self.count(section.keyword, section.nodes + 1)?;
        self.elements.reserve(n);
        self.nodes.reserve(n * section.nodes);
        for number in 1..=n {
            let (at, first) = (self.scan.next_pos(false), self.nodes.len());
            for _ in 0..section.nodes {
                let node = self.number("the number of a vertex")?;
                self.nodes.push(node);
            }
            let reference = self.number("the reference of an element")?;
            let nodes = first..self.nodes.len();
            self.elements.push(Element { section, number, reference, nodes, at });
        }
        Ok(())
    }

    /// The mesh, when all vertices are known.
    fn finish(mut self) -> Result<Mesh> {
        let Some(points) = self.points.take() else {
            return Err(self.scan.error("there is no section Vertices", "Is the file complete?"));
        };
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for element in &self.elements {
            for node in &self.nodes[element.nodes.clone()] {
                let index = node.checked_sub(1).and_then(|i| u32::try_from(i).ok());
                let Some(index) = index.filter(|i| (*i as usize) < points.len()) else {
                    let what =
                        format!("vertex {node} is named, but they are 1 to {}", points.len());
                    let hint = "Check this line; vertices count from 1";
                    return Err(self.wrong(element, &what, hint));
                };
                nodes.push(index);
            }
        }
        let mut cells = Cells::new(points);
        let mut labels = Labels::default();
        let orders = [self.order(&cells, &nodes, 6)?, self.order(&cells, &nodes, 10)?];
        let mut list = Vec::new();
        for element in &self.elements {
            let v = &nodes[element.nodes.clone()];
            list.clear();
            match orders.iter().flatten().find(|o| o.len() == v.len()) {
                Some(order) if is_quadratic(element) => list.extend(order.iter().map(|k| v[*k])),
                _ => list.extend(v),
            }
            let label = labels.of((element.section.dimension, element.reference));
            cells
                .add(element.section.cell, &list, label)
                .map_err(|wrong| self.wrong(element, &wrong.what, wrong.hint("Check this line")))?;
        }
        cells.finish();
        labels.add_regions(&mut cells, of_dimension);
        Ok(cells.mesh)
    }

    /// The order of the nodes of elements of order 2 with so many nodes: programs differ, and the format lets them.
    fn order(&self, cells: &Cells, nodes: &[u32], count: usize) -> Result<Option<Vec<usize>>> {
        let of_kind = |e: &&Element| is_quadratic(e) && e.section.nodes == count;
        let elements = self.elements.iter().filter(of_kind).map(|e| &nodes[e.nodes.clone()]);
        let Some(first) = self.elements.iter().find(of_kind) else { return Ok(None) };
        match middles::order(&cells.mesh.points, elements, count) {
            Some(order) => Ok(Some(order)),
            None => Err(self.wrong(
                first,
                "the places of the nodes do not tell which edges these are the middles of",
                "Write the corners first, then nodes near the middles of the edges, or elements of order 1",
            )),
        }
    }

    fn wrong(&self, element: &Element, what: &str, hint: &str) -> crate::MeshError {
        let mut scan = self.scan.clone();
        scan.point_at(element.at, false);
        scan.error(format!("{} {}: {what}", element.section.keyword, element.number), hint)
    }
}
