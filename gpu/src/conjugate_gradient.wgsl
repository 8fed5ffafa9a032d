// Conjugate gradients with block Jacobi on a symmetric matrix of 3×3 blocks. One thread per block row; every sum over
// the rows goes up one and the same tree, so that its bits are the same in every run.

// stored blocks of the lower triangle, column after column within each
@group(0) @binding(0) var<storage, read> blocks: array<f64>;
// where the entries of each row begin, one more than there are rows
@group(0) @binding(1) var<storage, read> row_start: array<u32>;
// of each row by ascending column: the column, and which block it is; right of the diagonal it counts transposed
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
// K = L⁻¹ of each diagonal block L Lᵀ: k00, k10, k11, k20, k21, k22
@group(0) @binding(3) var<storage, read_write> factors: array<f64>;
// x, b, r, z, p, q, one after another
@group(0) @binding(4) var<storage, read_write> vectors: array<f64>;
// up to three sums of every workgroup
@group(0) @binding(5) var<storage, read_write> partial: array<f64>;
@group(0) @binding(6) var<storage, read_write> scalars: Scalars;
@group(0) @binding(7) var<storage, read_write> control: Control;

struct Scalars {
    tolerance: f64,
    // bᵀb, rᵀr, rᵀM⁻¹r
    bb: f64,
    rr: f64,
    rz: f64,
    // the product that should have been positive
    curvature: f64,
    alpha: f64,
    beta: f64,
    // one number more keeps the size a multiple of 16 bytes
    idle: f64,
}

struct Control {
    rows: u32,
    workgroups: u32,
    max_iterations: u32,
    iterations: u32,
    state: u32,
    // the first row whose diagonal block is not positive definite
    indefinite: atomic<u32>,
}

const WORKGROUP: u32 = 256u;
const NONE: u32 = 0xffffffffu;

// what `control.state` says
const RUNNING: u32 = 0u;
const CONVERGED: u32 = 1u;
const EXHAUSTED: u32 = 2u;
const NOT_POSITIVE: u32 = 3u;
const INDEFINITE_BLOCK: u32 = 4u;

// places of vectors
const X: u32 = 0u;
const B: u32 = 1u;
const R: u32 = 2u;
const Z: u32 = 3u;
const P: u32 = 4u;
const Q: u32 = 5u;

// three sums at once
var<workgroup> leaves: array<vec3<f64>, WORKGROUP>;

fn at(vector: u32, row: u32) -> u32 {
    return 3u * (vector * control.rows + row);
}

fn load(vector: u32, row: u32) -> vec3<f64> {
    let k = at(vector, row);
    return vec3<f64>(vectors[k], vectors[k + 1u], vectors[k + 2u]);
}

fn store(vector: u32, row: u32, v: vec3<f64>) {
    let k = at(vector, row);
    vectors[k] = v.x;
    vectors[k + 1u] = v.y;
    vectors[k + 2u] = v.z;
}

fn inner(a: vec3<f64>, b: vec3<f64>) -> f64 {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Sums of the leaves of a workgroup, halves added to halves.
fn add_leaves(lane: u32) {
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half = half / 2u) {
        if lane < half {
            leaves[lane] = leaves[lane] + leaves[lane + half];
        }
        workgroupBarrier();
    }
}

// Adds up this row's three summands over the workgroup.
fn add_rows(lane: u32, workgroup: u32, summands: vec3<f64>) {
    leaves[lane] = summands;
    add_leaves(lane);
    if lane == 0u {
        partial[3u * workgroup] = leaves[0].x;
        partial[3u * workgroup + 1u] = leaves[0].y;
        partial[3u * workgroup + 2u] = leaves[0].z;
    }
}

// Adds up the sums of all workgroups, in one workgroup: every thread takes each 256th of them.
fn add_workgroups(lane: u32) {
    var sum = vec3<f64>(0.0lf, 0.0lf, 0.0lf);
    for (var k = lane; k < control.workgroups; k = k + WORKGROUP) {
        sum = sum + vec3<f64>(partial[3u * k], partial[3u * k + 1u], partial[3u * k + 2u]);
    }
    leaves[lane] = sum;
    add_leaves(lane);
}

// Row of A v.
fn multiply(row: u32, v: u32) -> vec3<f64> {
    var sum = vec3<f64>(0.0lf, 0.0lf, 0.0lf);
    for (var e = row_start[row]; e < row_start[row + 1u]; e = e + 1u) {
        let entry = entries[e];
        let k = 9u * entry.y;
        let x = load(v, entry.x);
        let b0 = vec3<f64>(blocks[k], blocks[k + 1u], blocks[k + 2u]);
        let b1 = vec3<f64>(blocks[k + 3u], blocks[k + 4u], blocks[k + 5u]);
        let b2 = vec3<f64>(blocks[k + 6u], blocks[k + 7u], blocks[k + 8u]);
        if entry.x > row {
            sum.x = sum.x + inner(b0, x);
            sum.y = sum.y + inner(b1, x);
            sum.z = sum.z + inner(b2, x);
        } else {
            sum.x = sum.x + (b0.x * x.x + b1.x * x.y + b2.x * x.z);
            sum.y = sum.y + (b0.y * x.x + b1.y * x.y + b2.y * x.z);
            sum.z = sum.z + (b0.z * x.x + b1.z * x.y + b2.z * x.z);
        }
    }
    return sum;
}

// Kᵀ K r.
fn precondition(row: u32, r: vec3<f64>) -> vec3<f64> {
    let k = 6u * row;
    let y0 = factors[k] * r.x;
    let y1 = factors[k + 1u] * r.x + factors[k + 2u] * r.y;
    let y2 = factors[k + 3u] * r.x + factors[k + 4u] * r.y + factors[k + 5u] * r.z;
    return vec3<f64>(
        factors[k] * y0 + factors[k + 1u] * y1 + factors[k + 3u] * y2,
        factors[k + 2u] * y1 + factors[k + 4u] * y2,
        factors[k + 5u] * y2,
    );
}

// K of every diagonal block.
@compute @workgroup_size(256)
fn factorize(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if row >= control.rows {
        return;
    }
    // within a row the diagonal is where the column is the row
    var e = row_start[row];
    while entries[e].x < row {
        e = e + 1u;
    }
    let k = 9u * entries[e].y;
    let d0 = blocks[k];
    let l00 = sqrt(d0);
    let l10 = blocks[k + 1u] / l00;
    let l20 = blocks[k + 2u] / l00;
    let d1 = blocks[k + 4u] - l10 * l10;
    let l11 = sqrt(d1);
    let l21 = (blocks[k + 5u] - l20 * l10) / l11;
    let d2 = blocks[k + 8u] - l20 * l20 - l21 * l21;
    let l22 = sqrt(d2);
    if d0 > 0.0lf && d1 > 0.0lf && d2 > 0.0lf {
        let k00 = 1.0lf / l00;
        let k11 = 1.0lf / l11;
        let k22 = 1.0lf / l22;
        let k10 = -(l10 * k00) * k11;
        let k21 = -(l21 * k11) * k22;
        factors[6u * row] = k00;
        factors[6u * row + 1u] = k10;
        factors[6u * row + 2u] = k11;
        factors[6u * row + 3u] = -(l20 * k00 + l21 * k10) * k22;
        factors[6u * row + 4u] = k21;
        factors[6u * row + 5u] = k22;
    } else {
        atomicMin(&control.indefinite, row);
    }
}

// r = b − A x and z = M⁻¹ r.
@compute @workgroup_size(256)
fn residual(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    let row = id.x;
    var summands = vec3<f64>(0.0lf, 0.0lf, 0.0lf);
    if row < control.rows {
        let b = load(B, row);
        let r = b - multiply(row, X);
        let z = precondition(row, r);
        store(R, row, r);
        store(Z, row, z);
        summands = vec3<f64>(inner(b, b), inner(r, r), inner(r, z));
    }
    add_rows(local.x, workgroup.x, summands);
}

// Where conjugate gradients begin or begin again.
@compute @workgroup_size(256)
fn begin(@builtin(local_invocation_id) local: vec3<u32>) {
    add_workgroups(local.x);
    if local.x == 0u {
        scalars.bb = leaves[0].x;
        scalars.rr = leaves[0].y;
        scalars.rz = leaves[0].z;
        scalars.beta = 0.0lf;
        if atomicLoad(&control.indefinite) != NONE {
            control.state = INDEFINITE_BLOCK;
        } else {
            judge(scalars.rz);
        }
    }
}

// p = z + β p.
@compute @workgroup_size(256)
fn direction(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if row < control.rows && control.state == RUNNING {
        let beta = scalars.beta;
        var p = load(Z, row);
        // what p was before the first direction does not count, whatever it is
        if beta != 0.0lf {
            p = p + beta * load(P, row);
        }
        store(P, row, p);
    }
}

// q = A p.
@compute @workgroup_size(256)
fn product(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    let row = id.x;
    var summands = vec3<f64>(0.0lf, 0.0lf, 0.0lf);
    if row < control.rows && control.state == RUNNING {
        let q = multiply(row, P);
        store(Q, row, q);
        summands.x = inner(load(P, row), q);
    }
    add_rows(local.x, workgroup.x, summands);
}

// α = rᵀz / pᵀq.
@compute @workgroup_size(256)
fn step_length(@builtin(local_invocation_id) local: vec3<u32>) {
    add_workgroups(local.x);
    if local.x == 0u && control.state == RUNNING {
        let pq = leaves[0].x;
        if pq > 0.0lf {
            scalars.alpha = scalars.rz / pq;
        } else {
            scalars.curvature = pq;
            control.state = NOT_POSITIVE;
        }
    }
}

// x += α p, r −= α q, z = M⁻¹ r.
@compute @workgroup_size(256)
fn update(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    let row = id.x;
    var summands = vec3<f64>(0.0lf, 0.0lf, 0.0lf);
    if row < control.rows && control.state == RUNNING {
        let alpha = scalars.alpha;
        store(X, row, load(X, row) + alpha * load(P, row));
        let r = load(R, row) - alpha * load(Q, row);
        let z = precondition(row, r);
        store(R, row, r);
        store(Z, row, z);
        summands = vec3<f64>(0.0lf, inner(r, r), inner(r, z));
    }
    add_rows(local.x, workgroup.x, summands);
}

// β, and whether to go on.
@compute @workgroup_size(256)
fn finish(@builtin(local_invocation_id) local: vec3<u32>) {
    add_workgroups(local.x);
    if local.x == 0u && control.state == RUNNING {
        control.iterations = control.iterations + 1u;
        let rz = leaves[0].z;
        scalars.rr = leaves[0].y;
        scalars.beta = rz / scalars.rz;
        scalars.rz = rz;
        judge(rz);
    }
}

// The state by ‖r‖ / ‖b‖ and rᵀz.
fn judge(rz: f64) {
    if scalars.bb == 0.0lf || sqrt(scalars.rr) / sqrt(scalars.bb) <= scalars.tolerance {
        control.state = CONVERGED;
    } else if control.iterations >= control.max_iterations {
        control.state = EXHAUSTED;
    } else if rz > 0.0lf {
        control.state = RUNNING;
    } else {
        scalars.curvature = rz;
        control.state = NOT_POSITIVE;
    }
}
