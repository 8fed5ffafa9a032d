use super::*;
use crate::energy::formula::tests::assert_lanes;
use crate::energy::tet::ElasticTets;
use crate::material::rubber;
use standoff_testkit::Random;

const COUNT: usize = 120;

/// The nodes of an element with corners near those of the unit tetrahedron and edges that are bent by about `bend`.
fn nodes(r: &mut Random, bend: f64) -> [Vec3; NODES] {
    let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()].map(|c| c + 0.1 * r.vec3());
    std::array::from_fn(|n| match n.checked_sub(4) {
        None => corners[n],
        Some(e) => 0.5 * (corners[EDGES[e][0]] + corners[EDGES[e][1]]) + bend * r.vec3(),
    })
}

fn material(k: usize) -> Material {
    let rubber = rubber::samples();
    let law = match k % (Law::ALL.len() + rubber.len()) {
        n if n < rubber.len() => return rubber[n].clone(),
        n => Law::ALL[n - rubber.len()].clone(),
    };
    Material { law, young_modulus: 1e5, poisson_ratio: 0.4 }
}

/// Separate elements of all laws, straight and curved at rest: deformed a little, or so much that the barrier within acts.
fn elements() -> (Vec<QuadraticTet>, Vec<[u32; NODES]>, Vec<Vec3>) {
    let r = &mut Random::new(41);
    let (mut elements, mut vertices, mut x) = (vec![], vec![], vec![]);
    while elements.len() < COUNT {
        let k = elements.len();
        let rest = nodes(r, [0.0, 0.05, 0.1][k % 3]);
        let Some(element) = QuadraticTet::new(&rest, &material(k)) else { continue };
        let noise = [0.0, 1e-3, 0.05, 0.1][k % 4];
        let squeeze = if k % 5 == 0 { 0.09 } else { 1.0 };
        let at = rest.map(|p| {
            let q = p + noise * squeeze * r.vec3();
            Vec3::new(q.y, squeeze * q.z, q.x)
        });
        if !element.value(&at).is_finite() {
            continue;
        }
        vertices.push(std::array::from_fn(|n| (NODES * k + n) as u32));
        let bare = k % 7 == 0;
        elements.push(if bare { element.without_inversion_barrier() } else { element });
        x.extend(at);
    }
    (elements, vertices, x)
}

#[test]
fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
    let (mut elements, vertices, x) = elements();
    elements.iter_mut().for_each(|e| e.guard.acts = false);
    assert_lanes(&elements, &vertices, &x);
}

/// Also with the barrier within, which is added one element at a time.
#[test]
fn several_elements_at_once_are_those_by_themselves() {
    let (elements, vertices, x) = elements();
    let mut values = vec![0.0; COUNT];
    QuadraticTet::values(&elements, &vertices, &x, &mut values);
    let mut gradients = vec![[Vec3::zeros(); NODES]; COUNT];
    QuadraticTet::gradients(&elements, &vertices, &x, &mut gradients);
    let mut blocks = vec![Mat3::zeros(); COUNT * BLOCKS];
    QuadraticTet::hessians(&elements, &vertices, &x, Projection::All, &mut blocks);
    let mut acting = 0;
    for (k, element) in elements.iter().enumerate() {
        let at = vertices[k].map(|v| x[v as usize]);
        assert_eq!(element.value(&at), values[k]);
        assert_eq!(element.gradient(&at), gradients[k]);
        let h = element.hessian_psd(&at);
        let above = (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (a, b)));
        for (block, (a, b)) in blocks[k * BLOCKS..].iter().zip(above) {
            assert_eq!(*block, h[a][b]);
        }
        acting += usize::from(element.guard.value(&at) > 0.0);
    }
    assert!(acting > COUNT / 20, "{acting}");
}

#[test]
fn derivatives_are_those_of_the_energy() {
    let (elements, vertices, x) = elements();
    for (k, element) in elements.iter().enumerate() {
        let at = vertices[k].map(|v| x[v as usize]);
        let (gradient, h) = (element.gradient(&at), element.hessian(&at));
        let scale = element.lame.mu * element.volume();
        let size = gradient.iter().map(|g| g.norm()).fold(scale, f64::max);
        let stiff = h.iter().flatten().map(|b| b.norm()).fold(scale, f64::max);
        for a in 0..NODES {
            for i in 0..3 {
                let moved = |s: f64| {
                    let mut y = at;
                    y[a][i] += s * 1e-6;
                    y
                };
                let slope = (element.value(&moved(1.0)) - element.value(&moved(-1.0))) / 2e-6;
                assert!((slope - gradient[a][i]).abs() < 1e-5 * size, "{k}: {slope}");
                let (high, low) = (element.gradient(&moved(1.0)), element.gradient(&moved(-1.0)));
                for b in 0..NODES {
                    let off = (high[b] - low[b]) / 2e-6 - h[b][a].column(i);
                    assert!(off.norm() < 1e-5 * stiff, "{k} {a} {b} {i}: {off:?}");
                }
            }
        }
    }
}

#[test]
fn the_projected_second_derivative_is_positive_and_above_the_other() {
    let (elements, vertices, x) = elements();
    let r = &mut Random::new(42);
    for (k, element) in elements.iter().enumerate() {
        let at = vertices[k].map(|v| x[v as usize]);
        let (psd, h) = (element.hessian_psd(&at), element.hessian(&at));
        let stiff = psd.iter().flatten().map(|b| b.norm()).fold(0.0, f64::max);
        for _ in 0..10 {
            let p: [Vec3; NODES] = std::array::from_fn(|_| r.vec3());
            let form = |h: &Hessian<NODES>| -> f64 {
                let pairs = (0..NODES).flat_map(|a| (0..NODES).map(move |b| (a, b)));
                pairs.map(|(a, b)| p[a].dot(&(h[a][b] * p[b]))).sum()
            };
            assert!(form(&psd) > form(&h).max(0.0) - 1e-9 * stiff, "{k}");
        }
    }
}

/// A deformation that a linear element has, too, takes the same energy and the same total volume and stress; its forces do the same work.
#[test]
fn uniform_deformations_are_those_of_linear_elements() {
    let r = &mut Random::new(43);
    for k in 0..20 {
        let (rest, law) = (nodes(r, 0.0), material(k));
        let element = QuadraticTet::new(&rest, &law).unwrap();
        let corners = [0, 1, 2, 3].map(|a| rest[a]);
        let tets = ElasticTets::new(&corners, vec![[0, 1, 2, 3]], &[law]).unwrap();
        let f = Mat3::identity() + 0.2 * Mat3::from_columns(&[r.vec3(), r.vec3(), r.vec3()]);
        let (at, same) = (rest.map(|p| f * p), corners.map(|p| f * p));
        let linear = &tets.elements[0];
        assert!((element.volume() - linear.volume()).abs() < 1e-13);
        let (value, want) = (element.value(&at), linear.value(&same));
        assert!((value - want).abs() < 1e-11 * want, "{value} {want}");
        let expected = linear.cauchy_stress(&same);
        assert!(
            element.stresses(&at).iter().all(|s| (s - expected).norm() < 1e-10 * expected.norm())
        );
        assert!((element.mean_gradient(&at) - f).norm() < 1e-12);
        assert!((element.least_ratio(&at) - f.determinant()).abs() < 1e-12);
        let work = |g: &[Vec3], p: &[Vec3]| -> f64 { g.iter().zip(p).map(|(g, p)| g.dot(p)).sum() };
        let (of, with) = (element.gradient(&at), linear.gradient(&same));
        assert!((work(&of, &rest) - work(&with, &corners)).abs() < 1e-10 * want);
    }
    let total: f64 = (0..NODES).map(QuadraticTet::mass_part).sum();
    assert!((total - 1.0).abs() < 1e-15);
    // ∫ N dV of an element with straight edges
    let element = QuadraticTet::new(&nodes(r, 0.0), &material(0)).unwrap();
    for (n, weight) in element.weight_volumes().into_iter().enumerate() {
        let exact = if n < 4 { -0.05 } else { 0.2 } * element.volume();
        assert!((weight - exact).abs() < 1e-15, "{n}: {weight}");
    }
}

/// Masses are in the ratio of ∫ N² of corners and middles, here by random points.
#[test]
fn masses_are_in_the_ratio_of_the_consistent_ones() {
    let (r, count) = (&mut Random::new(46), 200_000);
    let (mut corner, mut middle) = (0.0, 0.0);
    for _ in 0..count {
        // uniform in the tetrahedron: the gaps between three sorted numbers
        let mut cuts = [r.unit(), r.unit(), r.unit()];
        cuts.sort_by(f64::total_cmp);
        let [a, b, c] = cuts;
        let all = shapes([a, b - a, c - b, 1.0 - c]);
        corner += all[..4].iter().map(|n| n * n).sum::<f64>() / 4.0;
        middle += all[4..].iter().map(|n| n * n).sum::<f64>() / 6.0;
    }
    let found = QuadraticTet::mass_part(4) / QuadraticTet::mass_part(0);
    assert!((middle / corner / found - 1.0).abs() < 0.02, "{} {found}", middle / corner);
}

/// Barycentric coordinates of a node.
fn node(n: usize) -> [f64; 4] {
    let mut at = [0.0; 4];
    if n < 4 {
        at[n] = 1.0;
    } else {
        let [a, b] = EDGES[n - 4];
        (at[a], at[b]) = (0.5, 0.5);
    }
    at
}

/// Σ w p(ξ_q) is the integral of polynomials of degree two, and the shape functions are 1 at their nodes and 0 at the others.
#[test]
fn points_integrate_and_shapes_interpolate() {
    for n in 0..NODES {
        let all = shapes(node(n));
        for (m, value) in all.iter().enumerate() {
            assert_eq!(*value, f64::from(u8::from(m == n)));
        }
    }
    for a in 0..4 {
        for b in 0..4 {
            let at = |q: usize| {
                [NEAR, FAR].map(|v| v)[usize::from(q != a)] * if q == b { NEAR } else { FAR }
            };
            let mean = (0..POINTS).map(at).sum::<f64>() / POINTS as f64;
            // ∫ λ_a λ_b = (1 + [a = b]) V/20
            let exact = if a == b { 0.1 } else { 0.05 };
            assert!((mean - exact).abs() < 1e-15, "{a} {b}: {mean}");
        }
    }
}

/// The least volume at many places, the slow twin of the bound.
fn least_volume(x: &[Vec3; NODES]) -> f64 {
    let n = 14;
    let mut least = f64::INFINITY;
    for i in 0..=n {
        for j in 0..=n - i {
            for k in 0..=n - i - j {
                let [a, b, c] = [i, j, k].map(|v| f64::from(v) / f64::from(n));
                let d = jacobian(&formula::plain(x), &slopes([1.0 - a - b - c, a, b, c]));
                least = least.min(d.determinant());
            }
        }
    }
    least
}

#[test]
fn no_element_inverts_anywhere_along_a_step_within_the_bound() {
    let r = &mut Random::new(44);
    let (mut whole, mut shortened, mut refused) = (0, 0, 0);
    for k in 0..600 {
        let bend = [0.05, 0.1, 0.2, 0.3][k % 4];
        let x = nodes(r, bend);
        let amount = [0.05, 0.3, 1.0][k % 3];
        let dx: [Vec3; NODES] = std::array::from_fn(|_| amount * r.vec3());
        let step = bernstein::max_step(&x, &dx, KEEP);
        let at = |t: f64| std::array::from_fn(|n| x[n] + t * dx[n]);
        let now = least_volume(&x);
        assert_eq!(bernstein::is_positive(&x), step > 0.0);
        match step {
            0.0 => refused += 1,
            1.0 => whole += 1,
            _ => shortened += 1,
        }
        if step == 0.0 {
            // what is clearly positive is not refused
            assert!(now < if bend < 0.15 { 0.2 } else { 0.5 }, "{now}");
            continue;
        }
        assert!(now > 0.0);
        for i in 0..=40 {
            let volume = least_volume(&at(step * f64::from(i) / 40.0));
            assert!(volume > 0.0, "{k}: {volume} at {i} of {step}");
        }
        // not shortened by far more than it has to be: the part of the step along which the volume is above that part everywhere
        if step < 1.0 && bend < 0.15 {
            let falls = (1..=400).map(|i| f64::from(i) / 400.0);
            let mut falls = falls.filter(|t| least_volume(&at(*t)) < KEEP * now);
            let most = falls.next().unwrap_or(1.0);
            assert!(step > 0.3 * most, "{k}: {step} of {most}");
        }
    }
    assert!(whole > 50 && shortened > 50 && refused > 20, "{whole} {shortened} {refused}");
    // no numbers, no step; none beyond a node that passes through the element
    let x = nodes(r, 0.0);
    let mut dx = [Vec3::zeros(); NODES];
    assert_eq!(bernstein::max_step(&x, &dx, KEEP), 1.0);
    dx[4].y = f64::NAN;
    assert_eq!(bernstein::max_step(&x, &dx, KEEP), 0.0);
}

#[test]
fn an_element_without_volume_is_refused() {
    let r = &mut Random::new(45);
    let mut rest = nodes(r, 0.0);
    assert!(QuadraticTet::new(&rest, &material(0)).is_some());
    // the middle of an edge at a quarter of it: the volume at the near end vanishes
    rest[4] = 0.75 * rest[0] + 0.25 * rest[1];
    assert!(QuadraticTet::new(&rest, &material(0)).is_none());
    rest[4] = 0.74 * rest[0] + 0.26 * rest[1];
    assert!(QuadraticTet::new(&rest, &material(0)).is_some());
    rest[4].x = f64::NAN;
    assert!(QuadraticTet::new(&rest, &material(0)).is_none());
}
