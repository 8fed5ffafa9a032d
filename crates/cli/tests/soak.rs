//! Random scenes by both solvers, every frame checked by the audit and by a program that shares nothing with
//! it: the short form of `soak`, whose long form developing.md documents.

use rayon::prelude::*;
use standoff_soak::generate;
use standoff_soak::outcome::Outcome;
use standoff_soak::run::{Record, Runner};

/// Seeds whose scenes take little time; among them all that can happen, and all kinds of bodies.
const SEEDS: [u64; 12] = [1, 4, 5, 6, 10, 11, 12, 13, 14, 17, 18, 24];

#[test]
fn random_scenes_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 10 };
    let runs = SEEDS.iter().flat_map(|s| ["barrier", "barrier-free"].map(|solver| (*s, solver)));
    let records: Vec<Record> = runs
        .collect::<Vec<_>>()
        .par_iter()
        .map(|(seed, solver)| {
            let scene = folder.path().join(format!("{seed}-{solver}.toml"));
            std::fs::write(&scene, generate::scene(*seed)).unwrap();
            runner.run(*seed, &scene, &folder.path().join(format!("{seed}-{solver}")), solver)
        })
        .collect();
    for r in &records {
        println!(
            "{} {}: {} {:.1} s {}",
            r.seed,
            r.solver,
            r.outcome.describe(),
            r.seconds,
            r.message
        );
        let accepted = [Outcome::Converged, Outcome::Unmet, Outcome::Named, Outcome::TimeLimit];
        assert!(accepted.contains(&r.outcome), "seed {} {}: {}", r.seed, r.solver, r.message);
        assert!(r.frames > 0, "seed {} {}: no frame was checked", r.seed, r.solver);
    }
    let converged = records.iter().filter(|r| r.outcome == Outcome::Converged).count();
    assert!(4 * converged >= 3 * records.len(), "{converged} of {}", records.len());
}
