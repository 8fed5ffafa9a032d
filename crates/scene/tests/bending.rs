//! What is said of how solids of linear elements bend, against how they do.

use standoff_scene::Scene;
use standoff_scene::bending::{Bending, bending};
use standoff_sim::Simulation;
use std::path::Path;

/// A cantilever of 1 × 0.1 × 0.1 m that 10 N bend to the side, and the part of the deflection of beam theory by which its end moves
/// [Timoshenko 1921].
fn deflection(cells: [usize; 3], nu: f64, element: &str) -> (Option<Bending>, f64) {
    let text = format!(
        r#"
gravity = [0, 0, 0]
time = {{ step = 1, end = 1, integrator = "quasi-static" }}
contact = {{ enabled = false }}
[[objects]]
name = "beam"
shape = {{ kind = "box", size = [1, 0.1, 0.1], cells = {cells:?} }}
element = "{element}"
material = {{ young_modulus = 1e9, poisson_ratio = {nu}, density = 1000 }}
regions = {{ left = {{ box = [[-0.51, -1, -1], [-0.499, 1, 1]] }}, right = {{ box = [[0.499, -1, -1], [0.51, 1, 1]] }} }}
fixed = [{{ vertices = "left" }}]
forces = [{{ vertices = "right", force = [0, -10, 0] }}]
"#
    );
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let body = &scene.definition.bodies[0];
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let end: Vec<usize> = (0..body.rest.len()).filter(|v| body.rest[*v].x > 0.499).collect();
    let down = |v: &usize| body.rest[*v].y - simulation.positions()[*v].y;
    let found = end.iter().map(down).sum::<f64>() / end.len() as f64;
    let (e, inertia, area) = (1e9, 0.1_f64.powi(4) / 12.0, 0.01);
    let shear = e / (2.0 * (1.0 + nu)) * area * 5.0 / 6.0;
    let said = bending(body);
    let notes: Vec<String> =
        said.iter().filter_map(Bending::note).map(|n| format!("beam: {n}")).collect();
    assert_eq!(scene.notes, notes);
    (said, found / (10.0 / (3.0 * e * inertia) + 10.0 / shear))
}

#[test]
fn the_estimate_is_near_to_the_deflection_of_a_beam() {
    for cells in [[10, 1, 1], [20, 2, 2], [40, 4, 4], [10, 2, 2]] {
        for nu in [0.0, 0.3, 0.45, 0.499] {
            let (said, found) = deflection(cells, nu, "linear");
            let Bending { part, slenderness } = said.unwrap();
            println!(
                "{cells:?}, ν = {nu}: said {part:.3}, found {found:.3}, slenderness {slenderness:.2}"
            );
            // nearly incompressible, vertices move aside to keep volumes, which the estimate leaves out
            match nu < 0.49 {
                true => assert!((part / found).ln().abs() < 0.3, "{cells:?} {nu}"),
                false => assert!(part < found && found < 0.1, "{cells:?} {nu}"),
            }
            assert!((slenderness - 10.0).abs() < 1e-9);
        }
    }
    let (said, _) = deflection([10, 1, 1], 0.3, "quadratic");
    assert_eq!(said, None);
    // with 2 cells it is worth a note, and not where the deflection is nearly right
    let note = |cells| deflection(cells, 0.3, "linear").0.unwrap().note();
    let said = note([20, 2, 2]).unwrap();
    assert!(said.contains("10 times as long as thick") && said.contains("about 48 %"), "{said}");
    assert_eq!(note([80, 8, 8]), None);
}

/// Neither where a body is nor how it is turned counts.
#[test]
fn the_estimate_does_not_depend_on_place_and_size() {
    let said = |placement: &str| {
        let text = format!(
            "[[objects]]\nshape = {{ kind = \"box\", size = [1, 0.1, 0.1], cells = [8, 2, 2] }}\n{placement}\n"
        );
        let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        bending(&scene.definition.bodies[0]).unwrap()
    };
    let (here, there) = (said(""), said("rotate = [20, 50, 70]\ntranslate = [1, 2, 3]\nscale = 3"));
    assert!(
        (here.part - there.part).abs() < 1e-9
            && (here.slenderness - there.slenderness).abs() < 1e-9
    );
    // a ball has no axis
    let ball = "[[objects]]\nshape = { kind = \"sphere\" }\n";
    let scene = Scene::parse(ball, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    assert_eq!(bending(&scene.definition.bodies[0]), None);
}
