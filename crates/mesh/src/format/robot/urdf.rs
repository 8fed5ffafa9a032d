//! URDF: the collision geometry of all links, and the robot as bodies and joints.

// long: links and joints, geometry, attributes

use super::machine::{Assembly, Drive, HingeKind, Machine, RobotOptions, STILL, motion, placed};
use super::tree::{self, Element};
use super::{Builder, capsule, cuboid, cylinder, ellipsoid, numbers, scaling};
use crate::format::affine::{Affine, about};
use crate::format::parts::shown;
use crate::format::scan::Result;
use crate::input::{self, MOST_TEXT};
use crate::{Mesh, MeshError};
use standoff_linalg::{Mat3, Vec3};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let root = tree::parse(path, data, None)?;
    let mut builder = Builder::new(path);
    let robot = Robot::new(&builder, &root)?;
    for (name, place, _) in robot.placed(&builder, &Coordinates::new())? {
        let link = robot.links[name];
        for (k, collision) in link.all("collision").enumerate() {
            let part = collision_part(collision, name, k);
            let own = origin(&builder, collision, &part)?;
            let (mesh, scale) = geometry(&mut builder, collision, &part)?;
            let world = place.compose(&own).compose(&scale);
            builder.parts.add(&mesh, &world, collision.get("name").unwrap_or(name), &part)?;
        }
        if link.first("visual").is_some() && link.first("collision").is_none() {
            builder.note("links without collision geometry are left out");
        }
    }
    builder.parts.finish(builder.notes, "no link has collision geometry")
}

/// Reads a robot as bodies and joints, with the joints of the pose at its coordinates and all others at zero, and what was left out, one sentence each.
/// The root link stands still.
///
/// # Errors
/// The file cannot be read, does not follow URDF, or names a mesh that cannot be read; or the pose names no joint of it.
pub fn read_machine(path: &Path, options: &RobotOptions) -> Result<(Machine, Vec<String>)> {
    let data = input::bytes(path, MOST_TEXT)
        .map_err(|source| MeshError::Read { file: path.to_path_buf(), source })?;
    let root = tree::parse(path, &data, None)?;
    let mut builder = Builder::new(path);
    builder.hulls = options.hulls;
    let robot = Robot::new(&builder, &root)?;
    let mut assembly = Assembly::new();
    let mut bodies: HashMap<&str, usize> = HashMap::new();
    let starts = robot.starts(&mut builder, options)?;
    for (name, place, joint) in robot.placed(&builder, &starts)? {
        let body = match joint {
            Some(joint) => {
                let parent = bodies[joint.parent];
                let start = starts.get(joint.name).copied().unwrap_or(0.0);
                joint.body(&mut builder, &mut assembly, parent, &place, start)?
            }
            None => STILL,
        };
        bodies.insert(name, body);
        add_link(&mut builder, &mut assembly, body, robot.links[name], name, &place)?;
    }
    let left_out = ["transmission", "gazebo"].map(|name| (name, root.first(name).is_some()));
    for (name, _) in left_out.iter().filter(|(_, there)| *there) {
        builder.note(&format!("<{name}> is left out"));
    }
    Ok((assembly.machine, builder.notes.into_iter().collect()))
}

/// Geometry and mass of a link, as those of a body.
fn add_link(
    builder: &mut Builder<'_>,
    assembly: &mut Assembly,
    body: usize,
    link: &Element,
    name: &str,
    place: &Affine,
) -> Result<()> {
    for (k, collision) in link.all("collision").enumerate() {
        let part = collision_part(collision, name, k);
        let own = origin(builder, collision, &part)?;
        let (mesh, scale) = geometry(builder, collision, &part)?;
        let mesh = builder.touching(&mesh);
        assembly.add(body, &placed(&mesh, &place.compose(&own).compose(&scale)));
    }
    let Some(inertial) = link.first("inertial") else { return Ok(()) };
    let part = format!("{}, link \"{}\", inertial", inertial.place, shown(name));
    let own = origin(builder, inertial, &part)?;
    let number = |of: &str, key: &str| -> Result<f64> {
        let element = inertial.first(of);
        let value = element.map(|e| vector(builder, e, key, 1, &part)).transpose()?.flatten();
        Ok(value.map_or(0.0, |v| v[0]))
    };
    let mass = number("mass", "value")?;
    let [xx, yy, zz, xy, xz, yz] =
        ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"].map(|k| number("inertia", k));
    let (xy, xz, yz) = (xy?, xz?, yz?);
    let inertia = Mat3::new(xx?, xy, xz, xy, yy?, yz, xz, yz, zz?);
    assembly.add_given(body, mass, &inertia, &place.compose(&own));
    Ok(())
}

fn collision_part(collision: &Element, link: &str, k: usize) -> String {
    format!("{}, link \"{}\", collision {k}", collision.place, shown(link))
}

/// Coordinates of joints by name.
type Coordinates = BTreeMap<String, f64>;

/// Links and joints by name.
struct Robot<'e> {
    links: HashMap<&'e str, &'e Element>,
    joints: Vec<Joint<'e>>,
    /// Names of links without a parent, in order.
    roots: Vec<&'e str>,
}

/// The name of a link, where it is, and the joint above it.
type Placed<'r, 'e> = (&'e str, Affine, Option<&'r Joint<'e>>);

/// A joint of the file.
struct Joint<'e> {
    element: &'e Element,
    name: &'e str,
    kind: &'e str,
    parent: &'e str,
    child: &'e str,
    /// The joint in the parent's coordinates.
    origin: Affine,
    axis: Vec3,
}

impl<'e> Robot<'e> {
    // long: the links, then the joints
    fn new(builder: &Builder<'_>, root: &'e Element) -> Result<Self> {
        if root.name != "robot" {
            let part = format!("{}, element {}", root.place, shown(&root.name));
            return Err(builder.error(
                &part,
                "the root element is not <robot>",
                "Is this a URDF file?",
            ));
        }
        if let Some(macros) = root.children.iter().find(|c| c.name.starts_with("xacro:")) {
            let part = format!("{}, element {}", macros.place, shown(&macros.name));
            return Err(builder.error(
                &part,
                "macros are not expanded",
                "Expand them: xacro robot.urdf.xacro > robot.urdf",
            ));
        }
        let mut links: HashMap<&str, &Element> = HashMap::new();
        for link in root.all("link") {
            let name = required(builder, link, "link", "name")?;
            if links.insert(name, link).is_some() {
                return Err(builder.error(
                    &described(link, "link"),
                    "another link has this name",
                    "Rename one of them",
                ));
            }
        }
        let mut parents: HashMap<&str, &str> = HashMap::new();
        let mut joints = Vec::new();
        for element in root.all("joint") {
            let joint = Joint::new(builder, element, &links)?;
            if parents.insert(joint.child, joint.parent).is_some() {
                let what = format!("link \"{}\" has several parents", shown(joint.child));
                let part = described(element, "joint");
                return Err(builder.error(&part, what, "Links must form a tree"));
            }
            joints.push(joint);
        }
        let names = root.all("link").filter_map(|l| l.get("name"));
        let roots = names.filter(|name| !parents.contains_key(name)).collect();
        Ok(Self { links, joints, roots })
    }

    /// Where all joints with a coordinate start: as `pose` says, else at zero or at the nearest limit.
    fn starts(&self, builder: &mut Builder<'_>, options: &RobotOptions) -> Result<Coordinates> {
        if let Some(keyframe) = &options.keyframe {
            return Err(builder.no_keyframe(keyframe, "URDF has no keyframes".to_owned()));
        }
        let pose = &options.pose;
        let one =
            |j: &&Joint<'_>| matches!(j.hinge(), Some(HingeKind::Revolute | HingeKind::Prismatic));
        let mut starts = Coordinates::new();
        for joint in self.joints.iter().filter(one) {
            let start = match pose.get(joint.name) {
                Some(given) => *given,
                None => builder.start(joint.name, 0.0, joint.limits(builder)?),
            };
            starts.insert(joint.name.to_owned(), start);
        }
        match pose.keys().find(|k| !starts.contains_key(k.as_str())) {
            None => Ok(starts),
            Some(unknown) => Err(builder.unknown_joint(unknown, starts.keys())),
        }
    }

    /// All links from the roots on, with where they are in a pose and the joints above them.
    fn placed(&self, builder: &Builder<'_>, starts: &Coordinates) -> Result<Vec<Placed<'_, 'e>>> {
        let mut below: HashMap<&str, Vec<&Joint<'e>>> = HashMap::new();
        for joint in &self.joints {
            below.entry(joint.parent).or_default().push(joint);
        }
        let mut stack: Vec<Placed<'_, 'e>> =
            self.roots.iter().rev().map(|name| (*name, Affine::identity(), None)).collect();
        let mut placed = Vec::with_capacity(self.links.len());
        while let Some((name, place, joint)) = stack.pop() {
            placed.push((name, place, joint));
            for joint in below.get(name).into_iter().flatten().rev() {
                let by = starts.get(joint.name).copied().unwrap_or(0.0);
                let moved = match joint.hinge() {
                    Some(kind) => motion(kind, &Vec3::zeros(), &joint.axis, by),
                    None => Affine::identity(),
                };
                let own = place.compose(&joint.origin).compose(&moved);
                stack.push((joint.child, own, Some(joint)));
            }
        }
        if placed.len() < self.links.len() {
            return Err(builder.error(
                "the joints",
                "they close a circle",
                "Links must form a tree",
            ));
        }
        Ok(placed)
    }
}

impl<'e> Joint<'e> {
    fn new(
        builder: &Builder<'_>,
        element: &'e Element,
        links: &HashMap<&'e str, &'e Element>,
    ) -> Result<Self> {
        let part = described(element, "joint");
        let link_of = |end: &str| -> Result<&'e str> {
            let name = match element.first(end) {
                Some(element) => required(builder, element, "joint", "link")?,
                None => {
                    return Err(builder.error(
                        &part,
                        format!("it has no <{end}>"),
                        "Complete the joint",
                    ));
                }
            };
            if links.contains_key(name) {
                return Ok(name);
            }
            Err(builder.error(
                &part,
                format!("there is no link \"{}\"", shown(name)),
                "Correct the name",
            ))
        };
        let (parent, child) = (link_of("parent")?, link_of("child")?);
        let axis = match element.first("axis") {
            Some(axis) => vector(builder, axis, "xyz", 3, &part)?,
            None => None,
        };
        Ok(Self {
            element,
            name: element.get("name").unwrap_or(""),
            kind: element.get("type").unwrap_or("fixed"),
            parent,
            child,
            origin: origin(builder, element, &part)?,
            axis: axis.map_or(Vec3::x(), |a| Vec3::from_column_slice(&a)),
        })
    }

    /// What it lets free, if that is not nothing and not everything.
    fn hinge(&self) -> Option<HingeKind> {
        match self.kind {
            "revolute" | "continuous" => Some(HingeKind::Revolute),
            "prismatic" => Some(HingeKind::Prismatic),
            "planar" => Some(HingeKind::Planar),
            _ => None,
        }
    }

    /// The least and the greatest value of its coordinate.
    fn limits(&self, builder: &Builder<'_>) -> Result<Option<[f64; 2]>> {
        let Some(limit) = self.element.first("limit") else { return Ok(None) };
        let part = described(self.element, "joint");
        let number = |key: &str| vector(builder, limit, key, 1, &part);
        let (lower, upper) = (number("lower")?, number("upper")?);
        let bounded = matches!(self.kind, "revolute" | "prismatic");
        let given = bounded && (lower.is_some() || upper.is_some());
        let value = |v: Option<Vec<f64>>| v.map_or(0.0, |v| v[0]);
        Ok(given.then(|| [value(lower), value(upper)]))
    }

    // long: an attribute after the other
    /// The body of the link below it, whose place is `place`: that of its parent where the joint lets nothing free, else a new one.
    fn body(
        &self,
        builder: &mut Builder<'_>,
        assembly: &mut Assembly,
        parent: usize,
        place: &Affine,
        start: f64,
    ) -> Result<usize> {
        let part = described(self.element, "joint");
        let Some(kind) = self.hinge() else {
            return match self.kind {
                "fixed" => Ok(parent),
                "floating" => Ok(assembly.link(self.child)),
                other => {
                    let what = format!("\"{}\" is no type of joint", shown(other));
                    Err(builder.error(&part, what, "Correct it"))
                }
            };
        };
        let axis = place.linear * self.axis;
        if axis.norm() < 1e-12 {
            return Err(builder.error(&part, "its axis is zero", "Correct the numbers"));
        }
        let body = assembly.link(self.child);
        let number = |of: &str, key: &str| -> Result<Option<f64>> {
            let Some(element) = self.element.first(of) else { return Ok(None) };
            Ok(vector(builder, element, key, 1, &part)?.map(|v| v[0]))
        };
        let effort = number("limit", "effort")?;
        let limits = self.limits(builder)?;
        let [damping, friction] = ["damping", "friction"].map(|key| number("dynamics", key));
        let (damping, friction) = (damping?, friction?);
        let [ratio, offset] = ["multiplier", "offset"].map(|key| number("mimic", key));
        let (ratio, offset) = (ratio?, offset?);
        let hinge = assembly.hinge(self.name, kind, [parent, body], [place.shift, axis], start);
        hinge.limits = limits;
        hinge.damping = damping.unwrap_or(0.0).max(0.0);
        hinge.friction = friction.unwrap_or(0.0).max(0.0);
        let max_effort = effort.filter(|e| *e > 0.0);
        hinge.drive = max_effort.map(|_| Drive { max_effort, ..Drive::default() });
        if let Some(mimic) = self.element.first("mimic") {
            let joint = mimic.get("joint").unwrap_or("").to_owned();
            hinge.mimic = Some((joint, ratio.unwrap_or(1.0), offset.unwrap_or(0.0)));
            hinge.drive = None;
        }
        for (key, what) in
            [("safety_controller", "safety controllers"), ("calibration", "calibrations")]
        {
            if self.element.first(key).is_some() {
                builder.note(&format!("{what} of joints are left out"));
            }
        }
        if self.element.first("limit").is_some_and(|l| l.get("velocity").is_some()) {
            builder.note("limits of the velocity of joints are left out");
        }
        Ok(body)
    }
}

fn described(element: &Element, kind: &str) -> String {
    match element.get("name") {
        Some(name) => format!("{}, {kind} \"{}\"", element.place, shown(name)),
        None => format!("{}, {kind}", element.place),
    }
}

fn required<'e>(
    builder: &Builder<'_>,
    element: &'e Element,
    kind: &str,
    key: &str,
) -> Result<&'e str> {
    element.get(key).ok_or_else(|| {
        builder.error(
            &described(element, kind),
            format!("the attribute {key} is missing"),
            "Add it",
        )
    })
}

/// `count` numbers of an attribute; `None` if it is absent.
fn vector(
    builder: &Builder<'_>,
    element: &Element,
    key: &str,
    count: usize,
    part: &str,
) -> Result<Option<Vec<f64>>> {
    let Some(text) = element.get(key) else { return Ok(None) };
    let wrong = |what: String| builder.error(part, format!("{key}: {what}"), "Correct the number");
    let found = numbers(text).map_err(wrong)?;
    if found.len() == count {
        return Ok(Some(found));
    }
    Err(wrong(format!("{} numbers where {count} are expected", found.len())))
}

/// A length of a shape.
fn length(builder: &Builder<'_>, element: &Element, key: &str, part: &str) -> Result<f64> {
    match vector(builder, element, key, 1, part)?.as_deref() {
        Some([x]) if *x > 0.0 => Ok(*x),
        _ => Err(builder.error(
            part,
            format!("{key} must be a positive number"),
            "Correct the number",
        )),
    }
}

/// `<origin xyz rpy>`: turned about the fixed axes x, y and z in this order, then moved.
fn origin(builder: &Builder<'_>, element: &Element, part: &str) -> Result<Affine> {
    let Some(origin) = element.first("origin") else { return Ok(Affine::identity()) };
    let xyz = vector(builder, origin, "xyz", 3, part)?.unwrap_or(vec![0.0; 3]);
    let rpy = vector(builder, origin, "rpy", 3, part)?.unwrap_or(vec![0.0; 3]);
    let turn =
        |axis: Vec3, angle: f64| about(axis, angle).unwrap_or_else(standoff_linalg::Mat3::identity);
    let linear = turn(Vec3::z(), rpy[2]) * turn(Vec3::y(), rpy[1]) * turn(Vec3::x(), rpy[0]);
    Ok(Affine { linear, shift: Vec3::from_column_slice(&xyz) })
}

/// The mesh of a `<geometry>` and its scale.
fn geometry(builder: &mut Builder<'_>, collision: &Element, part: &str) -> Result<(Mesh, Affine)> {
    let Some(shape) = collision.first("geometry").and_then(|g| g.children.first()) else {
        return Err(builder.error(part, "it has no <geometry>", "Complete it"));
    };
    let unscaled = |mesh| Ok((mesh, Affine::identity()));
    let half_length = |builder: &Builder<'_>| Ok(0.5 * length(builder, shape, "length", part)?);
    match &shape.name[..] {
        "box" => {
            let size =
                vector(builder, shape, "size", 3, part)?.filter(|s| s.iter().all(|x| *x > 0.0));
            let Some(size) = size else {
                return Err(builder.error(
                    part,
                    "size must be three positive numbers",
                    "Correct the numbers",
                ));
            };
            unscaled(cuboid(0.5 * Vec3::from_column_slice(&size)))
        }
        "sphere" => unscaled(ellipsoid(Vec3::repeat(length(builder, shape, "radius", part)?))),
        "cylinder" => {
            unscaled(cylinder(length(builder, shape, "radius", part)?, half_length(builder)?))
        }
        "capsule" => {
            unscaled(capsule(length(builder, shape, "radius", part)?, half_length(builder)?))
        }
        "mesh" => {
            let file = mesh_file(builder, required(builder, shape, "mesh", "filename")?, part)?;
            let scale = vector(builder, shape, "scale", 3, part)?.unwrap_or(vec![1.0; 3]);
            Ok((builder.mesh(&file, part)?, scaling(Vec3::from_column_slice(&scale))))
        }
        other => {
            let what = format!("<{}> is no shape of URDF", shown(other));
            Err(builder.error(part, what, "Use box, sphere, cylinder, capsule or mesh"))
        }
    }
}

/// The file of a mesh. A package is looked for among the folders around the robot: one of its name, or one that
/// holds it.
fn mesh_file(builder: &Builder<'_>, written: &str, part: &str) -> Result<PathBuf> {
    let folder = builder.path.parent().unwrap_or(Path::new(""));
    if let Some(rest) = written.strip_prefix("package://") {
        let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
        let absolute =
            std::path::absolute(builder.path).unwrap_or_else(|_| builder.path.to_owned());
        let around: Vec<&Path> = absolute.ancestors().skip(1).collect();
        let named = |a: &&Path| a.file_name().is_some_and(|n| n == package);
        let inner = around.iter().filter(|a| named(a)).map(|a| a.join(inside));
        let outer = around.iter().map(|a| a.join(package).join(inside));
        return inner.chain(outer).find(|f| f.is_file()).ok_or_else(|| {
            let what = format!(
                "'{}' was not found: no folder above {} is the package or holds it",
                shown(written),
                builder.path.display()
            );
            builder.error(
                part,
                what,
                "Keep the robot inside its package, or write a path relative to the URDF file",
            )
        });
    }
    let local = written.strip_prefix("file://").unwrap_or(written);
    if local.contains("://") {
        let what = format!("'{}' is no file", shown(written));
        return Err(builder.error(part, what, "Write a path relative to the URDF file"));
    }
    Ok(folder.join(local))
}
