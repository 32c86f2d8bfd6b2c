//! A connection whose client must read responses, and gets them even while it is still sending.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::places::Cut;

/// A response this shortly before the end may belong to a request that is still being sent.
const JUST_NOW: Duration = Duration::from_secs(1);

/// Longest wait for more of that request: for the next piece, and altogether.
const NEXT_PIECE: Duration = Duration::from_millis(500);
const ALL_PIECES: Duration = Duration::from_secs(5);

/// Most bytes of that request that are read.
const MOST_BYTES: usize = 32 << 20;

/// A stream on which a write without progress for `patience` is an error. Reads are bounded elsewhere. Once it is cut off, every read
/// and write is an error, also after an upgrade.
///
/// At shutdown, the rest of the client's data is read and dropped for a while: closing a socket with unread bytes resets it,
/// and the client loses a response that it has yet to read (413, for example).
pub struct ImpatientStream {
    stream: TcpStream,
    patience: Duration,
    cut: Arc<Cut>,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Set once a byte was read.
    has_read: Arc<AtomicBool>,
    written_at: Option<Instant>,
    draining: Option<Draining>,
}

/// The remaining time and bytes.
struct Draining {
    until: Instant,
    bytes: usize,
    next: Pin<Box<Sleep>>,
}

impl ImpatientStream {
    /// A stream over `stream`.
    pub fn new(stream: TcpStream, patience: Duration, cut: Arc<Cut>) -> Self {
        ImpatientStream {
            stream,
            patience,
            cut,
            waiting: None,
            has_read: Arc::default(),
            written_at: None,
            draining: None,
        }
    }

    /// A flag that tells whether a byte was read, independent of the stream's owner.
    pub fn has_read(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_read)
    }

    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let draining = self.draining.get_or_insert_with(|| Draining {
            until: Instant::now() + ALL_PIECES,
            bytes: MOST_BYTES,
            next: Box::pin(sleep(NEXT_PIECE)),
        });
        let mut piece = [0; 16 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    draining.bytes = draining.bytes.saturating_sub(buffer.filled().len());
                    if draining.bytes == 0 || Instant::now() >= draining.until {
                        return Poll::Ready(());
                    }
                    draining.next.as_mut().reset(Instant::now() + NEXT_PIECE);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return draining.next.as_mut().poll(context),
            }
        }
    }

    fn within_patience<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            self.written_at = Some(Instant::now());
            return written;
        }
        if self.cut.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        match waiting.as_mut().poll(context) {
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
        if self.cut.poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() && !self.has_read.load(Ordering::Relaxed) {
            self.has_read.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_patience(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within_patience(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.cut.poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        if self.draining.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if self.written_at.is_none_or(|at| at.elapsed() > JUST_NOW) {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_drain(context).map(Ok)
    }
}
