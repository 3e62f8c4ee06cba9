/** The mail that a recording is ready. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runDueMediaJob } from '../../src/features/media-jobs/media-worker.ts';
import { mailTo } from '../support/mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';
import { addGuest, uploadFile } from './recording-fixtures.ts';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post('/api/dashboard/rooms', team.admin.token, { workspace_id: team.id })).body.room;
  for (const person of [team.owner, team.admin, team.member, team.outsider]) await confirm(person, true);
});
afterAll(() => app.close());

async function confirm({ email }: Person, isConfirmed: boolean): Promise<void> {
  const emailVerifiedAt = isConfirmed ? app.clock.now() : null;
  await app.services.db.user.update({ where: { email }, data: { emailVerifiedAt } });
}

/** Makes a recording, which the person starts as a participant; without a person, a guest. */
async function record(person: Person | null, title = 'Plans'): Promise<{ id: number }> {
  const path = `/api/rooms/${room.name}`;
  const token =
    person === null
      ? await addGuest(app, { workspaceId: team.id, roomId: room.id })
      : (await app.http.post(`${path}/join`, person.token, { name: person.name })).body.participant.token;
  const { recording, upload_token } = (await app.http.post(`${path}/recordings`, undefined, { token, title })).body;
  expect((await uploadFile(app, recording.id, upload_token)).status).toBe(200);
  return recording;
}

async function readyMail({ email }: Person) {
  return (await mailTo(app, email)).filter(({ kind }) => kind === 'recording-ready');
}

test('goes once to the user of the room and to the signed-in starter, with a link to the room', async () => {
  const { id } = await record(team.member);
  while (await runDueMediaJob(app.services, new AbortController().signal));
  const mails = [await readyMail(team.admin), await readyMail(team.member)];
  for (const received of mails) {
    expect(received).toHaveLength(1);
    expect(received[0]?.subject).toBe('Your recording is ready');
    expect(received[0]?.text).toContain(`/w/${team.id}/rooms/${room.name}`);
    expect(received[0]?.text).toContain(room.name);
    expect(received[0]?.text).toContain('Plans');
    expect(received[0]?.text).toContain('/account');
  }
  expect(await readyMail(team.owner)).toEqual([]);
  const recording = await app.services.db.recording.findFirstOrThrow({ where: { id } });
  expect(recording.status).toBe('available');
});

test('goes once to a user who records in their own room', async () => {
  await record(team.admin);
  expect(await readyMail(team.admin)).toHaveLength(1);
});

test('has no link for a starter who is not a member of the workspace', async () => {
  await record(team.outsider);
  const [received] = await readyMail(team.outsider);
  expect(received?.text).not.toContain(`/w/${team.id}`);
});

test('has a link for a member only where members watch the recordings, and for hosts always', async () => {
  for (const recordings_visible_to of ['hosts', 'members']) {
    const settings = { workspace_id: team.id, recordings_visible_to };
    room = (await app.http.post('/api/dashboard/rooms', team.admin.token, settings)).body.room;
    await record(team.member, recordings_visible_to);
    await record(team.owner, recordings_visible_to);
    const hasLink = async (person: Person) => {
      const received = (await readyMail(person)).filter(({ text }) => text.includes(recordings_visible_to));
      return received.map(({ text }) => text.includes(`/w/${team.id}/rooms/${room.name}`));
    };
    expect(await hasLink(team.member)).toEqual([recordings_visible_to === 'members']);
    expect(await hasLink(team.owner)).toEqual([true]);
    expect(await hasLink(team.admin)).toEqual([true, true]);
  }
});

test('does not go to guests, to unconfirmed addresses, or to people who have switched it off', async () => {
  await confirm(team.member, false);
  const off = await app.http.patch('/api/auth/me', team.admin.token, { recording_mail: false });
  expect(off.body.user.recording_mail).toBe(false);
  expect((await app.http.get('/api/auth/me', team.admin.token)).body.user.recording_mail).toBe(false);
  await record(team.member);
  await record(null);
  for (const person of [team.owner, team.admin, team.member]) expect(await readyMail(person)).toEqual([]);
  await app.http.patch('/api/auth/me', team.admin.token, { recording_mail: true });
  await record(null);
  expect(await readyMail(team.admin)).toHaveLength(1);
});

test('a title that a guest has chosen cannot become a link', async () => {
  await record(null, 'Win at evil.example');
  const [received] = await readyMail(team.admin);
  expect(received?.text).not.toContain('evil.example');
});

test('one mailbox gets at most 20 in an hour', async () => {
  for (let count = 0; count < 21; count += 1) {
    const path = `/api/dashboard/rooms/${room.name}/recordings`;
    const { recording, upload_token } = (await app.http.post(path, team.admin.token)).body;
    expect((await uploadFile(app, recording.id, upload_token)).status).toBe(200);
  }
  expect(await readyMail(team.admin)).toHaveLength(20);
});
