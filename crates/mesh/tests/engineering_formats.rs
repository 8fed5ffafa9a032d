//! Formats of mesh generators and of finite-element programs: Medit, TetGen, Nastran.
//!
//! A row of four cubes, each of one kind of elements, is written here from the order of nodes in the manuals. The middle of every edge is bent in a
//! direction of its own, so that a node on a wrong edge is found.

use standoff_geometry::quadratic::{self, NONE};
use standoff_geometry::topology::boundary_faces;
use standoff_linalg::Vec3;
use standoff_mesh::format::{ReadOptions, parse, read};
use standoff_mesh::{Mesh, MeshError, Place, is_closed, tet_determinant};
use standoff_testkit::Random;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

/// In halves of the edge of a cube.
type Point = [i32; 3];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Line,
    Triangle,
    Quadrangle,
    Tet,
    Pyramid,
    Wedge,
    Hexahedron,
}

use Kind::{Hexahedron, Line, Pyramid, Quadrangle, Tet, Triangle, Wedge};

impl Kind {
    fn dimension(self) -> usize {
        match self {
            Line => 1,
            Triangle | Quadrangle => 2,
            _ => 3,
        }
    }

    /// Ends of the edges, from 1, as the manual of Nastran has the nodes in their middles.
    fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Line => &[[1, 2]],
            Triangle => &[[1, 2], [2, 3], [3, 1]],
            Quadrangle => &[[1, 2], [2, 3], [3, 4], [4, 1]],
            Tet => &[[1, 2], [2, 3], [3, 1], [1, 4], [2, 4], [3, 4]],
            Pyramid => &[[1, 2], [2, 3], [3, 4], [4, 1], [1, 5], [2, 5], [3, 5], [4, 5]],
            Wedge => &[[1, 2], [2, 3], [3, 1], [1, 4], [2, 5], [3, 6], [4, 5], [5, 6], [6, 4]],
            Hexahedron => &[
                [1, 2],
                [2, 3],
                [3, 4],
                [4, 1],
                [1, 5],
                [2, 6],
                [3, 7],
                [4, 8],
                [5, 6],
                [6, 7],
                [7, 8],
                [8, 5],
            ],
        }
    }
}

struct Element {
    kind: Kind,
    label: i64,
    corners: Vec<Point>,
}

/// The elements with the numbers of all nodes, from 0: corners in random order, then middles.
struct Brick {
    elements: Vec<Element>,
    corners: Vec<Point>,
    /// The ends of each middle.
    middles: Vec<[Point; 2]>,
    number: HashMap<Point, usize>,
    middle: HashMap<[Point; 2], usize>,
    points: Vec<Vec3>,
}

fn ends(a: Point, b: Point) -> [Point; 2] {
    if a < b { [a, b] } else { [b, a] }
}

fn face(corners: &str, x: i32) -> Vec<Point> {
    let digit = |b: u8| i32::from(b - b'0');
    let point = |w: &str| {
        let b = w.as_bytes();
        [digit(b[0]) + 2 * x, digit(b[1]), digit(b[2])]
    };
    corners.split(' ').map(point).collect()
}

const CUBE: &str = "000 200 220 020 002 202 222 022";
/// The faces of a cube, counter-clockwise from inside.
const FACES: [&str; 6] = [
    "000 200 220 020",
    "002 022 222 202",
    "000 002 202 200",
    "200 202 222 220",
    "220 222 022 020",
    "020 022 002 000",
];

impl Brick {
    /// Cubes of a kind each, from the origin along x, whose labels are 1, 2, …; one tetrahedron has the label 0. A quadrangle or its halves at the
    /// beginning have the label 5, a triangle of a wedge 6, a line 7.
    fn new(kinds: &[Kind], seed: u64) -> Self {
        let rng = &mut Random::new(seed);
        let n = kinds.len() as i32;
        let mut corners: Vec<Point> = (0..=n)
            .flat_map(|x| [[0, 0], [0, 2], [2, 0], [2, 2]].map(|[y, z]| [2 * x, y, z]))
            .collect();
        let centres = (0..n).zip(kinds).filter(|(_, k)| matches!(k, Tet | Pyramid));
        corners.extend(centres.map(|(x, _)| [2 * x + 1, 1, 1]));
        for k in (1..corners.len()).rev() {
            corners.swap(k, rng.below(k as u64 + 1) as usize);
        }
        let number: HashMap<Point, usize> = corners.iter().copied().zip(0..).collect();
        let halves = |face: &[Point]| {
            let s = (0..4).min_by_key(|k| number[&face[*k]]).unwrap();
            let at = |k: usize| face[(s + k) % 4];
            [vec![at(0), at(1), at(2)], vec![at(0), at(2), at(3)]]
        };
        let mut elements = Vec::new();
        let mut add = |kind, label, corners| elements.push(Element { kind, label, corners });
        for (x, kind) in (0..).zip(kinds) {
            let label = i64::from(x) + 1;
            let centre = [2 * x + 1, 1, 1];
            let faces = FACES.map(|f| face(f, x));
            match kind {
                Hexahedron => add(Hexahedron, label, face(CUBE, x)),
                Wedge => {
                    add(Wedge, label, face("000 200 020 002 202 022", x));
                    add(Wedge, label, face("220 020 200 222 022 202", x));
                    add(Triangle, 6, face("000 020 200", x));
                }
                Pyramid => {
                    faces.iter().for_each(|f| add(Pyramid, label, [&f[..], &[centre]].concat()))
                }
                _ => {
                    for (k, half) in faces.iter().flat_map(|f| halves(f)).enumerate() {
                        let label = if k == 0 { 0 } else { label };
                        add(Tet, label, [&half[..], &[centre]].concat());
                    }
                }
            }
        }
        let begin = face("000 002 022 020", 0);
        if kinds[0] == Tet {
            halves(&begin).into_iter().for_each(|half| add(Triangle, 5, half));
        } else {
            add(Quadrangle, 5, begin);
        }
        add(Line, 7, face("000 020", 0));
        let mut middle = HashMap::new();
        let mut middles = Vec::new();
        for e in &elements {
            for [a, b] in e.kind.edges() {
                let key = ends(e.corners[a - 1], e.corners[b - 1]);
                middle.entry(key).or_insert_with(|| {
                    middles.push(key);
                    corners.len() + middles.len() - 1
                });
            }
        }
        let at = |p: &Point| Vec3::from(p.map(f64::from)) * 0.5;
        let mut points: Vec<Vec3> = corners.iter().map(at).collect();
        let bent = middles
            .iter()
            .map(|[a, b]| (at(a) + at(b)) * 0.5 + (rng.vec3() * 5.0).map(|c| c.round() / 64.0));
        points.extend(bent.collect::<Vec<_>>());
        Self { elements, corners, middles, number, middle, points }
    }

    /// The nodes of an element, corners first, then middles in the order of `edges`.
    fn nodes(&self, e: &Element, edges: &[[usize; 2]]) -> Vec<usize> {
        let corners = e.corners.iter().map(|p| self.number[p]);
        let middle = |[a, b]: &[usize; 2]| self.middle[&ends(e.corners[a - 1], e.corners[b - 1])];
        corners.chain(edges.iter().map(middle)).collect()
    }

    /// Points of a file of an order.
    fn points(&self, order: usize) -> &[Vec3] {
        if order == 1 { &self.points[..self.corners.len()] } else { &self.points }
    }

    // long: all that has to hold of a mesh
    fn assert_is(
        &self,
        mesh: &Mesh,
        order: usize,
        name: impl Fn(usize, i64) -> String,
        what: &str,
    ) {
        assert!(mesh.check().is_empty(), "{what}: {:?}", mesh.check());
        let cubes = self.corners.iter().map(|p| p[0]).max().unwrap() / 2;
        let volume = |t: usize| tet_determinant(&mesh.tet_points(t)) / 6.0;
        assert!((0..mesh.tets.len()).all(|t| volume(t) > 0.0), "{what}");
        assert!((mesh.volume() - f64::from(cubes)).abs() < 1e-12, "{what}: {}", mesh.volume());
        let boundary = boundary_faces(&mesh.tets).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(boundary.len() as i32, 2 * (4 * cubes + 2), "{what}");
        assert!(is_closed(&mesh.surface()), "{what}");
        assert_eq!(quadratic::misfit(&mesh.tets, &mesh.middles), None, "{what}");
        // the nodes of the file are the first points of the mesh
        assert_eq!(mesh.points[..self.points(order).len()], *self.points(order), "{what}");
        if order == 2 {
            let mut checked = HashSet::new();
            for (tet, middles) in mesh.tets.iter().zip(&mesh.middles) {
                assert_ne!(*middles, NONE, "{what}");
                for ([a, b], middle) in quadratic::edges(tet).into_iter().zip(middles) {
                    let key = ends(self.corners[a as usize], self.corners[b as usize]);
                    if let Some(wanted) = self.middle.get(&key) {
                        assert_eq!(*middle as usize, *wanted, "{what}: the middle of {key:?}");
                        checked.insert(key);
                    }
                }
            }
            assert_eq!(checked.len(), self.middles.len(), "{what}");
        }
        let mut volumes: BTreeMap<String, f64> = BTreeMap::new();
        for e in self.elements.iter().filter(|e| e.label != 0) {
            *volumes.entry(name(e.kind.dimension(), e.label)).or_default() += match e.kind {
                Hexahedron => 1.0,
                Wedge => 0.5,
                Pyramid => 1.0 / 6.0,
                Tet => 1.0 / 12.0,
                _ => 0.0,
            };
        }
        let names: Vec<&String> = mesh.regions.iter().map(|r| &r.name).collect();
        assert_eq!(names.len(), volumes.len(), "{what}: {names:?}");
        for (name, wanted) in volumes {
            let region =
                mesh.region(&name).unwrap_or_else(|| panic!("{what}: {name} in {names:?}"));
            let found: f64 = region.tets.iter().map(|t| volume(*t as usize)).sum();
            assert!((found - wanted).abs() < 1e-12, "{what}, {name}: {found} {wanted}");
        }
        // triangles are faces of the tetrahedra, or their parts
        let faces = quadratic::divide_faces(boundary, &mesh.tets, &mesh.middles);
        let sorted = |t: &[u32; 3]| {
            let mut t = *t;
            t.sort_unstable();
            t
        };
        let faces: HashSet<[u32; 3]> = faces.iter().map(sorted).collect();
        let triangles: HashSet<[u32; 3]> = mesh.triangles.iter().map(sorted).collect();
        let wedges = self.elements.iter().filter(|e| e.kind == Triangle && e.label == 6).count();
        assert_eq!(triangles.len(), (2 + wedges) * if order == 1 { 1 } else { 4 }, "{what}");
        assert!(triangles.is_subset(&faces), "{what}");
        let line = mesh.edges.iter().flatten().collect::<HashSet<_>>();
        let all =
            self.nodes(self.elements.last().unwrap(), if order == 1 { &[] } else { &[[1, 2]] });
        assert_eq!(
            line,
            all.iter().map(|v| *v as u32).collect::<Vec<_>>().iter().collect(),
            "{what}"
        );
    }
}

const MIXED: [Kind; 4] = [Hexahedron, Wedge, Pyramid, Tet];

fn of_dimension(dimension: usize, label: i64) -> String {
    format!("{}-{label}", ["point", "curve", "surface", "volume"][dimension])
}

fn text(name: &str, content: &str) -> Result<Mesh, MeshError> {
    parse(Path::new(name), content.as_bytes(), &ReadOptions::default())
}

/// Every error names the file, the line, what is wrong and what to do.
fn assert_errors(cases: &[(&str, String, usize, &str)]) {
    for (name, content, line, part) in cases {
        let e = text(name, content).expect_err(content);
        let message = e.to_string();
        assert!(message.starts_with(&format!("{name}, ")), "{message}");
        assert!(message.contains(part), "{content}\n{message}");
        let MeshError::Content { place, hint, .. } = e else { panic!("{message}") };
        assert_eq!(place, Place::Line(*line), "{content}\n{message}");
        assert!(!hint.is_empty());
    }
}

/// A file of Medit; `edges` is the order of the middles in tetrahedra.
fn medit(brick: &Brick, order: usize, edges: &[[usize; 2]], after: bool) -> String {
    let mut vertices = format!("Vertices\n{}\n", brick.points(order).len());
    for p in brick.points(order) {
        writeln!(vertices, "{:?} {:?} {:?} 9", p.x, p.y, p.z).unwrap();
    }
    let mut out = String::new();
    for (kind, keyword) in [
        (Line, "Edges"),
        (Triangle, "Triangles"),
        (Quadrangle, "Quadrilaterals"),
        (Tet, "Tetrahedra"),
        (Pyramid, "Pyramids"),
        (Wedge, if after { "Wedges" } else { "Prisms" }),
        (Hexahedron, "Hexahedra"),
    ] {
        let of_kind = brick.elements.iter().filter(|e| e.kind == kind);
        let more = if order == 1 { "" } else { "P2" };
        if of_kind.clone().count() == 0 {
            continue;
        }
        writeln!(out, "\n{keyword}{more}\n{}", of_kind.clone().count()).unwrap();
        for e in of_kind {
            let edges = match order {
                1 => &[],
                _ if kind == Tet => edges,
                _ => kind.edges(),
            };
            brick.nodes(e, edges).iter().for_each(|v| write!(out, "{} ", v + 1).unwrap());
            writeln!(out, "{}", e.label).unwrap();
        }
    }
    let parts = if after { [out, vertices] } else { [vertices, out] };
    format!(
        "MeshVersionFormatted 2\n# a comment\nDimension{}3\n\n{}Corners\n2\n1\n2\nNormals # of what is skipped\n1\n0 0 1\n\
         NormalAtVertices\n1\n1 1\nAngleOfCornerBound 30\nBoundingBox 0 0 0 4 1 1\n{}\nEnd\nnothing is read here\n",
        if after { "\n" } else { " " },
        parts[0],
        parts[1]
    )
}

#[test]
fn medit_bricks() {
    for seed in 0..8 {
        let after = seed % 2 == 1;
        let brick = Brick::new(&MIXED, seed);
        let mesh = text("a.mesh", &medit(&brick, 1, &[], after)).unwrap();
        brick.assert_is(&mesh, 1, of_dimension, &format!("Medit, seed {seed}"));
        assert_eq!(mesh.notes, ["divided into 24 tetrahedra: 1 hexahedron, 2 wedges, 6 pyramids"]);
        let tets = Brick::new(&[Tet; 4], seed);
        // the orders of VTK, of Gmsh and of TetGen
        for edges in [
            Tet.edges(),
            &[[1, 2], [2, 3], [3, 1], [1, 4], [3, 4], [2, 4]],
            &[[4, 3], [4, 1], [2, 1], [2, 3], [2, 4], [1, 3]],
        ] {
            let mesh = text("a.mesh", &medit(&tets, 2, edges, after)).unwrap();
            tets.assert_is(&mesh, 2, of_dimension, &format!("Medit, order 2, seed {seed}"));
        }
    }
}

#[test]
fn medit_in_two_dimensions() {
    let flat = "MeshVersionFormatted\n1\nDimension\n2\nVertices\n4\n0 0 1\n1.0D0 0 1\n1 1 0\n0 1 0\n\
                Triangles\n2\n1 2 3 -4\n1 3 4 0\nEdges\n1\n1 2 3";
    let mesh = text("a", flat).unwrap();
    assert_eq!(mesh.points[2], Vec3::new(1.0, 1.0, 0.0));
    assert_eq!(
        (&mesh.triangles[..], &mesh.edges[..]),
        (&[[0, 1, 2], [0, 2, 3]][..], &[[0, 1]][..])
    );
    let names: Vec<&str> = mesh.regions.iter().map(|r| &r.name[..]).collect();
    assert_eq!(names, ["curve-3", "surface--4"]);
}

#[test]
fn medit_errors_name_the_line() {
    let head = "MeshVersionFormatted 2\nDimension 3\n";
    let four = "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n";
    let file = |rest: &str| format!("{head}{four}{rest}");
    let p2 = format!(
        "{head}Vertices\n10\n{}TetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 0\n",
        (0..10).map(|k| format!("{k} {} {} 0\n", k * k % 7, k * k % 11)).collect::<String>()
    );
    assert_errors(&[
        ("a.mesh", "MFEM mesh v1.0\n".into(), 1, "does not begin with MeshVersionFormatted"),
        ("a.mesh", "MeshVersionFormatted 7\n".into(), 1, "version 7"),
        ("a.mesh", "MeshVersionFormatted 2\nDimension 4\n".into(), 2, "dimension 4"),
        ("a.mesh", format!("MeshVersionFormatted 2\n{four}"), 2, "Dimension"),
        ("a.mesh", format!("{head}Tetrahedra\n0\n"), 5, "no section Vertices"),
        ("a.mesh", file(four), 9, "second section Vertices"),
        (
            "a.mesh",
            file("Triangles\n1\n1 2 5 0\n"),
            11,
            "Triangles 1: vertex 5 is named, but they are 1 to 4",
        ),
        ("a.mesh", file("Triangles\n2\n1 2 3 0\n0 1 2 0\n"), 12, "Triangles 2: vertex 0"),
        ("a.mesh", file("Triangles\n1\n1 2 x 0\n"), 11, "\"x\""),
        ("a.mesh", file("Triangles\n9999999\n1 2 3 0\n"), 10, "announced"),
        ("a.mesh", file("Tetrahedra\n2\n1 2 3 4 0\n1 2 3      "), 12, "file ends"),
        (
            "a.mesh",
            file("Hexahedra\n1\n1 1 2 2 1 1 2 2 0\n"),
            11,
            "Hexahedra 1: a hexahedron has no extent",
        ),
        ("a.mesh", file("HexahedraQ2\n1\n"), 9, "\"HexahedraQ2\" is not supported"),
        ("a.mesh", file("Corners\n1\n1\n2\n"), 12, "a keyword"),
        ("a.mesh", file("Normals\n1\n1 0 End\n"), 11, "\"End\""),
        ("a.mesh", file("BezierBasis\n1\n"), 10, "control points"),
        ("a.mesh", format!("{head}Vertices\n1\n0 0 inf 0\n"), 5, "finite"),
        ("a.mesh", p2, 17, "TetrahedraP2 1: the places of the nodes"),
    ]);
}

/// Files of TetGen: nodes, elements, faces, and edges, with numbers from `first`.
fn tetgen(
    brick: &Brick,
    order: usize,
    edges: &[[usize; 2]],
    first: usize,
) -> [(&'static str, String); 4] {
    let points = brick.points(order);
    let mut node = format!("# nodes\n{} 3 1 1\n\n", points.len());
    for (k, p) in points.iter().enumerate() {
        writeln!(node, "{} {:?} {:?}   {:?} 0.75 {} # a node", k + first, p.x, p.y, p.z, k % 3)
            .unwrap();
    }
    let list = |of: &dyn Fn(Kind) -> bool, edges: &[[usize; 2]], tail: &str| -> (usize, String) {
        let found: Vec<&Element> = brick.elements.iter().filter(|e| of(e.kind)).collect();
        let line = |(k, e): (usize, &&Element)| {
            let nodes = brick.nodes(e, if order == 1 { &[] } else { edges });
            let nodes: String = nodes.iter().map(|v| format!(" {}", v + first)).collect();
            format!("{}  {nodes} {}{tail}\n", k + first, e.label)
        };
        (found.len(), found.iter().enumerate().map(line).collect())
    };
    let (tets, ele) = list(&|k| k == Tet, edges, "");
    // the node on the edge opposite of each corner, and the elements on both sides
    let (triangles, face) = list(&|k| k == Triangle, &[[2, 3], [3, 1], [1, 2]], " 4 -1");
    let (lines, edge) = list(&|k| k == Line, Line.edges(), "");
    let nodes = if order == 1 { 4 } else { 10 };
    [
        ("node", node + "# Generated by hand\n"),
        ("ele", format!("{tets} {nodes} 1\n{ele}# Generated by hand\n")),
        ("face", format!("{triangles} 1\n{face}")),
        ("edge", format!("{lines}  1\n{edge}")),
    ]
}

#[test]
fn tetgen_bricks() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..8 {
        let first = (seed % 2) as usize;
        let brick = Brick::new(&[Tet; 4], seed);
        for (order, edges) in [
            (1, Tet.edges()),
            // TetGen 1.5, and the order of VTK
            (2, &[[4, 3], [4, 1], [2, 1], [2, 3], [2, 4], [1, 3]]),
            (2, Tet.edges()),
        ] {
            // a dot in the name, as TetGen counts its runs
            let stem = folder.path().join("bar.1");
            for (extension, content) in tetgen(&brick, order, edges, first) {
                std::fs::write(stem.with_file_name(format!("bar.1.{extension}")), content).unwrap();
            }
            for named in ["bar.1.ele", "bar.1.node"] {
                let mesh = read(&folder.path().join(named)).unwrap();
                brick.assert_is(
                    &mesh,
                    order,
                    of_dimension,
                    &format!("TetGen, order {order}, seed {seed}"),
                );
                assert!(mesh.notes.is_empty(), "{:?}", mesh.notes);
            }
        }
    }
}

#[test]
fn tetgen_needs_its_partners() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, content: &str| std::fs::write(path(name), content).unwrap();
    let brick = Brick::new(&[Tet], 3);
    let [node, ele, face, _] = tetgen(&brick, 1, &[], 1).map(|(_, content)| content);
    write("A.NODE", &node);
    let message = read(&path("A.NODE")).unwrap_err().to_string();
    assert!(message.contains("A.ELE or ") && message.contains("A.FACE beside"), "{message}");
    // a surface needs no elements
    write("A.FACE", &face);
    let mesh = read(&path("A.NODE")).unwrap();
    assert_eq!((mesh.triangles.len(), mesh.tets.len(), mesh.regions.len()), (2, 0, 1));
    write("b.ele", &ele);
    let message = read(&path("b.ele")).unwrap_err().to_string();
    assert!(message.contains("b.node beside"), "{message}");
    write("b.node", &node.replace("0.75", "x.75"));
    let mesh = read(&path("b.ele")).unwrap();
    assert_eq!(mesh.tets.len(), 12);
    // errors name the file in which they are
    let wrong = |name: &str, content: &str, of: &str, line: usize, part: &str| {
        write(name, content);
        let e = read(&path("b.ele")).unwrap_err();
        let message = e.to_string();
        assert!(message.contains(part), "{message}");
        let MeshError::Content { file, place, hint, .. } = e else { panic!("{message}") };
        assert_eq!((file, place), (path(of), Place::Line(line)), "{message}");
        assert!(!hint.is_empty());
    };
    let mut cases: Vec<(&str, String, usize, &str)> = vec![
        ("b.ele", "9999999 4 0\n1 1 2 3 4\n".into(), 1, "announced"),
        ("b.ele", "1 5 0\n1 1 2 3 4 5\n".into(), 1, "elements of 5 nodes"),
        ("b.ele", "# one\n1 4 0\n1 1 2 3\n#        \n".into(), 3, "4 numbers where 5"),
        ("b.ele", "1 4 0\n1 0 2 3 4\n".into(), 2, "node 0 is named, but the .node file has 1 to 9"),
        ("b.ele", "1 4 0\n1 1 2 3 10\n".into(), 2, "node 10 is named"),
        ("b.ele", "1 4 0\n1 1 2 3 x\n".into(), 2, "\"x\""),
        ("b.ele", "2 4 0\n1 1 2 3 4\n#         \n".into(), 4, "file ends"),
        ("b.ele", "1 10 0\n1 1 2 3 4 5 5 5 5 5 5\n".into(), 2, "do not tell"),
        ("b.node", "0 3 0 0\n".into(), 1, "no nodes"),
        ("b.node", "1 4 0 0\n1 0 0 0 0\n".into(), 1, "4 coordinates"),
        ("b.node", "2 3 0 0\n1 0 0 0\n3 0 0 0\n".into(), 3, "node 3 where node 2"),
        ("b.node", "2 3 0 0\n7 0 0 0\n8 0 0 0\n".into(), 2, "node 7 where node 1"),
        ("b.node", "1 3 0 0\n1 0 0 nan\n".into(), 2, "finite"),
        ("b.node", "1 3 0 0\n1 0 0     \n".into(), 2, "2 coordinates instead of 3"),
    ];
    cases.push(("b.face", "1 1\n1 1 2 2000000 1\n".into(), 2, "node 2000000"));
    for (name, content, line, part) in cases {
        write("b.ele", &ele);
        write("b.node", &node);
        wrong(name, &content, name, line, part);
    }
}

/// Files of Triangle have two coordinates, and their elements are triangles.
#[test]
fn triangles_of_triangle() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("a.node"),
        "6 2 0 1\n0 0 0 1\n1 2 0 1\n2 0 2 1\n3 1 1.25 1\n4 0 1 0\n5 1 0 0\n",
    )
    .unwrap();
    std::fs::write(path("a.ele"), "1 6 1\n0 0 1 2 3 4 5 2.5\n").unwrap();
    let mesh = read(&path("a.ele")).unwrap();
    assert_eq!(mesh.triangles, [[0, 5, 4], [5, 1, 3], [4, 3, 2], [5, 3, 4]]);
    assert_eq!(mesh.divided, [0]);
    assert!(mesh.regions.is_empty() && mesh.notes[0].contains("no integers"), "{:?}", mesh.notes);
}

/// A card of Nastran in a format of fields.
fn card(format: &str, name: &str, fields: &[String]) -> String {
    let (inner, mark) = match format {
        "large" => (4, "*C7"),
        "marked" => (8, "+C7"),
        _ => (8, ""),
    };
    let mut out = String::new();
    let lines: Vec<&[String]> = fields.chunks(inner).collect();
    for (k, line) in lines.iter().enumerate() {
        let first = if k > 0 { mark } else { name };
        let mark = if k + 1 < lines.len() { mark } else { "" };
        match format {
            "free" => write!(out, "{first},{}", line.join(", ")).unwrap(),
            "large" => {
                let first = if k > 0 { first.to_string() } else { format!("{first}*") };
                write!(out, "{first:<8}").unwrap();
                (0..4).for_each(|k| write!(out, "{:>16}", line.get(k).map_or("", |f| f)).unwrap());
                out += mark;
            }
            _ => {
                write!(out, "{first:<8}").unwrap();
                (0..8).for_each(|k| write!(out, "{:<8}", line.get(k).map_or("", |f| f)).unwrap());
                out += mark;
            }
        }
        out += if k % 2 == 0 { "\n" } else { "\r\n" };
    }
    out
}

/// A file of Nastran; nodes have every third number from 5 on.
fn nastran(brick: &Brick, order: usize, format: &str, rng: &mut Random) -> String {
    let number = |v: usize| (3 * v + 5).to_string();
    let (mut points, mut cards): (Vec<String>, Vec<String>) = Default::default();
    for (v, p) in brick.points(order).iter().enumerate() {
        // eight columns hold no zero in front of the dot
        let real = |c: &f64| format!("{c:?}").replace("0.", ".").replace("-0.", "-.");
        let real = |c: &f64| if c.fract() == 0.0 { format!("{c:?}") } else { real(c) };
        let mut fields = vec![number(v), if v % 2 == 0 { "0" } else { "" }.to_string()];
        fields.extend(p.iter().map(real));
        points.push(card(format, "GRID", &fields));
    }
    for (k, e) in brick.elements.iter().enumerate() {
        let name = match e.kind {
            Line => "CBAR",
            Triangle if order == 1 => "CTRIA3",
            Triangle => "CTRIA6",
            Quadrangle if order == 1 => "CQUAD4",
            Quadrangle => "CQUAD8",
            Tet => "CTETRA",
            Pyramid if k % 2 == 0 => "CPYRA",
            Pyramid => "CPYRAM",
            Wedge => "CPENTA",
            Hexahedron => "CHEXA",
        };
        let nodes = brick.nodes(e, if order == 1 { &[] } else { e.kind.edges() });
        let parts = match nodes[..] {
            // bars have no node in the middle
            [a, b, m] if e.kind == Line => vec![vec![a, m], vec![m, b]],
            _ => vec![nodes],
        };
        for part in parts {
            let label = if e.label == 0 { String::new() } else { e.label.to_string() };
            let mut fields = vec![(100 + cards.len()).to_string(), label];
            fields.extend(part.into_iter().map(number));
            if e.kind == Line {
                fields.extend(["0.", "0.", "1."].map(String::from));
            }
            cards.push(card(format, name, &fields));
        }
    }
    cards.push("MAT1,1,2.1+11,,.3\n".into());
    cards.push("PSOLID  1       1\n".into());
    cards.push("MAT1    2       1.+5            .4\n".into());
    for k in (1..cards.len()).rev() {
        cards.swap(k, rng.below(k as u64 + 1) as usize);
    }
    // points stand in their order between the other cards
    for (k, point) in points.into_iter().enumerate() {
        let at = 2 * k + rng.below(2) as usize;
        cards.insert(at.min(cards.len()), point);
    }
    format!(
        "$ a file\nSOL 101\nCEND\n  SUBCASE 1\n    LOAD = 3\nBegin  Bulk\n$ cards\n\n{}enddata\nGRID,1\n",
        cards.concat()
    )
}

#[test]
fn nastran_bricks() {
    let name = |_: usize, label: i64| format!("property-{label}");
    for seed in 0..6 {
        for format in ["free", "small", "marked", "large"] {
            for order in [1, 2] {
                let rng = &mut Random::new(seed);
                let brick = Brick::new(&MIXED, seed);
                let content = nastran(&brick, order, format, rng);
                let what = format!("Nastran, {format}, order {order}, seed {seed}");
                let mesh =
                    text("a.bdf", &content).unwrap_or_else(|e| panic!("{what}: {e}\n{content}"));
                brick.assert_is(&mesh, order, name, &what);
                assert_eq!(
                    mesh.notes[0],
                    "divided into 24 tetrahedra: 1 hexahedron, 2 wedges, 6 pyramids"
                );
                assert!(
                    mesh.notes[1].ends_with("were not read: 2 MAT1, 1 PSOLID"),
                    "{:?}",
                    mesh.notes
                );
            }
        }
    }
}

#[test]
fn nastran_fields() {
    // numbers without a letter in front of the exponent, tabs, columns behind 80, a file without a case control
    let points = "GRID,1,,1.5-3,-2.+1,3\nGRID\t2\t0\t1.D0\t\t.5\t\t\t\t+\n+       345\n\
                  GRID*                  3                            -1.0             7.0*\n*                    2.0\n\
                  GRID    4                     0.      0.      4.                                      comment\n\
                  ctetra  1       9       1       2       3       4       $ a comment\n\
                  GRID    4                     0.      0.      4.\n";
    let mesh = text("a.nas", points).unwrap();
    assert_eq!(
        mesh.points,
        [[1.5e-3, -20.0, 3.0], [1.0, 0.0, 0.5], [-1.0, 7.0, 2.0], [0.0, 0.0, 4.0]].map(Vec3::from)
    );
    assert_eq!((mesh.tets.len(), &mesh.regions[0].name[..]), (1, "property-9"));
    assert!(mesh.notes.is_empty(), "{:?}", mesh.notes);
    // by its content
    let mesh = text("a.dat", points).unwrap();
    assert_eq!(mesh.tets.len(), 1);
    let message = text("a.dat", "1 2 3\nGRIDS 4\n").unwrap_err().to_string();
    assert!(message.contains(".bdf") && !message.contains("line"), "{message}");
    // nodes on edges that are left out leave elements of order 1; either sense is that of the manual
    let points = "GRID,1\nGRID,2,,1.\nGRID,3,,,1.\nGRID,4,,,,1.\nGRID,5,,0.,0.,-1.\n";
    let mesh = text("a.fem", &format!("{points}CTETRA,1,1,1,2,3,4,,,\n,,,\nCTETRA,2,1,1,2,3,5\n"))
        .unwrap();
    assert!(mesh.middles.is_empty() && mesh.check().is_empty(), "{:?}", mesh.check());
    assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn nastran_errors_name_the_line() {
    let points = "GRID,1\nGRID,2,,1.\nGRID,3,,,1.\nGRID,4,,,,1.\n";
    let file = |rest: &str| format!("BEGIN BULK\n{points}{rest}\n");
    let case = |rest: &str, line: usize, part: &'static str| ("a.bdf", file(rest), line, part);
    assert_errors(&[
        case("GRID,5,3,1.,1.,1.", 6, "GRID 5 has its coordinates in the coordinate system 3"),
        case("GRDSET,,2", 6, "coordinate system 2"),
        case("GRID,5,,1.x", 6, "GRID: \"1.x\" in field 4, where a coordinate should stand"),
        case("GRID,5,,inf", 6, "finite"),
        case("GRID,x", 6, "\"x\" in field 2"),
        case("GRID,0", 6, "a number from 1"),
        case("GRID,2,,3.", 6, "twice, at different places"),
        case("$\nCTETRA,7,1,1,2,3,5", 7, "CTETRA 7: there is no GRID 5"),
        case("CTETRA,7,1,1,2,3", 6, "CTETRA 7 has no node 4 of 4"),
        case("CTETRA,7,1,1,2,3,4,1\nMAT1", 6, "CTETRA 7 has no node 6 of 10"),
        case("CHEXA,7,1,1,1,2,2,1,1\n,2,2", 6, "CHEXA 7: a hexahedron has no extent"),
        case("INCLUDE 'mesh.bdf'", 6, "INCLUDE is not supported"),
        case("=,*(1),=", 6, "repeat"),
        case("GRID,5,,1.,1.,1.,,,,+,7", 6, "more than ten fields"),
        case("CTETRA,7,1,1,2,3,4,,,+A\n+B,1,2,3", 7, "continues another card"),
        case("7 8 9", 6, "\"7 8 9\""),
        ("a.bdf", "BEGIN BULK\n+,1,2\n".into(), 2, "none before it"),
        ("a.bdf", "BEGIN BULK\nMAT1,1\nENDDATA\n".into(), 3, "no GRID card"),
    ]);
}
