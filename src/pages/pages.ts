/** The small pages, by their paths. A frontend at APP_URL serves pages of its own at the same paths. */
import type { Page } from './page-shell.ts';

export const pages: Readonly<Record<`/${string}`, Page>> = {
  '/verify-email': {
    title: 'Confirm your email address',
    script: 'verify-email.js',
    body: `<form id="form">
<p>Press the button to confirm that this address is yours.</p>
<button>Confirm address</button>
</form>`,
  },
  '/reset-password': {
    title: 'Set a new password',
    script: 'reset-password.js',
    body: `<form id="form">
<p>This ends all sessions of the account. You then sign in with the new password.</p>
<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" minlength="8" maxlength="200" required
  aria-describedby="password-hint">
<p id="password-hint" class="hint">8 to 200 characters</p>
<label for="repeated">New password, once more</label>
<input id="repeated" type="password" autocomplete="new-password" minlength="8" maxlength="200" required>
<button>Set password</button>
</form>`,
  },
  // Providers send people back here, so a frontend at APP_URL does not take this page over.
  '/sign-in/return': { title: 'Signing in', script: 'sign-in-return.js', body: '' },
};
