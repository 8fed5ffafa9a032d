//! Which pairs are close: one sweep of the broad phase per direction serves the largest admissible
//! step and the contacts at every point of the line search.

use crate::contact::orientation::OrientationSet;
use crate::contact::{ConstraintKey, ContactSet};
use crate::definition::settings::Ccd;
use crate::model::Model;
use standoff_geometry::broad_phase::{BroadPhase, Candidates};
use standoff_geometry::ccd::{self, Keep, Method};
use standoff_geometry::{CollisionMesh, Stencil};
use standoff_linalg::Vec3;

/// Trees, buffers and the pairs of the last sweep.
#[derive(Debug)]
pub struct Detector {
    broad_phase: BroadPhase,
    candidates: Candidates,
    /// Those that the orientation-aware potential leaves to the IPC potential, where it is chosen.
    uncovered: Candidates,
    displacement: Vec<Vec3>,
    /// The collision mesh while some of its vertices rest, and its trees.
    resting: Option<Box<(CollisionMesh, BroadPhase)>>,
    /// Distance d̂ below which pairs are contacts, m. A sweep finds those of this distance and of any
    /// smaller one.
    pub d_hat: f64,
}

impl Detector {
    /// Without pairs, before the first sweep.
    pub fn new(d_hat: f64) -> Self {
        Self {
            d_hat,
            broad_phase: BroadPhase::default(),
            candidates: Candidates::default(),
            uncovered: Candidates::default(),
            displacement: Vec::new(),
            resting: None,
        }
    }

    /// From now on finds only pairs with one of the `moving` vertices (`#V`).
    pub fn restrict(&mut self, model: &Model, moving: &[bool]) {
        let mut mesh = model.collision.clone();
        mesh.mobile.iter_mut().zip(moving).for_each(|(mobile, moving)| *mobile &= *moving);
        self.resting = Some(Box::new((mesh, BroadPhase::default())));
    }

    /// Finds all pairs again.
    pub fn lift_restriction(&mut self) {
        self.resting = None;
    }

    fn mesh<'a>(&'a self, model: &'a Model) -> &'a CollisionMesh {
        self.resting.as_ref().map_or(&model.collision, |resting| &resting.0)
    }

    /// Finds every pair that comes within d̂ (+ ξ) anywhere between x and x + `t_max` dx.
    pub fn sweep(&mut self, model: &Model, x: &[Vec3], dx: &[Vec3], t_max: f64) {
        if !model.may_touch {
            return;
        }
        let inflation = 0.5 * self.d_hat;
        self.displacement.clear();
        self.displacement.extend(dx.iter().map(|d| t_max * d));
        let (mesh, broad_phase) = match &mut self.resting {
            None => (&model.collision, &mut self.broad_phase),
            Some(resting) => (&resting.0, &mut resting.1),
        };
        broad_phase.swept_candidates(mesh, x, &self.displacement, inflation, &mut self.candidates);
        if let Some(orientation) = &model.orientation {
            self.uncovered = orientation.uncovered(&self.candidates);
        }
    }

    /// Every pair of the last sweep that comes within `keep`'s reach during the step, and every vertex that
    /// comes that close to a half-space; and the largest step that is safe for all.
    pub fn collisions(
        &self,
        model: &Model,
        x: &[Vec3],
        dx: &[Vec3],
        keep: Keep,
    ) -> (Vec<(ConstraintKey, f64)>, f64) {
        let (mesh, method) = (self.mesh(model), method(model));
        let pairs = ccd::collisions(mesh, x, dx, &self.candidates, method, keep);
        let mut limit = pairs.iter().map(|c| c.limit).fold(1.0, f64::min);
        let mut found: Vec<_> =
            pairs.iter().map(|c| (ConstraintKey::Pair(c.pair), c.time)).collect();
        for (k, plane) in model.half_spaces.iter().enumerate() {
            let (o, n) = (&plane.origin, &plane.normal);
            for (half, vertices) in &model.half_space_vertices {
                for &v in vertices {
                    let gap = plane.signed_distance(&x[v as usize]) - half;
                    let step = |part| ccd::half_space_max_step(x, dx, &[v], o, n, *half, part, 1.0);
                    let time = step(keep.collides(gap));
                    if time < 1.0 {
                        limit = limit.min(step(keep.limit(gap)));
                        found.push((ConstraintKey::HalfSpace(v, k as u32), time));
                    }
                }
            }
        }
        (found, limit)
    }

    /// The vertices of each pair of the last sweep: those that may have come within d̂ on the way.
    pub fn swept<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Stencil> + 'a {
        let mesh = self.mesh(model);
        self.candidates.iter().map(|pair| pair.stencil(mesh))
    }

    /// All contacts at a point of the last sweep.
    pub fn contacts(&self, model: &Model, x: &[Vec3]) -> ContactSet {
        let build = |candidates| {
            let (mesh, half_spaces) = (self.mesh(model), &model.half_spaces);
            ContactSet::build(candidates, mesh, half_spaces, x, self.d_hat, &model.weighting)
        };
        let Some(orientation) = &model.orientation else { return build(&self.candidates) };
        let mut set = build(&self.uncovered);
        set.half_space.retain(|c| !orientation.surface.covered[c.vertex as usize]);
        let oriented = OrientationSet::build(orientation, &self.candidates, &model.half_spaces, x);
        ContactSet { orientation: oriented, ..set }
    }

    /// The largest step t ≤ `t_max` of the last sweep along which every pair of surfaces keeps the
    /// part `keep` of its gap.
    pub fn max_step(&self, model: &Model, x: &[Vec3], dx: &[Vec3], keep: f64, t_max: f64) -> f64 {
        let method = method(model);
        ccd::max_step(self.mesh(model), x, dx, &self.candidates, method, keep, t_max)
    }

    /// The vertices of the pairs of the last sweep that do not keep the part `keep` of their gap all the way, and those that
    /// do not keep the part `keep_plane` of their gap to a half-space.
    pub fn limiting_vertices(
        &self,
        model: &Model,
        x: &[Vec3],
        dx: &[Vec3],
        [keep, keep_plane]: [f64; 2],
    ) -> Vec<u32> {
        let mesh = self.mesh(model);
        let pairs = ccd::limiting(mesh, x, dx, &self.candidates, method(model), keep);
        let mut found: Vec<u32> =
            pairs.iter().flat_map(|p| p.stencil(mesh).vertices().to_vec()).collect();
        for plane in &model.half_spaces {
            for (half, vertices) in &model.half_space_vertices {
                let (o, n) = (&plane.origin, &plane.normal);
                let step = |v| ccd::half_space_max_step(x, dx, &[v], o, n, *half, keep_plane, 1.0);
                found.extend(vertices.iter().copied().filter(|&v| step(v) < 1.0));
            }
        }
        found
    }

    /// The largest step t ≤ 1 along which every vertex keeps the part `keep` of its gap to every
    /// half-space, beyond half of its thickness.
    pub fn max_plane_step(&self, model: &Model, x: &[Vec3], dx: &[Vec3], keep: f64) -> f64 {
        let mut t = 1.0;
        for plane in &model.half_spaces {
            for (half, vertices) in &model.half_space_vertices {
                let (o, n) = (&plane.origin, &plane.normal);
                t = ccd::half_space_max_step(x, dx, vertices, o, n, *half, keep, t);
            }
        }
        t
    }
}

fn method(model: &Model) -> Method {
    match model.resolved.settings.contact.ccd {
        Ccd::Additive => Method::Additive,
        Ccd::AdditivePublished => Method::AdditivePublished,
        Ccd::Inclusion => Method::Inclusion,
    }
}
