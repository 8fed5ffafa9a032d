//! `.csv`, a cloud of points: three numbers a line, separated by commas, semicolons, tabs or blanks,
//! after an optional line of names. Further columns are left out.

use super::scan::{Result, Scanner, parse};
use crate::Mesh;
use standoff_linalg::Vec3;
use std::path::Path;

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    let mut mesh = Mesh::default();
    let (mut first, mut more) = (true, false);
    while let Some(line) = scan.line() {
        let separator = |b: &u8| matches!(b, b',' | b';' | b'\t' | b' ' | b'\r');
        let mut fields = line.split(separator).filter(|w| !w.is_empty());
        let Some(word) = fields.next() else { continue };
        let number: Option<f64> = parse(word);
        let header = first && number.is_none();
        first = false;
        if header || word.starts_with(b"#") {
            continue;
        }
        let mut p = Vec3::zeros();
        for (k, c) in p.iter_mut().enumerate() {
            let word = if k == 0 { word } else { fields.next().unwrap_or_default() };
            let number: Option<f64> = parse(word).filter(|x: &f64| x.is_finite());
            *c = number.ok_or_else(|| scan.unexpected(word, "a coordinate"))?;
        }
        more |= fields.next().is_some();
        mesh.vertices.push(mesh.points.len() as u32);
        mesh.points.push(p);
    }
    if more {
        mesh.notes.push("columns after the third are left out".into());
    }
    Ok(mesh)
}
