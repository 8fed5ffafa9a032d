//! Where in the scene file the parts of a definition come from. Programs refer to them by that, without names.

use standoff_sim::definition::Definition;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Distinguishes scenes. Copies of a scene have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SceneId(u64);

impl SceneId {
    /// One that no other scene of this process has. No result depends on it.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A list of a scene file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum List {
    /// `ground`, which is a half-space.
    Ground,
    /// `[[half_spaces]]`.
    HalfSpaces,
    /// `[[objects]]`.
    Objects,
    /// `fixed` of an object.
    Fixed,
    /// `motion` of an object.
    Motion,
    /// `forces` of an object.
    Forces,
    /// `[[attachments]]`.
    Attachments,
    /// `[[stitches]]`.
    Stitches,
}

/// The place of something in a scene file. All numbers are from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The list that has it.
    pub list: List,
    /// Number of the object, half-space, attachment or seam.
    pub section: usize,
    /// Number in the object's own list; 0 for what is in none.
    pub entry: usize,
    /// Which copy of an object with an `array`; 0 without.
    pub copy: usize,
}

impl Origin {
    /// The first or only copy of something.
    pub fn new(list: List, section: usize, entry: usize) -> Self {
        Self { list, section, entry, copy: 0 }
    }
}

/// Where the parts of a definition come from, in the definition's order.
#[derive(Debug, Clone)]
pub struct Origins {
    /// The scene that they are numbered in.
    pub scene: SceneId,
    /// Of `Definition::bodies`.
    pub bodies: Vec<Origin>,
    /// Of `Definition::half_spaces`.
    pub half_spaces: Vec<Origin>,
    /// Of `Definition::prescribed`.
    pub prescribed: Vec<Origin>,
    /// Of `Definition::forces`, then `attachments`, then `stitches`.
    pub loads: Vec<Origin>,
}

/// The entry of the scene file from which each part of a definition was made, in its order.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Of `Definition::prescribed`: its list, and its number there.
    pub prescribed: Vec<(List, usize)>,
    /// Of `Definition::forces`.
    pub forces: Vec<usize>,
    /// Of `Definition::attachments`.
    pub attachments: Vec<usize>,
    /// Of `Definition::stitches`.
    pub stitches: Vec<usize>,
}

impl Entries {
    /// The origins of what was made from these entries, of objects with these bodies, and with `ground` of that.
    pub fn origins(
        &self,
        definition: &Definition,
        objects: &[Range<usize>],
        ground: bool,
    ) -> Origins {
        let object_of = |body: usize| objects.partition_point(|bodies| bodies.end <= body);
        let copy_of = |body: usize| body - objects[object_of(body)].start;
        let of_object = |list, entry, body| {
            let (section, copy) = (object_of(body), copy_of(body));
            Origin { list, section, entry, copy }
        };
        let between = |list, section, body| {
            let copy = copy_of(body);
            Origin { list, section, entry: 0, copy }
        };
        let bodies = 0..definition.bodies.len();
        let prescribed = definition.prescribed.iter().zip(&self.prescribed);
        let forces = definition.forces.iter().zip(&self.forces);
        let forces = forces.map(|(f, k)| of_object(List::Forces, *k, f.body));
        let attachments = definition.attachments.iter().zip(&self.attachments);
        let attachments = attachments.map(|(a, k)| between(List::Attachments, *k, a.body));
        let stitches = definition.stitches.iter().zip(&self.stitches);
        let stitches = stitches.map(|(s, k)| between(List::Stitches, *k, s.bodies[0]));
        Origins {
            scene: SceneId::unique(),
            bodies: bodies.map(|b| of_object(List::Objects, 0, b)).collect(),
            half_spaces: half_spaces(definition.half_spaces.len(), ground),
            prescribed: prescribed.map(|(p, (list, k))| of_object(*list, *k, p.body)).collect(),
            loads: forces.chain(attachments).chain(stitches).collect(),
        }
    }
}

fn half_spaces(count: usize, ground: bool) -> Vec<Origin> {
    let sections = count - usize::from(ground);
    let ground = ground.then_some(Origin::new(List::Ground, 0, 0)).into_iter();
    ground.chain((0..sections).map(|k| Origin::new(List::HalfSpaces, k, 0))).collect()
}
