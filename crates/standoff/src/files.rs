//! Scenes from files and runs in folders.

use crate::device;
use crate::error::Error;
use standoff_ipc_import::Import;
use standoff_run::{Event, Options, RunInfo, Summary};
use standoff_scene::Scene;
use standoff_scene::resolve::Source;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How a scene file is read.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Overrides such as `"materials.rubber.young_modulus=2e5"`, applied in order.
    pub overrides: Vec<String>,
    /// Number of steps, in place of the end that the scene says.
    pub steps: Option<u64>,
    /// Folders that are searched for the meshes of a scene of the IPC 2020 reference before the scene's own folder and
    /// its parents.
    pub mesh_roots: Vec<PathBuf>,
}

/// Reads a scene file with overrides such as `"materials.rubber.young_modulus=2e5"`, applied in order. A file
/// `.txt` is a scene of the IPC 2020 reference.
///
/// # Errors
/// [`Error::Scene`] or [`Error::Import`], with file and line.
pub fn load(path: impl AsRef<Path>, overrides: &[&str]) -> Result<Scene, Error> {
    let overrides = overrides.iter().map(|o| (*o).to_owned()).collect();
    load_with(path, &LoadOptions { overrides, ..LoadOptions::default() })
}

/// As [`load`], with options.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Scene, Error> {
    let (path, LoadOptions { overrides, steps, mesh_roots }) = (path.as_ref(), options);
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("txt")) {
        return Ok(Scene::load_steps(path, overrides, *steps)?);
    }
    let import = Import::load(path, mesh_roots)?;
    let mut scene = import.resolve(overrides)?;
    if overrides.is_empty() {
        let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_owned());
        let mesh_roots = mesh_roots.iter().map(|p| absolute(p)).collect();
        scene.source = Some(Source { scene: absolute(path), mesh_roots });
    }
    scene.notes.extend(import.notes.iter().map(ToString::to_string));
    if let Some(steps) = steps {
        scene.set_steps(*steps);
    }
    Ok(scene)
}

/// Reads the scene of a run again, with the bits that it had. Energies of the program that began the run
/// have to be added again.
///
/// # Errors
/// The folder holds no run, or its scene cannot be read.
pub fn load_run(folder: impl AsRef<Path>) -> Result<Scene, Error> {
    let folder = folder.as_ref();
    let info = RunInfo::read(folder)?;
    let mut scene = Scene::load(&standoff_run::existing_scene_file(folder)?, &[])?;
    if let Some(source) = info.source {
        scene.definition = Import::load(&source.scene, &source.mesh_roots)?.definition();
        scene.definition.settings.time.end = scene.file.time.end;
        scene.source = Some(source);
    }
    Ok(scene)
}

/// Simulates a scene to its end and writes the results to a folder, as `standoff run` does. A run that
/// the folder holds is an error.
///
/// # Errors
/// [`Error::Run`]. Steps that were done but did not converge are no error: [`Summary::is_success`] tells. [`Error::Device`] where the
/// scene asks for a graphics processor that cannot be used; this is so for every function that begins or resumes a simulation.
///
/// # Example
///
/// ```
/// # fn main() -> Result<(), standoff::Error> {
/// use standoff::prelude::*;
///
/// let scene = SceneBuilder::new()
///     .time_step(0.01)
///     .end_time(0.05)
///     .ground(0.0)
///     .object(Object::shape("block", Shape::Box(BoxShape::default())).at([0.0, 0.51, 0.0]))
///     .build()?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("falling-block");
/// let summary = standoff::run(&scene, &folder)?;
/// assert_eq!(summary.steps, 5);
/// assert!(folder.join("frames/000005.vtu").exists());
/// # Ok(())
/// # }
/// ```
pub fn run(scene: &Scene, folder: impl AsRef<Path>) -> Result<Summary, Error> {
    run_with(scene, folder, Options::default(), &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], with options, telling `observe` what goes on; that may end the run after a step.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    scene: &Scene,
    folder: impl AsRef<Path>,
    options: Options,
    observe: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    let linear = device::linear_solver(scene)?;
    Ok(standoff_run::run_by(scene, folder.as_ref(), options, linear, observe)?)
}

/// Continues the run in a folder to the end of `scene`, which is [`load_run`]'s, perhaps with another
/// end. What follows has the bits of a run that was never stopped.
///
/// # Errors
/// [`Error::Run`].
pub fn resume(scene: &Scene, folder: impl AsRef<Path>) -> Result<Summary, Error> {
    resume_with(scene, folder, &mut |_| ControlFlow::Continue(()))
}

/// As [`resume`], telling `observe` what goes on; that may end the run after a step.
///
/// # Errors
/// [`Error::Run`].
pub fn resume_with(
    scene: &Scene,
    folder: impl AsRef<Path>,
    observe: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    let linear = device::linear_solver(scene)?;
    Ok(standoff_run::resume_by(scene, folder.as_ref(), linear, observe)?)
}

/// What the steps of a scene depend on, in 64 bits: all of it but its end.
pub fn fingerprint(scene: &Scene) -> u64 {
    standoff_run::fingerprint(&scene.definition)
}
