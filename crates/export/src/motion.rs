//! Bodies that move as a whole: where they are in each frame, by the rigid motion that fits their vertices best.
//!
//! The rotation that fits best is the polar factor of Σ x Xᵀ, with x and X from the centres of the vertices in a frame and in the first one. The
//! vertices of a straight wire do not tell how it turns about itself; there the last rotation is turned by as little as possible.

use crate::Sequence;
use standoff_linalg::{Mat3, Vec3, svd3};
use standoff_run::OutputError;

/// Largest distance of a vertex from where the rigid motion puts it, as a part of the diagonal of the body: rigid bodies are strained by some 10⁻⁶ in
/// impacts, and a thousandth of a pixel of a picture is not seen.
const TOLERANCE: f64 = 1e-5;

/// Second singular value over the first below which vertices lie on a line.
const LINE: f64 = 1e-9;

/// Where a body is: turned about the centre of its vertices, which is then shifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pose {
    /// Unit quaternion w, x, y, z.
    pub turn: [f64; 4],
    /// Where the centre of the vertices is, m.
    pub centre: Vec3,
}

/// A body that moves as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RigidMotion {
    /// Vertices in the first frame, from their centre, m.
    pub vertices: Vec<Vec3>,
    /// One of each frame; the first one turns by nothing, and neighbouring quaternions have the sign that is nearer.
    pub poses: Vec<Pose>,
}

impl RigidMotion {
    /// Whether its centre moves.
    pub fn shifts(&self) -> bool {
        self.poses.iter().any(|p| p.centre != self.poses[0].centre)
    }

    /// Whether it turns.
    pub fn turns(&self) -> bool {
        self.poses.iter().any(|p| p.turn != self.poses[0].turn)
    }
}

/// The motions of rigid bodies and obstacles whose vertices all follow one, and `None` for all others. What deforms may happen to move rigidly for
/// a while, or nearly so, and stays what it is: small deformations are what a user may look for.
pub(crate) fn motions(sequence: &Sequence) -> Result<Vec<Option<RigidMotion>>, OutputError> {
    let mut fits: Vec<Option<Fit>> = vec![None; sequence.bodies().len()];
    for frame in 0..sequence.steps().len() {
        let wanted = |k: &usize| match frame {
            0 => sequence.bodies()[*k].obstacle || sequence.bodies()[*k].rigid,
            _ => fits[*k].is_some(),
        };
        let all: Vec<usize> = (0..fits.len()).filter(wanted).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { break };
        let positions = sequence.positions(frame, *first..last + 1)?;
        for k in &all {
            let x = &positions[k - first];
            let fits_on = match &mut fits[*k] {
                None => {
                    fits[*k] = Some(Fit::new(x));
                    true
                }
                Some(fit) => fit.follow(x),
            };
            if !fits_on {
                fits[*k] = None;
            }
        }
    }
    Ok(fits.into_iter().map(|fit| fit.map(|f| f.motion)).collect())
}

/// A motion as far as its frames were read.
#[derive(Debug, Clone)]
struct Fit {
    motion: RigidMotion,
    /// Rotation of the last frame.
    last: Mat3,
    tolerance: f64,
}

impl Fit {
    fn new(x: &[Vec3]) -> Self {
        let centre = mean(x);
        let vertices: Vec<Vec3> = x.iter().map(|p| p - centre).collect();
        let (mut low, mut high) = (vertices[0], vertices[0]);
        for p in &vertices {
            (low, high) = (low.inf(p), high.sup(p));
        }
        let poses = vec![Pose { turn: [1.0, 0.0, 0.0, 0.0], centre }];
        Self {
            motion: RigidMotion { vertices, poses },
            last: Mat3::identity(),
            tolerance: TOLERANCE * (high - low).norm(),
        }
    }

    /// Adds a frame; whether a rigid motion puts all vertices there.
    fn follow(&mut self, x: &[Vec3]) -> bool {
        let RigidMotion { vertices, poses } = &mut self.motion;
        let centre = mean(x);
        let mut covariance = Mat3::zeros();
        for (p, own) in x.iter().zip(&*vertices) {
            covariance += (p - centre) * own.transpose();
        }
        let rotation = nearest_rotation(&covariance, &self.last);
        let off = |(p, own): (&Vec3, &Vec3)| (p - centre - rotation * own).norm();
        // not a number is no fit
        if !x.iter().zip(&*vertices).map(off).all(|distance| distance <= self.tolerance) {
            return false;
        }
        let before = poses[poses.len() - 1].turn;
        let turn = quaternion(&rotation);
        let dot: f64 = before.iter().zip(&turn).map(|(a, b)| a * b).sum();
        let turn = if dot < 0.0 { turn.map(|c| -c) } else { turn };
        poses.push(Pose { turn, centre });
        self.last = rotation;
        true
    }
}

fn mean(x: &[Vec3]) -> Vec3 {
    x.iter().sum::<Vec3>() / x.len() as f64
}

/// The rotation that brings the vertices of the first frame nearest to others, as their covariance tells, and where it leaves a choice nearest to
/// the `last` one.
fn nearest_rotation(covariance: &Mat3, last: &Mat3) -> Mat3 {
    let svd = svd3(covariance);
    if svd.sigma[1] > LINE * svd.sigma[0] {
        return svd.rotation();
    }
    let (from, to): (Vec3, Vec3) = (last * svd.v.column(0), svd.u.column(0).into_owned());
    let (axis, cos) = (from.cross(&to), from.dot(&to));
    // where a wire reverses within one frame, its vertices alone decide
    if cos <= -0.999_999 {
        return svd.rotation();
    }
    let cross = axis.cross_matrix();
    (Mat3::identity() + cross + cross * cross / (1.0 + cos)) * last
}

/// The unit quaternion w, x, y, z of a rotation, from the largest of its components.
fn quaternion(r: &Mat3) -> [f64; 4] {
    let squares = [
        1.0 + r.trace(),
        1.0 + r[(0, 0)] - r[(1, 1)] - r[(2, 2)],
        1.0 - r[(0, 0)] + r[(1, 1)] - r[(2, 2)],
        1.0 - r[(0, 0)] - r[(1, 1)] + r[(2, 2)],
    ];
    let largest = (0..4).fold(0, |best, k| if squares[k] > squares[best] { k } else { best });
    let plus = |a: usize, b: usize| r[(a, b)] + r[(b, a)];
    let minus = |a: usize, b: usize| r[(a, b)] - r[(b, a)];
    let own = squares[largest];
    let q = match largest {
        0 => [own, minus(2, 1), minus(0, 2), minus(1, 0)],
        1 => [minus(2, 1), own, plus(0, 1), plus(2, 0)],
        2 => [minus(0, 2), plus(0, 1), own, plus(1, 2)],
        _ => [minus(1, 0), plus(2, 0), plus(1, 2), own],
    };
    let norm = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rotation about an axis, rad.
    fn about(axis: Vec3, angle: f64) -> Mat3 {
        let cross = axis.normalize().cross_matrix();
        Mat3::identity() + cross * angle.sin() + cross * cross * (1.0 - angle.cos())
    }

    fn rotation([w, x, y, z]: [f64; 4]) -> Mat3 {
        let cross = Vec3::new(x, y, z).cross_matrix();
        Mat3::identity() + cross * (2.0 * w) + cross * cross * 2.0
    }

    /// Greatest distance of a vertex from where the last pose puts it, m.
    fn error(motion: &RigidMotion, x: &[Vec3]) -> f64 {
        let pose = &motion.poses[motion.poses.len() - 1];
        let put = |own: &Vec3| rotation(pose.turn) * own + pose.centre;
        x.iter().zip(&motion.vertices).map(|(p, own)| (p - put(own)).norm()).fold(0.0, f64::max)
    }

    /// Several whole turns, of a solid, of a plate and of a wire, far from the origin: quaternions never jump.
    #[test]
    fn tumbling_bodies_are_followed() {
        let solid = vec![
            Vec3::new(0.0, 0.0, 0.0),
            Vec3::new(0.3, 0.0, 0.0),
            Vec3::new(0.0, 0.2, 0.0),
            Vec3::new(0.1, 0.0, 0.1),
        ];
        let plate = vec![Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.5, 0.0)];
        let wire = vec![Vec3::zeros(), Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.2, 0.4, 0.6)];
        let point = vec![Vec3::zeros()];
        let far = Vec3::new(100.0, -20.0, 3.0);
        for rest in [solid, plate, wire, point] {
            let at = |k: usize| -> Vec<Vec3> {
                let angle = 0.7 * k as f64;
                let r = about(Vec3::new(1.0, 2.0, 0.5), angle) * about(Vec3::z(), 0.3 * angle);
                rest.iter().map(|p| r * p + far + Vec3::x() * (0.1 * k as f64)).collect()
            };
            let mut fit = Fit::new(&at(0));
            for k in 1..60 {
                assert!(fit.follow(&at(k)), "{} vertices, frame {k}", rest.len());
                assert!(error(&fit.motion, &at(k)) < 1e-12);
                let [.., a, b] = &fit.motion.poses[..] else { panic!() };
                let dot: f64 = a.turn.iter().zip(&b.turn).map(|(a, b)| a * b).sum();
                // half of the angle between two frames
                assert!(dot > (0.5_f64 * 0.7 * 1.3).cos() - 1e-9, "frame {k}: {dot}");
            }
        }
    }

    #[test]
    fn what_bends_or_is_mirrored_is_no_rigid_motion() {
        let rest = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let mirrored = rest.map(|p| Vec3::new(-p.x, p.y, p.z));
        assert!(!Fit::new(&rest).follow(&mirrored));
        // the diagonal is √3 m, and of a shift of one vertex the fit takes a part away
        let stretched = |by: f64| [rest[0], rest[1], rest[2], rest[3] * (1.0 + by)];
        assert!(Fit::new(&rest).follow(&stretched(1e-6)));
        assert!(!Fit::new(&rest).follow(&stretched(1e-4)));
        let lost = [Vec3::repeat(f64::NAN); 4];
        assert!(!Fit::new(&rest).follow(&lost));
    }

    #[test]
    fn rotations_by_half_a_turn_have_quaternions() {
        for axis in [Vec3::x(), Vec3::y(), Vec3::z(), Vec3::new(1.0, -2.0, 0.3)] {
            for angle in [0.0, 1e-9, 1.0, std::f64::consts::PI - 1e-9, std::f64::consts::PI] {
                let r = about(axis, angle);
                assert!((rotation(quaternion(&r)) - r).norm() < 1e-14, "{axis} {angle}");
            }
        }
    }
}
