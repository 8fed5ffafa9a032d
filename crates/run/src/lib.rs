//! Runs in a folder: `frames/*.vtu`, `run.pvd`, `surface/*.obj`, `carried/*.vtu`, `stats.jsonl`,
//! `scene.resolved.toml`, `run.json`, checkpoints and the report of a failed step.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! [`run`] simulates a scene into a folder, [`resume`] continues a run that was stopped,
//! [`Recording`] does the same for steps that the caller does,
//! [`audit()`] checks the frames of one again, and [`check()`] says whether a scene can start.
//!
//! Every file appears complete or not at all: it is written beside its place and renamed. Only
//! `stats.jsonl` grows, by one whole line per step.

mod arrays;
mod atomic;
mod audit;
mod carried;
mod check;
mod checkpoint;
mod checksum;
mod energy;
mod error;
mod expect;
mod failure;
mod files;
mod fingerprint;
mod folder;
mod frame;
mod gap;
mod info;
mod measured;
mod memory;
mod recording;
mod resume;
mod run;
mod statistics;
mod summary;
mod surface;
mod topology;
mod vtu;

pub use arrays::{ArrayInfo, FrameFile, Location};
pub use atomic::write_atomically;
pub use audit::{AuditReport, FrameFaults, audit};

pub use check::{BodyReport, CheckReport, Gap, HalfSpaceGap, IpcBody, Reach, check};
pub use checkpoint::{
    Checkpoint, checkpoint_bytes, parse_checkpoint, read_checkpoint, write_checkpoint,
};
pub use checksum::Integrity;
pub use error::OutputError;
pub use expect::{Finding, Found, Verdict, expect};
pub use failure::{FailureData, write_failure};
pub use files::{existing_scene_file, frame_files, open_file, read_text, scene_file};
pub use fingerprint::fingerprint;
pub use folder::RunFolder;
pub use frame::{Frame, read_elements, read_frame};
pub use gap::Gaps;
pub use info::RunInfo;
pub use memory::memory;
pub use recording::Recording;
pub use resume::ResumePoint;
pub use run::{Event, Options, RunError, Stop, Stopped, resume, resume_by, run, run_by};
pub use statistics::is_being_written;
pub use summary::Summary;
pub use topology::{BodyInfo, HalfSpaceInfo, LimitInfo, Topology};
pub use vtu::{FrameData, write_vtu};
