//! The store's clock.

use super::read::Read;
use coord_store::{Request, StoreError};

/// Reads the store's time, Unix milliseconds.
pub fn store_time() -> Read<u64> {
    Read::new([Request::command(["TIME"])], |[time]| {
        let part = |index: usize| time.as_array().and_then(|time| time.get(index)?.as_int());
        let parts = part(0).zip(part(1));
        let (seconds, micros) = parts.ok_or_else(|| StoreError::Malformed("the store's clock".to_owned()))?;
        Ok((seconds * 1000 + micros / 1000).unsigned_abs())
    })
}
