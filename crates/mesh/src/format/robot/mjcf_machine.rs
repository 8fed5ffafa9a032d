//! A model of MuJoCo as bodies and joints.

// long: a method for each section of the format that counts for motion

use super::VISITS;
use super::attributes::Model;
use super::keyframe::{Keyframe, Twist, twist};
use super::machine::{
    Assembly, Drive, HingeKind, Machine, Matter, RobotOptions, STILL, Spring, motion, placed,
};
use super::mjcf::described;
use super::tree::Element;
use crate::Mesh;
use crate::format::affine::Affine;
use crate::format::parts::shown;
use crate::format::scan::Result;
use standoff_linalg::{Mat3, Vec3};
use std::collections::HashMap;

/// What is collected beside the machine.
struct Assembling<'p> {
    assembly: Assembly,
    options: &'p RobotOptions,
    /// Bodies by the names of the file, with where these are.
    bodies: HashMap<String, (usize, Affine)>,
    /// Joints by the names of the file, with their reference positions.
    joints: HashMap<String, (usize, f64)>,
    /// Where the springs of joints are without force, also of joints without one, in the order of the joints.
    rests: Vec<f64>,
    /// Tendons by the names of the file.
    tendons: HashMap<String, usize>,
    /// What the chosen keyframe says of those that come next.
    key: Keyframe,
    /// Whether the masses of the file do not count.
    by_geometry: bool,
}

/// Where an element stands: the place and the class of its body, the number of the body, its name, and how it moves at the start.
#[derive(Clone, Copy)]
struct Within<'e> {
    place: Affine,
    class: Option<&'e str>,
    link: usize,
    name: &'e str,
    twist: Twist,
}

/// Attributes that would act, and that nothing here reads, by their elements.
const UNREAD: [(&str, &[&str]); 12] = [
    ("option", &["wind", "density", "viscosity", "magnetic"]),
    ("compiler", &["boundmass", "boundinertia", "balanceinertia", "inertiagrouprange"]),
    ("body", &["mocap", "gravcomp"]),
    ("geom", &["fluidshape", "shellinertia"]),
    ("joint", &["springdamper", "actuatorfrcrange", "actuatorgravcomp"]),
    ("motor", &["actrange", "damping", "armature"]),
    ("position", &["timeconst", "dampratio", "inheritrange", "damping", "armature"]),
    ("velocity", &["damping", "armature"]),
    ("intvelocity", &["actrange", "inheritrange"]),
    ("general", &["actrange", "dynprm", "damping", "armature"]),
    ("freejoint", &["align"]),
    ("weld", &["torquescale"]),
];

/// Flags of MuJoCo by which parts of its physics are switched off.
const FLAGS: [&str; 9] = [
    "contact",
    "gravity",
    "limit",
    "equality",
    "actuation",
    "frictionloss",
    "passive",
    "spring",
    "damper",
];

impl Model<'_> {
    /// Notes attributes that would act but are not read, wherever in the file they are. Zeros and "false" do nothing.
    fn note_unread(&mut self, element: &Element) {
        let unread = UNREAD.iter().filter(|(name, _)| *name == element.name);
        for key in unread.flat_map(|(_, keys)| *keys) {
            let nothing = |value: &str| {
                let is_zero = |word: &str| word.parse::<f64>().is_ok_and(|x| x == 0.0);
                ["false", "none"].contains(&value) || value.split_whitespace().all(is_zero)
            };
            if element.get(key).is_some_and(|value| !nothing(value)) {
                self.builder.note(&format!("`{key}` of `{}` is left out", element.name));
            }
        }
        if element.name == "flag" {
            for key in FLAGS.iter().filter(|key| element.get(key) == Some("disable")) {
                self.builder.note(&format!("the flag that disables `{key}` is left out"));
            }
        }
        element.children.iter().for_each(|child| self.note_unread(child));
    }

    /// The bodies and joints of a model, joints at the coordinates of the pose, all others at their reference.
    pub(super) fn machine(&mut self, root: &Element, options: &RobotOptions) -> Result<Machine> {
        let mut a = Assembling {
            assembly: Assembly::new(),
            options,
            bodies: HashMap::from([("world".to_owned(), (STILL, Affine::identity()))]),
            joints: HashMap::new(),
            rests: Vec::new(),
            tendons: HashMap::new(),
            key: self.keyframe(root, options.keyframe.as_deref())?,
            by_geometry: root.all("compiler").any(|c| c.get("inertiafromgeom") == Some("true")),
        };
        for world in root.all("worldbody") {
            let (place, twist) = (Affine::identity(), [Vec3::zeros(); 2]);
            let within = Within { place, class: None, link: STILL, name: "", twist };
            self.assemble(&mut a, world, within)?;
        }
        if let Some(unknown) = options.pose.keys().find(|k| !a.joints.contains_key(k.as_str())) {
            return Err(self.builder.unknown_joint(unknown, a.joints.keys()));
        }
        for tendon in root.all("tendon").flat_map(|t| &t.children) {
            self.tendon(&mut a, tendon)?;
        }
        for actuators in root.all("actuator") {
            for actuator in &actuators.children {
                let control = a.key.control();
                self.actuator(&mut a, actuator, control)?;
            }
        }
        self.check_taken(&a.key)?;
        for equalities in root.all("equality") {
            for equality in &equalities.children {
                self.equality(&mut a, equality)?;
            }
        }
        self.contacts(&mut a, root)?;
        for compiler in root.all("compiler") {
            let part = format!("{}, compiler", compiler.place);
            let total = self.vector(compiler, None, "settotalmass", [1, 1], &part)?;
            let total = total.map(|t| t[0]).filter(|t| *t > 0.0);
            a.assembly.machine.total_mass = total.or(a.assembly.machine.total_mass);
        }
        self.note_unread(root);
        if root.all("sensor").any(|e| !e.children.is_empty()) {
            self.builder.note("sensors are left out");
        }
        if root.first("deformable").is_some() {
            self.builder.note("flexible bodies (deformable) are left out");
        }
        Ok(a.assembly.machine)
    }

    // long: an arm for each element
    fn assemble(
        &mut self,
        a: &mut Assembling<'_>,
        body: &Element,
        within: Within<'_>,
    ) -> Result<()> {
        let Within { place, class, link, name, .. } = within;
        for child in &body.children {
            let part = described(child);
            self.builder.visit(&part)?;
            match &child.name[..] {
                "geom" => {
                    let is_plane = self.get(child, class, "type") == Some("plane");
                    if is_plane && !self.touches(child, class) {
                        continue;
                    }
                    if let Some((mesh, own)) = self.geometry(child, &place, class, &part)? {
                        self.matter(a, child, within, &mesh, &place.compose(&own))?;
                    }
                }
                "inertial" => self.inertial(a, child, &place, link, &part)?,
                "frame" => {
                    let own = self.pose(child, None, &part)?;
                    let class = child.get("childclass").or(class);
                    let place = place.compose(&own);
                    self.assemble(a, child, Within { place, class, ..within })?;
                }
                "body" => {
                    let own = self.pose(child, None, &part)?;
                    let class = child.get("childclass").or(class);
                    let name = child.get("name").unwrap_or(name);
                    let place = place.compose(&own);
                    let inner = self.joints(a, child, Within { place, class, name, ..within })?;
                    if let Some(name) = child.get("name") {
                        a.bodies.insert(name.to_owned(), (inner.link, inner.place));
                    }
                    self.assemble(a, child, inner)?;
                }
                "replicate" => {
                    for own in self.copies_of(child, &part)? {
                        self.builder.visit(&part)?;
                        let place = place.compose(&own);
                        self.assemble(a, child, Within { place, ..within })?;
                    }
                }
                "flexcomp" => self.flexcomp(child, &place, &part)?,
                "composite" => self.builder.note("composite objects are left out"),
                "attach" => self.builder.note("attached models are left out"),
                _ => {}
            }
        }
        Ok(())
    }

    /// The places of the copies of `<replicate>`, each from the one before.
    pub(super) fn copies_of(&self, child: &Element, part: &str) -> Result<Vec<Affine>> {
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
        let next = |_| {
            let here = own;
            own = own.compose(&step);
            here
        };
        Ok((0..count).map(next).collect())
    }

    /// Contact and mass of a geometry.
    fn matter(
        &mut self,
        a: &mut Assembling<'_>,
        geom: &Element,
        within: Within<'_>,
        mesh: &Mesh,
        place: &Affine,
    ) -> Result<()> {
        let (class, link, part) = (within.class, within.link, described(geom));
        let surface = placed(mesh, place);
        if self.touches(geom, class) {
            let mask = |key: &str| {
                let text = self.get(geom, class, key).unwrap_or("1");
                text.trim().parse::<u32>().unwrap_or(1)
            };
            let masks = [mask("contype"), mask("conaffinity")];
            match self.get(geom, class, "mesh").is_some() {
                true => a.assembly.add(link, &placed(&self.builder.touching(mesh), place)),
                false => a.assembly.add(link, &surface),
            }
            let own = &mut a.assembly.machine.links[link];
            own.masks.iter_mut().zip(masks).for_each(|(own, mask)| *own |= mask);
        } else {
            self.builder
                .note("geometries without contact (contype and conaffinity 0) have mass only");
        }
        let number = |key: &str| -> Result<Option<f64>> {
            Ok(self.vector(geom, class, key, [1, 1], &part)?.map(|v| v[0]))
        };
        let (mass, density) = (number("mass")?, number("density")?);
        if link != STILL {
            let matter = Matter::Filled { surface, mass, density };
            a.assembly.machine.links[link].matter.push(matter);
        }
        Ok(())
    }

    fn inertial(
        &mut self,
        a: &mut Assembling<'_>,
        element: &Element,
        place: &Affine,
        link: usize,
        part: &str,
    ) -> Result<()> {
        let mass = self.vector(element, None, "mass", [1, 1], part)?.map_or(0.0, |m| m[0]);
        let own = self.pose(element, None, part)?;
        let inertia = match self.vector(element, None, "fullinertia", [6, 6], part)? {
            Some(i) => Mat3::new(i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]),
            None => {
                let diagonal = self.vector(element, None, "diaginertia", [3, 3], part)?;
                diagonal
                    .map_or(Mat3::zeros(), |d| Mat3::from_diagonal(&Vec3::from_column_slice(&d)))
            }
        };
        if link != STILL && !a.by_geometry {
            a.assembly.add_given(link, mass, &inertia, &place.compose(&own));
        }
        Ok(())
    }

    /// What is inside of a body, with where it is after its joints: in the same body as the one above without joints, else in a new one.
    fn joints<'e>(
        &mut self,
        a: &mut Assembling<'_>,
        body: &'e Element,
        mut within: Within<'e>,
    ) -> Result<Within<'e>> {
        let free = |j: &&Element, model: &Self, class| {
            j.name == "freejoint" || model.get(j, class, "type") == Some("free")
        };
        let joints: Vec<&Element> =
            body.children.iter().filter(|c| c.name == "joint" || c.name == "freejoint").collect();
        let Some((last, before)) = joints.split_last() else { return Ok(within) };
        let first = a.assembly.machine.links.len();
        if joints.iter().any(|j| free(j, self, within.class)) {
            within.link = a.assembly.link(within.name);
            (within.place, within.twist) = a.key.free(&within.place);
            a.assembly.machine.links[within.link].twist = within.twist;
            return Ok(within);
        }
        for joint in before {
            let name = format!("{}.{}", within.name, joint.get("name").unwrap_or("joint"));
            let link = a.assembly.link(&name);
            self.joint(a, joint, &mut within, link)?;
        }
        let link = a.assembly.link(within.name);
        self.joint(a, last, &mut within, link)?;
        a.assembly.machine.links[first..link].iter_mut().for_each(|l| l.between = Some(link));
        Ok(within)
    }

    // long: an attribute after the other
    /// A joint between the body of `within` and the one below, `link`, in which one is afterwards.
    fn joint(
        &mut self,
        a: &mut Assembling<'_>,
        joint: &Element,
        within: &mut Within<'_>,
        link: usize,
    ) -> Result<()> {
        let part = described(joint);
        let class = within.class;
        let kind = match self.get(joint, class, "type").unwrap_or("hinge") {
            "hinge" => HingeKind::Revolute,
            "slide" => HingeKind::Prismatic,
            "ball" => HingeKind::Spherical,
            other => {
                let what = format!("\"{}\" is no type of joint", shown(other));
                return Err(self.error(&part, what, "Correct it"));
            }
        };
        let angle = |x: f64| match kind {
            HingeKind::Revolute if self.degrees => x.to_radians(),
            _ => x,
        };
        let number = |key: &str| -> Result<Option<f64>> {
            Ok(self.vector(joint, class, key, [1, 1], &part)?.map(|v| v[0]))
        };
        let vector = |key: &str, otherwise: Vec3| -> Result<Vec3> {
            let given = self.vector(joint, class, key, [3, 3], &part)?;
            Ok(given.map_or(otherwise, |v| Vec3::from_column_slice(&v)))
        };
        let point = within.place.apply(&vector("pos", Vec3::zeros())?);
        let axis = within.place.linear * vector("axis", Vec3::z())?;
        if axis.norm() < 1e-12 {
            return Err(self.error(&part, "its axis is zero", "Correct the numbers"));
        }
        let reference = number("ref")?.map_or(0.0, angle);
        let name = joint.get("name").unwrap_or(within.name);
        let range = self.vector(joint, class, "range", [2, 2], &part)?;
        let limited = self.get(joint, class, "limited") != Some("false");
        let limits = range.as_ref().filter(|_| limited).map(|r| [angle(r[0]), angle(r[1])]);
        let single = kind != HingeKind::Spherical;
        let (damping, friction) = (number("damping")?, number("frictionloss")?);
        let (stiffness, spring) = (number("stiffness")?, number("springref")?.map_or(0.0, angle));
        let armature = number("armature")?.unwrap_or(0.0).max(0.0);
        let (position, rate) = if single { a.key.single() } else { (None, 0.0) };
        let start = match a.options.pose.get(name) {
            Some(given) => *given,
            None if single => self.builder.start(name, position.unwrap_or(reference), limits),
            None => reference,
        };
        let links = [within.link, link];
        let number = a.assembly.machine.joints.len();
        a.rests.push(spring);
        let own = if single { start } else { 0.0 };
        let hinge = a.assembly.hinge(name, kind, links, [point, axis], own);
        let mut lost = Vec::new();
        if single {
            hinge.limits = limits;
            (hinge.damping, hinge.friction) = (damping.unwrap_or(0.0), friction.unwrap_or(0.0));
            hinge.armature = armature;
            if let Some(stiffness) = stiffness.filter(|k| *k > 0.0) {
                hinge.spring = Some(Spring { stiffness, rest: spring });
            }
        } else if range.is_some() || damping.is_some() || friction.is_some() || stiffness.is_some()
        {
            lost.push("ranges, damping, friction and springs of ball joints are left out");
        }
        if armature > 0.0 && !single {
            lost.push("armature of ball joints, the inertia of rotors, is left out");
        }
        lost.into_iter().for_each(|note| self.builder.note(note));
        a.joints.insert(name.to_owned(), (number, reference));
        let (angular, velocity) = match kind {
            HingeKind::Revolute => (axis.normalize() * rate, Vec3::zeros()),
            HingeKind::Prismatic => (Vec3::zeros(), axis.normalize() * rate),
            _ => {
                let (turn, angular) = a.key.ball();
                let own = within.place;
                let linear = own.linear * turn;
                let anchor = own.inverse().map_or(point, |back| back.apply(&point));
                within.place = Affine { linear, shift: point - linear * anchor };
                (linear * angular, Vec3::zeros())
            }
        };
        let own = twist(angular, velocity, &point);
        within.twist = [0, 1].map(|k| within.twist[k] + own[k]);
        a.assembly.machine.links[link].twist = within.twist;
        within.place = motion(kind, &point, &axis, start - reference).compose(&within.place);
        within.link = link;
        Ok(())
    }

    /// Drives of joints.
    // long: an arm for each type of actuator
    fn actuator(&mut self, a: &mut Assembling<'_>, actuator: &Element, control: f64) -> Result<()> {
        let part = described(actuator);
        let class = None;
        let joint = self.get(actuator, class, "joint").map(str::to_owned);
        let tendon = self.get(actuator, class, "tendon").map(str::to_owned);
        let (name, number, is_tendon) = match (&joint, &tendon) {
            (Some(name), _) => (name, a.joints.get(name).map(|(number, _)| *number), false),
            (None, Some(name)) if self.spatial.contains(name) => {
                self.builder.note("actuators of spatial tendons are left out");
                return Ok(());
            }
            (None, Some(name)) => (name, a.tendons.get(name).copied(), true),
            (None, None) => {
                self.builder.note("actuators of sites and bodies are left out");
                return Ok(());
            }
        };
        let Some(number) = number else {
            let kind = if is_tendon { "tendon" } else { "joint" };
            let what = format!("there is no {kind} \"{}\"", shown(name));
            return Err(self.error(&part, what, "Correct the name"));
        };
        let value = |key: &str| -> Result<Option<f64>> {
            Ok(self.vector(actuator, class, key, [1, 10], &part)?.and_then(|v| v.first().copied()))
        };
        let gear = value("gear")?.unwrap_or(1.0);
        let limits = |key: &str, switch: &str| -> Result<Option<[f64; 2]>> {
            let off = self.get(actuator, class, switch) == Some("false");
            let range = self.vector(actuator, class, key, [2, 2], &part)?.filter(|_| !off);
            Ok(range.map(|r| [r[0], r[1]]))
        };
        let greatest = |[low, high]: [f64; 2]| low.abs().max(high.abs());
        let force = limits("forcerange", "forcelimited")?.map(greatest);
        let controls = limits("ctrlrange", "ctrllimited")?;
        // also zero, where no keyframe says anything, is kept within the range
        let control = controls.map_or(control, |[low, high]| control.max(low).min(high));
        let target = if gear == 0.0 { 0.0 } else { control / gear };
        let max_effort = force.map(|f| (gear * f).abs()).filter(|f| *f > 0.0);
        let (kp, kv) = (value("kp")?, value("kv")?);
        let list = |key: &str| self.vector(actuator, class, key, [1, 10], &part);
        let drive = match &actuator.name[..] {
            "motor" => {
                let most = controls.map(|c| (gear * greatest(c)).abs()).filter(|c| *c > 0.0);
                let max_effort = max_effort.or(most);
                Some(Drive { effort: Some(gear * control), max_effort, ..Drive::default() })
            }
            "position" => Some(Drive {
                position: Some(target),
                stiffness: gear * gear * kp.unwrap_or(1.0),
                damping: gear * gear * kv.unwrap_or(0.0),
                max_effort,
                ..Drive::default()
            }),
            "velocity" => Some(Drive {
                velocity: Some(target),
                damping: gear * gear * kv.unwrap_or(1.0),
                max_effort,
                ..Drive::default()
            }),
            "general" => {
                let gain = list("gainprm")?.and_then(|g| g.first().copied()).unwrap_or(1.0);
                let bias = list("biasprm")?.unwrap_or_default();
                let bias = |k: usize| bias.get(k).copied().unwrap_or(0.0);
                let affine = self.get(actuator, class, "biastype") == Some("affine");
                let servo = bias(1) < 0.0;
                let fixed = self.get(actuator, class, "gaintype").is_none_or(|t| t == "fixed");
                let effort = gear * if affine { bias(0) } else { gain * control };
                match (fixed, affine, servo) {
                    // gain · control + bias₀ + bias₁ · length + bias₂ · velocity
                    (true, true, true) => Some(Drive {
                        position: Some(target * gain / -bias(1)),
                        effort: Some(effort).filter(|e| *e != 0.0),
                        stiffness: gear * gear * -bias(1),
                        damping: gear * gear * (-bias(2)).max(0.0),
                        max_effort,
                        ..Drive::default()
                    }),
                    (true, false, _) => {
                        Some(Drive { effort: Some(effort), max_effort, ..Drive::default() })
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let machine = &mut a.assembly.machine;
        let (slot, has_coordinate) = if is_tendon {
            (&mut machine.tendons[number].drive, true)
        } else {
            let hinge = &mut machine.joints[number];
            (&mut hinge.drive, hinge.kind != HingeKind::Spherical)
        };
        let Some(drive) = drive.filter(|_| has_coordinate) else {
            let what = format!("actuators of the type {} are left out", shown(&actuator.name));
            self.builder.note(&what);
            return Ok(());
        };
        *slot = Some(match *slot {
            None => drive,
            Some(first) => first.with(&drive).unwrap_or_else(|| {
                let note = "of several actuators of a joint or a tendon, of which one has a cap, the first one is kept";
                self.builder.note(note);
                first
            }),
        });
        Ok(())
    }

    // long: an attribute after the other
    /// A sum of coordinates of joints.
    fn tendon(&mut self, a: &mut Assembling<'_>, tendon: &Element) -> Result<()> {
        let part = described(tendon);
        let name = tendon.get("name").unwrap_or_default();
        if tendon.name != "fixed" {
            self.builder.note("spatial tendons are left out");
            self.spatial.insert(name.to_owned());
            return Ok(());
        }
        let number = |key: &str| -> Result<f64> {
            // classes call all tendons so
            Ok(self.of_tendon(tendon, key, [1, 1], &part)?.map_or(0.0, |v| v[0]))
        };
        let (damping, friction, stiffness) =
            (number("damping")?, number("frictionloss")?, number("stiffness")?);
        let rest = self.of_tendon(tendon, "springlength", [1, 2], &part)?;
        let has_armature = number("armature")? != 0.0;
        let range = self.of_tendon(tendon, "range", [2, 2], &part)?;
        let limited = self.tendon_text(tendon, "limited") != Some("false");
        let (mut joints, mut start, mut relaxed) = (Vec::new(), 0.0, 0.0);
        for joint in tendon.all("joint") {
            let part = described(joint);
            let name = joint.get("joint").unwrap_or_default();
            let factor = self.vector(joint, None, "coef", [1, 1], &part)?.map_or(1.0, |c| c[0]);
            let Some(&(number, _)) = a.joints.get(name) else {
                let what = format!("there is no joint \"{}\"", shown(name));
                return Err(self.error(&part, what, "Correct the name"));
            };
            let hinge = &a.assembly.machine.joints[number];
            if hinge.kind == HingeKind::Spherical {
                let what =
                    format!("\"{}\" is a ball joint, which has no single coordinate", shown(name));
                return Err(self.error(&part, what, "Name a hinge or a slide"));
            }
            if factor != 0.0 {
                joints.push((hinge.name.clone(), factor));
                (start, relaxed) =
                    (start + factor * hinge.start, relaxed + factor * a.rests[number]);
            }
        }
        let mut notes = Vec::new();
        if has_armature {
            notes.push("armature of tendons is left out".to_owned());
        }
        // without a length, or with −1, it is that where the springs of joints would rest; two lengths are the ends of a range without force
        let rest = match rest.as_deref() {
            Some([low, high]) if low < high => {
                notes.push("springs of tendons with a range without force are left out".to_owned());
                None
            }
            Some([at, ..]) if *at != -1.0 => Some(*at),
            _ => Some(relaxed),
        };
        let limits = range.filter(|_| limited).map(|r| [r[0], r[1]]).filter(|[l, h]| l < h);
        let within = limits.map(|[low, high]| [low.min(start), high.max(start)]);
        if within != limits {
            notes.push(format!(
                "tendon {} starts beyond its range, which is wider by that",
                shown(name)
            ));
        }
        if !joints.is_empty() {
            let own = a.assembly.tendon(name);
            (own.joints, own.limits, own.damping, own.friction) =
                (joints, within, damping, friction);
            own.spring = rest.filter(|_| stiffness > 0.0).map(|rest| Spring { stiffness, rest });
            a.tendons.insert(name.to_owned(), a.assembly.machine.tendons.len() - 1);
        }
        notes.iter().for_each(|note| self.builder.note(note));
        Ok(())
    }

    /// An attribute of a tendon, which classes name without its type.
    fn tendon_text<'e>(&'e self, tendon: &'e Element, key: &str) -> Option<&'e str> {
        tendon.get(key).or_else(|| self.of_class(tendon, "tendon", key))
    }

    fn of_tendon(
        &self,
        tendon: &Element,
        key: &str,
        count: [usize; 2],
        part: &str,
    ) -> Result<Option<Vec<f64>>> {
        match self.tendon_text(tendon, key) {
            Some(text) => self.listed(text, key, count, part).map(Some),
            None => Ok(None),
        }
    }

    // long: an arm for each type of equality
    /// Joints that follow others, and joints that close loops.
    fn equality(&mut self, a: &mut Assembling<'_>, equality: &Element) -> Result<()> {
        let part = described(equality);
        if self.get(equality, None, "active") == Some("false") {
            return Ok(());
        }
        let named = |key: &str| equality.get(key).map(str::to_owned);
        match &equality.name[..] {
            "joint" => {
                let joint = |model: &Self, key: &str| match named(key) {
                    None => Ok(None),
                    Some(name) => match a.joints.get(&name) {
                        Some(&(number, reference)) => Ok(Some((number, reference))),
                        None => {
                            let what = format!("there is no joint \"{}\"", shown(&name));
                            Err(model.error(&part, what, "Correct the name"))
                        }
                    },
                };
                let (first, second) = (joint(self, "joint1")?, joint(self, "joint2")?);
                let coefficients = self.vector(equality, None, "polycoef", [1, 5], &part)?;
                let of = |k: usize| {
                    let given = coefficients.as_ref().and_then(|c| c.get(k).copied());
                    given.unwrap_or(if k == 1 { 1.0 } else { 0.0 })
                };
                let is_linear = (2..5).all(|k| of(k) == 0.0);
                let (Some((first, own)), Some((second, other)), true) = (first, second, is_linear)
                else {
                    self.builder.note(
                        "equalities of a joint with a number, or of higher than first order, are left out",
                    );
                    return Ok(());
                };
                let name = a.assembly.machine.joints[second].name.clone();
                let offset = own + of(0) - of(1) * other;
                a.assembly.machine.joints[first].mimic = Some((name, of(1), offset));
            }
            "connect" | "weld" if named("body1").is_some() => {
                let body = |key: &str| {
                    let name = named(key).unwrap_or_else(|| "world".to_owned());
                    self.body(a, &name, &part)
                };
                let ((first, place), (second, _)) = (body("body1")?, body("body2")?);
                if first == second {
                    return Ok(());
                }
                let kind = match &equality.name[..] {
                    "weld" => HingeKind::Fixed,
                    _ => HingeKind::Spherical,
                };
                let anchor = self.vector(equality, None, "anchor", [3, 3], &part)?;
                let anchor = anchor.map_or(Vec3::zeros(), |v| Vec3::from_column_slice(&v));
                let name = equality.get("name").unwrap_or("equality").to_owned();
                let point = place.apply(&anchor);
                // what stands still is the first of the two
                let links = if first == STILL { [first, second] } else { [second, first] };
                a.assembly.hinge(&name, kind, links, [point, Vec3::z()], 0.0);
            }
            other => {
                self.builder.note(&format!("equalities of the type {} are left out", shown(other)));
            }
        }
        Ok(())
    }

    /// Number and place of a body of a name.
    fn body(&self, a: &Assembling<'_>, name: &str, part: &str) -> Result<(usize, Affine)> {
        a.bodies.get(name).copied().ok_or_else(|| {
            let what = format!("there is no body \"{}\"", shown(name));
            self.error(part, what, "Correct the name")
        })
    }

    /// Bodies that do not touch each other: by contype and conaffinity, and by <exclude>.
    fn contacts(&mut self, a: &mut Assembling<'_>, root: &Element) -> Result<()> {
        let links = &a.assembly.machine.links;
        let may_touch = |i: usize, j: usize| {
            let ([c, d], [e, f]) = (links[i].masks, links[j].masks);
            c & f != 0 || e & d != 0
        };
        let all = (0..links.len()).flat_map(|j| (0..j).map(move |i| [i, j]));
        let mut apart: Vec<[usize; 2]> = all.filter(|&[i, j]| !may_touch(i, j)).collect();
        for contact in root.all("contact").flat_map(|c| &c.children) {
            let part = described(contact);
            match &contact.name[..] {
                "exclude" => {
                    let of = |key: &str| {
                        self.body(a, contact.get(key).unwrap_or_default(), &part)
                    };
                    let ((i, _), (j, _)) = (of("body1")?, of("body2")?);
                    apart.extend((i != j).then_some([i.min(j), i.max(j)]));
                }
                "pair" => self.builder.note(
                    "single pairs of geometries (contact/pair) are left out: bodies touch as contype and conaffinity say",
                ),
                _ => {}
            }
        }
        apart.sort_unstable();
        apart.dedup();
        a.assembly.machine.apart = apart;
        Ok(())
    }
}
