/** The guide for any other meeting provider: its example works, and its callbacks match the schemas. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GenericEvent } from '../../../src/features/meeting-providers/adapters/generic.ts';
import { eventsOf } from '../../support/events.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam } from '../../support/world.ts';
import { connect } from './connected-provider.ts';

const guide = await readFile(new URL('../../../docs/provider-generic.md', import.meta.url), 'utf8');

function blocksOf(language: string): string[] {
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}(?: .*)?\n([\\s\\S]*?)\n\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('the signed example makes a participant join', async () => {
  const team = await addTeam(app);
  const room = { name: 'amber-falcon', workspace_id: team.id };
  expect((await app.http.post('/api/dashboard/rooms', team.owner.token, room)).status).toBe(201);
  const { path, secret } = await connect(app, team, 'generic');
  const script = blocksOf('sh').find((text) => text.includes('openssl')) ?? '';
  const env = { ...process.env, INGEST_URL: app.url + path, SECRET: secret ?? '' };
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { env });
  expect(JSON.parse(stdout)).toEqual({ ok: true });
  expect(await eventsOf(app, team.id, 'room.joined')).toMatchObject([{ data: { participant_name: 'Grace Hopper' } }]);
});

// test/docs runs the pages of the providers, which create a connection of each.
test('it shows each callback of the generic provider once', () => {
  const examples = blocksOf('json no-run="the body of a callback"').map((text) => JSON.parse(text));
  const types = examples.filter((example) => 'type' in example).map((example) => GenericEvent.parse(example).type);
  expect(types).toEqual(GenericEvent.options.map(({ shape }) => shape.type.value));
});
