//! The command line.

use std::fmt::Write;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use coord_serve::ServeArgs;
use coord_settings::variables::{self, Reader};

use crate::commands::Command;

/// Coordinates coding agents in one repository: locks on files, an import graph, and one command for each agent's next
/// step.
#[derive(Debug, Parser)]
#[command(name = "coord", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// The command; `serve` by default.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// The commands in the order in which people need them. A build may lack those of the extensions.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Every day",
        &[
            "init", "demo", "simulate", "status", "log", "check", "claim", "wait", "release", "doctor",
        ],
    ),
    ("Teams", &["team", "task", "message"]),
    ("Intents", &["intent", "map", "why", "verify", "ledger", "sync"]),
    (
        "Operate",
        &[
            "serve",
            "store",
            "policy",
            "graph",
            "trust",
            "completions",
            "man",
            "mcp",
            "hook",
            "guard",
        ],
    ),
];

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} coord [COMMAND]{after-help}";

const SHORT_END: &str = "\
Without a command, coord serves the repository of the current folder.
`coord COMMAND --help` has the options, `coord --help` examples and variables.";

const LONG_END: &str = "\
Begin:
  coord demo                 the page with four agents at work
  coord init                 configure the agents of this repository
  coord simulate             see their hooks deny an edit
  coord status --watch       who holds what, live

Without a command, coord serves the repository of the current folder; options and
variables of the server: `coord serve --help`. `-V` prints the version.

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.
";

/// The whole command line, with its commands in groups.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let groups = list_commands(&command);
    let long = format!("{groups}{LONG_END}\n{}", variables::help(Reader::Agent));
    command
        .help_template(TEMPLATE)
        .after_help(format!("{groups}{SHORT_END}"))
        .after_long_help(long)
}

/// The commands that this build has, in their groups, with a line for each.
fn list_commands(command: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let commands = names
            .iter()
            .filter_map(|name| Some((name, command.find_subcommand(name)?)));
        let mut commands = commands.peekable();
        if commands.peek().is_none() {
            // This build lacks the extension.
            continue;
        }
        // Writing to a String never fails.
        let _ = writeln!(text, "{heading}:");
        for (name, command) in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:11}  {about}");
        }
        text.push('\n');
    }
    text
}

/// Parses the arguments. If they ask for help or cannot be parsed, the process exits.
pub fn parse() -> Cli {
    let matches = command()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match matches {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => exit_with_error(&error),
        Err(help) => help.exit(),
    }
}

/// Prints the error in the style of all errors, and exits.
fn exit_with_error(error: &clap::Error) -> ! {
    // Clap would show an argument that a variable such as COORD_AGENT provides as if it had to be typed.
    let typed_error = without_variables(command()).try_get_matches().err();
    let typed_error = typed_error.filter(|typed| typed.use_stderr() && typed.kind() == error.kind());
    let error = typed_error.as_ref().unwrap_or(error);
    let text = error.render().ansi().to_string();
    let text = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => text,
        _ => text.replacen("error:", "coord:", 1),
    };
    let _ = std::io::Write::write_all(&mut anstream::stderr(), text.as_bytes());
    std::process::exit(error.exit_code())
}

fn without_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| argument.env(None));
    command.mut_subcommands(without_variables)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Cli::command();
        let all: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), unique.len());
        let is_whole = cfg!(all(feature = "intents", feature = "teams"));
        assert!(
            if is_whole {
                unique == all
            } else {
                unique.is_superset(&all)
            },
            "{all:?}"
        );
    }

    #[test]
    fn the_short_help_fits_a_screen_and_has_no_variables() {
        let text = command().term_width(80).render_help().to_string();
        if cfg!(all(feature = "intents", feature = "teams")) {
            insta::assert_snapshot!(text);
        }
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let long = command().render_long_help().to_string();
        assert!(
            long.contains("COORD_AGENT") && !long.contains("COORD_JWT_SECRET"),
            "{long}"
        );
    }

    #[test]
    fn the_help_of_a_claim_is_one_screen() {
        let mut command = command();
        let claim = command.find_subcommand_mut("claim").expect("a command");
        let text = claim.clone().term_width(80).render_help().to_string();
        let lines = text.lines().count();
        assert!((24..=40).contains(&lines), "{lines} lines:\n{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
