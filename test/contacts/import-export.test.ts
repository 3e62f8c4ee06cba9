/** Importing and exporting contacts as CSV, over HTTP. */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../src/auth/identify.ts';
import { importContacts } from '../../src/features/contacts/import-contacts.ts';
import { concurrently } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

/** The service itself acts for the user. */
const byService = { credential: null, address: null };

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());

async function createTeam(): Promise<void> {
  team = await addTeam(app);
}
beforeAll(createTeam);

function send(
  body: NonNullable<RequestInit['body']>,
  token?: string,
  type = 'text/csv',
  at = team.path,
): Promise<Answer> {
  return app.http.call('POST', `${at}/contacts/import`, { token, body, headers: { 'content-type': type } });
}

async function importCsv(csv: string | Buffer): Promise<unknown> {
  const { status, body } = await send(typeof csv === 'string' ? csv : new Uint8Array(csv), team.admin.token);
  expect(status).toBe(200);
  return body;
}

async function contacts(): Promise<[string, string][]> {
  const rows = await app.services.db.contact.findMany({ where: { workspaceId: team.id }, orderBy: { id: 'asc' } });
  return rows.map(({ name, email }) => [name, email]);
}

async function total(): Promise<number> {
  return (await app.http.get(`${team.path}/contacts?limit=1`, team.member.token)).body.total;
}

describe('the import', () => {
  test('creates new contacts, renames existing ones and lists the rows that it skips', async () => {
    await createTeam();
    await app.http.post(`${team.path}/contacts`, team.owner.token, { name: 'Old', email: 'old@example.com' });
    const csv = 'Full name;E-mail;Phone\r\nNew;NEW@example.com;1\r\nRenamed;old@example.com;2\r\nBad;nobody;3\r\n';
    expect(await importCsv(`\ufeff${csv}Newer;new@example.com;4\r\n`)).toEqual({
      created: 1,
      updated: 2,
      skipped: [{ line: 4, problem: 'email must be a valid email address' }],
      skipped_count: 1,
    });
    expect(await contacts()).toEqual([
      ['Renamed', 'old@example.com'],
      ['Newer', 'new@example.com'],
    ]);
    expect(await total()).toBe(2);
  });

  test('imports several batches in the order of the file, and changes nothing the second time', async () => {
    await createTeam();
    const lines = Array.from({ length: 1_250 }, (_, index) => `Person ${index},p${index}@example.com`);
    const csv = `name,email\n${lines.join('\n')}\n${'x,nobody\n'.repeat(120)}`;
    const first = (await importCsv(csv)) as { created: number; skipped: unknown[]; skipped_count: number };
    expect(first).toMatchObject({ created: 1_250, updated: 0, skipped_count: 120 });
    expect(first.skipped).toHaveLength(100);
    const imported = await contacts();
    expect(imported.map(([name]) => name)).toEqual(lines.map((line) => line.split(',')[0]));
    expect(await importCsv(csv)).toMatchObject({ created: 0, updated: 1_250, skipped_count: 120 });
    expect(await contacts()).toEqual(imported);
    expect(await total()).toBe(1_250);
    const { kpis } = (await app.http.get(`${team.path}/analytics`, team.member.token)).body;
    expect(kpis.contacts).toBe(1_250);
  });

  test.each([
    ['', 'CSV must have a column named email'],
    ['name,phone\nVera,5\n', 'CSV must have a column named email'],
    [Buffer.from('na\xffme,email\n', 'latin1'), 'CSV must be UTF-8 or UTF-16'],
  ])('rejects %j with 400 for the whole body, and writes nothing', async (csv, message) => {
    await createTeam();
    const answer = await send(typeof csv === 'string' ? csv : new Uint8Array(csv), team.owner.token);
    expect([answer.status, answer.body.message]).toEqual([400, message]);
    expect(answer.body.issues).toEqual([{ path: '', message }]);
    expect(await contacts()).toEqual([]);
  });

  test('may write the rows before an error, and accepts the whole file again', async () => {
    await createTeam();
    const good = `name,email\n${Array.from({ length: 600 }, (_, index) => `P,p${index}@example.com\n`).join('')}`;
    const answer = await send(`${good}"never closed`, team.owner.token);
    expect([answer.status, answer.body.message]).toEqual([400, 'Line 602: unclosed quote']);
    expect([0, 500]).toContain(await total());
    await importCsv(good);
    expect(await total()).toBe(600);
  });

  test('skips 1,000 invalid rows, and rejects a file with one more, but keeps the batches before', async () => {
    await createTeam();
    const good = Array.from({ length: 600 }, (_, index) => `p${index}@example.com\n`).join('');
    expect(await importCsv(`email\n${good}${'x\n'.repeat(1_000)}`)).toMatchObject({
      created: 600,
      skipped_count: 1_000,
    });
    await createTeam();
    const answer = await send(`email\n${good}${'x\n'.repeat(1_001)}`, team.owner.token);
    const message = 'The file has more than 1,000 invalid rows';
    expect([answer.status, answer.body.message, answer.body.issues]).toEqual([400, message, [{ path: '', message }]]);
    expect(await total()).toBe(500);
  });

  test('accepts 100,000 rows besides blank ones, and rejects one more', async () => {
    await createTeam();
    const rows = `email\n${'\n,\n'.repeat(1_000)}${'p@example.com\n'.repeat(100_000)}`;
    expect(await importCsv(rows)).toMatchObject({ created: 1, updated: 99_999, skipped_count: 0 });
    const answer = await send(`${rows}p@example.com\n`, team.owner.token);
    expect([answer.status, answer.body.message]).toEqual([400, 'The file has more than 100,000 rows']);
  }, 60_000);

  test('does not block other requests while it parses many rows', async () => {
    await createTeam();
    for (const row of ['\n', ' \n', 'x\n']) {
      let isOver = false;
      const importing = send(`email\n${row.repeat((5 * 1024 * 1024) / row.length)}`, team.owner.token).finally(() => {
        isOver = true;
      });
      let answered = 0;
      while (!isOver) {
        expect((await app.http.get('/health')).status).toBe(200);
        answered += 1;
      }
      expect((await importing).status).toBe(row === 'x\n' ? 400 : 200);
      // The import with invalid rows fails immediately.
      if (row !== 'x\n') expect(answered).toBeGreaterThan(10);
    }
  }, 60_000);

  test('processes rows that arrive at once in several turns of the event loop', async () => {
    const actor: Actor = {
      userId: team.owner.id,
      name: 'Olivia Owner',
      workspaceId: team.id,
      role: 'owner',
      ...byService,
    };
    let [turns, isOver] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await importContacts(app.services, actor, Readable.from([Buffer.from(`email\n${'x\n'.repeat(1_000)}`)]));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  test('runs once per workspace, and files that arrive slowly do not delay other workspaces', async () => {
    await createTeam();
    const teams = [team, await addTeam(app), await addTeam(app)] as const;
    const sendTo = (at: Team, body: NonNullable<RequestInit['body']>) =>
      send(body, at.owner.token, 'text/csv', at.path);
    const tryImport = async (at: Team): Promise<unknown[]> => {
      const { status, body, headers } = await sendTo(at, 'email\n');
      return [status, body.message, headers.get('retry-after')];
    };
    const busy = [409, 'An import is running in this workspace', '10'];
    /** Starts an import that stays open, unless it is rejected. `end` sends the last row. */
    const start = (at: Team) => {
      let end = (): void => {};
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('email\n'));
          end = () => {
            controller.enqueue(new TextEncoder().encode('late@example.com\n'));
            controller.close();
          };
        },
      });
      return { answer: sendTo(at, body), end: () => end() };
    };
    /** Starts an import and waits until it runs. Starts it again if `tryImport` happened to run before it. */
    const open = async (at: Team) => {
      for (;;) {
        const started = start(at);
        const isRejected = started.answer.then(() => true);
        do {
          if (isDeepStrictEqual(await tryImport(at), busy)) return started;
        } while (!(await Promise.race([isRejected, sleep(20, false)])));
      }
    };
    const first = await open(teams[0]);
    expect((await sendTo(teams[2], 'email\n')).status).toBe(200);
    const second = await open(teams[1]);
    expect((await sendTo(teams[2], 'email\n')).status).toBe(200);
    expect(await tryImport(teams[0])).toEqual(busy);
    first.end();
    expect((await first.answer).body.created).toBe(1);
    expect((await sendTo(teams[0], 'name\n')).status).toBe(400);
    expect((await sendTo(teams[0], 'email\n')).status).toBe(200);
    expect((await sendTo(teams[2], 'email\n')).status).toBe(200);
    second.end();
    expect((await second.answer).body.created).toBe(1);
  });

  test('rejects other content types with 415, and more than 10 MiB with 413', async () => {
    const json = await send('{}', team.owner.token, 'application/json');
    expect([json.status, json.body.message]).toEqual([415, 'Content type must be text/csv']);
    const row = Buffer.from(`${' '.repeat(98)},\n`);
    const large = Buffer.concat([Buffer.from('name,email\n'), ...Array.from({ length: 110_000 }, () => row)]);
    const announced = await send(new Uint8Array(large), team.owner.token);
    expect([announced.status, announced.body.message]).toEqual([413, 'File is larger than 10 MiB']);
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 65_536)
          controller.enqueue(new Uint8Array(large.subarray(at, at + 65_536)));
        controller.close();
      },
    });
    const streamed = await send(stream, team.owner.token);
    expect([streamed.status, streamed.body.message]).toEqual([413, 'File is larger than 10 MiB']);
  });

  test('stops when the caller is removed from the workspace, and keeps the batches before', async () => {
    await createTeam();
    const actor: Actor = {
      userId: team.admin.id,
      name: 'Adam Admin',
      workspaceId: team.id,
      role: 'admin',
      ...byService,
    };
    const rows = (from: number) =>
      Buffer.from(Array.from({ length: 500 }, (_, index) => `P,p${from + index}@example.com\n`).join(''));
    async function* readFile(): AsyncGenerator<Buffer> {
      yield Buffer.from('name,email\n');
      yield rows(0);
      // The parser yields some rows only when more data arrives.
      yield rows(500).subarray(0, 1_000);
      await expect.poll(async () => (await contacts()).length).toBe(500);
      await app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
      yield rows(1_000);
      yield rows(1_500);
    }
    await expect(importContacts(app.services, actor, readFile())).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'Forbidden',
    });
    expect(await total()).toBe(500);
  });

  test('creates one contact per address in concurrent imports by several processes', async () => {
    await createTeam();
    const actor: Actor = {
      userId: team.admin.id,
      name: 'Adam Admin',
      workspaceId: team.id,
      role: 'admin',
      ...byService,
    };
    const emails = Array.from({ length: 700 }, (_, index) => `p${index}@example.com`);
    const csv = (order: readonly string[]): string => `email\n${order.join('\n')}\n`;
    const imports = concurrently(4, (index) =>
      importContacts(app.services, actor, Readable.from([Buffer.from(csv(index % 2 ? emails : emails.toReversed()))])),
    );
    const creations = concurrently(20, (index) =>
      app.http.post(`${team.path}/contacts`, team.owner.token, {
        name: 'Created',
        email: `p${index * 30}@example.com`,
      }),
    );
    const created = (await imports).reduce((sum, answer) => sum + answer.created, 0);
    const ok = (await creations).filter(({ status }) => status === 200).length;
    expect(created + ok).toBe(700);
    expect(await total()).toBe(700);
  });
});

describe('the export', () => {
  test('returns an attachment with all contacts, in several batches, that can be imported', async () => {
    await createTeam();
    const odd = [
      ['=HYPERLINK("x")', 'formula@example.com'],
      ["'quoted", 'quoted@example.com'],
      ['Comma, "Quote"', 'comma@example.com'],
    ] as const;
    for (const [name, email] of odd) await app.http.post(`${team.path}/contacts`, team.owner.token, { name, email });
    const lines = Array.from({ length: 1_000 }, (_, index) => `Person ${index},p${index}@example.com`);
    await importCsv(`name,email\n${lines.join('\n')}\n`);
    const { status, headers, body } = await app.http.get(`${team.path}/contacts.csv`, team.admin.token);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="contacts.csv"');
    const rows = body.split('\r\n');
    expect(rows).toHaveLength(1_005);
    expect(rows[0]).toBe('id,name,email,created_at');
    expect(rows[1]).toMatch(/^\d+,"'=HYPERLINK\(""x""\)",formula@example\.com,1781524800$/);
    const source = await contacts();
    await createTeam();
    expect(await importCsv(body)).toMatchObject({ created: 1_003, skipped_count: 0 });
    expect(await contacts()).toEqual(source);
  });

  test.each(['contacts.csv', 'audit.csv'])('of %s begins with a byte order mark only if asked for', async (file) => {
    await createTeam();
    const read = async (query: string): Promise<Buffer> => {
      const headers = { authorization: `Bearer ${team.owner.token}` };
      const response = await fetch(`${app.url}${team.path}/${file}${query}`, { headers });
      return Buffer.from(await response.arrayBuffer());
    };
    const plain = await read('?bom=false');
    expect(plain.toString('latin1')).toMatch(/^(?:id|sequence),/);
    const marked = await read('?bom=true');
    expect(marked.subarray(0, 3)).toEqual(Buffer.from('\ufeff'));
    expect(marked.subarray(3, 100)).toEqual(plain.subarray(0, 97));
    const refused = await app.http.get(`${team.path}/${file}?bom=maybe`, team.owner.token);
    expect([refused.status, refused.body.issues?.[0].path]).toEqual([400, 'bom']);
  });

  test('returns only the header if there are no contacts', async () => {
    await createTeam();
    const { body } = await app.http.get(`${team.path}/contacts.csv`, team.owner.token);
    expect(body).toBe('id,name,email,created_at\r\n');
  });
});
