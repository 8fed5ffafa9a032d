//! Which choices of the settings each setting is read with. A setting that nothing reads would have no effect, so that
//! it is refused where somebody has set it.
//!
//! [`READINGS`] is the only place that says so: scene files, the Rust library, the reference of keys and the schema all
//! use it. It is about settings alone: that a scene has no half-space, say, makes no setting unread.

// long: a table with a row for each setting

use crate::definition::Dimension;
use crate::definition::presets::Preset;
use crate::definition::settings::Settings;
use serde_json::Value;
use std::fmt;

/// What has to hold for a setting to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A setting has one of these values, as a scene file writes them.
    Is(&'static str, &'static [&'static str]),
    /// One of these methods runs, or `"barrier-free"` falls back on the first of them.
    Runs(&'static [&'static str]),
    /// A setting without a default is given.
    Given(&'static str),
    /// A setting without a default is not given.
    Absent(&'static str),
    /// Something says how much friction there is.
    Friction,
    /// The scene has three dimensions.
    Space,
    /// One of these holds.
    Any(&'static [Need]),
}

/// A setting with what has to hold for it to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Its key in a scene file.
    pub key: &'static str,
    /// All of these have to hold; none where the setting is always read.
    pub needs: &'static [Need],
    /// Setting that has the same purpose where the first need does not hold.
    pub instead: Option<&'static str>,
}

use Need::{Absent, Any, Friction, Given, Is, Runs, Space};

const CONTACT: Need = Is("contact.enabled", &["true"]);
/// The methods of projective dynamics are for scenes without contact and without damping.
const GENERAL: Need = Is("solver.method", &["barrier", "barrier-free", "dot"]);
/// A barrier keeps surfaces apart.
const BARRIER: Need = Runs(&["barrier", "dot"]);
const NEWTON: Need = Runs(&["barrier"]);
const LINE_SEARCH: Need = Runs(&["barrier", "dot", "lbfgs-pd"]);
const BY_DIRECTION: Need = Is("solver.method", &["barrier", "barrier-free"]);
const ON_PROCESSOR: Need = Is("solver.device", &["cpu"]);
const INERTIA: Need = Is(
    "time.integrator",
    &["implicit-euler", "bdf2", "newmark", "implicit-midpoint", "alpha-beta-gamma"],
);
const MEMBER: Need = Is("time.integrator", &["alpha-beta-gamma"]);
const NEWMARK: Need = Is("time.integrator", &["newmark"]);
const BARRIER_FREE: Need = Is("solver.method", &["barrier-free"]);
const PUBLISHED_END: Need = Given("solver.barrier_free.min_iterations");
const ORIENTED: &[Need] = &[
    CONTACT,
    Is("solver.method", &["barrier", "dot"]),
    Is("contact.potential", &["orientation-aware"]),
];

const fn row(key: &'static str, needs: &'static [Need]) -> Reading {
    Reading { key, needs, instead: None }
}

impl Reading {
    const fn instead(self, key: &'static str) -> Self {
        Self { instead: Some(key), ..self }
    }
}

/// Every setting, in the order of the scene file.
pub const READINGS: &[Reading] = &[
    row("time.step", &[]),
    row("time.end", &[]),
    row("time.integrator", &[]),
    row("time.alpha", &[MEMBER]),
    row("time.beta", &[MEMBER]),
    row("time.stiffness_damping", &[GENERAL]),
    row("time.release_from_rest", &[INERTIA]),
    row("time.zero_initial_acceleration", &[NEWMARK]),
    row("time.trapezoidal_contact", &[NEWMARK]),
    row("contact.enabled", &[]),
    row("contact.d_hat_relative", &[CONTACT, GENERAL, Absent("contact.d_hat")]),
    row("contact.d_hat", &[CONTACT, GENERAL]),
    row(
        "contact.d_hat_start",
        &[
            CONTACT,
            Is("solver.method", &["barrier", "dot"]),
            Is("contact.potential", &["ipc", "convergent"]),
        ],
    ),
    row("contact.stiffness", &[CONTACT, BARRIER]),
    row("contact.adaptation", &[CONTACT, BARRIER, Absent("contact.stiffness")]),
    row("contact.potential", &[CONTACT, BARRIER]),
    row("contact.barrier", &[CONTACT, BARRIER]),
    row("contact.thickness_barrier", &[CONTACT, BARRIER]),
    row("contact.orientation.alpha", ORIENTED),
    row("contact.orientation.beta", ORIENTED),
    row("contact.orientation.exterior_alpha", ORIENTED),
    row("contact.orientation.exterior_beta", ORIENTED),
    row("contact.orientation.length", ORIENTED),
    row(
        "contact.area_weighting",
        &[CONTACT, BARRIER, Is("contact.potential", &["ipc", "orientation-aware"])],
    ),
    row("contact.self_contact", &[CONTACT]),
    row("contact.ccd", &[CONTACT, GENERAL]),
    row("friction.coefficient", &[CONTACT, GENERAL]),
    row("friction.kinetic_coefficient", &[CONTACT, GENERAL]),
    row(
        "friction.stick_speed_relative",
        &[CONTACT, GENERAL, Friction, Absent("friction.stick_speed")],
    ),
    row("friction.stick_speed", &[CONTACT, GENERAL, Friction]),
    row("friction.lagging", &[CONTACT, BARRIER, Friction]),
    row(
        "friction.max_lagging",
        &[CONTACT, BARRIER, Friction, Is("friction.lagging", &["converged", "momentum-balance"])],
    ),
    row("friction.transition", &[CONTACT, GENERAL, Friction]),
    row("friction.half_space_transition", &[CONTACT, GENERAL, Friction]),
    row("friction.mollified_edges", &[CONTACT, BARRIER, Friction, Space]),
    row("friction.relaxation", &[CONTACT, BARRIER, Friction]),
    row("friction.lag_with_new_stiffness", &[CONTACT, BARRIER, Friction]),
    row("friction.pairs", &[CONTACT, GENERAL]),
    row("solver.method", &[]),
    row("solver.end.velocity_relative", &[BY_DIRECTION, Absent("solver.end.velocity")])
        .instead("solver.end.characteristic"),
    row("solver.end.velocity", &[BY_DIRECTION]).instead("solver.end.characteristic"),
    row(
        "solver.end.forces",
        &[
            Is("solver.method", &["barrier", "barrier-free", "dot", "lbfgs-pd"]),
            Any(&[LINE_SEARCH, Absent("solver.barrier_free.min_iterations")]),
        ],
    ),
    row("solver.relative_to", &[]),
    row("solver.end.norm", &[Any(&[BY_DIRECTION, Given("solver.boundary_tolerance_relative")])]),
    row("solver.end.consecutive", &[NEWTON, Absent("solver.end.characteristic")]),
    row(
        "solver.end.characteristic",
        &[Is("solver.method", &["barrier", "dot", "lbfgs-pd", "admm-pd"])],
    )
    .instead("solver.end.velocity"),
    row("solver.end.max_iterations", &[]),
    row("solver.end.max_step_time", &[]),
    row("solver.end.cumulative_toi", &[LINE_SEARCH]),
    row("solver.initial_guess", &[Runs(&["barrier", "dot", "lbfgs-pd", "admm-pd"]), INERTIA]),
    row(
        "solver.islands",
        &[
            NEWTON,
            Absent("solver.end.cumulative_toi"),
            Any(&[
                Is("contact.potential", &["ipc", "convergent"]),
                Is("contact.enabled", &["false"]),
            ]),
        ],
    ),
    row("solver.arcs", &[LINE_SEARCH]),
    row("solver.forecast_forces", &[CONTACT, NEWTON]),
    row(
        "solver.projection",
        &[
            Is("solver.method", &["barrier", "barrier-free"]),
            Any(&[NEWTON, Absent("solver.barrier_free.min_iterations")]),
        ],
    ),
    row("solver.boundary_tolerance_relative", &[LINE_SEARCH]),
    row("solver.inversion_barrier", &[Is("solver.allow_inversion", &["false"])]),
    row("solver.allow_inversion", &[]),
    row("solver.linear", &[BY_DIRECTION, ON_PROCESSOR]),
    row("solver.device", &[BY_DIRECTION]),
    row(
        "solver.linear_tolerance",
        &[
            BY_DIRECTION,
            Is(
                "solver.linear",
                &["auto", "mixed-cholesky", "conjugate-gradient", "two-level", "schwarz"],
            ),
        ],
    ),
    row(
        "solver.schwarz_subdomains",
        &[BY_DIRECTION, ON_PROCESSOR, Is("solver.linear", &["auto", "schwarz"])],
    ),
    row("solver.decomposition.subdomains", &[Is("solver.method", &["dot"])]),
    row(
        "solver.decomposition.size",
        &[Is("solver.method", &["dot"]), Absent("solver.decomposition.subdomains")],
    ),
    row("solver.audit", &[]),
    row("solver.barrier_free.tolerance", &[BARRIER_FREE, PUBLISHED_END]),
    row("solver.barrier_free.min_iterations", &[BARRIER_FREE]),
    row("solver.barrier_free.penalty", &[BARRIER_FREE]),
    row("solver.barrier_free.decay", &[BARRIER_FREE]),
    row("solver.barrier_free.subproblem", &[BARRIER_FREE]),
    row("solver.barrier_free.filter", &[BARRIER_FREE]),
    row("solver.barrier_free.multipliers", &[BARRIER_FREE]),
    row("solver.barrier_free.fallback", &[BARRIER_FREE]),
    row(
        "solver.barrier_free.fallback_after",
        &[BARRIER_FREE, Is("solver.barrier_free.fallback", &["barrier"])],
    ),
    row("solver.barrier_free.record_iterations", &[BARRIER_FREE]),
];

impl Reading {
    /// What has to hold, as a sentence for the reference of keys; none where the setting is always read.
    pub fn sentence(&self) -> Option<String> {
        let needs: Vec<String> = self.needs.iter().map(ToString::to_string).collect();
        (!needs.is_empty()).then(|| format!("Read only {}.", needs.join(", and ")))
    }
}

/// As it follows "read only": `with time.integrator = "newmark"`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Is(key, values) => write!(f, "with `{key} = {}`", alternatives(values)),
            Runs(methods) => write!(
                f,
                "with `solver.method = {}`, or `\"barrier-free\"` where it has a fallback",
                alternatives(methods)
            ),
            Given(key) => write!(f, "with `{key}`"),
            Absent(key) => write!(f, "without `{key}`"),
            Friction => write!(f, "with `friction.coefficient` or `friction.pairs`"),
            Space => write!(f, "with `dimension = 3`"),
            Any(needs) => {
                let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
                write!(f, "{}", needs.join(", or "))
            }
        }
    }
}

/// Values as a scene file writes them, in the backticks of the first key: `"a"` or `"b"`.
fn alternatives(values: &[&str]) -> String {
    let quoted = |value: &&str| match *value {
        "true" | "false" => (*value).to_owned(),
        word => format!("\"{word}\""),
    };
    values.iter().map(quoted).collect::<Vec<_>>().join("` or `")
}

/// A setting that somebody has set and nothing reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its key in a scene file.
    pub key: &'static str,
    /// Why nothing reads it, and what to do.
    pub reason: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`: {}", self.key, self.reason)
    }
}

impl std::error::Error for Unread {}

/// Settings by their keys, to find those that nothing reads.
#[derive(Debug, Clone)]
pub struct Choices {
    values: Value,
    dimension: Dimension,
    friction: bool,
}

impl Choices {
    /// What these settings choose. Friction counts as wanted even where its coefficient is 0, which may be one value of
    /// several.
    pub fn new(settings: &Settings, dimension: Dimension) -> Self {
        // numbers, texts and lists of them always have a form
        let values = serde_json::to_value(settings).unwrap_or_default();
        Self { values, dimension, friction: true }
    }

    /// The same where friction is wanted only if something `gives` it, or a coefficient is not 0.
    #[must_use]
    pub fn with_friction(mut self, gives: bool) -> Self {
        let default = Self::new(&Settings::default(), self.dimension);
        let keys = ["friction.coefficient", "friction.pairs"];
        self.friction = gives || keys.iter().any(|k| self.value(k) != default.value(k));
        self
    }

    /// Why nothing reads a setting; none where something does, or where there is no such setting.
    pub fn unread(&self, key: &str) -> Option<Unread> {
        let reading = READINGS.iter().find(|r| r.key == key)?;
        let (k, need) = reading.needs.iter().enumerate().find(|(_, n)| !self.meets(n))?;
        let (here, advice) = self.instead(need);
        let advice = match reading.instead {
            Some(other) if k == 0 => format!("give `{other}` instead, or change that choice"),
            _ => advice.to_owned(),
        };
        let reason =
            format!("nothing reads this key: it is read only {need}, and here {here}; {advice}");
        Some(Unread { key: reading.key, reason })
    }

    fn value(&self, key: &str) -> Option<&Value> {
        key.split('.').try_fold(&self.values, |value, part| value.get(part))
    }

    fn word(&self, key: &str) -> Option<String> {
        self.value(key).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
    }

    fn meets(&self, need: &Need) -> bool {
        let is = |key: &str, values: &[&str]| {
            self.word(key).is_some_and(|word| values.contains(&word.as_str()))
        };
        match need {
            Is(key, values) => is(key, values),
            Runs(methods) => {
                is("solver.method", methods)
                    || is("solver.method", &["barrier-free"])
                        && is("solver.barrier_free.fallback", &["barrier"])
            }
            Given(key) => self.value(key).is_some(),
            Absent(key) => self.value(key).is_none(),
            Friction => self.friction,
            Space => self.dimension == Dimension::Three,
            Any(needs) => needs.iter().any(|n| self.meets(n)),
        }
    }

    /// What holds instead of a need, and what to do about it.
    fn instead(&self, need: &Need) -> (String, &'static str) {
        const CHANGE: &str = "leave it out, or change that choice";
        let chosen = |key: &str| match self.value(key) {
            Some(value) => format!("`{key} = {value}`"),
            None => format!("`{key}` is not given"),
        };
        match need {
            Is(key, _) => (chosen(key), CHANGE),
            Runs(_) if self.word("solver.method").as_deref() == Some("barrier-free") => {
                (chosen("solver.barrier_free.fallback"), CHANGE)
            }
            Runs(_) => (chosen("solver.method"), CHANGE),
            Given(key) => (chosen(key), "leave it out, or give the other"),
            Absent(key) => (chosen(key), "keep one of the two"),
            Friction => ("neither is given".into(), "leave it out, or give one of them"),
            Space => (format!("`dimension = {}`", self.dimension), CHANGE),
            Any(needs) => needs.first().map_or((String::new(), CHANGE), |n| self.instead(n)),
        }
    }
}

impl Settings {
    /// Refuses a setting that nothing reads and that differs from the default and from every preset. A program cannot
    /// say which settings it has set; those with such a value may come from `Settings::default` or `Preset::settings`.
    ///
    /// # Errors
    /// The first such setting.
    pub fn check_read(&self, dimension: Dimension) -> Result<(), Unread> {
        let own = Choices::new(self, dimension);
        let unread = |r: &Reading| own.unread(r.key);
        let mut unread = READINGS.iter().filter_map(unread).peekable();
        if unread.peek().is_none() {
            return Ok(());
        }
        let known = Preset::ALL.map(|p| Choices::new(&p.settings(), dimension));
        let is_known = |key: &str| known.iter().any(|k| k.value(key) == own.value(key));
        unread.find(|u| !is_known(u.key)).map_or(Ok(()), Err)
    }

    /// The same with the defaults of all settings that nothing reads: for a program that has chosen another method, say, for a
    /// definition with settings of the former one.
    #[must_use]
    pub fn without_unread(&self, dimension: Dimension) -> Self {
        let own = Choices::new(self, dimension);
        let default = Choices::new(&Self::default(), dimension);
        let mut values = own.values.clone();
        for key in READINGS.iter().map(|r| r.key).filter(|key| own.unread(key).is_some()) {
            let mut parts = key.split('.');
            let Some(last) = parts.next_back() else { continue };
            let table = parts.try_fold(&mut values, |table, part| table.get_mut(part));
            let Some(table) = table.and_then(Value::as_object_mut) else { continue };
            match default.value(key) {
                Some(value) => drop(table.insert(last.to_owned(), value.clone())),
                None => drop(table.remove(last)),
            }
        }
        // what was written from settings is read as such
        serde_json::from_value(values).unwrap_or_else(|_| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Keys of all settings, by the schema, with the schema of each.
    fn keys() -> Vec<(String, Value)> {
        fn collect(prefix: &str, schema: &Value, root: &Value, into: &mut Vec<(String, Value)>) {
            let name = schema.get("$ref").and_then(Value::as_str);
            let target = name.and_then(|n| root.pointer(n.strip_prefix('#')?)).unwrap_or(schema);
            match target.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    for (key, value) in properties {
                        let path =
                            if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                        collect(&path, value, root, into);
                    }
                }
                None => into.push((prefix.to_owned(), target.clone())),
            }
        }
        let root = schemars::schema_for!(Settings).to_value();
        let mut all = Vec::new();
        collect("", &root, &root, &mut all);
        all
    }

    #[test]
    fn every_setting_has_one_row() {
        let rows: Vec<&str> = READINGS.iter().map(|r| r.key).collect();
        let unique: BTreeSet<&str> = rows.iter().copied().collect();
        assert_eq!(unique.len(), rows.len(), "a key twice");
        let keys = keys();
        let keys: BTreeSet<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(unique, keys);
    }

    #[test]
    fn needs_name_settings_and_values_that_exist() {
        let keys = keys();
        let schema = |key: &str| keys.iter().find(|(k, _)| k == key).map(|(_, s)| s.to_string());
        let check = |key: &str, values: &[&str]| {
            let schema = schema(key).unwrap_or_else(|| panic!("no setting '{key}'"));
            for value in values {
                let known = schema.contains(&format!("\"{value}\""));
                assert!(
                    known || ["true", "false"].contains(value) && schema.contains("boolean"),
                    "{key} = {value}"
                );
            }
        };
        fn visit(need: &Need, check: &dyn Fn(&str, &[&str])) {
            match need {
                Is(key, values) if *key == "friction.lagging" => {
                    assert_eq!(*values, ["converged", "momentum-balance"]);
                }
                Is(key, values) => check(key, values),
                Runs(methods) => check("solver.method", methods),
                Given(key) | Absent(key) => check(key, &[]),
                Any(needs) => needs.iter().for_each(|n| visit(n, check)),
                Friction | Space => {}
            }
        }
        READINGS.iter().flat_map(|r| r.needs).for_each(|n| visit(n, &check));
    }

    #[test]
    fn default_and_published_settings_pass_and_others_are_refused_where_nothing_reads_them() {
        for preset in Preset::ALL {
            assert_eq!(preset.settings().check_read(Dimension::Three), Ok(()), "{preset:?}");
            assert_eq!(preset.settings().check_read(Dimension::Two), Ok(()), "{preset:?}");
        }
        let mut settings = Settings::default();
        settings.solver.linear_tolerance = 1e-6;
        assert_eq!(settings.check_read(Dimension::Three), Ok(()));
        settings.solver.linear = crate::settings::LinearSolver::Cholesky;
        let unread = settings.check_read(Dimension::Three).unwrap_err().to_string();
        for part in ["solver.linear_tolerance", "`solver.linear = \"cholesky\"`", "leave it out"] {
            assert!(unread.contains(part), "'{part}' is missing in: {unread}");
        }
        settings.solver.decomposition.subdomains = Some(3);
        settings.friction.stick_speed = Some(0.1 + 0.2);
        let without = settings.without_unread(Dimension::Three);
        assert_eq!(without.check_read(Dimension::Three), Ok(()));
        settings.solver.linear_tolerance = Settings::default().solver.linear_tolerance;
        settings.solver.decomposition.subdomains = None;
        assert_eq!(without, settings);
    }
}
