//! Where the forces of an iterate are furthest from balance, and which energy has most of it: what a stall comes
//! from that contact did not cause.

use super::Culprit;
use crate::energy::{Projection, Term};
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Part};
use standoff_linalg::{Mat3, Vec3};

/// Contact takes part in a stall if its force on the vertex is at least this part of the largest one.
const TAKES_PART: f64 = 0.01;

/// The force that is furthest from balance, unless contact takes part in it.
pub(super) fn without_contact(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Option<Culprit> {
    let g = potential.gradient(it);
    let free = (0..g.len()).filter(|&v| potential.free()[v] && g[v].norm().is_finite());
    let vertex = free.max_by(|&a, &b| g[a].norm().total_cmp(&g[b].norm()))?;
    let terms = potential.terms(&it.contacts);
    let force = |term: &dyn Term| {
        let mut own = vec![Vec3::zeros(); g.len()];
        term.add_gradient(&it.x, &mut own);
        own[vertex].norm()
    };
    let forces: Vec<f64> = terms.iter().map(|t| t.factor * force(&*t.term)).collect();
    let (k, largest) = forces.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let contact = |(t, force): (&crate::potential::Summand<'_>, &f64)| {
        t.part != Part::Elastic && *force > TAKES_PART * largest
    };
    if *largest == 0.0 || terms.iter().zip(&forces).any(contact) {
        return None;
    }
    let positions = potential.context.model.vertex_count();
    let (term, model) = (&*terms[k].term, potential.context.model);
    let (summand, stencil) = stiffest(term, vertex as u32, &it.x).unzip();
    let origin = summand.and_then(|k| term.origin(k));
    Some(Culprit::Unbalanced {
        vertex: vertex as u32,
        force: g[vertex].norm() / potential.context.elastic_scale,
        energy: term.name().to_owned(),
        key: origin.map(|o| format!("`{}` of '{}'", o.key, model.owner(o.owner))),
        vertices: stencil
            .unwrap_or_default()
            .into_iter()
            .filter(|v| (*v as usize) < positions)
            .collect(),
    })
}

/// The summand of a term at a vertex whose second derivative is the largest, with its stencil.
fn stiffest(term: &dyn Term, vertex: u32, x: &[Vec3]) -> Option<(usize, Vec<u32>)> {
    let stencils = term.stencils();
    let mut found = (-1.0, None);
    for (k, stencil) in stencils.iter().enumerate().filter(|(_, s)| s.contains(&vertex)) {
        let mut blocks = vec![Mat3::zeros(); term.layout().block_count(stencil.len())];
        term.hessians(k..k + 1, x, Projection::NONE, &mut blocks);
        let size = blocks.iter().map(|b| b.norm()).fold(0.0, f64::max);
        if size > found.0 {
            found = (size, Some((k, stencil.to_vec())));
        }
    }
    found.1
}
