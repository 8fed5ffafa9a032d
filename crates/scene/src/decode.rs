//! From the tree of a document to typed sections: a serde deserializer that knows where it stands,
//! so that every error names its key path and place.

use crate::document::{Document, Entry, KeyPath, Node, Place, Segment, Value};
use crate::error::{Problem, SceneError, nearest_name, shortened};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, Unexpected, Visitor};
use std::fmt;

/// Decodes the whole document.
pub fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, SceneError> {
    T::deserialize(Decoder(&document.root)).map_err(|mut e| {
        e.segments.reverse();
        let mut path = KeyPath(e.segments);
        // serde reads tagged enums in two passes and loses the place: look for the culprit
        if let (Problem::WrongType { found, .. }, Some(node)) = (&*e.problem, document.find(&path))
            && let Some((below, place)) = culprit(node, found)
        {
            path.0.extend(below);
            e.place = Some(place);
        }
        let place = match (&*e.problem, document.find(&path).map(|n| &n.value)) {
            (Problem::UnknownKey { key, .. }, Some(Value::Table(entries))) => {
                entries.iter().find(|entry| entry.key == *key).map(|entry| entry.key_place)
            }
            _ => None,
        };
        let place = place.or(e.place).unwrap_or_else(|| document.place(&path));
        document.error_at(place, path, *e.problem)
    })
}

/// The only value inside a table that looks like what serde says it found.
fn culprit(node: &Node, found: &str) -> Option<(Vec<Segment>, Place)> {
    let Value::Table(entries) = &node.value else { return None };
    let mut matches = Vec::new();
    for entry in entries {
        let path = vec![Segment::Key(entry.key.clone())];
        collect(&entry.node, found, path, &mut matches);
    }
    if matches.len() == 1 { matches.pop() } else { None }
}

fn collect(node: &Node, found: &str, path: Vec<Segment>, matches: &mut Vec<(Vec<Segment>, Place)>) {
    let (words, children) = match &node.value {
        Value::String(s) => (found_words(Unexpected::Str(s)), None),
        Value::Integer(i) => (found_words(Unexpected::Signed(*i)), None),
        Value::Float(x) => (found_words(Unexpected::Float(*x)), None),
        Value::Boolean(b) => (found_words(Unexpected::Bool(*b)), None),
        Value::Datetime(_) => return,
        Value::Array(items) => (array_words(items.len()), Some(items)),
        Value::Table(_) => (found_words(Unexpected::Map), None),
    };
    if words == found || (children.is_some() && found == found_words(Unexpected::Seq)) {
        matches.push((path.clone(), node.place));
    }
    for (k, item) in children.into_iter().flatten().enumerate() {
        let mut path = path.clone();
        path.push(Segment::Index(k));
        collect(item, found, path, matches);
    }
}

fn array_words(length: usize) -> String {
    format!("an array of {length}")
}

/// An error on its way up: `segments` is the path so far, innermost first.
#[derive(Debug)]
struct DecodeError {
    problem: Box<Problem>,
    segments: Vec<Segment>,
    place: Option<Place>,
}

impl DecodeError {
    fn new(problem: Problem) -> Self {
        Self { problem: Box::new(problem), segments: Vec::new(), place: None }
    }

    fn within(mut self, segment: Segment, place: Place) -> Self {
        self.segments.push(segment);
        self.at(place)
    }

    fn at(mut self, place: Place) -> Self {
        self.place = self.place.or(Some(place));
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Invalid(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Problem::WrongType { expected: plain(expected), found: found_words(found) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let expected = plain(expected);
        Self::new(Problem::WrongType { expected, found: array_words(length) })
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey {
            key: key.to_owned(),
            nearest: nearest_name(key, expected.iter().copied()),
            valid: expected.iter().map(|s| (*s).to_owned()).collect(),
        })
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownName {
            what: "value",
            name: name.to_owned(),
            nearest: nearest_name(name, expected.iter().copied()),
            valid: expected.iter().map(|s| (*s).to_owned()).collect(),
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Problem::MissingKey { key: key.to_owned() })
    }
}

/// What serde expects, in words of the file format.
fn plain(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "f64" => "a number".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more".into(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".into(),
        "a map" => "a table".into(),
        "a sequence" => "an array".into(),
        "a string" | "string" => "a string".into(),
        _ if words.starts_with("internally tagged enum ") => "a table that says its `kind`".into(),
        _ if words.starts_with("struct ") || words.contains("variant") => "a table".into(),
        _ if words.starts_with("enum ") => "a name".into(),
        _ => words
            .strip_prefix("an array of length ")
            .or(words.strip_prefix("a tuple of size "))
            .map(|n| format!("an array of {n} values"))
            .unwrap_or(words),
    }
}

fn found_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(s) => format!("the string \"{}\"", shortened(s)),
        Unexpected::Signed(i) => format!("the integer {i}"),
        Unexpected::Unsigned(i) => format!("the integer {i}"),
        Unexpected::Float(x) => format!("the number {x}"),
        Unexpected::Bool(b) => format!("the boolean {b}"),
        Unexpected::Map => "a table".into(),
        Unexpected::Seq => "an array".into(),
        other => other.to_string(),
    }
}

struct Decoder<'a>(&'a Node);

impl<'de> de::Deserializer<'de> for Decoder<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let place = self.0.place;
        let result = match &self.0.value {
            Value::String(s) => visitor.visit_str(s),
            Value::Integer(i) => visitor.visit_i64(*i),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Datetime(d) => visitor.visit_str(d),
            Value::Array(items) => visit_array(items, visitor),
            Value::Table(entries) => visitor.visit_map(Table { entries, at: 0 }),
        };
        result.map_err(|e| e.at(place))
    }

    /// A table: the fields of a struct have no order by which an array could give them.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.0.value {
            Value::Array(items) => Err(DecodeError::new(Problem::WrongType {
                expected: "a table".into(),
                found: array_words(items.len()),
            })
            .at(self.0.place)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let place = self.0.place;
        match &self.0.value {
            Value::String(name) => visitor
                .visit_enum(de::value::StrDeserializer::<DecodeError>::new(name))
                .map_err(|e| e.at(place)),
            Value::Table(entries) if entries.len() == 1 => {
                visitor.visit_enum(Tagged(&entries[0])).map_err(|e| e.at(place))
            }
            Value::Table(_) => Err(DecodeError::new(Problem::Invalid(format!(
                "expected a table with exactly one of the keys {}",
                variants.join(", ")
            )))
            .at(place)),
            _ => Err(DecodeError::new(Problem::WrongType {
                expected: format!("one of {}", variants.join(", ")),
                found: self.0.kind().into(),
            })
            .at(place)),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn visit_array<'de, V: Visitor<'de>>(items: &[Node], visitor: V) -> Result<V::Value, DecodeError> {
    let mut array = Array { items, at: 0 };
    // serde's visitor of [T; N] stops after N: what is left over is an error, too
    let value = visitor.visit_seq(&mut array)?;
    match items.len() - array.at {
        0 => Ok(value),
        _ => Err(DecodeError::new(Problem::WrongType {
            expected: format!("an array of {} values", array.at),
            found: array_words(items.len()),
        })),
    }
}

struct Array<'a> {
    items: &'a [Node],
    at: usize,
}

impl<'de> de::SeqAccess<'de> for Array<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(node) = self.items.get(self.at) else { return Ok(None) };
        self.at += 1;
        let index = Segment::Index(self.at - 1);
        seed.deserialize(Decoder(node)).map(Some).map_err(|e| e.within(index, node.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.at)
    }
}

struct Table<'a> {
    entries: &'a [Entry],
    at: usize,
}

impl<'de> de::MapAccess<'de> for Table<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some(entry) = self.entries.get(self.at) else { return Ok(None) };
        let key = de::value::StrDeserializer::<DecodeError>::new(&entry.key);
        seed.deserialize(key).map(Some).map_err(|e| e.at(entry.key_place))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        let entry = &self.entries[self.at];
        self.at += 1;
        seed.deserialize(Decoder(&entry.node))
            .map_err(|e| e.within(Segment::Key(entry.key.clone()), entry.node.place))
    }
}

/// The only entry of a table that stands for an enum variant with data.
struct Tagged<'a>(&'a Entry);

impl<'a, 'de> de::EnumAccess<'de> for Tagged<'a> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), DecodeError> {
        let key = de::value::StrDeserializer::<DecodeError>::new(&self.0.key);
        let variant = seed.deserialize(key).map_err(|e| e.at(self.0.key_place))?;
        Ok((variant, self))
    }
}

impl Tagged<'_> {
    fn inside(&self, error: DecodeError) -> DecodeError {
        error.within(Segment::Key(self.0.key.clone()), self.0.node.place)
    }
}

impl<'de> de::VariantAccess<'de> for Tagged<'_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(Decoder(&self.0.node)).map_err(|e| self.inside(e))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(Decoder(&self.0.node), visitor)
            .map_err(|e| self.inside(e))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_any(Decoder(&self.0.node), visitor)
            .map_err(|e| self.inside(e))
    }
}
