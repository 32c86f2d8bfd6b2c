// Shows the locks of one branch, by asking for the graph again and again. ETags make an answer that has not changed cheap.
'use strict';

const POLL_MS = 2000;
const form = document.getElementById('where');
const state = document.getElementById('state');
const table = document.getElementById('locks');
const none = document.getElementById('none');

let watched = null; // { repoUrl, branch, token }
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
      cell(row, path);
      cell(row, (lock.user_name || lock.user) + (lock.agent_id ? ` (${lock.agent_id})` : ''));
      cell(row, status === 'WRITING' ? 'writing' : 'reading', status);
      cell(row, lock.message);
      cell(row, countdown(lock.expiry));
    }
  }
  table.hidden = paths.length === 0;
  none.hidden = watched === null || paths.length > 0;
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
      say(`Watching ${asked.branch}: ${graph}${body.state === 'stale' ? ', a newer one is being built' : ''}.`);
    }
    draw();
  } catch (error) {
    if (asked !== watched) return;
    tag = null;
    say(`Cannot show the locks: ${error.message}`, true);
  }
  timer = setTimeout(poll, POLL_MS);
}

function watch(repoUrl, branch, token) {
  clearTimeout(timer);
  watched = { repoUrl, branch, token };
  tag = null;
  locks = {};
  say('Asking …');
  draw();
  none.hidden = true;
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

const given = new URLSearchParams(location.search);
if (given.get('repo_url')) {
  form.repo_url.value = given.get('repo_url');
  form.branch.value = given.get('branch') ?? 'main';
  watch(form.repo_url.value, form.branch.value, '');
}
