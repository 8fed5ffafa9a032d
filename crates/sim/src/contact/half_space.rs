//! Contact of vertices with fixed half-spaces.

use super::weighting::Weighting;
use rayon::prelude::*;
use standoff_geometry::CollisionMesh;
use standoff_geometry::distance::point_plane;
use standoff_linalg::Vec3;

/// The solid half-space {x : n·(x − o) ≤ 0}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    /// A point o of the boundary plane, m.
    pub origin: Vec3,
    /// Outward unit normal n.
    pub normal: Vec3,
}

impl HalfSpace {
    /// The half-space below the plane through `origin` with the outward `normal` of any length.
    /// `None` where a number is not finite or the normal has no length.
    pub fn through(origin: Vec3, normal: Vec3) -> Option<Self> {
        let norm = normal.norm();
        let valid = norm > 0.0 && norm.is_finite() && origin.iter().all(|c| c.is_finite());
        valid.then(|| Self { origin, normal: normal / norm })
    }

    /// Signed distance of a point to the boundary, m; positive outside.
    #[inline]
    pub fn signed_distance(&self, p: &Vec3) -> f64 {
        point_plane::signed_distance(p, &self.origin, &self.normal)
    }
}

/// A vertex within reach of a half-space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpaceContact {
    /// The vertex.
    pub vertex: u32,
    /// Index of the half-space.
    pub half_space: u32,
    /// The half-space itself.
    pub plane: HalfSpace,
    /// Weight: 1, or the vertex's rest area, m².
    pub weight: f64,
    /// Thickness offset ξ, m.
    pub thickness: f64,
    /// Distance beyond the thickness at which its force begins, as a part of the potential's d̂.
    pub reach: f64,
    /// Forecast of the normal force, N, as of a pair ([`Contact::forecast`](super::Contact::forecast)).
    pub forecast: f64,
}

impl HalfSpaceContact {
    /// Squared distance, m²; 0 within the half-space.
    #[inline]
    pub fn d2(&self, p: &Vec3) -> f64 {
        let d = self.plane.signed_distance(p).max(0.0);
        d * d
    }
}

/// Mobile surface vertices closer than d̂ + ξ to a half-space, by vertex, then half-space.
///
/// Under area weighting a vertex counts with its whole area: the plane has no vertices and edges
/// of its own, which among meshes carry the other shares of the integral over both surfaces.
pub fn half_space_contacts(
    mesh: &CollisionMesh,
    half_spaces: &[HalfSpace],
    x: &[Vec3],
    d_hat: f64,
    weighting: &Weighting,
) -> Vec<HalfSpaceContact> {
    if half_spaces.is_empty() {
        return Vec::new();
    }
    let chunks: Vec<Vec<HalfSpaceContact>> = mesh
        .vertices
        .par_chunks(4096)
        .map(|vertices| {
            let mut found = Vec::new();
            for &v in vertices {
                let i = v as usize;
                if !mesh.mobile[i] {
                    continue;
                }
                let thickness = mesh.half_thickness.get(i).copied().unwrap_or(0.0);
                let own = mesh.reach_of(v, d_hat);
                for (k, plane) in half_spaces.iter().enumerate() {
                    if plane.signed_distance(&x[i]) < own + thickness {
                        found.push(HalfSpaceContact {
                            vertex: v,
                            half_space: k as u32,
                            plane: *plane,
                            weight: weighting.whole(v),
                            thickness,
                            reach: own / d_hat,
                            forecast: 0.0,
                        });
                    }
                }
            }
            found
        })
        .collect();
    chunks.concat()
}
