//! One login that writes as much as it can into what all share: it is refused at its share, and others go on.

use coord_test_support::process::{Coord, REPO_URL, ServerFolder};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

/// A running `coord serve`, and people who ask it.
struct Server {
    coord: Coord,
    client: Client,
}

impl Server {
    fn start(place: &ServerFolder) -> Server {
        Server {
            coord: place.serve_after("export COORD_LEDGER_MAX_LINES=1000"),
            client: Client::builder().no_proxy().build().unwrap(),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.coord.address)
    }

    async fn posts(&self, user: &str, path: &str, mut body: Value) -> (u16, Value) {
        body["repo_url"] = REPO_URL.into();
        let request = self.client.post(self.url(path));
        let request = request.header("content-type", "application/json");
        send(request.header("x-coord-user", user).body(body.to_string())).await
    }

    /// Records `count` calls of a tool.
    async fn records(&self, user: &str, name: &str, count: usize) -> (u16, Value) {
        let call = |number| {
            json!({
                "trace_id": format!("{name}-{number}"), "kind": "call", "tool_name": "Bash", "output_summary": "ran",
            })
        };
        let entries: Vec<Value> = (0..count).map(call).collect();
        let body = json!({ "branch": "main", "entries": entries });
        self.posts(user, "/api/ledger", body).await
    }

    async fn writes_intent(&self, user: &str, id: &str) -> (u16, Value) {
        let intent = json!({
            "id": id, "name": "An intent", "description": "Why it is done.", "owned_scope": [format!("{id}.txt")],
            "acceptance_criteria": ["Tests pass"],
        });
        self.posts(user, "/api/intents", intent).await
    }

    async fn selects(&self, user: &str, id: &str) -> (u16, Value) {
        let agent = json!({ "agent_id": format!("on-{id}") });
        self.posts(user, &format!("/api/intents/{id}/select"), agent).await
    }

    /// The beginning of the ledger.
    async fn first_lines(&self) -> String {
        let request = self.client.get(self.url(&format!("/api/ledger?repo_url={REPO_URL}")));
        let (status, page) = send(request.header("x-coord-user", "bob")).await;
        assert_eq!(status, 200, "{page}");
        page["lines"].to_string()
    }
}

async fn send(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_floods_the_ledger_is_refused_and_the_lines_of_others_stay() {
    let place = ServerFolder::new(env!("CARGO_BIN_EXE_coord"));
    let server = Server::start(&place);
    assert_eq!(server.records("bob", "evidence", 1).await.0, 200);
    assert!(server.first_lines().await.contains("evidence-0"));
    let mut lines = 0;
    let refusal = loop {
        let (status, body) = server.records("ann", &format!("flood-{lines}"), 20).await;
        if status != 200 {
            assert_eq!(status, 429, "{body}");
            break body;
        }
        lines += 20;
        assert!(lines <= 1000, "nothing stops the flood");
    };
    assert_eq!(lines, 500, "half of what the ledger keeps");
    let message = refusal["message"].as_str().unwrap();
    assert!(message.contains("its share of this repository's ledger"), "{message}");
    // A refusal costs ann its line, not bob.
    for number in 0..20 {
        let (status, body) = server.records("bob", &format!("more-{number}"), 20).await;
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(server.writes_intent("ann", "late").await.0, 429);
    assert_eq!(server.writes_intent("bob", "of-bob").await.0, 200);
    let lines = server.first_lines().await;
    assert!(lines.contains("evidence-0"), "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_floods_the_intents_is_refused_and_others_write_and_begin_theirs() {
    let place = ServerFolder::new(env!("CARGO_BIN_EXE_coord"));
    let server = Server::start(&place);
    for number in 0..250 {
        let (status, body) = server.writes_intent("ann", &format!("i{number}")).await;
        assert_eq!(status, 200, "{body}");
    }
    for number in 0..50 {
        let (status, body) = server.selects("ann", &format!("i{number}")).await;
        assert_eq!(status, 200, "{body}");
    }
    for (status, body) in [
        server.writes_intent("ann", "more").await,
        server.selects("ann", "i50").await,
    ] {
        assert_eq!(status, 409, "{body}");
        let text = body.to_string();
        assert!(
            text.contains("TOO_MANY_INTENTS") && text.contains("which is its share"),
            "{text}"
        );
    }
    assert_eq!(server.writes_intent("bob", "of-bob").await.0, 200);
    let (status, body) = server.selects("bob", "of-bob").await;
    assert_eq!(status, 200, "{body}");
}
