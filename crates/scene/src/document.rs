//! A scene file as a tree of values that remember where they stand: in the file, or in a `--set`
//! option that replaced them. Knows TOML; knows nothing of what the keys mean.

// long: one data structure: parsing, overrides and places all depend on how it is stored

use crate::error::{Location, Origin, Problem, SceneError, nearest_name, shortened};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value stands: a byte range of a source (0 is the file, k the k-th `--set`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index into the document's sources.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub enum Value {
    /// A string.
    String(String),
    /// An integer.
    Integer(i64),
    /// A float, `nan` and `inf` included.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A date or time, which no key takes.
    Datetime(String),
    /// An array.
    Array(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub node: Node,
}

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Key of a table.
    Key(String),
    /// Index into an array.
    Index(usize),
}

/// A path into a document, written `objects[2].material`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPath(pub Vec<Segment>);

impl KeyPath {
    /// The path one key deeper.
    pub fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Key(key.to_owned()));
        path
    }

    /// The path one index deeper.
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if k == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A parsed scene file with its overrides applied.
#[derive(Debug, Clone)]
pub struct Document {
    sources: Vec<(Origin, Arc<str>)>,
    /// The top table.
    pub root: Node,
}

impl Document {
    /// Parses the text of a scene file; `file` is its name in messages.
    pub fn parse(file: &Path, text: &str) -> Result<Self, SceneError> {
        let mut document = Self {
            sources: vec![(Origin::File(file.to_owned()), Arc::from(text))],
            root: Node {
                value: Value::Table(Vec::new()),
                place: Place { source: 0, start: 0, end: 0 },
            },
        };
        let table = DeTable::parse(text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            let place = Place { source: 0, start: span.start, end: span.end };
            document.error_at(place, KeyPath::default(), Problem::Syntax(syntax(&e)))
        })?;
        document.root.value = table_of(table.into_inner(), 0, 0)
            .map_err(|(place, problem)| document.error_at(place, KeyPath::default(), problem))?;
        Ok(document)
    }

    /// Applies an override `key.path=value`, or takes a key out by `key.path=unset`. An element of an array of tables is named by its
    /// index (`objects[0]` or `objects.0`) or its name (`objects.ball`); a value that is not TOML is a
    /// string (`time.step=5ms`).
    pub fn set(&mut self, option: &str) -> Result<(), SceneError> {
        let source = self.sources.len();
        self.sources.push((Origin::Option(option.to_owned()), Arc::from(option)));
        let place = |start: usize, end: usize| Place { source, start, end };
        let fail = |document: &Self, place, message: String| {
            Err(document.error_at(place, KeyPath::default(), Problem::Override(message)))
        };
        let Some(equals) = option.find('=') else {
            let what = "an override is written key=value, for instance time.step=0.005";
            return fail(self, place(0, option.len()), what.into());
        };
        let (keys, value) = (&option[..equals], option[equals + 1..].trim());
        let segments = match override_path(keys) {
            Ok(path) => path,
            Err((range, message)) => return fail(self, place(range.start, range.end), message),
        };
        let at = |s: PathSegment| (s.name, place(s.range.start, s.range.end), s.index);
        let segments: Vec<_> = segments.into_iter().map(at).collect();
        if value.is_empty() {
            return fail(self, place(0, option.len()), "the value after '=' is missing".into());
        }
        let changed = if value == UNSET {
            take_out(&mut self.root, &segments)
        } else {
            let start = option.len() - option[equals + 1..].trim_start().len();
            let node = match DeValue::parse(value) {
                Ok(parsed) => node_of(parsed, source, start).map_err(|(place, problem)| {
                    self.error_at(place, KeyPath::default(), problem)
                })?,
                Err(_) if !value.starts_with(['"', '\'', '[', '{']) => Node {
                    value: Value::String(value.to_owned()),
                    place: place(start, option.len()),
                },
                Err(e) => return fail(self, place(start, option.len()), syntax(&e)),
            };
            assign(&mut self.root, &segments, node)
        };
        changed.map_err(|(at, problem)| self.error_at(at, KeyPath::default(), problem))
    }

    /// Refuses keys, names and other texts with control characters, which terminals and file formats
    /// would obey; descriptions may have lines.
    pub fn refuse_control_characters(&self) -> Result<(), SceneError> {
        fn search(node: &Node, path: &KeyPath) -> Option<(Place, KeyPath)> {
            match &node.value {
                Value::String(text) => {
                    let lines = *path == KeyPath::default().key("description");
                    let bad =
                        |c: char| c.is_control() && !(lines && matches!(c, '\n' | '\r' | '\t'));
                    text.contains(bad).then(|| (node.place, path.clone()))
                }
                Value::Array(items) => {
                    items.iter().enumerate().find_map(|(k, item)| search(item, &path.index(k)))
                }
                Value::Table(entries) => {
                    entries.iter().find_map(|e| match e.key.contains(char::is_control) {
                        true => Some((e.key_place, path.clone())),
                        false => search(&e.node, &path.key(&e.key)),
                    })
                }
                _ => None,
            }
        }
        match search(&self.root, &KeyPath::default()) {
            None => Ok(()),
            Some((place, path)) => {
                let what = "the text holds a control character (such as a line break or an escape)";
                Err(self.error_at(place, path, Problem::Invalid(what.into())))
            }
        }
    }

    /// The node at a path.
    pub fn find(&self, path: &KeyPath) -> Option<&Node> {
        path.0.iter().try_fold(&self.root, |node, segment| node.child(segment))
    }

    /// Where the last key of a path stands, if the document has it; the value, where an override replaced that.
    pub fn key_place(&self, path: &KeyPath) -> Option<Place> {
        let (Segment::Key(last), parents) = path.0.split_last()? else { return None };
        let parent = parents.iter().try_fold(&self.root, |node, segment| node.child(segment))?;
        let Value::Table(entries) = &parent.value else { return None };
        let entry = entries.iter().find(|e| e.key == *last)?;
        let replaced = entry.node.place.source != entry.key_place.source;
        Some(if replaced { entry.node.place } else { entry.key_place })
    }

    /// Where the node at a path stands, or the nearest enclosing one that the document holds.
    pub fn place(&self, path: &KeyPath) -> Place {
        let mut node = &self.root;
        for segment in &path.0 {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.place
    }

    /// An error about the value at `path`.
    pub fn error(&self, path: &KeyPath, problem: Problem) -> SceneError {
        self.error_at(self.place(path), path.clone(), problem)
    }

    /// An error about `path`, shown at `place`.
    pub fn error_at(&self, place: Place, path: KeyPath, problem: Problem) -> SceneError {
        let (origin, text) = &self.sources[place.source];
        let object = self.object_of(&path);
        SceneError {
            problem: Box::new(problem),
            path: path.to_string(),
            object,
            location: Some(Box::new(Location::new(
                origin.clone(),
                text.clone(),
                place.start..place.end,
            ))),
        }
    }

    /// Name of the object that a path leads into.
    fn object_of(&self, path: &KeyPath) -> Option<String> {
        let [Segment::Key(top), Segment::Index(index), ..] = path.0.as_slice() else {
            return None;
        };
        if top != "objects" {
            return None;
        }
        match &self.find(&KeyPath::default().key(top).index(*index).key("name"))?.value {
            Value::String(name) => Some(name.clone()),
            _ => None,
        }
    }
}

impl Node {
    /// The child at a segment.
    pub fn child(&self, segment: &Segment) -> Option<&Node> {
        match (segment, &self.value) {
            (Segment::Key(key), _) => self.entry(key).map(|e| &e.node),
            (Segment::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        }
    }

    /// The key of a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// The key of a table, to change it.
    pub fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|e| e.key == key),
            _ => None,
        }
    }

    /// The elements of the list under a key of a table, to change them.
    pub fn list(&mut self, key: &str) -> impl Iterator<Item = &mut Self> {
        match self.entry_mut(key).map(|e| &mut e.node.value) {
            Some(Value::Array(items)) => items.iter_mut(),
            _ => [].iter_mut(),
        }
    }

    /// Puts a key at the end of a table.
    pub fn add(&mut self, entry: Entry) {
        if let Value::Table(entries) = &mut self.value {
            entries.push(entry);
        }
    }

    /// Takes a key out of a table.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let Value::Table(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|e| e.key == key)?;
        Some(entries.remove(at))
    }

    /// The text under the key `name`.
    pub fn name(&self) -> Option<&str> {
        match &self.entry("name")?.node.value {
            Value::String(name) => Some(name),
            _ => None,
        }
    }

    /// Says of everything in it that it stands at `place`.
    pub fn set_place(&mut self, place: Place) {
        self.place = place;
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.set_place(place)),
            Value::Table(entries) => entries.iter_mut().for_each(|e| {
                e.key_place = place;
                e.node.set_place(place);
            }),
            _ => {}
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::String(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

type Fault = (Place, Problem);

/// Most levels of a document, which is what the parser of TOML has within a key and within a value. All that traverses
/// a document calls itself once per level.
const LEVELS: usize = 80;

/// What the parser says is wrong.
fn syntax(error: &toml::de::Error) -> String {
    let message = error.message();
    match message.contains("recursion") {
        true => format!("it is nested deeper than {LEVELS} levels; no key of a scene is"),
        false => message.to_owned(),
    }
}

fn table_of(table: DeTable<'_>, source: usize, offset: usize) -> Result<Value, Fault> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let span = key.span();
        let key_place = Place { source, start: span.start + offset, end: span.end + offset };
        let key = key.into_inner().into_owned();
        entries.push(Entry { key, key_place, node: node_of(value, source, offset)? });
    }
    Ok(Value::Table(entries))
}

fn node_of(spanned: Spanned<DeValue<'_>>, source: usize, offset: usize) -> Result<Node, Fault> {
    let span = spanned.span();
    let place = Place { source, start: span.start + offset, end: span.end + offset };
    let value = match spanned.into_inner() {
        DeValue::String(s) => Value::String(s.into_owned()),
        DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) => return Err((place, Problem::Syntax(format!("integer {i} is too large")))),
        },
        DeValue::Float(f) => match f.as_str().parse() {
            Ok(value) => Value::Float(value),
            Err(_) => return Err((place, Problem::Syntax(format!("{f} is not a number")))),
        },
        DeValue::Boolean(b) => Value::Boolean(b),
        DeValue::Datetime(d) => Value::Datetime(d.to_string()),
        DeValue::Array(items) => Value::Array(
            items.into_iter().map(|v| node_of(v, source, offset)).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => table_of(table, source, offset)?,
    };
    Ok(Node { value, place })
}

/// Value of an override that takes a key out.
const UNSET: &str = "unset";

/// A step of the key path of an override.
struct PathSegment {
    name: String,
    /// Where it stands in the option.
    range: std::ops::Range<usize>,
    /// Whether it stands in brackets.
    index: bool,
}

/// The steps of `a.b[2].c`; the place and a message where it is no path.
fn override_path(keys: &str) -> Result<Vec<PathSegment>, (std::ops::Range<usize>, String)> {
    let levels = keys.split(['.', '[']).count();
    if levels > LEVELS {
        let what = format!(
            "the key has {levels} parts, more than the {LEVELS} that are read; write key.path=value, for instance \
             time.step=0.005"
        );
        return Err((0..keys.len(), what));
    }
    let mut path: Vec<PathSegment> = Vec::new();
    let mut start = 0;
    for part in keys.split('.') {
        let (mut from, end) = (start, start + part.len());
        start = end + 1;
        let mut pieces = part.split('[');
        for (k, piece) in pieces.by_ref().enumerate() {
            let range = from..from + piece.len();
            from = range.end + 1;
            let (name, index) = match k {
                0 => (piece.trim(), false),
                _ => match piece.trim_end().strip_suffix(']') {
                    Some(name) => (name.trim(), true),
                    None => return Err((range, format!("a ']' is missing after '[{piece}'"))),
                },
            };
            if name.is_empty() {
                return Err((range, format!("empty key in '{}'", shortened(keys.trim()))));
            }
            if name.contains(']') {
                return Err((range, format!("a '[' is missing before '{name}'")));
            }
            path.push(PathSegment { name: name.to_owned(), range, index });
        }
    }
    Ok(path)
}

/// End of the key of a quantity in multiples of a length or speed of the scene. The key without it gives the
/// quantity itself.
const RELATIVE: &str = "_relative";

/// The other key of a quantity that may be given in two ways.
pub(crate) fn twin(key: &str) -> String {
    key.strip_suffix(RELATIVE).map_or_else(|| format!("{key}{RELATIVE}"), str::to_owned)
}

/// Puts `node` at the path `segments` below `target`; missing tables are made. What stands there is replaced,
/// and so is its twin.
fn assign(target: &mut Node, segments: &[(String, Place, bool)], node: Node) -> Result<(), Fault> {
    let Some(((name, place, _), rest)) = segments.split_first() else {
        *target = node;
        return Ok(());
    };
    let kind = target.kind();
    match &mut target.value {
        Value::Table(entries) => {
            if rest.is_empty() {
                let twin = twin(name);
                entries.retain(|e| e.key != twin);
            }
            let at = match entries.iter().position(|e| e.key == *name) {
                Some(at) => at,
                None if matches!(rest.first(), Some((_, _, true))) => {
                    let what = format!(
                        "the scene does not say '{name}', of which one element cannot be replaced; \
                         give all of it, for instance {name}=[…]"
                    );
                    return Err((*place, Problem::Override(what)));
                }
                None => {
                    let empty = Node { value: Value::Table(Vec::new()), place: *place };
                    entries.push(Entry { key: name.clone(), key_place: *place, node: empty });
                    entries.len() - 1
                }
            };
            assign(&mut entries[at].node, rest, node)
        }
        Value::Array(items) => {
            let index = element(items, name).map_err(|problem| (*place, problem))?;
            assign(&mut items[index], rest, node)
        }
        _ => Err((*place, Problem::Override(format!("'{name}' would be a key of {kind}")))),
    }
}

/// Takes the key at `segments` out of `target`, so that its default holds.
fn take_out(target: &mut Node, segments: &[(String, Place, bool)]) -> Result<(), Fault> {
    let Some(((name, place, _), rest)) = segments.split_first() else { return Ok(()) };
    let nothing = || {
        Problem::Override(format!("the scene does not say '{name}': there is nothing to take out"))
    };
    match &mut target.value {
        Value::Table(entries) => {
            let at = entries.iter().position(|e| e.key == *name).ok_or((*place, nothing()))?;
            if rest.is_empty() {
                entries.remove(at);
                return Ok(());
            }
            take_out(&mut entries[at].node, rest)
        }
        Value::Array(items) if !rest.is_empty() => {
            let index = element(items, name).map_err(|problem| (*place, problem))?;
            take_out(&mut items[index], rest)
        }
        _ => Err((*place, nothing())),
    }
}

/// Index of an element of an array by its name or its number.
fn element(items: &[Node], name: &str) -> Result<usize, Problem> {
    let names: Vec<String> = items.iter().filter_map(Node::name).map(str::to_owned).collect();
    let by_name = items.iter().position(|i| i.name() == Some(name));
    let index = by_name.or_else(|| name.parse().ok().filter(|i| *i < items.len()));
    index.ok_or_else(|| no_element(name, items.len(), names))
}

fn no_element(name: &str, count: usize, names: Vec<String>) -> Problem {
    if name.parse::<usize>().is_ok() {
        return Problem::Override(format!("there is no element {name}: the array has {count}"));
    }
    Problem::UnknownName {
        what: "element",
        name: name.to_owned(),
        nearest: nearest_name(name, names.iter().map(String::as_str)),
        valid: names,
    }
}
