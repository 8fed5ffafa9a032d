//! What a run of the scene must show.

use super::Selection;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What a run of the scene must show: a value, when it is looked at, and the bounds between which it has to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSection {
    /// What to see, as a sentence for the reader.
    pub shows: String,
    /// Whose value: the name of an object, for all of its copies, or of one copy, `card[0,7,0]`, where `*` stands for
    /// any number, `card[0,*,0]`; or a list of these. Left out for a value of the whole scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Names>,
    /// Which vertices of the object; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Selection>,
    /// The value. Of an object, in m, m/s, N or m³: `lowest.x` and `highest.x` (or `.y`, `.z`), the corners of its
    /// bounding box, `size.x` its extent and `size` its diagonal, `box_volume` its volume; `centre.x`, the mean of its
    /// vertices, and `spread`, their root mean square distance from it, which turning does not change; `velocity.x` and
    /// `velocity`, the mean velocity and its magnitude, and `fastest`, the greatest speed of a vertex; `contact_force.x`
    /// and `contact_force`, the sum of contact and friction forces and its magnitude; and `touching`, the number of
    /// vertices on which such forces act. Of the whole scene, as in `stats.jsonl`: `contacts`, `max_contacts`,
    /// `min_gap`, `newton_iterations`, `kinetic_energy`, `elastic_energy`, `gravity_energy` and `contact_energy`.
    pub value: Quantity,
    /// Another object, whose value is subtracted. A list names one for each object in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<Minus>,
    /// What the value is divided by, so that its bounds have no unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<Reference>,
    /// When the value is looked at: `"end"` or `"start"` of the scene; a time, s, at the frame nearest to it; or
    /// `"every"` frame, and the `"least"` and the `"greatest"` value of all frames. Values of the whole scene are those
    /// of steps, not of frames.
    #[serde(default)]
    pub when: Moment,
    /// Frames before this time, s, are left out of `"every"`, `"least"` and `"greatest"`.
    #[schemars(extend("x-unit" = "s"))]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: f64,
    /// Whether the objects are measured as one; by default each is measured on its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// How many of the objects have to be within the bounds; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub at_least: Option<u32>,
    /// What the value is greater than, in the unit of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<Bound>,
    /// What the value is less than, in the unit of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Bound>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// One name, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Names {
    /// The names.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// What is subtracted: the same value of another object, or another value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Minus {
    /// The same value of this object.
    One(String),
    /// The same value of these objects, one for each object in turn.
    Several(Vec<String>),
    /// Another value.
    Other(MinusSection),
}

/// A value that is subtracted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinusSection {
    /// Whose value: one name, or a list with one for each object in turn.
    pub object: Names,
    /// The value.
    pub value: Quantity,
}

/// What a value is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Its value in the first frame.
    Start,
    /// Its greatest value in all frames.
    Greatest,
}

/// When a value is looked at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Moment {
    /// A time, s.
    Time(f64),
    /// `"start"`, `"end"`, `"every"`, `"least"`, `"greatest"`, or a time with its unit.
    Name(String),
}

impl Default for Moment {
    fn default() -> Self {
        Self::Name("end".into())
    }
}

/// A bound: a number in the unit of the value, or a text with another unit of the same dimension.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Bound {
    /// In the unit of the value.
    Number(f64),
    /// With its unit.
    Text(String),
}

/// A coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// A component of a vector, or its magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A component.
    Of(Axis),
    /// The magnitude.
    Magnitude,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A value of an object.
    OfObject(Measure),
    /// A value of the whole scene.
    OfScene(Figure),
}

/// A value of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Least coordinate of a vertex, m.
    Lowest(Axis),
    /// Greatest coordinate of a vertex, m.
    Highest(Axis),
    /// Extent or diagonal of the bounding box, m.
    Size(Part),
    /// Volume of the bounding box, m³.
    BoxVolume,
    /// Mean of the vertices, m.
    Centre(Axis),
    /// Root mean square distance of the vertices from their mean, m.
    Spread,
    /// Mean velocity, m/s.
    Velocity(Part),
    /// Greatest speed of a vertex, m/s.
    Fastest,
    /// Sum of contact and friction forces, N.
    ContactForce(Part),
    /// Number of vertices on which such forces act.
    Touching,
}

/// A value of the whole scene, which the report of a step has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Contacts at the end of a step.
    Contacts,
    /// Largest number of contacts over the iterates of a step.
    MaxContacts,
    /// Smallest gap at the end of a step, m.
    MinGap,
    /// Newton iterations of a step.
    NewtonIterations,
    /// Kinetic energy, J.
    KineticEnergy,
    /// Elastic energy, J.
    ElasticEnergy,
    /// Gravity energy, J.
    GravityEnergy,
    /// Contact energy, J.
    ContactEnergy,
}

const fn object(measure: Measure) -> Quantity {
    Quantity::OfObject(measure)
}

/// The names of all values.
const QUANTITIES: [(&str, Quantity); 33] = {
    use Axis::{X, Y, Z};
    use Figure as F;
    use Measure as M;
    use Part::{Magnitude, Of};
    [
        ("lowest.x", object(M::Lowest(X))),
        ("lowest.y", object(M::Lowest(Y))),
        ("lowest.z", object(M::Lowest(Z))),
        ("highest.x", object(M::Highest(X))),
        ("highest.y", object(M::Highest(Y))),
        ("highest.z", object(M::Highest(Z))),
        ("size.x", object(M::Size(Of(X)))),
        ("size.y", object(M::Size(Of(Y)))),
        ("size.z", object(M::Size(Of(Z)))),
        ("size", object(M::Size(Magnitude))),
        ("box_volume", object(M::BoxVolume)),
        ("centre.x", object(M::Centre(X))),
        ("centre.y", object(M::Centre(Y))),
        ("centre.z", object(M::Centre(Z))),
        ("spread", object(M::Spread)),
        ("velocity.x", object(M::Velocity(Of(X)))),
        ("velocity.y", object(M::Velocity(Of(Y)))),
        ("velocity.z", object(M::Velocity(Of(Z)))),
        ("velocity", object(M::Velocity(Magnitude))),
        ("fastest", object(M::Fastest)),
        ("contact_force.x", object(M::ContactForce(Of(X)))),
        ("contact_force.y", object(M::ContactForce(Of(Y)))),
        ("contact_force.z", object(M::ContactForce(Of(Z)))),
        ("contact_force", object(M::ContactForce(Magnitude))),
        ("touching", object(M::Touching)),
        ("contacts", Quantity::OfScene(F::Contacts)),
        ("max_contacts", Quantity::OfScene(F::MaxContacts)),
        ("min_gap", Quantity::OfScene(F::MinGap)),
        ("newton_iterations", Quantity::OfScene(F::NewtonIterations)),
        ("kinetic_energy", Quantity::OfScene(F::KineticEnergy)),
        ("elastic_energy", Quantity::OfScene(F::ElasticEnergy)),
        ("gravity_energy", Quantity::OfScene(F::GravityEnergy)),
        ("contact_energy", Quantity::OfScene(F::ContactEnergy)),
    ]
};

/// The names alone.
pub(super) const NAMES: [&str; QUANTITIES.len()] = {
    let mut names = [""; QUANTITIES.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = QUANTITIES[k].0;
        k += 1;
    }
    names
};

impl Quantity {
    /// The value of a name.
    pub fn named(name: &str) -> Option<Self> {
        QUANTITIES.iter().find(|(n, _)| *n == name).map(|(_, quantity)| *quantity)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        QUANTITIES.iter().find(|(_, q)| *q == self).map_or("", |(name, _)| name)
    }

    /// Its unit; empty for a number of things.
    pub fn unit(self) -> &'static str {
        match self {
            Self::OfObject(measure) => measure.unit(),
            Self::OfScene(figure) => figure.unit(),
        }
    }
}

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Lowest(_) | Self::Highest(_) | Self::Size(_) | Self::Centre(_) | Self::Spread => {
                "m"
            }
            Self::BoxVolume => "m^3",
            Self::Velocity(_) | Self::Fastest => "m/s",
            Self::ContactForce(_) => "N",
            Self::Touching => "",
        }
    }

    /// The coordinate of which it is a value.
    pub fn axis(self) -> Option<Axis> {
        match self {
            Self::Lowest(axis) | Self::Highest(axis) | Self::Centre(axis) => Some(axis),
            Self::Size(Part::Of(axis))
            | Self::Velocity(Part::Of(axis))
            | Self::ContactForce(Part::Of(axis)) => Some(axis),
            _ => None,
        }
    }
}

impl Figure {
    fn unit(self) -> &'static str {
        match self {
            Self::Contacts | Self::MaxContacts | Self::NewtonIterations => "",
            Self::MinGap => "m",
            Self::KineticEnergy
            | Self::ElasticEnergy
            | Self::GravityEnergy
            | Self::ContactEnergy => "J",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": NAMES.as_slice() })
    }
}
