//! What a run of a scene must show: what the tables mean, and what becomes of them in the scene that a run writes.

use standoff_scene::Scene;
use standoff_scene::file::{Axis, Measure, Quantity};
use standoff_scene::resolve::When;
use std::path::Path;

const SCENE: &str = r#"
time = { step = 0.1, end = 1.0 }
[[objects]]
name = "card"
shape = { kind = "box" }
array = { counts = [2, 1, 3], spacing = [2, 0, 2] }
[objects.regions]
top = { box = { min = [0, 1, 0], max = [1, 1, 1], relative = true } }
[[objects]]
name = "ball"
shape = { kind = "box" }
translate = [0, 9, 0]
"#;

fn parse(tables: &str, set: &[String], steps: Option<u64>) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, format!("{SCENE}{tables}")).unwrap();
    Scene::load_steps(&path, set, steps).unwrap()
}

#[test]
fn a_name_is_an_object_a_copy_or_some_copies() {
    let bodies = |object: &str| -> Vec<usize> {
        let table = format!(
            "[[expect]]\nshows = \"a\"\nobject = {object}\nvalue = \"lowest.y\"\nbelow = 1"
        );
        let scene = parse(&table, &[], None);
        let subjects = &scene.expectations[0].subjects;
        subjects.iter().flat_map(|s| s.pieces.iter().map(|p| p.body)).collect()
    };
    assert_eq!(bodies("\"card\""), [0, 1, 2, 3, 4, 5]);
    assert_eq!(bodies("\"card[1,0,2]\"").len(), 1);
    assert_eq!(bodies("\"card[*,0,2]\"").len(), 2);
    assert_eq!(bodies("\"card[0, *, *]\"").len(), 3);
    assert_eq!(bodies("[\"ball\", \"card[*,*,*]\"]"), [6, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn units_times_and_differences_are_resolved() {
    let table = r#"
[[expect]]
shows = "the top of the ball stays above the cards"
object = "card[0,0,*]"
vertices = "top"
value = "highest.y"
minus = { object = "ball", value = "lowest.y" }
when = "every"
since = "200 ms"
at_least = 2
above = "-1 km"
below = "-10 cm"
"#;
    let scene = parse(table, &[], None);
    let [expectation] = &scene.expectations[..] else { panic!("{:?}", scene.expectations) };
    assert_eq!(expectation.quantity, Quantity::OfObject(Measure::Highest(Axis::Y)));
    assert_eq!(expectation.when, When::Every(0.2));
    assert_eq!((expectation.above, expectation.below), (Some(-1000.0), Some(-0.1)));
    assert_eq!((expectation.at_least, expectation.end), (Some(2), 1.0));
    for subject in &expectation.subjects {
        assert_eq!(subject.pieces[0].vertices.as_ref().map(Vec::len), Some(4));
        let minus = subject.minus.as_ref().unwrap();
        assert_eq!((minus.measure, minus.name.as_str()), (Measure::Lowest(Axis::Y), "ball"));
        assert_eq!(minus.pieces[0].body, 6);
    }
    // together they are one
    let set = ["expect.0.together=true", "expect.0.at_least=1"].map(str::to_owned);
    let scene = parse(table, &set, None);
    assert_eq!(scene.expectations[0].subjects.len(), 1);
    assert_eq!(scene.expectations[0].subjects[0].pieces.len(), 3);
    assert!(parse(table, &["expect=unset".to_owned()], None).expectations.is_empty());
}

/// The end is that of the scene, whatever the number of steps; a scene that a shorter run writes has only what the run reaches.
#[test]
fn a_shorter_run_keeps_what_it_reaches() {
    let table = |value: &str, when: &str| {
        format!("[[expect]]\nshows = \"a\"\n{value}\nbelow = 1\nwhen = {when}\n")
    };
    let ball = "object = \"ball\"\nvalue = \"lowest.y\"";
    let tables: String = ["\"end\"", "0.3", "0.6", "\"least\""].map(|w| table(ball, w)).concat();
    let whole = parse(&tables, &[], None);
    assert_eq!(whole.expectations[0].when, When::At(1.0));
    let name = Path::new("scene.resolved.toml");
    let again = |scene: &Scene| {
        let text = scene.resolved_toml().unwrap();
        Scene::parse(&text, name, Path::new(""), &[]).unwrap()
    };
    assert_eq!(again(&whole).expectations, whole.expectations);
    let short = parse(&tables, &[], Some(4));
    assert_eq!(short.steps(), 4);
    assert_eq!(short.expectations, whole.expectations);
    let written = again(&short);
    let when: Vec<When> = written.expectations.iter().map(|e| e.when).collect();
    assert_eq!(when, [When::At(0.3)]);
    // a longer run keeps the end of the scene
    let written = again(&parse(&tables, &[], Some(20)));
    assert_eq!(written.expectations[0].when, When::At(1.0));
    assert_eq!(written.expectations.len(), 4);
}
