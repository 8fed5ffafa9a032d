//! Whether a run shows what its scene says.

use crate::failure::Failure;
use crate::output::Console;
use standoff::Scene;
use standoff_run::Verdict;
use std::path::Path;

/// Prints every expectation with what was found; fails if one does not hold. With `quiet` only those that do not hold are
/// printed.
pub fn report(
    scene: &Scene,
    folder: &Path,
    quiet: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    let findings =
        standoff_run::expect(scene, folder).map_err(|e| Failure::Result(e.to_string()))?;
    let mut failed = 0;
    for finding in &findings {
        match finding.verdict {
            Verdict::Fails => {
                failed += 1;
                console.complain(format_args!("not shown: {finding}"));
            }
            _ if quiet => {}
            Verdict::Holds => console.say(format_args!("shown: {finding}")),
            Verdict::Open => console
                .say(format_args!("not looked at, because the run ended too early: {finding}")),
        }
    }
    match (failed, findings.len()) {
        (0, 0) if !quiet => console.say("the scene has no [[expect]] tables"),
        (0, _) => {}
        (_, all) => {
            let what = format!("{failed} of {all} expectations do not hold");
            return Err(Failure::Result(what));
        }
    }
    Ok(())
}
