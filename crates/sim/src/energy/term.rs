//! What an energy is to the rest of the simulator.

use super::projection::Projection;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Layout, Stencils};
use std::fmt::Debug;
use std::ops::Range;

/// What an energy is for, by which reports and solvers tell energies apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Deformation of bodies and what ties them: a part of `elastic_energy` in reports.
    Elastic,
    /// What flows in bodies: in a step the energy of what does not, and the work that becomes heat.
    Inelastic,
    /// Loads, and energies of a program that do not say what they are.
    Load,
    /// Damping of elastic energies.
    Damping,
    /// Surfaces that push each other apart: a part of `contact_energy` in reports.
    Contact,
    /// Friction.
    Friction,
    /// What takes multipliers or the place of equations: constraints of contact, and of prescribed motion.
    Constraint,
}

/// Where the parameters of a summand come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// What they belong to.
    pub owner: Owner<'a>,
    /// The key of that in a scene by which the summand grows; a material stands under `material`.
    pub key: &'static str,
}

/// What parameters belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The body of a vertex.
    BodyOf(u32),
    /// The load, attachment or seam of this name.
    Load(&'a str),
}

/// Takes the blocks of the next summand, `count` of them, off those that [`Term::hessians`] still has to fill.
pub(crate) fn next_blocks<'o>(out: &mut &'o mut [Mat3], count: usize) -> &'o mut [Mat3] {
    let (own, rest) = std::mem::take(out).split_at_mut(count);
    *out = rest;
    own
}

/// One energy of the incremental potential: a sum over stencils of a few vertices each, as a pure
/// function of the positions `x` (`#V`, m) of all vertices.
///
/// An energy says here, once, everything that the simulator needs of it. The potential, its gradient, the
/// pattern of the Newton matrix, its assembly, the energies of the report and the initial
/// acceleration all iterate over one list of terms (`IncrementalPotential::terms`). Energies whose stencils all
/// have the same number of vertices are easier to write as an [`Element`](super::Element).
///
/// The bits of every result must be a function of the arguments alone, whatever the number of threads.
///
/// # Example
///
/// Springs of rest length zero between given pairs of vertices, Ψ = Σ k/2 ‖x_a − x_b‖²:
///
/// ```
/// use standoff_linalg::{Mat3, Vec3};
/// use standoff_sim::energy::{Element, Elements, Hessian, Term};
///
/// #[derive(Debug, Clone)]
/// struct Tie {
///     /// k, N/m.
///     stiffness: f64,
/// }
///
/// impl Element<2> for Tie {
///     const NAME: &'static str = "ties";
///     const TRANSLATION_INVARIANT: bool = true;
///
///     fn value(&self, x: &[Vec3; 2]) -> f64 {
///         0.5 * self.stiffness * (x[0] - x[1]).norm_squared()
///     }
///
///     fn gradient(&self, x: &[Vec3; 2]) -> [Vec3; 2] {
///         let pull = self.stiffness * (x[0] - x[1]);
///         [pull, -pull]
///     }
///
///     fn hessian_psd(&self, _: &[Vec3; 2]) -> Hessian<2> {
///         let k = Mat3::from_diagonal_element(self.stiffness);
///         [[k, -k], [-k, k]]
///     }
/// }
///
/// let ties = Elements::from_parts(vec![[0, 1]], vec![Tie { stiffness: 2.0 }], 2);
/// let x = [Vec3::zeros(), Vec3::new(3.0, 0.0, 0.0)];
/// assert_eq!(ties.value(&x), 9.0);
/// let mut gradient = [Vec3::zeros(); 2];
/// ties.add_gradient(&x, &mut gradient);
/// assert_eq!(gradient[1], Vec3::new(6.0, 0.0, 0.0));
/// ```
pub trait Term: Debug + Send + Sync {
    /// Its row in the energies of a report.
    fn name(&self) -> &str;

    /// What it is for.
    fn role(&self) -> Role {
        Role::Load
    }

    /// Where the parameters of a summand come from, if a scene sets them.
    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        let _ = summand;
        None
    }

    /// The vertices of each summand; none for an energy that has no second derivative to give.
    ///
    /// Terms of elements have the same stencils for as long as a simulation lives.
    fn stencils(&self) -> Stencils<'_>;

    /// Which blocks [`Term::hessians`] gives.
    fn layout(&self) -> Layout {
        Layout::Complete
    }

    /// Energy, J; +∞ where it is not defined.
    fn value(&self, x: &[Vec3]) -> f64;

    /// Adds the derivative by the vertices (minus the forces), N, to `gradient` (`#V`).
    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]);

    /// Second derivatives of the summands of a range, N/m: one after the other the stored blocks, as [`Term::layout`] says. Those
    /// to which `projection` applies are projected to be positive semidefinite; the others may be.
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    );

    /// The largest step t ≤ 1 such that the energy stays defined all along `x` + [0, t] `dx`.
    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        let _ = (x, dx);
        1.0
    }

    /// Whether less than the given part of every limit of the energy is used at `x`: 1 for whether the
    /// energy is defined.
    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        let _ = (x, part);
        true
    }

    /// The same energy without its limits, where it has some: they act like contact, and are no part of elasticity.
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        None
    }
}

impl<T: Term + ?Sized> Term for &T {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn role(&self) -> Role {
        (**self).role()
    }
    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        (**self).origin(summand)
    }
    fn stencils(&self) -> Stencils<'_> {
        (**self).stencils()
    }
    fn layout(&self) -> Layout {
        (**self).layout()
    }
    fn value(&self, x: &[Vec3]) -> f64 {
        (**self).value(x)
    }
    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        (**self).add_gradient(x, gradient);
    }
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        (**self).hessians(range, x, projection, out);
    }
    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        (**self).max_step(x, dx)
    }
    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        (**self).within_limits(x, part)
    }
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        (**self).without_limits()
    }
}
