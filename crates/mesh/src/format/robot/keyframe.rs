//! Keyframes of MuJoCo: where joints start, how fast they move, and what actuators are told, in the order of the model.

use super::attributes::Model;
use super::mjcf::described;
use super::tree::Element;
use crate::MeshError;
use crate::format::affine::{Affine, rotation};
use crate::format::parts::shown;
use crate::format::scan::Result;
use standoff_linalg::{Mat3, Vec3};

/// A keyframe whose numbers are taken by the joints one after the other; without one that a pose names, all are missing.
#[derive(Debug, Default)]
pub(super) struct Keyframe {
    /// Its name, as messages show it.
    name: String,
    positions: List,
    velocities: List,
    controls: List,
}

/// Numbers of which some are taken.
#[derive(Debug, Default)]
struct List {
    given: Option<Vec<f64>>,
    taken: usize,
}

impl List {
    /// The next numbers; none where the list is missing or too short.
    fn take<const N: usize>(&mut self) -> Option<[f64; N]> {
        let from = self.taken;
        self.taken += N;
        self.given.as_ref()?.get(from..self.taken)?.try_into().ok()
    }

    /// How many numbers there are and how many there should be, if these differ.
    fn mismatch(&self) -> Option<[usize; 2]> {
        let found = self.given.as_ref()?.len();
        (found != self.taken).then_some([found, self.taken])
    }
}

/// Velocity of a body: its angular velocity (rad/s) and the velocity of its point at the origin (m/s).
pub(super) type Twist = [Vec3; 2];

/// The twist of a body whose `point` moves at `velocity` while it turns at `angular`.
pub(super) fn twist(angular: Vec3, velocity: Vec3, point: &Vec3) -> Twist {
    [angular, velocity - angular.cross(point)]
}

impl Model<'_> {
    /// The keyframe of a name, or of a number from 0.
    pub(super) fn keyframe(&mut self, root: &Element, wanted: Option<&str>) -> Result<Keyframe> {
        let keys: Vec<&Element> = root.all("keyframe").flat_map(|k| k.all("key")).collect();
        let name = |k: usize| keys[k].get("name").map_or_else(|| k.to_string(), str::to_owned);
        let known = || (0..keys.len()).map(|k| shown(&name(k))).collect::<Vec<_>>().join(", ");
        let Some(wanted) = wanted else {
            if !keys.is_empty() {
                self.builder.note(&format!("none of its keyframes is chosen: {}", known()));
            }
            return Ok(Keyframe::default());
        };
        let by_name = keys.iter().position(|k| k.get("name") == Some(wanted));
        let by_number = || wanted.parse().ok().filter(|k| *k < keys.len());
        let Some(found) = by_name.or_else(by_number) else {
            let what = match keys.is_empty() {
                true => "the model has no keyframes".to_owned(),
                false => format!("there is none of that name; the model has {}", known()),
            };
            return Err(self.no_keyframe(wanted, what));
        };
        let part = described(keys[found]);
        let list = |key: &str| -> Result<List> {
            let given = self.vector(keys[found], None, key, [0, usize::MAX], &part)?;
            Ok(List { given, taken: 0 })
        };
        let name = shown(&name(found));
        let (positions, velocities, controls) = (list("qpos")?, list("qvel")?, list("ctrl")?);
        for key in ["act", "mpos", "mquat"] {
            if keys[found].get(key).is_some() {
                self.builder.note(&format!("`{key}` of keyframes is left out"));
            }
        }
        Ok(Keyframe { name, positions, velocities, controls })
    }

    fn no_keyframe(&self, keyframe: &str, what: String) -> MeshError {
        self.builder.no_keyframe(keyframe, what)
    }

    /// The lists must have been taken to their ends.
    pub(super) fn check_taken(&self, key: &Keyframe) -> Result<()> {
        let flexible = if self.flexes.is_empty() { "" } else { ", flexible bodies not counted" };
        let lists = [
            ("qpos", &key.positions, "coordinates"),
            ("qvel", &key.velocities, "velocities"),
            ("ctrl", &key.controls, "actuators"),
        ];
        for (list, numbers, what) in lists {
            if let Some([found, expected]) = numbers.mismatch() {
                let what = format!(
                    "its {list} has {found} numbers, and the model {expected} {what}{flexible}"
                );
                return Err(self.no_keyframe(&key.name, what));
            }
        }
        Ok(())
    }
}

impl Keyframe {
    /// The coordinate of a hinge or a slide, and its rate.
    pub(super) fn single(&mut self) -> (Option<f64>, f64) {
        let position = self.positions.take::<1>().map(|[q]| q);
        (position, self.velocities.take::<1>().map_or(0.0, |[rate]| rate))
    }

    /// The turn of a ball joint from its reference, and its angular velocity, both along the axes of the body.
    pub(super) fn ball(&mut self) -> (Mat3, Vec3) {
        let turn = self.positions.take::<4>().and_then(rotation);
        let angular = self.velocities.take::<3>().map_or(Vec3::zeros(), Vec3::from);
        (turn.unwrap_or_else(Mat3::identity), angular)
    }

    /// Where a free body is, and its twist; where the model has it without a keyframe.
    pub(super) fn free(&mut self, reference: &Affine) -> (Affine, Twist) {
        let place = self.positions.take::<7>().and_then(|[x, y, z, turn @ ..]| {
            Some(Affine { linear: rotation(turn)?, shift: Vec3::new(x, y, z) })
        });
        let place = place.unwrap_or(*reference);
        let twist =
            self.velocities.take::<6>().map_or([Vec3::zeros(); 2], |[x, y, z, turn @ ..]| {
                // the angular velocity is along the axes of the body
                twist(place.linear * Vec3::from(turn), Vec3::new(x, y, z), &place.shift)
            });
        (place, twist)
    }

    /// What an actuator is told.
    pub(super) fn control(&mut self) -> f64 {
        self.controls.take::<1>().map_or(0.0, |[control]| control)
    }
}
