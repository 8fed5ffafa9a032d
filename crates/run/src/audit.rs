//! The audit of a run's frames.

use crate::checksum::{Integrity, integrity};
use crate::files::{frame_file, listed_frames};
use crate::{BodyInfo, Frame, OutputError, RunInfo, frame_files, read_frame};
use standoff_geometry::audit::{Enclosure, Parts};
use standoff_geometry::quadratic;
use standoff_geometry::topology::boundary_edges;
use standoff_geometry::{CollisionMesh, Grip};
use standoff_linalg::Vec3;
use standoff_sim::audit::{
    AuditScene, StrainLimit, Violation, allowed_inversions, by_thickness, violations,
};
use standoff_sim::contact::HalfSpace;
use standoff_sim::names::Names;
use standoff_sim::threads;
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What the audit of a run found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Frames looked at.
    pub frames: usize,
    /// Frames with a fault.
    pub bad_frames: usize,
    /// Faults in all.
    pub faults: usize,
    /// Half-spaces of the run.
    pub half_spaces: usize,
    /// Whether anything could touch anything: intersections are no faults else.
    pub contact: bool,
    /// Inverted tetrahedra of all frames together, and frames that have some, where the scene allows them.
    pub inverted: Option<(usize, usize)>,
}

impl AuditReport {
    /// Adds the inverted tetrahedra of a frame, where they are allowed.
    fn add_inversions(&mut self, count: usize) {
        if let Some((all, frames)) = &mut self.inverted {
            *all += count;
            *frames += usize::from(count > 0);
        }
    }
}

/// What is wrong with a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameFaults {
    /// Its file.
    pub file: PathBuf,
    /// One sentence each, not empty.
    pub faults: Vec<String>,
}

/// Re-checks every frame of the run in a folder for intersections, inverted elements, vertices behind
/// half-spaces, strains beyond their limits, bodies that got through a closed surface since the first frame, and damage, and looks for frames of `run.pvd` that are missing. `observe`
/// takes every frame with a fault.
///
/// # Errors
/// The folder holds no run, or what its frames belong to cannot be read.
// long: the order in which a run is checked
pub fn audit(
    folder: &Path,
    observe: &mut dyn FnMut(&FrameFaults),
) -> Result<AuditReport, OutputError> {
    threads::start(0)?;
    let info = RunInfo::read(folder)?;
    let files = frame_files(folder)?;
    let (frames, half_spaces) = (files.len(), info.half_spaces.len());
    let mut report =
        AuditReport { frames, half_spaces, contact: info.contact, ..Default::default() };
    report.inverted = info.allow_inversion.then_some((0, 0));
    let mut first: Option<FrameScene<'_>> = None;
    let missing = listed_frames(folder).into_iter().filter(|s| !files.iter().any(|f| f.0 == *s));
    for step in missing {
        report.bad_frames += 1;
        report.faults += 1;
        let faults = vec!["it is missing, although run.pvd lists it".into()];
        observe(&FrameFaults { file: frame_file(folder, step), faults });
    }
    for (_, file) in files {
        let mut faults = match read_frame(&file) {
            Err(error) => vec![error.to_string()],
            Ok(frame) => {
                if first.is_none() {
                    let damaged =
                        |what| OutputError::Damaged { path: folder.join("run.json"), what };
                    first = Some(FrameScene::new(&info, frame.clone()).map_err(damaged)?);
                }
                let faults = first.as_ref().map(|scene| scene.faults(&frame)).unwrap_or_default();
                if let Some(scene) = first.as_ref().filter(|_| faults.is_empty()) {
                    report.add_inversions(scene.allowed_inversions(&frame));
                }
                faults
            }
        };
        match integrity(&file) {
            Integrity::Altered => {
                faults
                    .push("it was altered after it had been written: its checksum is wrong".into());
            }
            Integrity::Truncated if faults.is_empty() => faults.push("its end is missing".into()),
            Integrity::Truncated | Integrity::Whole => {}
        }
        if !faults.is_empty() {
            report.bad_frames += 1;
            report.faults += faults.len();
            observe(&FrameFaults { file, faults });
        }
    }
    Ok(report)
}

/// What the audit has to know of the scene that frames belong to.
struct FrameScene<'a> {
    info: &'a RunInfo,
    /// The first frame, whose elements all the others must have.
    first: Frame,
    collision: CollisionMesh,
    half_spaces: Vec<HalfSpace>,
    half_space_vertices: Vec<(f64, Vec<u32>)>,
    strain_limits: Vec<StrainLimit>,
    /// What lies inside of what in the first frame.
    enclosures: Vec<Enclosure>,
}

impl<'a> FrameScene<'a> {
    /// Takes the elements from a frame and what they belong to from `run.json`.
    fn new(info: &'a RunInfo, first: Frame) -> Result<Self, String> {
        let bodies = ranges(&info.bodies, first.positions.len())?;
        let collision = collision_mesh(info, &bodies, &first)?;
        Ok(Self {
            half_spaces: half_spaces(info)?,
            half_space_vertices: by_thickness(&collision, &collision.mobile),
            strain_limits: strain_limits(info, &bodies, &first),
            enclosures: Parts::new(&collision).enclosures(&first.positions),
            collision,
            info,
            first,
        })
    }

    /// What is wrong with a frame.
    fn faults(&self, frame: &Frame) -> Vec<String> {
        let same = frame.tets == self.first.tets
            && frame.quadratic == self.first.quadratic
            && frame.triangles == self.first.triangles
            && frame.quadratic_triangles == self.first.quadratic_triangles
            && frame.edges == self.first.edges
            && frame.points == self.first.points
            && frame.positions.len() == self.first.positions.len();
        if !same {
            return vec!["its elements differ from those of the first frame".into()];
        }
        let found = violations(self.audited(), &frame.positions);
        let mut faults: Vec<String> = found.iter().map(|v| v.describe(self)).collect();
        faults.extend(self.passages(&frame.positions, &found));
        faults
    }

    /// What has got into or out of a closed surface since the first frame, but for what intersects it now.
    fn passages(&self, x: &[Vec3], found: &[Violation]) -> Vec<String> {
        let parts = Parts::new(&self.collision);
        let of_pair = |v: &Violation| match v {
            Violation::Intersection { a, b } => Some([parts.of(a[0]), parts.of(b[0])]),
            _ => None,
        };
        let meet: HashSet<[u32; 2]> = found.iter().filter_map(of_pair).collect();
        let now = parts.enclosures(x);
        let told = |e: &Enclosure| {
            meet.contains(&[e.inner, e.outer]) || meet.contains(&[e.outer, e.inner])
        };
        let describe = |e: &Enclosure, is: &str, was: &str| {
            let [(inner, v), (outer, w)] = [self.body_of(e.inner), self.body_of(e.outer)];
            format!(
                "'{inner}' (its part with vertex {v}) is {is} the closed surface of '{outer}' (its part with \
                 vertex {w}), {was} which it was in the first frame"
            )
        };
        let entered = now.iter().filter(|e| self.enclosures.binary_search(e).is_err());
        let left = self.enclosures.iter().filter(|e| now.binary_search(e).is_err());
        let entered = entered.filter(|e| !told(e)).map(|e| describe(e, "inside", "outside of"));
        let left = left.filter(|e| !told(e)).map(|e| describe(e, "outside of", "inside of"));
        entered.chain(left).collect()
    }

    /// Inverted tetrahedra that the scene allows.
    fn allowed_inversions(&self, frame: &Frame) -> usize {
        allowed_inversions(self.audited(), &frame.positions)
    }

    fn audited(&self) -> AuditScene<'_> {
        AuditScene {
            collision: &self.collision,
            tets: &self.first.tets,
            quadratic: &self.first.quadratic,
            quadratic_plane: &self.first.quadratic_triangles,
            plane: match self.info.dimension.is_planar() {
                true => &self.first.triangles,
                false => &[],
            },
            half_spaces: &self.half_spaces,
            half_space_vertices: &self.half_space_vertices,
            strain_limits: &self.strain_limits,
            allow_inversion: self.info.allow_inversion,
        }
    }
}

impl Names for FrameScene<'_> {
    fn body_of(&self, vertex: u32) -> (&str, u32) {
        let bodies = &self.info.bodies;
        let body = &bodies[bodies.partition_point(|b| b.first_vertex <= vertex) - 1];
        (&body.name, vertex - body.first_vertex)
    }

    fn half_space(&self, index: usize) -> &str {
        &self.info.half_spaces[index].name
    }
}

/// The half-spaces of a run.
pub(crate) fn half_spaces(info: &RunInfo) -> Result<Vec<HalfSpace>, String> {
    let half_spaces = info.half_spaces.iter().map(|h| {
        let through = HalfSpace::through(Vec3::from(h.origin), Vec3::from(h.normal));
        through.ok_or_else(|| format!("half-space '{}' has no normal", h.name))
    });
    half_spaces.collect()
}

/// The bodies' vertices, which have to follow each other and to be as many as a frame has.
pub(crate) fn ranges(bodies: &[BodyInfo], vertices: usize) -> Result<Vec<Range<usize>>, String> {
    let mut end = 0;
    let mut all = Vec::with_capacity(bodies.len());
    for body in bodies {
        let first = body.first_vertex as usize;
        if first != end || body.vertices == 0 {
            return Err(format!("the vertices of body '{}' are not in order", body.name));
        }
        end += body.vertices as usize;
        all.push(first..end);
    }
    match end == vertices {
        true => Ok(all),
        false => Err(format!("it lists {end} vertices, but the frames have {vertices}")),
    }
}

/// How much further than in the run neighbours at rest ignore each other, as rest positions are differences of what
/// a frame has.
const ROUNDING: f64 = 1.0 + 1e-9;

/// The primitives of a frame that can collide.
pub(crate) fn collision_mesh(
    info: &RunInfo,
    bodies: &[Range<usize>],
    frame: &Frame,
) -> Result<CollisionMesh, String> {
    let n = bodies.len();
    if let Some((a, b)) = info.no_contact.iter().find(|(a, b)| *a >= n || *b >= n) {
        return Err(format!("there are no bodies {a} and {b} to ignore each other"));
    }
    let planar = info.dimension.is_planar();
    let mut mesh = if planar {
        let outline = boundary_edges(&frame.triangles).map_err(|e| e.to_string())?;
        let (corners, middles): (Vec<[u32; 3]>, Vec<[u32; 3]>) = frame
            .quadratic_triangles
            .iter()
            .map(|&[a, b, c, ab, bc, ca]| ([a, b, c], [ab, bc, ca]))
            .unzip();
        let curved = quadratic::outline(&corners, &middles).map_err(|e| e.to_string())?;
        let edges = [outline, curved, frame.edges.clone()].concat();
        CollisionMesh::planar(rest_positions(frame), &edges, &frame.points)
    } else {
        let faces = [frame.boundary(), frame.triangles.clone()].concat();
        CollisionMesh::new(rest_positions(frame), faces, &frame.edges, &frame.points)
    };
    mesh.axisymmetric = info.dimension.is_axisymmetric();
    mesh.body = vec![0; frame.positions.len()];
    let mut half_thickness = vec![0.0; frame.positions.len()];
    for (k, (body, range)) in info.bodies.iter().zip(bodies).enumerate() {
        mesh.body[range.clone()].fill(k as u32);
        mesh.mobile[range.clone()].fill(!body.obstacle && info.contact);
        half_thickness[range.clone()].fill(0.5 * body.contact_thickness);
    }
    if half_thickness.iter().any(|t| *t > 0.0) {
        mesh.half_thickness = half_thickness;
    }
    let grips: Vec<Grip> = info.grips.iter().map(Grip::from).collect();
    let all = frame.positions.len() as u32;
    let exists = |g: &Grip| (g.other as usize) < n && g.vertices.iter().all(|v| *v < all);
    if !grips.iter().all(exists) {
        return Err("a joint holds vertices or bodies that do not exist".into());
    }
    mesh.exclude_grips(&grips);
    mesh.exclude(bodies, &info.no_contact, !info.self_contact);
    mesh.exclude_neighbours(ROUNDING);
    Ok(mesh)
}

/// Positions without displacement, m; the positions where the frame has none.
fn rest_positions(frame: &Frame) -> Vec<Vec3> {
    match frame.displacement.len() == frame.positions.len() {
        true => frame.positions.iter().zip(&frame.displacement).map(|(x, u)| x - u).collect(),
        false => frame.positions.clone(),
    }
}

fn strain_limits(info: &RunInfo, bodies: &[Range<usize>], frame: &Frame) -> Vec<StrainLimit> {
    let rest = rest_positions(frame);
    let mut all = Vec::new();
    for (body, range) in info.bodies.iter().zip(bodies) {
        let Some(limits) = &body.limits else { continue };
        let own = frame.triangles.iter().filter(|t| range.contains(&(t[0] as usize)));
        all.extend(own.map(|t| StrainLimit {
            vertices: *t,
            rest: t.map(|v| rest[v as usize]),
            stretch: limits.stretch,
            strain: limits.strain,
            fibre: limits.fibre.map(Vec3::from),
        }));
    }
    all
}
