//! How much too stiff a mesh of linear tetrahedra is in bending.
//!
//! Linear elements have no other strain than a uniform one, so that few of them across a body strain where it only bends, and the more the
//! less the material changes its volume: they *lock*. A beam that is bent to the curvature κ along x in the direction of z has the displacement
//!
//! u = κ (x z, −ν y z, −(x² + ν (z² − y²))/2)   and the energy   E κ²/2 ∫ z² dV
//!
//! [Timoshenko & Goodier 1970, §102]. The energy that the elements have with this displacement at their vertices, over that, is by how much
//! they are too stiff.

use standoff_linalg::nalgebra::SymmetricEigen;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{BodyDef, BodyKind};
use standoff_sim::material::Material;

/// How a solid of linear elements bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bending {
    /// About what part of its true deflection it has.
    pub part: f64,
    /// Length over thickness: the ratio of the greatest to the least radius of gyration.
    pub slenderness: f64,
}

/// Length over thickness above which a solid is a beam or a plate, whose deflection matters.
const SLENDER: f64 = 4.0;

/// The part of its deflection below which that is worth a note.
const STIFF: f64 = 0.8;

/// How much longer than wide a body has to be to have an axis, and how much wider than thick to have a direction in which it is bent.
const DISTINCT: f64 = 1.05;

impl Bending {
    /// What a user should know of it, if anything.
    pub fn note(&self) -> Option<String> {
        let Self { part, slenderness } = self;
        (*slenderness > SLENDER && *part < STIFF).then(|| {
            format!(
                "it is {slenderness:.0} times as long as thick and bends by about {:.0} % of what a finer mesh does; with \
                 element = \"quadratic\" it bends nearly as it should",
                100.0 * part
            )
        })
    }
}

/// A tetrahedron at rest with its material.
struct Element {
    corners: [Vec3; 4],
    volume: f64,
    material: Material,
}

/// How a body bends; `None` where it has no linear tetrahedra, or some of points that are not there, or is not longer in one direction than in all others.
pub fn bending(body: &BodyDef) -> Option<Bending> {
    let BodyKind::Volume { tets, middles, material, overrides, .. } = &body.kind else {
        return None;
    };
    if !middles.is_empty() {
        return None;
    }
    let element = |t: &[u32; 4]| {
        let x = t.map(|v| body.rest.get(v as usize).copied().unwrap_or(Vec3::repeat(f64::NAN)));
        let volume = (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0;
        Element { corners: x, volume, material: *material }
    };
    let mut elements: Vec<Element> = tets.iter().map(element).collect();
    for (e, _, own) in overrides {
        elements.get_mut(*e as usize)?.material = *own;
    }
    let (axes, radii) = principal_axes(&mut elements);
    let slenderness = radii[0] / radii[2];
    // as long as wide in another direction, and the axis would be one of rounding
    let has_axis = radii[0] > DISTINCT * radii[1];
    let [middle, thin] = [Across::Middle, Across::Thin].map(|d| part(&elements, axes, d));
    // as thick as wide, bodies have no direction in which they are bent: the mean is the same for all
    let part = match radii[1] > DISTINCT * radii[2] {
        true => thin,
        false => 2.0 / (1.0 / middle + 1.0 / thin),
    };
    (has_axis && part.is_finite() && slenderness.is_finite())
        .then_some(Bending { part, slenderness })
}

/// The principal axes of inertia with their radii of gyration, the longest first. The origin is moved to the centre.
fn principal_axes(elements: &mut [Element]) -> ([Vec3; 3], [f64; 3]) {
    let whole: f64 = elements.iter().map(|e| e.volume).sum();
    let moment = |e: &Element| e.corners.iter().sum::<Vec3>() * (0.25 * e.volume);
    let centre = elements.iter().map(moment).sum::<Vec3>() / whole;
    elements.iter_mut().for_each(|e| e.corners.iter_mut().for_each(|p| *p -= centre));
    // ∫ x xᵀ dV, of an element V/20 (Σ x xᵀ + Σ x Σ xᵀ)
    let second = |e: &Element| {
        let sum: Vec3 = e.corners.iter().sum();
        let squares: Mat3 = e.corners.iter().map(|p| p * p.transpose()).sum();
        (squares + sum * sum.transpose()) * (e.volume / 20.0)
    };
    let eigen = SymmetricEigen::new(elements.iter().map(second).sum::<Mat3>() / whole);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let axis = |k: usize| eigen.eigenvectors.column(k).into_owned();
    (order.map(axis), order.map(|k| eigen.eigenvalues[k].sqrt()))
}

/// A direction in which a beam is bent.
#[derive(Clone, Copy)]
enum Across {
    Middle,
    Thin,
}

/// The energy of a beam along the first axis, bent in the direction of one across, over that of the elements.
fn part(elements: &[Element], axes: [Vec3; 3], direction: Across) -> f64 {
    let (along, other) = match direction {
        Across::Middle => (1, 2),
        Across::Thin => (2, 1),
    };
    let (mut found, mut exact) = (0.0, 0.0);
    for Element { corners, volume, material } in elements {
        let (nu, lame) = (material.poisson_ratio, material.lame());
        let local = corners.map(|p| Vec3::from(axes.map(|axis| p.dot(&axis))));
        let u = local.map(|p| {
            let (x, z, y) = (p.x, p[along], p[other]);
            let mut u = Vec3::new(x * z, 0.0, 0.0);
            u[other] = -nu * y * z;
            u[along] = -0.5 * (x * x + nu * (z * z - y * y));
            u
        });
        let edges = |of: &[Vec3; 4]| Mat3::from_columns(&[1, 2, 3].map(|k| of[k] - of[0]));
        let Some(inverse) = edges(&local).try_inverse() else { continue };
        let slope = edges(&u) * inverse;
        let strain = (slope + slope.transpose()) * 0.5;
        let density = lame.mu * strain.norm_squared() + 0.5 * lame.lambda * strain.trace().powi(2);
        found += volume * density;
        let z = local.map(|p| p[along]);
        let squares = z.iter().map(|z| z * z).sum::<f64>() + z.iter().sum::<f64>().powi(2);
        exact += 0.5 * material.young_modulus * volume / 20.0 * squares;
    }
    exact / found
}
