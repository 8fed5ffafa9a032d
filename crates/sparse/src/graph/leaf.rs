//! Minimum degree within a small part of a graph whose surroundings are eliminated later.

use super::{Graph, NONE};

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// Orders some of a graph's vertices by minimum degree, where neighbours that are not among them count as vertices that stay
/// [Pellegrini 2000]. `local` has an entry, [`NONE`], per vertex of the graph before and after.
///
/// Rows of bits say what each remaining vertex is coupled to; time and memory grow with the number of vertices times
/// that of all vertices around them.
pub(super) fn minimum_degree(graph: &Graph, members: &mut [u32], local: &mut [u32]) {
    let count = members.len();
    for (k, &v) in members.iter().enumerate() {
        local[v as usize] = k as u32;
    }
    let mut around = Vec::new();
    for &v in members.iter() {
        for &u in graph.neighbours(v) {
            if local[u as usize] == NONE {
                local[u as usize] = (count + around.len()) as u32;
                around.push(u);
            }
        }
    }
    let words = (count + around.len()).div_ceil(BITS);
    let mut rows = vec![0_u64; count * words];
    for (row, &v) in rows.chunks_mut(words.max(1)).zip(members.iter()) {
        for &u in graph.neighbours(v) {
            set(row, local[u as usize] as usize);
        }
    }
    for &v in members.iter().chain(&around) {
        local[v as usize] = NONE;
    }
    let order = eliminated(&mut rows, words, count);
    let names = members.to_vec();
    for (member, k) in members.iter_mut().zip(order) {
        *member = names[k];
    }
}

fn set(row: &mut [u64], k: usize) {
    row[k / BITS] |= 1 << (k % BITS);
}

/// Eliminates the vertices that have rows, always one with the fewest neighbours, of several the first; their order.
fn eliminated(rows: &mut [u64], words: usize, count: usize) -> Vec<usize> {
    let size = |row: &[u64]| row.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut degree: Vec<u32> = rows.chunks(words.max(1)).map(size).collect();
    degree.resize(count, 0);
    let mut order = Vec::with_capacity(count);
    let mut pivot = vec![0; words];
    for _ in 0..count {
        let least = degree.iter().enumerate().min_by_key(|(_, degree)| **degree);
        let Some((v, _)) = least else { break };
        order.push(v);
        degree[v] = NONE;
        pivot.copy_from_slice(&rows[v * words..(v + 1) * words]);
        for k in 0..words.min(count.div_ceil(BITS)) {
            let mut rest = pivot[k];
            while rest != 0 {
                let u = k * BITS + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if u >= count {
                    break;
                }
                // its neighbours become those of v as well, but for the two themselves
                let row = &mut rows[u * words..(u + 1) * words];
                row.iter_mut().zip(&pivot).for_each(|(a, b)| *a |= b);
                row[u / BITS] &= !(1 << (u % BITS));
                row[v / BITS] &= !(1 << (v % BITS));
                degree[u] = size(row);
            }
        }
    }
    order
}
