// A repository behind the real server, with its agents and its pages.

import { agentOf } from './agents.mjs';
import { addressOf, openPage, waitUntilLive } from './browser.mjs';
import { makeRepository } from './repositories.mjs';
import { startServer } from './server.mjs';

/**
 * @param {import('node:test').TestContext} t
 * @param {Parameters<typeof makeRepository>[1] & Parameters<typeof startServer>[2]} [options] `files` and `name` describe the repository, the
 *   rest is for the server.
 */
export async function serveRepository(t, { files, name, ...options } = {}) {
  const repository = makeRepository(t, { files, name });
  const server = await startServer(t, repository, options);
  /** `more` is added to the address. @param {Record<string, string>} [more] @param {Parameters<typeof openPage>[2]} [options] */
  const open = (more, options) => openPage(t, addressOf(server, repository, more), options);
  /** The same, and waits until the page is live. @type {typeof open} */
  const openLive = async (more, options) => {
    const opened = await open(more, options);
    await waitUntilLive(opened.page);
    return opened;
  };
  /** @param {string} user @param {string} [id] @param {Parameters<typeof agentOf>[4]} [options] */
  const agent = (user, id, options) => agentOf(server, repository, user, id, options);
  return { repository, server, agent, open, openLive };
}
