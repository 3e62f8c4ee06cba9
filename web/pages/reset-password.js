import { onSubmit, post, refuseIncompleteLink, showLink, takeFromFragment } from './page.js';

const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else
  onSubmit(async () => {
    const [password, repeated] = ['password', 'repeated'].map((id) => document.getElementById(id).value);
    if (password !== repeated) throw new Error('The two passwords differ.');
    await post('/api/auth/reset-password', { token, password });
    showLink('Sign in');
    return 'The new password is set, and all sessions have ended. You can now sign in with the new password.';
  });
