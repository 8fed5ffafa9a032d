//! Bodies of a definition, checked and joined into one numbering of vertices and elements.

// long: one table of vertices and elements, and what each kind of body adds to it

use super::rigid::{Rigidity, orthogonality};
use crate::body::Body;
use crate::definition::settings::SolverSettings;
use crate::definition::{
    BendingModel, BodyDef, BodyKind, CONTROL_POINTS, CarriedSurface, Definition, ShellMaterial,
};
use crate::energy::axisymmetric::Axisymmetric;
use crate::energy::codim::CodimLists;
use crate::energy::hinge::Hinge;
use crate::energy::membrane::Membrane;
use crate::energy::plane_strain::PlaneStrain;
use crate::energy::quadratic_tet::{NODES, QuadraticTet, QuadraticTets};
use crate::energy::quadratic_triangle::QuadraticTriangle;
use crate::energy::rod_joint::{RodMaterial, angle_about};
use crate::energy::segment::Segment;
use crate::energy::shape_operator::{ENDS, ShapeOperator, side_normal};
use crate::energy::tet::{ElasticTets, TetError};
use crate::energy::{ElementList, Solids};
use crate::error::BuildError;
use crate::frames::{Chains, MaterialFrames, RodShape, ShellEdge, Side, edge_normal};
use crate::grip::Grips;
use crate::material::Material;
use crate::tie::Tie;
use crate::unknowns::VertexMap;
use standoff_geometry::quadratic::TRIANGLE_NODES;
use standoff_geometry::{quadratic, topology};
use standoff_linalg::Vec3;
use std::f64::consts::PI;

/// What all bodies have in vertices, elements and surfaces.
#[derive(Default)]
pub(crate) struct Collected {
    pub bodies: Vec<Body>,
    /// Rest positions, start positions and velocities of all vertices.
    pub rest: Vec<Vec3>,
    pub start: Vec<Vec3>,
    pub velocity: Vec<Vec3>,
    pub deformable: Vec<bool>,
    /// Half of each vertex's thickness in contact, m.
    pub half_thickness: Vec<f64>,
    pub codim: CodimLists,
    /// Triangles under plane strain.
    pub plane: ElementList<PlaneStrain, 3>,
    /// Triangles of bodies of revolution.
    pub rings: ElementList<Axisymmetric, 3>,
    /// Whether laws without a barrier against inversion are given one.
    guarded: bool,
    pub frames: MaterialFrames,
    /// The two triangles of each hinge.
    pub hinge_sides: Vec<[u32; 2]>,
    /// The triangle of each shape operator.
    pub operator_triangles: Vec<u32>,
    /// Edges of shells with shape operators.
    shell_edges: Vec<ShellEdge>,
    /// Moments of inertia of the normals of edges over the square of their lengths, kg.
    edge_masses: Vec<f64>,
    /// Masses of all but tetrahedra, kg.
    pub mass: Vec<f64>,
    /// Volume of all but tetrahedra, m³.
    pub volume: f64,
    /// Boundaries of solids, shells and obstacles.
    pub faces: Vec<[u32; 3]>,
    /// The triangles that touch, with carried surfaces in place of the boundaries of what carries them.
    pub touching: Vec<[u32; 3]>,
    /// How carried vertices follow from the others.
    pub map: VertexMap,
    /// Regions that joints make rigid.
    pub grips: Grips,
    /// What is tied.
    pub ties: Vec<Tie>,
    /// Number of the vertices of the definition, before those of grips.
    pub visible: usize,
    pub wires: Vec<[u32; 2]>,
    pub points: Vec<u32>,
    /// In two dimensions all edges, those of solids with the inside on the left.
    pub outline: Vec<[u32; 2]>,
    planar: bool,
    axisymmetric: bool,
    pub(super) tets: Vec<[u32; 4]>,
    pub(super) densities: Vec<f64>,
    pub(super) materials: Vec<Material>,
    /// See `Model::weight_excess`.
    pub weight_excess: Vec<f64>,
    /// Quadratic tetrahedra with density and material.
    pub(super) quadratic: Vec<([u32; NODES], f64, Material)>,
    /// Quadratic triangles of solids in two dimensions.
    quadratic_triangles: ElementList<QuadraticTriangle, TRIANGLE_NODES>,
    /// Densities of the segments of rods, kg/m³.
    rod_densities: Vec<f64>,
}

impl Collected {
    /// Checks and joins the bodies of a definition; angles of rods are not among the vertices yet.
    pub fn new(definition: &Definition) -> Result<Self, BuildError> {
        let guarded = definition.settings.solver.guards_inversion();
        let planar = definition.dimension.is_planar();
        let axisymmetric = definition.dimension.is_axisymmetric();
        let mut all = Self { guarded, planar, axisymmetric, ..Self::default() };
        for body in &definition.bodies {
            check(body)?;
            all.add(body)?;
        }
        all.visible = all.rest.len();
        Ok(all)
    }

    /// Numbers quadratic elements and gives rigid bodies their stiffness, when there are no more bodies.
    pub fn complete(&mut self, definition: &Definition) {
        let linear = self.solid_count();
        for body in self.bodies.iter_mut().filter(|b| b.quadratic) {
            // they are numbered after all others
            body.solids = body.solids.start + linear..body.solids.end + linear;
        }
        self.stiffen_rigid_bodies(definition);
    }

    /// Gives rigid bodies their stiffness, when the mass of all is known.
    fn stiffen_rigid_bodies(&mut self, definition: &Definition) {
        let volume = |tet: &[u32; 4]| tet_volume(&tet.map(|v| self.rest[v as usize]));
        let solids = self.tets.iter().zip(&self.densities).map(|(tet, rho)| rho * volume(tet));
        let total = self.mass.iter().sum::<f64>() + solids.sum::<f64>();
        // the vertices of grips have not handed their masses over yet
        let rigidity =
            Rigidity::of(definition, total - self.grips.all.iter().map(|g| g.mass).sum::<f64>());
        for (k, body) in self.bodies.iter().enumerate().filter(|(_, b)| b.rigid) {
            for e in body.solids.clone() {
                let x = self.tets[e].map(|v| self.rest[v as usize]);
                let volume = tet_volume(&x);
                // what a grip has to move is the body to which it belongs
                let mass = self.grips.owner_mass(k).unwrap_or(self.densities[e] * volume);
                self.materials[e] = rigidity.material(&x, mass, volume);
            }
        }
    }

    // long: an arm for each kind of body
    fn add(&mut self, body: &BodyDef) -> Result<(), BuildError> {
        let first = self.rest.len();
        let (first_solid, first_triangle) = (self.solid_count(), self.codim.membranes.len());
        let first_quadratic = self.quadratic_count();
        let first_segment = self.frames.len();
        self.rest.extend_from_slice(&body.rest);
        self.start.extend_from_slice(if body.start.is_empty() { &body.rest } else { &body.start });
        self.velocity.extend_from_slice(&body.velocity);
        let n = self.rest.len();
        self.velocity.resize(n, Vec3::zeros());
        self.mass.resize(n, 0.0);
        self.half_thickness.resize(n, 0.5 * body.contact_thickness);
        let obstacle = matches!(body.kind, BodyKind::Obstacle { .. });
        self.deformable.resize(n, !obstacle);
        let shift = |v: u32| v + first as u32;
        let first_face = self.faces.len();
        match &body.kind {
            BodyKind::Volume { tets, middles, .. } => {
                let nodes = quadratic::nodes(tets, middles);
                for ((e, tet), of) in tets.iter().enumerate().zip(body.substances()) {
                    let law = of.material.clone();
                    if let Some(nodes) = nodes.get(e) {
                        self.quadratic.push((nodes.map(shift), of.density, law));
                        continue;
                    }
                    self.tets.push(tet.map(shift));
                    self.densities.push(of.density);
                    self.materials.push(law);
                }
                let boundary = quadratic::boundary(tets, middles).map_err(|e| problem(body, e))?;
                self.faces.extend(boundary.iter().map(|f| f.map(shift)));
            }
            BodyKind::Rigid { mass } => self.add_rigid(body, *mass, first),
            BodyKind::PlaneStrain { triangles, middles, .. } => {
                match middles[..] {
                    [] => self.add_plane(body, triangles, first as u32)?,
                    _ => self.add_curved_plane(body, triangles, middles, first as u32)?,
                }
                let outline =
                    quadratic::outline(triangles, middles).map_err(|e| problem(body, e))?;
                self.wires.extend(outline.iter().map(|e| e.map(shift)));
                self.outline.extend(outline.iter().map(|e| e.map(shift)));
            }
            BodyKind::Shell { triangles, material } => {
                self.add_shell(body, triangles, material, first as u32)?;
                self.faces.extend(triangles.iter().map(|f| f.map(shift)));
            }
            BodyKind::Rod { segments, material, density, straight, natural_twist } => {
                topology::check_cells(segments, body.rest.len()).map_err(|e| problem(body, e))?;
                let shape = RodShape {
                    material: *material,
                    straight: *straight,
                    natural_twist: *natural_twist,
                };
                self.add_rods(body, segments, &shape, *density, first as u32)?;
                self.wires.extend(segments.iter().map(|e| e.map(shift)));
            }
            BodyKind::Particles { points, radius, density } => {
                let volume = 4.0 / 3.0 * PI * radius.powi(3);
                for &p in points {
                    self.mass[shift(p) as usize] = density * volume;
                    self.volume += volume;
                }
                self.points.extend(points.iter().map(|&p| shift(p)));
            }
            BodyKind::Obstacle { triangles, edges, points } => {
                self.faces.extend(triangles.iter().map(|f| f.map(shift)));
                self.wires.extend(edges.iter().map(|e| e.map(shift)));
                self.points.extend(points.iter().map(|&p| shift(p)));
                if self.planar {
                    self.outline.extend(edges.iter().map(|e| e.map(shift)));
                }
            }
        }
        match &body.surface {
            Some(surface) => self.carry(body, surface, first)?,
            None => self.touching.extend_from_slice(&self.faces[first_face..]),
        }
        let place = Body::new(body, first);
        let solids = match place.quadratic {
            true => first_quadratic..self.quadratic_count(),
            false => first_solid..self.solid_count(),
        };
        self.bodies.push(Body {
            solids,
            triangles: first_triangle..self.codim.membranes.len(),
            segments: first_segment..self.frames.len(),
            ..place
        });
        Ok(())
    }

    /// Number of elements of solids that are not quadratic.
    pub(super) fn solid_count(&self) -> usize {
        self.tets.len() + self.plane.len() + self.rings.len()
    }

    /// Number of quadratic elements: tetrahedra, or triangles in two dimensions.
    fn quadratic_count(&self) -> usize {
        self.quadratic.len() + self.quadratic_triangles.len()
    }

    /// Adds the surface that a body carries, the vertices of the body beginning at `first`, and puts its vertices where they belong.
    fn carry(
        &mut self,
        body: &BodyDef,
        surface: &CarriedSurface,
        first: usize,
    ) -> Result<(), BuildError> {
        let count = surface.on.len();
        topology::check_cells(&surface.triangles, count).map_err(|e| problem(body, e))?;
        surface.check(&body.unknowns()).map_err(|e| problem(body, e))?;
        let carried = first + body.carried().start;
        let mut map = VertexMap::default();
        for (k, (on, weights)) in surface.on.iter().zip(surface.weights.iter()).enumerate() {
            let (vertex, on) = ((carried + k) as u32, on.map(|v| v + first as u32));
            map.push(vertex, &on, weights);
            self.map.push(vertex, &on, weights);
        }
        for of in [&mut self.rest, &mut self.start, &mut self.velocity] {
            map.spread(of);
        }
        let triangles = surface.triangles.iter();
        let touching = triangles.map(|t| t.map(|v| v + carried as u32));
        if matches!(body.kind, BodyKind::Rigid { .. }) {
            self.faces.extend(touching.clone());
        }
        self.touching.extend(touching);
        Ok(())
    }

    /// A rigid body as a tetrahedron of its control points, which has a mass of m/4 at each.
    fn add_rigid(&mut self, body: &BodyDef, mass: f64, first: usize) {
        let control = body.unknowns();
        let tet: [u32; CONTROL_POINTS] =
            std::array::from_fn(|k| (first + control.start + k) as u32);
        let x: [Vec3; CONTROL_POINTS] = std::array::from_fn(|k| body.rest[control.start + k]);
        self.tets.push(tet);
        self.densities.push(mass / tet_volume(&x));
        // see `stiffen_rigid_bodies`
        self.materials.push(orthogonality(1.0));
    }

    /// A solid of triangles, per metre of depth or of revolution. The masses of a ring are ∫ ρ Nₐ 2πR dA.
    fn add_plane(
        &mut self,
        body: &BodyDef,
        triangles: &[[u32; 3]],
        first: u32,
    ) -> Result<(), BuildError> {
        topology::check_cells(triangles, body.rest.len()).map_err(|e| problem(body, e))?;
        for ((t, triangle), of) in triangles.iter().enumerate().zip(body.substances()) {
            let rest = triangle.map(|v| body.rest[v as usize]);
            let ids = triangle.map(|v| v + first);
            let (guarded, law) = (self.guarded, of.material);
            let size = match self.axisymmetric {
                true => Axisymmetric::new(&rest, law, guarded).map(|ring| {
                    let volume = ring.volume();
                    self.rings.push(ids, ring);
                    volume
                }),
                false => PlaneStrain::new(&rest, law, guarded).map(|plane| {
                    let area = plane.area();
                    self.plane.push(ids, plane);
                    area
                }),
            };
            let Some(size) = size else {
                return Err(problem(body, turned(t, triangle, "at rest")));
            };
            let radii: f64 = rest.iter().map(|p| p.x).sum();
            for (v, p) in ids.iter().zip(&rest) {
                self.mass[*v as usize] += match self.axisymmetric {
                    true => of.density * size * 0.25 * (1.0 + p.x / radii),
                    false => of.density * size / 3.0,
                };
            }
            self.volume += size;
        }
        Ok(())
    }

    /// A solid of quadratic triangles, per metre of depth or of revolution.
    fn add_curved_plane(
        &mut self,
        body: &BodyDef,
        triangles: &[[u32; 3]],
        middles: &[[u32; 3]],
        first: u32,
    ) -> Result<(), BuildError> {
        topology::check_cells(triangles, body.rest.len()).map_err(|e| problem(body, e))?;
        self.weight_excess.resize(self.rest.len(), 0.0);
        let nodes = quadratic::triangle_nodes(triangles, middles);
        for ((t, nodes), of) in nodes.iter().enumerate().zip(body.substances()) {
            let (is_ring, guarded) = (self.axisymmetric, self.guarded);
            let rest = nodes.map(|v| body.rest[v as usize]);
            let Some(element) = QuadraticTriangle::new(&rest, of.material, is_ring, guarded) else {
                return Err(problem(body, bent(t, &triangles[t], "at rest")));
            };
            let [weights, masses] = QuadraticTriangle::shares(&rest, is_ring);
            let ids = nodes.map(|v| v + first);
            for (n, &v) in ids.iter().enumerate() {
                self.mass[v as usize] += of.density * masses[n];
                self.weight_excess[v as usize] += of.density * (weights[n] - masses[n]);
            }
            self.volume += element.volume();
            self.quadratic_triangles.push(ids, element);
        }
        Ok(())
    }

    /// The vertices of bodies of revolution on the axis.
    pub fn axis(&self) -> Vec<u32> {
        let on = |v: &u32| self.deformable[*v as usize] && self.rest[*v as usize].x == 0.0;
        match self.axisymmetric {
            true => (0..self.rest.len() as u32).filter(on).collect(),
            false => Vec::new(),
        }
    }

    fn add_shell(
        &mut self,
        body: &BodyDef,
        triangles: &[[u32; 3]],
        material: &ShellMaterial,
        first: u32,
    ) -> Result<(), BuildError> {
        topology::check_cells(triangles, body.rest.len()).map_err(|e| problem(body, e))?;
        for (t, triangle) in triangles.iter().enumerate() {
            let rest = triangle.map(|v| body.rest[v as usize]);
            let membrane = Membrane::new(&rest, material.thickness, material.sheet, material.fibre);
            let Some(mut membrane) = membrane else {
                let area = (rest[1] - rest[0]).cross(&(rest[2] - rest[0])).norm();
                let what = if area > 0.0 && material.fibre.is_some() {
                    "is perpendicular to the direction of the fibres; choose another direction"
                } else {
                    "has no area at rest; repair the mesh"
                };
                let triangle = format!("triangle {t} (vertices {triangle:?}) {what}");
                return Err(problem(body, triangle));
            };
            membrane.limit = material.stretch_limit;
            let ids = triangle.map(|v| v + first);
            for v in ids {
                self.mass[v as usize] += material.density * membrane.volume() / 3.0;
            }
            self.volume += membrane.volume();
            self.codim.membranes.push(ids, membrane);
        }
        match material.bending_model {
            BendingModel::Hinge => self.add_hinges(body, triangles, material, first),
            BendingModel::ShapeOperator => self.add_operators(body, triangles, material, first),
        }
        Ok(())
    }

    fn add_hinges(
        &mut self,
        body: &BodyDef,
        triangles: &[[u32; 3]],
        material: &ShellMaterial,
        first: u32,
    ) {
        let base = (self.codim.membranes.len() - triangles.len()) as u32;
        for (hinge, sides) in hinges(triangles) {
            self.hinge_sides.push(sides.map(|t| t + base));
            let rest = hinge.map(|v| body.rest[v as usize]);
            let angle = material.flat.then_some(0.0);
            let element = Hinge::new(&rest, material.bending_modulus, angle);
            self.codim.hinges.push(hinge.map(|v| v + first), element);
        }
    }

    /// A shape operator for every triangle. The normal of an edge stands between those of its
    /// triangles at rest; where the sheet is flat at rest, it is theirs. Its mass is the rotary inertia
    /// ρ ξ³/12 of a third of each triangle beside it.
    // long: edges, and then the triangles that share them
    fn add_operators(
        &mut self,
        body: &BodyDef,
        triangles: &[[u32; 3]],
        material: &ShellMaterial,
        first: u32,
    ) {
        let x = &body.rest;
        let base = self.codim.membranes.len() - triangles.len();
        let edges = self.shell_edges.len() as u32;
        let mut of_triangle = vec![[(0, false, 0.0); 3]; triangles.len()];
        for (number, at_edge) in (edges..).zip(sides(triangles).chunk_by(|a, b| a.0 == b.0)) {
            let ends = at_edge[0].0;
            let [a, b] = ends.map(|v| x[v as usize]);
            // about the edge, the triangles on its two sides have opposite normals
            let mut own: Vec<Side> = (0..at_edge.len())
                .map(|k| Side { opposite: at_edge[k].2, rest_angle: if k == 0 { 0.0 } else { PI } })
                .collect();
            if !material.flat {
                let normal = edge_normal(&ends, &own, x);
                for side in &mut own {
                    let n = side_normal(&(b - a), &(x[side.opposite as usize] - a));
                    side.rest_angle = angle_about(&(b - a).normalize(), &n, &normal);
                }
            }
            let length = (b - a).norm();
            let mut inertia = 0.0;
            for (side, &(_, t, opposite)) in own.iter().zip(at_edge) {
                let f = &triangles[t];
                let k = (0..3).find(|&k| f[k] == opposite).unwrap_or(0);
                let reversed = f[ENDS[k][0]] != ends[0];
                of_triangle[t][k] = (number, reversed, side.rest_angle);
                let mass = material.density * self.codim.membranes.elements[base + t].volume();
                inertia += mass * material.thickness.powi(2) / 36.0;
            }
            self.edge_masses.push(inertia / (length * length));
            own.iter_mut().for_each(|s| s.opposite += first);
            let ends = ends.map(|v| v + first);
            self.shell_edges.push(ShellEdge { ends, length, sides: own });
        }
        for (t, (f, edges)) in triangles.iter().zip(&of_triangle).enumerate() {
            let operator = ShapeOperator::new(
                &f.map(|v| x[v as usize]),
                material.bending_modulus,
                material.poisson_ratio,
                edges.map(|e| e.1),
                edges.map(|e| e.2),
            );
            let [a, b, c] = f.map(|v| v + first);
            let [p, q, r] = edges.map(|e| e.0);
            self.codim.shape_operators.push([a, b, c, p, q, r], operator);
            self.operator_triangles.push((base + t) as u32);
        }
    }

    fn add_rods(
        &mut self,
        body: &BodyDef,
        segments: &[[u32; 2]],
        shape: &RodShape,
        density: f64,
        first: u32,
    ) -> Result<(), BuildError> {
        let RodMaterial { radius, young_modulus, .. } = shape.material;
        let length = |e: &[u32; 2]| (body.rest[e[1] as usize] - body.rest[e[0] as usize]).norm();
        if let Some(k) = segments.iter().position(|e| length(e) == 0.0) {
            let segment = format!("segment {k} (vertices {:?}) has no length", segments[k]);
            return Err(problem(body, segment));
        }
        let mut chains = Chains::new(segments, &body.rest);
        for e in &mut chains.segments {
            let l = length(e);
            let mass = density * PI * radius * radius * l;
            *e = e.map(|v| v + first);
            for &v in &*e {
                self.mass[v as usize] += 0.5 * mass;
            }
            self.volume += mass / density;
            self.rod_densities.push(density);
            self.codim.segments.push(*e, Segment::new(l, radius, young_modulus));
        }
        self.frames.add_rods(&chains, shape, &self.rest, &mut self.codim.rod_joints);
        Ok(())
    }

    /// The elements of solids, with or without a barrier against inversion; the masses of tetrahedra are added to those of the
    /// vertices.
    pub fn build_solids(&mut self, solver: &SolverSettings) -> Result<Solids, BuildError> {
        let vertices = self.tets.clone();
        let bodies = &self.bodies;
        let elastic = ElasticTets::new(&self.rest, std::mem::take(&mut self.tets), &self.materials)
            .map_err(|error| {
                let (element, what) = match error {
                    TetError::Inverted { element } => (element, "inverted at rest"),
                    TetError::Degenerate { element } => (element, "flat at rest"),
                    other => {
                        return BuildError::Body {
                            body: String::new(),
                            problem: other.to_string(),
                        };
                    }
                };
                bad_element(bodies, element, vertices[element], what)
            })?;
        elastic.add_lumped_mass(&self.densities, &mut self.mass);
        self.volume += elastic.elements.iter().map(|e| e.volume()).sum::<f64>();
        let quadratic = self.build_quadratic(solver)?;
        let tets = match (solver.allow_inversion, solver.inversion_barrier) {
            (true, _) => elastic.invertible(),
            (false, true) => elastic,
            (false, false) => elastic.without_inversion_barrier(),
        };
        let plane = std::mem::take(&mut self.plane).finish(self.rest.len());
        let rings = std::mem::take(&mut self.rings).finish(self.rest.len());
        let triangles = std::mem::take(&mut self.quadratic_triangles);
        let quadratic_triangles = triangles.finish(self.rest.len());
        Ok(Solids { tets, plane, rings, quadratic, quadratic_triangles })
    }

    /// Quadratic tetrahedra; their masses are added to those of the vertices.
    fn build_quadratic(&mut self, solver: &SolverSettings) -> Result<QuadraticTets, BuildError> {
        let mut list = ElementList::default();
        let linear = self.bodies.iter().filter(|b| !b.quadratic).map(|b| b.solids.end).max();
        for (e, (nodes, rho, material)) in std::mem::take(&mut self.quadratic).iter().enumerate() {
            let rest = nodes.map(|v| self.rest[v as usize]);
            let Some(element) = QuadraticTet::new(&rest, material) else {
                let number = linear.unwrap_or(0) + e;
                let corners = [0, 1, 2, 3].map(|a| nodes[a]);
                let what = "inverted, flat or bent too far somewhere within at rest";
                return Err(bad_element(&self.bodies, number, corners, what));
            };
            self.weight_excess.resize(self.rest.len(), 0.0);
            let weights = element.weight_volumes();
            for (n, &v) in nodes.iter().enumerate() {
                let mass = rho * element.volume() * QuadraticTet::mass_part(n);
                self.mass[v as usize] += mass;
                self.weight_excess[v as usize] += rho * weights[n] - mass;
            }
            self.volume += element.volume();
            list.push(
                *nodes,
                match solver.inversion_barrier {
                    true => element,
                    false => element.without_inversion_barrier(),
                },
            );
        }
        // in terms of the mass
        self.weight_excess
            .iter_mut()
            .zip(&self.mass)
            .for_each(|(w, m)| *w /= m.max(f64::MIN_POSITIVE));
        Ok(list.finish(self.rest.len()))
    }

    /// Puts the angles of rods behind the vertices of all bodies, each with half of its segment's
    /// mass, and those of the edges of shells.
    pub fn append_angles(&mut self) {
        let positions = self.rest.len();
        for k in 0..self.frames.len() {
            let length = self.codim.segments.elements[k].rest_length();
            let area = PI * self.frames.lever[k].powi(2);
            self.mass.push(0.5 * self.rod_densities[k] * area * length);
        }
        self.mass.append(&mut self.edge_masses);
        self.frames.add_shell_edges(std::mem::take(&mut self.shell_edges));
        self.frames.number_angles(positions, &mut self.codim);
        let n = self.mass.len();
        for list in [&mut self.rest, &mut self.start, &mut self.velocity] {
            list.resize(n, Vec3::zeros());
        }
        self.deformable.resize(n, true);
        self.half_thickness.resize(n, 0.0);
    }
}

/// What is wrong with element `number` of solids.
fn bad_element(
    bodies: &[Body],
    number: usize,
    vertices: [u32; 4],
    what: &'static str,
) -> BuildError {
    let own = bodies.iter().find(|b| b.solids.contains(&number));
    let (name, first, element) = own.map_or((String::new(), 0, number), |b| {
        (b.name.clone(), b.vertices.start as u32, number - b.solids.start)
    });
    let vertices = vertices.map(|v| v - first);
    BuildError::Element { body: name, element: element as u32, vertices, what }
}

pub(super) fn tet_volume(x: &[Vec3; 4]) -> f64 {
    (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0
}

/// The hinges of a surface, one for each edge of two triangles: its ends, then the opposite corners
/// of the triangles that go along it forwards and backwards. Where more than two meet, each is
/// joined to the next one. Also the two triangles.
fn hinges(triangles: &[[u32; 3]]) -> Vec<([u32; 4], [u32; 2])> {
    let mut out = Vec::new();
    for same in sides(triangles).chunk_by(|a, b| a.0 == b.0) {
        for pair in same.windows(2) {
            let [a, b] = pair[0].0;
            let sides = [pair[0].1 as u32, pair[1].1 as u32];
            out.push(([a, b, pair[0].2, pair[1].2], sides));
        }
    }
    out
}

/// Edges with ascending ends, triangle and opposite corner of all sides of triangles, in order.
fn sides(triangles: &[[u32; 3]]) -> Vec<([u32; 2], usize, u32)> {
    let mut sides: Vec<([u32; 2], usize, u32)> = Vec::with_capacity(3 * triangles.len());
    for (t, f) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (f[k], f[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], t, f[(k + 2) % 3]));
        }
    }
    sides.sort_unstable();
    sides
}

fn turned(triangle: usize, vertices: &[u32; 3], when: &str) -> String {
    format!(
        "triangle {triangle} (vertices {vertices:?}) is clockwise or flat {when}; repair the mesh or \
         reorder the triangle's vertices so that it is counter-clockwise"
    )
}

fn bent(triangle: usize, corners: &[u32; 3], when: &str) -> String {
    format!(
        "quadratic triangle {triangle} (corners {corners:?}) is clockwise, flat or bent too far somewhere within {when}, or reaches behind the axis of a \
         body of revolution; repair the mesh, or choose element = \"linear\""
    )
}

fn problem(body: &BodyDef, what: impl ToString) -> BuildError {
    BuildError::Body { body: body.name.clone(), problem: what.to_string() }
}

// long: an arm for each kind of body
fn check(body: &BodyDef) -> Result<(), BuildError> {
    let err = |problem: String| Err(BuildError::Body { body: body.name.clone(), problem });
    let n = body.rest.len();
    if n == 0 {
        return err("it has no vertices".into());
    }
    for (what, array) in [("start", &body.start), ("velocity", &body.velocity)] {
        if !array.is_empty() && array.len() != n {
            return err(format!("`{what}` has {} entries for {n} vertices", array.len()));
        }
    }
    let carries = matches!(body.kind, BodyKind::Volume { .. } | BodyKind::Rigid { .. });
    if body.surface.is_some() && !carries {
        return err("only a volume or a rigid body carries a surface".into());
    }
    if body.carried_count() > n {
        return err("it has fewer vertices than the surface that it carries".into());
    }
    if let BodyKind::Rigid { .. } = body.kind
        && (body.surface.is_none() || body.unknowns().len() != CONTROL_POINTS)
    {
        return err(
            "a rigid body needs a surface that four control points carry, see `BodyDef::rigid`"
                .into(),
        );
    }
    let n = body.unknowns().end;
    let indices: Box<dyn Iterator<Item = u32>> = match &body.kind {
        BodyKind::Volume { tets, middles, .. } => {
            if tets.is_empty() {
                return err("a volume needs tetrahedra".into());
            }
            if let Some(what) = quadratic::misfit(tets, middles) {
                return err(what);
            }
            if !middles.is_empty() && body.surface.is_some() {
                return err("a body of quadratic elements carries no surface".into());
            }
            Box::new(tets.iter().flatten().chain(middles.iter().flatten()).copied())
        }
        BodyKind::Rigid { .. } => Box::new(std::iter::empty()),
        BodyKind::PlaneStrain { triangles, middles, .. } => {
            if triangles.is_empty() {
                return err("a solid in the plane needs triangles".into());
            }
            if let Some(what) = quadratic::misfit(triangles, middles) {
                return err(what);
            }
            Box::new(triangles.iter().flatten().chain(middles.iter().flatten()).copied())
        }
        BodyKind::Shell { triangles, .. } => {
            if triangles.is_empty() {
                return err("a shell needs triangles".into());
            }
            Box::new(triangles.iter().flatten().copied())
        }
        BodyKind::Rod { segments, .. } => {
            if segments.is_empty() {
                return err("a rod needs segments".into());
            }
            Box::new(segments.iter().flatten().copied())
        }
        BodyKind::Particles { points, .. } => {
            if points.is_empty() {
                return err("particles need points".into());
            }
            Box::new(points.iter().copied())
        }
        BodyKind::Obstacle { triangles, edges, points } => {
            if triangles.is_empty() && edges.is_empty() && points.is_empty() {
                return err("an obstacle needs triangles, edges or points".into());
            }
            Box::new(
                triangles
                    .iter()
                    .flatten()
                    .chain(edges.iter().flatten())
                    .chain(points.iter())
                    .copied(),
            )
        }
    };
    if let Some(bad) = indices.into_iter().find(|&i| i as usize >= n) {
        return err(format!("an element refers to vertex {bad}, but there are only {n} vertices"));
    }
    Ok(())
}

pub(crate) fn check_start(bodies: &[Body], solids: &Solids, x: &[Vec3]) -> Result<(), BuildError> {
    for body in bodies {
        let (name, first) = (|| body.name.clone(), body.vertices.start as u32);
        for (k, e) in body.solids.clone().enumerate() {
            if let Ok(nodes) = <[u32; NODES]>::try_from(solids.vertices(e)) {
                if !QuadraticTet::is_positive(&nodes.map(|v| x[v as usize])) {
                    let corners = [0, 1, 2, 3].map(|a| nodes[a]);
                    let what = "inverted, flat or bent too far somewhere within at the start";
                    return Err(bad_element(bodies, e, corners, what));
                }
                continue;
            }
            if let Ok(nodes) = <[u32; TRIANGLE_NODES]>::try_from(solids.vertices(e)) {
                if !QuadraticTriangle::is_positive(&nodes.map(|v| x[v as usize])) {
                    let problem = bent(k, &[0, 1, 2].map(|a| nodes[a] - first), "at the start");
                    return Err(BuildError::Body { body: name(), problem });
                }
                continue;
            }
            // a scene has only one of the other kinds
            let plane = solids.plane.vertices().get(e);
            if let Some(global) = plane.or(solids.rings.vertices().get(e)) {
                let [a, b, c] = global.map(|v| x[v as usize]);
                if (b - a).cross(&(c - a)).z <= 0.0 {
                    let problem = turned(k, &global.map(|v| v - first), "at the start");
                    return Err(BuildError::Body { body: name(), problem });
                }
            }
            if let Some(global) = solids.tets.vertices().get(e) {
                let p = global.map(|v| x[v as usize]);
                if tet_volume(&p) <= 0.0 {
                    return Err(BuildError::Element {
                        body: name(),
                        element: k as u32,
                        vertices: global.map(|v| v - first),
                        what: "inverted or flat at the start",
                    });
                }
            }
        }
    }
    Ok(())
}

/// A vertex without an element, or of elements too light for a number, has no mass and would make the
/// system singular.
pub(crate) fn check_masses(
    bodies: &[Body],
    deformable: &[bool],
    mass: &[f64],
) -> Result<(), BuildError> {
    for body in bodies {
        let massless = |v: &usize| deformable[*v] && !(mass[*v] > 0.0 && mass[*v].is_finite());
        let unknowns = body.unknowns.clone();
        let Some(v) = unknowns.clone().find(massless) else { continue };
        let vertex = v - body.vertices.start;
        let problem = match unknowns.clone().all(|v| massless(&v)) {
            true => format!(
                "vertex {vertex} has the mass {} kg: elements of this size and density have masses \
                 that no number holds; check units of mesh and density",
                mass[v]
            ),
            false => format!("vertex {vertex} belongs to no element; remove it from the mesh"),
        };
        return Err(BuildError::Body { body: body.name.clone(), problem });
    }
    Ok(())
}
