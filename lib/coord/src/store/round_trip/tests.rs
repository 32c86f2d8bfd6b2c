use std::sync::LazyLock;
use std::time::Duration;

use super::*;

static ONCE: Script = Script {
    name: "once",
    source: "return 1",
    is_repeatable: false,
    sha: LazyLock::new(|| sha1_hex("return 1")),
};
static OFTEN: Script = Script {
    name: "often",
    source: "return 2",
    is_repeatable: true,
    sha: LazyLock::new(|| sha1_hex("return 2")),
};

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
    async fn send(&self, batch: &[Words<'_>], _mode: Mode) -> Result<Vec<Value>, Failure> {
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
    Failure::passing(StoreError::Unreachable("lost".into()))
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
        [[vec!["EVALSHA", ONCE.sha.as_str(), "1", "k", "a"], vec!["GET", "k"]]]
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
    run(&wire, &Dialect::new("#!lua flags=x\n"), &quick(), &[call(&ONCE)])
        .await
        .unwrap();
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
async fn a_lasting_failure_is_not_tried_again() {
    let wire = Scripted::new(vec![Err(Failure::lasting(StoreError::Denied("no".into())))]);
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
async fn an_empty_batch_asks_nothing() {
    let wire = Scripted::new(vec![]);
    assert_eq!(run(&wire, &Dialect::new(""), &quick(), &[]).await.unwrap(), []);
    assert_eq!(run_atomically(&wire, &Dialect::new(""), &[]).await.unwrap(), []);
}

#[tokio::test]
async fn a_transaction_carries_its_scripts_as_text() {
    let wire = Scripted::new(vec![Ok(vec![Value::Int(1)])]);
    run_atomically(&wire, &Dialect::new(""), &[call(&ONCE)]).await.unwrap();
    assert_eq!(wire.sent(), [[vec!["EVAL", "return 1", "1", "k", "a"]]]);
}

/// Never replies.
struct Silent;

#[async_trait]
impl RoundTrip for Silent {
    async fn send(&self, _batch: &[Words<'_>], _mode: Mode) -> Result<Vec<Value>, Failure> {
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
