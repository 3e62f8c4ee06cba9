import { post, showLink, showStatus } from './page.js';

const parameters = new URLSearchParams(location.search);
// Removes the code from the history of the browser, although it works only once.
history.replaceState(null, '', location.pathname);

const body = {};
for (const name of ['state', 'code', 'iss', 'error']) {
  const value = parameters.get(name);
  if (value !== null) body[name] = value;
}

if (body.state === undefined) refuse('This page completes a sign-in at a provider. Start the sign-in again.');
else {
  showStatus('One moment ...');
  try {
    const { return_to: returnTo } = await post('/api/auth/openid/complete', body);
    location.replace(returnTo);
  } catch (error) {
    refuse(error.message);
  }
}

function refuse(message) {
  showStatus(message, 'error');
  showLink('Go back to Lynxroom');
}
