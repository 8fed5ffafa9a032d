//! Tractions on all that has a surface.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use std::path::Path;

const TRACTION: Vec3 = Vec3::new(10.0, 20.0, 30.0);

/// Two steps of a scene without gravity in which `object` has a traction of 10, 20 and 30 Pa: what is told to act, and the momentum.
fn pulled(object: &str) -> (Vec3, Vec3, f64) {
    let text = format!(
        "gravity = [0, 0, 0]\ntime = {{ step = 0.01, end = 0.02, integrator = \"implicit-euler\" }}\n\
         [materials.m]\nyoung_modulus = \"1 MPa\"\npoisson_ratio = 0.3\ndensity = 1000\nshell = {{ thickness = \"1 mm\" }}\n\
         [[objects]]\nname = \"b\"\nmaterial = \"m\"\n{object}\n"
    );
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]);
    let scene = scene.unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let mut told = Vec3::zeros();
    for _ in 0..2 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        told = Vec3::from(report.forces.loads.values().next().unwrap().force);
    }
    let mass = &simulation.model().mass;
    let momentum = simulation.velocities().iter().zip(mass).map(|(v, m)| *m * v).sum();
    (told, momentum, scene.definition.settings.time.step)
}

const TOP: &str = "[[objects.forces]]\nvertices = { box = { min = [0, 0.999, 0], max = [1, 1, 1], relative = true } }\n\
    traction = [10, 20, 30]\n";
const BOX: &str = "shape = { kind = \"box\", size = [0.2, 0.1, 0.4], cells = [4, 2, 3] }\n";

/// On solids of both orders, rigid bodies, shells, and solids whose surface they carry, the force is the traction times the area, and gives its momentum.
#[test]
fn a_traction_acts_on_every_kind_of_surface() {
    let shell =
        "role = \"shell\"\nshape = { kind = \"plane\", size = [0.2, 0.4], cells = [3, 5] }\n";
    // a cube of 0.1 m in tetrahedra that do not fit it
    let carried = "shape = { kind = \"box\", size = [0.1, 0.1, 0.1], cells = [2, 2, 2], surface = true }\n\
        fill = { size = \"60 mm\", deviation = inf, carry_surface = true, collides = true }\n";
    let all = "[[objects.forces]]\ntraction = [10, 20, 30]\n";
    for (object, area) in [
        (format!("element = \"linear\"\n{BOX}{TOP}"), 0.08),
        (format!("element = \"quadratic\"\n{BOX}{TOP}"), 0.08),
        (format!("role = \"rigid\"\n{BOX}{TOP}"), 0.08),
        (format!("{shell}{all}"), 0.08),
        (format!("{carried}{all}"), 0.06),
    ] {
        let (told, momentum, h) = pulled(&object);
        let force = area * TRACTION;
        assert!((told - force).norm() < 1e-12 * force.norm(), "{object}: {told} {force}");
        let gained = 2.0 * h * force;
        assert!((momentum - gained).norm() < 1e-8 * gained.norm(), "{object}: {momentum} {gained}");
    }
}

/// The side of a solid that is glued to another one, and one part of which a joint holds, has all of the traction: what holds it bears that.
#[test]
fn a_traction_acts_on_what_is_tied_and_on_grips() {
    let cube = |name: &str, cells: usize, y: f64| {
        format!(
            "name = \"{name}\"\nmaterial = \"m\"\nelement = \"linear\"\ntranslate = [0, {y}, 0]\n\
             shape = {{ kind = \"box\", size = [0.2, 0.1, 0.2], cells = [{cells}, 2, {cells}] }}\n"
        )
    };
    let all = "[[objects.forces]]\ntraction = [10, 20, 30]\n";
    let (upper, lower) = (cube("b", 3, 0.1), cube("a", 4, 0.0));
    let upper = upper.replace("name = \"b\"\nmaterial = \"m\"\n", "");
    let tie = "[[ties]]\nname = \"glue\"\nobjects = [\"b\", \"a\"]\n";
    let (told, momentum, h) = pulled(&format!("{upper}{all}[[objects]]\n{lower}{tie}"));
    let force = 0.16 * TRACTION;
    assert!((told - force).norm() < 1e-12 * force.norm(), "{told} {force}");
    let gained = 2.0 * h * force;
    assert!((momentum - gained).norm() < 1e-8 * gained.norm(), "{momentum} {gained}");

    let side = "[[objects.forces]]\nvertices = { box = { min = [0.999, 0, 0], max = [1, 1, 1], relative = true } }\n\
        traction = [10, 20, 30]\n";
    let hinge = "[[joints]]\nname = \"j\"\nkind = \"spherical\"\nbodies = [\"b\"]\npoint = [0.1, 0, 0]\n\
        vertices = { b = { box = { min = [0.999, 0, 0], max = [1, 0.6, 1], relative = true } } }\n";
    let (told, ..) = pulled(&format!("element = \"linear\"\n{BOX}{side}{hinge}"));
    let force = 0.04 * TRACTION;
    assert!((told - force).norm() < 1e-12 * force.norm(), "{told} {force}");
}
