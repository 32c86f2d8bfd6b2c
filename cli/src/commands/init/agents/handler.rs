//! The command of a hook, for each shell that agents run it in, and its behavior on a machine without `coord`.

/// The behavior of a hook if `coord` is not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The hook does nothing: teammates, CI jobs and agents in the cloud work as if there were no hook.
    Guarded,
    /// The hook denies tools that may change something, and says why.
    Strict,
    /// The hook fails. Earlier versions wrote this form; it is recognized, but not written any more.
    Plain,
}

impl Form {
    /// The forms other than this one.
    pub fn others(self) -> impl Iterator<Item = Form> {
        let forms = [Form::Guarded, Form::Strict, Form::Plain];
        forms.into_iter().filter(move |other| *other != self)
    }

    /// The form of the hooks of `agent` in a file. The user's own hooks count as guarded: their behavior is unknown.
    pub fn of(text: &str, agent: &str) -> Form {
        let command = format!("\"coord hook {agent} ");
        let mut events = text.split(&command).skip(1);
        let is_plain = |rest: &str| rest.split('"').next().is_some_and(|event| !event.contains(' '));
        if REQUIRED_MARKS.iter().any(|mark| text.contains(mark)) {
            Form::Strict
        } else if events.any(is_plain) && !text.contains(GUARD) {
            Form::Plain
        } else {
            Form::Guarded
        }
    }
}

/// The message of a strict hook.
const REQUIRED: &str =
    "Coord is not installed on this machine, and this repository requires it for edits: put coord on the PATH";

/// Texts that only files of `coord init --strict` contain: hooks, and the plugin of OpenCode.
pub const REQUIRED_MARKS: [&str; 2] = ["2>&1 || { echo 'Coord is not installed", "const IS_REQUIRED = true;"];

/// Guarded and strict hooks contain this text, plain hooks do not.
const GUARD: &str = "command -v coord";

/// The command of one hook.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The command if `coord` is installed.
    pub command: String,
    /// The behavior if `coord` is not installed.
    pub form: Form,
}

impl Handler {
    /// The command for a Unix shell. The shell becomes the hook, which saves a process.
    pub fn sh(&self) -> String {
        let Handler { command, form } = self;
        match form {
            Form::Guarded => format!("{GUARD} >/dev/null 2>&1 || exit 0; exec {command}"),
            Form::Strict => format!("{GUARD} >/dev/null 2>&1 || {{ echo '{REQUIRED}' >&2; exit 2; }}; exec {command}"),
            Form::Plain => command.clone(),
        }
    }

    /// The command for PowerShell 5.1 and later.
    pub fn powershell(&self) -> String {
        let Handler { command, form } = self;
        const FOUND: &str = "(Get-Command coord -ErrorAction SilentlyContinue)";
        match form {
            Form::Guarded => format!("if {FOUND} {{ {command}; exit $LASTEXITCODE }}"),
            Form::Strict => format!(
                "if {FOUND} {{ {command}; exit $LASTEXITCODE }}; [Console]::Error.WriteLine('{REQUIRED}'); exit 2"
            ),
            Form::Plain => command.clone(),
        }
    }

    /// The command for agents whose configuration has one command for all systems, and that run it with PowerShell on
    /// Windows. For a Unix shell, the text after `#>` is a comment; for PowerShell, the text between `<#` and `#>`.
    pub fn any_shell(&self) -> String {
        match self.form {
            Form::Plain => self.command.clone(),
            _ => format!(
                "echo `# <#` >/dev/null; {} #> > $null; {}",
                self.sh(),
                self.powershell()
            ),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Output};

    use super::*;

    fn run(command: &str, bin: &Path) -> Output {
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).env("PATH", path).output().unwrap()
    }

    fn commands(form: Form) -> [String; 2] {
        let handler = Handler {
            command: "coord hook a b".to_owned(),
            form,
        };
        [handler.sh(), handler.any_shell()]
    }

    #[test]
    fn a_hook_without_coord_prints_nothing_or_denies_with_a_sentence() {
        let empty = tempfile::tempdir().unwrap();
        for command in commands(Form::Guarded) {
            let output = run(&command, empty.path());
            assert_eq!(
                (output.status.code(), output.stdout, output.stderr),
                (Some(0), vec![], vec![]),
                "{command}"
            );
        }
        for command in commands(Form::Strict) {
            let output = run(&command, empty.path());
            assert_eq!(output.status.code(), Some(2), "{command}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), format!("{REQUIRED}\n"));
            assert!(output.stdout.is_empty());
        }
    }

    #[test]
    fn a_strict_hook_is_recognized_by_its_mark() {
        for (form, is_strict) in [(Form::Guarded, false), (Form::Strict, true)] {
            let has_mark = |text: String| text.contains(REQUIRED_MARKS[0]);
            assert_eq!(commands(form).map(has_mark), [is_strict; 2]);
        }
    }

    #[test]
    fn a_hook_with_coord_passes_on_its_output_and_exit_status() {
        let bin = tempfile::tempdir().unwrap();
        let program = bin.path().join("coord");
        fs::write(&program, "#!/bin/sh\necho \"$@\"\necho aside >&2\nexit 2\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for form in [Form::Guarded, Form::Strict] {
            for command in commands(form) {
                let output = run(&command, bin.path());
                assert_eq!(output.status.code(), Some(2), "{command}");
                assert_eq!(output.stdout, b"hook a b\n");
                assert_eq!(output.stderr, b"aside\n");
            }
        }
    }
}
