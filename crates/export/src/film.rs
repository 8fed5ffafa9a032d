//! Films, by ffmpeg.

use crate::render::{Camera, render};
use crate::{ExportError, Sequence};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes a film of a run in real time, at most `rate` pictures a second; the extension of `file` chooses its
/// format (.mp4, .gif, .webm …). Returns the number of pictures.
///
/// # Errors
/// The run cannot be read, or ffmpeg is absent or fails.
pub fn film(run: &Path, file: &Path, camera: &Camera) -> Result<usize, ExportError> {
    if !camera.force && file.exists() {
        return Err(ExportError::Exists(file.to_owned()));
    }
    let sequence = Sequence::open(run, false)?;
    let failed = |what: String| ExportError::Film { path: file.to_owned(), what };
    let times = sequence.times();
    let span = times[times.len() - 1] - times[0];
    // frames follow each other as fast as they did, within what players show
    let rate = if span > 0.0 { (times.len() - 1) as f64 / span } else { 1.0 };
    let rate = rate.clamp(0.1, 240.0);
    // ffmpeg takes even numbers of pixels only
    let size = camera.size.map(|n| n.next_multiple_of(2));
    let [width, height] = size;
    let mut ffmpeg = Command::new("ffmpeg")
        .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgb24"])
        .args(["-video_size", &format!("{width}x{height}"), "-framerate", &rate.to_string()])
        .args(["-i", "-", "-pix_fmt", if is_gif(file) { "rgb8" } else { "yuv420p" }])
        .arg(file)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("ffmpeg cannot be started: {e}")))?;
    let mut pictures = 0;
    let drawn = match ffmpeg.stdin.take() {
        Some(mut pipe) => render(&sequence, &Camera { size, ..*camera }, &mut |_, picture| {
            pictures += 1;
            let sent = pipe.write_all(&picture.pixels);
            sent.map_err(|e| failed(format!("ffmpeg stopped: {e}")))
        }),
        None => Err(failed("ffmpeg takes no pictures".into())),
    };
    let ended = ffmpeg.wait_with_output().map_err(|e| failed(e.to_string()))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(failed(format!("ffmpeg failed: {}", said.trim())));
    }
    drawn.map(|()| pictures)
}

fn is_gif(file: &Path) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case("gif"))
}
