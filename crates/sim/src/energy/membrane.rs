//! Membrane energy of a triangle: Ψ = A ξ ψ(F) with F = [x₁−x₀, x₂−x₀] Dₘ⁻¹ ∈ R^{3×2}, A the rest
//! area and ξ the thickness [Li 2020 thesis, §2.2.2], and the strain limit of the same triangle
//! [Li 2021, §4].
//!
//! The projection of isotropic laws is analytic, in the basis of the singular vectors
//! F = Σ σᵢ uᵢ vᵢᵀ: stretches (2×2), the two combinations of u₁v₂ᵀ and u₂v₁ᵀ, and both motions out
//! of plane, of stiffness ψᵢ/σᵢ. The orthotropic law's is numeric (6×6).

// long: one element: energy, gradient, Hessian as it is and projected, for isotropic and orthotropic laws, and the limit of the stretch

#[cfg(test)]
mod tests;

use super::element::{Element, Hessian};
use super::formula::{self, Batch, Formula, Source, by_formula, plain};
use super::projection::Projection;
use super::term::Role;
use crate::material::membrane::{
    Fibres, Green, MembraneLaw, Orthotropic, Principal, SheetLame, StretchLimit,
};
use standoff_linalg::{M3, Mask, Mat3, Real, V3, Vec3, lanes, perpendicular, project_where};

/// What a triangle is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sheet {
    /// The same in all directions.
    Isotropic(MembraneLaw, SheetLame),
    /// Along and across fibres.
    Orthotropic(Orthotropic),
}

/// One triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Membrane {
    /// Gradients of the shape functions of corners 1 and 2 in the triangle's plane at rest, along
    /// and across the fibres, 1/m.
    shape: [[f64; 2]; 2],
    /// Rest area, m².
    area: f64,
    /// Rest area times thickness, m³.
    volume: f64,
    sheet: Sheet,
    /// Limit of its principal stretches.
    pub limit: Option<StretchLimit>,
}

impl Membrane {
    /// The triangle with rest corners `rest` (m), thickness (m) and material. `fibre` is the
    /// direction of the fibres, which is projected onto the triangle; by default its first edge.
    /// `None` where the triangle has no area or the fibres are perpendicular to it.
    pub fn new(
        rest: &[Vec3; 3],
        thickness: f64,
        sheet: Sheet,
        fibre: Option<Vec3>,
    ) -> Option<Self> {
        let (a, b) = (rest[1] - rest[0], rest[2] - rest[0]);
        let n = a.cross(&b);
        let double_area = n.norm();
        // what rounding may contribute
        let noise = 8.0 * f64::EPSILON * a.norm() * b.norm();
        if !(double_area > noise && double_area.is_finite()) {
            return None;
        }
        let n = n / double_area;
        let along = fibre.unwrap_or(a);
        let along = along - n * n.dot(&along);
        let length = along.norm();
        if length <= 1e-6 * fibre.unwrap_or(a).norm() {
            return None;
        }
        let d1 = along / length;
        let d2 = n.cross(&d1);
        let (a, b) = ([a.dot(&d1), a.dot(&d2)], [b.dot(&d1), b.dot(&d2)]);
        let det = a[0] * b[1] - a[1] * b[0];
        let shape = [[b[1] / det, -b[0] / det], [-a[1] / det, a[0] / det]];
        let area = 0.5 * double_area;
        Some(Self { shape, area, volume: area * thickness, sheet, limit: None })
    }

    /// Whether its stretch or its strain is limited.
    pub fn is_limited(&self) -> bool {
        let strains = |sheet: &Sheet| match sheet {
            Sheet::Orthotropic(law) => law.limits.is_some(),
            Sheet::Isotropic(..) => false,
        };
        self.limit.is_some() || strains(&self.sheet)
    }

    /// Takes the limit of its principal stretches off: the triangle of that limit alone.
    pub(super) fn take_limit(&mut self) -> Self {
        let nothing = SheetLame { mu: 0.0, lambda: 0.0 };
        let sheet = Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, nothing);
        Self { sheet, limit: self.limit.take(), ..*self }
    }

    /// Multiplies what the limits add to the energy.
    pub fn weigh_limits(&mut self, factor: f64) {
        if let Some(limit) = &mut self.limit {
            limit.stiffness *= factor;
        }
        if let Sheet::Orthotropic(law) = &mut self.sheet {
            law.limit_weight *= factor;
        }
    }

    /// Rest area, m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Rest area times thickness, m³.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Frobenius norm of ∂²ψ/∂F² at rest, Pa, without the limit.
    pub fn rest_stiffness(&self) -> f64 {
        let (a, shear) = match &self.sheet {
            Sheet::Isotropic(_, SheetLame { mu, lambda }) => {
                ([lambda + 2.0 * mu, lambda + 2.0 * mu, *lambda], *mu)
            }
            Sheet::Orthotropic(law) => (law.a, law.shear),
        };
        (a[0] * a[0] + a[1] * a[1] + 2.0 * a[2] * a[2] + 4.0 * shear * shear).sqrt()
    }

    /// Principal stretches, σ₁ ≥ σ₂.
    pub fn stretches(&self, x: &[Vec3; 3]) -> [f64; 2] {
        let strain = Strain::new(&gradient_of_map(self, &plain(x)));
        [strain.stretch, strain.smaller_stretch()]
    }

    /// Green's strain E₁₁, E₂₂, E₁₂ along, across the fibres, and their shear.
    pub fn strain(&self, x: &[Vec3; 3]) -> [f64; 3] {
        Strain::new(&gradient_of_map(self, &plain(x))).green()
    }

    /// Von Mises equivalent of the Cauchy stress in the current plane, Pa, with the thickness at
    /// rest.
    pub fn von_mises(&self, x: &[Vec3; 3]) -> f64 {
        let f = gradient_of_map(self, &plain(x));
        let p = pk1(self, &f).map(Vec3::from);
        let f = f.map(Vec3::from);
        let j = f[0].cross(&f[1]).norm();
        // σ = P Fᵀ / J, symmetric and tangential
        let sigma = (p[0] * f[0].transpose() + p[1] * f[1].transpose()) / j;
        let deviator = sigma - Mat3::from_diagonal_element(sigma.trace() / 3.0);
        (1.5 * deviator.norm_squared()).sqrt()
    }

    /// Bits of what the triangle is made of.
    #[inline(always)]
    fn kinds(&self) -> u32 {
        let sheet = match &self.sheet {
            Sheet::Isotropic(MembraneLaw::NeoHookean, _) => NEO_HOOKEAN,
            Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, _) => QUADRATIC,
            Sheet::Orthotropic(_) => FIBROUS,
        };
        sheet | if self.limit.is_some() { LIMITED } else { 0 }
    }

    /// Whether the triangle is of one of these kinds.
    #[inline(always)]
    fn is(&self, kinds: u32) -> bool {
        self.kinds() & kinds != 0
    }

    #[inline(always)]
    fn lame(&self) -> SheetLame {
        match self.sheet {
            Sheet::Isotropic(_, lame) => lame,
            Sheet::Orthotropic(_) => SheetLame { mu: 0.0, lambda: 0.0 },
        }
    }

    #[inline(always)]
    fn fibres(&self) -> Orthotropic {
        match self.sheet {
            Sheet::Orthotropic(law) => law,
            Sheet::Isotropic(..) => {
                Orthotropic { a: [0.0; 3], shear: 0.0, limits: None, limit_weight: 1.0 }
            }
        }
    }
}

const NEO_HOOKEAN: u32 = 1;
/// St. Venant–Kirchhoff.
const QUADRATIC: u32 = 2;
const FIBROUS: u32 = 4;
/// With a limit of the principal stretches.
const LIMITED: u32 = 8;

/// Ratio of the principal stretches below which the normal of a triangle is lost in rounding.
const FLAT: f64 = 1e-6;

/// ∇N of corners 1 and 2 in the triangle's plane at rest.
#[inline(always)]
fn shape<S: Source<Membrane>>(of: S) -> [[S::R; 2]; 2] {
    [
        [of.number(|m| m.shape[0][0]), of.number(|m| m.shape[0][1])],
        [of.number(|m| m.shape[1][0]), of.number(|m| m.shape[1][1])],
    ]
}

/// The columns of F.
#[inline(always)]
fn gradient_of_map<S: Source<Membrane>>(of: S, x: &[V3<S::R>; 3]) -> [V3<S::R>; 2] {
    let (p, q) = (x[1] - x[0], x[2] - x[0]);
    let [g1, g2] = shape(of);
    [p * g1[0] + q * g2[0], p * g1[1] + q * g2[1]]
}

/// Lamé's constants.
#[inline(always)]
fn lame<S: Source<Membrane>>(of: S) -> SheetLame<S::R> {
    SheetLame { mu: of.number(|m| m.lame().mu), lambda: of.number(|m| m.lame().lambda) }
}

/// The law of fibrous sheets.
#[inline(always)]
fn fibres<S: Source<Membrane>>(of: S) -> Fibres<S::R> {
    let limit = |k: usize| of.number(|m| m.fibres().limits.map_or(1.0, |l| l[k]));
    Fibres {
        a: [
            of.number(|m| m.fibres().a[0]),
            of.number(|m| m.fibres().a[1]),
            of.number(|m| m.fibres().a[2]),
        ],
        shear: of.number(|m| m.fibres().shear),
        limited: of.mask(|m| m.fibres().limits.is_some()),
        limits: [limit(0), limit(1), limit(2)],
        limit_weight: of.number(|m| m.fibres().limit_weight),
    }
}

/// The limit of the principal stretches; none is far away.
#[inline(always)]
fn stretch_limit<S: Source<Membrane>>(of: S) -> StretchLimit<S::R> {
    StretchLimit {
        limit: of.number(|m| m.limit.map_or(f64::MAX, |l| l.limit)),
        threshold: of.number(|m| m.limit.map_or(f64::INFINITY, |l| l.threshold)),
        stiffness: of.number(|m| m.limit.map_or(0.0, |l| l.stiffness)),
    }
}

/// Invariants of F.
struct Strain<R> {
    /// C = FᵀF: C₁₁, C₂₂, C₁₂.
    c: [R; 3],
    /// (C₁₁ − C₂₂)/2, and the radius of Mohr's circle of C.
    difference: R,
    radius: R,
    /// f₁ × f₂.
    normal: V3<R>,
    /// J = |f₁ × f₂|.
    j: R,
    /// The larger principal stretch.
    stretch: R,
}

impl<R: Real> Strain<R> {
    #[inline(always)]
    fn new(f: &[V3<R>; 2]) -> Self {
        let (c11, c22, c12) = (f[0].dot(&f[0]), f[1].dot(&f[1]), f[0].dot(&f[1]));
        let difference = (c11 - c22) * 0.5;
        let radius = (difference * difference + c12 * c12).sqrt();
        let stretch = ((c11 + c22) * 0.5 + radius).sqrt();
        let normal = f[0].cross(&f[1]);
        let j = normal.norm();
        Self { c: [c11, c22, c12], difference, radius, normal, j, stretch }
    }

    /// The smaller principal stretch, by J = σ₁σ₂.
    #[inline(always)]
    fn smaller_stretch(&self) -> R {
        let zero = self.j.constant(0.0);
        R::select(zero.lt(self.stretch), self.j / self.stretch, zero)
    }

    /// E₁₁, E₂₂, E₁₂.
    #[inline(always)]
    fn green(&self) -> [R; 3] {
        [(self.c[0] - 1.0) * 0.5, (self.c[1] - 1.0) * 0.5, self.c[2] * 0.5]
    }

    /// The first right singular vector (cos, sin), of which the second is (−sin, cos): that of half the angle of
    /// ((C₁₁ − C₂₂)/2, C₁₂).
    #[inline(always)]
    fn direction(&self) -> [R; 2] {
        let Self { c: [_, _, c12], difference, radius, .. } = *self;
        let (zero, one) = (radius.constant(0.0), radius.constant(1.0));
        let round = radius.le(zero);
        // of the two the one without cancellation first
        let large = ((difference.abs() / radius + one) * 0.5).sqrt();
        let small = (c12 / radius) * 0.5 / large;
        let negative = difference.lt(zero);
        let flipped = R::select(c12.lt(zero), -large, large);
        let cos = R::select(round, one, R::select(negative, small.abs(), large));
        let sin = R::select(round, zero, R::select(negative, flipped, small));
        [cos, sin]
    }
}

/// ψ, J/m³: μ/2 (tr C − 2) − μ ln J + λ/2 ln² J of neo-Hookean, μ tr E² + λ/2 tr² E of St. Venant–Kirchhoff sheets, that of
/// the fibres, and that of the limit.
#[inline(always)]
fn psi<S: Source<Membrane>>(of: S, f: &[V3<S::R>; 2]) -> S::R {
    let (kinds, strain) = (of.union(Membrane::kinds), Strain::new(f));
    let SheetLame { mu, lambda } = lame(of);
    let mut psi = mu.constant(0.0);
    if kinds & NEO_HOOKEAN != 0 {
        let ln_j = strain.j.ln();
        psi = mu * 0.5 * (strain.c[0] + strain.c[1] - 2.0) + ln_j * (lambda * 0.5 * ln_j - mu);
    }
    let [e11, e22, e12] = strain.green();
    if kinds & QUADRATIC != 0 {
        let trace = e11 + e22;
        let squares = e11 * e11 + e22 * e22 + (e12 * e12) * 2.0;
        let quadratic = mu * squares + lambda * 0.5 * trace * trace;
        psi = S::R::select(of.mask(|m| m.is(QUADRATIC)), quadratic, psi);
    }
    if kinds & FIBROUS != 0 {
        let green = fibres(of).green([e11, e22, e12]);
        psi = S::R::select(of.mask(|m| m.is(FIBROUS)), green.psi, psi);
    }
    if kinds & LIMITED != 0 {
        let limit = stretch_limit(of);
        if limit.threshold.lt(strain.stretch).any() {
            psi = psi + limit.value([strain.stretch, strain.smaller_stretch()]);
        }
    }
    psi
}

/// ∂ψ/∂F by columns, Pa: μ F + (λ ln J − μ)/J ∂J/∂F of neo-Hookean sheets, F (2μ E + λ tr E) of St. Venant–Kirchhoff sheets.
#[inline(always)]
fn pk1<S: Source<Membrane>>(of: S, f: &[V3<S::R>; 2]) -> [V3<S::R>; 2] {
    let (kinds, strain) = (of.union(Membrane::kinds), Strain::new(f));
    let SheetLame { mu, lambda } = lame(of);
    let mut p = [V3::repeat(mu.constant(0.0)); 2];
    if kinds & NEO_HOOKEAN != 0 {
        let over_j = strain.j.recip();
        let n = strain.normal * over_j;
        let pressure = (lambda * strain.j.ln() - mu) * over_j;
        p = [f[0] * mu + f[1].cross(&n) * pressure, f[1] * mu + n.cross(&f[0]) * pressure];
    }
    let [e11, e22, e12] = strain.green();
    if kinds & QUADRATIC != 0 {
        let (twice, pressure) = (mu + mu, lambda * (e11 + e22));
        let s = [twice * e11 + pressure, twice * e22 + pressure, twice * e12];
        p = replaced(of.mask(|m| m.is(QUADRATIC)), second_stress(f, s), p);
    }
    if kinds & FIBROUS != 0 {
        let [d11, d22, d12] = fibres(of).green([e11, e22, e12]).d;
        p = replaced(of.mask(|m| m.is(FIBROUS)), second_stress(f, [d11, d22, d12 * 0.5]), p);
    }
    if kinds & LIMITED != 0 {
        let limit = stretch_limit(of);
        let beyond = limit.threshold.lt(strain.stretch);
        if beyond.any() {
            let mut of_limit = Principal::zero(mu.constant(0.0));
            limit.add([strain.stretch, strain.smaller_stretch()], &mut of_limit);
            let basis = Basis::new(f, &strain);
            let [[cos, sin], [d1, d2]] = [basis.direction, of_limit.d];
            let (first, second) = (basis.u1 * d1, basis.u2 * d2);
            let with = [p[0] + first * cos - second * sin, p[1] + first * sin + second * cos];
            p = replaced(beyond, with, p);
        }
    }
    p
}

/// F S of a second Piola–Kirchhoff stress S₁₁, S₂₂, S₁₂.
#[inline(always)]
fn second_stress<R: Real>(f: &[V3<R>; 2], [s11, s22, s12]: [R; 3]) -> [V3<R>; 2] {
    [f[0] * s11 + f[1] * s12, f[0] * s12 + f[1] * s22]
}

#[inline(always)]
fn replaced<R: Real>(mask: R::Mask, new: [V3<R>; 2], old: [V3<R>; 2]) -> [V3<R>; 2] {
    [V3::select(mask, &new[0], &old[0]), V3::select(mask, &new[1], &old[1])]
}

/// Singular vectors of F, and the normal.
struct Basis<R> {
    /// (cos, sin), the first right one.
    direction: [R; 2],
    u1: V3<R>,
    u2: V3<R>,
    n: V3<R>,
}

impl<R: Real> Basis<R> {
    #[inline(always)]
    fn new(f: &[V3<R>; 2], strain: &Strain<R>) -> Self {
        let [cos, sin] = strain.direction();
        let u1 = (f[0] * cos + f[1] * sin) * strain.stretch.recip();
        let n = strain.normal * strain.j.recip();
        let u2 = n.cross(&u1);
        let ordinary = (strain.stretch * strain.stretch * FLAT).lt(strain.j);
        let mut basis = Self { direction: [cos, sin], u1, u2, n };
        if !ordinary.all() {
            // any normal will do
            let image = f[1] * cos - f[0] * sin;
            let image = image - u1 * u1.dot(&image);
            let length = image.norm();
            let lost = length.le(length.constant(0.0));
            let u2 = V3::select(lost, &perpendicular(&u1), &(image * length.recip()));
            basis.u2 = V3::select(ordinary, &basis.u2, &u2);
            basis.n = V3::select(ordinary, &basis.n, &u1.cross(&u2));
        }
        basis
    }
}

/// ∂²ψ/∂F² of a function of the principal stretches, in the basis of the singular vectors.
struct Stiffness<R> {
    /// Of the stretches: a₁₁, a₂₂, a₁₂.
    stretch: [R; 3],
    /// (flip + twist)/2, of motions u₁v₂ᵀ and u₂v₁ᵀ by themselves.
    same: R,
    /// (flip − twist)/2, between both.
    swap: R,
    /// Of the motions n v₁ᵀ and n v₂ᵀ out of the plane.
    bend: [R; 2],
}

impl<R: Real> Stiffness<R> {
    /// At stretches `s`, times `volume`, projected where required.
    #[inline(always)]
    fn new(s: [R; 2], p: &Principal<R>, project: R::Mask, volume: R) -> Self {
        let zero = volume.constant(0.0);
        let clamped = |w: R| R::select(project, w.max(zero), w);
        let sum = s[0] + s[1];
        let flip = clamped(p.quotient);
        let twist = R::select(zero.lt(sum), clamped((p.d[0] + p.d[1]) / sum), zero);
        let mut bend = [zero; 2];
        for i in 0..2 {
            let of_stress = R::select(zero.lt(s[i]), p.d[i] / s[i], zero);
            bend[i] = volume * clamped(of_stress);
        }
        let mut stretch = clamp2([p.dd[0], p.dd[1], p.d12], project);
        for entry in &mut stretch {
            *entry = volume * *entry;
        }
        let (same, swap) = ((flip + twist) * 0.5, (flip - twist) * 0.5);
        Self { stretch, same: volume * same, swap: volume * swap, bend }
    }

    /// The block of the corners with shape gradients `a` and `b` in the basis of the right singular vectors.
    #[inline(always)]
    fn block(&self, a: &[R; 2], b: &[R; 2], Basis { u1, u2, n, .. }: &Basis<R>) -> M3<R> {
        let Self { stretch: [a11, a22, a12], same, swap, bend } = *self;
        let (first, second) = (a[0] * b[0], a[1] * b[1]);
        let (up, down) = (a[0] * b[1], a[1] * b[0]);
        let k11 = a11 * first + same * second;
        let k22 = a22 * second + same * first;
        let k12 = a12 * up + swap * down;
        let k21 = a12 * down + swap * up;
        let left = *u1 * k11 + *u2 * k21;
        let right = *u1 * k12 + *u2 * k22;
        left.dyad(u1) + right.dyad(u2) + (*n * (bend[0] * first + bend[1] * second)).dyad(n)
    }
}

/// The positive semidefinite matrix nearest to [[a, c], [c, b]] where required, as [a, b, c].
#[inline(always)]
fn clamp2<R: Real>([a, b, c]: [R; 3], project: R::Mask) -> [R; 3] {
    let zero = a.constant(0.0);
    let definite = zero.le(a) & zero.le(b) & (c * c).le(a * b);
    let indefinite = project & !definite;
    if !indefinite.any() {
        return [a, b, c];
    }
    // what belongs to the larger eigenvalue is left
    let (half, mean) = ((a - b) * 0.5, (a + b) * 0.5);
    let radius = (half * half + c * c).sqrt();
    let w = (mean + radius).max(zero);
    let (cos, sin) = (half / radius, c / radius);
    // cos² and sin² of half the angle, and their product
    let clamped = [w * (cos + 1.0) * 0.5, w * (-cos + 1.0) * 0.5, w * sin * 0.5];
    let none = radius.le(zero);
    let mut out = [a, b, c];
    for k in 0..3 {
        out[k] = R::select(indefinite, R::select(none, zero, clamped[k]), out[k]);
    }
    out
}

/// The blocks (1,1), (1,2), (2,2) of the isotropic law and of the limit of the stretches, N/m.
#[inline(always)]
fn principal_blocks<S: Source<Membrane>>(
    of: S,
    kinds: u32,
    f: &[V3<S::R>; 2],
    project: <S::R as Real>::Mask,
) -> [M3<S::R>; 3] {
    let strain = Strain::new(f);
    let s = [strain.stretch, strain.smaller_stretch()];
    let lame = lame(of);
    let mut p = Principal::zero(lame.mu.constant(0.0));
    if kinds & NEO_HOOKEAN != 0 {
        p = MembraneLaw::NeoHookean.principal(&lame, s);
    }
    if kinds & QUADRATIC != 0 {
        let quadratic = MembraneLaw::StVenantKirchhoff.principal(&lame, s);
        p = Principal::select(of.mask(|m| m.is(QUADRATIC)), &quadratic, &p);
    }
    if kinds & FIBROUS != 0 {
        let zero = Principal::zero(lame.mu.constant(0.0));
        p = Principal::select(of.mask(|m| m.is(FIBROUS)), &zero, &p);
    }
    if kinds & LIMITED != 0 {
        let limit = stretch_limit(of);
        let beyond = limit.threshold.lt(strain.stretch);
        if beyond.any() {
            let mut with = p;
            limit.add(s, &mut with);
            p = Principal::select(beyond, &with, &p);
        }
    }
    let stiffness = Stiffness::new(s, &p, project, of.number(|m| m.volume));
    let basis = Basis::new(f, &strain);
    let ([cos, sin], shape) = (basis.direction, shape(of));
    let mut g = shape;
    for a in 0..2 {
        g[a] = [shape[a][0] * cos + shape[a][1] * sin, shape[a][1] * cos - shape[a][0] * sin];
    }
    [
        stiffness.block(&g[0], &g[0], &basis),
        stiffness.block(&g[0], &g[1], &basis),
        stiffness.block(&g[1], &g[1], &basis),
    ]
}

/// The blocks (1,1), (1,2), (2,2) of a law of Green's strain, N/m.
#[inline(always)]
fn fibrous_blocks<S: Source<Membrane>>(
    of: S,
    f: &[V3<S::R>; 2],
    project: <S::R as Real>::Mask,
) -> [M3<S::R>; 3] {
    let Green { d, dd, .. } = fibres(of).green(Strain::new(f).green());
    let zero = d[0].constant(0.0);
    // rows: ∂E₁₁/∂F, ∂E₂₂/∂F, ∂E₁₂/∂F
    let mut de = [[zero; 6]; 3];
    let mut m = [[zero; 6]; 6];
    for r in 0..3 {
        de[0][r] = f[0][r];
        de[1][3 + r] = f[1][r];
        de[2][r] = f[1][r] * 0.5;
        de[2][3 + r] = f[0][r] * 0.5;
        m[r][r] = d[0];
        m[3 + r][3 + r] = d[1];
        m[r][3 + r] = d[2] * 0.5;
        m[3 + r][r] = d[2] * 0.5;
    }
    for p in 0..3 {
        for j in 0..6 {
            let by = dd[p][0] * de[0][j] + dd[p][1] * de[1][j] + dd[p][2] * de[2][j];
            for i in 0..6 {
                m[i][j] = m[i][j] + de[p][i] * by;
            }
        }
    }
    project_where(project, &mut m);
    let (g, volume) = (shape(of), of.number(|m| m.volume));
    let mut out = [M3([V3::repeat(zero); 3]); 3];
    for (block, (a, b)) in out.iter_mut().zip([(0, 0), (0, 1), (1, 1)]) {
        for i in 0..2 {
            for j in 0..2 {
                let factor = volume * g[a][i] * g[b][j];
                for c in 0..3 {
                    for r in 0..3 {
                        block[c][r] = block[c][r] + m[3 * i + r][3 * j + c] * factor;
                    }
                }
            }
        }
    }
    out
}

impl Formula<3, 3> for Membrane {
    #[inline(always)]
    fn energy<S: Source<Self>>(of: S, x: &[V3<S::R>; 3]) -> S::R {
        let value = of.number(|m| m.volume) * psi(of, &gradient_of_map(of, x));
        let infinite = value.constant(f64::INFINITY);
        // also where it is NaN
        S::R::select(value.lt(infinite), value, infinite)
    }

    /// V P ∇Nₐ.
    #[inline(always)]
    fn slope<S: Source<Self>>(of: S, x: &[V3<S::R>; 3]) -> [V3<S::R>; 3] {
        let (volume, g) = (of.number(|m| m.volume), shape(of));
        let [p1, p2] = pk1(of, &gradient_of_map(of, x));
        let (p1, p2) = (p1 * volume, p2 * volume);
        let (g1, g2) = (p1 * g[0][0] + p2 * g[0][1], p1 * g[1][0] + p2 * g[1][1]);
        [-(g1 + g2), g1, g2]
    }

    #[inline(always)]
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; 3],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; 3] {
        let (kinds, f) = (of.union(Membrane::kinds), gradient_of_map(of, x));
        let zero = M3([V3::repeat(f[0][0].constant(0.0)); 3]);
        let mut h = [zero; 3];
        let principal = NEO_HOOKEAN | QUADRATIC | LIMITED;
        if kinds & principal != 0 {
            let here = of.mask(|m| m.is(principal));
            let blocks = principal_blocks(of, kinds, &f, project);
            for k in 0..3 {
                h[k] = M3::select(here, &blocks[k], &zero);
            }
        }
        if kinds & FIBROUS != 0 {
            let here = of.mask(|m| m.is(FIBROUS));
            let blocks = fibrous_blocks(of, &f, project);
            for k in 0..3 {
                h[k] = M3::select(here, &(h[k] + blocks[k]), &h[k]);
            }
        }
        // a translation does nothing, so rows sum to zero
        let [h11, h12, h22] = h;
        [-(h11 + h12.transpose()), -(h12 + h22), h12]
    }
}

impl Element<3> for Membrane {
    const NAME: &'static str = "membranes";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.shell.membrane_factor");

    by_formula!(3, 3);

    fn without_limits(&self) -> Option<Self> {
        let mut free = Self { limit: None, ..*self };
        if let Sheet::Orthotropic(law) = &mut free.sheet {
            law.limits = None;
        }
        self.is_limited().then_some(free)
    }

    /// Largest part of a strain limit that is used up: 1 at the limit, 0 at rest; `None` without one.
    fn limit_use(&self, x: &[Vec3; 3]) -> Option<f64> {
        let isotropic =
            self.limit.map(|l| (self.stretches(x)[0] - l.threshold) / (l.limit - l.threshold));
        let limits = match &self.sheet {
            Sheet::Orthotropic(law) => law.limits,
            Sheet::Isotropic(..) => None,
        };
        let e = self.strain(x);
        let orthotropic = limits.map(|l| (0..3).map(|k| e[k].abs() / l[k]).fold(0.0, f64::max));
        match (isotropic, orthotropic) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}
