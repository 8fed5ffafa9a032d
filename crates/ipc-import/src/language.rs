//! What a reference scene says: every key of the language with its value, default and line.

use crate::error::Note;
use standoff_linalg::Vec3;
use standoff_sim::material::Law;
use standoff_sim::settings::Ccd;
use std::path::PathBuf;

/// A value and the line that set it, from 1; 0 for the reference's default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Set<T> {
    /// The line.
    pub line: usize,
    /// The value.
    pub value: T,
}

impl<T> Set<T> {
    fn default_of(value: T) -> Self {
        Self { line: 0, value }
    }
}

/// A reference scene as written: nothing is computed, no mesh is read.
#[derive(Debug, Clone)]
pub struct ReferenceScene {
    /// The file.
    pub file: PathBuf,
    /// `energy`.
    pub law: Set<Law>,
    /// `timeIntegration`.
    pub integration: Set<Integration>,
    /// `time`: end and step, s.
    pub time: Set<(f64, f64)>,
    /// `density`, kg/m³.
    pub density: Set<f64>,
    /// `stiffness`: Young's modulus, Pa, and Poisson's ratio.
    pub stiffness: Set<(f64, f64)>,
    /// Whether there is gravity; `turnOffGravity`.
    pub gravity: Set<bool>,
    /// `dampingStiff`.
    pub damping_stiffness: Set<f64>,
    /// `dampingRatio`, in [0, 1].
    pub damping_ratio: Set<f64>,
    /// `size`, m; not positive for none.
    pub size: Set<f64>,
    /// `rotateModel`: axis and degrees.
    pub rotate_model: Option<Set<(Vec3, f64)>>,
    /// `shapes`, `shape` and `shapeMatrix`, in order.
    pub shapes: Vec<Shape>,
    /// `script`.
    pub script: Set<Script>,
    /// `handleRatio`.
    pub handle_ratio: Set<f64>,
    /// `DBCTimeRange`, s.
    pub dirichlet_range: Set<(f64, f64)>,
    /// `NBCTimeRange`, s.
    pub neumann_range: Set<(f64, f64)>,
    /// `ground` and `halfSpace`.
    pub half_spaces: Vec<Set<WrittenHalfSpace>>,
    /// `meshCO`.
    pub mesh_obstacles: Vec<Set<MeshObstacle>>,
    /// `selfCollisionOn`, `selfCollisionOff`.
    pub self_collision: Set<bool>,
    /// `selfFric`.
    pub self_friction: Set<f64>,
    /// `tuning`: κ, d̂, target of d̂, closeness, ε_v, target of ε_v. `dHat` and `epsv` set two each.
    pub tuning: Set<[f64; 6]>,
    /// `tol`: relative tolerances of the first steps; the last one holds for the others.
    pub tolerances: Set<Vec<f64>>,
    /// `fricIterAmt`.
    pub friction_iterations: Set<i64>,
    /// `useAbsParameters`.
    pub absolute_parameters: Set<bool>,
    /// `CCDMethod`.
    pub ccd: Set<Ccd>,
    /// `constraintSolver`.
    pub solver: Set<Solver>,
    /// `playBackSpeed`.
    pub playback_speed: Set<f64>,
    /// Remarks on lines that are not taken over literally.
    pub notes: Vec<Note>,
}

impl ReferenceScene {
    /// The reference's defaults.
    pub fn new(file: PathBuf) -> Self {
        Self {
            file,
            law: Set::default_of(Law::NeoHookean),
            integration: Set::default_of(Integration::BackwardEuler),
            time: Set::default_of((5.0, 0.025)),
            density: Set::default_of(1000.0),
            stiffness: Set::default_of((1e5, 0.4)),
            gravity: Set::default_of(true),
            damping_stiffness: Set::default_of(0.0),
            damping_ratio: Set::default_of(0.0),
            size: Set::default_of(-1.0),
            rotate_model: None,
            shapes: Vec::new(),
            script: Set::default_of(Script::Null),
            handle_ratio: Set::default_of(0.01),
            dirichlet_range: Set::default_of((0.0, f64::INFINITY)),
            neumann_range: Set::default_of((0.0, f64::INFINITY)),
            half_spaces: Vec::new(),
            mesh_obstacles: Vec::new(),
            self_collision: Set::default_of(true),
            self_friction: Set::default_of(0.0),
            tuning: Set::default_of(TUNING),
            tolerances: Set::default_of(vec![1e-2]),
            friction_iterations: Set::default_of(1),
            absolute_parameters: Set::default_of(false),
            ccd: Set::default_of(Ccd::Additive),
            solver: Set::default_of(Solver::InteriorPoint),
            playback_speed: Set::default_of(1.0),
            notes: Vec::new(),
        }
    }
}

/// Defaults of `tuning`.
pub const TUNING: [f64; 6] = [0.0, 1e-3, 1e-3, 1e-9, 1e-3, 1e-3];

/// Time integration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Integration {
    /// `BE`.
    BackwardEuler,
    /// `NM`.
    Newmark {
        /// β.
        beta: f64,
        /// γ.
        gamma: f64,
    },
}

/// The contact solver that `section` compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// `interiorPoint` or `IP`: the barrier.
    InteriorPoint,
    /// `QP`.
    Qp,
    /// `SQP`.
    Sqp,
}

impl Solver {
    /// The solver of a name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "interiorPoint" | "IP" => Some(Solver::InteriorPoint),
            "QP" => Some(Solver::Qp),
            "SQP" => Some(Solver::Sqp),
            _ => None,
        }
    }
}

/// A line of the shape list. A point p of the file goes to R·(scale ∘ p) + translate.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its line.
    pub line: usize,
    /// Mesh file as written.
    pub file: String,
    /// Translation, m; the spacing of copies in a matrix.
    pub translate: Vec3,
    /// Degrees; R = Rx·Ry·Rz.
    pub rotate: Vec3,
    /// Scale.
    pub scale: Vec3,
    /// Copies of a `shapeMatrix`.
    pub matrix: Option<Matrix>,
    /// What follows the placement.
    pub options: ShapeOptions,
}

/// Copies at base + (i, j, k) ∘ spacing, k innermost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix {
    /// Numbers of copies.
    pub counts: [u32; 3],
    /// Position of the first copy, m.
    pub base: Vec3,
}

/// Options of a shape. All but `material` and `neumann` act with script `null` only.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShapeOptions {
    /// `material`: density, Young's modulus, Poisson's ratio.
    pub material: Option<[f64; 3]>,
    /// `initVel`: m/s and deg/s.
    pub velocity: Option<(Vec3, Vec3)>,
    /// `linearVelocity`, m/s.
    pub linear: Option<Vec3>,
    /// `angularVelocity`, deg/s.
    pub angular: Option<Vec3>,
    /// `DBC`.
    pub dirichlet: Vec<BoxMotion>,
    /// `NBC`.
    pub neumann: Vec<BoxLoad>,
    /// `meshSeq`: folder.
    pub sequence: Option<String>,
}

/// `DBC`: surface nodes in a box, moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxMotion {
    /// Corners as fractions of the file's bounding box.
    pub corners: [Vec3; 2],
    /// Velocity, m/s.
    pub linear: Vec3,
    /// Angular velocity, deg/s.
    pub angular: Vec3,
    /// Start and end, s.
    pub range: (f64, f64),
}

/// `NBC`: surface nodes in a box, accelerated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxLoad {
    /// Corners as fractions of the file's bounding box.
    pub corners: [Vec3; 2],
    /// Acceleration, m/s².
    pub acceleration: Vec3,
    /// Start and end, s.
    pub range: (f64, f64),
}

/// `ground` or `halfSpace`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WrittenHalfSpace {
    /// A point of the plane, m.
    pub origin: Vec3,
    /// Outward normal.
    pub normal: Vec3,
    /// Coulomb coefficient.
    pub friction: f64,
}

/// `meshCO`: a static surface.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshObstacle {
    /// Mesh file as written.
    pub file: String,
    /// Where the mean of the vertices goes, m.
    pub position: Vec3,
    /// Largest extent after scaling, m.
    pub extent: f64,
    /// Coulomb coefficient, without effect in the reference.
    pub friction: f64,
    /// Degrees; R = Rx·Ry·Rz.
    pub rotate: Vec3,
}

/// Animation scripts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Script {
    /// None: the options of the shapes act.
    Null,
    /// Everything is raised by half the diagonal of its bounding box.
    Fall,
    /// Free fall from where things are.
    FallNoShift,
    /// Both ends turn about x.
    Twist,
    /// The left end is held.
    HangLeft,
    /// The lower half is held.
    FixLowerHalf,
    /// Both ends are pulled apart for a while.
    StretchAndPause,
    /// One vertex at the right end is pushed.
    PushRightMost,
    /// The right end is dragged to the right until all has passed the obstacles.
    DragRight,
    /// Kinematic shapes are held.
    Fix,
    /// Four shapes turn.
    RotateCylinders,
    /// Six shapes turn.
    VerschoorRoller,
    /// Six shapes close in and draw back.
    Squash,
    /// The upper kinematic shapes come down.
    SegmentBedSquash,
    /// A plunger that, as published, does not move.
    SqueezeOut,
    /// Everything moves along x.
    BallHitWall {
        /// Velocity along x, m/s.
        speed: f64,
    },
    /// The bottom is held, the top is pushed down.
    UtopiaComparison,
}

impl Script {
    /// All scripts with their names.
    pub const NAMES: [(&'static str, Script); 17] = [
        ("null", Script::Null),
        ("fall", Script::Fall),
        ("fallNoShift", Script::FallNoShift),
        ("twist", Script::Twist),
        ("hangLeft", Script::HangLeft),
        ("fixLowerHalf", Script::FixLowerHalf),
        ("stretchAndPause", Script::StretchAndPause),
        ("pushRightMost1", Script::PushRightMost),
        ("dragright", Script::DragRight),
        ("DCOFix", Script::Fix),
        ("DCORotCylinders", Script::RotateCylinders),
        ("DCOVerschoorRoller", Script::VerschoorRoller),
        ("DCOSquash6", Script::Squash),
        ("DCOSegBedSquash", Script::SegmentBedSquash),
        ("DCOSqueezeOut", Script::SqueezeOut),
        ("DCOBallHitWall", Script::BallHitWall { speed: 1000.0 }),
        ("utopiaComparison", Script::UtopiaComparison),
    ];

    /// The name in the scene file.
    pub fn name(self) -> &'static str {
        let same = |s: &Script| std::mem::discriminant(s) == std::mem::discriminant(&self);
        Script::NAMES.iter().find(|(_, s)| same(s)).map_or("null", |(name, _)| name)
    }
}
