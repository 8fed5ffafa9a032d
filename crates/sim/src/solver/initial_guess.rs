//! The initial guess of a step's minimisation: the end of the last step, except for bodies without
//! contacts, which are advanced by their best-fit rigid motion.

use super::line_search;
use crate::body::Body;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::step::workspace::Workspace;
use standoff_linalg::{Mat3, Vec3, svd3};

/// Moves every body that touches nothing, and of which nothing is prescribed, by the rigid motion that
/// brings it closest to x̃ in the norm of the masses, and every such particle to its x̃: all of them, if
/// nothing is in the way and the potential falls, else none.
///
/// Over rigid motions the elastic energy is constant, so that this is the minimum of the potential among
/// them, however fast a body turns: Newton's method would have to follow the turn by straight lines.
pub fn advance_free_bodies(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) {
    let model = potential.context.model;
    let displacement = potential.predicted_displacement(&it.x);
    let mut touches = vec![false; it.x.len()];
    let pairs = it.contacts.contacts.iter().flat_map(|c| c.stencil());
    for &v in pairs.chain(it.contacts.half_space.iter().map(|c| &c.vertex)) {
        touches[v as usize] = true;
    }
    for v in it.contacts.orientation.touched() {
        touches[v as usize] = true;
    }
    let is_free = |v: usize| potential.inertial[v] && !touches[v];
    let mut p = vec![Vec3::zeros(); it.x.len()];
    let mut any = false;
    for body in model.bodies.iter().filter(|b| !b.obstacle) {
        let loose = [&body.tets, &body.plane, &body.triangles, &body.segments]
            .iter()
            .all(|elements| elements.is_empty());
        if loose {
            for v in body.vertices.clone().filter(|&v| is_free(v)) {
                (p[v], any) = (displacement[v], true);
            }
        } else if body.vertices.clone().all(is_free) {
            any = true;
            let planar = model.dimension.is_planar();
            rigid_motion(planar, body, &model.mass, &it.x, &displacement, &mut p);
        }
    }
    // what is not finite is for the minimisation to report
    if any && p.iter().flatten().all(|c| c.is_finite()) {
        line_search::try_whole(potential, it, &p, work);
    }
}

/// Displacements of the rigid motion of a body that comes closest to `x` + `displacement`: with the means
/// c, c + u and the offsets d = x − c, e = d + displacement − u, the rotation R = U Vᵀ of
/// Σ m e dᵀ = U S Vᵀ. In the plane the angle of R has the tangent (Σ m d × e)/(Σ m d·e).
fn rigid_motion(
    planar: bool,
    body: &Body,
    mass: &[f64],
    x: &[Vec3],
    displacement: &[Vec3],
    p: &mut [Vec3],
) {
    let mean = |of: &[Vec3]| {
        let weighted = body.vertices.clone().map(|v| mass[v] * of[v]);
        let total: f64 = mass[body.vertices.clone()].iter().sum();
        weighted.sum::<Vec3>() / total
    };
    let (c, u) = (mean(x), mean(displacement));
    let covariance: Mat3 = body
        .vertices
        .clone()
        .map(|v| mass[v] * (x[v] - c + displacement[v] - u) * (x[v] - c).transpose())
        .sum();
    let rotation = match planar {
        true => rotation_in_plane(&covariance),
        false => svd3(&covariance).rotation(),
    };
    for v in body.vertices.clone() {
        let d = x[v] - c;
        p[v] = u + rotation * d - d;
    }
}

/// The rotation about z that is closest to a matrix; none where there is no closest.
fn rotation_in_plane(m: &Mat3) -> Mat3 {
    let (cos, sin) = (m[(0, 0)] + m[(1, 1)], m[(1, 0)] - m[(0, 1)]);
    let length = cos.hypot(sin);
    if length == 0.0 {
        return Mat3::identity();
    }
    let (c, s) = (cos / length, sin / length);
    Mat3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
}
