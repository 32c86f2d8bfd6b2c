//! The transport: one message per line, on standard input and output. The end of the input is reported immediately,
//! while the SDK still waits for pending responses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use coord_mcp::in_order;
use rmcp::RoleServer;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, Transport, stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::Instant;

/// The largest message, in bytes: as over HTTP. A larger one is dropped.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The time at which the input has ended.
#[derive(Debug, Default)]
pub struct Input(watch::Sender<Option<Instant>>);

impl Input {
    /// The end of the input; `None` before it.
    pub fn ended_at(&self) -> Option<Instant> {
        *self.0.borrow()
    }

    pub async fn wait_for_end(&self) -> Instant {
        let mut receiver = self.0.subscribe();
        match receiver.wait_for(Option::is_some).await.map(|at| *at) {
            Ok(Some(at)) => at,
            _ => std::future::pending().await,
        }
    }
}

/// The transport on standard input and output. It notifies `input` of the end of standard input.
pub fn transport(input: &Input) -> impl Transport<RoleServer> + 'static {
    let (reader, writer) = stdio_pipes();
    let writer = OrderedWriter {
        writer,
        line: Vec::new(),
        ready: Vec::new(),
    };
    let reader = WatchedInput {
        reader,
        ended: input.0.clone(),
    };
    AsyncRwTransport::new(reader, writer).with_max_line_length(MAX_BYTES)
}

struct WatchedInput {
    reader: StdioReader,
    ended: watch::Sender<Option<Instant>>,
}

impl AsyncRead for WatchedInput {
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

/// Writes lines of JSON with the members of their objects in order.
struct OrderedWriter<W> {
    writer: W,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Bytes that are still to be written.
    ready: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> OrderedWriter<W> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.ready.is_empty() {
            let written = ready!(Pin::new(&mut self.writer).poll_write(context, &self.ready))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.ready.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for OrderedWriter<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend(piece);
            if let Some(line) = self.line.strip_suffix(b"\n") {
                let ordered = in_order(line);
                self.ready.extend(ordered);
                self.ready.push(b'\n');
                self.line.clear();
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?;
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?;
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn lines_are_put_in_order_however_they_are_cut_and_however_slow_the_reader_is() {
        let (writer, mut reader) = tokio::io::duplex(7);
        let mut out = OrderedWriter {
            writer,
            line: Vec::new(),
            ready: Vec::new(),
        };
        let written = tokio::spawn(async move {
            for piece in [
                "{\"a\":1,\"orchestr",
                "ation\":2}\n{\"b\":3}\n{\"c\":",
                "4,\"orchestration\":5}\n",
            ] {
                out.write_all(piece.as_bytes()).await.unwrap();
            }
            out.flush().await.unwrap();
            out.shutdown().await.unwrap();
        });
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        written.await.unwrap();
        assert_eq!(
            text,
            "{\"orchestration\":2,\"a\":1}\n{\"b\":3}\n{\"orchestration\":5,\"c\":4}\n"
        );
    }
}
