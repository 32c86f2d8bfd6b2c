//! The rules of a scope, as tables.

use coord_scopes::{
    BroadScope, Coverage, IgnoreReason, IntentIgnore, Judge, ListProblem, MAX_PATTERNS, Refusal, ReservedPart, Scope,
    Verdict, reserved_part,
};

fn scope(patterns: &[&str]) -> Scope {
    match Scope::parse(patterns) {
        Ok(scope) => scope,
        Err(refusal) => panic!("{patterns:?}: {refusal}"),
    }
}

fn assert_covers(pattern: &str, covered: &[&str], others: &[&str]) {
    let scope = scope(&[pattern]);
    for path in covered {
        assert!(scope.covers(path), "{pattern:?} must cover {path:?}");
    }
    for path in others {
        assert!(!scope.covers(path), "{pattern:?} must not cover {path:?}");
    }
}

// rule: intents#patterns
#[test]
fn patterns_mean_what_git_means() {
    assert_covers(
        "src/utils/",
        &["src/utils/helper.ts", "src/utils/a/b"],
        &["src/utils", "x/src/utils/a"],
    );
    assert_covers(
        "main.py",
        &["main.py", "main.py/x"],
        &["evil/main.py", "main.pyc", "amain.py"],
    );
    assert_covers("docs", &["docs", "docs/a/b"], &["docs2/a", "x/docs"]);
    assert_covers("x/**", &["x/y", "x/y/z"], &["x"]);
    assert_covers(
        "lib/**/*.rs",
        &["lib/x.rs", "lib/a/b/x.rs"],
        &["lib/x.rsx", "x/lib/x.rs"],
    );
    assert_covers("a/**/b", &["a/b", "a/x/y/b", "a/x/b/deep"], &["a", "ab", "a/xb"]);
    assert_covers("*.md", &["README.md"], &["sub/README.md"]);
    assert_covers("a?c", &["abc"], &["a/c", "ac", "abbc"]);
    assert_covers("[a-c]x[!0-9]", &["axb", "cx_"], &["dxb", "ax1", "ax/"]);
    assert_covers("a\\*b", &["a*b"], &["axb"]);
    assert_covers("a ", &["a"], &["a "]);
    assert_covers("a**/b", &["ab", "a/b", "ax/b", "ax/y/b"], &["b", "xab", "a"]);
    assert_covers("a\\ ", &["a "], &["a"]);
}

#[test]
fn brackets_of_frameworks_are_names_too() {
    assert_covers(
        "app/[slug]/**",
        &["app/[slug]/page.tsx", "app/s/page.tsx"],
        &["app/x/page.tsx", "app/[slug]"],
    );
    assert_covers(
        "app/[[...sign-in]]/page.tsx",
        &["app/[[...sign-in]]/page.tsx"],
        &["app/sign-in/page.tsx"],
    );
    assert_covers(
        "app/(shop)/@modal/[...all]/page.tsx",
        &["app/(shop)/@modal/[...all]/page.tsx"],
        &[],
    );
    assert_covers(
        "src/routes/[[lang]]/[id=integer]/+page@.svelte",
        &["src/routes/[[lang]]/[id=integer]/+page@.svelte"],
        &[],
    );
    assert_covers(
        "src/routes/blog-[slug].[ext]/**",
        &["src/routes/blog-[slug].[ext]/a"],
        &["src/routes/blog-[slug]/a"],
    );
    assert_covers(
        "app/routes/($lang)._index[.]ts.tsx",
        &["app/routes/($lang)._index[.]ts.tsx", "app/routes/($lang)._index.ts.tsx"],
        &[],
    );
    assert_covers("app/[unclosed", &["app/[unclosed"], &["app/u"]);
    assert_covers("app/\\[slug\\]/x", &["app/[slug]/x"], &["app/s/x"]);
    assert_covers("app/[z-a]", &["app/[z-a]"], &["app/b"]);
    let expanded = scope(&["app/[tenant]/{page,layout}.tsx"]);
    assert!(expanded.covers("app/[tenant]/page.tsx") && expanded.covers("app/[tenant]/layout.tsx"));
}

#[test]
fn names_are_any_bytes() {
    assert_covers("my docs/*", &["my docs/a b"], &["my"]);
    assert_covers("a\nb", &["a\nb"], &["a"]);
    assert_covers("`x`|y/*", &["`x`|y/z"], &["`x`"]);
    assert_covers("src/pages/größe.ts", &["src/pages/größe.ts"], &["src/pages/grosse.ts"]);
    // Decomposed, as a keyboard or a file system may write it.
    assert_covers("gro\u{308}ße/*", &["größe/a"], &[]);
    let scope = scope(&["src/*"]);
    assert!(scope.covers(b"src/\xff\xfe") && !scope.covers(b"\xff"));
    for path in ["", "/", "//", "src/", "src//a", "a/"] {
        assert!(!scope.covers(path), "{path:?}");
    }
}

// rule: intents#patterns
#[test]
fn braces_are_expanded_when_written() {
    let texts =
        |pattern: &str| -> Vec<String> { scope(&[pattern]).patterns().iter().map(ToString::to_string).collect() };
    assert_eq!(
        texts("src/{a,b}.{ts,js}"),
        ["src/a.ts", "src/a.js", "src/b.ts", "src/b.js"]
    );
    assert_eq!(texts("a{,b{c,d}}e"), ["ae", "abce", "abde"]);
    assert_eq!(texts("{a}{"), ["{a}{"]);
    assert_eq!(texts("a{b{c,d}"), ["a{bc", "a{bd"]);
    assert_eq!(texts("\\{a,b\\}"), ["\\{a,b\\}"]);
    let most = format!("src/{{{}}}", vec!["x"; MAX_PATTERNS].join(","));
    assert_eq!(scope(&[&most]).patterns().len(), MAX_PATTERNS);
    assert_eq!(refusal(&[&most, "y"]), ListProblem::TooManyPatterns(65).into());
    for count in [7, 100] {
        let refused = refusal(&[&"{a,b}".repeat(count)]);
        assert!(matches!(refused, Refusal::TooManyAlternatives(_)), "{count}: {refused}");
    }
}

fn refusal(patterns: &[&str]) -> Refusal {
    match Scope::parse(patterns) {
        Err(refusal) => refusal,
        Ok(_) => panic!("{patterns:?} is not refused"),
    }
}

// rule: intents#refused-patterns
#[test]
fn a_meaningless_pattern_is_refused_with_the_fix() {
    let cases = [
        ("", "leave it out"),
        ("  ", "leave it out"),
        ("!src", ".intentignore"),
        ("/src/**", "root of the repository"),
        ("C:/src", "root of the repository"),
        ("c:\\src", "root of the repository"),
        ("~/src", "root of the repository"),
        ("../x", "'..'"),
        ("src/../x", "'..'"),
        ("src/..", "'..'"),
        ("src/\\.\\.", "'..'"),
        ("./src", "remove it"),
        ("src//a", "remove it"),
        ("src//", "remove it"),
        (".", "remove it"),
        ("src\\utils", "separate folders with /"),
        ("src\\\\utils", "separate folders with /"),
        ("src\\", "separate folders with /"),
        ("src\\/a", "separate folders with /"),
        ("[\\a]", "separate folders with /"),
        ("[[:alpha:]]x", "[a-z]"),
        ("a[b[:digit:]]", "[a-z]"),
        ("a[b/c]d", "\\["),
        ("a\0b", "NUL"),
    ];
    for (pattern, part) in cases {
        let sentence = refusal(&[pattern]).to_string();
        assert!(sentence.contains(part), "{pattern:?}: {sentence}");
    }
    let none: [&str; 0] = [];
    assert_eq!(refusal(&none), ListProblem::NoPattern.into());
    assert!(Scope::parse(["x".repeat(512)]).is_ok());
    assert!(matches!(refusal(&["x".repeat(513).as_str()]), Refusal::TooLong(_, 513)));
    assert_eq!(refusal(&["x"; 65]), ListProblem::TooManyPatterns(65).into());
    for allowed in [
        "\\!x", "\\#x", "#x", "a!", "a..b", "...", "[:id]", "c:x", "~x", "{}", "$a",
    ] {
        scope(&[allowed]);
    }
}

// rule: intents#too-broad
#[test]
fn too_broad_is_what_covers_too_much() {
    let files: Vec<String> = (0..400).map(|index| format!("src/{}/{index}.ts", index % 10)).collect();
    let breadth = |patterns: &[&str], most| scope(patterns).check_breadth(&files, most);
    for wild in ["*", "**", "**/*", "**/*.ts", "*/a", "?*/a", "***", "**/", "*/", "????"] {
        let everywhere = BroadScope::Everywhere(wild.to_owned());
        assert_eq!(breadth(&["src/1", wild], 100), Err(everywhere));
    }
    let within = |covered| Ok(Coverage { covered, files: 400 });
    assert_eq!(breadth(&["src/1", "src/2/**"], 100), within(80));
    let (covered, most) = (120, 100);
    assert_eq!(breadth(&["src/[1-3]"], 100), Err(BroadScope::Files { covered, most }));
    assert_eq!(breadth(&["src/[1-5]"], 1000), within(200));
    let (covered, files) = (240, 400);
    assert_eq!(breadth(&["src/[1-6]"], 1000), Err(BroadScope::Half { covered, files }));
    // It looks broad, and covers nothing.
    assert_eq!(breadth(&["*.md"], 100), within(0));
    let none: [&str; 0] = [];
    assert_eq!(
        scope(&["a"]).check_breadth(none, 100),
        Ok(Coverage { covered: 0, files: 0 })
    );
}

#[test]
fn a_count_does_not_depend_on_the_order_of_files() {
    let scope = scope(&["src/**/*.ts", "a/b/", "a/**/c/d*", "docs", "src/[x]/y"]);
    let names = ["src", "a", "b", "c", "d.ts", "docs", "x", "[x]", "y", "d1"];
    let mut random = fastrand::Rng::with_seed(4);
    let path = |random: &mut fastrand::Rng| {
        let segments: Vec<&str> = (0..random.usize(1..6))
            .map(|_| names[random.usize(..names.len())])
            .collect();
        segments.join("/")
    };
    let mut files: Vec<String> = (0..5000).map(|_| path(&mut random)).collect();
    let one_by_one = files.iter().filter(|file| scope.covers(file)).count();
    assert!(one_by_one > 500 && one_by_one < 4500);
    assert_eq!(scope.count(&files).covered, one_by_one);
    files.sort();
    assert_eq!(scope.count(&files).covered, one_by_one);
}

#[test]
fn an_intentignore_is_read_as_a_gitignore() {
    let ignore =
        IntentIgnore::parse(b"\xef\xbb\xbf# secrets\r\n*.key\r\n!public.key\n/build/\n\nvault/\n!vault/readme\n");
    let line = |number, text: &str| {
        Some(IgnoreReason::Line {
            number,
            text: text.to_owned(),
        })
    };
    assert_eq!(ignore.find("a/b.key"), line(2, "*.key"));
    assert_eq!(ignore.find("a/public.key"), None);
    assert_eq!(ignore.find("build/x"), line(4, "/build/"));
    assert_eq!(ignore.find("sub/build/x"), None);
    // A file below an ignored folder cannot be included again, as in git.
    assert_eq!(ignore.find("a/vault/readme"), line(6, "vault/"));
    assert_eq!(IntentIgnore::none().find("a"), None);
    assert_eq!(
        line(2, "*.key").map(|ignored| ignored.to_string()).as_deref(),
        Some("line 2 of .intentignore: *.key")
    );
}

// rule: intents#intentignore
#[test]
fn an_intentignore_that_cannot_be_read_ignores_everything() {
    let long = IntentIgnore::parse(&vec![b'\n'; IntentIgnore::MAX_BYTES + 1]);
    assert!(matches!(long.find("a"), Some(IgnoreReason::Unreadable(_))));
    assert_eq!(
        IntentIgnore::parse(&vec![b'\n'; IntentIgnore::MAX_BYTES]).find("a"),
        None
    );
    let sentence = IntentIgnore::unreadable("permission denied")
        .find("a")
        .map(|ignored| ignored.to_string());
    assert_eq!(
        sentence.as_deref(),
        Some(".intentignore cannot be read: permission denied")
    );
}

// rule: intents#never-covered
#[test]
fn no_intent_covers_what_rules_over_intents() {
    let cases = [
        (".git/config", Some(ReservedPart::Git)),
        ("modules/x/.GIT", Some(ReservedPart::Git)),
        (".orchestration/active_intents.yaml", Some(ReservedPart::Orchestration)),
        ("docs/.orchestration/x", None),
        (".intentignore", Some(ReservedPart::IntentIgnore)),
        ("docs/.intentignore", None),
        (".claude/settings.json", Some(ReservedPart::HookSettings)),
        ("web/.claude/settings.local.json", Some(ReservedPart::HookSettings)),
        (".claude/skills/coord/SKILL.md", None),
        (".codex/hooks.json", Some(ReservedPart::HookSettings)),
        (".codex/config.toml", Some(ReservedPart::HookSettings)),
        (".cursor/hooks.json", Some(ReservedPart::HookSettings)),
        (".cursor/rules/a.mdc", None),
        (".gemini/settings.json", Some(ReservedPart::HookSettings)),
        (".github/hooks/coord.json", Some(ReservedPart::HookSettings)),
        (".github/workflows/ci.yml", None),
        (".opencode/plugins/coord.js", Some(ReservedPart::HookSettings)),
        ("opencode.json", Some(ReservedPart::HookSettings)),
        (".gitignore", None),
        ("src/git/config", None),
    ];
    for (path, expected) in cases {
        assert_eq!(reserved_part(path), expected, "{path}");
    }
}

#[test]
fn reserved_and_ignored_go_before_the_scope() {
    let scope = scope(&["src", ".orchestration/**", ".intentignore"]);
    let of_branch = IntentIgnore::parse(b"*.key\n");
    let of_working_copy = IntentIgnore::parse(b"/src/vault/\n");
    let mut judge = Judge::new(&scope, [&of_branch, &of_working_copy]);
    for (path, expected) in [
        ("src/a.ts", Verdict::Covered),
        ("lib/a.ts", Verdict::Outside),
        (
            ".orchestration/intent_map.md",
            Verdict::Reserved(ReservedPart::Orchestration),
        ),
        (".intentignore", Verdict::Reserved(ReservedPart::IntentIgnore)),
    ] {
        assert_eq!(judge.judge(path), expected, "{path}");
    }
    for path in ["src/a.key", "src/vault/a.ts"] {
        assert!(matches!(judge.judge(path), Verdict::Ignored(_)), "{path}");
    }
    let unreadable = IntentIgnore::unreadable("x");
    assert!(matches!(
        Judge::new(&scope, [&unreadable]).judge("src/a.ts"),
        Verdict::Ignored(_)
    ));
}

#[test]
fn a_digest_is_of_the_set_of_patterns() {
    let digest = |patterns: &[&str]| scope(patterns).digest();
    assert_eq!(digest(&["b", "a"]), digest(&["a", "b", "a"]));
    assert_eq!(digest(&["x/{a,b}"]), digest(&["x/a", "x/b"]));
    assert_ne!(digest(&["a", "b"]), digest(&["ab"]));
    // printf 'coord scope v1\nsrc/db.ts\0src/db/**\0' | sha256sum
    assert_eq!(
        digest(&["src/db/**", "src/db.ts"]),
        "d8e32c61d3b296d830debacca5f2747ba97cb7d40db31a649328ee0eb58fb4dc"
    );
}
