//! Requests that a page of another site can send to a server of this machine, through the browser of a person.

use super::{Local, QUERY, few_slots, status};

async fn get(local: &Local, target: &str, headers: &str) -> u16 {
    let request = format!("GET {target} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n");
    status(local.address, &request).await
}

#[tokio::test]
async fn requests_of_other_sites_use_up_nothing_of_the_person_here() {
    let local = Local::start(&few_slots()).await;
    let graph = format!("/api/graph?{QUERY}");
    for (site, more) in [
        ("cross-site", "sec-fetch-mode: no-cors"),
        ("same-site", "sec-fetch-mode: no-cors"),
        ("cross-site", "sec-fetch-mode: navigate"),
        ("cross-site", "origin: https://evil.example"),
    ] {
        // A third of 300 requests a minute may come at once.
        for _ in 0..110 {
            let headers = format!("host: localhost\r\nsec-fetch-site: {site}\r\n{more}");
            assert_eq!(get(&local, &graph, &headers).await, 403, "{site} {more}");
        }
    }
    // Browsers that do not know `Sec-Fetch-Site` send `Origin` where a page may read the response.
    assert_eq!(get(&local, &graph, "host: localhost\r\norigin: null").await, 403);
    for own in ["same-origin", "none"] {
        let answered = get(&local, &graph, &format!("host: localhost\r\nsec-fetch-site: {own}")).await;
        assert!(matches!(answered, 200 | 202), "{own}: {answered}");
    }
}

#[tokio::test]
async fn a_link_of_another_site_opens_the_page() {
    let local = Local::start(&few_slots()).await;
    let link = "host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: navigate";
    assert_eq!(get(&local, "/", link).await, 200);
}

#[tokio::test]
async fn a_host_is_exactly_a_name_of_this_machine() {
    let local = Local::start(&few_slots()).await;
    let graph = format!("/api/graph?{QUERY}");
    for host in ["localhost", "localhost:3000", "127.0.0.1:80", "[::1]:3000"] {
        let answered = get(&local, &graph, &format!("host: {host}")).await;
        assert!(matches!(answered, 200 | 202), "{host}: {answered}");
    }
    for headers in [
        "x: y",
        "host:",
        "host: localhost.",
        "host: localhost:",
        "host: user@localhost",
        "host: evil.example@localhost",
        "host: localhost.evil.example",
        "host: [localhost]",
        "host: 127.1",
        "host: localhost\r\nhost: evil.example",
        "host: localhost\r\nhost: localhost",
    ] {
        let answered = get(&local, &graph, headers).await;
        assert!(matches!(answered, 400 | 403), "{headers:?}: {answered}");
    }
    let absolute = format!("http://evil.example{graph}");
    assert_eq!(get(&local, &absolute, "host: localhost").await, 403);
    assert_eq!(get(&local, &absolute, "host: evil.example").await, 403);
}
