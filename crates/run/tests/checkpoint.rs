//! Checkpoints: what is written is read back, bit by bit, and no damage goes unnoticed.

use standoff_geometry::{Pair, PairKind};
use standoff_linalg::{Mat3, Vec3};
use standoff_run::{
    Checkpoint, OutputError, checkpoint_bytes, fingerprint, parse_checkpoint, read_checkpoint,
    write_checkpoint,
};
use standoff_sim::contact::{Constraint, ConstraintKey, PairForces, Party};
use standoff_sim::energy::inelastic::Internal;
use standoff_sim::joints::{Efforts, Integrity, JointTarget};
use standoff_sim::past::Past;
use standoff_sim::{Definition, State};
use std::path::Path;

fn state() -> State {
    let list = |k: f64| -> Vec<Vec3> {
        (0..3).map(|i| Vec3::new(k + 0.1 * i as f64, -0.0, 1e-310 * k)).collect()
    };
    let mut state = State::start(list(1.0), list(2.0), 2);
    state.a = list(3.0);
    state.x_previous = list(4.0);
    state.v_previous = list(5.0);
    state.contact_forces = list(6.0);
    state.targets = list(7.0);
    state.half_space_forces =
        list(10.0).as_chunks::<1>().0.iter().map(|[f]| [*f, 2.0 * f]).collect();
    state.held_forces = list(13.0).iter().map(|f| [*f, -3.0 * f]).collect();
    state.load_forces = list(14.0)[1..].iter().map(|f| [*f, 0.5 * f]).collect();
    let pair = |on, by, k: f64| PairForces {
        on,
        by,
        normal: [list(k)[0], list(k)[1]],
        friction: [list(-k)[2], list(k)[2]],
    };
    state.pair_forces = vec![
        pair(Party::Body(0), Party::HalfSpace(2), 15.0),
        pair(Party::HalfSpace(2), Party::Body(0), 16.0),
    ];
    state.controls.gravity = Some(list(11.0)[1]);
    state.controls.loads = vec![None, Some(list(12.0)[2])];
    state.kappa = 8.5e3;
    state.fallbacks = 3;
    state.prescribed = vec![true, false, true];
    state.ended = vec![false, true];
    state.directors = list(9.0);
    state.frame_twists = vec![6.5, -0.25];
    state.turns = vec![0, -2, i32::MAX];
    let inverse = Mat3::from_fn(|i, j| 0.1 + i as f64 - 7.0 * j as f64);
    state.internal = vec![Internal::default(), Internal { inverse, plastic_strain: 1e-310 }];
    state.joint_multipliers = vec![0.75, -3.5, 1e-310];
    state.joint_coordinates = vec![[7.5, -0.0], [0.0, 0.1]];
    let past = Past { x: 0.5, v: -0.0, a: 0.0, x_previous: 4.5, v_previous: -2.5 };
    state.joint_motion = vec![Past::default(), past];
    let efforts =
        Efforts { drive: 1.5, spring: 0.25, resistance: -0.0, limit: 1e-310, coupling: -7.0 };
    state.joint_efforts = vec![efforts, Efforts::default()];
    state.joint_integrity = vec![Integrity::Broken, Integrity::Whole, Integrity::Apart];
    state.controls.joints = vec![
        JointTarget { position: Some(-0.5), velocity: None, effort: Some(1e-310) },
        JointTarget::default(),
    ];
    state.constraints = [
        ConstraintKey::Pair(Pair::new(PairKind::VertexVertex, [0, 1])),
        ConstraintKey::Pair(Pair::new(PairKind::EdgeVertex, [2, 3])),
        ConstraintKey::Pair(Pair::new(PairKind::EdgeEdge, [4, 5])),
        ConstraintKey::Pair(Pair::new(PairKind::FaceVertex, [6, 7])),
        ConstraintKey::HalfSpace(8, 9),
    ]
    .iter()
    .zip(1..)
    .map(|(&key, k)| Constraint { key, force: 0.1 * f64::from(k), decay: 0.9 })
    .collect();
    (state.step, state.time) = (7, 0.1 * 7.0);
    state
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("7.ckpt");
    let frames = vec![0, 3, 6];
    write_checkpoint(&path, 42, &state(), &frames).unwrap();
    let read = read_checkpoint(&path, 42).unwrap();
    let program = env!("CARGO_PKG_VERSION").to_owned();
    assert_eq!(read, Checkpoint { state: state(), frames, program });
    for ((name, a), (_, b)) in read.state.vectors().iter().zip(state().vectors()) {
        let bits = |l: &[Vec3]| l.iter().flatten().map(|c| c.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(a), bits(b), "{name}");
    }
    let bytes = checkpoint_bytes(42, &state(), &[0, 3, 6]);
    assert_eq!(bytes, std::fs::read(&path).unwrap());
    assert_eq!(parse_checkpoint(&path, &bytes, 42).unwrap(), read);
    // nothing else is left
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_cut_and_every_altered_byte_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("7.ckpt");
    write_checkpoint(&path, 42, &state(), &[0, 3, 6]).unwrap();
    let good = std::fs::read(&path).unwrap();
    let bad = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).unwrap();
        match read_checkpoint(&path, 42) {
            Err(OutputError::Damaged { .. } | OutputError::Foreign { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    };
    for length in 0..good.len() {
        bad(&good[..length], &format!("cut off at {length}"));
    }
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        bad(&bytes, &format!("byte {at}"));
    }
    bad(&[&good[..], &[0]].concat(), "a byte too many");
    std::fs::write(&path, &good).unwrap();
    assert!(matches!(read_checkpoint(&path, 43), Err(OutputError::Foreign { .. })));
    assert!(read_checkpoint(&path, 42).is_ok());
}

#[test]
fn the_fingerprint_sees_every_bit_but_the_end_and_the_device() {
    let mut definition = Definition::default();
    let before = fingerprint(&definition);
    definition.settings.time.end = 17.0;
    assert_eq!(fingerprint(&definition), before);
    definition.settings.solver.device = standoff_sim::settings::Device::Gpu;
    assert_eq!(fingerprint(&definition), before);
    definition.gravity.y = f64::from_bits(9.81f64.to_bits());
    let one = fingerprint(&definition);
    definition.gravity.y = f64::from_bits(9.81f64.to_bits() + 1);
    assert!(one != before && fingerprint(&definition) != one);
    definition.gravity.y = 0.0;
    assert_eq!(fingerprint(&definition), before);
    definition.gravity.y = -0.0;
    assert_ne!(fingerprint(&definition), before);
}

/// Files of a later format are refused, and the message says what to do.
#[test]
fn checkpoints_of_later_formats_are_refused() {
    let path = Path::new("7.ckpt");
    let bytes = checkpoint_bytes(42, &state(), &[0, 3, 6]);
    for format in [2u32, 7] {
        let mut other = bytes.clone();
        other[8..12].copy_from_slice(&format.to_le_bytes());
        let error = parse_checkpoint(path, &other, 42).unwrap_err().to_string();
        let writer = "a later version";
        for part in [writer, &format!("format {format}"), "reads format 1;", "standoff run --force"]
        {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn pairs_are_kept_without_joints_and_nothing_is_written_without_pairs() {
    let joints = |s: &mut State| {
        s.joint_multipliers.clear();
        s.joint_coordinates.clear();
        s.joint_motion.clear();
        s.joint_efforts.clear();
        s.joint_integrity.clear();
        s.controls.joints.clear();
    };
    let whole = state();
    let breaking = State { internal: Vec::new(), pair_forces: Vec::new(), ..whole.clone() };
    let lasting = State { joint_integrity: Vec::new(), ..breaking.clone() };
    let [bytes, shorter] = [&breaking, &lasting].map(|s| checkpoint_bytes(42, s, &[]));
    let parse = |bytes: &[u8]| parse_checkpoint(Path::new("x"), bytes, 42).unwrap().state;
    assert_eq!((parse(&bytes), parse(&shorter)), (breaking, lasting));
    // sizes of pairs, of internal variables and of joints, and three of these
    assert_eq!(bytes.len() - shorter.len(), 3 * 8 + 3);
    let mut without_joints = whole;
    joints(&mut without_joints);
    let read = |bytes: &[u8]| parse_checkpoint(Path::new("x"), bytes, 42).unwrap().state;
    let mut flowing = without_joints.clone();
    flowing.pair_forces.clear();
    assert_eq!(read(&checkpoint_bytes(42, &flowing, &[])), flowing);
    without_joints.internal.clear();
    let bytes = checkpoint_bytes(42, &without_joints, &[]);
    assert_eq!(read(&bytes), without_joints);
    let mut neither = without_joints;
    neither.pair_forces.clear();
    let shorter = checkpoint_bytes(42, &neither, &[]);
    // sizes of joints (16), the number of pairs (8) and two of 106 bytes
    assert_eq!(bytes.len() - shorter.len(), 16 + 8 + 2 * 106);
    assert_eq!(read(&shorter), neither);
}
