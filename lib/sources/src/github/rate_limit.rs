//! GitHub's limits, <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>. The *primary*
//! limit is on requests per hour, and every response reports its state. *Secondary* limits are on behavior, and only a
//! refusal reports them. A limited account sends nothing before the given time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use coord_runtime::mutex::lock;
use quick_cache::sync::Cache;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// The pause after a refusal that names no time. For secondary limits, GitHub demands at least a minute.
const DEFAULT_PAUSE: Duration = Duration::from_secs(60);
/// Maximum pause that is accepted. The primary limit restarts every hour.
const MAX_PAUSE: Duration = Duration::from_secs(3_660);
/// One in this number of the requests of an hour is reserved for known heads of branches.
const RESERVED: u64 = 5;
/// Maximum number of limited accounts remembered; a GitHub App has one for each installation.
const MAX_ACCOUNTS: usize = 1_024;

/// The account that a limit is for: each credential has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Account {
    /// The token of the service. Without a token, the limit is that of the IP address.
    Service,
    /// The GitHub App itself.
    App,
    /// One installation of the app.
    Installation(u64),
    Caller(TokenHash),
}

impl Account {
    fn is_service(self) -> bool {
        matches!(self, Account::Service | Account::App)
    }
}

/// The hash that identifies a caller's token, so that the token itself is not kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TokenHash([u8; 32]);

impl TokenHash {
    pub(super) fn of(token: &str) -> Self {
        TokenHash(Sha256::digest(token).into())
    }
}

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TokenHash")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    /// The requests of this hour are used up.
    Primary,
    /// Too many concurrent requests, or too much work.
    Secondary,
}

/// A limit that is used up, and the pause until the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "GitHub's {} rate limit is reached; the next request is allowed in {} s",
    if *.kind == LimitKind::Primary { "primary" } else { "secondary" },
    .retry_after.as_secs()
)]
pub(super) struct UsedUpLimit {
    pub(super) kind: LimitKind,
    pub(super) retry_after: Duration,
}

impl UsedUpLimit {
    /// Whole seconds of the pause, at least one.
    pub(super) fn seconds(&self) -> u64 {
        self.retry_after.as_millis().div_ceil(1000).max(1) as u64
    }
}

/// The limit that a response with 403 or 429 reports; `None` if a 403 is about rights.
pub(super) fn refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Option<UsedUpLimit> {
    if status != StatusCode::FORBIDDEN && status != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let retry_after = number(headers, RETRY_AFTER.as_str()).map(Duration::from_secs);
    if is_used_up(headers) {
        let retry_after = retry_after.or_else(|| time_until_reset(headers));
        return Some(limit(LimitKind::Primary, retry_after.unwrap_or(DEFAULT_PAUSE)));
    }
    let body = String::from_utf8_lossy(body).to_ascii_lowercase();
    // The last one is in GitHub's response to all requests from an address that sent too many bad tokens, even to
    // requests with good tokens.
    let phrases = [
        "secondary rate limit",
        "abuse detection",
        "number of login attempts exceeded",
    ];
    let has_phrase = phrases.iter().any(|phrase| body.contains(phrase));
    if retry_after.is_some() || has_phrase || status == StatusCode::TOO_MANY_REQUESTS {
        return Some(limit(LimitKind::Secondary, retry_after.unwrap_or(DEFAULT_PAUSE)));
    }
    None
}

/// The limit that a GraphQL response reports in its body, with status 200.
pub(super) fn graphql_limit(headers: &HeaderMap) -> UsedUpLimit {
    let retry_after = number(headers, RETRY_AFTER.as_str()).map(Duration::from_secs);
    used_up(headers).unwrap_or_else(|| limit(LimitKind::Secondary, retry_after.unwrap_or(DEFAULT_PAUSE)))
}

/// The limit, if the response used up the last request of the hour.
pub(super) fn used_up(headers: &HeaderMap) -> Option<UsedUpLimit> {
    let retry_after = time_until_reset(headers).filter(|_| is_used_up(headers))?;
    Some(limit(LimitKind::Primary, retry_after))
}

fn limit(kind: LimitKind, retry_after: Duration) -> UsedUpLimit {
    UsedUpLimit {
        kind,
        retry_after: retry_after.clamp(Duration::from_secs(1), MAX_PAUSE),
    }
}

fn is_used_up(headers: &HeaderMap) -> bool {
    number(headers, "x-ratelimit-remaining") == Some(0)
}

/// Time until the primary limit restarts.
fn time_until_reset(headers: &HeaderMap) -> Option<Duration> {
    let reset = number(headers, "x-ratelimit-reset")?;
    let now = server_time(headers);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(Duration::from_secs(reset).saturating_sub(now))
}

/// The time by GitHub's clock if the response has it, because the local clock may be wrong.
pub(super) fn server_time(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    date.and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or_else(SystemTime::now)
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The limit, if only the reserved requests of this hour are left; `Some(None)` if there are more. `None` if the
/// response does not say.
fn reserve_limit(headers: &HeaderMap) -> Option<Option<UsedUpLimit>> {
    let total = number(headers, "x-ratelimit-limit")?;
    let remaining = number(headers, "x-ratelimit-remaining")?;
    let retry_after = time_until_reset(headers)?;
    Some((remaining <= total / RESERVED).then(|| limit(LimitKind::Primary, retry_after)))
}

/// Blocks requests of limited accounts until their time.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<HashMap<Account, (LimitKind, Instant)>>);

/// Reserves the last requests of an hour for heads: the accounts that have only those left, and until when.
#[derive(Debug)]
pub(super) struct Reserve(Cache<Account, Instant>);

impl Default for Reserve {
    fn default() -> Self {
        Reserve(Cache::new(MAX_ACCOUNTS))
    }
}

impl Reserve {
    /// # Errors
    /// While `account` has only the reserved requests left.
    pub(super) fn check(&self, account: Account) -> Result<(), UsedUpLimit> {
        let pause = self
            .0
            .get(&account)
            .map(|until| until.saturating_duration_since(Instant::now()));
        match pause.filter(|pause| !pause.is_zero()) {
            Some(pause) => Err(limit(LimitKind::Primary, pause)),
            None => Ok(()),
        }
    }

    /// Records the state in a response. Callers' accounts have no reserve, because they fetch no heads.
    pub(super) fn note(&self, account: Account, headers: &HeaderMap) {
        if matches!(account, Account::Caller(_)) {
            return;
        }
        match reserve_limit(headers) {
            Some(Some(limit)) => {
                let is_new = !self.0.contains_key(&account);
                self.0.insert(account, Instant::now() + limit.retry_after);
                if is_new {
                    tracing::warn!(
                        ?account,
                        seconds = limit.seconds(),
                        "the remaining requests of this hour are reserved for heads"
                    );
                }
            }
            Some(None) => {
                self.0.remove(&account);
            }
            None => {}
        }
    }
}

impl Gate {
    /// # Errors
    /// While `account` is limited.
    pub(super) fn check(&self, account: Account) -> Result<(), UsedUpLimit> {
        let mut limits = lock(&self.0);
        let Some((kind, until)) = limits.get(&account).copied() else {
            return Ok(());
        };
        let retry_after = until.saturating_duration_since(Instant::now());
        if retry_after.is_zero() {
            limits.remove(&account);
            return Ok(());
        }
        Err(UsedUpLimit { kind, retry_after })
    }

    /// Blocks `account` until the end of the pause, or until the end of an earlier, longer one.
    pub(super) fn close(&self, account: Account, limit: UsedUpLimit) {
        let mut limits = lock(&self.0);
        if limits.len() >= MAX_ACCOUNTS {
            let now = Instant::now();
            limits.retain(|_, (_, until)| *until > now);
        }
        if limits.len() >= MAX_ACCOUNTS && !limits.contains_key(&account) {
            // Evicts the account whose pause ends first, but never one of the service.
            let evictable = limits.iter().filter(|(account, _)| !account.is_service());
            let first = evictable.min_by_key(|(_, (_, until))| *until);
            if let Some(first) = first.map(|(account, _)| *account) {
                limits.remove(&first);
            }
        }
        let until = Instant::now() + limit.retry_after;
        let entry = limits.entry(account).or_insert((limit.kind, until));
        if until > entry.1 {
            *entry = (limit.kind, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    const NOW: &str = "Sun, 22 Nov 2026 01:00:00 GMT";
    const NOW_SECONDS: u64 = 1_795_309_200;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static(NOW));
        for (name, value) in pairs {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn each_form_of_a_rate_limit_refusal_is_recognized() {
        let reset = (NOW_SECONDS + 90).to_string();
        let far = (NOW_SECONDS + 999_999).to_string();
        let (primary, secondary) = (LimitKind::Primary, LimitKind::Secondary);
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
        let used_up_far = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", far.as_str())];
        let past = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "5")];
        let left = [("x-ratelimit-remaining", "4000"), ("x-ratelimit-reset", reset.as_str())];
        let retry = [("x-ratelimit-remaining", "4000"), ("retry-after", "30")];
        let odd = [("retry-after", "soon"), ("x-ratelimit-remaining", "-1")];
        let named = &br#"{"message": "You have exceeded a secondary rate limit."}"#[..];
        let abuse = &b"You have triggered an abuse detection mechanism"[..];
        let attempts = &br#"{"message": "Maximum number of login attempts exceeded. Please try again later."}"#[..];
        let rights = &br#"{"message": "Resource not accessible by integration"}"#[..];
        type Row<'a> = (u16, &'a [(&'static str, &'a str)], &'a [u8], Option<(LimitKind, u64)>);
        let table: [Row<'_>; 13] = [
            (403, &used_up, b"", Some((primary, 90))),
            (429, &used_up, b"", Some((primary, 90))),
            (403, &used_up_far, b"", Some((primary, 3_660))),
            (403, &past, b"", Some((primary, 1))),
            (403, &retry, b"", Some((secondary, 30))),
            (429, &retry, b"", Some((secondary, 30))),
            (403, &left, named, Some((secondary, 60))),
            (403, &left, abuse, Some((secondary, 60))),
            (429, &odd, b"\xff", Some((secondary, 60))),
            (403, &left, attempts, Some((secondary, 60))),
            (403, &left, rights, None),
            (403, &odd, b"", None),
            (503, &retry, named, None),
        ];
        for (status, pairs, body, expected) in table {
            let status = StatusCode::from_u16(status).unwrap();
            let got = refusal(status, &headers(pairs), body).map(|limited| (limited.kind, limited.seconds()));
            assert_eq!(got, expected, "{status} {pairs:?}");
        }
    }

    #[test]
    fn an_answer_that_uses_up_the_last_request_is_a_limit_too() {
        let reset = (NOW_SECONDS + 90).to_string();
        let pairs = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
        assert_eq!(used_up(&headers(&pairs)).map(|limited| limited.seconds()), Some(90));
        assert_eq!(used_up(&headers(&[("x-ratelimit-remaining", "0")])), None);
        assert_eq!(used_up(&headers(&[("x-ratelimit-remaining", "1")])), None);
    }

    #[test]
    fn a_fifth_of_an_hours_requests_is_reserved() {
        let reset = (NOW_SECONDS + 90).to_string();
        let seconds = |total: &str, remaining: &str| {
            let pairs = [
                ("x-ratelimit-limit", total),
                ("x-ratelimit-remaining", remaining),
                ("x-ratelimit-reset", reset.as_str()),
            ];
            reserve_limit(&headers(&pairs)).map(|limit| limit.map(|limit| limit.seconds()))
        };
        assert_eq!(seconds("5000", "1001"), Some(None));
        assert_eq!(seconds("5000", "1000"), Some(Some(90)));
        assert_eq!(seconds("60", "12"), Some(Some(90)));
        assert_eq!(seconds("60", "many"), None);
        let reserve = Reserve::default();
        let (one, other) = (Account::Installation(1), Account::Installation(2));
        let state = |remaining| {
            headers(&[
                ("x-ratelimit-limit", "5000"),
                ("x-ratelimit-remaining", remaining),
                ("x-ratelimit-reset", &reset),
            ])
        };
        reserve.note(one, &state("7"));
        assert_eq!(reserve.check(one).unwrap_err().seconds(), 90);
        assert_eq!(reserve.check(other), Ok(()));
        // The next hour has begun.
        reserve.note(one, &state("4999"));
        assert_eq!(reserve.check(one), Ok(()));
        let caller = Account::Caller(TokenHash::of("a"));
        reserve.note(caller, &state("7"));
        assert_eq!(reserve.check(caller), Ok(()));
    }

    #[test]
    fn the_gate_is_closed_for_one_account_until_its_time() {
        let gate = Gate::default();
        let limit = |milliseconds| UsedUpLimit {
            kind: LimitKind::Secondary,
            retry_after: Duration::from_millis(milliseconds),
        };
        gate.close(Account::Installation(1), limit(80));
        gate.close(Account::Installation(1), limit(1));
        assert_eq!(gate.check(Account::Installation(2)), Ok(()));
        assert_eq!(gate.check(Account::Installation(1)).unwrap_err().seconds(), 1);
        std::thread::sleep(Duration::from_millis(90));
        assert_eq!(gate.check(Account::Installation(1)), Ok(()));
        for number in 0..10_000 {
            gate.close(Account::Installation(number), limit(0));
        }
        assert!(gate.0.lock().unwrap().len() <= MAX_ACCOUNTS);
    }

    #[test]
    fn limited_tokens_of_callers_do_not_fill_the_gate_and_do_not_open_it_for_the_service() {
        let gate = Gate::default();
        let limit = |seconds| UsedUpLimit {
            kind: LimitKind::Primary,
            retry_after: Duration::from_secs(seconds),
        };
        gate.close(Account::Service, limit(10));
        for number in 0..3_000 {
            gate.close(Account::Caller(TokenHash::of(&number.to_string())), limit(100));
        }
        assert_eq!(gate.0.lock().unwrap().len(), MAX_ACCOUNTS);
        assert!(gate.check(Account::Service).is_err());
        assert!(gate.check(Account::Caller(TokenHash::of("2999"))).is_err());
        assert!(gate.check(Account::Caller(TokenHash::of("another"))).is_ok());
    }

    #[test]
    fn a_token_is_not_in_the_name_of_its_account() {
        let account = Account::Caller(TokenHash::of("ghp_hunter2"));
        assert_eq!(format!("{account:?}"), "Caller(TokenHash)");
    }
}
