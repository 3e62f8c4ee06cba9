// Functions that the scripts of the small pages share.

/**
 * Returns a value that the link has after `#`, such as `token`, or null. Removes it from the address bar, so that it is
 * in no history, bookmark or screenshot.
 */
export function takeFromFragment(name) {
  const value = new URLSearchParams(location.hash.slice(1)).get(name);
  history.replaceState(null, '', location.pathname + location.search);
  return value;
}

/** Shows a message, which screen readers read out. */
export function showStatus(message, kind = 'info') {
  const status = document.getElementById('status');
  status.className = kind;
  status.textContent = message;
}

/** Adds a link below the message, and returns it. `path` is a path of the console. */
export function showLink(text, path = '/') {
  const link = document.createElement('a');
  link.href = path;
  link.textContent = text;
  const paragraph = document.createElement('p');
  paragraph.append(link);
  document.getElementById('status').after(paragraph);
  return link;
}

/** Shows or hides a fieldset. A hidden one is disabled, so that the form can be sent without its fields. */
export function show(id, isShown) {
  Object.assign(document.getElementById(id), { hidden: !isShown, disabled: !isShown });
}

/** The user whose session this browser has, or null. */
export async function readUser() {
  const response = await fetch('/api/auth/me').catch(() => null);
  return response?.ok ? (await response.json()).user : null;
}

/** The Idempotency-Keys of calls that have no answer, so that a second press of the button repeats the call. */
const keys = new Map();
/** Errors that the service gives before it looks at the key. */
const PASSING = ['UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'IDEMPOTENCY_KEY_IN_USE'];

/**
 * Calls a REST operation. Resolves with its answer, or throws an Error with a message for people, the code, and the
 * first field that is wrong.
 */
export async function post(path, body) {
  const json = JSON.stringify(body);
  const key = keys.get(path + json) ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  keys.set(path + json, key);
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: json,
    });
  } catch {
    throw new Error('The service could not be reached. Check your connection, and try again.');
  }
  const answer = await response.json().catch(() => ({}));
  const { message = 'Something went wrong. Try again.', code, issues } = answer;
  if (response.status < 500 && !PASSING.includes(code)) keys.delete(path + json);
  if (response.ok) return answer;
  throw Object.assign(new Error(message), { code, field: issues?.[0]?.path });
}

const inEnglish = {
  showWait: () => showStatus('One moment ...'),
  showError: ({ message }) => showStatus(message, 'error'),
};

/**
 * Runs `submit` when the form is sent, once at a time, and shows its error. After a success the form disappears and
 * the message that `submit` resolves with takes its place: a text, or a function that shows it.
 */
export function onSubmit(submit, { showWait, showError } = inEnglish) {
  const form = document.getElementById('form');
  const button = form.querySelector('button');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    showWait();
    try {
      const message = await submit();
      form.remove();
      if (typeof message === 'function') message();
      else showStatus(message, 'done');
    } catch (error) {
      showError(error);
    } finally {
      button.disabled = false;
    }
  });
}

/** Says that the link has no token, and hides the form. */
export function refuseIncompleteLink() {
  document.getElementById('form').remove();
  showStatus('This link is incomplete. Open the link from the message again, or copy all of it.', 'error');
}
