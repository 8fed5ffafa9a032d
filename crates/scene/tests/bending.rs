//! What is said of how solids of linear elements bend, against how they do.

use standoff_scene::Scene;
use standoff_scene::bending::{Bending, bending};
use standoff_sim::Simulation;
use standoff_sim::definition::BodyKind;
use std::path::Path;

/// A cantilever of the given size (m), 1 m long, that 10 N bend down at its end; the mean deflection of the end, m.
fn cantilever(size: [f64; 3], cells: [usize; 3], nu: f64, element: &str) -> (Scene, f64) {
    let text = format!(
        r#"
gravity = [0, 0, 0]
time = {{ step = 1, end = 1, integrator = "quasi-static" }}
contact = {{ enabled = false }}
[[objects]]
name = "beam"
shape = {{ kind = "box", size = {size:?}, cells = {cells:?} }}
element = "{element}"
material = {{ young_modulus = {E}, poisson_ratio = {nu}, density = 1000 }}
regions = {{ left = {{ box = {{ min = [-0.51, -1, -1], max = [-0.499, 1, 1] }} }}, right = {{ box = {{ min = [0.499, -1, -1], max = [0.51, 1, 1] }} }} }}
fixed = [{{ vertices = "left" }}]
forces = [{{ vertices = "right", force = [0, -10, 0] }}]
"#
    );
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let rest = &scene.definition.bodies[0].rest;
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let end: Vec<usize> = (0..rest.len()).filter(|v| rest[*v].x > 0.499).collect();
    let down = |v: &usize| rest[*v].y - simulation.positions()[*v].y;
    let found = end.iter().map(down).sum::<f64>() / end.len() as f64;
    (scene, found)
}

const E: f64 = 1e9;

/// What is said of a cantilever of 1 × 0.1 × 0.1 m, and the part of the deflection of beam theory by which its end moves
/// [Timoshenko 1921].
fn deflection(cells: [usize; 3], nu: f64, element: &str) -> (Option<Bending>, f64) {
    let (scene, found) = cantilever([1.0, 0.1, 0.1], cells, nu, element);
    let (inertia, area) = (0.1_f64.powi(4) / 12.0, 0.01);
    let shear = E / (2.0 * (1.0 + nu)) * area * 5.0 / 6.0;
    let said = bending(&scene.definition.bodies[0]);
    let notes: Vec<String> = said
        .iter()
        .filter_map(Bending::fault)
        .map(|n| format!("beam: {n}; choose element = \"quadratic\""))
        .collect();
    assert_eq!(scene.notes, notes);
    (said, found / (10.0 / (3.0 * E * inertia) + 10.0 / shear))
}

#[test]
fn the_estimate_is_near_to_the_deflection_of_a_beam() {
    for cells in [[10, 1, 1], [20, 2, 2], [40, 4, 4], [10, 2, 2]] {
        for nu in [0.0, 0.3, 0.45, 0.499] {
            let (said, found) = deflection(cells, nu, "linear");
            let Bending { part, slenderness, poisson_ratio } = said.unwrap();
            println!(
                "{cells:?}, ν = {nu}: said {part:.3}, found {found:.3}, slenderness {slenderness:.2}"
            );
            // nearly incompressible, vertices move aside to keep volumes, which the estimate leaves out
            match nu < 0.49 {
                true => assert!((part / found).ln().abs() < 0.3, "{cells:?} {nu}"),
                false => assert!(part < found && found < 0.1, "{cells:?} {nu}"),
            }
            assert!((slenderness - 10.0).abs() < 1e-9 && (poisson_ratio - nu).abs() < 1e-12);
        }
    }
    let (said, _) = deflection([10, 1, 1], 0.3, "quadratic");
    assert_eq!(said, None);
    // with 2 cells it is worth a note, and not where the deflection is nearly right
    let note = |cells| deflection(cells, 0.3, "linear").0.unwrap().fault();
    let said = note([20, 2, 2]).unwrap();
    assert!(said.contains("10 times as long as thick") && said.contains("about 48 %"), "{said}");
    assert_eq!(note([80, 8, 8]), None);
}

/// Neither where a body is nor how it is turned counts.
#[test]
fn the_estimate_does_not_depend_on_place_and_size() {
    let said = |placement: &str| {
        let text = format!(
            "[[objects]]\nshape = {{ kind = \"box\", size = [1, 0.1, 0.1], cells = [8, 2, 2] }}\nelement = \"linear\"\n{placement}\n"
        );
        let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        bending(&scene.definition.bodies[0]).unwrap()
    };
    let (here, there) = (said(""), said("rotate = [20, 50, 70]\ntranslate = [1, 2, 3]\nscale = 3"));
    assert!(
        (here.part - there.part).abs() < 1e-9
            && (here.slenderness - there.slenderness).abs() < 1e-9
    );
}

fn said_of(text: &str) -> Bending {
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    bending(&scene.definition.bodies[0]).unwrap()
}

/// As long as wide, a plate has no axis: whatever way it is turned, the estimate is the same, and near to what a narrow strip of it is said to do.
#[test]
fn the_estimate_of_a_square_plate_does_not_depend_on_axes() {
    let plate = |size: &str, cells: &str, more: &str| {
        said_of(&format!(
            "[[objects]]\nshape = {{ kind = \"box\", size = {size}, cells = {cells} }}\nelement = \"linear\"\n{more}\n"
        ))
    };
    let here = plate("[1, 0.1, 1]", "[8, 2, 8]", "");
    for turn in ["rotate = [0, 30, 0]", "rotate = [20, 50, 70]"] {
        let there = plate("[1, 0.1, 1]", "[8, 2, 8]", turn);
        assert!((here.part - there.part).abs() < 1e-9, "{} {}", here.part, there.part);
    }
    let strip = plate("[1, 0.1, 0.2]", "[8, 2, 2]", "");
    println!("a plate {:.3}, a strip {:.3}", here.part, strip.part);
    assert!((here.part / strip.part).ln().abs() < 0.3);
    let [linear, quadratic] = ["linear", "quadratic"]
        .map(|element| cantilever([1.0, 0.1, 1.0], [8, 2, 8], 0.4, element).1);
    let found = linear / quadratic;
    println!("found {found:.3}");
    assert!((here.part / found).ln().abs() < 0.3, "{} {found}", here.part);
    assert!(here.fault().unwrap().contains("10 times as long as thick"));
}

/// The same under plane strain, beside what quadratic triangles do.
#[test]
fn the_estimate_is_near_to_the_deflection_of_a_strip() {
    for cells in [[10, 1], [20, 2], [40, 4], [10, 2]] {
        for nu in [0.0, 0.3] {
            let strip = |element: &str| {
                let text = format!(
                    r#"
dimension = 2
gravity = [0, 0]
time = {{ step = 1, end = 1, integrator = "quasi-static" }}
contact = {{ enabled = false }}
[[objects]]
name = "strip"
shape = {{ kind = "rectangle", size = [1, 0.1], cells = {cells:?} }}
element = "{element}"
material = {{ young_modulus = {E}, poisson_ratio = {nu}, density = 1000 }}
regions = {{ left = {{ box = {{ min = [-0.51, -1, -1], max = [-0.499, 1, 1] }} }}, right = {{ box = {{ min = [0.499, -1, -1], max = [0.51, 1, 1] }} }} }}
fixed = [{{ vertices = "left" }}]
forces = [{{ vertices = "right", force = [0, -10, 0] }}]
"#
                );
                let scene =
                    Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
                let rest = &scene.definition.bodies[0].rest;
                let mut simulation = Simulation::new(&scene.definition).unwrap();
                assert!(simulation.step().unwrap().outcome.is_success());
                let right = (0..rest.len()).filter(|v| rest[*v].x > 0.499 && rest[*v].y > 0.049);
                let down = right.map(|v| rest[v].y - simulation.positions()[v].y).sum::<f64>();
                (bending(&scene.definition.bodies[0]), down)
            };
            let ((said, linear), (none, quadratic)) = (strip("linear"), strip("quadratic"));
            let Bending { part, slenderness, .. } = said.unwrap();
            let found = linear / quadratic;
            println!("{cells:?}, ν = {nu}: said {part:.3}, found {found:.3}");
            assert!((part / found).ln().abs() < 0.45, "{cells:?} {nu} {part} {found}");
            assert!((slenderness - 10.0).abs() < 1e-9 && none.is_none());
        }
    }
}

/// Nearly incompressible, linear elements lock whatever the shape of the body, and a finer or a quadratic mesh has no such note.
#[test]
fn elements_that_lock_are_noted_whatever_the_shape() {
    let ball = |nu: f64| {
        let shape =
            "[[objects]]\nshape = { kind = \"sphere\", layers = 3 }\nelement = \"linear\"\n";
        let scene = format!("{shape}material = {{ poisson_ratio = {nu} }}\n");
        let scene = Scene::parse(&scene, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        bending(&scene.definition.bodies[0])
    };
    let note = ball(0.499).unwrap().fault().unwrap();
    assert!(note.contains("Poisson's ratio 0.499") && note.contains("too little"), "{note}");
    // how a ball bends is no question
    assert_eq!(ball(0.3), None);
    // and so it is: a short thick block moves by little of what a quadratic mesh does, and by most where nothing is noted
    for (cells, nu, locks) in
        [([6, 4, 4], 0.499, true), ([6, 4, 4], 0.45, true), ([15, 10, 10], 0.45, false)]
    {
        let block = |element| cantilever([1.0, 0.7, 0.7], cells, nu, element);
        let ((scene, linear), (_, quadratic)) = (block("linear"), block("quadratic"));
        let part = linear / quadratic;
        println!("a block of {cells:?} at ν = {nu}: {part:.3}");
        assert_eq!(scene.notes.len(), usize::from(locks), "{cells:?} {nu} {part}");
        assert!(if locks { part < 0.75 } else { part > 0.85 }, "{cells:?} {nu}: {part}");
    }
}

/// Where a scene leaves the order open, elements are quadratic if linear ones are too stiff, and the note says why; where the methods of papers or
/// others want linear ones, they stay linear.
#[test]
fn elements_are_quadratic_where_linear_ones_are_too_stiff() {
    let beam = "[[objects]]\nname = \"b\"\nshape = { kind = \"box\", size = [1, 0.1, 0.1], cells = [20, 2, 2] }\n";
    let fine = "[[objects]]\nname = \"b\"\nshape = { kind = \"box\", cells = [2, 2, 2] }\n";
    let nearly = format!("{fine}material = {{ poisson_ratio = 0.49 }}\n");
    let plastic = format!("{fine}material = {{ plasticity = {{ yield_stress = 1e4 }} }}\n");
    let (linear, preset) =
        (format!("{beam}element = \"linear\"\n"), format!("preset = \"ipc-2020\"\n{beam}"));
    let plane = "dimension = 2\n[[objects]]\nname = \"b\"\n";
    let strip =
        format!("{plane}shape = {{ kind = \"rectangle\", size = [1, 0.1], cells = [20, 2] }}\n");
    let thick =
        format!("{plane}shape = {{ kind = \"rectangle\", size = [1, 0.1], cells = [80, 8] }}\n");
    let square = format!("{plane}shape = {{ kind = \"rectangle\", cells = [2, 2] }}\n");
    let seal = format!("{square}material = {{ poisson_ratio = 0.49 }}\n");
    let yielding = format!("{square}material = {{ plasticity = {{ yield_stress = 1e4 }} }}\n");
    let ring = seal
        .replace("dimension = 2", "dimension = \"axisymmetric\"")
        .replace("[[objects]]\n", "[[objects]]\ntranslate = [2, 0]\n");
    let kept = format!("{strip}element = \"linear\"\n");
    let inverted = format!(
        "[materials.m]\nlaw = \"fixed-corotated\"\n[solver]\nallow_inversion = true\n{beam}material = \"m\"\n"
    );
    for (text, quadratic, note) in [
        (beam, true, "b: it is 10 times as long as thick, and with linear elements bends by about"),
        (fine, false, ""),
        (
            &nearly,
            true,
            "b: with Poisson's ratio 0.49 its linear elements deform too little: it gets quadratic ones",
        ),
        (&plastic, true, "b: linear elements that yield"),
        (&linear, false, "b: it is 10 times as long as thick"),
        (&preset, false, "b: it is 10 times as long as thick"),
        (&inverted, false, "b: it is 10 times as long as thick"),
        (
            &strip,
            true,
            "b: it is 10 times as long as thick, and with linear elements bends by about",
        ),
        (&kept, false, "b: it is 10 times as long as thick"),
        (&thick, false, ""),
        (&square, false, ""),
        (
            &seal,
            true,
            "b: with Poisson's ratio 0.49 the pressures of its linear triangles alternate",
        ),
        (
            &ring,
            true,
            "b: with Poisson's ratio 0.49 the pressures of its linear triangles alternate",
        ),
        (&yielding, true, "b: linear elements that yield"),
    ] {
        let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        let found = match &scene.definition.bodies[0].kind {
            BodyKind::Volume { middles, .. } => !middles.is_empty(),
            BodyKind::PlaneStrain { middles, .. } => !middles.is_empty(),
            _ => false,
        };
        assert_eq!(found, quadratic, "{text}");
        let notes = scene.notes.iter().filter(|n| !note.is_empty() && n.starts_with(note)).count();
        assert_eq!(
            (scene.notes.len(), notes),
            (usize::from(!note.is_empty()), usize::from(!note.is_empty())),
            "{:?}",
            scene.notes
        );
        // what a run writes down says it
        let resolved = scene.resolved_toml().unwrap();
        assert_eq!(resolved.contains("element = \"quadratic\""), quadratic, "{resolved}");
    }
}
