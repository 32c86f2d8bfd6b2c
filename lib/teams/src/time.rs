//! Times of files: ISO 8601 with `Z`.

use std::cmp::Ordering;
use std::fmt;

/// A time that zod's `datetime()` accepts: `2026-11-22T11:56:29.271Z`, with seconds and any number of fraction digits.
/// It keeps its spelling, but two spellings of one instant are equal.
#[derive(Clone, Debug)]
pub struct Time(String);

/// Text that is not such a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time such as 2026-11-22T09:01:12.345Z is expected, in UTC and with Z")]
pub struct InvalidTime;

impl Time {
    /// The time, if zod accepts the text and the day exists in the calendar.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        let bytes = text.as_bytes();
        let shape = b"0000-00-00T00:00:00";
        if bytes.len() < 20 || !bytes.is_ascii() || bytes[bytes.len() - 1] != b'Z' {
            return Err(InvalidTime);
        }
        let (seconds, fraction) = bytes[..bytes.len() - 1].split_at(19);
        let fits = |(byte, shape): (&u8, &u8)| {
            if *shape == b'0' {
                byte.is_ascii_digit()
            } else {
                byte == shape
            }
        };
        if !seconds.iter().zip(shape).all(fits) {
            return Err(InvalidTime);
        }
        match fraction {
            [] => {}
            [b'.', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {}
            _ => return Err(InvalidTime),
        }
        let number = |from: usize, to: usize| {
            bytes[from..to]
                .iter()
                .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
        };
        let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
        let is_leap_year = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 if is_leap_year => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return Err(InvalidTime),
        };
        if day == 0 || day > days || number(11, 13) > 23 || number(14, 16) > 59 || number(17, 19) > 59 {
            return Err(InvalidTime);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Date and time to the second, and the fraction digits without trailing zeros. Both compare as texts.
    fn parts(&self) -> (&str, &str) {
        let (seconds, fraction) = self.0.split_at(19);
        (
            seconds,
            fraction
                .trim_start_matches('.')
                .trim_end_matches('Z')
                .trim_end_matches('0'),
        )
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Time {
        Time::parse(text).unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn times_are_those_of_zod() {
        for text in [
            "2026-11-22T11:56:29Z",
            "2026-11-22T11:56:29.2Z",
            "2026-11-22T11:56:29.271123456789Z",
            "2024-02-29T23:59:59.999Z",
            "2000-02-29T00:00:00Z",
            "0000-02-29T00:00:00Z",
        ] {
            assert_eq!(time(text).as_str(), text);
        }
        for text in [
            "",
            "2026-11-22T11:56Z",
            "2026-11-22T11:56:29",
            "2026-11-22 11:56:29Z",
            "2026-11-22T11:56:29+00:00",
            "2026-11-22T11:56:29.Z",
            "2026-11-22T11:56:29.2z",
            "2026-11-22T11:56:29.2ZZ",
            "2026-11-22T11:56:29Z\n",
            "2026-11-22T24:00:00Z",
            "2026-11-22T11:60:00Z",
            "2026-11-22T11:56:60Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "+026-11-22T11:56:29Z",
            "２026-11-22T11:56:29Z",
        ] {
            assert_eq!(Time::parse(text).err(), Some(InvalidTime), "{text}");
        }
    }

    #[test]
    fn times_compare_as_instants() {
        assert_eq!(time("2026-11-22T11:56:29Z"), time("2026-11-22T11:56:29.000Z"));
        assert!(time("2026-11-22T11:56:29.2Z") > time("2026-11-22T11:56:29.19Z"));
        assert!(time("2026-11-22T11:56:29.999Z") < time("2026-11-22T11:56:30Z"));
    }
}
