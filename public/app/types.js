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
 * @property {string | null} intentId The intent that the holder works for.
 * @property {boolean} keepsInterface Whether its holder keeps the interface, so that neighbors are not blocked.
 */

/**
 * @typedef {object} FileEntry
 * @property {string} path
 * @property {string} name The part after the last slash.
 * @property {number} size Bytes; 0 if unknown.
 * @property {string | null} language
 * @property {string | null} state Why it was not scanned, if it was not.
 */

/**
 * The import graph of one commit. Files are sorted by path; numbers are indices into them.
 * @typedef {object} Graph
 * @property {string} version Commit.
 * @property {FileEntry[]} files
 * @property {Map<string, number>} indexOf By path.
 * @property {number[][]} imports The files that each file imports.
 * @property {number[][]} importers The files that import each file.
 * @property {number} edgeCount
 * @property {import('./graph.js').Bound[]} bounds The bounds that the build has reached.
 */

/** @typedef {'none' | 'building' | 'stale' | 'ready'} GraphState */

/**
 * A holder that has locks, waits, or was refused recently.
 * @typedef {object} Agent
 * @property {string} holder
 * @property {string} user
 * @property {string} userName
 * @property {string | null} agentId
 * @property {Lock[]} locks Sorted by path.
 * @property {string} message Its newest message.
 * @property {number} since When it acquired its oldest lock, or was refused.
 * @property {number | null} expiry When its first lock expires; `null` without locks.
 * @property {string | null} command The last orchestration command that it got, such as `PROCEED`.
 * @property {number | null} commandAt
 * @property {number} lastActiveAt When it was last active, as far as the page knows.
 * @property {Conflict[]} conflicts The holders that it waits for, and the holders that wait for it.
 * @property {import('./waits.js').Wait | null} wait Its place in the queue.
 */

/**
 * @typedef {object} Conflict
 * @property {string} holder The other holder.
 * @property {string[]} paths
 * @property {boolean} isWaiting Whether this agent waits for the other one; otherwise the other one waits for it.
 * @property {number} at When the wait began.
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
 * @property {string | null} detail More content, as a sentence: the reason of a refusal, the commit of a head.
 * @property {string | null} reason Of a refusal, such as `CONFLICT`.
 * @property {string[]} conflicts Of a refusal: the files whose locks block the claim.
 * @property {boolean} isForced Whether another caller released the files by force.
 * @property {boolean | null} isPushed Whether this release proved a push; `null` if the event does not say so.
 * @property {boolean} isFirst Whether it is the first known head of a branch, which nobody has pushed just now.
 * @property {string | null} intentId
 * @property {boolean} isOfTeam Whether it is about a team; `holder` is a handle then.
 * @property {string | null} task Id of a task, whose team is `team`.
 * @property {string | null} team
 * @property {boolean} isCaughtUp Whether it happened while the page was offline.
 */

/**
 * `live`: events arrive. `reconnecting`: the stream broke, and the next attempt is at `retryAt`. `offline`: attempts
 * have failed for a while. `ended`: there is no further attempt until something changes, such as the token.
 * @typedef {object} Connection
 * @property {'connecting' | 'live' | 'reconnecting' | 'offline' | 'ended'} phase
 * @property {number} since
 * @property {boolean} isLate Whether the server has lost its store, so that events are late.
 * @property {number | null} lastMessageAt When the page last got a message of the server.
 * @property {number | null} retryAt
 */

/**
 * @typedef {object} Problem
 * @property {'no_repository' | 'no_branch' | 'sign_in' | 'forbidden' | 'rate_limited' | 'unavailable' | 'misconfigured'
 *   | 'invalid'} kind
 * @property {string} message The sentence of the server.
 * @property {number | null} retryAt
 */

/** @typedef {'PENDING' | 'IN_PROGRESS' | 'COMPLETED' | 'ABANDONED' | 'BLOCKED'} IntentStatus */

/** @typedef {{ used: number, most: number | null }} Spending The use of a budget, and its limit, if it has one. */

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
 * @property {Spending | null} turns `null` without a budget.
 * @property {Spending | null} tokens
 * @property {string | null} model The model that works on it, as agents report it.
 * @property {string | null} branch `null` for every branch.
 * @property {string | null} supplements The intent whose scope it widens.
 * @property {string[]} mayOverlap
 * @property {string[]} missing Members that it lacks.
 * @property {string | null} reason Why it was blocked, abandoned or completed by force.
 * @property {number | null} lastActiveAt When a holder last worked on it: milliseconds since 1970.
 * @property {number} ownedFiles
 */

/**
 * A holder that works on an intent. `branch` is `null` for the selected branch.
 * @typedef {{ holder: string, userName: string, agentId: string | null, branch: string | null }} Worker
 */

/**
 * `none`: the repository has no intents, or the server does not support them. `sign_in`: the caller needs a credential
 * to see them.
 * @typedef {object} Intents
 * @property {'unknown' | 'none' | 'sign_in' | 'shown'} phase
 * @property {Intent[]} list In the order in which they were written.
 * @property {Map<string, string[]>} owners Ids of the active intents that own a file, by path.
 * @property {(Worker & { intentId: string, expiry: number })[]} elsewhere Locks on other branches.
 * @property {string | null} message Why they are missing or out of date.
 */

/**
 * A claim that was refused because of an intent, or for lack of one.
 * @typedef {object} IntentRefusal
 * @property {string} holder
 * @property {string} userName
 * @property {string | null} agentId
 * @property {string} code Such as `SCOPE_VIOLATION`.
 * @property {string[]} paths The files that caused it: 20 at most.
 * @property {number} fileCount
 * @property {string | null} command
 * @property {number} at
 */

/** @typedef {{ intent: string | null, file: string | null }} LedgerFilter */

/** @typedef {{ count: number, hash: string, text: string }} LedgerPoint A point of the chain. `text`: `COUNT:HASH`. */

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
 * @property {string} text The unparsed line.
 */

/**
 * `lines` is complete from the line after `oldest` to the line `newest`, apart from what the filter excludes.
 * @typedef {object} Ledger
 * @property {LedgerFilter} filter
 * @property {LedgerLine[]} lines The newest first.
 * @property {LedgerPoint | null} sealed `null` until it is read.
 * @property {LedgerPoint | null} base The server has dropped the lines up to this point.
 * @property {number} newest A `seq`.
 * @property {number} oldest A `seq`.
 * @property {boolean} hasOlder
 * @property {string | null} message Why it is out of date.
 */

/**
 * The content of the address bar.
 * @typedef {object} Place
 * @property {string | null} repoUrl
 * @property {string | null} branch
 * @property {string | null} file The selected file.
 * @property {string | null} agent Key of the selected holder.
 * @property {string | null} intent Id of the selected intent.
 * @property {string | null} team Name of the selected team.
 * @property {string | null} task Id of the selected task.
 * @property {string | null} inbox Handle of the member whose messages are selected.
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
 * @property {Map<string, Lock[]>} locks By path, without expired locks. Only `lock_knowledge.js` decides whether a file
 *   without a lock is free.
 * @property {number | null} locksReadAt When the list of locks was last read; `null` before the first read.
 * @property {boolean} areLocksMissed Whether locks may have changed without an event since the page requested that
 *   list. The page reads the list again.
 * @property {import('./pending.js').Pending[]} pending Changes that are not merged into the branch yet.
 * @property {Map<string, string[]>} neighbors By path of a neighbor: the files under a WRITING lock that it imports or
 *   that import it.
 * @property {Set<string>} blocked The neighbors that other holders cannot write now. Writers of the rest are informed.
 * @property {import('./waits.js').Wait[]} waits Claims in the queue, the oldest first.
 * @property {boolean} hasSeveralLogins Whether the agents belong to several logins.
 * @property {import('./team_types.js').Work | null} work The work of the selected team, while its board is not on the
 *   screen.
 * @property {Agent[]} agents
 * @property {Activity[]} activity The newest first.
 * @property {boolean} isActivityRead
 * @property {boolean} hasOlder Whether `loadOlder` can read more events.
 * @property {Intents} intents
 * @property {IntentRefusal[]} refusals Open refusals by intents, the newest first.
 * @property {Ledger} ledger
 * @property {import('./team_types.js').Teams} teams
 * @property {import('./team_types.js').Board} board
 * @property {import('./team_types.js').Mail} mail
 * @property {Connection} connection
 * @property {Problem | null} problem
 * @property {number | null} shownAt When the locks on the page were last certain to be right: the last news while the
 *   connection was live; `null` before they were read.
 * @property {boolean} isSignedIn Whether this tab has a token.
 * @property {boolean} needsToken Whether the deployment requires one.
 * @property {import('./caller.js').Caller | null} caller The caller whom the page acts for; `null` if it may only read.
 * @property {boolean} mayForce Whether the caller may release locks by force, as far as the page knows.
 */

/**
 * A group of fields of the state. Listeners get the groups that changed.
 * @typedef {'place' | 'graph' | 'locks' | 'agents' | 'activity' | 'intents' | 'ledger' | 'teams' | 'board' | 'work'
 *   | 'mail' | 'connection' | 'problem' | 'session'} Part
 */

/**
 * How the server would decide a claim of a file now: the response of `POST /api/check_status`.
 * @typedef {object} Verdict
 * @property {string} status `OK`, `CONFLICT`, `STALE` or `OFFLINE`.
 * @property {string} command
 * @property {string} reason
 * @property {string[]} warnings
 */

/**
 * The state of the page, and the methods that change it. `app/model.js` makes one.
 * @typedef {object} Model
 * @property {State} state Parts are replaced, never changed in place: a part that is the same object has not changed.
 * @property {(listener: (changed: Set<Part>) => void) => void} subscribe Calls the listener at most once a frame.
 * @property {(change: Partial<Place>, isReplacing?: boolean) => void} go Goes to another place, and adds it to the
 *   history unless `isReplacing`.
 * @property {() => Promise<void>} loadOlder Reads older events from the log.
 * @property {(isFollowed: boolean) => void} followLedger Sets whether the ledger is in view. It is read only then.
 * @property {(filter: LedgerFilter) => void} filterLedger
 * @property {() => Promise<void>} loadOlderLines Reads older lines.
 * @property {(isFollowed: boolean) => void} followMail Sets whether the messages are in view. They are read only then.
 * @property {() => Promise<void>} loadOlderMessages Reads older messages.
 * @property {() => Promise<void>} readCompletedTasks Reads the completed tasks, if they are too many to be read with
 *   the others.
 * @property {(team: string, id: string) => Promise<import('./team_types.js').TaskDetails>} readTask
 * @property {(path: string) => Promise<{ team: string, tasks: import('./team_types.js').Task[] }[]>} tasksOf Reads the
 *   tasks about a file, by team.
 * @property {(path: string) => Promise<Activity[]>} historyOf Reads the events that name a file, the newest first.
 * @property {(repoUrl: string) => Promise<import('./overview.js').Overview>} overview
 * @property {() => Promise<string[]>} branches Reads the branches of the repository that have locks or events.
 * @property {(path: string) => Promise<Verdict>} check
 * @property {(action: import('./user_actions.js').UserAction, text: string) => Promise<string>} performAction Returns
 *   the answer of the server.
 * @property {(action: import('./user_actions.js').UserAction) => void} confirmAction Asks the user to confirm it.
 * @property {(listener: (action: import('./user_actions.js').UserAction) => void) => void} onConfirmAction Sets the
 *   function that asks the user.
 * @property {(caller: import('./caller.js').Caller | null) => void} setCaller
 * @property {() => string | null} token
 * @property {(token: string) => void} signIn
 * @property {() => void} signOut
 * @property {() => void} retry Reads again and connects at once.
 * @property {() => number} now The server's clock, milliseconds since 1970.
 */

export {};
