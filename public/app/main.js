// Mounts the page.

import { mountMap } from '../map/map.js';
import { mountActDialog } from '../panels/act_dialog.js';
import { mountActivity } from '../panels/activity.js';
import { mountAgents } from '../panels/agents.js';
import { mountAttention } from '../panels/attention.js';
import { mountBoard } from '../panels/board.js';
import { mountFile } from '../panels/file.js';
import { mountHelp } from '../panels/help.js';
import { mountIntents } from '../panels/intents.js';
import { mountKeys } from '../panels/keys.js';
import { mountLedger } from '../panels/ledger.js';
import { mountLockedFiles } from '../panels/locked_files.js';
import { mountMembers } from '../panels/members.js';
import { mountMessages } from '../panels/messages.js';
import { mountSearch } from '../panels/search.js';
import { mountTable } from '../panels/table.js';
import { mountTask } from '../panels/task.js';
import { mountTimeline } from '../panels/timeline.js';
import { mountAnnouncements } from './announce.js';
import { callerOf } from './caller.js';
import { badgeOf } from './holder.js';
import { mountLayout } from './layout.js';
import { makeModel } from './model.js';
import { mountNotices } from './notices.js';
import { mountPicker } from './picker.js';
import { keepRecent } from './recents.js';
import { mountSignIn } from './sign_in.js';
import { mountStart } from './start.js';
import { mountStatus } from './status.js';

/** How often what depends on the time is drawn: countdowns to the next attempt, ages. */
const SECOND = 1000;

/** @param {string} id */
function slot(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

document.getElementById('unloaded')?.remove();
const model = makeModel();
const picker = mountPicker(slot('place'), model);
const signIn = mountSignIn({ dialog: /** @type {HTMLDialogElement} */ (slot('sign-in')), button: slot('account') }, model);
const parts = [
  picker,
  signIn,
  mountStatus(slot('status'), model),
  mountNotices({ banners: slot('notice'), page: slot('blank') }, model, { sign_in: signIn.open, choose: picker.open }),
  mountStart(slot('blank'), model),
  mountAnnouncements(slot('announced'), model),
  mountLayout(model),
];

function update() {
  for (const part of parts) part.update();
}

let opened = '';
function remember() {
  const { place, graph } = model.state;
  const name = `${place.repoUrl} ${place.branch}`;
  // A name that was mistyped is not worth remembering.
  if (!graph || !place.repoUrl || !place.branch || name === opened) return;
  opened = name;
  keepRecent({ repoUrl: place.repoUrl, branch: place.branch });
}

/** Who acts is asked again when another token is there. */
let shownToken = '';
function knowCaller() {
  const token = model.token();
  if (shownToken === `${token}`) return;
  shownToken = `${token}`;
  callerOf(token).then((caller) => model.token() === token && model.knowCaller(caller));
}

/** Badges are given in one order, so that they are the same on each page. */
function giveBadges() {
  const agents = [...model.state.agents].sort((one, other) => (one.holder < other.holder ? -1 : 1));
  for (const { holder, agentId, userName } of agents) badgeOf(holder, agentId, userName);
}

model.subscribe(giveBadges);
model.subscribe(update);
model.subscribe(knowCaller);
model.subscribe(remember);
update();
knowCaller();
setInterval(() => {
  const { connection, problem } = model.state;
  if (document.visibilityState === 'visible' && (connection.phase !== 'live' || problem)) update();
}, SECOND);

const map = mountMap(slot('map'), model);
mountActDialog(/** @type {HTMLDialogElement} */ (slot('act')), model);
mountAttention(slot('attention'), model);
mountAgents(slot('agents'), model);
mountIntents(slot('intents'), model, { signIn: signIn.open });
mountActivity(slot('activity'), model);
mountLedger(slot('ledger'), model, { signIn: signIn.open });
mountMembers(slot('members'), model);
mountMessages(slot('messages'), model);
mountFile(slot('file'), model);
mountTask(slot('task'), model);
mountTable(slot('table'), model);
mountTimeline(slot('time'), model);
mountBoard(slot('board'), model, { signIn: signIn.open });
mountLockedFiles(slot('locked'), model);
const search = mountSearch(slot('search'), model, { zoomTo: map.focusFile });
const help = mountHelp(slot('help'), model);
mountKeys({ model, map, search, help });
