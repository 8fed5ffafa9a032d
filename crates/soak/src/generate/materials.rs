//! Materials: every law, soft to stiff, light to heavy; cloth with and without a limit of its stretch.

use super::{Draft, Random, list, rounded, table};
use toml::{Table, Value};

const LAWS: [&str; 5] = [
    "neo-hookean",
    "stable-neo-hookean",
    "fixed-corotated",
    "corotated-linear",
    "st-venant-kirchhoff",
];

/// Those that allow for a negative Poisson's ratio.
const AUXETIC: [&str; 3] = ["stable-neo-hookean", "corotated-linear", "st-venant-kirchhoff"];

/// Lets materials of volumes yield or relax, each with the probability `inelastic`; times are beside that of the scene, s.
pub fn let_flow(materials: &mut Table, inelastic: f64, duration: f64, r: &mut Random) {
    for (_, material) in materials.iter_mut().filter(|(name, _)| name.starts_with("solid")) {
        let Some(material) = material.as_table_mut().filter(|_| r.chance(inelastic)) else {
            continue;
        };
        let young = material["young_modulus"].as_float().unwrap_or(1e5);
        if r.chance(0.5) {
            let strength = rounded(young * r.power(-3.0, 0.0));
            let hardening = if r.chance(0.5) { 0.0 } else { rounded(young * r.power(-3.0, -0.5)) };
            material.remove("law");
            let plasticity = [("yield_stress", strength), ("hardening_modulus", hardening)];
            material.insert("plasticity".into(), numbers(plasticity));
        }
        if !material.contains_key("plasticity") || r.chance(0.3) {
            let time = duration.max(1e-6);
            let terms = (0..r.integer(1, 2)).map(|_| {
                let ratio = rounded(r.power(-1.0, 1.0));
                numbers([("ratio", ratio), ("time", rounded(time * r.power(-4.0, 1.0)))])
            });
            material.insert("relaxation".into(), Value::Array(terms.collect()));
        }
    }
}

/// Gives materials of volumes one or two families of fibres, each with the probability `part`: soft to much stiffer than the rest, and in half of them with a
/// tension that is constant, grows, or beats.
pub fn add_fibres(draft: &mut Draft, part: f64, r: &mut Random) {
    let (size, time) = (draft.size, draft.duration.max(1e-6));
    let solids = draft.materials.iter_mut().filter(|(name, _)| name.starts_with("solid"));
    for material in solids.filter_map(|(_, m)| m.as_table_mut()) {
        if !r.chance(part) {
            continue;
        }
        let young = material["young_modulus"].as_float().unwrap_or(1e5);
        let families = (0..r.integer(1, 2)).map(|_| {
            let mut family = Table::new();
            if r.chance(0.5) {
                family.insert("direction".into(), list(&r.direction()));
            } else {
                // an axis beside the body, where no element is on it
                let through = r.direction().map(|c| rounded(8.0 * size * c));
                let angle = rounded(r.between(-90.0, 90.0));
                let around = [
                    ("axis", list(&r.direction())),
                    ("through", list(&through)),
                    ("helix_angle", angle.into()),
                ];
                family.insert("around".into(), table(around).into());
            }
            let draws = r.chance(0.5);
            if !draws || r.chance(0.7) {
                family.insert("stiffness".into(), rounded(young * r.power(-2.0, 2.0)).into());
                family.insert("exponent".into(), rounded(r.power(-1.0, 2.0)).into());
            }
            if draws {
                let most = rounded(young * r.power(-2.5, 0.0));
                let tension = match r.integer(0, 3) {
                    0 => most.into(),
                    1 => format!("{most:e}*min(t/{:e}, 1)", rounded(0.5 * time)).into(),
                    2 => format!("{most:e}*sin({:e}*t)^2", rounded(10.0 / time)).into(),
                    _ => format!("-{most:e}*t/{:e}", rounded(time)).into(),
                };
                family.insert("tension".into(), tension);
            }
            Value::Table(family)
        });
        let families = families.collect();
        material.insert("fibres".into(), Value::Array(families));
    }
}

/// Gives materials of volumes a strain without stress, each with the probability `part`: constant, growing with time, or back and forth; mostly of a few per cent,
/// else down to a third of the length and up to twice.
pub fn let_grow(draft: &mut Draft, part: f64, r: &mut Random) {
    let time = draft.duration.max(1e-6);
    let solids = draft.materials.iter_mut().filter(|(name, _)| name.starts_with("solid"));
    for material in solids.filter_map(|(_, m)| m.as_table_mut()) {
        if !r.chance(part) {
            continue;
        }
        let most = if r.chance(0.3) { r.between(-0.65, 1.0) } else { r.between(-0.05, 0.05) };
        let most = rounded(most);
        let growth = match r.integer(0, 2) {
            0 => most.into(),
            1 => format!("{most:e}*min(t/{:e}, 1)", rounded(0.5 * time)).into(),
            _ => format!("{most:e}*sin({:e}*t)^2", rounded(10.0 / time)).into(),
        };
        material.insert("growth".into(), growth);
    }
}

fn numbers<const N: usize>(all: [(&str, f64); N]) -> Value {
    Value::Table(all.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect())
}

/// Adds two materials of volumes, `solid 0` and `solid 1`, one of shells, `cloth`, and one of rods and
/// particles, `thread`.
pub fn add(draft: &mut Draft, r: &mut Random) {
    for k in 0..2 {
        let solid = elastic(r, r_law(k));
        draft.materials.insert(format!("solid {k}"), solid.into());
    }
    let thread = elastic(r, None);
    draft.materials.insert("thread".into(), thread.into());
    let cloth = cloth(draft.size, r);
    draft.materials.insert("cloth".into(), cloth.into());
}

/// The first solid may have any law, the second has the default in half of the scenes.
fn r_law(k: usize) -> Option<f64> {
    Some(if k == 0 { 1.0 } else { 0.5 })
}

/// Modulus, Poisson's ratio and density; with the given probability a law of volumes.
fn elastic(r: &mut Random, law: Option<f64>) -> Table {
    let stiffest = if r.chance(0.1) { 12.0 } else { 8.0 };
    let mut material = table([
        ("young_modulus", r.power(3.0, stiffest).into()),
        ("density", r.power(1.5, 4.0).into()),
    ]);
    let law = law.is_some_and(|p| r.chance(p)).then(|| r.one(&LAWS));
    // only of laws that keep a lower bound with it
    let auxetic = law.is_some_and(|law| AUXETIC.contains(&law)) && r.chance(0.2);
    let poisson = if auxetic { r.between(-0.4, 0.0) } else { r.between(0.0, 0.49) };
    material.insert("poisson_ratio".into(), rounded(poisson).into());
    if let Some(law) = law {
        material.insert("law".into(), law.into());
    }
    material
}

/// Thickness and bending small against the cells of the sheets that `bodies` makes.
fn cloth(size: f64, r: &mut Random) -> Table {
    let mut shell = Table::new();
    shell.insert("thickness".into(), rounded(size * r.power(-3.5, -2.0)).into());
    if r.chance(0.4) {
        shell.insert("fabric".into(), r.one(&["cotton", "wool", "wool-lycra", "polyester"]).into());
        shell.insert("membrane_factor".into(), r.power(-2.0, 0.0).into());
    } else if r.chance(0.3) {
        shell.insert("law".into(), "st-venant-kirchhoff".into());
    }
    if r.chance(0.3) {
        shell.insert("bending_model".into(), "shape-operator".into());
    }
    if r.chance(0.4) {
        shell.insert("stretch_limit".into(), rounded(r.between(1.02, 1.3)).into());
    } else {
        shell.insert("stretch_limit".into(), Value::Float(f64::INFINITY));
    }
    let mut material = elastic(r, None);
    material.insert("shell".into(), shell.into());
    material
}
