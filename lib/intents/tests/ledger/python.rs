//! The verifier in Python, which shares nothing with Coord but the format.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex};

use coord_intents::ledger::Expectations;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ledger/verify.py");

/// Runs the program again and again, once for each line of arguments: starting Python takes longer than any of it.
const LOOP: &str = r#"
import contextlib, io, json, sys
program = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
for line in sys.stdin:
    sys.argv, said = json.loads(line), io.StringIO()
    try:
        with contextlib.redirect_stdout(said): exec(program, {})
        answer = said.getvalue()
    except SystemExit as end: answer = end.code
    print(json.dumps(answer), flush=True)
"#;

struct Python {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Ends with this program, which closes its input.
static PYTHON: LazyLock<Option<Mutex<Python>>> = LazyLock::new(|| {
    let mut command = Command::new("python3");
    command
        .args(["-c", LOOP, PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut process = command.spawn().ok()?;
    let (input, output) = (process.stdin.take()?, BufReader::new(process.stdout.take()?));
    Some(Mutex::new(Python { process, input, output }))
});

/// Its verdict: the last point, or the first wrong line. `None` where there is no Python, which is a skipped test.
pub fn verdict(ledger: &[u8], expected: &Expectations) -> Option<Result<String, u64>> {
    let Some(python) = &*PYTHON else {
        coord_test_support::skipping::skip("python3 is not installed");
        return None;
    };
    let mut python = python.lock().unwrap();
    let file = format!("{}/ledger-{}.jsonl", env!("CARGO_TARGET_TMPDIR"), python.process.id());
    std::fs::write(&file, ledger).unwrap();
    let mut arguments = vec![PROGRAM.to_owned(), expected.repository.clone(), file.clone()];
    arguments.extend(expected.base.iter().map(ToString::to_string));
    arguments.extend(expected.anchors.iter().map(|anchor| anchor.point.to_string()));
    writeln!(python.input, "{}", serde_json::to_string(&arguments).unwrap()).unwrap();
    let mut answer = String::new();
    python.output.read_line(&mut answer).unwrap();
    std::fs::remove_file(file).unwrap();
    let verdict: String =
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("python3 said {answer:?}: {error}"));
    Some(
        match verdict.strip_prefix("line ").and_then(|rest| rest.split_once(':')) {
            Some((line, _)) => Err(line.parse().unwrap()),
            None => Ok(verdict.trim().to_owned()),
        },
    )
}
