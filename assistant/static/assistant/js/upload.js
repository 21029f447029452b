// The page Upload: choosing files, and a row for each.

import { UploadRow } from "./upload-row.js";

const at = (id) => document.getElementById(id);
const drop = at("drop");
const blank = at("upload-row");
const mostBytes = Number(drop.dataset.mostBytes);
const rows = new Set();

function add(files) {
  for (const file of files) {
    const made = blank.content.firstElementChild.cloneNode(true);
    at("uploads").append(made);
    rows.add(new UploadRow(file, made, mostBytes, remove));
  }
  at("chosen").hidden = rows.size === 0;
}

function remove(row) {
  rows.delete(row);
  at("chosen").hidden = rows.size === 0;
  at("files").focus();
}

at("files").addEventListener("change", (event) => {
  add(event.target.files);
  // Emptied, so that choosing the same file again is a change.
  event.target.value = "";
});

at("send-all").addEventListener("click", () => {
  for (const row of rows) if (row.canBeSent) row.send();
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
