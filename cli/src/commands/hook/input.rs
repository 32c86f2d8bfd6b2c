//! The JSON that an agent writes to the hook's standard input.

use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;

/// Most bytes of the JSON.
const MOST_BYTES: u64 = 1 << 20;

/// Time that it may take to arrive.
const LIMIT: Duration = Duration::from_secs(2);

/// The whole input.
///
/// # Errors
/// A sentence, when it does not end in time, is too large, or is no JSON.
pub(super) async fn read() -> Result<Value, String> {
    let mut text = Vec::new();
    let mut input = tokio::io::stdin().take(MOST_BYTES + 1);
    let read = tokio::time::timeout(LIMIT, input.read_to_end(&mut text)).await;
    match read {
        Err(_) => return Err(format!("the hook's input did not end within {LIMIT:?}")),
        Ok(Err(error)) => return Err(format!("the hook's input cannot be read: {error}")),
        Ok(Ok(_)) if text.len() as u64 > MOST_BYTES => {
            return Err(format!("the hook's input is larger than {MOST_BYTES} bytes"));
        }
        Ok(Ok(_)) => {}
    }
    serde_json::from_slice(&text).map_err(|error| format!("the hook's input is not JSON: {error}"))
}
