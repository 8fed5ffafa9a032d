//! Hessians of pairs several at once, one pair per lane: those of point–triangle and edge–edge pairs, which are frequent.

use super::hessian::{DistanceHessian, Mollified, RELATIVE_4, project_some, relative_block};
use super::pairs::Contact;
use super::potential::BarrierPotential;
use crate::energy::Projection;
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_geometry::distance::{EdgeEdgeFeature, edge_edge, point_triangle};
use standoff_linalg::lanes::{self, Kernel, Lanes, MAX_LANES, Width};
use standoff_linalg::{M3, Mat3, V3, Vec3};
use standoff_sparse::pack;

/// Contacts that one task turns into Hessians.
const BATCH: usize = 64;

impl BarrierPotential {
    /// Fills `out` with the stored blocks of pairs in the Newton matrix at positions `x` (`#V`), in order and several at once:
    /// [`hessian_psd`](Self::hessian_psd) where `projection` applies, else [`stiffened_hessian`](Self::stiffened_hessian).
    pub fn hessians(
        &self,
        contacts: &[Contact],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let (out, _) = out.as_chunks_mut();
        contacts.par_chunks(BATCH).zip(out.par_chunks_mut(BATCH)).for_each(|(contacts, out)| {
            lanes::dispatch(Hessians { potential: self, contacts, x, projection, out });
        });
    }
}

/// Fills `out` with the Hessians of pairs at positions `x[vertices]`, projected or not.
struct Hessians<'a> {
    potential: &'a BarrierPotential,
    contacts: &'a [Contact],
    x: &'a [Vec3],
    projection: Projection<'a>,
    out: &'a mut [Blocks10],
}

/// The stored blocks of a Hessian over four vertices.
type Blocks10 = [Mat3; 10];

/// The vertices of the stored blocks, in order.
const STORED: [(usize, usize); 10] =
    [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// One number per lane, in memory.
type Row = [f64; MAX_LANES];

/// With what a pair is computed.
#[derive(Clone, Copy, PartialEq)]
enum Treatment {
    PointTriangle,
    EdgeEdge,
    Mollified,
    /// Rare: one by one.
    Single,
}

impl Treatment {
    fn of(c: &Contact, x: &[Vec3; 4]) -> Self {
        match c.kind {
            PairKind::FaceVertex => Self::PointTriangle,
            PairKind::EdgeEdge if c.is_mollified(x) => Self::Mollified,
            PairKind::EdgeEdge if c.feature == EdgeEdgeFeature::AB => Self::EdgeEdge,
            _ => Self::Single,
        }
    }
}

impl Kernel for Hessians<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(mut self, width: W) {
        let mut treatments = [Treatment::Single; BATCH];
        for (chunk, first) in self.contacts.chunks(BATCH).zip((0..).step_by(BATCH)) {
            for (treatment, c) in treatments.iter_mut().zip(chunk) {
                *treatment = Treatment::of(c, &c.gather(self.x));
            }
            for (k, c) in
                chunk.iter().enumerate().filter(|(k, _)| treatments[*k] == Treatment::Single)
            {
                let h = self.potential.block(c, &c.gather(self.x), self.projection);
                pack(&h, &mut self.out[first + k]);
            }
            for treatment in [Treatment::EdgeEdge, Treatment::PointTriangle, Treatment::Mollified] {
                let (mut batch, mut filled) = ([0; MAX_LANES], 0);
                for k in 0..=chunk.len() {
                    if k < chunk.len() && treatments[k] == treatment {
                        batch[filled] = first + k;
                        filled += 1;
                    }
                    if filled == W::F64_LANES || k == chunk.len() && filled > 0 {
                        self.fill(width, treatment, &batch[..filled]);
                        filled = 0;
                    }
                }
            }
        }
    }
}

impl Hessians<'_> {
    /// The Hessians of a batch of pairs of one kind.
    #[inline(always)]
    fn fill<W: Width>(&mut self, width: W, treatment: Treatment, batch: &[usize]) {
        let mut project = [false; MAX_LANES];
        for (project, &k) in project.iter_mut().zip(batch) {
            *project = self.projection.applies_to(&self.contacts[k].vertices);
        }
        let project = lanes::Mask::load(width, &project);
        let mut entries: [Row; 90] = [[0.0; MAX_LANES]; 90];
        if treatment == Treatment::Mollified {
            let mut m = self.mollified(width, batch).relative();
            project_some(project, &mut m);
            for (place, (i, j)) in STORED.into_iter().enumerate() {
                store(&relative_block(&m, i, j), place, &mut entries);
            }
        } else {
            let mut corners: [Row; 12] = [[0.0; MAX_LANES]; 12];
            for (lane, &k) in batch.iter().enumerate() {
                let x = self.contacts[k].gather(self.x);
                for a in 0..4 {
                    for i in 0..3 {
                        corners[3 * a + i][lane] = x[a][i];
                    }
                }
            }
            let x = load::<W, 4>(width, &corners);
            let chart = match treatment {
                Treatment::EdgeEdge => edge_edge::chart(&x),
                _ => point_triangle::chart(&x),
            };
            // the barrier, lane by lane
            let distances = chart.offset.norm_squared().to_array();
            let (mut a, mut b): (Row, Row) = ([0.0; MAX_LANES], [0.0; MAX_LANES]);
            for (lane, &k) in batch.iter().enumerate() {
                [a[lane], b[lane]] =
                    self.potential.factors(&self.contacts[k], distances[lane], self.projection);
            }
            let (a, b) = (Lanes::load(width, &a), Lanes::load(width, &b));
            let h = DistanceHessian::<_, 4, 2, 3, 5>::new(&chart, &RELATIVE_4, a, b, project);
            for (place, (i, j)) in STORED.into_iter().enumerate() {
                store(&h.block(i, j), place, &mut entries);
            }
        }
        for (lane, &k) in batch.iter().enumerate() {
            for (block, entries) in self.out[k].iter_mut().zip(entries.chunks_exact(9)) {
                for (to, from) in block.as_mut_slice().iter_mut().zip(entries) {
                    *to = from[lane];
                }
            }
        }
    }

    /// One nearly parallel pair per lane.
    #[inline(always)]
    fn mollified<W: Width>(&self, width: W, batch: &[usize]) -> Mollified<Lanes<W>> {
        let mut rows: [Row; 30] = [[0.0; MAX_LANES]; 30];
        for (lane, &k) in batch.iter().enumerate() {
            let c = &self.contacts[k];
            let p = Mollified::new(self.potential, c, &c.gather(self.x), self.projection);
            let [t0, t1] = p.tangents;
            for i in 0..3 {
                for (a, v) in [p.u, p.v, p.offset, t0, t1].iter().enumerate() {
                    rows[3 * a + i][lane] = v[i];
                }
                for n in 0..3 {
                    rows[15 + 3 * n + i][lane] = p.numbers[n][i];
                }
            }
            for i in 0..6 {
                rows[24 + i][lane] = p.factors[i];
            }
        }
        let [u, v, offset, t0, t1] = load::<W, 5>(width, &rows);
        let [w, s0, s1] = load::<W, 3>(width, &rows[15..]);
        let mut factors = [w[0]; 6];
        for i in 0..6 {
            factors[i] = Lanes::load(width, &rows[24 + i]);
        }
        let (tangents, numbers) = ([t0, t1], [w.0, s0.0, s1.0]);
        Mollified { u, v, offset, tangents, numbers, factors }
    }
}

/// The vectors of all lanes.
#[inline(always)]
fn load<W: Width, const N: usize>(width: W, rows: &[Row]) -> [V3<Lanes<W>>; N] {
    let mut out = [V3::repeat(Lanes::splat(width, 0.0)); N];
    for a in 0..N {
        for i in 0..3 {
            out[a][i] = Lanes::load(width, &rows[3 * a + i]);
        }
    }
    out
}

/// A block to its 9 rows of `entries`, by columns.
#[inline(always)]
fn store<W: Width>(block: &M3<Lanes<W>>, place: usize, entries: &mut [Row; 90]) {
    for c in 0..3 {
        for r in 0..3 {
            block[c][r].store(&mut entries[9 * place + 3 * c + r]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Barrier;
    use crate::energy::formula::tests::assert_same_bits;
    use standoff_geometry::distance::edge_edge;
    use standoff_linalg::lanes;
    use standoff_testkit::Random;

    /// Pairs of all kinds at distances from 1e-9 to 1 d̂, some of them mollified, reduced, nearly
    /// parallel or of very different sizes.
    // long: an arm for each kind of pair
    fn pairs() -> (Vec<Contact>, Vec<Vec3>, BarrierPotential) {
        let r = &mut Random::new(3);
        let (mut contacts, mut x) = (Vec::new(), Vec::new());
        let d_hat = 0.1;
        let barrier = Barrier::ClampedLog;
        let potential =
            BarrierPotential { barrier, d_hat, kappa: 1e4, physical: false, even: true };
        for k in 0..400 {
            let gap = d_hat * 10f64.powi(-(k % 10)) * (0.6 + 0.15 * r.signed());
            let mut p: [Vec3; 4] = std::array::from_fn(|_| {
                Vec3::new(r.signed(), r.signed(), 0.0) * if k % 3 == 0 { 0.005 } else { 0.5 }
            });
            let kind = [
                PairKind::FaceVertex,
                PairKind::EdgeEdge,
                PairKind::EdgeVertex,
                PairKind::VertexVertex,
            ][(k % 7).min(3) as usize];
            match kind {
                PairKind::EdgeEdge => {
                    p[1] = -p[0] + Vec3::x() * 0.15 * r.signed();
                    p[3] = -p[2] + Vec3::y() * 0.15 * r.signed();
                    if k % 5 == 0 {
                        // side by side, or end to end
                        let along = p[1] - p[0];
                        p[2] = p[0] + along * if k % 2 == 0 { 1.02 } else { r.signed() };
                        p[3] = p[2] + along + Vec3::new(r.signed(), r.signed(), 0.0) * 5e-4;
                    }
                    p[2].z += gap;
                    p[3].z += gap;
                }
                PairKind::FaceVertex => {
                    p[0] = (p[1] + p[2] + p[3]) / 3.0;
                    p[0].z = gap;
                }
                _ => {
                    p[0].z = gap;
                    p[1] = Vec3::new(p[0].x, p[0].y, 0.0);
                }
            }
            let turn = r.vec3();
            let turn = standoff_linalg::nalgebra::Rotation3::new(turn * 3.0);
            let first = x.len() as u32;
            x.extend(p.iter().map(|p| turn * p));
            let used = [4, 4, 3, 2][(k % 7).min(3) as usize];
            let vertices =
                std::array::from_fn(|a| if a < used { first + a as u32 } else { u32::MAX });
            let eps_x = if kind == PairKind::EdgeEdge { 1e-7 } else { 0.0 };
            let feature = match kind == PairKind::EdgeEdge && k % 5 == 0 {
                true => edge_edge::feature(&p[0], &p[1], &p[2], &p[3]),
                false => EdgeEdgeFeature::AB,
            };
            let thickness = if k % 4 == 0 { 0.1 * gap } else { 0.0 };
            // forces above and below the barrier's
            let forecast = [0.0, 1e-3, 1.0, 1e6][k as usize % 4];
            let weight = 2.0;
            let reach = [1.0, 0.7][k as usize % 2];
            contacts.push(Contact {
                vertices,
                kind,
                feature,
                weight,
                thickness,
                reach,
                eps_x,
                forecast,
            });
        }
        (contacts, x, potential)
    }

    fn run(
        (contacts, x, potential): &(Vec<Contact>, Vec<Vec3>, BarrierPotential),
        from: usize,
        wide: bool,
    ) -> Vec<Blocks10> {
        let contacts = &contacts[from..];
        let mut out = vec![[Mat3::zeros(); 10]; contacts.len()];
        // every second contact
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 8 == 3).collect();
        let projection = Projection::Marked(&marked);
        let kernel = Hessians { potential, contacts, x, projection, out: &mut out };
        if wide {
            lanes::dispatch(kernel)
        } else {
            lanes::scalar(kernel)
        };
        out
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let pairs = pairs();
        assert_same_bits(400, |first, wide| run(&pairs, first, wide));
    }

    #[test]
    fn agrees_with_one_pair_at_a_time() {
        let pairs = pairs();
        let (contacts, x, potential) = &pairs;
        let mut in_lanes = 0;
        let mut mollified = std::collections::BTreeSet::new();
        for (c, found) in contacts.iter().zip(run(&pairs, 0, true)) {
            let x = c.gather(x);
            in_lanes += usize::from(Treatment::of(c, &x) != Treatment::Single);
            if c.is_mollified(&x) {
                mollified.insert(c.feature.local().len());
            }
            let mut want = [Mat3::zeros(); 10];
            let h = match c.vertices.iter().any(|v| v % 8 == 3) {
                true => potential.hessian_psd(c, &x),
                false => potential.stiffened_hessian(c, &x),
            };
            pack(&h, &mut want);
            assert!(want.iter().any(|b| b.norm() > 0.0), "{c:?} is not active");
            assert_eq!(found, want, "{c:?}");
        }
        assert!(in_lanes > 100 && in_lanes < contacts.len() - 80, "{in_lanes}");
        assert_eq!(
            mollified.into_iter().collect::<Vec<_>>(),
            [2, 3, 4],
            "vertices that are closest"
        );
    }
}
