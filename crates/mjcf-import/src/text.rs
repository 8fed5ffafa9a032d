//! Pieces of a scene file.

use standoff_linalg::Vec3;
use standoff_mesh::Names;

pub(crate) fn table(out: &mut String, head: &str) {
    out.push('\n');
    out.push_str(head);
    out.push('\n');
}

pub(crate) fn entry(out: &mut String, key: &str, value: &str) {
    out.push_str(key);
    out.push_str(" = ");
    out.push_str(value);
    out.push('\n');
}

pub(crate) fn comment(out: &mut String, text: &str) {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    out.push_str("# ");
    out.push_str(&line);
    out.push('\n');
}

/// A number that reads back to the same bits.
pub(crate) fn number(x: f64) -> String {
    format!("{x:?}")
}

pub(crate) fn vector(v: &Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A TOML basic string; control characters are dropped.
pub(crate) fn quoted(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", kept.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name that no other body has, of characters that scenes take.
pub(crate) fn free_name(name: &str, taken: &mut Names) -> String {
    let base: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect();
    taken.free(if base.is_empty() { "body" } else { &base })
}

/// A name as part of a file name on every system.
pub(crate) fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect()
}
