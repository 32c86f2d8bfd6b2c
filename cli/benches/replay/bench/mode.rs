//! How a run is played: the policy of the repository, and the habits of its agents.

use std::fmt;

/// What the locks exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Nothing: no agent locks.
    None,
    /// Files, without their neighbors.
    Files,
    /// Files and neighbors, as documented.
    Neighbors,
    /// The same, where an edit suffices that changes an interface: the hooks of the agents compare each file before and after it.
    Interface,
}

/// Which files several may write at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// None.
    None,
    /// Shared without a policy: lockfiles, and files that `.gitattributes` names.
    Default,
    /// Other files that many commits change: manifests, changelogs, translations, snapshots, Markdown.
    Hot,
}

/// When the files of a task are claimed; they are held until it is pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// All of them before the work, with what the edits will show.
    Whole,
    /// All of them before the work, by a planned claim, which keeps the interfaces. The edits are in the last third, and each that
    /// changes an interface is claimed anew.
    Planned,
    /// All of them with the first edit, in the last third.
    Last,
    /// Each with its edit, in the last third, as hooks do.
    Edits,
}

/// How an agent reacts to a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalHabit {
    /// Follows WAIT: `sleep 5`.
    Sleeps,
    /// Its claim waits for its turn (`wait_seconds`).
    Waits,
    /// Follows WAIT without a place in the queue: the first agent to ask when the files are free gets them.
    Races,
    /// It checks first, and takes another task where it would be refused (SWITCH_TASK, with `metadata.free`). Where it finds none, it
    /// looks again a little later.
    Switches,
    /// The same, but it waits for the files of a task that has been passed over for three minutes.
    Returns,
}

/// Where the agents push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branches {
    /// To the branch itself.
    One,
    /// Each task to a work branch, which is merged after a review. Until then others are warned of its changes.
    Work,
    /// The same, and no other agent can claim the files before it is merged (`pending = "block"`).
    WorkBlocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub rules: Rules,
    pub shared: Shared,
    pub hold: Hold,
    pub refused: RefusalHabit,
    pub branches: Branches,
}

/// The patterns of [`Shared::Hot`], beside the lockfiles that are shared anyway.
const HOT: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pyproject.toml",
    "requirements*.txt",
    "*.md",
    "CHANGELOG*",
    "*.snap",
    "__snapshots__/",
    "**/locales/**/*.json",
    "**/i18n/**/*.json",
    "translations/",
    "*.po",
];

impl Mode {
    /// `.coord.toml` of the repository.
    pub fn policy(&self) -> String {
        let neighbors = match self.rules {
            Rules::None | Rules::Files => "off",
            Rules::Neighbors => "block",
            Rules::Interface => "interface",
        };
        let quoted = |names: &mut dyn Iterator<Item = &str>| {
            let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            format!("shared = [{}]\n", names.join(", "))
        };
        let shared = match self.shared {
            Shared::None => "shared = []\n".to_owned(),
            Shared::Default => String::new(),
            Shared::Hot => quoted(&mut coord_settings::policy::SHARED_NAMES.iter().chain(HOT).copied()),
        };
        let pending = match self.branches {
            Branches::One | Branches::Work => "warn",
            Branches::WorkBlocks => "block",
        };
        format!("neighbors = \"{neighbors}\"\npending = \"{pending}\"\n{shared}")
    }

    /// Whether the policy promises that tasks do not conflict outside of shared files.
    pub fn excludes_conflicts(&self) -> bool {
        self.locks() && self.branches != Branches::Work
    }

    /// Whether it promises that no agent changes the interface of a neighbor of a file that another agent is writing. A
    /// pending change does not block its neighbors.
    pub fn excludes_hazards(&self) -> bool {
        matches!(self.rules, Rules::Neighbors | Rules::Interface) && self.branches == Branches::One
    }

    /// Whether files are held for the whole task.
    pub fn is_held_throughout(&self) -> bool {
        matches!(self.hold, Hold::Whole | Hold::Planned)
    }

    /// All rows of the report.
    pub fn all() -> Vec<Mode> {
        let mut modes = vec![Mode::of(Rules::None, Shared::Default)];
        for rules in [Rules::Files, Rules::Neighbors, Rules::Interface] {
            for shared in [Shared::None, Shared::Default, Shared::Hot] {
                let whole = Mode::of(rules, shared);
                modes.extend([whole, whole.hold(Hold::Last)]);
                if rules == Rules::Files || shared == Shared::None {
                    continue;
                }
                let others = [
                    RefusalHabit::Races,
                    RefusalHabit::Waits,
                    RefusalHabit::Switches,
                    RefusalHabit::Returns,
                ];
                modes.extend(others.map(|refused| whole.refused(refused)));
                if rules != Rules::Interface {
                    continue;
                }
                for hold in [Hold::Planned, Hold::Last, Hold::Edits] {
                    let others = [RefusalHabit::Waits, RefusalHabit::Switches, RefusalHabit::Returns];
                    modes.extend(others.map(|refused| whole.hold(hold).refused(refused)));
                }
            }
        }
        for (rules, branches) in [
            (Rules::None, Branches::Work),
            (Rules::Interface, Branches::Work),
            (Rules::Interface, Branches::WorkBlocks),
        ] {
            let mode = Mode::of(rules, Shared::Hot).refused(RefusalHabit::Waits);
            modes.push(Mode { branches, ..mode });
        }
        modes
    }

    fn hold(self, hold: Hold) -> Mode {
        Mode { hold, ..self }
    }

    fn refused(self, refused: RefusalHabit) -> Mode {
        Mode { refused, ..self }
    }

    /// Whether agents claim at all.
    pub fn locks(&self) -> bool {
        self.rules != Rules::None
    }

    /// One branch, files held for the whole task, and `sleep 5` where they are refused.
    pub fn of(rules: Rules, shared: Shared) -> Mode {
        Mode {
            rules,
            shared,
            hold: Hold::Whole,
            refused: RefusalHabit::Sleeps,
            branches: Branches::One,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branches = match self.branches {
            Branches::One => "",
            Branches::Work => ", work branches",
            Branches::WorkBlocks => ", work branches that block",
        };
        let rules = match self.rules {
            Rules::None => return write!(formatter, "no locks{branches}"),
            Rules::Files => "files",
            Rules::Neighbors => "neighbors",
            Rules::Interface => "interface",
        };
        let shared = match self.shared {
            Shared::None => "nothing shared",
            Shared::Default => "lockfiles shared",
            Shared::Hot => "hot files shared",
        };
        let hold = match self.hold {
            Hold::Whole => "held for the whole task",
            Hold::Planned => "planned for the whole task",
            Hold::Last => "held from the first edit",
            Hold::Edits => "held from each edit",
        };
        let refused = match self.refused {
            RefusalHabit::Sleeps => "",
            RefusalHabit::Waits => ", claims wait for their turn",
            RefusalHabit::Races => ", without the queue",
            RefusalHabit::Switches => ", other tasks first",
            RefusalHabit::Returns => ", other tasks before old ones",
        };
        write!(formatter, "{rules}, {shared}, {hold}{refused}{branches}")
    }
}
