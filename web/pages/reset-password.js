import { onSubmit, post, refuseIncompleteLink, showLink, takeFromFragment } from './page.js';

const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else
  onSubmit(async () => {
    const [password, repeated] = ['password', 'repeated'].map((id) => document.getElementById(id).value);
    if (password !== repeated) throw new Error('The two passwords differ.');
    const keep_access = document.getElementById('keep-access').checked;
    const { ended } = await post('/api/auth/reset-password', { token, password, keep_access });
    showLink('Sign in');
    const access = ended === 0 ? 'all sessions have ended' : 'all sessions and other access have ended';
    return `The new password is set, and ${access}. You can now sign in with the new password.`;
  });
