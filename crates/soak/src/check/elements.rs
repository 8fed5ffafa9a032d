//! Elements that are turned over.

use super::{Finding, Surface, dot, name, sub};
use crate::exact::{Point, area, volume};
use crate::frame::{Dimension, Frame, Info};
use std::cmp::Ordering;

/// Tetrahedra whose volume is not positive.
pub(super) fn inversions(frame: &Frame, info: &Info, surface: &Surface) -> Vec<Finding> {
    let x = &frame.x;
    let wrong = frame.tets.iter().filter(|_| !info.allow_inversion).filter(|t| {
        let [a, b, c, d] = t.map(|v| &x[v]);
        volume(a, b, c, d) != Ordering::Greater
    });
    let wrong = wrong.map(|t| (t[0], format!("{t:?}")));
    let bent = frame.quadratic.iter().filter(|t| !has_positive_volume(&t.map(|v| x[v])));
    let bent = bent.map(|t| (t[0], format!("{:?}", &t[..4])));
    let finding = |(first, t): (usize, String)| {
        format!("tetrahedron {t} of '{}' is inverted", name(info, surface, first))
    };
    wrong.chain(bent).map(finding).collect()
}

/// Triangles that are not counter-clockwise, and what is outside of the plane or behind the axis.
pub(super) fn inversions_in_the_plane(
    frame: &Frame,
    info: &Info,
    surface: &Surface,
) -> Vec<Finding> {
    let x = &frame.x;
    let revolved = info.dimension == Dimension::Axisymmetric;
    let outside = (0..x.len()).filter(|v| x[*v][2] != 0.0 || revolved && x[*v][0] < 0.0);
    let outside = outside
        .map(|v| format!("vertex {v} of '{}' is outside of the plane", name(info, surface, v)));
    let wrong = frame.triangles.iter().filter(|_| !info.allow_inversion).filter(|t| {
        let [a, b, c] = t.map(|v| &x[v]);
        area(a, b, c, 0, 1) != Ordering::Greater
    });
    let wrong = wrong.map(|t| (t[0], format!("{t:?}")));
    let bent = frame.curved.iter().filter(|_| !info.allow_inversion);
    let bent = bent.filter(|t| !has_positive_area(&t.map(|v| x[v]), revolved));
    let bent = bent.map(|t| (t[0], format!("{:?}", &t[..3])));
    let finding = |(first, t): (usize, String)| {
        format!("triangle {t} of '{}' is turned over", name(info, surface, first))
    };
    outside.chain(wrong.chain(bent).map(finding)).collect()
}

/// Whether the area of a quadratic triangle is positive at the points of a lattice, and no point behind the axis x = 0 if it is `revolved`, up to rounding.
fn has_positive_area(x: &[Point; 6], revolved: bool) -> bool {
    const N: usize = 16;
    let size = x.iter().flat_map(|p| sub(p, &x[0])).fold(0.0_f64, |m, c| m.max(c.abs()));
    let noise = 1e-13 * size * size;
    let lattice = (0..=N).flat_map(|i| (0..=N - i).map(move |j| [i, j]));
    lattice.into_iter().all(|[i, j]| {
        let l = [N - i - j, i, j].map(|w| w as f64 / N as f64);
        // coordinates and their derivatives by those of corners 1 and 2, where that of corner 0 is what is left, relative to node 0
        let (mut at, mut d) = ([0.0; 2], [[0.0; 2]; 2]);
        let mut add = |node: usize, shape: f64, slopes: [f64; 2]| {
            for k in 0..2 {
                let u = x[node][k] - x[0][k];
                at[k] += shape * u;
                (0..2).for_each(|c| d[c][k] += slopes[c] * u);
            }
        };
        for corner in [1, 2] {
            let slope = 4.0 * l[corner] - 1.0;
            let slopes = if corner == 1 { [slope, 0.0] } else { [0.0, slope] };
            add(corner, l[corner] * (2.0 * l[corner] - 1.0), slopes);
        }
        add(3, 4.0 * l[0] * l[1], [4.0 * (l[0] - l[1]), -4.0 * l[1]]);
        add(4, 4.0 * l[1] * l[2], [4.0 * l[2], 4.0 * l[1]]);
        add(5, 4.0 * l[2] * l[0], [-4.0 * l[2], 4.0 * (l[0] - l[2])]);
        let behind = revolved && at[0] + x[0][0] < -1e-14 * (size + x[0][0].abs());
        d[0][0] * d[1][1] - d[0][1] * d[1][0] > -noise && !behind
    })
}

/// Whether the volume of a quadratic tetrahedron is positive at the points of a lattice, up to rounding.
fn has_positive_volume(x: &[Point; 10]) -> bool {
    const N: usize = 8;
    let size = x.iter().flat_map(|p| sub(p, &x[0])).fold(0.0_f64, |m, c| m.max(c.abs()));
    let noise = 1e-13 * size * size * size;
    let lattice = (0..=N)
        .flat_map(|i| (0..=N - i).flat_map(move |j| (0..=N - i - j).map(move |k| [i, j, k])));
    lattice.into_iter().all(|[i, j, k]| {
        let l = [N - i - j - k, i, j, k].map(|w| w as f64 / N as f64);
        // derivatives by the coordinates of corners 1, 2, 3, where that of corner 0 is what is left
        let column = |c: usize| {
            let mut d = [0.0; 3];
            let mut add = |of: &Point, w: f64| (0..3).for_each(|m| d[m] += w * (of[m] - x[0][m]));
            add(&x[c], 4.0 * l[c] - 1.0);
            add(&x[0], 1.0 - 4.0 * l[0]);
            for (node, [a, b]) in (4..).zip([[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]) {
                let by = |k: usize| {
                    if k == a {
                        l[b]
                    } else if k == b {
                        l[a]
                    } else {
                        0.0
                    }
                };
                add(&x[node], 4.0 * (by(c) - by(0)));
            }
            d
        };
        let [a, b, c] = [1, 2, 3].map(column);
        let n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        dot(&n, &c) > -noise
    })
}
