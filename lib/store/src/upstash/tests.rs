use super::*;

fn store(url: &str) -> Result<UpstashStore, StoreError> {
    UpstashStore::new(url, SecretString::from("secret-token"))
}

#[test]
fn https_is_required_except_on_a_loopback_host() {
    for url in [
        "https://a.upstash.io",
        "http://127.0.0.1:8079",
        "http://localhost:1/base/",
        "http://[::1]:1",
    ] {
        assert!(store(url).is_ok(), "{url}");
    }
    for url in [
        "http://a.upstash.io",
        "http://127.0.0.1.example.com",
        "redis://localhost",
        "a.upstash.io",
        "",
    ] {
        assert!(matches!(store(url), Err(StoreError::NotConfigured(_))), "{url}");
    }
    for url in [
        "https://u:p@a.upstash.io",
        "https://a.upstash.io?_token=x",
        "https://a.upstash.io#x",
    ] {
        let error = store(url).unwrap_err().to_string();
        assert!(error.contains("without credential, query or fragment"), "{error}");
    }
}

#[test]
fn the_token_is_in_no_text_that_the_store_gives_of_itself() {
    let store = store("https://a.upstash.io/").unwrap();
    let texts = format!(
        "{store:?} {store:#?} {} {:?}",
        store.describe(),
        store.wire.authorization
    );
    assert!(!texts.contains("secret-token"), "{texts}");
    assert_eq!(store.describe(), "Upstash at https://a.upstash.io");
}

#[test]
fn a_token_that_no_header_can_carry_is_refused_without_being_shown() {
    for token in ["", "  ", "a\nb"] {
        let error = UpstashStore::new("https://a.upstash.io", SecretString::from(token)).unwrap_err();
        assert!(matches!(error, StoreError::NotConfigured(_)), "{token:?}");
        assert!(!error.to_string().contains("a\nb"));
    }
}

#[test]
fn a_channel_is_one_segment_below_the_base_of_the_url() {
    let store = store("https://a.upstash.io/base/").unwrap();
    let address = store.wire.address(&["subscribe", "coord:events:{github.com/o/n}"]);
    assert_eq!(
        address.as_str(),
        "https://a.upstash.io/base/subscribe/coord:events:%7Bgithub.com%2Fo%2Fn%7D"
    );
}
