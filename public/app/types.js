// The types that the modules of the page share. Nothing runs here: other modules import these types in JSDoc.

/** @typedef {'WRITING' | 'READING'} LockMode */

/**
 * A lock on one file. A file has one WRITING lock, or any number of READING locks.
 * @typedef {object} Lock
 * @property {string} path
 * @property {string} holder Key of the holder: `login`, or `login/agent_id`.
 * @property {string} user Login.
 * @property {string} userName Name to show.
 * @property {string | null} agentId
 * @property {LockMode} mode
 * @property {string} message
 * @property {number} since When it was granted, as far as the page knows: milliseconds since 1970.
 * @property {number} renewedAt When it was granted or last renewed.
 * @property {number} expiry Milliseconds since 1970.
 * @property {string | null} intentId The intent that it is held for.
 * @property {boolean} keepsInterface Whether its holder keeps the interface, so that neighbors are not blocked.
 */

/**
 * @typedef {object} FileEntry
 * @property {string} path
 * @property {string} name The part after the last slash.
 * @property {number} size Bytes; 0 where unknown.
 * @property {string | null} language
 * @property {string | null} state Why it was not scanned, if it was not.
 */

/**
 * The import graph of one commit. Files are sorted by path; numbers are indices into them.
 * @typedef {object} Graph
 * @property {string} version Commit.
 * @property {FileEntry[]} files
 * @property {Map<string, number>} indexOf By path.
 * @property {number[][]} imports Of each file, what it imports.
 * @property {number[][]} importers Of each file, what imports it.
 * @property {number} edgeCount
 * @property {import('./graph.js').Bound[]} bounds Those that the build has met.
 */

/** @typedef {'none' | 'building' | 'stale' | 'ready'} GraphState */

/**
 * One holder of locks, or one who was refused of late.
 * @typedef {object} Agent
 * @property {string} holder
 * @property {string} user
 * @property {string} userName
 * @property {string | null} agentId
 * @property {Lock[]} locks Sorted by path.
 * @property {string} message What it said last.
 * @property {number} since When it took its oldest lock, or was refused.
 * @property {number | null} expiry When its first lock expires; none without locks.
 * @property {string | null} command The last orchestration command that it was given, such as `PROCEED`.
 * @property {number | null} commandAt
 * @property {number} heardAt When it was heard last, as far as the page knows.
 * @property {Conflict[]} conflicts Whom it waits for, and who waits for it.
 * @property {import('./waits.js').Wait | null} wait Its place in the queue.
 */

/**
 * @typedef {object} Conflict
 * @property {string} holder The other one.
 * @property {string[]} paths
 * @property {boolean} isWaiting Whether this agent waits for the other, and not the other for it.
 * @property {number} at Since when.
 */

/**
 * An event as the page shows it.
 * @typedef {object} Activity
 * @property {string | null} id Its id in the log.
 * @property {string} kind `type` of the event, such as `lock_granted`.
 * @property {number} at Milliseconds since 1970.
 * @property {string | null} holder
 * @property {string | null} userName
 * @property {string | null} agentId
 * @property {string | null} branch
 * @property {string[]} paths The files that the event names: 20 at most.
 * @property {number} fileCount
 * @property {string | null} message
 * @property {string | null} command
 * @property {string | null} detail What else it says, as a sentence: the reason of a refusal, the commit of a head.
 * @property {string | null} reason Of a refusal, such as `CONFLICT`.
 * @property {string[]} conflicts Of a refusal: the files whose locks are in the way.
 * @property {boolean} isForced Whether somebody else released the files by force.
 * @property {boolean | null} isPushed Whether this release proved a push; `null` where the event does not say so.
 * @property {boolean} isFirst Whether it is the first head of a branch that is known: nobody pushed it now.
 * @property {string | null} intentId The intent that it is about.
 * @property {boolean} isOfTeam Whether it is about a team; `holder` is a handle then.
 * @property {string | null} task Id of the task that it is about, with its team in `team`.
 * @property {string | null} team
 * @property {boolean} isCaughtUp Whether it happened while the page was offline.
 */

/**
 * `live`: events arrive. `reconnecting`: the stream broke, and the next attempt is at `retryAt`. `offline`: attempts have failed for a
 * while. `ended`: it will not be tried again without a change, such as another token.
 * @typedef {object} Connection
 * @property {'connecting' | 'live' | 'reconnecting' | 'offline' | 'ended'} phase
 * @property {number} since
 * @property {boolean} isLate Whether the server itself has lost its store, so that events are late.
 * @property {number | null} heardAt When the server was last heard.
 * @property {number | null} retryAt
 */

/**
 * @typedef {object} Problem
 * @property {'no_repository' | 'no_branch' | 'sign_in' | 'forbidden' | 'rate_limited' | 'unavailable' | 'misconfigured' | 'invalid'} kind
 * @property {string} message The sentence of the server.
 * @property {number | null} retryAt
 */

/** @typedef {'PENDING' | 'IN_PROGRESS' | 'COMPLETED' | 'ABANDONED' | 'BLOCKED'} IntentStatus */

/** @typedef {{ used: number, most: number | null }} Spending What of a budget is spent; `most` is its limit, if it has one. */

/**
 * Why files are changed, how far the work may reach, what it may cost, and when it is done.
 * @typedef {object} Intent
 * @property {string} id
 * @property {string} name May be empty.
 * @property {string} description
 * @property {IntentStatus} status
 * @property {string[]} constraints
 * @property {string[]} scope Patterns of the files that it may change.
 * @property {{ text: string, met: { by: string, at: string, evidence: string } | null }[]} criteria
 * @property {Spending | null} turns None where it has no budget.
 * @property {Spending | null} tokens
 * @property {string | null} model The model that works on it, as agents say.
 * @property {string | null} branch None for every branch.
 * @property {string | null} supplements The intent whose scope it widens.
 * @property {string[]} mayOverlap
 * @property {string[]} missing Members that it lacks.
 * @property {string | null} reason Why it was blocked, abandoned or completed by force.
 * @property {number | null} heardAt When a holder that works on it was heard last: milliseconds since 1970.
 * @property {number} ownedFiles
 */

/** @typedef {{ holder: string, userName: string, agentId: string | null, branch: string | null }} Worker Who works on an intent; `branch` is another than the one that is shown. */

/**
 * `none`: the repository has none, or the server has no intents at all. `sign_in`: they may not be seen without a credential.
 * @typedef {object} Intents
 * @property {'unknown' | 'none' | 'sign_in' | 'shown'} phase
 * @property {Intent[]} list In the order in which they were written.
 * @property {Map<string, string[]>} owners Ids of the active intents that own a file, by path.
 * @property {(Worker & { intentId: string, expiry: number })[]} elsewhere Locks of other branches.
 * @property {string | null} message Why they are not shown, or are not as of now.
 */

/**
 * A claim that an intent, or the lack of one, did not let in.
 * @typedef {object} IntentRefusal
 * @property {string} holder
 * @property {string} userName
 * @property {string | null} agentId
 * @property {string} code Such as `SCOPE_VIOLATION`.
 * @property {string[]} paths The files that are the reason: 20 at most.
 * @property {number} fileCount
 * @property {string | null} command
 * @property {number} at
 */

/** @typedef {{ intent: string | null, file: string | null }} LedgerFilter */

/** @typedef {{ count: number, hash: string, text: string }} LedgerPoint A point of the chain; `text` is `COUNT:HASH`. */

/**
 * @typedef {object} LedgerLine
 * @property {number} seq
 * @property {string} hash
 * @property {number} at Milliseconds since 1970.
 * @property {string} holder
 * @property {string | null} intentId
 * @property {string} state
 * @property {string} action `action_type`.
 * @property {string | null} tool
 * @property {string[]} files
 * @property {string | null} content The hash of a file after a change.
 * @property {string | null} reasoning
 * @property {string} status `SUCCESS`, `FAILURE`, `DENIED`.
 * @property {string | null} summary
 * @property {string | null} error
 * @property {string | null} model
 * @property {string} text The line as it is.
 */

/**
 * @typedef {object} Ledger
 * @property {LedgerFilter} filter
 * @property {LedgerLine[]} lines The newest first.
 * @property {LedgerPoint | null} sealed None until it was read.
 * @property {LedgerPoint | null} base The point after which the lines that are kept begin.
 * @property {number} newest Up to this `seq`, all that the filter lets through is in `lines`,
 * @property {number} oldest and from the one after this `seq` on.
 * @property {boolean} hasOlder
 * @property {string | null} message Why it is not as of now.
 */

/**
 * What the address bar says.
 * @typedef {object} Place
 * @property {string | null} repoUrl
 * @property {string | null} branch
 * @property {string | null} file The selected file.
 * @property {string | null} agent Key of the selected holder.
 * @property {string | null} intent Id of the selected intent.
 * @property {string | null} team Name of the selected team.
 * @property {string | null} task Id of the selected task.
 * @property {string | null} inbox Handle of the member whose messages are shown.
 * @property {'map' | 'table' | 'time' | 'board' | 'tasks'} view `tasks`: the board as a table.
 * @property {string} filter The text of the search.
 */

/**
 * @typedef {object} State
 * @property {Place} place
 * @property {Graph | null} graph
 * @property {GraphState} graphState
 * @property {{ files: number, wanted: number, scanned: number } | null} progress Of the build of the graph.
 * @property {string | null} failure Why the newest build failed.
 * @property {import('./graph.js').Policy | null} policy The rules of locking on the branch.
 * @property {Map<string, Lock[]>} locks By path; only what has not expired. That there is none is known by `truth.js` alone.
 * @property {number | null} locksReadAt When the list of locks was read last; none before the first.
 * @property {boolean} areLocksMissed Whether locks may have changed unheard since that list was asked for. It is read again.
 * @property {import('./pending.js').Pending[]} pending Changes that are not merged into the branch yet.
 * @property {Map<string, string[]>} neighbors Files near a writer, by path: the WRITING locks that they import or that import them.
 * @property {Set<string>} blocked Those of them that others cannot write now. The rest is informed only.
 * @property {import('./waits.js').Wait[]} waits Claims in the queue, the oldest first.
 * @property {boolean} hasSeveralLogins Whether the agents are those of several logins.
 * @property {import('./team_types.js').Work | null} work What the chosen team works on, where its board is not on the screen.
 * @property {Agent[]} agents
 * @property {Activity[]} activity The newest first.
 * @property {boolean} isActivityRead
 * @property {boolean} hasOlder Whether `loadOlder` has more to show.
 * @property {Intents} intents
 * @property {IntentRefusal[]} refusals Those by intents that are open, the newest first.
 * @property {Ledger} ledger
 * @property {import('./team_types.js').Teams} teams
 * @property {import('./team_types.js').Board} board
 * @property {import('./team_types.js').Mail} mail
 * @property {Connection} connection
 * @property {Problem | null} problem
 * @property {number | null} shownAt When what is shown of the locks was true for certain: now while live, the last news before that; none before
 *   they were read.
 * @property {boolean} isSignedIn Whether this tab has a token.
 * @property {boolean} needsToken Whether the deployment wants one.
 * @property {import('./caller.js').Caller | null} caller Who acts from the page; none who may only look.
 * @property {boolean} mayForce Whether locks may be released by force, as far as the page knows.
 */

/** @typedef {'place' | 'graph' | 'locks' | 'agents' | 'activity' | 'intents' | 'ledger' | 'teams' | 'board' | 'work' | 'mail' | 'connection' | 'problem' | 'session'} Part */

/**
 * What a claim of a file would meet now: the answer of `POST /api/check_status`.
 * @typedef {object} Verdict
 * @property {string} status `OK`, `CONFLICT`, `STALE` or `OFFLINE`.
 * @property {string} command
 * @property {string} reason
 * @property {string[]} warnings
 */

/**
 * The state of the page, and what changes it. `app/model.js` makes one.
 * @typedef {object} Model
 * @property {State} state Replaced parts, never mutated ones: a part that is the same object has not changed.
 * @property {(listener: (changed: Set<Part>) => void) => () => void} subscribe Calls back at most once a frame. Returns what ends it.
 * @property {(change: Partial<Place>, isReplacing?: boolean) => void} go Goes to another place, with an entry in the history.
 * @property {() => Promise<void>} loadOlder Reads older events from the log.
 * @property {(isFollowed: boolean) => void} followLedger Whether the ledger is looked at: it is read only then.
 * @property {(filter: LedgerFilter) => void} filterLedger
 * @property {() => Promise<void>} lengthenLedger Reads older lines.
 * @property {(isFollowed: boolean) => void} followMail Whether the messages are looked at: they are read only then.
 * @property {() => Promise<void>} lengthenMail Reads older messages.
 * @property {() => Promise<void>} readDone Reads the completed tasks, where they are many.
 * @property {(team: string, id: string) => Promise<import('./team_types.js').WholeTask>} readTask With its texts.
 * @property {(path: string) => Promise<{ team: string, tasks: import('./team_types.js').Task[] }[]>} tasksOf Tasks about a file, by team.
 * @property {(path: string) => Promise<Activity[]>} historyOf Events that name a file, the newest first.
 * @property {(repoUrl: string) => Promise<import('./overview.js').Overview>} overview
 * @property {() => Promise<string[]>} branches Branches of the repository of which something is known: not all that there are.
 * @property {(path: string) => Promise<Verdict>} check
 * @property {(act: import('./acts.js').Act, text: string) => Promise<string>} act Does something, and returns what the server says.
 * @property {(act: import('./acts.js').Act) => void} ask Asks whether to do it.
 * @property {(listener: (act: import('./acts.js').Act) => void) => void} onAct Sets who is asked.
 * @property {(caller: import('./caller.js').Caller | null) => void} knowCaller
 * @property {() => string | null} token
 * @property {(token: string) => void} signIn
 * @property {() => void} signOut
 * @property {() => void} retry Reads again and connects at once.
 * @property {() => number} now The server's clock, milliseconds since 1970.
 */

export {};
