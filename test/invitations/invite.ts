/** Invitations of the tests. */
import type { Answer } from '../support/http.ts';
import { tokenFor } from '../support/mail.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Person, Team } from '../support/world.ts';

type Options = { by?: Person; role?: 'admin' | 'member' };

/** Invites an address to the workspace, and returns the token of the link that was sent. */
export async function invite(
  app: TestApp,
  { path, owner }: Pick<Team, 'path' | 'owner'>,
  email: string,
  { by = owner, role = 'member' }: Options = {},
): Promise<string> {
  const { status, body } = await app.http.post(`${path}/invitations`, by.token, { email, role });
  if (status !== 200) throw new Error(`Could not invite: ${JSON.stringify(body)}`);
  return tokenFor(app, email, 'workspace-invitation');
}

export function accept(app: TestApp, { token: session }: Person, token: string): Promise<Answer> {
  return app.http.post('/api/invitations/accept', session, { token });
}

export function lookUp(app: TestApp, token: string): Promise<Answer> {
  return app.http.post('/api/invitations/look-up', undefined, { token });
}
