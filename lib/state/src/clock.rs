//! The store's clock.

use super::read::Read;
use coord_store::{Request, StoreError, Value};

/// Reads the store's time, Unix milliseconds.
pub fn store_time() -> Read<u64> {
    Read::new([Request::command(["TIME"])], |[time]| {
        unix_ms(&time).ok_or_else(|| StoreError::Malformed("the store's clock".to_owned()))
    })
}

/// The Unix milliseconds in the reply to TIME.
pub fn unix_ms(time: &Value) -> Option<u64> {
    let (seconds, micros) = seconds_and_micros(time)?;
    Some((seconds * 1000 + micros / 1000).unsigned_abs())
}

/// The Unix seconds in the reply to TIME, and the microseconds since then.
pub(crate) fn seconds_and_micros(time: &Value) -> Option<(i64, i64)> {
    let [seconds, micros, ..] = time.as_array()? else {
        return None;
    };
    seconds.as_int().zip(micros.as_int())
}
