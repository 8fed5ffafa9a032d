//! The tetrahedral element: derivatives, invariances, step bounds, mesh sums and the oracle.

use crate::elastic_support::Random;
use standoff_linalg::nalgebra::{DMatrix, DVector, SMatrix};
use standoff_linalg::{Mat3, Vec3, VecN, svd3};
use standoff_sim::energy::tet::{ElasticTets, Tet, TetError};
use standoff_sim::energy::{Element, Hessian, Projection, Term};
use standoff_sim::material::{Law, Material};
use standoff_sparse::block_pairs;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

fn material(law: Law) -> Material {
    Material { law, young_modulus: 3.0, poisson_ratio: 0.35 }
}

fn single(rest: &[Vec3; 4], law: Law) -> Tet {
    let mesh =
        ElasticTets::new(rest, vec![[0, 1, 2, 3]], &[material(law.clone())]).expect("a valid tet");
    mesh.elements[0].clone()
}

/// A positively oriented tetrahedron of moderate shape.
fn rest_shape(random: &mut Random) -> [Vec3; 4] {
    loop {
        let x = [0, 1, 2, 3].map(|_| random.vec3());
        let volume = (x[1] - x[0]).dot(&(x[2] - x[0]).cross(&(x[3] - x[0])));
        if volume.abs() > 0.1 {
            return if volume > 0.0 { x } else { [x[0], x[2], x[1], x[3]] };
        }
    }
}

fn flat(x: &[Vec3]) -> Vec<f64> {
    x.iter().flat_map(|v| v.iter().copied()).collect()
}

fn corners(x: &[f64]) -> [Vec3; 4] {
    [0, 1, 2, 3].map(|a| Vec3::from_column_slice(&x[3 * a..3 * a + 3]))
}

/// A Hessian from its blocks off the diagonal.
fn whole(edges: &[Mat3]) -> Hessian<4> {
    let mut h = Hessian::<4>::default();
    for (block, (a, b)) in edges.iter().zip(block_pairs(4).skip(4)) {
        h[a][b] = *block;
        h[b][a] = block.transpose();
        h[a][a] -= block;
        h[b][b] -= block.transpose();
    }
    h
}

fn dense(h: &Hessian<4>) -> SMatrix<f64, 12, 12> {
    SMatrix::from_fn(|r, c| h[r / 3][c / 3][(r % 3, c % 3)])
}

/// A box of n × m × k cubes, each cut into six tetrahedra around a diagonal.
fn block(n: [usize; 3], size: f64) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let at = |i: usize, j: usize, k: usize| ((i * (n[1] + 1) + j) * (n[2] + 1) + k) as u32;
    let mut x = Vec::new();
    let mut tets = Vec::new();
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            for k in 0..=n[2] {
                x.push(Vec3::new(i as f64, j as f64, k as f64) * size);
                if i == n[0] || j == n[1] || k == n[2] {
                    continue;
                }
                let even = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(|p| (p, false));
                let odd = [[0, 2, 1], [2, 1, 0], [1, 0, 2]].map(|p| (p, true));
                for (path, odd) in even.into_iter().chain(odd) {
                    let mut p = [i, j, k];
                    let mut tet = [at(i, j, k); 4];
                    for (step, axis) in path.into_iter().enumerate() {
                        p[axis] += 1;
                        tet[step + 1] = at(p[0], p[1], p[2]);
                    }
                    if odd {
                        tet.swap(1, 2);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    (x, tets)
}

#[test]
fn gradient_and_hessian_match_their_twins() {
    let random = &mut Random::new(1);
    for law in Law::ALL {
        for _ in 0..20 {
            let rest = rest_shape(random);
            let tet = single(&rest, law.clone());
            let x = rest.map(|p| p + random.vec3() * 0.1);
            if tet.deformation_gradient(&x).determinant() < 0.2 {
                continue;
            }
            let fd = gradient(&flat(&x), 5e-5, |x| tet.value(&corners(x)));
            let error = relative_error(&flat(&tet.gradient(&x)), &fd, 1e-3);
            assert!(error < 1e-8, "{law:?} {error:e}");

            // V Bᵀ H⁺ B with vec(dF) = B dx, B by columns: F is linear in x
            let b = SMatrix::<f64, 9, 12>::from_fn(|r, c| {
                let mut unit = [0.0; 12];
                unit[c] = 1.0;
                tet.deformation_gradient(&corners(&unit)).as_slice()[r]
            });
            let f = tet.deformation_gradient(&x);
            let expected = b.transpose()
                * law.hessian_psd(&material(law.clone()).lame(), &f)
                * b
                * tet.volume();
            let found = dense(&tet.hessian_psd(&x));
            assert!((found - expected).amax() < 1e-13 * expected.amax(), "{law:?}");
            assert!(found.symmetric_eigenvalues().min() > -1e-13 * expected.amax());
        }
    }
}

/// Near rest nothing is clamped, so that the Hessian is the derivative of the gradient.
#[test]
fn hessian_near_rest_is_exact() {
    let random = &mut Random::new(2);
    for law in Law::ALL {
        let rest = rest_shape(random);
        let tet = single(&rest, law.clone());
        // stretched a little in every direction: all twists are positive
        let stretch = random.rotation() * 1.05;
        let x = rest.map(|p| stretch * p + Vec3::new(0.5, 0.0, -2.0));
        let fd = standoff_testkit::finite_difference::jacobian(&flat(&x), 3e-4, |x| {
            flat(&tet.gradient(&corners(x)))
        });
        let found = dense(&tet.hessian_psd(&x));
        let error = relative_error(found.transpose().as_slice(), &fd.concat(), 0.0);
        assert!(error < 1e-9, "{law:?} {error:e}");
    }
}

#[test]
fn hessians_as_they_are_match_differences() {
    let random = &mut Random::new(8);
    let mut indefinite = 0;
    for law in Law::ALL {
        for _ in 0..20 {
            let rest = rest_shape(random);
            let tet = single(&rest, law.clone());
            let x = rest.map(|p| p + random.vec3() * 0.2);
            if tet.deformation_gradient(&x).determinant() < 0.1 {
                continue;
            }
            let fd = jacobian(&flat(&x), 1e-4, |x| flat(&tet.gradient(&corners(x))));
            let found = dense(&tet.hessian(&x));
            let error = relative_error(found.transpose().as_slice(), &fd.concat(), 1e-3);
            assert!(error < 1e-6, "{law:?} {error:e}");
            let least = found.symmetric_eigenvalues().min();
            indefinite += usize::from(least < -1e-6 * found.amax());
        }
    }
    assert!(indefinite > 20, "{indefinite}");
}

#[test]
fn forces_balance() {
    let random = &mut Random::new(3);
    for law in Law::ALL {
        for _ in 0..50 {
            let rest = rest_shape(random);
            let tet = single(&rest, law.clone());
            let x = rest.map(|p| p + random.vec3() * 0.15);
            if tet.deformation_gradient(&x).determinant() < 0.05 {
                continue;
            }
            let g = tet.gradient(&x);
            let size = g.iter().fold(0.0, |m: f64, v| m.max(v.amax())) + 1e-3;
            let force: Vec3 = g.iter().sum();
            let torque: Vec3 = g.iter().zip(&x).map(|(g, x)| x.cross(g)).sum();
            assert!(force.amax() < 1e-15 * size, "{law:?} {force}");
            assert!(torque.amax() < 2e-14 * size, "{law:?} {torque}");
            for row in tet.hessian_psd(&x) {
                let sum: Mat3 = row.iter().sum();
                let size = row.iter().fold(0.0, |m: f64, b| m.max(b.amax()));
                assert!(sum.amax() <= 1e-14 * size);
            }
        }
    }
}

#[test]
fn rigid_motion_costs_nothing() {
    let random = &mut Random::new(4);
    for law in Law::ALL {
        let rest = rest_shape(random);
        let tet = single(&rest, law.clone());
        let (r, t) = (random.rotation(), random.vec3() * 10.0);
        let x = rest.map(|p| r * p + t);
        assert!(tet.value(&x) < 1e-27, "{law:?} {:e}", tet.value(&x));
        assert!(flat(&tet.gradient(&x)).iter().all(|g| g.abs() < 1e-13));
    }
}

fn signed_volume(x: &[Vec3; 4]) -> f64 {
    (x[1] - x[0]).dot(&(x[2] - x[0]).cross(&(x[3] - x[0]))) / 6.0
}

fn moved(x: &[Vec3; 4], dx: &[Vec3; 4], t: f64) -> [Vec3; 4] {
    std::array::from_fn(|a| x[a] + dx[a] * t)
}

#[test]
fn max_step_keeps_a_fifth_of_the_volume() {
    let random = &mut Random::new(5);
    let tet = single(&rest_shape(random), Law::NeoHookean);
    let (mut full, mut cut) = (0, 0);
    for i in 0..3000 {
        // round elements, needles and slivers, and directions from tiny to huge
        let mut x = rest_shape(random);
        if i % 3 == 1 {
            let flatten = 10f64.powf(-9.0 * random.unit());
            x.iter_mut().for_each(|p| p.z *= flatten);
        }
        let size = 10f64.powf(8.0 * random.unit() - 4.0);
        let dx = [0, 1, 2, 3].map(|_| random.vec3() * size);
        let (volume, alpha) = (signed_volume(&x), tet.max_step(&x, &dx));
        assert!(alpha > 0.0 && alpha <= 1.0, "{alpha} {x:?} {dx:?} {volume}");
        // x + t dx is rounded to the size of x, which moves the volume by as much times the area
        let rounding = 1e-15 * (1.0 + alpha * size).powi(3);
        for sample in 0..=200 {
            let t = alpha * sample as f64 / 200.0;
            assert!(signed_volume(&moved(&x, &dx, t)) >= 0.2 * volume - rounding, "late at {t}");
        }
        if alpha < 1.0 {
            cut += 1;
            let kept = signed_volume(&moved(&x, &dx, alpha));
            // what `max_step` takes off for rounding of the coefficients
            let taken = 1e-13 * (1.0 + alpha * size).powi(3);
            let tight = kept <= 0.2 * volume * (1.0 + 1e-5) + taken;
            // or the volume soon passes below: the search ends within 1e-6 of the root
            let soon =
                signed_volume(&moved(&x, &dx, alpha * (1.0 + 1e-6))) < 0.2 * volume + rounding;
            assert!(tight || soon, "early: {alpha} keeps {}", kept / volume);
        } else {
            full += 1;
        }
    }
    assert!(full > 300 && cut > 300, "{full} {cut}");
}

#[test]
fn max_step_special_cases() {
    let rest = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
    let down = [Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), -Vec3::z()];
    let barrier = single(&rest, Law::NeoHookean);
    assert!((barrier.max_step(&rest, &down) - 0.8).abs() < 1e-8);
    assert_eq!(barrier.max_step(&rest, &down.map(|d| d * 0.5)), 1.0);
    assert_eq!(barrier.max_step(&rest, &[Vec3::zeros(); 4]), 1.0);
    assert_eq!(barrier.max_step(&rest, &[Vec3::new(3.0, 1.0, 2.0); 4]), 1.0);
    // already flat or inverted
    assert_eq!(barrier.max_step(&moved(&rest, &down, 1.0), &down), 0.0);
    assert_eq!(barrier.max_step(&moved(&rest, &down, 2.0), &down), 0.0);
    // collapse to a point: (1 − t)³ = 0.2, a simple root of a cubic with a triple one nearby
    let collapse = rest.map(|p| -p);
    assert!((barrier.max_step(&rest, &collapse) - (1.0 - 0.2f64.cbrt())).abs() < 1e-8);
    for law in Law::ALL {
        assert_eq!(single(&rest, law).max_step(&rest, &down), barrier.max_step(&rest, &down));
    }
}

#[test]
fn bad_meshes_are_refused() {
    let x = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z(), Vec3::x() + Vec3::y()];
    let good = [0, 1, 2, 3];
    let build = |tets: &[[u32; 4]], materials: usize| {
        ElasticTets::new(&x, tets.to_vec(), &vec![material(Law::NeoHookean); materials])
            .map(|mesh| mesh.len())
    };
    assert_eq!(build(&[good], 1), Ok(1));
    assert_eq!(build(&[good, [0, 2, 1, 3]], 2), Err(TetError::Inverted { element: 1 }));
    assert_eq!(build(&[good, good, [0, 1, 2, 4]], 3), Err(TetError::Degenerate { element: 2 }));
    assert_eq!(build(&[[0, 0, 2, 3]], 1), Err(TetError::Degenerate { element: 0 }));
    assert_eq!(
        build(&[[0, 1, 2, 5]], 1),
        Err(TetError::VertexOutOfRange { element: 0, vertex: 5, count: 5 })
    );
    assert_eq!(build(&[good], 2), Err(TetError::MaterialCount { elements: 1, materials: 2 }));
    let nan = [Vec3::zeros(), Vec3::x() * f64::NAN, Vec3::y(), Vec3::z()];
    let error = ElasticTets::new(&nan, vec![good], &[material(Law::NeoHookean)]).map(|m| m.len());
    assert_eq!(error, Err(TetError::Degenerate { element: 0 }));
}

/// A deformed block of 6·n³ elements of all laws, with vertices before and after that are no part.
fn large_mesh() -> (ElasticTets, Vec<Vec3>) {
    let (mut rest, mut tets) = block([9, 8, 7], 0.1);
    rest.insert(0, Vec3::repeat(9.0));
    rest.push(Vec3::repeat(-9.0));
    tets.iter_mut().flatten().for_each(|v| *v += 1);
    let materials: Vec<_> = (0..tets.len()).map(|e| material(Law::ALL[e % 5].clone())).collect();
    let mesh = ElasticTets::new(&rest, tets, &materials).expect("a valid mesh");
    let random = &mut Random::new(6);
    let x = rest.iter().map(|p| p * 1.1 + random.vec3() * 0.01).collect();
    (mesh, x)
}

#[test]
fn mesh_functions_sum_their_elements() {
    let (mesh, x) = large_mesh();
    let mut value = 0.0;
    let mut gradient = vec![Vec3::repeat(0.25); x.len()];
    let mut found = gradient.clone();
    let random = &mut Random::new(7);
    let dx: Vec<Vec3> = x.iter().map(|_| random.vec3() * 0.05).collect();
    let mut step = 1.0;
    for (e, tet) in mesh.elements.iter().enumerate() {
        let corners = mesh.gather(e, &x);
        value += tet.value(&corners);
        let mut alone = [[Vec3::zeros(); 4]];
        Tet::gradients(&mesh.elements[e..=e], &mesh.vertices()[e..=e], &x, &mut alone);
        for (g, &v) in alone[0].iter().zip(&mesh.vertices()[e]) {
            gradient[v as usize] += g;
        }
        step = f64::min(step, tet.max_step(&corners, &mesh.gather(e, &dx)));
    }
    assert!((mesh.value(&x) / value - 1.0).abs() < 1e-13);
    mesh.add_gradient(&x, &mut found);
    // an element has the same gradient alone and among others, and additions the same order: the same bits
    assert_eq!(found, gradient);
    assert_eq!(mesh.max_step(&x, &dx), step);
    assert!(step < 1.0);

    let mut hessians = vec![Mat3::zeros(); 6 * 900];
    mesh.hessians(100..1000, &x, Projection::All, &mut hessians);
    let single = mesh.elements[107].hessian_psd(&mesh.gather(107, &x));
    assert!(
        (dense(&whole(&hessians[6 * 7..6 * 8])) - dense(&single)).norm()
            < 1e-13 * dense(&single).norm()
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (mesh, x) = large_mesh();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut gradient = vec![Vec3::zeros(); x.len()];
            mesh.add_gradient(&x, &mut gradient);
            let step = mesh.max_step(&x, &gradient);
            (mesh.value(&x).to_bits(), gradient, step.to_bits())
        })
    };
    assert_eq!(run(1), run(3));
    assert_eq!(run(1), run(8));
}

#[test]
fn lumped_mass_is_the_mass() {
    let (rest, tets) = block([2, 3, 1], 0.5);
    let n = tets.len();
    let mesh = ElasticTets::new(&rest, tets, &vec![material(Law::NeoHookean); n]).expect("valid");
    let mut mass = vec![0.0; rest.len()];
    mesh.add_lumped_mass(&vec![1000.0; n], &mut mass);
    assert!((mass.iter().sum::<f64>() - 750.0).abs() < 1e-10);
    assert!(mass.iter().all(|m| *m > 0.0));
}

/// A uniform deformation is in equilibrium inside: only the surface feels a force.
#[test]
fn patch_test() {
    let (rest, tets) = block([3, 3, 3], 0.3);
    let random = &mut Random::new(8);
    let rest: Vec<Vec3> = rest.iter().map(|p| p + random.vec3() * 0.02).collect();
    let f = Mat3::identity() + random.mat3() * 0.2;
    for law in Law::ALL {
        let materials = vec![material(law.clone()); tets.len()];
        let mesh = ElasticTets::new(&rest, tets.clone(), &materials).expect("valid");
        let x: Vec<Vec3> = rest.iter().map(|p| f * p).collect();
        let mut g = vec![Vec3::zeros(); x.len()];
        mesh.add_gradient(&x, &mut g);
        let (mut inside, mut outside) = (0.0_f64, 0.0_f64);
        for (i, g) in g.iter().enumerate() {
            let interior = [i / 16, i / 4 % 4, i % 4].iter().all(|c| (1..3).contains(c));
            if interior { inside = inside.max(g.amax()) } else { outside = outside.max(g.amax()) }
        }
        assert!(inside < 1e-14 && outside > 1e-3, "{law:?} {inside:e} {outside:e}");
    }
}

/// Statics by Newton's method on dense matrices: the twin of the product's own solver.
struct Statics<'a> {
    mesh: &'a ElasticTets,
    load: &'a [Vec3],
    fixed: &'a [bool],
}

impl Statics<'_> {
    fn energy(&self, x: &[Vec3], rest: &[Vec3]) -> f64 {
        let work: f64 = (0..x.len()).map(|i| self.load[i].dot(&(x[i] - rest[i]))).sum();
        self.mesh.value(x) - work
    }

    fn residual(&self, x: &[Vec3]) -> DVector<f64> {
        let mut g: Vec<Vec3> = self.load.iter().map(|f| -f).collect();
        self.mesh.add_gradient(x, &mut g);
        DVector::from_fn(3 * x.len(), |i, _| if self.fixed[i / 3] { 0.0 } else { g[i / 3][i % 3] })
    }

    /// Stiffness, with fixed degrees of freedom as unit rows.
    fn stiffness(&self, x: &[Vec3]) -> DMatrix<f64> {
        let mut k = assemble(self.mesh, x);
        for i in (0..3 * x.len()).filter(|i| self.fixed[i / 3]) {
            k.row_mut(i).fill(0.0);
            k.column_mut(i).fill(0.0);
            k[(i, i)] = 1.0;
        }
        k
    }

    fn solve(&self, rest: &[Vec3]) -> Vec<Vec3> {
        let mut x = rest.to_vec();
        for _ in 0..200 {
            let r = self.residual(&x);
            if r.amax() < 1e-11 {
                break;
            }
            let p = self.stiffness(&x).cholesky().expect("positive definite").solve(&-r);
            let dx: Vec<Vec3> = (0..x.len()).map(|i| p.fixed_rows::<3>(3 * i).into()).collect();
            let mut alpha = self.mesh.max_step(&x, &dx);
            let start = self.energy(&x, rest);
            loop {
                let y: Vec<Vec3> = x.iter().zip(&dx).map(|(x, d)| x + d * alpha).collect();
                if self.energy(&y, rest) <= start + 1e-13 * start.abs() || alpha < 1e-9 {
                    x = y;
                    break;
                }
                alpha *= 0.5;
            }
        }
        let left = self.residual(&x).amax();
        assert!(left < 1e-9, "Newton stalls at a residual of {left:e}");
        x
    }
}

fn assemble(mesh: &ElasticTets, x: &[Vec3]) -> DMatrix<f64> {
    let mut hessians = vec![Mat3::zeros(); 6 * mesh.len()];
    mesh.hessians(0..mesh.len(), x, Projection::All, &mut hessians);
    let mut k = DMatrix::zeros(3 * x.len(), 3 * x.len());
    for (h, v) in hessians.chunks(6).map(whole).zip(mesh.vertices()) {
        for a in 0..4 {
            for b in 0..4 {
                let mut view = k.fixed_view_mut::<3, 3>(3 * v[a] as usize, 3 * v[b] as usize);
                view += h[a][b];
            }
        }
    }
    k
}

/// A bar of one law pulled at its end lengthens by σ/E where Poisson's ratio is 0.
#[test]
fn pulled_bar() {
    let (rest, tets) = block([4, 1, 1], 0.25);
    let fixed: Vec<bool> = rest.iter().map(|p| p.x == 0.0).collect();
    let (e, stress, area) = (1e5, 10.0, 0.0625);
    for law in Law::ALL {
        let bar = Material { law: law.clone(), young_modulus: e, poisson_ratio: 0.0 };
        let mesh = ElasticTets::new(&rest, tets.clone(), &vec![bar; tets.len()]).expect("valid");
        // consistent loads of the end's two triangles: corners on the shared diagonal get double
        let load: Vec<Vec3> = rest
            .iter()
            .map(|p| {
                let share = if p.y == p.z { 2.0 } else { 1.0 };
                if p.x == 1.0 { Vec3::x() * (stress * area * share / 6.0) } else { Vec3::zeros() }
            })
            .collect();
        let x = Statics { mesh: &mesh, load: &load, fixed: &fixed }.solve(&rest);
        for (x, p) in x.iter().zip(&rest) {
            let expected = p + Vec3::x() * (p.x * stress / e);
            assert!((x - expected).amax() < 1e-7, "{law:?} {x} {expected}");
        }
    }
}

mod oracle {
    use super::*;
    use serde_json::Value;
    use standoff_sim::material::Lame;
    use standoff_testkit::{number, numbers, testdata_json};

    fn points(value: &Value) -> Vec<Vec3> {
        numbers(value).chunks_exact(3).map(Vec3::from_column_slice).collect()
    }

    fn tets(value: &Value) -> Vec<[u32; 4]> {
        numbers(value).chunks_exact(4).map(|t| [0, 1, 2, 3].map(|a| t[a] as u32)).collect()
    }

    fn material_of(law: Law, lame: Lame) -> Material {
        let Lame { lambda, mu } = lame;
        let young_modulus = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
        Material { law, young_modulus, poisson_ratio: lambda / (2.0 * (lambda + mu)) }
    }

    /// sfepy: St. Venant–Kirchhoff forces, small-strain forces and tangent.
    #[test]
    fn elastic_tet() {
        let data = testdata_json("oracle/peer_elastic_tet.json");
        let rest = points(&data["vertices"]);
        let tets = tets(&data["tets"]);
        let lame = Lame {
            lambda: number(&data["meta"]["parameters"]["lam"]),
            mu: number(&data["meta"]["parameters"]["mu"]),
        };
        let mesh = |law| {
            let materials = vec![material_of(law, lame); tets.len()];
            ElasticTets::new(&rest, tets.clone(), &materials).expect("a valid mesh")
        };
        let svk = mesh(Law::StVenantKirchhoff);
        for case in data["cases"].as_array().expect("cases") {
            let u = points(&case["displacement"]);
            let x: Vec<Vec3> = rest.iter().zip(&u).map(|(p, u)| p + u).collect();
            let mut g = vec![Vec3::zeros(); x.len()];
            svk.add_gradient(&x, &mut g);
            let error = relative_error(&flat(&g), &numbers(&case["force"]["svk"]), 1e-3);
            assert!(error < 1e-11, "svk {error:e}");

            let p = DVector::from_fn(36, |i, _| (1.3 * i as f64 + 7.0).sin());
            for law in Law::ALL {
                let k = assemble(&mesh(law.clone()), &rest);
                let linear = &k * DVector::from_vec(flat(&u));
                let error =
                    relative_error(linear.as_slice(), &numbers(&case["force"]["linear"]), 1e-3);
                assert!(error < 1e-12, "{law:?} {error:e}");
                let tangent = &case["tangent"]["linear"];
                let error = relative_error((&k * &p).as_slice(), &numbers(&tangent["Kp"]), 0.0);
                assert!(error < 1e-12, "{law:?} {error:e}");
                assert!((k.norm() / number(&tangent["frobenius"]) - 1.0).abs() < 1e-12);
                assert!((k.trace() / number(&tangent["trace"]) - 1.0).abs() < 1e-12);
            }
        }
    }

    /// sfepy's K/2 (J − 1)² is the volume term of two laws: μ = 0, λ = K.
    #[test]
    fn volume_term() {
        let data = testdata_json("oracle/peer_elastic_tet.json");
        let (rest, tets) = (points(&data["vertices"]), tets(&data["tets"]));
        let lame = Lame { lambda: number(&data["meta"]["parameters"]["K"]), mu: 0.0 };
        for law in [Law::StableNeoHookean, Law::FixedCorotated] {
            for case in data["cases"].as_array().expect("cases") {
                let u = points(&case["displacement"]);
                let x: Vec<Vec3> = rest.iter().zip(&u).map(|(p, u)| p + u).collect();
                let mut force = vec![Vec3::zeros(); x.len()];
                let mut k = DMatrix::zeros(36, 36);
                for t in &tets {
                    let corner = t.map(|v| rest[v as usize]);
                    let tet = single(&corner, law.clone());
                    let here = t.map(|v| x[v as usize]);
                    let f = tet.deformation_gradient(&here);
                    let p = law.pk1(&lame, &f) * tet.volume();
                    let h = law.hessian(&lame, &f) * tet.volume();
                    let gradients = std::array::from_fn::<_, 4, _>(|a| {
                        let mut unit = [Vec3::zeros(); 4];
                        unit[a] = Vec3::x();
                        tet.deformation_gradient(&unit).row(0).transpose()
                    });
                    for a in 0..4 {
                        force[t[a] as usize] += p * gradients[a];
                        for b in 0..4 {
                            let m = Mat3::from_fn(|r, s| {
                                (0..9)
                                    .map(|i| {
                                        let (c, d) = (i / 3, i % 3);
                                        h[(3 * c + r, 3 * d + s)]
                                            * gradients[a][c]
                                            * gradients[b][d]
                                    })
                                    .sum()
                            });
                            let mut view =
                                k.fixed_view_mut::<3, 3>(3 * t[a] as usize, 3 * t[b] as usize);
                            view += m;
                        }
                    }
                }
                let expected = numbers(&case["force"]["bulk_penalty"]);
                let error = relative_error(&flat(&force), &expected, 1e-3);
                assert!(error < 1e-11, "{law:?} {error:e}");
                let tangent = &case["tangent"]["bulk_penalty"];
                let p = DVector::from_fn(36, |i, _| (1.3 * i as f64 + 7.0).sin());
                let error = relative_error((&k * &p).as_slice(), &numbers(&tangent["Kp"]), 0.0);
                assert!(error < 1e-11, "{law:?} {error:e}");
                assert!((k.norm() / number(&tangent["frobenius"]) - 1.0).abs() < 1e-11);
            }
        }
    }

    /// newton's single-precision stable neo-Hookean element: forces and diagonal blocks.
    #[test]
    fn stable_neo_hookean_tet() {
        let data = testdata_json("oracle/peer_newton.json");
        let lame = Lame {
            lambda: number(&data["meta"]["parameters"]["lam"]),
            mu: number(&data["meta"]["parameters"]["mu"]),
        };
        let law = Law::StableNeoHookean;
        for case in data["tet"].as_array().expect("cases") {
            let corner =
                |key: &str| -> [Vec3; 4] { points(&case[key]).try_into().expect("four corners") };
            let (rest, x) = (corner("rest"), corner("x"));
            let mesh =
                ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[material_of(law.clone(), lame)])
                    .expect("a valid tet");
            let tet = mesh.elements[0].clone();
            let force: Vec<f64> = flat(&tet.gradient(&x)).iter().map(|g| -g).collect();
            let error = relative_error(&force, &numbers(&case["force"]), 0.1);
            assert!(error < 2e-5, "{error:e}");

            let f = tet.deformation_gradient(&x);
            let h = law.hessian(&lame, &f) * tet.volume();
            for a in 0..4 {
                let block = Mat3::from_fn(|r, s| {
                    let unit = |axis: usize| {
                        let mut unit = [Vec3::zeros(); 4];
                        unit[a][axis] = 1.0;
                        let df = tet.deformation_gradient(&unit);
                        VecN::<9>::from_column_slice(df.as_slice())
                    };
                    unit(r).dot(&(h * unit(s)))
                });
                let expected = numbers(&case["diag_hessian"][a]);
                let error = relative_error(block.as_slice(), &expected, 0.1);
                assert!(error < 2e-5, "{error:e}");
            }
        }
    }

    /// scikit-fem: cantilevers under their weight, linear and neo-Hookean.
    #[test]
    fn cantilevers() {
        let data = testdata_json("oracle/peer_static.json");
        for case in data["cases"].as_array().expect("cases") {
            let rest = points(&case["vertices"]);
            let tets = tets(&case["tets"]);
            let elastic = Material {
                law: Law::NeoHookean,
                young_modulus: number(&case["E"]),
                poisson_ratio: number(&case["nu"]),
            };
            let count = tets.len();
            let mesh = ElasticTets::new(&rest, tets, &vec![elastic; count]).expect("valid");
            let load = points(&case["load"]);
            let mut weight = vec![0.0; rest.len()];
            mesh.add_lumped_mass(&vec![number(&case["body_force_z"]); count], &mut weight);
            for (w, f) in weight.iter().zip(&load) {
                assert!((w - f.z).abs() < 1e-12);
            }

            let fixed: Vec<bool> = rest.iter().map(|p| p.x == 0.0).collect();
            let statics = Statics { mesh: &mesh, load: &load, fixed: &fixed };
            let linear = &case["linear"];
            let k = assemble(&mesh, &rest);
            assert!((k.norm() / number(&linear["K_frobenius"]) - 1.0).abs() < 1e-12);
            let u = statics
                .stiffness(&rest)
                .cholesky()
                .expect("definite")
                .solve(&-statics.residual(&rest));
            let error = relative_error(u.as_slice(), &numbers(&linear["displacement"]), 0.0);
            assert!(error < 1e-9, "linear {error:e}");
            let energy = 0.5 * u.dot(&(&k * &u));
            assert!((energy / number(&linear["energy"]) - 1.0).abs() < 1e-9);

            let x = statics.solve(&rest);
            let u: Vec<Vec3> = x.iter().zip(&rest).map(|(x, p)| x - p).collect();
            let expected = &case["neo_hookean"];
            let error = relative_error(&flat(&u), &numbers(&expected["displacement"]), 0.0);
            assert!(error < 1e-8, "neo-Hookean {error:e}");
            assert!((mesh.value(&x) / number(&expected["energy"]) - 1.0).abs() < 1e-8);
        }
    }
}

/// Elements that may be inverted: forces against differences of the energy, Hessians against those of the law
/// and, where nothing is clamped away, against differences of the forces; several at once as one by one.
#[test]
fn inverted_elements_have_the_derivatives_of_their_law() {
    let random = &mut Random::new(11);
    for law in Law::ALL.into_iter().filter(|law| !law.has_barrier()) {
        let mut count = 0;
        while count < 20 {
            let rest = rest_shape(random);
            let x = rest.map(|p| Vec3::new(-p.x, p.y, 0.8 * p.z) + random.vec3() * 0.2);
            let tets =
                ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[material(law.clone())]).unwrap();
            let tet = tets.clone().invertible().elements[0].clone();
            let f = tet.deformation_gradient(&x);
            let sigma = svd3(&f).sigma;
            // where the two smallest stretches cancel corotated stresses jump
            if f.determinant() > -1e-2 || sigma[1] + sigma[2] < 0.1 {
                continue;
            }
            count += 1;
            let fd = gradient(&flat(&x), 5e-5, |x| tet.value(&corners(x)));
            let error = relative_error(&flat(&tet.gradient(&x)), &fd, 1e-3);
            assert!(error < 1e-8, "{law:?} {error:e}");
            let fd = jacobian(&flat(&x), 5e-5, |x| flat(&tet.gradient(&corners(x))));
            let exact = SMatrix::<f64, 12, 12>::from_fn(|r, c| fd[c][r]);
            let found = dense(&tet.hessian_psd(&x));
            let clamped = {
                let b = SMatrix::<f64, 9, 12>::from_fn(|r, c| {
                    let mut unit = [0.0; 12];
                    unit[c] = 1.0;
                    tet.deformation_gradient(&corners(&unit)).as_slice()[r]
                });
                let whole = law.hessian(&material(law.clone()).lame(), &f);
                let whole = b.transpose() * whole * b * tet.volume();
                assert!((whole - exact).amax() < 1e-6 * exact.amax(), "{law:?}");
                b.transpose()
                    * law.hessian_psd(&material(law.clone()).lame(), &f)
                    * b
                    * tet.volume()
            };
            assert!((found - clamped).amax() < 1e-12 * clamped.amax(), "{law:?}");
            let mut blocks = [Mat3::zeros(); 6];
            tets.clone().invertible().hessians(0..1, &x, Projection::All, &mut blocks);
            let batch = dense(&whole(&blocks));
            assert!((batch - found).amax() < 1e-12 * found.amax(), "{law:?}");
            // no step is too large, and without permission none is possible
            let back = rest.map(|p| -p);
            assert_eq!(tet.max_step(&x, &back), 1.0);
            assert_eq!(tets.elements[0].max_step(&x, &back), 0.0);
        }
    }
}

/// Without the barrier against inversion, an element squeezed to a twentieth of its volume has its law's
/// energy and gradient; with it, more. Several at once as one by one.
#[test]
fn laws_can_do_without_the_barrier_against_inversion() {
    let mut random = Random::new(77);
    for law in Law::ALL {
        let rest = rest_shape(&mut random);
        let x = rest.map(|p| Vec3::new(0.05 * p.x, p.y, p.z));
        let with = ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[material(law.clone())]).unwrap();
        let without = with.clone().without_inversion_barrier();
        let tet = without.elements[0].clone();
        let f = tet.deformation_gradient(&x);
        let psi = tet.volume() * law.psi(&material(law.clone()).lame(), &f);
        assert_eq!(Term::value(&without, &x), psi, "{law:?}");
        assert_eq!(Term::value(&with, &x) > psi, !law.has_barrier(), "{law:?}");
        let value = |x: &[f64]| Element::value(&tet, &corners(x));
        let g = flat(&Element::gradient(&tet, &x));
        let difference = gradient(&flat(&x), 1e-4, value);
        assert!(relative_error(&g, &difference, 1e-3) < 1e-6, "{law:?}");
        // the batch takes the same law
        let mut blocks = [Mat3::zeros(); 10];
        without.hessians(0..1, &x, Projection::All, &mut blocks);
        let mut guarded = [Mat3::zeros(); 10];
        with.hessians(0..1, &x, Projection::All, &mut guarded);
        assert_eq!(blocks == guarded, law.has_barrier(), "{law:?}");
    }
}
