// While the database is away: asks whether it is back, then loads the page that was wanted.

const PAUSE_MS = 3000;
const line = document.getElementById("away");

async function look() {
  const answer = await fetch("/readyz", { cache: "no-store" }).catch(() => null);
  if (answer?.ok) return location.reload();
  line.textContent = `Looked at ${new Date().toLocaleTimeString()}; not back yet.`;
  return setTimeout(look, PAUSE_MS);
}

setTimeout(look, PAUSE_MS);
