//! Solids of several materials: against closed forms, and what is refused.

use standoff::prelude::*;
use std::fmt::Write as _;
use std::path::Path;

/// A bar along x of 1 m, whose first 0.4 m are made of `part` and the others of `rest`. Its left end is held, its right end is moved
/// by 0.1 m.
fn bar(planar: bool, object: &str, part: &str, rest: &str) -> String {
    let (head, shape, of, one) = match planar {
        true => {
            ("dimension = 2\n", r#"kind = "rectangle", size = [1, 0.1], cells = [10, 2]"#, "0", "1")
        }
        false => ("", r#"kind = "box", size = [1, 0.1, 0.1], cells = [10, 2, 2]"#, "0, 0", "1, 1"),
    };
    let pull = if planar { r#"["0.1*t", 0]"# } else { r#"["0.1*t", 0, 0]"# };
    let mut text = format!(
        r#"{head}gravity = [0, {of}]
time = {{ step = 0.5, end = 1, integrator = "quasi-static" }}
contact = {{ enabled = false }}
materials.rest = {{ {rest} }}
materials.part = {{ {part} }}
[[objects]]
name = "bar"
shape = {{ {shape} }}
material = "rest"
{object}
"#
    );
    for (name, min, max) in [("root", "0", "0.4"), ("left", "0", "0"), ("right", "1", "1")] {
        let corners = format!("min = [{min}, {of}], max = [{max}, {one}], relative = true");
        writeln!(text, "regions.{name} = {{ box = {{ {corners} }} }}").unwrap();
    }
    text + &format!(
        r#"fixed = [{{ vertices = "left" }}]
motion = [{{ vertices = "right", translation = {pull} }}]
"#
    )
}

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(text, Path::new("test.toml"), Path::new("."), &[]).map_err(|e| e.to_string())
}

fn end(text: &str) -> Simulation {
    let mut simulation = Simulation::new(&parse(text).unwrap()).unwrap();
    while !simulation.is_finished() {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    simulation
}

/// Where the vertices are that were at x = 0.4 m, whose origin is the middle of the bar, and by how much their places differ.
fn interface(simulation: &Simulation) -> (f64, f64) {
    let core = simulation.core();
    let moved = core.model().rest.iter().zip(simulation.positions());
    let at: Vec<f64> =
        moved.filter(|(r, _)| (r.x + 0.1).abs() < 1e-9).map(|(_, x)| x.x + 0.5).collect();
    assert!(at.len() >= 3, "{}", at.len());
    let (lo, hi) = at.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    (0.5 * (lo + hi), hi - lo)
}

/// The stretch of the first 0.4 m by the closed form: of laws without lateral contraction, P = E (λ − 1/λ)/2 is the same in both parts.
fn stretch(part: f64, rest: f64) -> f64 {
    let p = |e: f64, l: f64| 0.5 * e * (l - 1.0 / l);
    let excess = |l: f64| p(part, l) - p(rest, (1.1 - 0.4 * l) / 0.6);
    let (mut lo, mut hi) = (0.5, 2.0);
    for _ in 0..100 {
        let middle = 0.5 * (lo + hi);
        *(if excess(middle) < 0.0 { &mut lo } else { &mut hi }) = middle;
    }
    lo
}

/// Parts in a row carry the same force: the interface is where the closed form puts it, to 1e-9 m, with linear and quadratic elements and in
/// the plane.
#[test]
fn parts_in_a_row_carry_the_same_force() {
    let soft = r#"young_modulus = "1 MPa", poisson_ratio = 0, density = 500"#;
    let hard = r#"young_modulus = "7 MPa", poisson_ratio = 0, density = 3000"#;
    for (planar, element) in [(false, "linear"), (false, "quadratic"), (true, "")] {
        let element = match planar {
            true => String::new(),
            false => format!("element = \"{element}\"\n"),
        };
        let object = format!("{element}materials = {{ root = \"part\" }}");
        for (part, rest, e) in [(soft, hard, [1e6, 7e6]), (hard, soft, [7e6, 1e6])] {
            let simulation = end(&bar(planar, &object, part, rest));
            let (at, spread) = interface(&simulation);
            let exact = 0.4 * stretch(e[0], e[1]);
            assert!((at - exact).abs() < 1e-9 && spread < 1e-9, "{at} {exact} {spread}");
            let (body, section) =
                (simulation.body("bar").unwrap(), if planar { 0.1 } else { 0.01 });
            let mass: f64 = body.masses().iter().sum();
            let density = if e[0] < e[1] { [500.0, 3000.0] } else { [3000.0, 500.0] };
            let right = section * (0.4 * density[0] + 0.6 * density[1]);
            assert!((mass - right).abs() < 1e-12 * right, "{mass} {right}");
            let lambda = exact / 0.4;
            let force = section * 0.5 * e[0] * (lambda - 1.0 / lambda);
            let held = &simulation.report().unwrap().forces.held;
            let ends: Vec<f64> = held.values().map(|h| h.force[0].abs()).collect();
            assert_eq!(ends.len(), 2);
            assert!(ends.iter().all(|f| (f - force).abs() < 1e-6 * force), "{ends:?} {force}");
        }
    }
}

/// A part of the material of the rest changes no bit.
#[test]
fn a_part_of_the_same_material_changes_nothing() {
    let same = r#"young_modulus = "3 MPa", poisson_ratio = 0.3, density = 900"#;
    let with =
        end(&bar(false, "element = \"linear\"\nmaterials = { root = \"part\" }", same, same));
    let without = end(&bar(false, "element = \"linear\"", same, same));
    assert_eq!(with.positions(), without.positions());
    assert_ne!(with.positions(), with.core().model().rest);
}

/// Only the part that yields flows, in all of its elements.
#[test]
fn a_part_may_yield() {
    let steel = r#"young_modulus = "7 MPa", poisson_ratio = 0, density = 500, plasticity = { yield_stress = "0.1 MPa", hardening_modulus = "1 MPa" }"#;
    let elastic = r#"young_modulus = "7 MPa", poisson_ratio = 0, density = 500"#;
    let object = "element = \"quadratic\"\nmaterials = { root = \"part\" }";
    let simulation = end(&bar(false, object, steel, elastic));
    let model = simulation.core().model();
    let strains = simulation.core().plastic_strains();
    assert_eq!(strains[model.bodies[0].solids.clone()].len(), 240);
    let count = strains.iter().filter(|e| **e > 0.0).count();
    assert_eq!(count, 96);
    let least = strains.iter().copied().filter(|e| *e > 0.0).fold(f64::MAX, f64::min);
    assert!(least > 0.05, "{least}");
}

/// Two tetrahedra that share a face, with labels: the regions of a mesh file are sets of elements, although all vertices of the first one but
/// one are in the second one, too.
#[test]
fn a_mesh_file_names_parts() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n\
        0 0 0  1 0 0  0 1 0  0 0 1  1 1 1\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\n\
        CELL_DATA 2\nSCALARS label int 1\nLOOKUP_TABLE default\n1\n2\n";
    std::fs::write(folder.path().join("two.vtk"), mesh).unwrap();
    let masses = |materials: &str, element: &str| -> f64 {
        let text = format!(
            "time = {{ step = 0.1, end = 0.1 }}\nmaterials.light = {{ density = 6 }}\n\
             [[objects]]\nname = \"two\"\nmesh = \"two.vtk\"\nelement = \"{element}\"\n\
             material = {{ density = 60 }}\nmaterials = {{ {materials} }}\n"
        );
        let scene = Scene::parse(&text, Path::new("test.toml"), folder.path(), &[]).unwrap();
        let simulation = Simulation::new(&scene).unwrap();
        simulation.body("two").unwrap().masses().iter().sum()
    };
    // of volumes 1/6 and 1/3 m³
    for element in ["linear", "quadratic"] {
        for (materials, right) in [
            ("", 30.0),
            ("'label=1' = 'light'", 21.0),
            ("'label=2' = 'light'", 12.0),
            ("'label=2' = 'light', 'label=1' = { density = 600 }", 102.0),
        ] {
            let mass = masses(materials, element);
            assert!((mass - right).abs() < 1e-9, "{element} {materials}: {mass}");
        }
    }
}

/// What is refused, with its reason.
#[test]
fn what_is_no_part_is_refused() {
    let same = r#"young_modulus = "3 MPa""#;
    for (object, says) in [
        ("materials = { rot = \"part\" }", "rot"),
        ("materials = { root = \"prat\" }", "prat"),
        (
            "materials = { root = \"part\", left = \"part\" }",
            "no element of 'bar' is in the region 'left'",
        ),
        (
            "materials = { root = \"part\", whole = \"part\" }\nregions.whole = { sphere = { centre = [0, 0, 0], radius = 9 } }",
            "is in the region 'root' too",
        ),
        (
            "materials = { root = \"part\" }\nrole = \"obstacle\"",
            "only solids (role = \"volume\") have parts of other materials",
        ),
        ("materials = { root = { density = -1 } }", "density"),
    ] {
        let error = parse(&bar(false, object, same, same)).map(|_| ()).unwrap_err();
        assert!(error.contains(says) && error.contains("materials"), "{object}: {error}");
    }
}
