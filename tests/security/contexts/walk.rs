//! Each string field of each request, with each text in it.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value as Json, json};

use super::fields::{Field, FieldLocation, Operation, Schemas, Step};
use super::hostile::{WRITER, marker, unseen};
use super::site::{READER, Site};
use coord_test_worlds::world::REPO_URL;

/// Operations that no caller reaches here, each with why.
const OUT_OF_REACH: [(&str, &str); 3] = [
    ("get /api/events", "a stream, which the site reads all the time"),
    ("get /api/cron_cleanup", "it takes the secret of the cron, and no text"),
    ("post /api/github_webhook", "it takes the signature of GitHub"),
];

/// A text that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// `post /api/tasks title`
    pub name: String,
    pub field: String,
    pub is_taken: bool,
}

pub struct Walk<'a> {
    pub site: &'a Site,
    document: Schemas,
    /// By the number of the marker.
    pub sent: Vec<Sent>,
    /// For unique names.
    count: usize,
}

/// The state that an operation needs in order to succeed.
struct Prepared {
    user: String,
    known: BTreeMap<&'static str, Json>,
}

impl Prepared {
    fn with(mut self, known: &[(&'static str, Json)]) -> Prepared {
        self.known.extend(known.iter().cloned());
        self
    }
}

impl<'a> Walk<'a> {
    /// The team `alpha`, led by an agent of `eve`, and joined by the reader.
    pub async fn start(site: &'a Site) -> Walk<'a> {
        let walk = Walk {
            site,
            document: Schemas(serde_json::from_str(include_str!("../../../public/openapi.json")).unwrap()),
            sent: Vec::new(),
            count: 0,
        };
        walk.does(
            WRITER,
            "POST",
            "/api/teams",
            json!({ "agent_id": "eve-1", "name": "alpha" }),
        )
        .await;
        let (_, errors) = site.run(&["team", "join", "alpha"], "");
        assert!(errors.is_empty(), "{errors}");
        walk
    }

    /// Sends each of `tails`, after a marker, in every string field of `operation`.
    pub async fn sends(&mut self, operation: &Operation, tails: &[&str]) {
        if OUT_OF_REACH.iter().any(|(name, _)| *name == operation.name) {
            return;
        }
        let mut prepared = self.prepares(operation, "").await;
        let (is_taken, answer) = self.submits(operation, &prepared, None).await;
        assert!(is_taken, "{} without a text of ours: {answer}", operation.name);
        prepared = self.prepares(operation, "").await;
        let mut prepared_for = String::new();
        for field in &operation.fields {
            for (place, tail) in tails.iter().enumerate() {
                if prepared_for != field.name() && is_particular(field.name()) {
                    prepared = self.prepares(operation, field.name()).await;
                    prepared_for = field.name().to_owned();
                }
                let text = format!("{}{tail}", marker(self.sent.len()));
                let (is_taken, answer) = self.submits(operation, &prepared, Some((field, &text))).await;
                if let Some(problem) = unseen(&answer) {
                    panic!("{} answers {field:?} {text:?}: {problem}: {answer:?}", operation.name);
                }
                self.sent.push(Sent {
                    name: format!("{} {}", operation.name, field.name()),
                    field: field.name().to_owned(),
                    is_taken,
                });
                if is_taken {
                    if place > 0 && prepared.known.contains_key("intent_id") {
                        // A repository has a hundred that are active.
                        let reason = json!({ "repo_url": REPO_URL, "reason": "Enough" });
                        let id = prepared.known["id"].as_str().unwrap_or_default();
                        let act = format!("/api/intents/{id}/abandon");
                        self.site.sends_as(&prepared.user, "POST", &act, &[], &reason).await;
                    }
                    prepared = self.prepares(operation, &prepared_for).await;
                }
            }
        }
    }

    /// Whether the server takes the request, with this text in this field, and what it answers.
    async fn submits(
        &self,
        operation: &Operation,
        prepared: &Prepared,
        text: Option<(&Field, &str)>,
    ) -> (bool, String) {
        let site = self.site;
        let known = |name: &str| prepared.known.get(name).cloned();
        let own;
        let schemas = match operation.method.as_str() {
            "TOOL" => {
                own = Schemas(operation.body.clone());
                &own
            }
            _ => &self.document,
        };
        let way = |place| {
            text.filter(|(field, _)| field.place == place)
                .map(|(field, text)| (&field.steps[..], text))
        };
        let body = match operation.body.is_null() {
            true => Json::Null,
            false => schemas.sample(&operation.body, "", way(FieldLocation::Body), &known),
        };
        if operation.method == "TOOL" {
            let call = json!({ "name": operation.path, "arguments": body });
            let answer = site.mcp(&prepared.user, "tools/call", call).await;
            let is_taken = answer["result"]["isError"] != true && answer["error"].is_null();
            return (is_taken, answer.to_string());
        }
        let (mut path, mut query, mut headers) = (operation.path.clone(), Vec::new(), Vec::new());
        for (place, name, is_required, schema) in &operation.parameters {
            let steps = [Step::Member(name.clone())];
            let value = match way(*place) {
                Some((wanted, text)) if wanted == steps => json!(text),
                _ if *is_required || known(name).is_some() => schemas.sample(schema, name, None, &known),
                _ => continue,
            };
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let encoded = utf8_percent_encode(&value, NON_ALPHANUMERIC);
            match place {
                FieldLocation::Path => path = path.replace(&format!("{{{name}}}"), &encoded.to_string()),
                FieldLocation::Query => query.push(format!("{name}={encoded}")),
                FieldLocation::Header => headers.push((name.clone(), value.into_bytes())),
                FieldLocation::Body => unreachable!("no parameter is"),
            }
        }
        let target = format!("{path}?{}", query.join("&"));
        let (status, answer) = site
            .sends_as(&prepared.user, &operation.method, &target, &headers, &body)
            .await;
        assert!(status < 500, "{} {target} {body}: {status} {answer}", operation.name);
        (status < 300, answer)
    }

    /// A request that has to be done.
    async fn does(&self, user: &str, method: &str, path: &str, mut body: Json) -> Json {
        body["repo_url"] = REPO_URL.into();
        let (status, answer) = self.site.sends_as(user, method, path, &[], &body).await;
        assert_eq!(status, 200, "{method} {path} {body}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Makes what `operation` needs: the next one has used up the last.
    async fn prepares(&mut self, operation: &Operation, field: &str) -> Prepared {
        self.count += 1;
        let number = self.count;
        let known = [
            ("repo_url", json!(REPO_URL)),
            ("branch", json!("main")),
            ("agent_id", json!("eve-1")),
            ("team", json!("alpha")),
            ("agent_head", json!(self.site.head)),
            ("trace_id", json!(format!("trace-{number}"))),
            ("request_key", json!(format!("key-{number}"))),
            ("file_paths", json!([format!("f{number}.txt")])),
            ("to", json!([READER])),
        ];
        let prepared = Prepared {
            user: WRITER.to_owned(),
            known: BTreeMap::from(known),
        };
        let path = operation.path.as_str();
        if path.starts_with("/api/intents") || path.ends_with("_intent") {
            return self.prepares_intent(operation, prepared).await;
        }
        if path.starts_with("/api/teams") || path == "team" {
            return self.prepares_team(operation, prepared).await;
        }
        match path {
            "/api/ledger" if ["file_path", "hash"].contains(&field) => prepared.with(&[
                ("kind", json!("mutation")),
                ("file_path", json!("a.ts")),
                ("hash", json!(format!("sha256:{}", "0".repeat(64)))),
            ]),
            "/api/ledger" => prepared.with(&[("kind", json!("call"))]),
            "post_status" | "/api/post_status" => prepared.with(&[("status", json!("WRITING"))]),
            "/api/tasks/{id}/complete" | "/api/tasks/{id}/release" => {
                let id = self.new_task().await;
                let claim = json!({ "agent_id": "eve-1", "team": "alpha" });
                self.does(WRITER, "POST", &format!("/api/tasks/{id}/claim"), claim)
                    .await;
                prepared.with(&[("id", json!(id))])
            }
            "/api/tasks" | "task_create" => {
                let mut prepared = prepared;
                prepared.known.remove("branch");
                if ["files", "branch"].contains(&field) {
                    prepared = prepared.with(&[("branch", json!("main")), ("files", json!(["a.ts"]))]);
                }
                prepared
            }
            "task_list" => prepared,
            _ if path.starts_with("/api/tasks") || path.starts_with("task_") => {
                let id = self.new_task().await;
                let mut prepared = prepared.with(&[("id", json!(id)), ("action", json!("edit"))]);
                if field == "files" {
                    prepared = prepared.with(&[("files", json!(["a.ts"]))]);
                } else if operation.method == "PATCH" || path == "task_update" {
                    // That of files is refused where there are none.
                    prepared.known.remove("branch");
                    prepared.known.remove("agent_head");
                }
                prepared
            }
            _ => prepared,
        }
    }

    async fn new_task(&self) -> String {
        let tasks = json!({ "agent_id": "eve-1", "team": "alpha", "tasks": [{ "title": "Pool" }] });
        let made = self.does(WRITER, "POST", "/api/tasks", tasks).await;
        made["tasks"][0]["id"].as_str().unwrap().to_owned()
    }

    /// An intent in the state that an act takes. Each is of another login: one has a few alone.
    async fn prepares_intent(&mut self, operation: &Operation, mut prepared: Prepared) -> Prepared {
        let number = self.count;
        let (id, user) = (format!("i{number}"), format!("{WRITER}{number}"));
        let intent = |id: &str| {
            json!({
                "id": id, "name": "Pool", "description": "Why it is done.", "owned_scope": [format!("{id}/**")],
                "acceptance_criteria": ["Tests pass"], "agent_id": "eve-1",
            })
        };
        prepared.user.clone_from(&user);
        prepared = prepared.with(&[("id", json!(id)), ("intent_id", json!(id)), ("reason", json!("Enough"))]);
        if operation.name == "post /api/intents" {
            return prepared.with(&[("name", json!("Pool"))]);
        }
        self.does(&user, "POST", "/api/intents", intent(&id)).await;
        let act = operation.path.rsplit('/').next().unwrap();
        let person = ["allow", "take_over", "unblock"];
        if person.contains(&act) || ["block", "complete", "abandon", "usage"].contains(&act) {
            let agent = json!({ "agent_id": "eve-1" });
            self.does(&user, "POST", &format!("/api/intents/{id}/select"), agent)
                .await;
        }
        match act {
            "complete" => {
                let met = json!([{ "criterion": "Tests pass", "evidence": "npm test" }]);
                let met = json!({ "agent_id": "eve-1", "met": met });
                self.does(&user, "PATCH", &format!("/api/intents/{id}"), met).await;
            }
            "unblock" => {
                let reason = json!({ "agent_id": "eve-1", "reason": "Enough" });
                self.does(&user, "POST", &format!("/api/intents/{id}/block"), reason)
                    .await;
            }
            "allow" => {
                let other = format!("j{number}");
                self.does(&user, "POST", "/api/intents", intent(&other)).await;
                prepared = prepared.with(&[("other", json!(other))]);
            }
            "take_over" => prepared = prepared.with(&[("file_paths", json!([format!("{id}/a.txt")]))]),
            "update_intent" => prepared = prepared.with(&[("action", json!("EDIT"))]),
            _ => {}
        }
        if person.contains(&act) {
            prepared.known.remove("agent_id");
        }
        if operation.path == "/api/intents/{id}" {
            prepared = prepared.with(&[("criterion", json!("Tests pass"))]);
        }
        prepared
    }

    /// Prepares a team for acts on one, led by an agent of a separate login.
    async fn prepares_team(&self, operation: &Operation, mut prepared: Prepared) -> Prepared {
        let number = self.count;
        let (team, user) = (format!("team{number}"), format!("{WRITER}{number}"));
        prepared.user.clone_from(&user);
        prepared = prepared.with(&[("step", json!("request")), ("action", json!("show"))]);
        if operation.method == "POST" && operation.path == "/api/teams" {
            return prepared.with(&[("name", json!(team))]);
        }
        let new = json!({ "agent_id": "eve-1", "name": team });
        self.does(&user, "POST", "/api/teams", new).await;
        if ["leave", "shutdown", "PATCH"]
            .iter()
            .any(|part| operation.path.ends_with(part) || operation.method == *part)
        {
            let second = json!({ "agent_id": "eve-2" });
            self.does(&user, "POST", &format!("/api/teams/{team}/join"), second)
                .await;
        }
        prepared = prepared.with(&[("team", json!(team)), ("leader", json!("eve-2"))]);
        if ["leave", "join"].iter().any(|part| operation.path.ends_with(part)) {
            prepared = prepared.with(&[("agent_id", json!("eve-2"))]);
        }
        prepared
    }
}

/// Fields that are taken only beside others.
fn is_particular(field: &str) -> bool {
    ["file_path", "hash", "files", "branch"].contains(&field)
}
