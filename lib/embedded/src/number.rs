//! Numbers as Redis and C read and write them.

use super::failure::Failure;

/// An integer as Redis reads one: no sign but `-`, no leading zeros, no spaces.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !is_canonical {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// [`integer`], or an error reply.
pub(super) fn integer_argument(text: &[u8]) -> Result<i64, Failure> {
    integer(text).ok_or(Failure::NOT_AN_INTEGER)
}

/// A number as Redis reads a score: the whole text as `strtod` reads it. `None` is NaN, or out of a double's range.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let (number, length) = float_prefix(text)?;
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let is_word = digits.first().is_some_and(|first| first.eq_ignore_ascii_case(&b'i'));
    let mantissa = digits
        .iter()
        .take_while(|byte| !byte.eq_ignore_ascii_case(&b'e') && !byte.eq_ignore_ascii_case(&b'p'));
    let is_out_of_range = (number.is_infinite() && !is_word)
        || (number == 0.0 && mantissa.clone().any(|byte| matches!(byte, b'1'..=b'9')));
    (length == text.len() && !number.is_nan() && !is_out_of_range).then_some(number)
}

/// An end of a range of scores, as Redis reads it: more lenient, empty text is zero, and leading spaces are allowed.
pub(super) fn range_end(text: &[u8]) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let text = text.trim_ascii_start();
    let (number, length) = float_prefix(text)?;
    (length == text.len() && !number.is_nan()).then_some(number)
}

/// The longest number at the start of `text` as `strtod` reads it (without leading spaces), and its length.
pub(super) fn float_prefix(text: &[u8]) -> Option<(f64, usize)> {
    let sign_length = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let sign = if text.first() == Some(&b'-') { -1.0 } else { 1.0 };
    let body = &text[sign_length..];
    let starts_with = |word: &[u8]| body.len() >= word.len() && body[..word.len()].eq_ignore_ascii_case(word);
    if starts_with(b"infinity") {
        return Some((sign * f64::INFINITY, sign_length + 8));
    }
    if starts_with(b"inf") {
        return Some((sign * f64::INFINITY, sign_length + 3));
    }
    if starts_with(b"nan") {
        return Some((f64::NAN.copysign(sign), sign_length + 3));
    }
    if starts_with(b"0x")
        && let Some((number, length)) = hexadecimal_prefix(&body[2..])
    {
        return Some((sign * number, sign_length + 2 + length));
    }
    let whole = count_digits(body);
    let mut length = whole;
    let mut fraction = 0;
    if body.get(length) == Some(&b'.') {
        fraction = count_digits(&body[length + 1..]);
        if whole + fraction > 0 {
            length += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return None;
    }
    length += exponent_length(&body[length..], b'e');
    let number: f64 = std::str::from_utf8(&body[..length]).ok()?.parse().ok()?;
    Some((sign * number, sign_length + length))
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Length of an exponent such as `e-5`, or 0.
fn exponent_length(text: &[u8], letter: u8) -> usize {
    if !text.first().is_some_and(|first| first.eq_ignore_ascii_case(&letter)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    match count_digits(&text[1 + sign..]) {
        0 => 0,
        count => 1 + sign + count,
    }
}

/// The number in the digits after `0x`, and its length. A mantissa above 64 bits is rounded more than once, which no
/// caller can notice.
fn hexadecimal_prefix(text: &[u8]) -> Option<(f64, usize)> {
    let mut number = 0.0_f64;
    let mut scale = 0_i32;
    let (mut length, mut count, mut is_fraction) = (0, 0, false);
    for byte in text {
        match char::from(*byte).to_digit(16) {
            Some(digit) => {
                number = number * 16.0 + f64::from(digit);
                scale -= if is_fraction { 4 } else { 0 };
                count += 1;
            }
            None if *byte == b'.' && !is_fraction => is_fraction = true,
            None => break,
        }
        length += 1;
    }
    if count == 0 {
        return None;
    }
    let exponent = exponent_length(&text[length..], b'p');
    if exponent > 0 {
        let power: i32 = std::str::from_utf8(&text[length + 1..length + exponent])
            .ok()?
            .parse()
            .unwrap_or(i32::MAX);
        scale = scale.saturating_add(power);
        length += exponent;
    }
    Some((number * 2.0_f64.powi(scale), length))
}

/// The number as C's `%.PRECISIONg` prints it.
pub(super) fn format_general(number: f64, precision: usize) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    if number.fract() == 0.0 && number.abs() < 1e14 && precision >= 14 {
        return (number as i64).to_string();
    }
    let scientific = format!("{number:.*e}", precision - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let power: i32 = exponent.parse().unwrap_or(0);
    if power < -4 || power >= precision as i32 {
        let sign = if power < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), power.unsigned_abs())
    } else {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        trim_zeros(&format!("{number:.decimals$}")).to_owned()
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// A score as Redis 7.0 prints it.
pub(super) fn format_score(score: f64) -> Vec<u8> {
    format_general(score, 17).into_bytes()
}

/// The number as a C cast to a 64-bit integer gives it on x86-64.
pub(super) fn truncate_to_i64(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_has_one_spelling() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-0", None),
            ("01", None),
            ("+1", None),
            (" 1", None),
            ("1.0", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(integer(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_float_is_read_as_strtod_reads_it() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("1.", Some(1.0)),
            (".5", Some(0.5)),
            ("-1e3", Some(-1000.0)),
            ("+inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("0x10", Some(16.0)),
            ("0x1p-1", Some(0.5)),
            ("0x1.8", Some(1.5)),
            ("nan", None),
            ("1e400", None),
            ("1e-400", None),
            ("0e-400", Some(0.0)),
            ("1e", None),
            ("", None),
            (".", None),
            ("1 ", None),
            ("abc", None),
        ] {
            assert_eq!(float(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(
            (range_end(b""), range_end(b" 1"), range_end(b"1 ")),
            (Some(0.0), Some(1.0), None)
        );
        assert_eq!(float_prefix(b"1e+x"), Some((1.0, 1)));
        assert_eq!(float_prefix(b"0xg"), Some((0.0, 1)));
        assert_eq!(float_prefix(b"-"), None);
    }

    #[test]
    fn numbers_are_written_as_printf_writes_them() {
        for (number, precision, expected) in [
            (3.0, 17, "3"),
            (3.5, 17, "3.5"),
            (0.1, 17, "0.10000000000000001"),
            (0.1, 14, "0.1"),
            (1e15, 14, "1e+15"),
            (1e14, 14, "1e+14"),
            (123_456_789_012_345_680.0, 14, "1.2345678901235e+17"),
            (1e20, 17, "1e+20"),
            (1e16, 17, "10000000000000000"),
            (1e-5, 17, "1.0000000000000001e-05"),
            (-0.0, 14, "-0"),
            (99_999_999_999_999.9, 14, "1e+14"),
            (f64::NEG_INFINITY, 17, "-inf"),
            (5e-324, 17, "4.9406564584124654e-324"),
        ] {
            assert_eq!(format_general(number, precision), expected);
        }
    }
}
