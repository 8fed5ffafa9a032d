//! The text of the scene: settings, materials, objects with their regions, supports and loads.

// long: each part of a scene file

use crate::bodies::{Bodies, Body, Glued, region};
use crate::deck::{Deck, Dimension, Section, Side, Surface};
use crate::error::{Fault, Notes, Place};
use crate::history::History;
use crate::material::Materials;
use crate::steps::{Conditions, Time};
use crate::text::{entry, number, plain, quoted};
use standoff_geometry::division::face_triangles;
use standoff_geometry::quadratic::four_triangles;
use standoff_geometry::topology::ascending;
use standoff_mesh::Names;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a scene is made of.
pub(crate) struct Model<'a> {
    pub deck: &'a Deck,
    pub bodies: &'a Bodies,
    pub materials: &'a Materials,
    pub conditions: &'a Conditions,
    pub time: Time,
    pub dimension: Dimension,
}

/// Names by the vertices that they stand for.
pub(crate) type Regions = BTreeMap<Vec<u32>, String>;

/// How a node is held along x, y and z.
type Held<'h> = [Option<&'h History>; 3];

impl Model<'_> {
    /// Time, friction and gravity.
    pub(crate) fn settings(&self, out: &mut String, notes: &mut Notes) {
        // gravity of the file acts on its elements
        entry(out, "gravity", "[0.0, 0.0, 0.0]");
        match self.dimension {
            Dimension::Three => {}
            Dimension::PlaneStrain => entry(out, "dimension", "2"),
            Dimension::Axisymmetric => entry(out, "dimension", "\"axisymmetric\""),
        }
        let depth = |s: &&Section| s.depth.is_some_and(|d| d != 1.0);
        if let (Dimension::PlaneStrain, Some(section)) =
            (self.dimension, self.deck.sections.iter().find(depth))
        {
            let text = "forces and masses are those of a body 1 m deep, whatever its thickness";
            notes.add(section.at, text);
        }
        out.push_str("\n[time]\n");
        entry(out, "step", &number(self.time.step));
        entry(out, "end", &number(self.time.end));
        entry(out, "integrator", if self.time.dynamic { "\"bdf2\"" } else { "\"quasi-static\"" });
        let coefficients = self.materials.frictions.iter();
        let greatest = coefficients.clone().map(|f| f.1).fold(0.0, f64::max);
        if coefficients.clone().any(|f| f.1 != greatest) {
            let text = "the file has several coefficients of friction: the largest holds for all";
            coefficients.for_each(|f| notes.add(f.0, text));
        }
        if greatest > 0.0 {
            out.push_str("\n[friction]\n");
            entry(out, "coefficient", &number(greatest));
        }
    }

    /// The materials of bodies, with the names of those of each.
    pub(crate) fn materials(
        &self,
        out: &mut String,
        notes: &mut Notes,
    ) -> Result<Vec<Vec<String>>, Fault> {
        let mut known: BTreeMap<(&str, Option<u64>), String> = BTreeMap::new();
        let mut names = Names::default();
        let mut of_bodies = vec![Vec::new(); self.bodies.list.len()];
        for (body, of_body) in self.bodies.list.iter().zip(&mut of_bodies) {
            for section in body.sections.iter().map(|s| &self.deck.sections[*s]) {
                let thickness = section.thickness.filter(|_| body.is_shell);
                let key = (section.material.as_str(), thickness.map(f64::to_bits));
                if let Some(name) = known.get(&key) {
                    of_body.push(name.clone());
                    continue;
                }
                // bodies have materials that there are
                let Some(material) = self.materials.list.get(&section.material) else { continue };
                let name = names.free(&plain(&material.name));
                out.push_str(&format!("\n[materials.{}]\n", quoted(&name)));
                let growth = material.expands().and_then(|alpha| {
                    self.growth(&section.material, &material.name, alpha, material.at, notes)
                });
                material.write(growth.as_deref(), out, notes)?;
                if let Some(t) = thickness {
                    entry(out, "shell", &format!("{{ thickness = {} }}", number(t)));
                }
                known.insert(key, name.clone());
                of_body.push(name);
            }
        }
        Ok(of_bodies)
    }

    /// How a material with a coefficient of thermal expansion grows, if the temperature of all of it is the same and changes.
    fn growth(
        &self,
        key: &str,
        name: &str,
        alpha: f64,
        at: Place,
        notes: &mut Notes,
    ) -> Option<String> {
        let sections = self.deck.sections.iter().filter(|s| s.material == key);
        let elements = sections.flat_map(|s| &s.elements).map(|e| &self.deck.elements[*e as usize]);
        let nodes: BTreeSet<u32> = elements.flat_map(|e| e.nodes.iter().copied()).collect();
        let constant = History::constant(0.0);
        let mut of_nodes =
            nodes.iter().map(|v| self.conditions.temperatures.get(v).unwrap_or(&constant));
        let first = of_nodes.next()?;
        if of_nodes.any(|history| history.key() != first.key()) {
            let text = format!(
                "the temperature of {name} is not the same everywhere: it does not expand (growth of a material is uniform)"
            );
            notes.add(at, text);
            return None;
        }
        let growth = first.change(alpha);
        (!growth.is_zero()).then(|| growth.expression(self.time.step))
    }

    /// The object of a body, and its regions.
    pub(crate) fn object(
        &self,
        index: usize,
        file: &str,
        materials: &[String],
        glued: &[Glued],
        out: &mut String,
        notes: &mut Notes,
    ) -> Regions {
        let body = &self.bodies.list[index];
        out.push_str("\n[[objects]]\n");
        entry(out, "name", &quoted(&body.name));
        entry(out, "mesh", &quoted(file));
        entry(out, "role", if body.is_shell { "\"shell\"" } else { "\"volume\"" });
        if let Some((first, others)) = materials.split_first() {
            entry(out, "material", &quoted(first));
            let of_region =
                |(k, name): (usize, &String)| format!("{} = {}", quoted(&region(k)), quoted(name));
            let list: Vec<String> = (1..).zip(others).map(of_region).collect();
            if !list.is_empty() {
                entry(out, "materials", &format!("{{ {} }}", list.join(", ")));
            }
        }
        if !body.is_shell && !body.is_planar && body.mesh.middles.is_empty() {
            // as the file says, whatever a scene would choose
            entry(out, "element", "\"linear\"");
        }
        if body.is_planar && body.mesh.divided.is_empty() {
            // as the file says, whatever a scene would choose
            entry(out, "element", "\"linear\"");
        }
        if body.is_shell {
            // nodes at one place are one only where the file says so
            entry(out, "weld", "false");
        }
        let regions = self.regions(index, out);
        self.supports(index, &regions, glued, out, notes);
        self.forces(index, &regions, out);
        self.pressures(index, &regions, out, notes);
        self.gravities(index, out, notes);
        regions
    }

    /// The vertices of a body among points of the deck, with the middles of edges both of whose ends are among them.
    fn vertices(&self, index: usize, points: impl Iterator<Item = u32>) -> Vec<u32> {
        let own = |p: u32| self.bodies.of_point[p as usize].filter(|o| o.0 == index).map(|o| o.1);
        let set: BTreeSet<u32> = points.filter_map(own).collect();
        let made = self.bodies.list[index].made.iter();
        let between = made.filter(|(_, ends)| ends.iter().all(|v| set.contains(v)));
        let middles: Vec<u32> = between.map(|m| m.0).collect();
        set.into_iter().chain(middles).collect()
    }

    /// The vertices of a body on a surface.
    pub(crate) fn surface_vertices(&self, index: usize, surface: &Surface) -> Vec<u32> {
        let of_face = |(e, side): &(u32, Side)| match self.dimension {
            Dimension::Three => self.face(*e, *side).into_flattened(),
            _ => self.edges(*e, *side).into_flattened(),
        };
        let of_faces = surface.faces.iter().flat_map(of_face);
        self.vertices(index, of_faces.chain(surface.nodes.iter().copied()))
    }

    /// Writes the sets that have some of the vertices of a body, and not all, as regions.
    fn regions(&self, index: usize, out: &mut String) -> Regions {
        let deck = self.deck;
        let mut sets: Vec<(&str, Vec<u32>)> = Vec::new();
        let nodes_of = |e: u32| deck.elements[e as usize].nodes.iter().copied();
        for set in deck.node_sets.values() {
            sets.push((&set.name, self.vertices(index, set.members.iter().copied())));
        }
        for set in deck.element_sets.values() {
            let nodes = set.members.iter().flat_map(|e| nodes_of(*e));
            sets.push((&set.name, self.vertices(index, nodes)));
        }
        for surface in deck.surfaces.values() {
            sets.push((&surface.name, self.surface_vertices(index, surface)));
        }
        let count = self.bodies.list[index].points.len();
        let (mut names, mut regions) = (Names::default(), Regions::new());
        let _ = names.take("all");
        for (name, vertices) in sets {
            if vertices.is_empty() || vertices.len() == count {
                continue;
            }
            let name = names.free(&plain(name));
            if regions.is_empty() {
                out.push_str("\n[objects.regions]\n");
            }
            entry(out, &quoted(&name), &format!("{{ vertices = {vertices:?} }}"));
            regions.entry(vertices).or_insert(name);
        }
        regions
    }

    /// How a scene selects vertices of a body.
    pub(crate) fn selection(&self, index: usize, vertices: &[u32], regions: &Regions) -> String {
        if vertices.len() == self.bodies.list[index].points.len() {
            return "\"all\"".to_owned();
        }
        match regions.get(vertices) {
            Some(name) => quoted(name),
            None => format!("{{ vertices = {vertices:?} }}"),
        }
    }

    /// Triangles of a side of an element, of points of the deck; four for each where edges have middles.
    pub(crate) fn face(&self, element: u32, side: Side) -> Vec<[u32; 3]> {
        let e = &self.deck.elements[element as usize];
        let Side::Face(face) = side else {
            return e.shape.triangles.iter().map(|t| t.map(|i| e.nodes[i])).collect();
        };
        let corners: Vec<u32> =
            e.shape.faces[usize::from(face)].iter().map(|i| e.nodes[*i]).collect();
        let middle = |a, b| self.bodies.middles.get(&ascending(a, b)).copied();
        let divided =
            |t: [u32; 3]| match (middle(t[0], t[1]), middle(t[1], t[2]), middle(t[2], t[0])) {
                (Some(ab), Some(bc), Some(ca)) => {
                    four_triangles([t[0], t[1], t[2], ab, bc, ca]).to_vec()
                }
                _ => vec![t],
            };
        face_triangles(&corners).into_iter().flat_map(divided).collect()
    }

    /// Edges of a side of an element in two dimensions, of points of the deck; two where it has a middle.
    pub(crate) fn edges(&self, element: u32, side: Side) -> Vec<[u32; 2]> {
        let e = &self.deck.elements[element as usize];
        let Side::Face(face) = side else { return Vec::new() };
        let [a, .., b] = e.shape.faces[usize::from(face)] else { return Vec::new() };
        let [a, b] = [a, b].map(|k| e.nodes[*k]);
        match self.bodies.middles.get(&ascending(a, b)) {
            Some(m) => vec![[a, *m], [*m, b]],
            None => vec![[a, b]],
        }
    }

    /// The vertices of a body that are held in some direction, with how.
    fn held<'h>(&'h self, body: &Body) -> Vec<(u32, Held<'h>)> {
        let ends: BTreeMap<u32, [u32; 2]> = body.made.iter().copied().collect();
        let held = |p: u32| -> Held<'h> {
            let held = |d: usize| self.conditions.held.get(&(p, d as u8));
            std::array::from_fn(|d| held(d).filter(|_| d < self.directions()))
        };
        let of = |(vertex, point): (u32, &u32)| {
            let at = match ends.get(&vertex) {
                // a middle is held where both ends are alike
                Some([a, b]) => {
                    let [a, b] = [a, b].map(|v| held(body.points[*v as usize]));
                    std::array::from_fn(|d| a[d].filter(|_| a[d] == b[d]))
                }
                None => held(*point),
            };
            (vertex, at)
        };
        let all = (0..).zip(&body.points).map(of);
        all.filter(|(_, at)| at.iter().any(Option::is_some)).collect()
    }

    /// Vertices with the same supports are one entry.
    fn supports(
        &self,
        index: usize,
        regions: &Regions,
        glued: &[Glued],
        out: &mut String,
        notes: &mut Notes,
    ) {
        let body = &self.bodies.list[index];
        let own = glued.iter().filter(|g| g.bodies[0] == index);
        let tied: BTreeSet<u32> = own.flat_map(|g| g.vertices.iter().copied()).collect();
        let mut groups: BTreeMap<[Option<Vec<(u64, u64)>>; 3], (Held<'_>, Vec<u32>)> =
            BTreeMap::new();
        let mut held = self.held(body);
        let count = held.len();
        held.retain(|(vertex, _)| !tied.contains(vertex));
        if held.len() < count {
            let text = format!("{}: supports of tied nodes are left out", body.name);
            notes.add(self.conditions.at, text);
        }
        for (vertex, at) in held {
            let key = at.map(|h| h.map(History::key));
            groups.entry(key).or_insert((at, Vec::new())).1.push(vertex);
        }
        let by_others = glued.iter().any(|g| g.bodies.contains(&index));
        if groups.is_empty() && !by_others && !self.time.dynamic {
            let text =
                format!("{} is held nowhere: static steps need supports of every body", body.name);
            notes.add(Place::default(), text);
        }
        for (at, vertices) in groups.into_values() {
            let moves = at.iter().flatten().any(|h| !h.is_zero());
            out.push_str(if moves { "\n[[objects.motion]]\n" } else { "\n[[objects.fixed]]\n" });
            entry(out, "vertices", &self.selection(index, &vertices, regions));
            if at[..self.directions()].iter().any(Option::is_none) {
                let axes = ["\"x\"", "\"y\"", "\"z\""];
                let along: Vec<&str> =
                    (0..3).filter(|d| at[*d].is_some()).map(|d| axes[d]).collect();
                entry(out, "along", &format!("[{}]", along.join(", ")));
            }
            if moves {
                entry(out, "translation", &self.triple(at));
            }
        }
    }

    /// In how many directions anything moves.
    fn directions(&self) -> usize {
        if self.dimension == Dimension::Three { 3 } else { 2 }
    }

    fn triple(&self, of: [Option<&History>; 3]) -> String {
        let text = |d: usize| match of[d].filter(|_| d < self.directions()) {
            Some(history) => history.expression(self.time.step),
            None => number(0.0),
        };
        format!("[{}]", [0, 1, 2].map(text).join(", "))
    }

    /// Each node has its own entry, because a scene shares the force on several vertices by their masses.
    fn forces(&self, index: usize, regions: &Regions, out: &mut String) {
        let mut nodes: BTreeMap<(u32, &str), [Option<&History>; 3]> = BTreeMap::new();
        for (((point, direction), table), history) in &self.conditions.forces {
            let owner = self.bodies.of_point[*point as usize].filter(|o| o.0 == index);
            let acts = !history.is_zero() && usize::from(*direction) < self.directions();
            if let Some((_, vertex)) = owner.filter(|_| acts) {
                nodes.entry((vertex, table)).or_default()[usize::from(*direction)] = Some(history);
            }
        }
        for ((vertex, _), force) in nodes {
            out.push_str("\n[[objects.forces]]\n");
            entry(out, "vertices", &self.selection(index, &[vertex], regions));
            entry(out, "force", &self.triple(force));
        }
    }

    fn gravities(&self, index: usize, out: &mut String, notes: &mut Notes) {
        let body = &self.bodies.list[index];
        let mut loads: BTreeMap<(&str, &str), [Option<&History>; 3]> = BTreeMap::new();
        for (((target, direction), table), history) in &self.conditions.gravities {
            loads.entry((target, table)).or_default()[usize::from(*direction)] = Some(history);
        }
        for ((target, _), acceleration) in loads {
            let Some(heavy) = self.conditions.heavy.get(target) else { continue };
            let within = body.elements.iter().filter(|e| heavy.binary_search(e).is_ok()).count();
            if within == 0 || acceleration.iter().flatten().all(|h| h.is_zero()) {
                continue;
            }
            if within < body.elements.len() {
                let text = format!("{}: gravity of only a part of it is left out", body.name);
                notes.add(self.conditions.at, text);
                continue;
            }
            out.push_str("\n[[objects.forces]]\n");
            entry(out, "acceleration", &self.triple(acceleration));
        }
    }

    /// Notes supports and loads of nodes and elements that are in no body.
    pub(crate) fn lost(&self, notes: &mut Notes) {
        let free = |p: &u32| self.bodies.of_point[*p as usize].is_none();
        let held: BTreeSet<u32> = self.conditions.held.keys().map(|k| k.0).filter(free).collect();
        let pushed: BTreeSet<u32> =
            self.conditions.forces.keys().map(|k| k.0.0).filter(free).collect();
        for (what, nodes) in [("supports", held), ("loads", pushed)] {
            if let Some(first) = nodes.first() {
                let numbers = self.deck.numberings.values().flat_map(|n| &n.nodes);
                let number = numbers.into_iter().find(|n| n.1 == first).map_or(0, |n| *n.0);
                let text = format!(
                    "{what} of {} nodes that are in no body (such as {number}) are left out",
                    nodes.len()
                );
                notes.add(self.conditions.at, text);
            }
        }
    }
}

/// The file of the mesh of a body.
pub(crate) fn mesh_file(stem: &str, body: &Body) -> String {
    format!("{stem}-{}.vtu", body.name)
}
