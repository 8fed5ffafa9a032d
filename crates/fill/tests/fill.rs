//! What filled surfaces promise: angles, distances, a closed boundary, the same bits every time.

use standoff_fill::tree::Tree;
use standoff_fill::{Embedding, FillError, Filled, KEPT, LEAST_ANGLE, Options, Surface, fill};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::closer_than;
use standoff_linalg::nalgebra::Rotation3;
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::shape::*;
use standoff_mesh::{Mesh, Region, format, is_closed, tet_determinant, tet_quality};
use standoff_testkit::{Random, shared, testdata, thorough};
use std::collections::BTreeMap;
use std::time::Instant;

/// Longest side of the bounding box, m.
fn extent(mesh: &Mesh) -> f64 {
    let (low, high) = mesh.bounding_box().unwrap();
    (high - low).max()
}

/// Checks everything that a filled surface promises, by other means than the library does.
fn require_sound(name: &str, mesh: &Mesh, options: Options) -> Filled {
    let filled = fill(mesh, options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let inside = &filled.mesh;
    for t in 0..inside.tets.len() {
        let x = inside.tet_points(t);
        assert!(tet_determinant(&x) > 0.0, "{name}: tetrahedron {t}");
        let (_, [least, most]) = tet_quality(&x);
        assert!(least >= LEAST_ANGLE && most <= 180.0 - LEAST_ANGLE, "{name}: {least} {most}");
    }
    assert!(inside.check().is_empty(), "{name}");
    let boundary = inside.surface();
    assert!(is_closed(&boundary), "{name}");
    assert_one_fan_each(name, &boundary);
    // parts of the boundary do not touch each other
    let collision = CollisionMesh::new(inside.points.clone(), boundary.clone(), &[], &[]);
    let close = closer_than(&collision, &inside.points, 1e-5 * filled.report.used);
    assert!(close.is_empty(), "{name}: {:?}", close.first());
    // samples of either surface against the other
    let at = |f: &[u32; 3]| f.map(|v| inside.points[v as usize]);
    let outside: Vec<[Vec3; 3]> = boundary.iter().map(at).collect();
    let given = Surface::new(mesh).unwrap().corners_of_triangles();
    let mut rng = Random::new(7);
    for (from, to) in [(&outside, &given), (&given, &outside)] {
        let tree = Tree::new(to.clone());
        for _ in 0..4000 {
            let [a, b, c] = from[rng.below(from.len() as u64) as usize];
            let (u, v) = (rng.unit(), rng.unit());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let p = a + (b - a) * u + (c - a) * v;
            let distance = tree.closest(&p, f64::INFINITY).unwrap().d2.sqrt();
            assert!(distance <= options.deviation, "{name}: {distance} at {p:?}");
        }
    }
    let histogram: usize = filled.report.histogram.iter().sum();
    assert_eq!(histogram, 6 * inside.tets.len());
    assert_eq!(filled.report.histogram[0] + filled.report.histogram[17], 0, "{name}");
    filled
}

/// The boundary faces around every vertex make one closed fan.
fn assert_one_fan_each(name: &str, boundary: &[[u32; 3]]) {
    let mut next: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for f in boundary {
        for k in 0..3 {
            next.entry(f[k]).or_default().insert(f[(k + 1) % 3], f[(k + 2) % 3]);
        }
    }
    for (v, fan) in next {
        let first = *fan.keys().next().unwrap();
        let (mut at, mut steps) = (first, 0);
        loop {
            at = fan[&at];
            steps += 1;
            if at == first {
                break;
            }
        }
        assert_eq!(steps, fan.len(), "{name}: the boundary touches itself at vertex {v}");
    }
}

#[test]
fn built_in_shapes() {
    let mut kept = 0;
    for shape in Shape::all() {
        let mesh = shape.build().unwrap();
        // thin or open ones, and the edge of 28° of a wedge
        let left_out = ["mat", "rod", "tube", "funnel", "needles", "polyline", "points", "wedge"];
        let (low, high) = mesh.bounding_box().unwrap();
        let is_flat = (high - low).min() == 0.0;
        if is_flat || left_out.contains(&shape.kind()) {
            continue;
        }
        let size = extent(&mesh) / 10.3;
        let filled = require_sound(shape.kind(), &mesh, Options::new(size));
        let report = &filled.report;
        let volume = Surface::new(&mesh).unwrap().volume();
        assert!((filled.mesh.volume() / volume - 1.0).abs() < 0.1, "{}", shape.kind());
        assert!(report.sharp_kept >= 0.9 * report.sharp_length, "{}: {report:?}", shape.kind());
        assert_eq!(report.parts, 1);
        kept += 1;
    }
    assert!(kept >= 11, "{kept}");
}

#[test]
fn sharp_edges_of_a_box_are_kept_whatever_the_lattice() {
    let rotation = Mat3::from_columns(&[
        Vec3::new(0.36, 0.48, -0.8),
        Vec3::new(-0.8, 0.6, 0.0),
        Vec3::new(0.48, 0.64, 0.6),
    ]);
    let mut mesh = Shape::Box(BoxShape::default()).build().unwrap();
    mesh.points.iter_mut().for_each(|p| *p = rotation * *p);
    let filled = require_sound("box", &mesh, Options::new(0.11));
    assert_eq!(filled.report.sharp_kept, filled.report.sharp_length);
    assert!((filled.report.sharp_length - 12.0).abs() < 1e-9);
    assert!((filled.mesh.volume() - 1.0).abs() < 1e-2);
}

#[test]
fn meshes_of_files() {
    for (file, part) in [
        ("cipc/sphere1K_0.3.obj", 10.0),
        ("ipc/triMeshes/torus.obj", 20.0),
        ("ipc/triMeshes/cube.obj", 10.0),
        ("ipc/triMeshes/verschoor/roller0.obj", 25.0),
        ("ipc/triMeshes/cylinder.obj", 25.0),
        ("ipc/tetMeshes/arch/largeArch.05.msh", 10.0),
    ] {
        let mesh = format::read(&testdata(&format!("data/{file}"))).unwrap();
        require_sound(file, &mesh, Options::new(extent(&mesh) / part));
    }
}

#[test]
fn detailed_surfaces_lose_only_what_they_are_allowed_to() {
    let bunny = format::read(&testdata("data/ipc/tetMeshes/bunny.msh")).unwrap();
    let size = extent(&bunny) / 20.0;
    let error = fill(&bunny, Options::new(size)).unwrap_err();
    let FillError::Deviates { distance, allowed, .. } = &error else { panic!("{error}") };
    assert!(distance > allowed && error.to_string().contains("deviation = \""), "{error}");
    let size = if thorough() { size } else { extent(&bunny) / 12.0 };
    require_sound("bunny", &bunny, Options { size, deviation: f64::INFINITY });
    if !thorough() {
        return;
    }
    let Some(path) = shared("data/ipc/tetMeshes/Armadillo13K.msh") else { return };
    let armadillo = format::read(&path).unwrap();
    let size = extent(&armadillo) / 25.0;
    require_sound("Armadillo", &armadillo, Options { size, deviation: f64::INFINITY });
}

/// A ball with bumps, of 20,480 triangles.
fn bumpy_ball() -> Mesh {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let mut points: Vec<Vec3> = [(0.0, 1.0, g), (0.0, 1.0, -g), (0.0, -1.0, g), (0.0, -1.0, -g)]
        .into_iter()
        .flat_map(|(x, y, z)| [Vec3::new(x, y, z), Vec3::new(y, z, x), Vec3::new(z, x, y)])
        .map(|p| p.normalize())
        .collect();
    let mut triangles = Vec::new();
    let near = |a: usize, b: usize, points: &[Vec3]| (points[a] - points[b]).norm() < 1.1;
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b, &points) && near(b, c, &points) && near(a, c, &points) {
                    let six = points[a].cross(&points[b]).dot(&points[c]);
                    let t = [a as u32, b as u32, c as u32];
                    triangles.push(if six > 0.0 { t } else { [t[0], t[2], t[1]] });
                }
            }
        }
    }
    for _ in 0..5 {
        let mut middles: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |u: u32, v: u32| {
                *middles.entry([u.min(v), u.max(v)]).or_insert_with(|| {
                    points.push((points[u as usize] + points[v as usize]).normalize());
                    (points.len() - 1) as u32
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    for p in &mut points {
        *p *= 1.0 + 0.1 * (7.0 * p.x).sin() * (7.0 * p.y).sin() * (7.0 * p.z).cos();
    }
    Mesh { points, triangles, ..Mesh::default() }
}

/// The time that the documentation states: `cargo test -p standoff-fill -- --ignored --nocapture`.
#[test]
#[ignore = "measures time, which needs a machine at rest"]
fn fifty_thousand_tetrahedra_from_twenty_thousand_triangles() {
    let mesh = bumpy_ball();
    assert_eq!(mesh.triangles.len(), 20480);
    let start = Instant::now();
    let filled = fill(&mesh, Options::new(0.0985)).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!("{} tetrahedra in {seconds:.2} s", filled.mesh.tets.len());
    println!("dihedral angles by 10°: {:?}", filled.report.histogram);
    assert!(filled.mesh.tets.len() >= 50_000 && seconds < 10.0);
}

#[test]
fn the_same_surface_gives_the_same_bits() {
    let mesh = bumpy_ball();
    let options = Options::new(0.2);
    let first = require_sound("bumpy ball", &mesh, options).mesh;
    let second = fill(&mesh, options).unwrap().mesh;
    assert_eq!(first.tets, second.tets);
    let bits = |m: &Mesh| m.points.iter().map(|p| p.map(f64::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&first), bits(&second));
}

/// Joins two surfaces into one mesh, the second one moved and scaled.
fn joined(a: &Mesh, b: &Mesh, scale: f64, offset: Vec3, turned: bool) -> Mesh {
    let mut both = a.clone();
    let first = both.points.len() as u32;
    both.points.extend(b.points.iter().map(|p| p * scale + offset));
    both.triangles.extend(b.triangles.iter().map(|t| {
        let [p, q, r] = t.map(|v| v + first);
        if turned { [p, r, q] } else { [p, q, r] }
    }));
    both
}

/// A block of 2 m with a slot of a given width from above, turned by an angle.
fn slotted(width: f64, angle: f64) -> Mesh {
    let grid = [vec![0.0, 1.0, 1.0 + width, 2.0 + width], vec![0.0, 0.5, 1.5], vec![0.0, 1.0]];
    let filled = |p: [usize; 3]| p[0] < 3 && p[1] < 2 && p[2] < 1 && !(p[0] == 1 && p[1] == 1);
    let number = |p: [usize; 3]| ((p[0] * 3 + p[1]) * 2 + p[2]) as u32;
    let mut mesh = Mesh::default();
    let turn = Rotation3::from_euler_angles(angle, 0.7 * angle, -0.4 * angle);
    for (i, j, k) in (0..4).flat_map(|i| (0..3).flat_map(move |j| (0..2).map(move |k| (i, j, k)))) {
        mesh.points.push(turn * Vec3::new(grid[0][i], grid[1][j], grid[2][k]));
    }
    for p in (0..3).flat_map(|i| (0..2).map(move |j| [i, j, 0])).filter(|p| filled(*p)) {
        for axis in 0..3 {
            for high in [0, 1] {
                let mut next = p;
                next[axis] = next[axis].wrapping_add(2 * high).wrapping_sub(1);
                if filled(next) {
                    continue;
                }
                let corner = |a: usize, b: usize| {
                    let mut q = p;
                    q[axis] += high;
                    q[(axis + 1) % 3] += a;
                    q[(axis + 2) % 3] += b;
                    number(q)
                };
                let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
                let faces = [[a, b, c], [a, c, d]];
                mesh.triangles
                    .extend(faces.map(|[a, b, c]| if high > 0 { [a, b, c] } else { [a, c, b] }));
            }
        }
    }
    mesh.compact();
    mesh
}

/// The sides of slots narrower than the tetrahedra stay apart, or the slot is refused.
#[test]
fn the_sides_of_a_narrow_slot_stay_apart() {
    let (mut filled, mut refused) = (0, 0);
    for width in [0.15, 0.02, 0.001] {
        for angle in [0.0, 0.5, 1.3] {
            let mesh = slotted(width, angle);
            let options = Options { size: 0.3, deviation: 0.5 };
            match fill(&mesh, options) {
                Ok(_) => {
                    require_sound(&format!("slot of {width} at {angle}"), &mesh, options);
                    filled += 1;
                }
                Err(e @ (FillError::Intersects { .. } | FillError::Deviates { .. })) => {
                    println!("slot of {width} at {angle}: {e}");
                    refused += 1;
                }
                Err(e) => panic!("slot of {width} at {angle}: {e}"),
            }
        }
    }
    println!("{filled} slots filled, {refused} refused");
    assert!(filled > 4, "{filled}");
}

#[test]
fn cavities_overlaps_and_wrong_orientations() {
    let (ball, _) = Shape::Sphere(Sphere { radius: 1.0, layers: 6, ..Default::default() })
        .build()
        .unwrap()
        .to_surface();
    let whole = fill(&ball, Options::new(0.2)).unwrap().mesh.volume();
    // a surface that faces inwards is a cavity
    let hollow = joined(&ball, &ball, 0.5, Vec3::zeros(), true);
    let filled = require_sound("hollow", &hollow, Options::new(0.2));
    assert!((filled.mesh.volume() / (0.875 * whole) - 1.0).abs() < 0.05);
    // two that overlap are one body
    let two = joined(&ball, &ball, 1.0, Vec3::new(1.0, 0.0, 0.0), false);
    let filled = fill(&two, Options::new(0.2)).unwrap();
    assert!(filled.report.overlaps && filled.report.parts == 1);
    assert!((filled.mesh.volume() / (whole * (1.0 + 11.0 / 16.0)) - 1.0).abs() < 0.05);
    // triangles that face the other way are turned
    let mut muddled = ball.clone();
    muddled.triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
    let filled = fill(&muddled, Options::new(0.2)).unwrap();
    assert!((filled.mesh.volume() / whole - 1.0).abs() < 1e-12);
    assert!(filled.mesh.notes[0].contains("turned around"), "{:?}", filled.mesh.notes);
    // and all of them facing inwards is a body as well
    let inverted = joined(&Mesh::default(), &ball, 1.0, Vec3::zeros(), true);
    assert!((fill(&inverted, Options::new(0.2)).unwrap().mesh.volume() / whole - 1.0).abs() < 1e-2);
}

#[test]
fn what_cannot_be_filled_says_why() {
    let (mut open, _) = Shape::Box(BoxShape::default()).build().unwrap().to_surface();
    let top = |m: &Mesh, t: &[u32; 3]| t.iter().all(|v| m.points[*v as usize].y > 0.499);
    let all = open.clone();
    open.triangles.retain(|t| !top(&all, t));
    let said = fill(&open, Options::new(0.1)).unwrap_err().to_string();
    assert!(said.contains("one hole") && said.contains("(0.0000, 0.5000, 0.0000)"), "{said}");
    let holes = |error| match error {
        FillError::NotClosed(holes) => holes,
        other => panic!("{other}"),
    };
    let found = holes(fill(&open, Options::new(0.1)).unwrap_err());
    assert_eq!((found.len(), found[0].length), (1, 4.0));
    let bottom = |m: &Mesh, t: &[u32; 3]| t.iter().all(|v| m.points[*v as usize].y < -0.499);
    open.triangles.retain(|t| !bottom(&all, t));
    let error = fill(&open, Options::new(0.1)).unwrap_err();
    assert!(error.to_string().contains("2 holes"), "{error}");

    let error = |mesh: &Mesh, size| fill(mesh, Options::new(size)).unwrap_err();
    assert!(matches!(error(&all, 0.0), FillError::Size(_)));
    assert!(matches!(error(&all, f64::NAN), FillError::Size(_)));
    assert!(matches!(error(&all, 1e-6), FillError::TooFine { .. }));
    assert!(matches!(error(&all, 1e-300), FillError::TooFine { .. }));
    let coarse = fill(&all, Options { size: 100.0, deviation: f64::INFINITY }).unwrap_err();
    assert!(matches!(coarse, FillError::TooCoarse { .. }), "{coarse}");
    assert!(matches!(error(&Mesh::default(), 0.1), FillError::NoSurface));
    let wrong = Options { size: 0.1, deviation: -1.0 };
    assert!(matches!(fill(&all, wrong), Err(FillError::Deviation(_))));

    // a third triangle at an edge
    let mut fin = all.clone();
    fin.points.push(Vec3::new(2.0, 0.0, 0.0));
    let tip = fin.points.len() as u32 - 1;
    let [a, b, _] = fin.triangles[0];
    fin.triangles.extend([[a, b, tip], [b, a, tip], [a, b, tip]]);
    fin.triangles.pop();
    let balanced = Surface::new(&fin);
    assert!(balanced.is_ok(), "a flap of two sides encloses nothing");
    fin.triangles.push([tip, a, a + 1]);
    assert!(matches!(
        Surface::new(&fin),
        Err(FillError::NotClosed(_) | FillError::NotManifold { .. })
    ));

    // a Klein bottle is closed and has one side; none of its points lie on the curve where it crosses itself, where
    // points of two sheets would be joined
    let (n, m) = (12u32, 8u32);
    let mut bottle = Mesh::default();
    for i in 0..n {
        for j in 0..m {
            let turn = |k: u32, of: u32| f64::from(k) / f64::from(of) * std::f64::consts::TAU;
            let (u, v) = (turn(i, n), turn(2 * j + 1, 2 * m));
            let r = 3.0 + (u / 2.0).cos() * v.sin() - (u / 2.0).sin() * (2.0 * v).sin();
            let z = (u / 2.0).sin() * v.sin() + (u / 2.0).cos() * (2.0 * v).sin();
            bottle.points.push(Vec3::new(r * u.cos(), r * u.sin(), z));
            // once around, the circle is mirrored
            let at = |i: u32, j: u32| if i == n { m - 1 - j % m } else { i * m + j % m };
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            bottle.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let error = Surface::new(&bottle).unwrap_err();
    assert!(matches!(error, FillError::NotOrientable { .. }), "{error}");
}

#[test]
fn regions_become_sets_of_vertices() {
    let (mut mesh, _) = Shape::Box(BoxShape::default()).build().unwrap().to_surface();
    let top = |t: &[u32; 3]| t.iter().all(|v| mesh.points[*v as usize].y > 0.499);
    let triangles: Vec<u32> =
        (0..mesh.triangles.len() as u32).filter(|t| top(&mesh.triangles[*t as usize])).collect();
    mesh.regions = vec![Region { name: "lid".into(), triangles, ..Region::default() }];
    let filled = fill(&mesh, Options::new(0.25)).unwrap().mesh;
    let lid = &filled.region("lid").unwrap().vertices;
    assert!(lid.len() >= 9);
    assert!(lid.iter().all(|v| filled.points[*v as usize].y > 0.49));
}

#[test]
fn a_carried_surface_follows_any_affine_motion() {
    let ball = bumpy_ball();
    let filled = fill(&ball, Options::new(0.2)).unwrap().mesh;
    let embedding = Embedding::new(&filled.points, &filled.tets, &ball.points);
    assert_eq!(embedding.vertices.len(), ball.points.len());
    let mut rng = Random::new(3);
    let (linear, offset) = (rng.mat3(), rng.vec3());
    let moved: Vec<Vec3> = filled.points.iter().map(|p| linear * p + offset).collect();
    for (p, q) in ball.points.iter().zip(embedding.apply(&moved)) {
        assert!((linear * p + offset - q).norm() < 1e-12);
    }
    // points near a tetrahedron are not flung far away by it
    for weights in &embedding.weights {
        assert!(weights.iter().all(|w| (-3.0..=4.0).contains(w)), "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn what_counts_as_kept() {
    // the blunt edge of a wedge is reported with its share and its place
    let mesh = Shape::Wedge(Wedge::default()).build().unwrap();
    let size = extent(&mesh) / 10.0;
    let report = fill(&mesh, Options { size, deviation: f64::INFINITY }).unwrap().report;
    let (distance, _) = report.sharp_lost.unwrap();
    assert!(distance > KEPT * size && report.sharp_kept < report.sharp_length);
    assert!(report.notes().iter().any(|n| n.contains("rounded off")), "{:?}", report.notes());
}
