//! Drawings of lines and texts, as SVG and as PDF.

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
                    parts.iter().map(|part| path(part, ["M", "L"], true)).collect::<String>()
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
    // long: the marks of the page, then the objects of the file
    pub fn pdf(&self) -> Vec<u8> {
        let [width, height] = self.size.map(|pixels| pixels * POINT);
        let mut page = format!("1 J 1 j {POINT} 0 0 -{POINT} 0 {height} cm\n").into_bytes();
        for mark in &self.marks {
            match mark {
                Mark::Lines { parts, colour, width } => {
                    let [r, g, b] = colour.map(|c| f64::from(c) / 255.0);
                    let all: String =
                        parts.iter().map(|part| path(part, ["m", "l"], false)).collect();
                    if !all.is_empty() {
                        let line = format!("{r:.3} {g:.3} {b:.3} RG {width} w\n{all}S\n");
                        page.extend_from_slice(line.as_bytes());
                    }
                }
                Mark::Text { at: [x, y], anchor, bold, text } => {
                    let part = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => 0.5,
                        Anchor::End => 1.0,
                    };
                    let x = x - part * text_width(text);
                    let font = if *bold { "B" } else { "A" };
                    // texts are not turned over with the page
                    let begin = format!("BT /{font} {TEXT} Tf 1 0 0 -1 {x:.2} {y:.2} Tm (");
                    page.extend_from_slice(begin.as_bytes());
                    for c in text.chars() {
                        let byte = encoded(c);
                        if matches!(byte, b'(' | b')' | b'\\') {
                            page.push(b'\\');
                        }
                        page.push(byte);
                    }
                    page.extend_from_slice(b") Tj ET\n");
                }
            }
        }
        let font = |name: &str| {
            format!(
                "<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            )
        };
        let mut content = format!("<< /Length {} >>\nstream\n", page.len()).into_bytes();
        content.extend_from_slice(&page);
        content.extend_from_slice(b"endstream");
        let objects: [Vec<u8>; 6] = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R \
                 /Resources << /Font << /A 5 0 R /B 6 0 R >> >> >>"
            )
            .into_bytes(),
            content,
            font("Helvetica").into_bytes(),
            font("Helvetica-Bold").into_bytes(),
        ];
        file(&objects)
    }
}

/// A pixel in the points of PDF, 1/72 inch; an inch has 96 pixels.
const POINT: f64 = 0.75;

/// A PDF file of objects, the first of which is the catalogue: header, objects, their places, trailer.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (k, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", k + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let (table, count) = (out.len(), objects.len() + 1);
    out.extend_from_slice(format!("xref\n0 {count}\n0000000000 65535 f \n").as_bytes());
    for place in places {
        out.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let end = format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n");
    out.extend_from_slice(end.as_bytes());
    out
}

/// A line through points, by the commands for the first and the others, before the numbers or behind them.
fn path(points: &[[f64; 2]], commands: [&str; 2], before: bool) -> String {
    let mut out = String::new();
    for (k, [x, y]) in points.iter().enumerate() {
        let command = commands[k.min(1)];
        // writing to a string does not fail
        let _ = match before {
            true => write!(out, "{command}{x:.2} {y:.2}"),
            false => writeln!(out, "{x:.2} {y:.2} {command}"),
        };
    }
    out
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
        let rows: Vec<&str> = text.split("xref\n0 7\n").nth(1).unwrap().lines().take(7).collect();
        for (k, row) in rows.iter().enumerate().skip(1) {
            let place: usize = row[..10].parse().unwrap();
            assert_eq!(row.len(), 19, "with the line's end, 20 bytes");
            assert!(pdf[place..].starts_with(format!("{k} 0 obj\n").as_bytes()), "{row}");
        }
        let length: usize =
            text.split("/Length ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let stream = text.split_once(" >>\nstream\n").unwrap().1;
        let stream = stream.split_once("endstream").unwrap().0;
        assert_eq!(stream.chars().count(), length);
        assert!(stream.contains("(a < b \\(\u{b5}\\), \\\\ ?) Tj"), "{stream}");
        assert!(stream.contains("1.000 0.000 0.200 RG 1.5 w\n0.00 1.00 m\n2.00 3.50 l\n5.00"));
        // 0.5 is (556 + 278 + 556) / 1000 · 12 = 16.68 px wide
        assert!(stream.contains("1 0 0 -1 -6.68 20.00 Tm (0.5)"), "{stream}");
        assert!(text.contains("/MediaBox [0 0 75 30]"));
    }
}
