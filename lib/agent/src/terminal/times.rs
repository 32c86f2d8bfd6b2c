//! Formats times for people.

use std::fmt::Display;

use chrono::{DateTime, Local, TimeZone, Utc};

/// Now, Unix seconds.
pub fn now() -> i64 {
    Utc::now().timestamp()
}

/// A number of seconds in its largest unit: `45 s`, `12 min`, `3 h`, `2 d`.
pub fn duration(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds / 60),
        seconds @ 6_000..=172_799 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// The remaining time in minutes and seconds: `4:05`. From 100 minutes on, as in [`duration`].
pub fn countdown(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..=5_999 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => duration(seconds),
    }
}

/// The time of day on this machine, with the date if it is 20 hours or more from `now`.
pub fn clock(time: i64, now: i64) -> String {
    clock_in(time, now, &Local)
}

fn clock_in<Z: TimeZone<Offset: Display>>(time: i64, now: i64, zone: &Z) -> String {
    /// Less than a day, so that a time without a date is not mistaken for the same time on another day.
    const MAX_WITHOUT_DATE: i64 = 20 * 3_600;
    let is_recent = now.saturating_sub(time).abs() < MAX_WITHOUT_DATE;
    let format = if is_recent { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    match DateTime::from_timestamp(time, 0) {
        Some(time) => time.with_timezone(zone).format(format).to_string(),
        None => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_printed_in_its_largest_unit() {
        assert_eq!([-5, 0, 99, 100].map(duration), ["0 s", "0 s", "99 s", "1 min"]);
        assert_eq!(
            [5_999, 6_000, 172_799, 172_800].map(duration),
            ["99 min", "1 h", "47 h", "2 d"]
        );
        assert_eq!([-1, 5, 299, 6_000].map(countdown), ["0:00", "0:05", "4:59", "1 h"]);
    }

    #[test]
    fn the_date_is_printed_when_the_time_is_not_today() {
        let at = |time| clock_in(time, 1_795_306_224, &Utc);
        assert_eq!(at(1_795_306_224), "00:10:24");
        assert_eq!(at(1_795_306_224 - 86_400), "2026-11-21 00:10:24");
        assert_eq!(at(i64::MAX), "?");
    }
}
