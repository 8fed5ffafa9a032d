//! The binary form of a USD layer (`.usdc`) as a tree of prims, and the first layer of a package (`.usdz`).
//!
//! A file consists of sections: all words (TOKENS), texts as indices of words, fields (a word and a value each), sets of
//! fields, paths, and specs, each a path with a set of fields. Values that do not fit into a field lie anywhere in the
//! file. Lists of integers are stored as differences in as few bytes as these need, and compressed by LZ4.
//! Versions 0.4 to 0.13 of the format are read; names are those of OpenUSD. As in text, attributes keep their
//! default value and their samples, and what meshes do not need is dropped.

// long: the sections of the format, one after the other, and one case for each form of value

use super::super::parts::part_error;
use super::super::scan::Result;
use super::layer::{Attribute, DEPTH, Layer, Prim, Value, is_needed};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

const AGAIN: &str = "The file is truncated or damaged: export it again, or as text (.usda)";

/// Bytes that LZ4 can make of one byte at most.
const MOST_OF_A_BYTE: usize = 255;

/// Lists of values that are shorter are never compressed.
const SHORTEST_COMPRESSED: usize = 16;

/// Numbers of all attributes at most: any number of them may name the same list.
const MOST_NUMBERS: usize = 200_000_000;

/// The first layer of a package, whose files are stored one behind the other without compression.
pub(super) fn first_of_package<'a>(path: &Path, data: &'a [u8]) -> Result<&'a [u8]> {
    let error = |what: &str| part_error(path, "package", what, AGAIN);
    let number = |at: usize, bytes: usize| -> usize {
        let digits = data.get(at..at + bytes).unwrap_or_default().iter().rev();
        digits.fold(0, |n, &b| n << 8 | usize::from(b))
    };
    // local header of the first file: flags, method, sizes, lengths of name and padding
    let (flags, method, size) = (number(6, 2), number(8, 2), number(18, 4));
    if method != 0 || flags & 1 != 0 {
        return Err(error("its first layer is compressed or encrypted, which USD does not allow"));
    }
    let start = 30 + number(26, 2) + number(28, 2);
    let end = start.saturating_add(size);
    match data.get(start..end) {
        Some(layer) if !layer.is_empty() => Ok(layer),
        _ => Err(error("its first layer is not there in full")),
    }
}

pub(super) fn parse(path: &Path, data: &[u8]) -> Result<Layer> {
    parse_layer(data).map_err(|Damaged { section, what }| part_error(path, section, what, AGAIN))
}

/// What is wrong, and in which part of the file.
struct Damaged {
    section: &'static str,
    what: String,
}

type Read<T> = std::result::Result<T, Damaged>;

fn damaged<T>(section: &'static str, what: impl Into<String>) -> Read<T> {
    Err(Damaged { section, what: what.into() })
}

/// A place in the file, or in what was decompressed, from which numbers are read.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    data: &'a [u8],
    at: usize,
    section: &'static str,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.data.len());
        let Some(end) = end else {
            return damaged(self.section, "it ends before what it announces");
        };
        let bytes = &self.data[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of entries, which cannot exceed `each` for every byte of the file.
    fn count(&mut self, each: usize) -> Read<usize> {
        let count = self.u64()?;
        match usize::try_from(count) {
            Ok(n) if n <= self.data.len().saturating_mul(each) => Ok(n),
            _ => damaged(self.section, format!("it announces {count} entries")),
        }
    }

    /// As many bytes as announced, decompressed.
    fn compressed(&mut self, most: usize) -> Read<Vec<u8>> {
        let size = self.count(1)?;
        let bytes = self.take(size)?;
        let fail =
            |_| Damaged { section: self.section, what: "its compressed data are damaged".into() };
        let block = |bytes: &[u8], room: usize| {
            // the size that is expected is no reason to reserve more than the bytes can become
            let room = room.min(bytes.len().saturating_mul(MOST_OF_A_BYTE));
            lz4_flex::block::decompress(bytes, room).map_err(fail)
        };
        let Some((&chunks, rest)) = bytes.split_first() else { return Ok(Vec::new()) };
        if chunks == 0 {
            return block(rest, most);
        }
        let (mut out, mut rest) = (Vec::new(), Bytes { data: rest, at: 0, section: self.section });
        for _ in 0..chunks {
            let size = rest.u32()? as usize;
            let bytes = rest.take(size)?;
            out.extend(block(bytes, most.saturating_sub(out.len()))?);
        }
        Ok(out)
    }

    /// `count` integers of `wide` ? 64 : 32 bits, stored as compressed differences.
    fn integers(&mut self, count: usize, wide: bool) -> Read<Vec<i64>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let whole = if wide { 8 } else { 4 };
        let codes = count.div_ceil(4);
        let data = self.compressed(whole + codes + count.saturating_mul(whole))?;
        let mut bytes = Bytes { data: &data, at: 0, section: self.section };
        let mut number = |size: usize| -> Read<i64> {
            let digits = bytes.take(size)?;
            let unsigned = digits.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
            let shift = 64 - 8 * size as u32;
            Ok(((unsigned << shift) as i64) >> shift)
        };
        let common = number(whole)?;
        let codes: Vec<u8> = (0..codes).map(|_| number(1).map(|n| n as u8)).collect::<Read<_>>()?;
        let sizes = if wide { [2, 4, 8] } else { [1, 2, 4] };
        let mut last = 0i64;
        (0..count)
            .map(|k| {
                let code = codes[k / 4] >> (2 * (k % 4)) & 3;
                let step = if code == 0 { common } else { number(sizes[usize::from(code) - 1])? };
                last = last.wrapping_add(step);
                // differences of 32 bits wrap around
                last = if wide { last } else { i64::from(last as i32) };
                Ok(last)
            })
            .collect()
    }

    /// The same as indices, from 0.
    fn indices(&mut self, count: usize) -> Read<Vec<u32>> {
        Ok(self.integers(count, false)?.into_iter().map(|n| n as u32).collect())
    }
}

/// A spec: the fields and the kind of what lies at a path.
#[derive(Clone, Copy)]
struct Spec {
    fields: usize,
    kind: u32,
}

const ATTRIBUTE: u32 = 1;
const PRIM: u32 = 6;
const PSEUDO_ROOT: u32 = 7;

/// A path: its last word, and whether this names a property.
#[derive(Default)]
struct Node {
    word: usize,
    is_property: bool,
    children: Vec<usize>,
    spec: Option<Spec>,
}

struct File<'a> {
    data: &'a [u8],
    /// Minor version.
    version: u8,
    words: Vec<String>,
    /// Indices of words.
    texts: Vec<u32>,
    /// Words and values.
    fields: Vec<(u32, u64)>,
    /// Indices of fields; u32::MAX ends a set.
    sets: Vec<u32>,
    nodes: Vec<Node>,
    /// Numbers read so far.
    numbers: Cell<usize>,
}

// long: one section after the other
fn parse_layer(data: &[u8]) -> Read<Layer> {
    let mut head = Bytes { data, at: 8, section: "head" };
    let [major, version, ..] = head.array::<8>()?;
    if major != 0 || !(4..=13).contains(&version) {
        return damaged("head", format!("version {major}.{version} of the format is not known"));
    }
    let mut contents = Bytes { data, at: 0, section: "table of contents" };
    let start = head.u64()?;
    contents.take(usize::try_from(start).unwrap_or(usize::MAX))?;
    let mut sections = HashMap::new();
    for _ in 0..contents.count(1)? {
        let name: [u8; 16] = contents.array()?;
        let start = contents.u64()?;
        contents.u64()?;
        sections.insert(name, start);
    }
    let section = |name: &'static str| -> Read<Bytes<'_>> {
        let mut key = [0; 16];
        key[..name.len()].copy_from_slice(name.as_bytes());
        let Some(&start) = sections.get(&key) else { return damaged(name, "it is missing") };
        let mut bytes = Bytes { data, at: 0, section: name };
        bytes.take(usize::try_from(start).unwrap_or(usize::MAX))?;
        Ok(bytes)
    };
    let mut file = File {
        data,
        version,
        words: words(section("TOKENS")?)?,
        texts: Vec::new(),
        fields: Vec::new(),
        sets: Vec::new(),
        nodes: Vec::new(),
        numbers: Cell::new(0),
    };
    let mut bytes = section("STRINGS")?;
    let count = bytes.count(1)?;
    file.texts = (0..count).map(|_| bytes.u32()).collect::<Read<_>>()?;
    let mut bytes = section("FIELDS")?;
    let count = bytes.count(4 * MOST_OF_A_BYTE)?;
    let names = bytes.indices(count)?;
    let values = bytes.compressed(count.saturating_mul(8))?;
    let mut values = Bytes { data: &values, at: 0, section: "FIELDS" };
    file.fields = names.into_iter().map(|n| Ok((n, values.u64()?))).collect::<Read<_>>()?;
    let mut bytes = section("FIELDSETS")?;
    let count = bytes.count(4 * MOST_OF_A_BYTE)?;
    file.sets = bytes.indices(count)?;
    let mut bytes = section("PATHS")?;
    let total = bytes.count(4 * MOST_OF_A_BYTE)?;
    let count = bytes.count(4 * MOST_OF_A_BYTE)?;
    file.nodes = paths(&mut bytes, total, count)?;
    let mut bytes = section("SPECS")?;
    let count = bytes.count(4 * MOST_OF_A_BYTE)?;
    let (at, fields) = (bytes.indices(count)?, bytes.indices(count)?);
    let kinds = bytes.indices(count)?;
    for ((at, fields), kind) in at.into_iter().zip(fields).zip(kinds) {
        match file.nodes.get_mut(at as usize) {
            Some(node) => node.spec = Some(Spec { fields: fields as usize, kind }),
            None => return damaged("SPECS", format!("there is no path {at}")),
        }
    }
    file.layer()
}

/// The words of the file, which are separated by zeros.
fn words(mut bytes: Bytes<'_>) -> Read<Vec<String>> {
    let count = bytes.count(4 * MOST_OF_A_BYTE)?;
    let size = bytes.count(4 * MOST_OF_A_BYTE)?;
    let text = bytes.compressed(size)?;
    let words: Vec<String> = text
        .split(|&b| b == 0)
        .take(count)
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    if words.len() < count {
        return damaged("TOKENS", format!("there are {} of {count} words", words.len()));
    }
    Ok(words)
}

/// The tree of `total` paths, by their indices, from its traversal in depth. Of every path, `jumps` says where the next sibling
/// is (above 0), or that only a child follows (−1), only a sibling (0), or nothing (−2).
fn paths(bytes: &mut Bytes<'_>, total: usize, count: usize) -> Read<Vec<Node>> {
    let indices = bytes.indices(count)?;
    let words = bytes.integers(count, false)?;
    let jumps = bytes.integers(count, false)?;
    let mut nodes: Vec<Node> = (0..total).map(|_| Node::default()).collect();
    let mut seen = vec![false; total];
    // starts of lists of siblings, with the path above and its depth
    let mut open = vec![(0usize, None::<usize>, 0usize)];
    while let Some((mut k, mut above, mut depth)) = open.pop() {
        while k < count {
            let node = indices[k] as usize;
            if node >= total || std::mem::replace(&mut seen[node], true) {
                return damaged("PATHS", format!("path {node} is named twice, or is not there"));
            }
            if depth > DEPTH {
                return damaged("PATHS", format!("more than {DEPTH} levels are nested"));
            }
            nodes[node].word = words[k].unsigned_abs() as usize;
            nodes[node].is_property = words[k] < 0;
            if let Some(parent) = above {
                nodes[parent].children.push(node);
            }
            let jump = jumps[k];
            if jump > 0 {
                open.push((k.saturating_add(jump as usize), above, depth));
            }
            if jump > 0 || jump == -1 {
                (above, depth) = (Some(node), depth + 1);
            } else if jump != 0 {
                break;
            }
            k += 1;
        }
    }
    Ok(nodes)
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Byte,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Half,
    Float,
    Double,
}

impl Scalar {
    fn size(self) -> usize {
        match self {
            Scalar::Byte => 1,
            Scalar::Half => 2,
            Scalar::Int | Scalar::Unsigned | Scalar::Float => 4,
            Scalar::Long | Scalar::UnsignedLong | Scalar::Double => 8,
        }
    }

    /// The number in as many bytes as `size` says.
    fn read(self, bytes: &[u8]) -> f64 {
        let bits = bytes.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
        match self {
            Scalar::Byte | Scalar::Unsigned | Scalar::UnsignedLong => bits as f64,
            Scalar::Int => f64::from(bits as u32 as i32),
            Scalar::Long => bits as i64 as f64,
            Scalar::Half => half(bits as u16),
            Scalar::Float => f64::from(f32::from_bits(bits as u32)),
            Scalar::Double => f64::from_bits(bits),
        }
    }
}

/// A number of 16 bits (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// What a type of the format consists of: numbers, how many, and whether these are a matrix or a quaternion.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Vector,
    Matrix,
    Quaternion,
}

fn numeric(kind: u8) -> Option<(Scalar, usize, Form)> {
    use Form::*;
    use Scalar::*;
    Some(match kind {
        1 | 2 => (Byte, 1, Vector),
        3 => (Int, 1, Vector),
        4 => (Unsigned, 1, Vector),
        5 => (Long, 1, Vector),
        6 => (UnsignedLong, 1, Vector),
        7 => (Half, 1, Vector),
        8 => (Float, 1, Vector),
        // a time code is a number, too
        9 | 56 => (Double, 1, Vector),
        13..=15 => (Double, usize::from(kind - 11).pow(2), Matrix),
        16 => (Double, 4, Quaternion),
        17 => (Float, 4, Quaternion),
        18 => (Half, 4, Quaternion),
        19..=30 => {
            let scalar = [Double, Float, Half, Int][usize::from(kind - 19) % 4];
            (scalar, 2 + usize::from(kind - 19) / 4, Vector)
        }
        _ => return None,
    })
}

/// Kinds of values that are no numbers.
const TEXT: u8 = 10;
const WORD: u8 = 11;
const ASSET: u8 = 12;
const WORDS: u8 = 41;
const SPECIFIER: u8 = 42;
const SAMPLES: u8 = 46;
const PAYLOAD: u8 = 47;
const NUMBERS: u8 = 48;
const TEXTS: u8 = 50;

impl File<'_> {
    fn word(&self, index: usize) -> Read<&str> {
        match self.words.get(index) {
            Some(word) => Ok(word),
            None => damaged("TOKENS", format!("there is no word {index}")),
        }
    }

    fn text(&self, index: usize) -> Read<&str> {
        match self.texts.get(index) {
            Some(&word) => self.word(word as usize),
            None => damaged("STRINGS", format!("there is no text {index}")),
        }
    }

    /// The fields of a spec: their names and values.
    fn fields(&self, spec: Spec) -> Read<Vec<(&str, u64)>> {
        let set = self.sets.get(spec.fields..).unwrap_or_default();
        let ends = |field: &&u32| **field != u32::MAX;
        let of = |&field: &u32| match self.fields.get(field as usize) {
            Some(&(name, value)) => Ok((self.word(name as usize)?, value)),
            None => damaged("FIELDSETS", format!("there is no field {field}")),
        };
        set.iter().take_while(ends).map(of).collect()
    }

    fn layer(&self) -> Read<Layer> {
        let mut layer = Layer::default();
        let is_root = |node: &&Node| node.spec.is_some_and(|s| s.kind == PSEUDO_ROOT);
        let Some(root) = self.nodes.iter().find(is_root) else {
            return damaged("SPECS", "there is no root");
        };
        let mut order = Vec::new();
        for (name, value) in root.spec.map_or(Ok(Vec::new()), |s| self.fields(s))? {
            match name {
                "metersPerUnit" | "subLayers" | "timeCodesPerSecond" | "framesPerSecond"
                | "startTimeCode" => {
                    let value = self.value(value)?;
                    if value != Value::Texts(Vec::new()) {
                        layer.metadata.insert(name.to_owned(), value);
                    }
                }
                "primChildren" => order = self.order(value)?,
                _ => {}
            }
        }
        layer.prims = self.prims(root, &order)?;
        Ok(layer)
    }

    /// The names of prims in the order of the layer.
    fn order(&self, value: u64) -> Read<Vec<String>> {
        Ok(match self.value(value)? {
            Value::Texts(names) => names,
            _ => Vec::new(),
        })
    }

    /// The prims below a path, in the order given; those that it does not name follow.
    fn prims(&self, above: &Node, order: &[String]) -> Read<Vec<Prim>> {
        let rank: HashMap<&str, usize> =
            order.iter().enumerate().map(|(k, name)| (&name[..], k)).collect();
        let mut prims = Vec::new();
        for &child in &above.children {
            let node = &self.nodes[child];
            if let Some(spec) = node.spec.filter(|s| s.kind == PRIM && !node.is_property) {
                prims.push(self.prim(node, spec)?);
            }
        }
        prims.sort_by_key(|p| rank.get(&p.name[..]).copied().unwrap_or(usize::MAX));
        Ok(prims)
    }

    fn prim(&self, node: &Node, spec: Spec) -> Read<Prim> {
        let mut prim = Prim { name: self.word(node.word)?.to_owned(), ..Prim::default() };
        // without a specifier, a prim only adds to others
        prim.specifier = "over".to_owned();
        let mut order = Vec::new();
        for (name, value) in self.fields(spec)? {
            let in_text = if name == "inheritPaths" { "inherits" } else { name };
            match name {
                "specifier" | "typeName" => {
                    if let Value::Text(word) = self.value(value)? {
                        *(if name == "specifier" { &mut prim.specifier } else { &mut prim.kind }) =
                            word;
                    }
                }
                "primChildren" => order = self.order(value)?,
                "active" | "references" | "payload" | "inheritPaths" | "specializes" => {
                    let value = self.value(value)?;
                    if value != Value::Nothing {
                        prim.metadata.insert(in_text.to_owned(), value);
                    }
                }
                "variantSetNames" => prim.variants = self.value(value)? != Value::Nothing,
                _ => {}
            }
        }
        for &child in &node.children {
            let node = &self.nodes[child];
            let name = self.word(node.word)?;
            if let Some(spec) = node.spec.filter(|s| s.kind == ATTRIBUTE)
                && is_needed(name)
            {
                prim.attributes.insert(name.to_owned(), self.attribute(spec)?);
            }
        }
        prim.children = self.prims(node, &order)?;
        Ok(prim)
    }

    fn attribute(&self, spec: Spec) -> Read<Attribute> {
        let mut attribute = Attribute::default();
        for (name, value) in self.fields(spec)? {
            match name {
                "default" => {
                    attribute.value = Some(self.value(value)?).filter(|v| *v != Value::Nothing);
                }
                "timeSamples" if (value >> 48) as u8 == SAMPLES => {
                    attribute.samples = self.samples(value)?;
                }
                _ => {}
            }
        }
        Ok(attribute)
    }

    /// The file from where a value is.
    fn at(&self, place: u64) -> Read<Bytes<'_>> {
        let mut bytes = Bytes { data: self.data, at: 0, section: "values" };
        bytes.take(usize::try_from(place).unwrap_or(usize::MAX))?;
        Ok(bytes)
    }

    /// The samples that are not blocked, by their times.
    fn samples(&self, value: u64) -> Read<Vec<(f64, Value)>> {
        // both the times and the values are found by their distance from where this is written
        let jump = |place: u64| -> Read<Bytes<'_>> {
            let distance = self.at(place)?.u64()?;
            self.at(place.wrapping_add(distance))
        };
        let mut bytes = jump(value & PLACE)?;
        let Value::Numbers(times, 1) = self.value(bytes.u64()?)? else { return Ok(Vec::new()) };
        let mut bytes = jump(bytes.at as u64)?;
        if bytes.count(1)? != times.len() {
            return damaged("values", "samples and times differ in number");
        }
        let mut samples: Vec<(f64, u64)> =
            times.into_iter().map(|t| Ok((t, bytes.u64()?))).collect::<Read<_>>()?;
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let read = samples.into_iter().map(|(time, value)| Ok((time, self.value(value)?)));
        let mut samples = read.collect::<Read<Vec<_>>>()?;
        samples.retain(|(_, value)| *value != Value::Nothing);
        Ok(samples)
    }

    /// A value as far as it is needed: its kind, whether it is a list, is in the field itself, is compressed, and
    /// itself or its place in the file.
    // long: one case for each kind of value
    fn value(&self, value: u64) -> Read<Value> {
        let kind = (value >> 48) as u8;
        let [list, inside, compressed] = [63, 62, 61].map(|bit| value >> bit & 1 == 1);
        let place = value & PLACE;
        if let Some((scalar, width, form)) = numeric(kind) {
            let numbers = match (list, inside) {
                (true, _) if place == 0 => Vec::new(),
                (true, _) => self.list_of_numbers(place, scalar, width, compressed)?,
                (false, true) => inlined(place, scalar, width, form),
                (false, false) => {
                    let bytes = self.at(place)?.take(width * scalar.size())?;
                    bytes.chunks_exact(scalar.size()).map(|b| scalar.read(b)).collect()
                }
            };
            let mut numbers = numbers;
            if form == Form::Quaternion {
                // the real part is last in the file, but first in text
                numbers.chunks_exact_mut(4).for_each(|q| q.rotate_right(1));
            }
            return Ok(Value::Numbers(numbers, width));
        }
        let named = |index: u32| -> Read<String> {
            let by_text = matches!(kind, TEXT | TEXTS);
            let index = index as usize;
            Ok(if by_text { self.text(index)? } else { self.word(index)? }.to_owned())
        };
        Ok(match kind {
            TEXT | WORD | ASSET if list => match place {
                0 => Value::Texts(Vec::new()),
                _ => {
                    let (mut bytes, count) = self.list(place)?;
                    self.reserve(count)?;
                    let texts = (0..count).map(|_| named(bytes.u32()?)).collect::<Read<_>>()?;
                    Value::Texts(texts)
                }
            },
            TEXT | WORD | ASSET => Value::Text(named(place as u32)?),
            WORDS | TEXTS => {
                let mut bytes = self.at(place)?;
                let count = bytes.count(1)?;
                self.reserve(count)?;
                Value::Texts((0..count).map(|_| named(bytes.u32()?)).collect::<Read<_>>()?)
            }
            NUMBERS => {
                let mut bytes = self.at(place)?;
                let count = bytes.count(1)?;
                self.reserve(count)?;
                let number = |_| bytes.u64().map(f64::from_bits);
                Value::Numbers((0..count).map(number).collect::<Read<_>>()?, 1)
            }
            SPECIFIER => Value::Text(["def", "over", "class"][(place as usize).min(2)].to_owned()),
            // edits of a list: whether anything is set, added, prepended or appended
            32..=39 | 55 => match self.at(place)?.take(1)?[0] & 0b110_0110 {
                0 => Value::Nothing,
                _ => Value::Text(String::new()),
            },
            PAYLOAD => Value::Text(String::new()),
            _ => Value::Nothing,
        })
    }

    /// Notes that so many numbers are read.
    fn reserve(&self, count: usize) -> Read<()> {
        self.numbers.set(self.numbers.get().saturating_add(count));
        if self.numbers.get() > MOST_NUMBERS {
            return damaged("values", format!("they amount to more than {MOST_NUMBERS} numbers"));
        }
        Ok(())
    }

    /// A list: its length, and what follows.
    fn list(&self, place: u64) -> Read<(Bytes<'_>, usize)> {
        let mut bytes = self.at(place)?;
        if self.version < 5 {
            // the number of dimensions, always 1
            bytes.u32()?;
        }
        let count = if self.version < 7 {
            bytes.u32()? as usize
        } else {
            bytes.count(4 * MOST_OF_A_BYTE)?
        };
        Ok((bytes, count))
    }

    fn list_of_numbers(
        &self,
        place: u64,
        scalar: Scalar,
        width: usize,
        compressed: bool,
    ) -> Read<Vec<f64>> {
        let (mut bytes, count) = self.list(place)?;
        self.reserve(count.saturating_mul(width))?;
        let raw = |bytes: &mut Bytes<'_>, count: usize| -> Read<Vec<f64>> {
            let data = bytes.take(count.saturating_mul(width * scalar.size()))?;
            Ok(data.chunks_exact(scalar.size()).map(|b| scalar.read(b)).collect())
        };
        if !compressed || count < SHORTEST_COMPRESSED {
            return raw(&mut bytes, count);
        }
        let wide = matches!(scalar, Scalar::Long | Scalar::UnsignedLong);
        let unsigned = scalar == Scalar::Unsigned;
        let whole = |n: i64| if unsigned { f64::from(n as u32) } else { n as f64 };
        if matches!(scalar, Scalar::Int | Scalar::Unsigned) || wide {
            return Ok(bytes.integers(count, wide)?.into_iter().map(whole).collect());
        }
        match bytes.take(1)?[0] {
            // all are whole numbers
            b'i' => Ok(bytes.integers(count, false)?.into_iter().map(|n| n as f64).collect()),
            // few different ones, by a table
            b't' => {
                let size = bytes.u32()? as usize;
                let table = raw(&mut bytes, size)?;
                let entry = |n: u32| match table.get(n as usize) {
                    Some(&x) => Ok(x),
                    None => damaged("values", format!("a table has no entry {n}")),
                };
                bytes.indices(count)?.into_iter().map(entry).collect()
            }
            other => damaged("values", format!("{other} is no way to compress numbers")),
        }
    }
}

/// The part of a value that holds itself or its place.
const PLACE: u64 = (1 << 48) - 1;

/// The numbers in a field itself: a single one in at most four bytes, else small whole numbers in a byte each,
/// of a matrix the diagonal.
fn inlined(place: u64, scalar: Scalar, width: usize, form: Form) -> Vec<f64> {
    let bytes = place.to_le_bytes();
    let small = |k: usize| f64::from(bytes[k] as i8);
    match form {
        Form::Matrix => {
            let n = width.isqrt();
            (0..width).map(|k| if k % (n + 1) == 0 { small(k / (n + 1)) } else { 0.0 }).collect()
        }
        // two numbers of two bytes fit as they are
        _ if width == 2 && scalar == Scalar::Half => {
            bytes[..4].chunks_exact(2).map(|b| scalar.read(b)).collect()
        }
        _ if width > 1 => (0..width).map(small).collect(),
        _ => vec![match scalar {
            Scalar::Double => Scalar::Float.read(&bytes[..4]),
            Scalar::Long => Scalar::Int.read(&bytes[..4]),
            Scalar::UnsignedLong => Scalar::Unsigned.read(&bytes[..4]),
            _ => scalar.read(&bytes[..scalar.size()]),
        }],
    }
}
