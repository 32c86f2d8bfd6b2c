//! How a stream ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use coord_runtime::after_response::AfterResponse;
use coord_settings::Rates;
use futures::future::BoxFuture;
use reqwest::Method;
use tokio::sync::mpsc;
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{Client, Kind, PATH, start};
use crate::api::{Api, listen};

type Runtime = mpsc::UnboundedSender<BoxFuture<'static, ()>>;

/// The function behind `/api/events`, whose requests may take `limit`, over the state of `api`, and what its runtime is told to
/// wait for.
async fn function(api: &Api, limit: Duration) -> (Api, mpsc::UnboundedReceiver<BoxFuture<'static, ()>>) {
    let (runtime, waited_for) = mpsc::unbounded_channel();
    let state = crate::api::state(Arc::clone(&api.store), &[api.git.path().to_owned()]);
    let router = coord_http::router(state, &[coord_http::endpoint::EVENTS]);
    let inner = service_fn(move |(_, request): (Runtime, Request)| router.clone().oneshot(request));
    let wait_until = |runtime: &Runtime, work| runtime.send(work).unwrap();
    let service = AfterResponse::new(wait_until).within(limit).layer(inner);
    let service = service_fn(move |request: Request| service.clone().call((runtime.clone(), request)));
    let address = listen(Router::new().fallback_service(service)).await;
    (api.elsewhere(address, Arc::clone(&api.store)), waited_for)
}

#[tokio::test]
async fn a_function_ends_its_streams_before_it_is_ended_and_is_waited_for_until_then() {
    let api = start(|_| {}).await;
    let limit = Duration::from_secs(2);
    let (function, mut waited_for) = function(&api, limit).await;
    for kind in Kind::BOTH {
        let began = Instant::now();
        let mut client = Client::open(kind, function.address, PATH, &[]).await;
        client.expect("stream_opened").await;
        let mut waiting = waited_for.recv().await.unwrap();
        assert!(futures::poll!(&mut waiting).is_pending());
        let (reason, code) = client.end().await;
        assert_eq!(
            (reason.as_str(), code),
            ("TIME_LIMIT", (kind == Kind::Socket).then_some(4000))
        );
        assert!(
            began.elapsed() >= limit - Duration::from_millis(100),
            "{:?}",
            began.elapsed()
        );
        tokio::time::timeout(Duration::from_secs(2), waiting)
            .await
            .expect("the stream has ended");
    }
}

#[tokio::test]
async fn a_function_is_not_waited_for_when_the_client_is_gone_or_was_refused() {
    let api = start(|_| {}).await;
    let (function, mut waited_for) = function(&api, Duration::from_secs(600)).await;
    let soon = Duration::from_secs(5);
    for kind in Kind::BOTH {
        let mut client = Client::open(kind, function.address, PATH, &[]).await;
        client.expect("stream_opened").await;
        let waiting = waited_for.recv().await.unwrap();
        drop(client);
        tokio::time::timeout(soon, waiting)
            .await
            .unwrap_or_else(|_| panic!("{kind:?}"));
    }
    assert_eq!(function.get("/api/events", &[]).await.status, 400);
    let waiting = waited_for.recv().await.unwrap();
    tokio::time::timeout(soon, waiting).await.expect("it was refused");
    assert_eq!(function.request(Method::HEAD, PATH, &[], "").await.status, 200);
    let waiting = waited_for.recv().await.unwrap();
    tokio::time::timeout(soon, waiting).await.expect("it has no body");
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let mut events = None;
    let api = start(|app| events = Some(Arc::clone(&app.events))).await;
    let mut clients = Vec::new();
    for kind in Kind::BOTH {
        let mut client = Client::open(kind, api.address, PATH, &[]).await;
        client.expect("stream_opened").await;
        clients.push(client);
    }
    events.unwrap().close();
    assert_eq!(clients[0].end().await, ("SHUTDOWN".to_owned(), Some(1001)));
    assert_eq!(clients[1].end().await, ("SHUTDOWN".to_owned(), None));
    let mut late = Client::open(Kind::Socket, api.address, PATH, &[]).await;
    assert_eq!(late.end().await, ("SHUTDOWN".to_owned(), Some(1001)));
    assert_eq!(api.get(PATH, &[]).await.status, 503, "no other begins");
}

// rule: http#stream-bounds
#[tokio::test]
async fn the_streams_of_one_person_are_bounded() {
    let mut events = None;
    let api = start(|app| {
        events = Some(Arc::clone(&app.events));
        app.rates = Rates::NONE;
    })
    .await;
    let ann = [("x-coord-user", "ann")];
    let mut streams = Vec::new();
    for _ in 0..128 {
        streams.push(Client::open(Kind::ServerSent, api.address, PATH, &ann).await);
    }
    let refused = api.get(PATH, &ann).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("30")));
    let mut socket = Client::open(Kind::Socket, api.address, PATH, &ann).await;
    let (_, code) = socket.end().await;
    assert_eq!(code, Some(1013));
    let mut bob = Client::open(Kind::ServerSent, api.address, PATH, &[("x-coord-user", "bob")]).await;
    bob.expect("stream_opened").await;
    drop(streams);
    coord_test_support::waiting::until("a stream of a client that is gone counts no more", async || {
        Client::try_open(Kind::ServerSent, api.address, PATH, &ann)
            .await
            .is_ok()
    })
    .await;
    drop(bob);
    let events = events.unwrap();
    coord_test_support::waiting::until("nothing is watched any more", async || !events.is_watched()).await;
}
