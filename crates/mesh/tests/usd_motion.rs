//! Time samples of USD files as motion: interpolated between samples, at rest before the first and after the last.

use standoff_linalg::Vec3;
use standoff_mesh::format::{animation, read};
use std::path::PathBuf;

fn file(folder: &tempfile::TempDir, head: &str, body: &str) -> PathBuf {
    let path = folder.path().join("a.usda");
    std::fs::write(&path, format!("#usda 1.0\n(\n metersPerUnit = 1\n{head})\n{body}")).unwrap();
    path
}

const TRIANGLE: &str = "int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 2]\n";

fn close(a: &[Vec3], b: &[Vec3]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-12)
}

#[test]
fn points_are_interpolated_between_samples() {
    let folder = tempfile::tempdir().unwrap();
    // at 10 time codes a second, the samples lie at 0.1, 0.2 and 0.4 s; they are not in order, and one is blocked
    let path = file(
        &folder,
        "timeCodesPerSecond = 10\n startTimeCode = 5\n",
        &format!(
            "def Mesh \"m\" {{\n {TRIANGLE} point3f[] points = [(9,9,9), (9,9,9), (9,9,9)]\n\
             point3f[] points.timeSamples = {{ 9: [(0,0,4),(1,0,4),(0,1,4)], 6: [(0,0,0),(1,0,0),(0,1,0)],\n\
             8: None, 7: [(0,0,2),(1,0,0),(0,1,0)], }}\n}}"
        ),
    );
    let of = |z: f64, other: f64| {
        [Vec3::new(0.0, 0.0, z), Vec3::new(1.0, 0.0, other), Vec3::new(0.0, 1.0, other)]
    };
    // the mesh is that at the start, not the default
    assert!(close(&read(&path).unwrap().points, &of(0.0, 0.0)));
    let motion = animation(&path).unwrap().unwrap();
    assert!((motion.end() - 0.4).abs() < 1e-15);
    for (t, z, other) in [
        (-1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.1, 0.0, 0.0),
        (0.15, 1.0, 0.0),
        (0.2, 2.0, 0.0),
        (0.3, 3.0, 2.0),
        (0.4, 4.0, 4.0),
        (9.0, 4.0, 4.0),
    ] {
        let found = motion.at(t).unwrap();
        assert!(close(&found, &of(z, other)), "{t}: {found:?}");
    }
}

#[test]
fn transforms_of_ancestors_turn_evenly() {
    let folder = tempfile::tempdir().unwrap();
    // without a rate there are 24 time codes a second; a quarter turn by quaternions of opposite signs
    let path = file(
        &folder,
        "",
        &format!(
            "def Xform \"arm\" {{\n quatf xformOp:orient.timeSamples = {{ 0: (1,0,0,0), 24: (-0.70710678118654752,0,0,-0.70710678118654752) }}\n\
             uniform token[] xformOpOrder = [\"xformOp:orient\"]\n\
             def Mesh \"hand\" {{\n {TRIANGLE} point3f[] points = [(1,0,0), (2,0,0), (1,0,1)]\n\
             double3 xformOp:translate.timeSamples = {{ 0: (0,0,0), 12: (1,0,0) }}\n\
             uniform token[] xformOpOrder = [\"xformOp:translate\"]\n }}\n }}"
        ),
    );
    let motion = animation(&path).unwrap().unwrap();
    assert_eq!(motion.end(), 1.0);
    for t in [0.0f64, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0] {
        let (sin, cos) = (t * std::f64::consts::FRAC_PI_2).sin_cos();
        let r = 1.0 + (2.0 * t).min(1.0);
        let expected = Vec3::new(r * cos, r * sin, 0.0);
        let found = motion.at(t).unwrap()[0];
        assert!((found - expected).norm() < 1e-12, "{t}: {found:?}");
    }
}

#[test]
fn what_does_not_move_is_no_motion_and_what_changes_its_faces_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let points = "point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(0,1,0)], 1: [(0,0,0),(1,0,0),(0,1,0)] }";
    let still = file(&folder, "", &format!("def Mesh \"m\" {{\n {TRIANGLE} {points}\n}}"));
    assert!(animation(&still).unwrap().is_none());
    assert!(animation(&folder.path().join("a.obj")).unwrap().is_none());
    let more = "point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(0,1,0)], 1: [(0,0,0),(1,0,0),(0,1,0),(1,1,1)] }";
    let grows = file(&folder, "", &format!("def Mesh \"m\" {{\n {TRIANGLE} {more}\n}}"));
    let message = animation(&grows).unwrap().unwrap().at(1.0).unwrap_err().to_string();
    assert!(
        message.contains("/m") && message.contains("3 points") && message.contains('4'),
        "{message}"
    );
    let faces = "int[] faceVertexCounts = [3]\n int[] faceVertexIndices.timeSamples = { 0: [0,1,2], 1: [2,1,0] }\n";
    let turns = file(&folder, "", &format!("def Mesh \"m\" {{\n {faces} {points}\n}}"));
    let message = read(&turns).unwrap_err().to_string();
    assert!(message.contains("faceVertexIndices change with time"), "{message}");
}

/// Ends of neighbouring curves are one point of the mesh, also while they move.
#[test]
fn joined_points_move_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(
        &folder,
        "",
        "def BasisCurves \"c\" {\n uniform token type = \"linear\"\n int[] curveVertexCounts = [2, 2]\n\
         point3f[] points.timeSamples = { 0: [(0,0,0),(1,0,0),(1,0,0),(2,0,0)], 24: [(0,1,0),(1,1,0),(1,1,0),(2,1,0)] }\n}",
    );
    let motion = animation(&path).unwrap().unwrap();
    assert_eq!(read(&path).unwrap().points, motion.at(0.0).unwrap());
    assert_eq!(motion.at(0.5).unwrap(), [0.0, 1.0, 2.0].map(|x| Vec3::new(x, 0.5, 0.0)));
}
