//! Ties: the rows of W for vertices of one body that follow the elements of another, and what becomes of their masses.

use super::bodies::Collected;
use crate::definition::{Definition, TieDef, Tied, TiedVertex};
use crate::error::BuildError;
use crate::tie::Tie;
use crate::unknowns::VertexMap;
use std::collections::BTreeMap;

/// A row of W: vertices and weights.
type Row = (Vec<u32>, Vec<f64>);

/// Adds what ties carry, when all bodies and grips are there.
///
/// # Errors
/// What cannot be tied.
pub(super) fn add(all: &mut Collected, definition: &Definition) -> Result<(), BuildError> {
    for tie in &definition.ties {
        let fail = |problem: String| BuildError::Tie { tie: tie.name.clone(), problem };
        let found = tie.find(definition).map_err(fail)?;
        let rows = rows(all, tie, &found).map_err(fail)?;
        let shift = |b: usize| all.bodies[b].vertices.start as u32;
        let [own, carrier] = found.bodies.map(shift);
        let mass = |v: &TiedVertex| v.mass.iter().map(|(u, w)| (u + carrier, *w)).collect();
        all.map = all.map.with(&rows);
        all.ties.push(Tie {
            name: tie.name.clone(),
            bodies: found.bodies,
            vertices: found.vertices.iter().map(|v| v.vertex + own).collect(),
            mass: found.vertices.iter().map(mass).collect(),
        });
    }
    if !all.ties.is_empty() {
        let map = std::mem::take(&mut all.map);
        map.spread(&mut all.start);
        map.spread(&mut all.velocity);
        all.map = map;
    }
    Ok(())
}

/// The rows of what a tie has found, on vertices that nothing carries so far.
fn rows(all: &Collected, tie: &TieDef, found: &Tied) -> Result<BTreeMap<u32, Row>, String> {
    let [own, carrier] = found.bodies.map(|b| &all.bodies[b]);
    let [first, other] = [own, carrier].map(|b| b.vertices.start as u32);
    let mut rows = BTreeMap::new();
    for tied in &found.vertices {
        let v = tied.vertex + first;
        if all.map.is_carried(v as usize) {
            return Err(carried(all, tie, &own.name, tied.vertex, v));
        }
        let mut row: BTreeMap<u32, f64> = BTreeMap::new();
        for &(u, w) in &tied.on {
            add_to(&mut row, u + other, w, &all.map);
        }
        rows.insert(v, row.into_iter().unzip::<_, _, Vec<u32>, Vec<f64>>());
    }
    let round = rows.iter().find(|(_, (on, _))| on.iter().any(|u| rows.contains_key(u)));
    match round {
        None => Ok(rows),
        Some((v, _)) => Err(format!(
            "it ties vertex {} of '{}' to what another tie ties to that; leave out one of the two ties, or give `vertices`",
            v - first,
            own.name
        )),
    }
}

/// Adds `weight` times a vertex to a row, or what carries that.
fn add_to(row: &mut BTreeMap<u32, f64>, vertex: u32, weight: f64, map: &VertexMap) {
    match map.row(vertex) {
        None => *row.entry(vertex).or_default() += weight,
        Some((on, of)) => {
            on.iter().zip(of).for_each(|(u, w)| *row.entry(*u).or_default() += weight * w);
        }
    }
}

/// Why a vertex that is carried already cannot be tied.
fn carried(all: &Collected, tie: &TieDef, body: &str, local: u32, vertex: u32) -> String {
    let by = all.ties.iter().find(|t| t.vertices.binary_search(&vertex).is_ok());
    let what = match by {
        Some(other) => format!("tie '{}' ties it already", other.name),
        None => "a joint holds it".into(),
    };
    let mut message = format!("vertex {local} of '{body}' touches, but {what}");
    if tie.vertices.is_none() {
        message += "; give `vertices` without it";
    } else {
        message += "; leave it out of `vertices`";
    }
    message
}

/// Hands the masses and the weights of tied vertices over to what carries them: masses in parts that are not negative, weights as forces.
pub(super) fn hand_over(all: &mut Collected) {
    if all.ties.is_empty() {
        return;
    }
    let n = all.rest.len();
    let mut excess = std::mem::take(&mut all.weight_excess);
    excess.resize(n, 0.0);
    // the weights, in terms of gravity
    let mut weight: Vec<f64> = all.mass.iter().zip(&excess).map(|(m, e)| m * (1.0 + e)).collect();
    for v in all.ties.iter().flat_map(|t| &t.vertices) {
        let whole = std::mem::take(&mut weight[*v as usize]);
        for (u, w) in all.map.row(*v).into_iter().flat_map(|(on, w)| on.iter().zip(w)) {
            weight[*u as usize] += w * whole;
        }
    }
    // what carries a vertex may be tied itself, but not in a circle
    let longest: usize = all.ties.iter().map(|t| t.vertices.len()).sum();
    for _ in 0..=longest {
        let mut left = false;
        for tie in &all.ties {
            for (v, parts) in tie.vertices.iter().zip(&tie.mass) {
                let whole = std::mem::take(&mut all.mass[*v as usize]);
                left |= whole > 0.0;
                parts.iter().for_each(|(u, w)| all.mass[*u as usize] += w * whole);
            }
        }
        if !left {
            break;
        }
    }
    let pairs = excess.iter_mut().zip(weight.iter().zip(&all.mass));
    for (excess, (weight, mass)) in pairs {
        *excess = if *mass > 0.0 { weight / mass - 1.0 } else { 0.0 };
    }
    all.weight_excess = excess;
}
