//! What shells and manuals know of the command, and what a slip of the pen was meant to be.

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output::Console;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs, console: &mut Console) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "standoff", &mut script);
    console.say(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

/// Writes `standoff.1`, `standoff-run.1` and so on.
pub fn man(args: &ManArgs, console: &mut Console) -> Result<(), Failure> {
    let failed = |e| Failure::Result(format!("{}: {e}", args.folder.display()));
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(Args::command().disable_help_subcommand(true), &args.folder)
        .map_err(failed)?;
    console.say(args.folder.display());
    Ok(())
}

/// Adds the nearest command to the message about one that does not exist, where clap finds none: it does not see that `rnu`
/// are the letters of `run`.
pub fn suggest(error: &mut clap::Error) {
    if error.kind() != ErrorKind::InvalidSubcommand
        || error.get(ContextKind::SuggestedSubcommand).is_some()
    {
        return;
    }
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let distance = |name: &str| strsim::damerau_levenshtein(name, written);
    let command = Args::command();
    let names = command.get_subcommands().map(|c| c.get_name().to_owned());
    let nearest = names.min_by_key(|name| distance(name)).filter(|name| distance(name) <= 2);
    if let Some(name) = nearest {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![name]));
    }
}
