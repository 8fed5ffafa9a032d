//! Surfaces that *TIE glues.

mod common;

use common::{bricks, import, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;

/// A bar of 1 m × 1 m × 4 m of two parts with 2 × 2 and 3 × 3 bricks across, which `tie` glues, under a tension of 1,000 Pa.
fn bar(tie: &str) -> String {
    let coarse = bricks([2, 2, 4], [1.0, 1.0, 2.0]);
    let fine = bricks([3, 3, 4], [1.0, 1.0, 2.0]);
    let section = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
    format!(
        "*PART, NAME=COARSE\n{coarse}*ELSET, ELSET=LAST, GENERATE\n13, 16\n*SURFACE, NAME=TOP\nLAST, S2\n{section}*END PART\n\
         *PART, NAME=FINE\n{fine}*ELSET, ELSET=FIRST, GENERATE\n1, 9\n*SURFACE, NAME=BOTTOM\nFIRST, S1\n\
         *ELSET, ELSET=LAST, GENERATE\n28, 36\n*SURFACE, NAME=END\nLAST, S2\n{section}*END PART\n\
         *ASSEMBLY, NAME=BAR\n*INSTANCE, NAME=A, PART=COARSE\n*END INSTANCE\n\
         *INSTANCE, NAME=B, PART=FINE\n0, 0, 2\n*END INSTANCE\n{tie}*END ASSEMBLY\n\
         *MATERIAL, NAME=M\n*ELASTIC\n1e6, 0\n*DENSITY\n1000\n\
         *BOUNDARY\nA.Z0, 3\nA.X0, 1\nA.Y0, 2\n\
         *STEP\n*STATIC\n*DSLOAD\nB.END, P, -1000\n*END STEP\n"
    )
}

/// A bar of two meshes that do not match is drawn out as one, by p L/E, whichever of the surfaces is tied to the other. Supports of tied nodes are left out.
#[test]
fn a_tied_bar_is_drawn_out_as_one() {
    let [fine, coarse, nodes] = [
        "*TIE, NAME=T, ADJUST=NO, POSITION TOLERANCE=0.01\nB.BOTTOM, A.TOP\n",
        "*TIE, NAME=T, ADJUST=NO\nA.TOP, B.BOTTOM\n",
        "*TIE, NAME=T, ADJUST=NO\nB.Z0, A.TOP\n",
    ];
    // of the displacement of the end; nodes of a coarse surface load few of those of a fine one
    for (tie, objects, tolerance, allowed) in [
        (fine, "[\"B_EALL\", \"A_EALL\"]", "0.01", 0.012),
        (coarse, "[\"A_EALL\", \"B_EALL\"]", "", 0.035),
        (nodes, "[\"B_EALL\", \"A_EALL\"]", "", 0.012),
    ] {
        let import = import(&bar(tie)).unwrap();
        let text = format!("[[ties]]\nobjects = {objects}\nvertices = ");
        assert!(import.toml.contains(&text), "{}", import.toml);
        assert!(import.toml.contains(&format!("tolerance = {tolerance}")), "{}", import.toml);
        let notes = import.notes.join("\n");
        assert!(!notes.contains("same places") && !notes.contains("TIE"), "{notes}");
        assert!(!notes.contains("held nowhere"), "{notes}");
        let of_tied = notes.contains("A_EALL: supports of tied nodes are left out");
        assert_eq!(of_tied, tie == coarse, "{notes}");
        let scene = scene(&import);
        let time = &scene.definition.settings.time;
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        for _ in 0..(time.end / time.step).round() as usize {
            assert!(simulation.step().unwrap().outcome.is_success());
        }
        let rest: Vec<Vec3> =
            scene.definition.bodies.iter().flat_map(|b| b.rest.iter().copied()).collect();
        let (mut ends, mut worst) = (0, 0.0_f64);
        for (x, now) in rest.iter().zip(simulation.positions()) {
            let expected = 1e-3 * x.z;
            let error = (now.z - x.z - expected).abs();
            worst = worst.max(error / 4e-3);
            ends += usize::from(x.z == 4.0);
        }
        println!("{tie}: {worst}");
        assert!(worst < allowed, "{tie}: {worst}");
        assert_eq!(ends, 49);
    }
}

#[test]
fn what_a_tie_cannot_be_is_said() {
    let fault = import(&bar("*TIE, NAME=T\nB.BOTTOM, NOWHERE\n")).unwrap_err();
    assert!(fault.contains("there is no surface \"NOWHERE\"") && fault.contains("line"), "{fault}");
    let fault = import(&bar("*TIE, NAME=T\nB.BOTTOM\n")).unwrap_err();
    assert!(fault.contains("a tie has the names of two surfaces"), "{fault}");
    let fault = import(&bar("*TIE, NAME=T, POSITION TOLERANCE=-1\nB.BOTTOM, A.TOP\n")).unwrap_err();
    assert!(fault.contains("a tolerance that is not above 0") && fault.contains("line"), "{fault}");
    // the end is two metres away
    let import = import(&bar("*TIE, NAME=T, POSITION TOLERANCE=0.01\nB.END, A.TOP\n")).unwrap();
    let notes = import.notes.join("\n");
    for part in ["the tie of B.END to A.TOP is left out", "(ADJUST=NO)", "same places"] {
        assert!(notes.contains(part), "{notes}");
    }
    assert!(!import.toml.contains("[[ties]]"), "{}", import.toml);
}
