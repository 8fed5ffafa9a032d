//! Values that may be written in several ways: a number or an array, a name or a table.

use super::along::{Along, AxisName, Direction};
use super::expect::NAMES;
use super::{
    AxisAngle, Bound, Formula, MaterialChoice, MaterialSection, Minus, MinusSection, Moment, Names,
    PivotCentre, PivotChoice, Quantity, RegionSection, Rotation, Scale, Selection, Weld,
};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A value that may be written in several ways, told apart by its TOML type. Unlike serde's
/// untagged enums this keeps the place of an error inside.
trait Either: Sized {
    const EXPECTED: &'static str;

    fn from_number<E: de::Error>(_: f64) -> Option<Result<Self, E>> {
        None
    }
    fn from_name<E: de::Error>(_: &str) -> Option<Result<Self, E>> {
        None
    }
    fn from_bool<E: de::Error>(_: bool) -> Option<Result<Self, E>> {
        None
    }
    fn from_array<'de, A: SeqAccess<'de>>(_: A) -> Option<Result<Self, A::Error>> {
        None
    }
    fn from_table<'de, A: MapAccess<'de>>(_: A) -> Option<Result<Self, A::Error>> {
        None
    }
}

struct EitherVisitor<T>(PhantomData<T>);

impl<'de, T: Either> Visitor<'de> for EitherVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_i64<E: de::Error>(self, x: i64) -> Result<T, E> {
        T::from_number(x as f64)
            .unwrap_or_else(|| Err(E::invalid_type(de::Unexpected::Signed(x), &self)))
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<T, E> {
        T::from_number(x).unwrap_or_else(|| Err(E::invalid_type(de::Unexpected::Float(x), &self)))
    }

    fn visit_str<E: de::Error>(self, s: &str) -> Result<T, E> {
        T::from_name(s).unwrap_or_else(|| Err(E::invalid_type(de::Unexpected::Str(s), &self)))
    }

    fn visit_bool<E: de::Error>(self, b: bool) -> Result<T, E> {
        T::from_bool(b).unwrap_or_else(|| Err(E::invalid_type(de::Unexpected::Bool(b), &self)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, a: A) -> Result<T, A::Error> {
        T::from_array(a).unwrap_or_else(|| Err(de::Error::invalid_type(de::Unexpected::Seq, &self)))
    }

    fn visit_map<A: MapAccess<'de>>(self, a: A) -> Result<T, A::Error> {
        T::from_table(a).unwrap_or_else(|| Err(de::Error::invalid_type(de::Unexpected::Map, &self)))
    }
}

macro_rules! deserialize_either {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(EitherVisitor::<$type>(PhantomData))
            }
        }
    )*};
}

deserialize_either!(MaterialChoice, Scale, Rotation, Selection, PivotChoice, Formula, Weld);
deserialize_either!(Names, Minus, Moment, Bound, Quantity, Along, Direction, Part);

fn axis<E: de::Error>(name: &str) -> Result<AxisName, E> {
    AxisName::named(name).ok_or_else(|| E::unknown_variant(name, &["x", "y", "z"]))
}

impl Either for Direction {
    const EXPECTED: &'static str = "\"x\", \"y\", \"z\" or three numbers";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(axis(name).map(Self::Axis))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(Deserialize::deserialize(SeqAccessDeserializer::new(a)).map(Self::Vector))
    }
}

/// An entry of an array of directions: a number where the array is one vector.
enum Part {
    Number(f64),
    Direction(Direction),
}

impl Either for Part {
    const EXPECTED: &'static str = Direction::EXPECTED;

    fn from_number<E: de::Error>(x: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Number(x)))
    }
    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Direction::from_name(name).map(|d| d.map(Self::Direction))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Direction::from_array(a).map(|d| d.map(Self::Direction))
    }
}

impl Either for Along {
    const EXPECTED: &'static str = "\"x\", \"y\", \"z\", three numbers, or an array of these";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(axis(name).map(Self::Axis))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        let parts: Vec<Part> = match Vec::deserialize(SeqAccessDeserializer::new(a)) {
            Ok(parts) => parts,
            Err(error) => return Some(Err(error)),
        };
        if let [Part::Number(x), Part::Number(y), Part::Number(z)] = parts[..] {
            return Some(Ok(Self::Vector([x, y, z])));
        }
        let direction = |part: Part| match part {
            Part::Direction(d) => Some(d),
            Part::Number(_) => None,
        };
        let all: Option<Vec<Direction>> = parts.into_iter().map(direction).collect();
        let unclear = || de::Error::invalid_value(de::Unexpected::Seq, &Self::EXPECTED);
        Some(all.filter(|all| !all.is_empty()).map(Self::Several).ok_or_else(unclear))
    }
}

impl Either for Names {
    const EXPECTED: &'static str = "a name or an array of names";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::One(name.to_owned())))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(Vec::deserialize(SeqAccessDeserializer::new(a)).map(Self::Several))
    }
}

impl Either for Minus {
    const EXPECTED: &'static str = "a name, an array of names or a table { object, value }";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::One(name.to_owned())))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(Vec::deserialize(SeqAccessDeserializer::new(a)).map(Self::Several))
    }
    fn from_table<'de, A: MapAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(MinusSection::deserialize(MapAccessDeserializer::new(a)).map(Self::Other))
    }
}

impl Either for Moment {
    const EXPECTED: &'static str =
        "\"start\", \"end\", \"every\", \"least\", \"greatest\" or a time in s";

    fn from_number<E: de::Error>(time: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Time(time)))
    }
    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::Name(name.to_owned())))
    }
}

impl Either for Bound {
    const EXPECTED: &'static str = "a number, or a text with a unit";

    fn from_number<E: de::Error>(x: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Number(x)))
    }
    fn from_name<E: de::Error>(text: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::Text(text.to_owned())))
    }
}

impl Either for Quantity {
    const EXPECTED: &'static str = "the name of a value, such as \"lowest.y\"";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Self::named(name).ok_or_else(|| E::unknown_variant(name, &NAMES)))
    }
}

impl Either for Weld {
    const EXPECTED: &'static str = "true, false or a length";

    fn from_number<E: de::Error>(length: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Within(length)))
    }
    fn from_bool<E: de::Error>(choice: bool) -> Option<Result<Self, E>> {
        Some(Ok(Self::Choice(choice)))
    }
}

impl Either for MaterialChoice {
    const EXPECTED: &'static str = "the name of a material or a table";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::Name(name.to_owned())))
    }
    fn from_table<'de, A: MapAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(
            MaterialSection::deserialize(MapAccessDeserializer::new(a))
                .map(|m| Self::Inline(Box::new(m))),
        )
    }
}

impl Either for Formula {
    const EXPECTED: &'static str = "a number or an expression of t in quotes";

    fn from_number<E: de::Error>(x: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Number(x)))
    }
    fn from_name<E: de::Error>(text: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::Expression(text.to_owned())))
    }
}

impl Either for Scale {
    const EXPECTED: &'static str = "a number or an array of 3 numbers";

    fn from_number<E: de::Error>(factor: f64) -> Option<Result<Self, E>> {
        Some(Ok(Self::Uniform(factor)))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(<[f64; 3]>::deserialize(SeqAccessDeserializer::new(a)).map(Self::PerAxis))
    }
}

impl Either for Rotation {
    const EXPECTED: &'static str = "an array of 3 angles in degrees or a table { axis, angle }";

    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(<[f64; 3]>::deserialize(SeqAccessDeserializer::new(a)).map(Self::Euler))
    }
    fn from_table<'de, A: MapAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(AxisAngle::deserialize(MapAccessDeserializer::new(a)).map(Self::AxisAngle))
    }
}

impl Either for Selection {
    const EXPECTED: &'static str =
        "\"all\", the name of a region, or a table with `box`, `sphere` or `vertices`";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        Some(Ok(Self::Name(name.to_owned())))
    }
    fn from_table<'de, A: MapAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(RegionSection::deserialize(MapAccessDeserializer::new(a)).map(Self::Region))
    }
}

impl Either for PivotChoice {
    const EXPECTED: &'static str = "\"centre\", \"current-centre\" or an array of 3 numbers";

    fn from_name<E: de::Error>(name: &str) -> Option<Result<Self, E>> {
        let centre = PivotCentre::deserialize(de::value::StrDeserializer::new(name));
        Some(centre.map(Self::Centre))
    }
    fn from_array<'de, A: SeqAccess<'de>>(a: A) -> Option<Result<Self, A::Error>> {
        Some(<[f64; 3]>::deserialize(SeqAccessDeserializer::new(a)).map(Self::Point))
    }
}
