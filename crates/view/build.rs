//! Embeds the page: as it lies in `web/dist` if it was built there after the last change of its sources, otherwise bundled here
//! by Node.js. Without Node.js, or without its packages and a network, the program is built without the page and says why.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

/// The oldest Node.js that bundles the page; `engines` of web/package.json has the same.
const OLDEST_NODE: u32 = 20;
/// What of `web` the page is bundled from. A published crate has `dist` alone.
const SOURCES: [&str; 4] = ["src", "build.mjs", "package.json", "package-lock.json"];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let (web, dist) = (root.join("web"), root.join("web/dist"));
    let sources: Vec<PathBuf> =
        SOURCES.iter().map(|s| web.join(s)).filter(|s| s.exists()).collect();
    println!("cargo::rerun-if-changed=build.rs");
    // that folder is in the repository, so that this also notices that it is filled
    for path in sources.iter().chain([&dist]) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let newest = sources.iter().filter_map(|s| newest(s)).max();
    let built = newest_if_page(&dist).filter(|built| newest.is_none_or(|n| n <= *built));
    let page = match built {
        Some(_) => Ok(dist),
        None if sources.len() < SOURCES.len() => Err("its sources are not there".to_owned()),
        None => bundle(&web, &out),
    };
    let why = page.as_ref().err().cloned().unwrap_or_default();
    if !why.is_empty() {
        println!("cargo::warning=the viewer's page is left out, because {why}");
    }
    println!("cargo::rustc-env=STANDOFF_WHY_NO_PAGE={why}");
    embed(page.ok().as_deref(), &out.join("assets.rs"));
}

/// When the newest file in a folder, or this file, was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().filter_map(|e| newest(&e.path())).max(),
        Err(_) => path.metadata().and_then(|m| m.modified()).ok(),
    }
}

/// When a page was built, if there is one.
fn newest_if_page(dist: &Path) -> Option<SystemTime> {
    dist.join("index.html").metadata().and_then(|m| m.modified()).ok()
}

/// Bundles the page in a copy of its sources, so that a build writes nothing into the repository; or says why that cannot be.
fn bundle(web: &Path, out: &Path) -> Result<PathBuf, String> {
    check_node()?;
    let copy = out.join("web");
    let locked = fs::read(web.join("package-lock.json")).unwrap_or_default();
    // written last, so that packages which were not completely installed are installed again
    let installed = copy.join("installed.json");
    let current = fs::read(&installed).is_ok_and(|i| i == locked);
    let copied = || {
        let _ = fs::remove_dir_all(copy.join("src"));
        fs::create_dir_all(copy.join("dist"))?;
        SOURCES.iter().try_for_each(|s| copy_all(&web.join(s), &copy.join(s)))
    };
    copied().map_err(|e: io::Error| {
        format!("its sources cannot be copied to {}: {e}", copy.display())
    })?;
    if !current {
        // what is in npm's cache is not fetched again; a machine without a network is not kept waiting
        let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
        npm.args(["ci", "--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit"]);
        npm.args(["--no-fund", "--fetch-retries=0", "--fetch-timeout=20000", "--loglevel=error"]);
        if env::var("CARGO_NET_OFFLINE").is_ok_and(|v| v == "true") {
            npm.arg("--offline");
        }
        succeed(npm.current_dir(&copy), "npm could not get the packages that it is made of")?;
        fs::write(&installed, &locked).map_err(|e| format!("{}: {e}", installed.display()))?;
    }
    succeed(Command::new("node").arg("build.mjs").current_dir(&copy), "node could not bundle it")?;
    Ok(copy.join("dist"))
}

fn check_node() -> Result<(), String> {
    let told = Command::new("node").arg("--version").output();
    let told = told.map_err(|_| "Node.js was not found".to_owned())?;
    let text = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    let major = text.strip_prefix('v').and_then(|v| v.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        _ => Err(format!("Node.js {text} is older than {OLDEST_NODE}")),
    }
}

/// Runs a program; if it fails, `what` and the first line that it complained with.
fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let told = command.output().map_err(|e| format!("{what} ({e})"))?;
    if told.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&told.stderr);
    let lines = said.lines().map(|l| l.trim_start_matches("npm error").trim());
    let first =
        lines.into_iter().find(|l| !l.is_empty() && !l.starts_with("code ")).unwrap_or("no word");
    Err(format!("{what} ({first})"))
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Writes the list of the page's files, empty without a page.
fn embed(page: Option<&Path>, list: &Path) {
    let entries = page.into_iter().filter_map(|p| fs::read_dir(p).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|e| e.path()).collect();
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
    fs::write(list, code).expect("the build's folder can be written to");
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
