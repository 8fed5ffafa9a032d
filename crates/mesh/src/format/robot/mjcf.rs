//! MJCF, the files of MuJoCo: the geometries that take part in contact, joints at their reference position.

// long: a method for each element of the format

use super::flex::{Flex, MujocoModel, Plane};
use super::tree::{self, Element};
use super::{Builder, VISITS, capsule, cuboid, cylinder, ellipsoid, numbers, scaling};
use crate::format::affine::{Affine, about, rotation};
use crate::format::parts::shown;
use crate::format::scan::Result;
use crate::input::{self, MOST_TEXT};
use crate::{Mesh, MeshError};
use standoff_linalg::{Mat3, Vec3};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Files included in files at most.
const INCLUDES: usize = 16;

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let root = root(path, data)?;
    let mut model = Model::new(path, &root)?;
    model.world(&root)?;
    let builder = model.builder;
    builder.parts.finish(builder.notes, "no geometry takes part in contact but planes")
}

/// Reads flexible bodies, planes and settings of a model; its other geometry is what [`read`](super::super::read)
/// reads.
///
/// # Errors
/// The file cannot be read, does not follow MJCF, or names a mesh that cannot be read.
pub fn read_model(path: &Path) -> Result<MujocoModel> {
    let data = input::bytes(path, MOST_TEXT)
        .map_err(|source| MeshError::Read { file: path.to_path_buf(), source })?;
    let root = root(path, &data)?;
    let mut model = Model::new(path, &root)?;
    model.flexible = true;
    model.world(&root)?;
    let (mut gravity, mut time_step) = (Vec3::new(0.0, 0.0, -9.81), 0.002);
    for option in root.all("option") {
        let part = described(option);
        if let Some(g) = model.vector(option, None, "gravity", [3, 3], &part)? {
            gravity = Vec3::from_column_slice(&g);
        }
        if let Some(step) = model.vector(option, None, "timestep", [1, 1], &part)? {
            time_step = step[0];
        }
    }
    Ok(MujocoModel {
        has_geometry: !model.builder.parts.is_empty(),
        has_joints: model.joints,
        gravity,
        time_step,
        flexes: model.flexes,
        planes: model.planes,
        notes: model.builder.notes.into_iter().collect(),
    })
}

/// The root element, with the files that it includes.
fn root(path: &Path, data: &[u8]) -> Result<Element> {
    let mut root = tree::parse(path, data, None)?;
    if root.name != "mujoco" {
        let part = format!("{}, element {}", root.place, shown(&root.name));
        let what = "the root element is not <mujoco>";
        return Err(super::part_error(path, &part, what, "Is this an MJCF file?"));
    }
    include(path, path, &mut root, &mut HashSet::new(), 0)?;
    Ok(root)
}

/// Replaces every `<include file>` by what is in the file. A name counts from the folder of the main file, else from
/// that of the file that it stands in.
fn include(
    main: &Path,
    path: &Path,
    element: &mut Element,
    seen: &mut HashSet<PathBuf>,
    depth: usize,
) -> Result<()> {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        if child.name != "include" {
            include(main, path, &mut child, seen, depth)?;
            children.push(child);
            continue;
        }
        let part = format!("{}, include", child.place);
        let error = |what: String, hint: &str| super::part_error(path, &part, what, hint);
        let Some(name) = child.get("file") else {
            return Err(error("the attribute file is missing".to_owned(), "Add it"));
        };
        let beside = |of: &Path| of.parent().unwrap_or(Path::new("")).join(name);
        let file = [beside(main), beside(path)].into_iter().find(|f| f.is_file());
        let Some(file) = file else {
            let what = format!("there is no file {}", beside(main).display());
            return Err(error(what, "Put the file there, or correct its name"));
        };
        let known = file.canonicalize().unwrap_or_else(|_| file.clone());
        if depth == INCLUDES || !seen.insert(known) {
            let what =
                format!("{} is included twice, or files are nested too deeply", file.display());
            return Err(error(what, "Include every file once"));
        }
        let data = input::bytes(&file, MOST_TEXT)
            .map_err(|source| MeshError::Read { file: file.clone(), source })?;
        let mut inner = tree::parse(&file, &data, Some(&shown(name)))?;
        include(main, &file, &mut inner, seen, depth + 1)?;
        children.append(&mut inner.children);
    }
    element.children = children;
    Ok(())
}

/// Attributes that a class gives to elements, by the name of the element.
type Class = BTreeMap<String, BTreeMap<String, String>>;

pub(super) struct Model<'a> {
    pub(super) builder: Builder<'a>,
    /// Whether flexible bodies and planes are collected, not noted.
    flexible: bool,
    pub(super) flexes: Vec<Flex>,
    planes: Vec<Plane>,
    /// Whether there is a joint.
    joints: bool,
    classes: BTreeMap<String, Class>,
    /// The class of elements without any.
    main: String,
    /// Mesh assets: the element, and the class of its attributes.
    assets: BTreeMap<String, &'a Element>,
    degrees: bool,
    euler: Vec<u8>,
    meshes: PathBuf,
    strip: bool,
}

impl<'a> Model<'a> {
    // long: a part for each section of the file that counts for geometry
    fn new(path: &'a Path, root: &'a Element) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut model = Self {
            builder: Builder::new(path),
            flexible: false,
            flexes: Vec::new(),
            planes: Vec::new(),
            joints: false,
            classes: BTreeMap::new(),
            main: "main".to_owned(),
            assets: BTreeMap::new(),
            degrees: true,
            euler: b"xyz".to_vec(),
            meshes: folder.to_owned(),
            strip: false,
        };
        for compiler in root.all("compiler") {
            match compiler.get("angle") {
                Some("radian") => model.degrees = false,
                Some("degree") => model.degrees = true,
                _ => {}
            }
            if let Some(sequence) = compiler.get("eulerseq") {
                let valid = sequence.len() == 3 && sequence.bytes().all(|b| b"xyzXYZ".contains(&b));
                if !valid {
                    let part = format!("{}, compiler", compiler.place);
                    return Err(model.builder.error(
                        &part,
                        "eulerseq must be three of xyzXYZ",
                        "Correct it",
                    ));
                }
                model.euler = sequence.as_bytes().to_vec();
            }
            if compiler.get("coordinate") == Some("global") {
                let part = format!("{}, compiler", compiler.place);
                return Err(model.builder.error(
                    &part,
                    "global coordinates are not supported",
                    "Save the model with MuJoCo",
                ));
            }
            if let Some(name) = compiler.get("meshdir").or(compiler.get("assetdir")) {
                model.meshes = folder.join(name);
            }
            if let Some(strip) = compiler.get("strippath") {
                model.strip = strip == "true";
            }
        }
        for (k, top) in root.all("default").enumerate() {
            let name = top.get("class").unwrap_or("main");
            if k == 0 {
                model.main = name.to_owned();
            }
            let inherited = model.classes.get(name).cloned().unwrap_or_default();
            model.class(top, name, inherited);
        }
        for asset in root.all("asset").flat_map(|a| a.all("mesh")) {
            let stem = asset.get("file").and_then(|f| Path::new(f).file_stem()?.to_str());
            if let Some(name) = asset.get("name").or(stem) {
                model.assets.insert(name.to_owned(), asset);
            }
        }
        Ok(model)
    }

    /// Everything in the world.
    fn world(&mut self, root: &Element) -> Result<()> {
        for world in root.all("worldbody") {
            self.bodies(world, &Affine::identity(), None, "")?;
        }
        if root.first("deformable").is_some() {
            self.builder.note("flexible bodies (deformable) are left out");
        }
        Ok(())
    }

    /// A default class and those in it; the nesting is bounded by the parser.
    fn class(&mut self, element: &Element, name: &str, mut class: Class) {
        for child in element.children.iter().filter(|c| c.name != "default") {
            let own = class.entry(child.name.clone()).or_default();
            own.extend(child.attributes.iter().cloned());
        }
        for child in element.all("default") {
            if let Some(name) = child.get("class") {
                self.class(child, name, class.clone());
            }
        }
        self.classes.insert(name.to_owned(), class);
    }

    pub(super) fn error(&self, part: &str, what: impl Into<String>, hint: &str) -> MeshError {
        self.builder.error(part, what, hint)
    }

    /// An attribute: of the element, of its class, or of the class of the body.
    fn get<'e>(
        &'e self,
        element: &'e Element,
        childclass: Option<&str>,
        key: &str,
    ) -> Option<&'e str> {
        let class = element.get("class").or(childclass).unwrap_or(&self.main);
        let given = || self.classes.get(class)?.get(&element.name)?.get(key).map(|v| v.as_str());
        element.get(key).or_else(given)
    }

    /// The numbers of an attribute, at least `least` and at most `most`; `None` if it is absent.
    pub(super) fn vector(
        &self,
        element: &Element,
        class: Option<&str>,
        key: &str,
        [least, most]: [usize; 2],
        part: &str,
    ) -> Result<Option<Vec<f64>>> {
        let Some(text) = self.get(element, class, key) else { return Ok(None) };
        let wrong =
            |what: String| self.error(part, format!("{key}: {what}"), "Correct the numbers");
        let found = numbers(text).map_err(wrong)?;
        if (least..=most).contains(&found.len()) {
            return Ok(Some(found));
        }
        Err(wrong(format!("{} numbers where {least} are expected", found.len())))
    }

    /// `pos` and one of the orientations of an element.
    pub(super) fn pose(
        &self,
        element: &Element,
        class: Option<&str>,
        part: &str,
    ) -> Result<Affine> {
        let vector = |key: &str, n: usize| self.vector(element, class, key, [n, n], part);
        let shift = vector("pos", 3)?.unwrap_or(vec![0.0; 3]);
        // what the element says counts more than what its class says
        const KINDS: [(&str, usize); 5] =
            [("quat", 4), ("axisangle", 4), ("euler", 3), ("xyaxes", 6), ("zaxis", 3)];
        let own = KINDS.iter().find(|(key, _)| element.get(key).is_some());
        let inherited = || KINDS.iter().find(|(key, _)| self.get(element, class, key).is_some());
        let linear = match own.or_else(inherited) {
            None => Some(Mat3::identity()),
            Some(&(kind, count)) => vector(kind, count)?.and_then(|n| self.orientation(kind, &n)),
        };
        match linear {
            Some(linear) => Ok(Affine { linear, shift: Vec3::from_column_slice(&shift) }),
            None => Err(self.error(part, "its orientation is no rotation", "Correct the numbers")),
        }
    }

    fn orientation(&self, kind: &str, n: &[f64]) -> Option<Mat3> {
        let angle = |x: f64| if self.degrees { x.to_radians() } else { x };
        let triple = |k: usize| Vec3::new(n[k], n[k + 1], n[k + 2]);
        match kind {
            "quat" => rotation([n[0], n[1], n[2], n[3]]),
            "axisangle" => about(triple(0), angle(n[3])),
            "euler" => {
                let mut turn = Mat3::identity();
                for (letter, x) in self.euler.iter().zip(n) {
                    let axis = Vec3::ith(usize::from(letter.to_ascii_lowercase() - b'x'), 1.0);
                    let by = about(axis, angle(*x))?;
                    // small letters turn about axes that move along, capitals about fixed ones
                    turn = if letter.is_ascii_lowercase() { turn * by } else { by * turn };
                }
                Some(turn)
            }
            "xyaxes" => {
                let x = triple(0).try_normalize(1e-12)?;
                let y = triple(3);
                let y = (y - x * x.dot(&y)).try_normalize(1e-12)?;
                Some(Mat3::from_columns(&[x, y, x.cross(&y)]))
            }
            _ => from_z(triple(0)),
        }
    }

    /// The geometries of a body, of its frames and of the bodies below.
    fn bodies(
        &mut self,
        body: &Element,
        place: &Affine,
        class: Option<&str>,
        name: &str,
    ) -> Result<()> {
        for child in &body.children {
            let part = described(child);
            self.builder.visit(&part)?;
            match &child.name[..] {
                "geom" => self.geom(child, place, class, name, &part)?,
                "body" | "frame" => {
                    let own = self.pose(child, None, &part)?;
                    let inner = child.get("childclass").or(class);
                    let name = child.get("name").filter(|_| child.name == "body").unwrap_or(name);
                    self.bodies(child, &place.compose(&own), inner, name)?;
                }
                "replicate" => self.copies(child, place, class, name, &part)?,
                "joint" | "freejoint" => self.joints = true,
                "flexcomp" if self.flexible => self.flexcomp(child, place, &part)?,
                "flexcomp" => self.builder.note("flexible bodies (flexcomp) are left out"),
                "composite" => self.builder.note("composite objects are left out"),
                "attach" => self.builder.note("attached models are left out"),
                _ => {}
            }
        }
        Ok(())
    }

    /// `<replicate count offset euler>`: each copy is placed from the one before.
    fn copies(
        &mut self,
        child: &Element,
        place: &Affine,
        class: Option<&str>,
        name: &str,
        part: &str,
    ) -> Result<()> {
        let count = child.get("count").and_then(|n| n.trim().parse::<u32>().ok());
        let Some(count) = count else {
            return Err(self.error(part, "count must be a whole number", "Correct it"));
        };
        if count as usize > VISITS {
            let what = format!("{count} copies, of which at most {VISITS} are made");
            return Err(self.error(part, what, "Use fewer copies"));
        }
        let offset = self.vector(child, None, "offset", [3, 3], part)?.unwrap_or(vec![0.0; 3]);
        let turn = match self.vector(child, None, "euler", [3, 3], part)? {
            Some(angles) => self.orientation("euler", &angles).unwrap_or_else(Mat3::identity),
            None => Mat3::identity(),
        };
        let step = Affine { linear: turn, shift: Vec3::from_column_slice(&offset) };
        let mut own = Affine::identity();
        for _ in 0..count {
            self.builder.visit(part)?;
            self.bodies(child, &place.compose(&own), class, name)?;
            own = own.compose(&step);
        }
        Ok(())
    }

    // long: an arm for each type of geometry
    fn geom(
        &mut self,
        geom: &Element,
        place: &Affine,
        class: Option<&str>,
        body: &str,
        part: &str,
    ) -> Result<()> {
        let mask = |key: &str| self.get(geom, class, key).is_some_and(|v| v.trim() == "0");
        if mask("contype") && mask("conaffinity") {
            self.builder
                .note("geometries without contact (contype and conaffinity 0) are left out");
            return Ok(());
        }
        let kind = self.get(geom, class, "type").unwrap_or("sphere").to_owned();
        let mut own = self.pose(geom, class, part)?;
        let size = self.vector(geom, class, "size", [1, 3], part)?.unwrap_or_default();
        let mut size = [0, 1, 2].map(|k| size.get(k).copied().unwrap_or(0.0));
        if let Some(ends) = self.vector(geom, class, "fromto", [6, 6], part)? {
            let (a, b) = (Vec3::from_column_slice(&ends[..3]), Vec3::from_column_slice(&ends[3..]));
            let Some(linear) = from_z(a - b) else {
                return Err(self.error(
                    part,
                    "the ends of fromto are equal",
                    "Correct the numbers",
                ));
            };
            // as in MuJoCo: from the second end to the first
            own = Affine { linear, shift: (a + b) / 2.0 };
            let half = (b - a).norm() / 2.0;
            size = match &kind[..] {
                "capsule" | "cylinder" => [size[0], half, 0.0],
                _ => [size[0], size[0], half],
            };
        }
        let positive = |count: usize| match size[..count].iter().all(|x| *x > 0.0) {
            true => Ok(()),
            false => {
                let what = format!("a {} needs {count} positive sizes", shown(&kind));
                Err(self.error(part, what, "Correct size"))
            }
        };
        let mesh = match &kind[..] {
            "sphere" => {
                positive(1)?;
                ellipsoid(Vec3::repeat(size[0]))
            }
            "ellipsoid" | "box" => {
                positive(3)?;
                let half = Vec3::from(size);
                if kind == "box" { cuboid(half) } else { ellipsoid(half) }
            }
            "cylinder" | "capsule" => {
                positive(2)?;
                if kind == "capsule" {
                    capsule(size[0], size[1])
                } else {
                    cylinder(size[0], size[1])
                }
            }
            "mesh" => match self.mesh(geom, class, part)? {
                Some(mesh) => mesh,
                None => return Ok(()),
            },
            "plane" if self.flexible => {
                let at = place.compose(&own);
                let friction = self.vector(geom, class, "friction", [1, 3], part)?;
                self.planes.push(Plane {
                    name: geom.get("name").unwrap_or_default().to_owned(),
                    origin: at.shift,
                    normal: at.linear * Vec3::z(),
                    friction: friction.map_or(1.0, |f| f[0]),
                });
                return Ok(());
            }
            "plane" => {
                self.builder.note("planes are left out: use `ground` or [[half_spaces]]");
                return Ok(());
            }
            "hfield" | "sdf" => {
                self.builder.note("height fields and signed distance fields are left out");
                return Ok(());
            }
            other => {
                let what = format!("\"{}\" is no type of geometry", shown(other));
                return Err(self.error(part, what, "Correct it"));
            }
        };
        let name = geom.get("name").unwrap_or(body);
        self.builder.parts.add(&mesh, &place.compose(&own), name, part)
    }

    /// The place of a mesh file.
    pub(super) fn mesh_file(&self, written: &str) -> PathBuf {
        let name = Path::new(written);
        let name = if self.strip { name.file_name().map_or(name, Path::new) } else { name };
        self.meshes.join(name)
    }

    /// The mesh asset of a geometry, from the asset's own axes; `None` if it is one that is left out.
    fn mesh(&mut self, geom: &Element, class: Option<&str>, part: &str) -> Result<Option<Mesh>> {
        let name = self.get(geom, class, "mesh").unwrap_or_default().to_owned();
        let Some(asset) = self.assets.get(&name).copied() else {
            let what = format!("there is no mesh asset \"{}\"", shown(&name));
            return Err(self.error(part, what, "Correct the name"));
        };
        let part = format!("{part}, mesh \"{}\"", shown(&name));
        let vector = |key: &str, n: usize| self.vector(asset, None, key, [n, n], &part);
        let scale = vector("scale", 3)?.map_or(Vec3::repeat(1.0), |s| Vec3::from_column_slice(&s));
        let shift = vector("refpos", 3)?.map_or(Vec3::zeros(), |s| Vec3::from_column_slice(&s));
        let turn = match vector("refquat", 4)? {
            Some(q) => rotation([q[0], q[1], q[2], q[3]]),
            None => Some(Mat3::identity()),
        };
        let Some(turn) = turn else {
            return Err(self.error(&part, "refquat is no rotation", "Correct the numbers"));
        };
        let mut mesh = match self.get(asset, None, "file").map(str::to_owned) {
            Some(file) => {
                let file = self.mesh_file(&file);
                self.builder.mesh(&file, &part)?
            }
            None => match self.written(asset, &part)? {
                Some(mesh) => mesh,
                None => return Ok(None),
            },
        };
        self.builder.note("meshes collide as they are; in MuJoCo their convex hulls do");
        let map = scaling(scale)
            .compose(&Affine { linear: turn.transpose(), shift: -(turn.transpose() * shift) });
        mesh.points.iter_mut().for_each(|p| *p = map.apply(p));
        if map.mirrors() {
            mesh.triangles.iter_mut().for_each(|f| f.swap(1, 2));
        }
        Ok(Some(mesh))
    }

    /// A mesh whose vertices and faces stand in the file.
    fn written(&mut self, asset: &Element, part: &str) -> Result<Option<Mesh>> {
        let all = [0, usize::MAX];
        let vertices = self.vector(asset, None, "vertex", all, part)?.unwrap_or_default();
        let faces = self.vector(asset, None, "face", all, part)?.unwrap_or_default();
        if vertices.is_empty() || faces.is_empty() {
            self.builder
                .note("meshes that MuJoCo makes itself (builtin, or without faces) are left out");
            return Ok(None);
        }
        let count = vertices.len() / 3;
        let valid = |i: &f64| i.fract() == 0.0 && (0.0..count as f64).contains(i);
        if !vertices.len().is_multiple_of(3)
            || !faces.len().is_multiple_of(3)
            || !faces.iter().all(valid)
        {
            let what = "vertex and face must be triples, and faces name vertices from 0";
            return Err(self.error(part, what, "Correct the numbers"));
        }
        Ok(Some(Mesh {
            points: vertices.chunks_exact(3).map(Vec3::from_column_slice).collect(),
            triangles: faces
                .chunks_exact(3)
                .map(|f| [f[0] as u32, f[1] as u32, f[2] as u32])
                .collect(),
            ..Mesh::default()
        }))
    }
}

/// The smallest rotation that takes z to a direction.
fn from_z(direction: Vec3) -> Option<Mat3> {
    let z = direction.try_normalize(1e-12)?;
    let axis = Vec3::z().cross(&z);
    match axis.norm() > 1e-12 {
        true => about(axis, axis.norm().atan2(z.z)),
        false if z.z > 0.0 => Some(Mat3::identity()),
        false => about(Vec3::x(), std::f64::consts::PI),
    }
}

fn described(element: &Element) -> String {
    match element.get("name") {
        Some(name) => format!("{}, {} \"{}\"", element.place, shown(&element.name), shown(name)),
        None => format!("{}, {}", element.place, shown(&element.name)),
    }
}
