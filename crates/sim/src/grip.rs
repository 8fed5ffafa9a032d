//! Grips: regions of soft bodies that joints hold, and make rigid.

use crate::body::Body;
use standoff_linalg::{Mat3, Vec3, svd3};

/// A region of a soft body that a joint makes rigid.
#[derive(Debug, Clone)]
pub(crate) struct Grip {
    /// Index of the body to which it belongs.
    pub owner: usize,
    /// Its own index among the bodies of the model.
    pub body: usize,
    /// Its vertices, ascending.
    pub vertices: Vec<u32>,
    /// Mass of the whole body to which it belongs, kg.
    pub owner_mass: f64,
    /// Its own mass, kg.
    pub mass: f64,
}

impl Grip {
    /// The control points.
    pub fn control<'a>(&self, bodies: &'a [Body]) -> impl Iterator<Item = u32> + use<'a> {
        bodies[self.body].unknowns.clone().map(|v| v as u32)
    }
}

/// All grips of a definition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grips {
    /// The grips, in the order of their bodies.
    pub all: Vec<Grip>,
    /// For the parent and the child of each joint the body that it holds, where that is a grip.
    pub of_joints: Vec<[Option<usize>; 2]>,
}

impl Grips {
    /// The body of the model that joint `k` holds on its side 0, the parent, or 1, the child, of which the definition names `body`.
    pub fn held(&self, k: usize, side: usize, body: usize) -> usize {
        self.of_joints.get(k).and_then(|j| j[side]).unwrap_or(body)
    }

    /// The mass of what the grip with the number `body` among the bodies belongs to, kg.
    pub fn owner_mass(&self, body: usize) -> Option<f64> {
        self.all.iter().find(|g| g.body == body).map(|g| g.owner_mass)
    }

    /// Joins grips with the bodies to which they belong.
    pub fn owners(&self) -> impl Iterator<Item = (usize, usize)> {
        self.all.iter().map(|g| (g.body, g.owner))
    }

    /// The vertices on which what acts on `vertices` of body `owner` in proportion to their masses acts: control points in the place of those of
    /// whole grips.
    ///
    /// # Errors
    /// A part of a grip, in words.
    pub fn on_unknowns(
        &self,
        owner: usize,
        bodies: &[Body],
        vertices: &[u32],
    ) -> Result<Vec<u32>, String> {
        let mut left = vertices.to_vec();
        let mut control = Vec::new();
        for grip in self.all.iter().filter(|g| g.owner == owner) {
            let before = left.len();
            left.retain(|v| grip.vertices.binary_search(v).is_err());
            let first = bodies[owner].vertices.start as u32;
            match before - left.len() {
                0 => {}
                n if n == grip.vertices.len() => control.extend(grip.control(bodies)),
                n => {
                    return Err(format!(
                        "selects {n} of the {} vertices at which a joint holds this body, such as vertex {}: the joint makes them rigid, so \
                         that a load acts on all of them or on none",
                        grip.vertices.len(),
                        grip.vertices[0] - first
                    ));
                }
            }
        }
        left.extend(control);
        Ok(left)
    }
}

/// Velocity of the centre of masses (m/s) and spin (rad/s) of the rigid motion with the momenta of `vertices`; the least one where they lie on a
/// line.
pub(crate) fn rigid_velocity(vertices: &[u32], x: &[Vec3], v: &[Vec3], mass: &[f64]) -> [Vec3; 2] {
    let parts = || vertices.iter().map(|&i| (mass[i as usize], x[i as usize], v[i as usize]));
    let whole: f64 = parts().map(|(m, ..)| m).sum();
    let centre = parts().map(|(m, x, _)| m * x).sum::<Vec3>() / whole;
    let velocity = parts().map(|(m, _, v)| m * v).sum::<Vec3>() / whole;
    let momentum: Vec3 = parts().map(|(m, x, v)| m * (x - centre).cross(&(v - velocity))).sum();
    let second: Mat3 = parts().map(|(m, x, _)| m * (x - centre) * (x - centre).transpose()).sum();
    let inertia = Mat3::from_diagonal_element(second.trace()) - second;
    let axes = svd3(&inertia);
    let floor = 1e-9 * axes.sigma.max();
    let along = axes.u.transpose() * momentum;
    let spin =
        Vec3::from_fn(|k, _| if axes.sigma[k] > floor { along[k] / axes.sigma[k] } else { 0.0 });
    [velocity, axes.u * spin]
}
