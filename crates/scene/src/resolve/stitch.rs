//! Seams between objects.

use super::at::At;
use super::attach::find;
use super::origin::Entries;
use super::placed::Placed;
use super::select::select;
use crate::error::SceneError;
use crate::file::{Role, SceneFile, Selection};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::{Definition, StitchDef, StitchPair};
use std::collections::BTreeMap;

/// Adds every seam; copies of two objects are sewn together one by one, in their order.
// long: a seam from its objects to its springs, step by step
pub(super) fn resolve_all(
    file: &mut SceneFile,
    at: &At<'_>,
    all: &[Placed],
    definition: &mut Definition,
    entries: &mut Entries,
) -> Result<(), SceneError> {
    for (k, section) in file.stitches.iter_mut().enumerate() {
        if section.name.is_empty() {
            section.name = format!("stitch-{k}");
        }
    }
    for (k, section) in file.stitches.iter().enumerate() {
        let at = at.index(k);
        let mut objects = [0; 2];
        for (side, name) in section.objects.iter().enumerate() {
            objects[side] = find(name, &at.key("objects").index(side), all)?;
        }
        if objects.iter().all(|&o| file.objects[o].role == Some(Role::Obstacle)) {
            return Err(at.key("objects").invalid("one of the objects must not be an obstacle"));
        }
        let [a, b] = objects.map(|o| &all[o]);
        let pairs = match (&section.seam, section.pairs.is_empty()) {
            (None, false) => listed(&section.pairs, [a, b], &at.key("pairs"))?,
            (Some(borders), true) => {
                let at = at.key("seam");
                let border =
                    |side: usize| border(&borders[side], objects[side], &at.index(side), file, all);
                let (first, mut second) = (border(0)?, border(1)?);
                if section.reversed {
                    second.reverse();
                }
                seam(&first, &a.mesh.points, &second, &b.mesh.points)
            }
            _ => return Err(at.invalid("give either `pairs` or `seam`")),
        };
        let (n, m) = (a.bodies.len(), b.bodies.len());
        if n != m {
            let what = format!("the objects have {n} and {m} copies; sewn are as many of either");
            return Err(at.key("objects").invalid(what));
        }
        for copy in 0..n {
            let stitch = StitchDef {
                name: section.name.clone(),
                bodies: [a.bodies.start + copy, b.bodies.start + copy],
                pairs: pairs.clone(),
                stiffness: section.stiffness,
                rest_length: section.rest_length,
                t0: section.start,
                t1: section.end,
            };
            at.check(stitch.validate_springs())?;
            definition.stitches.push(stitch);
            entries.stitches.push(k);
        }
    }
    Ok(())
}

fn listed(
    pairs: &[[u32; 2]],
    objects: [&Placed; 2],
    at: &At<'_>,
) -> Result<Vec<StitchPair>, SceneError> {
    for (k, pair) in pairs.iter().enumerate() {
        for (side, (&v, object)) in pair.iter().zip(objects).enumerate() {
            if object.vertex(v).is_none() {
                let n = object.number_count();
                let what = format!("'{}' has no vertex {v}, only {n} vertices", object.name);
                return Err(at.index(k).index(side).invalid(what));
            }
        }
    }
    let [a, b] = objects;
    let pair = |&[vertex, other]: &[u32; 2]| {
        Some(StitchPair { vertex: a.vertex(vertex)?, ends: [b.vertex(other)?; 2], weight: 0.0 })
    };
    Ok(pairs.iter().filter_map(pair).collect())
}

/// The selected vertices of an object in their order along its edges: borders of triangles, wires.
fn border(
    selection: &Selection,
    object: usize,
    at: &At<'_>,
    file: &SceneFile,
    all: &[Placed],
) -> Result<Vec<u32>, SceneError> {
    let placed = &all[object];
    let sets = select(selection, &file.objects[object], at, placed)?;
    let Some(selected) = sets.into_iter().next() else { return Ok(Vec::new()) };
    let chain = chain(&placed.mesh, &selected);
    chain.ok_or_else(|| {
        at.invalid(format!(
            "the {} vertices selected of '{}' are no chain along the border of its triangles or \
             along its wires; select one border from end to end",
            selected.len(),
            placed.name
        ))
    })
}

/// Vertices in a row along border edges and wires; `None` where they form no chain with two ends.
fn chain(mesh: &Mesh, selected: &[u32]) -> Option<Vec<u32>> {
    let mut count: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for f in &mesh.triangles {
        for k in 0..3 {
            let (a, b) = (f[k], f[(k + 1) % 3]);
            *count.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let borders = count.iter().filter(|(_, n)| **n == 1).map(|(e, _)| *e);
    let mut next: BTreeMap<u32, Vec<u32>> = selected.iter().map(|&v| (v, Vec::new())).collect();
    for [a, b] in borders.chain(mesh.edges.iter().copied()) {
        if next.contains_key(&a) && next.contains_key(&b) {
            next.entry(a).or_default().push(b);
            next.entry(b).or_default().push(a);
        }
    }
    let ends: Vec<u32> = next.iter().filter(|(_, n)| n.len() == 1).map(|(v, _)| *v).collect();
    if ends.len() != 2 || next.values().any(|n| n.is_empty() || n.len() > 2) {
        return None;
    }
    let mut out = vec![ends[0]];
    while let Some(&v) =
        next[&out[out.len() - 1]].iter().find(|v| out.iter().nth_back(1) != Some(v))
    {
        out.push(v);
    }
    (out.len() == selected.len()).then_some(out)
}

/// Sews every vertex of the longer list to the point of the other at the same part of its length.
fn seam(a: &[u32], x: &[Vec3], b: &[u32], y: &[Vec3]) -> Vec<StitchPair> {
    let along = |list: &[u32], x: &[Vec3]| -> Vec<f64> {
        let mut sum = 0.0;
        let mut out = vec![0.0];
        for w in list.windows(2) {
            sum += (x[w[1] as usize] - x[w[0] as usize]).norm();
            out.push(sum);
        }
        out.iter().map(|s| s / sum).collect()
    };
    let (s, t) = (along(a, x), along(b, y));
    let pair = |(&vertex, &s): (&u32, &f64)| {
        let k = t.partition_point(|t| *t <= s).clamp(1, t.len() - 1);
        let weight = ((s - t[k - 1]) / (t[k] - t[k - 1])).clamp(0.0, 1.0);
        // at a vertex up to rounding
        let (ends, weight) = match weight {
            w if w < 1e-9 => ([b[k - 1]; 2], 0.0),
            w if w > 1.0 - 1e-9 => ([b[k]; 2], 0.0),
            w => ([b[k - 1], b[k]], w),
        };
        StitchPair { vertex, ends, weight }
    };
    a.iter().zip(&s).map(pair).collect()
}
