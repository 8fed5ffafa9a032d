//! How stiff rigid bodies are.

use crate::definition::{BodyDef, BodyKind, CONTROL_POINTS, Definition, ForceDef, Load};
use crate::material::{Law, Material};
use crate::thresholds::{LOADED_RIGIDITY, MOST_RIGIDITY, RIGIDITY, STATIC_TIME};
use standoff_linalg::Vec3;

/// What the stiffness of the rigid bodies of a scene follows from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rigidity {
    /// Time in which a body of the scene may change its speed by its own length, s.
    time: f64,
    /// Size of gravity, m/s².
    gravity: f64,
    /// Mass of all that moves, kg.
    total: f64,
    /// What all loads do along the diagonal of all that moves, J: any body may have to bear them, with a lever.
    loads: f64,
    /// Whether bodies have inertia.
    is_inertial: bool,
}

/// Times at which loads are looked at, to find their greatest values.
const SAMPLES: u32 = 64;

impl Rigidity {
    /// The rigidity of a scene in which the mass `total` (kg) moves.
    pub fn of(definition: &Definition, total: f64) -> Self {
        let time = &definition.settings.time;
        let is_inertial = time.scheme().inertial();
        let time = if is_inertial { time.step } else { STATIC_TIME };
        let (gravity, loads) = (definition.gravity.norm(), work_of_loads(definition, total));
        Self { time, gravity, total, loads, is_inertial }
    }

    /// Time in which a body of the scene may change its speed by its own length, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The orthogonality energy [Lan 2022, Eq. 7] as the law of the tetrahedron of control points `x` (m) with a `volume` (m³):
    /// Ψ = K ‖FᵀF − I‖²/4, a St. Venant–Kirchhoff solid without lateral contraction.
    ///
    /// K is `RIGIDITY` times the greater of the work by which a body of this `mass` (kg) and radius L is brought to the speed L/h
    /// within a step h, and of the weight of all that moves times L, which may rest on it. With a force on its surface that changes its
    /// speed by L/h in a step, or with that weight on it, the strain is then about the inverse of `RIGIDITY`. K is also at least
    /// `LOADED_RIGIDITY` times what loads do along the diagonal of all that moves. More than `MOST_RIGIDITY` times the first work is never taken
    /// where there are masses in the matrix beside it.
    pub fn material(&self, x: &[Vec3; CONTROL_POINTS], mass: f64, volume: f64) -> Material {
        let centre = x.iter().sum::<Vec3>() / CONTROL_POINTS as f64;
        let square = x.iter().map(|p| (p - centre).norm_squared()).fold(0.0, f64::max);
        orthogonality(2.0 * self.stiffness(mass, square) / volume)
    }

    /// K of a body whose radius has this square (m²), J.
    fn stiffness(&self, mass: f64, square: f64) -> f64 {
        let most = match self.is_inertial {
            true => MOST_RIGIDITY * mass * square / (self.time * self.time),
            false => f64::INFINITY,
        };
        let loaded = LOADED_RIGIDITY * self.loads;
        (RIGIDITY * self.work(mass, square.sqrt())).max(loaded).min(most)
    }

    /// The greater of the work by which a body of this `mass` (kg) and `radius` (m) is brought to the speed of its radius per step, and of
    /// what the weight of all that moves does along the radius, J.
    pub fn work(&self, mass: f64, radius: f64) -> f64 {
        let speed = radius / self.time;
        (mass * speed * speed).max(self.gravity * self.total * radius)
    }

    /// The stiffness K/L² of a joint of a body of this `mass` (kg) and radius L, N/m: what strains the body by a millionth opens the joint by
    /// a millionth of the radius before its multipliers have grown.
    pub fn joint(&self, mass: f64, radius: f64) -> f64 {
        self.stiffness(mass, radius * radius) / (radius * radius)
    }
}

/// What the greatest values of all loads do along the diagonal of what moves, J, where that has a mass `total` (kg).
fn work_of_loads(definition: &Definition, total: f64) -> f64 {
    let moves = |b: &&BodyDef| !matches!(b.kind, BodyKind::Obstacle { .. });
    let mut points = definition.bodies.iter().filter(moves).flat_map(|b| &b.rest);
    let Some(&first) = points.next() else { return 0.0 };
    let (low, high) = points.fold((first, first), |(l, h), p| (l.inf(p), h.sup(p)));
    let diagonal = (high - low).norm();
    let end = definition.settings.time.end;
    let greatest = |force: &ForceDef| {
        let times = (0..=SAMPLES).map(|k| end * f64::from(k) / f64::from(SAMPLES));
        let value = |t: f64| match &force.load {
            Load::Force(f) => f.at(t).norm(),
            Load::Acceleration(a) => a.at(t).norm() * total,
            Load::Pressure(p) => p.at(t).abs() * diagonal * diagonal,
            Load::Traction(p) => p.at(t).norm() * diagonal * diagonal,
        };
        times.map(value).filter(|f| f.is_finite()).fold(0.0, f64::max)
    };
    diagonal * definition.forces.iter().map(greatest).sum::<f64>()
}

/// ψ = E/8 ‖FᵀF − I‖² with a Young's modulus E (Pa).
pub(crate) fn orthogonality(young_modulus: f64) -> Material {
    Material { law: Law::StVenantKirchhoff, young_modulus, poisson_ratio: 0.0 }
}
