//! Values of objects in a frame.

use crate::Frame;
use standoff_linalg::Vec3;
use standoff_scene::file::{Axis, Measure, Part, Quantity};
use standoff_scene::resolve::{Piece, Subject};
use std::ops::Range;

/// A frame while it is measured.
pub(crate) struct Measured<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The vertices of each body.
    pub bodies: &'a [Range<usize>],
}

impl Measured<'_> {
    /// The value of a subject without what is subtracted.
    pub fn subject(&self, quantity: Quantity, subject: &Subject) -> Result<f64, String> {
        let Quantity::OfObject(measure) = quantity else {
            return Err(format!("`{quantity}` is no value of an object"));
        };
        let other = match &subject.minus {
            None => 0.0,
            Some(other) => self.value(other.measure, &other.pieces)?,
        };
        Ok(self.value(measure, &subject.pieces)? - other)
    }

    // long: an arm for each value
    fn value(&self, measure: Measure, pieces: &[Piece]) -> Result<f64, String> {
        let Frame { positions, velocity, contact_force, .. } = self.frame;
        let x = || self.of(positions, pieces, "positions");
        let v = || self.of(velocity, pieces, "velocity");
        let f = || self.of(contact_force, pieces, "contact_force");
        Ok(match measure {
            Measure::Lowest(axis) => component(corners(&x()?).0, axis),
            Measure::Highest(axis) => component(corners(&x()?).1, axis),
            Measure::Size(part) => {
                let (low, high) = corners(&x()?);
                self::part(high - low, part)
            }
            Measure::BoxVolume => {
                let (low, high) = corners(&x()?);
                (high - low).product()
            }
            Measure::Centre(axis) => component(mean(&x()?), axis),
            Measure::Spread => {
                let (x, middle) = (x()?, mean(&x()?));
                let squares: f64 = x.iter().map(|x| (x - middle).norm_squared()).sum();
                (squares / x.len() as f64).sqrt()
            }
            Measure::Velocity(part) => self::part(mean(&v()?), part),
            Measure::Fastest => v()?.iter().map(Vec3::norm).fold(0.0, f64::max),
            Measure::ContactForce(part) => self::part(f()?.iter().sum(), part),
            Measure::Touching => f()?.iter().filter(|f| f.norm() > 0.0).count() as f64,
        })
    }

    /// The part of a list over all vertices that belongs to some pieces.
    fn of(&self, list: &[Vec3], pieces: &[Piece], name: &str) -> Result<Vec<Vec3>, String> {
        let mut all = Vec::new();
        for Piece { body, vertices } in pieces {
            let own = self.bodies.get(*body).and_then(|range| list.get(range.clone()));
            let own = own.ok_or_else(|| format!("it has no {name}"))?;
            match vertices {
                None => all.extend_from_slice(own),
                Some(some) => all.extend(some.iter().filter_map(|v| own.get(*v as usize))),
            }
        }
        Ok(all)
    }
}

fn component(vector: Vec3, axis: Axis) -> f64 {
    match axis {
        Axis::X => vector.x,
        Axis::Y => vector.y,
        Axis::Z => vector.z,
    }
}

fn part(vector: Vec3, part: Part) -> f64 {
    match part {
        Part::Of(axis) => component(vector, axis),
        Part::Magnitude => vector.norm(),
    }
}

fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().sum::<Vec3>() / points.len() as f64
}

/// Least and greatest corner of a bounding box.
fn corners(points: &[Vec3]) -> (Vec3, Vec3) {
    let infinite = Vec3::repeat(f64::INFINITY);
    points.iter().fold((infinite, -infinite), |(low, high), x| (low.inf(x), high.sup(x)))
}
