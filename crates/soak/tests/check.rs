//! The checker finds what is wrong, and agrees with the program that it is independent of.

use rand::{RngExt, SeedableRng};
use rand_xorshift::XorShiftRng;
use standoff_geometry::{CollisionMesh, audit};
use standoff_linalg::Vec3;
use standoff_soak::check::{Surface, check};
use standoff_soak::exact::{self, Point};
use standoff_soak::frame::{Dimension, Frame, Info, Limits, ListedBody, ListedHalfSpace};
use standoff_soak::numbers::{violated, wrong};
use std::cmp::Ordering;

fn body(name: &str, first_vertex: usize, vertices: usize) -> ListedBody {
    ListedBody {
        name: name.into(),
        obstacle: false,
        first_vertex,
        vertices,
        contact_thickness: 0.0,
        limits: None,
    }
}

fn info(bodies: Vec<ListedBody>) -> Info {
    Info {
        dimension: Dimension::Three,
        bodies,
        half_spaces: Vec::new(),
        no_contact: Vec::new(),
        grips: Vec::new(),
        self_contact: true,
        allow_inversion: false,
        contact: true,
    }
}

fn findings(frame: &Frame, info: &Info) -> Vec<String> {
    check(frame, info, &Surface::new(frame, info))
}

/// The triangles of a body with tetrahedra are what touches, in place of their boundary: that may reach through another body, the triangles not.
#[test]
fn a_surface_that_a_solid_carries_stands_for_its_boundary() {
    let mut x = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // a shell through the tetrahedron
    x.extend([[-1.0, -1.0, 0.5], [3.0, -1.0, 0.5], [-1.0, 3.0, 0.5]]);
    // what the tetrahedron carries, below the shell
    x.extend([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [0.1, 0.3, 0.1]]);
    let order = [0, 1, 2, 3, 7, 8, 9, 4, 5, 6];
    let x: Vec<Point> = order.iter().map(|k| x[*k]).collect();
    let frame = |triangles: Vec<[usize; 3]>, x: Vec<Point>| Frame {
        rest: x.clone(),
        x,
        tets: vec![[0, 1, 2, 3]],
        triangles,
        ..Frame::default()
    };
    let info = info(vec![body("solid", 0, 7), body("shell", 7, 3)]);
    let both = vec![[4, 5, 6], [7, 8, 9]];
    assert!(findings(&frame(both.clone(), x.clone()), &info).is_empty());
    // without the surface the boundary counts, and with one that reaches through the shell that surface does
    assert!(!findings(&frame(vec![[7, 8, 9]], x.clone()), &info).is_empty());
    let mut through = x;
    through[4][2] = 0.9;
    assert!(!findings(&frame(both, through), &info).is_empty());
}

/// Faces of a quadratic tetrahedron are four triangles between its nodes, which touch other things; it is inverted where a middle is beyond a quarter
/// of its edge.
#[test]
fn quadratic_tetrahedra_have_curved_faces_and_do_not_invert() {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let edges = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
    let middle = |[a, b]: [usize; 2]| -> Point {
        std::array::from_fn(|k| 0.5 * (corners[a][k] + corners[b][k]))
    };
    let mut x: Vec<Point> = corners.into_iter().chain(edges.map(middle)).collect();
    // a particle below the face z = 0, near the middle of its edge from corner 0 to corner 1
    x.push([0.5, 0.0, -0.05]);
    let frame = |x: &[Point]| Frame {
        rest: x.to_vec(),
        x: x.to_vec(),
        quadratic: vec![std::array::from_fn(|n| n)],
        points: vec![10],
        ..Frame::default()
    };
    let mut info = info(vec![body("solid", 0, 10), body("grain", 10, 1)]);
    info.bodies[1].contact_thickness = 0.02;
    assert!(findings(&frame(&x), &info).is_empty());
    // the node comes to the grain
    let mut bent = x.clone();
    bent[4][2] = -0.045;
    let found = findings(&frame(&bent), &info);
    assert!(!found.is_empty() && found.iter().all(|f| f.contains("grain")), "{found:?}");
    let mut inverted = x;
    for (at, is_inverted) in [(0.26, false), (0.2, true), (0.8, true)] {
        inverted[4] = [at, 0.0, 0.0];
        let found = findings(&frame(&inverted), &info);
        assert_eq!(found.iter().any(|f| f.contains("is inverted")), is_inverted, "{at}: {found:?}");
    }
}

/// In two dimensions triangles are solids: counter-clockwise, with an outline that touches other things, curved where its edges have nodes in their middles.
#[test]
fn outlines_of_triangles_touch_in_the_plane() {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let middles = [[0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.0]];
    // an obstacle below the edge from corner 0 to corner 1
    let segment = [[0.4, -0.05, 0.0], [0.6, -0.05, 0.0]];
    let x: Vec<Point> = corners.into_iter().chain(middles).chain(segment).collect();
    let bodies = vec![body("solid", 0, 6), body("wire", 6, 2)];
    let mut info = Info { dimension: Dimension::Two, ..info(bodies) };
    let curved = |x: &[Point]| Frame {
        rest: x.to_vec(),
        x: x.to_vec(),
        curved: vec![std::array::from_fn(|n| n)],
        segments: vec![[6, 7]],
        ..Frame::default()
    };
    let linear =
        |x: &[Point]| Frame { curved: Vec::new(), triangles: vec![[0, 1, 2]], ..curved(x) };
    assert!(findings(&curved(&x), &info).is_empty() && findings(&linear(&x), &info).is_empty());
    // the node in the middle goes through the wire, which the linear triangle does not have
    let mut bent = x.clone();
    bent[3][1] = -0.06;
    let found = findings(&curved(&bent), &info);
    assert!(!found.is_empty() && found.iter().all(|f| f.contains("wire")), "{found:?}");
    assert!(findings(&linear(&bent), &info).is_empty());
    // the inner edge of two triangles is no outline
    let mut two = linear(&x);
    two.triangles.push([1, 3, 2]);
    two.x[3] = [1.0, 1.0, 0.0];
    (two.x[6], two.x[7]) = ([0.4, 0.4, 0.0], [0.6, 0.6, 0.0]);
    assert!(findings(&two, &info).is_empty(), "{:?}", findings(&two, &info));
    two.triangles.pop();
    assert!(!findings(&two, &info).is_empty());
    let turned = |x: &[Point], info: &Info, by: &dyn Fn(&[Point]) -> Frame| {
        findings(&by(x), info).iter().any(|f| f.contains("is turned over"))
    };
    for (at, is_turned) in [(0.26, false), (0.2, true), (0.8, true)] {
        let mut moved = x.clone();
        moved[3] = [at, 0.0, 0.0];
        assert_eq!(turned(&moved, &info, &curved), is_turned, "{at}");
    }
    let mut over = x.clone();
    over[2] = [0.2, -1e-3, 0.0];
    assert!(turned(&over, &info, &linear));
    // all of what is revolved is in front of the axis, also between the nodes
    let mut behind = x.clone();
    behind[5][0] = -1e-9;
    assert!(findings(&curved(&behind), &info).is_empty());
    info.dimension = Dimension::Axisymmetric;
    assert!(findings(&curved(&x), &info).is_empty());
    assert!(findings(&curved(&behind), &info).iter().any(|f| f.contains("outside of the plane")));
    behind[5] = [0.0, 0.5, 0.0];
    behind[0] = [0.05, 0.0, 0.0];
    behind[3] = [0.5, 0.0, 0.0];
    assert!(turned(&behind, &info, &curved));
    behind[0][0] = 0.0;
    assert!(!turned(&behind, &info, &curved));
    behind[0][2] = 1e-9;
    assert!(!findings(&linear(&behind), &info).is_empty());
}

/// Determinants of small integers, which 128 bits hold exactly, seen through coordinates that are scaled so
/// that floating-point estimates fail: the same signs.
#[test]
fn signs_are_those_of_integers() {
    let mut r = XorShiftRng::seed_from_u64(1);
    let mut zeros = 0;
    for _ in 0..20_000 {
        let p: [[i128; 3]; 4] =
            std::array::from_fn(|_| std::array::from_fn(|_| r.random_range(-3i64..=3).into()));
        let [u, v, w] = [1, 2, 3].map(|k| [0, 1, 2].map(|i| p[k][i] - p[0][i]));
        let minor = |i: usize, j: usize| v[i] * w[j] - v[j] * w[i];
        let exact = (u[0] * minor(1, 2) + u[1] * minor(2, 0) + u[2] * minor(0, 1)).cmp(&0);
        zeros += usize::from(exact == Ordering::Equal);
        for (scale, shift) in
            [(1.0, 0.0), (2f64.powi(-565), 0.0), (f64::EPSILON, 1.0), (5e-324, 0.0)]
        {
            // sums that are not exact would be other points
            let x = p.map(|p| p.map(|c| shift + scale * c as f64));
            if x.iter().zip(&p).any(|(x, p)| (0..3).any(|i| (x[i] - shift) / scale != p[i] as f64))
            {
                continue;
            }
            assert_eq!(exact::volume(&x[0], &x[1], &x[2], &x[3]), exact, "{p:?} times {scale:e}");
        }
    }
    assert!(zeros > 500, "{zeros}");
}

#[test]
fn segments_and_triangles_that_touch_or_miss() {
    let t: [Point; 3] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    let meets = |p: Point, q: Point| exact::segment_meets_triangle(&p, &q, &t);
    // through the inside, an edge, a corner; an end on it; within its plane
    assert!(meets([1.0, 1.0, -1.0], [1.0, 1.0, 1.0]));
    assert!(meets([2.0, 2.0, -1.0], [2.0, 2.0, 1.0]));
    assert!(meets([4.0, 0.0, -1.0], [4.0, 0.0, 1.0]));
    assert!(meets([1.0, 1.0, 0.0], [1.0, 1.0, 1.0]));
    assert!(meets([-1.0, 1.0, 0.0], [5.0, 1.0, 0.0]));
    assert!(meets([1.0, 1.0, 0.0], [1.5, 1.0, 0.0]));
    // past it by the last bit, short of it, within its plane beside it
    assert!(!meets([2.0, 2.0f64.next_up(), -1.0], [2.0, 2.0f64.next_up(), 1.0]));
    assert!(!meets([1.0, 1.0, 5e-324], [1.0, 1.0, 1.0]));
    assert!(!meets([3.0, 3.0, 0.0], [9.0, 3.0, 0.0]));
    assert!(!meets([3.0, 3.0, -1.0], [3.0, 3.0, 1.0]));
    // a flat triangle is the segment of its ends
    let flat: [Point; 3] = [[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
    assert!(exact::segment_meets_triangle(&[1.5, 1.5, 0.0], &[1.5, 1.5, 3.0], &flat));
    assert!(!exact::segment_meets_triangle(&[2.5, 2.5, 0.0], &[2.5, 2.5, 3.0], &flat));
    let crossing = |c: Point, d: Point| exact::segments_meet(&t[0], &t[1], &c, &d);
    assert!(crossing([1.0, -1.0, 0.0], [1.0, 1.0, 0.0]));
    assert!(crossing([4.0, 0.0, 0.0], [9.0, 1.0, 0.0]));
    assert!(crossing([3.0, 0.0, 0.0], [9.0, 0.0, 0.0]));
    assert!(!crossing([1.0, -1.0, 5e-324], [1.0, 1.0, 5e-324]));
    assert!(!crossing([5.0, 0.0, 0.0], [9.0, 0.0, 0.0]));
}

/// Soups of triangles on a coarse grid, where touching is common: the audit of the simulator and this checker
/// come to the same verdict.
#[test]
fn the_audit_agrees_on_soups_of_triangles() {
    let mut r = XorShiftRng::seed_from_u64(2);
    let (mut clean, mut meeting) = (0, 0);
    for round in 0..3000 {
        let count = 2 + round % 5;
        let mut point = || -> Point { std::array::from_fn(|_| r.random_range(0i32..6).into()) };
        // a corner on the opposite side is found here; the audit does not compare a triangle with itself
        let mut corners = || loop {
            let t = [point(), point(), point()];
            if ![(0, 1), (1, 2), (2, 0)]
                .iter()
                .all(|&(i, j)| exact::area(&t[0], &t[1], &t[2], i, j).is_eq())
            {
                return t;
            }
        };
        let x = (0..count).flat_map(|_| corners()).collect();
        let mut frame = Frame { x, ..Frame::default() };
        frame.rest.clone_from(&frame.x);
        frame.triangles = (0..count).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let found = findings(&frame, &info(vec![body("soup", 0, 3 * count)]));
        let x: Vec<Vec3> = frame.x.iter().map(|p| Vec3::from(*p)).collect();
        let faces = frame.triangles.iter().map(|t| t.map(|v| v as u32)).collect();
        // at rest the triangles are good ones: a mesh of flat triangles is refused
        let rest =
            (0..x.len()).map(|v| Vec3::new((v % 3 % 2) as f64, (v % 3 / 2) as f64, v as f64));
        let mesh = CollisionMesh::new(rest.collect(), faces, &[], &[]);
        let theirs = audit::audit_intersections(&mesh, &x);
        assert_eq!(found.is_empty(), theirs.is_empty(), "{:?}: {found:?} {theirs:?}", frame.x);
        if found.is_empty() { clean += 1 } else { meeting += 1 }
    }
    assert!(clean > 300 && meeting > 300, "{clean} {meeting}");
}

/// A cube of six tetrahedra would do; one tetrahedron shows what is looked at.
fn tetrahedron() -> (Frame, Info) {
    let x = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let frame = Frame { rest: x.clone(), x, tets: vec![[0, 1, 2, 3]], ..Frame::default() };
    (frame, info(vec![body("tet", 0, 4)]))
}

#[test]
fn inversions_half_spaces_and_numbers_that_are_not_finite_are_found() {
    let (mut frame, mut info) = tetrahedron();
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    frame.x[3] = [0.2, 0.2, 0.0];
    assert!(findings(&frame, &info).iter().any(|f| f.contains("inverted")));
    frame.x[3] = [0.2, 0.2, f64::NAN];
    assert!(findings(&frame, &info)[0].contains("not finite"));
    frame.x[3] = [0.0, 0.0, 1.0];
    let plane = |y: f64| ListedHalfSpace {
        name: "g".into(),
        origin: [5.0, y, 3.0],
        normal: [0.0, 2.0, 0.0],
    };
    info.half_spaces = vec![plane(-5e-324)];
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    info.half_spaces = vec![plane(0.0)];
    assert_eq!(findings(&frame, &info).len(), 3);
    info.half_spaces = vec![plane(-0.1)];
    info.bodies[0].contact_thickness = 0.19;
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    info.bodies[0].contact_thickness = 0.21;
    assert_eq!(findings(&frame, &info).len(), 3);
}

#[test]
fn surfaces_thickness_and_stretch_are_found() {
    // a tetrahedron and a sheet whose corner is above the middle of its sloping face
    let (mut frame, info) = tetrahedron();
    frame.x.extend([[0.4, 0.4, 0.4], [1.4, 0.4, 0.5], [0.4, 1.4, 0.5]]);
    frame.rest.clone_from(&frame.x);
    frame.triangles = vec![[4, 5, 6]];
    let mut info = Info { bodies: vec![info.bodies[0].clone(), body("sheet", 4, 3)], ..info };
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    // (0.4, 0.4, 0.4) is 0.2/√3 = 0.1155 m off the plane x + y + z = 1
    info.bodies[1].contact_thickness = 0.2309;
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    info.bodies[1].contact_thickness = 0.2311;
    assert!(findings(&frame, &info)[0].contains("(ξ ="), "{:?}", findings(&frame, &info));
    info.bodies[1].contact_thickness = 0.0;
    frame.x[4] = [0.3, 0.3, 0.3];
    assert!(findings(&frame, &info).iter().any(|f| f.contains("meets")));
    // bodies that pass through each other may; so may obstacles
    info.no_contact = vec![(1, 0)];
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    info.no_contact.clear();
    (info.bodies[0].obstacle, info.bodies[1].obstacle) = (true, true);
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    // twice as long along one edge of the sheet
    let (mut frame, mut info) = (Frame::default(), self::info(vec![body("sheet", 0, 3)]));
    frame.rest = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 1.0, 0.0]];
    frame.x = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 1.1], [0.0, 1.0, 0.33]];
    frame.triangles = vec![[0, 1, 2]];
    info.bodies[0].limits = Some(Limits { stretch: Some(1.1) });
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    info.bodies[0].limits = Some(Limits { stretch: Some(1.0999) });
    assert!(findings(&frame, &info)[0].contains("stretched"));
}

#[test]
fn wires_and_particles_are_found() {
    let mut frame = Frame {
        x: vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.5, -1.0, 0.0],
            [0.5, 1.0, 0.0],
            [0.5, 0.3, 0.0],
        ],
        segments: vec![[0, 1], [2, 3]],
        points: vec![4],
        ..Frame::default()
    };
    frame.rest.clone_from(&frame.x);
    let mut info = info(vec![body("wires", 0, 4), body("ball", 4, 1)]);
    let found = findings(&frame, &info);
    assert_eq!(found.len(), 2, "{found:?}");
    (frame.x[2][2], frame.x[3][2]) = (0.1, 0.1);
    assert_eq!(findings(&frame, &info), Vec::<String>::new());
    // the ball is 0.1 m from the one wire, 0.3 m from the other
    info.bodies[1].contact_thickness = 0.21;
    assert_eq!(findings(&frame, &info).len(), 1);
    info.bodies[1].contact_thickness = 0.61;
    assert_eq!(findings(&frame, &info).len(), 2);
}

/// Figures that are no numbers, which JSON has as `null`, and κ above its bound are found wherever they are in a step.
#[test]
fn figures_that_are_no_numbers_are_found() {
    let step = |change: fn(&mut serde_json::Value)| {
        let mut step = serde_json::json!({
            "step": 3, "outcome": "converged", "fallback": null, "min_gap": null, "kappa": 1e5, "kappa_limit": 1e5,
            "imbalance": 1e-5, "energies": { "tetrahedra": 0.5 },
            "forces": { "bodies": { "ball": { "force": [0.0, 1.0, 0.0] } } }
        });
        change(&mut step);
        wrong(&format!("{step}\n"))
    };
    assert_eq!(step(|_| {}), None);
    assert_eq!(step(|s| s["kappa_limit"] = serde_json::Value::Null), None);
    let found = [
        step(|s| s["kappa"] = 1.1e5.into()),
        step(|s| s["imbalance"] = f64::NAN.into()),
        step(|s| s["energies"]["tetrahedra"] = f64::INFINITY.into()),
        step(|s| s["forces"]["bodies"]["ball"]["force"][1] = f64::NAN.into()),
    ];
    let said = [
        "κ is 1.1e5, at most 1e5",
        ".imbalance",
        ".energies.tetrahedra",
        ".forces.bodies.ball.force",
    ];
    for (found, said) in found.iter().zip(said) {
        let found = found.as_ref().unwrap();
        assert!(found.starts_with("step 3: ") && found.contains(said), "{found}");
    }
}

/// Joints that are open, or beyond their limits, are found.
#[test]
fn joints_beyond_their_limits_are_found() {
    let scene = "[[joints]]\nname = \"a\"\nlimits = [-inf, 0.5]\n[[joints]]\nname = \"b\"\n";
    let scene = scene.parse().unwrap();
    let found = |angle: f64, error: f64| {
        let joints = serde_json::json!({ "a": { "angle": angle, "displacement": null }, "b": {} });
        let step = serde_json::json!({ "step": 2, "outcome": "converged", "joint_error": error, "forces": { "joints": joints } });
        violated(&step.to_string(), &scene)
    };
    assert_eq!([found(0.5, 1e-9), found(-9.0, 1e-9)], [None, None]);
    assert!(found(0.51, 1e-9).unwrap().contains("joint 'a' is at 0.51"));
    assert!(found(0.0, 2e-6).unwrap().contains("open by 2e-6"));
}
