//! A run as one HTML file: the page of the viewer with the run in it.

use crate::{ExportError, Exported};
use std::path::Path;

#[cfg(feature = "html")]
pub fn write(folder: &Path, file: &Path, limit: Option<u64>) -> Result<Exported, ExportError> {
    use standoff_view::{HTML_LIMIT, HtmlError, write_html};
    crate::create_parent(file)?;
    let done = write_html(folder, file, limit.unwrap_or(HTML_LIMIT)).map_err(|e| match e {
        HtmlError::Output(e) => ExportError::Output(e),
        // its text begins with the folder or the file that it is about
        e => ExportError::Html { path: file.to_owned(), what: e.to_string() },
    })?;
    Ok(Exported {
        bodies: done.bodies,
        frames: done.frames,
        of_frames: done.of_frames,
        bytes: Some(done.bytes),
        files: vec![file.to_owned()],
    })
}

#[cfg(not(feature = "html"))]
pub fn write(_: &Path, file: &Path, _: Option<u64>) -> Result<Exported, ExportError> {
    let what = "this standoff was built without the viewer, whose page an HTML file of a run is; build it with \
                the feature `view`, which is on by default";
    Err(ExportError::Html { path: file.to_owned(), what: what.into() })
}
