//! What the page is told of a run.

use serde::Serialize;
use standoff_run::{ArrayInfo, BodyInfo, HalfSpaceInfo, Location};

/// Version of what the server and the page say to each other; `web/src/api.ts` has the same.
pub(crate) const API: u32 = 1;

/// A run as far as it has come.
#[derive(Debug, Serialize)]
pub(crate) struct RunState<'a> {
    pub api: u32,
    /// Version of the program that serves.
    pub program: &'static str,
    pub folder: String,
    /// Changes when another run takes the place of this one; as text, because it is longer than what
    /// JavaScript counts exactly.
    pub generation: String,
    /// Whether a process writes to it.
    pub live: bool,
    pub bodies: &'a [BodyInfo],
    pub half_spaces: &'a [HalfSpaceInfo],
    /// 2 or 3.
    pub dimension: u8,
    /// s
    pub time_step: f64,
    /// Distance up to which `gap` is measured, m.
    pub gap_reach: f64,
    /// Steps of the frames.
    pub frames: Vec<u64>,
    /// What frames can be coloured by.
    pub arrays: Vec<Colouring>,
    /// Bytes of whole lines of statistics.
    pub stats_length: u64,
    /// Whether there is the report of a failed step.
    pub failed: bool,
}

/// An array of the frames.
#[derive(Debug, Serialize)]
pub(crate) struct Colouring {
    pub name: String,
    /// `vertex` or `cell`.
    pub of: &'static str,
    pub components: usize,
    pub unit: &'static str,
}

/// The array that is no part of a frame: it is computed from the positions.
pub(crate) const GAP: &str = "gap";

impl Colouring {
    /// Describes an array, if it is one of numbers of vertices or cells that change from frame to frame.
    pub fn of(array: &ArrayInfo) -> Option<Self> {
        let of = match array.location {
            Location::Point => "vertex",
            Location::Cell => "cell",
            Location::Field | Location::Grid => return None,
        };
        let constant = ["thickness", "radius"].contains(&array.name.as_str());
        // tensors have no one value by which to colour
        if constant || array.kind != "Float64" || array.components > 3 {
            return None;
        }
        Some(Self {
            of,
            components: array.components,
            unit: unit(&array.name),
            name: array.name.clone(),
        })
    }

    pub fn gap() -> Self {
        Self { name: GAP.into(), of: "vertex", components: 1, unit: unit(GAP) }
    }
}

fn unit(name: &str) -> &'static str {
    match name {
        "displacement" | "contact_reach" | GAP => "m",
        "velocity" => "m/s",
        "contact_force" => "N",
        "von_mises" | "recovered_von_mises" | "stress_error" | "principal_stress" => "Pa",
        "bending_energy" => "J",
        _ => "",
    }
}
