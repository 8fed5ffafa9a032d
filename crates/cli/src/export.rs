//! `standoff export`, `standoff render` and `standoff plot`: runs for other programs and for people.

use crate::args::{ExportArgs, PlotArgs, RenderArgs};
use crate::failure::Failure;
use crate::output::Console;
use standoff_export::render::{Camera, render_folder};
use standoff_export::{ExportError, Options, film, plot};
use std::path::Path;

/// Writes a run as HTML, USD, glTF, PLY, OBJ or STL.
pub fn export(args: &ExportArgs, console: &mut Console) -> Result<(), Failure> {
    let html_limit = Some(u64::from(args.limit) * 1_000_000);
    let options = Options { force: args.force, tetrahedra: args.tetrahedra, html_limit };
    let done = standoff_export::export(&args.folder, &args.output, options).map_err(failure)?;
    let files: Vec<String> = done.files.iter().map(|f| f.display().to_string()).collect();
    let bodies = counted(done.bodies, "body", "bodies");
    let frames = match done.frames == done.of_frames {
        true => counted(done.frames, "frame", "frames"),
        false => format!("{} of {} frames (--limit {})", done.frames, done.of_frames, args.limit),
    };
    let size = done.bytes.map(|b| format!(", {:.1} MB", b as f64 / 1e6)).unwrap_or_default();
    console.say(format_args!("{}: {bodies}, {frames}{size}", files.join(" to ")));
    Ok(())
}

/// Makes pictures or a film of a run.
pub fn render(args: &RenderArgs, console: &mut Console) -> Result<(), Failure> {
    let camera = Camera { size: args.size, from: args.from.map(Into::into), force: args.force };
    let is_film = args.output.extension().is_some() && !args.output.is_dir();
    let pictures = if is_film {
        film(&args.folder, &args.output, &camera).map_err(failure)?
    } else {
        render_folder(&args.folder, &args.output, &camera).map_err(failure)?.len()
    };
    console.say(format_args!("{}: {pictures} pictures", args.output.display()));
    Ok(())
}

/// Draws the curves of a run.
pub fn plot(args: &PlotArgs, console: &mut Console) -> Result<(), Failure> {
    let file = args.output.clone().unwrap_or_else(|| args.folder.join("curves.svg"));
    // a wrong name is told before a run is read
    plot::file(&[], &file).map_err(failure)?;
    let diagrams = match args.curve.is_empty() {
        true => plot::curves(&args.folder),
        false => plot::chosen(&args.folder, &args.curve, args.against.as_deref()),
    };
    let diagrams = diagrams.map_err(failure)?;
    write_plot(&file, &diagrams, args.force || args.output.is_none(), console)
}

/// Writes diagrams to a file, which is replaced only by `force`; its folder is created.
pub fn write_plot(
    file: &Path,
    diagrams: &[plot::Diagram],
    force: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    if !force && file.exists() {
        return Err(failure(ExportError::Exists(file.to_owned())));
    }
    let bytes = plot::file(diagrams, file).map_err(failure)?;
    let parent = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(parent)
        .map_err(|e| Failure::Result(format!("{}: {e}", parent.display())))?;
    standoff_run::write_atomically(file, |out| out.write_all(&bytes))
        .map_err(|e| Failure::Result(e.to_string()))?;
    console.say(file.display());
    Ok(())
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::UnknownFormat(_)
        | ExportError::NoFilm(_)
        | ExportError::NoPlot(_)
        | ExportError::Exists(_)
        | ExportError::UnknownQuantity { .. } => Failure::Input(error.to_string()),
        _ => Failure::Result(error.to_string()),
    }
}
