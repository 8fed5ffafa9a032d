//! Elements of two dimensions.

mod common;

use common::{import, scene};
use standoff_inp_import::Import;
use standoff_linalg::Vec3;
use standoff_sim::Simulation;

/// A rectangle of `n` × `n` cells of elements of a kind, with its lower left corner at `x0`; the set of edges LEFT and TOP, and of nodes X0 and Y0
/// on the left and below. Corners have the numbers 1, 3, 5, … in both directions, so that there is room for the middles of edges.
fn grid(kind: &str, n: usize, x0: f64, size: [f64; 2]) -> String {
    let at = |i: usize, j: usize| 1 + i + (2 * n + 1) * j;
    let quadratic = kind.ends_with('6') || kind.ends_with('8');
    let triangles = kind.ends_with('3') || kind.ends_with('6');
    let used = |i: usize, j: usize| {
        let [i, j] = [i, j].map(|k| k.is_multiple_of(2));
        i && j || quadratic && (triangles || i || j)
    };
    let mut text = String::from("*NODE\n");
    let (mut left, mut below) = (Vec::new(), Vec::new());
    for j in 0..=2 * n {
        for i in (0..=2 * n).filter(|i| used(*i, j)) {
            let [x, y] = [i, j].map(|k| k as f64 / (2 * n) as f64);
            text += &format!("{}, {:?}, {:?}\n", at(i, j), x0 + size[0] * x, size[1] * y);
            if i == 0 {
                left.push(at(i, j).to_string());
            }
            if j == 0 {
                below.push(at(i, j).to_string());
            }
        }
    }
    text += &format!("*ELEMENT, TYPE={kind}, ELSET=EALL\n");
    let (mut inner, mut top) = (Vec::new(), Vec::new());
    let mut number = 0;
    for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (2 * j, 2 * i))) {
        let corners = [[0, 0], [2, 0], [2, 2], [0, 2]].map(|[a, b]| [i + a, j + b]);
        // the edges of triangles are the same as of the quadrangle: below and right, above and left
        let cells: Vec<Vec<[usize; 2]>> = match triangles {
            true => [[0, 1, 2], [2, 3, 0]].iter().map(|t| t.map(|k| corners[k]).to_vec()).collect(),
            false => vec![corners.to_vec()],
        };
        for cell in cells {
            number += 1;
            let mut nodes: Vec<usize> = cell.iter().map(|[i, j]| at(*i, *j)).collect();
            if quadratic {
                let next = |k: usize| cell[(k + 1) % cell.len()];
                let middle =
                    |k: usize| at((cell[k][0] + next(k)[0]) / 2, (cell[k][1] + next(k)[1]) / 2);
                nodes.extend((0..cell.len()).map(middle));
            }
            let list: Vec<String> = nodes.iter().map(usize::to_string).collect();
            text += &format!("{number}, {}\n", list.join(", "));
            for k in 0..cell.len() {
                let ends = [cell[k], cell[(k + 1) % cell.len()]];
                if ends.iter().all(|e| e[0] == 0) {
                    inner.push(format!("{number}, S{}", k + 1));
                }
                if ends.iter().all(|e| e[1] == 2 * n) {
                    top.push(format!("{number}, S{}", k + 1));
                }
            }
        }
    }
    text += &format!(
        "*SURFACE, NAME=LEFT\n{}\n*SURFACE, NAME=TOP\n{}\n",
        inner.join("\n"),
        top.join("\n")
    );
    text +=
        &format!("*NSET, NSET=X0\n{}\n*NSET, NSET=Y0\n{}\n", left.join(",\n"), below.join(",\n"));
    text + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n"
}

/// Places at rest and displacements at the end.
fn moved(import: &Import) -> Vec<(Vec3, Vec3)> {
    let scene = scene(import);
    let time = &scene.definition.settings.time;
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    for _ in 0..(time.end / time.step).round() as usize {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    let rest = scene.definition.bodies[0].rest.clone();
    rest.into_iter().zip(simulation.positions()).map(|(x, now)| (x, now - x)).collect()
}

/// A thick cylinder that is held along its axis under inner pressure has Lamé's displacement [Timoshenko & Goodier 1970, §28].
#[test]
fn a_thick_cylinder_widens_as_lame_says() {
    for (kind, most) in [("CAX3", 4e-3), ("CAX4R", 1e-3), ("CAX6M", 1e-3), ("CAX8", 1e-3)] {
        let plain = kind.trim_end_matches(['R', 'M']);
        let model = grid(plain, 12, 1.0, [1.0, 1.0])
            .replace(&format!("TYPE={plain}"), &format!("TYPE={kind}"));
        let load = "*BOUNDARY\nEALLNODES, 2\n*STEP\n*STATIC\n*DSLOAD\nLEFT, P, 1000\n*END STEP\n";
        let import = import(&format!("{model}*NSET, NSET=EALLNODES, ELSET=EALL\n{load}")).unwrap();
        assert!(import.toml.contains("dimension = \"axisymmetric\""), "{}", import.toml);
        // what is not made of triangles of three nodes gets nodes in the middles of edges
        let is_linear = import.toml.contains("element = \"linear\"");
        assert_eq!(is_linear, kind == "CAX3", "{kind}");
        let (young, nu, p) = (1e6, 0.3, 1000.0);
        for (x, u) in moved(&import) {
            let factor = (1.0 + nu) * p / (young * (4.0 - 1.0));
            let expected = factor * ((1.0 - 2.0 * nu) * x.x + 4.0 / x.x);
            assert!(
                (u.x / expected - 1.0).abs() < most,
                "{kind}: {x} moves by {u}, not {expected}"
            );
            assert_eq!(u.y, 0.0);
        }
    }
}

/// A block under plane strain between symmetry planes is shorter by (1 − ν²) p/E and wider by ν (1 + ν) p/E, with supports and gravity in a third direction
/// that there is not.
#[test]
fn a_block_under_plane_strain_is_pressed_as_hooke_says() {
    for kind in ["CPE3", "CPE4", "CPE6", "CPE8"] {
        let model = grid(kind, 3, 0.0, [1.0, 1.0]).replace("MATERIAL=M\n", "MATERIAL=M\n0.01\n");
        let text = format!(
            "{model}*BOUNDARY\nX0, XSYMM\nY0, 2, 3\n*STEP\n*STATIC\n*DSLOAD\nTOP, P, 1000\n*DLOAD\nEALL, GRAV, 9.81, 0, 0, -1\n*END STEP\n"
        );
        let import = import(&text).unwrap();
        assert!(import.toml.contains("dimension = 2\n"), "{}", import.toml);
        assert!(import.notes.join("\n").contains("1 m deep"), "{:?}", import.notes);
        for (x, u) in moved(&import) {
            let expected = 1e-3 * Vec3::new(0.3 * 1.3 * x.x, -(1.0 - 0.09) * x.y, 0.0);
            assert!((u - expected).norm() < 1e-5, "{kind}: {x} moves by {u}");
        }
    }
}

/// Two materials side by side, of which the shares of a pressed width are those of springs in a row.
#[test]
fn sections_in_the_plane_have_their_materials() {
    let model = grid("CPE4", 2, 0.0, [1.0, 1.0]).replace(
        "*SOLID SECTION, ELSET=EALL",
        "*ELSET, ELSET=A\n1, 2\n*ELSET, ELSET=B\n3, 4\n*SOLID SECTION, ELSET=A",
    );
    let text = format!(
        "{model}*SOLID SECTION, ELSET=B, MATERIAL=N\n*MATERIAL, NAME=N\n*ELASTIC\n3e6, 0\n*DENSITY\n1000\n"
    )
    .replace("1e6, 0.3", "1e6, 0");
    let text =
        format!("{text}*BOUNDARY\nX0, 1\nY0, 2\n*STEP\n*STATIC\n*DSLOAD\nTOP, P, 300\n*END STEP\n");
    let import = import(&text).unwrap();
    let regions = &import.meshes[0].1.regions;
    // of two quadrangles each, whose halves are divided into four
    assert_eq!(regions.iter().map(|r| r.triangles.len()).collect::<Vec<_>>(), [16, 16]);
    for (x, u) in moved(&import) {
        let expected = -3e-4 * (x.y.min(0.5) + (x.y - 0.5).max(0.0) / 3.0);
        assert!((u.y - expected).abs() < 1e-6, "{x} moves by {u}");
    }
}

/// Elements of several kinds share edges: a quadrangle of eight nodes, one of four beside it, and one of eight with a side that is a point above it. Under a
/// pressure all around everything shrinks by (1 + ν)(1 − 2ν) p/E.
#[test]
fn elements_of_several_kinds_fit() {
    let text = "*NODE\n1, 0, 0\n2, 1, 0\n3, 1, 1\n4, 0, 1\n5, 0.5, 0\n6, 1, 0.5\n7, 0.5, 1\n8, 0, 0.5\n\
        9, 2, 0\n10, 2, 1\n11, 0.5, 2\n12, 0.75, 1.5\n13, 0.25, 1.5\n\
        *ELEMENT, TYPE=CPE8, ELSET=EALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n3, 4, 3, 11, 11, 7, 12, 11, 13\n\
        *ELEMENT, TYPE=CPE4, ELSET=EALL\n2, 2, 9, 10, 3\n\
        *SOLID SECTION, ELSET=EALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n\
        *BOUNDARY\n1, 1, 2\n2, 2\n*STEP\n*STATIC\n*DLOAD\n1, P1, 100\n1, P4, 100\n2, P1, 100\n2, P2, 100\n2, P3, 100\n\
        3, P2, 100\n3, P4, 100\n*END STEP\n";
    let import = import(text).unwrap();
    let mesh = &import.meshes[0].1;
    assert_eq!((mesh.points.len(), mesh.divided.len()), (18, 5));
    for (x, u) in moved(&import) {
        let expected = -1.3 * 0.4 * 100.0 / 1e6 * x;
        assert!((u - expected).norm() < 1e-7, "{x} moves by {u}, not by {expected}");
    }
}

#[test]
fn elements_without_extent_are_refused() {
    for kind in ["CPE3", "CPE4", "CPE6", "CPE8"] {
        let model = grid(kind, 1, 0.0, [1.0, 1.0]);
        let nodes = |line: &str| {
            let first = line.split(',').next().unwrap().to_owned();
            // every node of an element is node 1
            let count = line.split(',').count() - 1;
            format!("{first}{}", ", 1".repeat(count))
        };
        let mut inside = false;
        let lines = model.lines().map(|line| {
            inside = if line.starts_with('*') { line.starts_with("*ELEMENT") } else { inside };
            if inside && !line.starts_with('*') { nodes(line) } else { line.to_owned() }
        });
        let fault = import(&lines.collect::<Vec<_>>().join("\n")).unwrap_err();
        assert!(fault.contains("element 1 has no extent: its nodes coincide"), "{kind}: {fault}");
    }
}

#[test]
fn what_two_dimensions_cannot_have_is_said() {
    let model = grid("CPE4", 1, 0.0, [1.0, 1.0]);
    let more =
        "*NODE\n91, 5, 0\n92, 6, 0\n93, 5, 1\n*ELEMENT, TYPE=CAX3, ELSET=MORE\n91, 91, 92, 93\n";
    let text = format!("{model}{more}");
    let line = 1 + text.lines().position(|l| l.contains("CAX3")).unwrap();
    let fault = import(&text).unwrap_err();
    assert!(
        fault.contains(&format!("line {line}:")) && fault.contains("the file mixes elements"),
        "{fault}"
    );
    let fault = import(&model.replace("1, 0.0, 0.0\n", "1, 0.0, 0.0, 0.5\n")).unwrap_err();
    assert!(fault.contains("element 1 of two dimensions has a node with z"), "{fault}");
    let fault = import(&model.replace("CPE4", "CPS4")).unwrap_err();
    assert!(fault.contains("no element of the file can be simulated"), "{fault}");
}
