//! Runs in the formats of other programs.
//!
//! [`export`] writes the surfaces of a run in a folder, body by body with constant topology: as USD
//! with time samples (`.usda`), as binary glTF with an animation (`.glb`), or as a sequence of PLY, OBJ or STL files. In USD and
//! glTF what moves rigidly is one mesh with a transform that moves. As
//! `.html` it writes the page of the viewer with the whole run in it.
//! [`render`] makes pictures and films of it, [`plot`] the curves.

mod drawing;
mod film;
mod glb;
mod html;
mod motion;
pub mod plot;
mod quantity;
pub mod render;
mod sequence;
mod surface_files;
mod usd;

use standoff_run::OutputError;
use std::path::{Path, PathBuf};

pub use film::film;
pub use sequence::{ExportedBody, Sequence};

/// A run that cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run cannot be read, or the result not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The file name ends with nothing that is known.
    #[error("{}: unknown format; choose .html, .usda, .glb, .ply, .obj or .stl", .0.display())]
    UnknownFormat(PathBuf),
    /// The file name does not end as that of a film does.
    #[error(
        "{}: not a film; films end with .mp4, .mov, .mkv, .webm or .gif, pictures go into a folder, one for each \
         frame", .0.display()
    )]
    NoFilm(PathBuf),
    /// The file name ends with nothing in which curves are drawn.
    #[error("{}: curves are drawn as SVG or PDF; choose a name that ends with .svg or .pdf", .0.display())]
    NoPlot(PathBuf),
    /// The file is there already.
    #[error("{} exists; choose another name, or pass --force to replace it", .0.display())]
    Exists(PathBuf),
    /// A film is made by a program that is not there or did not succeed.
    #[error(
        "{}: {what}. Films are made by ffmpeg, which must be installed; without it, give a folder for \
         pictures", .path.display()
    )]
    Film {
        /// The film.
        path: PathBuf,
        /// What happened.
        what: String,
    },
    /// No step of a run has a quantity that is to be drawn.
    #[error("{}: no step has a number '{name}'{}", .path.display(), there(.known))]
    UnknownQuantity {
        /// The statistics of the run.
        path: PathBuf,
        /// The quantity.
        name: String,
        /// What may be written where its name leads nowhere.
        known: Vec<String>,
    },
    /// A run is no page.
    #[error("{}: {what}", .path.display())]
    Html {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// A glTF file has 4 GiB at most.
    #[error(
        "{}: {bytes} bytes are more than a .glb file can hold (4 GiB); write frames less often \
         (output.every) or export to .usda", .path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
}

/// What may be written instead, as the end of a sentence.
fn there(known: &[String]) -> String {
    match known {
        [] => String::new(),
        _ => format!("; what there is: {}", known.join(", ")),
    }
}

/// How a run is exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether files that are there are replaced.
    pub force: bool,
    /// Whether the boundary of the tetrahedra is written although a finer surface rides along.
    pub tetrahedra: bool,
    /// Largest HTML file, bytes, 25 MB by default. If all frames are more, the file has every second one, every fourth and so on.
    pub html_limit: Option<u64>,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Bodies.
    pub bodies: usize,
    /// Frames that were written.
    pub frames: usize,
    /// Frames of the run.
    pub of_frames: usize,
    /// Size of the file, bytes, if it is one.
    pub bytes: Option<u64>,
    /// The file, or the first and the last one of a sequence.
    pub files: Vec<PathBuf>,
}

/// The formats by extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Html,
    Usd,
    Glb,
    Ply,
    Obj,
    Stl,
}

/// Exports the run in a folder to `file`, whose extension chooses the format. Of a sequence every frame is a file
/// of its own, with the number of its step before the extension: `ball.ply` becomes `ball_000000.ply`, ….
///
/// # Errors
/// See [`ExportError`].
pub fn export(folder: &Path, file: &Path, options: Options) -> Result<Exported, ExportError> {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let format = match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => Format::Html,
        "usda" => Format::Usd,
        "glb" => Format::Glb,
        "ply" => Format::Ply,
        "obj" => Format::Obj,
        "stl" => Format::Stl,
        _ => return Err(ExportError::UnknownFormat(file.to_owned())),
    };
    if format == Format::Html {
        refuse_existing(&[file.to_owned()], options)?;
        return html::write(folder, file, options.html_limit);
    }
    let sequence = Sequence::open(folder, options.tetrahedra)?;
    let is_one_file = matches!(format, Format::Usd | Format::Glb);
    let files: Vec<PathBuf> = match is_one_file {
        true => vec![file.to_owned()],
        false => sequence.steps().iter().map(|step| numbered(file, *step)).collect(),
    };
    refuse_existing(&files, options)?;
    create_parent(file)?;
    match format {
        Format::Html => {}
        Format::Usd => usd::write(&sequence, file)?,
        Format::Glb => glb::write(&sequence, file)?,
        Format::Ply => surface_files::write(&sequence, &files, surface_files::ply)?,
        Format::Obj => surface_files::write(&sequence, &files, surface_files::obj)?,
        Format::Stl => surface_files::write(&sequence, &files, surface_files::stl)?,
    }
    let ends = match &files[..] {
        [first, .., last] => vec![first.clone(), last.clone()],
        few => few.to_vec(),
    };
    let frames = sequence.steps().len();
    let bytes = is_one_file.then(|| file.metadata().map_or(0, |m| m.len()));
    Ok(Exported { bodies: sequence.bodies().len(), frames, of_frames: frames, bytes, files: ends })
}

fn refuse_existing(files: &[PathBuf], options: Options) -> Result<(), ExportError> {
    match files.iter().find(|f| f.symlink_metadata().is_ok()) {
        Some(found) if !options.force => Err(ExportError::Exists(found.clone())),
        _ => Ok(()),
    }
}

/// Creates the folder that a file is to be in.
fn create_parent(file: &Path) -> Result<(), OutputError> {
    let parent = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(parent)
        .map_err(|source| OutputError::Write { path: parent.to_owned(), source })
}

/// `path/name_000012.extension`.
fn numbered(file: &Path, step: u64) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}_{step:06}.{extension}"))
}
