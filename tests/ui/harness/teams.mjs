// Teams that act through the API.

/**
 * @typedef {object} TeamAgent
 * @property {string} handle
 * @property {(path: string, body?: object, method?: string) => Promise<{ status: number, body: any }>} request
 * @property {(tasks: object[]) => Promise<string[]>} add Adds tasks; returns their ids.
 * @property {(id: string, change?: object) => Promise<any>} claim
 * @property {(id: string, result?: string) => Promise<any>} complete
 * @property {(id: string, note: string) => Promise<any>} release
 * @property {(id: string) => Promise<void>} remove Deletes a task.
 * @property {(to: string | string[], message: string, rest?: object) => Promise<number>} send Returns the number of the message.
 * @property {(step: string, rest?: object) => Promise<any>} shutdown
 */

/**
 * @param {{ url: string }} server
 * @param {{ repoUrl: string }} repository
 * @param {string} team
 * @param {string} user
 * @param {string} handle Its `agent_id` too.
 * @returns {TeamAgent}
 */
export function memberOf(server, repository, team, user, handle) {
  const headers = { 'Content-Type': 'application/json', 'X-Coord-User': user, 'X-Coord-Agent': handle };
  /** @param {string} path @param {object} [body] @param {string} [method] */
  async function request(path, body = {}, method = 'POST') {
    const response = await fetch(new URL(`api/${path}`, server.url), { method, headers, body: JSON.stringify({ repo_url: repository.repoUrl, ...body }) });
    return { status: response.status, body: await response.json() };
  }
  /** @param {string} path @param {object} [body] @param {string} [method] */
  async function sendChecked(path, body, method) {
    const response = await request(path, { team, ...body }, method);
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }
  return {
    handle,
    request,
    add: async (tasks) => (await sendChecked('tasks', { tasks })).ids,
    // Without locks: the board shows tasks, and several of these share a file.
    claim: (id, change = {}) => sendChecked(`tasks/${id}/claim`, { claim_files: false, ...change }),
    complete: (id, result = 'It is done') => sendChecked(`tasks/${id}/complete`, { claim_files: false, result }),
    release: (id, note) => sendChecked(`tasks/${id}/release`, { claim_files: false, note }),
    async remove(id) {
      const response = await fetch(new URL(`api/tasks/${id}?${new URLSearchParams({ repo_url: repository.repoUrl, team })}`, server.url), { method: 'DELETE', headers });
      if (!response.ok) throw new Error(`${id}: ${response.status} ${await response.text()}`);
    },
    send: async (to, message, rest = {}) => (await sendChecked('messages', { to: [to].flat(), message, ...rest })).id,
    shutdown: (step, rest = {}) => sendChecked(`teams/${team}/shutdown`, { team: undefined, step, ...rest }),
  };
}

/**
 * A team with its leader and members.
 * @param {{ url: string }} server
 * @param {{ repoUrl: string }} repository
 * @param {string} team
 * @param {[user: string, handle: string][]} people The first leads.
 * @returns {Promise<TeamAgent[]>}
 */
export async function makeTeam(server, repository, team, people) {
  const members = people.map(([user, handle]) => memberOf(server, repository, team, user, handle));
  for (const [place, member] of members.entries()) {
    const { status, body } = place === 0 ? await member.request('teams', { name: team, description: 'Passkeys in place of passwords' }) : await member.request(`teams/${team}/join`);
    if (status >= 300) throw new Error(JSON.stringify(body));
  }
  return members;
}

const WORK = [
  'Pool the connections of the store', 'Sessions by passkey', 'Rate limits of the login', 'Move prices to integers', 'Search by several words', 'Refunds of a part of an order',
  'Migrations that can be undone', 'Errors with a code and a sentence', 'Discounts that end at midnight', 'Address book of a customer', 'Receipts as PDF', 'Deploying behind a proxy',
];
const FILES = ['src/store/db.ts', 'src/auth/session.ts', 'src/auth/login.ts', 'src/catalog/price.ts', 'src/catalog/search.ts', 'src/payment/refund.ts', 'src/store/migrations.ts', 'src/api/errors.ts', 'src/cart/discount.ts', 'src/api/checkout.ts', 'src/payment/charge.ts', 'docs/deploy.md'];

/**
 * Sixty tasks with dependencies at work: completed, claimed, expired, released, blocked; messages with replies; an open shutdown.
 * @param {{ url: string }} server
 * @param {{ repoUrl: string }} repository
 */
export async function busyTeam(server, repository) {
  const members = await makeTeam(server, repository, 'alpha', [['ada', 'lead'], ['ada', 'claude-1'], ['grace', 'codex-2'], ['linus', 'cursor'], ['margaret', 'gemini-with-a-long-name'], ['bob', 'idle-1']]);
  const [lead, claude, codex, cursor, gemini, idle] = members;
  await lead.add(Array.from({ length: 60 }, (_, at) => ({
    ref: `r${at + 1}`,
    title: at < 12 ? WORK[at] : `${WORK[at % 12]}: ${['tests', 'documentation', 'the old interface is dropped', 'what people report of it'][Math.floor(at / 12) - 1]}`,
    description: at % 3 === 0 ? 'What the issue says, and no more.\nThe interface stays as it is.' : undefined,
    priority: at % 7 === 0 ? 'high' : at % 11 === 0 ? 'low' : 'normal',
    dependencies: at < 12 ? (at % 4 === 3 ? [`r${at - 2}`] : []) : [`r${at - 11}`, ...(at % 5 === 0 ? [`r${at - 4}`] : [])],
    files: at % 2 === 0 ? [FILES[at % 12]] : [FILES[at % 12], FILES[(at + 3) % 12]],
  })));
  for (const [who, id, result] of /** @type {[typeof lead, string, string][]} */ ([[claude, 't1', 'query() is async now; the pool has ten connections'], [codex, 't5', 'Words in any order'], [cursor, 't13', 'Tests of the pool pass']])) {
    await who.claim(id);
    await who.complete(id, result);
  }
  await claude.claim('t2');
  await codex.claim('t17', { lease_seconds: 90 });
  await cursor.claim('t3', { lease_seconds: 4000 });
  await cursor.claim('t12');
  await gemini.claim('t6');
  await gemini.release('t6', 'Half of it: the sums are right, the receipts are not');
  await gemini.claim('t40');
  await lead.request('tasks/t7', { team: 'alpha', assignee: 'idle-1' }, 'PATCH');
  const first = await codex.send('claude-1', 'Does query() keep the order of its rows?', { task_id: 't2' });
  await claude.send('codex-2', 'Yes, as before. The tests say so: tests/db/order.', { reply_to: first, task_id: 't2' });
  await lead.send('broadcast', 'The branch is frozen at six. Push what you have before.', { summary: 'Frozen at six' });
  await gemini.send('lead', 'Receipts need a decision: net or gross?', { task_id: 't6' });
  const { shutdown_id } = await lead.shutdown('request', { reason: 'The release is out.', respond_by_seconds: 120 });
  await idle.shutdown('approve', { shutdown_id });
  await cursor.shutdown('reject', { shutdown_id, reason: 'The limits are not tested yet.' });
  return members;
}
