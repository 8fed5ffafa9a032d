//! Every kind of bad input gives a message that says where it stands and what to do.

#[path = "common/bad_input.rs"]
mod table;

use standoff_scene::Scene;
use std::path::Path;

#[test]
fn messages() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in table::FILES {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    assert!(table::ROWS.len() >= 30);
    let mut faults = String::new();
    for row in table::ROWS {
        let set: Vec<String> = row.set.iter().map(|s| (*s).to_owned()).collect();
        match Scene::parse(row.scene, Path::new("scene.toml"), folder.path(), &set) {
            Ok(_) => faults.push_str(&format!("{}: accepted\n", row.name)),
            Err(error) => {
                let message = error.to_string();
                for part in row.says.iter().filter(|part| !message.contains(**part)) {
                    let name = row.name;
                    faults.push_str(&format!("{name}: lacks `{part}`\n    {message}\n"));
                }
                if !message.starts_with(row.says[0]) {
                    faults.push_str(&format!(
                        "{}: does not begin with its place: {message}\n",
                        row.name
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn missing_scene_file_suggests_a_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two-cubes.toml"), "").unwrap();
    let error = Scene::load(&folder.path().join("two-cube.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("no such file") && error.contains("'two-cubes.toml'"), "{error}");
    std::fs::write(folder.path().join("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    let error = Scene::load(&folder.path().join("binary.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("UTF-8"), "{error}");
}

/// Whatever is nested too deeply for what traverses a document is refused, wherever the levels come from.
#[test]
fn depth_is_bounded() {
    let keys = |n: usize| vec!["a"; n].join(".");
    let lists = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    let tables = |n: usize| format!("{}1{}", "{a=".repeat(n), "}".repeat(n));
    let parse = |text: &str, set: &[String]| {
        Scene::parse(text, Path::new("scene.toml"), Path::new(""), set).unwrap_err().to_string()
    };
    for n in [81, 30_000] {
        for set in [format!("{}=1", keys(n)), format!("a{}=1", "[0]".repeat(n))] {
            let said = parse("", &[set]);
            assert!(said.contains("parts, more than the 80 that are read"), "{said}");
            assert!(said.len() < 1000, "{}", said.len());
        }
        let deep = [
            format!("{}=1", keys(n)),
            format!("[{}]\nx=1", keys(n)),
            format!("[[{}]]\nx=1", keys(n)),
            format!("a={}", lists(n)),
            format!("a={}", tables(n)),
        ];
        for text in deep {
            let said = parse(&text, &[]);
            assert!(said.contains("nested deeper than 80 levels"), "{said}");
        }
        for value in [lists(n), tables(n)] {
            let said = parse("", &[format!("a={value}")]);
            assert!(said.contains("nested deeper than 80 levels"), "{said}");
        }
    }
    // what comes together from levels that are each allowed is traversed
    let text = format!("[{}]\n{}={}", keys(79), keys(79), lists(79));
    let said = parse(&text, &[format!("{}={}", keys(79), tables(79))]);
    assert!(said.contains("unknown key 'a'"), "{said}");
}
