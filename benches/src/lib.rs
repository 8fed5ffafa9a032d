//! Benchmarks of the kernels (`benches`) and tables of solvers (`examples`).
