//! Checkpoints: the input is what follows the magic number, and gets the right checksum, which no fuzzer
//! would find.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standoff_run::parse_checkpoint;
use std::path::Path;

fuzz_target!(|body: &[u8]| {
    let mut bytes = b"STANDOFF".to_vec();
    bytes.extend_from_slice(body);
    // 64-bit FNV-1a
    let checksum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    bytes.extend_from_slice(&checksum.to_le_bytes());
    let _ = parse_checkpoint(Path::new("fuzz.ckpt"), &bytes, 0);
});
