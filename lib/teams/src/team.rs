//! A team's configuration, and its file.

use crate::bounds::CONFIG_BYTES;
use crate::json::{self, Json, Object, member_of, set_member};
use crate::layout::Entry;
use crate::names::TeamName;
use crate::refusal::{Refusal, quote};
use crate::shape::{MemberError, Record, Shape, text, texts, time};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMember {
    /// The handle; not empty.
    pub agent_id: String,
    /// A name for people; not empty.
    pub agent_name: String,
    /// `leader`, `worker`, or another word; not empty.
    pub agent_type: String,
    pub joined_at: Time,
}

impl Record for TeamMember {
    fn members(&self) -> Vec<(&'static str, Option<Json>)> {
        vec![
            ("agentId", text(&self.agent_id)),
            ("agentName", text(&self.agent_name)),
            ("agentType", text(&self.agent_type)),
            ("joinedAt", time(&self.joined_at)),
        ]
    }
}

/// The used fields of `TeamConfigSchema`. Fields of later features are checked and kept, but not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// The team's name, which is also the folder's.
    pub name: String,
    pub created: Time,
    /// The handle of the leader.
    pub leader: String,
    /// At least one.
    pub members: Vec<TeamMember>,
    /// The handles of members that approved the shutdown.
    pub shutdown_approvals: Option<Vec<String>>,
    /// The purpose of the team.
    pub description: Option<String>,
}

const ORDER: [&str; 12] = [
    "name",
    "created",
    "leader",
    "members",
    "shutdownApprovals",
    "topology",
    "description",
    "templateSource",
    "roles",
    "workflowConfig",
    "dispatchRules",
    "dispatchLog",
];

impl TeamConfig {
    fn of(value: &Json) -> Result<Self, MemberError> {
        let shape = Shape::of(value, "")?;
        let config = Self {
            name: shape.text("name")?,
            created: shape.time("created")?,
            leader: shape.text_not_empty("leader")?,
            members: shape.objects("members")?.iter().map(member).collect::<Result<_, _>>()?,
            shutdown_approvals: shape.optional_texts("shutdownApprovals")?,
            description: shape.optional_text("description")?,
        };
        if config.members.is_empty() {
            return Err(MemberError::new("members", "Array must contain at least 1 element(s)"));
        }
        TeamName::parse(&config.name).map_err(|error| MemberError::new("name", error.to_string()))?;
        check_later_features(&shape)?;
        Ok(config)
    }
}

fn member(shape: &Shape) -> Result<TeamMember, MemberError> {
    Ok(TeamMember {
        agent_id: shape.text_not_empty("agentId")?,
        agent_name: shape.text_not_empty("agentName")?,
        agent_type: shape.text_not_empty("agentType")?,
        joined_at: shape.time("joinedAt")?,
    })
}

fn check_later_features(shape: &Shape) -> Result<(), MemberError> {
    shape.optional_word("topology", &["flat", "hierarchical"], |word| word)?;
    shape.optional_text("templateSource")?;
    for role in shape.optional_objects("roles")?.unwrap_or_default() {
        role.text("name")?;
        role.optional_texts("allowedTools")?;
        role.optional_texts("deniedTools")?;
        role.optional_text("description")?;
    }
    if let Some(workflow) = shape.optional_object("workflowConfig")? {
        workflow.optional_flag("enabled")?;
        for number in ["taskThreshold", "workerRatio", "cooldownSeconds"] {
            workflow.check_optional_number(number)?;
        }
        workflow.optional_text("lastSuggestionAt")?;
    }
    shape.optional_items("dispatchRules")?;
    shape.optional_items("dispatchLog")?;
    Ok(())
}

/// `teams/TEAM/config.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFile {
    config: TeamConfig,
    object: Object,
}

impl ConfigFile {
    /// Parses the configuration of `team`. The file must contain this name.
    pub fn parse(team: &TeamName, bytes: &[u8]) -> Result<Self, Refusal> {
        let path = Entry::Config(team.clone()).path();
        let value = json::parse(bytes, CONFIG_BYTES).map_err(|message| Refusal::of_file(&path, message))?;
        let config = TeamConfig::of(&value).map_err(|error| error.in_file(&path))?;
        if config.name != team.as_str() {
            let message = format!("{} is not the name of the folder", quote(&config.name));
            return Err(MemberError::new("name", message).in_file(&path));
        }
        let Json::Object(object) = value else {
            unreachable!("a configuration is an object");
        };
        Ok(Self { config, object })
    }

    /// A new file, with the empty lists that the plugin always writes.
    pub fn new(config: TeamConfig) -> Self {
        let mut object = config.object();
        for list in ["dispatchRules", "dispatchLog"] {
            object.push((list.to_owned(), Json::Array(Vec::new())));
        }
        Self { config, object }
    }

    pub fn config(&self) -> &TeamConfig {
        &self.config
    }

    /// The file with `config` in it. Unknown fields stay, also those of members.
    pub fn with(&self, config: TeamConfig) -> Self {
        let mut object = config.edit(&self.config, &self.object);
        if config.members != self.config.members {
            let objects = config
                .members
                .iter()
                .map(|member| Json::Object(self.edit_member(member)));
            let objects = Json::Array(objects.collect());
            set_member(&mut object, &ORDER, "members", Some(objects));
        }
        Self { config, object }
    }

    fn edit_member(&self, member: &TeamMember) -> Object {
        let index = self
            .config
            .members
            .iter()
            .position(|old| old.agent_id == member.agent_id);
        match (index, member_of(&self.object, "members")) {
            (Some(index), Some(Json::Array(objects))) => match &objects[index] {
                Json::Object(object) => member.edit(&self.config.members[index], object),
                _ => unreachable!("a member is an object"),
            },
            _ => member.object(),
        }
    }

    pub fn render(&self) -> String {
        json::render(&Json::Object(self.object.clone()))
    }

    /// The text on one line.
    pub(crate) fn render_in_line(&self) -> String {
        json::render_in_line(&Json::Object(self.object.clone()))
    }
}

impl Record for TeamConfig {
    fn members(&self) -> Vec<(&'static str, Option<Json>)> {
        let members = self.members.iter().map(|member| Json::Object(member.object()));
        vec![
            ("name", text(&self.name)),
            ("created", time(&self.created)),
            ("leader", text(&self.leader)),
            ("members", Some(Json::Array(members.collect()))),
            ("shutdownApprovals", self.shutdown_approvals.as_deref().and_then(texts)),
            ("description", self.description.as_deref().and_then(text)),
        ]
    }
}
