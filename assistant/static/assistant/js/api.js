// Calls of the product's API with the session of the page. Knows HTTP and problem documents, no page.

const NOT_REACHED = "The server could not be reached.";

/** A call that was not accepted: the problem document's words, and the seconds after which to come back. */
export class Refusal extends Error {
  constructor(status, problem = {}, retryAfter = null) {
    super(problem.detail || problem.title || `The server answered ${status}.`);
    this.status = status;
    this.code = problem.code || "";
    this.retryAfter = retryAfter;
  }

  /** Nothing is known of what became of the request. */
  get isUnreached() {
    return this.status === 0;
  }

  /** A later try with the same request is likely to be accepted. */
  get isTemporary() {
    return this.isUnreached || this.status === 429 || this.status === 503;
  }
}

/** The answer, when it is a 2xx. Throws a Refusal otherwise, and the AbortError of a caller that stopped. */
export async function call(path, options = {}) {
  const headers = { Accept: "application/json", ...options.headers };
  // Read at every call: a sign-in in another tab changes it.
  if (options.method && options.method !== "GET") headers["X-CSRFToken"] = csrfToken();
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { detail: NOT_REACHED });
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function refusalOf(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refusal(response.status, problem, secondsOf(response.headers.get("Retry-After")));
}

/** Retry-After is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(value) {
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? null : Math.max(0, Math.ceil((moment - Date.now()) / 1000));
}

function csrfToken() {
  const found = document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/);
  return found ? decodeURIComponent(found[1]) : "";
}

/** A fresh key of 128 random bits, also where the page is not served over TLS. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
