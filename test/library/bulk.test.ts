/** Deleting and labeling several items at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let other: Team;
let foreignId: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  other = await addTeam(app);
  foreignId = await addItem(other);
});
afterAll(() => app.close());

async function addItem(to: Team): Promise<number> {
  return (await upload(app, to.path, to.member.token)).body.item.id;
}

async function addLabel(to: Team, name: string): Promise<number> {
  return (await app.http.post(`${to.path}/labels`, to.owner.token, { name })).body.label.id;
}

const post = (what: 'delete' | 'labels', json: object) =>
  app.http.post(`${team.path}/library/${what}`, team.member.token, json);
const namesOf = async (itemId: number): Promise<string[]> => {
  const { item } = (await app.http.get(`${team.path}/library/${itemId}`, team.member.token)).body;
  return item.labels.map(({ name }: { name: string }) => name);
};

test('deleting items removes files, emits an event and audits each, and names those not found', async () => {
  const [first, second] = [await addItem(team), await addItem(team)];
  const { url } = (await app.http.get(`${team.path}/library/${first}/download`, team.member.token)).body;
  const answer = await post('delete', { item_ids: [second, foreignId, first, second] });
  expect([answer.status, answer.body]).toEqual([200, { item_ids: [second, first], not_found: [foreignId] }]);
  expect((await fetch(url)).status).toBe(404);
  const ids = (await eventsOf(app, team.id, 'library_item.deleted')).map(
    ({ data }) => (data as { item_id: number }).item_id,
  );
  expect(ids.sort()).toEqual([first, second].sort());
  const entries = await app.services.db.auditEntry.findMany({
    where: { workspaceId: team.id, action: 'library_item.deleted' },
  });
  expect(entries.map(({ targetId }) => targetId).sort()).toEqual([first, second].sort());
  expect((await app.http.get(`${other.path}/library/${foreignId}`, other.member.token)).status).toBe(200);
  const again = await post('delete', { item_ids: [first] });
  expect(again.body).toEqual({ item_ids: [], not_found: [first] });
});

test('of concurrent deletions of the same items, each item is deleted by one', async () => {
  const ids = [await addItem(team), await addItem(team), await addItem(team)];
  const answers = await concurrently(4, () => post('delete', { item_ids: ids }));
  expect(answers.flatMap(({ body }) => body.item_ids).sort()).toEqual([...ids].sort());
});

test('labels are assigned to and removed from every item, and doing it again changes nothing', async () => {
  const [first, second] = [await addItem(team), await addItem(team)];
  const [red, blue] = [await addLabel(team, 'Red'), await addLabel(team, 'Blue')];
  await post('labels', { item_ids: [first], add_label_ids: [red] });
  const change = { item_ids: [first, second, foreignId], add_label_ids: [blue], remove_label_ids: [red] };
  for (const answer of [await post('labels', change), await post('labels', change)])
    expect(answer.body).toEqual({ item_ids: [first, second], not_found: [foreignId] });
  expect([await namesOf(first), await namesOf(second)]).toEqual([['Blue'], ['Blue']]);
});

test('an unknown label, or one of another workspace, changes nothing', async () => {
  const item = await addItem(team);
  const [known, foreign] = [await addLabel(team, 'Known'), await addLabel(other, 'Foreign')];
  for (const unknown of [foreign, 2_000_000_000, 0, 2 ** 31]) {
    const answer = await post('labels', { item_ids: [item], add_label_ids: [known, unknown] });
    expect([answer.status, answer.body.message]).toEqual([404, 'Label not found']);
  }
  expect(await namesOf(item)).toEqual([]);
});
