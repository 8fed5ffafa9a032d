//! Scene files, mesh formats, built-in shapes and result files.
