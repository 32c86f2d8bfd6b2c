// The board of a large team over the real binary: `node bench/board.mjs [--tasks 1000,10000,20000]`.
//
//   --tasks    tasks of the teams: of each twenty one is in progress, three are ready, the others wait in chains and fans; as many again
//              as a twentieth are completed
//
// COORD_BIN names the binary; a release build, because the server's share counts.

import { parseArgs } from 'node:util';

import { chromium } from 'playwright-core';

import { LAUNCH } from '../harness/launch.mjs';
import { makeRepository } from '../harness/repositories.mjs';
import { startServer, UNLIMITED } from '../harness/server.mjs';
import { makeTeam } from '../harness/teams.mjs';
import { benchContext, figure, printTable, quantile, VIEWPORT } from './measure.mjs';

const { values } = parseArgs({ options: { tasks: { type: 'string', default: '1000,10000,20000' } } });
const LOADS = 5;
const CHANGES = 20;
const AT_ONCE = 200;
/** Claims of a member, at most 50. */
const MEMBERS = 24;
const CLAIMS = 40;
const ENVIRONMENT = { ...UNLIMITED, COORD_TASK_LEASE_SECONDS: '86400' };

/** Runs in the page before its own modules: notes when cards are painted, when all tasks are read, and when a card comes to a column. */
function watchBoard() {
  const notes = /** @type {any} */ (window).notes = { paintedAt: 0, wholeAt: 0, movedAt: /** @type {Record<string, number>} */ ({}) };
  const painted = (/** @type {(at: number) => void} */ callback) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => callback(performance.now());
    port2.postMessage(null);
  });
  new MutationObserver(() => {
    const hasCards = ['blocked', 'ready', 'in_progress'].every((name) => document.querySelector(`.column[data-column="${name}"] .card`));
    if (!notes.paintedAt && hasCards && document.querySelector('.blockers li')) {
      notes.paintedAt = 1;
      painted((at) => (notes.paintedAt = at));
    }
    if (!notes.wholeAt && hasCards && document.querySelector('.board-facts')?.textContent && document.querySelector('.board-state')?.textContent === '') {
      notes.wholeAt = 1;
      painted((at) => (notes.wholeAt = at));
    }
    for (const button of document.querySelectorAll('.column[data-column="done"] .card-button')) {
      const id = /** @type {HTMLElement} */ (button).dataset.task ?? '';
      if (id in notes.movedAt) continue;
      notes.movedAt[id] = 0;
      painted((at) => (notes.movedAt[id] = performance.timeOrigin + at));
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** @param {{ url: string }} server @param {{ repoUrl: string }} repository @param {number} count */
async function fill(server, repository, count) {
  const people = /** @type {[string, string][]} */ ([['ada', 'lead'], ...Array.from({ length: MEMBERS }, (_, at) => /** @type {[string, string]} */ (['ada', `agent-${at}`]))]);
  const [lead, ...members] = await makeTeam(server, repository, 'alpha', people);
  const done = Math.floor(count / 20);
  let free = /** @type {string[]} */ ([]);
  let last = /** @type {string[]} */ ([]);
  for (let first = 0; first < count + done; first += AT_ONCE) {
    const ids = await lead.add(Array.from({ length: Math.min(AT_ONCE, count + done - first) }, (_, at) => {
      const isFree = first + at < done || at % 5 === 0;
      return {
        ref: `r${at}`, title: `Task ${first + at} of a plan that says what is to be done and why`, priority: at % 13 === 0 ? 'high' : 'normal',
        files: at % 3 === 0 ? [`src/part-${at % 40}/file-${first + at}.ts`] : undefined,
        dependencies: isFree ? undefined : [`r${at - 1}`, ...(last.length > 0 && at % 9 === 0 ? [last[at % last.length]] : [])],
      };
    }));
    free.push(...ids.filter((_, at) => first + at < done || at % 5 === 0));
    last = ids;
  }
  for (const [place, id] of free.slice(0, done).entries()) {
    const member = members[place % MEMBERS];
    await member.claim(id);
    await member.complete(id, 'It is done');
  }
  free = free.slice(done);
  const claimed = free.slice(0, Math.min(MEMBERS * CLAIMS, Math.floor(count / 20)));
  for (const [place, id] of claimed.entries()) await members[place % MEMBERS].claim(id);
  return { owner: (/** @type {string} */ id) => members[claimed.indexOf(id) % MEMBERS], claimed };
}

/** @param {import('playwright-core').Browser} browser @param {string} address */
async function load(browser, address) {
  const tab = await browser.newContext({ viewport: VIEWPORT });
  await tab.addInitScript(watchBoard);
  const page = await tab.newPage();
  let requests = 0;
  page.on('request', (request) => (requests += request.url().includes('/api/tasks') ? 1 : 0));
  await page.goto(address);
  await page.waitForFunction(() => /** @type {any} */ (window).notes.wholeAt > 1, null, { timeout: 120_000 });
  const notes = await page.evaluate(() => /** @type {{ paintedAt: number, wholeAt: number }} */ (/** @type {any} */ (window).notes));
  return { tab, page, ...notes, requests: () => requests };
}

const browser = await chromium.launch(LAUNCH);
const rows = [];
let bench = benchContext();
try {
  for (const count of values.tasks.split(',').map(Number)) {
    const repository = makeRepository(bench.context);
    const server = await startServer(bench.context, repository, { env: ENVIRONMENT });
    const { owner, claimed } = await fill(server, repository, count);
    const address = `${server.url}?repo_url=${repository.repoUrl}&branch=main&view=board`;
    await (await load(browser, address)).tab.close();
    const loads = [];
    for (let turn = 0; turn < LOADS; turn++) {
      const { tab, paintedAt, wholeAt } = await load(browser, address);
      loads.push({ paintedAt, wholeAt });
      await tab.close();
    }
    const { tab, page, requests } = await load(browser, address);
    const requestCount = requests();
    const waits = [];
    for (const id of claimed.slice(0, CHANGES)) {
      await owner(id).complete(id);
      const answeredAt = Date.now();
      await page.waitForFunction((name) => /** @type {any} */ (window).notes.movedAt[name] > 0, id);
      waits.push((await page.evaluate((name) => /** @type {number} */ (/** @type {any} */ (window).notes.movedAt[name]), id)) - answeredAt);
    }
    const session = await tab.newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { nodes } = await session.send('Memory.getDOMCounters');
    rows.push({
      tasks: count, 'painted ms': figure(quantile(loads.map(({ paintedAt }) => paintedAt), 0.5)), 'all read ms': figure(quantile(loads.map(({ wholeAt }) => wholeAt), 0.5)), 'requests for tasks': requestCount,
      'completed to moved ms': figure(quantile(waits, 0.5)), 'max ms': figure(Math.max(...waits)), 'heap MiB': (usedSize / 2 ** 20).toFixed(1), 'DOM nodes': nodes,
    });
    await tab.close();
    await bench.cleanUp();
    bench = benchContext();
  }
} finally {
  await browser.close();
  await bench.cleanUp();
}
printTable(rows);
