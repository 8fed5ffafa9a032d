//! Reading a scene: Standoff's own (TOML) or one of the IPC 2020 reference (`.txt`); converting models of MuJoCo.

use crate::args::{CommonArgs, ConvertArgs};
use crate::failure::Failure;
use crate::output::Console;
use standoff_ipc_import::Import;
use standoff_run::RunInfo;
use standoff_scene::Scene;
use standoff_scene::resolve::Source;
use std::path::{Path, PathBuf};

/// Reads a scene with overrides `KEY=VALUE`, and with a number of steps instead of its end; `.txt` files
/// are imported.
pub fn load(
    path: &Path,
    common: &CommonArgs,
    overrides: &[String],
    steps: Option<u64>,
) -> Result<Scene, Failure> {
    if !is_reference(path) {
        return Ok(Scene::load_steps(path, overrides, steps)?);
    }
    let import = import(path, &common.mesh_root)?;
    let mut scene = import.resolve(overrides)?;
    if overrides.is_empty() {
        let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_owned());
        let mesh_roots = common.mesh_root.iter().map(|p| absolute(p)).collect();
        scene.source = Some(Source { scene: absolute(path), mesh_roots });
    }
    scene.notes.extend(import.notes.iter().map(ToString::to_string));
    if let Some(steps) = steps {
        scene.set_steps(steps);
    }
    Ok(scene)
}

/// Reads the scene of a run again, with the bits that it had.
pub fn reload(folder: &Path) -> Result<Scene, Failure> {
    let info = RunInfo::read(folder).map_err(|e| Failure::Input(e.to_string()))?;
    let file = standoff_run::existing_scene_file(folder);
    let mut scene = Scene::load_written(&file.map_err(|e| Failure::Input(e.to_string()))?)?;
    if let Some(source) = info.source {
        scene.definition = import(&source.scene, &source.mesh_roots)?.definition();
        scene.definition.settings.time.end = scene.file.time.end;
        scene.source = Some(source);
    }
    Ok(scene)
}

/// `standoff convert`: writes an imported scene as a scene file.
pub fn convert(args: &ConvertArgs, console: &mut Console) -> Result<(), Failure> {
    let output = args.output.display();
    if is_same_file(&args.scene, &args.output) {
        let what = format!("{output} is the scene itself; give another file with -o");
        return Err(Failure::Input(what));
    }
    if !args.force && args.output.symlink_metadata().is_ok() {
        let what = format!("{output} exists; choose another file, or pass --force to replace it");
        return Err(Failure::Input(what));
    }
    let folder = args.output.parent().unwrap_or(Path::new(""));
    let (text, notes) = if is_mjcf(&args.scene) {
        let import = standoff_mjcf_import::Import::load(&args.scene, &args.output)
            .map_err(|e| Failure::Input(e.to_string()))?;
        meshes(&import, folder, args.force, console)?;
        (import.toml, import.notes)
    } else {
        let import = import(&args.scene, &args.mesh_root)?;
        (import.to_toml(folder), import.notes.iter().map(ToString::to_string).collect())
    };
    standoff_run::write_atomically(&args.output, |file| file.write_all(text.as_bytes()))
        .map_err(|e| Failure::Input(e.to_string()))?;
    notes.iter().for_each(|note| console.say(format_args!("note: {note}")));
    console.say(output);
    Ok(())
}

/// Writes the meshes of a model of MuJoCo beside the scene file.
fn meshes(
    import: &standoff_mjcf_import::Import,
    folder: &Path,
    force: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    let files: Vec<PathBuf> = import.meshes.iter().map(|(file, _)| folder.join(file)).collect();
    if let Some(taken) = files.iter().find(|f| !force && f.symlink_metadata().is_ok()) {
        let what = format!(
            "{} exists; choose another scene file, or pass --force to replace it",
            taken.display()
        );
        return Err(Failure::Input(what));
    }
    for (file, (_, mesh)) in files.iter().zip(&import.meshes) {
        standoff_mesh::format::write(file, mesh).map_err(|e| Failure::Input(e.to_string()))?;
        console.say(file.display());
    }
    Ok(())
}

fn is_mjcf(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("xml") || e.eq_ignore_ascii_case("mjcf"))
}

/// Whether two paths lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn is_reference(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("txt"))
}

fn import(path: &Path, roots: &[PathBuf]) -> Result<Import, Failure> {
    Import::load(path, roots).map_err(|e| Failure::Input(e.to_string()))
}
