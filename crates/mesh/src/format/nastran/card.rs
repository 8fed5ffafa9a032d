//! Cards of Nastran: the fields of a line, and lines that continue it.

use std::ops::Range;

/// Fields of a card that are kept, more than any element has.
const MOST_FIELDS: usize = 64;

/// A card that is being read.
pub(super) struct Card {
    pub(super) name: String,
    /// All lines, with blanks instead of tabs.
    pub(super) text: Vec<u8>,
    /// Fields behind the name, without those that continue lines.
    pub(super) fields: Vec<Range<usize>>,
    /// What the last line ends with, which begins the next.
    pub(super) mark: Range<usize>,
    /// Where it stands in the file.
    pub(super) at: usize,
}

impl Card {
    /// The field of a number from 1, as in the manual; empty where there is none.
    pub(super) fn field(&self, number: usize) -> &[u8] {
        let range = number.checked_sub(2).and_then(|k| self.fields.get(k));
        range.and_then(|r| self.text.get(r.clone())).unwrap_or_default()
    }

    /// Adds a line that continues the card; false where it belongs to another one.
    pub(super) fn go_on(&mut self, line: &[u8], parts: &Line) -> bool {
        let of = |mark: &[u8]| mark.get(1..).unwrap_or_default().trim_ascii().to_ascii_uppercase();
        let before = of(self.text.get(self.mark.clone()).unwrap_or_default());
        let mark = of(line.get(parts.first.clone()).unwrap_or_default());
        if !before.is_empty() && !mark.is_empty() && before != mark {
            return false;
        }
        // a line begins with the field of a multiple of four, and with eight fields with one of eight
        let whole = self.fields.len().next_multiple_of(parts.fields.len());
        self.fields.resize(whole, 0..0);
        if self.fields.len() < MOST_FIELDS {
            let behind = self.text.len();
            let moved = |r: &Range<usize>| behind + r.start..behind + r.end;
            self.fields.extend(parts.fields.iter().map(moved));
            self.mark = moved(&parts.mark);
            self.text.extend(line);
        }
        true
    }
}

/// The fields of a line, as ranges of a text.
pub(super) struct Line {
    pub(super) first: Range<usize>,
    pub(super) fields: Vec<Range<usize>>,
    pub(super) mark: Range<usize>,
    /// Whether anything stands behind.
    pub(super) too_long: bool,
}

/// A part of a text without blanks around it.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..start + part.trim_ascii().len()
}

/// Splits a line into fields.
pub(super) fn split(line: &[u8]) -> Line {
    let mut at = 0;
    let mut next = |length: usize, gap: usize| {
        let range = at.min(line.len())..(at + length).min(line.len());
        at += length + gap;
        range
    };
    let ranges: Vec<Range<usize>> = if line.contains(&b',') {
        // ten fields, and what stands behind them
        line.splitn(11, |b| *b == b',').map(|part| next(part.len(), 1)).collect()
    } else {
        let large = line[..line.len().min(8)].contains(&b'*');
        let (inner, wide) = if large { (4, 16) } else { (8, 8) };
        // what stands behind column 80 is a comment
        (0..inner + 2).map(|k| next(if (1..=inner).contains(&k) { wide } else { 8 }, 0)).collect()
    };
    let mut ranges = ranges.into_iter().map(|r| trimmed(line, r));
    let first = ranges.next().unwrap_or(0..0);
    let large = line[first.clone()].contains(&b'*');
    let inner = if large { 4 } else { 8 };
    let mut fields: Vec<Range<usize>> = ranges.by_ref().take(inner).collect();
    fields.resize(inner, 0..0);
    let mark = ranges.next().unwrap_or(0..0);
    let is_empty = |r: Range<usize>| line[r].iter().all(|b| matches!(b, b' ' | b','));
    Line { first, fields, mark, too_long: !ranges.all(is_empty) }
}

/// A line with blanks up to the next multiple of eight columns instead of tabs.
pub(super) fn expand(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    for byte in line {
        match byte {
            b'\t' => text.resize((text.len() / 8 + 1) * 8, b' '),
            _ => text.push(*byte),
        }
    }
    text
}
