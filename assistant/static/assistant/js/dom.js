// Building elements. All text goes in as text: nothing from a document or the API is ever read as markup.

/** A new element with attributes and children; a child that is a string becomes text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Says something in a live region, but only what is new: a repeated text would be announced again. */
export function say(region, text) {
  if (region.textContent !== text) region.textContent = text;
}
