import { onSubmit, post, refuseIncompleteLink, takeFromFragment } from './page.js';

// The address is confirmed by the button and not when the page opens: programs that check mail open links too.
const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else
  onSubmit(async () => {
    const { email } = await post('/api/auth/verify-email', { token });
    return `${email} is confirmed. You can close this page.`;
  });
