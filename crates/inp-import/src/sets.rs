//! Sets of nodes and elements, and what fields of data lines refer to.

use crate::deck::{Deck, MOST, Of, Set};
use crate::error::{Fault, Notes, Place};
use crate::source::{Block, Line, label};
use std::collections::{BTreeMap, HashSet};

impl Deck {
    fn sets(&mut self, of: Of) -> &mut BTreeMap<String, Set> {
        match of {
            Of::Nodes => &mut self.node_sets,
            Of::Elements => &mut self.element_sets,
        }
    }

    pub(crate) fn extend(
        &mut self,
        of: Of,
        name: &str,
        members: Vec<u32>,
        at: Place,
    ) -> Result<(), Fault> {
        self.listed += members.len();
        if self.listed > 10 * MOST {
            let what = "the sets of the model have too many members in all";
            return Err(Fault::new(at, what, "Take sets out"));
        }
        let (key, name) = (self.key(name), self.display(name));
        let set = self.sets(of).entry(key).or_default();
        // as it was written first
        if set.name.is_empty() {
            set.name = name;
        }
        set.members.extend(members);
        set.members.sort_unstable();
        set.members.dedup();
        Ok(())
    }

    /// The set of a name, as it stands in the current numbering or in that of the file.
    pub(crate) fn find(&self, of: Of, name: &str) -> Option<&Set> {
        let sets = match of {
            Of::Nodes => &self.node_sets,
            Of::Elements => &self.element_sets,
        };
        sets.get(&self.key(name)).or_else(|| sets.get(&name.to_uppercase()))
    }

    /// The nodes or elements of a field: one by its number, in the given instance or in the current numbering, or those of a set.
    pub(crate) fn members(
        &self,
        of: Of,
        field: &str,
        instance: Option<&str>,
        at: Place,
    ) -> Result<Vec<u32>, Fault> {
        let what = if of == Of::Nodes { "node" } else { "element" };
        // `INSTANCE.NUMBER` beside numbers alone
        let (instance, plain) = match field.rsplit_once('.') {
            Some((owner, rest))
                if rest.parse::<u64>().is_ok()
                    && self.numberings.contains_key(&owner.to_uppercase()) =>
            {
                (Some(owner), rest)
            }
            _ => (instance, field),
        };
        if let Ok(number) = plain.parse::<u64>() {
            let known = self.numbers(of, instance, at)?;
            if let Some(index) = known.get(&number) {
                return Ok(vec![*index]);
            }
            return match self.left_out && of == Of::Elements {
                true => Ok(Vec::new()),
                false => Err({
                    let hint = "Give it, or take the line out; only what stands above it counts";
                    Fault::new(at, format!("there is no {what} {number}"), hint)
                }),
            };
        }
        let of_instance = instance.and_then(|i| self.find(of, &format!("{i}.{field}")));
        let found = of_instance.or_else(|| self.find(of, field));
        found.map(|s| s.members.clone()).ok_or_else(|| {
            let hint = format!(
                "Define it above this line, by *{}",
                if of == Of::Nodes { "NSET" } else { "ELSET" }
            );
            Fault::new(at, format!("there is no set of {what}s {field:?}"), hint)
        })
    }

    fn numbers(
        &self,
        of: Of,
        instance: Option<&str>,
        at: Place,
    ) -> Result<&BTreeMap<u64, u32>, Fault> {
        static NONE: BTreeMap<u64, u32> = BTreeMap::new();
        let name = instance.map_or_else(|| self.current.clone(), str::to_uppercase);
        match (self.numberings.get(&name), instance) {
            (Some(n), _) if of == Of::Nodes => Ok(&n.nodes),
            (Some(n), _) => Ok(&n.elements),
            (None, None) => Ok(&NONE),
            (None, Some(name)) => {
                let what = format!("there is no instance {name:?}");
                Err(Fault::new(at, what, "Define it above this line, by *INSTANCE"))
            }
        }
    }

    pub(crate) fn set(&mut self, block: &Block, of: Of, notes: &mut Notes) -> Result<(), Fault> {
        let own = if of == Of::Nodes { "NSET" } else { "ELSET" };
        // whether a set is shown in the interface of Abaqus is of no consequence
        block.reads(&[own, "GENERATE", "INSTANCE", "INTERNAL", "UNSORTED", "ELSET"], notes);
        let name = block.required(own)?.to_owned();
        let instance = block.parameter("INSTANCE");
        let mut members = Vec::new();
        if of == Of::Nodes
            && let Some(source) = block.parameter("ELSET")
        {
            for e in self.members(Of::Elements, source, instance, block.at)? {
                members.extend_from_slice(&self.elements[e as usize].nodes);
            }
        }
        let mut seen = HashSet::new();
        for line in &block.lines {
            if block.parameter("GENERATE").is_some() {
                members.extend(self.generated(of, line, instance)?);
                continue;
            }
            for field in line.fields().into_iter().filter(|f| !f.is_empty()) {
                // a set that is named again adds nothing
                if seen.insert(field) {
                    members.extend(self.members(of, field, instance, line.at)?);
                }
            }
        }
        self.extend(of, &name, members, block.at)
    }

    /// The numbers of first, last and increment that there are.
    fn generated(&self, of: Of, line: &Line, instance: Option<&str>) -> Result<Vec<u32>, Fault> {
        let numbers: Vec<u64> =
            line.fields().into_iter().map(|f| label(f, line.at)).collect::<Result<_, _>>()?;
        let (first, last, by) = match numbers[..] {
            [first] => (first, first, 1),
            [first, last] => (first, last, 1),
            [first, last, by] if by > 0 => (first, last, by),
            _ => {
                let what = "GENERATE takes the first number, the last one and the increment";
                return Err(Fault::new(line.at, what, "Write for example 1, 99, 2"));
            }
        };
        if first > last {
            let what = format!("the first number, {first}, is greater than the last, {last}");
            return Err(Fault::new(line.at, what, "Exchange them"));
        }
        let known = self.numbers(of, instance, line.at)?;
        let hit = known.range(first..=last).filter(|(n, _)| (*n - first).is_multiple_of(by));
        Ok(hit.map(|(_, i)| *i).collect())
    }
}
