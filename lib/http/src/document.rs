//! The OpenAPI document: the attributes of the handlers, with the errors that they respond with. It is a file,
//! `public/openapi.json`, so that no function is needed to serve it.

use coord_protocol::{AgentError, ErrorBody, Event, PublishedEvent, RefusalCode, event, schema};
use serde_json::Value;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// Parts that belong to no single endpoint.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Coord",
        description = "Coord keeps the locks of a team of coding agents. An agent calls `check_status` before it \
                       plans an edit, and claims files with `post_status`. `orchestration` in each response is the \
                       agent's next step.\n\n\
                       Unknown fields of a request are ignored. Responses may have more fields in later versions; \
                       ignore unknown fields. Bodies are JSON in UTF-8, of 1 MiB at most. Times are Unix seconds by \
                       the store's clock.\n\n\
                       Changes are published as events, in a log and on a channel of the store: see the schemas \
                       `Event` and `PublishedEvent`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    servers((url = "/", description = "The server of this document: a deployment, or `coord serve`")),
    components(schemas(schema::FilePath, AgentError, ErrorBody, RefusalCode, Event, PublishedEvent)),
    tags(
        (name = "agents", description = "Operations of agents"),
        (name = "people", description = "Views for people"),
        (name = "operation", description = "Maintenance of a deployment"),
    ),
    modifiers(&SecuritySchemes)
)]
struct Document;

struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = |description: &str| {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
            SecurityScheme::Http(scheme.description(Some(description)).build())
        };
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(
            "bearer",
            bearer(
                "The caller's credential: a GitHub token where the deployment reads GitHub, or a JWT (`sub`, `exp` \
                 and `aud` required). `coord serve` on a loopback address needs none: the caller is the user of the \
                 machine, or the one that the header `X-Coord-User` names.",
            ),
        );
        let header = |name: &str, description: &str| {
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(name, description)))
        };
        components.add_security_scheme(
            "api_key",
            header(
                "X-API-Key",
                "The token of `bearer` alone, from proxies that cannot set `Authorization`. Beside another token \
                 there, the answer is 401.",
            ),
        );
        components.add_security_scheme(
            "webhook_signature",
            header(
                "X-Hub-Signature-256",
                "HMAC-SHA-256 of the body under `GITHUB_WEBHOOK_SECRET`, as GitHub signs its deliveries. Without that \
                 setting, deliveries are refused.",
            ),
        );
        components.add_security_scheme(
            "cron_secret",
            bearer(
                "The value of `CRON_SECRET`, which Vercel's cron sends by itself. Without that setting, the sweep \
                 is refused.",
            ),
        );
    }
}

/// The document of a build whose endpoints have these `parts`.
///
/// # Panics
/// When it cannot be written as JSON, which no input of a caller can cause.
pub fn document(parts: Vec<utoipa::openapi::OpenApi>) -> Value {
    let merged = parts
        .into_iter()
        .fold(Document::openapi(), utoipa::openapi::OpenApi::merge_from);
    let mut document = serde_json::to_value(merged).expect("a document is JSON");
    require_headers(&mut document);
    let examples: Value = serde_json::from_str(event::EXAMPLES).expect("examples are JSON");
    document["components"]["schemas"]["Event"]["examples"] = examples;
    document
}

/// Marks every header of a response in the document as required, which the types of `utoipa` cannot express.
fn require_headers(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.filter_map(|(_, path)| path.as_object_mut()).flatten();
    for (_, operation) in operations {
        let responses = operation["responses"].as_object_mut().into_iter().flatten();
        let headers = responses.filter_map(|(_, response)| response.get_mut("headers")?.as_object_mut());
        for (_, header) in headers.flatten() {
            header["required"] = true.into();
        }
    }
}
