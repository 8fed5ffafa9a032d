//! Parts, instances and the assembly of Abaqus: the keywords of a part are read for each of its instances, whose nodes and elements have numbers of
//! their own.

use crate::deck::{Deck, Numbering};
use crate::error::{Fault, Notes};
use crate::source::{Block, Line, number};
use standoff_linalg::{Mat3, Vec3};
use std::collections::BTreeMap;

/// The mesh of all blocks, and those blocks that are not of the mesh.
pub(crate) fn assemble(blocks: Vec<Block>, notes: &mut Notes) -> Result<(Deck, Vec<Block>), Fault> {
    let mut deck = Deck::default();
    let mut parts: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    let (mut part, mut in_instance) = (None::<String>, false);
    let mut others = Vec::new();
    for block in blocks {
        match block.keyword.as_str() {
            "PART" => {
                let name = block.required("NAME")?.to_uppercase();
                parts.entry(name.clone()).or_default();
                part = Some(name);
            }
            "END PART" => part = None,
            "ASSEMBLY" | "END ASSEMBLY" => {}
            "INSTANCE" => {
                begin(&block, &parts, &mut deck, notes)?;
                in_instance = true;
            }
            "END INSTANCE" => {
                in_instance = false;
                deck.current = String::new();
            }
            _ => match &part {
                Some(name) => parts.entry(name.clone()).or_default().push(block),
                None => {
                    if !deck.read(&block, notes)? {
                        // an instance may have sets and nodes of its own, and nothing else
                        match in_instance {
                            true => of_part(&block, notes),
                            false => others.push(block),
                        }
                    }
                }
            },
        }
    }
    deck.current = String::new();
    Ok((deck, others))
}

/// Reads the keywords of a part for an instance of it.
fn begin(
    block: &Block,
    parts: &BTreeMap<String, Vec<Block>>,
    deck: &mut Deck,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let name = block.required("NAME")?;
    let part = block.required("PART")?.to_uppercase();
    let Some(content) = parts.get(&part) else {
        let what = format!("there is no part {part:?}");
        return Err(Fault::new(block.at, what, "Define it above, by *PART, NAME=…"));
    };
    deck.current = name.to_uppercase();
    if deck.numberings.contains_key(&deck.current) {
        let what = format!("there is another instance {name:?} above");
        return Err(Fault::new(block.at, what, "Give it another name"));
    }
    let (prefix, placement) = (format!("{name}."), placement(&block.lines)?);
    let numbering = Numbering { prefix, placement, ..Default::default() };
    deck.numberings.insert(deck.current.clone(), numbering);
    for inner in content {
        if !deck.read(inner, notes)? {
            of_part(inner, notes);
        }
    }
    Ok(())
}

fn of_part(block: &Block, notes: &mut Notes) {
    notes.add(block.at, format!("*{} of a part is not converted", block.keyword));
}

/// Displacement, and turn about an axis through two points by an angle in degrees; the displacement comes first.
fn placement(lines: &[Line]) -> Result<Option<(Mat3, Vec3)>, Fault> {
    let Some(first) = lines.first() else { return Ok(None) };
    let shift = numbers::<3>(first)?;
    let shift = Vec3::from(shift);
    let Some(second) = lines.get(1) else { return Ok(Some((Mat3::identity(), shift))) };
    let [ax, ay, az, bx, by, bz, degrees] = numbers::<7>(second)?;
    let (a, b) = (Vec3::new(ax, ay, az), Vec3::new(bx, by, bz));
    let axis = b - a;
    if axis.norm() == 0.0 {
        let what = "the two points of the axis of an instance are the same";
        return Err(Fault::new(second.at, what, "Give two points"));
    }
    let k = axis / axis.norm();
    let cross = Mat3::new(0.0, -k.z, k.y, k.z, 0.0, -k.x, -k.y, k.x, 0.0);
    // multiples of 90° are exact
    let (sine, cosine) = match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        other => other.to_radians().sin_cos(),
    };
    let turn = Mat3::identity() + cross * sine + cross * cross * (1.0 - cosine);
    Ok(Some((turn, turn * (shift - a) + a)))
}

fn numbers<const N: usize>(line: &Line) -> Result<[f64; N], Fault> {
    let fields = line.fields();
    let mut out = [0.0; N];
    for (x, field) in out.iter_mut().zip(&fields) {
        *x = if field.is_empty() { 0.0 } else { number(field, line.at)? };
    }
    Ok(out)
}
