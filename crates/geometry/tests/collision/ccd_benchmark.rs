//! The rational queries of the CCD benchmark [Wang 2021]: no miss, few false alarms.

use standoff_geometry::ccd::inclusion::{self, Limits};
use standoff_geometry::ccd::{Query, additive};
use standoff_linalg::Vec3;
use std::path::Path;

/// Queries of a file: 8 rows of x, y, z as numerator and denominator, and the truth.
fn read(path: &Path, make: fn([Vec3; 4], [Vec3; 4]) -> Query) -> Vec<(Query, bool)> {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<i128>> =
        text.lines().map(|l| l.split(',').map(|n| n.trim().parse().unwrap()).collect()).collect();
    let point = |row: &[i128]| {
        // numbers of the benchmark are f64 written as fractions, so this is exact
        Vec3::from_fn(|k, _| {
            let (n, d) = (row[2 * k], row[2 * k + 1]);
            let q = n as f64 / d as f64;
            assert_eq!(n as f64 as i128, n);
            q
        })
    };
    rows.chunks_exact(8)
        .map(|c| {
            let x: [Vec3; 4] = std::array::from_fn(|i| point(&c[i]));
            let dx: [Vec3; 4] = std::array::from_fn(|i| point(&c[i + 4]) - x[i]);
            (make(x, dx), c[0][6] == 1)
        })
        .collect()
}

#[test]
fn no_miss_and_few_false_alarms() {
    let root = standoff_testkit::testdata("data/ccd");
    let mut scenes: Vec<_> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    scenes.retain(|p| p.is_dir());
    scenes.sort();
    let (mut queries, mut contacts) = (0, 0);
    let mut alarms = [0; 2];
    let (mut slowest, mut total) = ([0.0_f64; 2], [0.0_f64; 2]);
    for scene in scenes {
        for (kind, make) in [
            ("vertex-face", Query::point_triangle as fn([Vec3; 4], [Vec3; 4]) -> Query),
            ("edge-edge", Query::edge_edge),
        ] {
            for (q, truth) in read(&scene.join(kind).join("data_0_0.csv"), make) {
                queries += 1;
                contacts += usize::from(truth);
                for method in 0..2 {
                    let mut s = f64::INFINITY;
                    let mut t = None;
                    // again where it took long: other processes may have had the core
                    for _ in 0..5 {
                        let start = std::time::Instant::now();
                        t = match method {
                            0 => additive::time_of_impact(&q, 0.0, 0.1, 1.0),
                            _ => inclusion::time_of_impact(&q, 0.0, 1.0, Limits::default()),
                        };
                        s = s.min(start.elapsed().as_secs_f64());
                        if s < 1e-3 {
                            break;
                        }
                    }
                    slowest[method] = slowest[method].max(s);
                    total[method] += s;
                    assert!(t.is_some() || !truth, "method {method} missed {q:?}");
                    alarms[method] += usize::from(t.is_some() && !truth);
                }
            }
        }
    }
    println!("{queries} queries, {contacts} contacts; [additive, inclusion]:");
    println!("  false alarms {alarms:?} (IPC Toolkit on 7,279: 573, 426)");
    println!(
        "  slowest {:?} ms, mean {:?} µs",
        slowest.map(|s| s * 1e3),
        total.map(|s| s / queries as f64 * 1e6)
    );
    assert!(queries == 4884 && contacts == 225, "{queries} {contacts}");
    assert!(alarms[0] <= 391 && alarms[1] <= 115, "{alarms:?}");
}
