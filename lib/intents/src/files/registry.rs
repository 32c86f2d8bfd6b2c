//! Reads `active_intents.yaml`.

use std::collections::HashSet;

use super::Refusal;
use super::scalar::{Kind, kind};
use super::tree::{Content, Entry, Node, Style, Tree};
use crate::intent::{Budget, Criterion, CriterionProof, Intent, MAX_INTENTS, RelatedSpec, Status, is_valid_id};

/// The largest file that is read.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The root keys in order of precedence. The first is newer. Coord writes the second, that of the original data model.
const ROOT_KEYS: [&str; 2] = ["active_intents", "intents"];

/// A parsed `active_intents.yaml`.
pub struct Registry {
    pub(super) text: String,
    pub(super) tree: Tree,
    pub(super) intents: Vec<Intent>,
}

impl Registry {
    /// Reads a file. An empty one has no intents.
    ///
    /// # Errors
    /// The file is damaged, or has a value that no intent can have; see [`Refusal`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_BYTES {
            return Err(Refusal::at(
                "",
                0,
                format!("the file is larger than {} MiB", MAX_BYTES >> 20),
            ));
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                return Err(Refusal::at(&valid, valid.len(), "the file is not UTF-8"));
            }
        };
        let tree = Tree::parse(&text)?;
        let intents = Reader { text: &text }.intents(&tree.root)?;
        Ok(Self { text, tree, intents })
    }

    /// The intents, in the order of the file. [`Intent::missing`] names missing members.
    pub fn intents(&self) -> &[Intent] {
        &self.intents
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The entry with the list of intents, if the file has one.
    pub(super) fn root_entry(&self) -> Option<&Entry> {
        root_entry(&self.tree.root)
    }
}

/// The newer key wins if both have a value. A key without a value yields to the other.
fn root_entry(root: &Node) -> Option<&Entry> {
    let entries = || ROOT_KEYS.into_iter().filter_map(move |key| root.entry(key));
    entries()
        .find(|entry| !entry.value.is_null())
        .or_else(|| entries().next())
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn refuse<T>(&self, node: &Node, message: impl Into<String>) -> Result<T, Refusal> {
        Err(Refusal::at(self.text, node.start, message))
    }

    fn intents(&self, root: &Node) -> Result<Vec<Intent>, Refusal> {
        if root.is_null() {
            return Ok(Vec::new());
        }
        if root.entries().is_none() {
            return self.refuse(root, "the file must begin with the key `intents:`");
        }
        let Some(entry) = root_entry(root) else {
            return Ok(Vec::new());
        };
        let nodes = self.list(&entry.value, &entry.key)?;
        if nodes.len() > MAX_INTENTS {
            return self.refuse(nodes[MAX_INTENTS], format!("more than {MAX_INTENTS} intents"));
        }
        let mut ids = HashSet::new();
        let mut intents = Vec::with_capacity(nodes.len());
        for node in nodes {
            let intent = self.intent(node)?;
            if !ids.insert(intent.id.clone()) {
                let id_node = node.entry("id").map_or(node, |entry| &entry.value);
                return self.refuse(id_node, format!("the id `{}` appears twice", intent.id));
            }
            intents.push(intent);
        }
        Ok(intents)
    }

    fn intent(&self, node: &Node) -> Result<Intent, Refusal> {
        let Some(entries) = node.entries() else {
            return self.refuse(node, "expected an intent: `id: ...` and its other members");
        };
        let mut intent = Intent::default();
        let mut marks = Vec::new();
        for entry in entries {
            let (key, value) = (entry.key.as_str(), &entry.value);
            match key {
                "id" => intent.id = self.id(value)?,
                "name" => intent.name = self.text(value, key)?.unwrap_or_default(),
                "description" => intent.description = self.text(value, key)?.unwrap_or_default(),
                "status" => intent.status = self.status(value)?,
                "constraints" => intent.constraints = self.texts(value, key)?,
                "owned_scope" => intent.owned_scope = self.texts(value, key)?,
                "acceptance_criteria" => {
                    intent.acceptance_criteria = self.texts(value, key)?.into_iter().map(Criterion::new).collect();
                }
                "budget" => intent.budget = self.budget(value)?,
                "assigned_agent" => intent.assigned_agent = self.text(value, key)?,
                "created_at" => intent.created_at = self.text(value, key)?,
                "updated_at" => intent.updated_at = self.text(value, key)?,
                "branch" => intent.branch = self.text(value, key)?,
                "supplements" => intent.supplements = self.text(value, key)?,
                "related_specs" => intent.related_specs = self.related_specs(value)?,
                "criteria" => marks = self.marks(value)?,
                _ => {}
            }
        }
        if intent.id.is_empty() {
            return self.refuse(node, "an intent has no `id`");
        }
        for (text, met) in marks {
            // If the text of a criterion changes, its mark is dropped.
            if let Some(criterion) = intent
                .acceptance_criteria
                .iter_mut()
                .find(|criterion| criterion.text == text)
            {
                criterion.met = Some(met);
            }
        }
        Ok(intent)
    }

    fn id(&self, node: &Node) -> Result<String, Refusal> {
        let id = self.text(node, "id")?.unwrap_or_default();
        if !is_valid_id(&id) {
            return self.refuse(
                node,
                "an id has 1 to 64 letters, digits, `.`, `_` and `-`, and begins with a letter or digit",
            );
        }
        Ok(id)
    }

    fn status(&self, node: &Node) -> Result<Status, Refusal> {
        let Some(name) = self.text(node, "status")? else {
            return Ok(Status::default());
        };
        match Status::parse(&name) {
            Some(status) => Ok(status),
            None => self.refuse(
                node,
                format!("`{name}` is not a status: write PENDING, IN_PROGRESS, COMPLETED, ABANDONED or BLOCKED"),
            ),
        }
    }

    fn text(&self, node: &Node, key: &str) -> Result<Option<String>, Refusal> {
        if node.is_null() {
            return Ok(None);
        }
        let Content::Scalar { text, style } = &node.content else {
            return self.refuse(node, format!("`{key}` must be text"));
        };
        let other_type = match kind(text) {
            Kind::Text => None,
            Kind::Number => Some("a number"),
            Kind::Bool => Some("true or false"),
        };
        if *style == Style::Plain
            && let Some(other_type) = other_type
        {
            return self.refuse(
                node,
                format!("`{key}` must be text, but `{text}` is {other_type}: put it in quotes"),
            );
        }
        Ok((!text.is_empty()).then(|| text.clone()))
    }

    /// The text of a member; empty if the member is missing.
    fn member(&self, node: &Node, key: &str) -> Result<String, Refusal> {
        let text = node.entry(key).map(|entry| self.text(&entry.value, key));
        Ok(text.transpose()?.flatten().unwrap_or_default())
    }

    /// The nodes of a list; a missing list is an empty one.
    fn list<'a>(&self, node: &'a Node, key: &str) -> Result<Vec<&'a Node>, Refusal> {
        if node.is_null() {
            return Ok(Vec::new());
        }
        match node.items() {
            Some(items) => Ok(items.iter().map(|item| &item.node).collect()),
            None => self.refuse(node, format!("`{key}` must be a list")),
        }
    }

    fn texts(&self, node: &Node, key: &str) -> Result<Vec<String>, Refusal> {
        let item = |node: &Node| match self.text(node, key)? {
            Some(text) => Ok(text),
            None => self.refuse(node, format!("an item of `{key}` is empty")),
        };
        self.list(node, key)?.into_iter().map(item).collect()
    }

    fn budget(&self, node: &Node) -> Result<Option<Budget>, Refusal> {
        if node.is_null() {
            return Ok(None);
        }
        let Some(entries) = node.entries() else {
            return self.refuse(
                node,
                "`budget` must have `max_turns`, `max_tokens` and the consumed amounts",
            );
        };
        let mut budget = Budget::default();
        for entry in entries {
            let (key, value) = (entry.key.as_str(), &entry.value);
            match key {
                "max_turns" => budget.max_turns = self.number(value, key)?,
                "max_tokens" => budget.max_tokens = self.number(value, key)?,
                "consumed_turns" => budget.consumed_turns = self.number(value, key)?.unwrap_or(0),
                "consumed_tokens" => budget.consumed_tokens = self.number(value, key)?.unwrap_or(0),
                _ => {}
            }
        }
        Ok(Some(budget).filter(|&budget| budget != Budget::default()))
    }

    fn number(&self, node: &Node, key: &str) -> Result<Option<u64>, Refusal> {
        if node.is_null() {
            return Ok(None);
        }
        let number = match &node.content {
            Content::Scalar {
                text,
                style: Style::Plain,
            } if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => self.refuse(node, format!("`{key}` must be a whole number")),
        }
    }

    fn related_specs(&self, node: &Node) -> Result<Vec<RelatedSpec>, Refusal> {
        let spec = |node: &Node| {
            if node.entries().is_none() {
                return Ok(RelatedSpec::Text(self.text(node, "related_specs")?.unwrap_or_default()));
            }
            Ok(RelatedSpec::Typed {
                r#type: self.member(node, "type")?,
                value: self.member(node, "value")?,
            })
        };
        self.list(node, "related_specs")?.into_iter().map(spec).collect()
    }

    fn marks(&self, node: &Node) -> Result<Vec<(String, CriterionProof)>, Refusal> {
        let mark = |node: &Node| {
            if node.entries().is_none() {
                return self.refuse(
                    node,
                    "`criteria` must be a list of `criterion`, `by`, `at` and `evidence`",
                );
            }
            let criterion = self.member(node, "criterion")?;
            let proof = CriterionProof {
                by: self.member(node, "by")?,
                at: self.member(node, "at")?,
                evidence: self.member(node, "evidence")?,
            };
            Ok((criterion, proof))
        };
        self.list(node, "criteria")?.into_iter().map(mark).collect()
    }
}
