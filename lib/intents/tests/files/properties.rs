//! Random edits of random files.

use coord_intents::files::Registry;
use coord_intents::files::import::import_changes;
use coord_intents::intent::{Budget, Criterion, CriterionProof, Intent, RelatedSpec, Status};
use proptest::prelude::*;

use crate::{FACTS, WILD, parse};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z][a-zA-Z ]{0,12}[a-z]",
        2 => "[ -~]{1,16}",
        1 => "[a:#'\"\\\\ \n-]{1,10}",
        1 => "\\PC{1,8}",
        1 => any::<String>().prop_filter("an item is not empty", |text| !text.is_empty()),
    ]
}

fn any_intent() -> impl Strategy<Value = Intent> {
    let texts = || proptest::collection::vec(any_text(), 0..4);
    let optional = || proptest::option::of(any_text());
    let met = proptest::option::of(
        (any_text(), any_text(), any_text()).prop_map(|(by, at, evidence)| CriterionProof { by, at, evidence }),
    );
    let criteria = proptest::collection::btree_map(any_text(), met, 0..3);
    let budget = (
        proptest::option::of(0..99_u64),
        proptest::option::of(any::<u64>()),
        0..9_u64,
        0..9_u64,
    );
    let spec = prop_oneof![
        any_text().prop_map(RelatedSpec::Text),
        (any_text(), any_text()).prop_map(|(r#type, value)| RelatedSpec::Typed { r#type, value }),
    ];
    let texts_of = (any_text(), optional(), texts(), texts());
    let others = (
        proptest::sample::select(Status::ALL.to_vec()),
        criteria,
        proptest::option::of(budget),
    );
    let last = (
        optional(),
        optional(),
        optional(),
        optional(),
        proptest::collection::vec(spec, 0..3),
    );
    (texts_of, others, last).prop_map(|(texts, (status, criteria, budget), last)| {
        let budget = budget.map(|(max_turns, max_tokens, consumed_turns, consumed_tokens)| Budget {
            max_turns,
            max_tokens,
            consumed_turns,
            consumed_tokens,
        });
        Intent {
            id: String::new(),
            name: texts.0,
            description: texts.1.unwrap_or_default(),
            status,
            constraints: texts.2,
            owned_scope: texts.3,
            acceptance_criteria: criteria
                .into_iter()
                .map(|(text, met)| Criterion { text, met })
                .collect(),
            budget: budget.filter(|&budget| budget != Budget::default()),
            assigned_agent: last.0,
            created_at: last.1,
            updated_at: last.2,
            branch: last.3,
            supplements: None,
            related_specs: last.4,
        }
    })
}

fn any_intents(most: usize) -> impl Strategy<Value = Vec<Intent>> {
    proptest::collection::vec(any_intent(), 0..most).prop_map(|mut intents| {
        intents
            .iter_mut()
            .enumerate()
            .for_each(|(number, intent)| intent.id = format!("i{number}"));
        intents
    })
}

/// The style of a file that a person wrote.
#[derive(Clone, Copy, Debug)]
struct Style {
    outer: usize,
    list: usize,
    quote: u8,
    flow_lists: bool,
    flow_budget: bool,
    comments: bool,
    is_reversed: bool,
    is_crlf: bool,
    ends: bool,
}

fn any_style() -> impl Strategy<Value = Style> {
    (0..5_usize, 0..5_usize, 0..3_u8, any::<[bool; 6]>()).prop_map(
        |(outer, list, quote, [flow_lists, flow_budget, comments, is_reversed, is_crlf, ends])| Style {
            outer,
            list,
            quote,
            flow_lists,
            flow_budget,
            comments,
            is_reversed,
            is_crlf,
            ends,
        },
    )
}

/// A line, and the intent and member that it belongs to; comments and unknown members belong to none.
type Owned = (String, Option<(usize, &'static str)>);

/// The intents as lines, without line breaks in texts: each is in quotes that can hold it.
fn lines(intents: &[Intent], style: Style) -> Vec<Owned> {
    let quote = |text: &str| match style.quote {
        0 if !text.contains(|c: char| {
            c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        }) =>
        {
            format!("'{}'", text.replace('\'', "''"))
        }
        1 if text.starts_with(char::is_alphabetic)
            && text.chars().all(|c| c.is_ascii_alphabetic() || c == ' ')
            && text.trim() == text
            && !["null", "true", "false"].contains(&text.to_lowercase().as_str()) =>
        {
            text.to_owned()
        }
        _ => serde_json::to_string(text)
            .unwrap()
            .replace('\u{feff}', "\\ufeff")
            .replace('\u{fffe}', "\\ufffe")
            .replace('\u{ffff}', "\\uffff")
            .chars()
            .map(|c| {
                if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
                    format!("\\u{:04x}", u32::from(c))
                } else {
                    c.to_string()
                }
            })
            .collect(),
    };
    let mut lines: Vec<Owned> = vec![
        ("# A file".into(), None),
        ("version: 1".into(), None),
        ("intents:".into(), None),
    ];
    for (number, intent) in intents.iter().enumerate() {
        let indent = " ".repeat(style.outer);
        if style.comments {
            lines.push((format!("{indent}# Intent {number}"), None));
            lines.push((String::new(), None));
        }
        let comment = if style.comments { " # why" } else { "" };
        lines.push((format!("{indent}- id: {}{comment}", intent.id), None));
        let indent = format!("{indent}  ");
        let mut groups: Vec<Vec<Owned>> = Vec::new();
        let scalar = |key: &'static str, value: &str| {
            vec![(format!("{indent}{key}: {}{comment}", quote(value)), Some((number, key)))]
        };
        let list = |key: &'static str, items: &[String]| {
            let owner = Some((number, key));
            if style.flow_lists || items.is_empty() {
                let items: Vec<String> = items.iter().map(|item| quote(item)).collect();
                return vec![(format!("{indent}{key}: [{}]{comment}", items.join(", ")), owner)];
            }
            let mut group = vec![(format!("{indent}{key}:"), owner)];
            group.extend(items.iter().map(|item| {
                (
                    format!("{indent}{}- {}{comment}", " ".repeat(style.list), quote(item)),
                    owner,
                )
            }));
            group
        };
        groups.push(scalar("name", &intent.name));
        groups.push(vec![(format!("{indent}priority: {{a: [1, 2], b: c}} # theirs"), None)]);
        groups.push(scalar("status", intent.status.as_str()));
        groups.push(list("constraints", &intent.constraints));
        groups.push(list("owned_scope", &intent.owned_scope));
        if let Some(budget) = intent.budget {
            let limit = |limit: Option<u64>| limit.map_or("null".to_owned(), |limit| limit.to_string());
            let members = [
                format!("max_turns: {}", limit(budget.max_turns)),
                format!("max_tokens: {}", limit(budget.max_tokens)),
                format!("consumed_turns: {}", budget.consumed_turns),
                format!("consumed_tokens: {}", budget.consumed_tokens),
            ];
            let owner = Some((number, "budget"));
            if style.flow_budget {
                groups.push(vec![(
                    format!("{indent}budget: {{{}}}{comment}", members.join(", ")),
                    owner,
                )]);
            } else {
                let mut group = vec![(format!("{indent}budget:"), owner)];
                group.extend(members.map(|member| (format!("{indent}   {member}"), owner)));
                groups.push(group);
            }
        }
        if let Some(agent) = &intent.assigned_agent {
            groups.push(scalar("assigned_agent", agent));
        }
        if style.is_reversed {
            groups.reverse();
        }
        lines.extend(groups.into_iter().flatten());
    }
    lines.push(("# The end".into(), None));
    lines
}

/// The part of an intent that [`lines`] writes.
fn written(intent: &Intent) -> Intent {
    Intent {
        id: intent.id.clone(),
        name: intent.name.clone(),
        status: intent.status,
        constraints: intent.constraints.clone(),
        owned_scope: intent.owned_scope.clone(),
        budget: intent.budget,
        assigned_agent: intent.assigned_agent.clone(),
        ..Intent::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_new_file_is_read_as_it_was_meant(intents in any_intents(4)) {
        let file = Registry::new_file(&intents);
        let registry = parse(&file);
        prop_assert_eq!(registry.intents(), &intents);
        prop_assert_eq!(registry.with(&intents).unwrap(), file);
    }

    #[test]
    fn a_new_file_becomes_any_other(intents in any_intents(4), mut wanted in any_intents(5)) {
        // Intents of the file stay in it.
        wanted.extend(intents.iter().skip(wanted.len()).cloned());
        let edited = parse(&Registry::new_file(&intents)).with(&wanted).unwrap();
        let registry = parse(&edited);
        prop_assert_eq!(registry.intents(), &wanted, "{}", edited);
    }

    #[test]
    fn an_edit_changes_the_touched_lines_alone(intents in any_intents(4), others in any_intents(4), style in any_style(), touched in any::<[bool; 6]>()) {
        let lines = lines(&intents, style);
        let newline = if style.is_crlf { "\r\n" } else { "\n" };
        let mut text = lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join(newline);
        if style.ends {
            text += newline;
        }
        let registry = parse(&text);
        let before: Vec<Intent> = intents.iter().map(written).collect();
        prop_assert_eq!(registry.intents(), &before, "{}", text);
        prop_assert_eq!(registry.with(&before).unwrap(), text.clone());

        let mut wanted = before.clone();
        for (intent, other) in wanted.iter_mut().zip(&others) {
            let other = other.clone();
            if touched[0] { intent.name = other.name; }
            if touched[1] { intent.status = other.status; }
            if touched[2] { intent.constraints = other.constraints; }
            if touched[3] { intent.owned_scope = other.owned_scope; }
            if touched[4] { intent.budget = other.budget; }
            if touched[5] { intent.assigned_agent = other.assigned_agent; }
        }
        let result = registry.with(&wanted);
        prop_assert!(result.is_ok(), "{:?}\n{}", result, text);
        let edited = result.unwrap();
        let registry = parse(&edited);
        prop_assert_eq!(registry.intents(), &wanted, "{}\n{}", text, edited);

        // All unowned lines and those of untouched members are there, in their order.
        let members = ["name", "status", "constraints", "owned_scope", "budget", "assigned_agent"];
        let is_touched = |member: &str| members.iter().zip(touched).any(|(name, touched)| touched && *name == member);
        let mut rest = edited.split(newline);
        for (line, _) in lines.iter().filter(|(_, owner)| owner.is_none_or(|(number, member)| number >= others.len() || !is_touched(member))) {
            prop_assert!(rest.any(|edited| edited == line), "{:?} is lost\n{}\n{}", line, text, edited);
        }
    }

    #[test]
    fn an_edit_and_its_reverse_read_the_same(number in 0..3_usize, other in any_intent()) {
        for text in [FACTS, WILD] {
            let registry = parse(text);
            let mut intents = registry.intents().to_vec();
            let at = number % intents.len();
            intents[at] = Intent { id: intents[at].id.clone(), ..other.clone() };
            let edited = registry.with(&intents).unwrap();
            let back = parse(&edited).with(registry.intents()).unwrap();
            let back = parse(&back);
            prop_assert_eq!(back.intents(), registry.intents());
        }
    }

    #[test]
    fn taking_in_takes_what_was_edited(intents in any_intents(3), others in any_intents(3)) {
        let base = parse(&Registry::new_file(&intents));
        let wanted: Vec<Intent> = intents.iter().zip(others).map(|(intent, other)| Intent { name: other.name, constraints: other.constraints, ..intent.clone() }).collect();
        let file = parse(&base.with(&wanted).unwrap());
        let taken = import_changes(Some(&base), &file, &intents);
        prop_assert!(taken.problems.is_empty() && taken.put_back.is_empty() && taken.removed.is_empty(), "{:?}", taken);
        let changed: Vec<&Intent> = wanted.iter().zip(&intents).filter(|(wanted, intent)| wanted != intent).map(|(wanted, _)| wanted).collect();
        prop_assert!(taken.changes.iter().map(|change| &change.intent).eq(changed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        never_panics(&bytes);
    }

    #[test]
    fn random_yaml_never_panics(text in "(intents:|active_intents: |\n|\r\n|\r|  |    |- |id: a|id|: |:|name: |[|]|\\{|\\}|,|'|\"|\\||>|\\|\\+|#| #|é|\u{feff}|---|\\.\\.\\.|\\?|&|\\*|!|~|null|1|\t|%|budget: |constraints:){0,40}") {
        never_panics(text.as_bytes());
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0..900_usize, bytes in "[ -~\n\t\r]{0,3}", length in 0..3_usize) {
        for text in [FACTS, WILD] {
            let mut damaged = text.as_bytes().to_vec();
            let at = at.min(damaged.len());
            let end = (at + length).min(damaged.len());
            damaged.splice(at..end, bytes.bytes());
            never_panics(&damaged);
        }
    }
}

fn never_panics(bytes: &[u8]) {
    let Ok(registry) = Registry::parse(bytes) else { return };
    assert_eq!(registry.with(registry.intents()).unwrap().as_bytes(), bytes);
    let mut wanted = registry.intents().to_vec();
    for intent in &mut wanted {
        intent.name = "b: c".into();
        intent.constraints = vec!["x".into()];
        intent.budget = Some(Budget {
            max_turns: Some(3),
            ..Budget::default()
        });
    }
    wanted.push(Intent {
        id: "new".into(),
        description: "a\nb".into(),
        ..Intent::default()
    });
    wanted.dedup_by(|a, b| a.id == b.id);
    // Either it can be done, and reads as wanted, or it is refused.
    if let Ok(edited) = registry.with(&wanted) {
        assert!(
            wanted.iter().all(|intent| parse(&edited).intents().contains(intent)),
            "{edited}"
        );
    }
}
