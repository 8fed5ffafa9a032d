//! The orientation-aware potential: fast path against the twin, derivatives against differences,
//! smoothness over the borders of its regimes, projection, rest shapes, invariance, determinism.

use crate::contact_support::{Random, flat, near_candidates};
use crate::orientation_support::Twin;
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::nalgebra::{DMatrix, Rotation3};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::orientation::{
    ActivationDistance, Derivatives, Measure, OrientationPotential, Pair, PairSet, Parameters,
    Step, Surface, epsilon,
};
use standoff_testkit::finite_difference;
use standoff_testkit::shapes::sphere;
use std::f64::consts::FRAC_PI_4;

type Triangles = (Vec<Vec3>, Vec<[u32; 3]>);

/// Two cones over a polygon of `n` sides: tips of valence `n`.
fn double_cone(n: u32) -> Triangles {
    let mut x = vec![Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, -1.0)];
    let mut faces = Vec::new();
    for i in 0..n {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(n);
        x.push(Vec3::new(angle.cos(), angle.sin(), 0.0));
        let (a, b) = (2 + i, 2 + (i + 1) % n);
        faces.extend([[0, a, b], [1, b, a]]);
    }
    (x, faces)
}

/// An axis-aligned box, each of whose faces is a fan around its middle.
fn cuboid(size: Vec3) -> Triangles {
    let mut x = Vec::new();
    for i in 0..8 {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
        x.push(Vec3::new(sign(0), sign(1), sign(2)).component_mul(&size));
    }
    let mut faces = Vec::new();
    let sides: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    for s in sides {
        let middle = x.len() as u32;
        x.push(s.iter().map(|&v| x[v as usize]).sum::<Vec3>() / 4.0);
        faces.extend((0..4).map(|k| [s[k], s[(k + 1) % 4], middle]));
    }
    (x, faces)
}

/// Bodies in one mesh.
fn join(bodies: &[Triangles]) -> CollisionMesh {
    let (mut x, mut faces, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for (b, (points, triangles)) in bodies.iter().enumerate() {
        let first = x.len() as u32;
        x.extend_from_slice(points);
        faces.extend(triangles.iter().map(|f| f.map(|v| v + first)));
        body.extend(points.iter().map(|_| b as u32));
    }
    let mut mesh = CollisionMesh::new(x, faces, &[], &[]);
    mesh.body = body;
    mesh
}

fn moved((x, faces): Triangles, scale: f64, turn: Vec3, shift: Vec3) -> Triangles {
    let r = Rotation3::new(turn);
    (x.iter().map(|p| r * p * scale + shift).collect(), faces)
}

fn jittered((x, faces): Triangles, by: f64, seed: u64) -> Triangles {
    let mut numbers = Random::new(seed);
    (x.iter().map(|p| p + numbers.vec3() * by).collect(), faces)
}

struct Case {
    mesh: CollisionMesh,
    surface: Surface,
    set: PairSet,
    potential: OrientationPotential,
}

fn case(mesh: CollisionMesh, parameters: Parameters, d_hat: f64, oriented: bool) -> Case {
    let surface = Surface::new(&mesh, &vec![oriented; mesh.rest.len()], None, d_hat);
    let near = near_candidates(&mesh, &mesh.rest, d_hat + 0.2);
    let set = PairSet::build(&near, &mesh, &surface, &parameters, &mesh.rest);
    let potential = OrientationPotential { parameters, kappa: 1.0 };
    Case { mesh, surface, set, potential }
}

fn parameters(t: [f64; 2], n: [f64; 2], exponent: i32, measure: Measure) -> Parameters {
    Parameters {
        exponent,
        tangential: Step { alpha: t[0], beta: t[1] },
        normal: Step { alpha: n[0], beta: n[1] },
        measure,
    }
}

/// Configurations that together reach every kind of pair and every regime.
fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    let shapes: [Triangles; 4] =
        [sphere(1), double_cone(20), cuboid(Vec3::new(1.0, 0.7, 0.5)), sphere(0)];
    let settings = [
        parameters([0.9, 0.3], [0.9, 0.4], 2, Measure::Rest),
        parameters([0.5, 0.0], [0.1, 0.0], 2, Measure::Rest),
        parameters([0.95, 0.05], [0.2, 0.1], 1, Measure::Current),
        parameters([0.8, 0.1], [0.5, 0.5], 3, Measure::Current),
    ];
    let mut numbers = Random::new(11);
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            let parameters = settings[(i + 2 * j) % settings.len()];
            let a = jittered(a.clone(), 0.04, 3);
            let b = jittered(b.clone(), 0.04, 5);
            let towards = numbers.vec3().normalize();
            let b = moved(b, 0.8, numbers.vec3() * 3.0, towards * 1.9);
            let mut mesh = join(&[a, b]);
            if i == j {
                mesh.half_thickness = vec![0.01; mesh.rest.len()];
            }
            out.push(case(mesh, parameters, 1.0, (i + j) % 3 != 0));
        }
    }
    out
}

/// Pairs whose closest points lie just inside their elements, where the mollifier is below 1.
fn mollified_cases() -> Vec<Case> {
    let settings = parameters([0.9, 0.3], [0.9, 0.4], 2, Measure::Rest);
    let (x, faces) = sphere(0);
    let mut out = Vec::new();
    for (tilt, at) in [
        // a tip over a face close to its edge, over an edge close to its end
        (Vec3::new(0.3, 0.1, 0.2), Vec3::new(0.51, 0.5, 1.2)),
        (Vec3::new(0.2, 0.3, 0.1), Vec3::new(0.02, -0.01, 1.35)),
        (Vec3::new(0.03, 0.8, 0.02), Vec3::new(0.869, 0.0, 1.829)),
        // edges that cross close to an end, and nearly parallel ones
        (Vec3::new(0.01, 0.785, 0.02), Vec3::new(0.01, 0.0, 1.9)),
        (Vec3::new(0.004, FRAC_PI_4, 0.003), Vec3::new(1.2, 0.01, 1.2)),
    ] {
        for k in 0..6 {
            let mut numbers = Random::new(100 + k);
            let other = moved((x.clone(), faces.clone()), 0.8, tilt, at + numbers.vec3() * 0.01);
            out.push(case(join(&[(x.clone(), faces.clone()), other]), settings, 0.8, true));
        }
    }
    out
}

fn dense(out: &Derivatives, vertices: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let n = 3 * vertices.len();
    let (mut g, mut h) = (vec![0.0; n], vec![0.0; n * n]);
    let place = |v: u32| vertices.iter().position(|&w| w == v).unwrap();
    for (i, &v) in out.vertices.iter().enumerate() {
        for r in 0..3 {
            g[3 * place(v) + r] = out.gradient[i][r];
            for (j, &w) in out.vertices.iter().enumerate() {
                for s in 0..3 {
                    h[(3 * place(v) + r) * n + 3 * place(w) + s] = out.block(i, j)[(r, s)];
                }
            }
        }
    }
    (g, h)
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    finite_difference::relative_error(a, b, 1e-300)
}

#[test]
fn fast_path_is_the_twin() {
    let mut kinds = [0; 4];
    let (mut reduced, mut full) = (0, 0);
    for (k, case) in cases().iter().chain(&mollified_cases()).enumerate() {
        let x = &case.mesh.rest;
        let twin = Twin {
            mesh: &case.mesh,
            surface: &case.surface,
            parameters: &case.potential.parameters,
            x,
        };
        let mut out = Derivatives::default();
        // the twin is slow: some of many pairs, spread evenly
        let stride = case.set.pairs.len() / 40 + 1;
        for pair in case.set.pairs.iter().step_by(stride) {
            let want = twin.energy(pair);
            let value = case.potential.value(&case.mesh, &case.surface, pair, x);
            let scale = want.value.v.abs();
            // where a factor is about to vanish, its argument has lost digits
            assert!((value - want.value.v).abs() <= 1e-9 * scale, "{k} {pair:?}");
            case.potential.hessian(&case.mesh, &case.surface, pair, x, &mut out);
            let (g, h) = dense(&out, &want.vertices);
            let (eg, eh) = (relative(&g, &want.value.g), relative(&h, &want.value.h));
            assert!(eg < 1e-9 && eh < 1e-8, "{k} {pair:?}: {eg:e} {eh:e}");
            kinds[pair.kind as usize] += 1;
            let core = pair.vertices(&case.mesh).1;
            reduced += usize::from(out.vertices.len() < want.vertices.len());
            full += usize::from(out.vertices.len() > core);
            let hessian = out.gradient.clone();
            case.potential.gradient(&case.mesh, &case.surface, pair, x, &mut out);
            assert_eq!(hessian, out.gradient);
        }
    }
    assert!(kinds.iter().all(|&n| n > 20), "{kinds:?}");
    assert!(reduced > 100 && full > 100, "{reduced} {full}");
}

#[test]
fn mollified_pairs_are_among_the_cases() {
    let mut kinds = [0; 4];
    for case in mollified_cases() {
        for pair in &case.set.pairs {
            let m = case.potential.mollifier(&case.mesh, pair, &case.mesh.rest);
            kinds[pair.kind as usize] += usize::from(m < 1.0);
        }
    }
    assert!(kinds[0] == 0 && kinds[1..].iter().all(|&n| n > 0), "{kinds:?}");
}

/// Energies and gradients over all vertices of some, with the pair held fixed.
fn gradient_at(case: &Case, pair: &Pair, vertices: &[u32], y: &[f64]) -> Vec<f64> {
    let mut x = case.mesh.rest.clone();
    for (i, &v) in vertices.iter().enumerate() {
        x[v as usize] = Vec3::new(y[3 * i], y[3 * i + 1], y[3 * i + 2]);
    }
    let mut out = Derivatives::default();
    case.potential.gradient(&case.mesh, &case.surface, pair, &x, &mut out);
    let mut g = vec![0.0; 3 * vertices.len()];
    for (i, v) in out.vertices.iter().enumerate() {
        if let Some(k) = vertices.iter().position(|w| w == v) {
            g[3 * k..3 * k + 3].copy_from_slice(out.gradient[i].as_slice());
        }
    }
    g
}

#[test]
fn derivatives_match_differences() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    for case in cases() {
        let x = &case.mesh.rest;
        let energy = |p: &Pair| case.potential.value(&case.mesh, &case.surface, p, x);
        // where next to nothing is left of the energy, neither is of the differences
        let largest = case.set.pairs.iter().map(energy).fold(0.0, f64::max);
        let strong: Vec<&Pair> =
            case.set.pairs.iter().filter(|p| energy(p) > 1e-5 * largest).collect();
        for &pair in strong.iter().step_by(strong.len() / 12 + 1) {
            let mut out = Derivatives::default();
            case.potential.hessian(&case.mesh, &case.surface, pair, x, &mut out);
            let vertices = out.vertices.clone();
            let (g, h) = dense(&out, &vertices);
            let y: Vec<f64> = vertices.iter().flat_map(|&v| flat(&[x[v as usize]])).collect();
            let at = |y: &[f64]| gradient_at(&case, pair, &vertices, y);
            let rows = finite_difference::jacobian(&y, 1e-5, at).concat();
            // the energy is C²: the difference quotient's error is only of first order where a
            // border of a regime lies within its step
            let error = relative(&h, &rows);
            worst = worst.max(error);
            assert!(error < 2e-4, "{pair:?} {error:e}");
            let value = |y: &[f64]| {
                let mut x = x.clone();
                for (i, &v) in vertices.iter().enumerate() {
                    x[v as usize] = Vec3::new(y[3 * i], y[3 * i + 1], y[3 * i + 2]);
                }
                case.potential.value(&case.mesh, &case.surface, pair, &x)
            };
            let error = relative(&g, &finite_difference::gradient(&y, 1e-5, value));
            assert!(error < 1e-6, "{pair:?} {error:e}");
            compared += 1;
        }
    }
    eprintln!("{compared} Hessians, worst {worst:e}");
    assert!(compared > 100, "{compared}");
}

#[test]
fn gradient_is_continuous_over_the_borders() {
    // a body slides over another one, its vertices over faces, edges and vertices
    let parameters = parameters([0.5, 0.0], [0.1, 0.0], 2, Measure::Rest);
    let potential = OrientationPotential { parameters, kappa: 1.0 };
    let (below, above) = (cuboid(Vec3::new(1.0, 1.0, 0.5)), sphere(1));
    let above = moved(above, 0.4, Vec3::new(0.3, 0.2, 0.1), Vec3::new(-0.75, -0.09, 0.75));
    let mesh = join(&[below, above]);
    let surface = Surface::new(&mesh, &vec![true; mesh.rest.len()], None, 0.3);
    let direction = Vec3::new(1.0, 0.21, 0.003);
    let largest_change = |steps: usize| {
        let mut before: Option<(Vec<f64>, usize)> = None;
        let (mut largest, mut size, mut changes) = (0.0_f64, 0.0_f64, 0);
        for i in 0..=steps {
            let shift = direction * (1.5 * i as f64 / steps as f64);
            let x: Vec<Vec3> = (mesh.rest.iter().zip(&mesh.body))
                .map(|(p, &b)| if b == 1 { p + shift } else { *p })
                .collect();
            let near = candidates(&mesh, &x, 0.15);
            let set = PairSet::build(&near, &mesh, &surface, &parameters, &x);
            let mut g = vec![Vec3::zeros(); x.len()];
            potential.add_gradient(&mesh, &surface, &set, &x, &mut g);
            let g = flat(&g);
            size = g.iter().fold(size, |m, v| m.max(v.abs()));
            if let Some((old, pairs)) = &before {
                let change = g.iter().zip(old).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
                largest = largest.max(change);
                changes += usize::from(*pairs != set.pairs.len());
            }
            before = Some((g, set.pairs.len()));
        }
        (largest / size, changes)
    };
    let (coarse, _) = largest_change(4_000);
    let (fine, changes) = largest_change(16_000);
    eprintln!(
        "largest change of the gradient: {coarse:e} and {fine:e}, {changes} changes of the set"
    );
    // a jump would stay as it is
    assert!(fine < 0.4 * coarse, "{coarse:e} {fine:e}");
    assert!(changes > 50, "{changes}");
}

#[test]
fn projection_is_that_of_the_dense_matrix() {
    let mut compared = 0;
    for case in cases() {
        let x = &case.mesh.rest;
        let stride = case.set.pairs.len() / 20 + 1;
        for pair in case.set.pairs.iter().step_by(stride) {
            let mut out = Derivatives::default();
            case.potential.hessian(&case.mesh, &case.surface, pair, x, &mut out);
            let vertices = out.vertices.clone();
            let n = 3 * vertices.len();
            let full = DMatrix::from_row_slice(n, n, &dense(&out, &vertices).1);
            let eigen = ((&full + full.transpose()) * 0.5).symmetric_eigen();
            let clamped = DMatrix::from_diagonal(&eigen.eigenvalues.map(|w| w.max(0.0)));
            let want = &eigen.eigenvectors * clamped * eigen.eigenvectors.transpose();
            case.potential.hessian_psd(&case.mesh, &case.surface, pair, x, &mut out);
            let got = DMatrix::from_row_slice(n, n, &dense(&out, &vertices).1);
            assert!((&got - &want).norm() <= 1e-11 * full.norm(), "{pair:?}");
            assert_eq!(got, got.transpose());
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

#[test]
fn nothing_acts_at_rest() {
    // a slit, a spiral staircase of boxes would need solids: here concave and convex surfaces
    let wave = |(x, faces): Triangles| {
        let x =
            x.iter().map(|p| p * (1.0 + 0.35 * (5.0 * p.x).sin() * (4.0 * p.y).cos())).collect();
        (x, faces)
    };
    let bodies = [
        sphere(2),
        sphere(3),
        double_cone(20),
        cuboid(Vec3::new(1.0, 1.0, 0.02)),
        wave(sphere(3)),
        jittered(sphere(3), 0.02, 9),
    ];
    for (k, body) in bodies.into_iter().enumerate() {
        let is_convex = k < 4;
        let mesh = join(&[body]);
        let at = |v: u32| mesh.rest[v as usize];
        let lengths = mesh.edges.iter().map(|&[a, b]| (at(b) - at(a)).norm());
        let d_hat = 10.0 * lengths.fold(f64::INFINITY, f64::min);
        let parameters = Parameters::default();
        let mut surface = Surface::new(&mesh, &vec![true; mesh.rest.len()], None, d_hat);
        surface.epsilon = epsilon::adaptive(&mesh, &surface, &parameters, &mesh.rest, d_hat);
        let near = candidates(&mesh, &mesh.rest, 0.5 * d_hat);
        assert!(!near.is_empty());
        let set = PairSet::build(&near, &mesh, &surface, &parameters, &mesh.rest);
        assert_eq!(set.pairs, [], "{k}");
        let ActivationDistance::Adaptive { within, .. } = &surface.epsilon else { panic!() };
        let mut eps: Vec<f64> = mesh.vertices.iter().map(|&v| within.vertex[v as usize]).collect();
        eps.sort_by(f64::total_cmp);
        eprintln!(
            "body {k}: d̂ {d_hat}, ε {} to {}, median {}",
            eps[0],
            eps[eps.len() - 1],
            eps[eps.len() / 2]
        );
        assert!(eps[0] > 0.0);
        if is_convex {
            assert!(eps[eps.len() / 2] >= 0.5 * d_hat, "{k}");
        }
    }
}

#[test]
fn rigid_motions_change_nothing() {
    let turn = Rotation3::new(Vec3::new(0.4, -1.2, 2.0));
    for case in cases() {
        let mut turned = case.mesh.clone();
        turned.rest = turned.rest.iter().map(|p| turn * p + Vec3::new(3.0, -1.0, 2.0)).collect();
        let near = near_candidates(&turned, &turned.rest, 1.2);
        let other =
            PairSet::build(&near, &turned, &case.surface, &case.potential.parameters, &turned.rest);
        let value = |mesh: &CollisionMesh, set| {
            case.potential.set_value(mesh, &case.surface, set, &mesh.rest)
        };
        let (a, b) = (value(&case.mesh, &case.set), value(&turned, &other));
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{a:e} {b:e}");
        let mut g =
            [vec![Vec3::zeros(); turned.rest.len()], vec![Vec3::zeros(); turned.rest.len()]];
        case.potential.add_gradient(
            &case.mesh,
            &case.surface,
            &case.set,
            &case.mesh.rest,
            &mut g[0],
        );
        case.potential.add_gradient(&turned, &case.surface, &other, &turned.rest, &mut g[1]);
        g[0].iter_mut().for_each(|v| *v = turn * *v);
        assert!(relative(&flat(&g[0]), &flat(&g[1])) < 1e-7);
        // no net force and no net torque
        let force: Vec3 = g[0].iter().sum();
        let size: f64 = g[0].iter().map(|v| v.norm()).sum();
        assert!(force.norm() <= 1e-11 * size.max(1e-300));
        let torque: Vec3 = g[1].iter().zip(&turned.rest).map(|(g, p)| p.cross(g)).sum();
        assert!(torque.norm() <= 1e-9 * size.max(1e-300));
    }
}

#[test]
fn threads_do_not_matter() {
    let a = jittered(sphere(3), 0.01, 1);
    let b = moved(jittered(sphere(3), 0.01, 2), 1.0, Vec3::zeros(), Vec3::new(0.0, 0.1, 2.1));
    let mesh = join(&[a, b]);
    let parameters = parameters([0.9, 0.1], [0.5, 0.1], 2, Measure::Rest);
    let surface = Surface::new(&mesh, &vec![true; mesh.rest.len()], None, 0.4);
    let potential = OrientationPotential { parameters, kappa: 2.0 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let near = candidates(&mesh, &mesh.rest, 0.2);
            let set = PairSet::build(&near, &mesh, &surface, &parameters, &mesh.rest);
            let mut g = vec![Vec3::zeros(); mesh.rest.len()];
            potential.add_gradient(&mesh, &surface, &set, &mesh.rest, &mut g);
            let value = potential.set_value(&mesh, &surface, &set, &mesh.rest);
            (set, flat(&g).iter().map(|v| v.to_bits()).collect::<Vec<_>>(), value.to_bits())
        })
    };
    let one = run(1);
    assert!(one.0.pairs.len() > 500, "{}", one.0.pairs.len());
    assert!(one == run(2) && one == run(5));
}

#[test]
fn each_pair_comes_once() {
    for case in cases() {
        let mut keys: Vec<(PairKind, [u32; 2])> =
            case.set.pairs.iter().map(|p| (p.kind, p.elements)).collect();
        let n = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), n);
    }
}

#[test]
fn blocks_of_far_vertices_are_absent() {
    // a tip of valence 20 over a face: all tangents point away, so that only four vertices count
    let tip = moved(double_cone(20), 0.5, Vec3::zeros(), Vec3::new(0.33, 0.02, 0.9));
    let mesh = join(&[cuboid(Vec3::new(1.0, 1.0, 0.5)), tip]);
    let case = case(mesh, Parameters::default(), 0.3, true);
    assert_eq!(case.set.pairs.len(), 1, "{:?}", case.set.pairs);
    assert_eq!(case.set.pairs[0].kind, PairKind::FaceVertex);
    let mut out = Derivatives::default();
    let x = &case.mesh.rest;
    case.potential.hessian_psd(&case.mesh, &case.surface, &case.set.pairs[0], x, &mut out);
    assert_eq!(out.vertices.len(), 4);
    assert!(out.hessian.iter().any(|b| *b != Mat3::zeros()));
}
