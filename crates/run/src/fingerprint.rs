//! What identifies the definition to which a checkpoint belongs.

use fnv::FnvHasher;
use serde_json::Value;
use standoff_sim::Definition;
use standoff_sim::definition::{BodyDef, BodyKind};
use standoff_sim::settings::Settings;
use std::fmt::{self, Write as _};
use std::hash::Hasher;

/// Fingerprint of everything that the steps of a definition depend on: all of it but the end of the
/// simulation, and the device: a run may go on on another one.
pub fn fingerprint(definition: &Definition) -> u64 {
    // every field is named, so that none can be forgotten
    let Definition {
        dimension,
        bodies,
        half_spaces,
        prescribed,
        forces,
        attachments,
        stitches,
        ties,
        joints,
        tendons,
        energies,
        no_contact,
        gravity,
        settings,
    } = definition;
    let mut settings = settings.clone();
    let default = Settings::default();
    (settings.time.end, settings.solver.device) = (default.time.end, default.solver.device);
    // the texts hold every bit of every number: Rust prints the shortest one that reads back
    let mut text = HashedText(FnvHasher::default());
    // a hash takes whatever is written
    let _ = write!(text, "{}", changed_settings(&settings));
    let bodies: Vec<Shown<'_>> = bodies.iter().map(Shown).collect();
    let _ = write!(text, "{dimension:?} {bodies:?} {half_spaces:?} {prescribed:?} {forces:?}");
    let _ = write!(text, "{attachments:?} {stitches:?} {energies:?} {no_contact:?} {gravity:?}");
    // scenes without joints keep the fingerprint that they had before there were joints
    if !joints.is_empty() {
        let _ = write!(text, " {joints:?}");
    }
    if !ties.is_empty() {
        let _ = write!(text, " {ties:?}");
    }
    if !tendons.is_empty() {
        let _ = write!(text, " {tendons:?}");
    }
    text.0.finish()
}

/// A body as it was shown before there were quadratic elements: bodies without them keep their fingerprints.
struct Shown<'a>(&'a BodyDef);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BodyDef {
            name,
            rest,
            start,
            velocity,
            kind,
            friction_material,
            contact_thickness,
            surface,
            inelastic,
            fibres,
            growth,
            parts,
        } = self.0;
        let mut all = f.debug_struct("BodyDef");
        all.field("name", name)
            .field("rest", rest)
            .field("start", start)
            .field("velocity", velocity)
            .field("kind", &ShownKind(kind))
            .field("friction_material", friction_material)
            .field("contact_thickness", contact_thickness)
            .field("surface", surface);
        if !parts.is_empty() {
            all.field("parts", parts);
        }
        if !inelastic.is_empty() {
            all.field("inelastic", inelastic);
        }
        if !fibres.is_empty() {
            all.field("fibres", fibres);
        }
        if let Some(growth) = growth {
            all.field("growth", growth);
        }
        all.finish()
    }
}

/// See [`Shown`].
struct ShownKind<'a>(&'a BodyKind);

impl fmt::Debug for ShownKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            BodyKind::Volume { tets, middles, density, material } if middles.is_empty() => f
                .debug_struct("Volume")
                .field("tets", tets)
                .field("density", density)
                .field("material", material)
                // what solids had in the place of parts
                .field("overrides", &[(); 0])
                .finish(),
            BodyKind::PlaneStrain { triangles, middles, density, material }
                if middles.is_empty() =>
            {
                f.debug_struct("PlaneStrain")
                    .field("triangles", triangles)
                    .field("density", density)
                    .field("material", material)
                    .finish()
            }
            other => other.fmt(f),
        }
    }
}

/// The settings that differ from their defaults, a line `key = value` each. A setting that a later version
/// adds thus leaves the fingerprints of the scenes that do not use it as they were.
fn changed_settings(settings: &Settings) -> String {
    fn compare(key: &str, value: &Value, default: Option<&Value>, lines: &mut String) {
        match (value, default) {
            (Value::Object(fields), Some(Value::Object(defaults))) => {
                for (name, value) in fields {
                    compare(&format!("{key}.{name}"), value, defaults.get(name), lines);
                }
            }
            // as texts, because 0.0 equals −0.0 as a number
            _ if default.map(Value::to_string) == Some(value.to_string()) => {}
            _ => {
                let _ = writeln!(lines, "{key} = {value}");
            }
        }
    }
    // settings are plain data, which always have a JSON value
    let json = |settings| serde_json::to_value(settings).unwrap_or_default();
    let mut lines = String::new();
    compare("", &json(settings), Some(&json(&Settings::default())), &mut lines);
    lines
}

/// Hashes a text without keeping it.
struct HashedText(FnvHasher);

impl std::fmt::Write for HashedText {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0.write(s.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_from_the_defaults_counts() {
        let mut settings = Settings::default();
        assert_eq!(changed_settings(&settings), "");
        settings.time.step *= 2.0;
        settings.contact.d_hat = Some(1e-3);
        settings.solver.allow_inversion = true;
        let step = settings.time.step;
        let expected = format!(
            ".contact.d_hat = 0.001\n.solver.allow_inversion = true\n.time.step = {step}\n"
        );
        assert_eq!(changed_settings(&settings), expected);
    }
}
