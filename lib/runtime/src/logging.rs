//! Logs: JSON for functions, text for a terminal. Each event is one line, whatever text a caller has sent.

use std::io::{self, Write};

use coord_protocol::plain_text::is_invisible;
use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Logs one JSON object per line to standard output. `RUST_LOG` sets the level, else `default_level`.
pub fn start_json(default_level: &str) {
    start(json(filter(default_level), io::stdout));
}

/// Logs one line of text per event to standard error. `RUST_LOG` sets the level, else `default_level`.
pub fn start_text(default_level: &str) {
    start(text(filter(default_level), io::stderr));
}

fn start(subscriber: impl Subscriber + Send + Sync) {
    // A second call, in a test, fails and changes nothing.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn filter(default_level: &str) -> EnvFilter {
    // The MCP SDK logs each request at `info` and `warn`, with text from the caller. The edge already logs requests.
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(format!("{default_level},rmcp=error")))
}

/// The subscriber of [`start_json`], on any writer.
pub fn json(
    filter: EnvFilter,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    tracing_subscriber::fmt()
        .json()
        // The list of spans contains the current span.
        .with_current_span(false)
        .with_env_filter(filter)
        .with_writer(OneLine(writer))
        // The subscriber would report them on standard error, and panic if that is closed.
        .log_internal_errors(false)
        .finish()
}

/// The subscriber of [`start_text`], on any writer. It uses no colors, so the log contains no escape sequence at all.
pub fn text(
    filter: EnvFilter,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter(filter)
        .with_writer(OneLine(writer))
        // The subscriber would report them on standard error, and panic if that is closed.
        .log_internal_errors(false)
        .finish()
}

/// Writes each event as one line: control characters, line separators and invisible characters are escaped as in JSON.
/// `tracing-subscriber` itself writes line ends as text, and ESC in values that are logged by `Display`.
struct OneLine<M>(M);

/// The writer of one event.
struct Line<W>(W);

impl<'w, M: MakeWriter<'w>> MakeWriter<'w> for OneLine<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        Line(self.0.make_writer())
    }

    fn make_writer_for(&'w self, metadata: &tracing::Metadata<'_>) -> Self::Writer {
        Line(self.0.make_writer_for(metadata))
    }
}

impl<W: Write> Write for Line<W> {
    /// `event` is a complete event with its line end, because the subscriber formats an event before it writes it.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let body = text.strip_suffix('\n').unwrap_or(&text);
        if body.contains(needs_escape) {
            let mut line = String::with_capacity(event.len() + 16);
            for character in body.chars() {
                match character {
                    '\n' => line.push_str("\\n"),
                    '\r' => line.push_str("\\r"),
                    other if needs_escape(other) => {
                        for unit in other.encode_utf16(&mut [0; 2]) {
                            line.push_str(&format!("\\u{unit:04x}"));
                        }
                    }
                    other => line.push(other),
                }
            }
            line.push('\n');
            self.0.write_all(line.as_bytes())?;
        } else {
            self.0.write_all(event)?;
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn needs_escape(character: char) -> bool {
    character != '\t' && is_invisible(character)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A writer that keeps its bytes.
    #[derive(Clone, Default)]
    struct LogBuffer(Arc<Mutex<Vec<u8>>>);

    impl Write for LogBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const EVIL: &str =
        "a\nERROR forged\r\n\u{1b}[2J\u{1b}]0;title\u{7}\u{85}\u{2028}\u{9b}31m\u{202e}\u{fff9}\u{e0041} b";

    fn log_evil() {
        let span = tracing::error_span!("request", id = %EVIL);
        let _inside = span.enter();
        tracing::warn!(display = %EVIL, debug = ?EVIL, plain = EVIL, "{EVIL}");
    }

    fn written(buffer: &LogBuffer) -> String {
        String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_callers_text_breaks_no_line_of_text() {
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let subscriber = text(EnvFilter::new("trace"), move || writer.clone());
        tracing::subscriber::with_default(subscriber, log_evil);
        let text = written(&buffer);
        let line = text.strip_suffix('\n').unwrap();
        assert!(!line.contains(needs_escape), "{text:?}");
        assert!(line.contains("\\nERROR forged\\r"), "{text:?}");
    }

    #[test]
    fn a_callers_text_breaks_no_line_of_json() {
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let subscriber = json(EnvFilter::new("trace"), move || writer.clone());
        tracing::subscriber::with_default(subscriber, log_evil);
        let text = written(&buffer);
        assert!(!text.trim_end_matches('\n').contains(needs_escape), "{text:?}");
        let event: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(event["fields"]["message"], EVIL);
        assert_eq!(event["spans"][0]["id"], EVIL);
    }
}
