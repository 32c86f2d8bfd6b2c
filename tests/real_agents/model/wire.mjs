// What the four wire formats have in common.

/** A JSON response. */
export const json = (body) => ({ type: "application/json", body: JSON.stringify(body) });

/** A stream of server-sent events, whole: no agent needs the parts one after the other. */
export const events = (data) => ({ type: "text/event-stream", body: data.map((text) => `data: ${text}\n\n`).join("") });

/** The same with the name of each event. */
export const namedEvents = (all) => ({
  type: "text/event-stream",
  body: all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
});

/** The text of a content: a string, a part, or a list of parts. Whatever is not text stays JSON. */
export function textOf(content) {
  if (content === undefined || content === null || typeof content === "string") {
    return content ?? "";
  }
  if (Array.isArray(content)) {
    return content.map(textOf).join("\n");
  }
  return typeof content.text === "string" ? content.text : JSON.stringify(content);
}
