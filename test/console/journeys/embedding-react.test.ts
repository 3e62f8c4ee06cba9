/** The components of `@lynxroom/react` in a page that goes from one room to the next, as single-page apps do. */
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { clickInFrame } from './support/click-in-frame.ts';
import type { EmbeddingSite } from './support/embedding-site.ts';
import { journey } from './support/journey.ts';
import { startReactSite } from './support/react-site.ts';

let site: EmbeddingSite | undefined;
afterAll(async () => site?.close());

function show(page: Page, part: string, props: object): Promise<void> {
  return page.evaluate(`show(${JSON.stringify(part)}, ${JSON.stringify(props)})`);
}

journey(
  'a component that gets another room and token, or another workspace, shows it with that token',
  async (world) => {
    site ??= await startReactSite();
    const { origin } = site;
    const service = world.url;
    const { id, owner } = await world.newTeam();
    const { client } = owner;
    await client.workspaces.rename.mutate({ id, embed_origins: [origin] });
    const enter = async (display_name: string) => {
      const { room } = await client.rooms.create.mutate({ workspace_id: id, display_name, members_only: 1 });
      const pass = { id, roomName: room.name, name: 'Pat', external_id: `patient of ${display_name}` };
      const { token } = await client.participants.create.mutate(pass);
      return { service, room: room.name, token };
    };
    const [first, second] = [await enter('First'), await enter('Second')];
    const page = await world.open(origin);
    const frame = page.frameLocator('iframe');
    await show(page, 'Room', first);
    await frame.getByRole('heading', { name: 'First' }).waitFor();
    await frame.getByRole('button', { name: 'Join', exact: true }).waitFor();

    await show(page, 'Room', second);
    await frame.getByRole('heading', { name: 'Second' }).waitFor();
    await clickInFrame(frame.getByRole('button', { name: 'Join', exact: true }));
    await frame.getByRole('button', { name: 'Leave' }).waitFor();
    const { participants } = await client.participants.list.query({ name: second.room, status: 'joined' });
    expect(participants.map(({ external_id }) => external_id)).toEqual(['patient of Second']);

    // The meeting goes on: another token of the same room is none of its business.
    const [shown] = await page.locator('iframe').elementHandles();
    await show(page, 'Room', { ...second, token: first.token });
    await show(page, 'Room', { ...second, token: first.token, title: 'Consultation' });
    await page.locator('iframe[title=Consultation]').waitFor();
    expect(await shown?.getAttribute('title')).toBe('Consultation');
    await clickInFrame(frame.getByRole('button', { name: 'Leave' }));
    await frame.getByText('You have left the room.').waitFor();

    const other = (await client.workspaces.create.mutate({ name: 'Other' })).workspace.id;
    await client.workspaces.rename.mutate({ id: other, embed_origins: [origin] });
    for (const workspace of [id, other]) {
      const file = new Blob(['%PDF-1.4 of a team'], { type: 'application/pdf' });
      await client.upload({ id: workspace, file, filename: 'a.pdf', name: `Of ${workspace}` });
      const { token } = await client.embedTokens.create.mutate({ id: workspace, kind: 'library' });
      await show(page, 'Library', { service, workspace, token });
      await frame.getByRole('button', { name: `Of ${workspace}` }).waitFor();
    }
    expect(await page.evaluate('errors')).toEqual([]);
  },
);
