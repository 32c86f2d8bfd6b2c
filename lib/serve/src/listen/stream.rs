//! A connection whose client must read responses, and receives them even while it still sends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::slots::Cutoff;

/// A response that ends this shortly before the shutdown may belong to a request whose client still sends.
const RECENT: Duration = Duration::from_secs(1);

/// The longest wait for the next piece of that request.
const PIECE_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest wait for the rest of that request.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The greatest number of bytes of that request that are still read.
const MAX_DRAINED_BYTES: usize = 32 << 20;

/// A stream on which a write without progress for `write_timeout` is an error. Reads are bounded elsewhere. After a
/// cutoff, each read and write is an error, also after an upgrade.
///
/// At shutdown, the stream reads and drops the rest of the client's data for a while. Closing a socket with unread
/// bytes resets it, and the client loses a response that it has yet to read (413, for example).
pub struct ImpatientStream {
    stream: TcpStream,
    write_timeout: Duration,
    cutoff: Arc<Cutoff>,
    /// Runs while a write waits.
    write_timer: Option<Pin<Box<Sleep>>>,
    has_read: Arc<AtomicBool>,
    written_at: Option<Instant>,
    drain: Option<Drain>,
}

/// The bounds within which the rest of the client's data is read.
struct Drain {
    deadline: Instant,
    bytes_left: usize,
    piece_timer: Pin<Box<Sleep>>,
}

impl ImpatientStream {
    pub fn new(stream: TcpStream, write_timeout: Duration, cutoff: Arc<Cutoff>) -> Self {
        ImpatientStream {
            stream,
            write_timeout,
            cutoff,
            write_timer: None,
            has_read: Arc::default(),
            written_at: None,
            drain: None,
        }
    }

    /// A flag that is set once a read has completed. It remains usable when the stream has another owner.
    pub fn has_read(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_read)
    }

    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let drain = self.drain.get_or_insert_with(|| Drain {
            deadline: Instant::now() + DRAIN_TIMEOUT,
            bytes_left: MAX_DRAINED_BYTES,
            piece_timer: Box::pin(sleep(PIECE_TIMEOUT)),
        });
        let mut piece = [0; 16 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    drain.bytes_left = drain.bytes_left.saturating_sub(buffer.filled().len());
                    if drain.bytes_left == 0 || Instant::now() >= drain.deadline {
                        return Poll::Ready(());
                    }
                    drain.piece_timer.as_mut().reset(Instant::now() + PIECE_TIMEOUT);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return drain.piece_timer.as_mut().poll(context),
            }
        }
    }

    /// `written`, or an error once the write has waited too long.
    fn check_write<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            self.written_at = Some(Instant::now());
            return written;
        }
        if self.cutoff.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let write_timeout = self.write_timeout;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(write_timeout)));
        match timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.cutoff.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if result.is_ready() && !self.has_read.load(Ordering::Relaxed) {
            self.has_read.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.cutoff.poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        if self.drain.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if self.written_at.is_none_or(|at| at.elapsed() > RECENT) {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_drain(context).map(Ok)
    }
}
