//! Reads a mesh in any format and writes it as `.obj` or `.vtu`: `to_obj IN OUT`.

use standoff_mesh::format::{read, write};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [input, output] = &files[..] else { return Err("two files are needed: IN OUT".into()) };
    let mesh = read(input)?;
    mesh.notes.iter().for_each(|note| eprintln!("note: {note}"));
    write(output, &mesh)?;
    Ok(())
}
