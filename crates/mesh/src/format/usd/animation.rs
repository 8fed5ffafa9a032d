//! Attributes over time, and the motion of the points of a file.

use super::layer::{Attribute, Layer, Prim, Value};
use super::{AGAIN, points, transform};
use crate::MeshError;
use crate::format::affine::Affine;
use crate::format::parts::part_error;
use standoff_linalg::{Mat3, Vec3};
use std::borrow::Cow;
use std::path::PathBuf;

/// How time codes of a file become seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The time code at 0 s.
    pub start: f64,
    per_second: f64,
}

impl Clock {
    /// The clock of a layer: `startTimeCode` (0) is the start of the simulation, and `timeCodesPerSecond`, else
    /// `framesPerSecond`, else 24 pass in a second, as OpenUSD defines.
    pub fn new(layer: &Layer) -> Self {
        let number = |key: &str| match layer.metadata.get(key) {
            Some(Value::Numbers(n, _)) if n.len() == 1 && n[0].is_finite() => Some(n[0]),
            _ => None,
        };
        let rate = ["timeCodesPerSecond", "framesPerSecond"].into_iter().find_map(number);
        Self {
            start: number("startTimeCode").unwrap_or(0.0),
            per_second: rate.filter(|r| *r > 0.0).unwrap_or(24.0),
        }
    }

    fn code(&self, t: f64) -> f64 {
        self.start + t * self.per_second
    }

    fn seconds(&self, code: f64) -> f64 {
        (code - self.start) / self.per_second
    }
}

impl Attribute {
    /// The value at a time code: between two samples interpolated where `between` can, before the first and after
    /// the last sample the one next to it, without samples the default.
    pub(super) fn at(&self, code: f64) -> Option<Cow<'_, Value>> {
        let next = self.samples.partition_point(|(time, _)| *time <= code);
        let Some((before, held)) = self.samples.get(next.saturating_sub(1)) else {
            return self.value.as_ref().map(Cow::Borrowed);
        };
        if next > 0
            && let Some((after, value)) = self.samples.get(next)
            && let Some(value) = between(held, value, (code - before) / (after - before))
        {
            return Some(Cow::Owned(value));
        }
        Some(Cow::Borrowed(held))
    }

    /// Whether its samples differ.
    pub(super) fn moves(&self) -> bool {
        self.samples.windows(2).any(|w| w[0].1 != w[1].1)
    }
}

/// The value at a share of the way from one to another, for numbers of the same count; quaternions turn along the
/// shortest way.
fn between(a: &Value, b: &Value, share: f64) -> Option<Value> {
    let (Value::Numbers(x, width), Value::Numbers(y, other)) = (a, b) else { return None };
    if x.len() != y.len() || width != other {
        return None;
    }
    let mix = |s: f64, t: f64| x.iter().zip(y).map(|(x, y)| s * x + t * y).collect();
    Some(Value::Numbers(mix(1.0 - share, share), *width))
}

/// Two quaternions, the second with the sign that is nearer to the first, mixed so that the rotation turns evenly.
pub(super) fn turned(attribute: &Attribute, code: f64) -> Option<Cow<'_, Value>> {
    let next = attribute.samples.partition_point(|(time, _)| *time <= code);
    let pair =
        (next > 0).then(|| Some((&attribute.samples[next - 1], attribute.samples.get(next)?)));
    let Some(((t0, Value::Numbers(a, 4)), (t1, Value::Numbers(b, 4)))) = pair.flatten() else {
        return attribute.at(code);
    };
    if a.len() != 4 || b.len() != 4 {
        return attribute.at(code);
    }
    let norm = |q: &[f64]| q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let dot = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (norm(a) * norm(b));
    let angle = dot.abs().min(1.0).acos();
    let share = (code - t0) / (t1 - t0);
    let weight = |s: f64| if angle < 1e-6 { s } else { (s * angle).sin() / angle.sin() };
    let (s, t) = (weight(1.0 - share) / norm(a), weight(share) * dot.signum() / norm(b));
    let mixed = a.iter().zip(b).map(|(a, b)| s * a + t * b).collect();
    Some(Cow::Owned(Value::Numbers(mixed, 4)))
}

/// A part of the mesh: the way to its prim, and the points that are left of it.
#[derive(Debug, Clone)]
pub(super) struct Track {
    /// Index of the prim at the top, of its child, and so on.
    pub route: Vec<usize>,
    /// Which of the points of the prim the mesh has, where not all.
    pub kept: Option<Vec<u32>>,
    /// Number of points of the prim.
    pub count: usize,
}

/// The motion of the points of a USD file, in the order of the mesh that is read from it.
#[derive(Debug)]
pub struct Animation {
    path: PathBuf,
    layer: Layer,
    unit: f64,
    clock: Clock,
    tracks: Vec<Track>,
    /// Time of the last sample, s.
    end: f64,
}

impl Animation {
    /// The motion of the parts of a layer; `None` where nothing moves.
    pub(super) fn new(path: PathBuf, layer: Layer, unit: f64, tracks: Vec<Track>) -> Option<Self> {
        let clock = Clock::new(&layer);
        let mut end = f64::NEG_INFINITY;
        for prim in tracks.iter().flat_map(|t| prims(&layer, &t.route)) {
            let used = prim.attributes.iter().filter(|(key, _)| moves_points(key));
            for (_, attribute) in used.filter(|(_, a)| a.moves()) {
                end =
                    attribute.samples.last().map_or(end, |(code, _)| end.max(clock.seconds(*code)));
            }
        }
        (end > f64::NEG_INFINITY).then_some(Self { path, layer, unit, clock, tracks, end })
    }

    /// Time of the last sample, s; the points rest afterwards.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Positions at a time in s.
    ///
    /// # Errors
    /// A transform has no value or no inverse at that time, or a prim has another number of points.
    pub fn at(&self, t: f64) -> Result<Vec<Vec3>, MeshError> {
        let code = self.clock.code(t);
        let top = Affine::linear(Mat3::from_diagonal_element(self.unit));
        let mut all = Vec::new();
        for track in &self.tracks {
            let (mut world, mut name, mut own) = (top, String::new(), Vec::new());
            for prim in prims(&self.layer, &track.route) {
                name = format!("{name}/{}", crate::format::parts::shown(&prim.name));
                let (map, reset) = transform(&self.path, prim, &name, code)?;
                world = if reset { top } else { world }.compose(&map);
                own = vec![prim];
            }
            for prim in own {
                let found = points(&self.path, prim, &name, code)?.points;
                if found.len() != track.count {
                    let what = format!(
                        "it has {} points at one time and {} at another, which no body can follow",
                        track.count,
                        found.len()
                    );
                    return Err(part_error(
                        &self.path,
                        &name,
                        what,
                        "Export a mesh of constant points",
                    ));
                }
                match &track.kept {
                    None => all.extend(found.iter().map(|p| world.apply(p))),
                    Some(kept) => all.extend(kept.iter().map(|v| world.apply(&found[*v as usize]))),
                }
            }
        }
        if all.iter().flatten().any(|c: &f64| !c.is_finite()) {
            let what = format!("a coordinate at {t} s is not a finite number");
            return Err(part_error(&self.path, "time samples", what, AGAIN));
        }
        Ok(all)
    }
}

/// Attributes that say where points are.
fn moves_points(key: &str) -> bool {
    key == "points" || key.starts_with("xformOp:")
}

/// The prims on the way to one.
fn prims<'a>(layer: &'a Layer, route: &[usize]) -> Vec<&'a Prim> {
    let mut list = &layer.prims;
    let mut out = Vec::with_capacity(route.len());
    for k in route {
        let Some(prim) = list.get(*k) else { break };
        out.push(prim);
        list = &prim.children;
    }
    out
}
