//! Loads: forces, pressures and attachments, with scene-wide vertices, as functions of time.

use crate::controls::Controls;
use crate::definition::expression::{Expression, VectorExpression};
use crate::energy::pressure::{Patch, Pressures};
use crate::energy::spring::Spring;
use standoff_linalg::Vec3;

/// All loads of a scene.
#[derive(Debug, Clone, Default)]
pub struct Loads {
    /// Forces that do not depend on positions.
    pub forces: Vec<Force>,
    /// Pressures on surfaces.
    pub pressures: Vec<Pressure>,
    /// Springs of all attachments.
    pub springs: Vec<Spring>,
}

/// A force on vertices during a time interval.
#[derive(Debug, Clone)]
pub struct Force {
    /// Name for messages.
    pub name: String,
    /// Scene-wide vertices.
    pub vertices: Vec<u32>,
    /// Its index in `Definition::forces`.
    pub(crate) index: usize,
    /// The load: its value divided by `mass` is the acceleration of each vertex, m/s².
    pub(crate) load: VectorExpression,
    pub(crate) mass: f64,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub(crate) t0: f64,
    pub(crate) t1: f64,
}

/// A pressure on a surface during a time interval.
#[derive(Debug, Clone)]
pub struct Pressure {
    /// Name for messages.
    pub name: String,
    /// The surface.
    pub patch: Patch,
    /// Its index in `Definition::forces`.
    pub(crate) index: usize,
    /// The pressure, Pa.
    pub(crate) pressure: Expression,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub(crate) t0: f64,
    pub(crate) t1: f64,
}

impl Loads {
    /// Accelerations by gravity and by the forces of the step that starts at `t`, taken at `end`
    /// (`#V`), m/s²; of `n` vertices the first `positions` are positions, the others angles, on
    /// which nothing acts.
    pub fn accelerations(
        &self,
        controls: &Controls,
        gravity: Vec3,
        positions: usize,
        n: usize,
        t: f64,
        end: f64,
    ) -> Vec<Vec3> {
        let mut out = vec![controls.gravity.unwrap_or(gravity); positions];
        out.resize(n, Vec3::zeros());
        for force in self.forces.iter().filter(|f| f.t0 <= t && t < f.t1) {
            let acceleration = controls.vector(force.index, &force.load, end) / force.mass;
            for &v in &force.vertices {
                out[v as usize] += acceleration;
            }
        }
        out
    }

    /// Pressures of the step that starts at `t` at positions `x`, taken at `end`.
    pub fn pressures(&self, controls: &Controls, t: f64, end: f64, x: &[Vec3]) -> Pressures<'_> {
        let active = self.pressures.iter().filter(|p| p.t0 <= t && t < p.t1);
        let value = |p: &Pressure| controls.pressure(p.index, &p.pressure, end);
        Pressures::new(active.map(|p| (&p.patch, value(p))), x)
    }

    /// Name of a load of the step from `t` to `end` whose value is not finite.
    pub fn undefined(&self, controls: &Controls, t: f64, end: f64) -> Option<&str> {
        let due = |t0: f64, t1: f64| t0 <= t && t < t1;
        let force = self.forces.iter().find(|f| {
            let value = controls.vector(f.index, &f.load, end) / f.mass;
            due(f.t0, f.t1) && !value.iter().all(|c| c.is_finite())
        });
        let pressure = self
            .pressures
            .iter()
            .find(|p| due(p.t0, p.t1) && !controls.pressure(p.index, &p.pressure, end).is_finite());
        force.map(|f| f.name.as_str()).or(pressure.map(|p| p.name.as_str()))
    }
}
