//! The answers of the plugin's tools: records as JSON on one line.

use crate::json::{Json, render_in_line};
use crate::shape::Record;
use crate::team::{ConfigFile, TeamConfig};

pub fn record(record: &impl Record) -> String {
    render_in_line(&Json::Object(record.object()))
}

pub fn records(records: &[impl Record]) -> String {
    let objects = records.iter().map(|record| Json::Object(record.object()));
    render_in_line(&Json::Array(objects.collect()))
}

/// A team's configuration, with the empty lists that the plugin always writes.
pub fn team(config: TeamConfig) -> String {
    ConfigFile::new(config).render_in_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::TeamMember;
    use crate::time::Time;

    #[test]
    fn a_team_is_answered_as_its_file_has_it_in_one_line() {
        let time = Time::parse("2026-11-22T11:56:29.271Z").unwrap();
        let member = TeamMember {
            agent_id: "lead".to_owned(),
            agent_name: "The \"lead\"".to_owned(),
            agent_type: "leader".to_owned(),
            joined_at: time.clone(),
        };
        let config = TeamConfig {
            name: "alpha".to_owned(),
            created: time,
            leader: "lead".to_owned(),
            members: vec![member.clone()],
            shutdown_approvals: None,
            description: None,
        };
        let shown = r#"{"agentId":"lead","agentName":"The \"lead\"","agentType":"leader","joinedAt":"2026-11-22T11:56:29.271Z"}"#;
        assert_eq!(record(&member), shown);
        assert_eq!(records(&[member]), format!("[{shown}]"));
        assert_eq!(
            team(config),
            format!(
                r#"{{"name":"alpha","created":"2026-11-22T11:56:29.271Z","leader":"lead","members":[{shown}],"dispatchRules":[],"dispatchLog":[]}}"#
            )
        );
    }
}
