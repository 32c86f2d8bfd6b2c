//! The requests of teams that are measured: `teams.rs` makes them.

/// A measured case, with the state that it needs.
#[derive(Clone, Copy, Debug)]
pub enum Case {
    /// The task on which 10,000 depend is completed.
    Cascade,
    /// The same, where 1,000 of these are assigned, each to another member.
    CascadeThatIsTold,
    /// The task on which 10,000 depend is deleted.
    Unlinking,
    /// The ends of a chain of 10,000 are joined.
    Ring,
    /// Two chains of 5,000 are joined to one.
    Joined,
    /// The ends of 50 layers of 200 are joined; each task depends on 20 of the layer before.
    Layers,
    /// The end of a large graph is to depend on the beginning of another.
    Apart,
    /// 16 new tasks, each of which depends on the same 256: as many dependencies as one request may add.
    ManyEdges,
    /// 200 new tasks, on each of which 20 others come to depend.
    ManyBlocked,
    /// A page of 500 of 20,000 tasks.
    Page,
    /// A filter that none of 20,000 passes.
    Filter,
    /// A page of tasks on which 1,000 depend each: as many as one login has room for.
    Hubs,
    /// 600 claims have expired when the next task is requested.
    Lapsed,
    /// A team of 1,000 members that have claimed 20,000 tasks.
    Team,
    /// A team of 50 members and their leader, with 20 claims each, is closed by force: as many as one run of the script ends.
    Forced,
    /// 500 of 1,000 messages.
    Inbox,
    /// A message to 100 members.
    Recipients,
    /// A filter that none of 1,000 messages passes.
    History,
    /// The newest 500 of them.
    Messages,
    /// A member leaves that has not read 1,000 messages of 16 KiB.
    Leaving,
}

impl Case {
    pub const ALL: [Case; 20] = [
        Case::Cascade,
        Case::CascadeThatIsTold,
        Case::Unlinking,
        Case::Ring,
        Case::Joined,
        Case::Layers,
        Case::Apart,
        Case::ManyEdges,
        Case::ManyBlocked,
        Case::Page,
        Case::Filter,
        Case::Hubs,
        Case::Lapsed,
        Case::Team,
        Case::Forced,
        Case::Inbox,
        Case::Recipients,
        Case::History,
        Case::Messages,
        Case::Leaving,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Case::Cascade => "team: completion of a task on which 10,000 depend",
            Case::CascadeThatIsTold => "team: the same, 1,000 members are told",
            Case::Unlinking => "team: deletion of a task on which 10,000 depend",
            Case::Ring => "team: a ring of 10,000 tasks",
            Case::Joined => "team: two chains of 5,000 tasks are joined",
            Case::Layers => "team: a ring over 10,000 tasks with 196,000 edges",
            Case::Apart => "team: a ring is searched for between two graphs of 16,000 dependencies",
            Case::ManyEdges => "team: 16 new tasks with 256 dependencies each",
            Case::ManyBlocked => "team: 200 new tasks on which 20 of 10,000 come to depend each",
            Case::Page => "team: a page of 500 of 20,000 tasks",
            Case::Filter => "team: a filter that none of 20,000 tasks passes",
            Case::Hubs => "team: a page of 256 tasks on which 1,000 depend each",
            Case::Lapsed => "team: next, after 600 claims have lapsed",
            Case::Team => "team: 1,000 members and 20,000 claims are shown",
            Case::Forced => "team: one run of a shutdown by force, 50 members with 1,000 claims",
            Case::Inbox => "team: 500 of 1,000 messages are read",
            Case::Recipients => "team: a message to 100 members",
            Case::History => "team: a filter that none of 1,000 messages passes",
            Case::Messages => "team: the newest 500 of 1,000 messages",
            Case::Leaving => "team: a member leaves 1,000 messages of 16 KiB unread",
        }
    }

    /// Whether it leaves the state as it was, so that it may be asked again.
    pub fn is_reading(self) -> bool {
        matches!(
            self,
            Case::Page
                | Case::Filter
                | Case::Hubs
                | Case::Team
                | Case::Inbox
                | Case::History
                | Case::Messages
                | Case::Ring
                | Case::Layers
                | Case::Apart
        )
    }
}
