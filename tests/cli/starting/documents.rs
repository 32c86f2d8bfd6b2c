//! Commands and settings that the documents tell people to paste do as they say.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::starting::references::ROOT;
use crate::starting::{Running, get, serve_with};
use coord_test_support::skipping::skip;
use coord_test_support::waiting::block_until;

fn document(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).expect("a document")
}

/// The part of a document from one heading to the next of its kind.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(heading).unwrap_or_else(|| panic!("no {heading}"));
    let marks = heading.split(' ').next().expect("marks");
    let rest = &text[start + heading.len()..];
    rest.split(&format!("\n{marks} ")).next().expect("text")
}

/// The fenced blocks of a text: language and content.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').expect("a block")).collect()
}

fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// A shell into which text is pasted.
struct Shell {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start() -> Shell {
        let coord = Path::new(crate::COORD).parent().expect("its folder");
        let path = format!("{}:{}", coord.display(), std::env::var("PATH").expect("a path"));
        let mut process = Command::new("bash")
            .current_dir(ROOT)
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let mut shell = Shell { process, input, output };
        // When the test ends, however it does, the input ends, and with it the server.
        shell.paste("trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT");
        shell
    }

    /// Runs a block, and returns the lines that it has written.
    fn paste(&mut self, block: &str) -> Vec<String> {
        const END: &str = "--- the end of a block";
        let input = self.input.as_mut().expect("an input");
        writeln!(input, "{block}\necho '{END}'").expect("pasted");
        let lines = self.output.by_ref_lines().take_while(|line| line != END);
        lines.collect()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

/// Lines of a reader that is kept.
trait Lines {
    fn by_ref_lines(&mut self) -> impl Iterator<Item = String>;
}

impl Lines for BufReader<ChildStdout> {
    fn by_ref_lines(&mut self) -> impl Iterator<Item = String> {
        std::iter::from_fn(|| {
            let mut line = String::new();
            let length = self.read_line(&mut line).expect("text");
            (length > 0).then(|| line.trim_end_matches('\n').to_owned())
        })
    }
}

/// Whether all that `shown` has is in `answer` too: a document shortens.
fn is_part(shown: &Value, answer: &Value) -> bool {
    match (shown, answer) {
        (Value::Object(shown), Value::Object(answer)) => shown
            .iter()
            .all(|(name, value)| answer.get(name).is_some_and(|found| is_part(value, found))),
        _ => shown == answer,
    }
}

#[test]
fn the_readme_requires_an_agent_id_before_its_first_section() {
    let readme = document("README.md");
    let place = |text: &str| readme.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("**Give every agent its own `agent_id`.**") < place("\n## "));
    assert!(place("treats them as one and lets both write") < place("\n```"));
}

/// Stand-ins for programs that a test cannot run: those that build, ask, or need an account. They print their
/// arguments.
const STAND_INS: &str = r#"
ending() { timeout --signal=INT 5 "$@"; [ $? = 124 ]; }
cargo() {
    case "$*" in
        run) CARGO=cargo ending coord serve --port 0 ;;
        'run demo') ending coord demo --port 0 ;;
        *) echo "cargo $*" ;;
    esac
}
coord() {
    case "$*" in
        init) command coord init claude-code --yes --no-check ;;
        *) command coord "$@" ;;
    esac
}
claude() { echo "claude $*"; }
npm() { echo "npm $*"; }
vercel() { echo "vercel $*"; }
gh() { echo a-token; }
"#;

#[test]
fn each_block_of_the_readme_can_be_pasted() {
    for program in ["bash", "openssl", "timeout"] {
        if !is_installed(program) {
            return skip(&format!("{program} is not installed"));
        }
    }
    let readme = document("README.md");
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display();
    let mut shell = Shell::start();
    shell.paste(&format!(
        "sh docs/shop.sh {place}/shop && cd {place}/shop/ada && mkdir {place}/tmp {place}/home"
    ));
    shell.paste(&format!(
        "export TMPDIR={place}/tmp HOME={place}/home XDG_STATE_HOME={place}/home/state"
    ));
    shell.paste(STAND_INS);
    let mut printed = String::new();
    let mut lines = Vec::new();
    for (language, block) in blocks(&readme) {
        if language == "sh" {
            printed = shell.paste(&format!("{block}\necho \"ended $?\"")).join("\n");
            assert!(printed.ends_with("ended 0"), "{block}: {printed}");
            lines.push(printed.clone());
        } else if printed.contains("Hooks of claude-code") {
            // Times are rounded up.
            let printed = std::mem::take(&mut printed).replace("301 s", "300 s");
            assert!(printed.contains(block), "shown:\n{block}\nprinted:\n{printed}");
        }
    }
    for (number, wanted) in [
        "To see the page with agents at work, run `cargo run demo`.",
        "Four agents are at work",
        "cargo install --locked --path cli",
        "To undo: `coord init --undo`.",
        "No agent overwrote another.",
        "claude mcp add --transport http coord http://localhost:3000/api/mcp",
        "npm install --global vercel@60.1.3\nvercel link\nvercel install upstash\nvercel env add CRON_SECRET production --sensitive\nvercel env add GITHUB_TOKEN production --sensitive\nvercel env add COORD_REPOSITORIES production\nvercel deploy --prod",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(lines[number].contains(wanted), "{wanted}: {}", lines[number]);
    }
    assert_eq!(lines.len(), 7, "each block has what it says");
    assert!(folder.path().join("shop/ada/.claude/settings.json").exists());
    let left: Vec<_> = std::fs::read_dir(folder.path().join("tmp"))
        .expect("a folder")
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Pastes the blocks of a section, and returns how many answers in JSON are as shown. The server of the section is at `port`.
fn paste_requests(shell: &mut Shell, section: &str, port: u16) -> usize {
    let mut printed = Vec::new();
    let mut compared = 0;
    for (language, text) in blocks(section) {
        if language == "sh" {
            printed = shell.paste(text);
            if text.contains("coord serve") {
                has_graph(port);
            }
            continue;
        }
        let shown: Value = serde_json::from_str(text).expect("JSON in the document");
        let answer = printed
            .iter()
            .rev()
            .find(|line| line.starts_with('{'))
            .expect("an answer");
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        assert!(is_part(&shown, &answer), "shown: {shown:#}\nanswered: {answer:#}");
        compared += 1;
    }
    compared
}

/// The commands of a recorded terminal, and what each prints.
fn commands(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("no command before {line:?}"),
        }
    }
    commands
}

/// Pastes the commands of a section one by one, and returns how many print what is shown.
fn paste_commands(shell: &mut Shell, section: &str) -> usize {
    let mut compared = 0;
    for (language, text) in blocks(section) {
        if language == "sh" {
            shell.paste(text);
            continue;
        }
        for (command, shown) in commands(text) {
            let mut printed = shell.paste(command);
            // The graph is built meanwhile, sooner or later.
            printed.retain(|line| !line.starts_with("GRAPH_MISSING: "));
            assert_eq!(printed, shown, "{command}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn the_sessions_can_be_pasted_one_after_another_and_answer_what_is_shown() {
    for program in ["bash", "curl"] {
        if !is_installed(program) {
            return skip(&format!("{program} is not installed"));
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port();
    let mut shell = Shell::start();
    // Servers of other clones of the same repository are listed in the user's own folder.
    let state = tempfile::tempdir().expect("a folder");
    shell.paste(&format!("export XDG_STATE_HOME={}", state.path().display()));
    let login = format!("({})", shell.paste("id -un").concat());
    let sessions = document("examples/sessions.md")
        .replace("/tmp/shop", &folder.path().join("shop").display().to_string())
        .replace("3030", &port.to_string())
        .replace("(ada)", &login);
    let compared = paste_requests(&mut shell, section(&sessions, "## Two agents, by HTTP"), port);
    assert!(compared >= 5, "{compared} answers");
    for (heading, at_least) in [
        ("## Two worktrees, two branches", 7),
        ("## A team with tasks and messages", 10),
        ("## An intent: scope, budget, proof", 10),
    ] {
        // The server of the session before notices that its repository is gone within a second.
        shell.paste("sleep 2");
        let compared = paste_commands(&mut shell, section(&sessions, heading));
        assert!(compared >= at_least, "{compared} commands under {heading}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert!(left.is_empty(), "the sessions clear away what they have made: {left:?}");
    let here = shell.paste("pwd").concat();
    assert!(Path::new(&here).join("docs/shop.sh").exists(), "{here}");
}

/// Waits until the import graph is there, which a person does not notice.
fn has_graph(port: u16) {
    let (address, path) = (
        format!("127.0.0.1:{port}"),
        "/api/graph?repo_url=https://github.com/acme/shop&branch=main",
    );
    block_until("there is a graph", || {
        get(&address, path, "").is_some_and(|answer| answer.contains(r#""state":"ready""#))
    });
}

#[test]
fn the_text_for_agents_names_fields_and_actions_that_exist() {
    let text = document("docs/guide/join.md");
    let text = blocks(section(&text, "### A text for `AGENTS.md`"));
    let [("markdown", text), ..] = text[..] else {
        panic!("no text: {text:?}");
    };
    let openapi = document("public/openapi.json");
    let is_name = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let fields: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(fields.len() >= 8, "{fields:?}");
    for field in fields {
        assert!(openapi.contains(&format!("\"{field}\":")), "{field}");
    }
    for action in ["PROCEED", "PULL", "PUSH", "WAIT", "SWITCH_TASK", "STOP"] {
        assert!(text.contains(&format!("{action}: ")), "{action}");
        assert!(openapi.contains(&format!("\"{action}\"")), "{action}");
    }
}

#[test]
fn the_lines_that_make_a_token_make_one_that_is_taken() {
    if !is_installed("openssl") {
        return skip("openssl is not installed");
    }
    let secret = ("COORD_JWT_SECRET", "a secret of the test that is long enough");
    let reference = document("docs/reference/settings.md");
    let blocks = blocks(section(&reference, "### Make a token"));
    let [("sh", lines)] = blocks[..] else {
        panic!("{blocks:?}")
    };
    let made = Command::new("sh")
        .args(["-c", lines])
        .env(secret.0, secret.1)
        .output()
        .expect("sh runs");
    let token = String::from_utf8(made.stdout).expect("a token");
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(serve_with(folder.path(), &["--listen", "0.0.0.0:0"], &[secret]));
    let token = token.trim_end();
    for (token, status) in [(token, "HTTP/1.1 20"), (&format!("{token}x"), "HTTP/1.1 401")] {
        let credential = format!("authorization: Bearer {token}\r\n");
        let path = "/api/graph?repo_url=https://github.com/team/project&branch=main";
        let answer = get(&running.address, path, &credential).expect("it listens");
        assert!(answer.starts_with(status), "{answer}");
    }
}
