//! Quantities with units: `"2 mm"`, `"1 MPa"`, `"1000 kg/m^3"`, `"90 deg/s"`.
//!
//! A plain number is in the unit of its key, which the JSON Schema states as `x-unit`; a string may
//! use any unit of the same dimension.

use crate::document::{Document, KeyPath, Node, Place, Segment, Value};
use crate::error::{Problem, SceneError, nearest_name, shortened};
use crate::schema::{expand, has_type};
use serde_json::Value as Json;
use standoff_sim::expression::Expression;

/// Exponents of m, kg, s and rad.
type Dimension = [i32; 4];

/// A unit: `num/den` times the SI unit of its dimension. The two are kept apart so that `"3 mm"` is
/// the double nearest to 0.003.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    num: f64,
    den: f64,
    dimension: Dimension,
}

const ONE: Unit = Unit { num: 1.0, den: 1.0, dimension: [0; 4] };

/// Units without prefix: symbol, numerator, denominator, dimension, whether it takes prefixes.
const UNITS: &[(&str, f64, f64, Dimension, bool)] = &[
    ("m", 1.0, 1.0, [1, 0, 0, 0], true),
    ("g", 1.0, 1e3, [0, 1, 0, 0], true),
    ("t", 1e3, 1.0, [0, 1, 0, 0], false),
    ("s", 1.0, 1.0, [0, 0, 1, 0], true),
    ("min", 60.0, 1.0, [0, 0, 1, 0], false),
    ("h", 3600.0, 1.0, [0, 0, 1, 0], false),
    ("N", 1.0, 1.0, [1, 1, -2, 0], true),
    ("Pa", 1.0, 1.0, [-1, 1, -2, 0], true),
    ("bar", 1e5, 1.0, [-1, 1, -2, 0], false),
    ("J", 1.0, 1.0, [2, 1, -2, 0], true),
    ("rad", 1.0, 1.0, [0, 0, 0, 1], false),
    ("deg", std::f64::consts::PI, 180.0, [0, 0, 0, 1], false),
    ("°", std::f64::consts::PI, 180.0, [0, 0, 0, 1], false),
    ("rev", std::f64::consts::TAU, 1.0, [0, 0, 0, 1], false),
    ("rpm", std::f64::consts::TAU, 60.0, [0, 0, -1, 1], false),
];

const PREFIXES: &[(&str, f64, f64)] = &[
    ("G", 1e9, 1.0),
    ("M", 1e6, 1.0),
    ("k", 1e3, 1.0),
    ("c", 1.0, 1e2),
    ("m", 1.0, 1e3),
    ("u", 1.0, 1e6),
    ("µ", 1.0, 1e6),
    ("μ", 1.0, 1e6),
    ("n", 1.0, 1e9),
];

const DIMENSIONS: &[(Dimension, &str)] = &[
    ([0, 0, 0, 0], "a number without unit"),
    ([1, 0, 0, 0], "a length"),
    ([3, 0, 0, 0], "a volume"),
    ([0, 1, 0, 0], "a mass"),
    ([0, 0, 1, 0], "a time"),
    ([0, 0, 0, 1], "an angle"),
    ([1, 0, -1, 0], "a velocity"),
    ([0, 0, -1, 1], "an angular velocity"),
    ([1, 0, -2, 0], "an acceleration"),
    ([1, 1, -2, 0], "a force"),
    ([-1, 1, -2, 0], "a pressure or modulus"),
    ([-3, 1, 0, 0], "a density"),
    ([0, 1, -2, 0], "a stiffness"),
    ([2, 1, -2, 0], "an energy"),
];

fn dimension_name(dimension: Dimension) -> &'static str {
    DIMENSIONS.iter().find(|(d, _)| *d == dimension).map_or("another quantity", |(_, name)| name)
}

/// Converts a quantity such as `"2 mm"` to a number of `unit`s.
///
/// Errors are sentences that say what was expected.
pub fn convert(quantity: &str, unit: &str) -> Result<f64, String> {
    let target = parse_unit(unit)?;
    let shown = shortened(quantity);
    let wanted = dimension_name(target.dimension);
    let (number, symbol) = split_number(quantity.trim());
    let example = format!("for instance 2.5 or \"2.5 {unit}\"");
    let Ok(value) = number.parse::<f64>() else {
        return Err(format!("expected {wanted} in {unit}, {example}, found \"{shown}\""));
    };
    if symbol.is_empty() {
        return Err(format!(
            "\"{shown}\" has no unit: write a number without quotes, or {example}"
        ));
    }
    let given = parse_unit(symbol)?;
    if given.dimension != target.dimension {
        let found = dimension_name(given.dimension);
        return Err(format!("\"{shown}\" is {found}; expected {wanted} in {unit}, {example}"));
    }
    let converted = match given == target {
        true => value,
        false => value * (given.num * target.den) / (given.den * target.num),
    };
    match value.is_finite() && !converted.is_finite() || value.is_infinite() {
        true => Err(format!("\"{shown}\" is too large for a number")),
        false => Ok(converted),
    }
}

/// Splits a leading decimal number off.
fn split_number(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits = |mut k: usize| {
        while bytes.get(k).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            k += 1;
        }
        k
    };
    let sign = |k: usize| k + usize::from(matches!(bytes.get(k), Some(b'+' | b'-')));
    let mut end = digits(sign(0));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let first = sign(end + 1);
        if digits(first) > first {
            end = digits(first);
        }
    }
    (&text[..end], text[end..].trim())
}

/// Parses a product of units with exponents: `kg/m^3`, `m/s2`, `N·m`, `1/s`.
fn parse_unit(text: &str) -> Result<Unit, String> {
    let mut unit = ONE;
    for (k, over) in text.split('/').enumerate() {
        for factor in over.split(['*', '·', ' ']).map(str::trim).filter(|f| !f.is_empty()) {
            let (symbol, exponent) = split_exponent(factor, text)?;
            let exponent = if k == 0 { exponent } else { -exponent };
            if symbol == "1" {
                continue;
            }
            let base = lookup(symbol)
                .ok_or_else(|| format!("unknown unit '{symbol}' in \"{text}\"{}", hint(symbol)))?;
            let (num, den) = if exponent < 0 { (base.den, base.num) } else { (base.num, base.den) };
            unit.num *= num.powi(exponent.abs());
            unit.den *= den.powi(exponent.abs());
            for (d, b) in unit.dimension.iter_mut().zip(base.dimension) {
                *d += b * exponent;
            }
        }
    }
    Ok(unit)
}

fn split_exponent<'a>(factor: &'a str, text: &str) -> Result<(&'a str, i32), String> {
    if factor == "1" {
        return Ok((factor, 1));
    }
    let end = factor
        .find(|c: char| c.is_ascii_digit() || matches!(c, '^' | '-' | '²' | '³'))
        .unwrap_or(factor.len());
    let exponent = match factor[end..].trim_start_matches('^') {
        "" if end == factor.len() => 1,
        "²" => 2,
        "³" => 3,
        digits => match digits.parse::<i32>() {
            Ok(e) if (-9..=9).contains(&e) && e != 0 => e,
            _ => return Err(format!("'{factor}' in \"{text}\" is not a unit")),
        },
    };
    Ok((&factor[..end], exponent))
}

fn lookup(symbol: &str) -> Option<Unit> {
    let exact = UNITS.iter().find(|u| u.0 == symbol);
    if let Some(&(_, num, den, dimension, _)) = exact {
        return Some(Unit { num, den, dimension });
    }
    PREFIXES.iter().find_map(|(prefix, pn, pd)| {
        let base = symbol.strip_prefix(prefix)?;
        let &(_, num, den, dimension, _) = UNITS.iter().find(|u| u.0 == base && u.4)?;
        // kg is 1000/1000, the SI unit itself
        let (num, den) = (num * pn, den * pd);
        Some(if num == den {
            Unit { num: 1.0, den: 1.0, dimension }
        } else {
            Unit { num, den, dimension }
        })
    })
}

fn hint(symbol: &str) -> String {
    let long = [
        ("metre", "m"),
        ("meter", "m"),
        ("second", "s"),
        ("sec", "s"),
        ("degree", "deg"),
        ("degrees", "deg"),
        ("radian", "rad"),
        ("newton", "N"),
        ("pascal", "Pa"),
        ("psi", "Pa"),
        ("inch", "m"),
        ("mpa", "MPa"),
        ("kpa", "kPa"),
        ("gpa", "GPa"),
        ("Kg", "kg"),
        ("KG", "kg"),
    ];
    let stem = symbol.to_lowercase();
    let by_name = long
        .iter()
        .find(|(name, _)| *name == symbol || stem.trim_end_matches('s') == *name)
        .map(|(_, unit)| (*unit).to_owned());
    let nearest = by_name.or_else(|| nearest_name(symbol, UNITS.iter().map(|u| u.0)));
    nearest.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default()
}

/// Replaces every quantity with a unit in the document by a plain number, as the schema asks.
pub fn convert_document(document: &mut Document, schema: &Json) -> Result<(), SceneError> {
    let mut root = std::mem::replace(
        &mut document.root,
        Node { value: Value::Boolean(false), place: Place { source: 0, start: 0, end: 0 } },
    );
    let result = walk(&mut root, &expand(schema, schema), schema, None, &KeyPath::default());
    document.root = root;
    result.map_err(|(path, problem)| document.error(&path, problem))
}

// long: an arm for each kind of value
fn walk(
    node: &mut Node,
    schemas: &[&Json],
    root: &Json,
    inherited: Option<&str>,
    path: &KeyPath,
) -> Result<(), (KeyPath, Problem)> {
    let unit_of = |kind: &str| {
        schemas.iter().find(|s| has_type(s, kind)).and_then(|s| s.get("x-unit")?.as_str())
    };
    match &mut node.value {
        Value::String(text) => {
            if schemas.iter().any(|s| s.get("x-expression").is_some()) {
                let own = schemas.iter().find_map(|s| s.get("x-unit")?.as_str());
                let (Some(unit), false) = (own.or(inherited), is_formula(text)) else {
                    return Ok(());
                };
                let number = convert(text, unit).map_err(|m| (path.clone(), Problem::Unit(m)))?;
                node.value = Value::Float(number);
            } else if let Some(unit) = unit_of("number").or(inherited) {
                let number = convert(text, unit).map_err(|m| (path.clone(), Problem::Unit(m)))?;
                node.value = Value::Float(number);
            }
        }
        Value::Float(x) if x.is_nan() || (x.is_infinite() && !may_be_open(path)) => {
            let problem = Problem::OutOfRange {
                value: x.to_string(),
                requirement: "a finite number is needed",
            };
            return Err((path.clone(), problem));
        }
        Value::Array(items) => {
            let unit = unit_of("array").or(inherited);
            let children: Vec<&Json> = schemas
                .iter()
                .filter_map(|s| s.get("items"))
                .flat_map(|s| expand(s, root))
                .collect();
            for (k, item) in items.iter_mut().enumerate() {
                walk(item, &children, root, unit, &path.index(k))?;
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                let children: Vec<&Json> = schemas
                    .iter()
                    .filter_map(|s| {
                        let named = s.get("properties").and_then(|p| p.get(&entry.key));
                        named.or_else(|| s.get("additionalProperties"))
                    })
                    .flat_map(|s| expand(s, root))
                    .collect();
                walk(&mut entry.node, &children, root, None, &path.key(&entry.key))?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether a text, where both are allowed, is an expression of t rather than a quantity: it parses as
/// one, or looks so much like one that its errors are those of an expression.
fn is_formula(text: &str) -> bool {
    let text = text.trim();
    let like = text.is_empty() || text.starts_with(char::is_alphabetic);
    like || text.contains(['+', '(', ')', '*']) || Expression::parse(text).is_ok()
}

/// Whether infinity has a meaning: the end of a time range, the corners of a box, a distance, a limit.
fn may_be_open(path: &KeyPath) -> bool {
    let last = path.0.iter().rev().find_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    let section = |name: &str| path.0.first() == Some(&Segment::Key(name.into()));
    let open = matches!(last, Some("end" | "min" | "max"));
    let material = section("materials") || section("objects");
    (section("objects") || section("stitches")) && open
        || section("expect") && matches!(last, Some("min" | "max"))
        || section("attachments") && (open || last == Some("distance"))
        || material && last == Some("stretch_limit")
        || section("objects") && last == Some("deviation")
        || section("joints") && matches!(last, Some("limits" | "min" | "max"))
}

#[cfg(test)]
mod tests {
    use super::convert;

    #[test]
    fn exact_conversions() {
        for (text, unit, value) in [
            ("2 mm", "m", 0.002),
            ("3mm", "m", 0.003),
            ("1.1 cm", "m", 0.011),
            ("5 um", "m", 5e-6),
            ("1 MPa", "Pa", 1e6),
            ("2.5e-1 GPa", "Pa", 2.5e8),
            ("1 N/m^2", "Pa", 1.0),
            ("1000 kg/m3", "kg/m^3", 1000.0),
            ("1 g/cm³", "kg/m^3", 1000.0),
            ("1.2 t/m^3", "kg/m^3", 1200.0),
            ("30 deg", "deg", 30.0),
            ("90 deg/s", "deg/s", 90.0),
            ("10 rpm", "deg/s", 60.0),
            ("36 km/h", "m/s", 10.0),
            ("-9.81 m/s²", "m/s^2", -9.81),
            ("5 ms", "s", 0.005),
            ("2 min", "s", 120.0),
            ("1 kN", "N", 1000.0),
            ("4 m·s^-1", "m/s", 4.0),
        ] {
            let got = convert(text, unit).unwrap();
            assert!((got - value).abs() <= 2.0 * f64::EPSILON * value.abs(), "{text}: {got}");
        }
        assert_eq!(convert("30 deg", "deg").unwrap(), 30.0);
        assert_eq!(convert("3 mm", "m").unwrap(), 0.003);
        let right = convert("1 rad", "deg").unwrap();
        assert!((right - 1f64.to_degrees()).abs() < 1e-13);
    }

    #[test]
    fn errors_say_what_to_write() {
        for (text, unit, fragments) in [
            ("5 kg", "s", &["is a mass", "expected a time in s", "\"2.5 s\""][..]),
            ("5", "s", &["has no unit"][..]),
            ("fast", "m/s", &["expected a velocity", "\"fast\""][..]),
            ("5 secs", "s", &["unknown unit 'secs'", "did you mean 's'"][..]),
            ("1 mpa", "Pa", &["unknown unit 'mpa'", "did you mean"][..]),
            ("1 m^x", "m", &["is not a unit"][..]),
            ("3 m/s", "m/s^2", &["is a velocity", "an acceleration"][..]),
            ("", "m", &["expected a length"][..]),
        ] {
            let message = convert(text, unit).unwrap_err();
            for fragment in fragments {
                assert!(message.contains(fragment), "{text}: {message}");
            }
        }
    }
}
