//! Ranges of bodies and their materials.

use super::{
    Fault, Field, MAGNITUDE, direction, fault, fibres, inelastic, not_negative, number, positive,
    vector,
};
use crate::definition::{BodyDef, BodyKind, HalfSpaceDef, ShellMaterial};
use crate::energy::membrane::Sheet;
use crate::energy::rod_joint::RodMaterial;
use crate::material::membrane::{MembraneLaw, Orthotropic, StretchLimit};
use crate::material::{Law, Material};
use standoff_linalg::Vec3;

/// Checks Young's modulus and Poisson's ratio of a solid, whatever its law.
///
/// # Errors
/// Young's modulus is not positive, or Poisson's ratio is outside of (−1, 0.5).
pub fn elasticity(young_modulus: f64, poisson_ratio: f64) -> Result<(), Fault> {
    positive("young_modulus", young_modulus, "Young's modulus must be positive (Pa)")?;
    number(
        "poisson_ratio",
        poisson_ratio,
        |nu| nu > -1.0 && nu < 0.5,
        "Poisson's ratio must be more than -1 and less than 0.5",
    )
}

/// Checks a mass density.
///
/// # Errors
/// It is not positive.
pub fn density(density: f64) -> Result<(), Fault> {
    positive("density", density, "density must be positive (kg/m^3)")
}

/// Checks a radius.
///
/// # Errors
/// It is not positive.
pub fn radius(radius: f64) -> Result<(), Fault> {
    positive("radius", radius, "a radius must be positive (m)")
}

/// Checks the positions (m) or velocities (m/s) of the vertices of a body, the field `key`.
///
/// # Errors
/// The first that is not finite or beyond 1e30.
pub fn positions(key: &'static str, points: &[Vec3]) -> Result<(), Fault> {
    let must = "the numbers of a vertex must be finite, from -1e30 to 1e30 in SI units";
    let outside = |p: &Vec3| !p.iter().all(|c| c.abs() <= *MAGNITUDE.end());
    let Some(index) = points.iter().position(outside) else { return Ok(()) };
    let p = points[index];
    let mut fault = fault(key, format!("[{}, {}, {}]", p.x, p.y, p.z), must);
    fault.path.0.push(Field::Index(index));
    Err(fault)
}

/// Checks a thickness in contact.
///
/// # Errors
/// It is negative.
pub fn contact_thickness(thickness: f64) -> Result<(), Fault> {
    not_negative("contact_thickness", thickness, "a thickness must be 0 or more (m)")
}

const NOT_AUXETIC: &str = "with a negative Poisson's ratio the energy of this law has no lower bound; \
                           choose 0 or more, or a law that has one (stable-neo-hookean, \
                           corotated-linear, st-venant-kirchhoff)";

impl Material {
    /// Checks the parameters, and that the law's energy is bounded below with them.
    ///
    /// # Errors
    /// Young's modulus is not positive, Poisson's ratio is outside of (−1, 0.5), or negative for a law
    /// that has no lower bound then.
    pub fn validate(&self) -> Result<(), Fault> {
        elasticity(self.young_modulus, self.poisson_ratio)?;
        if let Law::Rubber(law) = &self.law {
            return law.validate(self);
        }
        let bounded = match self.law {
            // λ/2 ln² J and λ/2 (J − 1)² outgrow the other terms, towards −∞ if λ < 0
            Law::NeoHookean | Law::FixedCorotated => self.poisson_ratio >= 0.0,
            // λ + μ and the bulk modulus are positive for all ν in (−1, 0.5)
            Law::StableNeoHookean
            | Law::CorotatedLinear
            | Law::StVenantKirchhoff
            | Law::Volumetric
            | Law::Rubber(_) => true,
        };
        match bounded {
            true => Ok(()),
            false => Err(fault("poisson_ratio", self.poisson_ratio, NOT_AUXETIC)),
        }
    }
}

impl StretchLimit {
    /// Checks the limit, its threshold and its stiffness.
    ///
    /// # Errors
    /// The threshold is below 1, the limit not above it, or the stiffness not positive.
    pub fn validate(&self) -> Result<(), Fault> {
        let threshold = "the barrier must begin at 1 or more";
        number("threshold", self.threshold, |s| s >= 1.0, threshold)?;
        let above = "a limit of the stretch must be above `stretch_threshold`";
        number("limit", self.limit, |s| s > self.threshold, above)?;
        positive("limit", self.limit, above)?;
        positive("stiffness", self.stiffness, "a stiffness must be positive (Pa)")
    }
}

impl Orthotropic {
    /// Checks that the energy is bounded below and its limits are positive.
    ///
    /// # Errors
    /// The matrix (a₁₁, a₁₂; a₁₂, a₂₂) is not positive definite, the shear modulus or a limit of the
    /// strain is not positive.
    pub fn validate(&self) -> Result<(), Fault> {
        let [a11, a22, a12] = self.a;
        let stable = "Poisson's ratio must satisfy ν₁₂² < E₁/E₂";
        let definite = |a: f64| a11 > 0.0 && a22 > 0.0 && a * a < a11 * a22;
        number("poisson_ratio", a12, definite, stable)?;
        positive("young_moduli", a11, "a modulus must be positive (Pa)")?;
        positive("young_moduli", a22, "a modulus must be positive (Pa)")?;
        positive("shear_modulus", self.shear, "a modulus must be positive (Pa)")?;
        for limit in self.limits.into_iter().flatten() {
            positive("strain_limits", limit, "a limit of the strain must be positive")?;
        }
        Ok(())
    }
}

impl Sheet {
    fn validate(&self) -> Result<(), Fault> {
        match self {
            Self::Orthotropic(law) => law.validate(),
            Self::Isotropic(law, lame) => {
                positive("young_modulus", lame.mu, "Young's modulus must be positive (Pa)")?;
                let stable = "Poisson's ratio must be more than -1 and less than 1";
                number("poisson_ratio", lame.lambda, |l| l + lame.mu > 0.0, stable)?;
                match law {
                    MembraneLaw::NeoHookean if lame.lambda < 0.0 => {
                        let must = "with a negative Poisson's ratio the energy of a neo-Hookean sheet \
                                    has no lower bound; choose 0 or more, or st-venant-kirchhoff";
                        Err(fault("poisson_ratio", lame.lambda, must))
                    }
                    MembraneLaw::NeoHookean | MembraneLaw::StVenantKirchhoff => Ok(()),
                }
            }
        }
    }
}

impl ShellMaterial {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self) -> Result<(), Fault> {
        density(self.density)?;
        positive("thickness", self.thickness, "a thickness must be positive (m)")?;
        let bending = "a bending modulus must be 0 or more (N m)";
        not_negative("bending_modulus", self.bending_modulus, bending)?;
        let stable = "Poisson's ratio must be more than -1 and less than 1";
        number("poisson_ratio", self.poisson_ratio, |nu| nu > -1.0 && nu < 1.0, stable)?;
        // its own ratio says more than λ
        let ratio = |mut f: Fault| {
            if f.path.to_string() == "poisson_ratio" && matches!(self.sheet, Sheet::Isotropic(..)) {
                f.value = self.poisson_ratio.to_string();
            }
            f
        };
        self.sheet.validate().map_err(ratio)?;
        if let Some(fibre) = &self.fibre {
            direction("fibre", fibre, "the direction of the fibres must not be zero")?;
        }
        match &self.stretch_limit {
            None => Ok(()),
            Some(limit) => limit.validate().map_err(|f| f.within("stretch_limit")),
        }
    }
}

impl RodMaterial {
    /// Checks radius and elasticity.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self) -> Result<(), Fault> {
        radius(self.radius)?;
        elasticity(self.young_modulus, self.poisson_ratio)
    }
}

impl BodyKind {
    fn validate(&self) -> Result<(), Fault> {
        match self {
            Self::Rigid { mass } => positive("mass", *mass, "a mass must be positive (kg)"),
            Self::Volume { density: rho, material, .. }
            | Self::PlaneStrain { density: rho, material, .. } => {
                density(*rho)?;
                material.validate().map_err(|f| f.within("material"))
            }
            Self::Shell { material, .. } => material.validate().map_err(|f| f.within("material")),
            Self::Rod { material, density: rho, natural_twist, .. } => {
                density(*rho)?;
                material.validate().map_err(|f| f.within("material"))?;
                let twist = "a twist must be from -1e30 to 1e30 rad/m";
                number("natural_twist", *natural_twist, |t| t.abs() <= 1e30, twist)
            }
            Self::Particles { radius: r, density: rho, .. } => {
                density(*rho)?;
                radius(*r)
            }
            Self::Obstacle { .. } => Ok(()),
        }
    }
}

impl BodyDef {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self) -> Result<(), Fault> {
        positions("rest", &self.rest)?;
        positions("start", &self.start)?;
        positions("velocity", &self.velocity)?;
        contact_thickness(self.contact_thickness)?;
        self.kind.validate()?;
        inelastic::validate(self)?;
        fibres::validate(self)?;
        if self.growth.is_some() && self.solid().is_none() {
            return Err(fault("growth", 0.0, "only solids grow"));
        }
        parts(self)
    }
}

/// Checks the elements of a solid that are made of something else.
fn parts(body: &BodyDef) -> Result<(), Fault> {
    let count = match body.solid() {
        Some((_, count)) => count,
        None if body.parts.is_empty() => return Ok(()),
        None => return Err(fault("parts", body.parts.len(), "only solids have parts")),
    };
    let mut taken = vec![false; count];
    for (k, part) in body.parts.iter().enumerate() {
        let number = density(part.density)
            .and_then(|()| part.material.validate().map_err(|f| f.within("material")))
            .and_then(|()| inelastic::of_substance(&part.substance()))
            .and_then(|()| fibres::of_substance(&part.substance()));
        let mut elements = part.elements.iter();
        let own = number.and_then(|()| {
            elements.try_for_each(|&e| match taken.get_mut(e as usize) {
                None => Err(fault("elements", e, "an element of a part must be one of the solid")),
                Some(true) => Err(fault("elements", e, "an element must be in one part at most")),
                Some(of) => {
                    *of = true;
                    Ok(())
                }
            })
        });
        own.map_err(|f| f.within_element("parts", k))?;
    }
    Ok(())
}

impl HalfSpaceDef {
    /// Checks origin and normal.
    ///
    /// # Errors
    /// One of them is not finite, or the normal is zero.
    pub fn validate(&self) -> Result<(), Fault> {
        vector("origin", &self.origin)?;
        direction("normal", &self.normal, "the normal of a half-space must not be zero")
    }
}
