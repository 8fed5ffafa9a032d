//! Drawings of lines and texts, as SVG and as PDF.

use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str};
use std::fmt::Write as _;

/// Where the place of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// What is drawn; places are pixels from the upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Lines through points, each on its own.
    Lines {
        /// The points of each.
        parts: Vec<Vec<[f64; 2]>>,
        /// Red, green and blue.
        colour: [u8; 3],
        /// Width, pixels.
        width: f64,
    },
    /// A text.
    Text {
        /// Where its base line is.
        at: [f64; 2],
        /// Which part of it is there.
        anchor: Anchor,
        /// Whether it is bold.
        bold: bool,
        /// The text.
        text: String,
    },
}

/// Marks on white, one above the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width and height, pixels.
    pub size: [f64; 2],
    /// The marks.
    pub marks: Vec<Mark>,
}

/// Size of texts, pixels.
const TEXT: f64 = 12.0;

impl Drawing {
    /// As an SVG file.
    pub fn svg(&self) -> String {
        let [width, height] = self.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{TEXT}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for mark in &self.marks {
            // writing to a string does not fail
            let _ = match mark {
                Mark::Lines { parts, colour: [r, g, b], width } => writeln!(
                    out,
                    "<path d=\"{}\" stroke=\"#{r:02x}{g:02x}{b:02x}\" fill=\"none\" \
                     stroke-width=\"{width}\" stroke-linecap=\"round\"/>",
                    parts.iter().map(|part| path(part)).collect::<String>()
                ),
                Mark::Text { at: [x, y], anchor, bold, text } => {
                    let anchor = match anchor {
                        Anchor::Start => "",
                        Anchor::Middle => " text-anchor=\"middle\"",
                        Anchor::End => " text-anchor=\"end\"",
                    };
                    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
                    let text = escaped(text);
                    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor}{weight}>{text}</text>")
                }
            };
        }
        out.push_str("</svg>\n");
        out
    }

    /// As a PDF file of one page, in the font Helvetica, which every reader of PDF has. Letters that its encoding (Windows 1252) has
    /// not are shown as question marks.
    pub fn pdf(&self) -> Vec<u8> {
        let [width, height] = self.size.map(|pixels| pixels as f32 * POINT);
        let [catalogue, pages, page, content] = [1, 2, 3, 4].map(Ref::new);
        let fonts = [(REGULAR, "Helvetica", 5), (BOLD, "Helvetica-Bold", 6)];
        let mut pdf = Pdf::new();
        pdf.catalog(catalogue).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let mut only = pdf.page(page);
        only.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(content);
        let mut resources = only.resources();
        let mut known = resources.fonts();
        for (key, _, id) in fonts {
            known.pair(key, Ref::new(id));
        }
        known.finish();
        resources.finish();
        only.finish();
        for (_, name, id) in fonts {
            let mut font = pdf.type1_font(Ref::new(id));
            font.base_font(Name(name.as_bytes())).encoding_predefined(Name(b"WinAnsiEncoding"));
        }
        let mut drawn = Content::new();
        drawn.set_line_cap(LineCapStyle::RoundCap).set_line_join(LineJoinStyle::RoundJoin);
        // pixels from the upper left corner
        drawn.transform([POINT, 0.0, 0.0, -POINT, 0.0, height]);
        self.marks.iter().for_each(|mark| draw(&mut drawn, mark));
        pdf.stream(content, &drawn.finish());
        pdf.finish()
    }
}

/// The fonts of a page.
const REGULAR: Name<'_> = Name(b"A");
const BOLD: Name<'_> = Name(b"B");

/// A pixel in the points of PDF, 1/72 inch; an inch has 96 pixels.
const POINT: f32 = 0.75;

/// Adds a mark to the content of a page.
fn draw(page: &mut Content, mark: &Mark) {
    match mark {
        Mark::Lines { parts, colour, width } => {
            if parts.iter().all(Vec::is_empty) {
                return;
            }
            let [r, g, b] = colour.map(|c| f32::from(c) / 255.0);
            page.set_stroke_rgb(r, g, b).set_line_width(*width as f32);
            for part in parts {
                for (k, [x, y]) in part.iter().map(|p| p.map(|c| c as f32)).enumerate() {
                    if k == 0 {
                        page.move_to(x, y)
                    } else {
                        page.line_to(x, y)
                    };
                }
            }
            page.stroke();
        }
        Mark::Text { at: [x, y], anchor, bold, text } => {
            let part = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
            let x = x - part * text_width(text);
            let letters: Vec<u8> = text.chars().map(encoded).collect();
            let font = if *bold { BOLD } else { REGULAR };
            page.begin_text().set_font(font, TEXT as f32);
            // texts are not turned over with the page
            page.set_text_matrix([1.0, 0.0, 0.0, -1.0, x as f32, *y as f32]);
            page.show(Str(&letters)).end_text();
        }
    }
}

/// A line through points, as the data of an SVG path.
fn path(points: &[[f64; 2]]) -> String {
    let command = |k: usize| if k == 0 { 'M' } else { 'L' };
    let place = |(k, [x, y]): (usize, &[f64; 2])| format!("{}{x:.2} {y:.2}", command(k));
    points.iter().enumerate().map(place).collect()
}

/// Width of a text in Helvetica, pixels: exact for what stands at axes, numbers and units.
fn text_width(text: &str) -> f64 {
    let of = |c: char| match c {
        ' ' | '.' | ',' => 278.0,
        '-' => 333.0,
        's' => 500.0,
        _ => 556.0,
    };
    text.chars().map(of).sum::<f64>() * TEXT / 1000.0
}

/// A letter in Windows 1252.
fn encoded(c: char) -> u8 {
    match c {
        // the Greek letter as the sign of a millionth
        'μ' => 0xb5,
        '–' => 0x96,
        '−' => b'-',
        ' '..='~' | '\u{a0}'..='\u{ff}' => c as u8,
        _ => b'?',
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let text = |anchor, text: &str| Mark::Text {
            at: [10.0, 20.0],
            anchor,
            bold: anchor == Anchor::Start,
            text: text.into(),
        };
        let parts = vec![vec![[0.0, 1.0], [2.0, 3.5]], vec![[5.0, 5.0], [6.0, 6.0], [7.0, 5.0]]];
        let lines = Mark::Lines { parts, colour: [255, 0, 51], width: 1.5 };
        let marks = vec![
            lines,
            text(Anchor::Start, "a < b (μ), \\ 雨"),
            text(Anchor::End, "0.5"),
            text(Anchor::Middle, "1 s"),
        ];
        Drawing { size: [100.0, 40.0], marks }
    }

    #[test]
    fn svg_has_lines_and_texts() {
        let svg = drawing().svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("d=\"M0.00 1.00L2.00 3.50M5.00 5.00L6.00 6.00L7.00 5.00\""), "{svg}");
        assert!(svg.contains("stroke=\"#ff0033\"") && svg.contains("a &lt; b (μ)"), "{svg}");
    }

    /// What a reader needs of a PDF: places of the objects, lengths of streams, text that is escaped.
    #[test]
    fn a_pdf_says_where_its_objects_are() {
        let pdf = drawing().pdf();
        assert_eq!(pdf, drawing().pdf());
        // bytes as characters
        let text: String = pdf.iter().map(|b| *b as char).collect();
        let table: usize =
            text.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(text[text.char_indices().nth(table).unwrap().0..].starts_with("xref\n0 7\n"));
        let rows = text.split("xref\n0 7\n").nth(1).unwrap();
        for k in 1..7 {
            // 20 bytes with the line's end
            let row = &rows[20 * k..20 * (k + 1)];
            let place: usize = row[..10].parse().unwrap();
            assert!(row.ends_with('\n'), "{row:?}");
            assert!(pdf[place..].starts_with(format!("{k} 0 obj\n").as_bytes()), "{row}");
        }
        let length = text.split("/Length ").nth(1).unwrap().split_whitespace().next().unwrap();
        let stream = text.split_once("\nstream\n").unwrap().1;
        let stream = stream.split_once("\nendstream").unwrap().0;
        assert_eq!(stream.chars().count().to_string(), length);
        // letters beyond ASCII are written as the numbers of all letters: a < b (μ), \ ?
        let letters: String = b"a < b (\xb5), \\ ?".iter().map(|b| format!("{b:02X}")).collect();
        assert!(stream.contains(&format!("<{letters}> Tj")), "{stream}");
        assert!(stream.contains("1 0 0.2 RG\n1.5 w\n0 1 m\n2 3.5 l\n5 5 m"), "{stream}");
        // 0.5 is (556 + 278 + 556) / 1000 · 12 = 16.68 px wide
        assert!(stream.contains("1 0 0 -1 -6.68 20 Tm\n(0.5) Tj"), "{stream}");
        assert!(text.contains("/MediaBox [0 0 75 30]"));
    }
}
