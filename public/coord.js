// Shows the locks of one branch, by asking for the graph again and again. ETags make an answer that has not changed cheap.
'use strict';

const POLL_MS = 2000;
const form = document.getElementById('where');
const state = document.getElementById('state');
const table = document.getElementById('locks');
const none = document.getElementById('none');
const served = document.getElementById('served');

let watched = null; // { repoUrl, branch, token }
let isAnswered = false; // whether `locks` is what the server says, and not what it said before it failed
let tag = null;
let locks = {};
let timer = null;

function say(text, isBad = false) {
  state.textContent = text;
  state.classList.toggle('bad', isBad);
}

function cell(row, text, className) {
  const place = row.insertCell();
  const span = document.createElement('span');
  span.textContent = text;
  if (className) span.className = className;
  place.append(span);
}

// A path may be broken behind a slash.
function pathCell(row, path) {
  const parts = path.split(/(?<=\/)/);
  row.insertCell().append(...parts.flatMap((part, index) => (index ? [document.createElement('wbr'), part] : [part])));
}

function countdown(expiry) {
  const seconds = Math.max(0, Math.round(expiry - Date.now() / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function draw() {
  const body = table.tBodies[0];
  body.replaceChildren();
  const paths = Object.keys(locks).sort();
  for (const path of paths) {
    for (const lock of locks[path].readers ?? [locks[path]]) {
      const row = body.insertRow();
      const status = locks[path].status;
      pathCell(row, path);
      cell(row, (lock.user_name || lock.user) + (lock.agent_id ? ` (${lock.agent_id})` : ''));
      cell(row, status === 'WRITING' ? 'writing' : 'reading', status);
      cell(row, lock.message);
      cell(row, countdown(lock.expiry));
    }
  }
  table.hidden = paths.length === 0;
  none.hidden = !isAnswered || paths.length > 0;
}

async function poll() {
  const asked = watched;
  const query = new URLSearchParams({ repo_url: asked.repoUrl, branch: asked.branch, format: 'compact' });
  const headers = {};
  if (asked.token) headers.Authorization = `Bearer ${asked.token}`;
  if (tag) headers['If-None-Match'] = tag;
  try {
    const response = await fetch(`api/graph?${query}`, { headers, cache: 'no-store' });
    if (asked !== watched) return;
    if (response.status !== 304) {
      const body = await response.json();
      if (!response.ok) throw new Error(body.message ?? `the server answered ${response.status}`);
      tag = response.headers.get('ETag');
      locks = body.locks;
      const graph = body.state === 'building'
        ? 'the import graph is being built'
        : `import graph of ${body.nodes.length} files and ${body.edges.length} imports at ${body.version.slice(0, 7)}`;
      isAnswered = true;
      say(`Watching ${asked.branch}: ${graph}${body.state === 'stale' ? ', a newer one is being built' : ''}.`);
    }
    draw();
  } catch (error) {
    if (asked !== watched) return;
    tag = null;
    isAnswered = false;
    const last = Object.keys(locks).length > 0 ? 'These are the last that were seen. ' : '';
    say(`Cannot show the locks. ${last}${error.message}`, true);
    draw();
  }
  timer = setTimeout(poll, POLL_MS);
}

function watch(repoUrl, branch, token) {
  clearTimeout(timer);
  watched = { repoUrl, branch, token };
  served.hidden = true;
  tag = null;
  isAnswered = false;
  locks = {};
  say('Asking …');
  draw();
  poll();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const data = new FormData(form);
  const repoUrl = data.get('repo_url').trim();
  const branch = data.get('branch').trim();
  history.replaceState(null, '', `?${new URLSearchParams({ repo_url: repoUrl, branch })}`);
  watch(repoUrl, branch, data.get('token').trim());
});

setInterval(() => { if (watched) draw(); }, 1000);

// What a server on one machine serves; the functions tell nobody.
async function list() {
  const response = await fetch('served.json', { cache: 'no-store' });
  if (!response.ok) return;
  const { repositories } = await response.json();
  for (const { repo_url: repoUrl, branch } of repositories) {
    const link = document.createElement('a');
    link.href = `?${new URLSearchParams({ repo_url: repoUrl, branch: branch ?? 'main' })}`;
    link.textContent = `${repoUrl.replace('https://', '')}${branch ? ` (${branch})` : ''}`;
    const item = document.createElement('li');
    item.append(link);
    served.querySelector('ul').append(item);
  }
  served.hidden = watched !== null || repositories.length === 0;
}

const given = new URLSearchParams(location.search);
if (given.get('repo_url')) {
  form.elements.repo_url.value = given.get('repo_url');
  form.elements.branch.value = given.get('branch') ?? 'main';
  watch(form.elements.repo_url.value, form.elements.branch.value, '');
} else {
  // A static host has no such list, and needs none.
  list().catch(() => {});
}
