//! Traversals of the tree of fronts, in parallel over subtrees.
//!
//! Both traversals hand to each front its own piece of an array whose pieces lie in postorder, so that
//! the piece of a subtree is contiguous and disjoint subtrees can be traversed at once. What a front
//! sees depends on the tree only, never on the schedule.

use rayon::prelude::*;

use super::analysis::Analysis;

/// Operations of a subtree below which it is traversed by one thread.
pub(crate) const GRAIN: f64 = 2e6;

/// An array whose part `start[f]..start[f + 1]` belongs to front f.
pub(crate) struct Pieces<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) start: &'a [usize],
    /// Subtrees with less work are traversed by one thread.
    pub(crate) grain: f64,
}

impl Pieces<'_> {
    /// Calls `visit` for every front after its children, with the front's piece and the children's
    /// results in order; the first error in postorder, if there is one.
    pub(crate) fn bottom_up<T: Send, R: Send, E: Send>(
        &self,
        data: &mut [T],
        visit: &(impl Fn(usize, &mut [T], Vec<R>) -> Result<R, E> + Sync),
    ) -> Result<(), E> {
        let fronts = &self.analysis.fronts;
        let roots = (0..fronts.len()).filter(|&f| fronts[f].parent == f).map(|f| f as u32);
        let roots: Vec<u32> = roots.collect();
        self.children_up(&roots, 0, data, visit).into_iter().try_for_each(|r| r.map(|_| ()))
    }

    /// Results of some sibling subtrees, in order; `data` begins with the front `first`.
    fn children_up<T: Send, R: Send, E: Send>(
        &self,
        children: &[u32],
        first: usize,
        data: &mut [T],
        visit: &(impl Fn(usize, &mut [T], Vec<R>) -> Result<R, E> + Sync),
    ) -> Vec<Result<R, E>> {
        let (pieces, heavy) = self.split(children, first, data);
        if heavy > 1 {
            let walk = |(c, piece)| self.subtree_up(c, piece, visit);
            pieces.into_par_iter().with_max_len(1).map(walk).collect()
        } else {
            pieces.into_iter().map(|(c, piece)| self.subtree_up(c, piece, visit)).collect()
        }
    }

    fn subtree_up<T: Send, R: Send, E: Send>(
        &self,
        root: usize,
        data: &mut [T],
        visit: &(impl Fn(usize, &mut [T], Vec<R>) -> Result<R, E> + Sync),
    ) -> Result<R, E> {
        let a = self.analysis;
        let mut branching = self.branching(root);
        let first = a.fronts[root].subtree;
        let base = self.start[first];
        let mut results: Vec<R> = Vec::new();
        let mut f = first;
        loop {
            if let Some(b) = branching.filter(|&b| f == a.fronts[b].subtree) {
                let data = &mut data[self.start[f] - base..self.start[b] - base];
                for result in self.children_up(a.children(b), f, data, visit) {
                    results.push(result?);
                }
                f = b;
                branching = None;
            }
            let piece = &mut data[self.start[f] - base..self.start[f + 1] - base];
            let of_children = results.split_off(results.len() - a.children(f).len());
            let result = visit(f, piece, of_children)?;
            if f == root {
                return Ok(result);
            }
            results.push(result);
            f += 1;
        }
    }

    /// Calls `visit` for every front before its children, with the front's piece and the parent's
    /// result (none for a root).
    pub(crate) fn top_down<T: Send, R: Send + Sync>(
        &self,
        data: &mut [T],
        visit: &(impl Fn(usize, &mut [T], Option<&R>) -> R + Sync),
    ) {
        let fronts = &self.analysis.fronts;
        let roots = (0..fronts.len()).filter(|&f| fronts[f].parent == f).map(|f| f as u32);
        let roots: Vec<u32> = roots.collect();
        self.children_down(&roots, 0, data, None, visit);
    }

    fn children_down<T: Send, R: Send + Sync>(
        &self,
        children: &[u32],
        first: usize,
        data: &mut [T],
        parent: Option<&R>,
        visit: &(impl Fn(usize, &mut [T], Option<&R>) -> R + Sync),
    ) {
        let (pieces, heavy) = self.split(children, first, data);
        let walk = |(c, piece)| self.subtree_down(c, piece, parent, visit);
        if heavy > 1 {
            pieces.into_par_iter().with_max_len(1).for_each(walk);
        } else {
            pieces.into_iter().for_each(walk);
        }
    }

    fn subtree_down<T: Send, R: Send + Sync>(
        &self,
        root: usize,
        data: &mut [T],
        parent: Option<&R>,
        visit: &(impl Fn(usize, &mut [T], Option<&R>) -> R + Sync),
    ) {
        let a = self.analysis;
        let branching = self.branching(root);
        let first = a.fronts[root].subtree;
        let base = self.start[first];
        // fronts with children that are still to be visited, and how many these are
        let mut open: Vec<(R, usize)> = Vec::new();
        let mut f = root;
        loop {
            let piece = &mut data[self.start[f] - base..self.start[f + 1] - base];
            let result = visit(f, piece, open.last().map(|(r, _)| r).or(parent));
            if let Some((_, left)) = open.last_mut() {
                *left -= 1;
                if *left == 0 {
                    open.pop();
                }
            }
            let children = a.children(f);
            if branching == Some(f) {
                let begin = a.fronts[f].subtree;
                let data = &mut data[self.start[begin] - base..self.start[f] - base];
                self.children_down(children, begin, data, Some(&result), visit);
                f = begin;
            } else if !children.is_empty() {
                open.push((result, children.len()));
            }
            if f == first {
                return;
            }
            f -= 1;
        }
    }

    /// The pieces of some sibling subtrees, and how many of these are worth a thread; `data` begins
    /// with the front `first`.
    fn split<'d, T>(
        &self,
        children: &[u32],
        first: usize,
        data: &'d mut [T],
    ) -> (Vec<(usize, &'d mut [T])>, usize) {
        let fronts = &self.analysis.fronts;
        let heavy = children.iter().filter(|&&c| fronts[c as usize].work >= self.grain).count();
        let mut pieces = Vec::with_capacity(children.len());
        let (mut rest, mut at) = (data, self.start[first]);
        for &c in children {
            let end = self.start[c as usize + 1];
            let (piece, later) = rest.split_at_mut(end - at);
            pieces.push((c as usize, piece));
            (rest, at) = (later, end);
        }
        (pieces, heavy)
    }

    /// The first front from a root down that has several children worth a thread. Traversals of
    /// branchings recurse, the paths between them are loops, which keeps the recursion shallow.
    fn branching(&self, root: usize) -> Option<usize> {
        let a = self.analysis;
        let mut f = root;
        loop {
            let children = a.children(f).iter().map(|&c| c as usize);
            let mut heavy = children.filter(|&c| a.fronts[c].work >= self.grain);
            match (heavy.next(), heavy.next()) {
                (Some(only), None) => f = only,
                (Some(_), Some(_)) => return Some(f),
                (None, _) => return None,
            }
        }
    }
}
