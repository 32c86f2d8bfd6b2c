use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use coord_runtime::mutex::lock;
use quick_cache::sync::{Cache, EntryAction};

use super::{UnverifiedLimit, Verdict};
use coord_domain::{Member, RepoId};

/// Maximum number of verified credentials remembered, one for each repository; each takes about 300 bytes.
const MAX_MEMBERS: usize = 16_384;
/// Maximum number of refused credentials remembered.
const MAX_REFUSED: usize = 4_096;
/// How long a verdict counts without a renewal.
const LIFETIME: Duration = Duration::from_secs(300);
/// Age after which a verdict is renewed in the background.
const RENEWAL_AGE: Duration = Duration::from_secs(240);
/// How long a verdict counts while GitHub does not respond.
const OFFLINE_LIFETIME: Duration = Duration::from_secs(3_600);
/// How long a verified credential stays exempt from the unverified-caller limit.
pub const VERIFIED_LIFETIME: Duration = Duration::from_secs(86_400);
/// How long a refusal is remembered.
const REFUSAL_LIFETIME: Duration = Duration::from_secs(30);
/// The pause after GitHub did not respond.
const RETRY_PAUSE: Duration = Duration::from_secs(30);

/// Verdicts on GitHub tokens that this process remembers. Verified and refused credentials have separate caches, so
/// that unverified callers cannot evict verified ones.
#[derive(Debug)]
pub struct KnownCredentials {
    members: Cache<String, MemberVerdict>,
    refused: Cache<String, (Verdict, SystemTime)>,
    renewing: Mutex<HashSet<String>>,
    pub unverified: UnverifiedLimit,
}

#[derive(Clone, Debug)]
struct MemberVerdict {
    member: Member,
    verified_at: SystemTime,
    /// GitHub did not respond; the next attempt is not before this time.
    retry_at: Option<SystemTime>,
}

/// The remembered verdict on a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RememberedVerdict {
    Nothing,
    /// A verified credential, and the age of its verdict.
    Member(Member, Freshness),
    Refused(Verdict),
}

/// The age of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// It counts, and should be renewed in the background.
    Aging,
    /// It must be renewed first; it counts if GitHub does not respond.
    Old,
    /// It must be renewed first.
    Expired,
}

impl Default for KnownCredentials {
    fn default() -> Self {
        KnownCredentials {
            members: Cache::new(MAX_MEMBERS),
            refused: Cache::new(MAX_REFUSED),
            renewing: Mutex::default(),
            unverified: UnverifiedLimit::default(),
        }
    }
}

fn key(credential: &str, repo: &RepoId) -> String {
    format!("{credential} {repo}")
}

impl KnownCredentials {
    pub fn recall(&self, credential: &str, repo: &RepoId, now: SystemTime) -> RememberedVerdict {
        let key = key(credential, repo);
        if let Some(verdict) = self.members.get(&key) {
            // If the clock was set back, the verdict has expired.
            let age = now.duration_since(verdict.verified_at).unwrap_or(OFFLINE_LIFETIME);
            let is_paused = verdict
                .retry_at
                .is_some_and(|time| now < time && time <= now + RETRY_PAUSE);
            let freshness = match age {
                age if age >= VERIFIED_LIFETIME => return RememberedVerdict::Nothing,
                age if age < RENEWAL_AGE => Freshness::Fresh,
                age if age < OFFLINE_LIFETIME && is_paused => Freshness::Fresh,
                age if age < LIFETIME => Freshness::Aging,
                age if age < OFFLINE_LIFETIME => Freshness::Old,
                _ => Freshness::Expired,
            };
            return RememberedVerdict::Member(verdict.member, freshness);
        }
        for key in [credential, &key] {
            if let Some((verdict, refused_at)) = self.refused.get(key)
                && now.duration_since(refused_at).is_ok_and(|age| age < REFUSAL_LIFETIME)
            {
                return RememberedVerdict::Refused(verdict);
            }
        }
        RememberedVerdict::Nothing
    }

    /// Remembers a verdict that is `age` old.
    pub fn note_member(&self, credential: &str, repo: &RepoId, member: Member, now: SystemTime, age: Duration) {
        let verdict = MemberVerdict {
            member,
            verified_at: now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH),
            retry_at: None,
        };
        self.members.insert(key(credential, repo), verdict);
    }

    /// Remembers a refusal: everywhere if GitHub rejects the token, else in `repo`.
    pub fn note_refusal(&self, credential: &str, repo: &RepoId, verdict: &Verdict, now: SystemTime) {
        let in_repo = key(credential, repo);
        self.members.remove(&in_repo);
        let key = match verdict {
            Verdict::Refused(_) => credential.to_owned(),
            _ => in_repo,
        };
        self.refused.insert(key, (verdict.clone(), now));
    }

    /// Remembers that GitHub did not respond.
    pub fn note_silence(&self, credential: &str, repo: &RepoId, now: SystemTime) {
        // Updated in place: a credential that was refused meanwhile must not come back.
        drop(self.members.entry(&key(credential, repo), None, |_, verdict| {
            verdict.retry_at = Some(now + RETRY_PAUSE);
            EntryAction::Retain(())
        }));
    }

    /// The right to renew a verdict in the background; one renewal at a time for each credential and repository.
    pub fn begin_renewal(self: &Arc<Self>, credential: &str, repo: &RepoId) -> Option<Renewal> {
        let key = key(credential, repo);
        lock(&self.renewing).insert(key.clone()).then(|| Renewal {
            credentials: Arc::clone(self),
            key,
        })
    }
}

/// A renewal in progress.
pub struct Renewal {
    credentials: Arc<KnownCredentials>,
    key: String,
}

impl Drop for Renewal {
    fn drop(&mut self) {
        lock(&self.credentials.renewing).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_domain::UserId;

    fn repo(name: &str) -> RepoId {
        RepoId::parse(&format!("https://github.com/acme/{name}")).unwrap()
    }

    fn member() -> Member {
        Member {
            user_id: UserId::parse("ann").unwrap(),
            user_name: "Ann".to_owned(),
            can_push: true,
            is_owner: false,
        }
    }

    #[test]
    fn a_verdict_ages_and_is_kept_for_a_day() {
        let (known, shop) = (KnownCredentials::default(), repo("shop"));
        let start = SystemTime::now();
        let freshness = |seconds| match known.recall("abc", &shop, start + Duration::from_secs(seconds)) {
            RememberedVerdict::Member(_, freshness) => Some(freshness),
            _ => None,
        };
        assert_eq!(freshness(0), None);
        known.note_member("abc", &shop, member(), start, Duration::ZERO);
        for (seconds, expected) in [
            (0, Freshness::Fresh),
            (239, Freshness::Fresh),
            (240, Freshness::Aging),
            (299, Freshness::Aging),
            (300, Freshness::Old),
            (3_599, Freshness::Old),
            (3_600, Freshness::Expired),
            (86_399, Freshness::Expired),
        ] {
            assert_eq!(freshness(seconds), Some(expected), "{seconds}");
        }
        assert_eq!(freshness(86_400), None);
        // While GitHub does not respond, attempts pause, and the verdict still expires.
        known.note_silence("abc", &shop, start + Duration::from_secs(400));
        assert_eq!(freshness(420), Some(Freshness::Fresh));
        assert_eq!(freshness(430), Some(Freshness::Old));
        known.note_silence("abc", &shop, start + Duration::from_secs(3_590));
        assert_eq!(freshness(3_601), Some(Freshness::Expired));
        assert_eq!(known.recall("abc", &repo("other"), start), RememberedVerdict::Nothing);
    }

    #[test]
    fn a_clock_that_was_set_back_extends_no_remembered_verdict() {
        let (known, shop) = (KnownCredentials::default(), repo("shop"));
        let now = SystemTime::now();
        known.note_member("abc", &shop, member(), now, Duration::ZERO);
        let before = now - Duration::from_secs(7_200);
        assert_eq!(
            known.recall("abc", &shop, before),
            RememberedVerdict::Member(member(), Freshness::Expired)
        );
    }

    #[test]
    fn a_token_that_is_bad_is_so_everywhere_and_one_without_a_right_in_its_repository() {
        let known = KnownCredentials::default();
        let now = SystemTime::now();
        let bad = Verdict::Refused("no".to_owned());
        known.note_refusal("bad", &repo("one"), &bad, now);
        assert_eq!(known.recall("bad", &repo("two"), now), RememberedVerdict::Refused(bad));
        let outside = Verdict::NoRight("no".to_owned());
        known.note_refusal("outsider", &repo("one"), &outside, now);
        assert_eq!(known.recall("outsider", &repo("two"), now), RememberedVerdict::Nothing);
        assert_eq!(
            known.recall("outsider", &repo("one"), now),
            RememberedVerdict::Refused(outside)
        );
        let later = now + REFUSAL_LIFETIME;
        assert_eq!(known.recall("bad", &repo("one"), later), RememberedVerdict::Nothing);
    }

    #[test]
    fn refused_credentials_drive_out_no_verified_one() {
        let (known, shop) = (KnownCredentials::default(), repo("shop"));
        let now = SystemTime::now();
        known.note_member("abc", &shop, member(), now, Duration::ZERO);
        let bad = Verdict::Refused("no".to_owned());
        for number in 0..50_000 {
            known.note_refusal(&number.to_string(), &shop, &bad, now);
        }
        assert!(matches!(known.recall("abc", &shop, now), RememberedVerdict::Member(..)));
        assert!(known.refused.len() <= MAX_REFUSED);
    }

    #[test]
    fn members_are_remembered_within_a_bound_and_one_that_is_used_stays() {
        let (known, shop) = (KnownCredentials::default(), repo("shop"));
        let now = SystemTime::now();
        known.note_member("used", &shop, member(), now, Duration::ZERO);
        for number in 0..4 * MAX_MEMBERS {
            known.note_member(&number.to_string(), &shop, member(), now, Duration::ZERO);
            assert!(
                matches!(known.recall("used", &shop, now), RememberedVerdict::Member(..)),
                "{number}"
            );
        }
        assert!(known.members.len() <= MAX_MEMBERS);
    }

    #[test]
    fn one_that_was_refused_does_not_come_back_when_github_falls_silent() {
        let (known, shop) = (KnownCredentials::default(), repo("shop"));
        let now = SystemTime::now();
        known.note_member("abc", &shop, member(), now, Duration::ZERO);
        let refused = Verdict::NoRight("no".to_owned());
        known.note_refusal("abc", &shop, &refused, now);
        known.note_silence("abc", &shop, now);
        assert_eq!(known.recall("abc", &shop, now), RememberedVerdict::Refused(refused));
    }

    #[test]
    fn one_renews_at_a_time() {
        let (known, shop) = (Arc::new(KnownCredentials::default()), repo("shop"));
        let first = known.begin_renewal("abc", &shop);
        assert!(first.is_some() && known.begin_renewal("abc", &shop).is_none());
        drop(first);
        assert!(known.begin_renewal("abc", &shop).is_some());
    }
}
