//! Servers on ports over one store, and a repository to fight over.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use coord_auth::{Authenticator, Credentials};
use coord_domain::{Branch, CommitSha, NeighborPolicy, RepoId, UserId};
use coord_http::router;
use coord_serve::listen;
use coord_server::app::App;
use coord_server::settings::Settings;
use coord_settings::LockConfig;
use coord_settings::Rates;
use coord_state::heads::{FetchedHead, record_head};
use coord_store::{Request, Store};
use secrecy::SecretString;
use tokio::net::TcpListener;

use coord_test_support::history::log::Neighbors;

/// The repository, as it is stored.
pub const REPO: &str = "github.com/team/project";
/// The repository, as it is asked for.
pub const REPO_URL: &str = "https://github.com/team/project";
pub const BRANCHES: [&str; 2] = ["main", "dev"];
/// The head of each branch.
pub const HEAD: &str = "b111111111111111111111111111111111111111";
/// A commit that the branches contain, from before their head.
pub const OLD: &str = "c222222222222222222222222222222222222222";
/// The secret that the sweep must show.
pub const CRON_SECRET: &str = "the secret of this test";

/// Servers over one store.
pub struct Arena {
    pub addresses: Vec<SocketAddr>,
    pub store: Arc<dyn Store>,
    pub neighbors: Neighbors,
}

/// A server on each of `stores` (connections to one and the same), with locks that last as long as its place says. In the
/// import graph, each pair of `edges` is an importer and what it imports.
pub async fn open(stores: &[(Arc<dyn Store>, u32)], edges: &[(&str, &str)]) -> Arena {
    let store = Arc::clone(&stores[0].0);
    let neighbors = seed(&*store, edges).await;
    let mut addresses = Vec::new();
    for (store, ttl_seconds) in stores {
        let settings = Settings {
            locks: LockConfig {
                ttl_seconds: *ttl_seconds,
                neighbor_policy: NeighborPolicy::Block,
                ..LockConfig::default()
            },
            rates: Rates::NONE,
            cron_secret: Some(SecretString::from(CRON_SECRET.to_owned())),
            ..coord_extensions::default_settings()
        };
        let authenticator = Authenticator::Local {
            user: UserId::parse("local").expect("a user"),
            credentials: Credentials::default(),
        };
        let app = App::new(&settings, Arc::clone(store), authenticator);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        addresses.push(listener.local_addr().expect("an address"));
        tokio::spawn(listen::serve(
            listener,
            router(app, coord_extensions::endpoints()),
            std::future::pending(),
        ));
    }
    Arena {
        addresses,
        store,
        neighbors,
    }
}

async fn seed(store: &dyn Store, edges: &[(&str, &str)]) -> Neighbors {
    let repo = RepoId::parse(REPO_URL).expect("a repository");
    let commits = [HEAD, OLD].map(|commit| CommitSha::parse(commit).expect("a commit"));
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut neighbors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (importer, imported) in edges {
        lines.entry(importer).or_default().push(format!(">{imported}\n"));
        lines.entry(imported).or_default().push(format!("<{importer}\n"));
        neighbors
            .entry((*importer).to_owned())
            .or_default()
            .insert((*imported).to_owned());
        neighbors
            .entry((*imported).to_owned())
            .or_default()
            .insert((*importer).to_owned());
    }
    for name in BRANCHES {
        let branch = Branch::parse(name).expect("a branch");
        record_head(store, &repo, &branch, &FetchedHead::of(&commits[0], &commits))
            .await
            .expect("recorded");
        let graph = format!("coord:graph:{{{REPO}}}:{name}");
        let mut requests = vec![Request::command(["HSET", &graph, "version", HEAD])];
        for (file, lines) in &lines {
            let text = format!("{}\n{}", lines.len(), lines.concat());
            requests.push(Request::command(["HSET", &format!("{graph}:adj"), file, &text]));
        }
        store.run(requests).await.expect("stored");
    }
    neighbors
}
