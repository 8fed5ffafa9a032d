//! Expressions of time, such as `0.1*sin(2*pi*t)`: parsed once, evaluated per step.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = ("-" | "+") factor | power
//! power   = atom [ "^" factor ]
//! atom    = number | "t" | "pi" | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! Angles are in radians. An own parser of this size rather than a crate, because errors must name
//! the place within the expression.

use standoff_linalg::Vec3;
use std::fmt;

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 100;

/// A function of one argument, by name.
type Unary = (&'static str, fn(f64) -> f64);
/// A function of two arguments, by name.
type Binary = (&'static str, fn(f64, f64) -> f64);

const UNARY: &[Unary] = &[
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("sqrt", f64::sqrt),
    ("abs", f64::abs),
    ("floor", f64::floor),
    ("tanh", f64::tanh),
    ("step", |x| if x < 0.0 { 0.0 } else { 1.0 }),
];
const BINARY: &[Binary] = &[("min", f64::min), ("max", f64::max)];

/// An expression of the time t.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Time,
    Negative(Box<Node>),
    /// Operator and operands.
    Operation(char, Box<[Node; 2]>),
    /// Index into `UNARY`.
    Unary(usize, Box<Node>),
    /// Index into `BINARY`.
    Binary(usize, Box<[Node; 2]>),
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at character {position} of the expression `{}`", around(text, *position))]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Where, in characters from 1.
    pub position: usize,
    /// What is wrong.
    pub problem: String,
}

/// A long text around a position, in characters from 1.
fn around(text: &str, position: usize) -> String {
    const SHOWN: usize = 80;
    let count = text.chars().count();
    if count <= 2 * SHOWN {
        return text.to_owned();
    }
    let first = position.saturating_sub(SHOWN).min(count - SHOWN);
    let part: String = text.chars().skip(first).take(2 * SHOWN).collect();
    let before = if first > 0 { "…" } else { "" };
    let after = if first + 2 * SHOWN < count { "…" } else { "" };
    format!("{before}{part}{after}")
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong, with its place in `text`.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { chars: text.chars().collect(), at: 0, depth: 0 };
        let fail = |(position, problem): Fault| ExpressionError {
            text: text.to_owned(),
            position: position + 1,
            problem,
        };
        let root = parser.sum().map_err(fail)?;
        match parser.peek() {
            None => Ok(Self { text: text.to_owned(), root }),
            Some(c) => Err(fail((parser.at, format!("unexpected '{c}'")))),
        }
    }

    /// The constant `value`.
    pub fn constant(value: f64) -> Self {
        Self { text: value.to_string(), root: Node::Number(value) }
    }

    /// Whether it is the number 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.root, Node::Number(value) if value == 0.0)
    }

    /// `factor` times the expression.
    pub fn times(self, factor: f64) -> Self {
        let operands = Box::new([self.root, Node::Number(factor)]);
        Self { text: self.text, root: Node::Operation('*', operands) }
    }

    /// Its value at time `t`, s; not finite where the expression is undefined.
    pub fn at(&self, t: f64) -> f64 {
        self.root.at(t)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<f64> for Expression {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl Node {
    fn at(&self, t: f64) -> f64 {
        match self {
            Node::Number(x) => *x,
            Node::Time => t,
            Node::Negative(x) => -x.at(t),
            Node::Unary(f, x) => UNARY[*f].1(x.at(t)),
            Node::Binary(f, x) => BINARY[*f].1(x[0].at(t), x[1].at(t)),
            Node::Operation(operator, x) => {
                let (a, b) = (x[0].at(t), x[1].at(t));
                match operator {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a / b,
                    _ => a.powf(b),
                }
            }
        }
    }
}

/// Position (in characters from 0) and problem.
type Fault = (usize, String);

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        if self.take(wanted) {
            return Ok(());
        }
        let found = self.peek().map_or("the end".into(), |c| format!("'{c}'"));
        Err((self.at, format!("expected '{wanted}', found {found}")))
    }

    /// Operands of left-associative operators.
    fn chain(
        &mut self,
        operators: [char; 2],
        operand: fn(&mut Self) -> Result<Node, Fault>,
    ) -> Result<Node, Fault> {
        let mut left = operand(self)?;
        let mut length = 0;
        while let Some(c) = self.peek().filter(|c| operators.contains(c)) {
            self.at += 1;
            // a chain becomes a tree as deep as it is long
            length += 1;
            if length > MAX_DEPTH {
                return Err((self.at, format!("more than {MAX_DEPTH} terms")));
            }
            left = Node::Operation(c, Box::new([left, operand(self)?]));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.at, format!("nested more than {MAX_DEPTH} times")));
        }
        let node = self.chain(['+', '-'], Self::product);
        self.depth -= 1;
        node
    }

    fn product(&mut self) -> Result<Node, Fault> {
        self.chain(['*', '/'], Self::factor)
    }

    fn factor(&mut self) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.at, format!("nested more than {MAX_DEPTH} times")));
        }
        let node = if self.take('-') {
            Node::Negative(Box::new(self.factor()?))
        } else if self.take('+') {
            self.factor()?
        } else {
            let base = self.atom()?;
            match self.take('^') {
                true => Node::Operation('^', Box::new([base, self.factor()?])),
                false => base,
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn atom(&mut self) -> Result<Node, Fault> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inside = self.sum()?;
                self.expect(')')?;
                Ok(inside)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.name(),
            Some(c) => Err((self.at, format!("expected a value, found '{c}'"))),
            None => Err((self.at, "expected a value, found the end".into())),
        }
    }

    fn number(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let mut end = self.at;
        let digit = |k: usize| self.chars.get(k).is_some_and(char::is_ascii_digit);
        while digit(end) || self.chars.get(end) == Some(&'.') {
            end += 1;
        }
        if matches!(self.chars.get(end), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.chars.get(end + 1), Some('+' | '-')));
            if digit(end + 1 + sign) {
                end += 1 + sign;
                while digit(end) {
                    end += 1;
                }
            }
        }
        let text: String = self.chars[start..end].iter().collect();
        self.at = end;
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Node::Number(x)),
            _ => Err((start, format!("'{}' is not a number", around(&text, 1)))),
        }
    }

    fn name(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        match name.as_str() {
            "t" => return Ok(Node::Time),
            "pi" => return Ok(Node::Number(std::f64::consts::PI)),
            _ => {}
        }
        if let Some(f) = UNARY.iter().position(|u| u.0 == name) {
            self.expect('(')?;
            let argument = self.sum()?;
            self.expect(')')?;
            return Ok(Node::Unary(f, Box::new(argument)));
        }
        if let Some(f) = BINARY.iter().position(|b| b.0 == name) {
            self.expect('(')?;
            let first = self.sum()?;
            self.expect(',')?;
            let second = self.sum()?;
            self.expect(')')?;
            return Ok(Node::Binary(f, Box::new([first, second])));
        }
        let known: Vec<&str> =
            UNARY.iter().map(|u| u.0).chain(BINARY.iter().map(|b| b.0)).collect();
        let problem =
            format!("unknown name '{}' (known: t, pi, {})", around(&name, 1), known.join(", "));
        Err((start, problem))
    }
}

/// A vector whose components are expressions of the time.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorExpression(pub [Expression; 3]);

impl VectorExpression {
    /// Its value at time `t`, s.
    pub fn at(&self, t: f64) -> Vec3 {
        Vec3::from_fn(|k, _| self.0[k].at(t))
    }
}

impl From<Vec3> for VectorExpression {
    fn from(v: Vec3) -> Self {
        Self([v.x, v.y, v.z].map(Expression::constant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let t = 0.3_f64;
        for (text, value) in [
            ("1 - 2 - 3", -4.0),
            ("2*t + 1", 2.0 * t + 1.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("8/4/2", 1.0),
            ("0.1*sin(2*pi*t)", 0.1 * (2.0 * std::f64::consts::PI * t).sin()),
            ("min(t, 0.2) + max(1e-1, .05)", 0.2 + 0.1),
            ("step(t-0.3) - step(t - 0.31)", 1.0),
            ("sqrt(abs(-4)) * (1 + exp(0)) / ln(exp(2))", 2.0),
            (" + 1.5E+2 - floor(2.7) + tanh(0) + cos(0) + tan(0)", 149.0),
        ] {
            let found = Expression::parse(text).unwrap_or_else(|e| panic!("{e}")).at(t);
            assert!((found - value).abs() < 1e-14, "{text} = {found}, not {value}");
        }
        assert_eq!(Expression::parse("sin(t").map(|_| ()).unwrap_err().position, 6);
    }

    #[test]
    fn errors_name_the_character() {
        for (text, position, part) in [
            ("", 1, "found the end"),
            ("1 +", 4, "expected a value"),
            ("2*(t", 5, "expected ')'"),
            ("2 t", 3, "unexpected 't'"),
            ("0.1*sine(t)", 5, "unknown name 'sine'"),
            ("1.2.3", 1, "not a number"),
            ("µ*t", 1, "unknown name 'µ'"),
            ("t*µ", 3, "unknown name 'µ'"),
            ("max(1)", 6, "expected ','"),
            ("1e999", 1, "not a number"),
            ("t # 2", 3, "unexpected '#'"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert_eq!(error.position, position, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        for deep in ["(".repeat(100_000), "-".repeat(100_000), "1+".repeat(100_000)] {
            assert!(Expression::parse(&deep).is_err());
        }
    }
}
