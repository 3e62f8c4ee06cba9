/** Parts of a workspace in pages of another origin: the example of `examples/embed`, in a real browser. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator } from 'playwright-core';
import { afterAll, expect, inject } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { png } from '../../support/images.ts';
import { accept, startReceiver } from '../../support/receiver.ts';
import { clickInFrame } from './support/click-in-frame.ts';
import { type EmbeddingSite, startEmbeddingSite } from './support/embedding-site.ts';
import { startFirefox } from './support/firefox.ts';
import { firefoxPath } from './support/firefox-path.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';
import { joinMeeting, openRoom, readReceived, tileOf } from './support/meeting-pages.ts';

let site: Promise<EmbeddingSite> | undefined;
afterAll(async () => (await site)?.close());

journey(
  'a page of another origin lets its own user into a room as a host, and its server reads the whole story',
  async (world) => {
    site ??= startEmbeddingSite(inject('consoleUrl'));
    const { origin } = await site;
    const { id, owner } = await world.newTeam();
    await owner.client.workspaces.rename.mutate({ id, embed_origins: [origin] });
    await owner.client.setLogo({ id, image: new Blob([png], { type: 'image/png' }) });
    const { room } = await owner.client.rooms.create.mutate({
      workspace_id: id,
      display_name: 'Consultation',
      waiting_room_enabled: 1,
    });
    const host = await openRoom(world, room.name, { person: owner });
    await joinMeeting(host);

    const receiver = await startReceiver(accept);
    await owner.client.webhooks.create.mutate({
      id,
      name: 'Your server',
      url: receiver.url,
      events: ['room.joined', 'room.left', 'recording.started'],
    });
    const { token } = await owner.client.participants.create.mutate({
      id,
      roomName: room.name,
      name: 'Pat Patient',
      external_id: 'patient-7',
      is_host: 1,
    });
    const page = await world.open(`${origin}/?room=${room.name}&token=${token}`);
    const story = page.locator('#story');
    await expect.poll(() => story.innerText()).toContain('ready');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Consultation' }).waitFor();
    expect(await frame.getByRole('link', { name: /Lynxroom/ }).count()).toBe(0);
    await expectLogo(frame);
    await clickInFrame(frame.getByRole('button', { name: 'Join', exact: true }));
    await expect.poll(() => story.innerText()).toContain('joined');
    // The product had given the name, and finds its own id again.
    const { participants } = await owner.client.participants.list.query({ name: room.name, status: 'joined' });
    expect(participants.map(({ external_id }) => external_id)).toContain('patient-7');
    await tileOf(host, 'Pat Patient').waitFor();
    await expect.poll(async () => (await readReceived(host))[0]?.pictures ?? 0).toBeGreaterThan(0);

    // Without a session, as everything in a frame.
    const guest = await world.open(`/room/${room.name}`);
    await guest.getByLabel('Name').fill('Gus Guest');
    await guest.getByRole('button', { name: 'Ask to join' }).click();
    await clickInFrame(frame.getByRole('button', { name: 'Admit Gus Guest' }));
    await tileOf(host, 'Gus Guest').waitFor();
    await guest.getByRole('button', { name: 'Leave' }).click();
    await host.getByRole('button', { name: 'Record', exact: true }).click();
    await clickInFrame(frame.getByRole('alertdialog').getByRole('button', { name: 'Stay' }));
    await expect.poll(() => story.innerText()).toContain('recording');

    await page.getByRole('button', { name: 'Mute' }).click();
    await tileOf(host, 'Pat Patient').getByRole('img', { name: 'Muted' }).waitFor();
    await page.getByRole('button', { name: 'Leave' }).click();
    await expect.poll(() => story.innerText()).toMatch(/ready .*joined .*recording .*left/);
    await tileOf(host, 'Pat Patient').waitFor({ state: 'detached' });
    await frame.getByText('You have left the room.').waitFor();
    expect(await frame.getByRole('link', { name: 'Go to the start page' }).count()).toBe(0);

    const requests = await receiver.waitFor(5);
    await receiver.close();
    const told = requests.map(({ body }) => {
      const { event, data } = JSON.parse(String(body));
      return [event, data.participant_name ?? null, data.external_id ?? null];
    });
    expect(told.sort()).toEqual([
      ['recording.started', null, null],
      ['room.joined', 'Gus Guest', null],
      ['room.joined', 'Pat Patient', 'patient-7'],
      ['room.left', 'Gus Guest', null],
      ['room.left', 'Pat Patient', 'patient-7'],
    ]);
  },
);

const MP4 = join(root, 'examples/sample.mp4');

journey('the same page embeds booking, library and webhook portal, and other origins get nothing', async (world) => {
  site ??= startEmbeddingSite(inject('consoleUrl'));
  const { origin } = await site;
  const { id, owner } = await world.newTeam();
  const { client } = owner;
  const settings = await world.open(`/w/${id}/embedding`, owner);
  await settings.getByText('There are no embed tokens').waitFor();
  const origins = settings.getByLabel('Origins', { exact: true });
  await origins.fill('https://*.example.com');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('Origins must be origins such as').waitFor();
  await origins.fill(`https://app.example.com/\n${origin}`);
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('The origins were saved').waitFor();
  expect((await client.workspaces.read.query({ id })).workspace.embed_origins).toEqual([
    'https://app.example.com',
    origin,
  ]);
  const { room } = await client.rooms.create.mutate({ workspace_id: id });
  const { bookingPage } = await client.bookingPages.create.mutate({
    id,
    title: 'First talk',
    duration_minutes: 30,
    time_zone: 'UTC',
    hours: (['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const).map((day) => ({
      day,
      from: '09:00',
      to: '17:00',
    })),
  });
  await client.setLogo({ id, image: new Blob([png], { type: 'image/png' }) });
  await client.upload({ id, file: await openAsBlob(MP4, { type: 'video/mp4' }), filename: 'a.mp4', name: 'Welcome' });
  await settings.getByRole('button', { name: 'Create a token' }).click();
  await settings.getByLabel('Access').selectOption('Read and upload');
  await expectAccessible(settings);
  await settings.getByRole('button', { name: 'Create', exact: true }).click();
  const uploadToken = await settings.getByRole('textbox', { name: 'token' }).inputValue();
  const sampleOf = async (language: string) => {
    await settings.getByRole('tab', { name: language }).click();
    return (await settings.getByRole('region', { name: `Sample for ${language}` }).textContent()) ?? '';
  };
  expect(await sampleOf('React')).toContain(`service="${world.url}"\n      workspace={${id}}`);
  expect(await sampleOf('Your server')).toContain('{"kind":"library","access":"upload"}');
  const script = await sampleOf('Script');
  await expectAccessible(settings);
  await expectFitsPhone(settings);
  await settings.getByRole('button', { name: 'Done' }).click();
  // What the console shows to paste is a page.
  const pasted = await settings.context().newPage();
  await pasted.goto(origin);
  await pasted.setContent(script);
  await pasted.frameLocator('#library iframe').getByRole('button', { name: 'Upload files' }).waitFor();
  await pasted.close();
  const portal = await client.embedTokens.create.mutate({ id, kind: 'webhooks' });
  const query = new URLSearchParams({ room: room.name, book: bookingPage.slug, workspace: String(id) });
  const page = await world.open(`${origin}/?${query}&library=${uploadToken}&webhooks=${portal.token}`);
  const story = page.locator('#story');

  const booking = page.frameLocator('#booking iframe');
  await booking.getByRole('heading', { name: 'First talk' }).waitFor();
  for (const part of ['booking', 'library', 'webhooks']) await expectLogo(page.frameLocator(`#${part} iframe`));
  const readOverflow = (part: string) =>
    page
      .frameLocator(`#${part} iframe`)
      .locator('html')
      .evaluate(({ scrollHeight, clientHeight }) => Math.abs(scrollHeight - clientHeight));
  for (const part of ['booking', 'library', 'webhooks']) {
    await expect.poll(() => readOverflow(part)).toBeLessThanOrEqual(1);
  }
  await clickInFrame(booking.getByRole('button', { name: /^\d\d:\d\d/ }).first());
  await booking.getByLabel('Name', { exact: true }).fill('Gil Guest');
  await booking.getByLabel('Email').fill('gil@example.com');
  await clickInFrame(booking.getByRole('button', { name: 'Book the meeting' }));
  await expect.poll(() => story.innerText()).toContain('booked');
  expect(await booking.getByRole('link', { name: 'Move or cancel' }).getAttribute('target')).toBe('_blank');

  const library = page.frameLocator('#library iframe');
  await library.locator('input[type=file]').setInputFiles(join(root, 'examples/sample.pdf'));
  await library.getByRole('button', { name: 'sample.pdf', exact: true }).waitFor();
  await expect.poll(() => story.innerText()).toContain('uploaded');
  const readItems = async () => (await client.library.list.query({ id })).items;
  await expect
    .poll(async () => (await readItems()).find(({ name }) => name === 'sample.pdf')?.poster_url)
    .toMatch(/^http/);
  await library.getByLabel('Search by name').fill('welc');
  await library.getByRole('button', { name: 'sample.pdf', exact: true }).waitFor({ state: 'detached' });
  await clickInFrame(library.getByRole('button', { name: 'Welcome' }));
  const video = library.getByLabel('Video Welcome');
  await expect
    .poll(() => video.evaluate((element) => 'duration' in element && Number(element.duration)))
    .toBeGreaterThan(0);

  const webhooks = page.frameLocator('#webhooks iframe');
  const receiver = await startReceiver(accept);
  await clickInFrame(webhooks.getByRole('button', { name: 'New webhook' }));
  await webhooks.getByLabel('Name').fill('Theirs');
  await webhooks.getByLabel('URL').fill(receiver.url);
  await clickInFrame(webhooks.getByRole('checkbox', { name: /^room\.created/ }));
  await clickInFrame(webhooks.getByRole('button', { name: 'Create' }));
  await webhooks.getByText('It is not shown again').waitFor();
  await clickInFrame(webhooks.getByRole('button', { name: 'Done' }));
  await clickInFrame(webhooks.getByRole('button', { name: 'Theirs' }));
  await clickInFrame(webhooks.getByRole('button', { name: 'Send a test' }));
  await receiver.waitFor(1);
  await clickInFrame(webhooks.getByRole('button', { name: /webhook\.test/ }));
  await webhooks.getByText('Status 200').waitFor();
  await clickInFrame(webhooks.getByRole('button', { name: 'Send again' }));
  await receiver.waitFor(2);
  await receiver.close();
  await clickInFrame(webhooks.getByRole('button', { name: 'Edit' }));
  await webhooks.getByRole('dialog').getByLabel('Name').fill('Ours');
  await clickInFrame(webhooks.getByRole('dialog').getByRole('button', { name: 'Save' }));
  await webhooks.getByRole('heading', { name: 'Ours' }).waitFor();
  await expectAccessible(page);

  // The page is told that the token has ended, and gives another.
  await clickInFrame(library.getByRole('button', { name: 'Library' }));
  await library.getByRole('button', { name: 'Welcome' }).waitFor();
  await settings.getByRole('button', { name: 'Revoke: Library, read and upload' }).click();
  await settings.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await settings.getByText('The token was revoked').waitFor();
  await library.getByLabel('Search by name').fill('sample');
  await library.getByText('The access of this page has ended').waitFor();
  await expect.poll(() => story.innerText()).toMatch(/error/);
  const { token } = await client.embedTokens.create.mutate({ id, kind: 'library' });
  const message = JSON.stringify({ lynxroom: 1, command: 'token', token });
  await page.evaluate(
    `document.querySelector('#library iframe').contentWindow.postMessage(${message}, '${inject('consoleUrl')}')`,
  );
  await library.getByRole('button', { name: 'sample.pdf', exact: true }).waitFor();
  // It only reads.
  expect(await library.getByRole('button', { name: 'Upload files' }).count()).toBe(0);

  await client.workspaces.rename.mutate({ id, embed_origins: [] });
  await page.reload();
  await expect.poll(() => page.frames().filter((frame) => frame.url().startsWith(inject('consoleUrl'))).length).toBe(0);
});

/** The workspace's own, 24 pixels wide. */
async function expectLogo(frame: FrameLocator): Promise<void> {
  const logo = frame.locator('header img').first();
  await expect
    .poll(() => logo.evaluate((image) => [new URL(image.src).pathname.slice(0, 11), image.naturalWidth]))
    .toEqual(['/api/logos/', 24]);
}

journey('a frame is nobody: the session of its visitor does not count in it', async (world) => {
  site ??= startEmbeddingSite(inject('consoleUrl'));
  const { origin } = await site;
  const { id, owner } = await world.newTeam();
  await owner.client.workspaces.rename.mutate({ id, embed_origins: [origin] });
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id, members_only: 1 });
  const page = await world.open(`/room/${room.name}`, owner);
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  const frame = await page.context().newPage();
  await frame.goto(`${origin}/?room=${room.name}`);
  await frame.frameLocator('iframe').getByText('Only members of the workspace of this room can join').waitFor();
  // Nor is it a page of the service, whose logo is in no frame.
  expect(
    await frame.frameLocator('iframe').getByRole('img').or(frame.frameLocator('iframe').locator('img')).count(),
  ).toBe(0);
});

if (firefoxPath !== undefined)
  journey(
    'Firefox shows a room and the library in frames: its person is met, and its file is uploaded',
    async (world) => {
      site ??= startEmbeddingSite(inject('consoleUrl'));
      const { origin } = await site;
      const { id, owner } = await world.newTeam();
      const { client } = owner;
      await client.workspaces.rename.mutate({ id, embed_origins: [origin] });
      const { room } = await client.rooms.create.mutate({ workspace_id: id });
      const host = await openRoom(world, room.name, { person: owner });
      await joinMeeting(host);
      const { token } = await client.participants.create.mutate({ id, roomName: room.name, name: 'Fay' });
      const upload = await client.embedTokens.create.mutate({ id, kind: 'library', access: 'upload' });

      const firefox = await startFirefox();
      try {
        const page = await firefox.newPage();
        page.setDefaultTimeout(60_000);
        const query = new URLSearchParams({ room: room.name, token, workspace: String(id), library: upload.token });
        await page.goto(`${origin}/?${query}`);
        const frameOf = async (part: string) => {
          const frame = await (await page.waitForSelector(`#${part} iframe`))?.contentFrame();
          if (!frame) throw new Error(`There is no frame in #${part}`);
          return frame;
        };
        const inRoom = await frameOf('room');
        await inRoom.locator('::-p-aria([name="Join"][role="button"])').click();
        await tileOf(host, 'Fay').waitFor();
        await expect.poll(async () => (await readReceived(host))[0]?.pictures ?? 0).toBeGreaterThan(0);

        const library = await frameOf('library');
        const input = await library.waitForSelector('input[type=file]');
        await input?.uploadFile(join(root, 'examples/sample.pdf'));
        await library.waitForSelector('::-p-aria([name="sample.pdf"][role="button"])');
        const readStory = () => page.$eval('#story', (story) => story.textContent ?? '');
        await expect.poll(readStory).toContain('uploaded');
        expect(await readStory()).toContain('joined');
      } finally {
        await firefox.close();
      }
    },
  );
