//! Neighbours at rest: exactly the pairs that a mesh finer than its thickness needs, and no others.

use standoff_geometry::broad_phase::{self, brute_force};
use standoff_geometry::rest_neighbours::REACH;
use standoff_geometry::{CollisionMesh, Pair, PairKind, RestNeighbours, audit};
use standoff_linalg::Vec3;
use standoff_testkit::Random;
use std::collections::BTreeSet;

/// One body over `x` of thickness 1.
fn body(x: Vec<Vec3>, faces: &[[u32; 3]], wires: &[[u32; 2]]) -> CollisionMesh {
    let n = x.len();
    let mut mesh = CollisionMesh::new(x, faces.to_vec(), wires, &[]);
    mesh.body = vec![0; n];
    mesh.half_thickness = vec![0.5; n];
    mesh
}

fn wire(x: Vec<Vec3>) -> CollisionMesh {
    let edges: Vec<[u32; 2]> = (1..x.len() as u32).map(|v| [v - 1, v]).collect();
    body(x, &[], &edges)
}

/// A wire there, around half a circle of diameter `gap`, and back, with edges of about `length`.
fn hairpin(gap: f64, length: f64) -> Vec<Vec3> {
    let (leg, r) = (6.0, 0.5 * gap);
    let total = 2.0 * leg + std::f64::consts::PI * r;
    let n = (total / length) as usize;
    let at = |s: f64| {
        if s < leg {
            Vec3::new(s, 0.0, 0.0)
        } else if s > total - leg {
            Vec3::new(total - s, gap, 0.0)
        } else {
            let (sin, cos) = ((s - leg) / r).sin_cos();
            Vec3::new(leg + r * sin, r - r * cos, 0.0)
        }
    };
    (0..=n).map(|k| at(total * k as f64 / n as f64)).collect()
}

/// A sheet of n × n squares of side `a`, its vertices moved a little, rolled up to the radius `r`.
fn sheet(n: u32, a: f64, r: f64) -> CollisionMesh {
    let m = n + 1;
    let random = &mut Random::new(3);
    let mut x = Vec::new();
    for i in 0..m {
        for j in 0..m {
            let mut noise = || 0.1 * a * random.signed();
            let (u, v) = (a * f64::from(i) + noise(), a * f64::from(j) + noise());
            let (sin, cos) = (u / r).sin_cos();
            x.push(Vec3::new(r * sin, r - r * cos, v));
        }
    }
    let squares = (0..n).flat_map(|i| (0..n).map(move |j| i * m + j));
    let faces: Vec<[u32; 3]> =
        squares.flat_map(|v| [[v, v + m, v + 1], [v + 1, v + m, v + m + 1]]).collect();
    body(x, &faces, &[])
}

fn all_pairs(mesh: &CollisionMesh) -> Vec<Pair> {
    let mut mesh = mesh.clone();
    mesh.neighbours = RestNeighbours::default();
    brute_force::candidates(&mesh, &mesh.rest, 10.0).iter().collect()
}

/// The definition, pair by pair: edges within reach of the source hang together where they share an end within reach
/// or a face.
fn needed(mesh: &CollisionMesh) -> BTreeSet<Pair> {
    let d = |kind, i, j| Pair::new(kind, [i, j]).d2(mesh, &mesh.rest).sqrt();
    let ends = |e: u32| mesh.edges[e as usize];
    let edges = 0..mesh.edges.len() as u32;
    let share_face = |e: u32, f: u32| {
        let has = |face: &[u32; 3], e: u32| ends(e).iter().all(|v| face.contains(v));
        mesh.faces.iter().any(|face| has(face, e) && has(face, f))
    };
    let flood = |first: Vec<u32>, to_edge: &dyn Fn(u32) -> f64, to_vertex: &dyn Fn(u32) -> f64| {
        let mut reached: BTreeSet<u32> = first.into_iter().collect();
        loop {
            let joined = |e: u32, f: u32| {
                ends(e).iter().any(|v| ends(f).contains(v) && to_vertex(*v) <= REACH)
                    || share_face(e, f)
            };
            let near = edges.clone().filter(|&e| !reached.contains(&e) && to_edge(e) <= REACH);
            let more: Vec<u32> = near.filter(|&e| reached.iter().any(|&f| joined(e, f))).collect();
            if more.is_empty() {
                return reached;
            }
            reached.extend(more);
        }
    };
    let from_edge = |e: u32| {
        let to_edge = |f: u32| if f == e { 0.0 } else { d(PairKind::EdgeEdge, e.min(f), e.max(f)) };
        flood(vec![e], &to_edge, &|v| d(PairKind::EdgeVertex, e, v))
    };
    let from_vertex = |v: u32| {
        let first = edges.clone().filter(|&e| {
            let opposite = |f: &&[u32; 3]| f.contains(&v) && ends(e).iter().all(|w| f.contains(w));
            let near = d(PairKind::EdgeVertex, e, v) <= REACH;
            ends(e).contains(&v) || (near && mesh.faces.iter().any(|f| opposite(&f)))
        });
        flood(first.collect(), &|e| d(PairKind::EdgeVertex, e, v), &|w| {
            (mesh.rest[v as usize] - mesh.rest[w as usize]).norm()
        })
    };
    let mut of_edge: Vec<Option<BTreeSet<u32>>> = vec![None; mesh.edges.len()];
    let mut of_vertex: Vec<Option<BTreeSet<u32>>> = vec![None; mesh.rest.len()];
    let wanted = |pair: &Pair| {
        let [i, j] = pair.primitives;
        if pair.d2(mesh, &mesh.rest).sqrt() > REACH {
            return false;
        }
        let mut edge = |e: u32| of_edge[e as usize].get_or_insert_with(|| from_edge(e)).clone();
        let mut vertex =
            |v: u32| of_vertex[v as usize].get_or_insert_with(|| from_vertex(v)).clone();
        match pair.kind {
            PairKind::VertexVertex => false,
            PairKind::EdgeEdge => edge(i).contains(&j) || edge(j).contains(&i),
            PairKind::EdgeVertex => vertex(j).contains(&i),
            PairKind::FaceVertex => {
                let f = mesh.faces[i as usize];
                vertex(j).iter().any(|&e| ends(e).iter().all(|v| f.contains(v)))
            }
        }
    };
    let mut wanted = wanted;
    all_pairs(mesh).into_iter().filter(|p| wanted(p)).collect()
}

fn found(mesh: &CollisionMesh) -> BTreeSet<Pair> {
    let neighbours = RestNeighbours::new(mesh, 1.0);
    let set: BTreeSet<Pair> =
        all_pairs(mesh).into_iter().filter(|p| neighbours.contains(p.kind, p.primitives)).collect();
    assert_eq!(set.len(), neighbours.len());
    set
}

#[test]
fn of_a_straight_wire_they_are_the_next_but_one() {
    let line = |n: usize, a: f64| wire((0..=n).map(|k| Vec3::x() * (a * k as f64)).collect());
    // 0.8 apart: an edge and the next but one, and an end of the next one
    let mesh = line(50, 0.8);
    assert_eq!(found(&mesh), needed(&mesh));
    assert_eq!(RestNeighbours::new(&mesh, 1.0).len(), 48 + 2 * 49);
    assert!(RestNeighbours::new(&line(50, 1.11), 1.0).is_empty());
    // half as long edges: up to 0.8 apart again
    assert_eq!(RestNeighbours::new(&line(50, 0.4), 1.0).len(), 48 + 47 + 2 * (49 + 48));
    // without thickness, or not one body
    let mut thin = mesh.clone();
    thin.half_thickness.clear();
    assert!(RestNeighbours::new(&thin, 1.0).is_empty());
    let mut two = mesh;
    two.body[26..].fill(1);
    let pairs = found(&two);
    assert!(!pairs.is_empty() && pairs.len() < 146);
}

#[test]
fn they_are_those_of_the_definition() {
    for mesh in [
        wire(hairpin(0.9, 0.31)),
        wire(hairpin(0.3, 0.2)),
        sheet(7, 0.37, 1e6),
        sheet(8, 0.45, 0.6),
        sheet(5, 1.6, 3.0),
    ] {
        let (found, needed) = (found(&mesh), needed(&mesh));
        assert!(!needed.is_empty() || mesh.edges.len() < 90);
        assert_eq!(found, needed, "{} edges", mesh.edges.len());
    }
}

/// What lies on itself at rest is found by the audit, except beside the fold.
#[test]
fn layers_are_no_neighbours() {
    let mut mesh = wire(hairpin(0.9, 0.3));
    let all = audit::closer_than(&mesh, &mesh.rest, 0.0);
    mesh.exclude_neighbours(1.0);
    let left = audit::closer_than(&mesh, &mesh.rest, 0.0);
    assert!(left.len() < all.len());
    let far = |x: &Vec3| x.x < 6.0 - 1.1;
    // every pair of layers away from the fold is left, and nothing but layers
    for pair in all_pairs(&mesh).iter().filter(|p| p.kind == PairKind::EdgeEdge) {
        let x = pair.stencil(&mesh).gather(&mesh.rest);
        let layers = (x[0].y - x[2].y).abs() > 0.5;
        if x.iter().all(far) && layers {
            assert!(!mesh.neighbours.contains(pair.kind, pair.primitives));
        }
        let sides = [0.5 * (x[0].y + x[1].y), 0.5 * (x[2].y + x[3].y)].map(|y| y > 0.45);
        if x.iter().all(far) && sides[0] == sides[1] && pair.d2(&mesh, &mesh.rest) <= 1.0 {
            assert!(mesh.neighbours.contains(pair.kind, pair.primitives));
        }
    }
    assert!(left.len() > 30, "{}", left.len());
    // straightened nothing is left
    let line: Vec<Vec3> = (0..mesh.rest.len()).map(|k| Vec3::x() * (0.3 * k as f64)).collect();
    assert!(audit::closer_than(&mesh, &line, 0.0).is_empty());
}

/// The broad phase, its slow twin and the audit leave out the same pairs, at any positions.
#[test]
fn all_parts_leave_them_out() {
    let mut mesh = sheet(8, 0.45, 0.7);
    let near = |mesh: &CollisionMesh, x: &[Vec3]| {
        broad_phase::candidates(mesh, x, 0.1).iter().collect::<BTreeSet<Pair>>()
    };
    let crumpled: Vec<Vec3> =
        mesh.rest.iter().map(|p| p.component_mul(&Vec3::new(0.3, 0.2, 0.6))).collect();
    let before = [near(&mesh, &mesh.rest), near(&mesh, &crumpled)];
    let intersections = audit::audit_intersections(&mesh, &crumpled).len();
    mesh.exclude_neighbours(1.0);
    let is = |p: &Pair| mesh.neighbours.contains(p.kind, p.primitives);
    for (before, x) in before.iter().zip([&mesh.rest, &crumpled]) {
        let after = near(&mesh, x);
        assert!(before.iter().any(is));
        assert_eq!(after, before.iter().filter(|p| !is(p)).copied().collect());
        assert_eq!(after, brute_force::candidates(&mesh, x, 0.1).iter().collect());
        for close in audit::closer_than(&mesh, x, 0.0) {
            let pair = match close.pair {
                audit::Pair::EdgeEdge { edges } => Pair::new(PairKind::EdgeEdge, edges),
                audit::Pair::FaceVertex { face, vertex } => {
                    Pair::new(PairKind::FaceVertex, [face, vertex])
                }
                other => panic!("{other:?}"),
            };
            assert!(!is(&pair) && after.contains(&pair));
        }
    }
    assert!(audit::audit_intersections(&mesh, &crumpled).len() <= intersections);
}

/// Two neighbouring triangles of a fine sheet that pass through each other are no finding; at a distance they are.
#[test]
fn a_fine_sheet_may_meet_itself_only_beside_where_it_is() {
    let mut mesh = sheet(12, 0.4, 1e6);
    mesh.exclude_neighbours(1.0);
    let m = 13;
    let mut x = mesh.rest.clone();
    // a vertex through a triangle two squares away, and through one six squares away
    let through = |x: &mut Vec<Vec3>, v: usize, square: usize| {
        let centre = (x[square] + x[square + 1] + x[square + m]) / 3.0;
        x[v] = centre + Vec3::y() * 0.05;
        x[v + 1] = centre - Vec3::y() * 0.05 + Vec3::z() * 0.01;
    };
    let v = 6 * m + 6;
    through(&mut x, v, v + 3);
    assert!(audit::audit_intersections(&mesh, &x).is_empty());
    let mut x = mesh.rest.clone();
    through(&mut x, v, v - 6);
    assert!(!audit::audit_intersections(&mesh, &x).is_empty());
}
