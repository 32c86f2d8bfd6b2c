//! The groups by which a caller selects tools, such as `?tools=locks,tasks`.

use super::tool_set::{SelectableGroup, ToolGroup, ToolSets};

impl ToolGroup {
    /// The tools of files, and the tools that extensions add to them.
    pub const LOCKS: ToolGroup = ToolGroup("locks");

    /// The tools of files. Callers cannot select it.
    pub(super) const FILES: ToolGroup = ToolGroup("files");

    /// The groups that are offered to callers that select none.
    pub fn defaults(sets: ToolSets) -> Vec<ToolGroup> {
        let defaults = selectable(sets).filter(|selectable| selectable.is_default);
        defaults.map(|selectable| selectable.group).collect()
    }

    /// The groups for a repository that uses the extensions of `extension_groups`: the tools of files, and those.
    pub fn in_use(extension_groups: &[ToolGroup]) -> Vec<ToolGroup> {
        [&[ToolGroup::FILES], extension_groups].concat()
    }

    /// The groups with these names, such as `locks,tasks`.
    ///
    /// # Errors
    /// A sentence, when there is no such group, or the groups cannot be combined.
    pub fn parse(sets: ToolSets, names: &str) -> Result<Vec<ToolGroup>, String> {
        let mut groups = Vec::new();
        for name in names.split(',') {
            let Some(selected) = selectable(sets).find(|selectable| selectable.group.0 == name) else {
                let names: Vec<&str> = selectable(sets).map(|selectable| selectable.group.0).collect();
                return Err(format!("takes {}, with commas between", names.join(", ")));
            };
            groups.push(selected.group);
        }
        for SelectableGroup { group, replaces, .. } in selectable(sets) {
            if groups.contains(group) && replaces.iter().any(|replaced| groups.contains(replaced)) {
                let replaced: Vec<&str> = replaces.iter().map(|replaced| replaced.0).collect();
                let replaced = replaced.join(" and ");
                return Err(format!("takes {} in place of {replaced}, not beside them", group.0));
            }
        }
        Ok(groups)
    }
}

static LOCKS: SelectableGroup = SelectableGroup {
    group: ToolGroup::LOCKS,
    is_default: true,
    replaces: &[],
};

fn selectable(sets: ToolSets) -> impl Iterator<Item = &'static SelectableGroup> {
    std::iter::once(&LOCKS).chain(sets.iter().flat_map(|set| set.groups))
}
