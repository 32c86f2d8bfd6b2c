//! Acts on intents and locks that are reserved for people. An agent with its person's credential could do them in its
//! shell; the hook refuses those that it detects.

/// Reserved commands of `coord intent`, each with the options that make it reserved. Without options, it always is.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("unblock", &[]),
    ("allow", &[]),
    ("take-over", &[]),
    ("take_over", &[]),
    ("complete", &["--force"]),
    (
        "edit",
        &[
            "--max-turns",
            "--max-tokens",
            "--no-max-turns",
            "--no-max-tokens",
            "--budget",
        ],
    ),
];

/// The ends of the paths of reserved requests, below `/api/intents/ID`.
const PATHS: [&str; 3] = ["/unblock", "/allow", "/take_over"];

/// The reserved act of `coord WORDS`.
pub(super) fn find_in_words(words: &[Option<String>]) -> Option<String> {
    let words: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
    if words.contains(&"release") && words.contains(&"--force") {
        return Some("coord release --force".to_owned());
    }
    if words.contains(&"trust") {
        return Some("coord trust".to_owned());
    }
    let intent = words.iter().position(|word| *word == "intent")?;
    let rest = &words[intent + 1..];
    let command = rest.iter().find(|word| !word.starts_with('-'))?;
    let (name, options) = COMMANDS.iter().find(|(name, _)| name == command)?;
    let is_option = |word: &&str| options.iter().any(|option| word.split('=').next() == Some(option));
    (options.is_empty() || rest.iter().any(is_option)).then(|| format!("coord intent {name}"))
}

/// The reserved act of a request in `command`, whatever program sends it.
pub(super) fn find_in_text(command: &str) -> Option<String> {
    if command.contains("api/post_status") && command.contains("\"force\"") {
        return Some("POST /api/post_status with \"force\"".to_owned());
    }
    let mut requests = command.split("api/intents/").skip(1);
    let act = requests.find_map(|request| {
        let path = request
            .split(['"', '\'', ' ', '?', '\n', ')', ';'])
            .next()
            .unwrap_or_default()
            .trim_end_matches('/');
        let act = PATHS.into_iter().find(|act| path.ends_with(act));
        let is_forced = path.ends_with("/complete") && command.contains("force");
        act.or(is_forced.then_some("/complete"))
    })?;
    Some(format!("POST /api/intents/ID{act}"))
}
