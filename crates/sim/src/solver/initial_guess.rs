//! Where the minimisation of a step starts: at the end of the last one, but for bodies in flight.

use super::{Iterate, Minimiser};
use crate::model::{Body, Model};
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::solver::line_search;
use standoff_linalg::{Mat3, Vec3, svd3};

/// Moves every body that touches nothing, and of which nothing is prescribed, by the rigid motion that
/// brings it closest to x̃ in the norm of the masses, and every such particle to its x̃: all of them, if
/// nothing is in the way and the potential falls, else none.
///
/// Over rigid motions the elastic energy is constant, so that this is the minimum of the potential among
/// them, however fast a body turns: Newton's method would have to follow the turn by straight lines.
pub fn fly(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Minimiser,
    report: &mut StepReport,
) {
    let model = potential.model;
    let way = potential.predicted_displacement(&it.x);
    let mut touches = vec![false; it.x.len()];
    let pairs = it.active.contacts.iter().flat_map(|c| c.stencil());
    for &v in pairs.chain(it.active.half_space.iter().map(|c| &c.vertex)) {
        touches[v as usize] = true;
    }
    let flies = |v: usize| potential.inertial[v] && !touches[v];
    let mut p = vec![Vec3::zeros(); it.x.len()];
    let mut any = false;
    for body in model.bodies.iter().filter(|b| !b.obstacle) {
        let loose = body.tets.is_empty() && body.triangles.is_empty() && body.segments.is_empty();
        if loose {
            for v in body.vertices.clone().filter(|&v| flies(v)) {
                (p[v], any) = (way[v], true);
            }
        } else if body.vertices.clone().all(flies) {
            any = true;
            follow(model, body, &it.x, &way, &mut p);
        }
    }
    // what is not finite is for the minimisation to report
    if any && p.iter().flatten().all(|c| c.is_finite()) {
        line_search::try_whole(potential, it, &p, work, report);
    }
}

/// Displacements of the rigid motion of a body that comes closest to `x` + `way`: with the means c, c + u
/// and the offsets d = x − c, e = d + way − u, the rotation R = U Vᵀ of Σ m e dᵀ = U S Vᵀ.
fn follow(model: &Model, body: &Body, x: &[Vec3], way: &[Vec3], p: &mut [Vec3]) {
    let mean = |of: &[Vec3]| {
        let weighted = body.vertices.clone().map(|v| model.mass[v] * of[v]);
        let mass: f64 = model.mass[body.vertices.clone()].iter().sum();
        weighted.sum::<Vec3>() / mass
    };
    let (c, u) = (mean(x), mean(way));
    let covariance: Mat3 = body
        .vertices
        .clone()
        .map(|v| model.mass[v] * (x[v] - c + way[v] - u) * (x[v] - c).transpose())
        .sum();
    let rotation = svd3(&covariance).rotation();
    for v in body.vertices.clone() {
        let d = x[v] - c;
        p[v] = u + rotation * d - d;
    }
}
