//! The body of a request or of a response, whose end says what its connection waits for next.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Frame, SizeHint};

use super::places::{ConnectionPlace, Phase};

/// A body. Once it was read, or is dropped, its connection goes on to another phase.
#[derive(Debug)]
pub struct TrackedBody<B> {
    body: B,
    next: Option<(Arc<ConnectionPlace>, Phase)>,
}

impl<B: Body> TrackedBody<B> {
    /// `body` of a request or a response on the connection at `place`, which goes on to `next`.
    pub fn new(body: B, place: &Arc<ConnectionPlace>, next: Phase) -> Self {
        TrackedBody {
            body,
            next: Some((Arc::clone(place), next)),
        }
    }
}

impl<B> TrackedBody<B> {
    fn end(&mut self) {
        if let Some((place, phase)) = self.next.take() {
            place.go_on(phase);
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
        // Of a response, the last frame is still to be written: it ends when it is dropped.
        let is_of_request = self.next.as_ref().is_some_and(|(_, next)| *next == Phase::Working);
        if is_of_request && (!matches!(frame, Some(Ok(_))) || self.body.is_end_stream()) {
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
