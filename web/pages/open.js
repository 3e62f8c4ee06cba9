import { onSubmit, refuseIncompleteLink, takeFromFragment } from './page.js';

// The page to which the link leads; without it, the first one.
const workspace = /[#&]workspace=(\d+)(?:&|$)/.exec(location.hash)?.[1];
// A click spends the link: programs that look at links open them too.
const token = takeFromFragment('token');
if (token === null) refuseIncompleteLink();
else
  onSubmit(async () => {
    const response = await fetch('/open', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: token });
    if (!response.ok) {
      const { message = 'Something went wrong' } = await response.json().catch(() => ({}));
      throw new Error(`${message}. The command is: npm run -s lynxroom -- open`);
    }
    location.replace(workspace === undefined ? '/' : `/w/${workspace}`);
    return 'Opening ...';
  });
