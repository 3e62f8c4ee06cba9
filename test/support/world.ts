/** Creates users and workspaces with the public operations. */
import { type Client, createClient } from '../../packages/client/src/index.ts';
import type { Answer } from './http.ts';
import { makePdf } from './media.ts';
import type { TestApp } from './test-app.ts';

export const PASSWORD = 'correct horse battery staple';

export type Person = { id: number; name: string; email: string; token: string; client: Client };

let people = 0;

/** Registers a user, who is then signed in. */
export async function addPerson(app: TestApp, name = 'Ada'): Promise<Person> {
  people += 1;
  // Workers may share a server.
  const email = `${name.toLowerCase().replace(/[^a-z]/g, '')}${process.pid}.${people}@example.com`;
  const { status, body } = await register(app, { name, email, password: PASSWORD });
  if (status !== 200) throw new Error(`Could not register: ${JSON.stringify(body)}`);
  const { user, token } = body;
  return { id: user.id, name, email, token, client: createClient({ url: app.url, token }) };
}

/** A service on a machine with much else to do asks to wait: what a test is about begins only afterwards. */
async function register(app: TestApp, input: object): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await app.http.post('/api/auth/register', undefined, input);
    if (answer.status !== 503 || tries === 10) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after') ?? 1) * 1_000));
  }
}

export type Team = {
  id: number;
  /** `/api/workspaces/<id>` */
  path: string;
  owner: Person;
  admin: Person;
  member: Person;
  outsider: Person;
};

/** Creates a workspace with one user of each role, and a user who is not a member. */
export async function addTeam(app: TestApp, name = 'Team'): Promise<Team> {
  const [owner, admin, member, outsider] = await Promise.all(
    ['Olive Owner', 'Adam Admin', 'Mia Member', 'Otto Outsider'].map((person) => addPerson(app, person)),
  );
  if (!owner || !admin || !member || !outsider) throw new Error('Not enough people');
  const { workspace } = await owner.client.workspaces.create.mutate({ name });
  const { token } = await owner.client.workspaces.invite.mutate({ id: workspace.id });
  for (const { client } of [admin, member]) await client.workspaces.join.mutate({ token });
  await owner.client.members.changeRole.mutate({ id: workspace.id, userId: admin.id, role: 'admin' });
  return { id: workspace.id, path: `/api/workspaces/${workspace.id}`, owner, admin, member, outsider };
}

type UploadOptions = { filename?: string; type?: string; fields?: Record<string, string> };

/** Uploads a file as multipart/form-data. */
export function upload(
  app: Pick<TestApp, 'http'>,
  path: string,
  token: string | undefined,
  bytes: Uint8Array<ArrayBuffer> = Uint8Array.from(makePdf({})),
  { filename = 'contract.pdf', type = 'application/pdf', fields = {} }: UploadOptions = {},
): Promise<Answer> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new Blob([bytes], { type }), filename);
  return app.http.call('POST', `${path}/library`, { token, body });
}
