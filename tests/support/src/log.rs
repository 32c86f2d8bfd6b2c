//! The log of a test's thread, and thereby of the whole test where its servers run on the same thread.

use std::io::Write;
use std::sync::Arc;

use coord_runtime::logging;
use parking_lot::Mutex;
use tracing::subscriber::{DefaultGuard, set_default, set_global_default};
use tracing_subscriber::EnvFilter;

/// A log that is captured until its guard is dropped.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub fn json(filter: &str) -> (Log, DefaultGuard) {
        let (log, writer) = Log::begin();
        let guard = set_default(logging::json(EnvFilter::new(filter), move || writer.clone()));
        (log, guard)
    }

    pub fn text(filter: &str) -> (Log, DefaultGuard) {
        let (log, writer) = Log::begin();
        let guard = set_default(logging::text(EnvFilter::new(filter), move || writer.clone()));
        (log, guard)
    }

    /// A log, and its writer.
    fn begin() -> (Log, Log) {
        // Whether an event is wanted at all is decided once for all threads, so the default subscriber wants all of them. A
        // second call fails and changes nothing.
        let _ = set_global_default(tracing_subscriber::registry());
        let log = Log::default();
        (log.clone(), log)
    }

    pub fn read(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
