//! The transport: a message a line, on standard input and output. Whether the input has ended is told at once, while the SDK still
//! waits for answers that are under way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::RoleServer;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, Transport, stdio_pipes};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio::time::Instant;

/// Largest message, in bytes: as over HTTP. A larger one is dropped.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// When the input has ended.
#[derive(Debug, Default)]
pub struct Input(watch::Sender<Option<Instant>>);

impl Input {
    /// When it has ended; `None` while it has not.
    pub fn ended_at(&self) -> Option<Instant> {
        *self.0.borrow()
    }

    /// Waits for its end.
    pub async fn ended(&self) -> Instant {
        let mut ended = self.0.subscribe();
        match ended.wait_for(Option::is_some).await.map(|at| *at) {
            Ok(Some(at)) => at,
            _ => std::future::pending().await,
        }
    }
}

/// The transport on standard input and output, which tells `input` of its end.
pub fn transport(input: &Input) -> impl Transport<RoleServer> + 'static {
    let (reader, writer) = stdio_pipes();
    let reader = Watched {
        reader,
        ended: input.0.clone(),
    };
    AsyncRwTransport::new(reader, writer).with_max_line_length(MOST_BYTES)
}

struct Watched {
    reader: StdioReader,
    ended: watch::Sender<Option<Instant>>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.reader).poll_read(context, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.ended.send_replace(Some(Instant::now()));
        }
        Poll::Ready(result)
    }
}
