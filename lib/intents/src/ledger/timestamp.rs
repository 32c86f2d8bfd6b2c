use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time of the ledger: milliseconds since 1970 in UTC, written `2026-11-22T09:01:12.345Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// Text that is not a time of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time such as 2026-11-22T09:01:12.345Z is expected")]
pub struct InvalidTime;

const DAY: u64 = 86_400_000;
/// The last millisecond of the year 9999, whose text is as long as all others.
const LAST: u64 = 253_402_300_799_999;

impl Timestamp {
    /// The time so many milliseconds after the beginning of 1970, at most the end of the year 9999.
    pub fn from_millis(millis: u64) -> Self {
        Timestamp(millis.min(LAST))
    }

    /// Milliseconds since the beginning of 1970.
    pub fn millis(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, time) = (self.0 / DAY, self.0 % DAY);
        // Years begin in March here, so that the leap day is the last. Eras have 400 years. The Lua code is the same.
        let day = day + 719_468;
        let (era, day) = (day / 146_097, day % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = era * 400 + year + next;
        let (hour, minute) = (time / 3_600_000, time / 60_000 % 60);
        let (second, milli) = (time / 1000 % 60, time % 1000);
        write!(
            out,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"
        )
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let number = |from: usize, to: usize| -> Result<u64, InvalidTime> {
            let digits = text
                .get(from..to)
                .filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse().ok()).ok_or(InvalidTime)
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (years, months) = if month > 2 {
            (year, month - 3)
        } else {
            (year.max(1) - 1, month + 9)
        };
        let (era, year) = (years / 400, years % 400);
        let days = era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * months + 2) / 5 + day.max(1) - 1;
        let time = number(11, 13)? * 3_600_000 + number(14, 16)? * 60_000 + number(17, 19)? * 1000 + number(20, 23)?;
        let time = Timestamp(days.saturating_sub(719_468) * DAY + time);
        // Text that is not a valid time is written differently.
        if time.to_string() == text {
            Ok(time)
        } else {
            Err(InvalidTime)
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_795_338_072_345, "2026-11-22T09:01:12.345Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp(millis)));
        }
        assert_eq!(Timestamp::from_millis(u64::MAX), Timestamp(LAST));
        for day in 0..146_097 {
            let time = Timestamp(day * DAY + 1);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for wrong in [
            "",
            "2026-11-22T09:01:12Z",
            "2026-11-22T09:01:12.345",
            "2026-11-22 09:01:12.345Z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-01-00T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "+026-11-22T09:01:12.345Z",
            "２026-11-22T09:01:12.345Z",
        ] {
            assert_eq!(wrong.parse::<Timestamp>(), Err(InvalidTime), "{wrong}");
        }
    }
}
