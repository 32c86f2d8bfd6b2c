use coord_intents::files::{MAX_BYTES, Registry};
use coord_intents::intent::{Budget, Intent, RelatedSpec, Status};

use crate::{FACTS, ORIGINAL, WILD, parse};

#[test]
fn the_file_of_the_facts_is_read_and_written_byte_for_byte() {
    let registry = parse(FACTS);
    let [intent] = registry.intents() else {
        panic!("one intent")
    };
    assert_eq!(intent.name, "Connection pooling");
    assert_eq!(intent.status, Status::InProgress);
    assert_eq!(intent.owned_scope, ["src/db/**", "src/db.ts", "app/[tenant]/page.tsx"]);
    let budget = Budget {
        max_turns: Some(50),
        max_tokens: Some(400_000),
        consumed_turns: 12,
        consumed_tokens: 81_234,
    };
    assert_eq!(intent.budget, Some(budget));
    assert_eq!(intent.updated_at.as_deref(), Some("2026-11-22T09:01:12Z"));
    assert_eq!(Registry::new_file(registry.intents()), FACTS);
    assert_eq!(registry.with(registry.intents()).unwrap(), FACTS);
}

#[test]
fn the_original_template_is_refused_at_its_first_placeholder_that_cannot_be() {
    assert_eq!(
        refusal(ORIGINAL),
        "2:11: an id has 1 to 64 letters, digits, `.`, `_` and `-`, and begins with a letter or digit"
    );
    // With values in place of the placeholders, its order and indentation are those of a new file.
    let mut filled = ORIGINAL
        .replace(" # Glob pattern or specific file path", "")
        .replace(" # Contributor model ID", "");
    filled = filled.replace("PENDING | IN_PROGRESS | COMPLETED | ABANDONED | BLOCKED", "PENDING");
    for (placeholder, value) in [
        ("<uuid>", "018f6a1c"),
        ("<string>", "text"),
        ("<number>", "7"),
        ("<iso8601>", "2026-11-22T08:55:00Z"),
    ] {
        filled = filled.replace(placeholder, value);
    }
    assert_eq!(Registry::new_file(parse(&filled).intents()), filled);
}

#[test]
fn files_as_found_at_users_are_read() {
    let registry = parse(WILD);
    let [weather, helpers, bare] = registry.intents() else {
        panic!("three intents")
    };
    assert_eq!(weather.id, "REQ-WEATHER-API-001");
    assert_eq!(weather.description, "Answers questions about the weather.");
    assert_eq!(weather.owned_scope, ["**/*.test.ts", "app/**/*"]);
    let typed = RelatedSpec::Typed {
        r#type: "url".into(),
        value: "https://example.org/a#b".into(),
    };
    assert_eq!(weather.related_specs, [RelatedSpec::Text("specs/001.md".into()), typed]);
    assert_eq!(weather.created_at.as_deref(), Some("2026-02-18T10:00:00Z"));
    assert_eq!(weather.budget, None);
    assert_eq!(helpers.owned_scope, ["src/utils/", "lib/*.ts"]);
    assert_eq!(helpers.status, Status::Pending);
    assert!(helpers.is_complete_enough_to_select(), "missing lists are empty lists");
    assert_eq!(
        bare,
        &Intent {
            id: "INT-001".into(),
            ..Intent::default()
        }
    );
    assert_eq!(
        bare.missing(),
        ["name", "description", "owned_scope", "acceptance_criteria"]
    );
    assert!(!bare.is_complete_enough_to_select());
    assert_eq!(registry.with(registry.intents()).unwrap(), WILD);
}

// rule: files#yaml-read
#[test]
fn each_variant_has_the_same_intents() {
    let expected = ["a", "b"];
    for text in [
        "intents:\n  - id: a\n  - id: b\n",
        "intents:\n- id: a\n- id: b\n",
        "active_intents:\n    - id: a\n    - id: b\n",
        "\u{feff}intents:\r\n  - id: a\r\n  - id: 'b'\r\n",
        "---\nversion: 1\nintents: [{id: a}, {id: \"b\"}]\n...\n",
        "{\"intents\": [{\"id\": \"a\"}, {\"id\": \"b\"}]}",
        "intents:\n  -\n    id: a\n    constraints:\n    owned_scope: ~\n    budget: null\n  - id: b",
        // The younger key wins; one without value leaves it to the other.
        "intents:\n  - id: ignored\nactive_intents:\n  - id: a\n  - id: b\n",
        "active_intents:\n  - id: a\n  - id: b\nintents:\n  - id: ignored\n",
        "active_intents:\nintents:\n  - id: a\n  - id: b\n",
    ] {
        let registry = parse(text);
        assert!(
            registry.intents().iter().map(|intent| &intent.id).eq(expected),
            "{text}"
        );
        assert_eq!(registry.with(registry.intents()).unwrap(), text);
    }
    for text in [
        "",
        "\n",
        "# nothing\n",
        "---\n",
        "intents:\n",
        "active_intents: []\n",
        "version: 1\n",
        "intents:\n  - id: a\nactive_intents: []\n",
    ] {
        assert_eq!(parse(text).intents(), [], "{text}");
    }
}

// rule: files#yaml-refused
#[test]
fn an_unreadable_file_is_refused_with_line_and_column() {
    // A file, in which `\n` and `\t` are escapes, and the beginning of its refusal.
    let table = r#"
        intents:\n\t- id: a\n → 2:
        intents:\n  - id:\ta\n → 2:8: a tab
        intents:\n  - id: a\n    x: 1\t# tab\n → 3:9: a tab
        x: &a 1\nintents: []\n → 1:4: anchors
        intents:\n  - id: a\n    name: *a\n → 3:11:
        x: !!str 1\n → 1:4: tags
        intents:\n  - id: a\n    name: b\n    name: c\n → 4:5: the key `name` appears twice
        intents: []\n"intents": []\n → 2:1: the key `intents` appears twice
        x:\n  ü: 1\n  ü: 2\n → 3:3: the key `ü` appears twice
        intents:\n  - id: a\n  - name: b\n    id: a\n → 4:9: the id `a` appears twice
        intents:\n  - id: 42\n → 2:9: `id` must be text, but `42` is a number
        intents:\n  - id: a\n    name: 1.5e3\n → 3:11: `name` must be text, but `1.5e3` is a number
        intents:\n  - id: a\n    name: 0x1F\n → 3:11: `name`
        intents:\n  - id: a\n    name: true\n → 3:11: `name` must be text, but `true` is true or false
        intents:\n  - id: a\n    owned_scope:\n      - 7\n → 4:9: `owned_scope`
        intents:\n  - id: a\n    owned_scope:\n      -\n → 4:8: an item of `owned_scope` is empty
        intents:\n  - id: a\n    owned_scope: src/**\n → 3:18: `owned_scope` must be a list
        intents:\n  - id: a\n    name: [b]\n → 3:11: `name` must be text
        intents:\n  - id: a\n    budget: {max_turns: -1}\n → 3:25: `max_turns` must be a whole number
        intents:\n  - id: a\n    budget: {max_turns: '5'}\n → 3:25: `max_turns`
        intents:\n  - id: a\n    budget: {max_turns: 99999999999999999999}\n → 3:25: `max_turns`
        intents:\n  - id: a\n    status: DONE\n → 3:13: `DONE` is not a status
        intents:\n  - name: b\n → 2:5: an intent has no `id`
        intents:\n  - a\n → 2:5: expected an intent
        intents:\n  - id: a/b\n → 2:9: an id has
        intents: {a: {}}\n → 1:10: `intents` must be a list
        - id: a\n → 1:1: the file must begin with
        intents: []\n---\nintents: []\n → 2:1: a second document
        ? a\n: b\n → 1:1: unexpected here
        intents:\n  - id: a\n   name: b\n → 3:
        intents: [\n → 2:
    "#;
    for row in table.trim().lines() {
        let (text, expected) = row.trim().split_once(" → ").expect("an arrow");
        let refused = refusal(&text.replace("\\n", "\n").replace("\\t", "\t"));
        assert!(refused.starts_with(expected), "{row}: {refused}");
    }
    let deep = refusal(&format!("x: {}1{}\n", "[".repeat(60), "]".repeat(60)));
    assert!(deep.starts_with("1:36: nested deeper"), "{deep}");
    let refused = Registry::parse(b"intents: []\n# \xff\n").err().unwrap();
    assert_eq!((refused.line, refused.column), (2, 3));
    assert!(Registry::parse(&vec![b' '; MAX_BYTES + 1]).is_err());
    assert!(Registry::parse(&vec![b' '; MAX_BYTES]).is_ok());
}

#[test]
fn a_billion_laughs_are_refused_at_the_first() {
    let mut text = String::from("a0: &a0 [lol, lol]\n");
    for level in 1..30 {
        text += &format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}]\n", level - 1);
    }
    assert!(refusal(&text).starts_with("1:5: anchors and aliases"));
}

// rule: files#yaml-refused
#[test]
fn more_than_a_thousand_intents_are_refused() {
    let file = |count: usize| {
        (0..count).fold(String::from("intents:\n"), |text, id| {
            text + &format!("  - id: i{id}\n")
        })
    };
    assert_eq!(parse(&file(1_000)).intents().len(), 1_000);
    assert!(refusal(&file(1_001)).starts_with("1002:5: more than 1000"));
}

fn refusal(text: &str) -> String {
    match Registry::parse(text.as_bytes()) {
        Ok(_) => format!("not refused: {text}"),
        Err(refusal) => format!("{}:{}: {}", refusal.line, refusal.column, refusal.message),
    }
}
