//! What can be wrong with an input file, and where.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Why an input file cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum InpError {
    /// A file cannot be opened or read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is wrong, or says what Standoff cannot do.
    #[error("{}, line {line}: {what}. {hint}", .file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// No single line is to blame.
    #[error("{}: {what}. {hint}", .file.display())]
    Whole {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
}

/// A line of one of the files that an input file includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    pub file: usize,
    /// From 1; 0 where no single line is to blame.
    pub line: usize,
}

/// An error before the names of the files are put in.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: Place,
    pub what: String,
    pub hint: String,
}

impl Fault {
    pub(crate) fn new(at: Place, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { at, what: what.into(), hint: hint.into() }
    }

    pub(crate) fn named(self, files: &[PathBuf]) -> InpError {
        let file = files.get(self.at.file).map_or_else(PathBuf::new, Clone::clone);
        let (what, hint) = (self.what, self.hint);
        match self.at.line {
            0 => InpError::Whole { file, what, hint },
            line => InpError::Line { file, line, what, hint },
        }
    }
}

/// What is not taken over literally, by line; notes of the same text are one.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    index: HashMap<String, usize>,
    list: Vec<(String, Vec<Place>)>,
}

impl Notes {
    pub(crate) fn add(&mut self, at: Place, text: impl Into<String>) {
        let text = text.into();
        let next = self.list.len();
        match self.index.get(&text) {
            Some(i) => self.list[*i].1.push(at),
            None => {
                self.index.insert(text.clone(), next);
                self.list.push((text, vec![at]));
            }
        }
    }

    /// One sentence for each text, by the line at which it comes first.
    pub(crate) fn sentences(mut self, files: &[PathBuf]) -> Vec<String> {
        for (_, places) in &mut self.list {
            places.sort_unstable();
            places.dedup();
        }
        self.list.sort_by_key(|(_, places)| places[0]);
        self.list.iter().map(|(text, places)| sentence(text, places, files)).collect()
    }
}

/// Lines that a note names at most.
const LINES: usize = 6;

fn sentence(text: &str, places: &[Place], files: &[PathBuf]) -> String {
    let lines: Vec<&Place> = places.iter().filter(|p| p.line > 0).collect();
    let Some(first) = lines.first() else { return text.to_owned() };
    let name = |p: &Place| {
        let file = files.get(p.file).map(PathBuf::as_path).and_then(Path::file_name);
        let included = file.filter(|_| p.file > 0).map(|f| format!(" of {}", f.to_string_lossy()));
        format!("{}{}", p.line, included.unwrap_or_default())
    };
    if lines.len() == 1 {
        return format!("line {}: {text}", name(first));
    }
    let shown: Vec<String> = lines.iter().take(LINES).map(|p| name(p)).collect();
    let more = match lines.len().saturating_sub(LINES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("lines {}{more}: {text}", shown.join(", "))
}
