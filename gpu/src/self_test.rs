//! Whether a device computes right: fixed operands, compared with the processor bit for bit.
//!
//! Vulkan promises less of 64-bit floats than IEEE 754 does: quotients and roots may be off by some units in the last place,
//! numbers below the normal ones may count as zero, and a product and a sum may be rounded once instead of twice. The
//! first is refused; the other two leave every result within its bound, and are noted.

use bytemuck::cast_slice;
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

use crate::adapters::WORKGROUP;
use crate::bytes::numbers;
use crate::error::DeviceError;
use crate::handle::{Handle, bind, launch};
use crate::operands::{TREE_VALUES, operands, tree_values};
use crate::programs::compile;

/// The programs of the test.
pub(crate) const PROGRAM: &str = include_str!("self_test.wgsl");

/// How a device rounds, where IEEE 754 leaves no choice but Vulkan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arithmetic {
    /// Whether a b + c was rounded once somewhere, as one operation.
    pub fuses: bool,
    /// Whether numbers below the normal ones are kept; otherwise they count as zero.
    pub keeps_subnormals: bool,
    /// How many results were compared.
    pub compared: usize,
}

/// An operation on three operands.
struct Operation {
    name: &'static str,
    exact: fn(f64, f64, f64) -> f64,
    /// With one rounding instead of two, where there are two.
    fused: Option<fn(f64, f64, f64) -> f64>,
}

/// In the order of the results of the program.
const OPERATIONS: [Operation; 7] = [
    Operation { name: "the sum a + b", exact: |a, b, _| a + b, fused: None },
    Operation { name: "the difference a - b", exact: |a, b, _| a - b, fused: None },
    Operation { name: "the product a b", exact: |a, b, _| a * b, fused: None },
    Operation { name: "the quotient a / b", exact: |a, b, _| a / b, fused: None },
    Operation { name: "the root of |a|", exact: |a, _, _| a.abs().sqrt(), fused: None },
    Operation {
        name: "the product and sum a b + c",
        exact: |a, b, c| a * b + c,
        fused: Some(|a, b, c| a.mul_add(b, c)),
    },
    Operation {
        name: "the comparison a > b",
        exact: |a, b, _| f64::from(u8::from(a > b)),
        fused: None,
    },
];

/// Runs the test with the given programs.
///
/// # Errors
/// A program that does not compile, a wrong result, a device that fails.
pub(crate) fn run(handle: &Handle, source: &str) -> Result<Arithmetic, DeviceError> {
    let [operations, sums] = compile(handle, "self_test", source, ["operations", "sums"])?;
    let test = Test::new(handle)?;
    let n = test.operands.len();
    let results = test.launch(handle, &operations, n, OPERATIONS.len() * n)?;
    let mut arithmetic =
        Arithmetic { fuses: false, keeps_subnormals: true, compared: results.len() };
    for (operation, found) in OPERATIONS.iter().zip(results.chunks(n)) {
        for (operands, found) in test.operands.iter().zip(found) {
            judge(operation, *operands, *found, &mut arithmetic)
                .map_err(|expected| wrong(handle, operation.name, *operands, expected, *found))?;
        }
    }
    let sums = test.launch(handle, &sums, TREE_VALUES, TREE_VALUES)?;
    for (values, found) in
        tree_values().chunks(WORKGROUP as usize).zip(sums.chunks(WORKGROUP as usize))
    {
        let expected = tree(values);
        if let Some(found) = found.iter().find(|f| f.to_bits() != expected.to_bits()) {
            let ends = [values[0], values[1], values[values.len() - 1]];
            return Err(wrong(handle, "a tree of sums", ends, expected, *found));
        }
    }
    arithmetic.compared += TREE_VALUES;
    Ok(arithmetic)
}

/// The sum of 256 values, halves added to halves.
fn tree(values: &[f64]) -> f64 {
    let mut leaves = values.to_vec();
    while leaves.len() > 1 {
        let upper = leaves.split_off(leaves.len() / 2);
        leaves.iter_mut().zip(upper).for_each(|(a, b)| *a += b);
    }
    leaves.first().copied().unwrap_or(0.0)
}

/// Notes how a result is rounded; the right result where it is wrong.
fn judge(
    operation: &Operation,
    [a, b, c]: [f64; 3],
    found: f64,
    arithmetic: &mut Arithmetic,
) -> Result<(), f64> {
    let same = |x: f64| x.to_bits() == found.to_bits() || x.is_nan() && found.is_nan();
    let expected = (operation.exact)(a, b, c);
    if same(expected) {
        return Ok(());
    }
    if operation.fused.is_some_and(|fused| same(fused(a, b, c))) {
        arithmetic.fuses = true;
        return Ok(());
    }
    let flushed = (operation.exact)(flush(a), flush(b), flush(c));
    let through_product = flush(flush(a) * flush(b)) + flush(c);
    let also = operation.fused.is_some() && flush(through_product) == found;
    if [a, b, c, expected, a * b].iter().any(|x| x.is_subnormal())
        && (flush(flushed) == found || also)
    {
        arithmetic.keeps_subnormals = false;
        return Ok(());
    }
    Err(expected)
}

/// Zero for a number below the normal ones.
fn flush(x: f64) -> f64 {
    if x.is_subnormal() { 0.0 } else { x }
}

fn wrong(
    handle: &Handle,
    operation: &'static str,
    [a, b, c]: [f64; 3],
    expected: f64,
    found: f64,
) -> DeviceError {
    DeviceError::Arithmetic {
        device: handle.name.clone(),
        operation,
        operands: format!("{a:e}, {b:e}, {c:e}"),
        expected: format!("{expected:e}"),
        found: format!("{found:e}"),
    }
}

/// The operands and results on the device.
struct Test {
    operands: Vec<[f64; 3]>,
    results: Buffer,
    copy: Buffer,
    arrays: BindGroup,
    /// For the sums, with their values in the place of the third operands.
    arrays_of_sums: BindGroup,
}

impl Test {
    fn new(handle: &Handle) -> Result<Self, DeviceError> {
        let operands = operands();
        let upload = |values: &[f64]| {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
            let array = handle.array("self-test", 8 * values.len() as u64, usage)?;
            handle.queue.write_buffer(&array, 0, cast_slice(values));
            Ok::<_, DeviceError>(array)
        };
        let column = |k: usize| upload(&operands.iter().map(|o| o[k]).collect::<Vec<_>>());
        let columns = [column(0)?, column(1)?, column(2)?];
        let of_sums = upload(&tree_values())?;
        let bytes = 8 * (OPERATIONS.len() * operands.len()).max(TREE_VALUES) as u64;
        let results =
            handle.array("self-test", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC)?;
        let copy =
            handle.array("self-test", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let mut idle = Vec::new();
        for _ in 0..4 {
            idle.push(handle.array("self-test", 8, BufferUsages::STORAGE)?);
        }
        let [i0, i1, i2, i3] = [&idle[0], &idle[1], &idle[2], &idle[3]];
        let [a, b, c] = &columns;
        let arrays = bind(handle, [a, b, c, &results, i0, i1, i2, i3]);
        let arrays_of_sums = bind(handle, [a, b, &of_sums, &results, i0, i1, i2, i3]);
        Ok(Self { operands, results, copy, arrays, arrays_of_sums })
    }

    /// Launches a program on so many threads and reads so many results.
    fn launch(
        &self,
        handle: &Handle,
        program: &ComputePipeline,
        threads: usize,
        results: usize,
    ) -> Result<Vec<f64>, DeviceError> {
        let bytes = 8 * results as u64;
        let arrays = if results == TREE_VALUES { &self.arrays_of_sums } else { &self.arrays };
        let mut commands = handle.commands();
        let mut pass = commands.begin_compute_pass(&Default::default());
        launch(&mut pass, program, arrays, (threads as u32).div_ceil(WORKGROUP));
        drop(pass);
        commands.copy_buffer_to_buffer(&self.results, 0, &self.copy, 0, bytes);
        handle.submit(commands);
        Ok(numbers(&handle.read(&self.copy, bytes)?, f64::from_ne_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::adapters;

    /// A device, or the reason why the test is not run.
    fn handle() -> Option<Handle> {
        match adapters().into_iter().find(|(info, _)| info.lacks.is_none()) {
            Some((info, adapter)) => Some(Handle::open(&info, &adapter, u64::MAX).unwrap()),
            None => {
                standoff_testkit::not_run("no graphics processor with 64-bit floats");
                None
            }
        }
    }

    /// What is wrong in the program is found and named.
    #[test]
    fn every_operation_that_is_wrong_is_named() {
        let Some(handle) = handle() else { return };
        let sound = run(&handle, PROGRAM).unwrap();
        assert!(sound.compared > 60_000, "{sound:?}");
        for (right, sabotaged, name) in [
            ("= a + b;", "= a + b * 1.0000000000000002lf;", "the sum a + b"),
            ("= a - b;", "= b - a;", "the difference a - b"),
            ("= a * b;", "= f64(f32(a)) * b;", "the product a b"),
            ("= a / b;", "= a * (1.0lf / b);", "the quotient a / b"),
            ("= sqrt(abs(a));", "= f64(sqrt(f32(abs(a))));", "the root of |a|"),
            ("= a * b + c;", "= a * b + f64(f32(c));", "the product and sum a b + c"),
            ("if a > b {", "if !(a <= b) {", "the comparison a > b"),
            ("half = half / 2u", "half = half - 1u", "a tree of sums"),
        ] {
            assert!(PROGRAM.contains(right), "{right}");
            let error = run(&handle, &PROGRAM.replace(right, sabotaged)).unwrap_err();
            match error {
                DeviceError::Arithmetic { operation, .. } => assert_eq!(operation, name),
                other => panic!("{name}: {other}"),
            }
        }
    }

    /// A device that rounds a product and a sum once is used, and this is noted; one that rounds otherwise is not used.
    #[test]
    fn a_fused_product_and_sum_is_noted() {
        let mut noted = Arithmetic { fuses: false, keeps_subnormals: true, compared: 0 };
        let operation = &OPERATIONS[5];
        let [a, b] = [1.0 + f64::EPSILON, 1.0 - f64::EPSILON];
        judge(operation, [a, b, -1.0], a * b - 1.0, &mut noted).unwrap();
        assert!(!noted.fuses);
        judge(operation, [a, b, -1.0], a.mul_add(b, -1.0), &mut noted).unwrap();
        assert!(noted.fuses && noted.keeps_subnormals);
        judge(operation, [a, b, -1.0], f64::EPSILON, &mut noted).unwrap_err();
    }

    /// A device on which numbers below the normal ones count as zero is used, and this is noted.
    #[test]
    fn subnormal_numbers_that_count_as_zero_are_noted() {
        let mut noted = Arithmetic { fuses: false, keeps_subnormals: true, compared: 0 };
        let product = &OPERATIONS[2];
        judge(product, [1e-200, 1e-110, 0.0], 1e-310, &mut noted).unwrap();
        assert!(noted.keeps_subnormals);
        judge(product, [1e-200, 1e-110, 0.0], 0.0, &mut noted).unwrap();
        assert!(!noted.keeps_subnormals);
        judge(product, [1e-200, 1e-100, 0.0], 0.0, &mut noted).unwrap_err();
    }

    /// A program that does not compile is an error that names it.
    #[test]
    fn a_program_that_does_not_compile_is_refused() {
        let Some(handle) = handle() else { return };
        for broken in ["fn operations( {", &PROGRAM.replace("fn sums", "fn differences")] {
            let error = run(&handle, broken).unwrap_err();
            assert!(matches!(error, DeviceError::Program { program: "self_test", .. }), "{error}");
        }
    }
}
