// Mounts the page.

import { mountMap } from '../map/map.js';
import { mountActionDialog } from '../panels/action_dialog.js';
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
import { elementById } from './dom.js';
import { badgeOf } from './holder.js';
import { mountLayout } from './layout.js';
import { makeModel } from './model.js';
import { mountNotices } from './notices.js';
import { keepRecent } from './recents.js';
import { mountRepositoryPicker } from './repository_picker.js';
import { mountSignIn } from './sign_in.js';
import { mountStart } from './start.js';
import { mountStatus } from './status.js';

/** Interval of drawing what changes with time: ages, and countdowns to the next attempt. */
const SECOND = 1000;

/** @param {string} id */
const dialogById = (id) => /** @type {HTMLDialogElement} */ (elementById(id));

document.getElementById('unloaded')?.remove();
const model = makeModel();
const picker = mountRepositoryPicker(elementById('place'), model);
const signIn = mountSignIn({ dialog: dialogById('sign-in'), button: elementById('account') }, model);
const noticeElements = { banners: elementById('notice'), page: elementById('blank') };
const parts = [
  picker,
  signIn,
  mountStatus(elementById('status'), model),
  mountNotices(noticeElements, model, { sign_in: signIn.open, choose: picker.open }),
  mountStart(elementById('blank'), model),
  mountAnnouncements(elementById('announced'), model),
  mountLayout(model),
];

function update() {
  for (const part of parts) part.update();
}

let lastOpened = '';
function rememberPlace() {
  const { place, graph } = model.state;
  const name = `${place.repoUrl} ${place.branch}`;
  // Without a graph, the name may be mistyped.
  if (!graph || !place.repoUrl || !place.branch || name === lastOpened) return;
  lastOpened = name;
  keepRecent({ repoUrl: place.repoUrl, branch: place.branch });
}

/** The token of the caller that the model knows. @type {string | null | undefined} */
let callerToken;
function updateCaller() {
  const token = model.token();
  if (callerToken === token) return;
  callerToken = token;
  callerOf(token).then((caller) => model.token() === token && model.setCaller(caller));
}

/** Assigns badges in one order, so that every page shows the same badges. */
function assignBadges() {
  const agents = [...model.state.agents].sort((a, b) => (a.holder < b.holder ? -1 : 1));
  for (const { holder, agentId, userName } of agents) badgeOf(holder, agentId, userName);
}

model.subscribe(assignBadges);
model.subscribe(update);
model.subscribe(updateCaller);
model.subscribe(rememberPlace);
update();
updateCaller();
setInterval(() => {
  const { connection, problem } = model.state;
  if (document.visibilityState === 'visible' && (connection.phase !== 'live' || problem)) update();
}, SECOND);

const map = mountMap(elementById('map'), model);
mountActionDialog(dialogById('action'), model);
mountAttention(elementById('attention'), model);
mountAgents(elementById('agents'), model);
mountIntents(elementById('intents'), model, { signIn: signIn.open });
mountActivity(elementById('activity'), model);
mountLedger(elementById('ledger'), model, { signIn: signIn.open });
mountMembers(elementById('members'), model);
mountMessages(elementById('messages'), model);
mountFile(elementById('file'), model);
mountTask(elementById('task'), model);
mountTable(elementById('table'), model);
mountTimeline(elementById('time'), model);
mountBoard(elementById('board'), model, { signIn: signIn.open });
mountLockedFiles(elementById('locked'), model);
const search = mountSearch(elementById('search'), model, { zoomTo: map.focusFile });
const help = mountHelp(dialogById('help'), model);
elementById('help-button').addEventListener('click', help.open);
mountKeys({ model, map, search, help });
