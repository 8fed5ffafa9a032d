//! `standoff new`: scenes to start from.

use crate::args::{NewArgs, Template};
use crate::failure::Failure;
use crate::output::Console;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Writes a scene to start from.
pub fn new(args: &NewArgs, console: &mut Console) -> Result<(), Failure> {
    let file = with_extension(&args.file);
    if !args.force && file.symlink_metadata().is_ok() {
        let file = file.display();
        return Err(Failure::Input(format!(
            "{file} exists; choose another name, or pass --force to replace it"
        )));
    }
    let failed = |e: &dyn std::fmt::Display| Failure::Result(e.to_string());
    let parent = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(parent)
        .map_err(|e| failed(&format_args!("{}: {e}", parent.display())))?;
    standoff_run::write_atomically(&file, |out| out.write_all(text(args.template).as_bytes()))
        .map_err(|e| failed(&e))?;
    let file = file.display();
    console.say(format_args!("{file}: simulate it by `standoff run {file}`"));
    Ok(())
}

/// `.toml` is added, not put in place of what comes after a dot in a name.
fn with_extension(file: &Path) -> PathBuf {
    if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        return file.to_owned();
    }
    let mut name = OsString::from(file);
    name.push(".toml");
    name.into()
}

fn text(template: Template) -> &'static str {
    match template {
        Template::Drop => include_str!("../templates/drop.toml"),
        Template::Cloth => include_str!("../templates/cloth.toml"),
        Template::Press => include_str!("../templates/press.toml"),
        Template::Slope => include_str!("../templates/slope.toml"),
        Template::Mesh => include_str!("../templates/mesh.toml"),
    }
}
