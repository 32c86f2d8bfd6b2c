//! The store on a port, asked as `curl` would.

use std::sync::Arc;

use coord_embedded::EmbeddedStore;
use coord_store::Store;
use coord_store::redis::RedisStore;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value as Json, json};

use crate::upstash::through_listener::serve;
use coord_test_support::real_redis::RealRedis;

struct Port {
    _server: RealRedis,
    url: String,
    client: reqwest::Client,
}

impl Port {
    async fn open() -> Option<Self> {
        let server = RealRedis::start(&[])?;
        let url = serve(Arc::new(RedisStore::connect(&server.url()).unwrap()), "secret").await;
        Some(Port {
            _server: server,
            url,
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
        })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.url))
            .bearer_auth("secret")
    }

    async fn get(&self, path: &str) -> (u16, Json) {
        answer(self.request(Method::GET, path)).await
    }

    async fn post(&self, path: &str, body: &str) -> (u16, Json) {
        answer(self.request(Method::POST, path).body(body.to_owned())).await
    }
}

async fn answer(request: RequestBuilder) -> (u16, Json) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    assert!(response.headers().contains_key("upstash-sync-token"));
    assert_eq!(response.headers()["content-type"], "application/json");
    (
        status,
        serde_json::from_slice(&response.bytes().await.unwrap()).unwrap(),
    )
}

fn result(value: impl Into<Json>) -> (u16, Json) {
    (200, json!({ "result": value.into() }))
}

#[tokio::test]
async fn a_command_is_taken_as_json_as_a_path_and_as_a_path_with_a_body() {
    let Some(port) = Port::open().await else { return };
    assert_eq!(port.post("/", r#"["SET", "a", "b c", "EX", 100]"#).await, result("OK"));
    assert_eq!(port.get("/get/a").await, result("b c"));
    assert_eq!(
        port.get("/TTL/a").await.1["result"].as_i64().map(|left| left > 90),
        Some(true)
    );
    assert_eq!(port.get("/set/sl%2Fash/x%20y").await, result("OK"));
    assert_eq!(port.post("/get/sl%2Fash", "").await, result("x y"));
    assert_eq!(port.post("/set/json?EX=100", r#"{"a":[1,2]}"#).await, result("OK"));
    assert_eq!(port.get("/get/json").await, result(r#"{"a":[1,2]}"#));
    assert_eq!(
        port.get("/ttl/json").await.1["result"].as_i64().map(|left| left > 90),
        Some(true)
    );
    assert_eq!(
        answer(port.request(Method::PUT, "/set/put").body("value")).await,
        result("OK")
    );
    assert_eq!(port.get("/mget/put/none").await, result(json!(["value", null])));
    let head = port.request(Method::HEAD, "/get/put").send().await.unwrap();
    assert_eq!((head.status().as_u16(), head.bytes().await.unwrap().len()), (200, 0));
}

#[tokio::test]
async fn arguments_that_are_no_strings_are_stored_as_they_were_written() {
    let Some(port) = Port::open().await else { return };
    let arguments = [
        ("1.50", "1.50"),
        ("12345678901234567890", "12345678901234567890"),
        ("true", "true"),
        ("null", "null"),
    ];
    for (written, stored) in arguments {
        assert_eq!(port.post("/", &format!(r#"["SET","k",{written}]"#)).await, result("OK"));
        assert_eq!(port.get("/get/k").await, result(stored));
    }
}

#[tokio::test]
async fn a_token_is_needed_in_the_header_or_the_query() {
    let Some(port) = Port::open().await else { return };
    let ask = |path: &str, token: Option<&str>| {
        let request = port.client.get(format!("{}{path}", port.url));
        answer(match token {
            Some(token) => request.header("authorization", token),
            None => request,
        })
    };
    for (path, token) in [
        ("/get/k", None),
        ("/get/k", Some("Bearer wrong")),
        ("/get/k", Some("Bearer secret2")),
        ("/get/k", Some("Bearer ")),
        ("/get/k", Some("Basic secret")),
        ("/get/k?_token=", None),
        ("/get/k?_token=wrong", None),
        ("/subscribe/c", None),
        ("/pipeline", None),
    ] {
        let (status, body) = ask(path, token).await;
        assert_eq!(status, 401, "{path} {token:?}");
        let error = body["error"].as_str().unwrap_or_default();
        assert!(
            error.starts_with("WRONGPASS") && error.contains("Unauthorized"),
            "{error}"
        );
    }
    assert_eq!(ask("/get/k", Some("bearer secret")).await, result(Json::Null));
    assert_eq!(ask("/get/k?_token=secret", None).await, result(Json::Null));
    assert_eq!(ask("/set/k/v?_token=secret&EX=100", None).await, result("OK"));
}

#[tokio::test]
async fn an_empty_token_admits_nobody() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let url = serve(Arc::new(RedisStore::connect(&server.url()).unwrap()), "").await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for request in [
        client.get(format!("{url}/get/k")),
        client.get(format!("{url}/get/k")).bearer_auth(""),
    ] {
        assert_eq!(answer(request).await.0, 401);
    }
}

#[tokio::test]
async fn a_pipeline_answers_each_row_and_a_transaction_is_whole() {
    let Some(port) = Port::open().await else { return };
    let rows = r#"[["SET","k","v"],["SETEX","k2",13,"z"],["INCR","k"],["ZADD","z",11,"a",22,"b"],["BLPOP","x",0],[]]"#;
    let (status, body) = port.post("/pipeline", rows).await;
    assert_eq!(status, 200);
    let expected = json!([
        {"result": "OK"},
        {"result": "OK"},
        {"error": "ERR value is not an integer or out of range"},
        {"result": 2},
        {"error": "ERR Command is not available: 'BLPOP'"},
        {"error": "ERR empty command"},
    ]);
    assert_eq!(body, expected);
    assert_eq!(port.post("/pipeline", r#"[["SELECT", 1]]"#).await.0, 200);

    let (status, body) = port
        .post("/multi-exec", r#"[["SET","k","w"],["INCR","k"],["GET","k"]]"#)
        .await;
    assert_eq!(status, 200);
    let expected = json!([{"result": "OK"}, {"error": "ERR value is not an integer or out of range"}, {"result": "w"}]);
    assert_eq!(body, expected);
    for rows in [
        r#"[["SET","k","x"],["NOSUCH"]]"#,
        r#"[["SET","k","x"],["MULTI"]]"#,
        r#"[["SET","k","x"],["SET"]]"#,
    ] {
        let (status, body) = port.post("/multi-exec", rows).await;
        assert!(status == 400 && body["error"].is_string(), "{rows}: {status} {body}");
    }
    assert_eq!(port.get("/get/k").await, result("w"));
}

#[tokio::test]
async fn mistakes_are_told_with_the_documented_codes() {
    let Some(port) = Port::open().await else { return };
    let bad = [
        ("/", ""),
        ("/", "{}"),
        ("/", r#"["GET""#),
        ("/", "[]"),
        ("/", r#"["GET"]"#),
        ("/", r#"["NOSUCH"]"#),
        ("/", r#"["MONITOR"]"#),
        ("/pipeline", "[]"),
        ("/pipeline", r#"["GET","k"]"#),
        ("/multi-exec", "nonsense"),
        ("/psubscribe/a*", ""),
        ("/monitor", ""),
        ("/subscribe", ""),
        ("/subscribe/%ff", ""),
    ];
    for (path, body) in bad {
        let (status, answer) = port.post(path, body).await;
        assert_eq!(status, 400, "{path} {body}: {answer}");
        assert!(
            answer["error"].as_str().is_some_and(|error| error.starts_with("ERR ")),
            "{path} {body}: {answer}"
        );
    }
    for method in [Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let response = port.request(method, "/get/k").send().await.unwrap();
        assert_eq!(response.status().as_u16(), 405);
        assert_eq!(response.headers()["allow"], "HEAD, GET, POST, PUT");
    }
    let huge = format!(r#"["SET","k","{}"]"#, "x".repeat(10 << 20));
    let (status, answer) = port.post("/", &huge).await;
    assert_eq!(
        (
            status,
            answer["error"].as_str().is_some_and(|error| error.contains("10485760"))
        ),
        (413, true)
    );
}

#[tokio::test]
async fn replies_come_in_the_encoding_and_format_that_is_asked_for() {
    let Some(port) = Port::open().await else { return };
    port.post("/", r#"["HSET","h","field","value"]"#).await;
    let ask = |path: &str, body: &str, header: (&'static str, &'static str)| {
        port.request(Method::POST, path)
            .header(header.0, header.1)
            .body(body.to_owned())
    };
    let base64 = ("upstash-encoding", "base64");
    assert_eq!(answer(ask("/", r#"["SET","k","v"]"#, base64)).await, result("OK"));
    assert_eq!(
        answer(ask("/", r#"["HGETALL","h"]"#, base64)).await,
        result(json!(["ZmllbGQ=", "dmFsdWU="]))
    );
    let rows = r#"[["GET","k"],["STRLEN","k"],["HGET","k","x"]]"#;
    let (_, body) = answer(ask("/pipeline", rows, base64)).await;
    let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
    assert_eq!(body, json!([{"result": "dg=="}, {"result": 1}, {"error": wrong}]));

    let resp2 = ("upstash-response-format", "resp2");
    let response = ask("/pipeline", rows, resp2).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/octet-stream");
    assert_eq!(response.text().await.unwrap(), format!("$1\r\nv\r\n:1\r\n-{wrong}\r\n"));
    let (_, body) = answer(ask("/multi-exec", r#"[["GET","k"]]"#, resp2)).await;
    assert_eq!(body, json!([{"result": "v"}]));
    assert_eq!(
        answer(ask("/", r#"["GET","k"]"#, ("upstash-response-format", "xml")))
            .await
            .0,
        400
    );
    assert_eq!(
        answer(ask("/", r#"["GET","k"]"#, resp2).header("upstash-encoding", "base64"))
            .await
            .0,
        400
    );
}

#[tokio::test]
async fn a_subscription_is_a_stream_of_events_in_the_documented_form() {
    let Some(port) = Port::open().await else { return };
    let mut response = port.request(Method::GET, "/subscribe/chat").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    let mut published = false;
    while !text.contains("how are you today?\n\n") {
        let chunk = response.chunk().await.unwrap().expect("the stream goes on");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if !published && text.contains("subscribe,chat,1") {
            published = true;
            port.get("/publish/chat/hello").await;
            port.post("/publish/chat", "how are you today?").await;
        }
    }
    assert_eq!(
        text,
        "data: subscribe,chat,1\n\ndata: message,chat,hello\n\ndata: message,chat,how are you today?\n\n"
    );
}

#[tokio::test]
async fn a_script_of_a_client_neither_hangs_nor_ends_the_server() {
    let store = EmbeddedStore::in_memory().unwrap();
    let url = serve(Arc::new(store), "secret").await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = |words: Json| answer(client.post(&url).bearer_auth("secret").body(words.to_string()));
    for (script, expected) in [
        (
            "xpcall(function() while true do end end, function() while true do end end)",
            "ran longer",
        ),
        (
            "return string.find(string.rep('a', 1000000), string.rep('a?', 1000000))",
            "too complex",
        ),
        (
            "local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end",
            "memory",
        ),
        (
            "local t = {} for i = 1, 40 do t = {t, t} end return t",
            "large or ran longer",
        ),
    ] {
        let (ended, beside) = tokio::join!(post(json!(["EVAL", script, 0])), post(json!(["SET", "a", "b"])));
        let error = ended.1["error"].as_str().unwrap_or_default();
        let is_expected = expected.split(" or ").any(|expected| error.contains(expected));
        assert!(ended.0 == 400 && is_expected, "{script}: {ended:?}");
        assert_eq!(beside, result("OK"));
    }
}

#[tokio::test]
async fn a_transaction_of_a_client_holds_nobody_up_for_longer_than_a_script() {
    let store = EmbeddedStore::in_memory().unwrap();
    let url = serve(Arc::new(store), "secret").await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = |path: &str, rows: Json| {
        let request = client.post(format!("{url}{path}")).bearer_auth("secret");
        answer(request.body(rows.to_string()))
    };
    let endless = vec![json!(["EVAL", "while true do end", 0]); 8];
    let rows = [vec![json!(["SET", "kept", "no"])], endless].concat();
    let began = std::time::Instant::now();
    let (ended, beside) = tokio::join!(
        post("/multi-exec", Json::from(rows)),
        post("/", json!(["SET", "a", "b"]))
    );
    assert!(began.elapsed().as_millis() < 4000, "{:?}", began.elapsed());
    let error = ended.1["error"].as_str().unwrap_or_default();
    assert!(ended.0 == 400 && error.contains("transaction ran longer"), "{ended:?}");
    assert_eq!(beside, result("OK"));
    assert_eq!(post("/", json!(["EXISTS", "kept"])).await, result(0));

    for path in ["/multi-exec", "/pipeline"] {
        let many = |count| post(path, Json::from(vec![json!(["GET", "a"]); count]));
        assert_eq!(many(10_000).await.0, 200, "{path}");
        let (status, body) = many(10_001).await;
        let error = body["error"].as_str().unwrap_or_default();
        assert!(
            status == 413 && error.contains("Limit: 10000"),
            "{path}: {status} {body:.80}"
        );
    }
}

#[tokio::test]
async fn libraries_of_functions_are_loaded_with_the_flag_of_upstash_and_called_on_both_stores() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let redis = RedisStore::connect(&server.url()).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(redis), Arc::new(EmbeddedStore::in_memory().unwrap())];
    for store in stores {
        let url = serve(store, "secret").await;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let ask = |command: Json| answer(client.post(&url).bearer_auth("secret").body(command.to_string()));
        let code = "#!lua name=lib\nredis.register_function{
            function_name='put', flags={'allow-key-locking'},
            callback=function(keys, args) return redis.call('SET', keys[1], args[1]) end}";
        let unknown = "ERR Function not found";
        assert_eq!(
            ask(json!(["FCALL", "put", 1, "k", "v"])).await,
            (400, json!({ "error": unknown }))
        );
        assert_eq!(ask(json!(["FUNCTION", "LOAD", code])).await, result("lib"));
        let (status, refused) = ask(json!(["FUNCTION", "LOAD", code])).await;
        assert_eq!(
            (status, &refused),
            (400, &json!({"error": "ERR Library 'lib' already exists"}))
        );
        assert_eq!(ask(json!(["FCALL", "put", 1, "k", "v"])).await, result("OK"));
        assert_eq!(ask(json!(["GET", "k"])).await, result("v"));
        let rows = json!([["FCALL", "put", 1, "k", "w"], ["FCALL", "none", 0], ["GET", "k"]]).to_string();
        for path in ["pipeline", "multi-exec"] {
            let asked = answer(
                client
                    .post(format!("{url}/{path}"))
                    .bearer_auth("secret")
                    .body(rows.clone()),
            );
            let expected = json!([{"result": "OK"}, {"error": unknown}, {"result": "w"}]);
            assert_eq!(asked.await, (200, expected), "{path}");
        }
    }
}
