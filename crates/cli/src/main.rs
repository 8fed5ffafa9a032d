//! The `standoff` command.
fn main() {}
