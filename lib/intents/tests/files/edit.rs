use coord_intents::files::Registry;
use coord_intents::intent::{Budget, Criterion, CriterionProof, Intent, RelatedSpec, Status};

use crate::{FACTS, WILD, diff, edited, parse};

#[test]
fn a_changed_status_is_one_changed_line() {
    let after = edited(FACTS, |intents| intents[0].status = Status::Blocked);
    assert_eq!(
        diff(FACTS, &after),
        "-      status: IN_PROGRESS\n+      status: BLOCKED\n"
    );
    let after = edited(WILD, |intents| intents[0].status = Status::Completed);
    assert_eq!(
        diff(WILD, &after),
        "-    status: IN_PROGRESS # since Monday\n+    status: COMPLETED # since Monday\n"
    );
}

// rule: files#yaml-written
#[test]
fn quotes_comments_and_brackets_survive() {
    let after = edited(WILD, |intents| {
        intents[0].name = "Weather: it's fine".into();
        intents[0].constraints = vec!["No new dependency".into()];
        intents[0].owned_scope.push("*.md".into());
        intents[0].created_at = Some("2026-02-19T10:00:00Z".into());
        intents[1].name = "More \"helpers\"".into();
        intents[1].owned_scope = vec!["src/utils/".into(), "lib/*.js".into(), "{a}".into()];
        intents[1].budget = Some(Budget {
            max_turns: Some(9),
            consumed_turns: 1,
            ..Budget::default()
        });
    });
    assert_eq!(
        diff(WILD, &after),
        r#"-    name: 'Weather API'
+    name: 'Weather: it''s fine'
-    constraints: []
-    owned_scope: ["**/*.test.ts", app/**/*]
+    constraints:
+      - No new dependency
+    owned_scope: ["**/*.test.ts", app/**/*, "*.md"]
-    created_at: '2026-02-18T10:00:00Z'
+    created_at: '2026-02-19T10:00:00Z'
-    name: "Helpers"
+    name: "More \"helpers\""
-      - 'lib/*.ts'
+      - 'lib/*.js'
+      - "{a}"
-    budget: {max_turns: 5}
+    budget: {max_turns: 9, consumed_turns: 1}
"#
    );
}

#[test]
fn missing_members_are_inserted_in_the_order_of_the_model() {
    let after = edited(WILD, |intents| {
        let bare = &mut intents[2];
        bare.name = "Named".into();
        bare.status = Status::InProgress;
        bare.owned_scope = vec!["docs/**".into()];
        bare.budget = Some(Budget {
            max_tokens: Some(1),
            ..Budget::default()
        });
        bare.branch = Some("main".into());
        intents[1].description = "Two\nlines".into();
    });
    assert_eq!(
        diff(WILD, &after),
        "+    description: |-
+      Two
+      lines
+    name: Named
+    status: IN_PROGRESS
+    owned_scope:
+      - docs/**
+    budget:
+      max_tokens: 1
+      consumed_turns: 0
+      consumed_tokens: 0
+    branch: main
"
    );
}

#[test]
fn members_and_items_are_removed_with_their_lines_alone() {
    let after = edited(WILD, |intents| {
        intents[0].created_at = None;
        intents[0].related_specs.remove(0);
        intents[0].owned_scope.remove(0);
        intents[1].owned_scope.clear();
        intents[1].budget = None;
    });
    assert_eq!(
        diff(WILD, &after),
        "-    owned_scope: [\"**/*.test.ts\", app/**/*]
+    owned_scope: [app/**/*]
-      - specs/001.md
-    created_at: '2026-02-18T10:00:00Z'
-    owned_scope:
-      - src/utils/ # all of it
+    owned_scope: []
-      - 'lib/*.ts'
-    budget: {max_turns: 5}
"
    );
}

#[test]
fn a_new_intent_is_appended_as_the_others_are_written() {
    let added = Intent {
        id: "new-1".into(),
        name: "New".into(),
        constraints: vec!["c".into()],
        owned_scope: vec!["x/**".into()],
        budget: Some(Budget {
            max_turns: Some(1),
            ..Budget::default()
        }),
        ..Intent::default()
    };
    let after = edited(WILD, |intents| intents.push(added.clone()));
    assert_eq!(
        diff(WILD, &after),
        r#"+
+  - id: new-1
+    name: New
+    description: ""
+    status: PENDING
+    constraints:
+      - c
+    owned_scope:
+      - x/**
+    acceptance_criteria: []
+    budget:
+      max_turns: 1
+      consumed_turns: 0
+      consumed_tokens: 0
"#
    );
    for text in [
        "",
        "# c",
        "# c\n",
        "---\n",
        "version: 1\n",
        "intents:",
        "intents: # c\n",
        "intents: []\n",
        "active_intents: []  # none\nx: 1\n",
        "intents: [{id: a}]\n",
        "{}",
        "{version: 1}",
        "{\"intents\": []}",
        "intents:\n- id: a",
        "intents:\r\n  - id: a\r\n# end\r\n",
        "intents: ~\n",
        "intents:\n  []\n",
        "---\nintents: []\n...\n",
        "---\nx: 1\n...\n",
        "\u{feff}intents: []\n",
    ] {
        let registry = parse(text);
        let result = registry.with(std::slice::from_ref(&added));
        if text == "{}" {
            assert!(result.is_err());
            continue;
        }
        let after = result.unwrap_or_else(|refusal| panic!("{refusal}: {text:?}"));
        assert_eq!(parse(&after).intents().last(), Some(&added), "{after}");
        let lost: Vec<&str> = text
            .split_whitespace()
            .filter(|word| !after.contains(word.trim_end_matches([']', '}', '~'])))
            .collect();
        assert!(lost.is_empty(), "{text} lost {lost:?}: {after}");
    }
}

#[test]
fn the_key_that_is_not_used_remains() {
    let text = "intents:\n  - id: old # kept\nactive_intents:\n  - id: a\n    status: PENDING\n";
    let after = edited(text, |intents| intents[0].status = Status::Abandoned);
    assert_eq!(diff(text, &after), "-    status: PENDING\n+    status: ABANDONED\n");
}

#[test]
fn blocks_of_text_are_replaced_as_a_whole() {
    for block in ["|", "|-", ">", ">-", "|2", "| # c", "|+"] {
        let text = format!(
            "intents:\n  - id: a\n    description: {block}\n      one\n      two\n\n    # about the status\n    status: PENDING\n"
        );
        for new in ["short", "three\nlines\nnow\n", "no\nend", " odd\n\n", ""] {
            let after = edited(&text, |intents| intents[0].description = new.into());
            assert_eq!(parse(&after).intents()[0].description, new, "{after}");
            assert!(
                after.ends_with("    # about the status\n    status: PENDING\n"),
                "{after}"
            );
        }
    }
}

#[test]
fn a_proof_is_written_beside_the_criteria() {
    let met = CriterionProof {
        by: "ada/claude-1".into(),
        at: "2026-11-22T09:30:00Z".into(),
        evidence: "cargo test: 12 passed".into(),
    };
    let after = edited(FACTS, |intents| {
        intents[0].acceptance_criteria = vec![
            Criterion {
                met: Some(met.clone()),
                ..Criterion::new("Tests in tests/db pass")
            },
            Criterion::new("Docs"),
        ];
        intents[0].related_specs = vec![RelatedSpec::Text("S-1".into())];
        intents[0].supplements = Some("INT-001".into());
    });
    assert_eq!(
        diff(FACTS, &after),
        r#"+          - Docs
+      supplements: INT-001
+      related_specs:
+          - S-1
+      criteria:
+          - criterion: Tests in tests/db pass
+            by: ada/claude-1
+            at: 2026-11-22T09:30:00Z
+            evidence: "cargo test: 12 passed"
"#
    );
    assert_eq!(parse(&after).intents()[0].acceptance_criteria[0].met, Some(met));
}

#[test]
fn proofs_in_another_order_and_of_criteria_that_are_gone_are_edited_too() {
    let proof = |criterion: &str| format!("      - {{criterion: {criterion}, by: x, at: y, evidence: z}}\n");
    for proofs in [
        proof("b") + &proof("a"),
        proof("gone") + &proof("a"),
        proof("a") + &proof("a") + &proof("b"),
    ] {
        let text =
            format!("intents:\n  - id: i\n    acceptance_criteria: [a, b]\n    criteria:\n{proofs}    x: 1 # kept\n");
        assert_eq!(edited(&text, |_| ()), text);
        let after = edited(&text, |intents| intents[0].acceptance_criteria[1].met = None);
        let met: Vec<bool> = parse(&after).intents()[0]
            .acceptance_criteria
            .iter()
            .map(|c| c.met.is_some())
            .collect();
        assert_eq!(met, [true, false], "{after}");
        assert!(after.ends_with("    x: 1 # kept\n"));
    }
}

#[test]
fn four_mebibytes_are_edited_in_time() {
    let mut text = String::from("intents:\n");
    for id in 0..1_000 {
        text += &format!(
            "    - id: i{id}\n      name: größer\n      status: PENDING # {}\n",
            "c".repeat(4_000)
        );
    }
    let started = std::time::Instant::now();
    let registry = parse(&text);
    let mut intents = registry.intents().to_vec();
    intents[999].status = Status::Abandoned;
    assert_eq!(diff_count(&text, &registry.with(&intents).unwrap()), 1);
    // A bound on growth, not a figure: this is 0.1 s when optimized.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

fn diff_count(before: &str, after: &str) -> usize {
    assert_eq!(before.lines().count(), after.lines().count());
    before
        .lines()
        .zip(after.lines())
        .filter(|(before, after)| before != after)
        .count()
}

#[test]
fn texts_that_look_like_something_else_are_quoted() {
    let texts = "no¦Yes¦null¦~¦1.5¦0x1¦0b1¦1_000¦12:30¦2026-11-22¦-¦- a¦a -¦a - b¦a: b¦a #b¦#¦*¦&a¦!x¦%¦@¦`¦'¦\"¦a\\b¦\
                 a'b¦[a]¦{a}¦a,b¦a:¦ a¦a ¦...¦---¦=¦<<¦é¦\u{1f600}¦\u{feff}¦\u{2028}¦\u{85}¦\t¦a\tb¦\r¦\u{0}¦\u{7f}¦\
                 ?¦? a¦|¦>¦.5¦.inf¦+1¦app/[slug]/**¦https://x/y#z¦**/*.ts¦a\nb¦a\n¦\n¦a\n\n¦a\n b\n";
    for text in texts.split('¦') {
        let intent = Intent {
            id: "a".into(),
            name: text.into(),
            constraints: vec![text.into()],
            ..Intent::default()
        };
        let file = Registry::new_file(std::slice::from_ref(&intent));
        assert_eq!(parse(&file).intents(), std::slice::from_ref(&intent), "{file}");
        let flow = edited("intents: [{id: a, constraints: [x]}]\n", |intents| {
            intents[0] = intent.clone();
        });
        assert_eq!(parse(&flow).intents(), [intent], "{flow}");
    }
}
