//! A part of the stress at a point in one step, as an energy of the positions at its end.

use super::NAME;
use crate::energy::axisymmetric::RingDensity;
use crate::energy::element::{Element, Hessian};
use crate::energy::point::Point;
use crate::energy::term::Role;
use crate::material::PrincipalHessian;
use crate::material::inelastic::Response;
use standoff_linalg::{M3, Mat3, Svd, V3, Vec3, svd3};

/// A part of the stress at a point in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct InStep<const N: usize> {
    /// The point behind its flow.
    pub(super) point: Point<N>,
    pub(super) response: Response,
}

impl<const N: usize> InStep<N> {
    pub(super) fn svd(&self, x: &[Vec3; N]) -> Svd<f64> {
        Svd::from(&svd3(&self.point.deformation_gradient(x)))
    }

    fn second_derivative(&self, x: &[Vec3; N], project: bool) -> Hessian<N> {
        let svd = self.svd(x);
        let mut principal = self.response.principal_hessian(&svd.sigma);
        if project {
            principal.project_psd(true);
        }
        let form = principal.form(self.point.volume);
        let vt = svd.v.transpose();
        let rows = self.point.gradients.map(|g| V3::from(&Vec3::from(&vt * &V3::from(&g))));
        let mut h = [[Mat3::zeros(); N]; N];
        for a in 1..N {
            for b in a..N {
                let block: M3<f64> =
                    &(&svd.u * &form.block(&rows[a], &rows[b])) * &svd.u.transpose();
                h[a][b] = block.into();
                h[b][a] = h[a][b].transpose();
            }
        }
        // translations do no work
        for b in 1..N {
            h[0][b] = -(1..N).map(|a| h[a][b]).sum::<Mat3>();
            h[b][0] = h[0][b].transpose();
        }
        h[0][0] = -(1..N).map(|b| h[0][b]).sum::<Mat3>();
        h
    }
}

impl<const N: usize> Element<N> for InStep<N> {
    const NAME: &'static str = NAME;
    const ROLE: Role = Role::Inelastic;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    const TRANSLATION_INVARIANT: bool = true;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        self.point.volume * self.response.psi(&self.svd(x).sigma)
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let svd = self.svd(x);
        let stress = self.response.stress(&svd.sigma);
        let values = V3([0, 1, 2].map(|i| stress[i] / svd.sigma[i]));
        let p = Mat3::from(svd.with_values(&values)) * self.point.volume;
        let mut out = self.point.gradients.map(|g| p * g);
        out[0] = -out[1..].iter().sum::<Vec3>();
        out
    }

    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, false)
    }
}

impl RingDensity for Response {
    const NAME: &'static str = NAME;
    const ROLE: Role = Role::Inelastic;
    const BOUNDS: bool = false;

    fn psi(&self, f: &Mat3) -> f64 {
        Response::psi(self, &V3::from(&svd3(f).sigma))
    }

    fn pk1(&self, f: &Mat3) -> Mat3 {
        let svd = Svd::from(&svd3(f));
        let stress = self.stress(&svd.sigma);
        Mat3::from(svd.with_values(&V3([0, 1, 2].map(|i| stress[i] / svd.sigma[i]))))
    }

    fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian {
        Response::principal_hessian(self, sigma)
    }
}
