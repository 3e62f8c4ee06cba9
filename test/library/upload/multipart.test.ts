import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { makePdf } from '../../support/media.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { expectItems, expectNoTrace, itemsOf } from './traces.ts';
import {
  BOUNDARY,
  END,
  type FilePart,
  fieldPart,
  filePart,
  MULTIPART,
  multipart,
  partHead,
  type SendOptions,
  send,
} from './wire.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const PDF = makePdf();
const FILE = filePart({ bytes: PDF });

function post(team: Team, body: Iterable<Buffer>, options: SendOptions = {}) {
  return send(`${app.url}${team.path}/library`, body, { token: team.member.token, ...options });
}

function inChunks(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
}

function byteByByte(bytes: Buffer): Buffer[] {
  return inChunks(bytes, 1);
}

describe('fields', () => {
  const name = fieldPart('name', 'Plan 2027');
  const description = fieldPart('description', 'Two\r\nlines');
  const orders: [string, Buffer[]][] = [
    ['before the file', [name, description, FILE]],
    ['after the file', [FILE, name, description]],
    ['around the file', [name, FILE, description]],
  ];
  for (const [label, parts] of orders) {
    test(`name and description may come ${label}`, async () => {
      const team = await addTeam(app);
      const { status, body } = await post(team, [multipart(...parts)]);
      expect([status, body.item?.name, body.item?.description]).toEqual([200, 'Plan 2027', 'Two\r\nlines']);
      await expectItems(app, team.id, 1);
    });
  }

  test('a blank name becomes the original filename, and a missing description is empty', async () => {
    const team = await addTeam(app);
    for (const parts of [[FILE], [FILE, fieldPart('name', '')], [fieldPart('name', ' \t '), FILE]]) {
      const { status, body } = await post(team, [multipart(...parts)]);
      expect([status, body.item?.name, body.item?.description]).toEqual([200, 'a.pdf', '']);
    }
  });

  test('unknown fields and fields without a name are ignored', async () => {
    const team = await addTeam(app);
    const unknown = ['__proto__', 'constructor', 'id', 'workspace_id', 'file_key'].map((field) =>
      fieldPart(field, '7'),
    );
    const nameless = filePart({ disposition: 'form-data', type: null, bytes: 'x' });
    const { status, body } = await post(team, [multipart(...unknown, nameless, FILE)]);
    expect([status, body.item?.workspace_id, body.item?.name]).toEqual([200, team.id, 'a.pdf']);
    await expectItems(app, team.id, 1);
  });

  const rejected: [string, Buffer, string, string][] = [
    ['a name that is too long', fieldPart('name', 'n'.repeat(256)), 'name', 'name must have at most 255 characters'],
    [
      'a description that is too long',
      fieldPart('description', 'd'.repeat(5001)),
      'description',
      'description must have at most 5000 characters',
    ],
    [
      'a NUL in the name',
      fieldPart('name', 'a\0b'),
      'name',
      'name must not contain control characters or invalid Unicode',
    ],
    ['a huge name', fieldPart('name', 'n'.repeat(10_000_000)), 'name', 'name is too long'],
    ['a huge unknown field', fieldPart('x', 'n'.repeat(10_000_000)), 'x', 'x is too long'],
  ];
  for (const [label, part, path, message] of rejected) {
    for (const [place, parts] of [
      ['before', [part, FILE]],
      ['after', [FILE, part]],
    ] as const) {
      test(`${label} ${place} the file is rejected with its field, and the file is deleted`, async () => {
        const team = await addTeam(app);
        const { status, body } = await post(team, [multipart(...parts)]);
        expect([status, body.error, body.issues]).toEqual([400, message, [{ path, message }]]);
        await expectNoTrace(app, team.id);
      });
    }
  }

  test('ten thousand fields are rejected', async () => {
    const team = await addTeam(app);
    const fields = Array.from({ length: 10_000 }, (_, index) => fieldPart(`f${index}`, 'x'));
    for (const parts of [
      [...fields, FILE],
      [FILE, ...fields],
    ]) {
      const { status, body } = await post(team, [multipart(...parts)]);
      expect([status, body.error]).toEqual([400, 'The body has too many fields']);
    }
    await expectNoTrace(app, team.id);
  });

  test('a field name of 1 MB is rejected', async () => {
    const team = await addTeam(app);
    const { status, body } = await post(team, [multipart(fieldPart('n'.repeat(1_000_000), 'x'), FILE)]);
    expect([status, body.error]).toEqual([400, 'Malformed multipart body']);
    await expectNoTrace(app, team.id);
  });

  test('a huge field without a name is rejected', async () => {
    const team = await addTeam(app);
    const nameless = filePart({ disposition: 'form-data', type: null, bytes: 'x'.repeat(100_000) });
    const { status } = await post(team, [multipart(nameless, FILE)]);
    expect(status).toBe(400);
    await expectNoTrace(app, team.id);
  });
});

describe('the file part', () => {
  const withoutFile: [string, Iterable<Buffer>, SendOptions][] = [
    ['a body with fields only', [multipart(fieldPart('name', 'x'))], {}],
    ['a body without parts', [END], {}],
    ['a file under another name', [multipart(filePart({ name: 'document', bytes: PDF }))], {}],
    ['a text field named file', [multipart(fieldPart('file', 'text'))], {}],
    ['JSON', [Buffer.from('{"file":"x"}')], { contentType: 'application/json' }],
    ['malformed JSON', [Buffer.from('{')], { contentType: 'application/json; charset=utf-8' }],
    ['a form', [Buffer.from('file=x')], { contentType: 'application/x-www-form-urlencoded' }],
    ['the bare file', [PDF], { contentType: 'application/pdf' }],
    ['multipart of another kind', [multipart(FILE)], { contentType: `multipart/mixed; boundary=${BOUNDARY}` }],
    ['no boundary', [multipart(FILE)], { contentType: 'multipart/form-data' }],
    ['an empty boundary', [multipart(FILE)], { contentType: 'multipart/form-data; boundary=' }],
    ['an invalid content type', [multipart(FILE)], { contentType: ';;;' }],
    ['no content type', [multipart(FILE)], { contentType: null }],
    ['no body, chunked', [], {}],
    ['no body and no content type', [], { contentType: null, length: 0 }],
    ['no body of length 0', [], { contentType: 'application/json', length: 0 }],
  ];
  for (const [label, body, options] of withoutFile) {
    test(`${label} gives 400`, async () => {
      const team = await addTeam(app);
      const answer = await post(team, body, options);
      const isIncomplete = label === 'no body, chunked';
      expect([answer.status, answer.body.error]).toEqual([
        400,
        isIncomplete ? 'Malformed multipart body' : 'File is required',
      ]);
      await expectNoTrace(app, team.id);
    });
  }

  test('two files are rejected, and the first is deleted', async () => {
    const team = await addTeam(app);
    const { status, body } = await post(team, [multipart(FILE, filePart({ bytes: PDF, filename: 'b.pdf' }))]);
    expect([status, body.error]).toEqual([400, 'Only one file can be uploaded at a time']);
    await expectNoTrace(app, team.id);
  });

  test('a few files with other names are ignored, many are rejected', async () => {
    const team = await addTeam(app);
    const other = filePart({ name: 'thumbnail', filename: 't.png', type: 'image/png', bytes: Buffer.alloc(600_000) });
    const few = await post(team, [multipart(other, FILE, other)]);
    expect(few.status).toBe(200);
    const many = await post(team, [multipart(FILE, ...Array(20).fill(other))]);
    expect([many.status, many.body.error]).toEqual([400, 'The body has too many files']);
    await expectItems(app, team.id, 1);
  });
});

describe('the boundary', () => {
  const boundaries: [string, string][] = [
    ['of 70 characters', 'b'.repeat(70)],
    ['of 71 characters', 'b'.repeat(71)],
    ['of 2,000 characters', 'b'.repeat(2000)],
    ['of one character', 'b'],
    ['with every kind of character', "0aZ'()+_,-./:=?"],
  ];
  for (const [label, boundary] of boundaries) {
    test(`${label} is accepted`, async () => {
      const team = await addTeam(app);
      const body = Buffer.from(multipart(FILE).toString('latin1').replaceAll(BOUNDARY, boundary), 'latin1');
      const contentType = `multipart/form-data; boundary="${boundary}"`;
      // A long body may not consist of single bytes.
      const chunks = boundary.length > 100 ? inChunks(body, 33) : byteByByte(body);
      const answer = await post(team, chunks, { contentType });
      expect([answer.status, answer.body.item?.size]).toEqual([200, PDF.length]);
    });
  }

  test('is not confused with similar text in the file, however the body is divided into chunks', async () => {
    const team = await addTeam(app);
    const similar = [
      `--${BOUNDARY}`,
      `\r\n-${BOUNDARY}`,
      `\r\n--${BOUNDARY.slice(0, -1)}`,
      `\n--${BOUNDARY}--`,
      '\r\n\r\n',
    ];
    const bytes = Buffer.concat([PDF, Buffer.from(similar.join('')), Buffer.from('\r\n')]);
    const body = multipart(filePart({ bytes }));
    for (const chunks of [[body], byteByByte(body)]) {
      const answer = await post(team, chunks);
      expect([answer.status, answer.body.item?.size]).toEqual([200, bytes.length]);
    }
    const hashes = (await itemsOf(app, team.id)).map((item) => Buffer.from(item.sha256).toString('hex'));
    expect(new Set(hashes).size).toBe(1);
  });

  test('may have a preamble before it and an epilogue after it', async () => {
    const team = await addTeam(app);
    const body = [Buffer.from('preamble\r\n'), multipart(FILE), Buffer.from('epilogue'.repeat(100_000))];
    const answer = await post(team, body);
    expect([answer.status, answer.body.item?.size]).toEqual([200, PDF.length]);
  });
});

describe('a body that ends too early in a complete request', () => {
  const whole = multipart(filePart({ bytes: Buffer.concat([PDF, Buffer.alloc(2_000_000)]) }), fieldPart('name', 'x'));
  const endOfFile = whole.indexOf(`\r\n--${BOUNDARY}`, 100);
  const cuts: [string, number][] = [
    ['within the first boundary', 10],
    ["within the file's head", 60],
    ['after the first bytes of the file', partHead({}).length + 20],
    ['in the middle of the file', whole.length >> 1],
    ['before the boundary after the file', endOfFile],
    ['within the boundary after the file', endOfFile + 8],
    ["within the field's head", endOfFile + BOUNDARY.length + 20],
    ['within the field', whole.length - END.length - 2],
    ['within the last boundary', whole.length - 6],
  ];
  for (const [label, at] of cuts) {
    for (const [way, options] of [
      ['chunked', {}],
      ['with its length', { length: at }],
    ] as const) {
      test(`${label}, ${way}, gives 400 and leaves nothing behind`, async () => {
        const team = await addTeam(app);
        const { status, body } = await post(team, [whole.subarray(0, at)], options);
        expect([status, body.error]).toEqual([400, 'Malformed multipart body']);
        await expectNoTrace(app, team.id);
      });
    }
  }
});

describe('a filename only affects the name of the item', () => {
  const names: [string, string, string][] = [
    ['a path', '../../etc/x.pdf', 'x.pdf'],
    ['a Windows path', 'C:\\fakepath\\..\\x.pdf', 'x.pdf'],
    ['an absolute path', '/etc/x.pdf', 'x.pdf'],
    ['a device', 'CON.pdf', 'CON.pdf'],
    ['a leading dot', '.htaccess', '.htaccess'],
    ['the escapes of browsers', 'say %22hi%22%0D%0A.pdf', 'say "hi" .pdf'],
    ['other percent signs', '100%25 of a%0d%0ab%2F%%22.pdf', '100%25 of a%0d%0ab%2F%".pdf'],
    ['a right-to-left override', 'a\u202efdp.final', 'afdp.final'],
    ['decomposed letters', 'U\u0308ber.pdf', '\u00dcber.pdf'],
    ['only invisible characters', '\u200b\u2060', 'Untitled'],
    ['emoji', '👩‍👩‍👧‍👦 plan.pdf', '👩‍👩‍👧‍👦 plan.pdf'],
    ['quotes', 'a \\"quoted\\" name.pdf', 'a "quoted" name.pdf'],
    ['markup', '<script>alert(1)</script>.pdf', 'script>.pdf'],
    ['a control character', 'a\u0085b.pdf', 'a b.pdf'],
    ['a tab', 'a\tb.pdf', 'a b.pdf'],
    ['only white space', '   ', 'Untitled'],
    ['300 characters', `${'n'.repeat(300)}.pdf`, `${'n'.repeat(251)}.pdf`],
    ['300 characters of two units each', `${'😀'.repeat(300)}.pdf`, `${'😀'.repeat(251)}.pdf`],
    ['a formula', '=cmd|x.pdf', '=cmd|x.pdf'],
    ['15,000 dots', `${'.'.repeat(15_000)}x.pdf`, `${'.'.repeat(251)}.pdf`],
  ];
  for (const [label, filename, name] of names) {
    test(`${label}`, async () => {
      const team = await addTeam(app);
      const { status, body } = await post(team, [multipart(filePart({ bytes: PDF, filename }))]);
      expect([status, body.item?.name]).toEqual([200, name]);
      const [item] = await itemsOf(app, team.id);
      expect(item?.fileKey).toMatch(new RegExp(`^v1/workspaces/${team.id}/library/[0-9a-f-]{36}$`));
      await expectItems(app, team.id, 1);
    });
  }

  const dispositions: [string, string, string][] = [
    ['filename* in UTF-8', `form-data; name="file"; filename*=UTF-8''na%C3%AFve.pdf`, 'naïve.pdf'],
    ['filename and filename*', `form-data; name="file"; filename="x.pdf"; filename*=UTF-8''%E2%82%AC.pdf`, '€.pdf'],
    ['a NUL in filename*', `form-data; name="file"; filename*=UTF-8''a%00b.pdf`, 'a b.pdf'],
    ['CRLF in filename*', `form-data; name="file"; filename*=UTF-8''a%0d%0aX-Evil%3A%201.pdf`, 'a X-Evil: 1.pdf'],
  ];
  for (const [label, disposition, name] of dispositions) {
    test(`${label}`, async () => {
      const team = await addTeam(app);
      const { status, body } = await post(team, [multipart(filePart({ bytes: PDF, disposition }))]);
      expect([status, body.item?.name]).toEqual([200, name]);
    });
  }

  test('a filename* in an unknown charset makes the part unreadable', async () => {
    const team = await addTeam(app);
    const disposition = `form-data; name="file"; filename="x.pdf"; filename*=nope''%ff.pdf`;
    const { status, body } = await post(team, [multipart(filePart({ bytes: PDF, disposition }))]);
    expect([status, body.error]).toEqual([400, 'File is required']);
    await expectNoTrace(app, team.id);
  });

  test('line breaks in the filename cannot add a header to the download', async () => {
    const team = await addTeam(app);
    const { body } = await post(team, [
      multipart(
        filePart({ bytes: PDF, filename: 'a.pdf"\r\nX-Evil: 1\r\nContent-Disposition: form-data; name="file' }),
      ),
    ]);
    const item = body.item ?? (await post(team, [multipart(FILE)])).body.item;
    const { url } = (await app.http.get(`${team.path}/library/${item.id}/download`, team.member.token)).body;
    const download = await fetch(url);
    expect(download.headers.get('x-evil')).toBeNull();
    expect(download.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"\r\n]*"/);
  });

  test('fetch and the typed client keep the quotation marks of names', async () => {
    const team = await addTeam(app);
    const file = new File([new Uint8Array(PDF)], 'say "hi".pdf', { type: 'application/pdf' });
    const client = createClient({ url: app.url, token: team.member.token });
    const stream = { name: file.name, stream: file.stream(), size: file.size, type: file.type };
    const form = new FormData();
    form.append('file', file);
    const headers = { authorization: `Bearer ${team.member.token}` };
    const answer = await fetch(`${app.url}${team.path}/library`, { method: 'POST', body: form, headers });
    expect(await answer.json()).toMatchObject({ item: { name: file.name } });
    expect((await client.upload({ id: team.id, file })).name).toBe(file.name);
    expect((await client.upload({ id: team.id, file: stream })).name).toBe(file.name);
  });

  test('the escapes in the name of a field are decoded, too', async () => {
    const team = await addTeam(app);
    const { status, body } = await post(team, [multipart(FILE, fieldPart('%22name%0D', 'x'.repeat(100_000)))]);
    expect([status, body.issues[0].path]).toEqual([400, '"name\r']);
  });

  test('an unknown charset of a field is ignored', async () => {
    const team = await addTeam(app);
    const field = filePart({ name: 'name', filename: null, type: 'text/plain; charset=nope', bytes: 'Plan' });
    const { status } = await post(team, [multipart(field, FILE)]);
    expect(status).toBe(200);
  });
});

describe('the Content-Transfer-Encoding of a part', () => {
  const encoded = (encoding: string, part: FilePart) =>
    filePart({ ...part, type: `${part.type ?? 'application/pdf'}\r\nContent-Transfer-Encoding: ${encoding}` });

  test.each(['7bit', '8bit', 'Binary'])('%s is accepted', async (encoding) => {
    const team = await addTeam(app);
    const name = encoded(encoding, { name: 'name', filename: null, type: 'text/plain', bytes: 'Plan' });
    const { status, body } = await post(team, [multipart(name, encoded(encoding, { bytes: PDF }))]);
    expect([status, body.item?.name, body.item?.size]).toEqual([200, 'Plan', PDF.length]);
  });

  test.each(['base64', 'BASE64', 'quoted-printable', 'x-uuencode'])('%s is refused', async (encoding) => {
    const team = await addTeam(app);
    const parts: [string, Buffer[]][] = [
      ['file', [encoded(encoding, { bytes: PDF.toString('base64') })]],
      ['thumbnail', [encoded(encoding, { name: 'thumbnail', bytes: 'eA==' }), FILE]],
      ['name', [FILE, encoded(encoding, { name: 'name', filename: null, type: 'text/plain', bytes: 'UGxhbg==' })]],
    ];
    for (const [field, all] of parts) {
      const { status, body } = await post(team, [multipart(...all)]);
      const named = encoding.toLowerCase();
      const message = `${field} has the Content-Transfer-Encoding ${named}: send its bytes as they are`;
      expect([status, body.error, body.issues]).toEqual([400, message, [{ path: field, message }]]);
    }
    await expectNoTrace(app, team.id);
  });
});

test('the multipart content type is case-insensitive and may have other parameters', async () => {
  const team = await addTeam(app);
  for (const contentType of [
    MULTIPART.replace('multipart/form-data', 'Multipart/Form-Data'),
    `${MULTIPART}; charset=utf-8`,
  ])
    expect((await post(team, [multipart(FILE)], { contentType })).status).toBe(200);
});
