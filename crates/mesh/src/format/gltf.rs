//! glTF 2.0, binary (`.glb`) and as JSON (`.gltf`) with embedded buffers or buffers in files.
//!
//! The default scene is read with the transforms of its nodes: metres, y up. Vertices with equal positions in one
//! mesh of a node are joined, because the format repeats them where normals or texture coordinates differ. Every
//! node with a mesh is a region.
//!
//! The types below are the part of the format that holds geometry: section 5 of the specification of glTF 2.0.

// long: the types of the format, its nodes, and the data of its accessors, which share the buffers read so far

use super::affine::{Affine, rotation};
use super::cells::{Cell, Cells};
use super::parts::{Parts, part_error};
use super::scan::{Endian, Result, Scalar, Scanner};
use crate::{Mesh, MeshError, Place};
use serde::Deserialize;
use standoff_linalg::{Mat3, Vec3};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    scene: Option<usize>,
    scenes: Vec<SceneRoots>,
    nodes: Vec<Node>,
    meshes: Vec<GltfMesh>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<View>,
    buffers: Vec<Buffer>,
    extensions_required: Vec<String>,
    animations: Vec<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SceneRoots {
    nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node {
    name: Option<String>,
    children: Vec<usize>,
    mesh: Option<usize>,
    skin: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    /// x, y, z, w.
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    extensions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct GltfMesh {
    name: Option<String>,
    primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
struct Primitive {
    attributes: BTreeMap<String, usize>,
    indices: Option<usize>,
    mode: Option<u32>,
    #[serde(default)]
    targets: Vec<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: u64,
    component_type: u32,
    #[serde(default)]
    normalized: bool,
    count: u64,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
struct Sparse {
    count: u64,
    indices: SparsePart,
    values: SparsePart,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SparsePart {
    buffer_view: usize,
    #[serde(default)]
    byte_offset: u64,
    component_type: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    uri: Option<String>,
    byte_length: u64,
}

/// Extensions that a file may require without changing what is read: beginnings of names.
const HARMLESS: [&str; 8] = [
    "KHR_mesh_quantization",
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_animation_",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_lights_",
];

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let (json, at, bin) = chunks(path, data)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| MeshError::Content {
        file: path.to_path_buf(),
        // the text of a binary file is one line
        place: if bin.is_some() || at > 0 {
            Place::Byte(at + e.column().saturating_sub(1))
        } else {
            Place::Line(e.line().max(1))
        },
        what: format!("no glTF document ({e})"),
        hint: "Export the file again".to_string(),
    })?;
    Reader { path, document: &document, size: data.len(), bin, loaded: HashMap::new() }.read()
}

/// The JSON text, its offset, and the binary part of a `.glb`.
fn chunks<'a>(path: &'a Path, data: &'a [u8]) -> Result<(&'a [u8], usize, Option<&'a [u8]>)> {
    if !data.starts_with(b"glTF") {
        return Ok((data, 0, None));
    }
    let mut scan = Scanner::new(path, data);
    scan.bytes(4, "\"glTF\"")?;
    let number = |scan: &mut Scanner<'_>, what: &str| -> Result<usize> {
        let n = scan.binary(Scalar::U32, Endian::Little, what)?.integer();
        Ok(n.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX))
    };
    let version = number(&mut scan, "the version")?;
    if version != 2 {
        let what = format!("glTF version {version} is not supported");
        return Err(scan.error(what, "Export the file as glTF 2.0"));
    }
    let total = number(&mut scan, "the length of the file")?;
    if total > data.len() || total < 20 {
        let what = format!("{total} bytes are announced, but the file has {}", data.len());
        return Err(scan.error(what, "The file is truncated or damaged: write it again"));
    }
    scan.limit(total);
    let length = number(&mut scan, "the length of the JSON chunk")?;
    if scan.bytes(4, "the type of the first chunk")? != b"JSON" {
        return Err(scan.error("the first chunk is not JSON", "Write the file again"));
    }
    let at = scan.pos();
    let json = scan.bytes(length, "the JSON chunk")?;
    // chunks of other types may follow and are skipped
    while scan.remaining() >= 8 {
        let length = number(&mut scan, "the length of a chunk")?;
        let kind = scan.bytes(4, "the type of a chunk")?;
        let chunk = scan.bytes(length, "a chunk")?;
        if kind == b"BIN\0" {
            return Ok((json, at, Some(chunk)));
        }
    }
    Ok((json, at, None))
}

struct Reader<'a> {
    path: &'a Path,
    document: &'a Document,
    /// Bytes of the file.
    size: usize,
    bin: Option<&'a [u8]>,
    /// Buffers that were needed so far.
    loaded: HashMap<usize, Cow<'a, [u8]>>,
}

impl Reader<'_> {
    fn error(&self, part: &str, what: impl Into<String>, hint: &str) -> MeshError {
        part_error(self.path, part, what, hint)
    }

    fn read(mut self) -> Result<Mesh> {
        let document = self.document;
        let refused = |e: &&String| !HARMLESS.iter().any(|h| e.starts_with(h));
        if let Some(extension) = document.extensions_required.iter().find(refused) {
            let what = format!("the file cannot be read without the extension {extension}");
            return Err(self.error(
                "extensionsRequired",
                what,
                "Export it without compression or instancing",
            ));
        }
        let mut parts = Parts::new(self.path);
        let mut notes: BTreeSet<&'static str> =
            self.document.animations.first().map(|_| ANIMATED).into_iter().collect();
        let mut reached = vec![false; document.nodes.len()];
        let mut stack: Vec<(usize, Affine)> =
            self.roots()?.into_iter().rev().map(|n| (n, Affine::identity())).collect();
        while let Some((index, parent)) = stack.pop() {
            let Some(node) = document.nodes.get(index) else {
                return Err(self.error(&format!("node {index}"), "there is no such node", DAMAGED));
            };
            let part = named("node", index, node.name.as_deref());
            if std::mem::replace(&mut reached[index], true) {
                return Err(self.error(
                    &part,
                    "it has several parents",
                    "Nodes must form a tree: export the file again",
                ));
            }
            let world = parent.compose(&self.transform(node, &part)?);
            stack.extend(node.children.iter().rev().map(|&child| (child, world)));
            if node.extensions.contains_key("EXT_mesh_gpu_instancing") {
                notes.insert("instances (EXT_mesh_gpu_instancing) are left out");
            }
            let Some(mesh) = node.mesh else { continue };
            let part = format!("{part}, mesh {mesh}");
            let mut local = self.mesh(mesh, &part, &mut notes)?;
            local.weld();
            if node.skin.is_some() {
                notes.insert("skins are ignored: their meshes are read as they were bound");
            }
            // a skin places its mesh on its own: the transforms of nodes do not act on it
            let world = if node.skin.is_some() { Affine::identity() } else { world };
            let mesh_name = document.meshes.get(mesh).and_then(|m| m.name.as_deref());
            let name = node.name.as_deref().or(mesh_name).unwrap_or_default();
            parts.add(&local, &world, name, &part)?;
        }
        parts.finish(notes, "the default scene has no mesh")
    }

    /// Nodes at the top of the default scene, of the first if none is, of the file if it has no scenes.
    fn roots(&self) -> Result<Vec<usize>> {
        let document = self.document;
        let index = document.scene.unwrap_or(0);
        match document.scenes.get(index) {
            Some(scene) => Ok(scene.nodes.clone()),
            None if document.scene.is_some() => {
                Err(self.error(&format!("scene {index}"), "there is no such scene", DAMAGED))
            }
            None => {
                let children: BTreeSet<usize> =
                    document.nodes.iter().flat_map(|n| n.children.iter().copied()).collect();
                Ok((0..document.nodes.len()).filter(|n| !children.contains(n)).collect())
            }
        }
    }

    fn transform(&self, node: &Node, part: &str) -> Result<Affine> {
        if let Some(m) = node.matrix {
            if [m[3], m[7], m[11], m[15]] != [0.0, 0.0, 0.0, 1.0] {
                let what = "its matrix is no affine map (last row 0, 0, 0, 1)";
                return Err(self.error(part, what, "Export the file again"));
            }
            let column = |k: usize| Vec3::new(m[k], m[k + 1], m[k + 2]);
            let linear = Mat3::from_columns(&[column(0), column(4), column(8)]);
            return Ok(Affine { linear, shift: column(12) });
        }
        let [x, y, z, w] = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let Some(turn) = rotation([w, x, y, z]) else {
            return Err(self.error(
                part,
                "its rotation is no unit quaternion",
                "Export the file again",
            ));
        };
        let scale = Mat3::from_diagonal(&Vec3::from(node.scale.unwrap_or([1.0; 3])));
        let shift = Vec3::from(node.translation.unwrap_or_default());
        Ok(Affine { linear: turn * scale, shift })
    }

    /// The primitives of a mesh over the points that they share.
    // long: points, indices and elements of each primitive, with an error for each
    fn mesh(
        &mut self,
        index: usize,
        part: &str,
        notes: &mut BTreeSet<&'static str>,
    ) -> Result<Mesh> {
        let document = self.document;
        let Some(mesh) = document.meshes.get(index) else {
            return Err(self.error(part, "there is no such mesh", DAMAGED));
        };
        let mut cells = Cells::default();
        let mut first: HashMap<usize, (u32, u32)> = HashMap::new();
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            let part = format!("{part}, primitive {k}");
            if !primitive.targets.is_empty() {
                notes.insert("morph targets are ignored");
            }
            let Some(&position) = primitive.attributes.get("POSITION") else {
                notes.insert("primitives without positions are left out");
                continue;
            };
            let (start, count) = match first.get(&position) {
                Some(&known) => known,
                None => {
                    let numbers = self.numbers(position, "VEC3", &format!("{part}, POSITION"))?;
                    if numbers.iter().any(|x| !x.is_finite()) {
                        let what = "a coordinate is not a finite number";
                        return Err(self.error(
                            &part,
                            what,
                            "Export the mesh again from a valid state",
                        ));
                    }
                    let start = cells.mesh.points.len();
                    cells.mesh.points.extend(numbers.chunks_exact(3).map(Vec3::from_column_slice));
                    let known = (start as u32, (numbers.len() / 3) as u32);
                    Parts::check_size(self.path, cells.mesh.points.len(), &part)?;
                    first.insert(position, known);
                    known
                }
            };
            let list: Vec<u32> = match primitive.indices {
                None => (start..start + count).collect(),
                Some(indices) => {
                    let numbers = self.numbers(indices, "SCALAR", &format!("{part}, indices"))?;
                    let mut list = Vec::with_capacity(numbers.len());
                    for i in numbers {
                        if i >= f64::from(count) || i < 0.0 {
                            let what =
                                format!("vertex {i} (from 0) is named, but there are only {count}");
                            return Err(self.error(&part, what, DAMAGED));
                        }
                        list.push(start + i as u32);
                    }
                    list
                }
            };
            elements(&mut cells, primitive.mode.unwrap_or(4), &list)
                .map_err(|what| self.error(&part, what, "Export the mesh again"))?;
            Parts::check_size(self.path, cells.mesh.triangles.len(), &part)?;
        }
        Ok(cells.mesh)
    }

    /// The numbers of an accessor, one after the other.
    // long: dense, sparse and normalized data one after the other
    fn numbers(&mut self, index: usize, kind: &str, part: &str) -> Result<Vec<f64>> {
        let part = format!("{part} (accessor {index})");
        let document = self.document;
        let Some(accessor) = document.accessors.get(index) else {
            return Err(self.error(&part, "there is no such accessor", DAMAGED));
        };
        let width = if kind == "VEC3" { 3 } else { 1 };
        let scalar = scalar(accessor.component_type);
        let fits = match kind {
            "VEC3" => scalar.is_some_and(|s| s != Scalar::U32),
            _ => matches!(scalar, Some(Scalar::U8 | Scalar::U16 | Scalar::U32)),
        };
        let (Some(scalar), true, true) = (scalar, fits, accessor.kind == kind) else {
            let (found, of) = (&accessor.kind, accessor.component_type);
            let what = format!("{found} of type {of} where {kind} is expected");
            return Err(self.error(&part, what, "Export the mesh again"));
        };
        let mut numbers = match (accessor.buffer_view, &accessor.sparse) {
            (Some(view), _) => {
                let view = (view, accessor.byte_offset, true);
                self.raw(view, accessor.count, width, scalar, &part)?
            }
            (None, Some(_)) if accessor.count <= self.size as u64 => {
                vec![0.0; width * accessor.count as usize]
            }
            (None, Some(_)) => {
                let what = format!(
                    "{} elements are announced, more than the file has bytes",
                    accessor.count
                );
                return Err(self.error(&part, what, DAMAGED));
            }
            (None, None) => {
                let what = "it has no data";
                return Err(self.error(&part, what, "Export the mesh without compression"));
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let Some(of) =
                sparse.indices.component_type.and_then(self::scalar).filter(|s| s.is_integer())
            else {
                return Err(self.error(
                    &part,
                    "the type of the sparse indices is unknown",
                    DAMAGED,
                ));
            };
            let view = |part: &SparsePart| (part.buffer_view, part.byte_offset, false);
            let places = self.raw(view(&sparse.indices), sparse.count, 1, of, &part)?;
            let values = self.raw(view(&sparse.values), sparse.count, width, scalar, &part)?;
            for (place, value) in places.iter().zip(values.chunks_exact(width)) {
                let target = (*place >= 0.0)
                    .then(|| numbers.chunks_exact_mut(width).nth(*place as usize))
                    .flatten();
                let Some(target) = target else {
                    let what = format!("sparse element {place} of {}", accessor.count);
                    return Err(self.error(&part, what, DAMAGED));
                };
                target.copy_from_slice(value);
            }
        }
        if accessor.normalized {
            let largest = match scalar {
                Scalar::I8 => 127.0,
                Scalar::U8 => 255.0,
                Scalar::I16 => 32767.0,
                Scalar::U16 => 65535.0,
                _ => 1.0,
            };
            numbers.iter_mut().for_each(|x| *x = (*x / largest).max(-1.0));
        }
        Ok(numbers)
    }

    /// `count` elements of `width` numbers from a view (index, offset in it, whether its stride counts).
    fn raw(
        &mut self,
        (index, offset, strided): (usize, u64, bool),
        count: u64,
        width: usize,
        scalar: Scalar,
        part: &str,
    ) -> Result<Vec<f64>> {
        let Some(view) = self.document.buffer_views.get(index) else {
            return Err(self.error(part, format!("there is no buffer view {index}"), DAMAGED));
        };
        let size = (width * scalar.size()) as u64;
        let stride = view.byte_stride.filter(|_| strided).unwrap_or(size);
        if stride < size {
            let what =
                format!("buffer view {index} has a stride of {stride} bytes, less than an element");
            return Err(self.error(part, what, DAMAGED));
        }
        let (path, length) = (self.path, view.byte_length);
        let buffer = self.buffer(view.buffer, part)?;
        let end = view.byte_offset.checked_add(length).filter(|e| *e <= buffer.len() as u64);
        // the last element needs no full stride
        let needed = match count {
            0 => Some(offset),
            n => (n - 1).checked_mul(stride).and_then(|b| b.checked_add(size)?.checked_add(offset)),
        };
        let (Some(end), Some(_)) = (end, needed.filter(|n| *n <= length)) else {
            let what = format!(
                "{count} elements are announced, but buffer view {index} ({length} bytes) or its buffer ({} bytes) \
                 ends before",
                buffer.len()
            );
            return Err(part_error(path, part, what, DAMAGED));
        };
        let bytes = &buffer[(view.byte_offset + offset) as usize..end as usize];
        let mut numbers = Vec::with_capacity(width * count as usize);
        for element in bytes.chunks(stride as usize).take(count as usize) {
            for component in element.chunks_exact(scalar.size()).take(width) {
                numbers
                    .push(scalar.decode(component, Endian::Little).map_or(f64::NAN, |n| n.real()));
            }
        }
        Ok(numbers)
    }

    /// A buffer: the binary part, embedded, or the content of a file.
    fn buffer(&mut self, index: usize, part: &str) -> Result<&[u8]> {
        let Some(buffer) = self.document.buffers.get(index) else {
            return Err(self.error(part, format!("there is no buffer {index}"), DAMAGED));
        };
        if !self.loaded.contains_key(&index) {
            let mut bytes = match (&buffer.uri, self.bin) {
                (Some(uri), _) => Cow::Owned(self.resolve(uri, index)?),
                (None, Some(bin)) if index == 0 => Cow::Borrowed(bin),
                (None, _) => {
                    let what = "it has neither a file nor a binary part";
                    return Err(self.error(&format!("buffer {index}"), what, DAMAGED));
                }
            };
            let length = usize::try_from(buffer.byte_length).unwrap_or(usize::MAX);
            if bytes.len() < length {
                let what = format!("{length} bytes are announced, {} are there", bytes.len());
                return Err(self.error(&format!("buffer {index}"), what, DAMAGED));
            }
            match &mut bytes {
                Cow::Owned(bytes) => bytes.truncate(length),
                Cow::Borrowed(bytes) => *bytes = &bytes[..length],
            }
            self.loaded.insert(index, bytes);
        }
        Ok(self.loaded.get(&index).map_or(&[], |bytes| bytes))
    }

    /// The bytes that a URI names: embedded as base64, or in a file beside this one.
    fn resolve(&self, uri: &str, index: usize) -> Result<Vec<u8>> {
        let part = format!("buffer {index}");
        if let Some(embedded) = uri.strip_prefix("data:") {
            let Some((_, text)) = embedded.split_once(";base64,") else {
                return Err(self.error(
                    &part,
                    "its embedded data are not base64",
                    "Export the file again",
                ));
            };
            return super::base64::decode(text.as_bytes())
                .map_err(|what| self.error(&part, what, "Export the file again"));
        }
        let name = percent_decoded(uri);
        let relative = Path::new(&name);
        let local =
            relative.components().all(|c| !matches!(c, Component::Prefix(_) | Component::RootDir));
        if uri.contains("://") || !local {
            let what = format!("'{uri}' is no file beside this one");
            return Err(self.error(&part, what, "Export the file as .glb, which holds everything"));
        }
        let file = self.path.with_file_name("").join(relative);
        crate::input::bytes(&file, crate::input::MOST_DATA).map_err(|e| {
            let what = format!("cannot read {}: {e}", file.display());
            self.error(&part, what, "Put the file there, or export as .glb, which holds everything")
        })
    }
}

/// What is said of a file with animations.
const ANIMATED: &str = "animations move nothing: export the animation as USD, or move the object by \
                        [[objects.motion]]";

const DAMAGED: &str = "The file is truncated or damaged: write it again";

fn named(what: &str, index: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} {index} (\"{}\")", super::parts::shown(name)),
        None => format!("{what} {index}"),
    }
}

fn scalar(component_type: u32) -> Option<Scalar> {
    Some(match component_type {
        5120 => Scalar::I8,
        5121 => Scalar::U8,
        5122 => Scalar::I16,
        5123 => Scalar::U16,
        5125 => Scalar::U32,
        5126 => Scalar::F32,
        _ => return None,
    })
}

/// Adds the elements of a primitive; strips and fans become triangles, those with a repeated vertex left out.
fn elements(cells: &mut Cells, mode: u32, list: &[u32]) -> std::result::Result<(), String> {
    let pieces = |n: usize, what: &str| {
        if list.len().is_multiple_of(n) {
            Ok(list.chunks_exact(n))
        } else {
            Err(format!("{} vertices do not make {what}", list.len()))
        }
    };
    if list.is_empty() {
        return Ok(());
    }
    match mode {
        0 => Ok(cells.add(Cell::Points, list, 0)?),
        1 => Ok(pieces(2, "lines")?.try_for_each(|ends| cells.add(Cell::Polyline, ends, 0))?),
        2 => {
            cells.add(Cell::Polyline, list, 0)?;
            Ok(cells.add(Cell::Polyline, &[list[list.len() - 1], list[0]], 0)?)
        }
        3 => Ok(cells.add(Cell::Polyline, list, 0)?),
        4 => Ok(pieces(3, "triangles")?.try_for_each(|f| cells.add(Cell::Polygon, f, 0))?),
        5 | 6 => {
            let before = cells.mesh.triangles.len();
            cells.add(if mode == 5 { Cell::Strip } else { Cell::Fan }, list, 0)?;
            // strips are joined by triangles without area
            let mut k = 0;
            cells.mesh.triangles.retain(|&[a, b, c]| {
                k += 1;
                k <= before || (a != b && b != c && c != a)
            });
            Ok(())
        }
        other => Err(format!("{other} is no kind of primitive (0 to 6)")),
    }
}

/// A URI with its %XX as bytes.
fn percent_decoded(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut k = 0;
    while k < bytes.len() {
        let hex = bytes.get(k + 1..k + 3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.filter(|_| bytes[k] == b'%').and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                k += 3;
            }
            None => {
                out.push(bytes[k]);
                k += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
