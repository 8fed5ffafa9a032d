//! Loads: forces, pressures and attachments, with scene-wide vertices, as functions of time.

use crate::controls::Controls;
use crate::definition::expression::{Expression, VectorExpression};
use crate::energy::pressure::{Patch, Pressures};
use crate::energy::spring::{Attachments, Spring, SpringSet};
use standoff_linalg::Vec3;

/// All loads of a scene.
#[derive(Debug, Clone, Default)]
pub struct Loads {
    /// Forces that do not depend on positions.
    pub forces: Vec<Force>,
    /// Pressures on surfaces.
    pub pressures: Vec<Pressure>,
    /// Springs of all attachments and seams.
    pub springs: Vec<Spring>,
    /// Which of them belong together: those of each attachment, then of each seam.
    pub spring_sets: Vec<SpringSet>,
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
    /// The part of it that each vertex has; empty where that is all of it.
    pub(crate) parts: Vec<f64>,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub(crate) t0: f64,
    pub(crate) t1: f64,
}

impl Force {
    /// The acceleration of each of its vertices where that of all together is `whole`.
    fn on_vertices(&self, whole: Vec3) -> impl Iterator<Item = (u32, Vec3)> {
        let part = move |k: usize| self.parts.get(k).map_or(whole, |part| *part * whole);
        self.vertices.iter().enumerate().map(move |(k, v)| (*v, part(k)))
    }
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
    /// Makes a set of the springs from `first` on.
    pub(crate) fn end_set(&mut self, name: &str, key: &'static str, first: usize) {
        let springs = first..self.springs.len();
        self.spring_sets.push(SpringSet { name: name.to_owned(), key, springs });
    }

    /// The springs of the step that starts at `time`.
    pub fn attachments(&self, time: f64) -> Attachments<'_> {
        Attachments { springs: &self.springs, sets: &self.spring_sets, time }
    }

    /// Names of all loads: of `Definition::forces` in order, then of attachments and seams.
    pub fn names(&self) -> Vec<&str> {
        let forces = self.forces.iter().map(|f| (f.index, f.name.as_str()));
        let pressures = self.pressures.iter().map(|p| (p.index, p.name.as_str()));
        let mut of_forces: Vec<(usize, &str)> = forces.chain(pressures).collect();
        of_forces.sort_unstable();
        let sets = self.spring_sets.iter().map(|s| s.name.as_str());
        of_forces.into_iter().map(|(_, name)| name).chain(sets).collect()
    }

    /// Force (N) and moment about the origin (N m) of each of them, in the same order, in the step that starts at
    /// `t` at positions `start` and ends at `end` at `x`. Springs: the force on the vertices that are attached, or on
    /// the first body of a seam.
    pub fn resultants(
        &self,
        controls: &Controls,
        mass: &[f64],
        [t, end]: [f64; 2],
        [start, x]: [&[Vec3]; 2],
    ) -> Vec<[Vec3; 2]> {
        let forces = self.forces.len() + self.pressures.len();
        let mut all = vec![[Vec3::zeros(); 2]; forces];
        let due = |t0: f64, t1: f64| t0 <= t && t < t1;
        for f in self.forces.iter().filter(|f| due(f.t0, f.t1)) {
            let acceleration = controls.vector(f.index, &f.load, end) / f.mass;
            let on = |(v, a): (u32, Vec3)| (x[v as usize], mass[v as usize] * a);
            all[f.index] = resultant(f.on_vertices(acceleration).map(on));
        }
        for p in self.pressures.iter().filter(|p| due(p.t0, p.t1)) {
            all[p.index] =
                p.patch.resultant(controls.pressure(p.index, &p.pressure, end), start, x);
        }
        all.extend(self.spring_sets.iter().map(|set| {
            let acting = self.springs[set.springs.clone()].iter().filter(|s| s.acts(t));
            resultant(acting.map(|s| (x[s.vertices[0] as usize], s.force_on_first(x))))
        }));
        all
    }

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
            for (v, acceleration) in force.on_vertices(acceleration) {
                out[v as usize] += acceleration;
            }
        }
        out
    }

    /// Pressures of the step that starts at `t` at positions `x`, taken at `end`.
    pub fn pressures(&self, controls: &Controls, t: f64, end: f64, x: &[Vec3]) -> Pressures<'_> {
        let active = self.pressures.iter().filter(|p| p.t0 <= t && t < p.t1);
        let value = |p: &Pressure| controls.pressure(p.index, &p.pressure, end);
        Pressures::new(active.map(|p| (p.name.as_str(), &p.patch, value(p))), x)
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

/// Sum of forces (N) at points (m), and of their moments about the origin (N m).
pub(crate) fn resultant(forces: impl Iterator<Item = (Vec3, Vec3)>) -> [Vec3; 2] {
    forces.fold([Vec3::zeros(); 2], |[force, torque], (x, f)| [force + f, torque + x.cross(&f)])
}
