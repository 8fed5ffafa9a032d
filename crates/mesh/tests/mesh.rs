//! Checks and quality of meshes on small, known cases.

use standoff_linalg::Vec3;
use standoff_mesh::{
    Defect, ElementKind, Mesh, MeshError, Severity, is_closed, tet_determinant, tet_faces,
    tet_quality,
};

/// Two tetrahedra with a common face.
fn pair() -> Mesh {
    let points =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    Mesh {
        points: points.map(Vec3::from).to_vec(),
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        ..Mesh::default()
    }
}

#[test]
fn sound_mesh_has_no_defects() {
    let mesh = pair();
    assert_eq!(mesh.check(), vec![]);
    assert_eq!(mesh.require_sound("pair").unwrap(), vec![]);
    assert_eq!(mesh.surface().len(), 6);
    assert!(is_closed(&mesh.surface()));
    assert_eq!(mesh.unique_edges().len(), 9);
    assert_eq!(mesh.dimension(), Some(3));
    assert!((mesh.volume() - 0.5).abs() < 1e-15);
    assert_eq!(Mesh::default().dimension(), None);
    assert_eq!(Mesh::default().bounding_box(), None);
}

/// The surface points outwards: its signed volume is that of the tetrahedra.
#[test]
fn surface_is_oriented_outwards() {
    let mesh = pair();
    let signed: f64 = mesh
        .surface()
        .iter()
        .map(|f| {
            let [a, b, c] = f.map(|v| mesh.points[v as usize]);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum();
    assert!((signed - mesh.volume()).abs() < 1e-15);
    let [a, b, c] = tet_faces([0, 1, 2, 3])[2].map(|v| mesh.points[v as usize]);
    assert!((b - a).cross(&(c - a)).dot(&a) > 0.0);
}

#[test]
fn each_defect_is_found() {
    let mut mesh = pair();
    mesh.points[4].y = f64::NAN;
    assert!(matches!(mesh.check()[0], Defect::NotFinite { vertex: 4, .. }));

    let mut mesh = pair();
    mesh.tets[1] = [1, 2, 3, 5];
    assert!(matches!(mesh.check()[0], Defect::OutOfRange { element: 1, points: 5, .. }));

    let mut mesh = pair();
    mesh.tets[1] = [1, 2, 2, 4];
    assert!(matches!(
        mesh.check()[0],
        Defect::RepeatedVertex { kind: ElementKind::Tet, element: 1, .. }
    ));

    let mut mesh = pair();
    mesh.points[4] = Vec3::new(0.25, 0.5, 0.25);
    assert!(matches!(
        mesh.check()[0],
        Defect::Degenerate { kind: ElementKind::Tet, element: 1, .. }
    ));

    let mut mesh = pair();
    mesh.tets[1] = [1, 3, 2, 4];
    match mesh.check()[0] {
        Defect::Inverted { element, vertices, volume } => {
            assert_eq!((element, vertices), (1, [1, 3, 2, 4]));
            assert!((volume + 1.0 / 3.0).abs() < 1e-15);
        }
        ref other => panic!("{other}"),
    }
    assert!(!mesh.flip_if_all_inverted());
    mesh.tets[0] = [0, 2, 1, 3];
    assert!(mesh.flip_if_all_inverted());
    assert_eq!(mesh.check(), vec![]);

    let mut mesh = pair();
    mesh.tets.push([3, 1, 4, 2]);
    let defects = mesh.check();
    assert!(defects.iter().any(|d| matches!(d, Defect::Duplicate { element: 2, first: 1, .. })));

    // a third tetrahedron at the common face; a fifth vertex on the same side of a face
    let mut mesh = pair();
    mesh.points.push(Vec3::new(2.0, 2.0, 2.0));
    mesh.tets.push([1, 2, 3, 5]);
    assert!(mesh.check().iter().any(
        |d| matches!(d, Defect::NonManifoldFace { face: [1, 2, 3], tets } if tets == &[0, 1, 2])
    ));
    mesh.tets.remove(0);
    assert!(
        mesh.check().iter().any(|d| matches!(d, Defect::Overlap { face: [1, 2, 3], tets: [0, 1] }))
    );
    assert!(mesh.check().iter().any(|d| matches!(d, Defect::Unreferenced { vertex: 0 })));
}

#[test]
fn surfaces_and_wires_are_checked() {
    let mesh = Mesh {
        points: [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0; 3], [0.0, 1.0, 0.0]]
            .map(Vec3::from)
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 1, 4], [4, 0, 1]],
        edges: vec![[0, 3], [1, 1], [0, 1], [1, 0]],
        vertices: vec![2, 2],
        ..Mesh::default()
    };
    let defects = mesh.check();
    assert_eq!(defects.len(), 6, "{defects:?}");
    let kinds: Vec<Severity> = defects.iter().map(Defect::severity).collect();
    // only the edge that names a vertex twice is an error
    assert_eq!(kinds.iter().filter(|k| **k == Severity::Error).count(), 1);
    assert!(matches!(
        defects[3],
        Defect::RepeatedVertex { kind: ElementKind::Edge, element: 1, .. }
    ));
    let error = mesh.require_sound("wire").unwrap_err();
    let message = error.to_string();
    assert!(message.contains("wire: edge 1 [1, 1] names a vertex twice"), "{message}");
    let MeshError::Defective { defects: all, .. } = error else { panic!() };
    assert_eq!(all, defects);
}

/// Relative thresholds: scale does not matter, tiny but round elements are sound.
#[test]
fn degenerate_is_relative() {
    for scale in [1e-6, 1.0, 1e6] {
        let mut mesh = pair();
        mesh.points.iter_mut().for_each(|p| *p *= scale);
        assert_eq!(mesh.check(), vec![]);
        mesh.points[0] = Vec3::new(1.0, 1.0, 1.0 + 1e-14) * (scale / 3.0);
        assert!(matches!(mesh.check()[0], Defect::Degenerate { element: 0, .. }));
    }
}

#[test]
fn compacting_and_welding_keep_the_order() {
    let mut mesh = pair();
    mesh.tets.remove(0);
    assert_eq!(mesh.compact(), [1, 2, 3, 4]);
    assert_eq!(mesh.tets, [[0, 1, 2, 3]]);
    let mut soup = Mesh {
        points: [[0.0; 3], [1.0, 0.0, 0.0], [-0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            .map(Vec3::from)
            .to_vec(),
        edges: vec![[0, 1], [2, 3]],
        vertices: vec![0, 2],
        ..Mesh::default()
    };
    assert_eq!(soup.weld(), 1);
    assert_eq!((soup.points.len(), soup.edges, soup.vertices), (3, vec![[0, 1], [0, 2]], vec![0]));
    let (surface, kept) = pair().to_surface();
    assert_eq!((surface.triangles.len(), kept), (6, vec![0, 1, 2, 3, 4]));
    assert_eq!(pair().to_wires().edges.len(), 9);
    assert_eq!(pair().to_points().vertices, [0, 1, 2, 3, 4]);
}

#[test]
fn quality_of_known_tetrahedra() {
    let h = 0.5f64.sqrt();
    let regular = [
        Vec3::new(1.0, 0.0, -h),
        Vec3::new(-1.0, 0.0, -h),
        Vec3::new(0.0, 1.0, h),
        Vec3::new(0.0, -1.0, h),
    ];
    let (ratio, [least, greatest]) = tet_quality(&regular);
    let angle = (1.0f64 / 3.0).acos().to_degrees();
    assert!((ratio - 1.0).abs() < 1e-14);
    assert!((least - angle).abs() < 1e-10 && (greatest - angle).abs() < 1e-10);
    // a corner of a cube: right angles and atan √2; r = 1/(3+√3), R = √3/2
    let mesh = pair();
    let (ratio, [least, greatest]) = tet_quality(&mesh.tet_points(0));
    assert!((greatest - 90.0).abs() < 1e-12);
    assert!((least - 2.0f64.sqrt().atan().to_degrees()).abs() < 1e-12);
    assert!((ratio - 6.0 / (3.0 + 3.0f64.sqrt()) / 3.0f64.sqrt()).abs() < 1e-14);
    let flat = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(1.0, 1.0, 0.0)];
    assert_eq!(tet_quality(&flat), (0.0, [0.0; 2]));
    assert!(tet_determinant(&flat) == 0.0);

    let q = mesh.quality();
    assert_eq!(q.edge_length, Some((1.0, 2.0f64.sqrt())));
    assert_eq!(q.worst_tet, Some(0));
    assert!((q.volume.unwrap() - 0.5).abs() < 1e-15);
    assert!((q.area.unwrap() - 1.5 * (1.0 + 3.0f64.sqrt())).abs() < 1e-14);
    assert_eq!(Mesh::default().quality(), Default::default());
}
