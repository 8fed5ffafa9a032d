//! `standoff view` and `standoff run --view`.

use crate::args::{ViewArgs, WatchArgs};
use crate::failure::Failure;
use crate::output::Console;
use std::path::Path;

/// Shows a run in the browser until Ctrl-C.
pub fn view(args: &ViewArgs, console: &mut Console) -> Result<(), Failure> {
    // a folder without a run is a slip of the pen
    standoff_run::RunInfo::read(&args.folder).map_err(|e| Failure::Input(e.to_string()))?;
    let server = Server::start(&args.folder, args.listen.as_deref(), console)?;
    console.say("it only reads the folder; Ctrl-C ends it");
    server.until_interrupted()
}

/// What is shown of a run while it goes on, if anything.
pub struct Watch(Option<Server>);

impl Watch {
    pub fn start(args: &WatchArgs, folder: &Path, console: &mut Console) -> Result<Self, Failure> {
        let start = || Server::start(folder, args.listen.as_deref(), console);
        Ok(Self(args.view.then(start).transpose()?))
    }

    /// After the run: its result, once the user has seen enough. A run that never began is not shown.
    pub fn stay(self, result: Result<(), Failure>, console: &mut Console) -> Result<(), Failure> {
        let Some(server) = self.0 else { return result };
        if let Err(failure) = &result {
            if failure.code() == 2 {
                return result;
            }
            failure.print(console);
        }
        console.say("the viewer stays until Ctrl-C");
        server.until_interrupted()?;
        // it has been printed
        result.map_err(|failure| Failure::Reported(failure.code()))
    }
}

#[cfg(feature = "view")]
struct Server(standoff_view::Viewer);

#[cfg(feature = "view")]
impl Server {
    fn start(folder: &Path, listen: Option<&str>, console: &mut Console) -> Result<Self, Failure> {
        use standoff_view::{Listen, ViewError, Viewer};
        let start = || {
            if !standoff_view::has_page() {
                return Err(ViewError::NoPage);
            }
            Viewer::start(folder, &listen.map_or(Ok(Listen::default()), Listen::parse)?)
        };
        let viewer = start().map_err(|e| Failure::Input(e.to_string()))?;
        console.say(format_args!("viewer: {}", viewer.url()));
        Ok(Self(viewer))
    }

    fn until_interrupted(self) -> Result<(), Failure> {
        self.0.until_interrupted().map_err(|e| Failure::Result(e.to_string()))
    }
}

#[cfg(not(feature = "view"))]
struct Server;

#[cfg(not(feature = "view"))]
impl Server {
    fn start(_: &Path, _: Option<&str>, _: &mut Console) -> Result<Self, Failure> {
        let what = "this standoff was built without the viewer; build it with the feature `view`, which is \
                    on by default";
        Err(Failure::Input(what.into()))
    }

    fn until_interrupted(self) -> Result<(), Failure> {
        Ok(())
    }
}
