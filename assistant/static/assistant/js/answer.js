// An answer and its passages as elements. The markers link both ways.

import { element } from "./dom.js";

/** Fills `target` with the answer's paragraphs; each `[n]` that is cited becomes a link to its passage. */
export function showAnswer(target, text, citations) {
  const cited = new Set(citations.map((citation) => citation.marker));
  const linked = new Set();
  target.replaceChildren(
    ...text.split(/\n{2,}/).map((paragraph) => element("p", {}, ...piecesOf(paragraph, cited, linked))),
  );
}

function piecesOf(paragraph, cited, linked) {
  return paragraph.split(/(\[\d+\])/).map((piece) => {
    const number = /^\[\d+\]$/.test(piece) ? Number(piece.slice(1, -1)) : 0;
    return cited.has(number) ? markerLink(number, linked) : piece;
  });
}

function markerLink(number, linked) {
  const link = element("a", { class: "marker", href: `#passage-${number}`, "aria-label": `Passage ${number}` }, `${number}`);
  // The way back from a passage leads to the first place that cites it.
  if (!linked.has(number)) link.id = `cited-${number}`;
  linked.add(number);
  return link;
}

/** Fills the list with one entry for each citation; `newer` are versions that wait to be published. */
export function showPassages(list, citations, newer) {
  const waiting = new Map(newer.map((one) => [one.document, one.version]));
  list.replaceChildren(...citations.map((citation) => passage(citation, waiting.get(citation.document))));
}

function passage(citation, newer) {
  const { marker, document: slug, title, version, heading_path: headings, quote } = citation;
  const made = element(
    "li",
    { class: "passage", id: `passage-${marker}`, tabindex: "-1" },
    element(
      "div",
      { class: "passage-head" },
      element("a", { class: "marker", href: `#cited-${marker}`, "aria-label": `Passage ${marker}, back to the answer` }, `${marker}`),
      element("h3", {}, element("a", { href: `/documents/${encodeURIComponent(slug)}/` }, title)),
    ),
    element("p", { class: "facts" }, element("span", { "data-part": "version" }, `version ${version}`), element("span", {}, headings.join(" › "))),
    element("blockquote", { tabindex: "0", "aria-label": `Passage ${marker} of ${title}` }, quote),
  );
  if (newer) made.append(element("p", { class: "note note-wait" }, `A newer version (${newer}) is being prepared.`));
  return made;
}
