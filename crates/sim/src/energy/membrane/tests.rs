use super::*;
use crate::energy::formula::tests::{assert_lanes, first_order};
use crate::energy::{Elements, Term};
use standoff_testkit::Random;

/// Triangles of all laws: at rest, stretched, compressed, turned, nearly and entirely without area.
fn triangles() -> (Vec<Membrane>, Vec<[u32; 3]>, Vec<Vec3>) {
    let r = &mut Random::new(6);
    let (mut elements, mut vertices, mut x) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..205 {
        let size = [1.0, 1e-3][k % 2];
        let rest = [Vec3::zeros(), Vec3::x(), Vec3::y()].map(|p| (p + r.vec3() * 0.2) * size);
        let lame = SheetLame::new(1e5, 0.3);
        let sheet = match k % 5 {
            0 => Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, lame),
            1 => Sheet::Orthotropic(Orthotropic::new([1e5, 2e4], 0.3, 1e4, None)),
            _ => Sheet::Isotropic(MembraneLaw::NeoHookean, lame),
        };
        let mut element = Membrane::new(&rest, 1e-3, sheet, None).expect("an area");
        if k % 4 == 0 {
            element.limit = Some(StretchLimit { limit: 1.3, threshold: 1.0, stiffness: 1e4 });
        }
        elements.push(element);
        vertices.push([0, 1, 2].map(|a| x.len() as u32 + a));
        let noise = [0.0, 0.05, 0.3][k % 3] * size;
        let mut moved = rest.map(|p| Vec3::new(p.z, p.x, p.y) + r.vec3() * noise);
        if k % 17 == 0 {
            moved[2] = moved[0] + (moved[1] - moved[0]) * 0.5;
        }
        if k % 19 == 0 {
            moved[2] = moved[0] + (moved[2] - moved[0]) * 1e-6;
        }
        x.extend(moved);
    }
    (elements, vertices, x)
}

#[test]
fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
    let (elements, vertices, x) = triangles();
    assert_lanes(&elements, &vertices, &x);
}

/// Bits, since gradients of triangles without area are NaN.
fn bits(g: &[Vec3; 3]) -> Vec<u64> {
    g.iter().flat_map(|g| g.iter().map(|v| v.to_bits())).collect()
}

/// The last batch may have fewer triangles than lanes, and one that is computed by itself in its last place.
#[test]
fn lists_of_any_length_sum_their_triangles() {
    let (elements, vertices, x) = triangles();
    let (values, all) = first_order(&elements, &vertices, &x, true);
    for first in 0..40 {
        for count in 1..10 {
            let range = first..first + count;
            let parts = (vertices[range.clone()].to_vec(), elements[range.clone()].to_vec());
            let list = Elements::from_parts(parts.0, parts.1, x.len());
            let want: f64 = values[range.clone()].iter().sum();
            assert!(list.value(&x) == want, "{range:?}");
            let mut sums = vec![Vec3::zeros(); x.len()];
            list.add_gradient(&x, &mut sums);
            for (vertices, g) in vertices[range.clone()].iter().zip(&all[range.clone()]) {
                let found = vertices.map(|v| sums[v as usize]);
                assert_eq!(bits(&found), bits(g));
            }
        }
    }
}

#[test]
fn gradients_are_the_slopes_of_energies() {
    let (elements, vertices, x) = triangles();
    let gradients = first_order(&elements, &vertices, &x, true).1;
    for a in 0..3 {
        for i in 0..3 {
            let at = |step: f64| {
                let mut moved = x.clone();
                for (k, element) in elements.iter().enumerate() {
                    moved[3 * k + a][i] += step * 1e-5 * element.area.sqrt();
                }
                first_order(&elements, &vertices, &moved, true).0
            };
            let [b2, b1, a1, a2] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            for (k, element) in elements.iter().enumerate() {
                // moved too far, or over the threshold of a limit, where the third derivative jumps
                if k % 17 == 0 || k % 19 == 0 || !(b2[k] + a2[k]).is_finite() {
                    continue;
                }
                let length = element.area.sqrt();
                let slope = (b2[k] - 8.0 * b1[k] + 8.0 * a1[k] - a2[k]) / (12e-5 * length);
                let size = element.volume * element.rest_stiffness() / length
                    + gradients[k].iter().map(|g| g.norm()).fold(0.0, f64::max);
                let off = (slope - gradients[k][a][i]).abs() / size;
                assert!(off < 1e-6, "triangle {k}, corner {a}: {off:e}");
            }
        }
    }
}
