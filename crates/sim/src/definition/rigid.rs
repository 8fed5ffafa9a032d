//! Rigid bodies: their masses, and the four points that carry their surface.

use super::{BodyDef, BodyKind, CarriedSurface};
use standoff_linalg::{Mat3, Vec3, svd3};
use std::sync::Arc;

/// Directions of the control points from the centre of mass, before they are scaled: every other corner of a cube. Their sum is
/// zero and Σ s sᵀ is 4 times the identity.
const CORNERS: [[f64; 3]; 4] =
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]];

/// Number of control points.
pub const CONTROL_POINTS: usize = 4;

/// Part of the greatest radius of gyration below which a body has no extent in a direction.
const FLAT: f64 = 1e-6;

/// Mass, centre and second moment of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// m = ∫ ρ dV, kg.
    pub mass: f64,
    /// c = ∫ ρ x dV / m, m.
    pub centre: Vec3,
    /// C = ∫ ρ (x − c)(x − c)ᵀ dV, kg m². The inertia tensor is tr(C) I − C.
    pub second_moment: Mat3,
}

impl MassProperties {
    /// The mass properties of the inside of a closed surface with outward triangles (`#F×3`) over `points` (m), filled with a `density` (kg/m³):
    /// sums over the tetrahedra between a point and the triangles.
    ///
    /// # Errors
    /// The volume is not positive, in words.
    pub fn of_surface(
        points: &[Vec3],
        triangles: &[[u32; 3]],
        density: f64,
    ) -> Result<Self, String> {
        // about a point near the surface, so that no digits are lost far from the origin
        let about = points.first().copied().unwrap_or_default();
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for t in triangles {
            let [a, b, c] = t.map(|v| points[v as usize] - about);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += v / 4.0 * sum;
            // ∫ x xᵀ over a tetrahedron with a corner at the origin
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += v / 20.0 * (squares + sum * sum.transpose());
        }
        if !(volume > 0.0 && volume.is_finite()) {
            return Err(format!(
                "the volume inside of its surface is {volume:.3e} m³: the triangles have to close a body, counter-clockwise as seen \
                 from outside"
            ));
        }
        let centre = first / volume;
        let second_moment = density * (second - volume * centre * centre.transpose());
        Ok(Self { mass: density * volume, centre: about + centre, second_moment })
    }

    /// The mass properties with a mass (kg), a centre (m) and the inertia tensor about it (kg m²).
    pub fn of_inertia(mass: f64, centre: Vec3, inertia: &Mat3) -> Self {
        let second_moment = Mat3::from_diagonal_element(0.5 * inertia.trace()) - inertia;
        Self { mass, centre, second_moment }
    }

    /// The inertia tensor about the centre, kg m².
    pub fn inertia(&self) -> Mat3 {
        Mat3::from_diagonal_element(self.second_moment.trace()) - self.second_moment
    }

    /// The same body, `factor` times as dense.
    #[must_use]
    pub fn denser(&self, factor: f64) -> Self {
        let second_moment = factor * self.second_moment;
        Self { mass: factor * self.mass, centre: self.centre, second_moment }
    }

    /// The mass properties of two bodies together.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let centre = (self.mass * self.centre + other.mass * other.centre) / mass;
        let about = |body: &Self| {
            let d = body.centre - centre;
            body.second_moment + body.mass * d * d.transpose()
        };
        Self { mass, centre, second_moment: about(self) + about(other) }
    }

    /// These mass properties, if something can have them.
    ///
    /// # Errors
    /// Nothing can, in words.
    pub fn checked(self) -> Result<Self, String> {
        let (inertia, second_moment) = (self.inertia(), self.second_moment);
        let finite = self.centre.iter().chain(second_moment.iter()).all(|c| c.is_finite());
        if !(self.mass > 0.0 && self.mass.is_finite() && finite) {
            return Err("a mass must be positive (kg), a centre and an inertia finite".into());
        }
        let moments = second_moment.symmetric_eigenvalues();
        if moments.min() <= FLAT * FLAT * moments.max() {
            return Err(format!(
                "no body has the inertia [{}]: each principal moment is less than the sum of the other two",
                inertia
                    .symmetric_eigenvalues()
                    .iter()
                    .map(|m| format!("{m:.3e}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        Ok(self)
    }

    /// The same after the affine map x ↦ `linear` x with its mass unchanged, and with the `centre` there.
    #[must_use]
    pub fn mapped(&self, linear: &Mat3, centre: Vec3) -> Self {
        let second_moment = linear * self.second_moment * linear.transpose();
        Self { mass: self.mass, centre, second_moment }
    }

    /// The points of four masses of m/4 each that have the mass, the centre and the second moment of the body, m.
    ///
    /// A motion of the body that is affine, x(X) = Σ w_k(X) x_k with the barycentric coordinates w of X in these points, has then the
    /// kinetic energy Σ ½ (m/4) |ẋ_k|² exactly: of a density, that energy knows nothing but these three. The mass matrix of an affine
    /// body [Lan 2022] is therefore diagonal in these unknowns.
    ///
    /// # Errors
    /// The body has no extent in some direction, in words.
    pub fn control_points(&self) -> Result<[Vec3; CONTROL_POINTS], String> {
        let axes = svd3(&self.second_moment);
        let radii = (axes.sigma / self.mass).map(|s| s.max(0.0).sqrt());
        if !(self.mass > 0.0 && radii[2] > FLAT * radii[0] && radii[0].is_finite()) {
            return Err(format!(
                "its radii of gyration about its centre are {:.3e}, {:.3e} and {:.3e} m along its axes: a rigid body needs an extent in \
                 each of three directions",
                radii[0], radii[1], radii[2]
            ));
        }
        Ok(CORNERS.map(|s| self.centre + axes.u * Vec3::from(s).component_mul(&radii)))
    }
}

/// Barycentric coordinates of a point in a tetrahedron of control points.
pub(crate) fn coordinates(point: &Vec3, control: &[Vec3; CONTROL_POINTS]) -> [f64; CONTROL_POINTS] {
    let [a, b, c, d] = *control;
    let edges = Mat3::from_columns(&[b - a, c - a, d - a]);
    // control points span a tetrahedron
    let inverse = edges.try_inverse().unwrap_or_else(Mat3::zeros);
    let w = inverse * (point - a);
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
}

impl BodyDef {
    /// A rigid body with the closed surface `triangles` (`#F×3`, counter-clockwise from outside) over `points` (m): an affine body
    /// [Lan 2022] of four control points, the last vertices of the body, by which all of its points are carried.
    ///
    /// # Errors
    /// It has no extent in some direction, in words.
    pub fn rigid(
        name: impl Into<String>,
        points: Vec<Vec3>,
        triangles: Arc<Vec<[u32; 3]>>,
        masses: &MassProperties,
    ) -> Result<Self, String> {
        let control = masses.control_points()?;
        let n = points.len() as u32;
        let weights = points.iter().map(|p| coordinates(p, &control)).collect();
        let surface = CarriedSurface {
            triangles,
            on: Arc::new(vec![[n, n + 1, n + 2, n + 3]; points.len()]),
            weights: Arc::new(weights),
        };
        let mut rest = points;
        rest.extend_from_slice(&control);
        Ok(Self {
            name: name.into(),
            rest,
            kind: BodyKind::Rigid { mass: masses.mass },
            surface: Some(surface),
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with corners at ±half, turned and moved.
    fn solid_box(half: Vec3, turn: Mat3, centre: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner = |k: usize| {
            let side = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            centre + turn * Vec3::new(side(0), side(1), side(2)).component_mul(&half)
        };
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        ((0..8).map(corner).collect(), triangles.collect())
    }

    fn turn() -> Mat3 {
        *standoff_linalg::nalgebra::Rotation3::from_scaled_axis(Vec3::new(0.3, -0.8, 0.5)).matrix()
    }

    /// A box is two halves together, has its own inertia tensor, and is denser with more mass.
    #[test]
    fn mass_properties_add_up() {
        let half = Vec3::new(0.3, 0.2, 0.5);
        let of = |half: Vec3, centre: Vec3| {
            let (points, triangles) = solid_box(half, Mat3::identity(), centre);
            MassProperties::of_surface(&points, &triangles, 700.0).unwrap()
        };
        let whole = of(half, Vec3::new(1.0, -2.0, 0.4));
        let [left, right] =
            [0.85, 1.15].map(|x| of(Vec3::new(0.15, 0.2, 0.5), Vec3::new(x, -2.0, 0.4)));
        let both = left.with(&right);
        assert!((both.mass - whole.mass).abs() < 1e-12 * whole.mass);
        assert!((both.centre - whole.centre).norm() < 1e-14);
        assert!((both.second_moment - whole.second_moment).norm() < 1e-12);
        // m (b² + c²)/3 about the first axis, with half lengths
        let about_x = whole.mass * (0.04 + 0.25) / 3.0;
        assert!((whole.inertia()[(0, 0)] - about_x).abs() < 1e-12 * about_x);
        let again = MassProperties::of_inertia(whole.mass, whole.centre, &whole.inertia());
        assert!((again.second_moment - whole.second_moment).norm() < 1e-12);
        let denser = whole.denser(3.0);
        assert!((denser.mass - 3.0 * whole.mass).abs() < 1e-12 * whole.mass);
        assert!((denser.inertia() - 3.0 * whole.inertia()).norm() < 1e-11);
        assert!(whole.checked().is_ok());
        let impossible = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 2.1));
        let error = MassProperties::of_inertia(1.0, Vec3::zeros(), &impossible).checked();
        assert!(error.unwrap_err().contains("less than the sum of the other two"));
    }

    /// m = ρ 8abc and C = m diag(a², b², c²)/3 in the axes of the box.
    #[test]
    fn a_box_has_the_moments_of_its_closed_form() {
        let (half, centre) = (Vec3::new(0.3, 0.05, 0.2), Vec3::new(40.0, -3.0, 7.0));
        let (points, triangles) = solid_box(half, turn(), centre);
        let found = MassProperties::of_surface(&points, &triangles, 700.0).unwrap();
        let mass = 700.0 * 8.0 * half.x * half.y * half.z;
        assert!((found.mass - mass).abs() < 1e-12 * mass);
        assert!((found.centre - centre).norm() < 1e-12);
        let own = mass / 3.0 * Mat3::from_diagonal(&half.component_mul(&half));
        let expected = turn() * own * turn().transpose();
        assert!((found.second_moment - expected).norm() < 1e-12 * expected.norm());
    }

    /// Four masses of m/4 have the mass, the centre and the second moment, and carry every point where it is.
    #[test]
    fn control_points_have_the_moments_of_the_body() {
        let (points, triangles) =
            solid_box(Vec3::new(0.3, 0.05, 0.2), turn(), Vec3::new(0.4, -3.0, 7.0));
        let of = MassProperties::of_surface(&points, &triangles, 700.0).unwrap();
        let body = BodyDef::rigid("box", points.clone(), Arc::new(triangles), &of).unwrap();
        let control = &body.rest[body.unknowns()];
        let mean = control.iter().sum::<Vec3>() / 4.0;
        assert!((mean - of.centre).norm() < 1e-14 * 7.0);
        let second: Mat3 =
            control.iter().map(|p| of.mass / 4.0 * (p - mean) * (p - mean).transpose()).sum();
        assert!((second - of.second_moment).norm() < 1e-13 * second.norm());
        let carried = body.surface.as_ref().unwrap();
        for (p, again) in points.iter().zip(carried.points(&body.rest)) {
            assert!((p - again).norm() < 1e-13);
        }
        let [a, b, c, d] = [control[0], control[1], control[2], control[3]];
        assert!((b - a).cross(&(c - a)).dot(&(d - a)) > 0.0, "an element that is not inverted");
    }

    #[test]
    fn what_has_no_inside_or_no_extent_is_refused() {
        let (points, triangles) =
            solid_box(Vec3::new(0.3, 0.05, 0.2), turn(), Vec3::new(0.4, -3.0, 7.0));
        let inside_out: Vec<_> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        let error = MassProperties::of_surface(&points, &inside_out, 700.0).unwrap_err();
        assert!(error.contains("-2.400e-2 m³"), "{error}");
        let flat = MassProperties {
            mass: 1.0,
            centre: Vec3::zeros(),
            second_moment: Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0)),
        };
        let error = flat.control_points().unwrap_err();
        assert!(error.contains("1.000e0, 1.000e0 and 0.000e0 m"), "{error}");
    }
}
