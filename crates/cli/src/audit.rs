//! `standoff audit`: re-checks the frames of a run.

use crate::args::AuditArgs;
use crate::failure::Failure;
use crate::output::Console;

/// Faults listed per frame; the others are counted.
const LISTED: usize = 10;

/// Re-checks every frame of a run.
pub fn audit(args: &AuditArgs, console: &mut Console) -> Result<(), Failure> {
    let report = standoff_run::audit(&args.folder, &mut |frame| {
        let name = frame.file.display();
        for fault in frame.faults.iter().take(LISTED) {
            console.complain(format_args!("{name}: {fault}"));
        }
        if frame.faults.len() > LISTED {
            console.complain(format_args!("{name}: and {} more", frame.faults.len() - LISTED));
        }
    });
    let report = report.map_err(|e| Failure::Input(e.to_string()))?;
    if report.bad_frames > 0 {
        return Err(Failure::Result(format!(
            "{} violations in {} of {} frames",
            report.faults, report.bad_frames, report.frames
        )));
    }
    let intersections = match report.contact {
        true => "no intersection, ",
        false => "contact was off, ",
    };
    let half_spaces = match report.half_spaces {
        0 => String::new(),
        _ if !report.contact => String::new(),
        1 => ", nothing behind the half-space".to_owned(),
        n => format!(", nothing behind the {n} half-spaces"),
    };
    let inverted = match report.inverted {
        None => "no inverted element".to_owned(),
        Some((count, frames)) => {
            format!("{count} inverted elements in {frames} of them (allowed)")
        }
    };
    console.say(format_args!(
        "{}: {} frames, {intersections}{inverted}{half_spaces}",
        args.folder.display(),
        report.frames
    ));
    Ok(())
}
