//! The body of a request or of a response. Its end starts the next phase of the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Frame, SizeHint};

use super::slots::{ConnectionSlot, Phase};

/// A body. Once it was read or is dropped, its connection enters another phase.
#[derive(Debug)]
pub struct TrackedBody<B> {
    body: B,
    next: Option<(Arc<ConnectionSlot>, Phase)>,
}

impl<B: Body> TrackedBody<B> {
    /// `body` of a request or a response on the connection of `slot`, which enters `next` after it.
    pub fn new(body: B, slot: &Arc<ConnectionSlot>, next: Phase) -> Self {
        TrackedBody {
            body,
            next: Some((Arc::clone(slot), next)),
        }
    }
}

impl<B> TrackedBody<B> {
    fn end(&mut self) {
        if let Some((slot, phase)) = self.next.take() {
            slot.enter_phase(phase);
        }
    }
}

impl<B: Body + Unpin> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        // The server has yet to write the last frame of a response: this body ends when it is dropped.
        let is_request = self.next.as_ref().is_some_and(|(_, next)| *next == Phase::Working);
        if is_request && (!matches!(frame, Some(Ok(_))) || self.body.is_end_stream()) {
            self.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for TrackedBody<B> {
    fn drop(&mut self) {
        self.end();
    }
}
