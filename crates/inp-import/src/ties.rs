//! Ties: surfaces of two bodies that are glued where they touch at the start.

use crate::bodies::Glued;
use crate::deck::{Deck, Dimension, Of, Surface};
use crate::error::{Fault, Notes, Place};
use crate::scene::{Model, Regions};
use crate::source::{Block, number};
use crate::text::{entry, number as written, quoted};
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// The tolerance of a tie that gives none, in terms of the mean edge length of the carrying surface: Abaqus takes this part of the size of
/// elements.
const TOLERANCE: f64 = 0.05;

/// Two surfaces that are glued.
#[derive(Debug)]
pub(crate) struct Tie {
    at: Place,
    /// The surface whose nodes are tied, and the one that carries them.
    sides: [Surface; 2],
    tolerance: Option<f64>,
}

/// What of a surface is of one body: its vertices there, and its triangles of points of the deck.
struct Part {
    body: usize,
    vertices: Vec<u32>,
    triangles: Vec<[u32; 3]>,
}

/// Reads *TIE.
pub(crate) fn read(block: &Block, deck: &Deck, notes: &mut Notes) -> Result<Vec<Tie>, Fault> {
    let quiet = ["NAME", "POSITION TOLERANCE", "ADJUST", "TYPE", "NO ROTATION", "NO THICKNESS"];
    let periodic = ["CYCLIC SYMMETRY", "MULTISTAGE"];
    if let Some(kind) = periodic.into_iter().find(|k| block.parameter(k).is_some()) {
        notes.add(block.at, format!("a tie with {kind} is not converted"));
        return Ok(Vec::new());
    }
    block.reads(&quiet, notes);
    if block.option("ADJUST").is_none_or(|a| a != "NO") {
        notes.add(block.at, "tied nodes keep their distance from the other surface (ADJUST=NO)");
    }
    let tolerance =
        block.parameter("POSITION TOLERANCE").map(|t| number(t, block.at)).transpose()?;
    if tolerance.is_some_and(|t| t <= 0.0) {
        let what = "a tie has a tolerance that is not above 0";
        return Err(Fault::new(block.at, what, "Give a greater POSITION TOLERANCE, or none"));
    }
    let mut ties = Vec::new();
    for line in &block.lines {
        let [tied, carrying] = line.fields()[..] else {
            let what = "a tie has the names of two surfaces";
            return Err(Fault::new(line.at, what, "Write for example FINE, COARSE"));
        };
        let sides = [surface(tied, line.at, deck)?, surface(carrying, line.at, deck)?];
        ties.push(Tie { at: block.at, sides, tolerance });
    }
    Ok(ties)
}

/// The surface of a name, or the nodes of a set, which may be tied, too.
fn surface(name: &str, at: Place, deck: &Deck) -> Result<Surface, Fault> {
    if let Some(found) = deck.find_surface(name) {
        return Ok(found.clone());
    }
    match deck.find(Of::Nodes, name) {
        Some(set) => {
            Ok(Surface { name: set.name.clone(), nodes: set.members.clone(), ..Default::default() })
        }
        None => {
            let what = format!("there is no surface {name:?}");
            Err(Fault::new(at, what, "Define it above this line, by *SURFACE"))
        }
    }
}

impl Model<'_> {
    /// What ties glue: for each two bodies the nodes of the one surface that are near the other.
    pub(crate) fn glued(&self, ties: &[Tie], notes: &mut Notes) -> Vec<Glued> {
        let mut all: Vec<Glued> = Vec::new();
        for tie in ties {
            if self.dimension != Dimension::Three {
                let text =
                    "a tie in two dimensions is not converted: give the bodies nodes in common";
                notes.add(tie.at, text);
                continue;
            }
            let own = self.glued_by(tie, notes);
            if own.is_empty() {
                let [a, b] = [&tie.sides[0].name, &tie.sides[1].name];
                let text = format!(
                    "the tie of {a} to {b} is left out: no node of the one is within the tolerance of the other on another body"
                );
                notes.add(tie.at, text);
            }
            for glued in own {
                // a vertex is tied once
                let before = |g: &&Glued| g.bodies[0] == glued.bodies[0];
                let tied: BTreeSet<u32> =
                    all.iter().filter(before).flat_map(|g| g.vertices.iter().copied()).collect();
                let mut vertices = glued.vertices;
                vertices.retain(|v| !tied.contains(v));
                if !vertices.is_empty() {
                    all.push(Glued { vertices, ..glued });
                }
            }
        }
        all
    }

    fn glued_by(&self, tie: &Tie, notes: &mut Notes) -> Vec<Glued> {
        let [tied, carrying] = [&tie.sides[0], &tie.sides[1]].map(|s| self.parts(s));
        let is_shell = |part: &Part| self.bodies.list[part.body].is_shell;
        let mut found = Vec::new();
        for (a, b) in tied.iter().flat_map(|a| carrying.iter().map(move |b| (a, b))) {
            if a.body == b.body {
                continue;
            }
            let tolerance = tie.tolerance.unwrap_or_else(|| TOLERANCE * self.edge(b));
            // a shell carries nothing
            let (first, other) = if is_shell(b) { (b, a) } else { (a, b) };
            if is_shell(other) {
                let text = "a tie of two shells is not converted: give them nodes in common";
                notes.add(tie.at, text);
                continue;
            }
            let vertices = self.near(first, other, tolerance);
            if !vertices.is_empty() {
                found.push(Glued { bodies: [first.body, other.body], vertices, tolerance });
            }
        }
        found
    }

    /// Writes the ties.
    pub(crate) fn ties(&self, all: &[Glued], regions: &[Regions], out: &mut String) {
        for Glued { bodies: [first, other], vertices, tolerance } in all {
            let name = |body: usize| quoted(&self.bodies.list[body].name);
            out.push_str("\n[[ties]]\n");
            entry(out, "objects", &format!("[{}, {}]", name(*first), name(*other)));
            entry(out, "vertices", &self.selection(*first, vertices, &regions[*first]));
            entry(out, "tolerance", &written(*tolerance));
        }
    }

    /// What of a surface is of each body.
    fn parts(&self, surface: &Surface) -> Vec<Part> {
        let mut bodies: BTreeMap<usize, Vec<[u32; 3]>> = BTreeMap::new();
        for (element, side) in &surface.faces {
            if let Some(body) = self.bodies.of_element[*element as usize] {
                bodies.entry(body).or_default().extend(self.face(*element, *side));
            }
        }
        for point in &surface.nodes {
            if let Some((body, _)) = self.bodies.of_point[*point as usize] {
                bodies.entry(body).or_default();
            }
        }
        let part = |(body, triangles)| {
            let vertices = self.surface_vertices(body, surface);
            Part { body, vertices, triangles }
        };
        bodies.into_iter().map(part).collect()
    }

    /// The mean edge length of a part of a surface, m.
    fn edge(&self, part: &Part) -> f64 {
        let x = |v: u32| self.deck.points[v as usize];
        let around =
            |t: &[u32; 3]| (0..3).map(|k| (x(t[k]) - x(t[(k + 1) % 3])).norm()).sum::<f64>();
        let sum: f64 = part.triangles.iter().map(around).sum();
        sum / (3 * part.triangles.len()).max(1) as f64
    }

    /// The vertices of the one part that are within a distance of the triangles of the other, m.
    fn near(&self, a: &Part, b: &Part, distance: f64) -> Vec<u32> {
        let own = &self.bodies.list[a.body].mesh.points;
        let mut x: Vec<Vec3> = a.vertices.iter().map(|v| own[*v as usize]).collect();
        let points: Vec<u32> = (0..x.len() as u32).collect();
        x.extend(b.triangles.as_flattened().iter().map(|v| self.deck.points[*v as usize]));
        let first = points.len() as u32;
        let face = |t: usize| [0, 1, 2].map(|k| first + 3 * t as u32 + k);
        let faces = (0..b.triangles.len()).map(face).collect();
        let of: Vec<u32> = (0..x.len()).map(|v| u32::from(v >= points.len())).collect();
        let mut mesh = CollisionMesh::new(x.clone(), faces, &[], &points);
        mesh.exclude_groups(of, &[(0, 0), (1, 1)]);
        let mut near = BTreeSet::new();
        for pair in candidates(&mesh, &x, 0.5 * distance).iter() {
            let vertex = pair.primitives[1];
            if pair.kind == PairKind::FaceVertex
                && vertex < first
                && pair.d2(&mesh, &x) <= distance * distance
            {
                near.insert(a.vertices[vertex as usize]);
            }
        }
        near.into_iter().collect()
    }
}
