// The types of teams, tasks and messages that the modules of the page share. Nothing runs here.

/**
 * A team as the list of teams has it.
 * @typedef {object} TeamSummary
 * @property {string} name
 * @property {string} leader
 * @property {number} memberCount
 * @property {number} openTasks
 * @property {number} doneTasks
 * @property {boolean} isClosed
 */

/**
 * `none`: the repository has none, or the server has no teams at all. `sign_in`: they may not be seen without a credential.
 * @typedef {object} Teams
 * @property {'unknown' | 'none' | 'sign_in' | 'shown'} phase
 * @property {TeamSummary[]} list By name.
 * @property {string | null} message Why they are not shown, or are not as of now.
 */

/**
 * @typedef {object} Member
 * @property {string} handle
 * @property {string} name
 * @property {string} kind
 * @property {string} login
 * @property {string | null} agent Its `agent_id`, if it has one.
 * @property {number | null} lastSeen Milliseconds since 1970.
 * @property {boolean} isLive
 * @property {boolean} hasEnded Whether it has approved a shutdown.
 * @property {number} unread Messages that it has not proved to have.
 */

/**
 * An open shutdown, of one member or of the team.
 * @typedef {object} Shutdown
 * @property {string} id
 * @property {string | null} target None for the team.
 * @property {string} by
 * @property {string} reason
 * @property {number} respondBy When it may be forced: milliseconds since 1970.
 * @property {string[]} approved
 * @property {string[]} rejected
 */

/**
 * @typedef {object} Team
 * @property {string} name
 * @property {string} leader
 * @property {string} description
 * @property {boolean} isStrict
 * @property {number | null} closedAt
 * @property {Member[]} members By handle.
 * @property {Shutdown | null} shutdown
 * @property {number} openTasks
 * @property {number} doneTasks
 */

/** @typedef {'pending' | 'in_progress' | 'completed'} TaskStatus */

/**
 * @typedef {object} Task
 * @property {string} id
 * @property {number} rank Its place in the order of ids, as far as these are numbers.
 * @property {string} title
 * @property {'high' | 'normal' | 'low'} priority
 * @property {TaskStatus} status
 * @property {string | null} owner Who has it, or has completed it.
 * @property {string | null} previousOwner
 * @property {string} createdBy
 * @property {number} createdAt Milliseconds since 1970, as all times here.
 * @property {number | null} claimedAt
 * @property {number | null} completedAt
 * @property {string | null} assignee
 * @property {number | null} reservedUntil
 * @property {string[]} dependencies What it waits for.
 * @property {string[]} met What it depended on, and is completed.
 * @property {string[]} blocks What depends on it: the first 1,000.
 * @property {number} blockCount
 * @property {string[]} files
 * @property {string | null} branch Of its files.
 * @property {string | null} intentId
 * @property {{ state: 'none' | 'held' | 'lapsed' | 'released', expires: number | null, token: number }} lease
 * @property {number} lapses Three hold it back.
 */

/**
 * What a list does not have.
 * @typedef {Task & { description: string, notes: { by: string, at: number, text: string }[], result: string, results: Map<string, string> }} WholeTask
 */

/** @typedef {{ name: string, team: Team, tasks: Task[] }} Work The tasks in progress of a team. */

/** @typedef {'blocked' | 'ready' | 'in_progress' | 'done'} Column */

/**
 * The board of one team.
 * @typedef {object} Board
 * @property {string | null} name Of the team; none where there is none to show.
 * @property {'unread' | 'reading' | 'whole'} phase Whether all tasks that are not completed are known.
 * @property {Map<string, Task>} tasks By id.
 * @property {'unread' | 'reading' | 'whole'} done The same of the completed ones.
 * @property {Team | null} team
 * @property {string | null} message Why it is not as of now.
 */

/**
 * @typedef {object} Message
 * @property {number} id
 * @property {string} from Empty for one of Coord itself.
 * @property {string} login
 * @property {string[]} to Handles; none for a broadcast.
 * @property {string} text
 * @property {string} summary
 * @property {string} kind
 * @property {number} at
 * @property {string | null} task
 * @property {number | null} replyTo
 * @property {string[]} unreadBy The first 20 of them.
 * @property {number} unreadCount
 */

/**
 * The messages of a team, or from and to one of its members.
 * @typedef {object} Mail
 * @property {string | null} team
 * @property {string | null} inbox Handle of the member; none for all.
 * @property {Message[] | null} messages The newest first; none before they are read.
 * @property {number | null} earlier Before which number older ones are read; none at the end.
 * @property {string | null} message Why it is not as of now.
 */

export {};
