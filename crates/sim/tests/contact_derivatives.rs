//! The barrier potential against finite differences and a numeric 12×12 projection, near-degenerate
//! stencils included; pairs and their merging on small scenes; no oracle needed.

use crate::contact_support::*;
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::Candidates;
use standoff_geometry::distance::EdgeEdgeFeature;
use standoff_linalg::{Mat3, Vec3, nalgebra};
use standoff_sim::contact::{
    Barrier, BarrierPotential, Contact, ContactSet, HalfSpace, PairKind, Weighting,
};
use standoff_sim::energy::Projection;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

const BARRIERS: [Barrier; 7] = [
    Barrier::ClampedLog,
    Barrier::ClampedLogC0,
    Barrier::ClampedLogC1,
    Barrier::NormalizedClampedLog,
    Barrier::ClampedLogSquared,
    Barrier::Cubic,
    Barrier::TwoStage,
];

#[test]
fn barrier_derivatives_match_differences() {
    for barrier in BARRIERS {
        for s_hat in [1e-6, 0.3, 2.0] {
            for r in [0.01, 0.1, 0.3, 0.45, 0.6, 0.9, 0.99] {
                let s = r * s_hat;
                let [_, b1, b2] = barrier.derivatives(s, s_hat);
                let step = 1e-3 * s.min(s_hat - s);
                let d1 = gradient(&[s], step, |s| barrier.value(s[0], s_hat))[0];
                let d2 = gradient(&[s], step, |s| barrier.derivatives(s[0], s_hat)[1])[0];
                assert!((b1 - d1).abs() < 1e-8 * b1.abs(), "{barrier:?} {s_hat} {r}");
                assert!((b2 - d2).abs() < 1e-8 * b2.abs(), "{barrier:?} {s_hat} {r}");
            }
            assert_eq!(barrier.derivatives(s_hat, s_hat), [0.0; 3]);
            assert!(barrier.value(s_hat * 1e-9, s_hat) > barrier.value(s_hat * 1e-3, s_hat));
        }
        if barrier != Barrier::Cubic {
            assert_eq!(barrier.value(0.0, 1.0), f64::INFINITY);
        }
    }
}

/// [Li 2020, suppl. B]: forces of the C⁰ barrier jump at ŝ, those of the C¹ barrier have a kink there, those of the C² barrier have neither.
#[test]
fn barriers_are_as_smooth_at_their_reach_as_their_names_say() {
    let (s_hat, near) = (0.3, 1e-9);
    let at = |barrier: Barrier| {
        let [b, b1, b2] = barrier.derivatives(s_hat * (1.0 - near), s_hat);
        let units = barrier.units(s_hat);
        [b / units, b1 * s_hat / units, b2 * s_hat * s_hat / units]
    };
    let [b, b1, _] = at(Barrier::ClampedLogC0);
    assert!(b < 1e-8 && (b1 + 1.0).abs() < 1e-8, "{b} {b1}");
    let [b, b1, b2] = at(Barrier::ClampedLogC1);
    assert!(b < 1e-8 && b1.abs() < 1e-8 && (b2 - 2.0).abs() < 1e-8, "{b} {b1} {b2}");
    let smooth = at(Barrier::ClampedLog);
    assert!(smooth.iter().all(|b| b.abs() < 1e-7), "{smooth:?}");
}

fn contact(kind: PairKind, feature: EdgeEdgeFeature) -> Contact {
    let (weight, thickness, eps_x, forecast) = (1.5, 0.0, 0.0, 0.0);
    let reach = 1.0;
    Contact { vertices: [0, 1, 2, 3], kind, feature, weight, thickness, reach, eps_x, forecast }
}

/// Contacts with stencils around the given gap: general, near corners and edges, nearly parallel.
fn stencils(gap: f64) -> Vec<(Contact, [Vec3; 4])> {
    use EdgeEdgeFeature::*;
    let mut r = Random::new(11);
    let mut out = Vec::new();
    let v = Vec3::new;
    let zero = Vec3::zeros();
    for _ in 0..4 {
        let n = r.vec3().normalize();
        out.push((contact(PairKind::VertexVertex, AB), [n * gap, zero, zero, zero]));
    }
    for along in [0.5, 1e-6, 1.0 - 1e-9, 0.0] {
        let x = [v(along, 0.6 * gap, 0.8 * gap), zero, Vec3::x(), zero];
        out.push((contact(PairKind::EdgeVertex, AB), x));
    }
    for (a, b) in [(0.3, 0.2), (1e-7, 0.4), (1e-9, 1e-9), (0.5, 0.5 - 1e-9)] {
        let x = [v(a, b, gap), zero, Vec3::x(), v(0.3, 1.0, 0.0)];
        out.push((contact(PairKind::FaceVertex, AB), x));
    }
    // thin triangle
    let x = [v(0.3, 1e-4, gap), zero, Vec3::x(), v(0.4, 1e-3, 0.0)];
    out.push((contact(PairKind::FaceVertex, AB), x));
    for angle in [1.5_f64, 0.5, 0.03, 0.02, 1e-3, 1e-5] {
        let (s, c) = angle.sin_cos();
        let x = [
            v(-0.5, 0.0, 0.0),
            v(0.5, 0.0, 0.0),
            v(-0.4 * c, -0.4 * s, gap),
            v(0.6 * c, 0.6 * s, gap),
        ];
        let mut pair = contact(PairKind::EdgeEdge, AB);
        pair.eps_x = 1e-3;
        out.push((pair, x));
        // the same lines further apart: an end is closest, and the pair stays an edge–edge pair
        // while it is mollified
        if s * s < pair.eps_x {
            let shift = v(0.45, 0.0, 0.0);
            for (feature, x) in [
                (AB0, [x[0], x[1], v(0.1, 0.3 * gap, gap), v(0.1 + c, 0.3 * gap + s, gap)]),
                (A1B, [x[0], x[1], x[2] + shift, x[3] + shift]),
                (A1B0, [x[0], x[1], v(0.5 + 0.1 * gap, 0.0, gap), v(1.5, s, gap)]),
            ] {
                pair.feature = feature;
                out.push((pair, x));
            }
        }
    }
    out
}

fn points(x: &[f64]) -> [Vec3; 4] {
    std::array::from_fn(|i| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

#[test]
fn potential_derivatives_match_differences() {
    for barrier in BARRIERS {
        for (gap, thickness) in [(0.05, 0.0), (1e-3, 0.0), (0.06, 0.02)] {
            for (mut c, x) in stencils(gap) {
                c.thickness = thickness;
                let p = BarrierPotential {
                    barrier,
                    d_hat: 2.0 * gap,
                    kappa: 3e4,
                    physical: true,
                    even: false,
                };
                let x0 = flat(&x);
                // the smallest length of the stencil limits the step, and so does a small angle
                let sine = (x[1] - x[0]).cross(&(x[3] - x[2])).norm();
                let step = match c.kind {
                    PairKind::EdgeEdge => (1e-4 * gap).min(1e-2 * sine),
                    _ => 1e-4 * gap,
                };
                let g = flat(&p.gradient(&c, &x));
                let numeric = gradient(&x0, step, |x| p.value(&c, &points(x)));
                let floor = p.value(&c, &x).abs() / gap * 1e-3;
                let e = relative_error(&g, &numeric, floor);
                assert!(e < 1e-5, "{barrier:?} gradient {e:e} {gap} {c:?} {x:?}");
                let h = dense(&p.hessian(&c, &x));
                let numeric = jacobian(&x0, step, |x| flat(&p.gradient(&c, &points(x))));
                let e = relative_error(&h, &numeric.concat(), floor / gap);
                assert!(e < 1e-5, "{barrier:?} Hessian {e:e} {gap} {c:?} {x:?}");
            }
        }
    }
}

/// Eigenvalue clamp of the whole 12×12 matrix.
fn clamp(h: &[f64]) -> Vec<f64> {
    let m = nalgebra::DMatrix::from_row_slice(12, 12, h);
    let e = nalgebra::SymmetricEigen::new((&m + m.transpose()) * 0.5);
    let values = e.eigenvalues.map(|l| l.max(0.0));
    let p =
        &e.eigenvectors * nalgebra::DMatrix::from_diagonal(&values) * e.eigenvectors.transpose();
    p.transpose().as_slice().to_vec()
}

#[test]
fn projection_equals_the_numeric_clamp() {
    let mut negative = 0;
    for barrier in BARRIERS {
        for (gap, d_hat) in [(0.05, 0.1), (0.5, 0.6), (1e-3, 1e-2), (1e-8, 1e-3)] {
            for weight in [1.0, -1.0] {
                for (mut c, x) in stencils(gap) {
                    c.weight = weight;
                    let p = BarrierPotential {
                        barrier,
                        d_hat,
                        kappa: 1e5,
                        physical: true,
                        even: false,
                    };
                    let plain = dense(&p.hessian(&c, &x));
                    let scale = plain.iter().fold(1e-300, |s: f64, v| s.max(v.abs()));
                    let closed = dense(&p.stiffened_hessian(&c, &x));
                    let pairs = closed.iter().zip(&plain);
                    let e = pairs.fold(0.0, |e: f64, (a, b)| e.max((a - b).abs()));
                    assert!(e < 1e-11 * scale, "not projected {barrier:?} {e:e} {gap} {c:?}");
                    let want = clamp(&plain);
                    let got = dense(&p.hessian_psd(&c, &x));
                    let e = got.iter().zip(&want).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs()));
                    assert!(e < 1e-11 * scale, "{barrier:?} {e:e} {scale:e} {gap} {c:?}");
                    if weight > 0.0
                        && plain.iter().zip(&want).any(|(a, b)| (a - b).abs() > 1e-6 * scale)
                    {
                        negative += 1;
                    }
                }
            }
        }
    }
    assert!(negative > 50, "the projection was never needed");
}

/// [Li 2020, Eq. 7]: of the Hessian of a pair the part ∂²b/∂d² ∇d∇dᵀ, for one pair and in lanes.
#[test]
fn the_gauss_newton_part_is_along_the_gradient_of_the_distance() {
    for barrier in BARRIERS {
        for (gap, d_hat) in [(0.05, 0.1), (0.5, 0.6), (1e-3, 1e-2)] {
            for (c, x) in stencils(gap) {
                let p =
                    BarrierPotential { barrier, d_hat, kappa: 1e5, physical: true, even: false };
                let closest = c.closest(&x);
                let (d2, d) = (closest.d2(), closest.d2().sqrt());
                let [_, b1, b2] = barrier.derivatives(d2, d_hat * d_hat);
                let curvature = -p.force_magnitude(&c, &x) * (4.0 * d2 * b2 + 2.0 * b1).max(0.0)
                    / (2.0 * d * b1);
                let along = |i: usize| closest.weights[i / 3] * closest.offset[i % 3] / d;
                let blocks = p.hessian_gauss_newton(&c, &x);
                let got = dense(&blocks);
                for i in 0..12 {
                    for j in 0..12 {
                        let (want, got) = (curvature * along(i) * along(j), got[12 * i + j]);
                        let e = (got - want).abs() / curvature.max(1e-300);
                        assert!(e < 1e-11, "{barrier:?} {gap} {c:?}: {got} {want}");
                    }
                }
                let mut lanes = [Mat3::zeros(); 10];
                p.hessians(&[c], &x, Projection::GaussNewton, &mut lanes);
                for i in 0..4 {
                    let e = (lanes[i] - blocks[i][i]).norm();
                    assert!(e <= 1e-11 * curvature.abs(), "{barrier:?} {gap} {c:?} {e}");
                }
            }
        }
    }
}

#[test]
fn a_gap_of_1e_8_has_finite_derivatives_in_balance() {
    let p = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat: 1e-3,
        kappa: 1e8,
        physical: false,
        even: false,
    };
    for (c, x) in stencils(1e-8) {
        let g = p.gradient(&c, &x);
        let total: Vec3 = g.iter().sum();
        let size = g.iter().map(|v| v.norm()).fold(0.0, f64::max);
        assert!(size.is_finite() && total.norm() <= 1e-9 * size, "{c:?} {total}");
        if !c.is_mollified(&x) {
            let lambda = p.force_magnitude(&c, &x);
            let on_first: Vec3 = g[..c.second()].iter().sum();
            assert!((on_first.norm() - lambda).abs() < 1e-6 * lambda, "{c:?}");
        }
        assert!(dense(&p.hessian_psd(&c, &x)).iter().all(|v| v.is_finite()));
    }
}

#[test]
fn half_spaces_match_differences() {
    let plane = HalfSpace { origin: Vec3::new(0.0, 0.1, 0.0), normal: Vec3::new(0.6, 0.0, 0.8) };
    let mut mesh = CollisionMesh::new(vec![Vec3::zeros(); 3], Vec::new(), &[], &[0, 1, 2]);
    mesh.half_thickness = vec![0.01; 3];
    let x = [
        plane.origin + plane.normal * 0.03,
        plane.origin + plane.normal * 0.2,
        plane.origin - plane.normal,
    ];
    let set =
        ContactSet::build(&Candidates::default(), &mesh, &[plane], &x, 0.05, &Weighting::Count);
    // one near, one far, one inside (whose energy is infinite)
    assert_eq!(set.half_space.iter().map(|c| c.vertex).collect::<Vec<_>>(), [0, 2]);
    let p = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat: 0.05,
        kappa: 1e6,
        physical: false,
        even: false,
    };
    assert_eq!(p.half_space_value(&set.half_space[1], &x[2]), f64::INFINITY);
    let c = set.half_space[0];
    let at = |v: &[f64]| Vec3::new(v[0], v[1], v[2]);
    let x0 = flat(&x[..1]);
    let g = p.half_space_gradient(&c, &x[0]);
    let numeric = gradient(&x0, 1e-5, |v| p.half_space_value(&c, &at(v)));
    assert!(relative_error(g.as_slice(), &numeric, 0.0) < 1e-8);
    let h = p.half_space_hessian_psd(&c, &x[0]);
    let numeric = jacobian(&x0, 1e-5, |v| p.half_space_gradient(&c, &at(v)).as_slice().to_vec());
    assert!(relative_error(h.as_slice(), &numeric.concat(), 0.0) < 1e-8);
    assert!((set.min_gap(&x[..1].repeat(3)) - 0.02).abs() < 1e-15);
}

/// A fan of six triangles around the origin, and a point above `p`.
fn fan_and_point(p: Vec3) -> (CollisionMesh, Vec<Vec3>) {
    let mut x = vec![Vec3::zeros()];
    for k in 0..6 {
        let a = k as f64 * std::f64::consts::FRAC_PI_3;
        x.push(Vec3::new(a.cos(), a.sin(), 0.0));
    }
    x.push(p);
    let faces = (0..6).map(|k| [0, 1 + k, 1 + (k + 1) % 6]).collect();
    (CollisionMesh::new(x.clone(), faces, &[], &[7]), x)
}

fn build(mesh: &CollisionMesh, x: &[Vec3], d_hat: f64, weighting: &Weighting) -> ContactSet {
    ContactSet::build(&all_candidates(mesh), mesh, &[], x, d_hat, weighting)
}

#[test]
fn duplicates_are_merged_with_their_multiplicity() {
    // above the centre: six triangles share the closest vertex
    let (mesh, x) = fan_and_point(Vec3::new(0.0, 0.0, 0.1));
    let set = build(&mesh, &x, 0.2, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    let c = set.contacts[0];
    assert_eq!(
        (c.kind, c.vertices, c.weight),
        (PairKind::VertexVertex, [0, 7, u32::MAX, u32::MAX], 6.0)
    );
    // above a spoke: two triangles share it, the others end at the centre (out of reach here)
    let (mesh, x) = fan_and_point(Vec3::new(0.5, 0.0, 0.1));
    let set = build(&mesh, &x, 0.2, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    let c = set.contacts[0];
    assert_eq!((c.kind, c.vertices, c.weight), (PairKind::EdgeVertex, [7, 0, 1, u32::MAX], 2.0));
    // off the plane's outside: the rim edge of one triangle
    let (mesh, x) = fan_and_point(Vec3::new(0.8, 0.5, 0.05));
    let set = build(&mesh, &x, 0.12, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    assert_eq!((set.contacts[0].kind, set.contacts[0].weight), (PairKind::EdgeVertex, 1.0));
}

#[test]
fn weights_without_duplicates_sum_to_one_share() {
    // whatever feature is closest, the point meets the surface once: the weights of the nearest
    // pairs add up to a quarter of the point's area (1)
    for (p, interior) in [
        (Vec3::new(0.0, 0.0, 0.1), true),
        (Vec3::new(0.5, 0.0, 0.1), true),
        (Vec3::new(0.5, 0.2, 0.1), true),
        (Vec3::new(0.8, 0.5, 0.05), false),
        (Vec3::new(1.02, 0.0, 0.05), false),
    ] {
        let (mesh, x) = fan_and_point(p);
        let set = build(&mesh, &x, 0.2, &Weighting::area_without_duplicates(&mesh));
        let min = set.min_d2(&x);
        let sum: f64 = set
            .contacts
            .iter()
            .filter(|c| c.d2(&c.gather(&x)) < min * (1.0 + 1e-12))
            .map(|c| c.weight)
            .sum();
        assert!((sum - 0.25).abs() < 1e-14, "{sum} {interior} {p:?}");
    }
}

#[test]
fn nearly_parallel_edges_stay_pairs_of_edges() {
    let rest = vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.3, 0.0, 0.1), Vec3::new(1.3, 0.001, 0.1)];
    let mesh = CollisionMesh::new(rest.clone(), Vec::new(), &[[0, 1], [2, 3]], &[]);
    let set = build(&mesh, &rest, 0.2, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    assert_eq!(set.contacts[0].kind, PairKind::EdgeEdge);
    assert_ne!(set.contacts[0].feature, EdgeEdgeFeature::AB);
    assert!(set.contacts[0].is_mollified(&set.contacts[0].gather(&rest)));
    // at an angle the same closest features reduce
    let mut x = rest.clone();
    x[3].y = 0.5;
    let set = build(&mesh, &x, 0.2, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    assert_eq!(set.contacts[0].kind, PairKind::EdgeVertex);
}

#[test]
fn thickness_shifts_the_reach_and_groups_are_left_to_the_candidates() {
    let x = vec![Vec3::zeros(), Vec3::new(0.25, 0.0, 0.0)];
    let mut mesh = CollisionMesh::new(x.clone(), Vec::new(), &[], &[0, 1]);
    assert!(build(&mesh, &x, 0.2, &Weighting::Count).is_empty());
    mesh.half_thickness = vec![0.05, 0.05];
    let set = build(&mesh, &x, 0.2, &Weighting::Count);
    assert_eq!(set.contacts.len(), 1);
    assert!((set.min_gap(&x) - 0.15).abs() < 1e-15);
    let p = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat: 0.2,
        kappa: 1.0,
        physical: false,
        even: false,
    };
    let touching = [Vec3::zeros(), Vec3::new(0.1, 0.0, 0.0), Vec3::zeros(), Vec3::zeros()];
    assert_eq!(p.value(&set.contacts[0], &touching), f64::INFINITY);
}

#[test]
fn sets_and_sums_do_not_depend_on_the_number_of_threads() {
    // a rough sheet over another: thousands of pairs of every kind
    let mut r = Random::new(2);
    let n = 40u32;
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for layer in 0..2u32 {
        for i in 0..n {
            for j in 0..n {
                let noise = r.vec3() * 0.2;
                x.push(Vec3::new(i as f64, j as f64, 0.5 * layer as f64) + noise);
                if i + 1 < n && j + 1 < n {
                    let v = layer * n * n + i * n + j;
                    faces.push([v, v + n, v + 1]);
                    faces.push([v + 1, v + n, v + n + 1]);
                }
            }
        }
    }
    let mesh = CollisionMesh::new(x.clone(), faces, &[], &[]);
    let mut candidates = Candidates::default();
    let near = |a: &[u32], b: &[u32]| (x[a[0] as usize] - x[b[0] as usize]).norm() < 2.5;
    for (f, t) in mesh.faces.iter().enumerate() {
        for &v in &mesh.vertices {
            if near(t, &[v]) && mesh.may_collide(t, &[v]) {
                candidates.face_vertex.push([f as u32, v]);
            }
        }
    }
    for a in 0..mesh.edges.len() {
        for b in a + 1..mesh.edges.len() {
            if near(&mesh.edges[a], &mesh.edges[b])
                && mesh.may_collide(&mesh.edges[a], &mesh.edges[b])
            {
                candidates.edge_edge.push([a as u32, b as u32]);
            }
        }
    }
    let weighting = Weighting::area_without_duplicates(&mesh);
    let p = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat: 0.6,
        kappa: 1.0,
        physical: true,
        even: false,
    };
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let set = ContactSet::build(&candidates, &mesh, &[], &x, 0.6, &weighting);
            let mut g = vec![Vec3::zeros(); x.len()];
            p.add_gradient(&set, &x, &mut g);
            let value = p.set_value(&set, &x);
            (set, value.to_bits(), flat(&g).iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        })
    };
    let one = run(1);
    assert!(one.0.contacts.len() > 8000, "{}", one.0.contacts.len());
    assert!(one == run(2) && one == run(5));
}
