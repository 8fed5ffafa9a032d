//! Real numbers as Fortran writes them.

use super::scan::parse;

/// A real number, whose exponent may have a D, and no letter at all behind a sign: `1.5D-3`, `1.5-3`.
pub(super) fn real(word: &[u8]) -> Option<f64> {
    if let Some(value) = parse(word) {
        return Some(value);
    }
    let text = std::str::from_utf8(word).ok()?;
    // a sign inside begins an exponent, unless a letter has
    let sign = text.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-')).map(|(i, _)| i);
    let letter = text.find(['d', 'D', 'e', 'E']);
    let (mantissa, exponent) = match (letter, sign) {
        (Some(letter), _) => (&text[..letter], &text[letter + 1..]),
        (None, Some(sign)) => (&text[..sign], &text[sign..]),
        (None, None) => return None,
    };
    let digits = exponent.trim_start_matches(['+', '-']);
    let plain = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !plain(digits) || !mantissa.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{mantissa}e{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_need_no_letter() {
        for (text, value) in [
            ("7.0", 7.0),
            (".7E1", 7.0),
            ("0.7+1", 7.0),
            (".70+1", 7.0),
            ("7.E+0", 7.0),
            ("70.-1", 7.0),
            ("1.5-3", 1.5e-3),
            ("-1.5-3", -1.5e-3),
            ("+1.5D+02", 150.0),
            ("-2d-1", -0.2),
            ("3", 3.0),
        ] {
            assert_eq!(real(text.as_bytes()), Some(value), "{text}");
        }
        for text in
            ["", "-", "1.5-", "1.5--3", "1-2-3", "D5", "1.5x3", "e", "1e", "-+3", "\u{e9}-3"]
        {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
    }
}
