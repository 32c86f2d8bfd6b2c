//! `/api/ledger`: what is recorded, read with its chain, and vouched for.

mod bad_requests;
mod files;
mod forged;
mod lines;

use coord_intents::ledger::{Expectations, Report, verify};
use coord_protocol::{Client, LedgerFilter, LedgerResponse};
use serde_json::{Value, json};

use crate::api::{Api, REPO_URL};
use crate::teams::with;

pub const HASH: &str = "sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";
const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The name of the chain of the repository.
const CHAIN: &str = "github.com/acme/shop";

fn client(api: &Api) -> Client {
    Client::new(&format!("http://{}", api.address), None, None).unwrap()
}

pub fn call(trace_id: &str) -> Value {
    json!({ "trace_id": trace_id, "kind": "call", "tool_name": "Bash", "output_summary": "ran" })
}

pub fn change(trace_id: &str, path: &str, hash: &str) -> Value {
    json!({ "trace_id": trace_id, "kind": "mutation", "file_path": path, "hash": hash, "output_summary": "Wrote it" })
}

/// Records `entries` of `user`, and returns the answer.
pub async fn record(api: &Api, user: &str, entries: &[Value], more: Value) -> Value {
    let body = with(json!({ "branch": "main", "entries": entries }), more);
    api.calls(user, "ledger", body).await
}

async fn page(api: &Api, filter: LedgerFilter) -> LedgerResponse {
    client(api).ledger(REPO_URL, &filter).await.unwrap()
}

/// The first page, as long as it is by default.
async fn first_page(api: &Api) -> LedgerResponse {
    page(api, LedgerFilter::default()).await
}

fn text_of(page: &LedgerResponse) -> String {
    page.lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The report on lines of the repository.
fn report_on(text: &str) -> Report {
    verify(text.as_bytes(), &Expectations::chain_of(CHAIN)).unwrap()
}
