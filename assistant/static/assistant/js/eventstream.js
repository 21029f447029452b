// Reads a response of type text/event-stream (WHATWG, server-sent events) as [event name, JSON value] pairs.

/** Yields each whole event; what a cut connection left unfinished is dropped. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const blocks = waiting.split(/\r\n\r\n|\n\n/);
    waiting = blocks.pop();
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) yield event;
    }
  }
}

function eventOf(block) {
  let name = "message";
  const content = [];
  for (const line of block.split(/\r?\n/)) {
    const [, key, value] = line.match(/^([^:]*):? ?(.*)$/);
    if (key === "event") name = value;
    if (key === "data") content.push(value);
  }
  return content.length ? [name, JSON.parse(content.join("\n"))] : null;
}
