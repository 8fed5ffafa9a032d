//! Families of fibres of solids.

use super::expression::Expression;
use crate::material::fibres::{FibreDirection, FibreLaw};

/// A family of fibres.
#[derive(Debug, Clone, PartialEq)]
pub struct FibreFamily {
    /// Where the fibres point at rest.
    pub direction: FibreDirection,
    /// What they resist with.
    pub law: FibreLaw,
    /// Active tension T as an expression of time, Pa; none for fibres that only resist.
    pub tension: Option<Expression>,
}
