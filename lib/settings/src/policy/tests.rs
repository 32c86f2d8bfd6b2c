use super::file::{MAX_BYTES, PolicyFile};
use super::*;

fn problem(content: impl AsRef<[u8]>) -> String {
    let problem = PolicyFile::parse(content.as_ref()).expect_err("it is wrong");
    problem.to_string()
}

fn kinds(toml: &str, paths: &[&str]) -> String {
    let text = PolicyText {
        file: PolicyFile::parse(toml.as_bytes()).expect("it is right"),
        ..PolicyText::default()
    };
    let policy = Policy::of(text);
    let mut judge = policy.judge();
    paths.iter().map(|path| judge.kind(path).letter()).collect()
}

#[test]
fn a_file_with_every_key_is_read() {
    let file = PolicyFile::parse(
        b"# Rules\nttl_seconds = 1_200\nneighbors = \"interface\"\npending = \"block\"\nshared = [\n  \"CHANGELOG.md\",\n]\nignore = ['dist/']\n",
    );
    let expected = PolicyFile {
        ttl_seconds: Some(1200),
        neighbors: Some(NeighborPolicy::Interface),
        pending: PendingPolicy::Block,
        shared: Some(vec!["CHANGELOG.md".to_owned()]),
        ignore: vec!["dist/".to_owned()],
    };
    assert_eq!(file, Ok(expected));
    for empty in ["", "\n# nothing\n", "\u{feff}", "\u{feff}ignore = []"] {
        assert_eq!(
            PolicyFile::parse(empty.as_bytes()),
            Ok(PolicyFile::default()),
            "{empty:?}"
        );
    }
}

#[test]
fn a_policy_error_has_a_line_a_column_and_a_sentence() {
    let ttl = "ttl_seconds must be a number of seconds from 30 to 86400";
    let neighbors = r#"neighbors must be one of "block", "interface", "warn", "off""#;
    for (content, expected) in [
        ("ttl_seconds = 29", format!("1:15: {ttl}")),
        ("ttl_seconds = 86401", format!("1:15: {ttl}")),
        ("ttl_seconds = -1", format!("1:15: {ttl}")),
        ("ttl_seconds = 99999999999999999999", format!("1:15: {ttl}")),
        ("ttl_seconds = \"300\"", format!("1:15: {ttl}")),
        ("ttl_seconds = 300.5", format!("1:15: {ttl}")),
        ("\n  neighbors = \"blok\"", format!("2:15: {neighbors}")),
        ("neighbors = true", format!("1:13: {neighbors}")),
        (
            "pending = true",
            "1:11: pending must be \"warn\" or \"block\"".to_owned(),
        ),
        (
            "pending = \"Block\"",
            "1:11: pending must be \"warn\" or \"block\"".to_owned(),
        ),
        (
            "shared = \"yarn.lock\"",
            "1:10: shared must be a list of patterns, such as [\"CHANGELOG.md\", \"gen/**\"]".to_owned(),
        ),
        (
            "ignore = [\"a\", 1]",
            "1:16: each pattern of ignore must be text in quotes".to_owned(),
        ),
        (
            "ignore = [\"a\", \"!b\"]",
            "1:16: the pattern \"!b\" begins with !: patterns cannot exclude files, so name fewer files".to_owned(),
        ),
        (
            "ignored = []\nttl_seconds = 1",
            "1:1: unknown key \"ignored\": the keys are ttl_seconds, neighbors, pending, shared and ignore".to_owned(),
        ),
        (
            "[locks]\nttl_seconds = 300",
            "1:2: unknown key \"locks\": the keys are ttl_seconds, neighbors, pending, shared and ignore".to_owned(),
        ),
        ("# größer\nö = 1", "2:1: it is not TOML".to_owned()),
        (
            "ttl_seconds = 300\nttl_seconds = 400",
            "2:1: it is not TOML: duplicate key".to_owned(),
        ),
        ("ttl_seconds = ", "1:15: it is not TOML".to_owned()),
        ("ignore = [\"../a\"]", "1:11: the pattern \"../a\" has '..'".to_owned()),
        (
            "ignore = [\"a\\\\b\"]",
            "1:11: the pattern \"**/a\\\\b\" has a backslash".to_owned(),
        ),
        (
            "ignore = [\"\"]",
            "1:11: the pattern is empty: leave it out, or name a file or folder".to_owned(),
        ),
    ] {
        let found = problem(content);
        assert!(found.starts_with(&expected), "{content:?} gives {found}");
        assert!(!found.contains('\n'), "{found:?}");
    }
}

#[test]
fn hostile_files_are_refused_with_a_sentence_and_at_once() {
    let big = "#".repeat(MAX_BYTES + 1);
    assert_eq!(
        problem(&big),
        "1:1: the file has 65537 bytes; at most 65536 are allowed"
    );
    assert!(PolicyFile::parse(&big.as_bytes()[1..]).is_ok());
    assert_eq!(problem(b"\xff\xfet\0t\0l\0"), "1:1: the file is not UTF-8");
    assert_eq!(problem(b"# \xe4\n"), "1:3: the file is not UTF-8", "Latin-1");
    assert_eq!(problem(b"ignore = [\"a\"]\nttl\xff"), "2:4: the file is not UTF-8");
    for deep in [
        format!("ignore = {}", "[".repeat(30_000)),
        format!("ignore = {}{}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("a = {}", "{a=".repeat(15_000)),
        format!("{} = 1", ["a"; 20_000].join(".")),
        format!("[{}]", ["a"; 20_000].join(".")),
    ] {
        let found = problem(&deep);
        assert!(found.len() < 300, "{found}");
    }
    let long = "x".repeat(40_000);
    assert!(problem(format!("{long} = 1")).len() < 200);
    assert!(problem(format!("ignore = [\"{long}\"]")).contains("has 40000 bytes; at most 500 are allowed"));
    assert!(problem(format!("neighbors = \"{long}\"")).len() < 200);
    let many = "\"a\",".repeat(65);
    assert!(problem(format!("shared = [{many}]")).starts_with("1:267: shared has more than 64 patterns"));
    let alternatives = format!("ignore = [\"{{{}}}\"]", ["a"; 65].join(","));
    assert!(problem(alternatives).contains("alternatives"));
    for control in ["\u{0}", "\u{1b}[2J = 1", "\"\\u0007\" = 1"] {
        assert!(!problem(control).chars().any(char::is_control), "{control:?}");
    }
}

// rule: policy#patterns
#[test]
fn patterns_are_those_of_git() {
    for (toml, paths, expected) in [
        (
            "",
            &["Cargo.lock", "web/pnpm-lock.yaml", "go.sum", "a.lock", "src/lib.rs"][..],
            "SSS--",
        ),
        ("shared = []", &["Cargo.lock", "web/pnpm-lock.yaml"], "--"),
        (
            "shared = [\"CHANGELOG.md\"]",
            &["CHANGELOG.md", "web/CHANGELOG.md", "Cargo.lock"],
            "SS-",
        ),
        (
            "shared = [\"/CHANGELOG.md\"]",
            &["CHANGELOG.md", "web/CHANGELOG.md"],
            "S-",
        ),
        ("shared = [\"*.snap\"]", &["a.snap", "b/c/d.snap", "a.snaps"], "SS-"),
        ("ignore = [\"dist/\"]", &["dist/a.js", "web/dist/b/c.js", "dist"], "II-"),
        ("ignore = [\"dist\"]", &["dist/a.js", "dist"], "II"),
        ("ignore = [\"web/dist\"]", &["web/dist/a.js", "b/web/dist/a.js"], "I-"),
        (
            "ignore = [\"src/**/*.gen.ts\"]",
            &["src/a.gen.ts", "src/b/c.gen.ts", "a.gen.ts"],
            "II-",
        ),
        ("ignore = [\"{a,b}.ts\"]", &["a.ts", "x/b.ts", "c.ts"], "II-"),
        ("ignore = [\"**\"]", &["a.ts", "b/c.ts"], "II"),
        ("ignore = [\"Cargo.lock\"]", &["Cargo.lock"], "I"),
        ("ignore = [\"app/[slug]/**\"]", &["app/[slug]/a.ts", "app/s/a.ts"], "II"),
    ] {
        assert_eq!(kinds(toml, paths), expected, "{toml}");
    }
}

// rule: policy#matching-cost
#[test]
fn slow_patterns_end_after_so_many_steps_and_then_nothing_is_shared() {
    let pattern = format!("*{}b", "a".repeat(490));
    let toml = format!("ignore = [{}]", format!("\"{pattern}\",").repeat(64));
    let path = "a".repeat(1000);
    let text = PolicyText {
        file: PolicyFile::parse(toml.as_bytes()).expect("it is right"),
        ..PolicyText::default()
    };
    let policy = Policy::of(text);
    let mut judge = policy.judge_within(1000);
    assert_eq!(judge.kind(&path), FileKind::Plain);
    assert!(judge.is_exhausted());
    assert_eq!(judge.kind("Cargo.lock"), FileKind::Plain, "the stricter rule");
}

// rule: policy#ttl-seconds
#[test]
fn the_operator_bounds_the_time_and_gives_the_defaults() {
    let policy = |toml: &str| {
        Policy::of(PolicyText {
            file: PolicyFile::parse(toml.as_bytes()).expect("it is right"),
            ..PolicyText::default()
        })
    };
    let mut operator = LockConfig::default();
    assert_eq!(policy("").ttl_seconds(&operator), 300);
    assert_eq!(policy("ttl_seconds = 60").ttl_seconds(&operator), 60);
    assert_eq!(policy("ttl_seconds = 86400").ttl_seconds(&operator), 3600);
    operator.ttl_seconds = 7200;
    assert_eq!(policy("ttl_seconds = 86400").ttl_seconds(&operator), 7200);
    operator.neighbor_policy = NeighborPolicy::Warn;
    assert_eq!(policy("").neighbors(&operator), NeighborPolicy::Warn);
    assert_eq!(policy("neighbors = \"off\"").neighbors(&operator), NeighborPolicy::Off);
}

#[test]
fn nothing_is_stored_where_nothing_differs() {
    let text = PolicyText {
        sources: ".gitattributes abc\n".to_owned(),
        ..PolicyText::default()
    };
    assert_eq!(text.to_stored(), None);
    let text = PolicyText {
        problem: Some(".coord.toml:1:1: wrong".to_owned()),
        ..text
    };
    let (stored, digest) = text.to_stored().expect("the problem is stored");
    assert_eq!((PolicyText::from_stored(&stored), digest.len()), (text, 64));
    assert_eq!(PolicyText::from_stored("{"), PolicyText::default());
}

#[test]
fn the_schema_for_editors_agrees_with_the_parser() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/coord.schema.json")).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let most = format!("ignore = [{}]", "\"a\",".repeat(64));
    let more = format!("ignore = [{}]", "\"a\",".repeat(65));
    let longest = format!("shared = [\"{}\"]", "a".repeat(490));
    let longer = format!("shared = [\"{}\"]", "a".repeat(501));
    let mut right = 0;
    let documents = [
        "",
        "ttl_seconds = 30",
        "ttl_seconds = 29",
        "ttl_seconds = 86400",
        "ttl_seconds = 86401",
        "ttl_seconds = \"60\"",
        "ttl_seconds = 60.5",
        "neighbors = \"block\"",
        "neighbors = \"interface\"",
        "neighbors = \"warn\"",
        "neighbors = \"off\"",
        "pending = \"warn\"",
        "pending = \"block\"",
        "pending = \"off\"",
        "pending = true",
        "neighbors = \"Block\"",
        "neighbors = false",
        "shared = []",
        "shared = [\"a\", \"b/**\"]",
        "shared = \"a\"",
        "shared = [1]",
        "shared = [\"\"]",
        "shared = [\"!a\"]",
        "ignore = [\"dist/\"]",
        "ignore = {}",
        "other = 1",
        "[shared]",
        &most,
        &more,
        &longest,
        &longer,
    ];
    for document in documents {
        let json: serde_json::Value = toml::from_str(document).expect("it is TOML");
        let is_right = PolicyFile::parse(document.as_bytes()).is_ok();
        assert_eq!(schema.is_valid(&json), is_right, "{document}");
        right += usize::from(is_right);
    }
    assert!(right > 9 && right < documents.len());
}
