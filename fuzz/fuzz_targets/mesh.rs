//! Mesh files: the first byte chooses the format, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standoff_mesh::format::{Format, ReadOptions, parse};
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let format = Format::ALL.get(usize::from(*choice) % (Format::ALL.len() + 1)).copied();
    let options = ReadOptions { format, ..Default::default() };
    let Ok(mesh) = parse(Path::new("mesh"), bytes, &options) else { return };
    let n = mesh.points.len() as u32;
    assert!(mesh.points.iter().all(|p| p.iter().all(|c| c.is_finite())));
    assert!(mesh.tets.iter().flatten().all(|&v| v < n));
    assert!(mesh.triangles.iter().flatten().all(|&v| v < n));
    assert!(mesh.edges.iter().flatten().all(|&v| v < n));
    let _ = (mesh.check(), mesh.quality(), mesh.to_surface());
});
