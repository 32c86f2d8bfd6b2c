//! The `agent_id` of a session: of a conversation, of an agent's process, and of a writer below a conversation.

use coord_domain::AgentId;

/// Maximum number of characters of a writer's own name in its id.
const MAX_WRITER_CHARS: usize = 40;

/// The holder of the conversation `name` of the program `agent`, the same in every process.
///
/// # Errors
/// When `agent` is not valid in an `agent_id`.
pub(super) fn id_of(agent: &str, name: &str) -> anyhow::Result<AgentId> {
    let digest = sha1_smol::Sha1::from(name).digest().to_string();
    id(agent, &digest[..8])
}

/// The holder for the writer `name` below `lead`, a subagent of its conversation. If that is too long for an id, it is
/// `lead`.
pub fn below(lead: &AgentId, name: &str) -> AgentId {
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let mut writer: String = name.chars().filter(is_plain).take(MAX_WRITER_CHARS).collect();
    if writer != name {
        let digest = sha1_smol::Sha1::from(name).digest().to_string();
        writer = format!("{writer}.{}", &digest[..8]);
    }
    AgentId::parse(&format!("{}{}{writer}", lead.as_str(), AgentId::WRITER_SEPARATOR)).unwrap_or_else(|_| lead.clone())
}

/// The holder `AGENT-SUFFIX`.
///
/// # Errors
/// When `agent` is not valid in an `agent_id`.
pub(super) fn id(agent: &str, suffix: &str) -> anyhow::Result<AgentId> {
    AgentId::parse(&format!("{agent}-{suffix}"))
        .map_err(|invalid| anyhow::anyhow!("the agent's name {agent:?} {invalid}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // rule: holders#writer
    #[test]
    fn a_writer_has_an_id_below_its_lead_whatever_its_name() {
        let lead = AgentId::parse("claude-code-1f0c22aa").unwrap();
        assert_eq!(below(&lead, "a1b2").as_str(), "claude-code-1f0c22aa::a1b2");
        let long = "x".repeat(300);
        let names = ["ann@alpha", "ann.alpha", "annalpha", "a::b", "", "名前", &long, "x"];
        let ids: Vec<AgentId> = names.iter().map(|name| below(&lead, name)).collect();
        let distinct: HashSet<&AgentId> = ids.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{ids:?}");
        assert!(ids.iter().all(|id| id.lead() == Some(lead.clone())), "{ids:?}");
        assert_eq!(lead.lead(), None);
    }
}
