//! The gaps of a run's frames, vertex by vertex.

use crate::audit::{collision_mesh, half_spaces, ranges};
use crate::{Frame, RunInfo};
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::Vec3;
use standoff_sim::audit::by_thickness;
use standoff_sim::contact::HalfSpace;

/// Share of the diagonal of what is deformable up to which gaps are measured in a run that does not say its
/// contact distance; the default of `contact.d_hat_relative`.
const REACH: f64 = 1e-3;

/// Measures how close every vertex of a run's frames is to what it may touch.
#[derive(Debug)]
pub struct Gaps {
    collision: CollisionMesh,
    half_spaces: Vec<HalfSpace>,
    /// Half of a thickness, m, and the vertices that have it.
    half_space_vertices: Vec<(f64, Vec<u32>)>,
    reach: f64,
}

impl Gaps {
    /// Takes the elements from a frame and what they belong to from `run.json`.
    ///
    /// # Errors
    /// A sentence about what does not fit together.
    pub fn new(info: &RunInfo, frame: &Frame) -> Result<Self, String> {
        let bodies = ranges(&info.bodies, frame.positions.len())?;
        let collision = collision_mesh(info, &bodies, frame)?;
        let free = info.bodies.iter().zip(&bodies).filter(|(body, _)| !body.obstacle);
        let points = free.flat_map(|(_, range)| &frame.positions[range.clone()]);
        let reach = info.d_hat.unwrap_or_else(|| REACH * diagonal(points));
        Ok(Self {
            half_spaces: half_spaces(info)?,
            half_space_vertices: by_thickness(&collision, &collision.mobile),
            collision,
            reach,
        })
    }

    /// Distance up to which gaps are measured, m: the contact distance d̂ of the run.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// The smallest distance beyond thickness, m, between a primitive of which a vertex holds the closest
    /// point and any other that it may touch (`#V`); NaN where that is not below [`reach`](Self::reach).
    /// `positions` are those of a frame with the elements that were given.
    pub fn of(&self, positions: &[Vec3]) -> Vec<f64> {
        let (mesh, x) = (&self.collision, positions);
        let mut gaps = vec![f64::NAN; x.len()];
        let mut note = |v: u32, gap: f64| {
            if gap < self.reach {
                // the minimum of a number and NaN is the number
                gaps[v as usize] = gap.min(gaps[v as usize]);
            }
        };
        for pair in candidates(mesh, x, 0.5 * self.reach).iter() {
            let stencil = pair.stencil(mesh);
            let at = stencil.gather(x);
            let gap = pair.kind.d2(&at).sqrt() - pair.thickness(mesh);
            if gap < self.reach {
                let weights = pair.kind.closest(&at).weights;
                let holding = stencil.vertices().iter().zip(weights).filter(|(_, w)| *w != 0.0);
                holding.for_each(|(v, _)| note(*v, gap));
            }
        }
        for plane in &self.half_spaces {
            for (half, vertices) in &self.half_space_vertices {
                for v in vertices {
                    note(*v, plane.signed_distance(&x[*v as usize]) - half);
                }
            }
        }
        gaps
    }
}

fn diagonal<'a>(points: impl Iterator<Item = &'a Vec3>) -> f64 {
    let none = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (lo, hi) = points.fold(none, |(lo, hi), p| (lo.inf(p), hi.sup(p)));
    let diagonal = (hi - lo).norm();
    if diagonal.is_finite() { diagonal } else { 0.0 }
}
