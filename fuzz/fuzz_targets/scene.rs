//! Scene files, without any mesh beside them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standoff_scene::Scene;
use std::path::Path;

fuzz_target!(|text: &str| {
    // a shape of a billion vertices is a valid wish
    if text.len() > 4096 {
        return;
    }
    let _ = Scene::parse(text, Path::new("scene.toml"), Path::new("no-meshes-here"), &[]);
});
