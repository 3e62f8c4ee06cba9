import { post, showStatus } from './page.js';

const parameters = new URLSearchParams(location.search);
// The code works only once, but has no place in the history either.
history.replaceState(null, '', location.pathname);

const body = {};
for (const name of ['state', 'code', 'iss', 'error']) {
  const value = parameters.get(name);
  if (value !== null) body[name] = value;
}

if (body.state === undefined) showStatus('This page is for people who come back from a sign-in provider.', 'error');
else {
  showStatus('One moment ...');
  try {
    const { return_to: returnTo } = await post('/api/auth/openid/complete', body);
    location.replace(returnTo);
  } catch (error) {
    showStatus(error.message, 'error');
  }
}
