import {
  onSubmit,
  post,
  readUser,
  refuseIncompleteLink,
  show,
  showLink,
  showStatus,
  takeFromFragment,
} from './page.js';

const find = (id) => document.getElementById(id);

const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else await showInvitation();

async function showInvitation() {
  showStatus('One moment ...');
  try {
    const [{ invitation }, user] = await Promise.all([post('/api/invitations/look-up', { token }), readUser()]);
    if (invitation.is_expired)
      throw new Error(`This invitation has expired. Ask ${invitation.invited_by_name} for a new one.`);
    fill(invitation, user);
    showStatus('');
    join(user !== null);
  } catch (error) {
    showStatus(
      error.code === 'NOT_FOUND' ? 'This invitation was already used, or was revoked.' : error.message,
      'error',
    );
  }
}

function fill({ workspace_name, role, invited_by_name, email }, user) {
  find('workspace').textContent = workspace_name;
  find('role').textContent = role;
  find('inviter').textContent = invited_by_name;
  find('form').hidden = false;
  if (user === null) {
    show('sign-in', true);
    find('email').value = email;
    find('is-new').addEventListener('change', ({ target }) => {
      show('name-field', target.checked);
      find('password').autocomplete = target.checked ? 'new-password' : 'current-password';
    });
  } else
    find('account').textContent =
      user.email === email
        ? `You join as ${user.email}.`
        : `You join as ${user.email}. The invitation was sent to ${email}.`;
}

function join(hasSession) {
  let isSignedIn = hasSession;
  onSubmit(async () => {
    if (!isSignedIn) await signIn();
    isSignedIn = true;
    show('sign-in', false);
    const { workspace } = await post('/api/invitations/accept', { token });
    // The start page leads on to it.
    showLink('Open the workspace', `/?next=/w/${workspace.id}`);
    return `You are now a member of ${workspace.name}. You can close this page.`;
  });
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
