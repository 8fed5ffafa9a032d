//! Tetrahedra inside closed surfaces.
//!
//! [`fill`] fills a closed surface with tetrahedra of a given size by isosurface stuffing
//! [Labelle 2007]: a regular lattice of tetrahedra, whose points near the surface are moved onto it and
//! which is cut where the surface still crosses it. Whatever the surface is, every dihedral angle is
//! between 10° and 170°. Afterwards vertices are moved onto the sharp edges and corners of the surface
//! wherever the angles allow it, and to where the angles get better.
//!
//! The same surface and size give the same bits. What the result promises is checked before it is
//! returned: angles, distance between the surfaces, a boundary that is a closed manifold and does not
//! intersect itself.

mod deviation;
mod embedding;
mod error;
mod lattice;
mod manifold;
mod shape;
mod stuffing;
mod surface;
pub mod tree;

pub use deviation::{Distance, largest_distance};
pub use embedding::Embedding;
pub use error::{At, FillError, Hole};
pub use surface::{SHARP, Surface};

use shape::Shaper;
use standoff_linalg::Vec3;
use standoff_mesh::{Mesh, Region, tet_determinant, tet_quality};
use stuffing::stuff;
use tree::Tree;

/// Smallest dihedral angle that a filled mesh has, degrees; the largest is its supplement.
pub const LEAST_ANGLE: f64 = 10.0;

/// Sharp edges count as kept where the filled surface is within this part of the size.
pub const KEPT: f64 = 0.1;

/// How to fill a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Length of the longer edges inside, m; the others are shorter by 13 %.
    pub size: f64,
    /// Largest distance between the surfaces, either way, m.
    pub deviation: f64,
}

impl Options {
    /// Tetrahedra of a size (m), and a quarter of it as the largest distance.
    pub fn new(size: f64) -> Self {
        Self { size, deviation: size / 4.0 }
    }
}

/// A filled surface.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The tetrahedra, with the regions of the surface's mesh as sets of their vertices.
    pub mesh: Mesh,
    /// The surface that was filled.
    pub surface: Surface,
    /// What there is to say about it.
    pub report: Report,
}

/// What there is to say about a filled surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The requested size, m.
    pub size: f64,
    /// The size that was used: less, where tetrahedra of the requested size would be too far from the
    /// surface, m.
    pub used: f64,
    /// The deviation that was allowed, m.
    pub allowed: f64,
    /// Number of tetrahedra.
    pub tetrahedra: usize,
    /// Smallest and largest dihedral angle, degrees.
    pub dihedral: (f64, f64),
    /// Dihedral angles by steps of 10°: from 0° to 10°, from 10° to 20°, … (`18`).
    pub histogram: [usize; 18],
    /// Largest distance of the filled surface from the given one.
    pub outwards: Distance,
    /// Largest distance of the given surface from the filled one.
    pub inwards: Distance,
    /// Length of the sharp edges, m.
    pub sharp_length: f64,
    /// Length of the sharp edges that are kept: the filled surface is within [`KEPT`] of the size, m.
    pub sharp_kept: f64,
    /// Largest distance of a sharp edge from the filled surface and where, m.
    pub sharp_lost: Option<(f64, Vec3)>,
    /// Parts of the filled mesh that hang together.
    pub parts: usize,
    /// Whether parts of the surface overlap; what is inside of any of them was filled.
    pub overlaps: bool,
}

impl Report {
    /// What a user should know, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.used < self.size {
            notes.push(format!(
                "the tetrahedra are of {:.4e} m: larger ones would be farther than {:.4e} m from the surface",
                self.used, self.allowed
            ));
        }
        if let Some((distance, at)) = self.sharp_lost {
            let share = 100.0 * (1.0 - self.sharp_kept / self.sharp_length);
            notes.push(format!(
                "{share:.1} % of its sharp edges are rounded off, by up to {distance:.2e} m at {}",
                At(at)
            ));
        }
        if self.parts > 1 {
            notes.push(format!("the tetrahedra make {} separate parts", self.parts));
        }
        if self.overlaps {
            notes.push("parts of the surface overlap; all that is inside of any was filled".into());
        }
        notes
    }
}

/// Fills a closed surface: the triangles of a mesh, or the boundary of its tetrahedra.
///
/// # Errors
/// The surface is not closed, the size does not fit, or parts are lost; see [`FillError`].
pub fn fill(mesh: &Mesh, options: Options) -> Result<Filled, FillError> {
    let Options { size, deviation } = options;
    if !(size > 0.0 && size.is_finite()) {
        return Err(FillError::Size(size));
    }
    // it may be infinite
    if deviation.is_nan() || deviation <= 0.0 {
        return Err(FillError::Deviation(deviation));
    }
    let surface = Surface::new(mesh)?;
    let tree = Tree::new(surface.corners_of_triangles());
    let segment = |[a, b]: &[u32; 2]| [*a, *b, *b].map(|v| surface.points[v as usize]);
    let sharp = Tree::new(surface.sharp.iter().map(segment).collect());
    let mut failure = None;
    // a lattice that misses the surface somewhere may find it when it is a little finer
    for part in [1.0, 0.8, 0.64, 0.5] {
        match fill_with(&surface, &tree, &sharp, part * size, options) {
            Ok((mut filled, report)) => {
                filled.notes = surface.notes.clone();
                filled.regions = regions(mesh, &surface, &tree, &filled);
                return Ok(Filled { mesh: filled, surface, report });
            }
            Err(
                error @ (FillError::Deviates { .. }
                | FillError::TooCoarse { .. }
                | FillError::Intersects { .. }),
            ) => {
                failure.get_or_insert(error);
            }
            Err(error) => return Err(failure.unwrap_or(error)),
        }
    }
    Err(failure.unwrap_or(FillError::NoSurface))
}

/// Parts of the boundary that share no vertex are farther apart than this part of the size.
const LEAST_GAP: f64 = 1e-4;

/// Distances are found to within this part of the size.
const TOLERANCE: f64 = 0.04;

/// Fills a surface with tetrahedra of long edges `a` (m).
fn fill_with(
    surface: &Surface,
    tree: &Tree,
    sharp: &Tree,
    a: f64,
    options: Options,
) -> Result<(Mesh, Report), FillError> {
    let mut stuffed = stuff(surface, tree, a)?;
    manifold::make_manifold(&stuffed.points, &mut stuffed.tets);
    if stuffed.tets.is_empty() {
        let (low, high) = surface.bounds();
        return Err(FillError::TooCoarse { size: options.size, extent: high - low });
    }
    let mut plain = Mesh { points: stuffed.points, tets: stuffed.tets, ..Mesh::default() };
    let kept = plain.compact();
    let on_surface: Vec<bool> = kept.iter().map(|v| stuffed.on_surface[*v as usize]).collect();
    let points = plain.points.clone();
    let mut shaper = Shaper::new(surface, tree, sharp, a, points, plain.tets.clone(), &on_surface);
    shaper.smooth();
    shaper.snap();
    shaper.refine();
    shaper.snap();
    shaper.smooth();
    let (points, tets) = shaper.result();
    let mut filled = Mesh { points: points.to_vec(), tets, ..Mesh::default() };
    filled.compact();
    // the lattice it is where what was moved touches itself; but nothing is returned that does
    let touches = |mesh: &Mesh| shape::touches_itself(&mesh.points, &mesh.tets, LEAST_GAP * a);
    if touches(&filled) {
        filled = plain;
        if touches(&filled) {
            return Err(FillError::Intersects { size: a });
        }
    }
    let report = measure(&filled, surface, tree, stuffed.overlaps, a, options)?;
    Ok((filled, report))
}

/// Checks what the result promises.
// long: every promise with its error
fn measure(
    filled: &Mesh,
    surface: &Surface,
    tree: &Tree,
    overlaps: bool,
    used: f64,
    options: Options,
) -> Result<Report, FillError> {
    let Options { size, deviation } = options;
    let mut report = Report {
        size,
        used,
        allowed: deviation,
        tetrahedra: filled.tets.len(),
        dihedral: (180.0, 0.0),
        histogram: filled.dihedral_histogram(),
        outwards: Distance::default(),
        inwards: Distance::default(),
        sharp_length: 0.0,
        sharp_kept: 0.0,
        sharp_lost: None,
        parts: manifold::components(&filled.tets),
        overlaps,
    };
    for t in 0..filled.tets.len() {
        let x = filled.tet_points(t);
        let (_, [least, most]) = tet_quality(&x);
        report.dihedral = (report.dihedral.0.min(least), report.dihedral.1.max(most));
        let angle = least.min(180.0 - most);
        if angle < LEAST_ANGLE || tet_determinant(&x) <= 0.0 {
            return Err(FillError::Angle { angle, at: At(x[0]) });
        }
    }
    let given = surface.corners_of_triangles();
    let outside: Vec<[Vec3; 3]> =
        filled.surface().iter().map(|f| f.map(|v| filled.points[v as usize])).collect();
    let to_outside = Tree::new(outside.clone());
    let tolerance = TOLERANCE * size;
    report.outwards = largest_distance(&outside, tree, tolerance, &|_, _| true);
    // where parts overlap, what lies inside of another part is no boundary
    let bounds = |p: &Vec3, t: u32| !overlaps || is_boundary(&given, p, t, tolerance);
    report.inwards = largest_distance(&given, &to_outside, tolerance, &bounds);
    for distance in [report.inwards, report.outwards] {
        if distance.bound > deviation {
            let (distance, at) = (distance.found, At(distance.at));
            return Err(FillError::Deviates { distance, allowed: deviation, at });
        }
    }
    measure_sharp_edges(&mut report, surface, &to_outside, &|p| {
        tree.closest(p, f64::INFINITY).is_none_or(|hit| bounds(p, hit.triangle))
    });
    Ok(report)
}

/// Follows the sharp edges in small steps.
fn measure_sharp_edges(
    report: &mut Report,
    surface: &Surface,
    to_outside: &Tree,
    bounds: &dyn Fn(&Vec3) -> bool,
) {
    let step = KEPT * report.size;
    let limit = KEPT * report.size;
    for edge in &surface.sharp {
        let [a, b] = edge.map(|v| surface.points[v as usize]);
        let length = (b - a).norm();
        let pieces = (length / step).ceil().max(1.0);
        for k in 0..pieces as usize {
            let p = a + (b - a) * ((k as f64 + 0.5) / pieces);
            let distance =
                to_outside.closest(&p, f64::INFINITY).map_or(f64::INFINITY, |hit| hit.d2.sqrt());
            if distance > limit && !bounds(&p) {
                continue;
            }
            report.sharp_length += length / pieces;
            if distance <= limit {
                report.sharp_kept += length / pieces;
            } else if report.sharp_lost.is_none_or(|(d, _)| distance > d) {
                report.sharp_lost = Some((distance, p));
            }
        }
    }
}

/// Whether one side of a triangle is outside at a point of it.
fn is_boundary(triangles: &[[Vec3; 3]], p: &Vec3, triangle: u32, step: f64) -> bool {
    let [a, b, c] = triangles[triangle as usize];
    let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return false };
    [1.0, -1.0].into_iter().any(|side| winding(triangles, &(p + normal * (side * step))) == 0)
}

/// How many times triangles wind around a point that is on none of them: their solid angles [Jacobson 2013,
/// Eq. 6] over 4π.
fn winding(triangles: &[[Vec3; 3]], p: &Vec3) -> i64 {
    let solid_angle = |t: &[Vec3; 3]| {
        let [a, b, c] = t.map(|x| x - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let below = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        2.0 * a.dot(&b.cross(&c)).atan2(below)
    };
    let sum: f64 = triangles.iter().map(solid_angle).sum();
    (sum / (4.0 * std::f64::consts::PI)).round() as i64
}

/// The regions of the given mesh as sets of vertices: on the filled surface those whose nearest place on the
/// given one belongs to a triangle of the region.
fn regions(mesh: &Mesh, surface: &Surface, tree: &Tree, filled: &Mesh) -> Vec<Region> {
    if mesh.regions.iter().all(|r| r.triangles.is_empty()) || !mesh.tets.is_empty() {
        return Vec::new();
    }
    let mut boundary: Vec<u32> = filled.surface().into_iter().flatten().collect();
    boundary.sort_unstable();
    boundary.dedup();
    let nearest: Vec<(u32, u32)> = boundary
        .into_iter()
        .filter_map(|v| {
            let hit = tree.closest(&filled.points[v as usize], f64::INFINITY)?;
            Some((v, surface.origin[hit.triangle as usize]))
        })
        .collect();
    let region = |r: &Region| {
        let inside = |t: &u32| r.triangles.binary_search(t).is_ok();
        let vertices = nearest.iter().filter(|(_, t)| inside(t)).map(|(v, _)| *v).collect();
        Region { name: r.name.clone(), vertices, ..Region::default() }
    };
    mesh.regions.iter().filter(|r| !r.triangles.is_empty()).map(region).collect()
}
