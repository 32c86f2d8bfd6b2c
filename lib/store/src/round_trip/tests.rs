use std::time::Duration;

use super::*;

static ONCE: Script = Script::new("once", "return 1", false, None);
static OFTEN: Script = Script::new("often", "return 2", true, None);

/// Replies from a list, and records its requests.
struct Scripted {
    answers: Mutex<Vec<Result<Vec<Value>, Failure>>>,
    sent: Mutex<Vec<Vec<Vec<String>>>>,
}

impl Scripted {
    fn new(mut answers: Vec<Result<Vec<Value>, Failure>>) -> Self {
        answers.reverse();
        Scripted {
            answers: Mutex::new(answers),
            sent: Mutex::default(),
        }
    }

    fn sent(&self) -> Vec<Vec<Vec<String>>> {
        self.sent.lock().unwrap().clone()
    }
}

#[async_trait]
impl RoundTrip for Scripted {
    async fn send(&self, batch: &[Words<'_>]) -> Result<Vec<Value>, Failure> {
        let plain = batch
            .iter()
            .map(|words| {
                words
                    .iter()
                    .map(|word| String::from_utf8_lossy(word).into_owned())
                    .collect()
            })
            .collect();
        self.sent.lock().unwrap().push(plain);
        self.answers.lock().unwrap().pop().expect("an answer is left")
    }
}

fn call(script: &'static Script) -> Request {
    Request::Script {
        script,
        keys: vec!["k".into()],
        args: vec![b"a".to_vec()],
    }
}

fn quick() -> Limits {
    Limits {
        pauses: vec![Duration::from_millis(1), Duration::from_millis(1)],
        ..Limits::default()
    }
}

fn lost() -> Failure {
    Failure::transient(StoreError::Unreachable("lost".into()))
}

fn no_script() -> Value {
    Value::Error("NOSCRIPT No matching script. Please use EVAL.".into())
}

#[tokio::test]
async fn a_batch_is_one_round_trip_with_scripts_by_their_sha() {
    let wire = Scripted::new(vec![Ok(vec![Value::Int(1), Value::Nil])]);
    let batch = [call(&ONCE), Request::command(["GET", "k"])];
    let replies = run(&wire, &Dialect::new(""), &quick(), &batch).await.unwrap();
    assert_eq!(replies, [Value::Int(1), Value::Nil]);
    assert_eq!(
        wire.sent(),
        [[vec!["EVALSHA", ONCE.sha(), "1", "k", "a"], vec!["GET", "k"]]]
    );
}

#[tokio::test]
async fn only_the_scripts_that_are_unknown_are_sent_again_with_their_text_in_one_further_round_trip() {
    let first = vec![no_script(), Value::Int(7), no_script()];
    let wire = Scripted::new(vec![Ok(first), Ok(vec![Value::Int(1), Value::Int(2)])]);
    let batch = [call(&ONCE), Request::command(["HLEN", "k"]), call(&OFTEN)];
    let replies = run(&wire, &Dialect::new(""), &quick(), &batch).await.unwrap();
    assert_eq!(replies, [Value::Int(1), Value::Int(7), Value::Int(2)]);
    let again = [
        vec!["EVAL", "return 1", "1", "k", "a"],
        vec!["EVAL", "return 2", "1", "k", "a"],
    ];
    assert_eq!(wire.sent()[1], again);
    assert_eq!(wire.sent().len(), 2);
}

#[tokio::test]
async fn a_first_line_goes_before_the_text_and_into_the_sha() {
    let wire = Scripted::new(vec![Ok(vec![no_script()]), Ok(vec![Value::Int(1)])]);
    run(&wire, &Dialect::new("x"), &quick(), &[call(&ONCE)]).await.unwrap();
    assert_eq!(wire.sent()[0][0][1], sha1_hex("#!lua flags=x\nreturn 1"));
    assert_eq!(wire.sent()[1][0][1], "#!lua flags=x\nreturn 1");
}

#[tokio::test]
async fn a_batch_that_may_be_repeated_is_tried_again_after_a_passing_failure_and_no_more_often_than_allowed() {
    let wire = Scripted::new(vec![Err(lost()), Err(lost()), Ok(vec![Value::Int(2)])]);
    assert_eq!(
        run(&wire, &Dialect::new(""), &quick(), &[call(&OFTEN)]).await.unwrap(),
        [Value::Int(2)]
    );
    let wire = Scripted::new(vec![Err(lost()), Err(lost()), Err(lost())]);
    let failure = run(&wire, &Dialect::new(""), &quick(), &[call(&OFTEN)])
        .await
        .unwrap_err();
    assert!(matches!(failure, StoreError::Unreachable(_)), "{failure:?}");
    assert_eq!(wire.sent().len(), 3);
}

#[tokio::test]
async fn one_request_that_may_not_be_repeated_keeps_the_whole_batch_from_being_tried_again() {
    let wire = Scripted::new(vec![Err(lost())]);
    let batch = [call(&OFTEN), call(&ONCE)];
    assert!(run(&wire, &Dialect::new(""), &quick(), &batch).await.is_err());
    assert_eq!(wire.sent().len(), 1);
}

#[tokio::test]
async fn a_permanent_failure_is_not_tried_again() {
    let wire = Scripted::new(vec![Err(Failure::permanent(StoreError::Denied("no".into())))]);
    let failure = run(&wire, &Dialect::new(""), &quick(), &[call(&OFTEN)])
        .await
        .unwrap_err();
    assert!(matches!(failure, StoreError::Denied(_)), "{failure:?}");
}

#[tokio::test]
async fn a_wrong_number_of_replies_is_no_answer() {
    let wire = Scripted::new(vec![Ok(vec![Value::Nil, Value::Nil])]);
    let failure = run(&wire, &Dialect::new(""), &quick(), &[call(&OFTEN)])
        .await
        .unwrap_err();
    assert!(matches!(failure, StoreError::Malformed(_)), "{failure:?}");
}

#[tokio::test]
async fn an_empty_batch_sends_nothing() {
    let wire = Scripted::new(vec![]);
    assert_eq!(run(&wire, &Dialect::new(""), &quick(), &[]).await.unwrap(), []);
}

/// Never replies.
struct Silent;

#[async_trait]
impl RoundTrip for Silent {
    async fn send(&self, _batch: &[Words<'_>]) -> Result<Vec<Value>, Failure> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_call_ends_within_its_limit_whatever_the_connection_does() {
    let limits = Limits {
        call: Duration::from_millis(20),
        ..quick()
    };
    let failure = run(&Silent, &Dialect::new(""), &limits, &[call(&OFTEN)])
        .await
        .unwrap_err();
    assert!(
        matches!(failure, StoreError::Timeout(limit) if limit == limits.call),
        "{failure:?}"
    );
}

static LIBRARY: Library = Library::new("lib", "0123456789abcdef", "register('called', function() return 3 end)");
static CALLED: Script = Script::new("called", "return 3", false, Some(&LIBRARY));
const FUNCTION: &str = "lib_0123456789abcdef_called";

fn error(text: &str) -> Value {
    Value::Error(text.into())
}

fn not_found() -> Value {
    error("ERR Function not found")
}

/// A dialect whose library was noted today.
fn noted(flag: &'static str) -> Dialect {
    let dialect = Dialect::new(flag);
    assert!(dialect.functions.due_usage_command(|| "lib".to_owned()).is_some());
    dialect
}

/// The name of each command of each round trip.
fn names(wire: &Scripted) -> Vec<Vec<String>> {
    let first = |batch: &Vec<Vec<String>>| batch.iter().map(|words| words[0].clone()).collect();
    wire.sent().iter().map(first).collect()
}

#[tokio::test]
async fn a_script_of_a_library_is_called_in_one_round_trip_and_its_library_noted_once() {
    let ok = Value::Status("OK".into());
    let wire = Scripted::new(vec![
        Ok(vec![ok, Value::Int(3), Value::Nil]),
        Ok(vec![Value::Int(3), Value::Nil]),
    ]);
    let dialect = Dialect::new("");
    for _ in 0..2 {
        let batch = [call(&CALLED), Request::command(["GET", "k"])];
        let replies = run(&wire, &dialect, &quick(), &batch).await.unwrap();
        assert_eq!(replies, [Value::Int(3), Value::Nil]);
    }
    let called = [vec!["FCALL", FUNCTION, "1", "k", "a"], vec!["GET", "k"]];
    assert_eq!(
        wire.sent()[0][0],
        ["SET", "coord:library:lib_0123456789abcdef", "", "EX", "691200"]
    );
    assert_eq!(wire.sent()[0][1..], called);
    assert_eq!(wire.sent()[1], called);
}

#[tokio::test]
async fn a_missing_library_is_loaded_before_the_calls_that_missed_it_are_made_again() {
    for loaded in [Value::bulk("lib"), error("ERR Library 'lib' already exists")] {
        let wire = Scripted::new(vec![
            Ok(vec![not_found(), Value::Int(7), not_found()]),
            Ok(vec![loaded]),
            Ok(vec![Value::Int(1), Value::Int(2)]),
        ]);
        let batch = [call(&CALLED), Request::command(["HLEN", "k"]), call(&CALLED)];
        let dialect = noted("x");
        let replies = run(&wire, &dialect, &quick(), &batch).await.unwrap();
        assert_eq!(replies, [Value::Int(1), Value::Int(7), Value::Int(2)]);
        let load = &wire.sent()[1][0];
        assert_eq!(load[..2], ["FUNCTION", "LOAD"]);
        assert!(
            load[2].starts_with("#!lua name=lib_0123456789abcdef_locking\n") && load[2].contains("flags = { 'x' }")
        );
        assert_eq!(wire.sent()[2][0][..2], ["FCALL", "lib_0123456789abcdef_locking_called"]);
        let expected = [&["FCALL", "HLEN", "FCALL"][..], &["FUNCTION"], &["FCALL", "FCALL"]];
        assert_eq!(names(&wire), expected);
    }
}

#[tokio::test]
async fn a_store_without_functions_runs_scripts_from_then_on() {
    for refused in [
        "ERR unknown command 'FCALL', with args beginning with: ",
        "ERR unknown command `FCALL`, with args beginning with: ",
        "NOPERM this user has no permissions to run the 'fcall' command",
        "NOPERM User x has no permissions to run the 'function|load' command",
        "ERR Command is not available: 'FCALL'. See the documentation",
    ] {
        let wire = Scripted::new(vec![
            Ok(vec![error(refused)]),
            Ok(vec![no_script()]),
            Ok(vec![Value::Int(1)]),
            Ok(vec![Value::Int(2)]),
        ]);
        let dialect = noted("");
        for expected in [1, 2] {
            let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
            assert_eq!(replies, [Value::Int(expected)], "{refused}");
        }
        assert_eq!(
            names(&wire),
            [["FCALL"], ["EVALSHA"], ["EVAL"], ["EVALSHA"]],
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_load_that_fails_once_decides_nothing_and_one_that_always_fails_does() {
    let failed = |text: &str| [Ok(vec![not_found()]), Ok(vec![error(text)]), Ok(vec![Value::Int(1)])];
    let passing = "OOM command not allowed when used memory > 'maxmemory'.";
    let dialect = noted("");
    let wire = Scripted::new((0..5).flat_map(|_| failed(passing)).collect());
    for _ in 0..5 {
        let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
        assert_eq!(replies, [Value::Int(1)]);
    }
    assert!(dialect.functions.are_used());
    let lasting = "ERR Error compiling function: it is too long";
    let wire = Scripted::new((0..3).flat_map(|_| failed(lasting)).collect());
    for tries in 0..3 {
        assert!(dialect.functions.are_used(), "after {tries}");
        run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
    }
    assert!(!dialect.functions.are_used());
}

#[tokio::test]
async fn a_function_refused_as_a_write_runs_as_a_script_and_its_own_errors_are_returned() {
    let refused = "READONLY You can not run script with write flag on readonly replica.";
    let wire = Scripted::new(vec![Ok(vec![error(refused)]), Ok(vec![Value::Int(3)])]);
    let dialect = noted("");
    let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
    assert_eq!((replies, dialect.functions.are_used()), (vec![Value::Int(3)], true));
    for own in [
        format!("OOM command not allowed script: {FUNCTION}, on @user_function:3."),
        format!("NOPERM no permissions to run the 'function' command script: {FUNCTION}, on @user_function:3."),
        "WRONGTYPE Operation against a key".to_owned(),
        "NOPERM this user has no permissions to access one of the keys used as arguments".to_owned(),
    ] {
        let wire = Scripted::new(vec![Ok(vec![error(&own)])]);
        let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
        assert_eq!(
            (replies, dialect.functions.are_used()),
            (vec![error(&own)], true),
            "{own}"
        );
    }
}

#[tokio::test]
async fn a_lost_load_is_tried_again_and_the_call_runs_as_a_script_if_it_stays_lost() {
    let wire = Scripted::new(vec![
        Ok(vec![not_found()]),
        Err(lost()),
        Ok(vec![Value::bulk("lib")]),
        Ok(vec![Value::Int(3)]),
    ]);
    let dialect = noted("");
    let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
    assert_eq!(replies, [Value::Int(3)]);
    assert_eq!(names(&wire), [["FCALL"], ["FUNCTION"], ["FUNCTION"], ["FCALL"]]);
    for _ in 0..4 {
        let lost = || Err(lost());
        let wire = Scripted::new(vec![
            Ok(vec![not_found()]),
            lost(),
            lost(),
            lost(),
            Ok(vec![Value::Int(3)]),
        ]);
        let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
        assert_eq!((replies, dialect.functions.are_used()), (vec![Value::Int(3)], true));
    }
}

#[tokio::test]
async fn a_call_that_may_not_be_repeated_is_not_sent_again_after_it_was_lost_behind_a_load() {
    let wire = Scripted::new(vec![Ok(vec![not_found()]), Ok(vec![Value::bulk("lib")]), Err(lost())]);
    let failed = run(&wire, &noted(""), &quick(), &[call(&CALLED)]).await;
    assert!(matches!(failed, Err(StoreError::Unreachable(_))), "{failed:?}");
    assert_eq!(wire.sent().len(), 3);
}

/// A store behind REST refuses a request that is too large as a whole.
#[tokio::test]
async fn a_load_that_is_refused_as_a_whole_leaves_scripts() {
    let dialect = noted("");
    for tries in 0..3 {
        assert!(dialect.functions.are_used(), "after {tries}");
        let refused = Failure::permanent(StoreError::Failed("HTTP 413".into()));
        let wire = Scripted::new(vec![Ok(vec![not_found()]), Err(refused), Ok(vec![Value::Int(3)])]);
        let replies = run(&wire, &dialect, &quick(), &[call(&CALLED)]).await.unwrap();
        assert_eq!(replies, [Value::Int(3)]);
        assert_eq!(names(&wire), [["FCALL"], ["FUNCTION"], ["EVALSHA"]]);
    }
    assert!(!dialect.functions.are_used());
}
