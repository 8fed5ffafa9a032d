//! Runs in the browser: a server over the folder of a run, while it is written or afterwards, and a page
//! that shows it.
//!
//! [`Viewer::start`] serves a folder on a thread of its own. It only reads. What it does not find yet of a
//! run that is about to begin appears in the page when it is there. The page asks twice a second what is
//! new, for the elements once, and for frames one at a time as binary arrays.
//!
//! The page is written in TypeScript in `web/`. `build.rs` has Node.js bundle it, and embeds it in this crate. Without
//! Node.js everything else builds and works, and [`HOW_TO_BUILD`] says what was missing ([`has_page`]).
//!
//! **Server.** hyper, with HTTP/1 alone, on one thread of tokio: the HTTP implementation of most Rust servers, tested
//! against malformed requests and kept up, without a framework on top, of which six addresses need
//! nothing. Smaller servers (tiny_http, rouille) have had no release for years.
//!
//! **Who may ask.** It listens on the loopback interface unless told otherwise, answers `GET` and `HEAD`
//! alone, changes nothing, and refuses requests whose `Host` is neither an IP address nor `localhost` nor
//! the name that it was told to listen on: a foreign site that lets its own name point to this machine gets
//! nothing. No path of the file system is ever made from a request. Nothing is read that is not a regular file inside of
//! the folder, wherever links in it lead, so that a folder from elsewhere can be looked at.
//!
//! **Who may keep it busy.** Of more connections than it holds the one that has been waiting for the longest is closed,
//! never one whose request is being answered; so slow clients cannot keep others out.

mod answer;
mod assets;
mod connections;
mod container;
mod error;
mod failure;
mod folder;
mod host;
mod html;
mod http;
mod listen;
mod skin;
mod state;
mod viewer;

pub use assets::{HOW_TO_BUILD, has_page};
pub use error::ViewError;
pub use html::{HTML_LIMIT, HtmlError, HtmlFile, write_html};
pub use listen::Listen;
pub use viewer::Viewer;
