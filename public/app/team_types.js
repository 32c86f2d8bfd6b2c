// The types of teams, tasks and messages that the modules of the page share. Nothing runs here.

/**
 * A team in the list of teams.
 * @typedef {object} TeamSummary
 * @property {string} name
 * @property {number} openTasks
 * @property {boolean} isClosed
 */

/**
 * `none`: the repository has no teams, or the server does not support them. `sign_in`: the caller needs a credential to
 * see them.
 * @typedef {object} Teams
 * @property {'unknown' | 'none' | 'sign_in' | 'shown'} phase
 * @property {TeamSummary[]} list By name.
 * @property {string | null} message Why they are missing or out of date.
 */

/**
 * @typedef {object} Member
 * @property {string} handle
 * @property {string} login
 * @property {string | null} agent Its `agent_id`, if it has one.
 * @property {number | null} lastSeen Milliseconds since 1970.
 * @property {boolean} isLive
 * @property {boolean} hasEnded Whether it has approved a shutdown.
 * @property {number} unread Messages that it has not proved to have read.
 */

/**
 * An open shutdown, of one member or of the team.
 * @typedef {object} Shutdown
 * @property {string} id
 * @property {string | null} target `null` for the team.
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
 * @property {number} rank The number in its id; infinite for an id without one.
 * @property {string} title
 * @property {'high' | 'normal' | 'low'} priority
 * @property {TaskStatus} status
 * @property {string | null} owner The member that holds or has completed it.
 * @property {string | null} previousOwner
 * @property {string} createdBy
 * @property {number} createdAt Milliseconds since 1970, like all times here.
 * @property {number | null} claimedAt
 * @property {number | null} completedAt
 * @property {string | null} assignee
 * @property {number | null} reservedUntil
 * @property {string[]} dependencies Open tasks that it waits for.
 * @property {string[]} met Dependencies that are completed.
 * @property {string[]} blocks Tasks that depend on it: the first 1,000.
 * @property {number} blockCount
 * @property {string[]} files
 * @property {string | null} branch Of its files.
 * @property {string | null} intentId
 * @property {{ state: 'none' | 'held' | 'lapsed' | 'released', expires: number | null, token: number }} lease
 * @property {number} lapses Expired claims. After three, the task is held back.
 */

/** @typedef {{ by: string, at: number, text: string }} Note */

/**
 * A task with the texts that a list does not contain. `results`: the results of its dependencies, by id.
 * @typedef {Task & { description: string, notes: Note[], result: string, results: Map<string, string> }} TaskDetails
 */

/** @typedef {{ name: string, team: Team, tasks: Task[] }} Work The tasks in progress of a team. */

/** @typedef {'blocked' | 'ready' | 'in_progress' | 'done'} Column */

/**
 * The board of one team.
 * @typedef {object} Board
 * @property {string | null} name Of the team; `null` without a team to show.
 * @property {'unread' | 'reading' | 'complete'} phase How far the open tasks are read.
 * @property {Map<string, Task>} tasks By id.
 * @property {'unread' | 'reading' | 'complete'} done How far the completed tasks are read.
 * @property {Team | null} team
 * @property {string | null} message Why it is out of date.
 */

/**
 * @typedef {object} Message
 * @property {number} id
 * @property {string} from Empty if Coord itself sent it.
 * @property {string[]} to Handles; empty for a broadcast.
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
 * @property {string | null} inbox Handle of the member; `null` for all members.
 * @property {Message[] | null} messages The newest first; `null` before they are read.
 * @property {number | null} earlier Older messages have ids below this one; `null` at the end.
 * @property {string | null} message Why it is out of date.
 */

export {};
