//! The table of routes: what is served where, for whom, by which function. The router, the edge, the host guard and the tests of
//! `vercel.json` and `Cargo.toml` read it.

use std::time::Duration;

/// An endpoint. A function serves one and what is rewritten to it; `coord serve` serves all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /api/check_status`
    CheckStatus,
    /// `POST /api/post_status`
    PostStatus,
    /// `GET /api/graph`
    Graph,
    /// `GET /api/locks`
    Locks,
    /// `GET /api/cron_cleanup`
    CronCleanup,
    /// `GET /api/health`
    Health,
    /// `POST /api/github_webhook`
    GithubWebhook,
}

/// The callers of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Agents: every error has an orchestration command.
    Agent,
    /// People, on a page.
    Person,
    /// The service's own machinery, which has a secret of its own or needs none.
    Operator,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its path.
    pub path: &'static str,
    /// Its methods, as in the header `Allow`.
    pub methods: &'static str,
    /// Its callers.
    pub audience: Audience,
    /// Time that an answer may take beyond that of every endpoint.
    pub extra_time: Duration,
    /// The function that serves it, by the name of its file in `api/`.
    pub function: &'static str,
    /// Whether the function goes on to work when it has answered.
    pub defers_work: bool,
    /// Whether its responses are compressed.
    pub is_compressed: bool,
    /// Whether it is answered whatever host the request names: a delivery comes through a tunnel with a name of its own, and is signed.
    pub takes_any_host: bool,
}

/// What most routes have.
const AGENTS: Route = Route {
    endpoint: Endpoint::CheckStatus,
    path: "/api/check_status",
    methods: "POST",
    audience: Audience::Agent,
    extra_time: Duration::ZERO,
    function: "check_status",
    defers_work: true,
    is_compressed: false,
    takes_any_host: false,
};

/// The table.
pub static ROUTES: [Route; 7] = [
    AGENTS,
    Route {
        endpoint: Endpoint::PostStatus,
        path: "/api/post_status",
        function: "post_status",
        ..AGENTS
    },
    Route {
        endpoint: Endpoint::Graph,
        path: "/api/graph",
        methods: "GET, HEAD",
        audience: Audience::Person,
        function: "graph",
        is_compressed: true,
        ..AGENTS
    },
    Route {
        endpoint: Endpoint::Locks,
        path: "/api/locks",
        methods: "GET, HEAD",
        audience: Audience::Person,
        function: "graph",
        is_compressed: true,
        ..AGENTS
    },
    Route {
        endpoint: Endpoint::CronCleanup,
        path: "/api/cron_cleanup",
        methods: "GET, HEAD",
        audience: Audience::Operator,
        extra_time: Duration::from_secs(30),
        function: "cron_cleanup",
        defers_work: false,
        ..AGENTS
    },
    Route {
        endpoint: Endpoint::Health,
        path: "/api/health",
        methods: "GET, HEAD",
        audience: Audience::Operator,
        function: "health",
        defers_work: false,
        ..AGENTS
    },
    Route {
        endpoint: Endpoint::GithubWebhook,
        path: "/api/github_webhook",
        audience: Audience::Operator,
        function: "github_webhook",
        takes_any_host: true,
        ..AGENTS
    },
];

impl Endpoint {
    /// Every endpoint.
    pub const ALL: [Endpoint; 7] = [
        Endpoint::CheckStatus,
        Endpoint::PostStatus,
        Endpoint::Graph,
        Endpoint::Locks,
        Endpoint::CronCleanup,
        Endpoint::Health,
        Endpoint::GithubWebhook,
    ];

    /// Its row of the table, which is in the order of the endpoints.
    pub fn route(self) -> &'static Route {
        &ROUTES[self as usize]
    }

    /// The endpoint with this path.
    pub fn at(path: &str) -> Option<Endpoint> {
        ROUTES
            .iter()
            .find(|route| route.path == path)
            .map(|route| route.endpoint)
    }

    /// Its path.
    pub fn path(self) -> &'static str {
        self.route().path
    }

    /// Time that an answer may take beyond that of every endpoint.
    pub fn extra_time(self) -> Duration {
        self.route().extra_time
    }

    /// All that its function serves: itself, and what `vercel.json` rewrites to it.
    pub fn of_function(self) -> Vec<Endpoint> {
        let served = ROUTES.iter().filter(|route| route.function == self.route().function);
        served.map(|route| route.endpoint).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn functions() -> BTreeSet<&'static str> {
        ROUTES.iter().map(|route| route.function).collect()
    }

    #[test]
    fn the_table_is_in_the_order_of_the_endpoints() {
        assert_eq!(ROUTES.map(|route| route.endpoint), Endpoint::ALL);
        for endpoint in Endpoint::ALL {
            assert_eq!(endpoint.route().endpoint, endpoint);
            assert_eq!(Endpoint::at(endpoint.path()), Some(endpoint));
        }
    }

    #[test]
    fn each_function_has_a_main_and_a_binary_and_goes_on_to_work_where_the_table_says_so() {
        let files: BTreeMap<String, String> = fs::read_dir(root().join("api"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|path| {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        assert_eq!(files.keys().map(String::as_str).collect::<BTreeSet<_>>(), functions());
        let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
        let binaries: BTreeSet<&str> = manifest["bin"]
            .as_array()
            .unwrap()
            .iter()
            .map(|binary| binary["name"].as_str().unwrap())
            .collect();
        assert_eq!(binaries, functions());
        for route in &ROUTES {
            let defers = files[route.function].contains("AfterAnswer");
            assert_eq!(defers, route.defers_work, "{}", route.path);
        }
    }

    #[test]
    fn the_settings_of_the_platform_are_those_of_the_table() {
        let settings = fs::read_to_string(root().join("vercel.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let set: BTreeSet<&str> = settings["functions"]
            .as_object()
            .unwrap()
            .keys()
            .map(|key| key.strip_prefix("api/").unwrap().strip_suffix(".rs").unwrap())
            .collect();
        assert_eq!(set, functions());
        let rewrites: BTreeSet<(String, String)> = settings["rewrites"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rewrite| {
                let text = |name: &str| rewrite[name].as_str().unwrap().to_owned();
                (text("source"), text("destination"))
            })
            .collect();
        let expected: BTreeSet<(String, String)> = ROUTES
            .iter()
            .map(|route| (route.path.to_owned(), format!("/api/{}", route.function)))
            .filter(|(path, function)| path != function)
            .collect();
        assert_eq!(rewrites, expected);
    }
}
