//! What a name or a handle means in a simulation.

use super::Simulation;
use crate::handle::{Handle, Kind, OfLoad, Which};
use standoff_scene::resolve::origin::{List, Origin};
use standoff_sim::ControlError;

impl Simulation {
    /// Index in the model of what is meant.
    pub(super) fn find<K: Kind>(&self, which: Which<'_, K>) -> Result<usize, ControlError> {
        let model = self.core.model();
        let mut names = (0..).map_while(|index| K::name(model, index));
        let found = match which {
            Which::Name(name) => names.position(|n| n == name),
            Which::Handle(handle) if handle.scene != self.scene.origins.scene => {
                return Err(ControlError::Foreign { what: K::WHAT });
            }
            Which::Handle(handle) => self.indices.get(&handle.origin).copied(),
        };
        found.ok_or_else(|| {
            let known = (0..).map_while(|index| K::name(model, index)).map(str::to_owned).collect();
            ControlError::Unknown { what: K::WHAT, name: self.spelled(which), known }
        })
    }

    /// Indices in `Definition::forces` of what is meant: all of a name.
    pub(super) fn forces(&self, which: Which<'_, OfLoad>) -> Result<Vec<usize>, ControlError> {
        let forces = &self.scene.definition.forces;
        let found: Vec<usize> = match which {
            Which::Name(name) => (0..forces.len()).filter(|k| forces[*k].name == name).collect(),
            Which::Handle(_) => vec![self.find(which)?],
        };
        // attachments and seams are behind the forces, and have no value to set
        match found.first() {
            Some(first) if *first < forces.len() => Ok(found),
            _ => Err(ControlError::Unknown {
                what: OfLoad::WHAT,
                name: self.spelled(which),
                known: forces.iter().map(|f| f.name.clone()).collect(),
            }),
        }
    }

    /// What is meant, as messages call it.
    fn spelled<K: Kind>(&self, which: Which<'_, K>) -> String {
        let Origin { list, section, entry, copy } = match which {
            Which::Name(name) => return name.to_owned(),
            Which::Handle(handle) => handle.origin,
        };
        let object = self.scene.file.objects.get(section).map_or("", |o| o.name.as_str());
        match list {
            List::Objects => format!("copy {copy} of {object}"),
            List::Fixed => format!("{object}.fixed[{entry}], copy {copy}"),
            List::Motion => format!("{object}.motion[{entry}], copy {copy}"),
            List::Forces => format!("{object}.force[{entry}], copy {copy}"),
            List::Attachments => format!("attachment {section}, copy {copy}"),
            List::Stitches => format!("stitch {section}, copy {copy}"),
            List::Ground | List::HalfSpaces => format!("half-space {section}"),
        }
    }

    /// The handle of number `index` of the model, unless the program changed the definition.
    pub(super) fn handle<K: Kind>(&self, index: usize) -> Option<Handle<K>> {
        let origins = &self.scene.origins;
        let origin = *K::origins(origins).get(index)?;
        let own = self.indices.get(&origin) == Some(&index);
        own.then(|| Handle::new(origins.scene, origin))
    }
}
