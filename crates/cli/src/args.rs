//! Command line.

// long: every command with its arguments and examples

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand};
use standoff_mesh::format::RobotOptions;
use standoff_sim::material::rubber::fit::FittedLaw;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Simulate elastic solids, cloth, rods and grains in frictional contact. In every accepted state no surfaces
/// intersect and no elements are inverted.
#[derive(Debug, Parser)]
#[command(
    name = "standoff",
    version,
    arg_required_else_help = true,
    after_help = "Start with:\n  standoff new drop\n  standoff run drop.toml\n  \
                  standoff view out/drop\n\n\
                  `standoff help COMMAND` shows examples for a command.\n\n\
                  Exit codes:\n  0  success\n  1  a step failed or did not converge, a violation was found, \
                  or results could not be written or printed\n  2  nothing was simulated, because the command \
                  line, the scene or the output folder is wrong"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a scene to start from.
    #[command(after_long_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Simulate a scene and write the results to a folder.
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Continue a run that was stopped; the results are those of an uninterrupted run.
    #[command(after_long_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Show a run in the browser, while it is computed or afterwards.
    #[command(after_long_help = VIEW_EXAMPLES)]
    View(ViewArgs),
    /// Report what is in a scene and whether it can be simulated, without simulating it.
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Check every frame of a run for intersections and inversions, with exact arithmetic.
    #[command(after_long_help = AUDIT_EXAMPLES)]
    Audit(AuditArgs),
    /// Write a run as a page for the browser (HTML) or in a format of other programs: USD, glTF, PLY, OBJ, STL.
    #[command(after_long_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Make pictures or a film of a run, without a window.
    #[command(after_long_help = RENDER_EXAMPLES)]
    Render(RenderArgs),
    /// Draw the curves of a run: energies, smallest gap, contacts, iterations, seconds.
    #[command(after_long_help = PLOT_EXAMPLES)]
    Plot(PlotArgs),
    /// Find the constants of laws of rubber from measured stresses.
    #[command(after_long_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Convert a scene of the IPC 2020 reference code (.txt) or a MuJoCo model (.xml) to a scene file (TOML).
    #[command(after_long_help = CONVERT_EXAMPLES)]
    Convert(ConvertArgs),
    /// Show version, machine, mesh formats, materials, solvers and graphics processors.
    Info,
    /// Print the JSON Schema of scene files, for completion in editors.
    #[command(after_long_help = SCHEMA_EXAMPLES)]
    Schema,
    /// Print what a shell needs to complete commands and options.
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write a manual page for every command.
    #[command(after_long_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

const NEW_EXAMPLES: &str = "\
Examples:
  standoff new ball && standoff run ball.toml          a ball falls; results in out/ball
  standoff new scenes/shirt --template cloth           scenes/shirt.toml; the folder is created";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  standoff completions bash > ~/.local/share/bash-completion/completions/standoff
  standoff completions zsh > \"${fpath[1]}/_standoff\"
  standoff completions fish > ~/.config/fish/completions/standoff.fish";

const MAN_EXAMPLES: &str = "\
Example:
  standoff man ~/.local/share/man/man1 && man standoff-run";

const RUN_EXAMPLES: &str = "\
Examples:
  Simulate a scene and look at it:
    standoff run scenes/two-cubes-fall.toml -o out/cubes
    standoff view out/cubes            (or paraview out/cubes/run.pvd)
  Watch it in the browser while it runs:
    standoff run scenes/two-cubes-fall.toml -o out/cubes --view
  Only the first ten steps, with a stiffer material and half the time step:
    standoff run scene.toml -o out --steps 10 --set materials.rubber.young_modulus='2 MPa' \\
        --set time.step=0.005
  Change one object, by its name or its index:
    standoff run scene.toml -o out --set objects.ball.velocity='[100, 0, 0]'
  Audit every Newton iterate, not only every step:
    standoff run scene.toml -o out --audit every-iterate
  Look afterwards whether the run shows what the scene says that it must show:
    standoff run scenes/two-cubes-fall.toml -o out/cubes --expect

What is written to DIR:
  run.pvd               open this in ParaView
  frames/000000.vtu     positions, displacement, velocity, contact force, von Mises stress
  surface/000000.obj    surfaces, if the scene sets `output.surface_obj = true`
  stats.jsonl           one JSON object per step: iterations, contacts, energies, momenta, seconds
  scene.resolved.toml   the scene with every default; running it repeats the run
  run.json              names of the bodies, for `standoff audit`
  checkpoints/          for `standoff resume`
  failure.vtu, .json    the primitives that stopped the run, if a step failed";

const RESUME_EXAMPLES: &str = "\
Examples:
  After a crash, a kill, a full disk:
    standoff resume out/cubes
  Twenty more steps after a run of ten:
    standoff run scene.toml -o out --steps 10 && standoff resume out --steps 30

The run continues from its last checkpoint. Its results equal those of an uninterrupted run, bit for
bit. Frames and statistics after the checkpoint are written again. If a checkpoint is damaged, the
command says so and uses the previous one.";

const VIEW_EXAMPLES: &str = "\
Examples:
  Look at a run; open the printed address in a browser, and stop the server with Ctrl-C:
    standoff view out/cubes
  From another machine, through a tunnel:
    ssh -L 7327:localhost:7327 MACHINE standoff view out/cubes
  Let everyone who can reach this machine see the run; there is no password:
    standoff view out/cubes --listen 0.0.0.0:7327

The server only reads the folder. Without --listen it accepts connections from this machine only.";

const CHECK_EXAMPLES: &str = "\
Example:
  standoff check scenes/two-cubes-fall.toml

The report lists the objects with the quality of their meshes, the smallest distance between
objects, the number of pairs closer than the contact distance, every intersection by object and
primitive, and an estimate of the memory of a run. The exit code is 1 if the scene cannot start,
because surfaces intersect or elements are inverted.";

const AUDIT_EXAMPLES: &str = "\
Example:
  standoff run scene.toml -o out && standoff audit out

The audit reads the frames from the folder. It shares no code with the distances and the collision
detection of the solver. The exit code is 1 if a frame contains an intersection, an inverted element
or a vertex behind a half-space, or if a frame cannot be read.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  standoff export out/cubes -o cubes.html      the viewer with the run in it: one file, to open or to mail
  standoff export out/cubes -o cubes.usda      for Blender, Houdini, Omniverse: time samples
  standoff export out/cubes -o cubes.glb       for browsers, Blender, PowerPoint: an animation
  standoff export out/cubes -o frames/cubes.ply
                                               cubes_000000.ply, ...: a file for every frame

Of a run that is larger, an HTML file has every second frame, every fourth, ..., so that it stays below --limit.
In the other formats every body is a mesh of its own, with the same triangles in every frame; lengths are in m.";

const RENDER_EXAMPLES: &str = "\
Examples:
  standoff render out/cubes -o movie/                  movie/000000.png, ...
  standoff render out/cubes -o cubes.mp4 --size 1920x1080 --from 1,0.5,0
                                                       a film in real time, if ffmpeg is installed";

const PLOT_EXAMPLES: &str = "\
Examples:
  standoff plot out/cubes                              writes out/cubes/curves.svg
  standoff plot out/cubes -o energy.pdf
  standoff plot out/bar -c forces.held.bar.right.x --against forces.held.bar.right.displacement.x";

const FIT_EXAMPLES: &str = "\
Examples:
  standoff fit --uniaxial testdata/rubber/treloar-uniaxial.csv
                                                       all laws, the best first, as a scene file has them
  standoff fit --uniaxial tension.csv --biaxial bubble.csv --law ogden --terms 3 -o fit.svg

A table has two columns, and a first line that says what they are: `stretch, stress (MPa)`, `strain (%), stress (MPa)`, or
`shear, stress (kPa)` of a sheared sample. Stresses are nominal, force over the area at rest; `true stress` is
converted. Samples are taken to be incompressible: give a `bulk_modulus` or a `poisson_ratio` near 0.5 beside `rubber`. Errors are relative to the measured stress, or to a tenth of the greatest
one of the table where that is more; tables count alike.";

const CONVERT_EXAMPLES: &str = "\
Examples:
  standoff convert input/tutorialExamples/2cubesFall.txt -o 2cubesFall.toml --mesh-root IPC/
  standoff convert cloth.xml -o cloth.toml     a MuJoCo model: its flexcomp bodies and obstacles
  standoff convert beam.inp -o beam/           an input file of Abaqus or CalculiX: beam/beam.toml and its meshes

A scene of the IPC 2020 reference keeps its motion: peculiarities of the reference become settings
with a comment. If a line cannot be converted, the command stops and names it. `standoff run` and
`standoff check` also accept the .txt file directly.";

const SCHEMA_EXAMPLES: &str = "\
Example (VS Code with the extension Even Better TOML; first line of a scene):
  standoff schema > scene.schema.json
  #:schema ./scene.schema.json";

/// Arguments of `standoff run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Scene file (TOML), a scene of the IPC 2020 reference (.txt), or a model of MuJoCo (.xml) or a robot (.urdf), of which a scene is made in DIR-model.
    pub scene: PathBuf,
    /// Folder for the results; created if it does not exist. By default out/NAME for a scene NAME.toml, or the first free
    /// one of out/NAME-2, out/NAME-3, ....
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Number of steps, instead of the scene's `time.end`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    #[command(flatten)]
    pub common: CommonArgs,
    /// Solver, instead of the scene's `solver.method`.
    #[arg(long, value_parser = Choices("Method"))]
    pub solver: Option<String>,
    /// When the independent audit checks for intersections and inversions, instead of `solver.audit`.
    #[arg(long, value_parser = Choices("AuditLevel"))]
    pub audit: Option<String>,
    /// Where linear systems are solved, instead of `solver.device`.
    #[arg(long, value_parser = Choices("Device"))]
    pub device: Option<String>,
    /// Print errors only.
    #[arg(short, long)]
    pub quiet: bool,
    /// Afterwards, say whether the run shows what the scene's `[[expect]]` tables say; exit code 1 if not.
    #[arg(long)]
    pub expect: bool,
    /// Replace the run that the folder contains; without -o that of out/NAME.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub pose: PoseArgs,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// Arguments of `standoff new`.
#[derive(Debug, ClapArgs)]
pub struct NewArgs {
    /// The scene file to write; `.toml` is added if it is not there.
    #[arg(value_name = "NAME")]
    pub file: PathBuf,
    /// What the scene shows.
    #[arg(short, long, value_enum, default_value_t = Template::Drop)]
    pub template: Template,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// A scene to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Template {
    /// A soft ball falls on the ground.
    Drop,
    /// A cloth drapes over a sphere.
    Cloth,
    /// A plate presses a block, and the force is measured.
    Press,
    /// A block on a slope, with friction.
    Slope,
    /// A part from a mesh file.
    Mesh,
}

/// Arguments of `standoff completions`.
#[derive(Debug, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `standoff man`.
#[derive(Debug, ClapArgs)]
pub struct ManArgs {
    /// Folder for the pages, created if it does not exist.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Arguments of a run that can be watched.
#[derive(Debug, ClapArgs)]
pub struct WatchArgs {
    /// Show the run in the browser while it is computed, and afterwards until Ctrl-C.
    #[arg(long)]
    pub view: bool,
    /// Where the server of --view listens, instead of 127.0.0.1:7327.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "view")]
    pub listen: Option<String>,
}

/// Arguments of `standoff view`.
#[derive(Debug, ClapArgs)]
pub struct ViewArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where to listen: an address, a name or :PORT. By default 127.0.0.1:7327, or a free port if that one is
    /// taken. 0.0.0.0 is reachable from every machine of the network.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
}

/// Arguments of `standoff resume`.
#[derive(Debug, ClapArgs)]
pub struct ResumeArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Total number of steps, instead of the number with which the run was started.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Number of threads; all cores by default. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Where linear systems are solved from now on, instead of where the run solved them. Results then agree to the tolerance, not bit for
    /// bit.
    #[arg(long, value_parser = Choices("Device"))]
    pub device: Option<String>,
    /// Print errors only.
    #[arg(short, long)]
    pub quiet: bool,
    /// Afterwards, say whether the run shows what the scene's `[[expect]]` tables say; exit code 1 if not.
    #[arg(long)]
    pub expect: bool,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// Arguments of `standoff export`.
#[derive(Debug, ClapArgs)]
pub struct ExportArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// File to write. Its extension selects the format: .html for a page that needs no server; .usda or .glb for one
    /// file with the motion; .ply, .obj or .stl for a file per frame. Its folder is created if it does not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Export the boundary of the tetrahedra, even for bodies that carry a finer surface.
    #[arg(long)]
    pub tetrahedra: bool,
    /// Largest size of an HTML file, MB (1,000,000 bytes).
    #[arg(long, value_name = "MB", default_value = "25", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `standoff render`.
#[derive(Debug, ClapArgs)]
pub struct RenderArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Folder for one PNG picture per frame, created if it does not exist; or a film: .mp4, .webm, .gif.
    #[arg(short, long, value_name = "DIR|FILM")]
    pub output: PathBuf,
    /// Width and height of the pictures, pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = picture_size)]
    pub size: [u32; 2],
    /// Direction from the middle of the scene to the camera, for instance 1,0.5,0.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub from: Option<[f64; 3]>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// Reads `1280x720`.
fn picture_size(text: &str) -> Result<[u32; 2], String> {
    let numbers = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match numbers {
        Some(size @ [w, h]) if (16..=8192).contains(&w) && (16..=8192).contains(&h) => Ok(size),
        _ => Err("write the width and height in pixels as 1280x720, 16 to 8192 each".into()),
    }
}

/// Reads `1,0.5,0`.
fn direction(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, z])
            if [x, y, z].iter().all(|c| c.is_finite()) && x * x + y * y + z * z > 0.0 =>
        {
            Ok([x, y, z])
        }
        _ => Err("write three numbers, not all 0, as 1,0.5,0".into()),
    }
}

/// Arguments of `standoff plot`.
#[derive(Debug, ClapArgs)]
pub struct PlotArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// SVG or PDF file to write; its folder is created if it does not exist. By default `curves.svg` in the folder of the run.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Quantity of stats.jsonl to draw, as kinetic_energy or forces.held.bar.left.x; may be repeated, a diagram
    /// for each. By default energies, smallest gap, contacts, iterations and seconds.
    #[arg(short, long, value_name = "QUANTITY")]
    pub curve: Vec<String>,
    /// Quantity over which they are drawn instead of over time.
    #[arg(long, value_name = "QUANTITY", requires = "curve")]
    pub against: Option<String>,
    /// Replace the file given by -o if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `standoff fit`.
#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("tables").required(true).multiple(true))]
pub struct FitArgs {
    /// Table of a sample pulled or pressed along one axis; may be repeated, as the others.
    #[arg(long, value_name = "FILE", group = "tables")]
    pub uniaxial: Vec<PathBuf>,
    /// Table of a sample pulled alike along two axes.
    #[arg(long, value_name = "FILE", group = "tables")]
    pub biaxial: Vec<PathBuf>,
    /// Table of a wide strip pulled along its short side (pure shear).
    #[arg(long, value_name = "FILE", group = "tables")]
    pub planar: Vec<PathBuf>,
    /// Table of a sample sheared between two plates (simple shear).
    #[arg(long, value_name = "FILE", group = "tables")]
    pub shear: Vec<PathBuf>,
    /// Law to fit; may be repeated. All by default.
    #[arg(long, value_name = "LAW", value_parser = PossibleValuesParser::new(FittedLaw::KEYS))]
    pub law: Vec<String>,
    /// Number of terms of the law: 1, 2, 3 or 5 of mooney-rivlin, 1 to 3 of yeoh, 1 to 6 of ogden.
    #[arg(long, value_name = "N", requires = "law")]
    pub terms: Option<u8>,
    /// SVG or PDF file to draw the curves to.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file given by -o if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `standoff check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// Scene file (TOML), or a scene of the IPC 2020 reference (.txt).
    pub scene: PathBuf,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of commands that read a scene.
#[derive(Debug, ClapArgs)]
pub struct CommonArgs {
    /// Replace a value of the scene, such as `time.step=0.005` or
    /// `objects.ball.velocity='[100, 0, 0]'`, or take a key out by `contact.stiffness=unset`; may be
    /// given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Number of threads; all cores by default. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder that is searched first for the meshes of a scene of the IPC 2020 reference (.txt).
    #[arg(long, value_name = "DIR")]
    pub mesh_root: Vec<PathBuf>,
}

/// Arguments of `standoff convert`.
#[derive(Debug, ClapArgs)]
pub struct ConvertArgs {
    /// Scene of the IPC 2020 reference (.txt), MuJoCo model (.xml), robot (.urdf), or input file of Abaqus or CalculiX (.inp).
    pub scene: PathBuf,
    /// The scene file to write; of an input file also the folder for it.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Folder that is searched for meshes before the scene's folder and its parents.
    #[arg(long, value_name = "DIR")]
    pub mesh_root: Vec<PathBuf>,
    #[command(flatten)]
    pub pose: PoseArgs,
}

/// How a robot is read, and where it starts.
#[derive(Debug, Clone, ClapArgs)]
pub struct PoseArgs {
    /// Coordinate (rad or m) at which a joint of a robot starts; may be repeated. All others start at zero, or at the reference of the model.
    #[arg(long = "pose", value_name = "JOINT=VALUE", value_parser = pose)]
    pub joints: Vec<(String, f64)>,
    /// Keyframe at which a model of MuJoCo starts, by its name or its number from 0.
    #[arg(long, value_name = "NAME")]
    pub keyframe: Option<String>,
    /// Meshes of a robot touch as their convex hulls, as in MuJoCo, and not as they are.
    #[arg(long)]
    pub hulls: bool,
}

impl PoseArgs {
    /// The same for the reader of robots.
    pub fn options(&self) -> RobotOptions {
        let pose = self.joints.iter().cloned().collect();
        RobotOptions { pose, keyframe: self.keyframe.clone(), hulls: self.hulls }
    }
}

fn pose(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("'{text}' is not JOINT=VALUE with a number");
    let (joint, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: f64 = value.trim().parse().map_err(|_| wrong())?;
    value.is_finite().then(|| (joint.trim().to_owned(), value)).ok_or_else(wrong)
}

impl Command {
    /// The number of threads that was requested.
    pub fn threads(&self) -> Option<u16> {
        match self {
            Self::Run(args) => args.common.threads,
            Self::Resume(args) => args.threads,
            Self::Check(args) => args.common.threads,
            Self::Audit(args) => args.threads,
            _ => None,
        }
    }
}

/// Arguments of `standoff audit`.
#[derive(Debug, ClapArgs)]
pub struct AuditArgs {
    /// Folder of the run.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Number of threads; all cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// The values of a setting, from the types of the scene file; looked up where they are needed.
#[derive(Debug, Clone)]
struct Choices(&'static str);

impl Choices {
    fn values(&self) -> impl Iterator<Item = PossibleValue> + use<> {
        let names = standoff_scene::schema::choices(self.0);
        names.into_iter().map(|(name, help)| PossibleValue::new(name).help(help))
    }
}

impl TypedValueParser for Choices {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        PossibleValuesParser::new(self.values()).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values()))
    }
}
