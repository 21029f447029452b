// The page Upload: choosing files, and a row for each.

import { say } from "./dom.js";
import { UploadRow } from "./upload-row.js";

const at = (id) => document.getElementById(id);
const drop = at("drop");
const blank = at("upload-row");
const mostBytes = Number(drop.dataset.mostBytes);
const rows = new Set();
// More at once would only wait for each other, and for the same places.
const AT_ONCE = 4;
const TALLIES = {
  following: "being prepared",
  published: "published",
  waiting: "waiting to be sent again",
  refused: "refused",
  unknown: "to be tried again",
  "signed-out": "waiting for you to sign in",
  ended: "came to nothing",
};

function add(files) {
  for (const file of files) {
    const made = blank.content.firstElementChild.cloneNode(true);
    at("uploads").append(made);
    rows.add(new UploadRow(file, made, mostBytes, remove, tally));
  }
  tally();
  at("chosen").hidden = rows.size === 0;
}

/** How many files are how far: with many rows the ones that need a person are not all in sight. */
function tally() {
  const counts = new Map();
  for (const row of rows) counts.set(row.state, (counts.get(row.state) || 0) + 1);
  const told = Object.entries(TALLIES).filter(([state]) => counts.get(state));
  say(at("tally"), told.map(([state, words]) => `${counts.get(state)} ${words}`).join(", "));
  at("send-all").hidden = ![...rows].some((row) => row.canBeSent);
}

function remove(row) {
  rows.delete(row);
  tally();
  at("chosen").hidden = rows.size === 0;
  at("files").focus();
}

at("files").addEventListener("change", (event) => {
  add(event.target.files);
  // Emptied, so that choosing the same file again is a change.
  event.target.value = "";
});

at("send-all").addEventListener("click", () => {
  const waiting = [...rows].filter((row) => row.canBeSent);
  const sendNext = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) await row.send();
  };
  for (let lane = 0; lane < AT_ONCE; lane += 1) sendNext();
});

// Back from the tab of the sign-in: what its end had stopped goes on.
window.addEventListener("focus", () => {
  for (const row of rows) row.resume();
});

drop.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.toggleAttribute("data-over", true);
});
drop.addEventListener("dragleave", () => drop.toggleAttribute("data-over", false));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.toggleAttribute("data-over", false);
  add(event.dataTransfer.files);
});

window.addEventListener("beforeunload", (event) => {
  if ([...rows].some((row) => row.isUnsafeToLeave)) event.preventDefault();
});
