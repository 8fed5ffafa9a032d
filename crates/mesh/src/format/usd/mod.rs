//! USD as text (`.usda`), binary (`.usdc`) or packed (`.usdz`): meshes, linear curves and points of one layer.
//!
//! Positions are those at `startTimeCode` where there are time samples, with the transforms of all ancestors and
//! `metersPerUnit`; axes are those of the file. [`animation`](read_animation) gives them over time. What other files contribute is not read. Names and meanings
//! follow the schema UsdGeom of OpenUSD.

// long: a method for each kind of prim and attribute

mod animation;
mod binary;
mod layer;

use super::affine::{Affine, about, rotation};
use super::cells::{Cell, Cells, SPLIT};
use super::parts::{Parts, part_error, shown};
use super::scan::Result;
use crate::{Mesh, MeshError, first_within};
pub use animation::Animation;
use animation::{Clock, Track};
use layer::{Layer, Prim, Value};
use standoff_linalg::{Mat3, Vec3};
use std::borrow::Cow;
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
    let (layer, unit) = layer_of(path, data)?;
    let reader = Reader::of(path, &layer, unit)?;
    reader.parts.finish(reader.notes, "it has no mesh, curve or points")
}

/// The motion of the points of a file; `None` where nothing moves.
pub(crate) fn read_animation(path: &Path, data: &[u8]) -> Result<Option<Animation>> {
    let (layer, unit) = layer_of(path, data)?;
    let tracks = Reader::of(path, &layer, unit)?.tracks;
    Ok(Animation::new(path.to_owned(), layer, unit.unwrap_or(CENTIMETRE), tracks))
}

/// Length of a unit of a file that gives none, m.
const CENTIMETRE: f64 = 0.01;

/// The layer of a file, and its unit in m if it gives one.
fn layer_of(path: &Path, data: &[u8]) -> Result<(Layer, Option<f64>)> {
    let data = if data.starts_with(PACKAGE) { binary::first_of_package(path, data)? } else { data };
    let layer = if data.starts_with(BINARY) {
        binary::parse(path, data)?
    } else {
        layer::parse(path, data)?
    };
    if layer.metadata.contains_key("subLayers") {
        return Err(part_error(path, "subLayers", "layers in other files are not read", FLATTEN));
    }
    let unit = match layer.metadata.get("metersPerUnit") {
        Some(Value::Numbers(n, _)) if n.len() == 1 && n[0].is_normal() && n[0] > 0.0 => Some(n[0]),
        None => None,
        Some(_) => {
            return Err(part_error(path, "metersPerUnit", "it is no positive number", AGAIN));
        }
    };
    Ok((layer, unit))
}

struct Reader<'a> {
    path: &'a Path,
    parts: Parts<'a>,
    notes: BTreeSet<String>,
    /// The time code at which positions are read.
    time: f64,
    /// Indices of the prim that is read, from the top.
    route: Vec<usize>,
    tracks: Vec<Track>,
}

impl<'a> Reader<'a> {
    /// Reads all prims of a layer.
    fn of(path: &'a Path, layer: &Layer, unit: Option<f64>) -> Result<Self> {
        let mut reader = Self {
            path,
            parts: Parts::new(path),
            notes: BTreeSet::new(),
            time: Clock::new(layer).start,
            route: Vec::new(),
            tracks: Vec::new(),
        };
        if unit.is_none() {
            reader.note(
                "metersPerUnit is not given: lengths are taken as centimetres, as USD defines",
            );
        }
        let scale = Affine::linear(Mat3::from_diagonal_element(unit.unwrap_or(CENTIMETRE)));
        reader.prims(&layer.prims, "", &scale, &scale)?;
        Ok(reader)
    }

    /// Prims beside each other. Breadth does not matter, depth is bounded by the parser.
    fn prims(&mut self, prims: &[Prim], parent: &str, outer: &Affine, top: &Affine) -> Result<()> {
        for (k, prim) in prims.iter().enumerate() {
            self.route.push(k);
            self.prim(prim, parent, outer, top)?;
            self.route.pop();
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.insert(text.to_owned());
    }

    fn error(&self, prim: &str, what: impl Into<String>, hint: &str) -> MeshError {
        part_error(self.path, prim, what, hint)
    }

    /// Whether a prim and what is below it is left out; notes why.
    fn is_left_out(&mut self, prim: &Prim, name: &str) -> Result<bool> {
        if matches!(&prim.kind[..], "Material" | "Shader" | "NodeGraph" | "PointInstancer") {
            if prim.kind == "PointInstancer" {
                self.note("instances (PointInstancer) are left out");
            }
            return Ok(true);
        }
        if let Some(arc) = ARCS.iter().find(|a| prim.metadata.contains_key(**a)) {
            return Err(self.error(name, format!("{arc} are not followed"), FLATTEN));
        }
        if prim.variants {
            return Err(self.error(name, "variants are not supported", FLATTEN));
        }
        if prim.attributes.get("visibility").is_some_and(|a| a.moves()) {
            self.note("visibility that changes with time is read at the start");
        }
        let time = self.time;
        let token = |key: &str| token(prim, key, time);
        if token("visibility").as_deref() == Some("invisible") {
            self.note("invisible prims are left out");
            return Ok(true);
        }
        if matches!(token("purpose").as_deref(), Some("guide" | "proxy")) {
            self.note("prims of the purposes guide and proxy are left out");
            return Ok(true);
        }
        Ok(false)
    }

    /// A prim and what is below it; `top` is the transform of the whole stage.
    fn prim(&mut self, prim: &Prim, parent: &str, outer: &Affine, top: &Affine) -> Result<()> {
        if prim.specifier != "def"
            || prim.metadata.get("active").is_some_and(|v| number(v) == Some(0.0))
        {
            return Ok(());
        }
        let name = format!("{parent}/{}", shown(&prim.name));
        if self.is_left_out(prim, &name)? {
            return Ok(());
        }
        let (own, reset) = transform(self.path, prim, &name, self.time)?;
        let world = if reset { top } else { outer }.compose(&own);
        let mut kept = None;
        let local = match &prim.kind[..] {
            "Mesh" => Some(self.mesh(prim, &name)?),
            "BasisCurves" => self.curves(prim, &name)?.map(|(mesh, old)| {
                kept = Some(old);
                mesh
            }),
            "Points" => Some(points(self.path, prim, &name, self.time)?.to_points()),
            "SkelRoot" | "SkelAnimation" => {
                self.note(
                    "skeletons (UsdSkel) move nothing: export the mesh with its deformation, as \
                     points over time",
                );
                None
            }
            "Cube" | "Sphere" | "Cylinder" | "Capsule" | "Cone" | "Plane" | "NurbsPatch"
            | "NurbsCurves" | "TetMesh" | "HermiteCurves" => {
                self.note("prims other than Mesh, linear BasisCurves and Points are left out");
                None
            }
            _ => None,
        };
        if let Some(local) = local.filter(|l| l.dimension().is_some()) {
            self.parts.add(&local, &world, name.rsplit('/').next().unwrap_or_default(), &name)?;
            let count = points(self.path, prim, &name, self.time)?.points.len();
            self.tracks.push(Track { route: self.route.clone(), kept, count });
        }
        self.prims(&prim.children, &name, &world, top)
    }

    /// A list of whole numbers; empty if there is none.
    fn integers(&self, prim: &Prim, key: &str, name: &str) -> Result<Vec<u32>> {
        if prim.attributes.get(key).is_some_and(|a| a.moves()) {
            let what = format!("its {key} change with time, which no body can follow");
            return Err(self.error(
                name,
                what,
                "Export a single frame, or a mesh of constant faces",
            ));
        }
        let found = prim.attributes.get(key).and_then(|a| a.at(self.time));
        let numbers = match found.as_deref() {
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
        cells.mesh = points(self.path, prim, name, self.time)?;
        let counts = self.integers(prim, "faceVertexCounts", name)?;
        let indices = self.integers(prim, "faceVertexIndices", name)?;
        self.pieces(name, "faceVertexCounts", &counts, indices.len())?;
        let points = cells.mesh.points.len();
        if let Some(i) = indices.iter().find(|i| **i as usize >= points) {
            let what = format!("vertex {i} (from 0) is named, but there are only {points}");
            return Err(self.error(name, what, AGAIN));
        }
        let holes: BTreeSet<u32> = self.integers(prim, "holeIndices", name)?.into_iter().collect();
        let time = self.time;
        let token = |key: &str| token(prim, key, time);
        if token("subdivisionScheme").as_deref() != Some("none") {
            self.note("surfaces of subdivision are read as their control meshes");
        }
        let left_handed = token("orientation").as_deref() == Some("leftHanded");
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

    /// Linear curves as wires, and the points that are left of them; `None` for other curves.
    fn curves(&mut self, prim: &Prim, name: &str) -> Result<Option<(Mesh, Vec<u32>)>> {
        let time = self.time;
        let token = |key: &str| token(prim, key, time);
        if token("type").as_deref() != Some("linear") {
            self.note("curves that are not linear are left out");
            return Ok(None);
        }
        let mut cells = Cells::default();
        cells.mesh = points(self.path, prim, name, self.time)?;
        let counts = self.integers(prim, "curveVertexCounts", name)?;
        self.pieces(name, "curveVertexCounts", &counts, cells.mesh.points.len())?;
        let periodic = token("wrap").as_deref() == Some("periodic");
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
        let first = first_within(&cells.mesh.points, 0.0, None);
        let old = cells.mesh.join(&first);
        Ok(Some((cells.mesh, old)))
    }
}

/// The transform of `xformOpOrder`, and whether it starts again from the stage.
fn transform(path: &Path, prim: &Prim, name: &str, time: f64) -> Result<(Affine, bool)> {
    let mut own = Affine::identity();
    let mut reset = false;
    let order = prim.attributes.get("xformOpOrder").and_then(|a| a.at(time));
    let Some(Value::Texts(order)) = order.as_deref() else { return Ok((own, reset)) };
    for written in order {
        if written == "!resetXformStack!" {
            (own, reset) = (Affine::identity(), true);
            continue;
        }
        let (op, inverted) = match written.strip_prefix("!invert!") {
            Some(op) => (op, true),
            None => (&written[..], false),
        };
        let kind = op.strip_prefix("xformOp:").unwrap_or(op).split(':').next().unwrap_or_default();
        let found = prim.attributes.get(op).and_then(|a| match kind {
            "orient" => animation::turned(a, time),
            _ => a.at(time),
        });
        let Some(Value::Numbers(numbers, _)) = found.as_deref() else {
            return Err(part_error(path, name, format!("{} has no value", shown(op)), AGAIN));
        };
        let Some(map) = operation(kind, numbers) else {
            let what = format!("{} is no transform with {} numbers", shown(op), numbers.len());
            return Err(part_error(path, name, what, AGAIN));
        };
        let map = if inverted { map.inverse() } else { Some(map) };
        let Some(map) = map else {
            return Err(part_error(path, name, format!("{} has no inverse", shown(op)), AGAIN));
        };
        own = own.compose(&map);
    }
    Ok((own, reset))
}

/// The points of a prim.
fn points(path: &Path, prim: &Prim, name: &str, time: f64) -> Result<Mesh> {
    let found = prim.attributes.get("points").and_then(|a| a.at(time));
    let numbers = match found.as_deref() {
        Some(Value::Numbers(numbers, 3)) => &numbers[..],
        None => &[],
        Some(Value::Numbers(numbers, _)) if numbers.is_empty() => &[],
        _ => return Err(part_error(path, name, "its points are no triples of numbers", AGAIN)),
    };
    if numbers.iter().any(|x| !x.is_finite()) {
        let what = "a coordinate is not a finite number";
        return Err(part_error(path, name, what, "Export the mesh again from a valid state"));
    }
    let points = numbers.chunks_exact(3).map(Vec3::from_column_slice).collect();
    Ok(Mesh { points, ..Mesh::default() })
}

/// A word of a prim, at a time code.
fn token<'a>(prim: &'a Prim, key: &str, time: f64) -> Option<Cow<'a, str>> {
    match prim.attributes.get(key)?.at(time)? {
        Cow::Borrowed(Value::Text(text)) => Some(Cow::Borrowed(text)),
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
