// One timer for all countdowns of the page. It stops while the document is hidden.

/** The interval of each listener, in seconds. @type {Map<() => void, number>} */
const listeners = new Map();
let timer = 0;
let seconds = 0;

function tick() {
  seconds += 1;
  for (const [listener, interval] of listeners) if (seconds % interval === 0) listener();
}

function updateTimer() {
  const isVisible = document.visibilityState === 'visible';
  if (isVisible && !timer) {
    timer = window.setInterval(tick, 1000);
    tick();
  } else if (!isVisible && timer) {
    window.clearInterval(timer);
    timer = 0;
  }
}

/**
 * Calls back at each interval while the document is visible. With an interval of one second, it also calls back at once
 * when the document becomes visible.
 * @param {() => void} listener
 * @param {number} [interval] Seconds between two calls.
 */
export function onTick(listener, interval = 1) {
  if (listeners.size === 0) document.addEventListener('visibilitychange', updateTimer);
  listeners.set(listener, interval);
  updateTimer();
}
