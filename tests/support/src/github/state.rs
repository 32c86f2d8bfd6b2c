//! The state of the fake: how it behaves, and the requests that came.

use std::path::PathBuf;
use std::sync::Mutex;

use super::faults::Faults;

/// Owner and name that the fake has.
pub const OWNER: &str = "acme";
pub const NAME: &str = "widgets";
/// The number of the repository, which a moved one is named by.
pub const NUMBER: u64 = 1_000;
pub const INSTALLATION: u64 = 77;
pub const APP: &str = "4242";
/// The app's key pair, made for these tests; it opens nothing.
pub const APP_KEY: &str = include_str!("app.pem");
pub const APP_PUBLIC_KEY: &str = include_str!("app.pub.pem");

/// Visibility of the repository.
#[derive(Clone, Debug, Default)]
pub enum Visibility {
    #[default]
    Public,
    /// The bearer of this token.
    Token(String),
    /// The bearer of the newest token of the app's installation.
    App,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// At the host of downloads, and not at the API.
    pub is_download: bool,
    pub method: String,
    /// Path and query.
    pub target: String,
    pub authorization: Option<String>,
    pub if_none_match: Option<String>,
    pub body: String,
}

/// How it behaves, changed while it runs.
#[derive(Debug, Default)]
pub struct Behavior {
    pub visibility: Visibility,
    /// Owners of tokens. If there are any, an unknown token is refused, as GitHub does.
    pub people: Vec<Person>,
    /// Visible to all of an enterprise, and to no others.
    pub is_internal: bool,
    pub is_archived: bool,
    /// Recursive trees with more entries than this are cut off there.
    pub most_tree_entries: Option<usize>,
    /// The name that the repository had before.
    pub former_name: Option<String>,
    /// Bytes to send in the place of any archive.
    pub archive: Option<Vec<u8>>,
    /// The location of archives by the API, instead of its download host.
    pub archive_location: Option<String>,
    /// Seconds that an installation's token lives.
    pub token_seconds: Option<i64>,
    /// How many tokens were given out; the newest counts.
    pub tokens: usize,
    pub(super) faults: Faults,
    pub(super) seen: Vec<ReceivedRequest>,
}

impl Behavior {
    /// Takes back all faults.
    pub fn forget_faults(&mut self) {
        self.faults = Faults::default();
    }
}

pub struct Shared {
    pub(super) repo: PathBuf,
    pub(super) api: String,
    pub(super) downloads: String,
    pub(super) behavior: Mutex<Behavior>,
}

/// A person, or an app, with a token.
#[derive(Clone, Debug)]
pub struct Person {
    pub token: String,
    pub login: String,
    pub name: Option<String>,
    /// The highest of `pull`, `triage`, `push`, `maintain` and `admin`; none if a private repository is not shown.
    pub role: Option<&'static str>,
    /// The token is of an installation and of no user. GitHub then reports no permissions, whatever was granted.
    pub is_installation: bool,
}
