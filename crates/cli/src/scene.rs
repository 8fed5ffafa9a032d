//! Reading a scene: Standoff's own (TOML) or one of the IPC 2020 reference (`.txt`); converting models of MuJoCo, robots, and input files of Abaqus
//! and CalculiX.

use crate::args::{CommonArgs, ConvertArgs, PoseArgs, RunArgs};
use crate::failure::Failure;
use crate::output::Console;
use standoff::{LoadOptions, Scene};
use standoff_ipc_import::Import;
use standoff_mesh::Mesh;
use std::path::{Path, PathBuf};

/// Reads a scene with overrides `KEY=VALUE`, and with a number of steps instead of its end; `.txt` files
/// are imported.
pub fn load(
    path: &Path,
    common: &CommonArgs,
    overrides: &[String],
    steps: Option<u64>,
) -> Result<Scene, Failure> {
    if is_model(path) {
        let what = format!(
            "{}: a robot, a model of MuJoCo or an input file of Abaqus is no scene; `standoff convert` makes one of it, and `standoff run` does that by itself",
            path.display()
        );
        return Err(Failure::Input(what));
    }
    let (overrides, mesh_roots) = (overrides.to_vec(), common.mesh_root.clone());
    Ok(standoff::load_with(path, &LoadOptions { overrides, steps, mesh_roots })?)
}

/// The scene file of a run: that of the command line, or what a robot is converted to beside the `folder` of the run.
pub fn converted(args: &RunArgs, folder: &Path, console: &mut Console) -> Result<PathBuf, Failure> {
    if !is_model(&args.scene) {
        refuse_pose(&args.scene, &args.pose)?;
        return Ok(args.scene.clone());
    }
    let mut beside = folder.as_os_str().to_owned();
    beside.push("-model");
    let beside = PathBuf::from(beside);
    let name = args.scene.file_stem().unwrap_or_default();
    let output = beside.join(name).with_extension("toml");
    convert(
        &ConvertArgs {
            scene: args.scene.clone(),
            output: output.clone(),
            force: args.force,
            mesh_root: Vec::new(),
            pose: args.pose.clone(),
        },
        console,
    )?;
    Ok(output)
}

/// `standoff convert`: writes an imported scene as a scene file.
pub fn convert(args: &ConvertArgs, console: &mut Console) -> Result<(), Failure> {
    let scene_file = scene_file(args);
    let output = scene_file.display();
    if is_same_file(&args.scene, &scene_file) {
        let what = format!("{output} is the scene itself; give another file with -o");
        return Err(Failure::Input(what));
    }
    if !args.force && scene_file.symlink_metadata().is_ok() {
        let what = format!("{output} exists; choose another file, or pass --force to replace it");
        return Err(Failure::Input(what));
    }
    let folder = scene_file.parent().unwrap_or(Path::new(""));
    let input = |e: &dyn std::fmt::Display| Failure::Input(e.to_string());
    let (text, notes) = if is_input_file(&args.scene) {
        refuse_pose(&args.scene, &args.pose)?;
        let import =
            standoff_inp_import::Import::load(&args.scene, &scene_file).map_err(|e| input(&e))?;
        meshes(&import.meshes, folder, args.force, console)?;
        (import.toml, import.notes)
    } else if is_model(&args.scene) {
        let options = args.pose.options();
        let import = standoff_mjcf_import::Import::load(&args.scene, &scene_file, &options)
            .map_err(|e| input(&e))?;
        meshes(&import.meshes, folder, args.force, console)?;
        (import.toml, [import.notes, import.of_settings].concat())
    } else {
        refuse_pose(&args.scene, &args.pose)?;
        let import = import(&args.scene, &args.mesh_root)?;
        (import.to_toml(folder), import.notes.iter().map(ToString::to_string).collect())
    };
    standoff_run::write_atomically(&scene_file, |file| file.write_all(text.as_bytes()))
        .map_err(|e| Failure::Input(e.to_string()))?;
    notes.iter().for_each(|note| console.say(format_args!("note: {note}")));
    console.say(output);
    Ok(())
}

/// The scene file to write. An input file may be converted to a folder, in which the scene has its name.
fn scene_file(args: &ConvertArgs) -> PathBuf {
    let is_folder = args.output.is_dir() || args.output.extension().is_none();
    match args.scene.file_stem() {
        Some(name) if is_folder && is_input_file(&args.scene) => {
            let mut file = name.to_owned();
            file.push(".toml");
            args.output.join(file)
        }
        _ => args.output.clone(),
    }
}

/// A scene says itself where its joints start.
fn refuse_pose(scene: &Path, pose: &PoseArgs) -> Result<(), Failure> {
    let given = [
        ("--pose", !pose.joints.is_empty()),
        ("--keyframe", pose.keyframe.is_some()),
        ("--hulls", pose.hulls),
    ];
    let Some((option, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let what = format!(
        "{option} is for robots (.urdf, .xml), and {} is a scene: `start` of its [[joints]] says where they start",
        scene.display()
    );
    Err(Failure::Input(what))
}

/// Writes the meshes of a model beside the scene file. Nothing is left behind of a model that cannot be read.
fn meshes(
    list: &[(PathBuf, Mesh)],
    folder: &Path,
    force: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::Input(format!("cannot create {}: {e}", folder.display())))?;
    let files: Vec<PathBuf> = list.iter().map(|(file, _)| folder.join(file)).collect();
    if let Some(taken) = files.iter().find(|f| !force && f.symlink_metadata().is_ok()) {
        let what = format!(
            "{} exists; choose another scene file, or pass --force to replace it",
            taken.display()
        );
        return Err(Failure::Input(what));
    }
    for (file, (_, mesh)) in files.iter().zip(list) {
        standoff_mesh::format::write(file, mesh).map_err(|e| Failure::Input(e.to_string()))?;
        console.say(file.display());
    }
    Ok(())
}

fn is_model(path: &Path) -> bool {
    let named = |known: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(known));
    ["xml", "mjcf", "urdf", "inp"].into_iter().any(named)
}

fn is_input_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("inp"))
}

/// Whether two paths lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn import(path: &Path, roots: &[PathBuf]) -> Result<Import, Failure> {
    Import::load(path, roots).map_err(|e| Failure::Input(e.to_string()))
}
