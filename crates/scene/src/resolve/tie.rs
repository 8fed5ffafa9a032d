//! Ties between objects.

use super::at::At;
use super::attach::find;
use super::placed::Placed;
use super::select::select;
use crate::error::SceneError;
use crate::file::SceneFile;
use standoff_sim::definition::{Definition, TieDef, TieFound};

/// Adds every tie; copies of two objects are tied one by one, in their order.
pub(super) fn resolve_all(
    file: &mut SceneFile,
    at: &At<'_>,
    all: &[Placed],
    definition: &mut Definition,
    notes: &mut Vec<String>,
) -> Result<(), SceneError> {
    for (k, section) in file.ties.iter_mut().enumerate() {
        if section.name.is_empty() {
            section.name = format!("tie-{k}");
        }
    }
    for (k, section) in file.ties.iter().enumerate() {
        let at = at.index(k);
        let mut objects = [0; 2];
        for (side, name) in section.objects.iter().enumerate() {
            objects[side] = find(name, &at.key("objects").index(side), all)?;
        }
        let [a, b] = objects.map(|o| &all[o]);
        let (n, m) = (a.bodies.len(), b.bodies.len());
        if n != m {
            let what = format!("the objects have {n} and {m} copies; tied are as many of either");
            return Err(at.key("objects").invalid(what));
        }
        let sets = match &section.vertices {
            None => Vec::new(),
            Some(s) => select(s, &file.objects[objects[0]], &at.key("vertices"), a)?,
        };
        for copy in 0..n {
            let tie = TieDef {
                name: section.name.clone(),
                bodies: [a.bodies.start + copy, b.bodies.start + copy],
                vertices: sets.get(copy).or(sets.first()).cloned(),
                tolerance: section.tolerance,
            };
            at.check(tie.validate_numbers())?;
            let found = tie.found(definition);
            let found = found.map_err(|why| at.invalid(format!("tie '{}': {why}", tie.name)))?;
            notes.push(note(&tie, found, definition));
            definition.ties.push(tie);
        }
    }
    Ok(())
}

/// What a tie has glued.
fn note(tie: &TieDef, found: TieFound, definition: &Definition) -> String {
    let [tied, carrier] = found.bodies.map(|b| &definition.bodies[b].name);
    format!(
        "tie '{}': {} vertices of '{tied}' follow the elements of '{carrier}', from whose surface they are at most {:.2e} m away",
        tie.name, found.vertices, found.distance
    )
}
