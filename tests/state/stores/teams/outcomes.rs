//! No outcome of a script of teams is without a test: those that the text of each script can answer, against those that the
//! scenarios beside this file have met. A new refusal without a scenario fails here by its name.

use std::collections::{BTreeMap, BTreeSet};

use coord_state as state;

use crate::watched::Outcomes;

/// A script, taken apart at the functions of the first level of its modules, `Alias.name`, and its own. It is formatted: their ends are
/// the only lines `end`.
struct Parts {
    main: String,
    functions: BTreeMap<String, String>,
}

fn parts(source: &str) -> Parts {
    let (mut main, mut inside, mut alias) = (String::new(), None, None);
    let mut functions = BTreeMap::<String, String>::new();
    for line in source.lines() {
        let line = line.split("--").next().unwrap_or_default();
        let local = line.strip_prefix("local function ");
        let begin = local.or_else(|| line.strip_prefix("function "));
        if let Some(name) = begin.and_then(|begin| begin.split('(').next()) {
            inside = Some(qualified(name, alias));
        } else if line == "end" {
            inside = None;
        } else if line.ends_with("(function()") {
            alias = None;
        } else if let Some((seam, name)) = line.split_once(" = ").filter(|(seam, _)| seam.contains("Seam.")) {
            // A seam calls the function that an extension puts into it.
            functions
                .entry(seam.replace("Seam.", "."))
                .or_default()
                .push_str(&format!("{name}(call)\n"));
        } else if let Some(name) = line.strip_prefix("local ").and_then(|line| line.strip_suffix(" = {}")) {
            alias = Some(name);
        } else {
            let text: &mut String = match &inside {
                Some(name) => functions.entry(name.clone()).or_default(),
                None if alias.is_none() => &mut main,
                None => continue,
            };
            *text += line;
            *text += "\n";
        }
    }
    Parts { main, functions }
}

/// The name of a function as it is called in the module `alias`, or in the script itself.
fn qualified(name: &str, alias: Option<&str>) -> String {
    match alias {
        Some(alias) if !name.contains('.') => format!("{alias}.{name}"),
        _ => name.to_owned(),
    }
}

/// The functions whose outcomes are denials of the admission.
const OF_ADMISSION: [&str; 3] = ["Admission.admit", "Admission.find_head", "Limits.count"];

/// Calls that make a reply, and what they return up to its outcome.
const REPLIES: [(&str, &str); 4] = [
    ("return Team.reply(call, ", "return { "),
    ("return Answer.reply(call, ", "return { "),
    ("return Answer.too_much(call, ", "return { 'TOO_MUCH', "),
    ("return Limits.denial(call, ", "return { 'LIMITED', "),
];

/// The functions that `text` calls, which is of the module `alias`, or of the script itself.
fn calls<'t>(text: &'t str, alias: Option<&'t str>) -> impl Iterator<Item = String> + 't {
    text.match_indices('(').map(move |(at, _)| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        let begin = text[..at].rfind(|letter| !is_word(letter)).map_or(0, |place| place + 1);
        qualified(&text[begin..at], alias)
    })
}

/// The words in quotes that are written as outcomes are.
fn outcome_words(text: &str) -> impl Iterator<Item = &str> {
    let is_outcome = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    text.split('\'').skip(1).step_by(2).filter(is_outcome)
}

/// Returns the refusals in `text`.
fn refusals(text: &str) -> BTreeSet<String> {
    let refusing = text.lines().filter_map(|line| line.split_once("refuse("));
    let words = refusing.flat_map(|(_, rest)| outcome_words(rest));
    words.map(|word| format!("REFUSED {word}")).collect()
}

/// All that a script of teams can answer, denials of the admission excepted.
fn possible(source: &str) -> BTreeSet<String> {
    let source = REPLIES.iter().fold(source.to_owned(), |source, (call, outcome)| {
        source.replace(call, outcome)
    });
    let Parts { main, functions } = parts(&source);
    let mut found = refusals(&main);
    let (mut open, mut known) = (vec![(None, &main)], BTreeSet::from(OF_ADMISSION.map(str::to_owned)));
    while let Some((alias, text)) = open.pop() {
        for name in calls(text, alias).filter(|name| functions.contains_key(name)) {
            if known.insert(name.clone()) {
                let (name, text) = functions.get_key_value(&name).expect("it is there");
                // A closed team can be read, left and removed.
                let is_open_to_closed = name == "Team.enter" && main.contains("enter(call, false");
                let of_it = refusals(text).into_iter();
                found.extend(of_it.filter(|code| !is_open_to_closed || code != "REFUSED TEAM_CLOSED"));
                open.push((name.split_once('.').map(|(alias, _)| alias), text));
            }
        }
    }
    let reached = functions
        .iter()
        .filter(|(name, _)| !OF_ADMISSION.contains(&name.as_str()) && known.contains(*name));
    let texts = reached.map(|(_, text)| text).chain([&main]);
    for answer in texts.flat_map(|text| text.split("return {").skip(1)) {
        let first = answer.trim_start().split(',').next().unwrap_or_default();
        let function = first.strip_suffix("(call)").and_then(|name| functions.get(name));
        match function {
            // The values that this function returns.
            Some(text) => {
                let returned = text.lines().filter_map(|line| line.split_once("return "));
                found.extend(returned.flat_map(|(_, rest)| outcome_words(rest)).map(str::to_owned));
            }
            None => found.extend(outcome_words(first).map(str::to_owned)),
        }
    }
    found.remove("REFUSED");
    // A denial of load_team(), as those of the admission are.
    found.remove("ASK_TEAM");
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_outcome_of_every_script_of_teams_is_in_a_scenario() {
    coord_extensions::register_state();
    let of_teams = |source: &str| source.contains("function Team.load_team(");
    let scripts: Vec<_> = state::scripts().filter(|script| of_teams(script.source())).collect();
    let mut expected = Outcomes::new();
    for script in &scripts {
        let possible = possible(script.source());
        assert!(
            possible.iter().any(|outcome| !outcome.starts_with("REFUSED")),
            "{}: {possible:?}",
            script.name
        );
        expected.extend(possible.into_iter().map(|outcome| (script.name, outcome)));
    }
    assert!(expected.len() > 150, "{}", expected.len());

    let mut met = Outcomes::new();
    for outcomes in [
        super::bytes::outcomes().await,
        super::claims::outcomes().await,
        super::departures::outcomes().await,
        super::files::outcomes().await,
        super::released_files::outcomes().await,
        super::free_files::outcomes().await,
        super::expiries::outcomes().await,
        super::membership::outcomes().await,
        super::messages::outcomes().await,
        super::policy::outcomes().await,
        super::refusals::outcomes().await,
        super::task_lists::outcomes().await,
        super::tasks::outcomes().await,
        super::waiting::outcomes().await,
    ] {
        met.extend(outcomes);
    }
    met.retain(|(name, outcome)| outcome != "ASK_TEAM" && scripts.iter().any(|script| script.name == *name));
    let list = |some: &mut dyn Iterator<Item = &(&'static str, String)>| -> Vec<String> {
        some.map(|(script, outcome)| format!("{script}: {outcome}")).collect()
    };
    let untested = list(&mut expected.difference(&met));
    assert!(untested.is_empty(), "in no scenario: {untested:#?}");
    let unread = list(&mut met.difference(&expected));
    assert!(unread.is_empty(), "not found in the text of the scripts: {unread:#?}");
}

#[test]
fn outcomes_are_read_from_the_text_of_a_script() {
    let source = "
modules['teams/team'] = (function()
local Team = {}
function Team.refuse(call, code)
  return { 'REFUSED', code }
end
local function inner(call, x)
  return Team.refuse(call, x and 'ONE' or 'TWO', x)
end
function Team.outer(call)
  if true then
    return inner(call, 1)
  end
end
function Team.settled(call)
  return x == 'y' and 'OPEN' or 'CLOSED'
end
function Team.unused(call)
  return Team.refuse(call, 'NEVER')
end
return Team
end)()
return (function()
local Team = require('teams/team')
-- Team.refuse(call, 'IN_A_COMMENT')
return function(KEYS, ARGV)
  local call = {}
  local refusal = Team.outer(call)
  if refusal then
    return Team.reply(call, Team.settled(call), {})
  end
  return Team.reply(call, 'DONE', {
    x = redis.call('HGET', call.keys.x),
  })
end
end)()(KEYS, ARGV)
";
    let expected = ["CLOSED", "DONE", "OPEN", "REFUSED ONE", "REFUSED TWO"];
    assert_eq!(possible(source).into_iter().collect::<Vec<_>>(), expected);
}
