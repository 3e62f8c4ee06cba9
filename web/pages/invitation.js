import { say, sayError, sayNothing, showLanguage, write } from './language.js';
import { onSubmit, post, readUser, show, showLink, showStatus, takeFromFragment } from './page.js';

/** What errors mean on this page. */
const signInErrors = {
  UNAUTHORIZED: 'invitation.wrongPassword',
  SECOND_FACTOR_REQUIRED: 'invitation.codeNeeded',
  SECOND_FACTOR_WRONG: 'invitation.codeWrong',
  CONFLICT: 'invitation.hasAccount',
  FORBIDDEN: 'invitation.noAccounts',
};
const joinErrors = { NOT_FOUND: 'invitation.used', CONFLICT: 'invitation.notPossible' };

const find = (id) => document.getElementById(id);

const token = takeFromFragment('token');
try {
  await showLanguage();
  if (token === null) refuse();
  else await showInvitation();
} catch (error) {
  showStatus(error.message, 'error');
}

function refuse() {
  find('form').remove();
  say('invitation.incomplete', {}, 'error');
}

async function showInvitation() {
  say('invitation.wait');
  try {
    const [{ invitation }, user] = await Promise.all([post('/api/invitations/look-up', { token }), readUser()]);
    await showLanguage(invitation.branding.language);
    if (invitation.is_expired) {
      say('invitation.expired', { inviter: invitation.invited_by_name }, 'error');
      return;
    }
    fill(invitation, user);
    sayNothing();
    join(user !== null);
  } catch (error) {
    if (error.code === 'NOT_FOUND') say('invitation.used', {}, 'error');
    else sayError(error);
  }
}

function fill({ workspace_name, is_personal, owner_name, role, invited_by_name, email }, user) {
  if (is_personal) write(find('workspace'), 'page.nameOfOwner', { owner: owner_name, workspace: workspace_name });
  else find('workspace').textContent = workspace_name;
  write(find('role'), role === 'admin' ? 'invitation.roleAdmin' : 'invitation.roleMember');
  find('inviter').textContent = invited_by_name;
  find('form').hidden = false;
  if (user === null) {
    show('sign-in', true);
    find('email').value = email;
    find('is-new').addEventListener('change', ({ target }) => {
      show('name-field', target.checked);
      find('password').autocomplete = target.checked ? 'new-password' : 'current-password';
    });
  } else if (user.email === email) write(find('account'), 'invitation.joinAs', { email });
  else write(find('account'), 'invitation.joinAsOther', { email: user.email, invited: email });
}

function join(hasSession) {
  let isSignedIn = hasSession;
  onSubmit(
    async () => {
      if (!isSignedIn) await signIn();
      isSignedIn = true;
      show('sign-in', false);
      const { workspace } = await post('/api/invitations/accept', { token });
      // The start page leads on to it.
      const link = showLink('', `/?next=/w/${workspace.id}`);
      write(link, 'invitation.open');
      const name = find('workspace').textContent;
      return () => say('invitation.joined', { workspace: name }, 'done');
    },
    {
      showWait: () => say('invitation.wait'),
      showError: (error) => sayError(error, isSignedIn ? joinErrors : signInErrors),
    },
  );
}

async function signIn() {
  const [name, email, password, code] = ['name', 'email', 'password', 'code'].map((id) => find(id).value);
  if (find('is-new').checked) return post('/api/auth/register', { name, email, password, invitation: token });
  try {
    return await post('/api/auth/login', { email, password, ...(code && { code }) });
  } catch (error) {
    if (error.code === 'SECOND_FACTOR_REQUIRED') show('code-field', true);
    throw error;
  }
}
