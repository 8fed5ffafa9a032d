//! What a scene's `preset` says: settings for all keys that the scene does not give itself.

use crate::document::{Document, Entry, KeyPath, Node, Place, Segment, Value, twin};
use standoff_sim::definition::presets::Preset;
use standoff_sim::settings::Settings;

/// Adds the settings of the document's preset wherever it has none of its own.
pub fn apply(document: &mut Document) {
    let path = KeyPath(vec![Segment::Key("preset".into())]);
    let Some(Node { value: Value::String(name), place }) = document.find(&path).cloned() else {
        return;
    };
    // what is no preset is refused with all else that has a wrong value
    let name = toml::Value::String(name);
    let Ok(preset) = name.try_into::<Preset>() else { return };
    let table = |settings: &Settings| toml::Value::try_from(settings).ok();
    let (Some(own), Some(default)) = (table(&preset.settings()), table(&Settings::default()))
    else {
        return;
    };
    fill(&mut document.root, &own, &default, place);
}

/// Puts what differs between `own` and `default` below `node` where nothing stands.
fn fill(node: &mut Node, own: &toml::Value, default: &toml::Value, place: Place) {
    let (Value::Table(entries), toml::Value::Table(own)) = (&mut node.value, own) else { return };
    for (key, value) in own {
        let before = default.get(key);
        if before == Some(value) {
            continue;
        }
        let twin = twin(key);
        if entries.iter().any(|e| e.key == twin) {
            continue;
        }
        let at = entries.iter().position(|e| e.key == *key);
        match (at, value, before) {
            (Some(at), toml::Value::Table(_), Some(before)) => {
                fill(&mut entries[at].node, value, before, place);
            }
            (Some(_), ..) => {}
            (None, toml::Value::Table(_), Some(before)) => {
                let mut node = Node { value: Value::Table(Vec::new()), place };
                fill(&mut node, value, before, place);
                entries.push(Entry { key: key.clone(), key_place: place, node });
            }
            (None, ..) => {
                let node = Node { value: plain(value), place };
                entries.push(Entry { key: key.clone(), key_place: place, node });
            }
        }
    }
}

fn plain(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text.clone()),
        toml::Value::Integer(number) => Value::Integer(*number),
        toml::Value::Float(number) => Value::Float(*number),
        toml::Value::Boolean(flag) => Value::Boolean(*flag),
        // settings have no lists among what presets set, and no dates
        other => Value::String(other.to_string()),
    }
}
