//! What a definition of two dimensions may hold: bodies, positions and loads in the plane z = 0.

use super::{Fault, Field, fault, require};
use crate::definition::expression::VectorExpression;
use crate::definition::settings::{Method, Settings};
use crate::definition::{
    Anchor, AttachmentDef, BodyDef, BodyKind, Condition, Definition, Dimension, ForceDef, Load,
    Motion, Pivot, PrescribedDef,
};
use standoff_linalg::Vec3;

const FLAT: &str =
    "in two dimensions everything lies in the plane z = 0; make the third component 0";
const TURN: &str = "in two dimensions things turn about z only; make the first two components 0";

/// Requires a vector without a component along z.
///
/// # Errors
/// It has one.
pub fn in_plane(key: &'static str, v: &Vec3) -> Result<(), Fault> {
    require(key, format!("[{}, {}, {}]", v.x, v.y, v.z), v.z == 0.0, FLAT)
}

/// Requires a vector along z.
fn along_z(key: &'static str, v: &Vec3) -> Result<(), Fault> {
    require(key, format!("[{}, {}, {}]", v.x, v.y, v.z), v.x == 0.0 && v.y == 0.0, TURN)
}

fn in_plane_at_all_times(key: &'static str, v: &VectorExpression) -> Result<(), Fault> {
    let [_, _, z] = &v.0;
    require(key, "an expression along z", z.is_zero(), FLAT)
}

impl Definition {
    /// Checks that the definition fits its number of dimensions.
    pub(super) fn validate_dimension(&self) -> Result<(), Fault> {
        if self.dimension == Dimension::Three {
            return self.bodies.iter().enumerate().try_for_each(|(k, body)| {
                let planar = matches!(body.kind, BodyKind::PlaneStrain { .. });
                let must =
                    "triangles in the plane need `dimension = 2` or `dimension = \"axisymmetric\"`";
                require("role", "plane strain", !planar, must)
                    .map_err(|f| f.within_element("bodies", k).of("body", &body.name))
            });
        }
        in_plane("gravity", &self.gravity)?;
        self.dimension.validate_gravity(&self.gravity)?;
        self.settings.validate_in_plane()?;
        for (k, body) in self.bodies.iter().enumerate() {
            let named = |f: Fault| f.within_element("bodies", k).of("body", &body.name);
            body.validate_in_plane().map_err(named)?;
        }
        for (k, h) in self.half_spaces.iter().enumerate() {
            let named = |f: Fault| f.within_element("half_spaces", k).of("half-space", &h.name);
            in_plane("normal", &h.normal).map_err(named)?;
        }
        for (k, p) in self.prescribed.iter().enumerate() {
            let named = |f: Fault| f.within_element("prescribed", k).of("motion", &p.name);
            p.validate_in_plane().map_err(named)?;
        }
        for (k, load) in self.forces.iter().enumerate() {
            let named = |f: Fault| f.within_element("forces", k).of("force", &load.name);
            load.validate_in_plane().map_err(named)?;
        }
        for (k, a) in self.attachments.iter().enumerate() {
            let named = |f: Fault| f.within_element("attachments", k).of("attachment", &a.name);
            a.validate_in_plane().map_err(named)?;
        }
        Ok(())
    }
}

impl Dimension {
    /// Checks that bodies of revolution fall along their axis.
    ///
    /// # Errors
    /// They do not.
    pub fn validate_gravity(self, gravity: &Vec3) -> Result<(), Fault> {
        let value = format!("[{}, {}, {}]", gravity.x, gravity.y, gravity.z);
        let must = "bodies of revolution about y stay such only under gravity along y; make the first component 0";
        require("gravity", value, !self.is_axisymmetric() || gravity.x == 0.0, must)
    }
}

impl Settings {
    /// Checks that the settings have a form in two dimensions.
    ///
    /// # Errors
    /// The first that has none; its path is the key in a scene file.
    pub fn validate_in_plane(&self) -> Result<(), Fault> {
        let barrier_free = self.solver.method == Method::BarrierFree;
        let must =
            "the barrier-free solver works in three dimensions only; choose \"barrier\" or \"dot\"";
        require("method", "\"barrier-free\"", !barrier_free, must).map_err(|f| f.within("solver"))
    }
}

impl BodyDef {
    fn validate_in_plane(&self) -> Result<(), Fault> {
        let (kind, possible) = match &self.kind {
            BodyKind::PlaneStrain { .. } => ("plane strain", true),
            BodyKind::Obstacle { triangles, .. } => ("a surface", triangles.is_empty()),
            BodyKind::Volume { .. } => ("tetrahedra", false),
            BodyKind::Rigid { .. } => ("a rigid body", false),
            BodyKind::Shell { .. } => ("a shell", false),
            BodyKind::Rod { .. } => ("a rod", false),
            BodyKind::Particles { .. } => ("particles", false),
        };
        let must = "in two dimensions bodies are solids of triangles, and obstacles of \
                    edges and points";
        require("role", kind, possible, must)?;
        for (key, vectors) in
            [("rest", &self.rest), ("start", &self.start), ("velocity", &self.velocity)]
        {
            if let Some(index) = vectors.iter().position(|v| v.z != 0.0) {
                let v = vectors[index];
                let mut fault = fault(key, format!("[{}, {}, {}]", v.x, v.y, v.z), FLAT);
                fault.path.0.push(Field::Index(index));
                return Err(fault);
            }
        }
        Ok(())
    }
}

impl PrescribedDef {
    /// Checks that the motion stays in the plane.
    ///
    /// # Errors
    /// The first field that leaves it.
    pub fn validate_in_plane(&self) -> Result<(), Fault> {
        if let Some(Condition::AllBeyond { normal, .. }) = &self.until {
            in_plane("until", normal)?;
        }
        self.along.iter().try_for_each(|along| in_plane("along", along))?;
        let pivot = |p: &Pivot| match p {
            Pivot::Point(p) => in_plane("pivot", p),
            Pivot::StartCentre | Pivot::CurrentCentre => Ok(()),
        };
        match &self.motion {
            Motion::Fixed => Ok(()),
            Motion::Rigid { linear, angular, pivot: p } => {
                in_plane("velocity", linear)?;
                along_z("angular_velocity", angular)?;
                pivot(p)
            }
            Motion::Expression { translation, axis, angle, pivot: p } => {
                in_plane_at_all_times("translation", translation)?;
                if !angle.is_zero() {
                    along_z("axis", axis)?;
                }
                pivot(p)
            }
            Motion::Sequence { frames } => {
                frames.iter().flatten().try_for_each(|p| in_plane("sequence", p))
            }
        }
    }
}

impl ForceDef {
    /// Checks that the load acts in the plane.
    ///
    /// # Errors
    /// It does not.
    pub fn validate_in_plane(&self) -> Result<(), Fault> {
        match &self.load {
            Load::Acceleration(a) => in_plane_at_all_times("acceleration", a),
            Load::Force(f) => in_plane_at_all_times("force", f),
            Load::Traction(t) => in_plane_at_all_times("traction", t),
            Load::Pressure(_) => Ok(()),
        }
    }
}

impl AttachmentDef {
    /// Checks that the springs end in the plane.
    ///
    /// # Errors
    /// They do not.
    pub fn validate_in_plane(&self) -> Result<(), Fault> {
        match &self.anchor {
            Anchor::Point(p) => in_plane("point", p),
            Anchor::Start | Anchor::Vertices(_) | Anchor::Surface(_) => Ok(()),
        }
    }
}
