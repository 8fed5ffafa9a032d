//! Pyramids, wedges and hexahedra of files become tetrahedra that fill them and share their faces, whatever the numbers of their vertices.
//!
//! The files are written here from the places of nodes in the manuals of the formats. The places are in quarters of the edge of a cube, so that those
//! between a corner and the centre have integers, too.

// long: meshes of a grid of cubes, their text in four formats, and what has to hold of what is read

use standoff_geometry::quadratic;
use standoff_geometry::topology::boundary_faces;
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::format::{ReadOptions, parse};
use standoff_mesh::{Mesh, MeshError, Place, Severity, is_closed, tet_determinant};
use standoff_testkit::Random;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

type Point = [i32; 3];

/// The nodes of a kind of cells in the orders of both families of formats: numbers of the kind with as many of the nodes.
struct Kind {
    gmsh: (&'static [(i64, usize)], &'static str),
    vtk: (&'static [(i64, usize)], &'static str),
}

const HEXAHEDRON: Kind = Kind {
    gmsh: (
        &[(5, 8), (17, 20), (12, 27)],
        "000 400 440 040 004 404 444 044 200 020 002 420 402 240 442 042 204 024 424 244 220 202 022 422 242 224 222",
    ),
    vtk: (
        &[(12, 8), (25, 20), (29, 27)],
        "000 400 440 040 004 404 444 044 200 420 240 020 204 424 244 024 002 402 442 042 022 422 202 242 220 224 222",
    ),
};
/// In place of a linear hexahedron in files of VTK.
const VOXEL: Kind =
    Kind { gmsh: HEXAHEDRON.gmsh, vtk: (&[(11, 8)], "000 400 040 440 004 404 044 444") };
const WEDGE: Kind = Kind {
    gmsh: (
        &[(6, 6), (18, 15), (13, 18)],
        "000 400 040 004 404 044 200 020 002 220 402 042 204 024 224 202 022 222",
    ),
    vtk: (
        &[(13, 6), (26, 15), (32, 18)],
        "000 400 040 004 404 044 200 220 020 204 224 024 002 402 042 202 222 022",
    ),
};
const PYRAMID: Kind = Kind {
    gmsh: (
        &[(7, 5), (19, 13), (14, 14)],
        "000 400 440 040 222 200 020 111 420 311 240 331 131 220",
    ),
    vtk: (&[(14, 5), (27, 13), (27, 13)], "000 400 440 040 222 200 420 240 020 111 311 331 131"),
};
const QUADRANGLE: Kind = Kind {
    gmsh: (&[(3, 4), (16, 8), (10, 9)], "000 400 440 040 200 420 240 020 220"),
    vtk: (&[(9, 4), (23, 8), (28, 9)], "000 400 440 040 200 420 240 020 220"),
};
/// Of tetrahedra the places are those of corners 0 to 3 and of edges by their ends.
const TET: ([(i64, usize); 3], [[usize; 2]; 6]) =
    ([(4, 4), (11, 10), (11, 10)], [[0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3]]);
const VTK_TET: ([(i64, usize); 3], [[usize; 2]; 6]) =
    ([(10, 4), (24, 10), (24, 10)], [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]);

/// A cell: its number in both families, with the places of its nodes.
#[derive(Clone)]
struct Cell {
    gmsh: (i64, Vec<Point>),
    vtk: (i64, Vec<Point>),
    label: i64,
}

fn places(text: &str, count: usize) -> Vec<Point> {
    let digits = |w: &str| -> Point {
        let d: Vec<i32> = w.bytes().map(|b| i32::from(b - b'0')).collect();
        [d[0], d[1], d[2]]
    };
    text.split(' ').take(count).map(digits).collect()
}

impl Kind {
    fn cell(&self, order: usize, place: &dyn Fn(Point) -> Point, label: i64) -> Cell {
        let of = |(numbers, text): (&[(i64, usize)], &str)| {
            let (number, count) = numbers[order.min(numbers.len() - 1)];
            (number, places(text, count).into_iter().map(place).collect())
        };
        Cell { gmsh: of(self.gmsh), vtk: of(self.vtk), label }
    }
}

fn tet(order: usize, corners: [Point; 4], label: i64) -> Cell {
    let of = |(numbers, edges): ([(i64, usize); 3], [[usize; 2]; 6])| {
        let (number, count) = numbers[order];
        let middle = |[a, b]: [usize; 2]| [0, 1, 2].map(|k| (corners[a][k] + corners[b][k]) / 2);
        let all = corners.into_iter().chain(edges.map(middle));
        (number, all.take(count).collect())
    };
    Cell { gmsh: of(TET), vtk: of(VTK_TET), label }
}

/// The 24 rotations of a cube about its centre.
fn rotations() -> Vec<impl Fn(Point) -> Point + Clone> {
    let mut found = Vec::new();
    for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
        for signs in 0..8 {
            let sign = |k: usize| if signs >> k & 1 == 1 { -1 } else { 1 };
            let mut matrix = Mat3::zeros();
            (0..3).for_each(|k| matrix[(k, axes[k])] = f64::from(sign(k)));
            if matrix.determinant() > 0.0 {
                let sign = [0, 1, 2].map(sign);
                found.push(move |p: Point| [0, 1, 2].map(|k| sign[k] * (p[axes[k]] - 2) + 2));
            }
        }
    }
    assert_eq!(found.len(), 24);
    found
}

fn shuffle<T>(list: &mut [T], rng: &mut Random) {
    for k in (1..list.len()).rev() {
        list.swap(k, rng.below(k as u64 + 1) as usize);
    }
}

/// The corners of n³ cubes, in random order.
fn corners(n: i32, rng: &mut Random) -> Vec<Point> {
    let all = |k: i32| (0..=n).map(move |c| [k, c]);
    let mut list: Vec<Point> = (0..=n)
        .flat_map(all)
        .flat_map(|[a, b]| (0..=n).map(move |c| [4 * a, 4 * b, 4 * c]))
        .collect();
    shuffle(&mut list, rng);
    list
}

fn origins(n: i32) -> impl Iterator<Item = Point> {
    (0..n).flat_map(move |i| (0..n).flat_map(move |j| (0..n).map(move |k| [i, j, k])))
}

/// Hexahedra, of which each begins at any of its corners.
fn hexahedra(kind: &Kind, n: i32, order: usize, rng: &mut Random) -> Vec<Cell> {
    let rotations = rotations();
    let of = |origin: Point| {
        // voxels have the directions of the axes
        let k = if kind.vtk.0.len() == 1 { 0 } else { rng.below(24) as usize };
        let turn = &rotations[k];
        kind.cell(order, &|p| add(turn(p), origin), i64::from(origin[2]) + 1)
    };
    let mut cells: Vec<Cell> = origins(n).map(of).collect();
    shuffle(&mut cells, rng);
    cells
}

fn add(p: Point, origin: Point) -> Point {
    [0, 1, 2].map(|k| p[k] + 4 * origin[k])
}

/// Cubes that are hexahedra, two wedges, six pyramids, or twelve tetrahedra about their centres. Triangles on faces of cubes follow the diagonals that
/// the numbers of the corners give; `rank` is the number of a corner.
fn mixed(n: i32, order: usize, rank: &HashMap<Point, usize>, rng: &mut Random) -> Vec<Cell> {
    let rotations = rotations();
    let mut cells = Vec::new();
    let square = places(QUADRANGLE.gmsh.1, 4);
    for origin in origins(n) {
        let label = 1 + rng.below(3) as i64;
        let start = |face: &[Point]| (0..4).min_by_key(|k| rank[&face[*k]]).unwrap();
        match rng.below(4) {
            0 => {
                // both triangles of a wedge are halves of faces with the same diagonal
                let fits = rotations.iter().find(|turn| {
                    let ends = |z: i32| {
                        let face: Vec<Point> =
                            square.iter().map(|p| add(turn([p[0], p[1], z]), origin)).collect();
                        start(&face) % 2
                    };
                    ends(0) == 1 && ends(4) == 1
                });
                if let Some(turn) = fits {
                    cells.push(WEDGE.cell(order, &|p| add(turn(p), origin), label));
                    let half = |p: Point| add(turn([4 - p[0], 4 - p[1], p[2]]), origin);
                    cells.push(WEDGE.cell(order, &half, label));
                    continue;
                }
                let turn = &rotations[rng.below(24) as usize];
                cells.push(HEXAHEDRON.cell(order, &|p| add(turn(p), origin), label));
            }
            1 => {
                let turn = &rotations[rng.below(24) as usize];
                cells.push(HEXAHEDRON.cell(order, &|p| add(turn(p), origin), label));
            }
            kind => {
                let mut seen = HashSet::new();
                for turn in &rotations {
                    if !seen.insert(turn([2, 2, 0])) {
                        continue;
                    }
                    if kind == 2 {
                        cells.push(PYRAMID.cell(order, &|p| add(turn(p), origin), label));
                        continue;
                    }
                    let face: Vec<Point> = square.iter().map(|p| add(turn(*p), origin)).collect();
                    let s = start(&face);
                    let at = |k: usize| face[(s + k) % 4];
                    let centre = add([2; 3], origin);
                    cells.push(tet(order, [at(0), at(1), at(2), centre], label));
                    cells.push(tet(order, [at(0), at(2), at(3), centre], label));
                }
            }
        }
    }
    shuffle(&mut cells, rng);
    cells
}

/// A file: points of cells, those in `first` in front, and the cells.
struct File {
    points: Vec<Point>,
    cells: Vec<Cell>,
}

impl File {
    fn new(first: Vec<Point>, cells: Vec<Cell>, rng: &mut Random) -> Self {
        let mut seen: HashSet<Point> = first.iter().copied().collect();
        let used: HashSet<Point> =
            cells.iter().flat_map(|c| c.gmsh.1.iter().chain(&c.vtk.1)).copied().collect();
        let mut points: Vec<Point> = first.into_iter().filter(|p| used.contains(p)).collect();
        let mut others: Vec<Point> = used.into_iter().filter(|p| seen.insert(*p)).collect();
        others.sort_unstable();
        shuffle(&mut others, rng);
        points.extend(others);
        Self { points, cells }
    }

    fn numbers(&self) -> HashMap<Point, i64> {
        self.points.iter().copied().zip(0..).collect()
    }

    /// The bytes of the file in a format; `at` says where a place is.
    // long: an arm for each format
    fn write(&self, format: &str, at: &dyn Fn(Point) -> Vec3) -> Vec<u8> {
        let numbers = self.numbers();
        let list = |places: &[Point]| -> Vec<i64> { places.iter().map(|p| numbers[p]).collect() };
        let x: Vec<Vec3> = self.points.iter().map(|p| at(*p)).collect();
        let texts = |v: &[i64], plus: i64| -> String {
            v.iter().map(|i| format!(" {}", i + plus)).collect()
        };
        let lines: String = x.iter().map(|p| format!("{:?} {:?} {:?}\n", p.x, p.y, p.z)).collect();
        let (points, cells) = (x.len(), self.cells.len());
        let dimension = |c: &Cell| if [3, 16, 10].contains(&c.gmsh.0) { 2 } else { 3 };
        let vtk: Vec<Vec<i64>> = self.cells.iter().map(|c| list(&c.vtk.1)).collect();
        let entries: usize = vtk.iter().map(Vec::len).sum();
        let be =
            |v: &[i64]| -> Vec<u8> { v.iter().flat_map(|i| (*i as i32).to_be_bytes()).collect() };
        let mut out: Vec<u8> = Vec::new();
        match format {
            "2.2 text" => {
                let nodes: String =
                    (1..).zip(lines.lines()).map(|(k, l)| format!("{k} {l}\n")).collect();
                let elements: String = (1..)
                    .zip(&self.cells)
                    .map(|(k, c)| {
                        format!("{k} {} 2 {} 0{}\n", c.gmsh.0, c.label, texts(&list(&c.gmsh.1), 1))
                    })
                    .collect();
                out.extend(
                    format!(
                        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{points}\n\
                     {nodes}$EndNodes\n$Elements\n{cells}\n{elements}$EndElements\n"
                    )
                    .bytes(),
                );
            }
            "2.2 binary" => {
                out.extend(b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n");
                out.extend(format!("{points}\n").bytes());
                for (k, p) in (1i32..).zip(&x) {
                    out.extend(k.to_le_bytes());
                    p.iter().for_each(|c| out.extend(c.to_le_bytes()));
                }
                out.extend(format!("\n$EndNodes\n$Elements\n{cells}\n").bytes());
                for (k, c) in (1i32..).zip(&self.cells) {
                    let head = [c.gmsh.0 as i32, 1, 2, k, c.label as i32, 0];
                    let nodes = list(&c.gmsh.1).into_iter().map(|v| v as i32 + 1);
                    head.into_iter().chain(nodes).for_each(|i| out.extend(i.to_le_bytes()));
                }
                out.extend(b"\n$EndElements\n");
            }
            "4.1 binary" => {
                out.extend(b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Entities\n");
                let size = |out: &mut Vec<u8>, v: &[u64]| {
                    v.iter().for_each(|i| out.extend(i.to_le_bytes()))
                };
                let int = |out: &mut Vec<u8>, v: &[i32]| {
                    v.iter().for_each(|i| out.extend(i.to_le_bytes()))
                };
                // an entity for each label
                size(&mut out, &[0, 0, 4, 4]);
                for tag in [1, 2, 3, 4, 1, 2, 3, 4] {
                    int(&mut out, &[tag]);
                    out.extend([0; 48]);
                    size(&mut out, &[1]);
                    int(&mut out, &[tag]);
                    size(&mut out, &[0]);
                }
                out.extend(b"\n$EndEntities\n$Nodes\n");
                size(&mut out, &[1, points as u64, 1, points as u64]);
                int(&mut out, &[3, 1, 0]);
                size(&mut out, &[points as u64]);
                (1..=points as u64).for_each(|k| size(&mut out, &[k]));
                x.iter().for_each(|p| p.iter().for_each(|c| out.extend(c.to_le_bytes())));
                out.extend(b"\n$EndNodes\n$Elements\n");
                size(&mut out, &[cells as u64, cells as u64, 1, cells as u64]);
                for (k, c) in (1..).zip(&self.cells) {
                    int(&mut out, &[dimension(c), c.label as i32, c.gmsh.0 as i32]);
                    let nodes = list(&c.gmsh.1).into_iter().map(|v| v as u64 + 1);
                    size(&mut out, &[1, k]);
                    nodes.for_each(|v| size(&mut out, &[v]));
                }
                out.extend(b"\n$EndElements\n");
            }
            "vtk text" | "vtk binary" => {
                let binary = format == "vtk binary";
                let word = if binary { "BINARY" } else { "ASCII" };
                out.extend(format!("# vtk DataFile Version 3.0\nt\n{word}\nDATASET UNSTRUCTURED_GRID\nPOINTS {points} double\n").bytes());
                if binary {
                    x.iter().for_each(|p| p.iter().for_each(|c| out.extend(c.to_be_bytes())));
                } else {
                    out.extend(lines.bytes());
                }
                let types: Vec<i64> = self.cells.iter().map(|c| c.vtk.0).collect();
                let labels: Vec<i64> = self.cells.iter().map(|c| c.label).collect();
                let counted = vtk.iter().map(|v| [&[v.len() as i64], &v[..]].concat());
                let mut section = |head: String, rows: Vec<Vec<i64>>| {
                    out.extend(head.bytes());
                    for row in rows {
                        if binary {
                            out.extend(be(&row));
                        } else {
                            out.extend(texts(&row, 0).bytes());
                            out.push(b'\n');
                        }
                    }
                };
                section(format!("\nCELLS {cells} {}\n", entries + cells), counted.collect());
                section(format!("\nCELL_TYPES {cells}\n"), vec![types]);
                let head =
                    format!("\nCELL_DATA {cells}\nSCALARS part int 1\nLOOKUP_TABLE default\n");
                section(head, vec![labels]);
            }
            "vtu text" | "vtu raw" => {
                let numbers =
                    x.iter().flat_map(|p| [p.x, p.y, p.z]).map(f64::to_bits).map(|b| b as i64);
                let ends = vtk.iter().scan(0, |end, v| {
                    *end += v.len() as i64;
                    Some(*end)
                });
                let arrays: [(&str, &str, Vec<i64>); 5] = [
                    ("Float64", "Name=\"Points\" NumberOfComponents=\"3\"", numbers.collect()),
                    ("Int64", "Name=\"connectivity\"", vtk.concat()),
                    ("Int64", "Name=\"offsets\"", ends.collect()),
                    ("Int64", "Name=\"types\"", self.cells.iter().map(|c| c.vtk.0).collect()),
                    ("Int64", "Name=\"part\"", self.cells.iter().map(|c| c.label).collect()),
                ];
                let mut appended: Vec<u8> = Vec::new();
                let mut tags: Vec<String> = Vec::new();
                for (kind, head, values) in arrays {
                    if format == "vtu raw" {
                        tags.push(format!("<DataArray type=\"{kind}\" {head} format=\"appended\" offset=\"{}\"/>\n", appended.len()));
                        appended.extend((8 * values.len() as u64).to_le_bytes());
                        values.iter().for_each(|v| appended.extend(v.to_le_bytes()));
                    } else {
                        let body =
                            if kind == "Float64" { lines.clone() } else { texts(&values, 0) };
                        tags.push(format!("<DataArray type=\"{kind}\" {head} format=\"ascii\">\n{body}</DataArray>\n"));
                    }
                }
                out.extend(format!(
                    "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n\
                     <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>\n{}</Points>\n<Cells>\n{}{}{}</Cells>\n\
                     <CellData>\n{}</CellData>\n</Piece>\n</UnstructuredGrid>\n",
                    tags[0], tags[1], tags[2], tags[3], tags[4]
                ).bytes());
                if format == "vtu raw" {
                    out.extend(b"<AppendedData encoding=\"raw\">\n_");
                    out.extend(appended);
                    out.extend(b"\n</AppendedData>\n");
                }
                out.extend(b"</VTKFile>\n");
            }
            other => panic!("{other}"),
        }
        out
    }

    fn read(&self, format: &str, at: &dyn Fn(Point) -> Vec3) -> Mesh {
        read(format, &self.write(format, at)).unwrap_or_else(|e| panic!("{format}: {e}"))
    }
}

const FORMATS: [&str; 7] =
    ["2.2 text", "2.2 binary", "4.1 binary", "vtk text", "vtk binary", "vtu text", "vtu raw"];

fn read(format: &str, data: &[u8]) -> Result<Mesh, MeshError> {
    let name = match &format[..3] {
        "vtk" => "a.vtk",
        "vtu" => "a.vtu",
        _ => "a.msh",
    };
    parse(Path::new(name), data, &ReadOptions::default())
}

fn straight(n: i32) -> impl Fn(Point) -> Vec3 {
    move |p| Vec3::from(p.map(|c| f64::from(c) / f64::from(4 * n)))
}

/// VTK has no centres of the bases of pyramids, so that points may be left over.
fn assert_sound(mesh: &Mesh, what: &str) {
    let defects = mesh.check();
    let errors = defects.iter().filter(|d| d.severity() == Severity::Error);
    assert!(errors.clone().count() == 0, "{what}: {:?}", errors.collect::<Vec<_>>());
}

/// Positive tetrahedra that fill the unit cube, divided into n³ ones, whose faces are of two of them or on the boundary of the cube.
fn assert_fills(mesh: &Mesh, n: i32, what: &str) {
    assert_sound(mesh, what);
    assert!((0..mesh.tets.len()).all(|t| tet_determinant(&mesh.tet_points(t)) > 0.0), "{what}");
    assert!((mesh.volume() - 1.0).abs() < 1e-12, "{what}: {}", mesh.volume());
    let boundary = boundary_faces(&mesh.tets).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(boundary.len() as i32, 12 * n * n, "{what}");
    for face in &boundary {
        let x = face.map(|v| mesh.points[v as usize]);
        let on = |k: usize, c: f64| x.iter().all(|p| p[k] == c);
        assert!((0..3).any(|k| on(k, 0.0) || on(k, 1.0)), "{what}: {x:?}");
    }
    assert!(is_closed(&mesh.surface()), "{what}");
    assert_eq!(quadratic::misfit(&mesh.tets, &mesh.middles), None, "{what}");
    // a node of the file is not made again
    let mut used = mesh.clone();
    used.compact();
    let places: HashSet<[u64; 3]> =
        used.points.iter().map(|p| [p.x, p.y, p.z].map(f64::to_bits)).collect();
    assert_eq!(places.len(), used.points.len(), "{what}");
    for (t, m) in mesh.tets.iter().zip(&mesh.middles) {
        for (edge, middle) in quadratic::edges(t).into_iter().zip(m) {
            let [a, b] = edge.map(|v| mesh.points[v as usize]);
            assert!((mesh.points[*middle as usize] - (a + b) * 0.5).norm() < 1e-15, "{what}");
        }
    }
}

/// Every label has its cells: the volume of its tetrahedra is that of the cubes, and its vertices are the nodes of its tetrahedra.
fn assert_regions(mesh: &Mesh, volumes: &BTreeMap<i64, f64>, format: &str) {
    let vtk = format.starts_with("vt");
    for (label, volume) in volumes {
        let name = if vtk { format!("part={label}") } else { format!("volume-{label}") };
        let region = mesh.region(&name).unwrap_or_else(|| panic!("{format}: {name}"));
        let found: f64 =
            region.tets.iter().map(|t| tet_determinant(&mesh.tet_points(*t as usize)) / 6.0).sum();
        assert!((found - volume).abs() < 1e-12, "{format} {name}: {found} {volume}");
        let nodes = region.tets.iter().flat_map(|t| {
            let middles = mesh.middles.get(*t as usize).into_iter().flatten();
            mesh.tets[*t as usize].iter().chain(middles)
        });
        let mut nodes: Vec<u32> = nodes.copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(region.vertices, nodes, "{format} {name}");
    }
    let all: f64 = volumes.values().sum();
    assert!((all - 1.0).abs() < 1e-12);
}

#[test]
fn bricks_of_hexahedra_in_every_format() {
    let n = 3;
    let mut diagonals = HashSet::new();
    for seed in 0..6 {
        for (order, format) in (0..3).flat_map(|o| FORMATS.map(|f| (o, f))) {
            let rng = &mut Random::new(seed);
            let corners = corners(n, rng);
            let kind = if order == 0 && seed % 2 == 1 { &VOXEL } else { &HEXAHEDRON };
            let cells = hexahedra(kind, n, order, rng);
            let file = File::new(corners, cells, rng);
            let mesh = file.read(format, &straight(n));
            let what = format!("{format}, order {order}, seed {seed}");
            assert_fills(&mesh, n, &what);
            assert_eq!(mesh.tets.len(), 6 * 27, "{what}");
            assert_eq!(mesh.middles.len(), if order == 0 { 0 } else { 6 * 27 }, "{what}");
            // linear ones and those with all centres need no other nodes than those of the file
            let more = if order == 1 { 108 + 27 } else { 0 };
            assert_eq!(mesh.points.len(), file.points.len() + more, "{what}");
            assert!(
                mesh.notes.len() == 1
                    && mesh.notes[0] == "divided into 162 tetrahedra: 27 hexahedra",
                "{:?}",
                mesh.notes
            );
            let third = 1.0 / 3.0;
            assert_regions(&mesh, &BTreeMap::from([(1, third), (2, third), (3, third)]), format);
            diagonals.insert(mesh.tets.clone());
        }
    }
    // the numbers of vertices make the division
    assert!(diagonals.len() >= 6);
}

#[test]
fn all_kinds_of_solids_conform() {
    let n = 3;
    let mut kinds = HashMap::new();
    for seed in 0..40 {
        let rng = &mut Random::new(100 + seed);
        let order = (seed % 3) as usize;
        let mut first = corners(n, rng);
        // centres may have the smallest numbers
        first.extend(origins(n).map(|o| add([2; 3], o)));
        shuffle(&mut first, rng);
        let rank = first.iter().copied().zip(0..).collect();
        let cells = mixed(n, order, &rank, rng);
        let mut volumes = BTreeMap::new();
        for c in &cells {
            *kinds.entry(c.vtk.0).or_insert(0) += 1;
            let part = match c.vtk.0 {
                12 | 25 | 29 => 1.0,
                13 | 26 | 32 => 0.5,
                14 | 27 => 1.0 / 6.0,
                _ => 1.0 / 12.0,
            };
            *volumes.entry(c.label).or_insert(0.0) += part / 27.0;
        }
        let file = File::new(first, cells, rng);
        for format in FORMATS {
            let mesh = file.read(format, &straight(n));
            assert_fills(&mesh, n, &format!("{format}, seed {seed}"));
            assert_regions(&mesh, &volumes, format);
            // every node of a cell stays, if only one of two neighbours has the one in the centre of a face, too
            let mut used = mesh.clone();
            let kept: HashSet<u32> = used.compact().into_iter().collect();
            let numbers = file.numbers();
            let nodes = file.cells.iter().flat_map(|c| match format.starts_with("vt") {
                true => &c.vtk.1,
                false => &c.gmsh.1,
            });
            let lost = nodes.filter(|p| !kept.contains(&(numbers[*p] as u32))).count();
            assert_eq!(lost, 0, "{format}, seed {seed}");
        }
    }
    for kind in [10, 12, 13, 14, 24, 25, 26, 27, 29, 32] {
        assert!(kinds[&kind] > 50, "{kind}: {kinds:?}");
    }
}

/// Quadrangles of all orders on the boundary and inside, in front of the solids or behind them, become triangles of the tetrahedra's faces.
#[test]
fn quadrangles_on_solids_have_their_diagonals() {
    let n = 2;
    for (seed, format) in (0..9).flat_map(|s| FORMATS.map(|f| (s, f))) {
        let rng = &mut Random::new(200 + seed);
        let order = (seed % 3) as usize;
        let first = corners(n, rng);
        let mut cells = hexahedra(&HEXAHEDRON, n, order, rng);
        let rotations = rotations();
        // the faces of each hexahedron on the boundary, and those at x = 1/2
        let mut faces = HashSet::new();
        let mut quadrangles = Vec::new();
        for origin in origins(n) {
            for turn in &rotations {
                let centre = add(turn([2, 2, 0]), origin);
                let is_outer = centre.iter().any(|c| *c == 0 || *c == 4 * n);
                if (is_outer || centre[0] == 4) && faces.insert(centre) {
                    quadrangles.push(QUADRANGLE.cell(order, &|p| add(turn(p), origin), 4));
                }
            }
        }
        assert_eq!(quadrangles.len(), 24 + 4);
        let inside = quadrangles.len() - 24;
        cells = if seed % 2 == 0 {
            [quadrangles, cells].concat()
        } else {
            [cells, quadrangles].concat()
        };
        let file = File::new(first, cells, rng);
        let mesh = file.read(format, &straight(n));
        let what = format!("{format}, seed {seed}");
        assert_fills(&mesh, n, &what);
        let sorted = |t: &[u32; 3]| {
            let mut t = *t;
            t.sort_unstable();
            t
        };
        let each = if order == 0 { 2 } else { 8 };
        let surface: HashSet<[u32; 3]> = mesh.surface().iter().map(sorted).collect();
        let triangles: HashSet<[u32; 3]> = mesh.triangles.iter().map(sorted).collect();
        assert_eq!((mesh.triangles.len(), triangles.len()), (each * 28, each * 28), "{what}");
        assert_eq!(surface.len(), each * 24, "{what}");
        assert_eq!(surface.intersection(&triangles).count(), surface.len(), "{what}");
        // those inside are faces of tetrahedra, too
        let all = mesh.tets.iter().flat_map(|t| standoff_mesh::tet_faces(*t)).collect();
        let all = quadratic::divide_faces(all, &mesh.tets, &mesh.middles);
        let all: HashSet<[u32; 3]> = all.iter().map(sorted).collect();
        assert_eq!(triangles.difference(&all).count(), 0, "{what}");
        assert_eq!(triangles.difference(&surface).count(), each * inside, "{what}");
        let name = if format.starts_with("vt") { "part=4" } else { "surface-4" };
        let region = mesh.region(name).unwrap_or_else(|| panic!("{what}"));
        assert_eq!((region.triangles.len(), region.tets.len()), (each * 28, 0), "{what}");
    }
}

/// Quadrangles of eight and nine nodes without a solid need no further nodes. One with an edge of no length is a triangle.
#[test]
fn quadrangles_alone_have_the_nodes_of_the_file() {
    let rng = &mut Random::new(1);
    for (order, count) in [(1, 6), (2, 8)] {
        let file = File::new(Vec::new(), vec![QUADRANGLE.cell(order, &|p| p, 1)], rng);
        for format in FORMATS {
            let mesh = file.read(format, &straight(1));
            let normal: Vec3 = (mesh.triangles.iter())
                .map(|t| {
                    let [a, b, c] = t.map(|v| mesh.points[v as usize]);
                    assert!((b - a).cross(&(c - a)).z > 0.0);
                    (b - a).cross(&(c - a)) / 2.0
                })
                .sum();
            assert_eq!(
                (mesh.triangles.len(), mesh.points.len(), normal.z),
                (count, 7 + order, 1.0)
            );
            assert!(mesh.check().is_empty() && mesh.notes.is_empty(), "{format}");
        }
    }
    let text = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n0 0 0\n2 0 0\n0 2 0\n\
                1 0 0\n1 1 0\n0 1 0\nCELLS 1 9\n8 0 1 2 2 3 4 2 5\nCELL_TYPES 1\n23\n";
    let mesh = read("vtk text", text.as_bytes()).unwrap();
    assert_eq!(mesh.triangles, [[2, 5, 4], [5, 0, 3], [4, 3, 1], [5, 3, 4]]);
}

/// The volume of quadratic tetrahedra, by a rule for polynomials of the third degree, which their Jacobian determinant is. The determinant is
/// positive at its points.
fn curved_volume(mesh: &Mesh) -> f64 {
    let sixth = 1.0 / 6.0;
    let mut rule = vec![([0.25; 4], -0.8)];
    rule.extend((0..4).map(|k| (std::array::from_fn(|i| if i == k { 0.5 } else { sixth }), 0.45)));
    let nodes = quadratic::nodes(&mesh.tets, &mesh.middles);
    let of = |nodes: &[u32; 10], l: &[f64; 4]| {
        // derivatives by the four barycentric coordinates
        let mut d = [Vec3::zeros(); 4];
        for k in 0..4 {
            d[k] += mesh.points[nodes[k] as usize] * (4.0 * l[k] - 1.0);
        }
        for (e, [a, b]) in quadratic::EDGES.into_iter().enumerate() {
            let x = mesh.points[nodes[4 + e] as usize] * 4.0;
            d[a] += x * l[b];
            d[b] += x * l[a];
        }
        let determinant = tet_determinant(&d);
        assert!(determinant > 0.0, "{nodes:?}");
        determinant / 6.0
    };
    nodes.iter().map(|n| rule.iter().map(|(l, w)| w * of(n, l)).sum::<f64>()).sum()
}

/// A quarter of a tube: what quadratic solids leave of its volume falls with the fourth power of their size, because the diagonals of curved faces are
/// curved, too. With straight ones, or without middles, it would be the second.
#[test]
fn curved_solids_keep_their_volume() {
    let tube = |n: i32| {
        move |p: Point| {
            let [x, y, z] = p.map(|c| f64::from(c) / f64::from(4 * n));
            let (angle, r) = (x * std::f64::consts::FRAC_PI_2, 2.0 - y);
            Vec3::new(r * angle.cos(), r * angle.sin(), z)
        }
    };
    let exact = std::f64::consts::PI * 3.0 / 4.0;
    for (order, format) in [(1, "2.2 text"), (1, "vtu text"), (2, "2.2 text"), (2, "vtk text")] {
        let off = |n: i32, all: bool| {
            let rng = &mut Random::new(7);
            let first = corners(n, rng);
            let rank = first.iter().copied().zip(0..).collect();
            let cells = if all {
                mixed(n, order, &rank, rng)
            } else {
                hexahedra(&HEXAHEDRON, n, order, rng)
            };
            let mesh = File::new(first, cells, rng).read(format, &tube(n));
            assert_sound(&mesh, format);
            (exact - curved_volume(&mesh)).abs() / exact
        };
        for all in [false, true] {
            let found = [2, 4, 8].map(|n| off(n, all));
            assert!(found[0] < 2e-3, "{format} {order}: {found:?}");
            assert!(
                found[1] < found[0] / 12.0 && found[2] < found[1] / 12.0,
                "{format} {order}: {found:?}"
            );
        }
        // one hexahedron of a quarter of a tube has middles where they are in the file, and on diagonals of the outer face at its radius, nearly
        let file = File::new(
            corners(1, &mut Random::new(3)),
            vec![HEXAHEDRON.cell(order, &|p| p, 1)],
            &mut Random::new(4),
        );
        let mesh = file.read(format, &tube(1));
        let outer = mesh
            .points
            .iter()
            .filter(|p| (p.xy().norm() - 2.0).abs() < 0.1 && p.x > 0.1 && p.y > 0.1);
        assert_eq!(outer.count(), 3, "{format} {order}");
    }
}

/// A cake of hexahedra: the innermost ones have an edge of length 0 on its axis. In the next test they lose more.
#[test]
fn collapsed_hexahedra_are_what_is_left_of_them() {
    let (around, rings, layers) = (7, 2, 2);
    for seed in 0..30 {
        let rng = &mut Random::new(300 + seed);
        let mut points: Vec<Point> = Vec::new();
        for z in 0..=layers {
            points.push([0, 0, z]);
            points.extend((1..=rings).flat_map(|r| (0..around).map(move |a| [r, a, z])));
        }
        shuffle(&mut points, rng);
        let number: HashMap<Point, usize> = points.iter().copied().zip(0..).collect();
        let at = |r: i32, a: i32, z: i32| number[&[r, if r == 0 { 0 } else { a % around }, z]];
        let mut cells = String::new();
        for (a, r, z) in (0..around)
            .flat_map(|a| (0..rings).flat_map(move |r| (0..layers).map(move |z| (a, r, z))))
        {
            let square =
                |z: i32| [at(r, a, z), at(r + 1, a, z), at(r + 1, a + 1, z), at(r, a + 1, z)];
            let list: Vec<String> =
                [square(z), square(z + 1)].concat().iter().map(usize::to_string).collect();
            cells += &format!("8 {}\n", list.join(" "));
        }
        let count = around * rings * layers;
        let x: String = (points.iter())
            .map(|[r, a, z]| {
                let angle = f64::from(*a) * std::f64::consts::TAU / f64::from(around);
                format!("{:?} {:?} {z}\n", f64::from(*r) * angle.cos(), f64::from(*r) * angle.sin())
            })
            .collect();
        let text = format!(
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{x}CELLS {count} {}\n{cells}CELL_TYPES {count}\n{}",
            points.len(),
            9 * count,
            "12\n".repeat(count as usize)
        );
        let mesh = read("vtk text", text.as_bytes()).unwrap();
        assert!(mesh.check().is_empty(), "{:?}", mesh.check());
        let area = 0.5 * 4.0 * 7.0 * (std::f64::consts::TAU / 7.0).sin();
        assert!((mesh.volume() - 2.0 * area).abs() < 1e-12);
        // six of a hexahedron, three of a wedge
        assert_eq!(mesh.tets.len(), 14 * (6 + 3));
        let boundary = boundary_faces(&mesh.tets).unwrap();
        assert_eq!(boundary.len(), 7 * (2 * (1 + 2) + 2 * 2));
        assert!(is_closed(&boundary));
    }
}

/// Element types and nodes from 1, in Gmsh's format, over the corners of a unit cube.
fn cube(elements: &[(i64, &[i64])]) -> String {
    let x: String = places(HEXAHEDRON.gmsh.1, 8)
        .iter()
        .zip(1..)
        .map(|(p, k)| format!("{k} {} {} {}\n", p[0] / 4, p[1] / 4, p[2] / 4))
        .collect();
    let list = |(k, (kind, nodes)): (usize, &(i64, &[i64]))| {
        let nodes: String = nodes.iter().map(|v| format!(" {v}")).collect();
        format!("{} {kind} 2 1 1{nodes}\n", k + 1)
    };
    let lines: String = elements.iter().enumerate().map(list).collect();
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n{x}$EndNodes\n$Elements\n{}\n{lines}$EndElements\n",
        elements.len()
    )
}

#[test]
fn hexahedra_collapse_to_pyramids_and_tetrahedra() {
    for (nodes, count, volume) in [
        ([1, 2, 3, 4, 5, 5, 5, 5], 2, 1.0 / 3.0),
        ([1, 2, 3, 3, 5, 5, 5, 5], 1, 1.0 / 6.0),
        ([1, 2, 3, 4, 5, 6, 6, 5], 3, 0.5),
    ] {
        let mesh = read("2.2", cube(&[(5, &nodes)]).as_bytes()).unwrap();
        assert!((mesh.volume() - volume).abs() < 1e-15, "{nodes:?}: {}", mesh.volume());
        assert_eq!(mesh.tets.len(), count, "{nodes:?}");
        assert!(is_closed(&boundary_faces(&mesh.tets).unwrap()), "{nodes:?}");
    }
}

#[test]
fn errors_name_the_cell() {
    let place = |name: &str, text: &str, line: usize, parts: &[&str]| {
        let error = read(name, text.as_bytes()).unwrap_err();
        let message = error.to_string();
        assert!(parts.iter().all(|p| message.contains(p)), "{message}");
        let MeshError::Content { place, .. } = error else { panic!("{message}") };
        assert_eq!(place, Place::Line(line), "{message}");
    };
    let sound: &[i64] = &[1, 2, 3, 4, 5, 6, 7, 8];
    let flat = cube(&[(5, sound), (5, &[1, 1, 2, 2, 1, 1, 2, 2])]);
    place("2.2", &flat, 18, &["element 2: a hexahedron has no extent", "Correct its vertices"]);
    let short = cube(&[(5, sound), (6, &[1, 2, 3, 4])]);
    place("2.2", &short, 19, &["\"$EndElements\""]);
    place("2.2", &cube(&[(5, sound), (7, &[1, 2, 3, 4, 9])]), 18, &["element 2", "node 9"]);
    let vtk = |counts: &[(i64, usize)]| {
        let cells: String = (counts.iter())
            .map(|(_, n)| format!("{n}{}\n", (0..*n).map(|k| format!(" {k}")).collect::<String>()))
            .collect();
        let types: String = counts.iter().map(|c| format!("{}\n", c.0)).collect();
        let entries: usize = counts.iter().map(|c| 1 + c.1).sum();
        format!(
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 30 double\n{}CELLS {} {entries}\n{cells}\
             CELL_TYPES {}\n{types}",
            (0..30).map(|k| format!("{k} {} {}\n", k * k % 7, k * k * k % 11)).collect::<String>(),
            counts.len(),
            counts.len()
        )
    };
    for (kind, right, name) in [
        (11, 8, "hexahedron"),
        (12, 8, "hexahedron"),
        (13, 6, "wedge"),
        (14, 5, "pyramid"),
        (23, 8, "quadratic quadrangle"),
        (25, 20, "quadratic hexahedron"),
        (26, 15, "quadratic wedge"),
        (27, 13, "quadratic pyramid"),
        (28, 9, "quadratic quadrangle"),
        (29, 27, "quadratic hexahedron"),
        (32, 18, "quadratic wedge"),
    ] {
        let what = format!("cell 1: a {name} cannot have {} vertices", right + 2);
        place("vtk", &vtk(&[(kind, right), (kind, right + 2)]), 36, &[&what, "order 1 or 2"]);
    }
    place("vtk", &vtk(&[(42, 5)]), 36, &["cell 0: polyhedra", "order 1 or 2", "Tetrahedralize"]);
}

/// An edge that two hexahedra have different nodes on is refused, with the cell.
#[test]
fn edges_have_one_middle() {
    let rng = &mut Random::new(5);
    let mut cells = hexahedra(&HEXAHEDRON, 2, 1, rng);
    let shared = [4, 4, 2];
    let last = cells.iter().rposition(|c| c.vtk.1.contains(&shared)).unwrap();
    // a place that no other cell has
    cells[last].vtk.1.iter_mut().filter(|p| **p == shared).for_each(|p| *p = [4, 5, 2]);
    let file = File::new(corners(2, rng), cells, rng);
    let error = read("vtk text", &file.write("vtk text", &straight(2))).unwrap_err().to_string();
    assert!(error.contains(&format!("cell {last}: the edge between")), "{error}");
    assert!(error.contains("two nodes in its middle"), "{error}");
}

/// Wedges of VTK may have either sense; others are as inverted as tetrahedra of the same order are.
#[test]
fn orientation() {
    let rng = &mut Random::new(9);
    let n = 2;
    let mirrored = |p: Point| {
        let x = straight(n)(p);
        Vec3::new(1.0 - x.x, x.y, x.z)
    };
    for order in 0..3 {
        let first = corners(n, rng);
        let rank: HashMap<Point, usize> = first.iter().copied().zip(0..).collect();
        let mut cells = mixed(n, order, &rank, rng);
        while !cells.iter().any(|c| [13, 26, 32].contains(&c.vtk.0)) {
            cells = mixed(n, order, &rank, rng);
        }
        // every second wedge has its triangles the other way around
        let mut turned = cells.clone();
        let wedges = turned.iter_mut().filter(|c| [13, 26, 32].contains(&c.vtk.0)).step_by(2);
        wedges.for_each(|c| {
            let order = [1, 0, 2, 4, 3, 5, 6, 8, 7, 9, 11, 10, 13, 12, 14, 15, 17, 16];
            let nodes = c.vtk.1.clone();
            c.vtk.1 = (0..nodes.len()).map(|k| nodes[order[k]]).collect();
        });
        let file = File::new(first.clone(), turned, rng);
        assert_fills(&file.read("vtu text", &straight(n)), n, "turned wedges");
        // of a mirrored mesh everything is turned around, with a note
        let mesh = file.read("vtu text", &mirrored);
        assert_fills(&mesh, n, "mirrored");
        assert!(mesh.notes.iter().any(|n| n.contains("negative volume")), "{:?}", mesh.notes);
        // Gmsh says which sense a wedge has
        let file = File::new(first, cells, rng);
        assert_fills(&file.read("2.2 text", &straight(n)), n, "Gmsh");
        let mesh = file.read("2.2 text", &mirrored);
        assert_fills(&mesh, n, "mirrored");
        assert!(mesh.notes.iter().any(|n| n.contains("negative volume")), "{:?}", mesh.notes);
    }
    // one inverted element among others stays so, and the check says it
    let text = cube(&[(6, &[1, 2, 4, 5, 6, 8]), (6, &[3, 2, 4, 7, 6, 8])]);
    let mesh = read("2.2", text.as_bytes()).unwrap();
    assert!(mesh.check().iter().any(|d| d.to_string().contains("inverted")), "{:?}", mesh.check());
}
