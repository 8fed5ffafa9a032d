//! Surfaces that ride along with bodies: a file beside every frame, in the layout of frames.

use crate::{FrameData, OutputError, Topology, write_vtu};
use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_scene::file::Field;
use standoff_scene::resolve::Carried;
use std::path::Path;

/// The surfaces of a scene, joined.
#[derive(Debug)]
pub(crate) struct CarriedSurfaces {
    /// Each with the first vertex of its body.
    parts: Vec<(Carried, usize)>,
    topology: Topology,
}

impl CarriedSurfaces {
    /// The surfaces that the bodies of a scene carry.
    pub fn of(scene: &Scene, bodies: &Topology) -> Self {
        let mut topology = Topology { bodies: bodies.bodies.clone(), ..Topology::default() };
        let mut parts = Vec::new();
        for carried in &scene.carried {
            let first = bodies.bodies[carried.body].first_vertex as usize;
            let offset = topology.rest.len() as u32;
            topology.rest.extend(carried.embedding.apply(&bodies.rest[first..]));
            topology.triangles.extend(carried.triangles.iter().map(|t| t.map(|v| v + offset)));
            topology.cell_body.resize(topology.triangles.len(), carried.body as u32);
            parts.push((carried.clone(), first));
        }
        let cells = topology.triangles.len();
        topology.thin = vec![false; cells];
        topology.thickness = vec![0.0; cells];
        topology.radius = vec![0.0; cells];
        Self { parts, topology }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Writes where they are.
    pub fn write(&self, path: &Path, data: &FrameData<'_>) -> Result<(), OutputError> {
        let carry = |x: &[Vec3]| -> Vec<Vec3> {
            let parts = self.parts.iter();
            parts.flat_map(|(carried, first)| carried.embedding.apply(&x[*first..])).collect()
        };
        let velocities =
            if data.velocities.is_empty() { Vec::new() } else { carry(data.velocities) };
        let data = FrameData {
            step: data.step,
            time: data.time,
            positions: &carry(data.positions),
            velocities: &velocities,
            ..FrameData::default()
        };
        write_vtu(path, &self.topology, &data, &[Field::Displacement, Field::Velocity])
    }
}
