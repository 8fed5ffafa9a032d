//! A linear system in the memory of a device.

use std::sync::Arc;

use bytemuck::cast_slice;
use standoff_linalg::Vec3;
use standoff_sparse::{BlockMatrix, BlockPattern};
use wgpu::{BindGroup, Buffer, BufferUsages};

use crate::adapters::WORKGROUP;
use crate::bytes::numbers;
use crate::error::DeviceError;
use crate::handle::{Handle, bind};
use crate::traffic::Traffic;

/// Bytes of `Scalars` and of `Control` in the program.
const SCALARS: u64 = 64;
const CONTROL: u64 = 24;

/// No row, where a row is named.
const NONE: u32 = u32::MAX;

/// What the program says of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Progress {
    pub(crate) state: State,
    pub(crate) iterations: u32,
    pub(crate) relative_residual: f64,
    /// The product that should have been positive.
    pub(crate) curvature: f64,
}

/// Whether the program goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Converged,
    Exhausted,
    NotPositive,
    /// The diagonal block of this row is not positive definite.
    IndefiniteBlock(u32),
}

/// The arrays of a system, for matrices of one pattern.
#[derive(Debug)]
pub(crate) struct System {
    pattern: Arc<BlockPattern>,
    /// In the order of the program.
    arrays: [Buffer; 8],
    bound: BindGroup,
    /// Where the processor reads from: scalars and control, and x.
    report: Buffer,
    solution: Buffer,
}

impl System {
    /// Makes room for matrices of a pattern and uploads its index.
    ///
    /// # Errors
    /// More rows or blocks than the program can number, too little memory.
    pub(crate) fn new(
        handle: &Handle,
        pattern: &Arc<BlockPattern>,
        traffic: &mut Traffic,
    ) -> Result<Self, DeviceError> {
        let (n, blocks) = (pattern.n() as u64, pattern.block_count() as u64);
        let threads = handle.device.limits().max_compute_workgroups_per_dimension;
        check("block rows", n, u64::from(WORKGROUP) * u64::from(threads))?;
        check("blocks", blocks, u64::from(u32::MAX / 9))?;
        let to = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let both = to | BufferUsages::COPY_SRC;
        let array = |what, bytes, usage| handle.array(what, bytes, usage);
        let arrays = [
            array("blocks of the matrix", 72 * blocks, to)?,
            array("rows of the matrix", 4 * (n + 1), to)?,
            array("index of the matrix", 8 * (2 * blocks - n), to)?,
            array("preconditioner", 48 * n, BufferUsages::STORAGE)?,
            array("vectors", 6 * 24 * n, both)?,
            array("sums", 24 * n.div_ceil(WORKGROUP.into()), BufferUsages::STORAGE)?,
            array("scalars", SCALARS, both)?,
            array("control", CONTROL, both)?,
        ];
        let from = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let report = array("report", SCALARS + CONTROL, from)?;
        let solution = array("solution", 24 * n, from)?;
        let bound = bind(handle, arrays.each_ref());
        let system = Self { pattern: pattern.clone(), arrays, bound, report, solution };
        let (start, entries) = index(pattern);
        system.upload(handle, 1, 0, cast_slice(&start), traffic);
        system.upload(handle, 2, 0, cast_slice(&entries), traffic);
        Ok(system)
    }

    /// Whether matrices of this pattern fit as they are.
    pub(crate) fn fits(&self, pattern: &Arc<BlockPattern>) -> bool {
        Arc::ptr_eq(&self.pattern, pattern) || self.pattern == *pattern
    }

    pub(crate) fn bound(&self) -> &BindGroup {
        &self.bound
    }

    /// Workgroups with a thread for every row.
    pub(crate) fn workgroups(&self) -> u32 {
        (self.pattern.n() as u32).div_ceil(WORKGROUP)
    }

    /// Uploads the blocks of a matrix.
    pub(crate) fn set_matrix(&self, handle: &Handle, a: &BlockMatrix, traffic: &mut Traffic) {
        let blocks: Vec<f64> = a.blocks().iter().flatten().copied().collect();
        self.upload(handle, 0, 0, cast_slice(&blocks), traffic);
        traffic.matrices += 1;
    }

    /// Uploads the right-hand side and where to begin.
    pub(crate) fn set_vectors(&self, handle: &Handle, x: &[Vec3], b: &[Vec3], t: &mut Traffic) {
        let both: Vec<f64> = x.iter().chain(b).flatten().copied().collect();
        self.upload(handle, 4, 0, cast_slice(&both), t);
    }

    /// Uploads when to end.
    pub(crate) fn set_limits(
        &self,
        handle: &Handle,
        tolerance: f64,
        iterations: u32,
        t: &mut Traffic,
    ) {
        let control = [self.pattern.n() as u32, self.workgroups(), iterations, 0, 0, NONE];
        self.upload(handle, 6, 0, cast_slice(&[tolerance]), t);
        self.upload(handle, 7, 0, cast_slice(&control), t);
    }

    fn upload(&self, handle: &Handle, array: usize, at: u64, bytes: &[u8], traffic: &mut Traffic) {
        handle.queue.write_buffer(&self.arrays[array], at, bytes);
        traffic.uploaded += bytes.len() as u64;
    }

    /// Adds to commands that the processor may read how far the program is.
    pub(crate) fn report(&self, commands: &mut wgpu::CommandEncoder) {
        commands.copy_buffer_to_buffer(&self.arrays[6], 0, &self.report, 0, SCALARS);
        commands.copy_buffer_to_buffer(&self.arrays[7], 0, &self.report, SCALARS, CONTROL);
    }

    /// Adds to commands that the processor may read x.
    pub(crate) fn offer_solution(&self, commands: &mut wgpu::CommandEncoder) {
        let bytes = 24 * self.pattern.n() as u64;
        commands.copy_buffer_to_buffer(&self.arrays[4], 0, &self.solution, 0, bytes);
    }

    /// Waits for all commands and reads how far the program is.
    ///
    /// # Errors
    /// A device that failed.
    pub(crate) fn progress(
        &self,
        handle: &Handle,
        traffic: &mut Traffic,
    ) -> Result<Progress, DeviceError> {
        let bytes = handle.read(&self.report, SCALARS + CONTROL)?;
        traffic.round_trips += 1;
        traffic.downloaded += bytes.len() as u64;
        let (scalars, control) = bytes.split_at(SCALARS as usize);
        let scalars = numbers(scalars, f64::from_ne_bytes);
        let control = numbers(control, u32::from_ne_bytes);
        let (Some(&[_, bb, rr, _, curvature, ..]), Some(&[.., iterations, state, indefinite])) =
            (scalars.get(..), control.get(..))
        else {
            return Err(DeviceError::Failed { reason: "its report is too short".into() });
        };
        let state = match state {
            0 => State::Running,
            1 => State::Converged,
            2 => State::Exhausted,
            3 => State::NotPositive,
            4 => State::IndefiniteBlock(indefinite),
            other => {
                return Err(DeviceError::Failed { reason: format!("it reports state {other}") });
            }
        };
        let relative_residual = if bb == 0.0 { 0.0 } else { rr.sqrt() / bb.sqrt() };
        Ok(Progress { state, iterations, relative_residual, curvature })
    }

    /// Reads x, which commands that were waited for have offered.
    ///
    /// # Errors
    /// A device that failed.
    pub(crate) fn solution(
        &self,
        handle: &Handle,
        x: &mut [Vec3],
        traffic: &mut Traffic,
    ) -> Result<(), DeviceError> {
        let bytes = handle.read(&self.solution, 24 * self.pattern.n() as u64)?;
        traffic.downloaded += bytes.len() as u64;
        let values = numbers(&bytes, f64::from_ne_bytes);
        for (x, value) in x.iter_mut().zip(values.chunks_exact(3)) {
            *x = Vec3::from_column_slice(value);
        }
        Ok(())
    }
}

fn check(what: &'static str, asked: u64, available: u64) -> Result<(), DeviceError> {
    if asked <= available { Ok(()) } else { Err(DeviceError::TooLarge { what, asked, available }) }
}

/// Where the entries of each row begin, and of each entry the column and its block; columns ascend within a row.
fn index(pattern: &BlockPattern) -> (Vec<u32>, Vec<[u32; 2]>) {
    let n = pattern.n();
    let mut start = vec![0u32; n + 1];
    for j in 0..n {
        start[j + 1] += pattern.column(j).len() as u32;
        for &row in &pattern.column(j)[1..] {
            start[row as usize + 1] += 1;
        }
    }
    for i in 0..n {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut entries = vec![[0; 2]; 2 * pattern.block_count() - n];
    let mut push = |row: usize, entry: [u32; 2]| {
        entries[next[row] as usize] = entry;
        next[row] += 1;
    };
    // what is left of the diagonal of row j was in columns before j
    for j in 0..n {
        let first = pattern.col_ptr()[j];
        for (k, &row) in (first..).zip(pattern.column(j)) {
            push(j, [row, k]);
            if row as usize != j {
                push(row as usize, [j as u32, k]);
            }
        }
    }
    (start, entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::error::DeviceError;

    /// The arrays take what the documentation says (`docs/src/theory/gpu.md`), and sums of 256 rows and single numbers besides.
    #[test]
    fn arrays_take_220_bytes_per_row() {
        let device = match Device::open() {
            Ok(device) => device,
            Err(DeviceError::NoDevice { found }) => return standoff_testkit::not_run(&found),
            Err(other) => panic!("{other}"),
        };
        let n = 10_000;
        let pairs: Vec<(u32, u32)> =
            (1..n).flat_map(|i| [(i, i - 1), (i, i / 2)]).filter(|(i, j)| i != j).collect();
        let pattern = Arc::new(BlockPattern::from_pairs(n as usize, &pairs).unwrap());
        let (rows, blocks) = (u64::from(n), pattern.block_count() as u64);
        let system = System::new(device.handle(), &pattern, &mut Traffic::default()).unwrap();
        let all = system.arrays.iter().chain([&system.report, &system.solution]);
        let bytes: u64 = all.map(Buffer::size).sum();
        let said = 220 * rows + 72 * blocks + 8 * (2 * blocks - rows);
        assert!((said..said + rows / 8).contains(&bytes), "{bytes} for {said}");
    }
}
