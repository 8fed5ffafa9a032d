//! Energies of fibres in solids, at the points at which the law of the solid is evaluated; the formulas are in [`crate::material::fibres`].
//!
//! F a = Σ (∇Nₙ·a) xₙ is linear in positions, and the energy depends on nothing else of them: with p = ∂ψ/∂(F a) the force on a
//! vertex is −V (∇Nₙ·a) p. Of bodies of revolution the radius of a vertex adds to the third component, see
//! [`axisymmetric`](super::axisymmetric).

mod build;

use super::element::{Element, Elements, Hessian};
use super::quadratic_tet::NODES;
use super::solids::Solids;
use super::term::{Role, Term};
use crate::material::fibres::FibreLaw;
pub use build::{Family, NoDirection, fibres};
use standoff_geometry::quadratic::TRIANGLE_NODES;
use standoff_linalg::{Mat3, Vec3};

/// A bit of a fibre: F a of a point as a function of the N vertices of its element.
#[derive(Debug, Clone, PartialEq)]
pub struct Strand<const N: usize> {
    /// ∇Nₙ·a, 1/m.
    along: [f64; N],
    /// What the radius of a vertex adds to the third component of F a, 1/m; 0 but of bodies of revolution.
    around: [f64; N],
    /// What F a has beside positions.
    still: Vec3,
    /// Rest volume, m³.
    volume: f64,
    /// Whether nothing moves along z.
    planar: bool,
}

impl<const N: usize> Strand<N> {
    /// F a at positions `x`.
    fn vector(&self, x: &[Vec3; N]) -> Vec3 {
        let mut d = self.still;
        for n in 1..N {
            // the gradients sum to zero
            d += self.along[n] * (x[n] - x[0]);
        }
        d.z += self.around.iter().zip(x).map(|(k, x)| k * x.x).sum::<f64>();
        d
    }

    /// The bit of what is `g` times as long without stress.
    fn grown(&self, g: f64) -> Self {
        Self {
            along: self.along.map(|a| a / g),
            around: self.around.map(|k| k / g),
            still: self.still / g,
            volume: self.volume * g.powi(3),
            planar: self.planar,
        }
    }

    /// The derivative of V ψ by the vertices, with p = ∂ψ/∂(F a).
    fn pulled(&self, p: &Vec3) -> [Vec3; N] {
        let p = p * self.volume;
        let mut out = [Vec3::zeros(); N];
        for n in 0..N {
            out[n] = self.along[n] * p;
            out[n].x += self.around[n] * p.z;
            if self.planar {
                out[n].z = 0.0;
            }
        }
        out
    }

    /// The second derivative of V ψ by the vertices, with `h` = ∂²ψ/∂(F a)².
    fn second_derivative(&self, h: &Mat3) -> Hessian<N> {
        let h = h * self.volume;
        std::array::from_fn(|m| {
            std::array::from_fn(|n| {
                let mut block = self.along[m] * self.along[n] * h;
                for i in 0..3 {
                    block[(i, 0)] += self.along[m] * self.around[n] * h[(i, 2)];
                    block[(0, i)] += self.around[m] * self.along[n] * h[(2, i)];
                }
                block[(0, 0)] += self.around[m] * self.around[n] * h[(2, 2)];
                if self.planar {
                    for i in 0..3 {
                        (block[(2, i)], block[(i, 2)]) = (0.0, 0.0);
                    }
                }
                block
            })
        })
    }
}

/// What a fibre resists with at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Fibre<const N: usize> {
    strand: Strand<N>,
    law: FibreLaw,
    /// Number of the element among those of solids.
    element: u32,
    /// Number of the point among those of the element.
    point: u8,
}

impl<const N: usize> Element<N> for Fibre<N> {
    const NAME: &'static str = "fibres";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.fibres");
    // the rings of a body of revolution are stretched where they are moved outwards
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        self.strand.volume * self.law.energy(self.strand.vector(x).norm_squared())[0]
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let d = self.strand.vector(x);
        self.strand.pulled(&(2.0 * self.law.energy(d.norm_squared())[1] * d))
    }

    /// Both are positive semidefinite: a stretched fibre resists in all directions, and one that is compressed in none.
    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N> {
        let d = self.strand.vector(x);
        let [_, first, second] = self.law.energy(d.norm_squared());
        let h = Mat3::from_diagonal_element(2.0 * first) + 4.0 * second * d * d.transpose();
        self.strand.second_derivative(&h)
    }
}

/// What a fibre draws with at a point in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Muscle<const N: usize> {
    strand: Strand<N>,
    /// Number of its tension.
    number: u32,
    /// Number of the element among those of solids.
    element: u32,
    /// Number of the point among those of the element.
    point: u8,
    /// T, Pa.
    tension: f64,
}

impl<const N: usize> Muscle<N> {
    fn second_derivative(&self, x: &[Vec3; N], tension: f64) -> Hessian<N> {
        let d = self.strand.vector(x);
        let length = d.norm();
        // a fibre without length has no direction
        let h = match length > 0.0 {
            true => {
                let across = Mat3::identity() - d * d.transpose() / (length * length);
                across * (tension / length)
            }
            false => Mat3::zeros(),
        };
        self.strand.second_derivative(&h)
    }
}

impl<const N: usize> Element<N> for Muscle<N> {
    const NAME: &'static str = "muscles";
    const ROLE: Role = Role::Load;
    const KEY: Option<&'static str> = Some("material.fibres");
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        self.strand.volume * self.tension * (self.strand.vector(x).norm() - 1.0)
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let d = self.strand.vector(x);
        let length = d.norm();
        let p = if length > 0.0 { self.tension / length * d } else { Vec3::zeros() };
        self.strand.pulled(&p)
    }

    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, self.tension.max(0.0))
    }

    fn hessian(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, self.tension)
    }
}

/// All fibres of solids, one kind of elements after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fibres {
    tets: Elements<Fibre<4>, 4>,
    triangles: Elements<Fibre<3>, 3>,
    quadratic: Elements<Fibre<NODES>, NODES>,
    quadratic_triangles: Elements<Fibre<TRIANGLE_NODES>, TRIANGLE_NODES>,
}

/// Those that draw themselves together.
#[derive(Debug, Clone, Default)]
pub struct Muscles {
    tets: Elements<Muscle<4>, 4>,
    triangles: Elements<Muscle<3>, 3>,
    quadratic: Elements<Muscle<NODES>, NODES>,
    quadratic_triangles: Elements<Muscle<TRIANGLE_NODES>, TRIANGLE_NODES>,
}

/// A term that has summands.
fn some<E: Element<N>, const N: usize>(of: &Elements<E, N>) -> Option<&dyn Term> {
    (!of.is_empty()).then_some(of as &dyn Term)
}

impl Fibres {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let linear = [some(&self.tets), some(&self.triangles)];
        let quadratic = [some(&self.quadratic), some(&self.quadratic_triangles)];
        linear.into_iter().chain(quadratic).flatten()
    }

    /// Those that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self {
            tets: self.tets.touching(wanted),
            triangles: self.triangles.touching(wanted),
            quadratic: self.quadratic.touching(wanted),
            quadratic_triangles: self.quadratic_triangles.touching(wanted),
        }
    }

    /// The fibres of solids whose element e is `g(e)` times as long without stress.
    #[must_use]
    pub fn grown(&self, g: impl Fn(usize) -> f64) -> Self {
        Self {
            tets: grown_fibres(&self.tets, &g),
            triangles: grown_fibres(&self.triangles, &g),
            quadratic: grown_fibres(&self.quadratic, &g),
            quadratic_triangles: grown_fibres(&self.quadratic_triangles, &g),
        }
    }

    /// Adds the Cauchy stress of fibres, and of what they draw with (Pa), to that at each point of `solids`.
    pub fn add_stresses(&self, muscles: &Muscles, solids: &Solids, x: &[Vec3], out: &mut [Mat3]) {
        if self.terms().chain(muscles.terms()).next().is_none() {
            return;
        }
        let ratios: Vec<f64> =
            solids.gradients_at_points(x).iter().map(|f| f.determinant()).collect();
        let mut add = |element: u32, point: u8, d: &Vec3, along: f64| {
            let point = solids.points_of(element as usize).start + point as usize;
            out[point] += d * d.transpose() * (along / ratios[point]);
        };
        stresses_of(&self.tets, x, &mut add);
        stresses_of(&self.triangles, x, &mut add);
        stresses_of(&self.quadratic, x, &mut add);
        stresses_of(&self.quadratic_triangles, x, &mut add);
        tensions_of(&muscles.tets, x, &mut add);
        tensions_of(&muscles.triangles, x, &mut add);
        tensions_of(&muscles.quadratic, x, &mut add);
        tensions_of(&muscles.quadratic_triangles, x, &mut add);
    }
}

/// Gives `add` the element of each fibre, its point, F a, and the stress along the fibre over λ².
fn stresses_of<const N: usize>(
    fibres: &Elements<Fibre<N>, N>,
    x: &[Vec3],
    add: &mut impl FnMut(u32, u8, &Vec3, f64),
) {
    for (k, fibre) in fibres.elements.iter().enumerate() {
        let d = fibre.strand.vector(&fibres.gather(k, x));
        let [_, first, _] = fibre.law.energy(d.norm_squared());
        add(fibre.element, fibre.point, &d, 2.0 * first);
    }
}

/// The same of what draws.
fn tensions_of<const N: usize>(
    muscles: &Elements<Muscle<N>, N>,
    x: &[Vec3],
    add: &mut impl FnMut(u32, u8, &Vec3, f64),
) {
    for (k, muscle) in muscles.elements.iter().enumerate() {
        let d = muscle.strand.vector(&muscles.gather(k, x));
        let length = d.norm();
        if length > 0.0 {
            add(muscle.element, muscle.point, &d, muscle.tension / length);
        }
    }
}

impl Muscles {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let linear = [some(&self.tets), some(&self.triangles)];
        let quadratic = [some(&self.quadratic), some(&self.quadratic_triangles)];
        linear.into_iter().chain(quadratic).flatten()
    }

    /// The fibres of solids whose element e is `g(e)` times as long without stress.
    #[must_use]
    pub fn grown(&self, g: impl Fn(usize) -> f64) -> Self {
        Self {
            tets: grown_muscles(&self.tets, &g),
            triangles: grown_muscles(&self.triangles, &g),
            quadratic: grown_muscles(&self.quadratic, &g),
            quadratic_triangles: grown_muscles(&self.quadratic_triangles, &g),
        }
    }

    /// With these tensions by number, Pa.
    #[must_use]
    pub fn with(&self, tensions: &[f64]) -> Self {
        Self {
            tets: with_tensions(&self.tets, tensions),
            triangles: with_tensions(&self.triangles, tensions),
            quadratic: with_tensions(&self.quadratic, tensions),
            quadratic_triangles: with_tensions(&self.quadratic_triangles, tensions),
        }
    }
}

fn grown_fibres<const N: usize>(
    of: &Elements<Fibre<N>, N>,
    g: &impl Fn(usize) -> f64,
) -> Elements<Fibre<N>, N> {
    let now = |f: &Fibre<N>| Fibre { strand: f.strand.grown(g(f.element as usize)), ..f.clone() };
    of.with(of.elements.iter().map(now).collect())
}

fn grown_muscles<const N: usize>(
    of: &Elements<Muscle<N>, N>,
    g: &impl Fn(usize) -> f64,
) -> Elements<Muscle<N>, N> {
    let now = |m: &Muscle<N>| Muscle { strand: m.strand.grown(g(m.element as usize)), ..m.clone() };
    of.with(of.elements.iter().map(now).collect())
}

fn with_tensions<const N: usize>(
    of: &Elements<Muscle<N>, N>,
    tensions: &[f64],
) -> Elements<Muscle<N>, N> {
    let now = |m: &Muscle<N>| Muscle { tension: tensions[m.number as usize], ..m.clone() };
    of.with(of.elements.iter().map(now).collect())
}

#[cfg(test)]
mod tests;
