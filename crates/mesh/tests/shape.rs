//! Built-in shapes: soundness, volume, quality, resolution, scene syntax.

use standoff_linalg::Vec3;
use standoff_mesh::shape::*;
use standoff_mesh::{Defect, Mesh, is_closed};
use std::f64::consts::PI;

fn build(shape: impl Fn() -> Shape) -> Mesh {
    let mesh = shape().build().unwrap_or_else(|e| panic!("{e}"));
    // the same numbers give the same bits
    assert_eq!(shape().build().unwrap(), mesh);
    mesh
}

/// Volume enclosed by triangles.
fn enclosed(mesh: &Mesh, triangles: &[[u32; 3]]) -> f64 {
    let x = |v: u32| mesh.points[v as usize];
    triangles.iter().map(|&[a, b, c]| x(a).dot(&x(b).cross(&x(c))) / 6.0).sum()
}

/// Corners of triangles, sorted, so that meshes of different numbering compare.
fn soup(mesh: &Mesh, triangles: &[[u32; 3]]) -> Vec<Vec<[u64; 3]>> {
    let corner = |v: u32| {
        let p = mesh.points[v as usize];
        [p.x, p.y, p.z].map(|c| (c + 0.0).to_bits())
    };
    let mut all: Vec<Vec<[u64; 3]>> = triangles
        .iter()
        .map(|f| {
            let c = f.map(corner);
            let first = (0..3).min_by_key(|&k| c[k]).unwrap();
            (0..3).map(|k| c[(first + k) % 3]).collect()
        })
        .collect();
    all.sort();
    all
}

/// Solids with their exact volume (of the polyhedron where flat, of the smooth body otherwise),
/// smallest dihedral angle in degrees and radius ratio that they must reach.
fn solids() -> Vec<(Shape, f64, f64, f64)> {
    let mut list = vec![
        (Shape::Box(BoxShape::default()), 1.0, 45.0 - 1e-9, 0.71),
        (
            Shape::Box(BoxShape { size: [1.0, 2.0, 3.0], cells: [2, 4, 6], ..Default::default() }),
            6.0,
            45.0 - 1e-9,
            0.71,
        ),
        (Shape::Mat(Mat::default()), 0.008, 17.3, 0.46),
        (Shape::Tet(Tet::default()), 1.0 / 72.0f64.sqrt(), 70.5, 0.999),
        (Shape::Spike(Spike::default()), 1.0, 45.7, 0.5),
        // the angle of its ridge is 2 atan(1/6)
        (Shape::Wedge(Wedge::default()), 3.0, 18.9, 0.5),
    ];
    for n in [1, 2, 3, 5, 8] {
        let sphere = Sphere { radius: 0.5, layers: n, surface: false };
        list.push((Shape::Sphere(sphere), 4.0 / 3.0 * PI * 0.125, 39.0, 0.72));
        let cone = Cone { radius: 0.5, height: 1.0, rings: n, surface: false };
        list.push((Shape::Cone(cone), PI * 0.25 / 3.0, 23.4, 0.53));
        let cylinder =
            Cylinder { radius: 0.5, height: 1.0, rings: n, layers: 2 * n, surface: false };
        list.push((Shape::Cylinder(cylinder), PI * 0.25, 35.0, 0.64));
        let tet = Tet { size: 2.0, cells: n, ..Default::default() };
        list.push((Shape::Tet(tet), 8.0 / 72.0f64.sqrt(), 54.7, 0.8));
        let pyramid = Pyramid { size: [1.0; 3], cells: n, surface: false };
        list.push((Shape::Pyramid(pyramid), 1.0 / 3.0, 50.7, 0.85));
        let wedge = Wedge { size: [1.0, 1.0, 1.0], cells: n, surface: false };
        list.push((Shape::Wedge(wedge), 0.5, 41.8, 0.74));
    }
    list.push((Shape::Rod(Rod::default()), PI * 0.02 * 0.02, 40.8, 0.73));
    for (rings, segments) in [(1, 25), (2, 50), (3, 75)] {
        let torus = Torus { radius: 0.4, tube_radius: 0.1, rings, segments, surface: false };
        list.push((Shape::Torus(torus), 2.0 * PI * PI * 0.4 * 0.01, 32.0, 0.64));
    }
    list
}

#[test]
fn solids_are_sound_and_of_good_quality() {
    for (shape, volume, dihedral, ratio) in solids() {
        let mesh = build(|| shape.clone());
        let q = mesh.quality();
        assert_eq!(mesh.check(), vec![], "{shape:?}");
        let surface = mesh.surface();
        assert!(is_closed(&surface), "{shape:?}");
        assert!((enclosed(&mesh, &surface) / mesh.volume() - 1.0).abs() < 1e-12);
        // an inscribed polyhedron is smaller, never larger
        assert!(mesh.volume() < volume * (1.0 + 1e-12), "{shape:?}");
        let round = matches!(
            shape,
            Shape::Sphere(_)
                | Shape::Cone(_)
                | Shape::Cylinder(_)
                | Shape::Torus(_)
                | Shape::Rod(_)
        );
        assert!(mesh.volume() > volume * if round { 0.5 } else { 1.0 - 1e-12 }, "{shape:?}");
        let (least, worst) = (q.dihedral.unwrap().0, q.radius_ratio.unwrap().0);
        assert!(least >= dihedral, "{shape:?}: dihedral {least}");
        assert!(worst >= ratio, "{shape:?}: radius ratio {worst}");
    }
}

/// No tetrahedron has all its vertices on a curved surface with two faces there: those flatten
/// as the resolution grows.
#[test]
fn no_slivers_at_curved_surfaces() {
    for layers in [4, 16] {
        let mesh = build(|| Shape::Sphere(Sphere { layers, ..Default::default() }));
        let q = mesh.quality();
        assert!(q.dihedral.unwrap().1 < 125.0, "{q:?}");
        assert!(q.radius_ratio.unwrap().0 > 0.6, "{q:?}");
        let on_sphere = |v: u32| (mesh.points[v as usize].norm() - 0.5).abs() < 1e-12;
        assert!(mesh.surface().iter().flatten().all(|&v| on_sphere(v)));
    }
}

#[test]
fn volumes_converge() {
    let error = |n: u32| {
        let mesh = build(|| Shape::Sphere(Sphere { layers: n, ..Default::default() }));
        1.0 - mesh.volume() / (4.0 / 3.0 * PI * 0.125)
    };
    // second order
    assert!((error(4) / error(8) - 4.0).abs() < 0.2, "{} {}", error(4), error(8));
    let error = |n: u32| {
        let mesh =
            build(|| Shape::Torus(Torus { rings: n, segments: 20 * n, ..Default::default() }));
        1.0 - mesh.volume() / (2.0 * PI * PI * 0.4 * 0.01)
    };
    assert!((error(2) / error(4) - 4.0).abs() < 0.3, "{} {}", error(2), error(4));
}

#[test]
fn counts_are_as_documented() {
    let count = |shape: Shape| {
        let mesh = shape.build().unwrap();
        (mesh.points.len(), mesh.tets.len(), mesh.surface().len())
    };
    assert_eq!(count(Shape::Mat(Mat::default())), (3200, 9126, 6396));
    assert_eq!(count(Shape::Box(BoxShape::default())), (8, 6, 12));
    let n = 5usize;
    let sphere = Sphere { layers: n as u32, ..Default::default() };
    let (points, tets, faces) = count(Shape::Sphere(sphere.clone()));
    assert_eq!((tets, faces), (20 * n.pow(3), 20 * n * n));
    assert!(points > 10 * n * n + 2);
    let surface = Shape::Sphere(Sphere { surface: true, ..sphere }).build().unwrap();
    assert_eq!((surface.points.len(), surface.triangles.len()), (10 * n * n + 2, 20 * n * n));
    let cylinder = Cylinder { rings: 3, layers: 4, ..Default::default() };
    assert_eq!(count(Shape::Cylinder(cylinder)), (37 * 5, 18 * 9 * 4, 2 * 54 + 2 * 18 * 4));
    assert_eq!(count(Shape::Cone(Cone { rings: 3, ..Default::default() })).1, 6 * 27);
    assert_eq!(
        count(Shape::Torus(Torus { rings: 2, segments: 7, ..Default::default() })).1,
        18 * 4 * 7
    );
    assert_eq!(count(Shape::Wedge(Wedge { cells: 3, ..Default::default() })).1, 3 * 27);
    assert_eq!(count(Shape::Pyramid(Pyramid { cells: 4, ..Default::default() })).1, 2 * 64);
    assert_eq!(count(Shape::Tet(Tet { cells: 4, ..Default::default() })).1, 64);
}

/// A surface alone has the triangles of its solid.
#[test]
fn surfaces_are_those_of_the_solids() {
    for (shape, ..) in solids() {
        let solid = shape.build().unwrap();
        let mut value = serde_json::to_value(&shape).unwrap();
        value["surface"] = true.into();
        let hollow: Shape = serde_json::from_value(value).unwrap();
        let hollow = hollow.build().unwrap();
        assert_eq!(hollow.check(), vec![], "{shape:?}");
        assert!(hollow.tets.is_empty() && is_closed(&hollow.triangles), "{shape:?}");
        assert_eq!(soup(&hollow, &hollow.triangles), soup(&solid, &solid.surface()), "{shape:?}");
    }
}

#[test]
fn shapes_have_their_measures() {
    let extent = |shape: Shape| {
        let (lo, hi) = shape.build().unwrap().bounding_box().unwrap();
        (lo, hi)
    };
    let close = |(lo, hi): (Vec3, Vec3), a: [f64; 3], b: [f64; 3]| {
        assert!(
            (lo - Vec3::from(a)).norm() < 1e-12 && (hi - Vec3::from(b)).norm() < 1e-12,
            "{lo} {hi}"
        );
    };
    let half = |shape: Shape, h: [f64; 3]| close(extent(shape), h.map(|c| -c), h);
    let size = [1.0, 2.0, 3.0];
    half(Shape::Box(BoxShape { size, cells: [3, 2, 1], surface: false }), [0.5, 1.0, 1.5]);
    half(Shape::Mat(Mat { size: [2.0, 4.0], ..Default::default() }), [1.0, 0.004, 2.0]);
    half(Shape::Rod(Rod { segments: 10, rings: 2, ..Default::default() }), [0.5, 0.02, 0.02]);
    half(Shape::Torus(Torus { segments: 40, ..Default::default() }), [0.5, 0.1, 0.5]);
    half(Shape::Pyramid(Pyramid { size, ..Default::default() }), [0.5, 1.0, 1.5]);
    half(Shape::Plane(Plane { size: [2.0, 4.0], cells: [3, 5] }), [1.0, 0.0, 2.0]);
    half(Shape::Crack(Crack::default()), [1.0, 0.5, 2.0]);
    half(Shape::Hole(Hole::default()), [1.0, 0.5, 1.0]);
    half(Shape::InternalEdges(InternalEdges::default()), [1.0, 0.5, 1.0]);
    half(Shape::Cliff(Cliff::default()), [0.75, 0.5, 0.75]);
    close(extent(Shape::Spike(Spike::default())), [-0.5, 0.0, -0.5], [0.5, 3.0, 0.5]);
    close(extent(Shape::Wedge(Wedge::default())), [-0.5, 0.0, -1.0], [0.5, 3.0, 1.0]);
    let (lo, hi) = extent(Shape::Cone(Cone { rings: 2, ..Default::default() }));
    assert!((lo.y, hi.y) == (-0.5, 0.5) && (hi.x - 0.5).abs() < 1e-15);
    // the regular tetrahedron: edges of the given size, centroid at the origin
    let tet = Shape::Tet(Tet { size: 2.0, ..Default::default() }).build().unwrap();
    let q = tet.quality();
    assert!(
        (q.edge_length.unwrap().0 - 2.0).abs() < 1e-14
            && (q.edge_length.unwrap().1 - 2.0).abs() < 1e-14
    );
    assert!(tet.points.iter().sum::<Vec3>().norm() < 1e-14);
    let corners = Some([[0.0; 3], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    let given = Shape::Tet(Tet { corners, ..Default::default() }).build().unwrap();
    assert!((given.volume() - 1.0 / 6.0).abs() < 1e-16);
}

/// Vertices of the built-in obstacles of the Erleben tests, beside those of the reference.
#[test]
fn erleben_pieces_match_the_data() {
    // with their volumes; of the frustum h/3 (A + a + √(A a))
    let pieces: [(&str, Shape, f64); 6] = [
        ("cliff", Shape::Cliff(Cliff::default()), 4.75 / 3.0),
        ("crack", Shape::Crack(Crack::default()), 8.0 - 1.0),
        ("hole", Shape::Hole(Hole::default()), 4.0 - 0.5),
        ("internal_edges", Shape::InternalEdges(InternalEdges::default()), 4.0),
        ("spike", Shape::Spike(Spike { surface: true, ..Default::default() }), 1.0),
        ("wedge", Shape::Wedge(Wedge { surface: true, ..Default::default() }), 3.0),
    ];
    for (name, shape, volume) in pieces {
        let mesh = build(|| shape.clone());
        assert_eq!(mesh.check(), vec![], "{name}");
        assert!(is_closed(&mesh.triangles), "{name}");
        let enclosed = enclosed(&mesh, &mesh.triangles);
        assert!((enclosed - volume).abs() < 1e-14, "{name}: {enclosed}");
        let path = format!("data/ipc/triMeshes/erleben/{name}.obj");
        let path = standoff_testkit::testdata(&path);
        let theirs = standoff_mesh::format::read(&path).unwrap();
        let sorted = |mesh: &Mesh| {
            let mut p: Vec<[f64; 3]> =
                mesh.points.iter().map(|p| [p.x + 0.0, p.y + 0.0, p.z + 0.0]).collect();
            p.sort_by(|a, b| a.partial_cmp(b).unwrap());
            p
        };
        assert!((self::enclosed(&theirs, &theirs.triangles) - volume).abs() < 1e-12, "{name}");
        let (ours, theirs_sorted) = (sorted(&mesh), sorted(&theirs));
        if name == "hole" {
            // the reference has 12 vertices more, in the middle of edges
            assert!(ours.iter().all(|p| theirs_sorted.contains(p)) && ours.len() == 36);
        } else {
            assert_eq!(ours, theirs_sorted, "{name}");
            let theirs = theirs.triangles.len();
            assert_eq!(mesh.triangles.len(), theirs, "{name}");
        }
    }
}

#[test]
fn planes_wires_and_points() {
    let plane = build(|| Shape::Plane(Plane { size: [2.0, 3.0], cells: [4, 3] }));
    assert_eq!((plane.points.len(), plane.triangles.len()), (20, 24));
    assert_eq!(plane.check(), vec![]);
    for f in &plane.triangles {
        let [a, b, c] = f.map(|v| plane.points[v as usize]);
        assert!((b - a).cross(&(c - a)).y > 0.0);
    }
    let bed = build(|| Shape::Needles(Needles { segments: 2, ..Default::default() }));
    assert_eq!((bed.points.len(), bed.edges.len()), (300, 200));
    assert_eq!(
        bed.bounding_box(),
        Some((Vec3::new(-0.45, -0.05, -0.45), Vec3::new(0.45, 0.05, 0.45)))
    );
    let lying =
        Needles { axis: Axis::X, count: [1, 3], size: [f64::NAN, 2.0], ..Default::default() };
    let (lo, hi) = build(|| Shape::Needles(lying.clone())).bounding_box().unwrap();
    assert_eq!((lo, hi), (Vec3::new(-0.05, 0.0, -1.0), Vec3::new(0.05, 0.0, 1.0)));
    let ring = Polyline {
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        closed: true,
        segments: 3,
    };
    let ring = build(|| Shape::Polyline(ring.clone()));
    assert_eq!((ring.points.len(), ring.edges.len(), ring.edges[8]), (9, 9, [8, 0]));
    assert_eq!(ring.check(), vec![]);
    let line = build(|| Shape::Polyline(Polyline { segments: 4, ..Default::default() }));
    assert_eq!((line.points.len(), line.edges.len()), (5, 4));
    let points = build(|| Shape::Points(Points::default()));
    assert_eq!((points.points.len(), points.vertices.len()), (100, 100));
    assert!(points.points.iter().all(|p| p.y == 0.0));
}

#[test]
fn limits_are_checked() {
    let fails = |text: &str, part: &str| {
        let shape: Shape = toml::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let message = shape.build().expect_err(text).to_string();
        assert!(message.contains(part), "{text}: {message}");
        assert!(message.contains(shape.kind()), "{message}");
    };
    fails("kind = 'box'\nsize = [1, -1, 1]", "size is -1");
    fails("kind = 'box'\nsize = [1, nan, 1]", "NaN");
    fails("kind = 'box'\ncells = [1, 0, 1]", "at least 1");
    fails("kind = 'box'\ncells = [1000, 1000, 1000]", "6.0e9 elements");
    fails("kind = 'box'\ncells = [4294967295, 4294967295, 4294967295]", "lower its resolution");
    fails("kind = 'box'\nsurface = true\ncells = [4294967295, 1, 1]", "lower its resolution");
    fails("kind = 'mat'\nlayers = 0", "layers is 0");
    fails("kind = 'sphere'\nradius = 0", "radius is 0");
    fails("kind = 'sphere'\nlayers = 101", "elements");
    fails("kind = 'sphere'\nlayers = 4294967295\nsurface = true", "elements");
    fails("kind = 'cylinder'\nrings = 0", "rings");
    fails("kind = 'cylinder'\nrings = 4294967295\nsurface = true", "elements");
    fails("kind = 'rod'\nlength = inf", "length is inf");
    fails("kind = 'torus'\ntube_radius = 0.4", "smaller");
    fails("kind = 'torus'\nsegments = 2", "at least 3");
    fails("kind = 'cone'\nrings = 4294967295", "elements");
    fails("kind = 'wedge'\ncells = 0", "cells");
    fails("kind = 'pyramid'\ncells = 1000", "elements");
    fails("kind = 'spike'\nheight = 1e300", "height");
    fails("kind = 'tet'\ncorners = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]", "one plane");
    fails("kind = 'plane'\ncells = [100000, 100000]", "elements");
    fails("kind = 'crack'\nopening = 2", "smaller");
    fails("kind = 'hole'\ndepth = 1", "smaller");
    fails("kind = 'cliff'\ntop = 0", "top");
    fails("kind = 'internal-edges'\nsize = [0, 1, 1]", "size");
    fails("kind = 'needles'\ncount = [0, 1]", "count");
    fails("kind = 'needles'\ncount = [10000, 10000]", "elements");
    fails("kind = 'polyline'\npoints = [[0,0,0]]", "number of points is 1");
    fails("kind = 'polyline'\npoints = [[0,0,0],[0,0,0]]", "equals");
    fails("kind = 'polyline'\npoints = [[0,0,0],[nan,0,0]]", "coordinate");
    fails("kind = 'points'\ncount = [1000, 1000, 1000]", "elements");
}

#[test]
fn scene_syntax() {
    for shape in Shape::all() {
        let mesh = shape.build().unwrap();
        assert!(!mesh.points.is_empty());
        assert!(mesh.check().iter().all(|d| matches!(d, Defect::Unreferenced { .. })));
        assert_eq!(mesh.check(), vec![], "{shape:?}");
        // writes and reads back; the kind alone gives the defaults
        let text = toml::to_string(&shape).unwrap();
        assert_eq!(toml::from_str::<Shape>(&text).unwrap(), shape);
        let bare: Shape = toml::from_str(&format!("kind = '{}'", shape.kind())).unwrap();
        assert_eq!(bare, shape);
        let wrong = format!("kind = '{}'\ncolour = 1", shape.kind());
        let message = toml::from_str::<Shape>(&wrong).unwrap_err().to_string();
        assert!(message.contains("colour"), "{message}");
    }
    let inline: toml::Table =
        toml::from_str("shape = { kind = \"box\", size = [1,1,1], cells = [2,2,2] }").unwrap();
    let shape: Shape = inline["shape"].clone().try_into().unwrap();
    assert_eq!(shape.build().unwrap().tets.len(), 48);
    assert!(toml::from_str::<Shape>("kind = 'blob'").is_err());
}

/// The schema names every kind, describes every field and gives its default.
#[test]
fn schema() {
    let schema = serde_json::to_value(schemars::schema_for!(Shape)).unwrap();
    let variants = schema["oneOf"].as_array().expect("one entry per shape");
    assert_eq!(variants.len(), Shape::all().len());
    for (variant, shape) in variants.iter().zip(Shape::all()) {
        let mut variant = variant.clone();
        if let Some(name) = variant["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            let of = schema["$defs"][name].as_object().unwrap().clone();
            variant["properties"]
                .as_object_mut()
                .unwrap()
                .extend(of["properties"].as_object().unwrap().clone());
        }
        let properties = variant["properties"].as_object().unwrap();
        assert_eq!(properties["kind"]["const"], shape.kind(), "{variant}");
        let value = serde_json::to_value(&shape).unwrap();
        for (field, property) in properties.iter().filter(|p| p.0 != "kind") {
            assert!(property["description"].is_string(), "{}: {field}", shape.kind());
            let default = value.get(field).cloned().unwrap_or_default();
            assert_eq!(property["default"], default, "{}: {field}", shape.kind());
        }
        assert_eq!(
            properties.len(),
            value.as_object().unwrap().len() + usize::from(shape.kind() == "tet")
        );
    }
}

/// Planar shapes: counter-clockwise triangles in the plane z = 0 with the area of the shape and one outline
/// for each of its borders, of good angles.
#[test]
fn planar_shapes() {
    let square = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
    let hole = vec![[0.5, 0.5], [1.5, 0.5], [1.0, 1.5]];
    let l = vec![[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    let disc = |n: f64, r: f64| 0.5 * n * r * r * (2.0 * PI / n).sin();
    let round = RoundedRectangle { size: [2.0, 1.0], radius: 0.5, edge: 0.05, corner_edges: 8 };
    let all = [
        (Shape::Rectangle(Rectangle { size: [2.0, 3.0], cells: [4, 5] }), 6.0, 1, 39.0),
        (Shape::Disc(Disc { radius: 1.0, edge: 0.1 }), disc(63.0, 1.0), 1, 20.0),
        (Shape::Polygon(Polygon { points: square, holes: vec![hole], edge: 0.1 }), 3.5, 2, 20.0),
        (Shape::Polygon(Polygon { points: l, holes: Vec::new(), edge: 0.13 }), 5.0, 1, 20.0),
        (Shape::RoundedRectangle(round), 1.0 + disc(64.0, 0.5), 1, 20.0),
    ];
    for (shape, area, outlines, least) in all {
        let mesh = build(|| shape.clone());
        assert!(mesh.points.iter().all(|p| p.z == 0.0));
        let x = |v: u32| mesh.points[v as usize];
        let mut found = 0.0;
        let mut edges = std::collections::BTreeMap::new();
        for &[a, b, c] in &mesh.triangles {
            let double = (x(b) - x(a)).cross(&(x(c) - x(a))).z;
            assert!(double > 0.0, "{shape:?}");
            found += 0.5 * double;
            for e in [[a, b], [b, c], [c, a]] {
                assert!(edges.insert(e, ()).is_none(), "{shape:?}: an edge twice");
            }
        }
        let border: Vec<[u32; 2]> =
            edges.keys().copied().filter(|[a, b]| !edges.contains_key(&[*b, *a])).collect();
        // V − E + F = 2 − (borders), for a surface without holes 1
        let interior = edges.len() - border.len();
        let euler = mesh.points.len() as i64 - (border.len() + interior / 2) as i64
            + mesh.triangles.len() as i64;
        assert_eq!(euler, 2 - outlines, "{shape:?}");
        assert!((found - area).abs() < 1e-9 * area, "{shape:?} {found} {area}");
        let (smallest, _) = mesh.quality().triangle_angle.unwrap();
        println!(
            "{}: {} triangles, angles from {smallest:.1}°",
            shape.kind(),
            mesh.triangles.len()
        );
        assert!(smallest > least, "{shape:?} {smallest}");
    }
    let fails =
        |text: &str| toml::from_str::<Shape>(text).unwrap().build().unwrap_err().to_string();
    let crossed = "kind = 'polygon'\npoints = [[0, 0], [1, 1], [1, 0], [0, 1]]";
    assert!(fails(crossed).contains("crosses itself"));
    let touching = "kind = 'polygon'\npoints = [[0, 0], [2, 0], [2, 1], [1, 0], [0, 1]]\nedge = 1";
    assert!(fails(touching).contains("crosses itself"));
    let outside = "kind = 'polygon'\nholes = [[[0, 0], [5, 0], [0, 5]]]";
    assert!(fails(outside).contains("crosses itself"));
    assert!(fails("kind = 'rounded-rectangle'\nradius = 0.6").contains("more than half"));
    assert!(fails("kind = 'disc'\nedge = 1e-8").contains("edge"));
}
