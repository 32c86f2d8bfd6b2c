//! `.coord.toml` and `.gitattributes` of the head, kept with the graph.

use std::collections::BTreeMap;

use coord_settings::policy::PolicyText;

use crate::world::{World, files};

const FILE: &str = ".coord.toml";

impl World {
    /// The policy as stored, or the default.
    async fn policy(&self) -> PolicyText {
        let (text, digest) = (self.field("policy").await, self.field("policy_digest").await);
        assert_eq!(text.is_some(), digest.is_some());
        text.map(|text| PolicyText::from_stored(&text)).unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_read_once_for_each_content_and_stored_with_each_graph() {
    let mut world = World::new(files(&[("a.ts", "1"), ("src/.coord.toml", "ttl_seconds = 1")]));
    assert_eq!(world.build().await, 1, "that of a folder is none");
    assert_eq!(world.field("policy").await, None);
    world.source.write(FILE, "ttl_seconds = 60");
    assert_eq!(world.build().await, 1, "published as a patch");
    assert_eq!(world.policy().await.file.ttl_seconds, Some(60));
    let digest = world.field("policy_digest").await;
    world.source.write("a.ts", "2");
    assert_eq!(world.build().await, 1, "a.ts alone");
    world.source.write("a.ts", "3");
    assert_eq!(world.build_after_restart().await, 1, "and so in another process");
    assert_eq!(world.field("policy_digest").await, digest);
    world.source.delete(FILE);
    world.build().await;
    for field in ["policy", "policy_digest"] {
        assert_eq!(world.field(field).await, None, "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_policy_keeps_the_last_good_one_and_reports_the_position() {
    let mut world = World::new(files(&[(FILE, "ttl_seconds = 60\nshared = []")]));
    world.build().await;
    let good = world.policy().await.file;
    let longest = "#".repeat(64 * 1024 + 1);
    for (wrong, problem) in [
        (
            "\nttl = 60",
            ".coord.toml:2:1: unknown key \"ttl\": the keys are ttl_seconds, neighbors, pending, shared and ignore",
        ),
        (
            &longest,
            ".coord.toml:1:1: it has 65537 bytes; at most 65536 are allowed",
        ),
        ("[", ".coord.toml:1:2: it is not TOML: "),
    ] {
        for is_restarted in [false, true] {
            world.source.write(FILE, wrong);
            world.source.write("a.ts", &format!("{wrong} {is_restarted}"));
            world.build_as(is_restarted).await;
            let policy = world.policy().await;
            assert_eq!(policy.file, good, "{problem}");
            assert!(policy.problem.as_deref().unwrap().starts_with(problem), "{policy:?}");
        }
    }
    world.source.write(FILE, "ttl_seconds = 90");
    world.build().await;
    let policy = world.policy().await;
    assert_eq!((policy.file.ttl_seconds, policy.problem), (Some(90), None));

    let mut world = World::new(files(&[(FILE, "x")]));
    world.build().await;
    let policy = world.policy().await;
    assert_eq!((policy.file, policy.problem.is_some()), (Default::default(), true));
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_and_ignored_files_are_no_neighbors() {
    let importer = "import './shared'; import './dist/out'; import './plain'; import './package-lock.json';";
    let mut world = World::new(files(&[
        ("a.ts", importer),
        ("shared.ts", ""),
        ("dist/out.ts", "import '../plain'"),
        ("plain.ts", ""),
        ("package-lock.json", "{}"),
    ]));
    world.build().await;
    let of = |adjacency: &BTreeMap<String, String>, path: &str| {
        let text = adjacency.get(path).map_or("", String::as_str);
        text.lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    let (graph, adjacency, _) = world.stored().await;
    let edges = graph.edges.len();
    let neighbors = ">dist/out.ts >plain.ts >shared.ts";
    assert_eq!(of(&adjacency, "a.ts"), neighbors, "a lockfile is none by itself");
    let policy = "shared = [\"shared.ts\"]\nignore = [\"dist/\"]";
    world.source.write(FILE, policy);
    for is_restarted in [false, true] {
        world.source.write("b.ts", &format!("export const a = {is_restarted}"));
        world.build_as(is_restarted).await;
        let (graph, adjacency, _) = world.stored().await;
        assert_eq!(graph.edges.len(), edges, "people see all of it");
        for (path, neighbors) in [
            ("a.ts", ">package-lock.json >plain.ts"),
            ("plain.ts", "<a.ts"),
            ("shared.ts", ""),
            ("dist/out.ts", ""),
        ] {
            assert_eq!(of(&adjacency, path), neighbors, "{path} {is_restarted}");
        }
    }
    world.source.delete(FILE);
    world.build().await;
    assert_eq!(of(&world.adjacency().await, "a.ts"), neighbors);
}

#[tokio::test(flavor = "multi_thread")]
async fn gitattributes_count_from_the_root_down() {
    let mut world = World::new(files(&[
        ("a.ts", "import './gen/b'; import './gen/keep'; import './c'"),
        ("gen/b.ts", ""),
        ("gen/keep.ts", ""),
        ("c.ts", ""),
        (
            ".gitattributes",
            "gen/** linguist-generated\nc.ts merge=union\n*.png binary\n",
        ),
        ("gen/.gitattributes", "keep.ts -linguist-generated\n"),
    ]));
    world.build().await;
    let policy = world.policy().await;
    assert_eq!(
        (policy.union.len(), policy.generated.len(), policy.problem),
        (2, 2, None),
        "`binary` says `-merge`, too"
    );
    assert_eq!(world.adjacency().await["a.ts"], "1\n>gen/keep.ts\n");
    // A list of one's own takes the place of the defaults.
    world.source.write(FILE, "shared = []");
    world.build().await;
    assert_eq!(world.adjacency().await["a.ts"], "3\n>c.ts\n>gen/b.ts\n>gen/keep.ts\n");
    world.source.delete(FILE);
    world.source.write(".gitattributes", "* text=auto\n");
    world.source.delete("gen/.gitattributes");
    world.build().await;
    assert_eq!(world.field("policy").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_that_take_too_long_count_as_wrong() {
    let mut world = World::new(files(&[(FILE, "ignore = [\"dist/\"]"), ("dist/a.ts", "")]));
    world.build().await;
    let pattern = format!("*{}b*", "a?".repeat(240));
    let slow = format!("ignore = [{}]", format!("\"{pattern}\",").repeat(64));
    let deep = vec!["a".repeat(250); 3].join("/");
    for number in 0..40 {
        world.source.write(&format!("{deep}/{number}.ts"), "");
        world.source.write(&format!("{}{number}.ts", "a".repeat(1000)), "");
    }
    world.source.write(FILE, &slow);
    world.build().await;
    let policy = world.policy().await;
    let problem = policy.problem.unwrap();
    assert!(problem.contains("take too long"), "{problem}");
    assert_eq!(policy.file.ignore, ["dist/"], "the last good one");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_that_name_is_not_followed() {
    let policy = World::of_a_link(FILE, "ttl_seconds = 60").await.policy().await;
    assert_eq!(
        policy.problem.as_deref(),
        Some(".coord.toml:1:1: it is not a regular file")
    );
}
