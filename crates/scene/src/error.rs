//! Errors of a scene file: what is wrong, where, and what would be right.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// What is wrong with a scene, and where.
#[derive(Debug, Clone)]
pub struct SceneError {
    /// What is wrong.
    pub problem: Box<Problem>,
    /// Key path, for instance `objects[2].material`; empty at the top.
    pub path: String,
    /// Name of the object concerned, where it has one.
    pub object: Option<String>,
    /// Where it stands; `None` if the file could not be read.
    pub location: Option<Box<Location>>,
}

/// A place in a scene file or in a `--set` option.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file or option.
    pub origin: Origin,
    /// Its whole text.
    pub text: Arc<str>,
    /// Byte range of the culprit.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A scene file.
    File(PathBuf),
    /// A `--set` option.
    Option(String),
}

impl Location {
    /// Finds line and column of `span.start` in `text`.
    pub fn new(origin: Origin, text: Arc<str>, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let end = span.end.clamp(start, text.len());
        Self { origin, text, span: start..end, line, column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File(path) => write!(f, "{}:{}:{}", path.display(), self.line, self.column),
            Origin::Option(option) => write!(f, "--set {}", printable(&shortened(option))),
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The scene file cannot be read.
    #[error("cannot read the scene file {}: {reason}{}", path.display(), did_you_mean(nearest))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
        /// A file in the same folder with a similar name.
        nearest: Option<String>,
    },
    /// Not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A `--set` that cannot be applied.
    #[error("{0}")]
    Override(String),
    /// A key that no setting has.
    #[error("unknown key '{key}'{}", instead(nearest, "valid keys", valid))]
    UnknownKey {
        /// The key.
        key: String,
        /// The most similar valid key.
        nearest: Option<String>,
        /// All keys of this table.
        valid: Vec<String>,
    },
    /// A name that nothing has: a material, object, region, law …
    #[error("unknown {what} '{name}'{}", instead(nearest, "known", valid))]
    UnknownName {
        /// What the name would name.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// All known names.
        valid: Vec<String>,
    },
    /// A key that must be there.
    #[error("the key '{key}' is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A value of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What the key takes.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A quantity with a missing, unknown or unfitting unit.
    #[error("{0}")]
    Unit(String),
    /// A number outside its range.
    #[error("{value} is out of range: {requirement}")]
    OutOfRange {
        /// The number, as written.
        value: String,
        /// What holds for valid ones.
        requirement: &'static str,
    },
    /// A name that is already taken.
    #[error("the {what} name '{name}' is used twice; names must be unique")]
    Duplicate {
        /// What is named.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A mesh file that does not exist.
    #[error(
        "mesh file '{written}' not found (looked for {}){}",
        looked_for.display(),
        did_you_mean(nearest)
    )]
    MissingMesh {
        /// As the scene says.
        written: String,
        /// The file that was looked for.
        looked_for: PathBuf,
        /// A similar name in the same folder.
        nearest: Option<String>,
    },
    /// A mesh that cannot be read or used.
    #[error("{0}")]
    Mesh(String),
    /// A selection of vertices that selects none.
    #[error("selects no vertex of '{object}', whose vertices lie between {min} and {max} m{hint}")]
    EmptySelection {
        /// The object.
        object: String,
        /// Least corner of its bounding box.
        min: String,
        /// Greatest corner of its bounding box.
        max: String,
        /// What else to try.
        hint: &'static str,
    },
    /// A setting that nothing reads with the other settings; why, and what to do.
    #[error("{0}")]
    Unread(String),
    /// Settings that contradict each other or miss something.
    #[error("{0}")]
    Invalid(String),
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!("; did you mean '{n}'?")).unwrap_or_default()
}

/// The nearest name and all of them: "; did you mean 'a'? known: a, b".
fn instead(nearest: &Option<String>, title: &str, valid: &[String]) -> String {
    let start = match nearest {
        Some(nearest) => format!("; did you mean '{nearest}'? "),
        None => "; ".to_owned(),
    };
    match valid {
        [] => "; there is none".into(),
        names if names.len() <= 40 => format!("{start}{title}: {}", names.join(", ")),
        names => {
            format!("{start}{} are known, among them {}", names.len(), names[..20].join(", "))
        }
    }
}

impl SceneError {
    /// The message without its place.
    pub fn message(&self) -> String {
        let mut message = self.problem.to_string();
        let path = &self.path;
        match &*self.problem {
            _ if path.is_empty() => {}
            Problem::UnknownKey { key, .. } => {
                let end = format!("unknown key '{key}'").len();
                message.insert_str(end, &format!(" in {path}"));
            }
            Problem::MissingKey { .. } => message.push_str(&format!(" in {path}")),
            _ => message = format!("{path}: {message}"),
        }
        if let Some(object) = &self.object {
            message.push_str(&format!(" (object '{object}')"));
        }
        printable(&message)
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message())
    }
}

impl std::error::Error for SceneError {}

/// A text of a scene as messages quote it: its beginning, if it is long.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
    }
}

/// A message without control characters, which a terminal would obey, and not longer than a page.
fn printable(message: &str) -> String {
    const LONGEST: usize = 4000;
    let mut out = String::with_capacity(message.len().min(LONGEST));
    for c in message.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        if out.len() > LONGEST {
            out.push_str(" …");
            break;
        }
    }
    out
}

/// The most similar of `names`, if one is similar at all: at most a third of the letters differ.
pub fn nearest_name<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > 100 {
        return None;
    }
    let wanted = name.to_lowercase();
    names
        .into_iter()
        .map(|n| (strsim::damerau_levenshtein(&wanted, &n.to_lowercase()), n))
        .filter(|(distance, n)| *distance <= (n.len().max(wanted.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, n)| n.to_owned())
}
