//! A run as one file that a browser shows without a server, from the file system or from a mail.
//!
//! The file is the page with its script and its style in it, and the answers that a server would give to the page: an element
//! for each, named by the address, with the bytes compressed (zlib) and then in base64, since HTML is text. Of containers the
//! first bytes of all numbers come first, then all second ones and so on: signs and exponents are alike, which compresses.

use crate::error::RequestError;
use crate::folder::Folder;
use crate::{HOW_TO_BUILD, assets};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};
use standoff_run::{OutputError, write_atomically};
use std::collections::BTreeMap;
use std::path::Path;

/// Largest file that is written unless told otherwise, bytes: what most mail servers accept.
pub const HTML_LIMIT: u64 = 25_000_000;

/// Level of compression, of 10: higher ones take several times as long for a few percent.
const LEVEL: u8 = 6;

/// Why a run cannot be a file.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The run cannot be read, or the file not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The program was built without the page.
    #[error("{HOW_TO_BUILD}")]
    NoPage,
    /// The folder has something that a server would refuse.
    #[error("the run cannot be read: {0}")]
    Refused(String),
    /// Two frames are too much already.
    #[error(
        "the page with the first and the last frame of the run takes {:.1} MB, more than the limit of {:.1} MB; \
         raise the limit (--limit MB)", megabytes(*.bytes), megabytes(*.limit)
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlFile {
    /// Bodies.
    pub bodies: usize,
    /// Frames in the file.
    pub frames: usize,
    /// Frames of the run.
    pub of_frames: usize,
    /// Size of the file, bytes.
    pub bytes: u64,
}

/// Writes the run in a folder, as far as it has come, with all its frames into one HTML file. If that is more than `limit`
/// bytes, it has only every second frame, every fourth and so on, and the last one.
///
/// # Errors
/// See [`HtmlError`].
pub fn write_html(folder: &Path, file: &Path, limit: u64) -> Result<HtmlFile, HtmlError> {
    let page = Page::new()?;
    let run = Folder::new(folder);
    let answer = run.state()?;
    let mut state: Value =
        serde_json::from_slice(&answer.body).map_err(|e| HtmlError::Refused(e.to_string()))?;
    let steps: Vec<u64> =
        state["frames"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let mut fixed = vec![embed("api/mesh", &run.mesh(None)?.body, true)];
    let stats = read_stats(&run)?;
    fixed.push(embed("api/stats", &stats, false));
    if state["failed"] == true {
        fixed.push(embed("api/failure", &run.failure()?.body, false));
    }
    let names = names_of_arrays(&state);
    // which frames there will be is not known yet, but that this takes less than the list of all of them in base64
    let other =
        page.length() + fixed.iter().map(String::len).sum::<usize>() + 2 * answer.body.len();
    let room = limit.saturating_sub(other as u64);
    let frame = |step: u64| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let answer = run.frame(step, None, &names)?;
        Ok::<_, HtmlError>(embed(&format!("api/frame/{step}"), &answer.body, true))
    };
    let kept = choose(&steps, room, frame)?
        .map_err(|bytes| HtmlError::TooLarge { bytes: other as u64 + bytes, limit })?;
    let name = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // where the run lies on this machine is left out
    state["folder"] = json!(name.file_name().unwrap_or_default().to_string_lossy());
    state["live"] = json!(false);
    state["frames"] = json!(kept.keys().collect::<Vec<_>>());
    state["stats_length"] = json!(stats.len());
    fixed.push(embed("api/run", &serde_json::to_vec(&state).unwrap_or_default(), false));
    let parts: Vec<&str> = fixed.iter().chain(kept.values()).map(String::as_str).collect();
    let bytes = page.write(file, &parts)?;
    let bodies = state["bodies"].as_array().map_or(0, Vec::len);
    Ok(HtmlFile { bodies, frames: kept.len(), of_frames: steps.len(), bytes })
}

/// Frames by their step, as many as have room: all, every second, every fourth, …, and always the first and the last one. Where
/// these have no room, their size.
fn choose<E>(
    steps: &[u64],
    room: u64,
    mut frame: impl FnMut(u64) -> Result<String, E>,
) -> Result<Result<BTreeMap<u64, String>, u64>, E> {
    let Some(last) = steps.last() else { return Ok(Ok(BTreeMap::new())) };
    let mut kept = BTreeMap::from([(*last, frame(*last)?)]);
    let mut bytes = kept[last].len() as u64;
    let mut stride = 1;
    for (k, step) in steps[..steps.len() - 1].iter().enumerate() {
        if k % stride != 0 {
            continue;
        }
        let text = frame(*step)?;
        bytes += text.len() as u64;
        kept.insert(*step, text);
        while bytes > room && kept.len() > 2 {
            stride *= 2;
            let wanted = |step: &u64| {
                step == last || steps.binary_search(step).is_ok_and(|k| k.is_multiple_of(stride))
            };
            kept.retain(|step, _| wanted(step));
            bytes = kept.values().map(|t| t.len() as u64).sum();
        }
    }
    Ok(if bytes > room { Err(bytes) } else { Ok(kept) })
}

/// The page in two halves, between which a run has its place.
struct Page {
    head: String,
    tail: String,
}

impl Page {
    fn new() -> Result<Self, HtmlError> {
        let text = |name: &str| {
            let asset = assets::find(name).ok_or(HtmlError::NoPage)?;
            Ok::<_, HtmlError>(String::from_utf8_lossy(asset.bytes).into_owned())
        };
        let mut page = text("index.html")?;
        // within a script this ends it, wherever it stands; in strings the backslash means nothing
        let script = text("main.js")?.replace("</script", "<\\/script");
        let licences = STANDARD.encode(text("licences.txt")?);
        for (what, instead) in [
            (
                r#"<link rel="stylesheet" href="main.css" />"#,
                format!("<style>{}</style>", text("main.css")?),
            ),
            (
                r#"<script type="module" src="main.js"></script>"#,
                format!("<script type=\"module\">{script}</script>"),
            ),
            (
                r#"href="licences.txt""#,
                format!("download=\"licences.txt\" href=\"data:text/plain;base64,{licences}\""),
            ),
        ] {
            assert!(page.contains(what), "web/src/index.html has {what}");
            page = page.replace(what, &instead);
        }
        let (head, tail) = page.rsplit_once("</body>").expect("web/src/index.html has a body");
        Ok(Self { head: head.into(), tail: format!("</body>{tail}") })
    }

    fn length(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn write(&self, file: &Path, parts: &[&str]) -> Result<u64, HtmlError> {
        let all: Vec<&str> = [&[self.head.as_str()][..], parts, &[self.tail.as_str()]].concat();
        write_atomically(file, |out| all.iter().try_for_each(|p| out.write_all(p.as_bytes())))?;
        Ok(all.iter().map(|p| p.len() as u64).sum())
    }
}

/// An element with an answer.
fn embed(address: &str, body: &[u8], is_container: bool) -> String {
    let packed = match is_container {
        true => compress_to_vec_zlib(&planes(body), LEVEL),
        false => compress_to_vec_zlib(body, LEVEL),
    };
    let kind = if is_container { "planes" } else { "plain" };
    let packed = STANDARD.encode(packed);
    format!("<script type=\"text/plain\" id=\"{address}\" data-kind=\"{kind}\">{packed}</script>\n")
}

/// The first bytes of all groups of four, then the second ones and so on.
fn planes(bytes: &[u8]) -> Vec<u8> {
    (0..4).flat_map(|plane| bytes.iter().skip(plane).step_by(4).copied()).collect()
}

fn names_of_arrays(state: &Value) -> Vec<String> {
    let arrays = state["arrays"].as_array().into_iter().flatten();
    arrays.filter_map(|a| Some(a["name"].as_str()?.to_owned())).collect()
}

/// All whole lines of the statistics.
fn read_stats(run: &Folder) -> Result<Vec<u8>, RequestError> {
    let mut all = Vec::new();
    loop {
        let part = run.stats(all.len() as u64)?.body;
        if part.is_empty() {
            return Ok(all);
        }
        all.extend(part);
    }
}

impl From<RequestError> for HtmlError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Output(error) => Self::Output(error),
            other => Self::Refused(other.to_string()),
        }
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the steps 0, 2, 4, … are kept, if each takes ten bytes.
    fn kept(frames: u64, room: u64) -> Result<Vec<u64>, u64> {
        let steps: Vec<u64> = (0..frames).map(|k| 2 * k).collect();
        let chosen = choose(&steps, room, |_| Ok::<_, HtmlError>("0123456789".into())).unwrap();
        chosen.map(|kept| kept.into_keys().collect())
    }

    #[test]
    fn as_many_frames_as_have_room() {
        assert_eq!(kept(6, 60).unwrap(), [0, 2, 4, 6, 8, 10]);
        assert_eq!(kept(6, 59).unwrap(), [0, 4, 8, 10]);
        assert_eq!(kept(6, 39).unwrap(), [0, 8, 10]);
        assert_eq!(kept(6, 20).unwrap(), [0, 10]);
        assert_eq!(kept(6, 19).unwrap_err(), 20);
        assert_eq!(kept(1, 10).unwrap(), [0]);
        assert_eq!(kept(0, 0).unwrap(), [] as [u64; 0]);
    }

    #[test]
    fn planes_of_bytes() {
        assert_eq!(planes(&[1, 2, 3, 4, 5, 6, 7, 8]), [1, 5, 2, 6, 3, 7, 4, 8]);
    }
}
