//! The collision geometry of robots, every joint at zero: URDF and MJCF as one surface, a region per geometry.
//!
//! Boxes have their corners; spheres, ellipsoids, cylinders and capsules become polyhedra with vertices on the
//! surface, 32 around.

mod attributes;
mod flex;
mod keyframe;
mod machine;
mod mjcf;
mod mjcf_machine;
mod mujoco;
mod tree;
mod urdf;

pub use machine::{
    Drive, Hinge, HingeKind, Link, Machine, Matter, RobotOptions, STILL, Spring, Tendon,
};
pub(crate) use mjcf::read as read_mjcf;
pub use mjcf::read_model;
pub use mujoco::{Flex, MujocoModel, Plane};
pub(crate) use urdf::read as read_urdf;
pub use urdf::read_machine;

use super::affine::Affine;
use super::parts::{Parts, part_error, shown};
use super::scan::Result;
use crate::mesh::hull;
use crate::{Mesh, MeshError};
use standoff_linalg::{Mat3, Vec3};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

/// Vertices around a round shape.
const AROUND: usize = 32;
/// Elements that are visited at most: copies of copies grow fast.
const VISITS: usize = 1_000_000;

/// The robot under construction.
struct Builder<'a> {
    path: &'a Path,
    parts: Parts<'a>,
    notes: BTreeSet<String>,
    /// Mesh files that were read.
    meshes: HashMap<PathBuf, Mesh>,
    visits: usize,
    /// Whether meshes touch as their convex hulls.
    hulls: bool,
}

impl<'a> Builder<'a> {
    fn new(path: &'a Path) -> Self {
        let parts = Parts::new(path);
        Self {
            path,
            parts,
            notes: BTreeSet::new(),
            meshes: HashMap::new(),
            visits: 0,
            hulls: false,
        }
    }

    fn error(&self, part: &str, what: impl Into<String>, hint: &str) -> MeshError {
        part_error(self.path, part, what, hint)
    }

    /// A pose names `joint`, which is none of `known`.
    fn unknown_joint<'n>(&self, joint: &str, known: impl Iterator<Item = &'n String>) -> MeshError {
        let mut known: Vec<String> = known.map(|name| shown(name)).collect();
        known.sort();
        let (file, joint) = (self.path.to_path_buf(), joint.to_owned());
        MeshError::UnknownJoint { file, joint, known: known.join(", ") }
    }

    /// A pose names a keyframe that cannot be taken.
    fn no_keyframe(&self, keyframe: &str, what: String) -> MeshError {
        let (file, keyframe) = (self.path.to_path_buf(), keyframe.to_owned());
        MeshError::Keyframe { file, keyframe, what }
    }

    fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    /// Where a joint starts that would start at `reference`: within its limits.
    fn start(&mut self, joint: &str, reference: f64, limits: Option<[f64; 2]>) -> f64 {
        let Some([low, high]) = limits.filter(|[low, high]| low < high) else { return reference };
        let start = reference.clamp(low, high);
        if start.to_bits() != reference.to_bits() {
            self.note(&format!(
                "joint {} starts at its limit {start}: {reference} is beyond it",
                super::parts::shown(joint)
            ));
        }
        start
    }

    /// What a mesh touches with: its convex hull, if that is wanted and it is not flat.
    fn touching<'m>(&self, mesh: &'m Mesh) -> Cow<'m, Mesh> {
        let hull = if self.hulls { hull(&mesh.points) } else { None };
        hull.map_or(Cow::Borrowed(mesh), Cow::Owned)
    }

    /// Counts an element.
    fn visit(&mut self, part: &str) -> Result<()> {
        self.visits += 1;
        if self.visits <= VISITS {
            return Ok(());
        }
        let what = format!("the file amounts to more than {VISITS} elements");
        Err(self.error(part, what, "Use fewer copies"))
    }

    /// The surface of a mesh file.
    fn mesh(&mut self, file: &Path, part: &str) -> Result<Mesh> {
        if let Some(mesh) = self.meshes.get(file) {
            return Ok(mesh.clone());
        }
        let mut mesh = self.whole(file, part)?;
        self.notes.extend(mesh.notes.drain(..).map(|n| format!("{}: {n}", file.display())));
        // equal vertices are joined, as surfaces of robots repeat them for normals
        let mut mesh = Mesh { triangles: mesh.surface(), points: mesh.points, ..Mesh::default() };
        mesh.compact();
        mesh.weld();
        self.meshes.insert(file.to_owned(), mesh.clone());
        Ok(mesh)
    }

    /// Everything in a mesh file.
    fn whole(&self, file: &Path, part: &str) -> Result<Mesh> {
        use super::Format;
        let data = crate::input::bytes(file, crate::input::MOST_DATA).map_err(|e| {
            let what = format!("cannot read its mesh {}: {e}", file.display());
            self.error(part, what, "Put the file there, or correct its name")
        })?;
        if matches!(Format::detect(file, &data), Some(Format::Urdf | Format::Mjcf) | None) {
            let what = format!("its mesh {} has no format that is known", file.display());
            return Err(self.error(
                part,
                what,
                "Convert it to .obj, .stl or .glb, and correct its name",
            ));
        }
        super::parse(file, &data, &super::ReadOptions::default())
            .map_err(|e| self.error(part, format!("its mesh: {e}"), "Correct the file"))
    }
}

/// Numbers of an attribute, separated by blanks; the error says which is none.
fn numbers(text: &str) -> std::result::Result<Vec<f64>, String> {
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("\"{}\" is no number", super::parts::shown(word))),
    };
    text.split_whitespace().map(number).collect()
}

/// A box by its half extents.
fn cuboid(half: Vec3) -> Mesh {
    let sign = |v: usize, bit: usize| if v >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |v: usize| Vec3::new(sign(v, 0), sign(v, 1), sign(v, 2)).component_mul(&half);
    let faces =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    Mesh {
        points: (0..8).map(corner).collect(),
        triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        ..Mesh::default()
    }
}

/// An ellipsoid by its half axes.
fn ellipsoid(half: Vec3) -> Mesh {
    let rings = AROUND / 2;
    let angle = |k: usize| PI * k as f64 / rings as f64;
    let profile: Vec<[f64; 2]> = (1..rings).map(|k| [angle(k).sin(), -angle(k).cos()]).collect();
    let mut mesh = revolve(&profile, [-1.0, 1.0]);
    mesh.points.iter_mut().for_each(|p| p.component_mul_assign(&half));
    mesh
}

/// A cylinder about z.
fn cylinder(radius: f64, half: f64) -> Mesh {
    revolve(&[[radius, -half], [radius, half]], [-half, half])
}

/// A capsule about z: a cylinder with half a sphere on each end.
fn capsule(radius: f64, half: f64) -> Mesh {
    let quarter = AROUND / 4;
    let angle = |k: usize| 0.5 * PI * k as f64 / quarter as f64;
    let below = (1..=quarter).map(|k| [radius * angle(k).sin(), -half - radius * angle(k).cos()]);
    let above = (0..quarter)
        .rev()
        .map(|k| [radius * angle(k + 1).sin(), half + radius * angle(k + 1).cos()]);
    let profile: Vec<[f64; 2]> = below.chain(above).collect();
    revolve(&profile, [-half - radius, half + radius])
}

/// The closed surface of a profile (distance from z, height) from below to above, with a pole at each end.
fn revolve(profile: &[[f64; 2]], poles: [f64; 2]) -> Mesh {
    let n = AROUND as u32;
    let mut points = vec![Vec3::z() * poles[0]];
    for [radius, z] in profile {
        points.extend((0..n).map(|k| {
            let (sin, cos) = (2.0 * PI * f64::from(k) / f64::from(n)).sin_cos();
            Vec3::new(radius * cos, radius * sin, *z)
        }));
    }
    points.push(Vec3::z() * poles[1]);
    let at = |ring: u32, k: u32| 1 + ring * n + k % n;
    let (rings, top) = (profile.len() as u32, points.len() as u32 - 1);
    let mut triangles = Vec::new();
    for k in 0..n {
        triangles.push([0, at(0, k + 1), at(0, k)]);
        for ring in 1..rings {
            let (a, b) = (at(ring - 1, k), at(ring - 1, k + 1));
            let (c, d) = (at(ring, k), at(ring, k + 1));
            triangles.extend([[a, b, d], [a, d, c]]);
        }
        triangles.push([top, at(rings - 1, k), at(rings - 1, k + 1)]);
    }
    Mesh { points, triangles, ..Mesh::default() }
}

/// A map that scales along the axes.
fn scaling(scale: Vec3) -> Affine {
    Affine::linear(Mat3::from_diagonal(&scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed, seen from outside, vertices on the shape, edges and faces at most 1 % of the radius inside.
    #[test]
    fn round_shapes_are_close_to_the_exact_ones() {
        let sphere = ellipsoid(Vec3::repeat(2.0));
        let volume = |m: &Mesh| -> f64 {
            let det = |f: &[u32; 3]| {
                let [a, b, c] = f.map(|v| m.points[v as usize]);
                a.cross(&b).dot(&c) / 6.0
            };
            m.triangles.iter().map(det).sum()
        };
        let shapes = [
            (sphere, 4.0 / 3.0 * PI * 8.0),
            (cylinder(2.0, 3.0), PI * 4.0 * 6.0),
            (capsule(2.0, 3.0), PI * 4.0 * 6.0 + 4.0 / 3.0 * PI * 8.0),
            (cuboid(Vec3::new(1.0, 2.0, 3.0)), 48.0),
        ];
        for (mesh, exact) in &shapes {
            assert!(crate::is_closed(&mesh.triangles) && mesh.check().is_empty());
            let ratio = volume(mesh) / exact;
            assert!((0.98..1.0 + 1e-12).contains(&ratio), "{ratio}");
        }
        for f in &shapes[0].0.triangles {
            let middle = f.iter().map(|&v| shapes[0].0.points[v as usize]).sum::<Vec3>() / 3.0;
            assert!(middle.norm() > 0.99 * 2.0 && middle.norm() <= 2.0);
        }
    }
}
