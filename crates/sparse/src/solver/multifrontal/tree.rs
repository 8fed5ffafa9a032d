//! From columns to fronts: which columns are eliminated together.
//!
//! Columns whose structures nest exactly are a fundamental supernode. Small ones are merged with
//! their parent where that saves time although it stores zeros [Ashcraft & Grimes 1989], by a model
//! of the time that a front takes.

use crate::EliminationTree;

const NONE: u32 = u32::MAX;

/// Time of a front in units of a multiplication with addition at full speed, for `k` of `m` scalar
/// columns: operations, which reach full speed only for large k; entries touched; calls.
///
/// Fitted to the totals of `benches/linear.rs` on systems of 10⁴ to 1.5·10⁵ degrees of freedom.
fn time(k: f64, m: f64) -> f64 {
    const CALLS: f64 = 60_000.0;
    const RAMP: f64 = 24.0;
    const ENTRY: f64 = 24.0;
    let u = m - k;
    let operations = k * (k * (k / 6.0 + 0.5 * u) + 0.5 * u * u);
    operations * (1.0 + RAMP / k) + ENTRY * (m * k + 0.5 * u * u) + CALLS
}

/// Columns eliminated together, and how many there are below.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Block columns eliminated.
    k: u32,
    /// Block rows, the eliminated ones among them.
    m: u32,
    parent: u32,
}

impl Node {
    fn time(&self, unknowns: f64) -> f64 {
        time(unknowns * f64::from(self.k), unknowns * f64::from(self.m))
    }

    /// Blocks of the part that is handed to the parent.
    fn update(&self) -> u64 {
        let u = u64::from(self.m - self.k);
        u * (u + 1) / 2
    }
}

/// The tree of fronts, children before parents, subtree by subtree.
#[derive(Debug)]
pub(crate) struct FrontTree {
    /// Columns of the elimination tree in their new order.
    pub(crate) order: Vec<u32>,
    /// Block columns and block rows of each front.
    pub(crate) size: Vec<[u32; 2]>,
    /// Parent of each front; its own number for a root.
    pub(crate) parent: Vec<u32>,
}

impl FrontTree {
    /// Of an elimination tree in postorder, with so many scalar columns in a block column.
    pub(crate) fn new(tree: &EliminationTree, unknowns: f64) -> Self {
        let (mut nodes, first) = fundamental(tree);
        let (children, parts) = merge(&mut nodes, unknowns);
        // postorder, of the children that with the most memory to give back first [Liu 1986]
        let mut result =
            Self { order: Vec::with_capacity(first.len()), size: Vec::new(), parent: Vec::new() };
        let peak = peaks(&nodes, &children, &parts);
        let mut number = vec![NONE; nodes.len()];
        let mut stack: Vec<(u32, bool)> = Vec::new();
        let roots = (0..nodes.len()).rev().filter(|&i| nodes[i].parent == NONE);
        stack.extend(roots.map(|i| (i as u32, false)));
        while let Some((i, done)) = stack.pop() {
            if !done {
                stack.push((i, true));
                let mut list = children[i as usize].clone();
                list.sort_by_key(|&c| peak[c as usize] - nodes[c as usize].update());
                stack.extend(list.into_iter().map(|c| (c, false)));
                continue;
            }
            number[i as usize] = result.size.len() as u32;
            let node = nodes[i as usize];
            result.size.push([node.k, node.m]);
            result.parent.push(i);
            for &part in &parts[i as usize] {
                result.order.extend(first[part as usize]..first[part as usize + 1]);
            }
        }
        for (f, p) in result.parent.iter_mut().enumerate() {
            let parent = nodes[*p as usize].parent;
            *p = if parent == NONE { f as u32 } else { number[parent as usize] };
        }
        result
    }
}

/// The fundamental supernodes and the first column of each (and the end).
fn fundamental(tree: &EliminationTree) -> (Vec<Node>, Vec<u32>) {
    let count = tree.column_counts();
    let n = count.len();
    let mut first = Vec::new();
    let mut node_of = vec![0u32; n];
    for j in 0..n {
        let joins = j > 0 && tree.parent(j - 1) == Some(j) && count[j - 1] == count[j] + 1;
        if !joins {
            first.push(j as u32);
        }
        node_of[j] = first.len() as u32 - 1;
    }
    let count_of = first.len();
    first.push(n as u32);
    let node = |i: usize| Node {
        k: first[i + 1] - first[i],
        m: count[first[i] as usize],
        parent: tree.parent(first[i + 1] as usize - 1).map_or(NONE, |p| node_of[p]),
    };
    ((0..count_of).map(node).collect(), first)
}

/// Merges children into parents. Returns the children of each node that is left and the
/// fundamental supernodes it is made of, in an order of elimination; a merged node has no parts.
fn merge(nodes: &mut [Node], unknowns: f64) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let n = nodes.len();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
    for i in 0..n {
        if nodes[i].parent != NONE {
            children[nodes[i].parent as usize].push(i as u32);
        }
    }
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); n];
    for p in 0..n {
        let mut list = std::mem::take(&mut children[p]);
        // those that hand most to the parent fit it best
        list.sort_by_key(|&c| std::cmp::Reverse(nodes[c as usize].m - nodes[c as usize].k));
        let mut left = Vec::new();
        for c in list {
            let (child, parent) = (nodes[c as usize], nodes[p]);
            let merged =
                Node { k: child.k + parent.k, m: child.k + parent.m, parent: parent.parent };
            if merged.time(unknowns) > child.time(unknowns) + parent.time(unknowns) {
                left.push(c);
                continue;
            }
            nodes[p] = merged;
            let of_child = std::mem::take(&mut parts[c as usize]);
            if parts[p].is_empty() {
                parts[p] = of_child;
            } else {
                parts[p].extend(of_child);
            }
            for grandchild in std::mem::take(&mut children[c as usize]) {
                nodes[grandchild as usize].parent = p as u32;
                left.push(grandchild);
            }
            // no root: nothing may start from it
            nodes[c as usize].parent = p as u32;
        }
        parts[p].push(p as u32);
        children[p] = left;
    }
    (children, parts)
}

/// Blocks of updates held at the same time at most while a subtree is eliminated.
fn peaks(nodes: &[Node], children: &[Vec<u32>], parts: &[Vec<u32>]) -> Vec<u64> {
    let mut peak = vec![0u64; nodes.len()];
    for i in (0..nodes.len()).filter(|&i| !parts[i].is_empty()) {
        let mut list: Vec<_> =
            children[i].iter().map(|&c| (peak[c as usize], nodes[c as usize].update())).collect();
        list.sort_by_key(|&(peak, update)| std::cmp::Reverse(peak - update));
        let (mut held, mut most) = (0, 0);
        for (peak, update) in list {
            most = most.max(held + peak);
            held += update;
        }
        peak[i] = most.max(held + nodes[i].update());
    }
    peak
}
