// The citations of an answer in their whole passages: the words that it rests on are marked, the version has its age.

import { call } from "./api.js";
import { element } from "./dom.js";
import { age } from "./words.js";

/** Completes the passages in `list`. Where it can't, the quotes stand there as they are: nothing is lost. */
export async function completePassages(list, citations) {
  const query = new URLSearchParams(citations.map((one) => ["cite", nameOf(one)]));
  let found;
  try {
    found = (await (await call(`/passages?${query}`)).json()).passages;
  } catch {
    return;
  }
  const whole = new Map(found.map((one) => [nameOf(one), one]));
  for (const citation of citations) {
    const entry = list.querySelector(`#passage-${citation.marker}`);
    const passage = whole.get(nameOf(citation));
    if (entry && passage) complete(entry, citation, passage);
  }
}

const nameOf = (one) => `${one.document}:${one.version}:${one.position}`;

function complete(entry, citation, passage) {
  const version = entry.querySelector('[data-part="version"]');
  version.textContent = `version ${citation.version}, published ${age(passage.published_at)} ago`;
  version.title = new Date(passage.published_at).toLocaleString();
  if (passage.superseded_at) version.textContent += ", superseded since";
  const parts = partsOf(citation, passage);
  if (!parts) return;
  const [before, marked, after] = parts;
  const quote = entry.querySelector("blockquote");
  const mark = element("mark", {}, marked);
  quote.replaceChildren(before, mark, after);
  // Within the passage alone: the page itself stays where the reader is.
  quote.scrollTop = Math.max(0, mark.offsetTop - quote.offsetTop - quote.clientHeight / 3);
}

/** Before, marked, after; offsets are code points. Null where the passage does not hold the quote at its place. */
function partsOf(citation, passage) {
  const points = Array.from(passage.text);
  const start = citation.start - passage.start;
  const end = citation.end - passage.start;
  const marked = points.slice(Math.max(0, start), end).join("");
  if (start < 0 || marked !== citation.quote) return null;
  return [points.slice(0, start).join("").trimStart(), marked, points.slice(end).join("").trimEnd()];
}
