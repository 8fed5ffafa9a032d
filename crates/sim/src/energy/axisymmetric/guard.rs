//! Barriers of rings against inversion, and against corners that come to the axis.

use super::{AtRing, RingDensity};
use crate::energy::term::Role;
use crate::material::inversion::{VOLUME_RATIO, barrier};
use crate::material::{Lame, PrincipalHessian};
use standoff_linalg::{M3, Mat3, V3};

/// The barrier against inversion at the end of a step, see `guard`; it bounds the step, too, where the energy is evaluated before its end.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeBarrier {
    pub(super) lame: Lame,
    pub(super) acts: bool,
}

/// The barrier of a triangle.
pub type RingGuard = AtRing<VolumeBarrier>;

impl VolumeBarrier {
    /// The barrier and its derivatives at J, where it acts.
    fn at(&self, j: f64) -> Option<[f64; 3]> {
        (self.acts && j < VOLUME_RATIO).then(|| barrier(&self.lame, j))
    }
}

impl RingDensity for VolumeBarrier {
    const NAME: &'static str = "inversion barrier";
    const ROLE: Role = Role::Constraint;
    const BOUNDS: bool = true;

    fn psi(&self, f: &Mat3) -> f64 {
        self.at(f.determinant()).map_or(0.0, |[b, ..]| b)
    }

    fn pk1(&self, f: &Mat3) -> Mat3 {
        // ∂J/∂F is the matrix of cofactors
        let slope = |[_, d, _]: [f64; 3]| Mat3::from(M3::from(f).cofactor()) * d;
        self.at(f.determinant()).map_or(Mat3::zeros(), slope)
    }

    fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian {
        let [_, d, dd] = self.at(sigma[0] * sigma[1] * sigma[2]).unwrap_or_default();
        PrincipalHessian::of_volume(sigma, d, dd)
    }

    fn guards_radii(&self) -> Option<&Lame> {
        self.acts.then_some(&self.lame)
    }

    /// Nothing: it is a limit and nothing else.
    fn without_limits(&self) -> Option<Self> {
        Some(Self { acts: false, ..self.clone() })
    }
}

/// The barrier w(r/R) of invertible laws with its derivatives by r, where it acts; nothing on the axis, where R is 0.
pub(in crate::energy) fn radius_barrier(lame: &Lame, r: f64, rest: f64) -> Option<[f64; 3]> {
    let ratio = r / rest;
    // what is not a number acts, so that it is seen
    let acts = rest > 0.0 && (ratio < VOLUME_RATIO || ratio.is_nan());
    acts.then(|| {
        let [w, first, second] = barrier(lame, ratio);
        [w, first / rest, second / (rest * rest)]
    })
}
