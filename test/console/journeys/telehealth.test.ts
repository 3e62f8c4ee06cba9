/** The example of a telehealth product with Next.js, `examples/telehealth`, in a real browser. */
import { rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { clickInFrame } from './support/click-in-frame.ts';
import { expectAccessible, journey } from './support/journey.ts';
import { buildTelehealth, startTelehealth } from './support/telehealth-site.ts';

let dir: string | undefined;
afterAll(async () => {
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
});

journey(
  'a product meets, records and books with its own people, and finds them again by its own ids',
  async (world) => {
    dir = await makeTempDir();
    const built = await buildTelehealth(dir);
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const { id, owner } = await world.newTeam();
    const { client } = owner;
    await client.workspaces.rename.mutate({ id, embed_origins: [origin] });
    const { room } = await client.rooms.create.mutate({ workspace_id: id, waiting_room_enabled: 1 });
    const { bookingPage } = await client.bookingPages.create.mutate({
      id,
      title: 'Consultation hour',
      time_zone: 'UTC',
      hours: [{ day: 'monday', from: '08:00', to: '18:00' }],
    });
    const { apiKey } = await client.apiKeys.create.mutate({
      id,
      name: 'Telehealth',
      belongs_to: 'workspace',
      scopes: ['rooms:write', 'recordings:read'],
    });
    const { webhook } = await client.webhooks.create.mutate({
      id,
      name: 'Telehealth',
      url: `http://127.0.0.1:${port}/webhooks`,
      events: ['room.joined', 'room.left', 'recording.started', 'recording.completed'],
    });
    const site = startTelehealth(built, port, {
      LYNXROOM_URL: world.url,
      LYNXROOM_API_KEY: apiKey.full_key,
      LYNXROOM_WORKSPACE: String(id),
      LYNXROOM_ROOM: room.name,
      LYNXROOM_BOOKING_PAGE: bookingPage.slug,
      LYNXROOM_WEBHOOK_SECRET: webhook.secret,
    });
    try {
      await site.ready;
      const patient = await signIn(await world.open(origin), 'Pat Patient');
      await patient.frameLocator('iframe').getByRole('heading', { name: 'Consultation hour' }).waitFor();
      const atPatient = await enter(patient);
      await clickInFrame(atPatient.getByRole('button', { name: 'Join', exact: true }));

      const doctor = await signIn(await world.open(origin), 'Dr. Dana Doctor');
      await doctor.getByText('There are none.').waitFor();
      const atDoctor = await enter(doctor);
      await clickInFrame(atDoctor.getByRole('button', { name: 'Join', exact: true }));
      await clickInFrame(atDoctor.getByRole('button', { name: 'Admit Pat Patient' }));
      await patient.getByText('Pat Patient is in the consultation.').waitFor();
      // The height of the class.
      expect((await patient.locator('iframe[title="Meeting room"]').boundingBox())?.height).toBe(640);

      await clickInFrame(atDoctor.getByRole('button', { name: 'Record', exact: true }));
      await clickInFrame(atPatient.getByRole('alertdialog').getByRole('button', { name: 'Stay' }));
      await patient.getByText('A recording begins.').waitFor();
      await clickInFrame(atDoctor.getByRole('button', { name: 'Stop recording' }));
      await atDoctor.getByText('The recording was sent.').waitFor();
      await clickInFrame(atPatient.getByRole('button', { name: 'Leave' }));
      await patient.getByText('The consultation is over.').waitFor();

      const readStory = async () => {
        await doctor.getByRole('button', { name: 'Read again' }).click();
        const rows = await doctor.getByRole('row').all();
        const cells = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()));
        return cells.slice(1).map(([, ...cell]) => cell.join(' ').trim());
      };
      await expect
        .poll(async () => (await readStory()).sort())
        .toEqual([
          'recording.completed',
          'recording.started',
          'room.joined doctor-1 Dr. Dana Doctor',
          'room.joined patient-7 Pat Patient',
          'room.left patient-7 Pat Patient',
        ]);
      // The doctor has not left by reading again.
      await atDoctor.getByRole('button', { name: 'Leave' }).waitFor();

      const recording = origin + (await doctor.locator('li a').getAttribute('href'));
      const file = await doctor.request.get(recording);
      expect([file.status(), file.headers()['content-type']]).toEqual([200, 'video/mp4']);
      // Neither to the patient, nor to one who is not signed in.
      for (const path of [recording, `${origin}/doctor`]) {
        expect((await patient.request.get(path, { maxRedirects: 0 })).headers().location).toBe('/');
        expect((await fetch(path, { redirect: 'manual' })).headers.get('location')).toBe('/');
      }
      const forged = await fetch(`${origin}/webhooks`, {
        method: 'POST',
        headers: {
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(Date.now() / 1000),
          'webhook-signature': 'v1,AAAA',
        },
        body: '{}',
      });
      expect(forged.status).toBe(401);
      // The key stays on the server.
      for (const page of [patient, doctor]) expect(await page.content()).not.toContain(apiKey.full_key);
      await expectAccessible(doctor);
    } finally {
      await site.end('SIGTERM');
    }
  },
);

async function signIn(page: Page, name: string): Promise<Page> {
  await page.getByRole('button', { name }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return page;
}

/** Returns the frame of the room. */
async function enter(page: Page) {
  await page.getByRole('button', { name: 'Enter the consultation' }).click();
  return page.frameLocator('iframe[title="Meeting room"]');
}
