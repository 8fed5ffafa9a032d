//! Pieces of a scene file.

pub(crate) fn entry(out: &mut String, key: &str, value: &str) {
    out.push_str(key);
    out.push_str(" = ");
    out.push_str(value);
    out.push('\n');
}

pub(crate) fn comment(out: &mut String, text: &str) {
    out.push_str("# ");
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    out.push('\n');
}

/// A number that reads back to the same bits.
pub(crate) fn number(x: f64) -> String {
    format!("{x:?}")
}

/// A TOML basic string; control characters are dropped.
pub(crate) fn quoted(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", kept.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name of characters that names of files may have on every system.
pub(crate) fn plain(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect();
    if kept.is_empty() { "part".to_owned() } else { kept }
}
