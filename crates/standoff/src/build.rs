//! Scenes built in code. They are what a scene file says, in the same types, so that everything in the
//! documentation of the scene file holds here too.

use crate::error::Error;
use crate::handle::{BodyHandle, HalfSpaceHandle, Handle, LoadHandle};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_mesh::shape::Shape;
use standoff_scene::Scene;
use standoff_scene::file::{
    Along, AttachmentSection, ElementOrder, FixedSection, ForceSection, HalfSpaceSection,
    JointSection, MaterialChoice, MaterialSection, MotionSection, ObjectSection, RegionSection,
    Role, Rotation, SceneFile, Selection, StitchSection, TendonSection, TieSection,
};
use standoff_scene::resolve::Meshes;
use standoff_scene::resolve::origin::{List, Origin, SceneId};
use standoff_sim::definition::Dimension;
use std::path::Path;

/// A scene under construction. [`SceneBuilder::edit`] reaches what has no method of its own.
#[derive(Debug)]
pub struct SceneBuilder {
    // not `Clone`: handles tell the scenes of two builders apart
    id: SceneId,
    file: SceneFile,
    meshes: Meshes,
}

impl Default for SceneBuilder {
    fn default() -> Self {
        Self { id: SceneId::unique(), file: SceneFile::default(), meshes: Meshes::new() }
    }
}

impl SceneBuilder {
    /// A scene without objects, with the defaults of a scene file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time step, s; 0.01 s by default.
    pub fn time_step(mut self, step: f64) -> Self {
        self.file.time.step = step;
        self
    }

    /// Sets the time at which the simulation ends, s; 1 s by default.
    pub fn end_time(mut self, end: f64) -> Self {
        self.file.time.end = end;
        self
    }

    /// Makes it a scene of two dimensions, in the plane z = 0.
    pub fn two_dimensions(mut self) -> Self {
        self.file.dimension = Dimension::Two;
        self
    }

    /// Makes it a scene of bodies of revolution: the half-plane x = r ≥ 0 with the axis y.
    pub fn axisymmetric(mut self) -> Self {
        self.file.dimension = Dimension::Axisymmetric;
        self
    }

    /// Sets gravity, m/s²; (0, −9.81, 0) by default.
    pub fn gravity(mut self, gravity: impl Into<Vec3>) -> Self {
        self.file.gravity = gravity.into().into();
        self
    }

    /// Puts a fixed horizontal ground {y ≤ `height`} (m), the half-space `"ground"`.
    pub fn ground(mut self, height: f64) -> Self {
        self.file.ground = Some(height);
        self
    }

    /// Sets the coefficient of friction of all pairs that have none of their own; with [`kinetic_friction`](Self::kinetic_friction) the static one.
    pub fn friction(mut self, coefficient: f64) -> Self {
        self.file.friction.coefficient = coefficient;
        self
    }

    /// Sets the coefficient of friction of what slides, at most that of [`friction`](Self::friction), for all pairs that have none of their own.
    pub fn kinetic_friction(mut self, coefficient: f64) -> Self {
        self.file.friction.kinetic_coefficient = Some(coefficient);
        self
    }

    /// Adds a material that objects refer to by name.
    pub fn material(mut self, name: &str, material: MaterialSection) -> Self {
        self.file.materials.insert(name.to_owned(), material);
        self
    }

    /// Adds an object whose handle is not needed.
    pub fn object(mut self, object: Object) -> Self {
        self.add(object);
        self
    }

    /// Adds an object. The handle stands for its body, and of several copies for the first.
    pub fn add(&mut self, object: Object) -> BodyHandle {
        let Object { mut section, mesh } = object;
        if let Some(mesh) = mesh {
            let path = format!("scene.meshes/{:06}.vtu", self.meshes.len());
            section.mesh = Some(path.clone());
            self.meshes.insert(path, mesh);
        }
        self.file.objects.push(section);
        self.last(List::Objects, self.file.objects.len())
    }

    /// Adds a fixed half-space.
    pub fn add_half_space(&mut self, half_space: HalfSpaceSection) -> HalfSpaceHandle {
        self.file.half_spaces.push(half_space);
        self.last(List::HalfSpaces, self.file.half_spaces.len())
    }

    /// Adds springs between objects or to a point. The handle is for [`Simulation::applied`](crate::Simulation::applied).
    pub fn add_attachment(&mut self, attachment: AttachmentSection) -> LoadHandle {
        self.file.attachments.push(attachment);
        self.last(List::Attachments, self.file.attachments.len())
    }

    /// Adds a seam. The handle is for [`Simulation::applied`](crate::Simulation::applied).
    pub fn add_stitch(&mut self, stitch: StitchSection) -> LoadHandle {
        self.file.stitches.push(stitch);
        self.last(List::Stitches, self.file.stitches.len())
    }

    /// Glues two objects together where they touch at the start.
    pub fn add_tie(&mut self, tie: TieSection) {
        self.file.ties.push(tie);
    }

    /// Adds a joint between rigid bodies. What it acts with is in `forces.joints` of the report of a step, by its name.
    pub fn add_joint(&mut self, joint: JointSection) {
        self.file.joints.push(joint);
    }

    /// Adds a tendon, a sum of coordinates of joints. It is in `forces.joints` of the report of a step, by its name.
    pub fn add_tendon(&mut self, tendon: TendonSection) {
        self.file.tendons.push(tendon);
    }

    /// The handle of the last of `count` entries of a list.
    fn last<K>(&self, list: List, count: usize) -> Handle<K> {
        Handle::new(self.id, Origin::new(list, count - 1, 0))
    }

    /// Changes anything else of the scene: settings of contact, friction, solver and output. Handles count what was added:
    /// entries must not be put before those of which there are handles.
    pub fn edit(mut self, edit: impl FnOnce(&mut SceneFile)) -> Self {
        edit(&mut self.file);
        self
    }

    /// Checks the scene.
    ///
    /// # Errors
    /// [`Error::Scene`] with the path of what is wrong, for instance `objects[2].material`.
    pub fn build(self) -> Result<Scene, Error> {
        let mut scene = Scene::from_file(&self.file, self.meshes)?;
        scene.origins.scene = self.id;
        Ok(scene)
    }
}

/// An object under construction: an elastic solid, shell, rods, particles, or an obstacle.
#[derive(Debug, Clone)]
pub struct Object {
    section: ObjectSection,
    mesh: Option<Mesh>,
}

impl Object {
    fn new(name: &str, section: ObjectSection) -> Self {
        Self { section: ObjectSection { name: name.to_owned(), ..section }, mesh: None }
    }

    /// An object with a built-in shape.
    pub fn shape(name: &str, shape: Shape) -> Self {
        Self::new(name, ObjectSection { shape: Some(shape), ..Default::default() })
    }

    /// An object with a mesh file.
    pub fn file(name: &str, path: &Path) -> Self {
        let mesh = Some(path.to_string_lossy().into_owned());
        Self::new(name, ObjectSection { mesh, ..Default::default() })
    }

    /// An object with a mesh in memory. Points that no element has are left out; regions of the mesh
    /// become regions of the object. Where all tetrahedra have negative volume, they are reversed.
    pub fn mesh(name: &str, mut mesh: Mesh) -> Self {
        mesh.flip_if_all_inverted();
        mesh.compact();
        let mut object = Self::new(name, ObjectSection::default());
        for region in std::mem::take(&mut mesh.regions) {
            object = object.region(&region.name, region.vertices);
        }
        object.mesh = Some(mesh);
        object
    }

    /// Says what it is. By default a mesh of tetrahedra is a volume, anything else an obstacle.
    pub fn role(mut self, role: Role) -> Self {
        self.section.role = Some(role);
        self
    }

    /// Order of the elements of a volume; by default that of the mesh.
    pub fn element(mut self, order: ElementOrder) -> Self {
        self.section.element = Some(order);
        self
    }

    /// Gives it a material of the scene.
    pub fn material(mut self, name: &str) -> Self {
        self.section.material = Some(MaterialChoice::Name(name.to_owned()));
        self
    }

    /// Gives the elements of a region another material of the scene.
    pub fn material_of(mut self, region: &str, name: &str) -> Self {
        self.section.materials.insert(region.to_owned(), MaterialChoice::Name(name.to_owned()));
        self
    }

    /// Translates it, m.
    pub fn at(mut self, translation: impl Into<Vec3>) -> Self {
        self.section.translate = translation.into().into();
        self
    }

    /// Rotates it before it is translated.
    pub fn rotated(mut self, rotation: Rotation) -> Self {
        self.section.rotate = Some(rotation);
        self
    }

    /// Gives it a velocity at the start, m/s.
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.section.velocity = velocity.into().into();
        self
    }

    /// Names a set of its vertices, by number.
    pub fn region(mut self, name: &str, vertices: Vec<u32>) -> Self {
        let region = RegionSection { listed: Some(vertices), ..Default::default() };
        self.section.regions.insert(name.to_owned(), region);
        self
    }

    /// Holds some of its vertices: `"all"` or the name of a region. Between steps they may be given
    /// targets.
    pub fn fixed(mut self, vertices: &str) -> Self {
        let vertices = Selection::Name(vertices.to_owned());
        self.section.fixed.push(FixedSection { vertices, ..Default::default() });
        self
    }

    /// Holds some of its vertices in some directions only: on a symmetry plane or on rollers.
    ///
    /// ```
    /// use standoff::material::Rubber;
    /// use standoff::prelude::*;
    /// use standoff::scene_file::{Along, AxisName};
    ///
    /// let rubber = Rubber::Yeoh { c10: 2e5, c20: -1e3, c30: 40.0 };
    /// let mut builder = SceneBuilder::new()
    ///     .material("seal", MaterialSection { rubber: Some(rubber), bulk_modulus: Some(4e8), ..Default::default() });
    /// let half = Object::shape("half", Shape::Box(BoxShape::default())).material("seal");
    /// let half = half.region("plane", vec![0, 1, 2, 3]).fixed_along("plane", Along::Axis(AxisName::X));
    /// builder.add(half);
    /// let scene = builder.build()?;
    /// assert_eq!(scene.definition.prescribed[0].along, [Vec3::x()]);
    /// # Ok::<(), standoff::Error>(())
    /// ```
    pub fn fixed_along(mut self, vertices: &str, along: Along) -> Self {
        let (vertices, along) = (Selection::Name(vertices.to_owned()), Some(along));
        self.section.fixed.push(FixedSection { vertices, along, ..Default::default() });
        self
    }

    /// Adds a prescribed motion.
    pub fn motion(mut self, motion: MotionSection) -> Self {
        self.section.motion.push(motion);
        self
    }

    /// Adds a force or pressure.
    pub fn force(mut self, force: ForceSection) -> Self {
        self.section.forces.push(force);
        self
    }

    /// Changes anything else of the object.
    pub fn edit(mut self, edit: impl FnOnce(&mut ObjectSection)) -> Self {
        edit(&mut self.section);
        self
    }
}
