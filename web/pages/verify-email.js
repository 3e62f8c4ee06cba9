import { onSubmit, post, readUser, refuseIncompleteLink, show, showLink, takeFromFragment } from './page.js';

const password = document.getElementById('password');

// The address is confirmed by the button and not when the page opens: programs that check mail open links too.
const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else {
  const user = await readUser();
  if (user === null) show('proof', true);
  else document.getElementById('account').textContent = `You are signed in as ${user.email}.`;
  document.getElementById('form').hidden = false;
  onSubmit(confirm);
}

async function confirm() {
  try {
    const { email } = await post('/api/auth/verify-email', {
      token,
      ...(password.value && { password: password.value }),
    });
    showLink('Go to Lynxroom');
    return `${email} is confirmed. You can close this page.`;
  } catch (error) {
    // The session of this browser belongs to another account.
    if (error.field === 'password') show('proof', true);
    throw error;
  }
}
