//! Why a step could not go on, as data: the primitives involved and where everything was at the
//! last iterate.

mod unbalanced;

use crate::audit::{Violation, violations};
use crate::contact::ConstraintKey;
use crate::error::{StallCause, StepError};
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use standoff_linalg::Vec3;

/// Culprits of one kind that a diagnosis names at most.
const LISTED: usize = 32;
/// Pairs up to this multiple of the smallest gap are named with it.
const NEARLY_AS_CLOSE: f64 = 10.0;
/// Triangles that have used more than this part of a strain limit count as stretched to it.
const AT_LIMIT: f64 = 0.8;
/// Elements below this part of their rest volume count as crushed.
const CRUSHED: f64 = 0.1;

/// What is wrong with a vertex at which a number is not finite.
const NOT_FINITE: &str = "where a number is not finite";

/// A primitive, or a pair of them, that a failure involves. Vertices are scene-wide.
#[derive(Debug, Clone, PartialEq)]
pub enum Culprit {
    /// Two surface primitives (vertex, edge or triangle each).
    Pair {
        /// Vertices of the one.
        a: Vec<u32>,
        /// Vertices of the other.
        b: Vec<u32>,
        /// Their distance, m; 0 where they have a point in common.
        gap: f64,
    },
    /// A vertex and a half-space.
    HalfSpace {
        /// The vertex.
        vertex: u32,
        /// Index of the half-space.
        half_space: usize,
        /// Distance to the plane, m; negative behind it.
        gap: f64,
    },
    /// A crushed element.
    Element {
        /// Its vertices.
        vertices: Vec<u32>,
        /// det F: its volume over that at rest.
        volume_ratio: f64,
    },
    /// A triangle of a shell beyond its strain limit.
    Triangle {
        /// Its vertices.
        vertices: [u32; 3],
        /// Its greatest stretch.
        stretch: f64,
    },
    /// A vertex where none can be.
    Misplaced {
        /// The vertex.
        vertex: u32,
        /// What is wrong with it, in words.
        how: &'static str,
    },
    /// Where forces that are not those of contact are furthest from balance.
    Unbalanced {
        /// The vertex.
        vertex: u32,
        /// The force on it, N.
        force: f64,
        /// The energy that has most of it.
        energy: String,
        /// The key that its stiffest summand there grows by, and of what.
        key: Option<String>,
        /// The vertices of its stiffest summand there; empty where it has none.
        vertices: Vec<u32>,
    },
    /// The prescribed vertex that is furthest from its target.
    OffTarget {
        /// The vertex.
        vertex: u32,
        /// Distance to the target, m.
        distance: f64,
    },
}

impl Culprit {
    /// In the words of the scene.
    pub fn describe(&self, model: &Model) -> String {
        match self {
            Self::Pair { a, b, gap } => format!(
                "{} and {}, {gap:.3e} m apart",
                model.describe_primitive(a),
                model.describe_primitive(b)
            ),
            Self::HalfSpace { vertex, half_space, gap } => format!(
                "{} and half-space '{}', {gap:.3e} m apart",
                model.describe_vertex(*vertex),
                model.half_space_names[*half_space]
            ),
            Self::Element { vertices, volume_ratio } => format!(
                "{} at {:.3e} of its rest volume",
                model.describe_primitive(vertices),
                volume_ratio
            ),
            Self::Triangle { vertices, stretch } => {
                format!("{} at a stretch of {stretch:.6}", model.describe_primitive(vertices))
            }
            Self::Misplaced { vertex, how } => format!("{}, {how}", model.describe_vertex(*vertex)),
            Self::Unbalanced { vertex, force, energy, key, vertices } => {
                let own = vertices.iter().map(|&v| model.locate(v).1.to_string());
                let own = own.collect::<Vec<_>>().join(", ");
                let over = if own.is_empty() { own } else { format!(" over its vertices ({own})") };
                let key = key.as_ref().map(|key| format!(" ({key})")).unwrap_or_default();
                format!(
                    "{}, where {force:.3e} N are out of balance, most of them by the energy \
                     '{energy}'{key}{over}",
                    model.describe_vertex(*vertex)
                )
            }
            Self::OffTarget { vertex, distance } => {
                format!("{}, {distance:.3e} m from its target", model.describe_vertex(*vertex))
            }
        }
    }

    /// The primitives: vertices of one to four each.
    pub fn primitives(&self) -> Vec<Vec<u32>> {
        match self {
            Self::Pair { a, b, .. } => vec![a.clone(), b.clone()],
            Self::Element { vertices, .. } => vec![vertices.clone()],
            Self::Triangle { vertices, .. } => vec![vertices.to_vec()],
            Self::HalfSpace { vertex, .. }
            | Self::Misplaced { vertex, .. }
            | Self::OffTarget { vertex, .. } => vec![vec![*vertex]],
            Self::Unbalanced { vertex, vertices, .. } => {
                let others = vertices.iter().filter(|v| *v != vertex);
                std::iter::once(vertex).chain(others).map(|v| vec![*v]).collect()
            }
        }
    }

    /// Gap or distance, m, where the culprit has one.
    pub fn gap(&self) -> Option<f64> {
        match self {
            Self::Pair { gap, .. } | Self::HalfSpace { gap, .. } => Some(*gap),
            Self::OffTarget { distance, .. } => Some(*distance),
            Self::Element { .. }
            | Self::Triangle { .. }
            | Self::Misplaced { .. }
            | Self::Unbalanced { .. } => None,
        }
    }

    /// det F, for an element.
    pub fn volume_ratio(&self) -> Option<f64> {
        match self {
            Self::Element { volume_ratio, .. } => Some(*volume_ratio),
            _ => None,
        }
    }
}

/// What a failed step leaves to look at; empty if it failed before it began.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnosis {
    /// Positions of the last iterate, m (`#V`).
    pub x: Vec<Vec3>,
    /// The culprits, the worst first.
    pub culprits: Vec<Culprit>,
}

impl Diagnosis {
    /// Collects the culprits of an error at the last iterate.
    pub(crate) fn new(
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        error: &StepError,
    ) -> Self {
        let model = potential.context.model;
        let culprits = match error {
            StepError::Audit { .. } => audited_culprits(model, &it.x),
            StepError::NotFinite { .. } => not_finite(potential, it),
            // nothing is in the way, or the error says it
            StepError::Cancelled { .. } | StepError::OpenJoint { .. } => Vec::new(),
            StepError::BlockedMotion { .. } => {
                let mut all: Vec<_> = off_target(potential, it).into_iter().collect();
                all.extend(obstacles(potential, it));
                all
            }
            StepError::Stalled { cause: StallCause::Forces, .. } => {
                unbalanced::without_contact(potential, it).into_iter().collect()
            }
            StepError::Stalled { cause: StallCause::Obstacles, .. }
            | StepError::TimeLimit { .. }
            | StepError::LinearSolve { .. } => obstacles(potential, it),
        };
        Self { x: it.x.clone(), culprits }
    }
}

/// What may be in the way at an iterate: the closest contacts, crushed elements, triangles at their strain
/// limits.
fn obstacles(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<Culprit> {
    let model = potential.context.model;
    let mut all = closest(potential, it);
    all.extend(crushed(model, &it.x));
    all.extend(stretched(model, &it.x));
    all
}

/// The closest contacts of an iterate, half-spaces among them, ascending by gap.
fn closest(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<Culprit> {
    let pairs = it.contacts.contacts.iter().map(|c| {
        let (a, b) = c.stencil().split_at(c.second());
        let gap = c.d2(&c.gather(&it.x)).sqrt() - c.thickness;
        (gap, Culprit::Pair { a: a.to_vec(), b: b.to_vec(), gap })
    });
    let planes = it.contacts.half_space.iter().map(|c| {
        let gap = c.plane.signed_distance(&it.x[c.vertex as usize]) - c.thickness;
        let half_space = c.half_space as usize;
        (gap, Culprit::HalfSpace { vertex: c.vertex, half_space, gap })
    });
    let oriented = it.contacts.orientation.loaded(0.0, &it.x).into_iter().map(|c| {
        let vertices = &c.core.vertices[..c.core.n];
        let culprit = match c.kind {
            Some(kind) => {
                let (a, b) = vertices.split_at(kind.second());
                Culprit::Pair { a: a.to_vec(), b: b.to_vec(), gap: c.gap }
            }
            None => {
                let half_space = c.half_space as usize;
                Culprit::HalfSpace { vertex: vertices[0], half_space, gap: c.gap }
            }
        };
        (c.gap, culprit)
    });
    let constraints = constraints(potential, it);
    let mut all: Vec<(f64, Culprit)> =
        pairs.chain(planes).chain(oriented).chain(constraints).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let limit = all.first().map_or(0.0, |(gap, _)| NEARLY_AS_CLOSE * gap.max(0.0));
    let near = all.into_iter().take_while(|(gap, _)| *gap <= limit).take(LISTED);
    near.map(|(_, culprit)| culprit).collect()
}

/// The pairs of the barrier-free method that are closer than d̂.
fn constraints(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<(f64, Culprit)> {
    let model = potential.context.model;
    let gaps = potential.constraints().gaps(&model.collision, &model.half_spaces, &it.x);
    let culprit = |(key, gap)| match key {
        ConstraintKey::Pair(pair) => {
            let stencil = pair.stencil(&model.collision);
            let (a, b) = stencil.vertices().split_at(stencil.kind.second());
            (gap, Culprit::Pair { a: a.to_vec(), b: b.to_vec(), gap })
        }
        ConstraintKey::HalfSpace(vertex, k) => {
            (gap, Culprit::HalfSpace { vertex, half_space: k as usize, gap })
        }
    };
    let close = gaps.into_iter().filter(|(_, gap)| *gap < potential.context.d_hat);
    close.map(culprit).collect()
}

/// What no step length lowers the potential for, if contact takes no part in it, in the words of the scene.
pub(crate) fn describe_unbalanced(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Option<String> {
    let culprit = unbalanced::without_contact(potential, it)?;
    Some(culprit.describe(potential.context.model))
}

/// What is in the way at an iterate, in the words of the scene.
pub(crate) fn describe_obstacle(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Option<String> {
    let found = obstacles(potential, it).into_iter().next();
    let obstacle = found.or_else(|| smallest(potential.context.model, &it.x))?;
    let text = obstacle.describe(potential.context.model);
    Some(match obstacle {
        Culprit::Pair { .. } | Culprit::HalfSpace { .. } => format!("closest are {text}"),
        Culprit::Element { volume_ratio, .. } if volume_ratio >= CRUSHED => {
            format!("nothing is close; smallest is {text}")
        }
        Culprit::Element { .. } => format!("most crushed is {text}"),
        _ => format!("at its strain limit is {text}"),
    })
}

/// The constrained vertex that is furthest from its target.
fn off_target(potential: &IncrementalPotential<'_>, it: &Iterate) -> Option<Culprit> {
    let (vertex, distance) = potential.penalty()?.furthest(&it.x)?;
    Some(Culprit::OffTarget { vertex, distance })
}

/// Parts of their rest volume that the elements of solids have, with their numbers.
fn volume_ratios(model: &Model, x: &[Vec3]) -> impl Iterator<Item = (f64, usize)> {
    (0..model.solids.len()).map(|e| (model.solids.volume_ratio(e, x), e))
}

/// An element of a solid.
fn element(model: &Model, x: &[Vec3], e: usize) -> Culprit {
    let volume_ratio = model.solids.volume_ratio(e, x);
    Culprit::Element { vertices: model.solids.vertices(e).to_vec(), volume_ratio }
}

/// The element with the smallest part of its rest volume.
fn smallest(model: &Model, x: &[Vec3]) -> Option<Culprit> {
    let (_, e) = volume_ratios(model, x).min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(element(model, x, e))
}

/// Elements below a tenth of their rest volume, ascending by it.
fn crushed(model: &Model, x: &[Vec3]) -> Vec<Culprit> {
    let mut all: Vec<(f64, usize)> =
        volume_ratios(model, x).filter(|(ratio, _)| *ratio < CRUSHED).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().take(LISTED).map(|(_, e)| element(model, x, e)).collect()
}

/// Triangles that have used up nearly all of a strain limit, the most stretched first.
fn stretched(model: &Model, x: &[Vec3]) -> Vec<Culprit> {
    let mut all: Vec<(f64, Culprit)> = model
        .strain_limits
        .iter()
        .map(|limit| (limit.use_of_limit(x), limit.vertices))
        .filter(|((_, part), _)| *part > AT_LIMIT)
        .map(|((stretch, part), vertices)| (part, Culprit::Triangle { vertices, stretch }))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(LISTED).map(|(_, culprit)| culprit).collect()
}

/// What the audit finds.
fn audited_culprits(model: &Model, x: &[Vec3]) -> Vec<Culprit> {
    let culprit = |violation| match violation {
        Violation::Intersection { a, b } => Culprit::Pair { a, b, gap: 0.0 },
        Violation::TooClose { a, b, distance, thickness }
        | Violation::Crossing { a, b, distance, thickness, .. } => {
            Culprit::Pair { a, b, gap: distance - thickness }
        }
        Violation::Unresolved { a, b, gap, .. } => Culprit::Pair { a, b, gap },
        Violation::Overstretched { vertices, stretch } => Culprit::Triangle { vertices, stretch },
        Violation::NotFinite { vertex } => Culprit::Misplaced { vertex, how: NOT_FINITE },
        Violation::OutOfPlane { vertex } => {
            Culprit::Misplaced { vertex, how: "outside of the plane z = 0" }
        }
        Violation::BehindAxis { vertex } => {
            Culprit::Misplaced { vertex, how: "behind the axis of revolution" }
        }
        Violation::HalfSpace { vertex, half_space, depth } => {
            Culprit::HalfSpace { vertex, half_space, gap: -depth }
        }
        Violation::Inversion { element: e, .. }
        | Violation::Turned { element: e, .. }
        | Violation::TurnedWithin { element: e, .. } => element(model, x, e as usize),
    };
    violations(model, x).into_iter().take(LISTED).map(culprit).collect()
}

/// Vertices whose position or force is not finite; where all are, the one with the largest force.
fn not_finite(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<Culprit> {
    let g = potential.gradient(it);
    let finite = |p: &Vec3| p.iter().all(|c| c.is_finite());
    let bad = (0..g.len()).filter(|&v| !finite(&it.x[v]) || !finite(&g[v])).take(LISTED);
    let mut vertices: Vec<usize> = bad.collect();
    if vertices.is_empty() {
        let size = |v: usize| g[v].amax();
        vertices.extend((0..g.len()).max_by(|&a, &b| size(a).total_cmp(&size(b))));
    }
    vertices.into_iter().map(|v| Culprit::Misplaced { vertex: v as u32, how: NOT_FINITE }).collect()
}

/// The first culprit of a number that is not finite, for messages.
pub(crate) fn place_of_not_finite(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Option<String> {
    let culprit = not_finite(potential, it).into_iter().next()?;
    let vertex = *culprit.primitives().first()?.first()?;
    Some(potential.context.model.describe_vertex(vertex))
}
