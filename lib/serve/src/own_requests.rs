//! A sender that has found its server by an announcement names the server in the request. A server that was killed
//! leaves an announcement behind. Another server may have its address by now: of another repository, or with another
//! store.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Request, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use coord_protocol::SERVER_HEADER;

/// Refuses requests for another server than `own_name`, before anything else is done for them.
pub async fn refuse_misdirected(State(own_name): State<HeaderValue>, request: Request<Body>, next: Next) -> Response {
    match request.headers().get(SERVER_HEADER) {
        None => next.run(request).await,
        Some(name) if *name == own_name => {
            let mut response = next.run(request).await;
            response.headers_mut().insert(SERVER_HEADER, own_name);
            response
        }
        Some(_) => {
            let sentence = "the server that this request is for has ended, and another one has its address\n";
            (StatusCode::MISDIRECTED_REQUEST, sentence).into_response()
        }
    }
}
