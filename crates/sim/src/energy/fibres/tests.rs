use super::*;
use crate::energy::axisymmetric::Axisymmetric;
use crate::energy::plane_strain::PlaneStrain;
use crate::energy::projection::Projection;
use crate::energy::quadratic_tet::QuadraticTet;
use crate::energy::quadratic_triangle::QuadraticTriangle;
use crate::energy::tet::ElasticTets;
use crate::material::fibres::FibreDirection;
use crate::material::{Law, Material};
use standoff_geometry::quadratic::TRIANGLE_EDGES;
use standoff_testkit::Random;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

const MATERIAL: Material =
    Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };

/// A solid of one element of each kind, where it is at rest, with fibres along `a`.
fn solids(r: &mut Random, a: Vec3) -> (Solids, Vec<Vec3>, [Family; 2]) {
    let mut rest: Vec<Vec3> = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()].into();
    rest.iter_mut().for_each(|p| *p += 0.1 * r.vec3());
    let corners: Vec<Vec3> = rest.clone();
    // a triangle, and nodes of a curved element
    rest.extend([[0.3, 0.1], [1.4, 0.2], [0.5, 1.1]].map(|[x, y]| Vec3::new(x, y, 0.0)));
    let middles = standoff_geometry::quadratic::EDGES
        .map(|[i, j]| 0.5 * (corners[i] + corners[j]) + 0.03 * r.vec3());
    rest.extend(corners);
    rest.extend(middles);
    let flat: [Vec3; 3] = [rest[4], rest[5], rest[6]];
    rest.extend(flat);
    rest.extend(TRIANGLE_EDGES.map(|[i, j]| 0.5 * (flat[i] + flat[j])));
    rest[20].y -= 0.05;
    let bent = std::array::from_fn(|n| rest[17 + n]);
    let bent = QuadraticTriangle::new(&bent, &MATERIAL, true, true).unwrap();
    let triangle = vec![[4, 5, 6]];
    let ring = Axisymmetric::new(&[rest[4], rest[5], rest[6]], &MATERIAL, true).unwrap();
    let plane = PlaneStrain::new(&[rest[4], rest[5], rest[6]], &MATERIAL, true).unwrap();
    let curved = QuadraticTet::new(&std::array::from_fn(|n| rest[7 + n]), &MATERIAL).unwrap();
    let solids = Solids {
        tets: ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[MATERIAL]).unwrap(),
        plane: Elements::from_parts(triangle.clone(), vec![plane], rest.len()),
        rings: Elements::from_parts(triangle, vec![ring], rest.len()),
        quadratic: Elements::from_parts(
            vec![std::array::from_fn(|n| (7 + n) as u32)],
            vec![curved],
            rest.len(),
        ),
        quadratic_triangles: Elements::from_parts(
            vec![std::array::from_fn(|n| (17 + n) as u32)],
            vec![bent],
            rest.len(),
        ),
    };
    let family = |exponent: f64, tension: u32| Family {
        direction: FibreDirection::Along(a),
        law: FibreLaw { stiffness: 3e4, exponent },
        tension: Some(tension),
    };
    (solids, rest, [family(0.0, 0), family(1.5, 1)])
}

/// Positions far from rest, in the plane those of the triangle.
fn moved(r: &mut Random, rest: &[Vec3], stretch: f64) -> Vec<f64> {
    let turn = r.rotation();
    let place = |(k, p): (usize, &Vec3)| match k {
        4..=6 | 17.. => {
            let d = r.vec3();
            Vec3::new(stretch * p.x + 0.05 * d.x, stretch * p.y + 0.05 * d.y, 0.0)
        }
        _ => turn * (stretch * p + 0.08 * r.vec3()),
    };
    rest.iter().enumerate().map(place).flat_map(<[f64; 3]>::from).collect()
}

fn points(x: &[f64]) -> Vec<Vec3> {
    x.as_chunks::<3>().0.iter().map(|p| Vec3::from(*p)).collect()
}

/// The terms of all fibres of the element `e` alone.
fn terms_of<T>(e: usize, with: impl Fn(&[&dyn Term]) -> T, seed: u64) -> T {
    let r = &mut Random::new(seed);
    let (solids, rest, families) = solids(r, Vec3::new(0.7, 0.4, 0.6));
    let of = |k: usize| if k == e { families.to_vec() } else { Vec::new() };
    let (fibres, muscles) = fibres(&solids, &rest, of).unwrap();
    let muscles = muscles.with(&[2e4, -1e4]);
    let all: Vec<&dyn Term> = fibres.terms().chain(muscles.terms()).collect();
    assert_eq!(all.len(), 2);
    with(&all)
}

/// The second derivative of a term by all coordinates, not projected.
fn dense_hessian(term: &dyn Term, x: &[Vec3]) -> Vec<Vec<f64>> {
    let mut found = vec![vec![0.0; 3 * x.len()]; 3 * x.len()];
    let stencils = term.stencils();
    for s in 0..stencils.len() {
        let stencil = stencils.get(s);
        let pairs: Vec<_> = standoff_sparse::block_pairs(stencil.len()).collect();
        let mut blocks = vec![Mat3::zeros(); pairs.len()];
        term.hessians(s..s + 1, x, Projection::NONE, &mut blocks);
        for (block, (a, b)) in blocks.iter().zip(pairs) {
            let [v, w] = [a, b].map(|k| 3 * stencil[k] as usize);
            for i in 0..3 {
                for j in 0..3 {
                    found[v + i][w + j] += block[(i, j)];
                    if a != b {
                        found[w + j][v + i] += block[(i, j)];
                    }
                }
            }
        }
    }
    found
}

#[test]
fn derivatives_are_those_of_the_energy() {
    for e in 0..5 {
        for (seed, stretch) in [(1, 1.3), (2, 1.05), (3, 0.7)] {
            let check = |terms: &[&dyn Term]| {
                let r = &mut Random::new(seed);
                let (_, rest, _) = solids(r, Vec3::x());
                let x = moved(r, &rest, stretch);
                // no motion along z where there is none
                let flat = |k: usize| matches!(e, 1 | 2 | 4) && k % 3 == 2;
                for term in terms {
                    let slope = |x: &[f64]| -> Vec<f64> {
                        let mut g = vec![Vec3::zeros(); rest.len()];
                        term.add_gradient(&points(x), &mut g);
                        g.iter().flatten().copied().collect()
                    };
                    let mut expected = gradient(&x, 1e-4, |x| term.value(&points(x)));
                    (0..x.len()).filter(|k| flat(*k)).for_each(|k| expected[k] = 0.0);
                    assert!(relative_error(&slope(&x), &expected, 1e-3) < 1e-8, "{e} {term:?}");
                    let mut dense = jacobian(&x, 1e-4, slope);
                    for (r, row) in dense.iter_mut().enumerate() {
                        for (c, entry) in row.iter_mut().enumerate() {
                            *entry = if flat(r) || flat(c) { 0.0 } else { *entry };
                        }
                    }
                    let found = dense_hessian(*term, &points(&x));
                    let (found, dense) = (found.concat(), dense.concat());
                    assert!(relative_error(&found, &dense, 1e-3) < 1e-6, "{e} {stretch} {term:?}");
                }
            };
            terms_of(e, check, seed);
        }
    }
}

/// Nothing happens where a body turns, and forces have no resultant; compressed fibres do nothing.
#[test]
fn fibres_turn_with_their_body_and_do_nothing_where_they_are_compressed() {
    for e in [0, 3] {
        let check = |terms: &[&dyn Term]| {
            let r = &mut Random::new(5);
            let (_, rest, _) = solids(r, Vec3::x());
            let x = points(&moved(r, &rest, 1.2));
            let turn = r.rotation();
            let turned: Vec<Vec3> = x.iter().map(|p| turn * p + Vec3::x()).collect();
            for term in terms {
                let [a, b] = [&x, &turned].map(|x| term.value(x));
                assert!((a - b).abs() < 1e-12 * a.abs() && a != 0.0, "{a} {b}");
                let mut g = vec![Vec3::zeros(); rest.len()];
                term.add_gradient(&x, &mut g);
                let size: f64 = g.iter().map(|g| g.norm()).sum();
                assert!(g.iter().sum::<Vec3>().norm() < 1e-13 * size);
            }
            let small: Vec<Vec3> = rest.iter().map(|p| 0.9 * turn * p).collect();
            assert_eq!(terms[0].value(&small), 0.0);
            assert!(terms[1].value(&small).abs() > 1.0);
        };
        terms_of(e, check, 5);
    }
}

/// Each tension is that of its family, and fibres on their axis are refused by element and family.
#[test]
fn what_has_no_direction_is_named() {
    let r = &mut Random::new(6);
    let (solids, rest, [resisting, mut around]) = solids(r, Vec3::x());
    let centroid = rest[..4].iter().sum::<Vec3>() / 4.0;
    around.direction =
        FibreDirection::Around { axis: Vec3::z(), through: centroid, helix_angle: 0.2 };
    let families = [resisting, around];
    let of = |k: usize| if k == 0 { families.to_vec() } else { Vec::new() };
    let none = fibres(&solids, &rest, of).unwrap_err();
    assert_eq!(none, NoDirection { element: 0, family: 1 });
    let of = |k: usize| if k == 3 { families.to_vec() } else { Vec::new() };
    let (all, muscles) = fibres(&solids, &rest, of).unwrap();
    assert_eq!(all.terms().count(), 1);
    let muscles = muscles.with(&[1e4, -5e3]);
    let tensions: Vec<f64> = muscles.quadratic.elements.iter().map(|m| m.tension).collect();
    assert_eq!(tensions, [1e4, -5e3].repeat(4));
}
