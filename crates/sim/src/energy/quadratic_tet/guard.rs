//! The barrier against inversion of quadratic tetrahedra: Ψ = Σ V b(c/C) over the Bernstein coefficients c of the volume, which are C
//! at rest, with the barrier b of invertible laws (`material/inversion.rs`). One coefficient alone has to hold as much as a linear element of the
//! volume V does: with less, elements that are pulled away from heavy ones come so close to inversion that steps become tiny. Elastic energy is evaluated at four points, and would let the
//! element invert elsewhere.

use super::bernstein::{COEFFICIENTS, COLUMNS, TRIPLES, WEIGHTS, coefficients, columns};
use super::{BLOCKS, NODES};
use crate::energy::element::{Element, Hessian};
use crate::energy::formula;
use crate::energy::term::Role;
use crate::material::Lame;
use crate::material::inversion::{VOLUME_RATIO, barrier};
use standoff_linalg::{M3, Mat3, Vec3, project_psd_array};

/// The barrier of one element.
#[derive(Debug, Clone, PartialEq)]
pub struct CoefficientGuard {
    /// The coefficients at rest, m³.
    rest: [f64; COEFFICIENTS],
    /// Rest volume of the element, m³.
    volume: f64,
    /// Whether there is a barrier.
    pub acts: bool,
    lame: Lame,
}

impl CoefficientGuard {
    pub(super) fn new(rest: &[Vec3; NODES], volume: f64, lame: Lame) -> Self {
        let rest = coefficients(&columns(rest));
        Self { rest, volume, acts: true, lame }
    }

    /// The barrier of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        let cube = g.powi(3);
        Self { rest: self.rest.map(|c| c * cube), volume: self.volume * cube, ..self.clone() }
    }

    /// The coefficients in terms of those at rest.
    pub(super) fn ratios(&self, x: &[Vec3; NODES]) -> [f64; COEFFICIENTS] {
        let now = coefficients(&columns(x));
        std::array::from_fn(|k| now[k] / self.rest[k])
    }

    /// The coefficients at which the barrier acts, with their ratios.
    fn acting(&self, x: &[Vec3; NODES]) -> impl Iterator<Item = (usize, f64)> + use<> {
        let ratios = if self.acts { self.ratios(x) } else { [1.0; COEFFICIENTS] };
        // what is not a number acts, so that it is seen
        ratios.into_iter().enumerate().filter(|(_, j)| *j < VOLUME_RATIO || j.is_nan())
    }

    /// The derivative of a coefficient over that at rest by the nodes.
    fn slope(&self, k: usize, d: &[Vec3; COLUMNS]) -> [Vec3; NODES] {
        let mut by_columns = [Vec3::zeros(); COLUMNS];
        let part = 1.0 / (TRIPLES[k].len() as f64 * self.rest[k]);
        for &[a, b, c] in &TRIPLES[k] {
            by_columns[a] += part * d[b].cross(&d[c]);
            by_columns[b] += part * d[c].cross(&d[a]);
            by_columns[c] += part * d[a].cross(&d[b]);
        }
        std::array::from_fn(|n| by_columns.iter().zip(&*WEIGHTS).map(|(g, w)| g * w[n]).sum())
    }

    pub(super) fn add_gradient(&self, x: &[Vec3; NODES], out: &mut [Vec3; NODES]) {
        for (k, j) in self.acting(x) {
            let factor = self.volume * barrier(&self.lame, j)[1];
            for (out, slope) in out.iter_mut().zip(self.slope(k, &columns(x))) {
                *out += factor * slope;
            }
        }
    }

    /// Adds the blocks of the second derivative above the diagonal, projected or not.
    pub(super) fn add_blocks(&self, x: &[Vec3; NODES], project: bool, out: &mut [Mat3; BLOCKS]) {
        let columns = columns(x);
        let mut own = [Mat3::zeros(); BLOCKS];
        let mut acts = false;
        for (k, j) in self.acting(x) {
            acts = true;
            self.add_curvature(k, j, &columns, &mut own);
        }
        if acts && project {
            own = projected(&own);
        }
        out.iter_mut().zip(&own).for_each(|(out, own)| *out += own);
    }

    /// Adds b″ ∇j ∇jᵀ + b′ ∇²j of a coefficient whose ratio is j.
    fn add_curvature(&self, k: usize, j: f64, d: &[Vec3; COLUMNS], out: &mut [Mat3; BLOCKS]) {
        let [_, first, second] = barrier(&self.lame, j).map(|b| self.volume * b);
        let slope = self.slope(k, d);
        for (out, (a, b)) in out.iter_mut().zip(pairs()) {
            *out += second * slope[a] * slope[b].transpose();
        }
        let part = first / (TRIPLES[k].len() as f64 * self.rest[k]);
        for &[p, q, r] in &TRIPLES[k] {
            let (pq, pr, qr) = (-d[r].cross_matrix(), d[q].cross_matrix(), -d[p].cross_matrix());
            let [u, v, w] = [p, q, r].map(|c| &WEIGHTS[c]);
            for (out, (a, b)) in out.iter_mut().zip(pairs()) {
                *out += part
                    * (pq * (u[a] * v[b] - v[a] * u[b])
                        + pr * (u[a] * w[b] - w[a] * u[b])
                        + qr * (v[a] * w[b] - w[a] * v[b]));
            }
        }
    }

    fn second_derivative(&self, x: &[Vec3; NODES], project: bool) -> Hessian<NODES> {
        let mut blocks = [Mat3::zeros(); BLOCKS];
        self.add_blocks(x, project, &mut blocks);
        formula::complete(&blocks.map(|b| M3::from(&b)))
    }
}

/// The nearest positive semidefinite matrix to that with these blocks above the diagonal, whose rows sum to zero.
fn projected(blocks: &[Mat3; BLOCKS]) -> [Mat3; BLOCKS] {
    let h: Hessian<NODES> = formula::complete(&blocks.map(|b| M3::from(&b)));
    let mut m = [[0.0; 3 * NODES]; 3 * NODES];
    for (row, m) in m.iter_mut().enumerate() {
        for (column, m) in m.iter_mut().enumerate() {
            *m = h[row / 3][column / 3][(row % 3, column % 3)];
        }
    }
    project_psd_array(&mut m);
    let mut out = *blocks;
    for (out, (a, b)) in out.iter_mut().zip(pairs()) {
        *out = Mat3::from_fn(|i, j| m[3 * a + i][3 * b + j]);
    }
    out
}

/// Pairs of nodes above the diagonal, row by row.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (a, b)))
}

impl Element<NODES> for CoefficientGuard {
    const NAME: &'static str = "inversion barrier within";
    const ROLE: Role = Role::Constraint;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    const TRANSLATION_INVARIANT: bool = true;

    fn value(&self, x: &[Vec3; NODES]) -> f64 {
        self.acting(x).map(|(_, j)| self.volume * barrier(&self.lame, j)[0]).sum()
    }

    fn gradient(&self, x: &[Vec3; NODES]) -> [Vec3; NODES] {
        let mut g = [Vec3::zeros(); NODES];
        self.add_gradient(x, &mut g);
        g
    }

    fn hessian_psd(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, false)
    }

    /// Nothing: it is a limit and nothing else.
    fn without_limits(&self) -> Option<Self> {
        Some(Self { acts: false, ..self.clone() })
    }
}
