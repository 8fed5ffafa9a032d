//! Binary glTF 2.0 (`.glb`) with an animation.
//!
//! Every body is a node with a mesh. What moves rigidly has one mesh, and an animation of the translation and the rotation of its node. Of all others
//! every frame but the first is a morph target, and an animation of the
//! weights moves linearly from one frame to the next. This is what Blender, three.js and other readers take: the
//! format has no vertex animation. Metres; glTF has y up, so that scenes with z up are turned.

use crate::motion::{self, RigidMotion};
use crate::{ExportError, ExportedBody, Sequence};
use serde_json::{Value, json};
use standoff_linalg::Vec3;
use standoff_run::{OutputError, write_atomically};
use std::path::Path;

/// Kinds of accessors and primitives.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const POINTS: u32 = 0;
const LINES: u32 = 1;
const TRIANGLES: u32 = 4;

/// The binary part and what lies in it.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Adds numbers; returns the accessor.
    fn add(&mut self, bytes: Vec<u8>, target: Option<u32>, mut accessor: Value) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len(),
        });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        accessor["bufferView"] = self.views.len().into();
        self.views.push(view);
        self.accessors.push(accessor);
        // all components have four bytes, so that everything stays aligned
        self.bytes.extend(bytes);
        self.accessors.len() - 1
    }

    fn vectors(&mut self, values: &[[f32; 3]]) -> usize {
        let mut bounds = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for v in values {
            for c in 0..3 {
                bounds.0[c] = bounds.0[c].min(v[c]);
                bounds.1[c] = bounds.1[c].max(v[c]);
            }
        }
        let bytes = values.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        const VERTICES: u32 = 34962;
        let (count, min, max) = (values.len(), bounds.0, bounds.1);
        let accessor = json!({
            "componentType": FLOAT, "count": count, "type": "VEC3", "min": min, "max": max,
        });
        self.add(bytes, Some(VERTICES), accessor)
    }

    fn indices<'a>(&mut self, values: impl Iterator<Item = &'a u32>) -> usize {
        let bytes: Vec<u8> = values.flat_map(|v| v.to_le_bytes()).collect();
        const INDICES: u32 = 34963;
        let accessor =
            json!({ "componentType": UNSIGNED_INT, "count": bytes.len() / 4, "type": "SCALAR" });
        self.add(bytes, Some(INDICES), accessor)
    }

    /// Numbers of an animation, `N` to an element.
    fn samples<const N: usize>(&mut self, values: impl Iterator<Item = [f32; N]>) -> usize {
        let values: Vec<[f32; N]> = values.collect();
        let bound = |from: f32, of: fn(f32, f32) -> f32| -> Vec<f32> {
            (0..N).map(|c| values.iter().fold(from, |bound, v| of(bound, v[c]))).collect()
        };
        let (min, max) = (bound(f32::INFINITY, f32::min), bound(f32::NEG_INFINITY, f32::max));
        let bytes = values.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let accessor = json!({
            "componentType": FLOAT, "count": values.len(), "type": kind, "min": min, "max": max,
        });
        self.add(bytes, None, accessor)
    }
}

/// The animation of a file of several frames.
struct Animation {
    /// Accessor of the times of the frames.
    input: usize,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    /// Sampler of the weights of morph targets, as soon as a body has some.
    weights: Option<usize>,
}

impl Animation {
    fn new(sequence: &Sequence, buffer: &mut Buffer) -> Self {
        let start = sequence.times()[0];
        let input = buffer.samples(sequence.times().iter().map(|t| [(t - start) as f32]));
        Self { input, channels: Vec::new(), samplers: Vec::new(), weights: None }
    }

    fn sampler(&mut self, output: usize) -> usize {
        let linear = json!({ "input": self.input, "output": output, "interpolation": "LINEAR" });
        self.samplers.push(linear);
        self.samplers.len() - 1
    }

    fn channel(&mut self, node: usize, path: &str, sampler: usize) {
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    /// Shows the morph targets of a node one after the other.
    fn morph(&mut self, node: usize, frames: usize, buffer: &mut Buffer) {
        let sampler = self.weights.unwrap_or_else(|| {
            let weight = |k: usize| f32::from(u8::from(k / (frames - 1) == k % (frames - 1) + 1));
            let output = buffer.samples((0..frames * (frames - 1)).map(|k| [weight(k)]));
            self.sampler(output)
        });
        self.weights = Some(sampler);
        self.channel(node, "weights", sampler);
    }

    /// Moves a node as a body.
    fn carry(&mut self, node: usize, motion: &RigidMotion, axes: Axes, buffer: &mut Buffer) {
        if motion.shifts() {
            let at = buffer.samples(motion.poses.iter().map(|p| single(&axes.turn(&p.centre))));
            let sampler = self.sampler(at);
            self.channel(node, "translation", sampler);
        }
        if motion.turns() {
            let turn = |[w, x, y, z]: [f64; 4]| {
                let axis = single(&axes.turn(&Vec3::new(x, y, z)));
                [axis[0], axis[1], axis[2], w as f32]
            };
            let at = buffer.samples(motion.poses.iter().map(|p| turn(p.turn)));
            let sampler = self.sampler(at);
            self.channel(node, "rotation", sampler);
        }
    }
}

/// The axes of the scene in a file with y up.
#[derive(Clone, Copy)]
struct Axes {
    z_up: bool,
}

impl Axes {
    fn turn(self, p: &Vec3) -> Vec3 {
        if self.z_up { Vec3::new(p.x, p.z, -p.y) } else { *p }
    }
}

/// Vertices of the bodies: of the first frame, and what the others differ by; of what moves rigidly only the first.
struct Vertices {
    first: Vec<Vec<[f32; 3]>>,
    later: Vec<Vec<Vec<[f32; 3]>>>,
}

impl Vertices {
    fn read(
        sequence: &Sequence,
        motions: &[Option<RigidMotion>],
        axes: Axes,
    ) -> Result<Self, OutputError> {
        let bodies = sequence.bodies().len();
        let mut first: Vec<Vec<[f32; 3]>> = vec![Vec::new(); bodies];
        let mut later: Vec<Vec<Vec<[f32; 3]>>> = vec![Vec::new(); bodies];
        let place = |x: &[Vec3]| x.iter().map(|p| single(&axes.turn(p))).collect();
        for (k, motion) in motions.iter().enumerate() {
            if let Some(motion) = motion {
                first[k] = place(&motion.vertices);
            }
        }
        if motions.iter().all(Option::is_some) {
            return Ok(Self { first, later });
        }
        for frame in 0..sequence.steps().len() {
            let positions = sequence.positions(frame, 0..bodies)?;
            let free = positions.iter().enumerate().filter(|(k, _)| motions[*k].is_none());
            for (k, x) in free {
                if frame == 0 {
                    first[k] = place(x);
                    continue;
                }
                // from the rounded first position, so that the sum is as exact as a single number can be
                let differ = |(p, from): (&Vec3, &[f32; 3])| {
                    single(&(axes.turn(p) - Vec3::from(from.map(f64::from))))
                };
                later[k].push(x.iter().zip(&first[k]).map(differ).collect());
            }
        }
        Ok(Self { first, later })
    }
}

/// The mesh of a body, with a morph target for each list of differences.
fn mesh(
    body: &ExportedBody,
    first: &[[f32; 3]],
    later: &[Vec<[f32; 3]>],
    buffer: &mut Buffer,
) -> Value {
    let position = buffer.vectors(first);
    let targets: Vec<Value> = later
        .iter()
        .map(|differences| json!({ "POSITION": buffer.vectors(differences) }))
        .collect();
    let mut primitives = Vec::new();
    let mut add = |mode: u32, indices: usize| {
        let material = usize::from(body.obstacle);
        let mut primitive = json!({
            "attributes": { "POSITION": position }, "indices": indices, "mode": mode,
            "material": material,
        });
        if !targets.is_empty() {
            primitive["targets"] = targets.clone().into();
        }
        primitives.push(primitive);
    };
    if !body.triangles.is_empty() {
        add(TRIANGLES, buffer.indices(body.triangles.iter().flatten()));
    }
    if !body.edges.is_empty() {
        add(LINES, buffer.indices(body.edges.iter().flatten()));
    }
    if !body.points.is_empty() {
        add(POINTS, buffer.indices(body.points.iter()));
    }
    let mut mesh = json!({ "name": body.name, "primitives": primitives });
    if !later.is_empty() {
        mesh["weights"] = vec![0.0; later.len()].into();
    }
    mesh
}

/// Bytes that the vertices and the animation take.
fn expected(sequence: &Sequence, motions: &[Option<RigidMotion>]) -> u64 {
    let frames = sequence.steps().len() as u64;
    let of = |(body, motion): (&ExportedBody, &Option<RigidMotion>)| {
        let vertices = body.vertices.len() as u64;
        if motion.is_some() { 12 * vertices + 28 * frames } else { 12 * vertices * frames }
    };
    let bodies: u64 = sequence.bodies().iter().zip(motions).map(of).sum();
    let weights = if motions.iter().any(Option::is_none) { 4 * frames * frames } else { 0 };
    bodies + weights
}

pub(crate) fn write(sequence: &Sequence, path: &Path) -> Result<(), ExportError> {
    let motions = motion::motions(sequence)?;
    let too_large = |bytes: u64| ExportError::TooLarge { path: path.to_owned(), bytes };
    let bytes = expected(sequence, &motions);
    if bytes > u64::from(u32::MAX) {
        return Err(too_large(bytes));
    }
    let (text, binary) = parts(sequence, &motions)?;
    let length = 12 + 8 + text.len() as u64 + 8 + binary.len() as u64;
    let Ok(total) = u32::try_from(length) else { return Err(too_large(length)) };
    write_atomically(path, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&2u32.to_le_bytes())?;
        out.write_all(&total.to_le_bytes())?;
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &binary)] {
            // neither is longer than the whole
            out.write_all(&(chunk.len() as u32).to_le_bytes())?;
            out.write_all(kind)?;
            out.write_all(chunk)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The text of the file and its binary part.
fn parts(
    sequence: &Sequence,
    motions: &[Option<RigidMotion>],
) -> Result<(Vec<u8>, Vec<u8>), OutputError> {
    let (frames, axes) = (sequence.steps().len(), Axes { z_up: sequence.z_up() });
    let Vertices { first, mut later } = Vertices::read(sequence, motions, axes)?;
    let mut buffer = Buffer::default();
    let mut animation = (frames > 1).then(|| Animation::new(sequence, &mut buffer));
    let (mut meshes, mut nodes) = (Vec::new(), Vec::new());
    for (k, body) in sequence.bodies().iter().enumerate() {
        let mut node = json!({ "name": body.name, "mesh": k });
        meshes.push(mesh(body, &first[k], &std::mem::take(&mut later[k]), &mut buffer));
        if let Some(motion) = &motions[k] {
            node["translation"] = single(&axes.turn(&motion.poses[0].centre)).into();
        }
        match (&mut animation, &motions[k]) {
            (Some(animation), Some(motion)) => animation.carry(k, motion, axes, &mut buffer),
            (Some(animation), None) => animation.morph(k, frames, &mut buffer),
            (None, _) => {}
        }
        nodes.push(node);
    }
    let mut document = document(nodes, meshes, &buffer);
    // an animation has at least one channel
    if let Some(animation) = animation.filter(|a| !a.channels.is_empty()) {
        let Animation { channels, samplers, .. } = animation;
        document["animations"] =
            json!([{ "name": "run", "channels": channels, "samplers": samplers }]);
    }
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    Ok((text, buffer.bytes))
}

fn document(nodes: Vec<Value>, meshes: Vec<Value>, buffer: &Buffer) -> Value {
    let material = |name: &str, colour: [f64; 4]| {
        json!({
            "name": name, "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.7,
            },
        })
    };
    json!({
        "asset": { "version": "2.0", "generator": concat!("standoff ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "name": "run", "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [
            material("elastic", [0.35, 0.55, 0.8, 1.0]),
            material("obstacle", [0.6, 0.6, 0.6, 1.0]),
        ],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{ "byteLength": buffer.bytes.len() }],
    })
}

fn single(p: &Vec3) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}
