//! Runs a scene file with overrides, as `standoff run` does.
//!
//!     cargo run --release -p standoff --example run_scene_file -- scenes/FILE.toml FOLDER

use standoff::prelude::*;
use std::path::PathBuf;

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).filter(|a| a.ends_with(".toml"));
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/two-cubes-fall.toml");
    let scene = arguments.next().unwrap_or_else(|| default.into());
    let folder = std::env::temp_dir().join(format!("standoff-file-{}", std::process::id()));
    let folder = std::env::args().nth(2).map_or(folder, PathBuf::from);

    let mut scene = standoff::load(scene, &["friction.coefficient=0.5", "output.every=10"])?;
    scene.set_steps(20);
    scene.notes.iter().for_each(|note| println!("note: {note}"));
    let summary = standoff::run_with(&scene, &folder, Options { force: true }, &mut |_| {
        ControlFlow::Continue(())
    })?;
    print!("{summary}");
    println!("results in {}", folder.display());
    assert_eq!(summary.steps, 20);
    Ok(())
}
