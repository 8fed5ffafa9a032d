//! CPU time of the building blocks of contact on a mesh: the counterpart of the script that times
//! IPC Toolkit. `tools/compare_toolkit.py` runs both and divides.
//!
//!     building_blocks FOLDER NAME D_HAT
//!
//! reads `FOLDER/NAME_{rest,t0,t1}.obj` (rest shape, start and end of a step; triangles only) and
//! prints one line of JSON: for each block the least CPU seconds of its repetitions, one thread.

use serde_json::json;
use standoff_geometry::broad_phase::{BroadPhase, Candidates, candidates, swept_candidates};
use standoff_geometry::ccd::{self, Method};
use standoff_geometry::{CollisionMesh, audit};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::{
    Barrier, BarrierPotential, ContactSet, FrictionMaterials, FrictionSet, PairKind, Smoothing,
    Weighting,
};
use standoff_sim::energy::Projection;
use standoff_sparse::{BlockMatrix, BlockPattern, Stencils, VariableAssembly, block_count};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error>;

/// Part of a gap that a step keeps, as in IPC Toolkit.
const KEEP: f64 = 0.1;
/// Each block is repeated this often, or until it has taken `ENOUGH` in all.
const REPETITIONS: usize = 5;
const ENOUGH: Duration = Duration::from_secs(10);
/// Least length of a run, s.
const RUN: f64 = 0.1;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, d_hat] = arguments.as_slice() else {
        return Err("usage: building_blocks FOLDER NAME D_HAT".into());
    };
    let d_hat: f64 = d_hat.parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let read = |tag: &str| read_obj(&format!("{folder}/{name}_{tag}.obj"));
    let ((rest, faces), (x, _), (x1, _)) = (read("rest")?, read("t0")?, read("t1")?);
    let mesh = CollisionMesh::new(rest, faces, &[], &[]);
    let dx: Vec<Vec3> = x1.iter().zip(&x).map(|(b, a)| b - a).collect();
    println!("{}", measure(name, &mesh, &x, &dx, d_hat)?);
    Ok(())
}

fn measure(
    name: &str,
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    d_hat: f64,
) -> Result<serde_json::Value, Error> {
    let mut seconds = serde_json::Map::new();
    let mut time = |block: &str, s: f64| seconds.insert(block.into(), json!(s));

    let (s, near) = least(|| candidates(mesh, x, 0.5 * d_hat));
    time("candidates", s);
    let (mut broad, mut again) = (BroadPhase::default(), Candidates::default());
    broad.candidates(mesh, x, 0.5 * d_hat, &mut again);
    let (s, ()) = least(|| broad.candidates(mesh, x, 0.5 * d_hat, &mut again));
    time("candidates, kept trees", s);
    let (s, set) = least(|| ContactSet::build(&near, mesh, &[], x, d_hat, &Weighting::Count));
    time("collision set", s);

    let kappa = 1.0;
    let potential = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat,
        kappa,
        physical: false,
        even: true,
    };
    time("energy", least(|| potential.set_value(&set, x)).0);
    let gradient = || {
        let mut g = vec![Vec3::zeros(); x.len()];
        potential.add_gradient(&set, x, &mut g);
        g
    };
    time("gradient", least(gradient).0);
    let mut matrix = Matrix::new(x.len())?;
    let stencils: Vec<[u32; 4]> = set.contacts.iter().map(|c| c.vertices).collect();
    let hessian = || {
        let fill = |range: Range<usize>, out: &mut [Mat3]| {
            potential.hessians(&set.contacts[range], x, Projection::All, out);
        };
        matrix.assemble(&stencils, fill)
    };
    time("Hessian", least(hessian).0);

    let materials = FrictionMaterials::uniform(x.len(), 0, 0.5);
    let lag = || FrictionSet::build(&set, &potential, x, &materials, Smoothing::C1, 1e-3);
    let (s, friction) = least(lag);
    time("friction set", s);
    let end: Vec<Vec3> = x.iter().zip(dx).map(|(p, d)| p + d).collect();
    let stencils: Vec<[u32; 4]> = friction.contacts.iter().map(|c| c.vertices).collect();
    let hessian = || {
        matrix.assemble(&stencils, |range, out| {
            for (out, c) in out.chunks_mut(block_count(4)).zip(&friction.contacts[range]) {
                friction.contact_hessian(c, &end, x, true, out);
            }
        })
    };
    time("friction Hessian", least(hessian).0);

    let (s, swept) = least(|| swept_candidates(mesh, x, dx, 0.0));
    time("swept candidates", s);
    let step = |method| ccd::max_step(mesh, x, dx, &swept, method, KEEP, 1.0);
    let (s, additive) = least(|| step(Method::Additive));
    time("step size, additive", s);
    let (s, inclusion) = least(|| step(Method::Inclusion));
    time("step size, inclusion", s);
    let (s, intersections) = least(|| audit::audit_intersections(mesh, x).len());
    time("intersection test", s);

    let counts =
        [PairKind::VertexVertex, PairKind::EdgeVertex, PairKind::EdgeEdge, PairKind::FaceVertex]
            .map(|kind| set.of_kind(kind).len());
    Ok(json!({
        "scene": name, "vertices": x.len(), "triangles": mesh.faces.len(), "d_hat": d_hat,
        "candidates": near.len(), "swept_candidates": swept.len(), "contacts": counts,
        "min_distance": set.min_gap(x), "intersections": intersections,
        "step_additive": additive, "step_inclusion": inclusion, "seconds": seconds,
    }))
}

/// The global matrix of local Hessians; keeps its memory, as in a simulation.
struct Matrix {
    empty: Arc<BlockPattern>,
    places: VariableAssembly,
    local: Vec<Mat3>,
    matrix: BlockMatrix,
}

impl Matrix {
    fn new(n: usize) -> Result<Self, Error> {
        let empty = Arc::new(BlockPattern::diagonal(n)?);
        let matrix = BlockMatrix::zeros(empty.clone());
        Ok(Self { empty, places: VariableAssembly::default(), local: Vec::new(), matrix })
    }

    /// Pattern and matrix from nothing; `hessians` computes a range of local ones.
    fn assemble(
        &mut self,
        stencils: &[[u32; 4]],
        hessians: impl Fn(Range<usize>, &mut [Mat3]),
    ) -> Result<(), Error> {
        let lists = [Stencils::from(stencils)];
        let pattern = self.empty.union(&self.places.find(&self.empty, &lists, |v| v))?;
        self.places.find_again(&pattern);
        self.matrix.reset(pattern);
        for first in (0..stencils.len()).step_by(2048) {
            let range = first..(first + 2048).min(stencils.len());
            self.local.resize(range.len() * block_count(4), Mat3::zeros());
            hessians(range, &mut self.local);
            self.places.add(&mut self.matrix, 1.0, first, &self.local)?;
        }
        Ok(())
    }
}

/// Least CPU time of a few runs, s, and the last result. Short work is repeated within a run, since
/// the clock ticks every few milliseconds.
fn least<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let clock = Instant::now();
    let mut best = f64::INFINITY;
    let mut result = work();
    for _ in 0..REPETITIONS {
        let (start, mut count, mut batch) = (cpu_seconds(), 0, 1);
        let mut spent = 0.0;
        while spent < RUN {
            for _ in 0..batch {
                result = work();
            }
            count += batch;
            spent = cpu_seconds() - start;
            if spent < 0.1 * RUN {
                batch *= 2;
            }
        }
        best = best.min(spent / f64::from(count));
        if clock.elapsed() > ENOUGH {
            break;
        }
    }
    (best, result)
}

/// CPU time of this thread where Linux tells, else the wall clock, s.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|s| s.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed().as_secs_f64()
        },
        |n| 1e-9 * n,
    )
}

/// Positions and triangles of an OBJ file of `v` and `f` lines with plain indices.
fn read_obj(path: &str) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), Error> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let bad = || format!("{path}, line {}: expected three numbers after v or f", number + 1);
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words = rest.split_whitespace();
        match kind {
            "v" => {
                let p: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
                let p: [f64; 3] = p.try_into().map_err(|_| bad())?;
                x.push(Vec3::from(p));
            }
            "f" => {
                let f: Vec<u32> = words.map(str::parse).collect::<Result<_, _>>()?;
                let f: [u32; 3] = f.try_into().map_err(|_| bad())?;
                faces.push(f.map(|v| v - 1));
            }
            _ => {}
        }
    }
    Ok((x, faces))
}
