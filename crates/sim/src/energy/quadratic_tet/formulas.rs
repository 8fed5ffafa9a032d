//! Energy, forces and second derivative of quadratic tetrahedra.

use super::{AT_POINTS, BLOCKS, NODES, POINTS, QuadraticTet, Slopes, jacobian};
use crate::energy::formula::{Formula, Source};
use crate::energy::tet::formulas::{HasLaw, curvature_by_edges, pk1, psi};
use crate::material::{Lame, Law};
use standoff_linalg::{M3, Real, V3};

impl HasLaw for QuadraticTet {
    #[inline(always)]
    fn law(&self) -> &Law {
        &self.law
    }
    #[inline(always)]
    fn is_guarded(&self) -> bool {
        self.guarded && !self.law.has_barrier()
    }
}

/// What a formula needs of an element at one point.
struct AtPoint<R> {
    inverse: M3<R>,
    volume: R,
    /// F.
    f: M3<R>,
}

impl<R: Real> AtPoint<R> {
    #[inline(always)]
    fn new<S: Source<QuadraticTet, R = R>>(
        of: S,
        q: usize,
        slopes: &Slopes,
        x: &[V3<R>; NODES],
    ) -> Self {
        let volume = of.number(|t| t.volume[q]);
        let mut inverse = M3([V3::repeat(volume); 3]);
        for c in 0..3 {
            for r in 0..3 {
                inverse[c][r] = of.number(|t| t.inverse[q][(r, c)]);
            }
        }
        let f = &jacobian(x, slopes) * &inverse;
        Self { inverse, volume, f }
    }
}

#[inline(always)]
fn lame<S: Source<QuadraticTet>>(of: S) -> Lame<S::R> {
    Lame { lambda: of.number(|t| t.lame.lambda), mu: of.number(|t| t.lame.mu) }
}

impl Formula<NODES, BLOCKS> for QuadraticTet {
    /// Σ w ψ(F).
    #[inline(always)]
    fn energy<S: Source<Self>>(of: S, x: &[V3<S::R>; NODES]) -> S::R {
        let lame = lame(of);
        let mut sum = lame.mu.constant(0.0);
        for q in 0..POINTS {
            let at = AtPoint::new(of, q, &AT_POINTS[q], x);
            sum = sum + at.volume * psi(of, &lame, &at.f);
        }
        sum
    }

    /// Σ w P ∇Nₐ.
    #[inline(always)]
    fn slope<S: Source<Self>>(of: S, x: &[V3<S::R>; NODES]) -> [V3<S::R>; NODES] {
        let lame = lame(of);
        let zero = V3::repeat(lame.mu.constant(0.0));
        let mut out = [zero; NODES];
        for q in 0..POINTS {
            let slopes = &AT_POINTS[q];
            let at = AtPoint::new(of, q, slopes, x);
            let by_edges = &(pk1(of, &lame, &at.f) * at.volume) * &at.inverse.transpose();
            for n in 1..NODES {
                for j in 0..3 {
                    out[n] = out[n] + by_edges[j] * lame.mu.constant(slopes[n][j]);
                }
            }
        }
        for n in 1..NODES {
            out[0] = out[0] - out[n];
        }
        out
    }

    #[inline(always)]
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; NODES],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; BLOCKS] {
        let lame = lame(of);
        let zero = M3([V3::repeat(lame.mu.constant(0.0)); 3]);
        let mut out = [zero; BLOCKS];
        for q in 0..POINTS {
            let slopes = &AT_POINTS[q];
            let at = AtPoint::new(of, q, slopes, x);
            let [k00, k01, k02, k11, k12, k22] =
                curvature_by_edges(of, &lame, &at.f, &at.inverse, at.volume, project);
            let rows = [
                [k00, k01, k02],
                [k01.transpose(), k11, k12],
                [k02.transpose(), k12.transpose(), k22],
            ];
            let mut block = 0;
            for a in 0..NODES {
                let [c0, c1, c2] = slopes[a].map(|c| lame.mu.constant(c));
                let by = [0, 1, 2].map(|k| rows[0][k] * c0 + rows[1][k] * c1 + rows[2][k] * c2);
                for b in a + 1..NODES {
                    let [d0, d1, d2] = slopes[b].map(|d| lame.mu.constant(d));
                    out[block] = out[block] + (by[0] * d0 + by[1] * d1 + by[2] * d2);
                    block += 1;
                }
            }
        }
        out
    }
}
