//! A run as one file: that it has what a server would answer, bit for bit, and that it keeps its limit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;
use standoff_run::Options;
use standoff_scene::Scene;
use standoff_view::{HTML_LIMIT, HtmlError, Listen, Viewer, has_page, write_html};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.08 }
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, layers = 3 }
translate = [0, 0.105, 0]
velocity = [0, -1, 0]
"#;

fn simulated(folder: &Path) -> PathBuf {
    let run = folder.join("the-run");
    let scene = Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let go_on = &mut |_: &standoff_run::Event<'_>| ControlFlow::Continue(());
    standoff_run::run(&scene, &run, Options::default(), go_on).unwrap();
    run
}

/// What a server answers.
fn served(viewer: &Viewer, address: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(viewer.address()).unwrap();
    write!(stream, "GET /{address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert!(all.starts_with(b"HTTP/1.1 200"), "{address}");
    let end = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    all.split_off(end + 4)
}

/// What the file has at an address, or nothing.
fn embedded(html: &str, address: &str) -> Option<Vec<u8>> {
    let begin = format!("id=\"{address}\" data-kind=\"");
    let element = &html[html.find(&begin)? + begin.len()..];
    let (kind, rest) = element.split_once("\">").unwrap();
    let packed = STANDARD.decode(rest.split_once("</script>").unwrap().0).unwrap();
    let bytes = decompress_to_vec_zlib(&packed).unwrap();
    let count = bytes.len() / 4;
    Some(match kind {
        "planes" => (0..bytes.len()).map(|k| bytes[k % 4 * count + k / 4]).collect(),
        _ => bytes,
    })
}

fn state(html: &str) -> Value {
    serde_json::from_slice(&embedded(html, "api/run").unwrap()).unwrap()
}

#[test]
fn a_file_has_what_a_server_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (run, file) = (simulated(folder.path()), folder.path().join("run.html"));
    let written = write_html(&run, &file, HTML_LIMIT);
    if !has_page() {
        assert!(matches!(written, Err(HtmlError::NoPage)) && !file.exists());
        return;
    }
    let written = written.unwrap();
    let html = fs::read_to_string(&file).unwrap();
    assert_eq!((written.bodies, written.frames, written.of_frames), (1, 9, 9));
    assert_eq!(written.bytes, html.len() as u64);

    let viewer = Viewer::start(&run, &Listen::parse(":0").unwrap()).unwrap();
    assert_eq!(embedded(&html, "api/mesh").unwrap(), served(&viewer, "api/mesh"));
    assert_eq!(embedded(&html, "api/stats").unwrap(), served(&viewer, "api/stats?from=0"));
    assert_eq!(embedded(&html, "api/failure"), None);
    let theirs: Value = serde_json::from_slice(&served(&viewer, "api/run")).unwrap();
    let arrays = theirs["arrays"].as_array().unwrap();
    let names: Vec<&str> = arrays.iter().map(|a| a["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"gap") && names.contains(&"von_mises"), "{names:?}");
    for step in 0..9 {
        let address = format!("api/frame/{step}");
        let expected = served(&viewer, &format!("{address}?arrays={}", names.join(",")));
        assert_eq!(embedded(&html, &address).unwrap(), expected);
    }
    let ours = state(&html);
    for (key, value) in theirs.as_object().unwrap() {
        match key.as_str() {
            // without where it lies on this machine
            "folder" => assert_eq!(ours[key], "the-run"),
            _ => assert_eq!(ours[key], *value, "{key}"),
        }
    }
    assert!(!html.contains(folder.path().to_str().unwrap()));

    // nothing is loaded
    for loads in ["src=\"", "rel=\"stylesheet\"", "href=\"licences.txt\"", "url(http"] {
        assert!(!html.contains(loads), "{loads}");
    }
    // docs/src/export.md says what the page takes
    let page = html.find("<script type=\"text/plain\"").unwrap();
    assert!((650_000..750_000).contains(&page), "the page has {page} bytes");
    // a script ends where it is meant to: one of the page, and one for each answer
    assert_eq!(html.matches("<script").count(), html.matches("</script").count());
}

#[test]
fn a_large_run_has_fewer_frames_and_a_limit_is_kept() {
    if !has_page() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (run, file) = (simulated(folder.path()), folder.path().join("run.html"));
    let whole = write_html(&run, &file, HTML_LIMIT).unwrap().bytes;
    let fewer = write_html(&run, &file, whole - 1).unwrap();
    let html = fs::read_to_string(&file).unwrap();
    assert!(fewer.bytes < whole && fewer.bytes == html.len() as u64);
    assert_eq!((fewer.frames, fewer.of_frames), (5, 9));
    assert_eq!(state(&html)["frames"], serde_json::json!([0, 2, 4, 6, 8]));
    assert_eq!(embedded(&html, "api/frame/3"), None);
    assert!(embedded(&html, "api/frame/4").is_some());

    // the file that was there stays
    let error = write_html(&run, &file, 100_000).unwrap_err();
    assert!(error.to_string().contains("more than the limit of 0.1 MB"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), html);
    let missing = write_html(folder.path(), &file, HTML_LIMIT).unwrap_err();
    assert!(missing.to_string().contains("holds no run"), "{missing}");
}
