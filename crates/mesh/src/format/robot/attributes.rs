//! What a model of MuJoCo says in general: settings, default classes, assets, and the attributes of elements.

use super::mujoco::{Flex, Plane};
use super::tree::Element;
use super::{Builder, numbers};
use crate::MeshError;
use crate::format::affine::{Affine, about, rotation};
use crate::format::scan::Result;
use standoff_linalg::{Mat3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Attributes that a class gives to elements, by the name of the element.
type Class = BTreeMap<String, BTreeMap<String, String>>;

pub(super) struct Model<'a> {
    pub(super) builder: Builder<'a>,
    /// Whether flexible bodies and planes are collected, not noted.
    pub(super) flexible: bool,
    pub(super) flexes: Vec<Flex>,
    pub(super) planes: Vec<Plane>,
    classes: BTreeMap<String, Class>,
    /// The class of elements without any.
    main: String,
    /// Mesh assets: the element, and the class of its attributes.
    pub(super) assets: BTreeMap<String, &'a Element>,
    pub(super) degrees: bool,
    euler: Vec<u8>,
    meshes: PathBuf,
    strip: bool,
    /// Names of spatial tendons.
    pub(super) spatial: BTreeSet<String>,
}

impl<'a> Model<'a> {
    // long: a part for each section of the file that counts for geometry
    /// The settings, classes and assets of a model.
    pub(super) fn new(path: &'a Path, root: &'a Element) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut model = Self {
            builder: Builder::new(path),
            flexible: false,
            flexes: Vec::new(),
            planes: Vec::new(),
            classes: BTreeMap::new(),
            main: "main".to_owned(),
            assets: BTreeMap::new(),
            degrees: true,
            euler: b"xyz".to_vec(),
            meshes: folder.to_owned(),
            strip: false,
            spatial: BTreeSet::new(),
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
    pub(super) fn get<'e>(
        &'e self,
        element: &'e Element,
        childclass: Option<&str>,
        key: &str,
    ) -> Option<&'e str> {
        let class = element.get("class").or(childclass).unwrap_or(&self.main);
        let given = || self.classes.get(class)?.get(&element.name)?.get(key).map(|v| v.as_str());
        element.get(key).or_else(given)
    }

    /// What the class of an element gives to elements of a name.
    pub(super) fn of_class(&self, element: &Element, name: &str, key: &str) -> Option<&str> {
        let class = element.get("class").unwrap_or(&self.main);
        self.classes.get(class)?.get(name)?.get(key).map(|v| v.as_str())
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
        match self.get(element, class, key) {
            Some(text) => self.listed(text, key, [least, most], part).map(Some),
            None => Ok(None),
        }
    }

    /// The numbers of an attribute, as many as that.
    pub(super) fn listed(
        &self,
        text: &str,
        key: &str,
        [least, most]: [usize; 2],
        part: &str,
    ) -> Result<Vec<f64>> {
        let wrong =
            |what: String| self.error(part, format!("{key}: {what}"), "Correct the numbers");
        let found = numbers(text).map_err(wrong)?;
        if (least..=most).contains(&found.len()) {
            return Ok(found);
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

    pub(super) fn orientation(&self, kind: &str, n: &[f64]) -> Option<Mat3> {
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

    /// The place of a mesh file.
    pub(super) fn mesh_file(&self, written: &str) -> PathBuf {
        let name = Path::new(written);
        let name = if self.strip { name.file_name().map_or(name, Path::new) } else { name };
        self.meshes.join(name)
    }
}

/// The smallest rotation that takes z to a direction.
pub(super) fn from_z(direction: Vec3) -> Option<Mat3> {
    let z = direction.try_normalize(1e-12)?;
    let axis = Vec3::z().cross(&z);
    match axis.norm() > 1e-12 {
        true => about(axis, axis.norm().atan2(z.z)),
        false if z.z > 0.0 => Some(Mat3::identity()),
        false => about(Vec3::x(), std::f64::consts::PI),
    }
}
