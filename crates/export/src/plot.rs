//! Curves of a run over time, as SVG or PDF: energies, Newton iterations, contacts, the smallest gap, seconds; or any
//! quantity of its statistics over time or over another one.

use crate::drawing::{Anchor, Drawing, Mark};
use crate::{ExportError, quantity};
use serde_json::Value;
use standoff_mesh::input;
use standoff_run::OutputError;
use std::path::Path;

/// A curve: its name and its values over time; missing ones are gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name.
    pub name: String,
    /// Times, s, or values of what it is drawn over, and its own.
    pub values: Vec<(f64, Option<f64>)>,
}

/// A diagram of curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// What is shown, with its unit.
    pub title: String,
    /// Whether the values are shown by their logarithm.
    pub logarithmic: bool,
    /// What follows the numbers of the horizontal axis: a unit, or nothing.
    pub unit: &'static str,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Times, s, and lines of the `stats.jsonl` of the run in a folder.
fn steps(folder: &Path) -> Result<Vec<(f64, Value)>, ExportError> {
    let path = folder.join("stats.jsonl");
    let text = input::text(&path, input::MOST_DATA)
        .map_err(|source| OutputError::Read { path: path.clone(), source })?;
    let damaged = |what: String| OutputError::Damaged { path: path.clone(), what };
    let mut steps = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let step: Value =
            serde_json::from_str(line).map_err(|e| damaged(format!("line {}: {e}", k + 1)))?;
        let Some(time) = step["time"].as_f64() else {
            return Err(damaged(format!("line {} has no time", k + 1)).into());
        };
        steps.push((time, step));
    }
    if steps.is_empty() {
        let what = "it has done no step".to_owned();
        return Err(OutputError::NoRun { path: folder.to_owned(), what }.into());
    }
    Ok(steps)
}

/// Reads quantities of the run in a folder, a diagram for each, over time or over another quantity. They are called as in
/// `stats.jsonl`, as `forces.held.bar.left.x`.
///
/// # Errors
/// As [`curves`], and a quantity that no step has.
pub fn chosen(
    folder: &Path,
    names: &[String],
    against: Option<&str>,
) -> Result<Vec<Diagram>, ExportError> {
    let steps = steps(folder)?;
    for name in names.iter().map(String::as_str).chain(against) {
        if let Err(known) = check(&steps, name) {
            let path = folder.join("stats.jsonl");
            return Err(ExportError::UnknownQuantity { path, name: name.to_owned(), known });
        }
    }
    let point = |(time, step): &(f64, Value), name: &str| {
        let at = against.map_or(Some(*time), |other| quantity::number(step, other))?;
        Some((at, quantity::number(step, name)))
    };
    let diagram = |name: &String| {
        let over = against.map(|other| format!(" over {}", quantity::described(other)));
        let values = steps.iter().filter_map(|step| point(step, name)).collect();
        Diagram {
            title: quantity::described(name) + over.as_deref().unwrap_or_default(),
            logarithmic: false,
            unit: if against.is_some() { "" } else { " s" },
            curves: vec![Curve { name: String::new(), values }],
        }
    };
    Ok(names.iter().map(diagram).collect())
}

/// Some step must have the quantity, and it must be a number. Fails with what there is instead.
fn check(steps: &[(f64, Value)], name: &str) -> Result<(), Vec<String>> {
    let mut known = Vec::new();
    for (_, step) in steps.iter().rev() {
        match quantity::find(step, name) {
            Ok(_) => return Ok(()),
            Err(others) => known = others,
        }
    }
    Err(known)
}

/// Reads the curves of the run in a folder from its `stats.jsonl`.
///
/// # Errors
/// The file cannot be read, is damaged or has no step.
// long: one list of curves for each diagram
pub fn curves(folder: &Path) -> Result<Vec<Diagram>, ExportError> {
    let steps = steps(folder)?;
    let curve = |name: &str, of: &dyn Fn(&Value) -> Option<f64>| Curve {
        name: name.to_owned(),
        values: steps.iter().map(|(time, step)| (*time, of(step))).collect(),
    };
    let field = |key: &'static str| move |step: &Value| step[key].as_f64();
    let lowest = steps[0].1["gravity_energy"].as_f64().unwrap_or(0.0);
    const PARTS: [&str; 3] = ["kinetic_energy", "elastic_energy", "contact_energy"];
    // heights count from the first step: their origin is arbitrary
    let gravity = |step: &Value| Some(step["gravity_energy"].as_f64()? - lowest);
    let total = |step: &Value| {
        let parts = PARTS.iter().map(|key| step[*key].as_f64());
        parts.sum::<Option<f64>>().zip(gravity(step)).map(|(sum, g)| sum + g)
    };
    let diagram = |title: &str, logarithmic, curves| {
        let (title, unit) = (title.into(), " s");
        Diagram { title, logarithmic, unit, curves }
    };
    Ok(vec![
        diagram(
            "Energy, J (gravity from the first step)",
            false,
            vec![
                curve("kinetic", &field("kinetic_energy")),
                curve("elastic", &field("elastic_energy")),
                curve("contact", &field("contact_energy")),
                curve("gravity", &gravity),
                curve("sum", &total),
            ],
        ),
        diagram("Smallest gap, m", true, vec![curve("gap", &field("min_gap"))]),
        diagram(
            "Contacts",
            false,
            vec![curve("at the end", &field("contacts")), curve("at most", &field("max_contacts"))],
        ),
        diagram("Newton iterations", false, vec![curve("iterations", &field("newton_iterations"))]),
        diagram(
            "Seconds per step",
            true,
            vec![
                curve("whole step", &|step| step["seconds"]["total"].as_f64()),
                curve("factorisation", &|step| step["seconds"]["factorisation"].as_f64()),
                curve("contact", &|step| step["seconds"]["contact"].as_f64()),
            ],
        ),
    ])
}

/// Measures of a diagram, pixels.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 30.0;
const COLOURS: [[u8; 3]; 5] =
    [[0x1f, 0x77, 0xb4], [0xff, 0x7f, 0x0e], [0x2c, 0xa0, 0x2c], [0x94, 0x67, 0xbd], [0x22; 3]];
const AXIS: [u8; 3] = [0x88; 3];
const GRID: [u8; 3] = [0xdd; 3];

/// The diagrams below each other, as an SVG file.
pub fn svg(diagrams: &[Diagram]) -> String {
    drawing(diagrams).svg()
}

/// The same as a file of the format that the name ends with: SVG or PDF.
///
/// # Errors
/// [`ExportError::NoPlot`]: another ending.
pub fn file(diagrams: &[Diagram], name: &Path) -> Result<Vec<u8>, ExportError> {
    match name.extension().map(|e| e.to_ascii_lowercase()) {
        Some(e) if e == "svg" => Ok(svg(diagrams).into_bytes()),
        Some(e) if e == "pdf" => Ok(drawing(diagrams).pdf()),
        _ => Err(ExportError::NoPlot(name.to_owned())),
    }
}

fn drawing(diagrams: &[Diagram]) -> Drawing {
    let mut marks = Vec::new();
    for (k, diagram) in diagrams.iter().enumerate() {
        draw(&mut marks, diagram, HEIGHT * k as f64);
    }
    Drawing { size: [WIDTH, HEIGHT * diagrams.len() as f64], marks }
}

// long: axes, ticks, curves and legend of one diagram
fn draw(marks: &mut Vec<Mark>, diagram: &Diagram, y0: f64) {
    let shown = |v: f64| match diagram.logarithmic {
        true => (v > 0.0).then(|| v.log10()),
        false => v.is_finite().then_some(v),
    };
    let points = || diagram.curves.iter().flat_map(|c| &c.values);
    let values = || points().filter_map(|(_, v)| v.and_then(shown));
    let fold = |it: &mut dyn Iterator<Item = f64>| {
        it.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)))
    };
    let (t0, t1) = widened(fold(&mut points().map(|(t, _)| *t)));
    let (mut low, mut high) = widened(fold(&mut values()));
    if !diagram.logarithmic && low > 0.0 && low < 0.5 * high {
        low = 0.0;
    }
    let ticks: Vec<f64> = if diagram.logarithmic {
        (low, high) = (low.floor(), high.ceil());
        let each = ((high - low) / 6.0).ceil().max(1.0);
        (0..).map(|k| low + each * f64::from(k)).take_while(|v| *v <= high).collect()
    } else {
        round_ticks(low, high)
    };
    let (x1, y1) = (WIDTH - RIGHT, y0 + HEIGHT - BOTTOM);
    let x = |t: f64| LEFT + (t - t0) / (t1 - t0) * (x1 - LEFT);
    let y = |v: f64| y1 - (v - low) / (high - low) * (y1 - y0 - TOP);
    let text =
        |at, anchor, bold, text: &str| Mark::Text { at, anchor, bold, text: text.to_owned() };
    let line =
        |part: Vec<[f64; 2]>, colour, width| Mark::Lines { parts: vec![part], colour, width };
    marks.push(text([LEFT, y0 + TOP - 12.0], Anchor::Start, true, &diagram.title));
    for tick in ticks {
        let label = if diagram.logarithmic { format!("1e{tick}") } else { number(tick) };
        let at = y(tick);
        marks.push(line(vec![[LEFT, at], [x1, at]], GRID, 1.0));
        marks.push(text([LEFT - 6.0, at + 4.0], Anchor::End, false, &label));
    }
    for tick in round_ticks(t0, t1) {
        let (at, label) = (x(tick), number(tick) + diagram.unit);
        marks.push(line(vec![[at, y1], [at, y1 + 4.0]], AXIS, 1.0));
        marks.push(text([at, y1 + 17.0], Anchor::Middle, false, &label));
    }
    marks.push(line(vec![[LEFT, y0 + TOP], [LEFT, y1], [x1, y1]], AXIS, 1.0));
    for (k, curve) in diagram.curves.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let place = |(t, v): &(f64, Option<f64>)| v.and_then(shown).map(|v| [x(*t), y(v)]);
        // missing values are gaps
        let parts = curve.values.split(|value| place(value).is_none());
        let parts = parts.filter(|part| !part.is_empty());
        let parts = parts.map(|part| part.iter().filter_map(place).collect()).collect();
        marks.push(Mark::Lines { parts, colour, width: 1.5 });
        if curve.name.is_empty() {
            continue;
        }
        let at = y0 + TOP + 14.0 * k as f64;
        marks.push(line(vec![[x1 + 12.0, at], [x1 + 30.0, at]], colour, 2.0));
        marks.push(text([x1 + 36.0, at + 4.0], Anchor::Start, false, &curve.name));
    }
}

/// A range of some width.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    match high - low {
        0.0 => {
            let margin = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
            (low - margin, high + margin)
        }
        _ => (low, high),
    }
}

/// Multiples of 1, 2 or 5 times a power of ten in a range, four to nine of them.
fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let each = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
    let each = each.unwrap_or(10.0 * power);
    let first = (low / each).ceil() as i64;
    let last = (high / each).floor() as i64;
    (first..=last).map(|k| k as f64 * each).collect()
}

fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if (1e-3..1e5).contains(&a) => {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{x:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(round_ticks(0.0, 1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(round_ticks(-3.0, 9.0), [0.0, 5.0]);
        assert_eq!(
            (number(0.6000000000000001), number(12.0), number(1e-7)),
            ("0.6".into(), "12".into(), "1.0e-7".into())
        );
    }

    #[test]
    fn curves_have_gaps_where_values_are_missing() {
        let values = vec![(0.0, Some(1.0)), (1.0, None), (2.0, Some(10.0)), (3.0, Some(100.0))];
        let curves = vec![Curve { name: "a<b".into(), values }];
        let (title, unit) = ("gap".into(), " s");
        let diagrams = [Diagram { title, logarithmic: true, unit, curves }];
        let text = svg(&diagrams);
        let path = text.lines().find(|l| l.contains("stroke-width=\"1.5\"")).unwrap();
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert_eq!(path.matches('L').count(), 1, "{path}");
        assert!(text.contains("a&lt;b") && text.contains("1e2"), "{text}");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        // by the name of the file
        assert_eq!(file(&diagrams, Path::new("a/b.SVG")).unwrap(), text.as_bytes());
        assert!(file(&diagrams, Path::new("b.pdf")).unwrap().starts_with(b"%PDF-1.7\n"));
        let error = file(&diagrams, Path::new("b.png")).unwrap_err().to_string();
        assert!(error.contains("b.png") && error.contains(".svg or .pdf"), "{error}");
    }
}
