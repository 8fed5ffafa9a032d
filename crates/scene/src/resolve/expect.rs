//! What a run of the scene must show.

use super::at::At;
use super::expectation::{Expectation, Piece, Subject, Subtrahend, When};
use super::placed::Placed;
use super::select::select;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{
    Axis, Bound, ExpectSection, Field, Measure, Minus, Moment, Quantity, Reference, Role,
    SceneFile, Selection,
};
use crate::units::convert;

/// Resolves every expectation of a scene that ends at `end`, s.
pub(super) fn resolve_all(
    file: &SceneFile,
    end: f64,
    at: &At<'_>,
    all: &[Placed],
) -> Result<Vec<Expectation>, SceneError> {
    let sections = file.expect.iter().enumerate();
    sections.map(|(k, section)| resolve_one(section, file, end, &at.index(k), all)).collect()
}

fn resolve_one(
    section: &ExpectSection,
    file: &SceneFile,
    end: f64,
    at: &At<'_>,
    all: &[Placed],
) -> Result<Expectation, SceneError> {
    if section.shows.trim().is_empty() {
        return Err(at.key("shows").invalid("say in a sentence what to see"));
    }
    check_quantity(section.quantity(), file, &at.key("value"))?;
    let subjects = match section.value {
        Quantity::OfObject(measure) => subjects(section, measure, file, at, all)?,
        Quantity::OfScene(_) => {
            refuse_object(section, at)?;
            Vec::new()
        }
    };
    let when = when(section, end, file.time.step, at)?;
    let at_least = at_least(section, subjects.len(), at)?;
    let bound = |bound: &Option<Bound>, key: &str| {
        bound.as_ref().map(|b| number(b, section, &at.key(key))).transpose()
    };
    let (above, below) = (bound(&section.above, "above")?, bound(&section.below, "below")?);
    match (above, below) {
        (None, None) => return Err(at.invalid("give `above`, `below`, or both")),
        (Some(a), Some(b)) if a >= b => {
            let what = format!("no value is above {a} and below {b}; exchange the bounds");
            return Err(at.key("above").invalid(what));
        }
        _ => {}
    }
    Ok(Expectation {
        shows: section.shows.clone(),
        quantity: section.value,
        subjects,
        relative_to: section.relative_to,
        when,
        end,
        at_least,
        above,
        below,
    })
}

impl ExpectSection {
    /// Every value that it measures.
    fn quantity(&self) -> impl Iterator<Item = Quantity> {
        let other = match &self.minus {
            Some(Minus::Other(section)) => Some(section.value),
            _ => None,
        };
        std::iter::once(self.value).chain(other)
    }
}

/// The frames have to hold what is measured.
fn check_quantity(
    quantities: impl Iterator<Item = Quantity>,
    file: &SceneFile,
    at: &At<'_>,
) -> Result<(), SceneError> {
    for quantity in quantities {
        let Quantity::OfObject(measure) = quantity else { continue };
        if file.dimension.is_planar() && measure.axis() == Some(Axis::Z) {
            let what = format!("`{quantity}` is 0 in two dimensions; take `x` or `y`");
            return Err(at.invalid(what));
        }
        let (field, name) = match measure {
            Measure::Velocity(_) | Measure::Fastest => (Field::Velocity, "velocity"),
            Measure::ContactForce(_) | Measure::Touching => (Field::ContactForce, "contact_force"),
            _ => continue,
        };
        if !file.output.fields.contains(&field) {
            return Err(at.invalid(format!(
                "the frames have no {name}, from which `{quantity}` follows; add \"{name}\" to `output.fields`"
            )));
        }
    }
    Ok(())
}

/// A value of the whole scene has no object.
fn refuse_object(section: &ExpectSection, at: &At<'_>) -> Result<(), SceneError> {
    let given = [
        ("object", section.object.is_some()),
        ("vertices", section.vertices.is_some()),
        ("minus", section.minus.is_some()),
        ("together", section.together),
        ("at_least", section.at_least.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
        let what = format!("`{}` is a value of the whole scene; leave `{key}` out", section.value);
        return Err(at.key(key).invalid(what));
    }
    if section.relative_to == Some(Reference::Start) {
        let what = format!("`{}` begins with the first step; take \"greatest\"", section.value);
        return Err(at.key("relative_to").invalid(what));
    }
    Ok(())
}

/// What is measured, with what is subtracted.
fn subjects(
    section: &ExpectSection,
    measure: Measure,
    file: &SceneFile,
    at: &At<'_>,
    all: &[Placed],
) -> Result<Vec<Subject>, SceneError> {
    let Some(object) = &section.object else {
        let what = format!("`{}` is a value of an object; name it in `object`", section.value);
        return Err(at.key("value").invalid(what));
    };
    let names = object.all();
    if names.is_empty() {
        return Err(at.key("object").invalid("name at least one object"));
    }
    let mut found: Vec<Subject> = Vec::new();
    for (name, place) in names.iter().zip(places(names, &at.key("object"))) {
        for (name, piece) in pieces(name, section.vertices.as_ref(), file, at, &place, all)? {
            found.push(Subject { name, pieces: vec![piece], minus: None });
        }
    }
    if section.together {
        let pieces = found.into_iter().flat_map(|s| s.pieces).collect();
        found = vec![Subject { name: names.join("', '"), pieces, minus: None }];
    }
    let Some(minus) = &section.minus else { return Ok(found) };
    let (names, measure, place) = match minus {
        Minus::One(name) => (std::slice::from_ref(name), measure, at.key("minus")),
        Minus::Several(names) => (names.as_slice(), measure, at.key("minus")),
        Minus::Other(other) => match other.value {
            Quantity::OfObject(measure) => {
                (other.object.all(), measure, at.key("minus").key("object"))
            }
            Quantity::OfScene(_) => {
                let what = format!("`{}` is no value of an object", other.value);
                return Err(at.key("minus").key("value").invalid(what));
            }
        },
    };
    subtract(&mut found, names, measure, section.value, file, &place, all)?;
    Ok(found)
}

/// Where each of several names stands; that of one name is the key itself.
fn places<'a>(names: &[String], at: &At<'a>) -> Vec<At<'a>> {
    match names {
        [_] => vec![at.clone()],
        _ => (0..names.len()).map(|k| at.index(k)).collect(),
    }
}

/// Says what is subtracted from each subject.
fn subtract(
    subjects: &mut [Subject],
    names: &[String],
    measure: Measure,
    from: Quantity,
    file: &SceneFile,
    at: &At<'_>,
    all: &[Placed],
) -> Result<(), SceneError> {
    let quantity = Quantity::OfObject(measure);
    if quantity.unit() != from.unit() {
        let what =
            format!("`{quantity}` cannot be subtracted from `{from}`, which has another unit");
        return Err(at.invalid(what));
    }
    let mut others = Vec::new();
    for (name, place) in names.iter().zip(places(names, at)) {
        let pieces = pieces(name, None, file, at, &place, all)?;
        let pieces = pieces.into_iter().map(|(_, piece)| piece).collect();
        others.push(Subtrahend { measure, name: name.clone(), pieces });
    }
    if others.len() != 1 && others.len() != subjects.len() {
        let what = format!(
            "it names {} objects to subtract from {}; name one, or one for each",
            others.len(),
            subjects.len()
        );
        return Err(at.invalid(what));
    }
    for (subject, other) in subjects.iter_mut().zip(others.into_iter().cycle()) {
        subject.minus = Some(other);
    }
    Ok(())
}

/// The copies that a name stands for, with their vertices. `at` is the expectation, `place` the name.
fn pieces(
    name: &str,
    selection: Option<&Selection>,
    file: &SceneFile,
    at: &At<'_>,
    place: &At<'_>,
    all: &[Placed],
) -> Result<Vec<(String, Piece)>, SceneError> {
    let (index, copies) = find(name, place, all)?;
    let placed = &all[index];
    let sets = match selection {
        None => None,
        Some(s) => Some(select(s, &file.objects[index], &at.key("vertices"), placed)?),
    };
    // control points of a rigid body are no part of what is seen
    let rigid = file.objects[index].role == Some(Role::Rigid);
    let surface = rigid.then(|| (0..placed.mesh.points.len() as u32).collect::<Vec<u32>>());
    let piece = |copy: usize| {
        let selected = sets.as_ref().map(|sets| sets[copy].clone());
        let vertices = selected.or_else(|| surface.clone());
        let name = placed.copies[copy].name.clone();
        match vertices.as_ref().is_some_and(Vec::is_empty) {
            true => {
                Err(at.key("vertices").invalid(format!("the selection has no vertex of '{name}'")))
            }
            false => Ok((name, Piece { body: placed.bodies.start + copy, vertices })),
        }
    };
    copies.into_iter().map(piece).collect()
}

/// The object and its copies that a name stands for.
fn find(name: &str, at: &At<'_>, all: &[Placed]) -> Result<(usize, Vec<usize>), SceneError> {
    if let Some(index) = all.iter().position(|p| p.name == name) {
        return Ok((index, (0..all[index].copies.len()).collect()));
    }
    let base = name.rsplit_once('[').map(|(base, _)| base);
    let Some(index) = all.iter().position(|p| Some(p.name.as_str()) == base) else {
        let names = || all.iter().map(|p| p.name.as_str());
        return Err(at.error(Problem::UnknownName {
            what: "object",
            name: name.to_owned(),
            nearest: nearest_name(name, names()),
            valid: names().map(str::to_owned).collect(),
        }));
    };
    let copies = &all[index].copies;
    let found: Vec<usize> = (0..copies.len()).filter(|k| fits(name, &copies[*k].name)).collect();
    if found.is_empty() {
        let (first, last) = (&copies[0].name, &copies[copies.len() - 1].name);
        let has = match copies.len() {
            1 => format!("there is only '{first}'"),
            _ => format!("the copies are '{first}' to '{last}'"),
        };
        return Err(at.invalid(format!(
            "there is no copy '{name}': {has}; where these are changed on purpose, `--set expect=unset` takes all \
             expectations out"
        )));
    }
    Ok((index, found))
}

/// Whether the name of a copy fits a pattern such as `card[0,*,0]`.
fn fits(pattern: &str, name: &str) -> bool {
    let indices = |text: &str| -> Option<Vec<String>> {
        let inside = text.rsplit_once('[')?.1.strip_suffix(']')?;
        Some(inside.split(',').map(|part| part.trim().to_owned()).collect())
    };
    let (Some(wanted), Some(given)) = (indices(pattern), indices(name)) else { return false };
    wanted.len() == given.len() && wanted.iter().zip(&given).all(|(w, g)| w == "*" || w == g)
}

/// When the value is looked at.
fn when(section: &ExpectSection, end: f64, step: f64, at: &At<'_>) -> Result<When, SceneError> {
    let since = section.since;
    let place = at.key("when");
    let time = match &section.when {
        Moment::Time(time) => *time,
        Moment::Name(name) => match name.as_str() {
            "start" => 0.0,
            "end" => end,
            "every" | "least" | "greatest" => {
                check_time(since, end, &at.key("since"))?;
                return Ok(match name.as_str() {
                    "every" => When::Every(since),
                    "least" => When::Least(since),
                    _ => When::Greatest(since),
                });
            }
            other => time_of(other, &place)?,
        },
    };
    check_time(time, end, &place)?;
    if since != 0.0 {
        let what =
            "`since` is read only with `when` \"every\", \"least\" or \"greatest\"; leave it out";
        return Err(at.key("since").invalid(what));
    }
    if matches!(section.value, Quantity::OfScene(_)) && time < 0.5 * step {
        let what = format!("`{}` begins with the first step; take a later time", section.value);
        return Err(place.invalid(what));
    }
    Ok(When::At(time))
}

/// A time with its unit.
fn time_of(text: &str, at: &At<'_>) -> Result<f64, SceneError> {
    const NAMES: [&str; 5] = ["start", "end", "every", "least", "greatest"];
    let number = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if number {
        return convert(text, "s").map_err(|message| at.error(Problem::Unit(message)));
    }
    Err(at.error(Problem::UnknownName {
        what: "time",
        name: text.to_owned(),
        nearest: nearest_name(text, NAMES),
        valid: NAMES.iter().map(|n| (*n).to_owned()).collect(),
    }))
}

/// A time lies between the start and the end of the scene.
fn check_time(time: f64, end: f64, at: &At<'_>) -> Result<(), SceneError> {
    at.require(time, |t| t >= 0.0, "a time must be 0 or more (s)")?;
    if time > end * (1.0 + 1e-9) {
        let what = format!(
            "{time} s is after the end of the scene at {end} s; take an earlier time, or end a run early by `--steps` \
             instead"
        );
        return Err(at.invalid(what));
    }
    Ok(())
}

/// How many subjects have to be within the bounds.
fn at_least(
    section: &ExpectSection,
    subjects: usize,
    at: &At<'_>,
) -> Result<Option<usize>, SceneError> {
    let Some(count) = section.at_least else { return Ok(None) };
    let at = at.key("at_least");
    at.require(count, |n| n >= 1, "a number of objects must be at least 1")?;
    if count as usize > subjects {
        return Err(at.invalid(format!("{count} of {subjects} objects cannot be within bounds")));
    }
    Ok(Some(count as usize))
}

/// A bound in the unit of the value.
fn number(bound: &Bound, section: &ExpectSection, at: &At<'_>) -> Result<f64, SceneError> {
    let text = match bound {
        Bound::Number(number) => return Ok(*number),
        Bound::Text(text) => text,
    };
    let unit = if section.relative_to.is_some() { "" } else { section.value.unit() };
    let converted = match unit {
        "" => Err(format!("\"{text}\": this value has no unit; write a number without quotes")),
        unit => convert(text, unit),
    };
    converted.map_err(|message| at.error(Problem::Unit(message)))
}
