//! Flexible bodies of MJCF (`flexcomp`): points and elements as MuJoCo makes them, and what is said about them.

// long: a method for each part of the element

use super::attributes::Model;
use super::mujoco::Flex;
use super::tree::Element;
use crate::format::affine::Affine;
use crate::format::parts::shown;
use crate::format::scan::Result;
use crate::{Mesh, tet_determinant};
use standoff_linalg::Vec3;
use std::collections::BTreeSet;

/// Points of a grid at most.
const MOST: usize = 10_000_000;

impl Model<'_> {
    // long: points and elements, material, pins and contact, in this order
    pub(super) fn flexcomp(&mut self, element: &Element, place: &Affine, part: &str) -> Result<()> {
        let number = |key: &str, default: f64| -> Result<f64> {
            let found = self.vector(element, None, key, [1, 1], part)?;
            Ok(found.map_or(default, |n| n[0]))
        };
        let (radius, mass) = (number("radius", 0.005)?, number("mass", 1.0)?);
        let mut dimension = match number("dim", 2.0)? {
            1.0 => 1,
            2.0 => 2,
            3.0 => 3,
            _ => return Err(self.error(part, "dim must be 1, 2 or 3", "Correct it")),
        };
        let name = element.get("name").unwrap_or("flex").to_owned();
        let kind = element.get("type").unwrap_or("grid");
        let mut counts = [1; 3];
        let mut mesh = match kind {
            "grid" => {
                counts = self.counts(element, dimension, part)?;
                let spacing =
                    self.vector(element, None, "spacing", [3, 3], part)?.unwrap_or(vec![0.02; 3]);
                grid(dimension, counts, &Vec3::from_column_slice(&spacing))
            }
            "direct" => self.direct(element, dimension, part)?,
            "mesh" | "gmsh" => {
                let Some(file) = element.get("file") else {
                    return Err(self.error(part, "the attribute file is missing", "Add it"));
                };
                let file = self.mesh_file(file);
                let mut mesh = self.builder.whole(&file, part)?;
                match (kind, dimension) {
                    ("mesh", 3) => mesh = self.cone(element, mesh, part)?,
                    ("mesh", _) => {
                        mesh.weld();
                        dimension = 2;
                    }
                    _ => dimension = mesh.dimension().unwrap_or(0),
                }
                let has = [
                    false,
                    !mesh.edges.is_empty(),
                    !mesh.triangles.is_empty(),
                    !mesh.tets.is_empty(),
                ];
                if !has[dimension.min(3)] {
                    return Err(self.error(
                        part,
                        format!("{} has no elements", file.display()),
                        "Name another file",
                    ));
                }
                mesh
            }
            other => {
                let text = format!(
                    "{part}: bodies of the type {} are left out; grid, mesh, gmsh and direct are read",
                    shown(other)
                );
                self.builder.note(&text);
                return Ok(());
            }
        };
        (mesh.regions, mesh.notes) = Default::default();
        if dimension < 3 {
            mesh.tets.clear();
        }
        if dimension != 2 {
            mesh.triangles.clear();
        }
        if dimension != 1 {
            mesh.edges.clear();
        }
        mesh.vertices.clear();
        if kind != "grid" {
            let scale = self.vector(element, None, "scale", [3, 3], part)?.unwrap_or(vec![1.0; 3]);
            let scale = Vec3::from_column_slice(&scale);
            mesh.points.iter_mut().for_each(|p| p.component_mul_assign(&scale));
        }
        let world = place.compose(&self.pose(element, None, part)?);
        mesh.points.iter_mut().for_each(|p| *p = world.apply(p));
        if mesh.points.iter().flatten().any(|c| !c.is_finite()) {
            return Err(self.error(
                part,
                "a coordinate is not a finite number",
                "Correct the numbers",
            ));
        }
        mesh.flip_if_all_inverted();
        let mut flex = Flex {
            pinned: self.pins(element, dimension, counts, mesh.points.len(), part)?,
            name,
            mesh,
            dimension,
            radius,
            mass,
            young_modulus: None,
            poisson_ratio: 0.0,
            thickness: None,
            friction: 1.0,
            self_contact: true,
        };
        self.material(element, &mut flex, part)?;
        self.flexes.push(flex);
        Ok(())
    }

    fn counts(&self, element: &Element, dimension: usize, part: &str) -> Result<[usize; 3]> {
        let given = self.vector(element, None, "count", [3, 3], part)?.unwrap_or(vec![10.0; 3]);
        let mut counts = [1; 3];
        for (count, n) in counts.iter_mut().zip(&given).take(dimension) {
            if n.fract() != 0.0 || !(2.0..=MOST as f64).contains(n) {
                return Err(self.error(
                    part,
                    "count must be whole numbers from 2 on",
                    "Correct them",
                ));
            }
            *count = *n as usize;
        }
        let total: f64 = counts.iter().map(|n| *n as f64).product();
        if total > MOST as f64 {
            return Err(self.error(
                part,
                format!("a grid of more than {MOST} points"),
                "Make it coarser",
            ));
        }
        Ok(counts)
    }

    /// A surface as tetrahedra: its triangles, each with `origin`, which becomes the first point. As in MuJoCo,
    /// equal points are joined, and triangles that do not face away from `origin` are left out.
    fn cone(&mut self, element: &Element, mut mesh: Mesh, part: &str) -> Result<Mesh> {
        let origin = self.vector(element, None, "origin", [3, 3], part)?.unwrap_or(vec![0.0; 3]);
        mesh.weld();
        let mut points = vec![Vec3::from_column_slice(&origin)];
        points.append(&mut mesh.points);
        let all = mesh.triangles.iter().map(|t| [0, t[0] + 1, t[1] + 1, t[2] + 1]);
        let (tets, others): (Vec<_>, Vec<_>) =
            all.partition(|t| tet_determinant(&t.map(|v| points[v as usize])) > 1e-15);
        if !others.is_empty() {
            let text = format!(
                "{part}: {} triangles that do not face away from its origin make no tetrahedra",
                others.len()
            );
            self.builder.note(&text);
        }
        Ok(Mesh { points, tets, ..Mesh::default() })
    }

    /// `point` and `element` as they stand in the file.
    fn direct(&self, element: &Element, dimension: usize, part: &str) -> Result<Mesh> {
        let all = [0, usize::MAX];
        let points = self.vector(element, None, "point", all, part)?.unwrap_or_default();
        let indices = self.vector(element, None, "element", all, part)?.unwrap_or_default();
        let count = points.len() / 3;
        let valid = |i: &f64| i.fract() == 0.0 && (0.0..count as f64).contains(i);
        let fits = points.len().is_multiple_of(3) && indices.len().is_multiple_of(dimension + 1);
        if !fits || indices.is_empty() || !indices.iter().all(valid) {
            let what = format!(
                "point must be triples, and element groups of {} points from 0",
                dimension + 1
            );
            return Err(self.error(part, what, "Correct the numbers"));
        }
        let mut mesh = Mesh {
            points: points.chunks_exact(3).map(Vec3::from_column_slice).collect(),
            ..Mesh::default()
        };
        for e in indices.chunks_exact(dimension + 1) {
            add(&mut mesh, e.iter().map(|i| *i as u32));
        }
        Ok(mesh)
    }

    // long: the four ways to name vertices
    /// Vertices that `pin` names by number, by ranges, by places of the grid and by boxes of it.
    fn pins(
        &mut self,
        element: &Element,
        dimension: usize,
        counts: [usize; 3],
        points: usize,
        part: &str,
    ) -> Result<Vec<u32>> {
        if element.get("rigid") == Some("true") {
            self.builder.note("rigid flexible bodies are held at all their vertices");
            return Ok((0..points as u32).collect());
        }
        let mut pinned = BTreeSet::new();
        let wrong = |model: &Self| model.error(part, "a pin names no point", "Correct the numbers");
        for pin in element.all("pin") {
            let list = |key: &str, group: usize| -> Result<Vec<Vec<usize>>> {
                let found = self.vector(pin, None, key, [0, usize::MAX], part)?.unwrap_or_default();
                let whole =
                    found.iter().all(|x| x.fract() == 0.0 && (0.0..points as f64).contains(x));
                if !whole || !found.len().is_multiple_of(group) {
                    return Err(wrong(self));
                }
                Ok(found
                    .chunks_exact(group)
                    .map(|c| c.iter().map(|x| *x as usize).collect())
                    .collect())
            };
            pinned.extend(list("id", 1)?.into_iter().flatten());
            for range in list("range", 2)? {
                pinned.extend(range[0]..=range[1]);
            }
            let mut boxes: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
            boxes.extend(list("grid", dimension)?.into_iter().map(|at| (at.clone(), at)));
            let ranges = list("gridrange", 2 * dimension)?;
            boxes.extend(
                ranges.into_iter().map(|r| (r[..dimension].to_vec(), r[dimension..].to_vec())),
            );
            for (mut low, mut high) in boxes {
                low.resize(3, 0);
                high.resize(3, 0);
                if high.iter().zip(counts).any(|(h, n)| *h >= n) {
                    return Err(wrong(self));
                }
                for i in low[0]..=high[0] {
                    for j in low[1]..=high[1] {
                        pinned.extend(
                            (low[2]..=high[2]).map(|k| (i * counts[1] + j) * counts[2] + k),
                        );
                    }
                }
            }
        }
        Ok(pinned.into_iter().map(|v| v as u32).collect())
    }

    // long: an arm for each child of the element
    /// Elasticity, edges and contact of a body, with notes for what is left out.
    fn material(&mut self, element: &Element, flex: &mut Flex, part: &str) -> Result<()> {
        let mut notes: Vec<String> = Vec::new();
        let mut left_out = |what: &str| notes.push(format!("{part}: {what}"));
        let mut values: Vec<(&str, f64)> = Vec::new();
        for child in &element.children {
            let number = |key: &str, most: usize| -> Result<Option<f64>> {
                Ok(self.vector(child, None, key, [1, most], part)?.map(|n| n[0]))
            };
            match &child.name[..] {
                "elasticity" => {
                    for key in ["young", "poisson", "damping", "thickness"] {
                        values.extend(number(key, 1)?.map(|x| (key, x)));
                    }
                }
                // models of MuJoCo before 3.3
                "plugin" => {
                    for config in child.all("config") {
                        let key = ["young", "poisson", "damping", "thickness"]
                            .into_iter()
                            .find(|k| config.get("key") == Some(k));
                        let value = self.vector(config, None, "value", [1, 1], part);
                        if let (Some(key), Ok(Some(value))) = (key, value) {
                            values.push((key, value[0]));
                        }
                    }
                }
                "edge" => {
                    if child.get("equality").is_some_and(|e| e != "false") {
                        left_out(
                            "edges that keep their length are left out: a high Young's modulus or `stretch_limit` does it",
                        );
                    }
                    if ["stiffness", "damping"].iter().any(|k| child.get(k).is_some()) {
                        left_out("stiffness and damping of single edges are left out");
                    }
                }
                "contact" => {
                    flex.friction = number("friction", 3)?.unwrap_or(flex.friction);
                    flex.self_contact = child.get("selfcollide") != Some("none");
                }
                _ => {}
            }
        }
        for (key, value) in values {
            match key {
                "young" => flex.young_modulus = (value > 0.0).then_some(value),
                "poisson" => flex.poisson_ratio = value,
                "thickness" => flex.thickness = (value > 0.0).then_some(value),
                _ if value > 0.0 => {
                    left_out(&format!(
                        "damping {value} s is left out; `time.stiffness_damping` damps all bodies"
                    ));
                }
                _ => {}
            }
        }
        if element.get("dof").is_some_and(|d| d != "full") {
            left_out("all vertices move, not only those of `dof`");
        }
        self.builder.notes.extend(notes);
        Ok(())
    }
}

/// Adds an element of 2, 3 or 4 vertices.
fn add(mesh: &mut Mesh, vertices: impl Iterator<Item = u32>) {
    match vertices.collect::<Vec<u32>>()[..] {
        [a, b] => mesh.edges.push([a, b]),
        [a, b, c] => mesh.triangles.push([a, b, c]),
        [a, b, c, d] => mesh.tets.push([a, b, c, d]),
        _ => {}
    }
}

/// A grid about the origin, the last axis fastest, its cells divided as MuJoCo does.
fn grid(dimension: usize, counts: [usize; 3], spacing: &Vec3) -> Mesh {
    let [nx, ny, nz] = counts;
    let mut mesh = Mesh::default();
    let at = |k: usize, axis: usize| spacing[axis] * (k as f64 - 0.5 * (counts[axis] - 1) as f64);
    for i in 0..nx {
        for j in 0..ny {
            mesh.points.extend((0..nz).map(|k| Vec3::new(at(i, 0), at(j, 1), at(k, 2))));
        }
    }
    // corners of a cell by their bits: 4 along x, 2 along y, 1 along z
    let cells: &[&[usize]] = match dimension {
        1 => &[&[0, 4]],
        2 => &[&[0, 4, 6], &[0, 6, 2]],
        _ => &[
            &[0, 2, 4, 3],
            &[0, 4, 1, 3],
            &[4, 2, 6, 3],
            &[4, 6, 7, 3],
            &[4, 5, 1, 3],
            &[4, 7, 5, 3],
        ],
    };
    let steps = |axis: usize| if axis < dimension { counts[axis] - 1 } else { 1 };
    for i in 0..steps(0) {
        for j in 0..steps(1) {
            for k in 0..steps(2) {
                let corner = |c: &usize| {
                    (((i + (c >> 2 & 1)) * ny + j + (c >> 1 & 1)) * nz + k + (c & 1)) as u32
                };
                cells.iter().for_each(|cell| add(&mut mesh, cell.iter().map(corner)));
            }
        }
    }
    mesh
}
