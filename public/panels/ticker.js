// One timer for all countdowns of the page. It stops while the document is hidden.

/** @type {Set<() => void>} */
const listeners = new Set();
let timer = 0;

function tick() {
  for (const listener of listeners) listener();
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
 * Calls back every second while the document is visible, and at once when it becomes visible.
 * @param {() => void} listener
 */
export function everySecond(listener) {
  if (listeners.size === 0) document.addEventListener('visibilitychange', updateTimer);
  listeners.add(listener);
  updateTimer();
}
