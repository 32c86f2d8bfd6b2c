use chrono::{DateTime, SecondsFormat};

/// Formats Unix milliseconds, as in `2026-11-22T09:01:12.345Z`.
pub fn format_instant(millis: i64) -> String {
    let time = DateTime::from_timestamp_millis(millis).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
