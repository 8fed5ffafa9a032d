//! The audit of paths, against exact times of impact and against paths that were admitted by collision detection.

use crate::common::{Random, mesh_of, scenes, soup, vectors};
use standoff_geometry::audit::{
    Auditor, Crossing, Pair, audit_intersections, closer_than, crossings,
};
use standoff_geometry::broad_phase::swept_candidates;
use standoff_geometry::ccd::{Method, max_step};
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;
use standoff_testkit::testdata_json;

fn v(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Two wires across each other, `gap` apart; points number 4 and 5, and a triangle of 6, 7, 8.
fn wires(gap: f64) -> CollisionMesh {
    let x = vec![
        v(-1.0, 0.0, 0.0),
        v(1.0, 0.1, 0.0),
        v(0.1, -1.0, gap),
        v(0.0, 1.0, gap),
        v(5.0, 0.0, 0.0),
        v(5.0, 0.0, 1.0),
        v(9.0, -1.0, 0.0),
        v(11.0, -1.0, 0.1),
        v(10.0, 1.0, 0.2),
    ];
    mesh_of(x, &[[0, 1], [2, 3]], vec![[6, 7, 8]])
}

/// The only crossing of the mesh on the way to where its vertices were moved.
fn only(mesh: &CollisionMesh, moves: &[(usize, Vec3)]) -> Option<Crossing> {
    let mut to = mesh.rest.clone();
    for (i, dx) in moves {
        to[*i] += dx;
    }
    // the states at both ends show nothing
    assert!(audit_intersections(mesh, &mesh.rest).is_empty());
    assert!(audit_intersections(mesh, &to).is_empty());
    let found = crossings(mesh, &mesh.rest, &to);
    assert!(found.len() < 2, "{found:?}");
    found.first().copied()
}

#[test]
fn what_passes_through_is_found_although_no_state_shows_it() {
    let mesh = wires(0.5);
    let down = v(0.0, 0.0, -2.0);
    let wire = only(&mesh, &[(2, down), (3, down)]).unwrap();
    let of = |ends: [u32; 2]| mesh.edges.iter().position(|e| *e == ends).unwrap() as u32;
    assert_eq!(wire.pair, Pair::EdgeEdge { edges: [of([0, 1]), of([2, 3])] });
    assert!((wire.time - 0.25).abs() < 1e-12 && wire.distance < 1e-12, "{wire:?}");
    // a point through a point, through a wire, through a triangle
    let point = only(&mesh, &[(5, v(0.0, 0.0, -4.0))]).unwrap();
    assert_eq!(point.pair, Pair::VertexVertex { vertices: [4, 5] });
    assert!((point.time - 0.25).abs() < 1e-12, "{point:?}");
    let point = only(&mesh, &[(4, v(-10.0, 0.1, 0.0))]).unwrap();
    assert!(matches!(point.pair, Pair::EdgeVertex { vertex: 4, .. }), "{point:?}");
    let point = only(&mesh, &[(5, v(10.0, 0.0, -2.0))]).unwrap();
    assert!(matches!(point.pair, Pair::FaceVertex { face: 0, vertex: 5 }), "{point:?}");
}

/// A path that misses by little is free, and one that comes as close as the thickness is not.
#[test]
fn what_misses_is_not_found() {
    let mut mesh = wires(1e-9);
    // along each other, over a thousand million gaps
    let along = v(0.3, 0.7, 0.0);
    assert_eq!(only(&mesh, &[(2, along), (3, along)]), None);
    // the far ends are swapped: the wire turns by half, and stays above
    assert_eq!(only(&mesh, &[(2, v(0.0, 1.9, 1e-12)), (3, v(0.0, -1.9, 1e-12))]), None);
    mesh.half_thickness = vec![0.5e-9; mesh.rest.len()];
    let near = v(0.3, 0.7, 1e-12);
    mesh.rest[2].z *= 1.0 + 1e-6;
    mesh.rest[3].z *= 1.0 + 1e-6;
    assert_eq!(only(&mesh, &[(2, near), (3, near)]), None);
    let too_near = v(0.3, 0.7, -2e-15);
    let found = only(&mesh, &[(2, too_near), (3, too_near)]).unwrap();
    assert!(found.distance <= found.required && found.required == 1e-9, "{found:?}");
}

/// The queries with exact times of impact: every collision is found, at a time at which there is one or nearly, and nothing else but what
/// comes close to one.
#[test]
fn queries_with_exact_times() {
    for (file, kind) in [
        ("oracle/ccd_point_triangle.json", PairKind::FaceVertex),
        ("oracle/ccd_edge_edge.json", PairKind::EdgeEdge),
    ] {
        let json = testdata_json(file);
        let (mut hits, mut free, mut near) = (0, 0, 0);
        for case in json["cases"].as_array().unwrap() {
            let x = vectors(&case["x"]);
            let (from, to) = x.split_at(4);
            let mesh = match kind {
                PairKind::EdgeEdge => mesh_of(from.to_vec(), &[[0, 1], [2, 3]], vec![]),
                _ => mesh_of(from.to_vec(), &[], vec![[1, 2, 3]]),
            };
            let found = crossings(&mesh, from, to);
            let reference = &case["toi_ref"];
            if let Some(toi) = reference.as_f64() {
                let found = found.first().unwrap_or_else(|| panic!("missed: {case}"));
                hits += 1;
                // primitives that come to touch tangentially cannot be told apart a little before
                let is_close = found.distance < 1e-6;
                assert!(found.time >= toi - 1e-9 || is_close, "{found:?} before {toi}: {case}");
            } else if reference.is_null() {
                free += 1;
                let size = x.iter().map(|p| p.amax()).fold(0.0, f64::max);
                near += u32::from(!found.is_empty());
                for crossing in found {
                    assert!(crossing.distance <= 1e-6 * size, "{crossing:?}: {case}");
                }
            }
        }
        println!("{file}: {hits} collisions found, {near} of {free} others too close to tell");
        assert!(hits > 400 && free > 100 && 10 * near < free, "{hits} {free} {near}");
    }
}

/// Steps of meshes that collision detection admits keep their distances all the way, and twice those steps, where they end in an
/// intersection, do not.
#[test]
fn steps_of_meshes() {
    let mut auditor = Auditor::default();
    let (mut admitted, mut through) = (0, 0);
    for scene in scenes() {
        let dx: Vec<Vec3> = scene.x0.iter().zip(&scene.x1).map(|(a, b)| b - a).collect();
        let candidates = swept_candidates(&scene.mesh, &scene.x0, &dx, 0.0);
        for method in [Method::Additive, Method::Inclusion] {
            let t = max_step(&scene.mesh, &scene.x0, &dx, &candidates, method, 0.1, 1.0);
            let x: Vec<Vec3> = scene.x0.iter().zip(&dx).map(|(x, dx)| x + t * dx).collect();
            assert_eq!(auditor.crossings(&scene.mesh, &scene.x0, &x), vec![], "{}", scene.name);
            admitted += 1;
        }
        let meets = !audit_intersections(&scene.mesh, &scene.x1).is_empty();
        through += u32::from(meets);
        let found = !auditor.crossings(&scene.mesh, &scene.x0, &scene.x1).is_empty();
        assert!(found || !meets, "{}", scene.name);
    }
    assert!(admitted > 10 && through > 2, "{admitted} {through}");
}

/// All pairs of a soup one by one, at many times: what is too close at any of them is found.
#[test]
fn crossings_of_a_soup_are_those_of_sampled_times() {
    let r = &mut Random::new(11);
    let mut hits = 0;
    for round in 0..20 {
        let mut mesh = soup(r, 40, 0.15);
        if round % 2 == 1 {
            mesh.half_thickness = vec![0.01; mesh.rest.len()];
        }
        let from = mesh.rest.clone();
        let to: Vec<Vec3> = from.iter().map(|x| x + 0.1 * r.vec3()).collect();
        let found: Vec<Pair> = crossings(&mesh, &from, &to).iter().map(|c| c.pair).collect();
        for k in 0..=32 {
            let t = f64::from(k) / 32.0;
            let x: Vec<Vec3> = from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect();
            for close in closer_than(&mesh, &x, 0.0) {
                assert!(found.contains(&close.pair), "{close:?}");
                hits += 1;
            }
        }
    }
    assert!(hits > 100, "{hits}");
}
