// Translates pointers and the wheel on the map into pans, zooms and clicks.

/**
 * Positions and distances are in pixels of the map, from the upper left corner of the element.
 * @typedef {object} Gestures
 * @property {(dx: number, dy: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(x: number, y: number) => void} click
 * @property {(x: number, y: number) => void} doubleClick
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 */

/** A pointer that moves less has clicked. */
const CLICK_PX = 4;
const WHEEL_LINE_PX = 16;
const WHEEL_ZOOM = 0.0016;
/** Pinches on a touch pad arrive as small wheel steps with the control key. */
const PINCH_ZOOM = 0.01;
const DOUBLE_CLICK_MS = 350;
const DOUBLE_CLICK_PX = 24;

/**
 * @param {HTMLElement} element
 * @param {() => number} unitOf CSS pixels of one pixel of the map.
 * @param {Gestures} gestures
 */
export function listenForGestures(element, unitOf, gestures) {
  /** The position of each pressed pointer, by id. @type {Map<number, { x: number, y: number }>} */
  const pointers = new Map();
  let travel = 0;
  let lastClick = { at: -Infinity, x: 0, y: 0 };

  const positionOf = (/** @type {MouseEvent} */ event) => {
    const { left, top } = element.getBoundingClientRect();
    const unit = unitOf();
    return { x: (event.clientX - left) / unit, y: (event.clientY - top) / unit };
  };

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) travel = 0;
    pointers.set(event.pointerId, positionOf(event));
    element.setPointerCapture(event.pointerId);
  });

  element.addEventListener('pointermove', (event) => {
    const to = positionOf(event);
    const from = pointers.get(event.pointerId);
    if (!from) {
      if (event.pointerType !== 'touch') gestures.hover(to.x, to.y);
      return;
    }
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, position]) => position);
    const wasDrag = travel > CLICK_PX;
    travel += Math.hypot(to.x - from.x, to.y - from.y);
    // Until it is a drag, the start position stays, so that the drag includes this movement.
    if (travel <= CLICK_PX && !other) return;
    if (!wasDrag) gestures.leave();
    pointers.set(event.pointerId, to);
    if (!other) {
      element.classList.add('is-dragged');
      gestures.pan(to.x - from.x, to.y - from.y);
      return;
    }
    gestures.pan((to.x - from.x) / 2, (to.y - from.y) / 2);
    const distance = Math.hypot(from.x - other.x, from.y - other.y);
    const factor = Math.hypot(to.x - other.x, to.y - other.y) / Math.max(1, distance);
    gestures.zoom(factor, (to.x + other.x) / 2, (to.y + other.y) / 2);
  });

  const release = (/** @type {PointerEvent} */ event) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    element.classList.remove('is-dragged');
    if (event.type !== 'pointerup' || travel > CLICK_PX) return;
    const { x, y } = positionOf(event);
    const isSoon = event.timeStamp - lastClick.at < DOUBLE_CLICK_MS;
    const isDouble = isSoon && Math.hypot(x - lastClick.x, y - lastClick.y) < DOUBLE_CLICK_PX;
    lastClick = { at: isDouble ? -Infinity : event.timeStamp, x, y };
    if (isDouble) gestures.doubleClick(x, y);
    else gestures.click(x, y);
  };
  element.addEventListener('pointerup', release);
  element.addEventListener('pointercancel', release);
  element.addEventListener('pointerleave', () => gestures.leave());

  element.addEventListener('wheel', (event) => {
    event.preventDefault();
    const { x, y } = positionOf(event);
    const delta = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * WHEEL_LINE_PX : event.deltaY;
    gestures.zoom(Math.exp(-delta * (event.ctrlKey ? PINCH_ZOOM : WHEEL_ZOOM)), x, y);
  }, { passive: false });
}
