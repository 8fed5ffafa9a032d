//! Groups of rows that move nearly as rigid bodies: the coarse level of the Schwarz preconditioner.

use rayon::prelude::*;

use crate::BlockMatrix;

/// Part of the mean of two diagonal blocks from which their coupling is strong.
const STRONG: f64 = 0.05;

/// Couplings that hold a row in space, at most.
const HOLDING: usize = 3;

const NONE: u32 = u32::MAX;

/// Rows whose couplings a thread finds at once.
const ROWS: usize = 512;

/// Groups of rows with strong couplings, |A_ij|² > θ² |A_ii| |A_jj| [Vaněk 1996], of about `size` rows each: for each row the
/// number of its group. What is stiff moves as one against what is soft around it.
///
/// A row joins a group only if as many strong couplings as hold a row, three or half of those that it has, lead into
/// the group. With fewer it could turn about the rows to which it is coupled, as two stiff parts that touch in a corner or
/// along an edge turn about it; a group over both would tie them together in the coarse level, and conjugate gradients
/// would have to find that motion by themselves.
pub(super) fn aggregates(a: &BlockMatrix, size: usize) -> Vec<u32> {
    let couplings = Couplings::new(a);
    let n = couplings.needed.len();
    let mut groups = Groups { wanted: size, of: vec![NONE; n], size: Vec::new() };
    groups.grow(&couplings, HOLDING);
    // remnants between groups; twice, since rows may be held by rows that have joined
    groups.dissolve_remnants(&couplings);
    groups.dissolve_remnants(&couplings);
    // what is left of them are a few rows here and there, which tie nothing together
    groups.take_apart_small_ones();
    groups.grow(&couplings, 1);
    groups.numbered()
}

/// The strong couplings of each row.
struct Couplings {
    /// Where those of each row begin, and where the last one's end.
    begin: Vec<usize>,
    /// The other row, and the square of the coupling's strength.
    of: Vec<(u32, f64)>,
    /// Couplings that hold each row.
    needed: Vec<usize>,
}

impl Couplings {
    fn new(a: &BlockMatrix) -> Self {
        let (pattern, n) = (&**a.pattern(), a.n());
        let stiffness: Vec<f64> = (0..n).map(|i| a.diagonal_block(i).norm()).collect();
        let strong = |i: usize, j: usize, k: usize| {
            let scale = (stiffness[i] * stiffness[j]).max(f64::MIN_POSITIVE);
            let strength = a.blocks()[k].norm_squared() / scale;
            (strength > STRONG * STRONG).then_some((j as u32, strength))
        };
        // those of some rows, and how many each has
        let some = |rows: usize| {
            let (mut of, mut counts) = (Vec::new(), Vec::with_capacity(ROWS));
            for i in rows..n.min(rows + ROWS) {
                let before = of.len();
                of.extend(pattern.row(i).filter_map(|(j, k)| strong(i, j, k)));
                let first = pattern.diagonal_position(i);
                let below = pattern.column(i).iter().enumerate().skip(1);
                of.extend(below.filter_map(|(k, &j)| strong(i, j as usize, first + k)));
                counts.push(of.len() - before);
            }
            (of, counts)
        };
        let parts: Vec<_> = (0..n.div_ceil(ROWS)).into_par_iter().map(|p| some(p * ROWS)).collect();
        let (mut begin, mut of, mut needed) = (vec![0], Vec::new(), Vec::with_capacity(n));
        for (part, counts) in parts {
            of.extend(part);
            for count in counts {
                needed.push(count.div_ceil(2).min(HOLDING));
                begin.push(begin[needed.len() - 1] + count);
            }
        }
        Self { begin, of, needed }
    }

    fn of(&self, i: usize) -> &[(u32, f64)] {
        &self.of[self.begin[i]..self.begin[i + 1]]
    }
}

/// The group of each row, and the number of rows of each group.
struct Groups {
    /// Rows of a group, about.
    wanted: usize,
    of: Vec<u32>,
    size: Vec<usize>,
}

impl Groups {
    /// From one row after the other that has no group yet, groups grow to their size or until nothing else is held by them,
    /// where `held` couplings are enough.
    fn grow(&mut self, couplings: &Couplings, held: usize) {
        let mut members: Vec<usize> = Vec::new();
        for seed in 0..self.of.len() {
            if self.of[seed] != NONE {
                continue;
            }
            let group = self.size.len() as u32;
            members.clear();
            members.push(seed);
            self.of[seed] = group;
            let mut next = 0;
            while next < members.len() && members.len() < self.wanted {
                for &(j, _) in couplings.of(members[next]) {
                    let j = j as usize;
                    if self.of[j] != NONE {
                        continue;
                    }
                    let within = couplings.of(j).iter().filter(|c| self.of[c.0 as usize] == group);
                    if within.count() >= couplings.needed[j].min(held).min(members.len()) {
                        self.of[j] = group;
                        members.push(j);
                    }
                }
                next += 1;
            }
            self.size.push(members.len());
        }
    }

    /// Rows of small groups have none any more.
    fn take_apart_small_ones(&mut self) {
        for group in &mut self.of {
            if self.size[*group as usize] < self.wanted / 8 {
                *group = NONE;
            }
        }
    }

    /// Rows of small groups join larger ones into which as many of their couplings lead as hold them, of those the one to
    /// which they are coupled most.
    fn dissolve_remnants(&mut self, couplings: &Couplings) {
        let small = self.wanted / 4;
        for i in 0..self.of.len() {
            let own = self.of[i];
            if self.size[own as usize] >= small {
                continue;
            }
            let mut around: Vec<(u32, f64)> =
                couplings.of(i).iter().map(|&(j, s)| (self.of[j as usize], s)).collect();
            around.sort_by_key(|c| c.0);
            let mut best: Option<(f64, u32)> = None;
            for into in around.chunk_by(|a, b| a.0 == b.0) {
                let (group, sum) = (into[0].0, into.iter().map(|c| c.1).sum());
                let open =
                    group != own && (small..3 * self.wanted).contains(&self.size[group as usize]);
                let holds = into.len() >= couplings.needed[i];
                if open && holds && best.is_none_or(|b| sum > b.0) {
                    best = Some((sum, group));
                }
            }
            if let Some((_, group)) = best {
                self.size[own as usize] -= 1;
                self.size[group as usize] += 1;
                self.of[i] = group;
            }
        }
    }

    /// The groups of the rows, numbered without gaps.
    fn numbered(self) -> Vec<u32> {
        let mut number = vec![NONE; self.size.len()];
        let mut next = 0;
        let mut rows = self.of;
        for group in &mut rows {
            let number = &mut number[*group as usize];
            if *number == NONE {
                *number = next;
                next += 1;
            }
            *group = *number;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockPattern;
    use standoff_linalg::Mat3;
    use std::sync::Arc;

    /// Every row has its strong couplings, those to rows before it first, and none of the weak ones.
    #[test]
    fn couplings_are_those_that_are_strong() {
        let n = 2 * ROWS as u32 + 9;
        let pairs: Vec<_> = (0..n).flat_map(|i| [(i, i / 2), (i, i / 3 + 1)]).collect();
        let pattern = BlockPattern::from_pairs(n as usize, &pairs).unwrap();
        let mut a = BlockMatrix::zeros(Arc::new(pattern));
        let strength = |i: u32, j: u32| if (i + j).is_multiple_of(3) { 0.5 } else { 0.5 * STRONG };
        for i in 0..n {
            *a.diagonal_block_mut(i as usize) = Mat3::identity();
            for j in 0..i {
                if let Some(at) = a.pattern().position(i, j) {
                    a.blocks_mut()[at] = Mat3::identity() * strength(i, j);
                }
            }
        }
        let couplings = Couplings::new(&a);
        for i in 0..n {
            let other = |j: &u32| {
                let (row, col) = (i.max(*j), i.min(*j));
                row != col && a.pattern().position(row, col).is_some() && (i + j).is_multiple_of(3)
            };
            let expected: Vec<u32> = (0..n).filter(other).collect();
            let found: Vec<u32> = couplings.of(i as usize).iter().map(|c| c.0).collect();
            assert_eq!(found, expected, "row {i}");
            assert_eq!(couplings.needed[i as usize], expected.len().div_ceil(2).min(HOLDING));
        }
    }
}
