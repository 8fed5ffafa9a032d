//! Bending energy of a hinge, two triangles with a common edge:
//!
//! Ψ = c (θ − θ̄)²,  c = k · 3 |ē|²/Ā,  k = E ξ³ / (24 (1 − ν²)),
//!
//! with the dihedral angle θ (0 where flat), its rest value θ̄, the rest length |ē| of the edge, the
//! sum Ā of both rest areas and the thickness ξ [Grinspun 2003; Li 2020 thesis, §2.2.2].

use super::element::{Element, Hessian};
use crate::contact::psd;
use standoff_linalg::{Mat3, Vec3};

/// One hinge. Vertices: the edge's two ends x₀, x₁, then the corner x₂ of the triangle
/// (x₀, x₁, x₂) and x₃ of (x₁, x₀, x₃).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// c, J.
    stiffness: f64,
    /// θ̄, rad.
    rest_angle: f64,
}

/// Bending modulus k of a sheet, N m: half of the flexural rigidity.
pub fn bending_modulus(young_modulus: f64, poisson_ratio: f64, thickness: f64) -> f64 {
    young_modulus * thickness.powi(3) / (24.0 * (1.0 - poisson_ratio * poisson_ratio))
}

impl Hinge {
    /// The hinge over rest positions `rest` (m) with the bending modulus k (N m). `rest_angle` (rad)
    /// replaces the angle of the rest positions.
    pub fn new(rest: &[Vec3; 4], modulus: f64, rest_angle: Option<f64>) -> Self {
        let e = rest[1] - rest[0];
        let double_areas =
            e.cross(&(rest[2] - rest[0])).norm() + e.cross(&(rest[3] - rest[0])).norm();
        Self {
            stiffness: modulus * 6.0 * e.norm_squared() / double_areas,
            rest_angle: rest_angle.unwrap_or_else(|| angle(rest)),
        }
    }

    /// Rest angle θ̄, rad.
    pub fn rest_angle(&self) -> f64 {
        self.rest_angle
    }
}

/// The dihedral angle θ in (−π, π], rad: 0 where the triangles lie in one plane on either side of
/// the edge.
pub fn angle(x: &[Vec3; 4]) -> f64 {
    let e = x[1] - x[0];
    let n1 = e.cross(&(x[2] - x[0]));
    let n2 = (x[3] - x[0]).cross(&e);
    // + 0 turns −0 into 0: folded flat is π
    ((n1.cross(&n2)).dot(&e) / e.norm() + 0.0).atan2(n1.dot(&n2))
}

/// Gradient of θ by (e, a, b) = (x₁−x₀, x₂−x₀, x₃−x₀) and what its derivatives need.
struct Slopes {
    e: Vec3,
    a: Vec3,
    b: Vec3,
    n1: Vec3,
    n2: Vec3,
    /// Where the feet of the corners lie on the edge, in units of it.
    s: [f64; 2],
    by_e: Vec3,
    by_a: Vec3,
    by_b: Vec3,
}

impl Slopes {
    #[inline]
    fn new(x: &[Vec3; 4]) -> Self {
        let (e, a, b) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let (n1, n2) = (e.cross(&a), b.cross(&e));
        let ee = e.norm_squared();
        let length = ee.sqrt();
        let by_a = n1 * (-length / n1.norm_squared());
        let by_b = n2 * (-length / n2.norm_squared());
        let s = [a.dot(&e) / ee, b.dot(&e) / ee];
        Self { e, a, b, n1, n2, s, by_e: -(by_a * s[0] + by_b * s[1]), by_a, by_b }
    }

    fn corners(&self) -> [Vec3; 4] {
        [-(self.by_e + self.by_a + self.by_b), self.by_e, self.by_a, self.by_b]
    }

    /// Second derivatives of θ by (e, a, b) [Tamstorf 2013].
    fn curvature(&self) -> [[Mat3; 3]; 3] {
        let Self { e, a, b, n1, n2, s, by_a, by_b, .. } = self;
        let ee = e.norm_squared();
        let unit = e / ee.sqrt();
        let mirror = |n: &Vec3| {
            let nn = n.norm_squared();
            let m = Mat3::identity() - n * n.transpose() * (2.0 / nn);
            m * (ee.sqrt() / nn)
        };
        let (m1, m2) = (mirror(n1), mirror(n2));
        let length_1 = n1 * unit.transpose() / n1.norm_squared();
        let length_2 = n2 * unit.transpose() / n2.norm_squared();
        let aa = -m1 * e.cross_matrix();
        let ae = m1 * a.cross_matrix() - length_1;
        let bb = m2 * e.cross_matrix();
        let be = -m2 * b.cross_matrix() - length_2;
        let ds1 = a / ee - e * (2.0 * s[0] / ee);
        let ds2 = b / ee - e * (2.0 * s[1] / ee);
        let e_e = -by_a * ds1.transpose() - ae * s[0] - by_b * ds2.transpose() - be * s[1];
        [[e_e, ae.transpose(), be.transpose()], [ae, aa, Mat3::zeros()], [be, Mat3::zeros(), bb]]
    }
}

impl Element<4> for Hinge {
    #[inline]
    fn value(&self, x: &[Vec3; 4]) -> f64 {
        let value = self.stiffness * (angle(x) - self.rest_angle).powi(2);
        if value.is_nan() { f64::INFINITY } else { value }
    }

    #[inline]
    fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        let slope = 2.0 * self.stiffness * (angle(x) - self.rest_angle);
        if slope == 0.0 {
            return [Vec3::zeros(); 4];
        }
        Slopes::new(x).corners().map(|g| g * slope)
    }

    /// 2c [∇θ ∇θᵀ + (θ − θ̄) ∇²θ], projected in the coordinates (e, a, b).
    fn hessian_psd(&self, x: &[Vec3; 4]) -> Hessian<4> {
        let slopes = Slopes::new(x);
        let bent = angle(x) - self.rest_angle;
        let g = [slopes.by_e, slopes.by_a, slopes.by_b];
        let c = slopes.curvature();
        let mut m = [[0.0; 9]; 9];
        for i in 0..3 {
            for j in 0..3 {
                let block = (g[i] * g[j].transpose() + c[i][j] * bent) * (2.0 * self.stiffness);
                for r in 0..3 {
                    for s in 0..3 {
                        m[3 * i + r][3 * j + s] = block[(r, s)];
                    }
                }
            }
        }
        psd::project(&mut m);
        let h: [[Mat3; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| Mat3::from_fn(|r, s| m[3 * i + r][3 * j + s]))
        });
        from_relative(&h)
    }
}

/// Blocks by vertices 0 … 3 of a function of (x₁−x₀, x₂−x₀, x₃−x₀).
fn from_relative(h: &[[Mat3; 3]; 3]) -> Hessian<4> {
    let mut out = [[Mat3::zeros(); 4]; 4];
    for i in 0..3 {
        for j in 0..3 {
            out[i + 1][j + 1] = h[i][j];
            out[0][j + 1] -= h[i][j];
            out[i + 1][0] -= h[i][j];
            out[0][0] += h[i][j];
        }
    }
    out
}
