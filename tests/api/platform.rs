//! `api/`, `Cargo.toml` and `vercel.json` against the table of routes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coord_extensions::endpoints;
use coord_http::{Endpoint, Route};

const UPDATE: &str = "COORD_UPDATE_PLATFORM=1 cargo test --test api platform";

fn root(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// The functions by name, each with the endpoint that it is named after.
fn functions() -> BTreeMap<&'static str, Endpoint> {
    let named = endpoints()
        .iter()
        .copied()
        .filter(|endpoint| endpoint.route().served_with.is_none());
    named.map(|endpoint| (endpoint.route().name, endpoint)).collect()
}

/// `file` has `expected` from `begin` to the first `end` after it; with `COORD_UPDATE_PLATFORM` set it is written there.
fn is_in(file: &str, begin: &str, end: &str, expected: &str) {
    let text = fs::read_to_string(root(file)).unwrap();
    let from = text.find(begin).unwrap_or_else(|| panic!("{file} lacks {begin}"));
    let to = from + text[from..].find(end).unwrap_or_else(|| panic!("{file} lacks {end}"));
    if std::env::var_os("COORD_UPDATE_PLATFORM").is_some() {
        fs::write(root(file), format!("{}{expected}{}", &text[..from], &text[to..])).unwrap();
        return;
    }
    assert!(
        text[from..to] == *expected,
        "{file} is not what the table of routes says, which is\n{expected}\nWrite it with\n    {UPDATE}"
    );
}

#[test]
fn each_endpoint_is_found_by_its_path_and_is_served_by_a_function() {
    for endpoint in endpoints().iter().copied() {
        let Route { path, name, .. } = endpoint.route();
        assert_eq!(Endpoint::at(endpoints(), path), Some(endpoint));
        let named = path.replace("{id}", "REQ-1").replace("{team}", "alpha");
        assert_eq!(Endpoint::at(endpoints(), &named), Some(endpoint));
        assert_eq!(Endpoint::at(endpoints(), &format!("{path}/")), None);
        let function = functions()[endpoint.route().function()].route();
        let of_function = |route: &Route| (route.function_seconds, route.defers_work);
        assert_eq!(
            of_function(endpoint.route()),
            of_function(function),
            "{name} is served by {function:?}"
        );
    }
}

#[test]
fn each_function_has_a_main_that_runs_deferred_work_when_its_route_defers() {
    let mut mains: Vec<String> = Vec::new();
    for file in fs::read_dir(root("api")).unwrap() {
        let path = file.unwrap().path();
        mains.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    mains.sort();
    let named: Vec<&str> = functions().into_keys().collect();
    assert_eq!(
        mains, named,
        "a function is a file of api/ with the name of its endpoint"
    );
    for (name, endpoint) in functions() {
        let main = fs::read_to_string(root("api").join(format!("{name}.rs"))).unwrap();
        let served = format!("function_router({}, ", name.to_ascii_uppercase());
        assert!(main.contains(&served), "api/{name}.rs lacks {served}");
        assert_eq!(
            main.contains("AfterResponse"),
            endpoint.route().defers_work,
            "api/{name}.rs"
        );
    }
}

#[test]
fn each_function_is_a_binary() {
    let binaries = functions().into_keys().map(|name| {
        let feature = match ["intents", "teams"].contains(&name) {
            true => format!("required-features = [\"{name}\"]\n"),
            false => String::new(),
        };
        format!("[[bin]]\nname = \"{name}\"\npath = \"api/{name}.rs\"\ntest = false\n{feature}\n")
    });
    is_in("Cargo.toml", "[[bin]]", "[features]", &binaries.collect::<String>());
}

#[test]
fn the_platform_knows_the_functions_and_what_else_they_serve() {
    let functions: Vec<String> = functions()
        .into_iter()
        .map(|(name, endpoint)| {
            let seconds = endpoint.route().function_seconds;
            format!("    \"api/{name}.rs\": {{ \"maxDuration\": {seconds} }}")
        })
        .collect();
    let expected = format!("\"functions\": {{\n{}\n  }},", functions.join(",\n"));
    is_in("vercel.json", "\"functions\":", "\n  \"rewrites\"", &expected);
    let rewrites: Vec<String> = endpoints()
        .iter()
        .map(|endpoint| endpoint.route())
        .filter_map(|route| {
            let (path, function) = (route.path.replace('{', ":").replace('}', ""), route.served_with?);
            Some(format!(
                "    {{ \"source\": \"{path}\", \"destination\": \"/api/{function}\" }}"
            ))
        })
        .collect();
    // Any other path gets an error of Coord's, and not the platform's page.
    let any = "    { \"source\": \"/api/:path*\", \"destination\": \"/api/health\" }";
    let expected = format!("\"rewrites\": [\n{},\n{any}\n  ],", rewrites.join(",\n"));
    is_in("vercel.json", "\"rewrites\":", "\n  \"headers\"", &expected);
}
