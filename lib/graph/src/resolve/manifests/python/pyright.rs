//! `pyrightconfig.json`.

use super::PythonManifest;
use crate::resolve::manifests::json::Json;

impl PythonManifest {
    /// Reads `pyrightconfig.json`.
    pub(crate) fn of_pyright(text: &str) -> Self {
        let config = Json::parse(text).unwrap_or(Json::Null);
        let extra = |json: &Json| json.get("extraPaths").and_then(Json::texts).unwrap_or_default();
        let mut manifest = PythonManifest {
            search_paths: extra(&config),
            ..PythonManifest::default()
        };
        let environments = config.get("executionEnvironments").and_then(Json::list);
        for environment in environments.unwrap_or_default() {
            let root = environment.get("root").and_then(Json::text).map(str::to_owned);
            manifest.search_paths.extend(root);
            manifest.search_paths.extend(extra(environment));
        }
        manifest
    }
}

#[test]
fn search_paths_are_those_of_all_environments() {
    let text = "{ // comment\n \"extraPaths\": [\"a\"], \"executionEnvironments\": [{\"root\": \"b\", \"extraPaths\": [\"c\", 1]}, 2] }";
    assert_eq!(PythonManifest::of_pyright(text).search_paths, ["a", "b", "c"]);
    assert_eq!(PythonManifest::of_pyright("["), PythonManifest::default());
}
