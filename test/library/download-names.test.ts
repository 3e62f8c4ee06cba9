import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test.each([
  ['run.bat', 'run.bat.pdf'],
  ['page.html', 'page.html.pdf'],
  ['Offer.PDF', 'Offer.pdf'],
  ['offer.pdf', 'offer.pdf'],
])(
  'the file of an item named %s is downloaded as %s, so that it has the extension of its type',
  async (name, saved) => {
    const { token } = team.member;
    const { body } = await upload(app, team.path, token, undefined, { fields: { name } });
    expect(body.item.name).toBe(name);
    const download = await app.http.get(`${team.path}/library/${body.item.id}/download`, token);
    const file = await fetch(download.body.url);
    await file.arrayBuffer();
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${saved}"`);
  },
);
