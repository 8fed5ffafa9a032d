//! Scripts of the IPC 2020 reference code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standoff_ipc_import::ReferenceScene;
use std::path::Path;

fuzz_target!(|text: &str| {
    let _ = ReferenceScene::parse(Path::new("scene.txt"), text);
});
