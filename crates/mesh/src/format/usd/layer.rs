//! The text of a USD layer (`.usda`) as a tree of prims.
//!
//! Attributes keep their default value and their time samples. What meshes do not need, relationships, connections and
//! dictionaries are parsed and dropped.

// long: one function for each form of value of the format

use super::super::scan::{Result, Scanner};
use std::collections::BTreeMap;
use std::path::Path;

/// Nested prims, lists and dictionaries at most, so that no file exhausts the stack.
pub(super) const DEPTH: usize = 128;

/// A value, as far as it is needed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `None`, or a value that is not needed.
    Nothing,
    /// A number, a tuple of numbers, or a list of either: all numbers, and how many make an entry.
    Numbers(Vec<f64>, usize),
    /// A string, token or asset.
    Text(String),
    /// A list of strings, tokens, assets or paths.
    Texts(Vec<String>),
}

#[derive(Debug, Default)]
pub(super) struct Attribute {
    pub(super) value: Option<Value>,
    /// Time samples: time codes, ascending, and values.
    pub(super) samples: Vec<(f64, Value)>,
}

/// Whether meshes, curves, points or transforms are read from an attribute.
pub(super) fn is_needed(attribute: &str) -> bool {
    attribute.starts_with("xformOp")
        || matches!(
            attribute,
            "points"
                | "faceVertexCounts"
                | "faceVertexIndices"
                | "holeIndices"
                | "subdivisionScheme"
                | "orientation"
                | "curveVertexCounts"
                | "type"
                | "wrap"
                | "visibility"
                | "purpose"
        )
}

#[derive(Debug, Default)]
pub(super) struct Prim {
    /// `def`, `over` or `class`.
    pub(super) specifier: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) attributes: BTreeMap<String, Attribute>,
    pub(super) children: Vec<Prim>,
    /// Whether it has variants.
    pub(super) variants: bool,
}

/// What the head of the layer says, and its prims.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) metadata: BTreeMap<String, Value>,
    pub(super) prims: Vec<Prim>,
}

pub(super) fn parse(path: &Path, data: &[u8]) -> Result<Layer> {
    let mut p = Parser { scan: Scanner::new(path, data), data, pos: 0, depth: 0 };
    if !data.starts_with(b"#usda 1.0") {
        return Err(
            p.error("the file does not start with \"#usda 1.0\"", "Is this a USD text file?")
        );
    }
    let mut layer = Layer::default();
    if p.peek() == b'(' {
        p.metadata(&mut layer.metadata)?;
    }
    loop {
        match p.peek() {
            0 => return Ok(layer),
            _ => match p.word()? {
                b"reorder" => p.statement_value()?,
                b";" => {}
                specifier => layer.prims.push(p.prim(specifier)?),
            },
        }
    }
}

struct Parser<'a> {
    /// Places errors.
    scan: Scanner<'a>,
    data: &'a [u8],
    pos: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn error(&mut self, what: impl Into<String>, hint: &str) -> crate::MeshError {
        self.scan.seek(self.pos);
        self.scan.error(what, hint)
    }

    fn unexpected(&mut self, what: &str) -> crate::MeshError {
        self.skip_blank();
        self.scan.seek(self.pos);
        let rest = &self.data[self.pos..];
        if rest.is_empty() {
            return self.scan.truncated(what);
        }
        let end = rest.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
        self.scan.unexpected(&rest[..end], what)
    }

    /// Moves past white space and comments.
    fn skip_blank(&mut self) {
        while let Some(&b) = self.data.get(self.pos) {
            if b == b'#' {
                let rest = &self.data[self.pos..];
                self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if b.is_ascii_whitespace() {
                self.pos += 1;
            } else {
                break;
            }
        }
    }

    /// The next byte that is no blank; 0 at the end.
    fn peek(&mut self) -> u8 {
        self.skip_blank();
        self.data.get(self.pos).copied().unwrap_or(0)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && self.pos < self.data.len();
        self.pos += usize::from(found);
        found
    }

    fn require(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("\"{}\"", char::from(byte))))
        }
    }

    fn deeper<T>(&mut self, of: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH {
            let what = format!("more than {DEPTH} levels are nested");
            return Err(self.error(what, "Flatten the file: usdcat --flatten IN -o OUT.usda"));
        }
        self.depth += 1;
        let result = of(self);
        self.depth -= 1;
        result
    }

    /// An identifier with its namespaces and array brackets, or a single character.
    fn word(&mut self) -> Result<&'a [u8]> {
        self.skip_blank();
        let rest = &self.data[self.pos..];
        let part = |b: &u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-' | b'+') || *b >= 0x80
        };
        let length = rest.iter().position(|b| !part(b)).unwrap_or(rest.len());
        if rest.is_empty() {
            return Err(self.unexpected("a word"));
        }
        let length = length.max(1);
        self.pos += length;
        Ok(&rest[..length])
    }

    /// `( key = value … )`
    fn metadata(&mut self, into: &mut BTreeMap<String, Value>) -> Result<()> {
        self.require(b'(')?;
        while !self.take(b')') {
            if matches!(self.peek(), b'"' | b'\'') {
                // a bare string is the documentation
                self.string()?;
                continue;
            }
            if self.take(b';') || self.take(b',') {
                continue;
            }
            let mut key = self.word()?;
            let edited = matches!(key, b"prepend" | b"append" | b"add" | b"delete" | b"reorder");
            let kept = !matches!(key, b"delete" | b"reorder");
            if edited {
                key = self.word()?;
            }
            self.require(b'=')?;
            let value = self.value(true)?;
            if self.peek() == b'(' {
                // the offset of a reference
                self.deeper(|p| p.metadata(&mut BTreeMap::new()))?;
            }
            if kept {
                into.insert(text(key), value);
            }
        }
        Ok(())
    }

    /// A prim behind its specifier.
    fn prim(&mut self, specifier: &[u8]) -> Result<Prim> {
        if !matches!(specifier, b"def" | b"over" | b"class") {
            self.pos -= specifier.len();
            return Err(self.unexpected("\"def\", \"over\" or \"class\""));
        }
        let mut prim = Prim { specifier: text(specifier), ..Prim::default() };
        if !matches!(self.peek(), b'"' | b'\'') {
            prim.kind = text(self.word()?);
        }
        prim.name = self.string()?;
        if self.peek() == b'(' {
            self.metadata(&mut prim.metadata)?;
        }
        self.deeper(|p| p.body(&mut prim))?;
        Ok(prim)
    }

    /// `{ attributes, relationships, prims and variants }`
    fn body(&mut self, prim: &mut Prim) -> Result<()> {
        self.require(b'{')?;
        while !self.take(b'}') {
            let word = self.word()?;
            match word {
                b";" => {}
                b"def" | b"over" | b"class" => prim.children.push(self.prim(word)?),
                b"reorder" => {
                    self.word()?;
                    self.require(b'=')?;
                    self.value(false)?;
                }
                b"variantSet" => {
                    prim.variants = true;
                    self.variant_set()?;
                }
                _ => self.property(word, prim)?,
            }
        }
        Ok(())
    }

    /// `variantSet "name" = { "variant" (…) { … } … }`, which is dropped.
    fn variant_set(&mut self) -> Result<()> {
        self.string()?;
        self.require(b'=')?;
        self.require(b'{')?;
        while !self.take(b'}') {
            self.string()?;
            if self.peek() == b'(' {
                self.metadata(&mut BTreeMap::new())?;
            }
            self.deeper(|p| p.body(&mut Prim::default()))?;
        }
        Ok(())
    }

    /// A relationship or an attribute that starts with `word`.
    fn property(&mut self, word: &[u8], prim: &mut Prim) -> Result<()> {
        let mut kind = word;
        while matches!(
            kind,
            b"custom"
                | b"uniform"
                | b"varying"
                | b"config"
                | b"prepend"
                | b"append"
                | b"add"
                | b"delete"
                | b"reorder"
        ) {
            kind = self.word()?;
        }
        if !kind[0].is_ascii_alphabetic() && kind[0] != b'_' {
            self.pos -= kind.len();
            return Err(self.unexpected("an attribute, a prim or \"}\""));
        }
        if self.take(b'[') {
            self.require(b']')?;
        }
        let name = text(self.word()?);
        let relation = kind == b"rel";
        if self.take(b'=') {
            if let Some(base) = name.strip_suffix(".timeSamples") {
                let samples = self.samples(is_needed(base))?;
                prim.attributes.entry(base.to_owned()).or_default().samples = samples;
            } else {
                let wanted = !relation && !name.ends_with(".connect");
                let value = self.value(wanted)?;
                if wanted && value != Value::Nothing {
                    prim.attributes.entry(name).or_default().value = Some(value);
                }
            }
        }
        if self.peek() == b'(' {
            self.metadata(&mut BTreeMap::new())?;
        }
        Ok(())
    }

    /// `{ time: value, … }` without those that are blocked.
    fn samples(&mut self, wanted: bool) -> Result<Vec<(f64, Value)>> {
        let mut samples: Vec<(f64, Value)> = Vec::new();
        self.require(b'{')?;
        while !self.take(b'}') {
            let time = self.number()?;
            self.require(b':')?;
            let value = self.value(wanted)?;
            if wanted && value != Value::Nothing {
                samples.push((time, value));
            }
            if !self.take(b',') && self.peek() != b'}' {
                return Err(self.unexpected("\",\" or \"}\""));
            }
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(samples)
    }

    /// What follows `reorder` at the top: a key and a list.
    fn statement_value(&mut self) -> Result<()> {
        self.word()?;
        self.require(b'=')?;
        self.value(false).map(|_| ())
    }

    /// Any value; one that is not `wanted` is only passed over.
    fn value(&mut self, wanted: bool) -> Result<Value> {
        match self.peek() {
            b'"' | b'\'' => self.string().map(Value::Text),
            b'@' => self.asset().map(Value::Text),
            b'<' => self.path().map(Value::Text),
            b'{' => self.deeper(Self::dictionary).map(|()| Value::Nothing),
            b'[' => self.deeper(|p| p.list(wanted)),
            b'(' => {
                let mut numbers = Vec::new();
                self.tuple(&mut numbers)?;
                let width = numbers.len();
                Ok(Value::Numbers(numbers, width))
            }
            b'a'..=b'z' | b'A'..=b'Z' if !self.starts_number() => {
                match self.word()? {
                    b"true" | b"True" => Ok(Value::Numbers(vec![1.0], 1)),
                    b"false" | b"False" => Ok(Value::Numbers(vec![0.0], 1)),
                    // None, and words of fields that are not needed
                    _ => Ok(Value::Nothing),
                }
            }
            _ => Ok(Value::Numbers(vec![self.number()?], 1)),
        }
    }

    /// Whether a word is a number: `inf`, `nan`.
    fn starts_number(&self) -> bool {
        let rest = &self.data[self.pos..];
        rest.starts_with(b"inf") || rest.starts_with(b"nan")
    }

    fn number(&mut self) -> Result<f64> {
        self.skip_blank();
        let rest = &self.data[self.pos..];
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let length = rest.iter().position(|b| !part(b)).unwrap_or(rest.len());
        match super::super::scan::parse::<f64>(&rest[..length]) {
            Some(number) => {
                self.pos += length;
                Ok(number)
            }
            None => Err(self.unexpected("a value")),
        }
    }

    /// `[ … ]` of numbers, tuples, texts or other values.
    fn list(&mut self, wanted: bool) -> Result<Value> {
        self.require(b'[')?;
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        let (mut width, mut entries) = (0, 0);
        while !self.take(b']') {
            let before = numbers.len();
            match self.peek() {
                b'(' => self.tuple(&mut numbers)?,
                b'+' | b'-' | b'.' | b'0'..=b'9' => numbers.push(self.number()?),
                _ => match self.value(wanted)? {
                    Value::Text(text) => {
                        // layers of an asset may be followed by a prim and an offset
                        if self.peek() == b'<' {
                            self.path()?;
                        }
                        if self.peek() == b'(' {
                            self.deeper(|p| p.metadata(&mut BTreeMap::new()))?;
                        }
                        texts.push(text);
                    }
                    Value::Numbers(more, _) => numbers.extend(more),
                    Value::Texts(more) => texts.extend(more),
                    Value::Nothing => {}
                },
            }
            let added = numbers.len() - before;
            entries += 1;
            if entries == 1 {
                width = added;
            } else if added != width {
                let what = format!("an entry of {added} numbers in a list of entries of {width}");
                return Err(self.error(what, "Write the file again"));
            }
            if !wanted {
                numbers.clear();
                texts.clear();
            }
            if !self.take(b',') && self.peek() != b']' {
                return Err(self.unexpected("\",\" or \"]\""));
            }
        }
        Ok(match (wanted, texts.is_empty()) {
            (false, _) => Value::Nothing,
            (true, false) => Value::Texts(texts),
            (true, true) => Value::Numbers(numbers, width),
        })
    }

    /// `( … )` of numbers or tuples of numbers, one after the other.
    fn tuple(&mut self, into: &mut Vec<f64>) -> Result<()> {
        self.require(b'(')?;
        while !self.take(b')') {
            match self.peek() {
                b'(' => self.deeper(|p| p.tuple(into))?,
                b'"' | b'\'' => drop(self.string()?),
                _ => into.push(self.number()?),
            }
            if !self.take(b',') && self.peek() != b')' {
                return Err(self.unexpected("\",\" or \")\""));
            }
        }
        Ok(())
    }

    /// `{ type name = value … }`, or samples of other fields: passed over.
    fn dictionary(&mut self) -> Result<()> {
        self.require(b'{')?;
        while !self.take(b'}') {
            match self.peek() {
                b'"' | b'\'' => drop(self.string()?),
                b';' | b',' => self.pos += 1,
                b'=' | b':' => {
                    self.pos += 1;
                    self.value(false)?;
                }
                b'[' => {
                    self.pos += 1;
                    self.require(b']')?;
                }
                _ => drop(self.word()?),
            }
        }
        Ok(())
    }

    /// A string in single or triple quotes of either kind.
    fn string(&mut self) -> Result<String> {
        let quote = self.peek();
        if !matches!(quote, b'"' | b'\'') {
            return Err(self.unexpected("a text in quotes"));
        }
        let rest = &self.data[self.pos..];
        let marks = if rest.starts_with(&[quote; 3]) { 3 } else { 1 };
        let mut k = marks;
        let mut out = Vec::new();
        loop {
            match rest.get(k) {
                None => {
                    return Err(self.error(
                        "a text without an end",
                        "The file is truncated or damaged: write it again",
                    ));
                }
                Some(b'\\') => {
                    // only quotes and backslashes matter in names
                    out.extend(rest.get(k + 1));
                    k += 2;
                }
                Some(b'\n') if marks == 1 => {
                    return Err(
                        self.error("a text that does not end on its line", "Close the quotes")
                    );
                }
                Some(_) if rest[k..].starts_with(&[quote; 3][..marks]) => break,
                Some(&b) => {
                    out.push(b);
                    k += 1;
                }
            }
        }
        self.pos += k + marks;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// `@file@` or `@@@file@@@`, perhaps with a prim behind it.
    fn asset(&mut self) -> Result<String> {
        let rest = &self.data[self.pos..];
        let mark: &[u8] = if rest.starts_with(b"@@@") { b"@@@" } else { b"@" };
        let inside = &rest[mark.len()..];
        let Some(length) = inside.windows(mark.len()).position(|w| w == mark) else {
            return Err(self.error(
                "an asset without an end (@)",
                "The file is truncated or damaged: write it again",
            ));
        };
        self.pos += length + 2 * mark.len();
        if self.peek() == b'<' {
            self.path()?;
        }
        Ok(text(&inside[..length]))
    }

    fn path(&mut self) -> Result<String> {
        let rest = &self.data[self.pos..];
        let Some(length) = rest.iter().position(|&b| b == b'>') else {
            return Err(self.error(
                "a path without an end (>)",
                "The file is truncated or damaged: write it again",
            ));
        };
        self.pos += length + 1;
        Ok(text(rest.get(1..length).unwrap_or_default()))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
