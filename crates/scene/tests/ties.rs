//! Ties in scene files.

use standoff_scene::Scene;
use std::path::Path;

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).map_err(|e| e.to_string())
}

/// Two blocks of 1 m, the second above the first by `gap`, and a tie with more keys.
fn glued(gap: &str, keys: &str) -> String {
    format!(
        "[[objects]]\nname = \"lower\"\nshape = {{ kind = \"box\", cells = [2, 2, 2] }}\n\
         regions = {{ top = {{ box = {{ min = [0, 1, 0], max = [1, 1, 1], relative = true }} }} }}\n\
         [[objects]]\nname = \"upper\"\nshape = {{ kind = \"box\", cells = [3, 3, 3] }}\n\
         translate = [0, \"{gap}\", 0]\n[[ties]]\n{keys}\n"
    )
}

#[test]
fn the_finer_object_is_tied() {
    let scene = parse(&glued("1 m", "objects = [\"lower\", \"upper\"]")).unwrap();
    assert_eq!(scene.definition.ties[0].name, "tie-0");
    let found = scene.definition.ties[0].found(&scene.definition).unwrap();
    assert_eq!(found.bodies, [1, 0]);
    assert!(found.vertices >= 16 && found.distance < 1e-12, "{found:?}");
    let note = scene.notes.iter().find(|n| n.contains("follow the elements of 'lower'"));
    assert!(note.is_some(), "{:?}", scene.notes);
    // the choice of vertices says which is tied
    let keys = "objects = [\"lower\", \"upper\"]\nvertices = \"top\"\nname = \"glue\"";
    let scene = parse(&glued("1 m", keys)).unwrap();
    assert_eq!(scene.definition.ties[0].found(&scene.definition).unwrap().bodies, [0, 1]);
}

#[test]
fn wrong_ties_are_refused_where_they_stand() {
    let both = "objects = [\"lower\", \"upper\"]";
    for (gap, keys, words) in [
        ("1.2 m", both, &["ties", "tie 'tie-0'", "2.000e-1 m"][..]),
        ("1 m", "objects = [\"lower\", \"uper\"]", &["uper", "upper"]),
        ("1 m", "objects = [\"lower\", \"lower\"]", &["to itself"]),
        ("1 m", "objects = [\"lower\", \"upper\"]\ntolerance = -1", &["tolerance", "positive"]),
        ("1 m", "objects = [\"lower\", \"upper\"]\ntolerance = \"2 kg\"", &["tolerance"]),
        ("1 m", "objects = [\"lower\", \"upper\"]\nvertices = \"tpo\"", &["tpo", "top"]),
        ("1 m", "objects = [\"lower\"]", &["objects"]),
        ("1 m", "objects = [\"lower\", \"upper\"]\nsoft = true", &["soft"]),
    ] {
        let error = parse(&glued(gap, keys)).expect_err(keys);
        assert!(error.contains("scene.toml"), "{error}");
        for word in words {
            assert!(error.contains(word), "'{error}' lacks '{word}'");
        }
    }
}
