// Every operation that the programs are made of, on given operands, and a tree of sums.

@group(0) @binding(0) var<storage, read> first: array<f64>;
@group(0) @binding(1) var<storage, read> second: array<f64>;
@group(0) @binding(2) var<storage, read> third: array<f64>;
@group(0) @binding(3) var<storage, read_write> results: array<f64>;

const WORKGROUP: u32 = 256u;

var<workgroup> leaves: array<f64, WORKGROUP>;

@compute @workgroup_size(256)
fn operations(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = arrayLength(&first);
    let i = id.x;
    if i >= n {
        return;
    }
    let a = first[i];
    let b = second[i];
    let c = third[i];
    results[i] = a + b;
    results[n + i] = a - b;
    results[2u * n + i] = a * b;
    results[3u * n + i] = a / b;
    results[4u * n + i] = sqrt(abs(a));
    results[5u * n + i] = a * b + c;
    var greater = 0.0lf;
    if a > b {
        greater = 1.0lf;
    }
    results[6u * n + i] = greater;
}

@compute @workgroup_size(256)
fn sums(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let lane = local.x;
    leaves[lane] = third[id.x];
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half = half / 2u) {
        if lane < half {
            leaves[lane] = leaves[lane] + leaves[lane + half];
        }
        workgroupBarrier();
    }
    results[id.x] = leaves[0];
}
