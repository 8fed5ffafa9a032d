//! The keyword format: blocks of a keyword line with parameters and the data lines below it.

use crate::error::{Fault, InpError, Notes, Place};
use standoff_mesh::input::{self, MOST_TEXT};
use std::path::{Component, Path, PathBuf};

/// Files inside files at most.
const DEPTH: usize = 16;

/// A data line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub at: Place,
    pub text: String,
}

impl Line {
    /// Its fields without the blanks around them. An empty field behind the last comma is none.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let mut fields: Vec<&str> = self.text.split(',').map(unquoted).collect();
        if fields.last().is_some_and(|f| f.is_empty()) {
            fields.pop();
        }
        fields
    }
}

/// A keyword with its parameters and data lines.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// In capitals, without the asterisk.
    pub keyword: String,
    /// Names in capitals, with the value, which is empty where there is none.
    parameters: Vec<(String, String)>,
    pub lines: Vec<Line>,
    pub at: Place,
}

impl Block {
    /// The value of a parameter; empty where it stands alone.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|p| p.0 == name).map(|p| p.1.as_str())
    }

    /// The value of a parameter in capitals.
    pub(crate) fn option(&self, name: &str) -> Option<String> {
        self.parameter(name).map(str::to_uppercase)
    }

    /// The value of a parameter that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, Fault> {
        self.parameter(name).filter(|v| !v.is_empty()).ok_or_else(|| {
            let what = format!("*{} has no {name}=", self.keyword);
            Fault::new(self.at, what, format!("Write *{}, {name}=…", self.keyword))
        })
    }

    /// Notes the parameters that are not among those that are read.
    pub(crate) fn reads(&self, known: &[&str], notes: &mut Notes) {
        for (name, value) in self.parameters.iter().filter(|p| !known.contains(&p.0.as_str())) {
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            notes.add(
                self.at,
                format!("the parameter {name}{value} of *{} is not read", self.keyword),
            );
        }
    }

    /// Numbers of all data lines, one list for each line; empty fields are `None`.
    pub(crate) fn table(&self) -> Result<Vec<Vec<Option<f64>>>, Fault> {
        let row = |line: &Line| {
            let number =
                |f: &str| if f.is_empty() { Ok(None) } else { number(f, line.at).map(Some) };
            line.fields().into_iter().map(number).collect()
        };
        self.lines.iter().map(row).collect()
    }
}

/// A field without blanks and quotation marks.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text)
}

/// A finite number; exponents may have the letter D.
pub(crate) fn number(field: &str, at: Place) -> Result<f64, Fault> {
    let plain = field.replace(['d', 'D'], "e");
    match plain.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(Fault::new(
            at,
            format!("{field:?} is no finite number"),
            "Write a number such as 2.1e11",
        )),
    }
}

/// The number in a field that has to be there.
pub(crate) fn field(fields: &[&str], k: usize, line: &Line) -> Result<f64, Fault> {
    match fields.get(k).filter(|f| !f.is_empty()) {
        Some(f) => number(f, line.at),
        None => {
            Err(Fault::new(line.at, format!("field {} is missing", k + 1), "Complete the line"))
        }
    }
}

/// The number of a node or an element.
pub(crate) fn label(field: &str, at: Place) -> Result<u64, Fault> {
    field.parse().map_err(|_| {
        let what = format!("{field:?} is no number of a node or an element");
        Fault::new(at, what, "Write a whole number such as 12")
    })
}

/// An input file with all that it includes.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub files: Vec<PathBuf>,
    pub blocks: Vec<Block>,
    bytes: u64,
}

impl Source {
    pub(crate) fn read(path: &Path) -> Result<Self, InpError> {
        let mut source = Self::default();
        source.add(path, 0)?;
        Ok(source)
    }

    fn add(&mut self, path: &Path, depth: usize) -> Result<(), InpError> {
        let data = input::bytes(path, MOST_TEXT.saturating_sub(self.bytes))
            .map_err(|source| InpError::Read { file: path.to_path_buf(), source })?;
        self.bytes += data.len() as u64;
        let file = self.files.len();
        self.files.push(path.to_path_buf());
        // comments may be in any encoding
        let text = String::from_utf8_lossy(&data);
        let mut lines =
            text.lines().enumerate().map(|(i, l)| (Place { file, line: i + 1 }, l)).peekable();
        while let Some((at, line)) = lines.next() {
            let line = line.trim();
            if line.is_empty() || line.starts_with("**") {
                continue;
            }
            let Some(head) = line.strip_prefix('*') else {
                self.data(at, line)?;
                continue;
            };
            let mut head = head.to_owned();
            while head.ends_with(',') && lines.peek().is_some_and(|(_, l)| continues(l)) {
                if let Some((_, next)) =
                    lines.next().filter(|(_, l)| !l.trim_start().starts_with("**"))
                {
                    head.push_str(next.trim());
                }
            }
            let block = block(&head, at);
            if block.keyword == "INCLUDE" {
                self.include(path, &block, depth)?;
            } else {
                self.blocks.push(block);
            }
        }
        Ok(())
    }

    fn data(&mut self, at: Place, line: &str) -> Result<(), InpError> {
        match self.blocks.last_mut() {
            Some(block) => {
                block.lines.push(Line { at, text: line.to_owned() });
                Ok(())
            }
            None => {
                let what = "there is no keyword above this line";
                let hint = "An input file begins with a keyword such as *NODE";
                Err(Fault::new(at, what, hint).named(&self.files))
            }
        }
    }

    /// Only files beside the file or below its folder are read, so that a model cannot show what else is on a disk.
    fn include(&mut self, from: &Path, block: &Block, depth: usize) -> Result<(), InpError> {
        let fault = |what: String, hint: &str| Fault::new(block.at, what, hint);
        let named = |f: Fault| f.named(&self.files);
        let written = block.required("INPUT").map_err(named)?;
        let relative = Path::new(written);
        let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(inside) {
            let what = format!("the included file {written:?} is not in the folder of the model");
            return Err(named(fault(
                what,
                "Put it there and name it without .. and without a leading /",
            )));
        }
        if depth >= DEPTH {
            let what = format!("files include each other more than {DEPTH} deep");
            return Err(named(fault(what, "Check whether a file includes itself")));
        }
        let path = from.parent().unwrap_or(Path::new("")).join(relative);
        match self.add(&path, depth + 1) {
            Err(InpError::Read { file, source }) if file == path => {
                let what = format!("cannot read the included file {written:?}: {source}");
                let hint = "Put it beside the file that includes it";
                Err(Fault::new(block.at, what, hint).named(&self.files))
            }
            other => other,
        }
    }
}

/// Parameters without a value that may stand at the beginning of a line of their own.
const FLAGS: [&str; 8] = [
    "GENERATE",
    "INTERNAL",
    "UNSORTED",
    "NLGEOM",
    "DIRECT",
    "EXPLICIT",
    "PERTURBATION",
    "INSTANCE",
];

/// Whether a line below a keyword line that ends in a comma continues it. Some programs write such a comma, and data below it.
fn continues(line: &str) -> bool {
    let line = line.trim();
    let first = line.split(',').next().unwrap_or_default().trim().to_uppercase();
    let is_keyword = line.starts_with('*') && !line.starts_with("**");
    !is_keyword && (line.starts_with("**") || line.contains('=') || FLAGS.contains(&&first[..]))
}

/// A keyword line without its asterisk. Blanks between words of a keyword count once.
fn block(head: &str, at: Place) -> Block {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
    let mut parts = head.split(',');
    let keyword = words(parts.next().unwrap_or_default());
    let parameter = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (words(name), unquoted(value).to_owned())
    };
    let parameters = parts.filter(|p| !p.trim().is_empty()).map(parameter).collect();
    Block { keyword, parameters, lines: Vec::new(), at }
}
