//! The independent check of a step that is called converged: the momentum of every free body changes by what acts on it.
//!
//! For a body without prescribed vertices, loads or springs, Σ m (a − g) − Σ f is zero, where f are the contact forces
//! that the frame reports and a follows from the velocities of two or three frames by the formula of the integrator. Inner forces cancel, so that
//! nothing of elasticity is needed. Masses come from the mesh at rest and the materials of the scene.

use crate::exact::Point;
use crate::frame::{Dimension, Frame, Info, frames};
use std::f64::consts::PI;
use std::path::Path;
use toml::{Table, Value};

/// Part of the forces on a body that may be missing from the balance of a step that is called converged.
pub const TOLERANCE: f64 = 1e-2;

/// Multiple of the rounding of velocities below which forces are no finding.
const ROUNDING: f64 = 64.0;

/// The balance of the bodies of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Balance {
    /// How many bodies were checked, summed over the steps.
    pub checked: u64,
    /// How many were out of balance.
    pub unbalanced: u64,
    /// The greatest part of the forces on a body that was missing.
    pub worst: f64,
    /// Where that was, in words.
    pub place: String,
}

impl Balance {
    /// Checks the steps of a run folder.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn of_run(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        let (info, text) = (Info::read(folder)?, read("scene.resolved.toml")?);
        let scene: Table = text.parse().map_err(|e| format!("scene.resolved.toml: {e}"))?;
        let outcomes: Vec<bool> = read("stats.jsonl")?
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .map(|step| step["outcome"] == "converged")
            .collect();
        let every = |table: &Table| table.get("output")?.as_table()?.get("every")?.as_integer();
        let mut balance = Self::default();
        if every(&scene).unwrap_or(1) != 1 {
            return Ok(balance);
        }
        let files = frames(folder);
        let mut known: Vec<Frame> = Vec::new();
        let mut run = None;
        for (step, path) in files.iter().enumerate() {
            let frame = Frame::read(path)?;
            if [frame.velocity.len(), frame.contact_force.len()] != [frame.x.len(); 2] {
                return Ok(balance);
            }
            known.push(frame);
            if known.len() > 3 {
                known.remove(0);
            }
            if step == 0 {
                run = Run::new(&scene, &info, &known[0]);
            } else if let Some(run) = run.as_ref().filter(|_| outcomes.get(step - 1) == Some(&true))
            {
                balance.add(run, step, &known);
            }
        }
        Ok(balance)
    }

    fn add(&mut self, run: &Run, step: usize, known: &[Frame]) {
        for body in &run.bodies {
            let (missing, acting) = run.balance(body, step, known);
            self.checked += 1;
            let part = missing / acting;
            self.unbalanced += u64::from(part > TOLERANCE);
            if part > self.worst {
                self.worst = part;
                let name = &body.name;
                self.place = format!(
                    "step {step}: {missing:.3e} N of {acting:.3e} N on '{name}' are not balanced"
                );
            }
        }
    }
}

/// A free body.
#[derive(Debug)]
struct BalancedBody {
    name: String,
    first: usize,
    /// Lumped masses, kg.
    mass: Vec<f64>,
    /// Velocity tolerance, m/s.
    tolerance: f64,
}

/// What is constant in a run.
#[derive(Debug)]
struct Run {
    bodies: Vec<BalancedBody>,
    gravity: Point,
    h: f64,
    second_order: bool,
}

impl Run {
    /// The free bodies of a scene; none with other integrators than implicit Euler and BDF2.
    fn new(scene: &Table, info: &Info, frame: &Frame) -> Option<Self> {
        let time = scene.get("time")?.as_table()?;
        let second_order = match time.get("integrator")?.as_str()? {
            "implicit-euler" => false,
            "bdf2" => true,
            _ => return None,
        };
        let gravity = numbers(scene.get("gravity")?)?;
        let objects = scene.get("objects")?.as_array()?;
        let springs = ["attachments", "stitches"].iter().filter_map(|key| scene.get(*key));
        let sprung = springs
            .filter_map(Value::as_array)
            .flatten()
            .flat_map(|s| [s.get("object"), s.get("to").and_then(|to| to.get("object"))])
            .flatten();
        let joints = scene.get("joints").and_then(Value::as_array).into_iter().flatten();
        let joined = joints.filter_map(|j| j.get("bodies")?.as_array()).flatten();
        let tied: Vec<&str> = sprung.chain(joined).filter_map(Value::as_str).collect();
        let relative = scene.get("solver")?.get("end")?.get("velocity_relative")?.as_float()?;
        let mut bodies = Vec::new();
        for body in info.bodies.iter().filter(|b| !b.obstacle && !tied.contains(&&*b.name)) {
            let named = |o: &&Value| o.get("name").and_then(Value::as_str) == Some(&body.name);
            let Some(object) = objects.iter().find(named).and_then(Value::as_table) else {
                continue;
            };
            if ["fixed", "motion", "forces"].iter().any(|key| object.contains_key(*key)) {
                continue;
            }
            let range = body.first_vertex..body.first_vertex + body.vertices;
            let rest = &frame.rest[range.clone()];
            let Some(mass) = masses(scene, object, frame, info.dimension, range) else { continue };
            let tolerance = relative * diagonal(rest).max(body.contact_thickness);
            let (name, first) = (body.name.clone(), body.first_vertex);
            bodies.push(BalancedBody { name, first, mass, tolerance });
        }
        Some(Self { bodies, gravity, h: time.get("step")?.as_float()?, second_order })
    }

    /// What is missing from the balance of a body at the end of a step, and the forces that act on it, both N.
    fn balance(&self, body: &BalancedBody, step: usize, known: &[Frame]) -> (f64, f64) {
        let h = self.h;
        let now = &known[known.len() - 1];
        let before = &known[known.len() - 2];
        let (mut sum, mut acting, mut rounding) = ([0.0; 3], 0.0, 0.0);
        for (k, m) in body.mass.iter().enumerate() {
            let v = body.first + k;
            let mut force = [[0.0; 3]; 3];
            for d in 0..3 {
                // BDF2 begins with a step of implicit Euler
                let a = match self.second_order && step > 1 {
                    true => {
                        let earlier = &known[known.len() - 3];
                        (3.0 * now.velocity[v][d] - 4.0 * before.velocity[v][d]
                            + earlier.velocity[v][d])
                            / (2.0 * h)
                    }
                    false => (now.velocity[v][d] - before.velocity[v][d]) / h,
                };
                force[0][d] = m * a;
                force[1][d] = -m * self.gravity[d];
                force[2][d] = -now.contact_force[v][d];
                sum[d] += force[0][d] + force[1][d] + force[2][d];
            }
            acting += force.iter().map(length).sum::<f64>() + m * body.tolerance / h;
            rounding += m * f64::EPSILON * (length(&now.x[v]) / h + length(&now.velocity[v])) / h;
        }
        let missing = length(&sum);
        (if missing <= ROUNDING * rounding { 0.0 } else { missing }, acting)
    }
}

fn numbers(value: &Value) -> Option<Point> {
    let all: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_float).collect();
    let mut all = all?;
    // of two dimensions
    all.resize(all.len().max(3), 0.0);
    all.try_into().ok()
}

fn length(v: &Point) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

fn minus(a: &Point, b: &Point) -> Point {
    [0, 1, 2].map(|k| a[k] - b[k])
}

fn cross(a: &Point, b: &Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn diagonal(points: &[Point]) -> f64 {
    let range = |k: usize| {
        let of = points.iter().map(|p| p[k]);
        of.clone().fold(f64::MIN, f64::max) - of.fold(f64::MAX, f64::min)
    };
    length(&[0, 1, 2].map(range))
}

// long: an arm for each role
/// Masses of the vertices of a body: the cells at rest, each shared by its corners.
fn masses(
    scene: &Table,
    object: &Table,
    frame: &Frame,
    dimension: Dimension,
    range: std::ops::Range<usize>,
) -> Option<Vec<f64>> {
    // how a ring is shared by its corners is a choice that momentum does not tell
    if dimension == Dimension::Axisymmetric {
        return None;
    }
    let material = object.get("material")?.as_str()?;
    let material = scene.get("materials")?.get(material)?;
    let density = material.get("density")?.as_float()?;
    let mut mass = vec![0.0; range.len()];
    let rest = |v: usize| &frame.rest[v];
    let mut share = |cell: &[usize], volume: f64| {
        for v in cell.iter().filter(|v| range.contains(v)) {
            mass[v - range.start] += density * volume / cell.len() as f64;
        }
    };
    match object.get("role")?.as_str()? {
        "volume" => {
            for t in &frame.tets {
                let [a, b, c] = [1, 2, 3].map(|k| minus(rest(t[k]), rest(t[0])));
                let n = cross(&a, &b);
                share(t, (n[0] * c[0] + n[1] * c[1] + n[2] * c[2]).abs() / 6.0);
            }
            // of straight edges; corners have 1/36, middles 4/27 of the mass each
            for t in &frame.quadratic {
                let [a, b, c] = [1, 2, 3].map(|k| minus(rest(t[k]), rest(t[0])));
                let n = cross(&a, &b);
                let volume = (n[0] * c[0] + n[1] * c[1] + n[2] * c[2]).abs() / 6.0;
                share(&t[..4], volume / 9.0);
                share(&t[4..], volume * 8.0 / 9.0);
            }
            // per metre of depth
            let area = |t: &[usize]| {
                let [a, b] = [1, 2].map(|k| minus(rest(t[k]), rest(t[0])));
                length(&cross(&a, &b)) / 2.0
            };
            for t in frame.triangles.iter().filter(|_| dimension == Dimension::Two) {
                share(t, area(t));
            }
            // of straight edges; corners have 1/19, middles 16/57 of the mass each
            for t in &frame.curved {
                share(&t[..3], area(t) * 3.0 / 19.0);
                share(&t[3..], area(t) * 16.0 / 19.0);
            }
        }
        // the mass of the inside at the four control points, which come last
        "rigid" => {
            let inside = |t: &&[usize; 3]| t.iter().all(|v| range.contains(v));
            let corner = |t: &[usize; 3]| {
                let [a, b, c] = t.map(|v| minus(rest(v), rest(range.start)));
                let n = cross(&a, &b);
                (n[0] * c[0] + n[1] * c[1] + n[2] * c[2]) / 6.0
            };
            let volume: f64 = frame.triangles.iter().filter(inside).map(corner).sum();
            let count = mass.len();
            mass[count - 4..].fill(density * volume / 4.0);
        }
        "shell" => {
            let thickness = material.get("shell")?.get("thickness")?.as_float()?;
            for t in &frame.triangles {
                let [a, b] = [1, 2].map(|k| minus(rest(t[k]), rest(t[0])));
                share(t, thickness * length(&cross(&a, &b)) / 2.0);
            }
        }
        "rod" => {
            let radius = object.get("radius")?.as_float()?;
            for s in &frame.segments {
                share(s, PI * radius * radius * length(&minus(rest(s[0]), rest(s[1]))));
            }
        }
        "particles" => {
            let radius = object.get("radius")?.as_float()?;
            frame.points.iter().for_each(|p| share(&[*p], 4.0 / 3.0 * PI * radius.powi(3)));
        }
        _ => return None,
    }
    Some(mass)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: f64 = 0.01;
    const G: f64 = -9.81;

    /// A tetrahedron of 1 kg that falls with velocities of `v` at the ends of three steps, pushed by the contact force `f`.
    fn missing(second_order: bool, v: [f64; 3], f: f64) -> f64 {
        let scene: Table = format!(
            "gravity = [0.0, {G}, 0.0]\ntime = {{ step = {H}, integrator = \"{}\" }}\n\
             solver = {{ end.velocity_relative = 0.01 }}\nmaterials = {{ m = {{ density = 6.0 }} }}\n\
             objects = [{{ name = \"t\", role = \"volume\", material = \"m\" }}]",
            if second_order { "bdf2" } else { "implicit-euler" }
        )
        .parse()
        .unwrap();
        let info: Info = serde_json::from_str(
            r#"{"bodies": [{"name": "t", "obstacle": false, "first_vertex": 0, "vertices": 4, "contact_thickness": 0.0}],
                "half_spaces": [], "no_contact": [], "self_contact": true, "contact": true, "allow_inversion": false}"#,
        )
        .unwrap();
        let rest = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let known = v.map(|v| Frame {
            x: rest.clone(),
            rest: rest.clone(),
            tets: vec![[0, 1, 2, 3]],
            velocity: vec![[0.0, v, 0.0]; 4],
            contact_force: vec![[0.0, f, 0.0], [0.0; 3], [0.0; 3], [0.0; 3]],
            ..Frame::default()
        });
        let run = Run::new(&scene, &info, &known[0]).unwrap();
        let mut balance = Balance::default();
        balance.add(&run, 2, &known);
        assert_eq!((balance.checked, balance.unbalanced > 0), (1, balance.worst > TOLERANCE));
        balance.worst
    }

    #[test]
    fn a_body_on_which_forces_balance_is_no_finding() {
        // implicit Euler: free fall, rest on a contact that carries the weight
        assert!(missing(false, [0.0, 0.0, G * H], 0.0) < 1e-12);
        assert!(missing(false, [0.0; 3], -G) < 1e-12);
        // BDF2: velocities that grow evenly
        assert!(missing(true, [0.0, G * H, 2.0 * G * H], 0.0) < 1e-12);
    }

    #[test]
    fn a_contact_force_that_is_wrong_by_five_percent_is_found() {
        assert!(missing(false, [0.0; 3], -1.05 * G) > TOLERANCE);
        assert!(missing(true, [0.0; 3], -0.95 * G) > TOLERANCE);
        assert!(missing(true, [0.0, 0.0, G * H], 0.0) > TOLERANCE);
    }
}
