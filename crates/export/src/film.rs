//! Films, by ffmpeg.

use crate::render::{Camera, render};
use crate::{ExportError, Sequence};
use standoff_run::OutputError;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempPath;

/// Makes a film of a run that lasts as long as the run did, as far as players show its rate of frames (0.1 to
/// 240 a second); the extension of `file` chooses its format (.mp4, .mov, .mkv, .webm, .gif). The film appears complete
/// or not at all. Returns the number of pictures.
///
/// # Errors
/// `file` does not end so, the run cannot be read, or ffmpeg is absent or fails.
pub fn film(run: &Path, file: &Path, camera: &Camera) -> Result<usize, ExportError> {
    if !["mp4", "mov", "mkv", "webm", "gif"].contains(&extension(file).as_str()) {
        return Err(ExportError::NoFilm(file.to_owned()));
    }
    if !camera.force && file.exists() {
        return Err(ExportError::Exists(file.to_owned()));
    }
    let sequence = Sequence::open(run, false)?;
    let written = |source| OutputError::Write { path: file.to_owned(), source };
    let unfinished = beside(file).map_err(written)?;
    let times = sequence.times();
    let span = times[times.len() - 1] - times[0];
    let rate = if span > 0.0 { (times.len() - 1) as f64 / span } else { 1.0 };
    // ffmpeg takes even numbers of pixels only
    let camera = Camera { size: camera.size.map(|n| n.next_multiple_of(2)), ..*camera };
    let pictures = encode(&sequence, &camera, rate.clamp(0.1, 240.0), &unfinished)
        .map_err(|e| e.of_film(file))?;
    unfinished.persist(file).map_err(|e| written(e.error))?;
    Ok(pictures)
}

/// An empty file in the folder of `file`, with the same extension, which is gone where it is not kept.
fn beside(file: &Path) -> std::io::Result<TempPath> {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let (prefix, suffix) = (format!(".{name}."), format!(".{}", extension(file)));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(&suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    Ok(builder.tempfile_in(folder)?.into_temp_path())
}

/// Has ffmpeg write the pictures of a run to `file`.
fn encode(
    sequence: &Sequence,
    camera: &Camera,
    rate: f64,
    file: &Path,
) -> Result<usize, EncodeError> {
    let [width, height] = camera.size;
    let colours = match extension(file).as_str() {
        // 256 colours, chosen for every picture
        "gif" => [
            "-filter_complex",
            "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1",
        ],
        _ => ["-pix_fmt", "yuv420p"],
    };
    let mut ffmpeg = Command::new("ffmpeg")
        .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24"])
        .args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string()])
        .args(["-i", "-"])
        .args(colours)
        .arg(file)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| EncodeError::Ffmpeg(format!("ffmpeg cannot be started: {e}")))?;
    let mut pictures = 0;
    let mut pipe = ffmpeg.stdin.take();
    let drawn = render(sequence, camera, &mut |_, picture| -> Result<(), EncodeError> {
        pictures += 1;
        let Some(pipe) = &mut pipe else { return Ok(()) };
        // a failure of ffmpeg is told by what it says at its end
        pipe.write_all(&picture.pixels).map_err(|e| EncodeError::Ffmpeg(format!("ffmpeg: {e}")))
    });
    drop(pipe);
    let ended = ffmpeg.wait_with_output().map_err(|e| EncodeError::Ffmpeg(e.to_string()))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(EncodeError::Ffmpeg(format!("ffmpeg failed: {}", said.trim())));
    }
    drawn.map(|()| pictures)
}

/// A film that was not made.
enum EncodeError {
    /// What ffmpeg says.
    Ffmpeg(String),
    /// A picture cannot be drawn.
    Picture(ExportError),
}

impl From<ExportError> for EncodeError {
    fn from(error: ExportError) -> Self {
        Self::Picture(error)
    }
}

impl EncodeError {
    fn of_film(self, file: &Path) -> ExportError {
        match self {
            Self::Ffmpeg(what) => ExportError::Film { path: file.to_owned(), what },
            Self::Picture(error) => error,
        }
    }
}

fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
