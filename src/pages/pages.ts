/** The small pages, by their paths. A frontend at APP_URL serves its own pages at the same paths. */
import { type Page, textAttribute as text } from './page-shell.ts';

export const pages: Readonly<Record<`/${string}`, Page>> = {
  '/verify-email': {
    title: 'Confirm your email address',
    script: 'verify-email.js',
    body: `<form id="form" hidden>
<p>Press the button to confirm that this address is yours.</p>
<p id="account"></p>
<fieldset id="proof" disabled hidden>
<label for="password">Password of the account</label>
<input id="password" type="password" autocomplete="current-password" maxlength="200" required
  aria-describedby="password-hint">
<p id="password-hint" class="hint">If you do not know this account, close the page: somebody entered your address by
mistake. If you forgot the password, ask for a new one: that also confirms the address.</p>
</fieldset>
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
<label for="repeated">Repeat the new password</label>
<input id="repeated" type="password" autocomplete="new-password" minlength="8" maxlength="200" required>
<p><input id="keep-access" type="checkbox" aria-describedby="access-hint"> <label for="keep-access">Keep what works
without a password</label></p>
<p id="access-hint" class="hint">Otherwise your calendar feed, API keys, passkeys, linked accounts and invitations end
too. Keep them only if nobody else has used your account. Before the address was confirmed for the first time,
everything ends.</p>
<button>Set password</button>
</form>`,
  },
  '/invitation': {
    title: 'Invitation',
    titleText: 'invitation.title',
    script: 'invitation.js',
    body: `<form id="form" hidden>
<dl>
<dt ${text('invitation.workspace')}></dt><dd><bdi id="workspace"></bdi></dd>
<dt ${text('invitation.role')}></dt><dd id="role"></dd>
<dt ${text('invitation.invitedBy')}></dt><dd><bdi id="inviter"></bdi></dd>
</dl>
<p id="account"></p>
<fieldset id="sign-in" disabled hidden>
<legend ${text('invitation.signIn')}></legend>
<p><input id="is-new" type="checkbox"> <label for="is-new" ${text('invitation.isNew')}></label></p>
<fieldset id="name-field" disabled hidden>
<label for="name" ${text('invitation.name')}></label>
<input id="name" autocomplete="name" maxlength="100" dir="auto" required>
</fieldset>
<label for="email" ${text('invitation.email')}></label>
<input id="email" type="email" autocomplete="username" maxlength="254" dir="ltr" required>
<label for="password" ${text('invitation.password')}></label>
<input id="password" type="password" autocomplete="current-password" minlength="8" maxlength="200" required>
<fieldset id="code-field" disabled hidden>
<label for="code" ${text('invitation.code')}></label>
<input id="code" autocomplete="one-time-code" dir="ltr" required>
</fieldset>
<p class="hint" ${text('invitation.noPassword')}></p>
</fieldset>
<button ${text('invitation.join')}></button>
</form>`,
  },
  // Providers send people back here, so this page is used even with a frontend at APP_URL.
  '/sign-in/return': { title: 'Signing in', script: 'sign-in-return.js', body: '' },
};
