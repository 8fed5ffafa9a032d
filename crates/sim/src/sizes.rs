//! Lengths and speeds that follow from the size of the bodies: d̂, stick speed and velocity tolerance.
//!
//! Each body has its own, so that a large or distant body changes nothing of a small one. Where two bodies meet, the
//! smaller value counts.

use crate::body::Body;
use crate::definition::settings::{ContactPotential, Method, RelativeTo, Settings};
use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;

/// Part of the median edge of a body's surface that its d̂ does not exceed: contact at a greater distance would act
/// between the neighbours of neighbours, and blow the body up.
const OF_EDGE: f64 = 0.5;

/// What a body's contact, friction and errors are measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyScale {
    /// Diagonal of the bounding box of the body at rest, m; of the scene where the settings say so.
    pub size: f64,
    /// Distance d̂ below which contact forces act, m.
    pub d_hat: f64,
    /// Stick speed ε_v, m/s.
    pub stick_speed: f64,
    /// Newton tolerance ε_d, m/s.
    pub velocity_tolerance: f64,
}

impl BodyScale {
    /// An obstacle, which leaves all of it to what it meets.
    const OBSTACLE: Self = Self {
        size: f64::INFINITY,
        d_hat: f64::INFINITY,
        stick_speed: f64::INFINITY,
        velocity_tolerance: f64::INFINITY,
    };

    /// The scales of all bodies, of which all deformable ones together have the diagonal `scene` (m).
    pub fn all(
        settings: &Settings,
        bodies: &[Body],
        collision: &CollisionMesh,
        scene: f64,
    ) -> Vec<Self> {
        let mut all: Vec<Self> =
            bodies.iter().map(|b| Self::new(settings, b, collision, scene)).collect();
        let (contact, solver) = (&settings.contact, &settings.solver);
        // what has one distance for all takes the least
        let one = solver.method == Method::BarrierFree
            || contact.potential != ContactPotential::Ipc
            || contact.d_hat_start.is_some();
        if one {
            let least = Self::least(&all, |s| s.d_hat);
            let deformable = all.iter_mut().filter(|s| s.d_hat.is_finite());
            deformable.for_each(|s| s.d_hat = least);
        }
        all
    }

    fn new(settings: &Settings, body: &Body, collision: &CollisionMesh, scene: f64) -> Self {
        if body.obstacle {
            return Self::OBSTACLE;
        }
        let (c, f, s) = (&settings.contact, &settings.friction, &settings.solver);
        let size = match s.relative_to {
            RelativeTo::Scene => scene,
            RelativeTo::Body => own_size(body, collision).unwrap_or(scene),
        };
        let by_size = || match (s.relative_to, median_edge(body, collision)) {
            (RelativeTo::Body, Some(edge)) => (c.d_hat_relative * size).min(OF_EDGE * edge),
            _ => c.d_hat_relative * size,
        };
        let tolerance = || s.end.velocity_relative * size;
        Self {
            size,
            d_hat: c.d_hat.unwrap_or_else(by_size),
            stick_speed: f.stick_speed.unwrap_or(f.stick_speed_relative * size),
            velocity_tolerance: s.end.velocity.unwrap_or_else(tolerance),
        }
    }

    /// The greatest value of the deformable bodies.
    pub fn greatest(all: &[Self], of: impl Fn(&Self) -> f64) -> f64 {
        all.iter().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max)
    }

    fn least(all: &[Self], of: impl Fn(&Self) -> f64) -> f64 {
        all.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// A value by vertex (`#V`); nothing where the deformable bodies have the same.
    pub fn by_vertex(all: &[Self], body_of: &[u32], of: impl Fn(&Self) -> f64) -> Vec<f64> {
        let (least, greatest) = (Self::least(all, &of), Self::greatest(all, &of));
        match least < greatest {
            true => body_of.iter().map(|&b| of(&all[b as usize])).collect(),
            false => Vec::new(),
        }
    }
}

/// Diagonal of a body's bounding box at rest, or its thickness if it is a single point, m.
fn own_size(body: &Body, collision: &CollisionMesh) -> Option<f64> {
    let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    let rest = &collision.rest[body.vertices.clone()];
    let [low, high] = rest.iter().fold(none, |[low, high], p| [low.inf(p), high.sup(p)]);
    let thickness = || {
        let half = collision.half_thickness.get(body.vertices.clone());
        half.map_or(0.0, |half| 2.0 * half.iter().copied().fold(0.0, f64::max))
    };
    [(high - low).norm(), thickness()].into_iter().find(|size| *size > 0.0)
}

/// Median length at rest of the edges of a body's surface, m.
fn median_edge(body: &Body, collision: &CollisionMesh) -> Option<f64> {
    let own = collision.edges.iter().filter(|e| body.vertices.contains(&(e[0] as usize)));
    let length =
        |e: &[u32; 2]| (collision.rest[e[0] as usize] - collision.rest[e[1] as usize]).norm();
    let mut lengths: Vec<f64> = own.map(length).collect();
    let middle = lengths.len() / 2;
    (!lengths.is_empty()).then(|| *lengths.select_nth_unstable_by(middle, f64::total_cmp).1)
}
