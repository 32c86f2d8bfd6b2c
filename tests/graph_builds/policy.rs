//! `.coord.toml` and `.gitattributes` of the head, kept with the graph.

use std::sync::Arc;

use coord_builds::job::Job;
use coord_builds::leased_build::build_and_publish;
use coord_domain::CommitSha;
use coord_git::GitSource;
use coord_graph::Limits;
use coord_settings::policy::PolicyText;
use coord_sources::Source;
use coord_state::builds::BuildLease;
use coord_test_support::git::Repo;

use crate::world::{World, files};

const FILE: &str = ".coord.toml";

impl World {
    /// The policy as stored, or the default.
    async fn policy(&self) -> PolicyText {
        let (text, digest) = (self.field("policy").await, self.field("policy_digest").await);
        assert_eq!(text.is_some(), digest.is_some());
        text.map(|text| PolicyText::from_stored(&text)).unwrap_or_default()
    }

    async fn problem(&self) -> Option<String> {
        self.policy().await.problem
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
    assert_eq!(
        (world.field("policy").await, world.field("policy_digest").await),
        (None, None)
    );
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
        for restarts in [false, true] {
            world.source.write(FILE, wrong);
            world.source.write("a.ts", &format!("{wrong} {restarts}"));
            if restarts {
                world.build_after_restart().await;
            } else {
                world.build().await;
            }
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
    let all = [
        ("a.ts", importer),
        ("shared.ts", ""),
        ("dist/out.ts", "import '../plain'"),
        ("plain.ts", ""),
        ("package-lock.json", "{}"),
    ];
    let mut world = World::new(files(&all));
    world.build().await;
    let of = |adjacency: &std::collections::BTreeMap<String, String>, path: &str| {
        let text = adjacency.get(path).cloned().unwrap_or_default();
        text.lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    let (graph, adjacency, _) = world.stored().await;
    let edges = graph.edges.len();
    assert_eq!(
        of(&adjacency, "a.ts"),
        ">dist/out.ts >plain.ts >shared.ts",
        "a lockfile is none by itself"
    );
    world
        .source
        .write(FILE, "shared = [\"shared.ts\"]\nignore = [\"dist/\"]");
    for is_restarted in [false, true] {
        world.source.write("b.ts", &format!("export const a = {is_restarted}"));
        if is_restarted {
            world.build_after_restart().await;
        } else {
            world.build().await;
        }
        let (graph, adjacency, _) = world.stored().await;
        assert_eq!(graph.edges.len(), edges, "people see all of it");
        assert_eq!(of(&adjacency, "a.ts"), ">package-lock.json >plain.ts");
        assert_eq!(of(&adjacency, "plain.ts"), "<a.ts");
        assert_eq!(
            (of(&adjacency, "shared.ts"), of(&adjacency, "dist/out.ts")),
            (String::new(), String::new())
        );
    }
    world.source.delete(FILE);
    world.build().await;
    assert_eq!(of(&world.stored().await.1, "a.ts"), ">dist/out.ts >plain.ts >shared.ts");
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
        (policy.union.len(), policy.generated.len(), policy.problem.clone()),
        (2, 2, None),
        "`binary` says `-merge`, too"
    );
    let adjacency = world.stored().await.1;
    assert_eq!(adjacency["a.ts"], "1\n>gen/keep.ts\n");
    // A list of one's own takes the place of the defaults.
    world.source.write(FILE, "shared = []");
    world.build().await;
    assert_eq!(world.stored().await.1["a.ts"], "3\n>c.ts\n>gen/b.ts\n>gen/keep.ts\n");
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
    for number in 0..40 {
        world
            .source
            .write(&format!("{}/{number}.ts", vec!["a".repeat(250); 3].join("/")), "");
    }
    for number in 0..40 {
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
    let mut world = World::new([]);
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::init(folder.path().join("repo"), &[]);
    std::os::unix::fs::symlink("rules", repo.path().join(FILE)).unwrap();
    let commit = CommitSha::parse(&repo.commit(&[("rules", "ttl_seconds = 60"), ("a.ts", "")])).unwrap();
    let source = GitSource::open(&[repo.path().to_owned()]).unwrap();
    world.repo = source.repositories().remove(0);
    let job = Job {
        repo: &world.repo,
        branch: &world.branch,
        commit: &commit,
        builder: "one",
        limits: Limits::default(),
    };
    let lease = build_and_publish(Arc::clone(&world.store), &source, job, &mut None).await;
    assert_eq!(lease.unwrap(), BuildLease::Granted);
    assert_eq!(
        world.problem().await.as_deref(),
        Some(".coord.toml:1:1: it is no regular file")
    );
}
