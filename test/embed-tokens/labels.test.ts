/** Embed tokens for the items with one label: no other item is read, and what is uploaded gets the label. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { jpeg } from '../support/images.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let labelId: number;
let items: { inside: number; outside: number };
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const { client } = team.owner;
  const { id } = team;
  labelId = (await client.labels.create.mutate({ id, name: 'Press' })).label.id;
  const add = async () => (await upload(app, team.path, team.owner.token)).body.item.id;
  items = { inside: await add(), outside: await add() };
  await client.library.assignLabel.mutate({ id, itemId: items.inside, labelId });
});
afterAll(() => app.close());

const make = (json: object) =>
  app.http.post(`${team.path}/embed-tokens`, team.owner.token, { kind: 'library', ...json });
const makeToken = async (json: object = {}): Promise<string> => (await make({ label_id: labelId, ...json })).body.token;
const namesOf = ({ labels }: { labels: readonly { name: string }[] }) => labels.map(({ name }) => name);

test('reads the items with its label, and no other, in any way', async () => {
  const token = await makeToken();
  const get = (path: string) => app.http.getJson(`${team.path}/library${path}`, token);
  const list = await get('');
  expect([list.status, list.body.total, list.body.items.map(({ id }: { id: number }) => id)]).toEqual([
    200,
    1,
    [items.inside],
  ]);
  expect((await get(`?label=${labelId}`)).body.total).toBe(1);
  expect(await get(`?label=${labelId + 1}`)).toMatchObject({ status: 403, body: { code: 'EMBED_SCOPE' } });
  for (const path of ['', '/download', '/file']) {
    expect([path, (await get(`/${items.inside}${path}`)).status]).toEqual([path, 200]);
    expect([path, (await get(`/${items.outside}${path}`)).status]).toEqual([path, 404]);
  }
  // The item has no poster, and the other is not there at all.
  expect((await get(`/${items.inside}/poster`)).body.error).toBe('Poster not found');
  expect((await get(`/${items.outside}/poster`)).body.error).toBe('Item not found');
  const current = await app.http.get(`${team.path}/embed-tokens/current`, token);
  expect(current.body.scope).toEqual({ kind: 'library', access: 'read', label_id: labelId });
});

test('gives its label to what it uploads, in one request and in several', async () => {
  const token = await makeToken({ access: 'upload' });
  const whole = await upload(app, team.path, token);
  expect([whole.status, namesOf(whole.body.item)]).toEqual([200, ['Press']]);
  const client = createClient({ url: app.url, token });
  const image = new Blob([Uint8Array.from(jpeg)]);
  const setPoster = (itemId: number) => client.setPoster({ id: team.id, itemId, image });
  expect(namesOf(await setPoster(whole.body.item.id))).toEqual(['Press']);
  await expect(setPoster(items.outside)).rejects.toMatchObject({ message: 'Item not found' });
  const bytes = new Uint8Array(9 * 1024 * 1024);
  bytes.set(new TextEncoder().encode('%PDF-1.4 '));
  const item = await client.upload({ id: team.id, file: new File([bytes], 'large.pdf', { type: 'application/pdf' }) });
  expect(namesOf(item)).toEqual(['Press']);
});

test('is made for a label of the workspace only, and ends with it', async () => {
  expect(await make({ label_id: 999_999 })).toMatchObject({ status: 404, body: { error: 'Label not found' } });
  const { label } = await team.owner.client.labels.create.mutate({ id: team.id, name: 'Brief' });
  const { body } = await make({ label_id: label.id });
  expect(body.embed_token).toMatchObject({ label_id: label.id, label_name: label.name });
  const { token } = body;
  expect((await app.http.get(`${team.path}/library`, token)).body.total).toBe(0);
  await team.owner.client.labels.delete.mutate({ id: team.id, labelId: label.id });
  expect((await app.http.get(`${team.path}/library`, token)).status).toBe(401);
});
