//! What a scene says about its meshes holds: points at one place are one vertex, time samples move, and of two keys
//! for one quantity none is left without effect.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::definition::{BodyKind, Motion};
use std::path::Path;

fn load(folder: &Path, text: &str, set: &[&str]) -> Result<Scene, String> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scene::parse(text, Path::new("scene.toml"), folder, &set).map_err(|e| e.to_string())
}

/// A square of two triangles with four corners each of its own but for rounding, after a point that nothing uses.
const SEAM: &str =
    "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 1 1e-17 1\nv 0 0 1\nv -2.7e-16 0 0\nf 2 3 4\nf 5 6 7\n";

const SHELL: &str = "[materials.m]\nshell = { thickness = \"1 mm\" }\n[[objects]]\nname = \"a\"\nmesh = \"a.obj\"\n\
                     role = \"shell\"\nmaterial = \"m\"\n[objects.regions]\ncorner = { vertices = [0, 5] }\n\
                     [[objects.fixed]]\nvertices = \"corner\"\n";

#[test]
fn points_at_one_place_are_one_vertex() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.obj"), SEAM).unwrap();
    let scene = load(folder.path(), SHELL, &[]).unwrap();
    let body = &scene.definition.bodies[0];
    assert_eq!(body.rest.len(), 4);
    let BodyKind::Shell { triangles, .. } = &body.kind else { panic!() };
    assert_eq!(triangles, &[[0, 1, 2], [2, 3, 0]]);
    // numbers count the points of the file; both mean the same vertex
    assert_eq!(scene.definition.prescribed[0].vertices, [0]);
    assert!(scene.notes.iter().any(|n| n.contains("2 of 7 points")), "{:?}", scene.notes);
    // the scene of the run says it in full, and gives the same again
    let resolved = scene.resolved_toml().unwrap();
    assert!(resolved.contains("weld = true"), "{resolved}");
    assert_eq!(load(folder.path(), &resolved, &[]).unwrap().definition.bodies[0].rest, body.rest);
    let apart = load(folder.path(), SHELL, &["objects.a.weld=false"]).unwrap();
    assert_eq!(apart.definition.bodies[0].rest.len(), 6);
    assert_eq!(apart.definition.prescribed[0].vertices, [0, 5]);
    // a length counts after scaling
    let wide =
        load(folder.path(), SHELL, &["objects.a.weld=1 mm", "objects.a.scale=1e-3"]).unwrap_err();
    assert!(wide.contains("no triangles"), "{wide}");
    for (value, what) in [("-1.0", "0 or more"), ("[1]", "true, false or a length"), ("1 kg", "kg")]
    {
        let message =
            load(folder.path(), SHELL, &[&format!("objects.a.weld={value}")]).unwrap_err();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn rounding_opens_no_holes() {
    let folder = tempfile::tempdir().unwrap();
    // a cube of separate squares, whose corners differ by rounding
    let mut cube = String::new();
    let mut count = 0;
    for (axis, side) in [(0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)] {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for [u, v] in corners {
            count += 1;
            let noise = 2.7e-16 * f64::from(count % 3 - 1);
            let mut p = [0.0; 3];
            (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side + noise, u, v - noise);
            cube += &format!("v {:e} {:e} {:e}\n", p[0], p[1], p[2]);
        }
        let k = count - 3;
        let [a, b, c, d] =
            if side > 0.0 { [k, k + 1, k + 2, k + 3] } else { [k + 3, k + 2, k + 1, k] };
        cube += &format!("f {a} {b} {c} {d}\n");
    }
    std::fs::write(folder.path().join("cube.obj"), cube).unwrap();
    let text = "[[objects]]\nname = \"a\"\nmesh = \"cube.obj\"\nfill = { size = 0.5 }\n";
    for set in [&[][..], &["objects.a.weld=false"]] {
        let scene = load(folder.path(), text, set).unwrap();
        assert!(matches!(scene.definition.bodies[0].kind, BodyKind::Volume { .. }));
    }
}

#[test]
fn rounding_leads_out_of_no_plane() {
    let folder = tempfile::tempdir().unwrap();
    let text = "dimension = 2\n[[objects]]\nmesh = \"a.obj\"\n";
    for (z, flat) in [("1e-17", true), ("-1e-10", true), ("1e-3", false)] {
        let mesh = format!("v 0 0 0\nv 1 0 {z}\nv 0 1 0\nf 1 2 3\n");
        std::fs::write(folder.path().join("a.obj"), mesh).unwrap();
        let scene = load(folder.path(), text, &[]);
        assert_eq!(scene.is_ok(), flat, "{z}");
        let mut points = scene.iter().flat_map(|s| &s.definition.bodies[0].rest);
        assert!(points.all(|p| p.z == 0.0));
    }
}

const HAND: &str = "#usda 1.0\n(\n metersPerUnit = 1\n timeCodesPerSecond = 10\n startTimeCode = 1\n)\n\
    def Mesh \"hand\" {\n int[] faceVertexCounts = [4]\n int[] faceVertexIndices = [0, 3, 2, 1]\n\
    point3f[] points.timeSamples = {\n 1: [(0,0,0),(1,0,0),(1,0,1),(0,0,1)],\n 2: [(0,1,0),(1,1,0),(1,1,1),(0,1,1)],\n }\n}\n";

#[test]
fn obstacles_follow_the_time_samples_of_their_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hand.usda"), HAND).unwrap();
    let text = "time = { step = 0.04, end = 1 }\n[[objects]]\nshape = { kind = \"box\" }\ntranslate = [0, 9, 0]\n\
                [[objects]]\nname = \"hand\"\nmesh = \"hand.usda\"\nrole = \"obstacle\"\nscale = 2\n\
                rotate = [90, 0, 0]\ntranslate = [0, 0, 5]\narray = { counts = [2, 1, 1], spacing = [3, 0, 0] }\n";
    let scene = load(folder.path(), text, &[]).unwrap();
    assert_eq!(scene.definition.prescribed.len(), 2);
    for (copy, prescribed) in scene.definition.prescribed.iter().enumerate() {
        let Motion::Sequence { frames } = &prescribed.motion else { panic!() };
        // the last sample is at 0.1 s, in the third step
        assert_eq!(frames.len(), 3);
        for (k, up) in [0.4, 0.8, 1.0].into_iter().enumerate() {
            // y goes to z, twice as far
            let expected = Vec3::new(2.0 + 3.0 * copy as f64, 0.0, 5.0 + 2.0 * up);
            assert!((frames[k][1] - expected).norm() < 1e-12, "{:?}", frames[k]);
        }
    }
    assert!(scene.notes.iter().any(|n| n.contains("until 0.1 s")), "{:?}", scene.notes);
    let again = load(folder.path(), &scene.resolved_toml().unwrap(), &[]).unwrap();
    let shown = |scene: &Scene| format!("{:?}", scene.definition.prescribed);
    assert_eq!(shown(&again), shown(&scene));
    assert_eq!(again.resolved_toml().unwrap(), scene.resolved_toml().unwrap());
    // what the scene says counts, and what is not followed is said
    let held = load(folder.path(), text, &["objects.hand.fixed=[{}]"]).unwrap();
    assert!(matches!(held.definition.prescribed[0].motion, Motion::Fixed));
    assert!(held.notes.iter().any(|n| n.contains("not followed") && n.contains("sequence")));
}

#[test]
fn selected_vertices_follow_time_samples() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hand.usda"), HAND).unwrap();
    let text = "time = { step = 0.05, end = 1 }\n[materials.m]\nshell = { thickness = \"1 mm\" }\n[[objects]]\n\
                name = \"hand\"\nmesh = \"hand.usda\"\nrole = \"shell\"\nmaterial = \"m\"\n[[objects.motion]]\n\
                vertices = { vertices = [2] }\nsequence = \"hand.usda\"\n";
    let scene = load(folder.path(), text, &[]).unwrap();
    let Motion::Sequence { frames } = &scene.definition.prescribed[0].motion else { panic!() };
    assert_eq!(
        frames.iter().map(|f| f[0]).collect::<Vec<_>>(),
        [Vec3::new(1.0, 0.5, 1.0), Vec3::new(1.0, 1.0, 1.0)]
    );
    let many = load(folder.path(), text, &["time.step=1e-9"]).unwrap_err();
    assert!(many.contains("GB of positions"), "{many}");
    std::fs::write(folder.path().join("a.obj"), "v 0 0 0\n").unwrap();
    let other = load(folder.path(), text, &["objects.hand.motion.0.sequence=a.obj"]).unwrap_err();
    assert!(other.contains("no USD file"), "{other}");
}

#[test]
fn of_two_keys_for_one_quantity_the_later_counts() {
    let folder = Path::new("");
    let text = |contact: &str| {
        format!("contact = {{ {contact} }}\n[[objects]]\nshape = {{ kind = \"box\" }}\n")
    };
    let absolute = text("d_hat = 0.01");
    let scene = load(folder, &absolute, &["contact.d_hat_relative=0.2"]).unwrap();
    assert_eq!((scene.file.contact.d_hat, scene.file.contact.d_hat_relative), (None, 0.2));
    let back =
        load(folder, &absolute, &["contact.d_hat_relative=0.2", "contact.d_hat=3 mm"]).unwrap();
    assert_eq!(back.file.contact.d_hat, Some(0.003));
    let resolved = back.resolved_toml().unwrap();
    assert!(
        !resolved.contains("d_hat_relative") && resolved.contains("stick_speed_relative"),
        "{resolved}"
    );
    assert!(load(folder, &resolved, &[]).is_ok());
    let both = load(folder, &text("d_hat = 0.01, d_hat_relative = 1e-3"), &[]).unwrap_err();
    assert!(both.contains("contact.d_hat_relative") && both.contains("keep one"), "{both}");
    // a preset sets what the scene does not give in either way
    let preset = format!("preset = \"ipc-2020\"\nsolver = {{ end.velocity = 1e-3 }}\n{absolute}");
    assert_eq!(load(folder, &preset, &[]).unwrap().file.solver.end.velocity, Some(1e-3));
}

#[cfg(unix)]
#[test]
fn scenes_and_meshes_without_an_end_are_refused() {
    let message = Scene::load(Path::new("/dev/zero"), &[]).unwrap_err().to_string();
    assert!(message.contains("not a file"), "{message}");
    let text = "[[objects]]\nmesh = \"/dev/zero\"\n";
    let message = load(Path::new(""), text, &[]).unwrap_err();
    assert!(message.contains("not a file") && !message.contains("did you mean"), "{message}");
}
