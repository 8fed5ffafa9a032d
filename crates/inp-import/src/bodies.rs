//! Bodies: elements that share nodes, with the mesh of each.

// long: how each kind of body gets its mesh

use crate::deck::{Deck, Section};
use crate::error::{Fault, Notes, Place};
use crate::material::{Material, Materials};
use crate::text::plain;
use standoff_geometry::quadratic::four_triangles;
use standoff_geometry::topology::ascending;
use standoff_geometry::{division, quadratic};
use standoff_linalg::Vec3;
use standoff_mesh::{Mesh, Names, Region, tet_determinant};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// A body.
#[derive(Debug)]
pub(crate) struct Body {
    pub name: String,
    pub is_shell: bool,
    /// Whether it is a solid in two dimensions.
    pub is_planar: bool,
    /// Elements, ascending.
    pub elements: Vec<u32>,
    /// Sections of the deck, one of each material. The first one is that of the object, the elements of all of them are the regions
    /// [`region`] of the mesh where there are several.
    pub sections: Vec<usize>,
    pub mesh: Mesh,
    /// The points of the deck that those of the mesh are.
    pub points: Vec<u32>,
    /// Vertices in the middles of edges that the file has not, with the ends of their edges.
    pub made: Vec<(u32, [u32; 2])>,
}

/// Vertices of a body that are glued to another one.
#[derive(Debug)]
pub(crate) struct Glued {
    pub bodies: [usize; 2],
    /// Vertices of the first, ascending.
    pub vertices: Vec<u32>,
    /// Greatest distance, m.
    pub tolerance: f64,
}

/// All bodies.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    pub list: Vec<Body>,
    /// Body and vertex of each point of the deck.
    pub of_point: Vec<Option<(usize, u32)>>,
    /// The body of each element.
    pub of_element: Vec<Option<usize>>,
    /// Nodes of the body that is being built that the file has not, with the ends of their edges.
    made: Vec<(u32, [u32; 2])>,
    /// The nodes in the middles of the edges of quadratic bodies.
    pub middles: HashMap<[u32; 2], u32>,
}

/// The region of the elements of a body that have its `k`-th material.
pub(crate) fn region(k: usize) -> String {
    format!("material={k}")
}

/// The regions of the materials of tetrahedra or, in two dimensions, triangles, where these have several.
fn regions(materials: &[usize], is_planar: bool) -> Vec<Region> {
    let count = materials.iter().max().map_or(0, |k| k + 1);
    let of = |k: usize| {
        let has = |e: &u32| materials[*e as usize] == k;
        let list = (0..materials.len() as u32).filter(has).collect();
        let (tets, triangles) = if is_planar { (Vec::new(), list) } else { (list, Vec::new()) };
        Region { name: region(k), tets, triangles, ..Region::default() }
    };
    (0..count).filter(|_| count > 1).map(of).collect()
}

/// The material of a section.
fn of_section<'a>(
    given: &Section,
    materials: &'a Materials,
    is_shell: bool,
) -> Result<&'a Material, Fault> {
    let Some(material) = materials.list.get(&given.material) else {
        let what = format!("there is no material {:?}", given.material);
        return Err(Fault::new(given.at, what, "Define it by *MATERIAL, NAME=…"));
    };
    if is_shell && !material.is_elastic() {
        let what = format!("the material {} of a shell is not only elastic", material.name);
        let hint =
            "Shells have *ELASTIC materials; rubber, plasticity and relaxation are for solids";
        return Err(Fault::new(given.at, what, hint));
    }
    if is_shell && given.thickness.is_none() {
        let what = "shells have a *SOLID SECTION";
        return Err(Fault::new(given.at, what, "Write *SHELL SECTION with a thickness"));
    }
    Ok(material)
}

/// The set that a node or an element belongs to.
fn root(parents: &mut [u32], mut v: u32) -> u32 {
    while parents[v as usize] != v {
        // halves the path
        parents[v as usize] = parents[parents[v as usize] as usize];
        v = parents[v as usize];
    }
    v
}

impl Bodies {
    /// The bodies of a deck, whose points it completes by the middles of edges.
    pub(crate) fn new(
        deck: &mut Deck,
        materials: &Materials,
        notes: &mut Notes,
    ) -> Result<Self, Fault> {
        let sections = sections(deck);
        let groups = groups(deck, notes);
        let mut bodies = Self { of_element: vec![None; deck.elements.len()], ..Default::default() };
        let mut names = Names::default();
        for elements in groups {
            let shape = deck.elements[elements[0] as usize].shape;
            let (is_shell, is_planar) = (!shape.is_solid(), shape.is_planar());
            let own = own_sections(deck, &elements, &sections, is_shell)?;
            let mut yields = false;
            for section in &own {
                yields |= of_section(&deck.sections[*section], materials, is_shell)?.yields();
            }
            let name = names.free(&plain(&deck.sections[own[0]].name));
            let kind = |e: &u32| {
                let material = |s: usize| &deck.sections[s].material;
                let of = sections[*e as usize].map(material);
                own.iter().position(|s| Some(material(*s)) == of).unwrap_or(0)
            };
            let kinds: Vec<usize> = elements.iter().map(kind).collect();
            let mesh = match (is_shell, is_planar) {
                (true, _) => triangles(deck, &elements, &kinds).0,
                (_, true) => bodies.planar(deck, &elements, &kinds)?,
                _ => bodies.solid(deck, &elements, &kinds, yields, &name, notes)?,
            };
            bodies.add(
                Body {
                    name,
                    is_shell,
                    is_planar,
                    elements,
                    sections: own,
                    mesh,
                    points: Vec::new(),
                    made: Vec::new(),
                },
                deck,
            );
        }
        Ok(bodies)
    }

    /// Notes nodes at one place that are not one node: bodies that start in contact, unless they are `glued`.
    pub(crate) fn touching(&self, glued: &[Glued], notes: &mut Notes) {
        let tied = |a, b| glued.iter().any(|g| g.bodies == [a, b] || g.bodies == [b, a]);
        let mut first: HashMap<[u64; 3], usize> = HashMap::new();
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (index, body) in self.list.iter().enumerate() {
            for x in &body.mesh.points {
                // 0 and −0 are one number
                let key = [x.x + 0.0, x.y + 0.0, x.z + 0.0].map(f64::to_bits);
                match first.entry(key) {
                    Entry::Occupied(other) => *pairs.entry((*other.get(), index)).or_default() += 1,
                    Entry::Vacant(free) => *free.insert(index) = index,
                }
            }
        }
        for ((a, b), count) in pairs.into_iter().filter(|((a, b), _)| !tied(*a, *b)) {
            let (one, other) = (&self.list[a].name, &self.list[b].name);
            let who = match a == b {
                true => format!("{one} has {count} nodes at the places of others"),
                false => format!("{one} and {other} have {count} nodes at the same places"),
            };
            let text =
                format!("{who}: move them apart, or make them one node, or the scene cannot start");
            notes.add(Place::default(), text);
        }
    }

    /// Adds a body whose mesh has the points of the deck, and leaves it the points that it uses.
    fn add(&mut self, mut body: Body, deck: &Deck) {
        let mesh = &mut body.mesh;
        let lists =
            [mesh.tets.as_flattened(), mesh.middles.as_flattened(), mesh.triangles.as_flattened()];
        let mut used = lists.concat();
        used.sort_unstable();
        used.dedup();
        self.of_point.resize(deck.points.len(), None);
        let index = self.list.len();
        for (vertex, point) in (0..).zip(&used) {
            self.of_point[*point as usize] = Some((index, vertex));
        }
        let of_point = &self.of_point;
        // every used point has a vertex
        let vertex = |p: u32| of_point[p as usize].map_or(0, |p| p.1);
        let renumber = |v: &mut u32| *v = vertex(*v);
        mesh.tets.as_flattened_mut().iter_mut().for_each(renumber);
        mesh.middles.as_flattened_mut().iter_mut().for_each(renumber);
        mesh.triangles.as_flattened_mut().iter_mut().for_each(renumber);
        mesh.points = used.iter().map(|p| deck.points[*p as usize]).collect();
        body.made = self.made.iter().map(|(p, ends)| (vertex(*p), ends.map(vertex))).collect();
        self.made.clear();
        body.points = used;
        body.elements.iter().for_each(|e| self.of_element[*e as usize] = Some(index));
        self.list.push(body);
    }

    fn solid(
        &mut self,
        deck: &mut Deck,
        elements: &[u32],
        kinds: &[usize],
        yields: bool,
        name: &str,
        notes: &mut Notes,
    ) -> Result<Mesh, Fault> {
        let mut mesh = Mesh::default();
        let (mut divided, mut curved) = (false, false);
        // which of the materials of the body tetrahedra have
        let mut labels = Vec::new();
        for (e, kind) in elements.iter().zip(kinds) {
            let e = &deck.elements[*e as usize];
            divided |= e.shape.corners != 4;
            curved |= !e.shape.edges.is_empty();
            let solid = e.shape.solid.iter();
            for tet in solid.flat_map(|s| division::tetrahedra(*s, &e.nodes)) {
                if tet_determinant(&tet.map(|v| deck.points[v as usize])) <= 0.0 {
                    let what = format!("element {} is inverted or flat", e.number);
                    let hint = "Correct the order of its nodes, or its shape";
                    return Err(Fault::new(e.at, what, hint));
                }
                mesh.tets.push(tet);
                labels.push(*kind);
            }
        }
        if mesh.tets.is_empty() {
            return Err(no_extent(deck, elements));
        }
        if divided {
            let text = format!("{name}: elements are divided into tetrahedra of ten nodes");
            notes.add(Place::default(), text);
        }
        if divided || curved || yields {
            if yields && !divided && !curved {
                let text =
                    format!("{name}: what yields has tetrahedra of ten nodes, because others lock");
                notes.add(Place::default(), text);
            }
            self.complete(deck, elements, &mut mesh);
        }
        mesh.regions = regions(&labels, false);
        Ok(mesh)
    }

    /// The mesh of a solid in two dimensions: triangles of three nodes if all elements are such, else of six, two for each quadrangle.
    fn planar(
        &mut self,
        deck: &mut Deck,
        elements: &[u32],
        kinds: &[usize],
    ) -> Result<Mesh, Fault> {
        for e in elements.iter().map(|e| &deck.elements[*e as usize]) {
            if e.nodes.iter().any(|v| deck.points[*v as usize].z != 0.0) {
                let what = format!("element {} of two dimensions has a node with z ≠ 0", e.number);
                return Err(Fault::new(e.at, what, "Its nodes have x and y alone"));
            }
        }
        let is_linear = |e: &u32| deck.elements[*e as usize].shape.nodes == 3;
        let (mut mesh, labels) = if elements.iter().all(is_linear) {
            triangles(deck, elements, kinds)
        } else {
            let (corners, labels) = self.corner_triangles(deck, elements, kinds);
            let mut mesh = Mesh::default();
            for [a, b, c] in corners {
                let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[a, b]| {
                    let [x, y] = [a, b].map(|v| deck.points[v as usize]);
                    self.middle(deck, ascending(a, b), x + (y - x) * 0.5)
                });
                mesh.divided.push(mesh.triangles.len() as u32);
                mesh.triangles.extend(four_triangles([a, b, c, ab, bc, ca]));
            }
            (mesh, labels.into_iter().flat_map(|kind| [kind; 4]).collect())
        };
        if mesh.triangles.is_empty() {
            return Err(no_extent(deck, elements));
        }
        mesh.regions = regions(&labels, true);
        Ok(mesh)
    }

    /// The corners of triangles of six nodes that elements of two dimensions are divided into, with their materials; what the file says of their middles
    /// is kept.
    fn corner_triangles(
        &mut self,
        deck: &mut Deck,
        elements: &[u32],
        kinds: &[usize],
    ) -> (Vec<[u32; 3]>, Vec<usize>) {
        let (mut found, mut labels) = (Vec::new(), Vec::new());
        for (element, kind) in elements.iter().zip(kinds) {
            let (shape, nodes) = {
                let e = &deck.elements[*element as usize];
                (e.shape, e.nodes.clone())
            };
            let mut corners: Vec<u32> = shape.faces.iter().map(|face| nodes[face[0]]).collect();
            for face in shape.faces {
                if let [a, middle, b] = face[..]
                    && nodes[a] != nodes[b]
                {
                    self.middles.insert(ascending(nodes[a], nodes[b]), nodes[middle]);
                }
            }
            // a side whose ends are one node is none
            corners.dedup();
            if corners.len() > 1 && corners.first() == corners.last() {
                corners.pop();
            }
            let made: &[[usize; 3]] = match corners.len() {
                4 => &[[0, 1, 2], [0, 2, 3]],
                3 => &[[0, 1, 2]],
                _ => &[],
            };
            if let ([a, _, c, _], [p, q, r, s, ab, bc, cd, da]) = (&corners[..], &nodes[..]) {
                let sum = |of: [&u32; 4]| of.map(|v| deck.points[*v as usize]).into_iter().sum();
                let (corners, middles): (Vec3, Vec3) = (sum([p, q, r, s]), sum([ab, bc, cd, da]));
                // the shape functions of eight nodes in the middle of the diagonal
                let centre = middles * 0.5 - corners * 0.25;
                self.middle(deck, ascending(*a, *c), centre);
            }
            found.extend(made.iter().map(|t| t.map(|k| corners[k])));
            labels.resize(found.len(), *kind);
        }
        (found, labels)
    }

    /// The node in the middle of an edge: that of the file, or a new one at a place.
    fn middle(&mut self, deck: &mut Deck, edge: [u32; 2], place: Vec3) -> u32 {
        *self.middles.entry(edge).or_insert_with(|| {
            let middle = deck.points.len() as u32;
            deck.points.push(place);
            self.made.push((middle, edge));
            middle
        })
    }

    /// Gives every edge a node in its middle, that of the file where it has one. Diagonals are bent as the edges around them.
    fn complete(&mut self, deck: &mut Deck, elements: &[u32], mesh: &mut Mesh) {
        let mut bent = HashMap::new();
        for e in elements {
            let e = &deck.elements[*e as usize];
            for ([a, b], middle) in e.shape.edges.iter().zip(&e.nodes[e.shape.corners..]) {
                self.middles.insert(ascending(e.nodes[*a], e.nodes[*b]), *middle);
            }
            if let Some(solid) = e.shape.solid.filter(|_| !e.shape.edges.is_empty()) {
                for diagonal in division::diagonals(solid, &e.nodes, &deck.points) {
                    bent.entry(diagonal.ends).or_insert(diagonal.middle);
                }
            }
        }
        for tet in &mesh.tets {
            let middles = quadratic::edges(tet).map(|edge| {
                let [a, b] = edge.map(|v| deck.points[v as usize]);
                let place = bent.get(&edge).copied().unwrap_or(a + (b - a) * 0.5);
                self.middle(deck, edge, place)
            });
            mesh.middles.push(middles);
        }
    }
}

/// What is wrong with elements of which nothing is left.
fn no_extent(deck: &Deck, elements: &[u32]) -> Fault {
    let e = &deck.elements[elements[0] as usize];
    Fault::new(
        e.at,
        format!("element {} has no extent: its nodes coincide", e.number),
        "Correct its nodes",
    )
}

/// The section of each element; where there are several, the last.
fn sections(deck: &Deck) -> Vec<Option<usize>> {
    let mut of = vec![None; deck.elements.len()];
    for (i, section) in deck.sections.iter().enumerate() {
        section.elements.iter().for_each(|e| of[*e as usize] = Some(i));
    }
    of
}

/// Elements that share nodes, by their first element. Shells on solids are left out.
fn groups(deck: &Deck, notes: &mut Notes) -> Vec<Vec<u32>> {
    let mut in_solid = vec![false; deck.points.len()];
    for e in deck.elements.iter().filter(|e| e.shape.is_solid()) {
        e.nodes.iter().for_each(|v| in_solid[*v as usize] = true);
    }
    let mut parents: Vec<u32> = (0..deck.points.len() as u32).collect();
    let mut kept = Vec::new();
    for (i, e) in (0..).zip(&deck.elements) {
        if !e.shape.is_solid() && e.nodes.iter().any(|v| in_solid[*v as usize]) {
            notes.add(e.at, "shells that share nodes with solids are left out");
            continue;
        }
        kept.push(i);
        for pair in e.nodes.windows(2) {
            let (a, b) = (root(&mut parents, pair[0]), root(&mut parents, pair[1]));
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for i in kept {
        let first = deck.elements[i as usize].nodes[0];
        groups.entry(root(&mut parents, first)).or_default().push(i);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
    groups.sort();
    groups
}

/// The sections that elements of a body have, one of each material; of a shell it is one.
fn own_sections(
    deck: &Deck,
    elements: &[u32],
    of: &[Option<usize>],
    is_shell: bool,
) -> Result<Vec<usize>, Fault> {
    let mut found: Vec<usize> = Vec::new();
    for e in elements {
        let e_at = &deck.elements[*e as usize];
        let Some(section) = of[*e as usize] else {
            let what = format!("element {} is in no section", e_at.number);
            let hint = "Give its set a *SOLID SECTION or *SHELL SECTION, or take it out";
            return Err(Fault::new(e_at.at, what, hint));
        };
        let b = &deck.sections[section];
        let alike =
            |a: &Section| a.material == b.material && (!is_shell || a.thickness == b.thickness);
        if found.iter().any(|s| alike(&deck.sections[*s])) {
            continue;
        }
        if let (Some(first), true) = (found.first(), is_shell) {
            let a = &deck.sections[*first];
            let what = format!(
                "{} and {} share nodes, and their sections (the other one is in line {}) differ in material or thickness",
                a.name, b.name, a.at.line
            );
            let hint =
                "A shell has one material: use one, or give the parts nodes of their own and a gap";
            return Err(Fault::new(b.at, what, hint));
        }
        found.push(section);
    }
    Ok(found)
}

/// The mesh of elements that consist of triangles, and which of the materials of the body each of them has.
fn triangles(deck: &Deck, elements: &[u32], kinds: &[usize]) -> (Mesh, Vec<usize>) {
    let (mut mesh, mut labels) = (Mesh::default(), Vec::new());
    for (e, kind) in elements.iter().zip(kinds) {
        let e = &deck.elements[*e as usize];
        let triangles = e.shape.triangles.iter().map(|t| t.map(|i| e.nodes[i]));
        let first = mesh.triangles.len();
        mesh.triangles.extend(triangles.filter(|[a, b, c]| a != b && b != c && c != a));
        if e.shape.is_six_node_triangle() && mesh.triangles.len() == first + 4 {
            mesh.divided.push(first as u32);
        }
        labels.resize(mesh.triangles.len(), *kind);
    }
    (mesh, labels)
}
