//! What the keywords of a mesh say: nodes, elements, sets, surfaces and sections.

use crate::error::{Fault, Notes, Place};
use crate::shape::{AXISYMMETRIC, Shape};
use crate::source::{Block, Line, label, number};
use standoff_linalg::{Mat3, Vec3};
use std::collections::BTreeMap;

/// Nodes, and elements, at most, so that instances of a part cannot fill the memory.
pub(crate) const MOST: usize = 20_000_000;

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    pub shape: &'static Shape,
    /// Indices of points.
    pub nodes: Vec<u32>,
    /// Its number in the file.
    pub number: u64,
    pub at: Place,
}

/// A named list of nodes or elements, ascending.
#[derive(Debug, Default, Clone)]
pub(crate) struct Set {
    /// As the file writes it.
    pub name: String,
    pub members: Vec<u32>,
}

/// Where on an element a surface or a pressure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// A face of a solid, from 0.
    Face(u8),
    /// A shell, pressed against its normal.
    Against,
    /// A shell, pressed along its normal.
    Along,
}

/// A surface.
#[derive(Debug, Default, Clone)]
pub(crate) struct Surface {
    pub name: String,
    pub faces: Vec<(u32, Side)>,
    pub nodes: Vec<u32>,
}

/// Elements with a material.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub at: Place,
    pub name: String,
    pub material: String,
    pub thickness: Option<f64>,
    /// Thickness of a solid under plane strain.
    pub depth: Option<f64>,
    pub elements: Vec<u32>,
}

/// The nodes and elements of one numbering: of a flat file, or of an instance.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// Before the names of sets, `INSTANCE.`; empty in a flat file and in the assembly.
    pub prefix: String,
    pub nodes: BTreeMap<u64, u32>,
    pub elements: BTreeMap<u64, u32>,
    /// Turn and displacement of an instance.
    pub placement: Option<(Mat3, Vec3)>,
}

/// The mesh of an input file.
#[derive(Debug, Default)]
pub(crate) struct Deck {
    pub points: Vec<Vec3>,
    pub elements: Vec<Element>,
    /// By names in capitals with their prefix.
    pub node_sets: BTreeMap<String, Set>,
    pub element_sets: BTreeMap<String, Set>,
    pub surfaces: BTreeMap<String, Surface>,
    pub sections: Vec<Section>,
    /// By the names of instances in capitals; that of a flat file has none.
    pub numberings: BTreeMap<String, Numbering>,
    /// The numbering that keywords refer to.
    pub current: String,
    /// Members of all sets, with repetitions.
    pub listed: usize,
    /// Elements of types that are not read are left out, and may be referred to.
    pub left_out: bool,
    /// Where an element of each of the dimensions is.
    pub dimensions: BTreeMap<Dimension, Place>,
}

/// How an element lies in space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    Three,
    PlaneStrain,
    Axisymmetric,
}

/// What a set is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Nodes,
    Elements,
}

impl Deck {
    /// Reads a keyword of the mesh; whether it is one.
    pub(crate) fn read(&mut self, block: &Block, notes: &mut Notes) -> Result<bool, Fault> {
        match block.keyword.as_str() {
            "NODE" => self.nodes(block, notes)?,
            "ELEMENT" => self.read_elements(block, notes)?,
            "NSET" => self.set(block, Of::Nodes, notes)?,
            "ELSET" => self.set(block, Of::Elements, notes)?,
            "SURFACE" => self.surface(block, notes)?,
            "SOLID SECTION" | "SHELL SECTION" | "MEMBRANE SECTION" => self.section(block, notes)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn numbering(&mut self) -> &mut Numbering {
        self.numberings.entry(self.current.clone()).or_default()
    }

    /// The key of a name where it stands.
    pub(crate) fn key(&self, name: &str) -> String {
        let prefix = self.numberings.get(&self.current).map_or("", |n| n.prefix.as_str());
        format!("{prefix}{name}").to_uppercase()
    }

    pub(crate) fn display(&self, name: &str) -> String {
        let prefix = self.numberings.get(&self.current).map_or("", |n| n.prefix.as_str());
        format!("{prefix}{name}")
    }

    fn room(&self, at: Place) -> Result<(), Fault> {
        if self.points.len().max(self.elements.len()) < MOST {
            return Ok(());
        }
        let what = format!("the model has more than {MOST} nodes or elements");
        Err(Fault::new(at, what, "Convert a part of it"))
    }

    fn nodes(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["NSET"], notes);
        if let Some(system) = block.option("SYSTEM").filter(|s| s != "R") {
            let what = format!("coordinates of the system {system} are not read");
            return Err(Fault::new(block.at, what, "Write rectangular coordinates"));
        }
        let mut members = Vec::new();
        for line in &block.lines {
            self.room(line.at)?;
            let fields = line.fields();
            let node = label(fields.first().copied().unwrap_or_default(), line.at)?;
            let mut x = Vec3::zeros();
            for (k, field) in fields.iter().skip(1).take(3).enumerate() {
                x[k] = if field.is_empty() { 0.0 } else { number(field, line.at)? };
            }
            let next = self.points.len() as u32;
            let numbering = self.numbering();
            if let Some((turn, shift)) = &numbering.placement {
                x = turn * x + shift;
            }
            // a node that is given again is moved
            let index = *numbering.nodes.entry(node).or_insert(next);
            match self.points.get_mut(index as usize) {
                Some(point) => *point = x,
                None => self.points.push(x),
            }
            members.push(index);
        }
        if let Some(name) = block.parameter("NSET") {
            self.extend(Of::Nodes, name, members, block.at)?;
        }
        Ok(())
    }

    fn read_elements(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["TYPE", "ELSET"], notes);
        let kind = block.required("TYPE")?.to_uppercase();
        let Some(shape) = Shape::of(&kind) else {
            notes.add(block.at, format!("elements of the type {kind} are left out"));
            self.left_out = true;
            // the set has a name, which others may refer to
            if let Some(name) = block.parameter("ELSET") {
                self.extend(Of::Elements, name, Vec::new(), block.at)?;
            }
            return Ok(());
        };
        let dimension = match (shape.is_planar(), kind.starts_with(AXISYMMETRIC)) {
            (false, _) => Dimension::Three,
            (true, false) => Dimension::PlaneStrain,
            (true, true) => Dimension::Axisymmetric,
        };
        self.dimensions.entry(dimension).or_insert(block.at);
        let mut members = Vec::new();
        let mut lines = block.lines.iter();
        while let Some(line) = lines.next() {
            self.room(line.at)?;
            let mut fields = line.fields();
            while fields.len() < shape.nodes + 1 {
                let Some(next) = lines.next() else { break };
                fields.extend(next.fields());
            }
            members.push(self.element(shape, &kind, &fields, line)?);
        }
        if let Some(name) = block.parameter("ELSET") {
            self.extend(Of::Elements, name, members, block.at)?;
        }
        Ok(())
    }

    fn element(
        &mut self,
        shape: &'static Shape,
        kind: &str,
        fields: &[&str],
        line: &Line,
    ) -> Result<u32, Fault> {
        let at = line.at;
        let number = label(fields.first().copied().unwrap_or_default(), at)?;
        if fields.len() != shape.nodes + 1 {
            let what = format!("element {number} has {} nodes", fields.len() - 1);
            return Err(Fault::new(at, what, format!("An element {kind} has {}", shape.nodes)));
        }
        let next = self.elements.len() as u32;
        let numbering = self.numbering();
        let mut nodes = Vec::with_capacity(shape.nodes);
        for field in &fields[1..] {
            let node = label(field, at)?;
            let Some(index) = numbering.nodes.get(&node) else {
                let what = format!("element {number} has node {node}, which no *NODE above gives");
                let hint = "Give the node; *NGEN, *NFILL and *NCOPY are not read";
                return Err(Fault::new(at, what, hint));
            };
            nodes.push(*index);
        }
        if numbering.elements.insert(number, next).is_some() {
            let what = format!("there is another element {number} above");
            return Err(Fault::new(at, what, "Give every element a number of its own"));
        }
        self.elements.push(Element { shape, nodes, number, at });
        Ok(next)
    }

    fn surface(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["NAME", "TYPE", "INTERNAL"], notes);
        let name = block.required("NAME")?.to_owned();
        let kind = block.option("TYPE").unwrap_or_else(|| "ELEMENT".to_owned());
        let mut surface = Surface { name: self.display(&name), ..Default::default() };
        for line in &block.lines {
            let fields = line.fields();
            let Some(target) = fields.first().filter(|f| !f.is_empty()) else { continue };
            match kind.as_str() {
                "NODE" => surface.nodes.extend(self.members(Of::Nodes, target, None, line.at)?),
                "ELEMENT" => {
                    for e in self.members(Of::Elements, target, None, line.at)? {
                        surface.faces.extend(self.sides(e, fields.get(1).copied(), line.at)?);
                    }
                }
                _ => {
                    notes.add(block.at, format!("a surface of the type {kind} is left out"));
                    return Ok(());
                }
            }
        }
        let key = self.key(&name);
        self.surfaces.insert(key, surface);
        Ok(())
    }

    /// The sides of an element by the name of one; all free ones of a solid without a name are all of its faces.
    pub(crate) fn sides(
        &self,
        element: u32,
        name: Option<&str>,
        at: Place,
    ) -> Result<Vec<(u32, Side)>, Fault> {
        let e = &self.elements[element as usize];
        let name = name.unwrap_or_default().to_uppercase();
        if e.shape.is_solid() {
            if name.is_empty() {
                let all = (0..e.shape.faces.len()).map(|f| (element, Side::Face(f as u8)));
                return Ok(all.collect());
            }
            let face = name.strip_prefix(['S', 'P']).and_then(|f| f.parse::<usize>().ok());
            if let Some(face) = face.filter(|f| (1..=e.shape.faces.len()).contains(f)) {
                return Ok(vec![(element, Side::Face(face as u8 - 1))]);
            }
        } else {
            match name.as_str() {
                "SPOS" | "POS" | "" => return Ok(vec![(element, Side::Against)]),
                "SNEG" | "NEG" | "P" => return Ok(vec![(element, Side::Along)]),
                _ => {}
            }
        }
        let what = format!("element {} has no face {name:?}", e.number);
        let hint = match e.shape.is_solid() {
            true => format!("Its faces are S1 to S{}", e.shape.faces.len()),
            false => "A shell has SPOS and SNEG; its edges are not read".to_owned(),
        };
        Err(Fault::new(at, what, hint))
    }

    /// The dimension of all elements.
    pub(crate) fn dimension(&self) -> Result<Dimension, Fault> {
        let mut all = self.dimensions.iter();
        let (first, second) = (all.next(), all.next());
        let dimension = first.map_or(Dimension::Three, |d| *d.0);
        if let Some((_, at)) = second {
            let what = "the file mixes elements of three dimensions, of plane strain (CPE) and of bodies of revolution (CAX)";
            return Err(Fault::new(
                *at,
                what,
                "A scene has elements of one of the three: make files of them",
            ));
        }
        Ok(dimension)
    }

    /// The surface of a name.
    pub(crate) fn find_surface(&self, name: &str) -> Option<&Surface> {
        let of_scope = self.surfaces.get(&self.key(name));
        of_scope.or_else(|| self.surfaces.get(&name.to_uppercase()))
    }

    fn section(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        // names of controls and integration have no counterpart, an orientation matters to materials that are refused
        if block.parameter("COMPOSITE").is_some() {
            let what = "sections of several layers are not supported";
            return Err(Fault::new(block.at, what, "Give one MATERIAL= and the whole thickness"));
        }
        let quiet = ["ELSET", "MATERIAL", "CONTROLS", "SECTION INTEGRATION", "ORIENTATION"];
        block.reads(&quiet, notes);
        let elset = block.required("ELSET")?;
        let elements = self.members(Of::Elements, elset, None, block.at)?;
        let first = |table: Vec<Vec<Option<f64>>>| {
            let given = table.first().and_then(|row| row.first().copied().flatten());
            given.filter(|t| *t > 0.0)
        };
        let (mut thickness, mut depth) = (None, None);
        if block.keyword == "SOLID SECTION" {
            depth = block.table().ok().and_then(first);
        } else {
            thickness = first(block.table()?);
            if thickness.is_none() {
                let what = format!("*{} has no thickness above 0", block.keyword);
                return Err(Fault::new(block.at, what, "Write it on the line below"));
            }
        }
        let material = block.required("MATERIAL")?.to_uppercase();
        let set = self.find(Of::Elements, elset);
        let name = set.map_or_else(|| self.display(elset), |s| s.name.clone());
        self.sections.push(Section { at: block.at, name, material, thickness, depth, elements });
        Ok(())
    }
}
