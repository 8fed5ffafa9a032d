//! Wrong files: one message with file, line and what to do, and no panic.

mod common;

use common::{ELASTIC, bricks, import};
use standoff_inp_import::Import;

const TET: &str =
    "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4, ELSET=EALL\n1,1,2,3,4\n";

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let with = |text: &str| format!("{TET}{ELASTIC}{text}");
    let cases: &[(String, &[&str])] = &[
        (String::new(), &["model.inp", "no element"]),
        ("1, 2\n".into(), &["line 1", "no keyword above"]),
        ("*NODE\n1, 0, x\n".into(), &["line 2", "\"x\" is no finite number"]),
        ("*NODE\n1, 0, inf\n".into(), &["line 2", "no finite number"]),
        ("*NODE\nA, 0\n".into(), &["line 2", "no number of a node"]),
        ("*NODE, SYSTEM=C\n".into(), &["line 1", "rectangular"]),
        ("*ELEMENT\n1, 2\n".into(), &["line 1", "no TYPE="]),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n".into(), &["line 2", "node 1", "*NGEN"]),
        (TET.replace("2,3,4\n", "2,3\n"), &["line 7", "has 3 nodes", "C3D4 has 4"]),
        (TET.replace("1,1,2,3,4\n", "1,1,3,2,4\n") + ELASTIC, &["line 7", "element 1 is inverted"]),
        (TET.replace("1,1,2,3,4\n", "1,1,1,2,2\n") + ELASTIC, &["line 7", "coincide"]),
        (format!("{TET}1,1,2,3,4\n"), &["line 8", "another element 1"]),
        (TET.into(), &["line 7", "element 1 is in no section", "*SOLID SECTION"]),
        (
            format!("{TET}*SOLID SECTION, ELSET=EALL, MATERIAL=X\n"),
            &["line 8", "no material \"X\""],
        ),
        (
            format!("{TET}*SOLID SECTION, ELSET=E, MATERIAL=X\n"),
            &["line 8", "no set of elements \"E\"", "*ELSET"],
        ),
        (with("*MATERIAL, NAME=M\n"), &["line 14", "no elasticity"]),
        (with("*ELASTIC\n0, 0.3\n"), &["line 14", "Young's modulus"]),
        (with("*ELASTIC\n1, 0.5\n"), &["line 14", "less than 0.5"]),
        (with("*ELASTIC, TYPE=ORTHO\n1,\n"), &["line 14", "isotropic"]),
        (with("*HYPERELASTIC, NEO HOOKE\n1, -2\n"), &["line 14", "D1", "must be positive"]),
        (with("*HYPERELASTIC, OGDEN, N=9\n1,\n"), &["line 14", "N=9"]),
        (with("*HYPERELASTIC, YEOH\n1, 2\n"), &["line 14", "2 of 3 constants"]),
        (with("*HYPERELASTIC, TEST DATA INPUT\n"), &["line 14", "standoff fit"]),
        (with("*VISCOELASTIC, TIME=PRONY\n0.6, 0, 1\n0.5, 0, 1\n"), &["line 14", "add up to 1"]),
        (with("*NSET, NSET=A, GENERATE\n1, 2, 0\n"), &["line 15", "GENERATE"]),
        (with("*NSET, NSET=A, GENERATE\n3, 2\n"), &["line 15", "greater than the last"]),
        (with("*NSET, NSET=A\nB\n"), &["line 15", "no set of nodes \"B\""]),
        (with("*NSET, NSET=A, INSTANCE=B\n1\n"), &["line 15", "no instance \"B\""]),
        (with("*SURFACE, NAME=S\n1, S7\n"), &["line 15", "no face \"S7\"", "S1 to S4"]),
        (with("*BOUNDARY\n9, 1\n"), &["line 15", "no node 9"]),
        (with("*BOUNDARY\n1\n"), &["line 15", "direction is missing"]),
        (with("*CLOAD\n1, 1, 5\n"), &["line 14", "in no step"]),
        (with("*STEP\n*CLOAD\n1, 1\n"), &["line 16", "field 3 is missing"]),
        (with("*STEP\n*CLOAD, AMPLITUDE=A\n1, 1, 1\n"), &["line 15", "no amplitude \"A\""]),
        (with("*AMPLITUDE, NAME=A\n1, 1, 0, 1\n"), &["line 14", "ascending"]),
        (with("*STEP\n*DLOAD\n1, GRAV, 9.81\n"), &["line 16", "no direction"]),
        (with("*STEP\n*DSLOAD\nS, P, 1\n"), &["line 16", "no surface \"S\""]),
        (with("*STEP\n*STATIC\n"), &["line 14", "no end", "*END STEP"]),
        ("*INSTANCE, NAME=I, PART=P\n".into(), &["line 1", "no part \"P\""]),
        ("*INCLUDE, INPUT=../secret.inp\n".into(), &["line 1", "not in the folder"]),
        ("*INCLUDE, INPUT=/etc/passwd\n".into(), &["line 1", "not in the folder"]),
        ("*INCLUDE, INPUT=none.inp\n".into(), &["line 1", "cannot read", "none.inp"]),
        ("*INCLUDE, INPUT=model.inp\n".into(), &["line 1", "more than 16 deep"]),
    ];
    for (text, parts) in cases {
        let message = import(text).unwrap_err();
        for part in *parts {
            assert!(message.contains(part), "{part}: {message}\n{text}");
        }
        assert!(!message.contains('\n') && message.starts_with(['m', 'c']), "{message}");
    }
}

/// Two materials in one shell cannot be said by a scene.
#[test]
fn a_shell_of_two_materials_is_refused() {
    let text = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 2, 0, 0\n6, 2, 1, 0\n\
        *ELEMENT, TYPE=S4, ELSET=A\n1, 1, 2, 3, 4\n*ELEMENT, TYPE=S4, ELSET=B\n2, 2, 5, 6, 3\n\
        *SHELL SECTION, ELSET=A, MATERIAL=M\n0.01\n*SHELL SECTION, ELSET=B, MATERIAL=N\n0.01\n\
        *MATERIAL, NAME=M\n*ELASTIC\n1, 0\n*MATERIAL, NAME=N\n*ELASTIC\n2, 0\n";
    let message = import(text).unwrap_err();
    for part in ["A and B share nodes", "differ in material", "one material"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn files_include_files_of_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(folder.path().join("parts/tet.msh"), TET).unwrap();
    let file = folder.path().join("model.inp");
    std::fs::write(&file, format!("*include,\n input=\"parts/tet.msh\"\n{ELASTIC}*odd\n")).unwrap();
    let output = folder.path().join("out.toml");
    let import = Import::load(&file, &output).unwrap();
    assert_eq!(import.meshes.len(), 1);
    assert!(
        import.notes.iter().any(|n| n == "line 9: *ODD is not converted"),
        "{:?}",
        import.notes
    );
    // what is wrong in an included file is said with its name
    std::fs::write(folder.path().join("parts/tet.msh"), TET.replace("0,1\n", "0,?\n")).unwrap();
    let message = Import::load(&file, &output).unwrap_err().to_string();
    assert!(message.contains("tet.msh, line 5"), "{message}");
}

/// A file with most keywords.
fn everything() -> String {
    let block = bricks([2, 2, 2], [1.0, 1.0, 1.0]);
    format!(
        "*HEADING\nall\n{block}{ELASTIC}*PLASTIC\n1e4, 0\n2e4, 0.1\n*VISCOELASTIC, TIME=PRONY\n0.1, 0, 1\n\
         *MATERIAL, NAME=R\n*HYPERELASTIC, OGDEN, N=2\n1, 2, 3, 4, 5, 6\n*ELSET, ELSET=TOP, GENERATE\n5, 8, 1\n\
         *SURFACE, NAME=S, TYPE=ELEMENT\nTOP, S2\n*SURFACE, NAME=N, TYPE=NODE\nZ0\n*AMPLITUDE, NAME=A\n0, 0, 1, 1\n\
         *SURFACE INTERACTION, NAME=I\n*FRICTION\n0.2\n*CONTACT PAIR, INTERACTION=I\nS, N\n*BOUNDARY\nX0, XSYMM\nZ0, 1, 3\n\
         *STEP, NLGEOM\n*STATIC\n0.1, 1\n*CLOAD, AMPLITUDE=A\nZTOP, 1, 2.\n*DLOAD\nEALL, GRAV, 9.81, 0, 0, -1\nTOP, P2, 5\n\
         *DSLOAD\nS, P, 3\n*BOUNDARY\n27, 3, 3, 0.1\n*END STEP\n*PART, NAME=P\n{TET}*END PART\n\
         *INSTANCE, NAME=I, PART=P\n1, 2, 3\n0, 0, 0, 1, 1, 1, 30\n*END INSTANCE\n*SOLID SECTION, ELSET=I.EALL, MATERIAL=R\n"
    )
}

/// Truncations, lost lines and damaged bytes lead to an import or to a message.
#[test]
fn damaged_files_do_not_panic() {
    let good = everything();
    assert!(import(&good).is_ok(), "{:?}", import(&good).err());
    for end in (0..good.len()).step_by(7) {
        let _ = import(&good[..end]);
    }
    let lines: Vec<&str> = good.lines().collect();
    for lost in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(i, _)| *i != lost);
        let _ = import(&kept.map(|(_, l)| *l).collect::<Vec<_>>().join("\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.inp");
    let mut state = 1_u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % n
    };
    let damage = b"*,=.\n-0129eEDP\xff\" ";
    for _ in 0..600 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..1 + random(6) {
            let at = random(bytes.len());
            bytes[at] = damage[random(damage.len())];
        }
        std::fs::write(&file, &bytes).unwrap();
        let _ = Import::load(&file, &folder.path().join("scene.toml"));
    }
}
