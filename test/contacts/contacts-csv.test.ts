import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { type ParsedRow, parseContactsCsv } from '../../src/features/contacts/parse-contacts-csv.ts';
import { type ContactCsvRow, writeContactsCsv } from '../../src/features/contacts/write-contacts-csv.ts';

const MEBIBYTE = 1024 * 1024;

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

async function* chunksOf(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

function read(...chunks: (string | Buffer)[]): Promise<ParsedRow[]> {
  return collect(parseContactsCsv(chunksOf(...chunks)));
}

function ada(line: number) {
  return { line, name: 'Ada', email: 'ada@example.com' };
}

async function asText(csv: AsyncIterable<string | Buffer>): Promise<string> {
  return (await collect(csv)).map(String).join('');
}

describe('reading', () => {
  test.each<[what: string, file: string]>([
    ['commas', 'name,email\nAda,ada@example.com\n'],
    ['semicolons', 'name;email\r\nAda;ada@example.com\r\n'],
    ['semicolons in the header decide, whatever the rows have', 'name;x;email\nAda;1,2,3,4;ada@example.com'],
    ['separators within quotes of the header do not count', '"a;b;c",name,email\n,Ada,ada@example.com'],
    ['a byte order mark', '\ufeffname,email\nAda,ada@example.com'],
    ['a byte order mark before quotes', '\ufeff"email";"name"\nada@example.com;Ada'],
    ['upper case, other names and other columns', 'No,E-MAIL , Full Name,Phone\n7,ada@example.com,Ada,+1'],
    ['the first of two columns', 'email,name,E-mail,Full name\nada@example.com,Ada,b@example.com,Bea'],
    ['old Macintosh line ends', 'name,email\rAda,ada@example.com\r'],
    ['spaces and upper case', 'name,email\n  Ada\t, ADA@Example.com '],
    ['fields too many', 'name,email\nAda,ada@example.com,x,y'],
    ['bytes in other columns that are no text', 'name,email,x\nAda,ada@example.com,"\u0000\n'.replace('"', '')],
  ])('%s', async (_, file) => {
    expect(await read(file)).toEqual([ada(2)]);
  });

  test('no name, or no column of names: the part before the @, in as much as a name may have', async () => {
    expect(await read('name,email\n" ",Ada.L@example.com')).toEqual([
      { line: 2, name: 'ada.l', email: 'ada.l@example.com' },
    ]);
    const long = `${'x'.repeat(120)}@example.com`;
    expect(await read(`email\n${long}\n`)).toEqual([{ line: 2, name: 'x'.repeat(100), email: long }]);
  });

  test('lines are counted as an editor does: blank ones, line ends within quotes and mixed ones too', async () => {
    const file =
      '\r\nname,email,note\n\nAda,ada@example.com,"a\r\nb\n\rc"\r\n,,\nAda,ada@example.com\rAda,ada@example.com';
    expect(await read(file)).toEqual([ada(4), ada(9), ada(10)]);
  });

  test.each<[problem: string, row: string | Buffer]>([
    ['email must be a valid email address', 'Bea,'],
    ['email must be a valid email address', 'Bea'],
    ['email must be a valid email address', 'Bea,bea at example.com'],
    ['email must be a valid email address', 'Bea,\u212aim@example.com'],
    ['email must have at most 254 characters', `Bea,${'b'.repeat(250)}@example.com`],
    ['name must have at most 100 characters', `${'b'.repeat(101)},bea@example.com`],
    ['name must not contain control characters or invalid Unicode', 'B\u0000a,bea@example.com'],
    ['name must not contain control characters or invalid Unicode', '"B\na",bea@example.com'],
    ['name must be UTF-8', Buffer.from('B\xe9a,bea@example.com', 'latin1')],
    ['name must be UTF-8', Buffer.from('B\xed\xa0\x80,bea@example.com', 'latin1')],
    ['email must be UTF-8', Buffer.from('Bea,b\xe9a@example.com', 'latin1')],
    ['email must be a valid email address', 'Bea,bea@example.com\u0000'],
    ['email must be a valid email address', 'Bea, "bea@example.com"'],
  ])('%s: a problem of its line alone', async (problem, row) => {
    const contacts = await read('name,email\n', row, '\n', 'Ada,ada@example.com\n');
    expect(contacts[0]).toEqual({ line: 2, problem });
    expect(contacts.slice(1)).toEqual([ada(String(row).includes('\n') ? 4 : 3)]);
  });

  test('100 characters are 100 however many bytes they have', async () => {
    const name = '🎬'.repeat(100);
    expect(await read(`name,email\n${name},ada@example.com`)).toEqual([{ ...ada(2), name }]);
  });

  test('quotes within a field stay', async () => {
    expect(await read('name,email\nAda "A" L,ada@example.com')).toEqual([{ ...ada(2), name: 'Ada "A" L' }]);
    expect(await read('name,email\n"Ada ""A"", L",ada@example.com')).toEqual([{ ...ada(2), name: 'Ada "A", L' }]);
  });

  test.each<[message: string, chunks: (string | Buffer)[]]>([
    ['CSV must have a column named email', []],
    ['CSV must have a column named email', ['\n \n\r\n']],
    ['CSV must have a column named email', ['Ada,ada@example.com\n']],
    ['CSV must be UTF-8', [Buffer.from('\ufeffname,email\nAda,ada@example.com', 'utf16le')]],
    ['Line 3: unclosed quote', ['name,email\n\n"Ada,ada@example.com\nBea,b@example.com']],
    [
      'Line 4: a record must have at most 1 MiB and 1000 columns',
      ['name,email\n"\r\n",x\n', ...Array<string>(17).fill('x'.repeat(MEBIBYTE / 16))],
    ],
    ['Line 2: a record must have at most 1 MiB and 1000 columns', ['name,email\n', `"${'\n'.repeat(MEBIBYTE + 2)}`]],
    ['Line 2: a record must have at most 1 MiB and 1000 columns', ['name,email\n', ','.repeat(1000)]],
    ['Line 1: a record must have at most 1 MiB and 1000 columns', Array<string>(17).fill('x'.repeat(MEBIBYTE / 16))],
  ])('%s', async (message, chunks) => {
    const reading = read(...chunks);
    await expect(reading).rejects.toBeInstanceOf(AppError);
    await expect(reading).rejects.toMatchObject({ code: 'BAD_REQUEST', message, issues: [{ path: '', message }] });
  });

  test('a chunk may be cut anywhere', async () => {
    const file = Buffer.from(
      '\ufeffE-mail;Full name;x\r\nada@example.com;"Ädä; ""Ö""";\r\n\r\nada@example.com;🎬;"\r\n"\r\n',
    );
    const whole = await read(file);
    expect(whole).toHaveLength(2);
    expect(await read(...Array.from(file, (byte) => Buffer.of(byte)))).toEqual(whole);
    for (let cut = 0; cut <= file.length; cut += 1) {
      expect(await read(file.subarray(0, cut), Buffer.alloc(0), file.subarray(cut))).toEqual(whole);
    }
  });

  test('what the source throws comes through, before and after the header', async () => {
    const failure = new Error('The connection is gone');
    const failing = async function* (...chunks: string[]) {
      yield* chunksOf(...chunks);
      throw failure;
    };
    await expect(collect(parseContactsCsv(failing('name,e')))).rejects.toBe(failure);
    await expect(collect(parseContactsCsv(failing('name,email\nAda,ada@example.com\n')))).rejects.toBe(failure);
  });

  test('an endless file is read as far as it is asked for, and let go of', async () => {
    let [given, isReleased] = [0, false];
    const endless = async function* () {
      try {
        yield Buffer.from('name,email\n');
        for (;;) {
          given += 1;
          yield Buffer.from('Ada,ada@example.com\n'.repeat(50));
        }
      } finally {
        isReleased = true;
      }
    };
    let line = 1;
    for await (const contact of parseContactsCsv(endless())) {
      line += 1;
      expect(contact).toEqual(ada(line));
      if (line > 1000) break;
    }
    await expect.poll(() => isReleased).toBe(true);
    expect(given).toBeLessThan(200);
  });

  test('a header without an end is not read to it', async () => {
    let given = 0;
    const endless = async function* () {
      for (;;) {
        given += 1;
        yield Buffer.alloc(MEBIBYTE / 16, 'x');
      }
    };
    await expect(collect(parseContactsCsv(endless()))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(given).toBe(17);
  });

  test.each([
    ['empty', '\n'],
    ['blank', ' ,\n'],
    ['bad', 'x\n'],
  ])('the event loop turns while a flood of %s rows is read', async (_, row) => {
    let [turns, isOver] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const rows = await read('name,email\n', row.repeat(MEBIBYTE / 4 / row.length));
    isOver = true;
    expect(rows).toHaveLength(row === 'x\n' ? MEBIBYTE / 8 : 0);
    // One for each 16 KiB.
    expect(turns).toBeGreaterThanOrEqual(16);
  });

  test('a row without an address costs no error, and a count of lines is right behind empty ones', async () => {
    const captured = vi.spyOn(Error, 'captureStackTrace');
    try {
      const rows = await read('email\n', '\n\r\n\rx\n'.repeat(500), `${'\n'.repeat(9)}"`).catch(
        (error) => error.message,
      );
      expect(rows).toBe('Line 2011: unclosed quote');
      expect(captured.mock.calls.length).toBeLessThan(10);
    } finally {
      captured.mockRestore();
    }
    expect(await read('\n\nemail\n', '\n\r\n\rx\n'.repeat(3))).toEqual(
      [7, 11, 15].map((line) => ({ line, problem: 'email must be a valid email address' })),
    );
  });

  test('rows of uneven length make the parser build no errors, each with a stack', async () => {
    const captured = vi.spyOn(Error, 'captureStackTrace');
    try {
      expect(await read('email,name\n', 'a@example.com\n'.repeat(500))).toHaveLength(500);
      expect(captured.mock.calls.length).toBeLessThan(10);
    } finally {
      captured.mockRestore();
    }
  });

  test.each([
    ['before the header ends', ['x'.repeat(2 * MEBIBYTE)]],
    ['after it', ['name,email\n', '"'.padEnd(2 * MEBIBYTE, 'x')]],
  ])('a file that turns out unreadable is let go of %s', async (_, chunks) => {
    const source = Readable.from(chunksOf(...chunks, ...chunks));
    await expect(collect(parseContactsCsv(source))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect.poll(() => source.destroyed).toBe(true);
  });

  test('whatever the bytes, a contact or a problem for a line, or a refusal of the file', async () => {
    const pieces = [
      'Ada,ada@example.com\n',
      'name',
      'email',
      ',',
      ';',
      '"',
      '""',
      '\n',
      '\r',
      '\r\n',
      '\0',
      '\ufeff',
      "'=",
      ' ',
      'a@example.com',
    ];
    const anyPiece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces).map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)) },
    );
    const anyChunks = fc.tuple(
      fc.constantFrom('', 'name,email\n', 'email;x\r\n'),
      fc.array(anyPiece, { maxLength: 60 }),
    );
    let contacts = 0;
    await fc.assert(
      fc.asyncProperty(anyChunks, async ([header, chunks]) => {
        try {
          let line = 1;
          for (const contact of await read(header, ...chunks)) {
            expect(contact.line).toBeGreaterThan(line);
            line = contact.line;
            if ('problem' in contact) continue;
            contacts += 1;
            expect(contact.name).toMatch(/^\P{Cc}{1,100}$/u);
            expect(contact.email).toMatch(/^[^@\s\p{Lu}]+@[^@\s\p{Lu}]+$/u);
          }
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
        }
      }),
      { numRuns: 1500 },
    );
    expect(contacts).toBeGreaterThan(50);
  });
});

describe('writing', () => {
  const row = (fields: Partial<ContactCsvRow>): ContactCsvRow => ({
    id: 1,
    name: 'Ada',
    email: 'ada@example.com',
    created_at: 1_767_225_600,
    ...fields,
  });
  async function* rowsOf(...rows: ContactCsvRow[]): AsyncGenerator<ContactCsvRow> {
    yield* rows;
  }
  const write = (...rows: ContactCsvRow[]): Promise<string> => asText(writeContactsCsv(rowsOf(...rows)));

  test('a header, also alone, and rows that end with CRLF', async () => {
    expect(await write()).toBe('id,name,email,created_at\r\n');
    expect(await write(row({}), row({ id: 2 }))).toBe(
      'id,name,email,created_at\r\n1,Ada,ada@example.com,1767225600\r\n2,Ada,ada@example.com,1767225600\r\n',
    );
  });

  test.each([
    ['Lovelace, Ada', '"Lovelace, Ada"'],
    ['Ada "A" L', '"Ada ""A"" L"'],
    ['a\nb', '"a\nb"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', `"'\rx"`],
    ['＝1', "'＝1"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ["'=1", "''=1"],
    ["'Ada'", "'Ada'"],
    ['1-1', '1-1'],
  ])('the name %j is written as %j', async (name, cell) => {
    expect(await write(row({ name }))).toBe(`id,name,email,created_at\r\n1,${cell},ada@example.com,1767225600\r\n`);
  });

  test('an address that begins like a formula is defused too', async () => {
    expect(await write(row({ email: '-ada@example.com' }))).toContain(",'-ada@example.com,");
  });

  test('what the source throws comes through', async () => {
    const failure = new Error('The database is gone');
    const failing = async function* () {
      yield row({});
      throw failure;
    };
    await expect(asText(writeContactsCsv(failing()))).rejects.toBe(failure);
  });

  test('nothing is taken before it is asked for, little more than that, and the source is let go of', async () => {
    let [given, isReleased] = [0, false];
    const endless = async function* () {
      try {
        for (;;) {
          given += 1;
          yield row({ id: given });
        }
      } finally {
        isReleased = true;
      }
    };
    const csv = writeContactsCsv(endless());
    expect(given).toBe(0);
    await csv.next();
    await csv.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThan(10_000);
    await csv.return();
    await expect.poll(() => isReleased).toBe(true);
  });

  test('reading gives the same contacts again', async () => {
    const anyCharacter = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...`'"=+-@,;\ufeff ＝aé🎬`) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    );
    const anyName = fc
      .array(anyCharacter, { minLength: 1, maxLength: 100 })
      .map((characters) =>
        characters
          .join('')
          .replace(/\p{Cc}/gu, '')
          .trim(),
      )
      .filter((name) => name !== '' && name.isWellFormed());
    const anyEmail = fc
      .tuple(fc.stringMatching(/^['+_a-z0-9-]{0,5}[a-z0-9+_-]$/), fc.stringMatching(/^[a-z][a-z0-9]{0,5}\.[a-z]{2,4}$/))
      .map((parts) => parts.join('@'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyName, anyEmail), { maxLength: 20 }), async (contacts) => {
        const rows = contacts.map(([name, email], index) => row({ id: index + 1, name, email }));
        const csv = Readable.from(writeContactsCsv(rowsOf(...rows)));
        expect(await collect(parseContactsCsv(csv))).toEqual(
          rows.map(({ name, email }, index) => ({ line: index + 2, name, email })),
        );
      }),
      { numRuns: 500 },
    );
  });
});
