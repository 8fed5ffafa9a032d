//! USD as text (`.usda`), binary (`.usdc`) or packed (`.usdz`): meshes, linear curves and points of one layer.
//!
//! Positions are those of the default time, or of the earliest sample, with the transforms of all ancestors and
//! `metersPerUnit`; axes are those of the file. What other files contribute is not read. Names and meanings
//! follow the schema UsdGeom of OpenUSD.

mod binary;
mod layer;

use super::affine::{Affine, about, rotation};
use super::cells::{Cell, Cells, SPLIT};
use super::parts::{Parts, part_error, shown};
use super::scan::Result;
use crate::{Mesh, MeshError};
use layer::{Attribute, Prim, Value};
use standoff_linalg::{Mat3, Vec3};
use std::collections::BTreeSet;
use std::path::Path;

const FLATTEN: &str = "Flatten the file: usdcat --flatten IN -o OUT.usda";
const AGAIN: &str = "Export the file again";

/// First bytes of the binary form, and of a package.
const BINARY: &[u8] = b"PXR-USDC";
const PACKAGE: &[u8] = b"PK\x03\x04";

/// Metadata that bring in prims or values from elsewhere.
const ARCS: [&str; 4] = ["references", "payload", "inherits", "specializes"];

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let data = if data.starts_with(PACKAGE) { binary::first_of_package(path, data)? } else { data };
    let layer = if data.starts_with(BINARY) {
        binary::parse(path, data)?
    } else {
        layer::parse(path, data)?
    };
    if layer.metadata.contains_key("subLayers") {
        return Err(part_error(path, "subLayers", "layers in other files are not read", FLATTEN));
    }
    let mut reader = Reader { path, parts: Parts::new(path), notes: BTreeSet::new() };
    let unit = match layer.metadata.get("metersPerUnit") {
        Some(Value::Numbers(n, _)) if n.len() == 1 && n[0].is_normal() && n[0] > 0.0 => n[0],
        None => {
            reader.note(
                "metersPerUnit is not given: lengths are taken as centimetres, as USD defines",
            );
            0.01
        }
        Some(_) => {
            return Err(part_error(path, "metersPerUnit", "it is no positive number", AGAIN));
        }
    };
    let scale = Affine::linear(Mat3::from_diagonal_element(unit));
    // breadth does not matter, depth is bounded by the parser
    for prim in &layer.prims {
        reader.prim(prim, "", &scale, &scale)?;
    }
    reader.parts.finish(reader.notes, "it has no mesh, curve or points")
}

struct Reader<'a> {
    path: &'a Path,
    parts: Parts<'a>,
    notes: BTreeSet<String>,
}

impl Reader<'_> {
    fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    fn error(&self, prim: &str, what: impl Into<String>, hint: &str) -> MeshError {
        part_error(self.path, prim, what, hint)
    }

    /// A prim and what is below it; `top` is the transform of the whole stage.
    fn prim(&mut self, prim: &Prim, parent: &str, outer: &Affine, top: &Affine) -> Result<()> {
        if prim.specifier != "def"
            || prim.metadata.get("active").is_some_and(|v| number(v) == Some(0.0))
        {
            return Ok(());
        }
        let name = format!("{parent}/{}", shown(&prim.name));
        if matches!(&prim.kind[..], "Material" | "Shader" | "NodeGraph" | "PointInstancer") {
            if prim.kind == "PointInstancer" {
                self.note("instances (PointInstancer) are left out");
            }
            return Ok(());
        }
        if let Some(arc) = ARCS.iter().find(|a| prim.metadata.contains_key(**a)) {
            return Err(self.error(&name, format!("{arc} are not followed"), FLATTEN));
        }
        if prim.variants {
            return Err(self.error(&name, "variants are not supported", FLATTEN));
        }
        let token = |key: &str| prim.attributes.get(key).and_then(value).and_then(as_text);
        if token("visibility") == Some("invisible") {
            self.note("invisible prims are left out");
            return Ok(());
        }
        if matches!(token("purpose"), Some("guide" | "proxy")) {
            self.note("prims of the purposes guide and proxy are left out");
            return Ok(());
        }
        let (own, reset) = self.transform(prim, &name)?;
        let world = if reset { top } else { outer }.compose(&own);
        let local = match &prim.kind[..] {
            "Mesh" => Some(self.mesh(prim, &name)?),
            "BasisCurves" => self.curves(prim, &name)?,
            "Points" => Some(self.points(prim, &name)?.to_points()),
            "Cube" | "Sphere" | "Cylinder" | "Capsule" | "Cone" | "Plane" | "NurbsPatch"
            | "NurbsCurves" | "TetMesh" | "HermiteCurves" => {
                self.note("prims other than Mesh, linear BasisCurves and Points are left out");
                None
            }
            _ => None,
        };
        if let Some(local) = local.filter(|l| l.dimension().is_some()) {
            self.parts.add(&local, &world, name.rsplit('/').next().unwrap_or_default(), &name)?;
        }
        prim.children.iter().try_for_each(|child| self.prim(child, &name, &world, top))
    }

    /// The transform of `xformOpOrder`, and whether it starts again from the stage.
    fn transform(&self, prim: &Prim, name: &str) -> Result<(Affine, bool)> {
        let mut own = Affine::identity();
        let mut reset = false;
        let order = match prim.attributes.get("xformOpOrder").and_then(value) {
            Some(Value::Texts(order)) => &order[..],
            _ => return Ok((own, reset)),
        };
        for written in order {
            if written == "!resetXformStack!" {
                (own, reset) = (Affine::identity(), true);
                continue;
            }
            let (op, inverted) = match written.strip_prefix("!invert!") {
                Some(op) => (op, true),
                None => (&written[..], false),
            };
            let numbers = match prim.attributes.get(op).and_then(value) {
                Some(Value::Numbers(numbers, _)) => &numbers[..],
                _ => return Err(self.error(name, format!("{} has no value", shown(op)), AGAIN)),
            };
            let kind =
                op.strip_prefix("xformOp:").unwrap_or(op).split(':').next().unwrap_or_default();
            let Some(map) = operation(kind, numbers) else {
                let what = format!("{} is no transform with {} numbers", shown(op), numbers.len());
                return Err(self.error(name, what, AGAIN));
            };
            let map = if inverted { map.inverse() } else { Some(map) };
            let Some(map) = map else {
                return Err(self.error(name, format!("{} has no inverse", shown(op)), AGAIN));
            };
            own = own.compose(&map);
        }
        Ok((own, reset))
    }

    /// The points of a prim.
    fn points(&self, prim: &Prim, name: &str) -> Result<Mesh> {
        let numbers = match prim.attributes.get("points").and_then(value) {
            Some(Value::Numbers(numbers, 3)) => &numbers[..],
            None => &[],
            Some(Value::Numbers(numbers, _)) if numbers.is_empty() => &[],
            _ => return Err(self.error(name, "its points are no triples of numbers", AGAIN)),
        };
        if numbers.iter().any(|x| !x.is_finite()) {
            let what = "a coordinate is not a finite number";
            return Err(self.error(name, what, "Export the mesh again from a valid state"));
        }
        let points = numbers.chunks_exact(3).map(Vec3::from_column_slice).collect();
        Ok(Mesh { points, ..Mesh::default() })
    }

    /// A list of whole numbers; empty if there is none.
    fn integers(&self, prim: &Prim, key: &str, name: &str) -> Result<Vec<u32>> {
        let numbers = match prim.attributes.get(key).and_then(value) {
            None => return Ok(Vec::new()),
            Some(Value::Numbers(numbers, width)) if *width == 1 || numbers.is_empty() => numbers,
            Some(_) => return Err(self.error(name, format!("{key} is no list of numbers"), AGAIN)),
        };
        let whole = |x: &f64| (x.fract() == 0.0 && (0.0..4e9).contains(x)).then_some(*x as u32);
        numbers
            .iter()
            .map(|x| whole(x).ok_or_else(|| self.error(name, format!("{x} in {key}"), AGAIN)))
            .collect()
    }

    /// Lengths of the pieces that a list of indices falls into, checked against it.
    fn pieces(&self, name: &str, key: &str, counts: &[u32], total: usize) -> Result<()> {
        let sum: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        if sum == total as u64 {
            return Ok(());
        }
        let what = format!("{key} amounts to {sum} vertices, but {total} are given");
        Err(self.error(name, what, AGAIN))
    }

    fn mesh(&mut self, prim: &Prim, name: &str) -> Result<Mesh> {
        let mut cells = Cells::default();
        cells.mesh = self.points(prim, name)?;
        let counts = self.integers(prim, "faceVertexCounts", name)?;
        let indices = self.integers(prim, "faceVertexIndices", name)?;
        self.pieces(name, "faceVertexCounts", &counts, indices.len())?;
        let points = cells.mesh.points.len();
        if let Some(i) = indices.iter().find(|i| **i as usize >= points) {
            let what = format!("vertex {i} (from 0) is named, but there are only {points}");
            return Err(self.error(name, what, AGAIN));
        }
        let holes: BTreeSet<u32> = self.integers(prim, "holeIndices", name)?.into_iter().collect();
        let token = |key: &str| prim.attributes.get(key).and_then(value).and_then(as_text);
        if token("subdivisionScheme") != Some("none") {
            self.note("surfaces of subdivision are read as their control meshes");
        }
        let left_handed = token("orientation") == Some("leftHanded");
        let mut rest = &indices[..];
        for (face, &count) in counts.iter().enumerate() {
            let (polygon, others) = rest.split_at(count as usize);
            rest = others;
            if holes.contains(&(face as u32)) {
                continue;
            }
            if count < 3 {
                let what = format!("face {face} cannot have {count} vertices");
                return Err(self.error(name, what, AGAIN));
            }
            let triangles =
                super::polygon::triangles(&cells.mesh.points, polygon).map_err(|what| {
                    self.error(
                        name,
                        format!("face {face} (from 0): a polygon of {count} vertices {what}"),
                        SPLIT,
                    )
                })?;
            for [a, b, c] in triangles {
                let oriented = if left_handed { [a, c, b] } else { [a, b, c] };
                // the indices were checked
                cells.mesh.triangles.push(oriented);
            }
        }
        Ok(cells.mesh)
    }

    /// Linear curves as wires; `None` for other curves.
    fn curves(&mut self, prim: &Prim, name: &str) -> Result<Option<Mesh>> {
        let token = |key: &str| prim.attributes.get(key).and_then(value).and_then(as_text);
        if token("type") != Some("linear") {
            self.note("curves that are not linear are left out");
            return Ok(None);
        }
        let mut cells = Cells::default();
        cells.mesh = self.points(prim, name)?;
        let counts = self.integers(prim, "curveVertexCounts", name)?;
        self.pieces(name, "curveVertexCounts", &counts, cells.mesh.points.len())?;
        let periodic = token("wrap") == Some("periodic");
        let mut first = 0;
        for count in counts {
            let mut curve: Vec<u32> = (first..first + count).collect();
            first += count;
            if periodic && count > 2 {
                curve.push(curve[0]);
            }
            cells
                .add(Cell::Polyline, &curve, 0)
                .map_err(|wrong| self.error(name, wrong.what, AGAIN))?;
        }
        // neighbouring curves name a common end each for itself
        cells.mesh.weld();
        Ok(Some(cells.mesh))
    }
}

/// The default value of an attribute, else its earliest sample.
fn value(attribute: &Attribute) -> Option<&Value> {
    attribute.value.as_ref().or_else(|| attribute.sample.as_ref().map(|(_, value)| value))
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Numbers(numbers, _) if numbers.len() == 1 => Some(numbers[0]),
        _ => None,
    }
}

/// A transform by its kind, `translate` or `rotateXYZ` for instance; angles in degrees.
fn operation(kind: &str, n: &[f64]) -> Option<Affine> {
    let axis =
        |letter: u8| Vec3::ith_axis(usize::from(letter.wrapping_sub(b'X')).min(2)).into_inner();
    let turn = |letter: u8, degrees: f64| about(axis(letter), degrees.to_radians());
    let letters = kind.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let name = &kind[..kind.len() - letters.len()];
    if !letters.bytes().all(|b| (b'X'..=b'Z').contains(&b)) {
        return None;
    }
    Some(match (name, letters.as_bytes(), n) {
        ("translate", [], &[x, y, z]) => Affine::translation(Vec3::new(x, y, z)),
        ("translate", &[letter], &[d]) => Affine::translation(axis(letter) * d),
        ("scale", [], &[x, y, z]) => Affine::linear(Mat3::from_diagonal(&Vec3::new(x, y, z))),
        ("scale", &[letter], &[s]) => {
            Affine::linear(Mat3::from_diagonal(&(Vec3::repeat(1.0) + axis(letter) * (s - 1.0))))
        }
        ("rotate", &[letter], &[degrees]) => Affine::linear(turn(letter, degrees)?),
        // the first axis that is named turns first
        ("rotate", &[a, b, c], n @ &[_, _, _]) => {
            let by = |letter: u8| turn(letter, n[usize::from(letter - b'X')]);
            Affine::linear(by(c)? * by(b)? * by(a)?)
        }
        ("orient", [], &[w, x, y, z]) => Affine::linear(rotation([w, x, y, z])?),
        // rows of a matrix that acts on row vectors
        ("transform", [], n)
            if n.len() == 16 && [n[3], n[7], n[11], n[15]] == [0.0, 0.0, 0.0, 1.0] =>
        {
            let row = |k: usize| Vec3::new(n[k], n[k + 1], n[k + 2]);
            Affine { linear: Mat3::from_columns(&[row(0), row(4), row(8)]), shift: row(12) }
        }
        _ => return None,
    })
}
