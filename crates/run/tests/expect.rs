//! Whether a run shows what its scene says.

use standoff_run::{Finding, Options, Verdict, expect, run};
use standoff_scene::Scene;
use std::ops::ControlFlow;
use std::path::Path;

/// A box in free fall for a second: it starts at rest at y = 10 ± 0.5 m.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.1, end = 1.0 }
[[objects]]
name = "box"
shape = { kind = "box" }
translate = [0, 10, 0]
[[objects]]
name = "plate"
role = "obstacle"
shape = { kind = "plane" }
translate = [5, 1, 0]
"#;

/// What was found in a run of `steps` with these tables.
fn found(tables: &[&str], steps: u64) -> Vec<Finding> {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables.iter().map(|table| format!("[[expect]]\nshows = \"a\"\n{table}\n"));
    let text = format!("{SCENE}{}", tables.collect::<String>());
    let file = folder.path().join("scene.toml");
    std::fs::write(&file, text).unwrap();
    let scene = Scene::load_steps(&file, &[], Some(steps)).unwrap();
    let target = folder.path().join("run");
    run(&scene, &target, Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    expect(&scene, &target).unwrap()
}

fn verdicts(tables: &[&str], steps: u64) -> Vec<Verdict> {
    found(tables, steps).iter().map(|f| f.verdict).collect()
}

/// The value that decides the only subject.
fn value(table: &str) -> (f64, f64) {
    let found = found(&[table], 10);
    found[0].found[0].value.unwrap()
}

fn near(a: (f64, f64), value: f64, time: f64) {
    assert!((a.0 - value).abs() < 1e-6 && (a.1 - time).abs() < 1e-9, "{a:?}, {value} at {time} s");
}

#[test]
fn values_are_those_of_free_fall() {
    // implicit Euler: after n steps of h the box has fallen by g h² n (n + 1)/2
    let fallen = |n: f64| 9.81 * 0.01 * n * (n + 1.0) / 2.0;
    let of_box = |rest: &str| format!("object = \"box\"\nabove = -1e9\n{rest}");
    near(value(&of_box("value = \"lowest.y\"")), 9.5 - fallen(10.0), 1.0);
    near(value(&of_box("value = \"highest.y\"\nwhen = \"start\"")), 10.5, 0.0);
    near(value(&of_box("value = \"centre.y\"\nwhen = \"320 ms\"")), 10.0 - fallen(3.0), 0.3);
    near(value(&of_box("value = \"velocity.y\"\nwhen = 0.5")), -4.905, 0.5);
    near(value(&of_box("value = \"velocity\"\nwhen = \"greatest\"")), 9.81, 1.0);
    near(value(&of_box("value = \"fastest\"\nwhen = \"least\"\nsince = 0.4")), 3.924, 0.4);
    near(value(&of_box("value = \"size\"")), 3f64.sqrt(), 1.0);
    near(value(&of_box("value = \"size.z\"\nrelative_to = \"start\"")), 1.0, 1.0);
    near(value(&of_box("value = \"box_volume\"")), 1.0, 1.0);
    near(value(&of_box("value = \"spread\"\nrelative_to = \"start\"")), 1.0, 1.0);
    near(value(&of_box("value = \"touching\"")), 0.0, 1.0);
    let minus = "value = \"lowest.y\"\nminus = { object = \"plate\", value = \"highest.y\" }";
    near(value(&of_box(minus)), 8.5 - fallen(10.0), 1.0);
    let top =
        "vertices = { box = { min = [-1, 10.4, -1], max = [1, 11, 1] } }\nvalue = \"lowest.y\"";
    near(value(&of_box(top)), 10.5 - fallen(10.0), 1.0);
    let (energy, _) = value("value = \"kinetic_energy\"\nabove = 0");
    assert!((energy / (500.0 * 9.81 * 9.81) - 1.0).abs() < 1e-6, "{energy}");
    let relative = "value = \"kinetic_energy\"\nrelative_to = \"greatest\"\nabove = 0.5";
    near(value(relative), 1.0, 1.0);
}

#[test]
fn a_bound_decides() {
    let lowest = "object = \"box\"\nvalue = \"lowest.y\"\n";
    let cases = [
        ("below = 5", true),
        ("below = 4", false),
        ("above = 4\nbelow = 5", true),
        ("above = 4.5", false),
        ("when = \"every\"\nabove = 4", true),
        ("when = \"every\"\nabove = 5", false),
        ("when = \"greatest\"\nabove = 9.4", true),
        ("when = \"least\"\nabove = 9.4", false),
        ("when = \"greatest\"\nsince = 0.5\nabove = 9.4", false),
    ];
    let tables: Vec<String> = cases.iter().map(|(rest, _)| format!("{lowest}{rest}")).collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    for (finding, (rest, holds)) in found(&tables, 10).iter().zip(cases) {
        let expected = if holds { Verdict::Holds } else { Verdict::Fails };
        assert_eq!(finding.verdict, expected, "{rest}: {finding}");
    }
    // nothing was in contact, so that there is no gap that could be too small, and none to be seen
    let gap = "value = \"min_gap\"\nabove = 1\n";
    let every = format!("{gap}when = \"every\"");
    let least = format!("{gap}when = \"least\"");
    assert_eq!(verdicts(&[&every, &least], 10), [Verdict::Holds, Verdict::Fails]);
    // how many of several objects
    let both = "object = [\"box\", \"plate\"]\nvalue = \"highest.y\"\nbelow = 2\n";
    let one = format!("{both}at_least = 1");
    let together = format!("{both}together = true");
    let expected = [Verdict::Fails, Verdict::Holds, Verdict::Fails];
    assert_eq!(verdicts(&[both, &one, &together], 10), expected);
}

/// What a run that was stopped early did not reach is left open, but for what nothing could change any more.
#[test]
fn an_early_end_leaves_open_what_it_did_not_reach() {
    let lowest = |rest: &str| format!("object = \"box\"\nvalue = \"lowest.y\"\n{rest}");
    let cases = [
        ("below = 5", Verdict::Open),
        ("when = 0.5\nbelow = 9", Verdict::Holds),
        ("when = 0.5\nbelow = 8", Verdict::Fails),
        ("when = 0.6\nbelow = 9", Verdict::Open),
        ("when = \"every\"\nabove = 5", Verdict::Open),
        ("when = \"every\"\nabove = 9", Verdict::Fails),
        ("when = \"least\"\nbelow = 9", Verdict::Holds),
        ("when = \"least\"\nbelow = 7", Verdict::Open),
        ("when = \"least\"\nabove = 9", Verdict::Fails),
        ("when = \"greatest\"\nabove = 9", Verdict::Holds),
        ("when = \"greatest\"\nbelow = 20", Verdict::Open),
        ("relative_to = \"greatest\"\nwhen = 0.2\nbelow = 20", Verdict::Open),
    ];
    let tables: Vec<String> = cases.iter().map(|(rest, _)| lowest(rest)).collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    for (finding, (rest, verdict)) in found(&tables, 5).iter().zip(cases) {
        assert_eq!(finding.verdict, verdict, "{rest}: {finding}");
    }
    let text = found(&[tables[0]], 5)[0].to_string();
    assert_eq!(text, "a: lowest.y of 'box' at 1 s was not reached, expected below 5 m");
}

/// The folder has to be that of a run of the scene, and whole.
#[test]
fn another_run_is_refused() {
    let parse = |text: &str| Scene::parse(text, Path::new("s.toml"), Path::new(""), &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut scene = parse(SCENE);
    scene.set_steps(1);
    run(&scene, folder.path(), Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(expect(&scene, folder.path()).unwrap().is_empty());
    let other = parse(&SCENE.replace("\"box\"\nshape", "\"cube\"\nshape"));
    let said = expect(&other, folder.path()).unwrap_err().to_string();
    assert!(said.contains("a run of another scene"), "{said}");
    std::fs::write(folder.path().join("stats.jsonl"), "{}\n").unwrap();
    let said = expect(&scene, folder.path()).unwrap_err().to_string();
    assert!(said.contains("stats.jsonl is damaged"), "{said}");
}
