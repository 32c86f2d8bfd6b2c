//! Walks through a command: which programs run with which words, in which folder.

use std::io::Cursor;
use std::path::Path;

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, IoFileRedirectKind as Kind,
    IoFileRedirectTarget as Target, IoRedirect, Pipeline, SimpleCommand, Word,
};
use brush_parser::{Parser, ParserOptions};

use super::effects::Effects;
use super::shell_state::ShellState;
use super::{programs, words};

/// Maximum depth of parsed commands within commands (`bash -c`).
const MAX_DEPTH: usize = 4;

struct Walk {
    state: ShellState,
    depth: usize,
}

pub(super) fn effects(command: &str, folder: &Path) -> Effects {
    let mut walk = Walk {
        state: ShellState {
            folder: Some(folder.to_owned()),
            ..ShellState::default()
        },
        depth: 0,
    };
    walk.text(command);
    walk.state.effects
}

impl Walk {
    /// A whole command line.
    fn text(&mut self, command: &str) {
        if self.depth >= MAX_DEPTH {
            self.state.effects.changes = true;
            return;
        }
        self.depth += 1;
        let mut parser = Parser::new(Cursor::new(command.as_bytes()), &ParserOptions::default());
        match parser.parse_program() {
            Ok(program) => program.complete_commands.iter().for_each(|list| self.list(list)),
            Err(_) => self.state.effects.changes = true,
        }
        self.depth -= 1;
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.pipeline(&item.0.first);
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline);
            }
        }
    }

    /// A list whose changes of the folder do not last.
    fn subshell(&mut self, list: &CompoundList) {
        let folder = self.state.folder.clone();
        self.list(list);
        self.state.folder = folder;
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        let redirects = match command {
            Command::Simple(command) => return self.simple(command),
            // The body of a function runs where it is called, perhaps never.
            Command::Function(_) => return self.state.effects.changes = true,
            Command::Compound(command, redirects) => {
                self.compound(command);
                redirects
            }
            Command::ExtendedTest(_, redirects) => redirects,
        };
        for redirect in redirects.iter().flat_map(|redirects| &redirects.0) {
            self.redirect(redirect);
        }
    }

    fn compound(&mut self, command: &CompoundCommand) {
        match command {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.subshell(&subshell.list),
            CompoundCommand::ForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for branch in clause.elses.iter().flatten() {
                    if let Some(condition) = &branch.condition {
                        self.list(condition);
                    }
                    self.list(&branch.body);
                }
            }
            CompoundCommand::CaseClause(clause) => {
                for case in &clause.cases {
                    if let Some(list) = &case.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
            CompoundCommand::Arithmetic(_) => {}
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let mut arguments: Vec<&Word> = command.word_or_name.iter().collect();
        let mut text = None;
        let before = command.prefix.iter().flat_map(|prefix| &prefix.0);
        let after = command.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in before.chain(after) {
            match item {
                Item::IoRedirect(IoRedirect::HereDocument(_, document)) => text = Some(document.doc.value.clone()),
                Item::IoRedirect(redirect) => self.redirect(redirect),
                Item::Word(word) => arguments.push(word),
                // An argument such as `of=FILE`. Before the program's name, it sets a variable.
                Item::AssignmentWord(_, word) if !arguments.is_empty() => arguments.push(word),
                Item::AssignmentWord(..) => {}
                Item::ProcessSubstitution(_, subshell) => self.subshell(&subshell.list),
            }
        }
        // A substitution is a separate command.
        let has_substitution = |word: &&Word| word.value.contains("$(") || word.value.contains('`');
        self.state.effects.changes |= arguments.iter().any(has_substitution);
        let arguments: Vec<Option<String>> = arguments.into_iter().map(words::plain).collect();
        programs::run(&mut self.state, &arguments, text.as_deref());
        for command in std::mem::take(&mut self.state.nested) {
            let folder = self.state.folder.clone();
            self.text(&command);
            self.state.folder = folder;
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, Kind::Read, Target::Filename(word)) => {
                if let Some(path) = words::plain(word) {
                    self.state.reads(&path);
                }
            }
            IoRedirect::File(
                _,
                Kind::Write | Kind::Append | Kind::Clobber | Kind::ReadAndWrite,
                Target::Filename(word),
            )
            | IoRedirect::OutputAndError(word, _) => match words::plain(word) {
                Some(path) => self.state.writes(&path),
                None => self.state.effects.changes = true,
            },
            // `>&FILE`
            IoRedirect::File(_, Kind::DuplicateOutput, Target::Duplicate(word)) => {
                let is_number = |path: &String| path.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
                match words::plain(word) {
                    Some(path) if is_number(&path) => {}
                    Some(path) => self.state.writes(&path),
                    None => self.state.effects.changes = true,
                }
            }
            // `> >(tee FILE)`, `< <(COMMAND)`
            IoRedirect::File(_, _, Target::ProcessSubstitution(_, subshell)) => self.subshell(&subshell.list),
            _ => {}
        }
    }
}
