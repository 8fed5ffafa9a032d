//! `.seg`, the segment files of the IPC 2020 reference: lines `v x y z` and `s i j`, from 1.

use super::cells::{Cell, Cells};
use super::obj::vertex;
use super::scan::{Result, Scanner, parse, words};
use crate::Mesh;
use std::path::Path;

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut scan = Scanner::new(path, data);
    let mut cells = Cells::default();
    let mut segments: Vec<([u32; 2], usize)> = Vec::new();
    loop {
        let start = scan.pos();
        let Some(line) = scan.line() else { break };
        let mut fields = words(line);
        match fields.next() {
            None => {}
            Some(w) if w.starts_with(b"#") => {}
            Some(b"v") => {
                let p = vertex(&scan, &mut fields)?;
                cells.mesh.points.push(p);
            }
            Some(b"s") => {
                let mut ends = [0; 2];
                for end in &mut ends {
                    let word = fields.next().unwrap_or_default();
                    let number: Option<u32> = parse(word);
                    *end = number
                        .and_then(|n| n.checked_sub(1))
                        .ok_or_else(|| scan.unexpected(word, "a vertex index from 1"))?;
                }
                segments.push((ends, start));
            }
            Some(w) => return Err(scan.unexpected(w, "\"v\" or \"s\"")),
        }
    }
    for (ends, start) in segments {
        cells.add(Cell::Polyline, &ends, 0).map_err(|wrong| {
            scan.seek(start);
            scan.error(wrong.what, "Check the indices of this line; they count from 1")
        })?;
    }
    Ok(cells.mesh)
}
