//! MJCF, the files of MuJoCo: the geometries that take part in contact, joints at their reference position.

// long: a method for each element of the format

use super::attributes::{Model, from_z};
use super::machine::RobotOptions;
use super::mujoco::{MujocoModel, Plane};
use super::tree::{self, Element};
use super::{capsule, cuboid, cylinder, ellipsoid, scaling};
use crate::format::affine::{Affine, rotation};
use crate::format::parts::shown;
use crate::format::scan::Result;
use crate::input::{self, MOST_TEXT};
use crate::{Mesh, MeshError};
use standoff_linalg::{Mat3, Vec3};
use std::collections::HashSet;
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

/// Reads a model of MuJoCo: its bodies and joints, those of the pose at its coordinates and all others at their reference, flexible bodies, planes
/// and settings.
///
/// # Errors
/// The file cannot be read, does not follow MJCF, or names a mesh that cannot be read; or the pose names no joint of it.
pub fn read_model(path: &Path, options: &RobotOptions) -> Result<MujocoModel> {
    let data = input::bytes(path, MOST_TEXT)
        .map_err(|source| MeshError::Read { file: path.to_path_buf(), source })?;
    let root = root(path, &data)?;
    let mut model = Model::new(path, &root)?;
    model.flexible = true;
    model.builder.hulls = options.hulls;
    let machine = model.machine(&root, options)?;
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
        machine,
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

impl Model<'_> {
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
        for own in self.copies_of(child, part)? {
            self.builder.visit(part)?;
            self.bodies(child, &place.compose(&own), class, name)?;
        }
        Ok(())
    }

    fn geom(
        &mut self,
        geom: &Element,
        place: &Affine,
        class: Option<&str>,
        body: &str,
        part: &str,
    ) -> Result<()> {
        if !self.touches(geom, class) {
            self.builder
                .note("geometries without contact (contype and conaffinity 0) are left out");
            return Ok(());
        }
        let Some((mesh, own)) = self.geometry(geom, place, class, part)? else { return Ok(()) };
        let name = geom.get("name").unwrap_or(body);
        self.builder.parts.add(&mesh, &place.compose(&own), name, part)
    }

    /// Whether a geometry takes part in contact.
    pub(super) fn touches(&self, geom: &Element, class: Option<&str>) -> bool {
        let none = |key: &str| self.get(geom, class, key).is_some_and(|v| v.trim() == "0");
        !(none("contype") && none("conaffinity"))
    }

    // long: an arm for each type of geometry
    /// The mesh of a geometry and its place in its body; none where that is left out, or a plane.
    pub(super) fn geometry(
        &mut self,
        geom: &Element,
        place: &Affine,
        class: Option<&str>,
        part: &str,
    ) -> Result<Option<(Mesh, Affine)>> {
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
                None => return Ok(None),
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
                return Ok(None);
            }
            "plane" => {
                self.builder.note("planes are left out: use `ground` or [[half_spaces]]");
                return Ok(None);
            }
            "hfield" | "sdf" => {
                self.builder.note("height fields and signed distance fields are left out");
                return Ok(None);
            }
            other => {
                let what = format!("\"{}\" is no type of geometry", shown(other));
                return Err(self.error(part, what, "Correct it"));
            }
        };
        Ok(Some((mesh, own)))
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
        if !self.builder.hulls {
            self.builder.note("meshes collide as they are; in MuJoCo their convex hulls do");
        }
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

pub(super) fn described(element: &Element) -> String {
    match element.get("name") {
        Some(name) => format!("{}, {} \"{}\"", element.place, shown(&element.name), shown(name)),
        None => format!("{}, {}", element.place, shown(&element.name)),
    }
}
