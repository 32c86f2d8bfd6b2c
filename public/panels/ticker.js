// One timer for every countdown of the page. It rests while nobody looks.

/** @type {Set<() => void>} */
const listeners = new Set();
let timer = 0;

function tick() {
  for (const listener of listeners) listener();
}

function wake() {
  const isWanted = listeners.size > 0 && document.visibilityState === 'visible';
  if (isWanted && !timer) {
    timer = window.setInterval(tick, 1000);
    tick();
  } else if (!isWanted && timer) {
    window.clearInterval(timer);
    timer = 0;
  }
}

/**
 * Calls back every second while the document is visible, and at once when it becomes so.
 * @param {() => void} listener
 * @returns {() => void} What ends it.
 */
export function everySecond(listener) {
  if (listeners.size === 0) document.addEventListener('visibilitychange', wake);
  listeners.add(listener);
  wake();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener('visibilitychange', wake);
    wake();
  };
}
