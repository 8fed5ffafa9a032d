//! Embeds the page, if it has been built: `web/dist/index.html` and what lies beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = root.join("web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    // the folder is in the repository, so that this also notices that it is filled
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files: Vec<PathBuf> = match dist.join("index.html").is_file() {
        true => fs::read_dir(&dist).into_iter().flatten().flatten().map(|e| e.path()).collect(),
        false => Vec::new(),
    };
    files.retain(|f| f.is_file() && media_type(f).is_some());
    files.sort();
    let mut code = String::from("&[\n");
    for file in &files {
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = media_type(file).unwrap_or_default();
        writeln!(
            code,
            "    Asset {{ name: {name:?}, media_type: {kind:?}, bytes: include_bytes!({file:?}) }},"
        )
        .expect("strings can be written to");
    }
    code.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("assets.rs"), code).expect("the build's folder can be written to");
}

/// Media type of a file of the page; others are not embedded.
fn media_type(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "txt" => Some("text/plain; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
