//! Handles: bodies, half-spaces, prescriptions and loads without their names.

use standoff_scene::Scene;
use standoff_scene::resolve::origin::{List, Origin, Origins, SceneId};
use standoff_sim::model::Model;
use std::collections::HashMap;
use std::marker::PhantomData;

/// Stands for a part of a scene: a [`BodyHandle`], [`HalfSpaceHandle`], [`PrescriptionHandle`] or [`LoadHandle`].
///
/// [`SceneBuilder::add`](crate::SceneBuilder::add) returns the handle of a body. It is for all simulations of the scene that the
/// builder builds. Simulations of other scenes refuse it ([`ControlError::Foreign`](crate::errors::ControlError::Foreign)), also if they have the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle<K> {
    pub(crate) scene: SceneId,
    pub(crate) origin: Origin,
    kind: PhantomData<K>,
}

/// Stands for a body.
pub type BodyHandle = Handle<OfBody>;
/// Stands for a half-space.
pub type HalfSpaceHandle = Handle<OfHalfSpace>;
/// Stands for a set of vertices that is held or moved.
pub type PrescriptionHandle = Handle<OfPrescription>;
/// Stands for a force, a pressure, an attachment or a seam.
pub type LoadHandle = Handle<OfLoad>;

/// The kind of a [`BodyHandle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfBody {}
/// The kind of a [`HalfSpaceHandle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfHalfSpace {}
/// The kind of a [`PrescriptionHandle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfPrescription {}
/// The kind of a [`LoadHandle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfLoad {}

impl<K> Handle<K> {
    pub(crate) fn new(scene: SceneId, origin: Origin) -> Self {
        Self { scene, origin, kind: PhantomData }
    }

    /// The same of copy number `copy`, from 0, of an object with an `array`; z is counted fastest, then y, then x.
    pub fn copy(self, copy: usize) -> Self {
        Self::new(self.scene, Origin { copy, ..self.origin })
    }
}

impl BodyHandle {
    fn part<K>(self, list: List, entry: usize) -> Handle<K> {
        Handle::new(self.scene, Origin { list, entry, ..self.origin })
    }

    /// What holds the vertices of entry number `entry`, from 0, of its `fixed`: the calls of
    /// [`Object::fixed`](crate::Object::fixed) in their order.
    pub fn fixed(self, entry: usize) -> PrescriptionHandle {
        self.part(List::Fixed, entry)
    }

    /// The same of its `motion`: the calls of [`Object::motion`](crate::Object::motion).
    pub fn motion(self, entry: usize) -> PrescriptionHandle {
        self.part(List::Motion, entry)
    }

    /// The load of entry number `entry`, from 0, of its `forces`: the calls of [`Object::force`](crate::Object::force) in their order.
    pub fn force(self, entry: usize) -> LoadHandle {
        self.part(List::Forces, entry)
    }
}

/// Which body, half-space, prescription or load is meant: a name or a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a, K> {
    /// The one of a name.
    Name(&'a str),
    /// The one of a handle.
    Handle(Handle<K>),
}

impl<'a, K> From<&'a str> for Which<'a, K> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a, K> From<&'a String> for Which<'a, K> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl<K> From<Handle<K>> for Which<'_, K> {
    fn from(handle: Handle<K>) -> Self {
        Self::Handle(handle)
    }
}

/// What a handle may stand for.
pub(crate) trait Kind: Copy {
    /// What messages call it.
    const WHAT: &'static str;
    /// Name of number `index` in a model.
    fn name(model: &Model, index: usize) -> Option<&str>;
    /// Where those of a scene come from.
    fn origins(origins: &Origins) -> &[Origin];
}

impl Kind for OfBody {
    const WHAT: &'static str = "body";
    fn name(model: &Model, index: usize) -> Option<&str> {
        model.bodies.get(index).map(|b| b.name.as_str())
    }
    fn origins(origins: &Origins) -> &[Origin] {
        &origins.bodies
    }
}

impl Kind for OfHalfSpace {
    const WHAT: &'static str = "half-space";
    fn name(model: &Model, index: usize) -> Option<&str> {
        model.half_space_names.get(index).map(String::as_str)
    }
    fn origins(origins: &Origins) -> &[Origin] {
        &origins.half_spaces
    }
}

impl Kind for OfPrescription {
    const WHAT: &'static str = "prescription";
    fn name(model: &Model, index: usize) -> Option<&str> {
        model.held_names.get(index).map(String::as_str)
    }
    fn origins(origins: &Origins) -> &[Origin] {
        &origins.prescribed
    }
}

impl Kind for OfLoad {
    const WHAT: &'static str = "load";
    fn name(model: &Model, index: usize) -> Option<&str> {
        model.load_names.get(index).map(String::as_str)
    }
    fn origins(origins: &Origins) -> &[Origin] {
        &origins.loads
    }
}

/// Index in the definition of a scene of what comes from a place of its file.
pub(crate) fn indices(scene: &Scene) -> HashMap<Origin, usize> {
    let (origins, definition) = (&scene.origins, &scene.definition);
    let lists = [
        (&origins.bodies, definition.bodies.len()),
        (&origins.half_spaces, definition.half_spaces.len()),
        (&origins.prescribed, definition.prescribed.len()),
        (&origins.loads, definition.load_count()),
    ];
    // a list that a program has made longer or shorter does not come from the file
    let own = lists.into_iter().filter(|(list, count)| list.len() == *count);
    own.flat_map(|(list, _)| list.iter().enumerate().map(|(index, o)| (*o, index))).collect()
}
