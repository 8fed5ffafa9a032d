//! Loads of a step.

use crate::deck::{Deck, Of};
use crate::error::{Fault, Notes};
use crate::source::{Block, Line, field};
use crate::steps::Conditions;

impl Conditions {
    pub(crate) fn cload(
        &mut self,
        block: &Block,
        deck: &Deck,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        block.reads(&["OP", "AMPLITUDE"], notes);
        let course = self.course(block)?;
        let step = self.opened(block)?;
        for line in &block.lines {
            let fields = line.fields();
            let nodes = deck.members(Of::Nodes, fields.first().unwrap_or(&""), None, line.at)?;
            let direction = field(&fields, 1, line)?;
            let value = field(&fields, 2, line)?;
            if ![1.0, 2.0, 3.0].contains(&direction) {
                notes.add(line.at, "a load of another direction than 1, 2, 3 is not converted");
                continue;
            }
            for node in nodes {
                let key = ((node, direction as u8 - 1), course.clone());
                *step.forces.entry(key).or_default() += value;
            }
        }
        Ok(())
    }

    pub(crate) fn dload(
        &mut self,
        block: &Block,
        deck: &Deck,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        block.reads(&["OP", "AMPLITUDE"], notes);
        let course = self.course(block)?;
        for line in &block.lines {
            let fields = line.fields();
            let kind = fields.get(1).map(|k| k.to_uppercase()).unwrap_or_default();
            if kind == "GRAV" {
                self.gravity(block, &fields, line, &course, deck)?;
                continue;
            }
            let step = self.opened(block)?;
            let digits = kind.strip_prefix('P');
            if digits.is_none_or(|d| !d.chars().all(|c| c.is_ascii_digit())) {
                notes.add(line.at, format!("a load {kind} of *DLOAD is not converted"));
                continue;
            }
            let pressure = field(&fields, 2, line)?;
            for e in deck.members(Of::Elements, fields[0], None, line.at)? {
                if !deck.elements[e as usize].shape.is_solid() {
                    notes.add(
                        line.at,
                        "a pressure P on a shell acts along the normal of its elements",
                    );
                } else if kind == "P" {
                    let what = "a pressure P on a solid names no face";
                    return Err(Fault::new(line.at, what, "Write P1, P2, …"));
                }
                for side in deck.sides(e, Some(&kind), line.at)? {
                    *step.pressures.entry((side, course.clone())).or_default() += pressure;
                }
            }
        }
        Ok(())
    }

    fn gravity(
        &mut self,
        block: &Block,
        fields: &[&str],
        line: &Line,
        course: &str,
        deck: &Deck,
    ) -> Result<(), Fault> {
        // all elements, where the field is empty
        let target = fields[0].to_uppercase();
        let elements = match fields[0] {
            "" => (0..deck.elements.len() as u32).collect(),
            name => deck.members(Of::Elements, name, None, line.at)?,
        };
        let size = field(fields, 2, line)?;
        let mut direction = [0.0; 3];
        for (k, x) in direction.iter_mut().enumerate() {
            *x = if fields.len() > 3 + k { field(fields, 3 + k, line)? } else { 0.0 };
        }
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 {
            return Err(Fault::new(
                line.at,
                "gravity has no direction",
                "Write for example EALL, GRAV, 9.81, 0, 0, -1",
            ));
        }
        let step = self.opened(block)?;
        for (k, x) in (0_u8..).zip(direction) {
            let key = ((target.clone(), k), course.to_owned());
            *step.gravities.entry(key).or_default() += size * x / norm;
        }
        self.heavy.insert(target, elements);
        Ok(())
    }

    pub(crate) fn dsload(
        &mut self,
        block: &Block,
        deck: &Deck,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        block.reads(&["OP", "AMPLITUDE"], notes);
        let course = self.course(block)?;
        let step = self.opened(block)?;
        for line in &block.lines {
            let fields = line.fields();
            let name = fields.first().copied().unwrap_or_default();
            let kind = fields.get(1).map(|k| k.to_uppercase()).unwrap_or_default();
            if kind != "P" {
                notes.add(line.at, format!("a load {kind} of *DSLOAD is not converted"));
                continue;
            }
            let Some(surface) = deck.find_surface(name) else {
                let what = format!("there is no surface {name:?}");
                return Err(Fault::new(line.at, what, "Define it above this line, by *SURFACE"));
            };
            let pressure = field(&fields, 2, line)?;
            for face in &surface.faces {
                *step.pressures.entry((*face, course.clone())).or_default() += pressure;
            }
        }
        Ok(())
    }
}
