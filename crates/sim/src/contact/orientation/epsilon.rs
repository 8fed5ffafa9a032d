//! The distance ε up to which each element acts, chosen such that nothing acts at rest.

use super::pairs::PairSet;
use super::surface::{ActivationDistance, Parameters, PerElement, Surface};
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// ε of a pair as a part of its distance at rest [Huang 2024, §4.2].
pub const RATIO: f64 = 0.5;

/// The ε of all elements, at most `d_hat` (m): such that no pair within a body acts at its rest
/// shape, and none between bodies at `start` (`#V`).
///
/// Each pair that would act at the gap z lowers the ε of both of its elements to z/2; after that no
/// edge has more than its ends and no face more than its corners and edges [Huang 2024, §4.4].
/// Pairs that touch already lower nothing, so that their barrier stays.
pub fn adaptive(
    mesh: &CollisionMesh,
    surface: &Surface,
    parameters: &Parameters,
    start: &[Vec3],
    d_hat: f64,
) -> ActivationDistance {
    let mut uniform = surface.clone();
    uniform.epsilon = ActivationDistance::Uniform(d_hat);
    let lowered = |x: &[Vec3], is_within: bool| {
        let near = candidates(mesh, x, 0.5 * d_hat);
        let set = PairSet::build(&near, mesh, &uniform, parameters, x);
        lower(mesh, surface, &set, x, d_hat, is_within)
    };
    ActivationDistance::Adaptive {
        within: lowered(&mesh.rest, true),
        between: lowered(start, false),
    }
}

fn lower(
    mesh: &CollisionMesh,
    surface: &Surface,
    set: &PairSet,
    x: &[Vec3],
    d_hat: f64,
    is_within: bool,
) -> PerElement {
    let mut out = PerElement::uniform(mesh, d_hat);
    for pair in &set.pairs {
        let core = pair.core(mesh, x);
        let (first, last) = (core.vertices[0], core.vertices[core.n - 1]);
        let gap = core.distance - pair.thickness;
        if surface.same_body(first, last) != is_within || gap <= 0.0 {
            continue;
        }
        let [a, b] = pair.elements.map(|i| i as usize);
        let (p, q) = match pair.kind {
            PairKind::VertexVertex => (&mut out.vertex[a], None),
            PairKind::EdgeVertex => (&mut out.edge[a], None),
            PairKind::EdgeEdge => (&mut out.edge[a], Some(b)),
            PairKind::FaceVertex => (&mut out.face[a], None),
        };
        *p = p.min(RATIO * gap);
        let q = match q {
            Some(e) => &mut out.edge[e],
            None => &mut out.vertex[b],
        };
        *q = q.min(RATIO * gap);
    }
    for (e, ends) in mesh.edges.iter().enumerate() {
        out.edge[e] = ends.iter().fold(out.edge[e], |eps, &v| eps.min(out.vertex[v as usize]));
    }
    for f in 0..mesh.faces.len() {
        let edges = surface.around.face_edges(f as u32).map(|e| out.edge[e as usize]);
        out.face[f] = edges.into_iter().fold(out.face[f], f64::min);
    }
    out
}
