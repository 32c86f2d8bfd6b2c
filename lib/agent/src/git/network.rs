//! Runs git with a remote, with the user's credentials. Git never prompts.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::own_settings::OwnSettings;
use super::prepared::prepare;

/// `git ARGS`, a fetch or a list of references, in `folder`, with the protocols that git allows by default. Git runs
/// the user's credential helpers and ssh, so the caller must check that [`OwnSettings::redirecting`] finds no setting.
/// `ssh_command` is the setting `core.sshCommand`.
///
/// # Errors
/// As [`super::command()`].
pub fn command(folder: &Path, args: &[&str], ssh_command: Option<&str>) -> anyhow::Result<Command> {
    let mut command = prepare(folder, args, &OwnSettings::default())?;
    command
        .env_remove("GIT_NO_LAZY_FETCH")
        .env_remove("GIT_OPTIONAL_LOCKS")
        // The variable, even if empty, overrides the setting for a proxy program, which `-c` cannot remove.
        .env(
            "GIT_PROXY_COMMAND",
            std::env::var_os("GIT_PROXY_COMMAND").unwrap_or_default(),
        )
        .env(
            "GIT_ALLOW_PROTOCOL",
            std::env::var_os("GIT_ALLOW_PROTOCOL").unwrap_or_else(|| "file:git:http:https:ssh".into()),
        )
        .env("LC_ALL", "C");
    let variable = std::env::var_os;
    if let Some(ssh) = ssh_in_batch(variable("GIT_SSH_COMMAND"), variable("GIT_SSH"), ssh_command) {
        command.env("GIT_SSH_COMMAND", ssh);
    }
    Ok(command)
}

/// The ssh command without prompts. `None` if the program may have other options than OpenSSH.
fn ssh_in_batch(
    from_environment: Option<OsString>,
    program: Option<OsString>,
    configured: Option<&str>,
) -> Option<OsString> {
    let is_set = |value: &OsString| !value.is_empty();
    let mut command = match (from_environment.filter(is_set), program.filter(is_set), configured) {
        (Some(command), ..) => command,
        (None, _, Some(configured)) => configured.into(),
        (None, Some(_), None) => return None,
        (None, None, None) => "ssh".into(),
    };
    let text = command.to_string_lossy().to_ascii_lowercase();
    if text.contains("plink") || text.contains("putty") {
        return None;
    }
    command.push(" -oBatchMode=yes -oConnectTimeout=20");
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_runs_in_batch_mode_unless_its_program_is_unknown() {
        let batch = |environment: Option<&str>, program: Option<&str>, configured: Option<&str>| {
            let command = ssh_in_batch(environment.map(OsString::from), program.map(OsString::from), configured);
            command.map(|command| command.into_string().unwrap())
        };
        let options = "-oBatchMode=yes -oConnectTimeout=20";
        assert_eq!(batch(None, None, None), Some(format!("ssh {options}")));
        assert_eq!(
            batch(Some(""), None, Some("ssh -i k")),
            Some(format!("ssh -i k {options}"))
        );
        assert_eq!(
            batch(Some("ssh -v"), None, Some("ssh -i k")),
            Some(format!("ssh -v {options}"))
        );
        assert_eq!(batch(None, Some("/opt/wrapper"), None), None);
        assert_eq!(batch(None, None, Some("plink.exe -i k")), None);
    }
}
