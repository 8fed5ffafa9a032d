//! Limits of the shapes' measures and resolutions, and the error of exceeding them.

/// Largest number of elements that a shape may have.
pub(crate) const MOST_ELEMENTS: u64 = 20_000_000;
/// Smallest and largest length, m.
const LENGTHS: (f64, f64) = (1e-9, 1e9);

/// A shape that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length is not usable.
    #[error("shape \"{shape}\": {field} is {value} m; it must lie between 1e-9 and 1e9 m")]
    Length {
        /// Kind of the shape.
        shape: &'static str,
        /// The field.
        field: &'static str,
        /// Its value, m.
        value: f64,
    },
    /// A number of cells, layers or the like is zero or too small.
    #[error("shape \"{shape}\": {field} is {value}; it must be at least {least}")]
    TooFew {
        /// Kind of the shape.
        shape: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The smallest possible value.
        least: u64,
    },
    /// The resolution asks for too many elements.
    #[error(
        "shape \"{shape}\" would have about {elements:.1e} elements; at most 2e7 are possible: \
         lower its resolution"
    )]
    TooMany {
        /// Kind of the shape.
        shape: &'static str,
        /// Number of elements.
        elements: f64,
    },
    /// Two measures contradict each other.
    #[error("shape \"{shape}\": {what}")]
    Contradiction {
        /// Kind of the shape.
        shape: &'static str,
        /// What is wrong and what to do.
        what: String,
    },
}

/// Checks that a length is positive and of a usable size.
pub(crate) fn length(
    shape: &'static str,
    field: &'static str,
    value: f64,
) -> Result<f64, ShapeError> {
    // a NaN is in no range
    if (LENGTHS.0..=LENGTHS.1).contains(&value) {
        Ok(value)
    } else {
        Err(ShapeError::Length { shape, field, value })
    }
}

/// Checks a number of divisions.
pub(crate) fn at_least(
    shape: &'static str,
    field: &'static str,
    value: u32,
    least: u32,
) -> Result<usize, ShapeError> {
    if value >= least {
        Ok(value as usize)
    } else {
        Err(ShapeError::TooFew { shape, field, value: value.into(), least: least.into() })
    }
}

/// Checks the number of elements, a product of factors.
pub(crate) fn elements(shape: &'static str, factors: &[usize]) -> Result<(), ShapeError> {
    // a product of reals cannot overflow into something small
    let elements: f64 = factors.iter().map(|&f| f as f64).product();
    if elements <= MOST_ELEMENTS as f64 {
        Ok(())
    } else {
        Err(ShapeError::TooMany { shape, elements })
    }
}

/// Refuses measures that contradict each other.
pub(crate) fn require(
    holds: bool,
    shape: &'static str,
    what: impl Into<String>,
) -> Result<(), ShapeError> {
    if holds { Ok(()) } else { Err(ShapeError::Contradiction { shape, what: what.into() }) }
}
