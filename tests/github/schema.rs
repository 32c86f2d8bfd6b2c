//! The fake is true to GitHub: what it answers has the form that GitHub publishes. And what GitHub answered once, as
//! recorded, is understood. Both come by `tests/github/fetch`.

use std::path::PathBuf;

use coord_sources::Source;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::cloud::now;
use crate::{blobs, branch, commit_all, id, read, sha, small, source};
use coord_test_support::git::Repo;
use coord_test_support::github::{APP, APP_KEY, Fake, Fault, INSTALLATION, Person, Visibility};
use coord_test_support::skipping;

/// A published file; `None`, said loudly, where it was not fetched and need not be.
pub fn published(name: &str) -> Option<Value> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/github/published")).join(name);
    match std::fs::read(&path) {
        Ok(text) => Some(serde_json::from_slice(&text).unwrap()),
        Err(error) => {
            assert_eq!(
                error.kind(),
                std::io::ErrorKind::NotFound,
                "{}: {error}",
                path.display()
            );
            skipping::skip("tests/github/fetch has not been run, which fetches what GitHub publishes of its API");
            None
        }
    }
}

/// OpenAPI 3.0 says `nullable` where JSON Schema has a separate type.
fn as_json_schema(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(as_json_schema),
        Value::Object(fields) => {
            fields.values_mut().for_each(as_json_schema);
            if fields.remove("nullable") != Some(Value::Bool(true)) {
                return;
            }
            if let Some(Value::Array(values)) = fields.get_mut("enum") {
                values.push(Value::Null);
            }
            match fields.get("type") {
                Some(kind) => {
                    let kinds = json!([kind, "null"]);
                    fields.insert("type".to_owned(), kinds);
                }
                None => *value = json!({"anyOf": [value.take(), {"type": "null"}]}),
            }
        }
        _ => {}
    }
}

/// The schemas that `schema` needs. The whole description has 13 MB.
fn named_by(document: &Value, schema: &Value) -> serde_json::Map<String, Value> {
    let mut named = serde_json::Map::new();
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                waiting.extend(
                    fields
                        .iter()
                        .filter(|(name, _)| !name.starts_with("example"))
                        .map(|(_, value)| value),
                );
                let name = fields.get("$ref").and_then(Value::as_str);
                if let Some(name) = name.and_then(|name| name.strip_prefix("#/components/schemas/"))
                    && !named.contains_key(name)
                {
                    let schema = &document["components"]["schemas"][name];
                    named.insert(name.to_owned(), schema.clone());
                    waiting.push(schema);
                }
            }
            _ => {}
        }
    }
    named
}

/// Returns the faults of `answer` as the answer of an operation.
fn faults(document: &Value, method: &str, route: &str, status: u16, answer: &Value) -> Vec<String> {
    let mut response = &document["paths"][route][method]["responses"][status.to_string()];
    if let Some(reference) = response["$ref"].as_str() {
        response = document.pointer(reference.trim_start_matches('#')).unwrap();
    }
    let schema = &response["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {route} {status} has no schema");
    let whole = json!({"allOf": [schema], "components": {"schemas": named_by(document, schema)}});
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft4);
    let validator = options.build(&whole).unwrap();
    let errors = validator
        .iter_errors(answer)
        .map(|error| format!("{}: {error:.300}", error.instance_path()));
    errors.collect()
}

/// Asserts that the answer to `request` has this status, and the form of it that is published for the operation.
async fn has_published_form(document: &Value, request: RequestBuilder, method: &str, route: &str, status: u16) {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), status, "{}", answer.url());
    let case = answer.url().to_string();
    let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let faults = faults(document, method, route, status, &answer);
    assert_eq!(faults, [""; 0], "{case}: {answer:#}");
}

#[tokio::test]
async fn answers_of_the_fake_have_the_published_form() {
    let Some(mut document) = published("api.github.com.json") else {
        return;
    };
    as_json_schema(&mut document);
    let (_temp, repo, first, fake) = small().await;
    let second = repo.commit(&[("b/c.ts", "x")]);
    let blob = repo.git(&["rev-parse", "HEAD:b/c.ts"]);
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .unwrap();
    let repository = "/repos/{owner}/{repo}";
    let trees = format!("{repository}/git/trees/{{tree_sha}}");
    let commits = format!("{repository}/commits/{{ref}}");
    let compare = format!("{repository}/compare/{{basehead}}");
    for (route, path, status) in [
        (repository, "acme/widgets".to_owned(), 200),
        (repository, "acme/gizmos".to_owned(), 301),
        (repository, "acme/none".to_owned(), 404),
        (&trees, format!("acme/widgets/git/trees/{second}?recursive=1"), 200),
        (&trees, format!("acme/widgets/git/trees/{second}"), 200),
        (&trees, "acme/widgets/git/trees/1111111".to_owned(), 404),
        (
            &format!("{repository}/git/blobs/{{file_sha}}"),
            format!("acme/widgets/git/blobs/{blob}"),
            200,
        ),
        (&commits, "acme/widgets/commits/heads/main".to_owned(), 200),
        (&commits, "acme/widgets/commits/heads/none".to_owned(), 422),
        (
            &format!("{repository}/commits"),
            format!("acme/widgets/commits?sha={second}&per_page=2"),
            200,
        ),
        (
            &format!("{repository}/branches"),
            "acme/widgets/branches?per_page=100".to_owned(),
            200,
        ),
        (&compare, format!("acme/widgets/compare/{first}...{second}"), 200),
        (
            &compare,
            format!("acme/widgets/compare/{second}...{first}?per_page=1&page=2"),
            200,
        ),
        (&compare, format!("acme/widgets/compare/{first}...1111111"), 404),
    ] {
        let request = client.get(format!("{}/repos/{path}", fake.api()));
        has_published_form(&document, request, "get", route, status).await;
    }
    let person = |token: &str, is_installation: bool| Person {
        token: token.to_owned(),
        login: "alice".to_owned(),
        name: Some("Alice".to_owned()),
        role: Some("push"),
        is_installation,
    };
    fake.behave(|behavior| behavior.people = vec![person("ghp_a", false), person("ghs_a", true)]);
    for (token, route, path, status) in [
        ("ghp_a", repository, "repos/acme/widgets", 200),
        ("ghs_a", repository, "repos/acme/widgets", 200),
        ("ghp_a", "/user", "user", 200),
        ("ghp_b", "/user", "user", 401),
        ("ghs_a", "/user", "user", 403),
    ] {
        let request = client.get(format!("{}/{path}", fake.api())).bearer_auth(token);
        has_published_form(&document, request, "get", route, status).await;
    }
    fake.behave(|behavior| behavior.people.clear());
    // The check itself sees what is wrong.
    let wrong = json!({"sha": 7, "tree": []});
    assert!(!faults(&document, "get", &trees, 200, &wrong).is_empty());

    let empty = tempfile::tempdir().unwrap();
    Repo::init(empty.path(), &[]);
    let other = Fake::serve(empty.path()).await;
    let request = client.get(format!("{}/repos/acme/widgets/commits/heads/main", other.api()));
    has_published_form(&document, request, "get", &commits, 409).await;

    fake.behave(|behavior| behavior.visibility = Visibility::App);
    let claims = json!({"iss": APP, "iat": now(), "exp": now() + 60});
    let key = EncodingKey::from_rsa_pem(APP_KEY.as_bytes()).unwrap();
    let jwt = jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &key).unwrap();
    let installation = client.get(format!("{}/repos/acme/widgets/installation", fake.api()));
    let token = client.post(format!("{}/app/installations/{INSTALLATION}/access_tokens", fake.api()));
    for (request, method, route, status) in [
        (installation, "get", "/repos/{owner}/{repo}/installation", 200),
        (token, "post", "/app/installations/{installation_id}/access_tokens", 201),
    ] {
        has_published_form(&document, request.bearer_auth(&jwt), method, route, status).await;
    }
}

/// The recorded answers of a scenario.
fn recorded(scenario: &str) -> Option<Vec<Value>> {
    let recorded = published(&format!("scenarios/{scenario}.json"))?;
    Some(recorded.as_array().unwrap().clone())
}

fn as_fault(exchange: &Value, api: &str) -> Fault {
    let status = exchange["status"].as_u64().unwrap() as u16;
    let rewritten = |text: &str| text.replace("https://api.github.com", api);
    let names = [
        "location",
        "etag",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "content-type",
    ];
    let headers = names.into_iter().filter_map(|name| {
        let value = &exchange["headers"][name];
        let number = || value.as_u64().map(|number| number.to_string());
        let text = value.as_str().map(str::to_owned).or_else(number)?;
        Some((name, rewritten(&text)))
    });
    let body = match &exchange["response"] {
        Value::String(text) => text.clone(),
        json => rewritten(&json.to_string()),
    };
    Fault::Answer(status, headers.collect(), body)
}

#[tokio::test]
async fn recorded_github_answers_are_parsed() {
    let (Some(repository), Some(renamed), Some(archive), Some(refused)) = (
        recorded("get-repository"),
        recorded("rename-repository"),
        recorded("get-archive"),
        recorded("errors"),
    ) else {
        return;
    };
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let names = (0..30).map(|number| format!("f{number}"));
    commit_all(&repo, names.map(|name| (name.clone(), name)));
    let head = repo.commit(&[("README.md", "# get-archive")]);
    let fake = Fake::serve(temp.path()).await;
    let source = source(&fake);

    fake.fail("/repos/acme/widgets", 1, as_fault(&repository[0], fake.api()));
    assert_eq!(source.default_branch(&id()).await.unwrap(), branch("master"));

    let moved = renamed.iter().find(|exchange| exchange["status"] == 301).unwrap();
    let found = renamed
        .iter()
        .rfind(|exchange| exchange["method"] == "get" && exchange["status"] == 200)
        .unwrap();
    fake.fail("/repos/acme/widgets", 1, as_fault(moved, fake.api()));
    fake.fail("/repositories/1000", 1, as_fault(found, fake.api()));
    assert_eq!(source.default_branch(&id()).await.unwrap(), branch("main"));

    let error = refused.iter().find(|exchange| exchange["status"] == 422).unwrap();
    fake.fail("/commits/", 1, as_fault(error, fake.api()));
    assert!(source.head(&id(), &branch("none")).await.is_err());

    // The recorded archive has this README and nothing else; where GitHub sends one to it is written as it was recorded.
    let location = archive[0]["headers"]["location"].as_str().unwrap();
    let location = location.replace("https://codeload.github.com", fake.downloads());
    fake.behave(|behavior| {
        let hex = archive[1]["response"].as_str().unwrap().as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
        behavior.archive = Some(hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect());
        behavior.archive_location = Some(location);
    });
    let entries = source.tree(&id(), &sha(&head)).await.unwrap();
    fake.seen();
    let got = read(&source, &id(), blobs(&entries), 1 << 20).await;
    assert!(got.values().all(Result::is_ok));
    let readme = entries.iter().find(|entry| entry.path == "README.md").unwrap();
    let requests = fake.requested_paths();
    assert!(
        !requests.iter().any(|path| path.ends_with(&readme.blob)),
        "it came out of the archive: {requests:?}"
    );
}
