//! The settings of a repository's own configuration that name programs, or decide where a credential goes. The
//! repository's author wrote them, so they are ignored. The same settings in the user's own configuration count.

use anyhow::{Context, ensure};

/// Settings below `http` that redirect nothing. `extraHeader` is a credential of the repository itself.
const HARMLESS_HTTP: [&str; 8] = [
    "extraheader",
    "lowspeedlimit",
    "lowspeedtime",
    "maxrequests",
    "minsessions",
    "postbuffer",
    "useragent",
    "version",
];

/// Settings of a remote that name a program or a proxy.
const REDIRECTING_REMOTE: [&str; 5] = ["proxy", "proxyauthmethod", "receivepack", "uploadpack", "vcs"];

/// Other settings that affect the programs or the servers of a fetch.
const REDIRECTING_OTHER: [&str; 4] = [
    "core.alternaterefscommand",
    "core.gitproxy",
    "core.sshcommand",
    "fetch.bundleuri",
];

/// The names of the settings in a repository's own configuration, as git prints them: section and key in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnSettings {
    names: Vec<String>,
}

impl OwnSettings {
    /// Settings for `git -c` that disable filters, and hooks that are settings. A file that needs a filter cannot be
    /// added then.
    ///
    /// # Errors
    /// When a name cannot be an argument of `-c`.
    pub(super) fn overrides(&self) -> anyhow::Result<Vec<String>> {
        let mut settings = Vec::new();
        for name in &self.names {
            let (section, driver, _) = split_name(name);
            let Some(driver) = driver.filter(|_| ["filter", "hook"].contains(&section)) else {
                continue;
            };
            ensure!(
                !driver.contains(['=', '\n']),
                "the repository's own configuration has a {section} whose name has an equals sign: rename it"
            );
            let keys: &[&str] = match section {
                "filter" => &["clean=", "smudge=", "process=", "required=true"],
                _ => &["enabled=false", "command="],
            };
            settings.extend(keys.iter().map(|key| format!("{section}.{driver}.{key}")));
        }
        settings.sort_unstable();
        settings.dedup();
        Ok(settings)
    }

    /// The name of a setting with which a fetch would run a program of the repository's choice, or send a credential to
    /// a server of its choice.
    pub fn redirecting(&self) -> Option<&str> {
        let is_redirecting = |name: &&String| {
            let (section, _, key) = split_name(name);
            match section {
                "credential" => key != "username",
                "http" => !HARMLESS_HTTP.contains(&key),
                "hook" => true,
                "remote" => REDIRECTING_REMOTE.contains(&key),
                _ => REDIRECTING_OTHER.contains(&name.as_str()),
            }
        };
        self.names.iter().find(is_redirecting).map(String::as_str)
    }

    /// Parses the output of `git config --list --show-scope -z`.
    pub(super) fn parse(list: &[u8]) -> anyhow::Result<OwnSettings> {
        let mut fields = list.split(|byte| *byte == 0);
        let mut names = Vec::new();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            if scope != b"local" && scope != b"worktree" {
                continue;
            }
            let name = entry.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let name = std::str::from_utf8(name).context("the repository's own configuration is not UTF-8")?;
            names.push(name.to_owned());
        }
        Ok(OwnSettings { names })
    }
}

/// The section, the subsection and the key of a name such as `filter.lfs.clean`.
fn split_name(name: &str) -> (&str, Option<&str>, &str) {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    match rest.rsplit_once('.') {
        Some((driver, key)) => (section, Some(driver), key),
        None => (section, None, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(names: &[&str]) -> OwnSettings {
        OwnSettings {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn only_the_repositorys_own_settings_count_with_what_it_includes() {
        let list = b"global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.Own.clean\nx\ny\0\
                     worktree\0core.bare\0command\0core.pager\ncat\0";
        assert_eq!(
            OwnSettings::parse(list).unwrap(),
            own(&["filter.Own.clean", "core.bare"])
        );
    }

    #[test]
    fn filters_are_taken_back_by_name() {
        let settings = own(&["filter.a.b.clean", "filter.a.b.smudge", "user.name"]);
        assert_eq!(
            settings.overrides().unwrap(),
            [
                "filter.a.b.clean=",
                "filter.a.b.process=",
                "filter.a.b.required=true",
                "filter.a.b.smudge="
            ]
        );
        assert!(own(&["filter.a=b.clean"]).overrides().is_err());
    }

    #[test]
    fn a_fetch_is_redirected_by_programs_proxies_and_helpers_alone() {
        for name in [
            "core.sshcommand",
            "core.gitproxy",
            "credential.helper",
            "credential.https://github.com.helper",
            "http.proxy",
            "http.https://github.com/.sslverify",
            "remote.origin.uploadpack",
            "remote.origin.proxy",
            "remote.a.b.vcs",
            "fetch.bundleuri",
            "hook.x.command",
        ] {
            assert_eq!(own(&["user.name", name]).redirecting(), Some(name), "{name}");
        }
        for name in [
            "remote.origin.url",
            "remote.origin.fetch",
            "credential.https://github.com.username",
            "http.https://github.com/.extraheader",
            "http.postbuffer",
            "url.https://github.com/.insteadof",
            "branch.main.remote",
        ] {
            assert_eq!(own(&[name]).redirecting(), None, "{name}");
        }
    }
}
