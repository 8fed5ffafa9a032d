//! The independent audit of a position: intersections, inversions, half-spaces.

use crate::error::StepError;
use crate::model::Model;
use crate::report::StepReport;
use crate::settings::AuditLevel;
use crate::timing::timed;
use standoff_geometry::audit;
use standoff_linalg::Vec3;

/// What an audit can find.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// An edge meets a triangle: scene-wide vertices of both.
    Intersection {
        /// The edge.
        edge: [u32; 2],
        /// The triangle.
        face: [u32; 3],
    },
    /// A tetrahedron has no positive volume: its index in `Model::elastic` and its vertices.
    Inversion {
        /// Element.
        element: u32,
        /// Scene-wide vertices.
        vertices: [u32; 4],
    },
    /// A vertex is on or behind the plane of a half-space.
    HalfSpace {
        /// Scene-wide vertex.
        vertex: u32,
        /// Index of the half-space.
        half_space: usize,
        /// How far behind, m.
        depth: f64,
    },
}

impl Violation {
    /// The violation in the words of the scene.
    pub fn describe(&self, model: &Model) -> String {
        match self {
            Self::Intersection { edge, face } => format!(
                "{} meets {}",
                model.describe_primitive(edge),
                model.describe_primitive(face)
            ),
            Self::Inversion { vertices, .. } => {
                format!("{} is inverted or flat", model.describe_primitive(vertices))
            }
            Self::HalfSpace { vertex, half_space, depth } => format!(
                "{} is {depth:.3e} m behind the plane of half-space '{}'",
                model.describe_vertex(*vertex),
                model.half_spaces[*half_space].name
            ),
        }
    }
}

/// All violations at positions `x` (`#V`), in a fixed order.
pub fn violations(model: &Model, x: &[Vec3]) -> Vec<Violation> {
    let mut found: Vec<Violation> = half_space_violations(model, x);
    found.extend(audit::audit_inversions(&model.elastic.vertices, x).into_iter().map(|element| {
        Violation::Inversion { element, vertices: model.elastic.vertices[element as usize] }
    }));
    found.extend(audit::audit_intersections(&model.collision, x).into_iter().map(|i| {
        Violation::Intersection {
            edge: model.collision.edges[i.edge as usize],
            face: model.collision.faces[i.face as usize],
        }
    }));
    found
}

fn half_space_violations(model: &Model, x: &[Vec3]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (half_space, plane) in model.half_spaces.iter().enumerate() {
        for &vertex in &model.half_space_vertices {
            let gap = plane.gap(&x[vertex as usize]);
            if gap <= 0.0 {
                found.push(Violation::HalfSpace { vertex, half_space, depth: -gap });
            }
        }
    }
    found
}

/// Audits the end of a step where the settings ask for it.
pub(crate) fn check_step(
    model: &Model,
    x: &[Vec3],
    report: &mut StepReport,
) -> Result<(), StepError> {
    if model.resolved.settings.solver.audit == AuditLevel::Off {
        return Ok(());
    }
    match timed(&mut report.seconds.audit, || violations(model, x)).first() {
        None => Ok(()),
        Some(violation) => Err(StepError::Audit {
            step: report.step as usize,
            violation: violation.describe(model),
        }),
    }
}
