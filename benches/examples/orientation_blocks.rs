//! CPU time of the orientation-aware potential on a mesh, one thread: the counterpart of
//! `tools/compare_orientation.py`, which times IPC Toolkit on the same mesh and divides.
//!
//!     orientation_blocks MESH.obj D_HAT ALPHA EXTERIOR_ALPHA
//!
//! All vertices belong to solids. Prints one line of JSON.

use serde_json::json;
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::Vec3;
use standoff_sim::contact::orientation::{
    Derivatives, Measure, OrientationPotential, PairSet, Parameters, Step, Surface,
};
use std::time::Instant;

type Error = Box<dyn std::error::Error>;

/// Each block is repeated for at least this long, s.
const RUN: f64 = 0.5;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, d_hat, alpha, exterior] = arguments.as_slice() else {
        return Err("usage: orientation_blocks MESH.obj D_HAT ALPHA EXTERIOR_ALPHA".into());
    };
    let (d_hat, alpha, exterior) =
        (d_hat.parse::<f64>()?, alpha.parse::<f64>()?, exterior.parse::<f64>()?);
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let (x, faces) = read_obj(path)?;
    let mesh = CollisionMesh::new(x.clone(), faces, &[], &[]);
    let surface = Surface::new(&mesh, &vec![true; x.len()], None, d_hat);
    // as IPC Toolkit: areas of the current shape, B³(2z/ε)/(z/ε)²
    let parameters = Parameters {
        exponent: 2,
        tangential: Step { alpha, beta: 0.0 },
        normal: Step { alpha: exterior, beta: 0.0 },
        measure: Measure::Current,
    };
    let rest = Parameters { measure: Measure::Rest, ..parameters };
    let near = candidates(&mesh, &x, 0.5 * d_hat);
    let mut seconds = serde_json::Map::new();
    let mut results = Vec::new();
    for (name, parameters) in [("current areas", parameters), ("rest areas", rest)] {
        let potential = OrientationPotential { parameters, kappa: 2.0 / 3.0 * d_hat * d_hat };
        let (s, set) = least(|| PairSet::build(&near, &mesh, &surface, &parameters, &x));
        let mut time = |what: &str, s: f64| seconds.insert(format!("{what}, {name}"), json!(s));
        time("pairs", s);
        let (s, value) = least(|| potential.set_value(&mesh, &surface, &set, &x));
        time("energy", s);
        let gradient = || {
            let mut g = vec![Vec3::zeros(); x.len()];
            potential.add_gradient(&mesh, &surface, &set, &x, &mut g);
            g.iter().map(|g| g.norm_squared()).sum::<f64>().sqrt()
        };
        let (s, norm) = least(gradient);
        time("gradient", s);
        let mut work = Derivatives::default();
        let hessians = |work: &mut Derivatives, psd: bool| {
            let mut trace = 0.0;
            for pair in &set.pairs {
                match psd {
                    true => potential.hessian_psd(&mesh, &surface, pair, &x, work),
                    false => potential.hessian(&mesh, &surface, pair, &x, work),
                }
                trace += (0..work.vertices.len()).map(|i| work.block(i, i).trace()).sum::<f64>();
            }
            trace
        };
        let (s, trace) = least(|| hessians(&mut work, false));
        time("Hessians", s);
        let (s, projected) = least(|| hessians(&mut work, true));
        time("Hessians, projected", s);
        results.push(json!({
            "areas": name, "pairs": set.pairs.len(), "energy": value, "gradient": norm,
            "trace": trace, "projected_trace": projected,
        }));
    }
    println!("{}", json!({ "candidates": near.len(), "results": results, "seconds": seconds }));
    Ok(())
}

/// Least wall time of a few runs, s, and the last result.
fn least<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let clock = Instant::now();
    let (mut best, mut result) = (f64::INFINITY, None);
    while result.is_none() || clock.elapsed().as_secs_f64() < RUN {
        let start = Instant::now();
        result = Some(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, result.unwrap_or_else(work))
}

fn read_obj(path: &str) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), Error> {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(path)?.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let p: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
                x.push(Vec3::from_row_slice(&p));
            }
            Some("f") => {
                let f: Vec<u32> = words.map(str::parse).collect::<Result<_, _>>()?;
                faces.push([f[0] - 1, f[1] - 1, f[2] - 1]);
            }
            _ => {}
        }
    }
    Ok((x, faces))
}
