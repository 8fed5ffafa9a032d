//! How much too stiff a mesh of linear tetrahedra, or in two dimensions of linear triangles, is.
//!
//! Linear elements have no other strain than a uniform one, so that few of them across a body strain where it only bends, and the more the
//! less the material changes its volume: they *lock*. A beam that is bent to the curvature κ along x in the direction of z has the displacement
//!
//! u = κ (x z, −ν y z, −(x² + ν (z² − y²))/2)   and the energy   E κ²/2 ∫ z² dV
//!
//! [Timoshenko & Goodier 1970, §102]. The energy that the elements have with this displacement at their vertices, over that, is by how much
//! they are too stiff. Under plane strain u = κ (x z, −(x² + ν z²/(1 − ν))/2) has the energy E/(1 − ν²) κ²/2 ∫ z² dV; bodies of revolution count as if
//! their sections were such.

use standoff_linalg::nalgebra::SymmetricEigen;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{BodyDef, BodyKind};
use standoff_sim::material::Lame;
use standoff_sim::material::inelastic::Inelasticity;

/// How a solid of linear elements bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bending {
    /// About what part of its true deflection it has.
    pub part: f64,
    /// Length over thickness: the ratio of the greatest to the least radius of gyration.
    pub slenderness: f64,
    /// The greatest Poisson's ratio of its materials.
    pub poisson_ratio: f64,
}

/// Length over thickness above which a solid is a beam or a plate, whose deflection matters.
const SLENDER: f64 = 4.0;

/// Length over thickness below which a body counts as compact: how it bends is not estimated.
pub const LONG: f64 = 2.0;

/// The part of its deflection below which that is worth a note.
const STIFF: f64 = 0.8;

/// Poisson's ratio from which on linear elements lock in whatever deforms them, not only where a slender body bends.
const LOCKING: f64 = 0.45;

/// How much longer than wide a body has to be to have an axis, and how much wider than thick to have a direction in which it is bent.
const DISTINCT: f64 = 1.05;

impl Bending {
    /// What is wrong with its linear elements, if anything.
    pub fn fault(&self) -> Option<String> {
        let Self { part, slenderness, poisson_ratio: nu } = self;
        if *part >= STIFF {
            return None;
        }
        if *nu >= LOCKING {
            let nu = (nu * 1e4).round() / 1e4;
            return Some(format!(
                "with Poisson's ratio {nu} its linear elements deform too little"
            ));
        }
        (*slenderness > SLENDER).then(|| {
            format!(
                "it is {slenderness:.0} times as long as thick, and with linear elements bends by about {:.0} % of what a finer mesh does",
                100.0 * part
            )
        })
    }
}

/// Why linear elements of a body are too stiff, if they are: they lock in bending over few of them, with Poisson's ratios near 0.5, and where they yield.
pub fn locking(body: &BodyDef) -> Option<String> {
    let yielding = |i: &Inelasticity| matches!(i, Inelasticity::Yielding(_));
    let yields = body.all_substances().iter().any(|s| s.inelastic.iter().any(yielding));
    match &body.kind {
        BodyKind::Volume { .. } | BodyKind::PlaneStrain { .. } if yields && !is_quadratic(body) => {
            Some(
                "linear elements that yield hardly change their shape, so that it carries too much"
                    .into(),
            )
        }
        BodyKind::PlaneStrain { .. } if !is_quadratic(body) => {
            alternating(body).or_else(|| bending(body)?.fault())
        }
        _ => bending(body)?.fault(),
    }
}

/// What is wrong with linear triangles of a nearly incompressible material, however fine they are.
fn alternating(body: &BodyDef) -> Option<String> {
    let substances = body.all_substances();
    let nu = substances.iter().map(|s| poisson_ratio(&s.material.lame())).fold(-1.0, f64::max);
    let shown = (nu * 1e4).round() / 1e4;
    (nu >= LOCKING).then(|| {
        format!("with Poisson's ratio {shown} the pressures of its linear triangles alternate from one to the next")
    })
}

fn poisson_ratio(lame: &Lame) -> f64 {
    0.5 * lame.lambda / (lame.lambda + lame.mu)
}

/// Whether the elements of a solid are quadratic.
fn is_quadratic(body: &BodyDef) -> bool {
    match &body.kind {
        BodyKind::Volume { middles, .. } => !middles.is_empty(),
        BodyKind::PlaneStrain { middles, .. } => !middles.is_empty(),
        _ => false,
    }
}

/// A tetrahedron, or in the plane a triangle, at rest with Lamé's parameters.
struct Element<const N: usize> {
    corners: [Vec3; N],
    /// Its volume, or area.
    volume: f64,
    lame: Lame,
}

/// Number of corners of an element in the plane.
const PLANE: usize = 3;

impl<const N: usize> Element<N> {
    /// What products of linear functions over it are multiplied with: ∫ f g dV = part (Σ f g + Σ f Σ g), sums over the corners.
    fn part(&self) -> f64 {
        self.volume / (N * (N + 1)) as f64
    }

    fn poisson_ratio(&self) -> f64 {
        poisson_ratio(&self.lame)
    }
}

/// How a body bends; `None` where it has no linear elements, or some of points that are not there, or is neither longish nor nearly incompressible.
pub fn bending(body: &BodyDef) -> Option<Bending> {
    let at = |v: u32| body.rest.get(v as usize).copied().unwrap_or(Vec3::repeat(f64::NAN));
    let lames = body.substances().into_iter().map(|of| of.material.lame());
    if is_quadratic(body) {
        return None;
    }
    match &body.kind {
        BodyKind::Volume { tets, .. } => {
            let element = |(t, lame): (&[u32; 4], Lame)| {
                let x = t.map(at);
                let volume = (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0;
                Element { corners: x, volume, lame }
            };
            bending_of(tets.iter().zip(lames).map(element).collect())
        }
        BodyKind::PlaneStrain { triangles, .. } => {
            let element = |(t, lame): (&[u32; 3], Lame)| {
                let x = t.map(at);
                let volume = 0.5 * (x[1] - x[0]).cross(&(x[2] - x[0])).z;
                Element { corners: x, volume, lame }
            };
            bending_of(triangles.iter().zip(lames).map(element).collect())
        }
        _ => None,
    }
}

fn bending_of<const N: usize>(mut elements: Vec<Element<N>>) -> Option<Bending> {
    let (axes, radii) = principal_axes(&mut elements);
    let thickness = if N == PLANE { radii[1] } else { radii[2] };
    let slenderness = radii[0] / thickness;
    let poisson_ratio = elements.iter().map(|e| e.poisson_ratio()).fold(-1.0, f64::max);
    if slenderness < LONG && poisson_ratio < LOCKING {
        return None;
    }
    let frames = if N == PLANE { plane_frames(axes, radii) } else { frames(axes, radii) };
    let stiffer = frames.iter().map(|f| stiffness(&elements, f)).sum::<f64>() / frames.len() as f64;
    let part = stiffer.recip();
    (part.is_finite() && slenderness.is_finite()).then_some(Bending {
        part,
        slenderness,
        poisson_ratio,
    })
}

/// The same of a body in the plane: along its axis, and where it has none along four directions, whose mean is the same whatever axes rounding chose.
fn plane_frames([a, b, z]: [Vec3; 3], radii: [f64; 3]) -> Vec<[Vec3; 3]> {
    if radii[0] > DISTINCT * radii[1] {
        return vec![[a, b, z]];
    }
    let turned = |k: u32| {
        let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos();
        [a * cos + b * sin, b * cos - a * sin, z]
    };
    (0..4).map(turned).collect()
}

/// The directions in which a solid is bent: along an axis, and across it. A beam has an axis, and a thin one a direction across;
/// where directions are alike, so many of them are taken that their mean is the same whatever axes rounding chose.
fn frames(axes: [Vec3; 3], radii: [f64; 3]) -> Vec<[Vec3; 3]> {
    let [a, b, c] = axes;
    match (radii[0] > DISTINCT * radii[1], radii[1] > DISTINCT * radii[2]) {
        (true, true) => vec![[a, c, b]],
        (true, false) => vec![[a, b, c], [a, c, b]],
        (false, true) => {
            let turned = |k: u32| {
                let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos();
                [a * cos + b * sin, c, b * cos - a * sin]
            };
            (0..4).map(turned).collect()
        }
        // as thick as wide as long: the axes of the scene
        (false, false) => {
            let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()];
            vec![[x, y, z], [x, z, y], [y, z, x], [y, x, z], [z, x, y], [z, y, x]]
        }
    }
}

/// The principal axes of inertia with their radii of gyration, the longest first. The origin is moved to the centre.
fn principal_axes<const N: usize>(elements: &mut [Element<N>]) -> ([Vec3; 3], [f64; 3]) {
    let whole: f64 = elements.iter().map(|e| e.volume).sum();
    let moment = |e: &Element<N>| e.corners.iter().sum::<Vec3>() * (e.volume / N as f64);
    let centre = elements.iter().map(moment).sum::<Vec3>() / whole;
    elements.iter_mut().for_each(|e| e.corners.iter_mut().for_each(|p| *p -= centre));
    // ∫ x xᵀ dV
    let second = |e: &Element<N>| {
        let sum: Vec3 = e.corners.iter().sum();
        let squares: Mat3 = e.corners.iter().map(|p| p * p.transpose()).sum();
        (squares + sum * sum.transpose()) * e.part()
    };
    let eigen = SymmetricEigen::new(elements.iter().map(second).sum::<Mat3>() / whole);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let axis = |k: usize| eigen.eigenvectors.column(k).into_owned();
    (order.map(axis), order.map(|k| eigen.eigenvalues[k].sqrt()))
}

/// The energy of the elements over that of a beam, bent along the first axis of `frame` in the direction of the second.
fn stiffness<const N: usize>(elements: &[Element<N>], frame: &[Vec3; 3]) -> f64 {
    let (mut found, mut exact) = (0.0, 0.0);
    for element in elements {
        let Element { corners, volume, lame: Lame { lambda, mu } } = element;
        let nu = element.poisson_ratio();
        // how much it contracts per extension, and its modulus over 2 μ
        let (nu, modulus) = match N {
            PLANE => (nu / (1.0 - nu), (1.0 - nu).recip()),
            _ => (nu, 1.0 + nu),
        };
        let local = corners.map(|p| Vec3::from(frame.map(|axis| p.dot(&axis))));
        let u = local.map(|p| {
            let (x, z, y) = (p.x, p.y, p.z);
            Vec3::new(x * z, -0.5 * (x * x + nu * (z * z - y * y)), -nu * y * z)
        });
        // in the plane nothing changes across it
        let edges = |of: &[Vec3; N], across: Vec3| {
            Mat3::from_columns(&[1, 2, 3].map(|k| of.get(k).map_or(across, |p| p - of[0])))
        };
        let Some(inverse) = edges(&local, Vec3::z()).try_inverse() else { continue };
        let slope = edges(&u, Vec3::zeros()) * inverse;
        let strain = (slope + slope.transpose()) * 0.5;
        let density = mu * strain.norm_squared() + 0.5 * lambda * strain.trace().powi(2);
        found += volume * density;
        let z = local.map(|p| p.y);
        let squares = z.iter().map(|z| z * z).sum::<f64>() + z.iter().sum::<f64>().powi(2);
        exact += modulus * mu * element.part() * squares;
    }
    found / exact
}
