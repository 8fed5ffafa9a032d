//! BFGS updates of the projected Hessian: curvature that the projection hides, learnt from whole steps.

use super::lbfgs::{Lbfgs, dot};
use standoff_linalg::Vec3;

/// Curvature of the potential along a whole step, in units of that of the matrix, up to which updates begin. Our choice:
/// with 0.7, scenes with rods and friction need more iterations, with 0.3, folds and wrinkles do.
const BEGIN: f64 = 0.5;
/// The same for as long as they go on. A step along which the potential curves more went across a contact or
/// a kink, and says nothing about the next.
const GO_ON: f64 = 1.0;

/// The secants of the last whole steps of Newton's method.
///
/// Along folds and wrinkles the potential curves far less than the projected Hessian, so that Newton directions
/// are too short there, as steps and as estimates of the error. Secants tell the difference
/// [Nocedal & Wright 2006, §7.2, with the projected Hessian as the initial matrix].
#[derive(Debug, Default)]
pub struct Secants {
    memory: Lbfgs,
    /// The gradient at the start of the last step.
    gradient: Vec<Vec3>,
}

impl Secants {
    /// Takes up the step from `before` to `x`, where the gradient is `gradient`. A step that was not taken in full, or
    /// after which the potential is another one (`whole` is false), discards all pairs.
    pub fn update(&mut self, before: &[Vec3], x: &[Vec3], gradient: &[Vec3], whole: bool) {
        if whole && self.gradient.len() == gradient.len() {
            let difference = |a: &[Vec3], b: &[Vec3]| -> Vec<Vec3> {
                a.iter().zip(b).map(|(a, b)| a - b).collect()
            };
            let s = difference(x, before);
            // of a whole step s = −B⁻¹g with the matrix B: sᵀBs
            let of_matrix = -dot(&s, &self.gradient);
            let y = difference(gradient, &self.gradient);
            let bound = if self.memory.is_empty() { BEGIN } else { GO_ON };
            if dot(&s, &y) <= bound * of_matrix {
                self.memory.add(s, y);
            } else {
                self.memory.clear();
            }
        } else {
            self.memory.clear();
        }
        self.gradient.clear();
        self.gradient.extend_from_slice(gradient);
    }

    /// Forgets all; whether there was something to forget.
    pub fn forget(&mut self) -> bool {
        let known = !self.memory.is_empty();
        self.memory.clear();
        known
    }

    /// −D g, where D is the inverse of the projected Hessian, which `newton` applies to −g for an argument g, updated.
    ///
    /// # Errors
    /// The errors of `newton`.
    pub fn direction<E>(
        &self,
        gradient: &[Vec3],
        newton: impl FnOnce(&[Vec3]) -> Result<Vec<Vec3>, E>,
    ) -> Result<Vec<Vec3>, E> {
        if self.memory.is_empty() {
            return newton(gradient);
        }
        self.memory.direction(gradient, |q| {
            let g: Vec<Vec3> = q.iter().map(|q| -q).collect();
            newton(&g)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradient of ½ Σ kᵢ xᵢ², and its minimisation with a matrix that is `stiff` times too stiff in the second vertex. Returns the
    /// steps that are needed.
    fn steps(stiff: f64, updates: bool) -> usize {
        let k = [1.0, 3.0];
        let gradient = |x: &[Vec3]| -> Vec<Vec3> { x.iter().zip(k).map(|(x, k)| k * x).collect() };
        let mut secants = Secants::default();
        let (mut x, mut before) = (vec![Vec3::x(), Vec3::y()], Vec::new());
        for step in 0..1000 {
            let g = gradient(&x);
            if dot(&g, &g).sqrt() < 1e-10 {
                return step;
            }
            if updates {
                secants.update(&before, &x, &g, step > 0);
            }
            let matrix = [k[0], stiff * k[1]];
            let newton = |g: &[Vec3]| -> Result<Vec<Vec3>, ()> {
                Ok(g.iter().zip(matrix).map(|(g, k)| -g / k).collect())
            };
            let p = secants.direction(&g, newton).unwrap();
            before = x.clone();
            x.iter_mut().zip(p).for_each(|(x, p)| *x += p);
        }
        panic!("no minimum")
    }

    /// Without updates the error shrinks by 1 − 1/10 in a step.
    #[test]
    fn secants_find_the_curvature_that_a_matrix_exaggerates() {
        assert_eq!(steps(1.0, true), 1);
        assert!(steps(10.0, false) > 200);
        assert!(steps(10.0, true) < 6, "{}", steps(10.0, true));
    }

    fn update(secants: &mut Secants, s: f64, gradients: [f64; 2], whole: bool) -> bool {
        let at = |x: f64| vec![Vec3::x() * x];
        secants.gradient = at(gradients[0]);
        secants.update(&at(0.0), &at(s), &at(gradients[1]), whole);
        !secants.memory.is_empty()
    }

    #[test]
    fn updates_begin_where_the_curvature_is_small_and_end_where_it_is_large() {
        // a whole step of a matrix with the curvature 1, along which that of the potential is 1 − the slope left
        let begins = |left: f64| update(&mut Secants::default(), 1.0, [-1.0, -left], true);
        assert!(begins(0.6) && begins(0.9));
        assert!(!begins(0.4) && !begins(0.0) && !begins(-0.5));
        // no minimum along the step
        assert!(!begins(1.0) && !begins(1.5));
        let mut secants = Secants::default();
        assert!(update(&mut secants, 1.0, [-1.0, -0.6], true));
        assert!(
            update(&mut secants, 1.0, [-1.0, -0.1], true),
            "it goes on up to the curvature of the matrix"
        );
        assert!(!update(&mut secants, 1.0, [-1.0, 0.1], true), "across a contact");
        assert!(update(&mut secants, 1.0, [-1.0, -0.6], true));
        assert!(!update(&mut secants, 1.0, [-1.0, -0.6], false), "after a shortened step");
        assert!(!secants.forget());
    }
}
