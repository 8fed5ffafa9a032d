//! Archives of arrays as NumPy writes them (`.npz`): vectors and matrices of `f64`, row by row.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// All arrays of an archive by name, flat.
///
/// # Panics
/// Where the file is no archive of little-endian `f64` arrays in C order.
pub fn read(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let file = std::fs::File::open(path).expect("a readable archive");
    let mut archive = zip::ZipArchive::new(file).expect("a ZIP archive");
    let count = archive.len();
    let entry = |k: usize| {
        let mut entry = archive.by_index(k).expect("an entry");
        let name = entry.name().expect("a name of text").into_owned();
        let name = name.strip_suffix(".npy").expect("an array").to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("an entry that can be unpacked");
        (name, array(&bytes))
    };
    (0..count).map(entry).collect()
}

/// The numbers of a `.npy`: a magic word, two bytes of version, the length of the header, the header.
fn array(bytes: &[u8]) -> Vec<f64> {
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "version 1 of the format");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("a header of text");
    let plain = header.contains("'descr': '<f8'") && header.contains("'fortran_order': False");
    assert!(plain, "little-endian f64 in C order, not {header}");
    let numbers = bytes[10 + length..].chunks_exact(8);
    numbers.map(|c| f64::from_le_bytes(c.try_into().expect("8 bytes"))).collect()
}
