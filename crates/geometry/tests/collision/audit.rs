//! The audit against exact rational twins and the oracle.

use crate::common::{Random, mesh_of, soup, two_spheres, vectors};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::box_pairs::{Box3, Origin, Tree, find, find_within};
use standoff_geometry::audit::{
    Auditor, ClosePair, Pair, Parts, audit_half_space, audit_intersections, audit_inversions,
    certainly_on_one_side, closer_than, edge_triangle_intersects, non_finite, ray_meets_triangle,
    segments_intersect, separation, tet_orientation,
};
use standoff_linalg::Vec3;
use standoff_testkit::testdata_json;
use std::cmp::Ordering;

type Point = [i128; 3];

fn real(p: &Point) -> Vec3 {
    Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64)
}

/// Whether the convex hulls of `a` and `b` have a point in common: is there a convex combination
/// of each with the same value? Decided by Fourier–Motzkin elimination over the integers, which
/// knows no geometry.
fn hulls_meet(a: &[Point], b: &[Point]) -> bool {
    // unknowns: weights of all but the first point of each set; rows c·w ≤ c_last
    let n = a.len() - 1 + b.len() - 1;
    let mut rows: Vec<Vec<i128>> = Vec::new();
    for k in 0..3 {
        // a₀ + Σ wᵢ (aᵢ − a₀) = b₀ + Σ wⱼ (bⱼ − b₀)
        let mut row: Vec<i128> = a[1..].iter().map(|p| p[k] - a[0][k]).collect();
        row.extend(b[1..].iter().map(|p| b[0][k] - p[k]));
        row.push(b[0][k] - a[0][k]);
        rows.push(row.iter().map(|v| -v).collect());
        rows.push(row);
    }
    for i in 0..n {
        let mut row = vec![0; n + 1];
        row[i] = -1;
        rows.push(row);
    }
    for (first, count) in [(0, a.len() - 1), (a.len() - 1, b.len() - 1)] {
        let mut row = vec![0; n + 1];
        row[first..first + count].fill(1);
        row[n] = 1;
        rows.push(row);
    }
    for i in 0..n {
        let (with, mut without): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r[i] != 0);
        for p in with.iter().filter(|r| r[i] > 0) {
            for q in with.iter().filter(|r| r[i] < 0) {
                let mut row: Vec<i128> = (0..=n).map(|k| p[k] * -q[i] + q[k] * p[i]).collect();
                let g = row.iter().fold(0, |g, &v| gcd(g, v.abs()));
                if g > 1 {
                    row.iter_mut().for_each(|v| *v /= g);
                }
                without.push(row);
            }
        }
        without.sort();
        without.dedup();
        rows = without;
    }
    rows.iter().all(|r| r[n] >= 0)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn determinant(p: &[Point; 4]) -> i128 {
    let e: [Point; 3] = std::array::from_fn(|i| std::array::from_fn(|k| p[i + 1][k] - p[0][k]));
    let c = |i: usize, j: usize| e[1][i] * e[2][j] - e[1][j] * e[2][i];
    e[0][0] * c(1, 2) + e[0][1] * c(2, 0) + e[0][2] * c(0, 1)
}

/// A random point of a small grid, sometimes a previous point or one on its line.
fn grid_point(r: &mut Random, size: u64, others: &[Point]) -> Point {
    let n = others.len() as u64;
    match r.below(6) {
        0 if n > 0 => others[r.below(n) as usize],
        1 if n > 1 => {
            let (a, b) = (others[r.below(n) as usize], others[r.below(n) as usize]);
            let s = r.below(5) as i128 - 2;
            std::array::from_fn(|k| a[k] + s * (b[k] - a[k]))
        }
        _ => std::array::from_fn(|_| r.below(size) as i128),
    }
}

fn grid_points<const N: usize>(r: &mut Random, size: u64) -> [Point; N] {
    let mut p = Vec::with_capacity(N);
    for _ in 0..N {
        p.push(grid_point(r, size, &p));
    }
    let first = r.below(N as u64) as usize;
    std::array::from_fn(|i| p[(i + first) % N])
}

#[test]
fn edge_and_triangle_as_by_linear_programming() {
    let mut r = Random::new(11);
    let mut counts = [0; 4];
    for k in 0..30_000 {
        let p: [Point; 5] = grid_points(&mut r, 2 + k % 5);
        let x = p.map(|q| real(&q));
        let expected = hulls_meet(&p[..2], &p[2..]);
        let flat = determinant(&[p[2], p[3], p[4], p[0]]) == 0;
        counts[2 * usize::from(flat) + usize::from(expected)] += 1;
        let all_orders = [
            edge_triangle_intersects(&x[0], &x[1], &x[2], &x[3], &x[4]),
            edge_triangle_intersects(&x[1], &x[0], &x[4], &x[3], &x[2]),
            edge_triangle_intersects(&x[0], &x[1], &x[3], &x[4], &x[2]),
        ];
        assert_eq!(all_orders, [expected; 3], "{p:?}");
    }
    assert!(counts.iter().all(|&c| c > 2000), "all situations occur: {counts:?}");
}

#[test]
fn segments_as_by_linear_programming() {
    let mut r = Random::new(12);
    let mut hits = 0;
    for k in 0..30_000 {
        let p: [Point; 4] = grid_points(&mut r, 2 + k % 4);
        let x = p.map(|q| real(&q));
        let expected = hulls_meet(&p[..2], &p[2..]);
        hits += usize::from(expected);
        assert_eq!(segments_intersect(&x[0], &x[1], &x[2], &x[3]), expected, "{p:?}");
        assert_eq!(segments_intersect(&x[3], &x[2], &x[0], &x[1]), expected, "{p:?}");
    }
    assert!(hits > 3000 && hits < 27_000, "{hits}");
}

#[test]
fn orientation_of_thin_tetrahedra() {
    // large grid and nearly coplanar points: the plain determinant in f64 would be wrong
    let mut r = Random::new(13);
    let mut flat = 0;
    for _ in 0..20_000 {
        let mut p: [Point; 4] =
            std::array::from_fn(|_| std::array::from_fn(|_| r.below(1 << 40) as i128));
        let (s, t) = (r.below(3) as i128, r.below(3) as i128);
        p[3] = std::array::from_fn(|k| p[0][k] + s * (p[1][k] - p[0][k]) + t * (p[2][k] - p[0][k]));
        if r.below(3) > 0 {
            p[3][r.below(3) as usize] += r.below(3) as i128 - 1;
        }
        let expected = determinant(&p).cmp(&0);
        flat += usize::from(expected == Ordering::Equal);
        let x = p.map(|q| real(&q) * 2_f64.powi(-40));
        assert_eq!(tet_orientation(&x[0], &x[1], &x[2], &x[3]), expected);
        let tets = [[0, 1, 2, 3], [1, 0, 2, 3]];
        let bad = audit_inversions(&tets, &x);
        assert_eq!(bad.contains(&0), expected != Ordering::Greater);
        assert_eq!(bad.contains(&1), expected != Ordering::Less);
    }
    assert!(flat > 5000);
}

#[test]
fn one_side_is_certain() {
    let mut r = Random::new(15);
    let (mut certain, mut doubtful) = (0, 0);
    for round in 0..20_000 {
        let size = 2 + round % 6;
        let p: [Point; 5] = grid_points(&mut r, size);
        // on the grid, or just off it and far from the origin, where differences round
        let (scale, shift) = if round % 2 == 0 { (1.0, 0.0) } else { (0.1, 1000.3) };
        let x = p.each_ref().map(|p| (real(p) * scale).add_scalar(shift));
        let side = |d: &Vec3| tet_orientation(&x[0], &x[1], &x[2], d);
        let (s, t) = (side(&x[3]), side(&x[4]));
        if certainly_on_one_side([&x[0], &x[1], &x[2]], [&x[3], &x[4]]) {
            assert!(s == t && s != Ordering::Equal, "{x:?}");
            certain += 1;
        } else if s == t && s != Ordering::Equal {
            doubtful += 1;
        }
    }
    assert!(certain > 1000 && doubtful > 10 && doubtful < certain, "{certain} {doubtful}");
}

/// Twin of `audit_intersections`: all pairs, by linear programming.
fn all_intersections(mesh: &CollisionMesh, p: &[Point]) -> Vec<Pair> {
    let at = |v: &[u32]| v.iter().map(|&v| p[v as usize]).collect::<Vec<_>>();
    let meet = |a: &[u32], b: &[u32]| mesh.may_collide(a, b) && hulls_meet(&at(a), &at(b));
    let mut out = Vec::new();
    for (i, e) in mesh.edges.iter().enumerate() {
        for (j, f) in mesh.faces.iter().enumerate() {
            if meet(e, f) {
                out.push(Pair::EdgeFace { edge: i as u32, face: j as u32 });
            }
        }
    }
    for &i in &mesh.codim_edges {
        for &j in mesh.codim_edges.iter().filter(|&&j| j > i) {
            if meet(&mesh.edges[i as usize], &mesh.edges[j as usize]) {
                out.push(Pair::EdgeEdge { edges: [i, j] });
            }
        }
    }
    for &vertex in &mesh.codim_vertices {
        for (j, f) in mesh.faces.iter().enumerate() {
            if meet(&[vertex], f) {
                out.push(Pair::FaceVertex { face: j as u32, vertex });
            }
        }
        for &edge in &mesh.codim_edges {
            if meet(&[vertex], &mesh.edges[edge as usize]) {
                out.push(Pair::EdgeVertex { edge, vertex });
            }
        }
        for &w in mesh.codim_vertices.iter().filter(|&&w| w > vertex) {
            if meet(&[vertex], &[w]) {
                out.push(Pair::VertexVertex { vertices: [vertex, w] });
            }
        }
    }
    out.sort();
    out
}

#[test]
fn soups_of_all_kinds_against_all_pairs() {
    let mut r = Random::new(14);
    let mut kinds = [0; 5];
    for round in 0..6 {
        let mut mesh = soup(&mut r, 120, 0.1);
        let size = 3 + round % 5;
        let p: Vec<Point> = (0..mesh.rest.len()).map(|_| grid_point(&mut r, size, &[])).collect();
        let x: Vec<Vec3> = p.iter().map(real).collect();
        if round % 3 == 1 {
            mesh.mobile = (0..x.len()).map(|v| v % 7 == 0).collect();
        }
        let mut found = audit_intersections(&mesh, &x);
        // nor do trees of other positions matter
        let mut auditor = Auditor::default();
        for offset in [0.0, 0.1, 1.0] {
            let other: Vec<Vec3> = x.iter().map(|p| p.map(|c| c + offset * r.signed())).collect();
            auditor.intersections(&mesh, &other);
            assert_eq!(auditor.intersections(&mesh, &x), found);
            assert_eq!(auditor.closer_than(&mesh, &x, 0.3), closer_than(&mesh, &x, 0.3));
        }
        found.sort();
        assert_eq!(found, all_intersections(&mesh, &p));
        for pair in found {
            let kind = match pair {
                Pair::EdgeFace { .. } => 0,
                Pair::EdgeEdge { .. } => 1,
                Pair::FaceVertex { .. } => 2,
                Pair::EdgeVertex { .. } => 3,
                Pair::VertexVertex { .. } => 4,
            };
            kinds[kind] += 1;
        }
    }
    assert!(kinds.iter().all(|&n| n > 3), "all kinds occur: {kinds:?}");
}

#[test]
fn boxes_that_overlap_in_f64_are_found() {
    // bounds from a few numbers that f32 does not hold, so that many boxes touch, far from the origin
    let mut r = Random::new(16);
    for (count, offset) in [(3, 0.0), (9, 1.0), (40, 1e5), (300, 1e12), (1500, 0.3)] {
        let spacing = 0.1 * f64::max(1.0, 1e-9 * offset);
        let coordinate = |n: u64| offset + spacing * n as f64;
        let mut corners: Vec<[Vec3; 2]> = Vec::new();
        for _ in 0..count {
            let a = Vec3::from_fn(|_, _| coordinate(r.below(12)));
            let b = a + Vec3::from_fn(|_, _| spacing * r.below(4) as f64);
            corners.push([a, b]);
        }
        let origin = Origin::new(&corners.concat());
        let boxes: Vec<Box3> = corners.iter().map(|c| origin.around(c, 0.0)).collect();
        let overlap = |i: u32, j: u32| {
            let ([a, b], [c, d]) = (corners[i as usize], corners[j as usize]);
            (0..3).all(|k| a[k] <= d[k] && c[k] <= b[k])
        };
        // an order that has nothing to do with these boxes must not matter
        let mut tree = Tree::new(&vec![boxes[0]; boxes.len()]);
        tree.update(&boxes);
        let n = count as u32;
        let all = (0..n).flat_map(|i| (0..n).map(move |j| [i, j])).filter(|[i, j]| overlap(*i, *j));
        let all: Vec<[u32; 2]> = all.collect();
        let found = find(&boxes, &tree, |i, j| overlap(i, j).then_some([i, j]));
        assert_eq!(found, all);
        let found = find_within(&tree, |i, j, found| {
            if overlap(i, j) {
                found.push([i.min(j), i.max(j)]);
            }
        });
        let all: Vec<_> = all.into_iter().filter(|[i, j]| i < j).collect();
        assert!(count < 40 || !all.is_empty());
        assert_eq!(found, all);
    }
}

#[test]
fn spheres_apart_and_overlapping() {
    let apart = two_spheres(5, 1e-3);
    assert_eq!(audit_intersections(&apart, &apart.rest), []);
    let overlapping = two_spheres(5, -1e-3);
    assert!(!audit_intersections(&overlapping, &overlapping.rest).is_empty());
    // touching in one vertex counts
    let x = [[0., 0., 0.], [3., 0., 0.], [0., 3., 0.], [1., 1., 0.], [1., 1., 2.], [2., 1., 2.]];
    let x: Vec<Vec3> = x.iter().map(|p| Vec3::from_column_slice(p)).collect();
    let touching = CollisionMesh::new(x.clone(), vec![[0, 1, 2], [3, 4, 5]], &[], &[]);
    assert_eq!(audit_intersections(&touching, &x).len(), 2);
}

#[test]
fn extended_distances_of_points_on_a_grid() {
    // squared distances of integers have simple exact values: compare with f64 formulas loosely and
    // with the support of the difference set exactly
    let mut r = Random::new(15);
    for k in 0..5000 {
        let p: [Point; 4] = grid_points(&mut r, 2 + k % 6);
        let v = p.map(|q| separation::extended(&real(&q)));
        let ee = separation::edge_edge(&v[0], &v[1], &v[2], &v[3]).value();
        let pt = separation::point_triangle(&v[0], &[v[1], v[2], v[3]]).value();
        assert_eq!(ee == 0.0, hulls_meet(&p[..2], &p[2..]), "{p:?}");
        assert_eq!(pt == 0.0, hulls_meet(&p[..1], &p[1..]), "{p:?}");
        // minimum over a fine sampling of the parameters bounds it from above, closely
        let x = p.map(|q| real(&q));
        let (mut ee_s, mut pt_s) = (f64::INFINITY, f64::INFINITY);
        for i in 0..=24 {
            for j in 0..=24 {
                let (s, t) = (i as f64 / 24.0, j as f64 / 24.0);
                let d = x[0].lerp(&x[1], s) - x[2].lerp(&x[3], t);
                ee_s = ee_s.min(d.norm());
                if i + j <= 24 {
                    let q = x[1] + (x[2] - x[1]) * s + (x[3] - x[1]) * t;
                    pt_s = pt_s.min((x[0] - q).norm());
                }
            }
        }
        let size = x.iter().map(|q| (q - x[0]).norm()).fold(0.0, f64::max);
        for (exact, sampled) in [(ee.sqrt(), ee_s), (pt.sqrt(), pt_s)] {
            assert!(exact <= sampled + 1e-12, "{exact} {sampled} {p:?}");
            assert!(sampled <= exact + size / 12.0, "{exact} {sampled} {p:?}");
        }
    }
}

#[test]
fn closer_than_is_strict_and_sees_thickness() {
    let x = vec![Vec3::zeros(), Vec3::new(1.5, 0.0, 0.0), Vec3::new(0.0, 4.0, 0.0)];
    let mut mesh = CollisionMesh::new(x.clone(), vec![], &[], &[0, 1, 2]);
    assert_eq!(closer_than(&mesh, &x, 1.5), []);
    let one = ClosePair {
        pair: Pair::VertexVertex { vertices: [0, 1] },
        distance: 1.5,
        required: 1.5_f64.next_up(),
    };
    assert_eq!(closer_than(&mesh, &x, 1.5_f64.next_up()), [one]);
    mesh.half_thickness = vec![0.5, 1.125, 2.0];
    assert_eq!(closer_than(&mesh, &x, 0.0).len(), 1);
    assert_eq!(closer_than(&mesh, &x, -0.125), []);
    assert_eq!(closer_than(&mesh, &x, 1.6).len(), 3);
    let wire = CollisionMesh::new(x.clone(), vec![], &[[0, 2]], &[1]);
    assert_eq!(closer_than(&wire, &x, 1.6)[0].pair, Pair::EdgeVertex { edge: 0, vertex: 1 });
}

#[test]
fn half_spaces_are_exact() {
    let n = Vec3::new(0.1, 0.2, 0.3);
    let o = Vec3::new(1e8, 1.0, -1.0);
    // on the plane by construction, then one bit off
    let on = o;
    let above = Vec3::new(o.x, o.y, o.z.next_up());
    let below = Vec3::new(o.x.next_down(), o.y, o.z);
    assert_eq!(audit_half_space(&[on, above, below], &[0, 1, 2], &o, &n, 0.0), [0, 2]);
    // n·(x − o) with cancellation: 0.1·2 + 0.2·(−1) is not 0 in exact arithmetic or just so
    let x = o + Vec3::new(2.0, -1.0, 0.0);
    let exact = (0.1 * 2.0_f64 - 0.2).partial_cmp(&0.0).unwrap();
    let bad = audit_half_space(&[x], &[0], &o, &n, 0.0);
    assert_eq!(bad.is_empty(), exact == Ordering::Greater);
    let z = Vec3::z();
    let x = [Vec3::new(5.0, 5.0, 0.5)];
    assert_eq!(audit_half_space(&x, &[0], &Vec3::zeros(), &z, 0.5), [0]);
    assert_eq!(audit_half_space(&x, &[0], &Vec3::zeros(), &z, 0.5_f64.next_down()).len(), 0);
    assert_eq!(non_finite(&[x[0], Vec3::new(0.0, f64::NAN, 0.0)]), [1]);
}

/// Points with integer coordinates anywhere, exactly on a plane, and as close to it as one coordinate admits: integer arithmetic tells
/// on which side they are.
#[test]
fn sides_of_half_spaces_are_those_of_integers() {
    let mut r = Random::new(11);
    let mut sides = [0; 2];
    for k in 0..2000 {
        let bits = [20, 40, 50][k % 3];
        let integer = |r: &mut Random, bits: u64| r.below(1 << bits) as i128 - (1 << (bits - 1));
        let n: Point = std::array::from_fn(|_| integer(&mut r, 20) | 1);
        let (o, mut p): (Point, Point) =
            std::array::from_fn(|_| std::array::from_fn(|_| integer(&mut r, bits))).into();
        let height = |p: &Point| (0..3).map(|i| n[i] * (p[i] - o[i])).sum::<i128>();
        if k % 4 == 1 {
            // exactly on the plane
            let c: Point = std::array::from_fn(|_| integer(&mut r, 26));
            let next = [1, 2, 0];
            p = std::array::from_fn(|i| {
                let (j, l) = (next[i], next[next[i]]);
                o[i] + n[j] * c[l] - n[l] * c[j]
            });
        } else if k % 4 > 1 {
            // as close as one coordinate admits
            p[2] -= height(&p) / n[2] + i128::from(r.below(5)) - 2;
        }
        if p[2].abs() >= 1 << 53 {
            continue;
        }
        let above = height(&p) > 0;
        sides[usize::from(above)] += 1;
        let found = audit_half_space(&[real(&p)], &[0], &real(&o), &real(&n), 0.0);
        assert_eq!(found.is_empty(), above, "{p:?} {o:?} {n:?}");
    }
    assert!(sides.iter().all(|&n| n > 500), "{sides:?}");
}

#[test]
fn intersections_of_the_oracle() {
    let json = testdata_json("oracle/intersections.json");
    let mut differ = Vec::new();
    for (i, s) in json["single"].as_array().unwrap().iter().enumerate() {
        let (e, t) = (vectors(&s["e"]), vectors(&s["t"]));
        let ours = edge_triangle_intersects(&e[0], &e[1], &t[0], &t[1], &t[2]);
        if ours != s["intersects"].as_bool().unwrap() {
            // decided in floating point there: only ends within rounding of the triangle may differ
            let t = [0, 1, 2].map(|k| separation::extended(&t[k]));
            let d2 = |p| separation::point_triangle(&separation::extended(p), &t).value();
            if d2(&e[0]).min(d2(&e[1])).sqrt() > 1e-15 {
                differ.push(format!("single {i}: {ours}"));
            }
        }
    }
    for case in json["cases"].as_array().unwrap() {
        let x = vectors(&case["vertices"]);
        let edges = crate::common::indices::<2>(&case["edges"]);
        let mesh = mesh_of(x.clone(), &edges, crate::common::indices(&case["faces"]));
        let found = audit_intersections(&mesh, &x);
        let crossing = found.iter().any(|p| matches!(p, Pair::EdgeFace { .. }));
        let tag = case["tag"].as_str().unwrap();
        if crossing != case["has_intersections"].as_bool().unwrap() {
            differ.push(format!("{tag}: {crossing}"));
        }
    }
    // touching is decided in floating point there, exactly here
    differ.retain(|d| !d.contains("gap 0") && !d.contains("1e-15"));
    assert_eq!(differ, Vec::<String>::new());
}

/// On small integers, where rays meet edges and vertices all the time, a point lies inside of a closed surface as often as a
/// tetrahedron that fills it says: a random cluster of cubes, each of six tetrahedra, without those that are not there.
#[test]
fn parity_tells_inside_from_outside() {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2 & 1].map(|c| c as f64);
    // the tetrahedra around the diagonal of a cube
    let tets = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
    let mut r = Random::new(3);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..3000 {
        let there: Vec<usize> = (0..8).filter(|_| r.below(2) == 0).collect();
        let shift = |cube: usize, k: usize| Vec3::from(corner(cube)) + Vec3::from(corner(k));
        let solid: Vec<[Vec3; 4]> =
            there.iter().flat_map(|c| tets.map(|t| t.map(|k| shift(*c, k)))).collect();
        let p = Vec3::new(r.below(20) as f64, r.below(20) as f64, r.below(20) as f64) / 8.0;
        let sign = |t: &[Vec3; 4]| tet_orientation(&t[0], &t[1], &t[2], &t[3]);
        assert!(solid.iter().all(|t| sign(t) == Ordering::Greater));
        let side = |t: &[Vec3; 4], k: usize| {
            let mut moved = *t;
            moved[k] = p;
            sign(&moved)
        };
        // the ray begins beside a point on a face; which side that is, is its own affair
        if solid.iter().any(|t| {
            let sides: Vec<Ordering> = (0..4).map(|k| side(t, k)).collect();
            !sides.contains(&Ordering::Less) && sides.contains(&Ordering::Equal)
        }) {
            continue;
        }
        let within = solid.iter().any(|t| (0..4).all(|k| side(t, k) == Ordering::Greater));
        // faces that two tetrahedra share are met twice
        let faces =
            |t: &[Vec3; 4]| [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|f| f.map(|k| t[k]));
        let met = solid.iter().flat_map(faces).filter(|f| ray_meets_triangle(&p, f.each_ref()));
        assert_eq!(met.count() % 2 == 1, within, "{p}");
        *(if within { &mut inside } else { &mut outside }) += 1;
    }
    assert!(inside > 20 && outside > 50, "{inside} {outside}");
}

/// In a big sphere lie a small one, a wire, a point and an open sheet, and beside it another small sphere: all that is inside of
/// something closed is found, however the whole is turned, and only where the two may meet.
#[test]
fn enclosures_of_parts() {
    let (unit, faces) = standoff_testkit::shapes::sphere(1);
    let n = unit.len() as u32;
    let spheres = [(3.0, 0.0), (0.4, 1.0), (0.4, 7.0)];
    let mut x: Vec<Vec3> = spheres
        .iter()
        .flat_map(|(r, at)| unit.iter().map(move |p| p * *r + Vec3::x() * *at))
        .collect();
    let mut all: Vec<[u32; 3]> =
        (0..3).flat_map(|k| faces.iter().map(move |f| f.map(|v| v + k * n))).collect();
    let (wire, point, sheet) = (3 * n, 3 * n + 2, 3 * n + 3);
    let more = [[-1.0, 0.0, 0.0], [-1.0, 0.5, 0.0], [1.0, 0.0, 0.1]];
    x.extend(more.map(Vec3::from));
    x.extend([[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0]].map(Vec3::from));
    all.push([sheet, sheet + 1, sheet + 2]);
    let mut mesh = CollisionMesh::new(x.clone(), all, &[[wire, wire + 1]], &[point]);
    let found = |mesh: &CollisionMesh, x: &[Vec3]| -> Vec<[u32; 2]> {
        Parts::new(mesh).enclosures(x).iter().map(|e| [e.inner, e.outer]).collect()
    };
    let mut r = Random::new(8);
    let inside = vec![[n, 0], [wire, 0], [point, 0], [point, n], [sheet, 0]];
    assert_eq!(found(&mesh, &x), inside);
    for _ in 0..50 {
        let turn = r.rotation();
        let turned: Vec<Vec3> = x.iter().map(|p| turn * p).collect();
        assert_eq!(found(&mesh, &turned), inside);
    }
    // what cannot move does not meet what cannot move, and groups may ignore each other
    mesh.mobile[..2 * n as usize].fill(false);
    assert_eq!(found(&mesh, &x), inside[1..]);
    mesh.exclude(&[0..n as usize, n as usize..x.len()], &[(0, 1)], false);
    assert_eq!(found(&mesh, &x), [[point, n]]);
    x[point as usize].x = f64::NAN;
    assert_eq!(found(&mesh, &x), [[0; 2]; 0]);
}

/// The same of outlines in the plane, with rays through their corners.
#[test]
fn enclosures_in_the_plane() {
    let square = |r: f64, at: f64| {
        [[-r, 0.0], [0.0, -r], [r, 0.0], [0.0, r]].map(|[x, y]| Vec3::new(x + at, y, 0.0))
    };
    let x = [square(3.0, 0.0), square(0.5, 1.0), square(0.5, 9.0)].concat();
    let ring = |k: u32| (0..4).map(move |i| [4 * k + i, 4 * k + (i + 1) % 4]);
    let mut edges: Vec<[u32; 2]> = (0..3).flat_map(ring).collect();
    let pairs = |edges: &[[u32; 2]]| {
        let mesh = CollisionMesh::planar(x.clone(), edges, &[]);
        Parts::new(&mesh).enclosures(&x).iter().map(|e| [e.inner, e.outer]).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&edges), [[4, 0]]);
    // an outline with a gap has no inside
    edges.remove(3);
    assert_eq!(pairs(&edges), [[0; 2]; 0]);
}
