//! Solids whose size without stress changes, as by heat or growth: F = Fₑ g with the stretch g = 1 + ε(t) of the material, the same in all
//! directions [Rodriguez 1994]. An element with the rest volume V then has the energy g³ V ψ(F/g), that of an element which is g times as large
//! at rest.

use crate::definition::expression::Expression;
use crate::energy::Solids;
use crate::energy::fibres::{Fibres, Muscles};
use crate::energy::inelastic::Inelastic;

/// What grows.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    /// Strains without stress, ε, each once.
    strains: Vec<Expression>,
    /// Number of the strain of each element of solids, [`NONE`] of what does not grow.
    of: Vec<u32>,
    /// Elements of solids as they are at rest.
    rest: Grown,
}

/// What depends on the size without stress.
#[derive(Debug, Clone)]
pub(crate) struct Grown {
    pub solids: Solids,
    pub guarded: Option<Solids>,
    pub inelastic: Inelastic,
    pub fibres: Fibres,
    pub muscles: Muscles,
}

/// No strain.
const NONE: u32 = u32::MAX;

impl Growth {
    /// What grows in solids, given the strain of each element of theirs; nothing where no element has one.
    pub fn new<'a>(
        strains: impl Iterator<Item = Option<&'a Expression>>,
        rest: impl FnOnce() -> Grown,
    ) -> Option<Box<Self>> {
        let mut all: Vec<Expression> = Vec::new();
        let mut number = |strain: &Expression| {
            let known = all.iter().position(|s| s == strain).unwrap_or_else(|| {
                all.push(strain.clone());
                all.len() - 1
            });
            known as u32
        };
        let of = strains.map(|s| s.map_or(NONE, &mut number)).collect();
        (!all.is_empty()).then(|| Box::new(Self { strains: all, of, rest: rest() }))
    }

    /// Whether each material has a size at the time `t`, s: a strain above -1 that is finite.
    pub fn is_defined(&self, t: f64) -> bool {
        self.strains.iter().all(|s| (-1.0..f64::INFINITY).contains(&s.at(t)) && s.at(t) > -1.0)
    }

    /// Elements of solids as they are at rest.
    pub fn rest(&self) -> &Solids {
        &self.rest.solids
    }

    /// What depends on the size without stress, at the time `t`, s.
    pub fn at(&self, t: f64) -> Grown {
        let stretches: Vec<f64> = self.strains.iter().map(|s| 1.0 + s.at(t)).collect();
        let g = |e: usize| stretches.get(self.of[e] as usize).copied().unwrap_or(1.0);
        let Grown { solids, guarded, inelastic, fibres, muscles } = &self.rest;
        Grown {
            solids: solids.grown(g),
            guarded: guarded.as_ref().map(|s| s.grown(g)),
            inelastic: inelastic.grown(g),
            fibres: fibres.grown(g),
            muscles: muscles.grown(g),
        }
    }
}
