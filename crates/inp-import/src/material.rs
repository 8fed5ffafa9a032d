//! Materials: elasticity, rubber, plasticity, relaxation, density.

use crate::error::{Fault, Notes, Place};
use crate::law::{Law, hyperelastic, of_temperature};
use crate::source::Block;
use crate::text::{entry, number};
use std::collections::BTreeMap;

/// A material.
#[derive(Debug, Clone)]
pub(crate) struct Material {
    /// As the file writes it.
    pub name: String,
    pub at: Place,
    density: Option<f64>,
    law: Option<Law>,
    /// The constants are those at once, not after a long time.
    instantaneous: bool,
    /// Yield stress, hardening modulus, and whether that is kinematic.
    plastic: Option<(f64, f64, bool)>,
    /// Parts gₖ of the shear modulus, and relaxation times.
    prony: Vec<(f64, f64)>,
    /// Coefficient of thermal expansion, 1/K.
    expansion: Option<f64>,
}

/// The materials, and the friction of surfaces.
#[derive(Debug, Default)]
pub(crate) struct Materials {
    /// By names in capitals.
    pub list: BTreeMap<String, Material>,
    current: Option<String>,
    /// Coefficients of friction that the file gives.
    pub frictions: Vec<(Place, f64)>,
}

impl Materials {
    /// Reads a keyword of a material; whether it is one.
    pub(crate) fn read(&mut self, block: &Block, notes: &mut Notes) -> Result<bool, Fault> {
        if block.keyword == "MATERIAL" {
            block.reads(&["NAME"], notes);
            let name = block.required("NAME")?;
            let key = name.to_uppercase();
            let material = Material {
                name: name.to_owned(),
                at: block.at,
                density: None,
                law: None,
                instantaneous: false,
                plastic: None,
                prony: Vec::new(),
                expansion: None,
            };
            self.list.insert(key.clone(), material);
            self.current = Some(key);
            return Ok(true);
        }
        if block.keyword == "FRICTION" {
            block.reads(&[], notes);
            let table = block.table()?;
            let coefficient = first(&table).filter(|c| *c >= 0.0).unwrap_or(0.0);
            self.frictions.push((block.at, coefficient));
            return Ok(true);
        }
        let known = ["DENSITY", "ELASTIC", "HYPERELASTIC", "PLASTIC", "VISCOELASTIC", "EXPANSION"]
            .contains(&&block.keyword[..]);
        if !known {
            return Ok(false);
        }
        let Some(material) = self.current.as_ref().and_then(|n| self.list.get_mut(n)) else {
            let what = format!("*{} stands in no material", block.keyword);
            return Err(Fault::new(block.at, what, "Write *MATERIAL, NAME=… above it"));
        };
        match block.keyword.as_str() {
            "DENSITY" => material.density(block, notes)?,
            "ELASTIC" => material.elastic(block, notes)?,
            "HYPERELASTIC" => {
                material.instantaneous =
                    block.option("MODULI").is_some_and(|m| m == "INSTANTANEOUS");
                material.law = Some(hyperelastic(block, notes)?);
            }
            "PLASTIC" => material.plastic(block, notes)?,
            "EXPANSION" => material.expansion(block, notes)?,
            _ => material.viscoelastic(block, notes)?,
        }
        Ok(true)
    }
}

fn first(table: &[Vec<Option<f64>>]) -> Option<f64> {
    table.first().and_then(|row| row.first().copied().flatten())
}

/// A number that has to be above 0.
fn positive(x: Option<f64>, what: &str, block: &Block) -> Result<f64, Fault> {
    x.filter(|x| *x > 0.0).ok_or_else(|| {
        let what = format!("*{} has no {what} above 0", block.keyword);
        Fault::new(block.at, what, "Write it on the line below")
    })
}

impl Material {
    fn density(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&[], notes);
        let table = block.table()?;
        of_temperature(block, table.len(), 1, notes);
        self.density = Some(positive(first(&table), "density", block)?);
        Ok(())
    }

    fn expansion(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["TYPE", "ZERO"], notes);
        if let Some(kind) = block.option("TYPE").filter(|kind| !kind.starts_with("ISO")) {
            let what = format!("expansion of the type {kind} is not supported");
            return Err(Fault::new(block.at, what, "Give an isotropic one, one coefficient"));
        }
        let table = block.table()?;
        of_temperature(block, table.len(), 1, notes);
        let Some(alpha) = first(&table) else {
            let what = "*EXPANSION has no coefficient";
            return Err(Fault::new(block.at, what, "Write it on the line below"));
        };
        self.expansion = Some(alpha);
        Ok(())
    }

    /// Coefficient of thermal expansion, 1/K, where it is not zero.
    pub(crate) fn expands(&self) -> Option<f64> {
        self.expansion.filter(|alpha| *alpha != 0.0)
    }

    fn elastic(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["TYPE", "MODULI"], notes);
        let kind = block.option("TYPE").unwrap_or_else(|| "ISOTROPIC".to_owned());
        if !kind.starts_with("ISO") {
            let what = format!("elasticity of the type {kind} is not supported");
            return Err(Fault::new(
                block.at,
                what,
                "Give an isotropic one, Young's modulus and Poisson's ratio",
            ));
        }
        let table = block.table()?;
        of_temperature(block, table.len(), 1, notes);
        self.instantaneous = block.option("MODULI").is_some_and(|m| m == "INSTANTANEOUS");
        let young = positive(first(&table), "Young's modulus", block)?;
        let poisson = table[0].get(1).copied().flatten().unwrap_or(0.0);
        if !(-1.0 < poisson && poisson < 0.5) {
            let what = format!("Poisson's ratio is {poisson}");
            return Err(Fault::new(block.at, what, "It must be more than −1 and less than 0.5"));
        }
        self.law = Some(Law::Elastic(young, poisson));
        Ok(())
    }

    fn plastic(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["HARDENING"], notes);
        let hardening = block.option("HARDENING").unwrap_or_else(|| "ISOTROPIC".into());
        let kinematic = hardening == "KINEMATIC";
        if let Some(kind) = Some(hardening).filter(|h| h != "ISOTROPIC" && !kinematic) {
            let what = format!("hardening of the type {kind} is not supported");
            return Err(Fault::new(
                block.at,
                what,
                "Give a table of stresses and plastic strains, isotropic or kinematic",
            ));
        }
        let table = block.table()?;
        let start = positive(first(&table), "yield stress", block)?;
        let mut rows: Vec<(f64, f64)> = Vec::new();
        for row in &table {
            let at = |k: usize| row.get(k).copied().flatten();
            let (stress, strain) = (at(0).unwrap_or(start), at(1).unwrap_or(0.0));
            if rows.last().is_some_and(|last| strain <= last.1) {
                notes.add(block.at, "*PLASTIC depends on the temperature: the first values hold");
                break;
            }
            rows.push((stress, strain));
        }
        let origin = rows.first().map_or(0.0, |r| r.1);
        let (mut above, mut below) = (0.0, 0.0);
        for (stress, strain) in &rows {
            above += (stress - start) * (strain - origin);
            below += (strain - origin) * (strain - origin);
        }
        let mut slope = if below > 0.0 { above / below } else { 0.0 };
        if rows.len() > 2 {
            notes.add(block.at, "the hardening of *PLASTIC becomes one line through the first point, by least squares");
        }
        if slope < 0.0 {
            notes.add(
                block.at,
                "the softening of *PLASTIC is left out: the yield stress is constant",
            );
            slope = 0.0;
        }
        self.plastic = Some((start, slope, kinematic));
        Ok(())
    }

    fn viscoelastic(&mut self, block: &Block, notes: &mut Notes) -> Result<(), Fault> {
        block.reads(&["TIME"], notes);
        if block.option("TIME").as_deref() != Some("PRONY") {
            let what = "*VISCOELASTIC is read with TIME=PRONY only";
            return Err(Fault::new(block.at, what, "Give the terms of the series: g, k, tau"));
        }
        let mut volume = false;
        for row in block.table()? {
            let at = |k: usize| row.get(k).copied().flatten().unwrap_or(0.0);
            let (g, tau) = (at(0), at(2));
            if !(tau > 0.0 && (0.0..1.0).contains(&g)) {
                let what =
                    "a term of *VISCOELASTIC has no tau above 0, or a g that is not from 0 to 1";
                return Err(Fault::new(block.at, what, "Write g, k, tau on each line"));
            }
            volume |= at(1) != 0.0;
            if g > 0.0 {
                self.prony.push((g, tau));
            }
        }
        if self.prony.iter().map(|t| t.0).sum::<f64>() >= 1.0 {
            let what = "the parts g of *VISCOELASTIC add up to 1 or more";
            return Err(Fault::new(
                block.at,
                what,
                "Something of the modulus has to be left after a long time",
            ));
        }
        if volume {
            notes.add(block.at, "the relaxation of the volume, k of *VISCOELASTIC, is left out");
        }
        Ok(())
    }

    /// Whether elements of the material yield.
    pub(crate) fn yields(&self) -> bool {
        self.plastic.is_some()
    }

    /// Whether shells can be of the material.
    pub(crate) fn is_elastic(&self) -> bool {
        matches!(self.law, Some(Law::Elastic(..)))
            && self.plastic.is_none()
            && self.prony.is_empty()
    }

    /// Its entries in a scene file, with `growth` by heat.
    pub(crate) fn write(
        &self,
        growth: Option<&str>,
        out: &mut String,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        match self.density {
            Some(density) => entry(out, "density", &number(density)),
            None => notes.add(
                self.at,
                format!("the material {} has no density: 1000 kg/m³ holds", self.name),
            ),
        }
        let sum: f64 = self.prony.iter().map(|t| t.0).sum();
        // what is left of the shear modulus after a long time
        let left = if self.instantaneous { 1.0 - sum } else { 1.0 };
        match &self.law {
            Some(law) => law.write(left, out),
            None => {
                let what = format!("the material {} has no elasticity", self.name);
                return Err(Fault::new(self.at, what, "Give it *ELASTIC or *HYPERELASTIC"));
            }
        }
        if let Some((stress, modulus, kinematic)) = self.plastic {
            let key = if kinematic { "kinematic_modulus" } else { "hardening_modulus" };
            if !matches!(self.law, Some(Law::Elastic(..))) {
                let what = format!("the material {} yields and is a rubber", self.name);
                return Err(Fault::new(self.at, what, "Give it *ELASTIC, or take *PLASTIC out"));
            }
            let (stress, modulus) = (number(stress), number(modulus));
            entry(out, "plasticity", &format!("{{ yield_stress = {stress}, {key} = {modulus} }}"));
        }
        if !self.prony.is_empty() {
            let term = |(g, tau): &(f64, f64)| {
                format!("{{ ratio = {}, time = {} }}", number(g / (1.0 - sum)), number(*tau))
            };
            let terms: Vec<String> = self.prony.iter().map(term).collect();
            entry(out, "relaxation", &format!("[{}]", terms.join(", ")));
        }
        if let Some(growth) = growth {
            entry(out, "growth", growth);
        }
        Ok(())
    }
}
