//! Scripts as functions of a library: loaded where it is missing, by several versions at once, and run as scripts where the store
//! has no functions.

use std::sync::Arc;

use coord_state::libraries::library;
use coord_store::redis::RedisStore;
use coord_store::{Request, Script, Store, Value};
use coord_test_support::log::Log;
use coord_test_support::real_redis::RealRedis;
use coord_test_support::upstash;

use crate::upstash::scripts::{ADD, ADD_MORE, OLD, SHOW, ask, call, calls, connect};

async fn run(store: &dyn Store, script: &'static Script, argument: &str) -> Value {
    let batch = vec![call(script, "n", argument.as_bytes())];
    store.run(batch).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_library_is_loaded_once_and_again_where_it_is_gone() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    let batch = vec![
        call(&ADD, "n", b"2"),
        Request::command(["GET", "other"]),
        call(&ADD, "n", b"3"),
    ];
    assert_eq!(
        store.run(batch).await.unwrap(),
        [Value::Int(2), Value::Nil, Value::Int(5)]
    );
    assert_eq!(run(&store, &ADD, "1").await, Value::Int(6));
    assert_eq!(run(&connect(&server), &ADD, "1").await, Value::Int(7));
    assert_eq!(calls(&store, "function|load").await, 1);
    assert_eq!(ask(&store, ["FUNCTION", "FLUSH"]).await, Value::Status("OK".into()));
    assert_eq!(run(&store, &ADD, "1").await, Value::Int(8));
    assert_eq!(
        (calls(&store, "function|load").await, calls(&store, "evalsha").await),
        (2, 0)
    );
}

#[tokio::test]
async fn two_versions_of_a_library_are_used_side_by_side() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let (old, new) = (connect(&server), connect(&server));
    for (round, expected) in [(1, [1, 101]), (2, [102, 202])] {
        let replies = [run(&old, &ADD, "1").await, run(&new, &ADD_MORE, "1").await];
        assert_eq!(replies, expected.map(Value::Int), "round {round}");
    }
    assert_eq!(calls(&old, "function|load").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_load_a_library_at_once_and_lose_nothing() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let stores: Vec<Arc<RedisStore>> = (0..16).map(|_| Arc::new(connect(&server))).collect();
    let running = stores.iter().map(|store| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for _ in 0..5 {
                let reply = run(&*store, &ADD, "1").await;
                assert!(matches!(reply, Value::Int(_)), "{reply:?}");
            }
        })
    });
    for ended in futures::future::join_all(running).await {
        ended.unwrap();
    }
    assert_eq!(ask(&*stores[0], ["GET", "n"]).await, Value::bulk("80"));
    assert_eq!(calls(&*stores[0], "evalsha").await, 0);
}

#[tokio::test]
async fn without_functions_scripts_run_as_before_which_is_logged_once() {
    let renamed = ["--rename-command", "FUNCTION", ""];
    let absent = ["--rename-command", "FUNCTION", "", "--rename-command", "FCALL", ""];
    let none: [&str; 0] = [];
    for (options, denied) in [
        (&none[..], &["-function", "-fcall"][..]),
        (&none, &["-function"]),
        (&renamed, &none),
        (&absent, &none),
    ] {
        let Some(server) = RealRedis::start(options) else {
            return;
        };
        server.command(&[&["ACL", "SETUSER", "default"], denied].concat());
        let case = format!("{options:?} {denied:?}");
        let (log, _guard) = Log::text("warn");
        let store = connect(&server);
        for expected in 1..=4 {
            assert_eq!(run(&store, &ADD, "1").await, Value::Int(expected), "{case}");
        }
        let batch = vec![call(&ADD, "n", b"1"), call(&SHOW, "n", b""), call(&ADD_MORE, "n", b"1")];
        let expected = [Value::Int(5), Value::bulk("5"), Value::Int(105)];
        assert_eq!(store.run(batch).await.unwrap(), expected);
        let logged = log.read();
        let warnings = logged.matches("the store has no functions").count();
        assert_eq!(warnings, 1, "{case}: {logged}");
        // ADD four times, then SHOW and ADD_MORE were new.
        assert_eq!(calls(&store, "eval").await, 3, "{case}");
        store.delete_unused_libraries(library()).await.unwrap();
    }
}

#[tokio::test]
async fn state_of_scripts_works_with_functions_and_vice_versa() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let rights = ["on", ">old", "~*", "&*", "+@all", "-fcall", "-function"];
    server.command(&[&["ACL", "SETUSER", "old"], &rights[..]].concat());
    let scripts = RedisStore::connect(&server.url().replace("redis://", "redis://old:old@")).unwrap();
    let functions = connect(&server);
    for (store, expected) in [&scripts, &functions, &scripts, &functions].into_iter().zip(1..) {
        assert_eq!(run(store, &ADD, "1").await, Value::Int(expected));
    }
    assert_eq!(
        (calls(&functions, "evalsha").await, calls(&functions, "eval").await),
        (2, 1)
    );
}

#[tokio::test]
async fn a_full_server_does_not_make_a_process_give_up_functions() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let (log, _guard) = Log::text("warn");
    let store = connect(&server);
    ask(&store, ["SET", "n", "7"]).await;
    for _ in 0..2 {
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        for _ in 0..5 {
            assert_eq!(
                run(&store, &SHOW, "").await,
                Value::bulk("7"),
                "it reads where nothing can be written"
            );
            let refused = run(&store, &ADD, "1").await;
            assert!(
                matches!(&refused, Value::Error(text) if text.starts_with("OOM")),
                "{refused:?}"
            );
        }
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
        let before = calls(&store, "fcall").await;
        assert!(matches!(run(&store, &ADD, "0").await, Value::Int(7)));
        assert!(calls(&store, "fcall").await > before);
    }
    assert_eq!(log.read(), "");
}

#[tokio::test]
async fn libraries_are_loaded_and_called_over_rest() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let (log, _guard) = Log::text("warn");
    let behind = Arc::new(connect(&server));
    let store = upstash::client(Arc::clone(&behind) as Arc<dyn Store>).await;
    for expected in 1..=3 {
        assert_eq!(run(&store, &ADD, "1").await, Value::Int(expected));
    }
    let listed = format!("{:?}", ask(&*behind, ["FUNCTION", "LIST"]).await);
    let bytes = format!("{:?}", Value::bulk(OLD.function("allow-key-locking", &ADD)));
    assert!(listed.contains(&bytes), "{listed}");
    assert_eq!(log.read(), "");
}

#[tokio::test]
async fn our_own_library_loads_and_has_every_script() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    coord_state::health::probe(&store).await.unwrap();
    let listed = ask(&store, ["FUNCTION", "LIST", "LIBRARYNAME", &library().name("")]).await;
    let [library] = listed.as_array().unwrap() else {
        panic!("{listed:?}")
    };
    let functions = library.as_array().unwrap()[5].as_array().unwrap();
    assert_eq!(functions.len(), coord_state::scripts().count());
    assert_eq!(calls(&store, "evalsha").await, 0);
}

/// Libraries on the server, by name.
async fn libraries(store: &dyn Store) -> Vec<String> {
    let listed = ask(store, ["FUNCTION", "LIST"]).await;
    let name = |library: &Value| library.as_array()?[1].as_str().map(str::to_owned);
    let mut names: Vec<String> = listed.as_array().unwrap().iter().filter_map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_library_unused_for_a_week_is_deleted_and_no_other() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    coord_state::health::probe(&store).await.unwrap();
    let (own, digits) = (library().name(""), "0123456789abcdef");
    let (used, unused) = (format!("coord_{digits}_locking"), format!("coord_{digits}"));
    let others = [
        "coord_of_another_product",
        "coord_0123456789ABCDEF",
        "other_0123456789abcdef",
        "coord",
    ];
    for (number, name) in others.into_iter().chain([used.as_str(), &unused]).enumerate() {
        let code = format!("#!lua name={name}\nredis.register_function('f{number}', function() end)");
        assert_eq!(ask(&store, ["FUNCTION", "LOAD", &code]).await, Value::bulk(name));
    }
    ask(&store, ["SET", &format!("coord:library:{used}"), ""]).await;
    // Also where its own note is gone.
    ask(&store, ["DEL", &format!("coord:library:{own}")]).await;
    store.delete_unused_libraries(library()).await.unwrap();
    let mut expected = [&others.map(str::to_owned)[..], &[own.clone(), used.clone()]].concat();
    expected.sort();
    assert_eq!(libraries(&store).await, expected);

    ask(&store, ["DEL", &format!("coord:library:{used}")]).await;
    store.delete_unused_libraries(library()).await.unwrap();
    assert_eq!(libraries(&store).await, expected, "once a day");
    ask(&store, ["DEL", "coord:libraries:swept"]).await;
    store.delete_unused_libraries(library()).await.unwrap();
    expected.retain(|name| *name != used);
    assert_eq!(libraries(&store).await, expected);
}

#[tokio::test]
async fn a_process_notes_its_library_once() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let store = connect(&server);
    for _ in 0..5 {
        run(&store, &SHOW, "").await;
    }
    assert_eq!(calls(&store, "set").await, 1);
    let left = ask(&store, ["TTL", &format!("coord:library:{}", OLD.name(""))]).await;
    assert!(left.as_int().is_some_and(|left| left > 7 * 86_400), "{left:?}");
}

#[tokio::test]
async fn a_server_that_is_gone_while_a_library_is_missing_is_an_error_and_no_decision() {
    let Some(mut server) = RealRedis::start(&[]) else {
        return;
    };
    let (log, _guard) = Log::text("warn");
    let store = connect(&server);
    assert_eq!(run(&store, &ADD, "1").await, Value::Int(1));
    server.kill();
    assert_fails!(store.run(vec![call(&ADD, "n", b"1")]).await, Unreachable);
    assert!(server.run());
    assert_eq!(run(&store, &ADD, "1").await, Value::Int(1), "it was restarted empty");
    assert_eq!((log.read(), calls(&store, "evalsha").await), (String::new(), 0));
}
