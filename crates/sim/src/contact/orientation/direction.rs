//! Unit vectors as functions of difference vectors, with first and second derivatives.

use standoff_linalg::{Mat3, Vec3};

/// Matrix of v ↦ a × v.
#[inline]
fn cross_matrix(a: &Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// What a unit vector is the direction of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// Nothing: it is constant.
    Constant,
    /// a itself.
    Difference,
    /// a × ẑ.
    Turned,
    /// a × b.
    Cross(Vec3, Vec3),
    /// The part of b across a, times a·a.
    Across(Vec3, Vec3),
}

/// A unit vector û = ±N/|N| of one or two difference vectors a, b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// û.
    pub value: Vec3,
    /// ∂û/∂a, ∂û/∂b; the second is zero where û depends on a alone.
    pub slopes: [Mat3; 2],
    source: Source,
    /// |N|, with the sign.
    length: f64,
}

impl Unit {
    /// A constant unit vector.
    #[inline]
    pub fn constant(value: Vec3) -> Self {
        Self { value, slopes: [Mat3::zeros(); 2], source: Source::Constant, length: 1.0 }
    }

    /// Direction of `a`.
    #[inline]
    pub fn along(a: &Vec3) -> Self {
        let (value, length, e) = normalise(a, 1.0);
        Self { value, slopes: [e, Mat3::zeros()], source: Source::Difference, length }
    }

    /// Direction of a × ẑ: in the plane that of `a` turned clockwise by a right angle.
    #[inline]
    pub fn turned(a: &Vec3) -> Self {
        let (value, length, e) = normalise(&a.cross(&Vec3::z()), 1.0);
        let slopes = [e * -cross_matrix(&Vec3::z()), Mat3::zeros()];
        Self { value, slopes, source: Source::Turned, length }
    }

    /// Direction of `sign` · a × b.
    #[inline]
    pub fn cross(a: &Vec3, b: &Vec3, sign: f64) -> Self {
        let (value, length, e) = normalise(&a.cross(b), sign);
        let slopes = [e * -cross_matrix(b), e * cross_matrix(a)];
        Self { value, slopes, source: Source::Cross(*a, *b), length }
    }

    /// Direction of the part of `b` across `a`.
    #[inline]
    pub fn across(a: &Vec3, b: &Vec3) -> Self {
        let (value, length, e) = normalise(&(b * a.norm_squared() - a * a.dot(b)), 1.0);
        let (by_a, by_b) = across_slopes(a, b);
        Self { value, slopes: [e * by_a, e * by_b], source: Source::Across(*a, *b), length }
    }

    /// Number of difference vectors.
    #[inline]
    pub fn arguments(&self) -> usize {
        match self.source {
            Source::Constant => 0,
            Source::Difference | Source::Turned => 1,
            Source::Cross(..) | Source::Across(..) => 2,
        }
    }

    /// Second derivatives of g·û by (a, b): blocks aa, ab, bb.
    pub fn curvature(&self, g: &Vec3) -> [Mat3; 3] {
        let (u, l) = (self.value, self.length);
        let c = u.dot(g);
        let pg = g - u * c;
        let p = Mat3::identity() - u * u.transpose();
        // of g·N/|N| by N
        let k = (pg * u.transpose() + u * pg.transpose() + p * c) / -(l * l);
        match &self.source {
            Source::Constant => [Mat3::zeros(); 3],
            Source::Difference => [k, Mat3::zeros(), Mat3::zeros()],
            Source::Turned => {
                let j = -cross_matrix(&Vec3::z());
                [j.transpose() * k * j, Mat3::zeros(), Mat3::zeros()]
            }
            Source::Cross(a, b) => {
                let (ja, jb) = (-cross_matrix(b), cross_matrix(a));
                let (k_a, h) = (ja.transpose() * k, pg / l);
                [k_a * ja, k_a * jb - cross_matrix(&h), jb.transpose() * k * jb]
            }
            Source::Across(a, b) => {
                let (ja, jb) = across_slopes(a, b);
                let (k_a, h) = (ja.transpose() * k, pg / l);
                let aa = Mat3::from_diagonal_element(2.0 * h.dot(b))
                    - b * h.transpose()
                    - h * b.transpose();
                let ab = a * (h * 2.0).transpose()
                    - h * a.transpose()
                    - Mat3::from_diagonal_element(h.dot(a));
                [k_a * ja + aa, k_a * jb + ab, jb.transpose() * k * jb]
            }
        }
    }
}

/// û = `sign` n/|n|, sign |n| and ∂û/∂n.
#[inline]
fn normalise(n: &Vec3, sign: f64) -> (Vec3, f64, Mat3) {
    let length = sign * n.norm();
    let u = n / length;
    (u, length, (Mat3::identity() - u * u.transpose()) / length)
}

/// Derivatives of (a·a) b − (a·b) a by a and by b.
#[inline]
fn across_slopes(a: &Vec3, b: &Vec3) -> (Mat3, Mat3) {
    let by_a =
        b * (a * 2.0).transpose() - a * b.transpose() - Mat3::from_diagonal_element(a.dot(b));
    let by_b = Mat3::from_diagonal_element(a.norm_squared()) - a * a.transpose();
    (by_a, by_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(make: impl Fn(&Vec3, &Vec3) -> Unit, value: impl Fn(&Vec3, &Vec3) -> Vec3) {
        let a = Vec3::new(0.7, -0.2, 0.4);
        let b = Vec3::new(-0.3, 0.5, 0.9);
        let g = Vec3::new(0.2, -1.1, 0.6);
        let unit = make(&a, &b);
        assert!((unit.value - value(&a, &b)).norm() < 1e-15);
        let eps = 1e-5;
        let [aa, ab, bb] = unit.curvature(&g);
        for k in 0..3 {
            let d = Vec3::ith(k, eps);
            let (hi, lo) = (make(&(a + d), &b), make(&(a - d), &b));
            let slope = (hi.value - lo.value) / (2.0 * eps);
            assert!((unit.slopes[0].column(k) - slope).norm() < 1e-9);
            let rows = |u: &Unit| [u.slopes[0].transpose() * g, u.slopes[1].transpose() * g];
            let [da, db] = [0, 1].map(|i| (rows(&hi)[i] - rows(&lo)[i]) / (2.0 * eps));
            assert!((aa.column(k) - da).norm() < 1e-8);
            assert!((ab.row(k).transpose() - db).norm() < 1e-8);
            let (hi, lo) = (make(&a, &(b + d)), make(&a, &(b - d)));
            let slope = (hi.value - lo.value) / (2.0 * eps);
            assert!((unit.slopes[1].column(k) - slope).norm() < 1e-9);
            let db = (rows(&hi)[1] - rows(&lo)[1]) / (2.0 * eps);
            assert!((bb.column(k) - db).norm() < 1e-8);
        }
    }

    #[test]
    fn derivatives_match_differences() {
        check(|a, _| Unit::along(a), |a, _| a / a.norm());
        check(|a, _| Unit::turned(a), |a, _| a.cross(&Vec3::z()).normalize());
        check(|a, b| Unit::cross(a, b, 1.0), |a, b| a.cross(b).normalize());
        check(|a, b| Unit::cross(a, b, -1.0), |a, b| -a.cross(b).normalize());
        check(Unit::across, |a, b| (b - a * (a.dot(b) / a.norm_squared())).normalize());
    }
}
