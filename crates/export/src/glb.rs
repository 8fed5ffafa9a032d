//! Binary glTF 2.0 (`.glb`) with an animation.
//!
//! Every body is a node with a mesh; every frame but the first is a morph target, and an animation of the
//! weights moves linearly from one frame to the next. This is what Blender, three.js and other readers take: the
//! format has no vertex animation. Metres; glTF has y up, so that scenes with z up are turned.

use crate::{ExportError, Sequence};
use serde_json::{Value, json};
use standoff_linalg::Vec3;
use standoff_run::write_atomically;
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

    fn scalars(&mut self, values: impl Iterator<Item = f32>) -> usize {
        let values: Vec<f32> = values.collect();
        let least = values.iter().copied().fold(f32::INFINITY, f32::min);
        let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let accessor = json!({
            "componentType": FLOAT, "count": values.len(), "type": "SCALAR",
            "min": [least], "max": [most],
        });
        self.add(bytes, None, accessor)
    }
}

// long: the sections of the file, in its order
pub(crate) fn write(sequence: &Sequence, path: &Path) -> Result<(), ExportError> {
    let too_large = |bytes: u64| ExportError::TooLarge { path: path.to_owned(), bytes };
    let (frames, bodies) = (sequence.steps().len(), sequence.bodies());
    let vertices: usize = bodies.iter().map(|b| b.vertices.len()).sum();
    let expected = (12 * vertices as u64 + 4 * frames as u64) * frames as u64;
    if expected > u64::from(u32::MAX) {
        return Err(too_large(expected));
    }
    // frame 0 of every body, then what the others differ by
    let turn = |p: &Vec3| if sequence.z_up() { Vec3::new(p.x, p.z, -p.y) } else { *p };
    let mut first: Vec<Vec<[f32; 3]>> = Vec::new();
    let mut later: Vec<Vec<Vec<[f32; 3]>>> = vec![Vec::new(); bodies.len()];
    for frame in 0..frames {
        let positions = sequence.positions(frame, 0..bodies.len())?;
        for (k, x) in positions.iter().enumerate() {
            if frame == 0 {
                first.push(x.iter().map(|p| single(&turn(p))).collect());
                continue;
            }
            // from the rounded first position, so that the sum is as exact as a single number can be
            let differ = |(p, from): (&Vec3, &[f32; 3])| {
                single(&(turn(p) - Vec3::from(from.map(f64::from))))
            };
            later[k].push(x.iter().zip(&first[k]).map(differ).collect());
        }
    }
    let mut buffer = Buffer::default();
    let mut channels = Vec::new();
    let mut samplers = Vec::new();
    if frames > 1 {
        let start = sequence.times()[0];
        let input = buffer.scalars(sequence.times().iter().map(|t| (t - start) as f32));
        let weight = |k: usize| f32::from(u8::from(k / (frames - 1) == k % (frames - 1) + 1));
        let output = buffer.scalars((0..frames * (frames - 1)).map(weight));
        samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
    }
    let (mut meshes, mut nodes) = (Vec::new(), Vec::new());
    for (k, body) in bodies.iter().enumerate() {
        let position = buffer.vectors(&first[k]);
        let targets: Vec<Value> = std::mem::take(&mut later[k])
            .into_iter()
            .map(|differences| json!({ "POSITION": buffer.vectors(&differences) }))
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
        if frames > 1 {
            mesh["weights"] = vec![0.0; frames - 1].into();
            channels.push(json!({ "sampler": 0, "target": { "node": k, "path": "weights" } }));
        }
        meshes.push(mesh);
        nodes.push(json!({ "name": body.name, "mesh": k }));
    }
    let material = |name: &str, colour: [f64; 4]| {
        json!({
            "name": name, "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.7,
            },
        })
    };
    let mut document = json!({
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
    });
    if frames > 1 {
        document["animations"] =
            json!([{ "name": "run", "channels": channels, "samplers": samplers }]);
    }
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + text.len() as u64 + 8 + buffer.bytes.len() as u64;
    let Ok(total) = u32::try_from(length) else { return Err(too_large(length)) };
    write_atomically(path, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&2u32.to_le_bytes())?;
        out.write_all(&total.to_le_bytes())?;
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &buffer.bytes)] {
            // neither is longer than the whole
            out.write_all(&(chunk.len() as u32).to_le_bytes())?;
            out.write_all(kind)?;
            out.write_all(chunk)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn single(p: &Vec3) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}
