//! Broad phase against its brute-force twin, extended-precision distances and the oracle.

use crate::common::{Random, scenes, soup, two_spheres};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{Pair, closer_than};
use standoff_geometry::broad_phase::{
    BroadPhase, Candidates, brute_force, candidates, swept_candidates,
};
use standoff_linalg::Vec3;
use standoff_testkit::{number, testdata_json};
use std::collections::BTreeMap;

/// Groups, obstacles and thicknesses for a mesh.
fn decorate(mesh: &mut CollisionMesh, r: &mut Random) {
    let n = mesh.rest.len();
    // a primitive keeps to one body: take the bodies of the soup as runs of the numbering
    mesh.mobile = (0..n).map(|v| (v / 60) % 3 != 0).collect();
    let bodies: Vec<_> = (0..n.div_ceil(100)).map(|k| 100 * k..n.min(100 * (k + 1))).collect();
    let pairs: Vec<_> = (0..bodies.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .filter(|(a, b)| [a % 3, b % 3].contains(&0) && [a % 3, b % 3].contains(&1))
        .chain((0..bodies.len()).step_by(4).map(|a| (a, a)))
        .collect();
    mesh.exclude(&bodies, &pairs, r.signed() > 0.0);
    // all vertices of a primitive have the same thickness
    mesh.half_thickness = (0..n).map(|_| 0.01 * (1.0 + r.signed())).collect();
    for face in &mesh.faces {
        face.iter()
            .for_each(|&v| mesh.half_thickness[v as usize] = mesh.half_thickness[face[0] as usize]);
    }
    for &e in &mesh.codim_edges {
        let [a, b] = mesh.edges[e as usize];
        mesh.half_thickness[b as usize] = mesh.half_thickness[a as usize];
    }
}

/// More bodies than 16 bits count: which of them ignore each other is known for each.
#[test]
fn many_bodies_ignore_those_they_should() {
    let n = 70_000;
    let points = (0..n as u32).collect::<Vec<_>>();
    let mut mesh = CollisionMesh::new(vec![Vec3::zeros(); n], Vec::new(), &[], &points);
    let bodies: Vec<_> = (0..n).map(|k| k..k + 1).collect();
    mesh.exclude(&bodies, &[(66_000, 3), (4, 5)], true);
    assert!(!mesh.may_collide(&[3], &[66_000]) && !mesh.may_collide(&[5], &[4]));
    for (a, b) in [(3, 464), (464, 66_000), (1, 65_537), (3, 4), (66_000, 5)] {
        assert!(mesh.may_collide(&[a], &[b]), "{a} {b}");
    }
}

#[test]
fn equals_the_brute_force_twin() {
    let mut r = Random::new(1);
    let mut found = 0;
    for round in 0..12 {
        let mut mesh = soup(&mut r, 40 + 60 * (round % 4), r_size(round));
        if round % 2 == 1 {
            decorate(&mut mesh, &mut r);
        }
        let mut broad = BroadPhase::default();
        let mut out = Candidates::default();
        let mut x = mesh.rest.clone();
        for step in 0..6 {
            let inflation = [0.0, 1e-3, 0.1][step % 3];
            let fall = Vec3::new(0.0, 0.0, -1.0);
            let dx: Vec<Vec3> = x.iter().map(|_| fall + r.vec3() * 0.1).collect();
            broad.candidates(&mesh, &x, inflation, &mut out);
            assert_eq!(out, brute_force::candidates(&mesh, &x, inflation));
            assert_eq!(out, candidates(&mesh, &x, inflation));
            broad.swept_candidates(&mesh, &x, &dx, inflation, &mut out);
            assert_eq!(out, brute_force::swept_candidates(&mesh, &x, &dx, inflation));
            assert_eq!(out, swept_candidates(&mesh, &x, &dx, inflation));
            found += out.len();
            for (p, d) in x.iter_mut().zip(&dx) {
                *p += d;
            }
        }
    }
    assert!(found > 10_000, "{found}");
}

fn r_size(round: usize) -> f64 {
    [0.05, 0.2, 0.5][round % 3]
}

#[test]
fn finds_every_close_pair_and_every_pair_that_comes_close() {
    let mut r = Random::new(2);
    let mut seen = 0;
    for round in 0..8 {
        let mut mesh = soup(&mut r, 90, 0.1);
        decorate(&mut mesh, &mut r);
        let inflation = [0.0, 0.003, 0.05][round % 3];
        let near = candidates(&mesh, &mesh.rest, inflation);
        seen += assert_all(&near, &mesh, &mesh.rest, 2.0 * inflation);
        // common motion is large, relative motion is small
        let drift = Vec3::new(3.0, -2.0, 1.0);
        let dx: Vec<Vec3> = mesh.rest.iter().map(|_| drift + r.vec3() * 0.2).collect();
        let swept = swept_candidates(&mesh, &mesh.rest, &dx, inflation);
        for k in 0..=16 {
            let t = k as f64 / 16.0;
            let x: Vec<Vec3> = mesh.rest.iter().zip(&dx).map(|(p, d)| p + d * t).collect();
            seen += assert_all(&swept, &mesh, &x, 2.0 * inflation);
        }
        // removing the common motion must pay off
        let still = vec![Vec3::zeros(); dx.len()];
        let rest = swept_candidates(&mesh, &mesh.rest, &still, inflation + 0.1);
        assert!(swept.len() < 3 * rest.len() + 100, "{} {}", swept.len(), rest.len());
    }
    assert!(seen > 1000, "{seen}");
}

/// All pairs closer than ξ + margin are candidates; returns their number.
fn assert_all(c: &Candidates, mesh: &CollisionMesh, x: &[Vec3], margin: f64) -> usize {
    let close = closer_than(mesh, x, margin);
    for p in &close {
        let (list, key) = match p.pair {
            Pair::EdgeEdge { edges } => (&c.edge_edge, edges),
            Pair::FaceVertex { face, vertex } => (&c.face_vertex, [face, vertex]),
            Pair::EdgeVertex { edge, vertex } => (&c.edge_vertex, [edge, vertex]),
            Pair::VertexVertex { vertices } => (&c.vertex_vertex, vertices),
            Pair::EdgeFace { .. } => panic!("not a distance pair"),
        };
        assert!(list.binary_search(&key).is_ok(), "{p:?} is missing");
    }
    close.len()
}

#[test]
fn independent_of_the_number_of_threads() {
    let mesh = two_spheres(4, 0.001);
    let mut r = Random::new(3);
    let dx: Vec<Vec3> = mesh.rest.iter().map(|_| r.vec3() * 0.05).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| swept_candidates(&mesh, &mesh.rest, &dx, 0.05))
    };
    let one = run(1);
    assert!(one.len() > 10_000);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
fn odd_meshes() {
    let empty = CollisionMesh::default();
    assert!(candidates(&empty, &[], 1.0).is_empty());
    // one point, and two points at the same place
    let one = CollisionMesh::new(vec![Vec3::zeros()], vec![], &[], &[0]);
    assert!(candidates(&one, &one.rest, 1.0).is_empty());
    let two = CollisionMesh::new(vec![Vec3::zeros(); 2], vec![], &[], &[0, 1]);
    assert_eq!(candidates(&two, &two.rest, 0.0).vertex_vertex, [[0, 1]]);
    // a NaN takes its primitives out and leaves the others in
    let mut x = vec![Vec3::zeros(); 3];
    x[1].y = f64::NAN;
    let three = CollisionMesh::new(vec![Vec3::zeros(); 3], vec![], &[], &[0, 1, 2]);
    assert_eq!(candidates(&three, &x, 0.0).vertex_vertex, [[0, 2]]);
    assert_eq!(
        swept_candidates(&three, &three.rest, &x, 0.0).vertex_vertex,
        [[0, 2]],
        "the same for displacements"
    );
}

#[test]
fn displacements_beyond_single_precision() {
    // boxes without bounds meet everything, even places of the tree that hold nothing
    let points = |n: usize| (0..n).map(|i| Vec3::new(i as f64, (i * i) as f64, 0.0)).collect();
    for n in [9, 65, 70, 600] {
        let rest: Vec<Vec3> = points(n);
        let list: Vec<u32> = (0..n as u32).collect();
        let mesh = CollisionMesh::new(rest.clone(), vec![], &[], &list);
        for size in [1e38, 1e60, 1e200, 1e308] {
            let dx: Vec<Vec3> =
                rest.iter().map(|p| Vec3::new(p.y - 1.5, 1.0 - p.x, 0.5) * size).collect();
            if dx.iter().flatten().all(|c| c.is_finite()) {
                let found = swept_candidates(&mesh, &rest, &dx, 0.0).vertex_vertex;
                assert!(found.len() <= n * (n - 1) / 2, "{n} {size}");
                // two that meet: the one moves by what keeps them apart, next to all that
                let mut dx = dx;
                (dx[3], dx[5]) = (rest[5] - rest[3], Vec3::zeros());
                let found = swept_candidates(&mesh, &rest, &dx, 0.0).vertex_vertex;
                assert!(found.contains(&[3, 5]), "{n} {size}");
            }
        }
    }
}

#[test]
fn superset_of_the_oracle() {
    let (json, scenes) = (testdata_json("oracle/candidates.json"), scenes());
    let mut pairs = 0;
    for case in json["cases"].as_array().unwrap() {
        let Some(sets) = case.get("brute_force").filter(|s| s.is_object()) else { continue };
        let scene = scenes.iter().find(|s| s.name == case["scene"].as_str().unwrap()).unwrap();
        let own: BTreeMap<[u32; 2], u32> =
            scene.mesh.edges.iter().enumerate().map(|(i, e)| (*e, i as u32)).collect();
        let edge = |i: u32| own[&scene.edges[i as usize]];
        let r = number(&case["inflation_radius"]);
        let ours = if case["dynamic"].as_bool().unwrap() {
            let dx: Vec<Vec3> = scene.x0.iter().zip(&scene.x1).map(|(a, b)| b - a).collect();
            swept_candidates(&scene.mesh, &scene.x0, &dx, r)
        } else {
            candidates(&scene.mesh, &scene.x0, r)
        };
        let theirs = |key: &str| crate::common::indices::<2>(&sets[key]);
        if !case["dynamic"].as_bool().unwrap() {
            pairs += assert_all(&ours, &scene.mesh, &scene.x0, 2.0 * r);
            // theirs are all pairs of overlapping boxes; those kept apart by a plane are missing here
            let mut overlapping: Vec<[u32; 2]> = Vec::new();
            for [a, b] in theirs("ee") {
                let (a, b) = (edge(a), edge(b));
                overlapping.push([a.min(b), a.max(b)]);
            }
            let strangers = ours.edge_edge.iter().filter(|p| !overlapping.contains(p)).count();
            assert!(strangers <= 2, "{strangers} pairs without overlapping boxes");
            assert!(ours.face_vertex.len() <= theirs("fv").len() + 2);
        } else {
            // boxes of another frame differ; the pairs that really come close must be there
            for k in 0..=32 {
                let t = k as f64 / 32.0;
                let x: Vec<Vec3> =
                    scene.x0.iter().zip(&scene.x1).map(|(a, b)| a + (b - a) * t).collect();
                pairs += assert_all(&ours, &scene.mesh, &x, 2.0 * r);
            }
        }
    }
    assert!(pairs > 1000, "{pairs}");
}

/// Figures, not a test of speed: `cargo test --release -- --ignored --nocapture timing`.
#[test]
#[ignore = "prints timings"]
fn timing() {
    let mesh = two_spheres(6, 0.001);
    println!("{} triangles", mesh.faces.len());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut broad = BroadPhase::default();
        let mut out = Candidates::default();
        for inflation in [0.0, 0.0015, 0.005] {
            for _ in 0..10 {
                let start = std::time::Instant::now();
                broad.candidates(&mesh, &mesh.rest, inflation, &mut out);
                let s = start.elapsed().as_secs_f64();
                println!("inflation {inflation}: {} pairs in {s:.4} s", out.len());
            }
        }
        let dx: Vec<Vec3> = mesh.rest.iter().map(|p| Vec3::new(0.0, 0.0, -0.01 * p.z)).collect();
        broad.swept_candidates(&mesh, &mesh.rest, &dx, 0.0, &mut out);
        use standoff_geometry::ccd::{Method, max_step};
        for method in [Method::Additive, Method::Inclusion] {
            let start = std::time::Instant::now();
            let t = max_step(&mesh, &mesh.rest, &dx, &out, method, 0.2, 1.0);
            let s = start.elapsed().as_secs_f64();
            println!("{method:?}: step {t} over {} pairs in {s:.4} s", out.len());
        }
        let start = std::time::Instant::now();
        let n = standoff_geometry::audit::audit_intersections(&mesh, &mesh.rest).len();
        println!("audit: {n} in {:.4} s", start.elapsed().as_secs_f64());
    });
}
