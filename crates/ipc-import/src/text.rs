//! The text of a reference scene as lines, numbers that run over lines, and arguments.

use crate::error::Problem;
use standoff_linalg::Vec3;

/// A position in the text.
#[derive(Debug, Clone)]
pub(crate) struct Text<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// The next line (or what is left of it) and its number, without its end.
    pub fn line(&mut self) -> Option<(usize, &'a str)> {
        if self.rest.is_empty() {
            return None;
        }
        let number = self.line;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += 1;
        Some((number, line.strip_suffix('\r').unwrap_or(line)))
    }

    /// The next line that is neither blank nor a comment.
    pub fn full_line(&mut self) -> Option<(usize, &'a str)> {
        loop {
            let (number, line) = self.line()?;
            if line.split_whitespace().next().is_some_and(|t| !t.starts_with('#')) {
                return Some((number, line));
            }
        }
    }

    /// The next number, over any white space and line ends; what follows it on its line stays.
    /// `Err` holds the line and the word in its place (empty at the end of the text).
    pub fn number(&mut self) -> Result<f64, (usize, &'a str)> {
        let trimmed = self.rest.trim_start();
        self.line += self.rest[..self.rest.len() - trimmed.len()].matches('\n').count();
        let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        self.rest = trimmed;
        let word = &trimmed[..end];
        let number = finite(word).ok_or((self.line, word))?;
        self.rest = &trimmed[end..];
        Ok(number)
    }
}

/// The arguments of a key: words in order.
#[derive(Debug, Clone)]
pub(crate) struct Arguments<'a> {
    key: &'a str,
    words: std::vec::IntoIter<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Arguments of `key`: the words that follow it.
    pub fn new(key: &'a str, words: impl IntoIterator<Item = &'a str>) -> Self {
        Self { key, words: words.into_iter().collect::<Vec<_>>().into_iter() }
    }

    /// The key.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// The next word; a comment ends the arguments.
    pub fn word(&mut self) -> Option<&'a str> {
        let word = *self.words.as_slice().first().filter(|w| !w.starts_with('#'))?;
        self.words.next();
        Some(word)
    }

    /// The next word, which must be there.
    pub fn required(&mut self, what: &str) -> Result<&'a str, Problem> {
        let key = self.key;
        self.word().ok_or_else(|| Problem::malformed(format!("'{key}' lacks {what}")))
    }

    /// The next number, if there is a further argument.
    pub fn optional_number(&mut self) -> Result<Option<f64>, Problem> {
        let Some(word) = self.word() else { return Ok(None) };
        finite(word).map(Some).ok_or_else(|| self.no_number(word))
    }

    /// The next number if the next word is one.
    pub fn number_if_any(&mut self) -> Option<f64> {
        let number = finite(self.words.as_slice().first()?)?;
        self.words.next();
        Some(number)
    }

    /// The next number, which must be there.
    pub fn number(&mut self, what: &str) -> Result<f64, Problem> {
        let word = self.required(what)?;
        finite(word).ok_or_else(|| self.no_number(word))
    }

    /// The next whole number ≥ 1, which must be there.
    pub fn count(&mut self, what: &str) -> Result<u32, Problem> {
        let word = self.required(what)?;
        word.parse().ok().filter(|n| *n >= 1).ok_or_else(|| {
            Problem::malformed(format!("'{}': {what} must be 1 or more, not '{word}'", self.key))
        })
    }

    /// The next three numbers.
    pub fn vector(&mut self, what: &str) -> Result<Vec3, Problem> {
        Ok(Vec3::new(self.number(what)?, self.number(what)?, self.number(what)?))
    }

    fn no_number(&self, word: &str) -> Problem {
        Problem::malformed(format!("'{}': expected a number, found '{word}'", self.key))
    }
}

/// A finite number as C++ streams read it.
fn finite(word: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let number: f64 = word.chars().all(digits).then(|| word.parse().ok())??;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_over_lines_and_leave_the_rest() {
        let mut text = Text::new("tol 2\n\n 1e-3\n\t2 zoom 3\nview x");
        assert_eq!(text.line(), Some((1, "tol 2")));
        assert_eq!(text.number(), Ok(1e-3));
        assert_eq!(text.number(), Ok(2.0));
        assert_eq!(text.line(), Some((4, " zoom 3")));
        assert_eq!(text.number(), Err((5, "view")));
    }

    #[test]
    fn a_comment_ends_the_arguments() {
        let mut arguments = Arguments::new("time", "10 # 0.1".split_whitespace());
        assert_eq!(arguments.optional_number(), Ok(Some(10.0)));
        assert_eq!(arguments.optional_number(), Ok(None));
        let mut arguments = Arguments::new("time", "ten".split_whitespace());
        assert!(arguments.optional_number().is_err());
        assert_eq!(finite("nan"), None);
        assert_eq!(finite("inf"), None);
        assert_eq!(finite("-.5E2"), Some(-50.0));
    }
}
