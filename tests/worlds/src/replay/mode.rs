//! How a run is played: the policy of the repository, and the habits of its agents.

use std::fmt;

/// The scope that a lock excludes.
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
    /// It checks first, and takes another task where it would be refused (SWITCH_TASK, with `metadata.free`). Where it finds none, it
    /// looks again a little later.
    Switches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub rules: Rules,
    pub shared: Shared,
    pub hold: Hold,
    pub refused: RefusalHabit,
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
        format!("neighbors = \"{neighbors}\"\n{shared}")
    }

    /// Whether the policy promises that nobody changes the interface of a neighbor of a file that another writes.
    pub fn excludes_hazards(&self) -> bool {
        matches!(self.rules, Rules::Neighbors | Rules::Interface)
    }

    /// All rows of the report.
    pub fn all() -> Vec<Mode> {
        let mut modes = vec![Mode::of(Rules::None, Shared::Default)];
        modes.extend([Shared::None, Shared::Default, Shared::Hot].map(|shared| Mode::of(Rules::Files, shared)));
        modes.push(Mode::of(Rules::Neighbors, Shared::Hot).refused(RefusalHabit::Waits));
        for hold in [Hold::Whole, Hold::Edits] {
            let mode = Mode::of(Rules::Interface, Shared::Hot).hold(hold);
            modes.extend([RefusalHabit::Waits, RefusalHabit::Switches].map(|refused| mode.refused(refused)));
        }
        modes
    }

    fn hold(self, hold: Hold) -> Mode {
        Mode { hold, ..self }
    }

    fn refused(self, refused: RefusalHabit) -> Mode {
        Mode { refused, ..self }
    }

    /// Whether agents claim at all, and so the policy promises that tasks do not conflict outside of shared files.
    pub fn locks(&self) -> bool {
        self.rules != Rules::None
    }

    /// Files held for the whole task, and `sleep 5` where they are refused.
    pub fn of(rules: Rules, shared: Shared) -> Mode {
        Mode {
            rules,
            shared,
            hold: Hold::Whole,
            refused: RefusalHabit::Sleeps,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = match self.rules {
            Rules::None => return formatter.write_str("no locks"),
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
            Hold::Edits => "held from each edit",
        };
        let refused = match self.refused {
            RefusalHabit::Sleeps => "",
            RefusalHabit::Waits => ", claims wait for their turn",
            RefusalHabit::Switches => ", other tasks first",
        };
        write!(formatter, "{rules}, {shared}, {hold}{refused}")
    }
}
