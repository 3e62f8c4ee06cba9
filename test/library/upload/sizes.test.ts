import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../../support/events.ts';
import { makeMp4, makePdf } from '../../support/media.ts';
import { storedKeys } from '../../support/stored-files.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { expectItems, expectNoTrace, itemsOf } from './traces.ts';
import { END, filePart, LIMIT, largeBody, multipart, partHead, pdfBytes, send, sendEndless } from './wire.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function urlOf(team: Team): string {
  return `${app.url}${team.path}/library`;
}

function hashOf(chunks: Iterable<Buffer>): string {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

function lengthOf(size: number): number {
  return partHead({}).length + size + 2 + END.length;
}

describe('the size of a file', () => {
  for (const [label, size] of [
    ['one byte less than 100 MiB', LIMIT - 1],
    ['exactly 100 MiB', LIMIT],
  ] as const) {
    test(`${label} is accepted, and the stored file equals the sent file`, async () => {
      const team = await addTeam(app);
      const answer = await send(urlOf(team), largeBody(size), { token: team.member.token });
      expect([answer.status, answer.body.item?.size]).toEqual([200, size]);
      const [item] = await itemsOf(app, team.id);
      const sha256 = hashOf(pdfBytes(size));
      expect([Number(item?.size), Buffer.from(item?.sha256 ?? []).toString('hex')]).toEqual([size, sha256]);
      const [key = ''] = await storedKeys(app, team.id);
      expect(hashOf([await readFile(join(app.filesDir, 'objects', key))])).toBe(sha256);
      await expectItems(app, team.id, 1);
    });
  }

  for (const [label, options] of [
    ['chunked', {}],
    ['with a Content-Length', { length: lengthOf(LIMIT + 1) }],
  ] as const) {
    test(`one byte more than 100 MiB is rejected and leaves nothing behind (${label})`, async () => {
      const team = await addTeam(app);
      const answer = await send(urlOf(team), largeBody(LIMIT + 1), { token: team.member.token, ...options });
      expect([answer.status, answer.body.error]).toEqual([400, 'File is larger than 100 MB']);
      expect(answer.body.issues).toEqual([{ path: 'file', message: 'File is larger than 100 MB' }]);
      await expectNoTrace(app, team.id);
    });
  }

  for (const connection of ['close', 'keep-alive'] as const) {
    test(`an endless file is rejected, and the connection is closed (connection: ${connection})`, async () => {
      const team = await addTeam(app);
      const { status, body } = await sendEndless(urlOf(team), team.member.token, connection);
      expect([status, body.error]).toEqual([400, 'File is larger than 100 MB']);
      await expectNoTrace(app, team.id);
    });
  }

  test('a Content-Length that is too large is rejected before the file arrives', async () => {
    const team = await addTeam(app);
    const headOnly = [partHead({})];
    const answer = await send(urlOf(team), headOnly, { token: team.member.token, length: lengthOf(1_000_000_000) });
    expect([answer.status, answer.body.error]).toEqual([400, 'File is larger than 100 MB']);
    await expectNoTrace(app, team.id);
  });

  test('a body that is too large because of other parts is rejected', async () => {
    const team = await addTeam(app);
    const body = function* () {
      yield partHead({ name: 'other' });
      yield* pdfBytes(Number.POSITIVE_INFINITY);
    };
    const answer = await send(urlOf(team), body(), { token: team.member.token });
    expect([answer.status, answer.body.error]).toEqual([413, 'Request body is too large']);
    await expectNoTrace(app, team.id);
  });

  test('an empty file is rejected, and an empty file input counts as no file', async () => {
    const team = await addTeam(app);
    const { token } = team.member;
    const empty = await send(urlOf(team), [multipart(filePart({ bytes: '' }))], { token });
    expect([empty.status, empty.body.error]).toEqual([400, 'File is empty']);
    const noFileChosen = filePart({ bytes: '', filename: '', type: 'application/octet-stream' });
    const none = await send(urlOf(team), [multipart(noFileChosen)], { token });
    expect([none.status, none.body.error]).toEqual([400, 'File is required']);
    await expectNoTrace(app, team.id);
  });

  test('a file that is shorter than any signature is accepted by its declared type', async () => {
    const team = await addTeam(app);
    for (const bytes of ['%', '%PD', '\0']) {
      const answer = await send(urlOf(team), [multipart(filePart({ bytes }))], { token: team.member.token });
      expect([answer.status, answer.body.item?.size]).toEqual([200, bytes.length]);
    }
    await expectItems(app, team.id, 3);
  });
});

describe('an uploaded file', () => {
  test('adds a row, an event and one to the count, which agree', async () => {
    const team = await addTeam(app);
    const bytes = makePdf({ pages: 3 });
    const { body } = await send(urlOf(team), [multipart(filePart({ bytes, filename: 'Plan.pdf' }))], {
      token: team.member.token,
    });
    const [item] = await itemsOf(app, team.id);
    expect(item).toMatchObject({
      id: body.item.id,
      uploadedBy: team.member.id,
      name: 'Plan.pdf',
      mimeType: 'application/pdf',
      size: BigInt(bytes.length),
      duration: null,
    });
    const { labels: _, file_url: __, poster_url: ____, id, updated_at: ___, ...shared } = body.item;
    expect(await eventsOf(app, team.id, 'library_item.uploaded')).toEqual([
      { type: 'library_item.uploaded', data: { ...shared, item_id: id } },
    ]);
    await expectItems(app, team.id, 1);
    const read = await app.http.get(`${team.path}/library`, team.owner.token);
    expect(read.body).toEqual({ items: [body.item], total: 1 });
  });

  for (const moov of ['front', 'back'] as const) {
    test(`gets its duration from a moov at the ${moov}, across chunks`, async () => {
      const team = await addTeam(app);
      const bytes = makeMp4({ durationSeconds: 61.6, moov, mdatBytes: 3_000_000 });
      const body = multipart(filePart({ bytes, filename: 'v.mp4', type: 'video/mp4' }));
      const pieces = Array.from({ length: Math.ceil(body.length / 9_973) }, (_, index) =>
        body.subarray(index * 9_973, (index + 1) * 9_973),
      );
      const answer = await send(urlOf(team), pieces, { token: team.member.token });
      expect([answer.status, answer.body.item?.duration]).toEqual([200, 62]);
      expect((await itemsOf(app, team.id))[0]?.duration).toBe(62);
    });
  }

  test('has no duration if the video does not contain it', async () => {
    const team = await addTeam(app);
    const bytes = makeMp4({ durationSeconds: 5, moov: 'back' }).subarray(0, 60);
    const part = filePart({ bytes, filename: 'v.mp4', type: 'video/mp4' });
    const answer = await send(urlOf(team), [multipart(part)], { token: team.member.token });
    expect([answer.status, answer.body.item?.duration]).toEqual([200, null]);
  });
});
