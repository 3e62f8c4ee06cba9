import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { normalizeName } from '../../src/core/text.ts';
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

function parse(...chunks: (string | Buffer)[]): Promise<ParsedRow[]> {
  return collect(parseContactsCsv(chunksOf(...chunks)));
}

function ada(line: number) {
  return { line, name: 'Ada', email: 'ada@example.com' };
}

async function toText(csv: AsyncIterable<string | Buffer>): Promise<string> {
  return (await collect(csv)).map(String).join('');
}

describe('parsing', () => {
  test.each<[what: string, file: string]>([
    ['is separated by commas', 'name,email\nAda,ada@example.com\n'],
    ['is separated by semicolons', 'name;email\r\nAda;ada@example.com\r\n'],
    ['has more semicolons than commas in the header', 'name;x;email\nAda;1,2,3,4;ada@example.com'],
    ['has separators within quotes in the header', '"a;b;c",name,email\n,Ada,ada@example.com'],
    ['has a byte order mark', '\ufeffname,email\nAda,ada@example.com'],
    ['has a byte order mark before quotes', '\ufeff"email";"name"\nada@example.com;Ada'],
    ['has other spellings of the columns, and other columns', 'No,E-MAIL , Full Name,Phone\n7,ada@example.com,Ada,+1'],
    ['has a column twice (the first one counts)', 'email,name,E-mail,Full name\nada@example.com,Ada,b@example.com,Bea'],
    ['has line ends of CR alone', 'name,email\rAda,ada@example.com\r'],
    ['has surrounding spaces and upper case', 'name,email\n  Ada\t, ADA@Example.com '],
    ['has more fields than columns', 'name,email\nAda,ada@example.com,x,y'],
    ['is separated by tabs', 'name\temail\tnote\nAda\tada@example.com\t1,2,3;4'],
    [
      'has a name of Google',
      'Name,Given Name,E-mail 1 - Type,E-mail 1 - Value\nAda,A,*,ada@example.com ::: b@example.com',
    ],
    [
      'has parts of a name',
      'Given Name,Family Name,Phone,E-mail Address,E-mail 2 Address\nAda,,1,ada@example.com,b@x.org',
    ],
    ['has a blank name and its parts', '"Display Name","First Name","Primary Email"\n" ",Ada,ada@example.com'],
    ['has binary data in other columns', 'name,email,x\nAda,ada@example.com,"\u0000\n'.replace('"', '')],
  ])('accepts a file that %s', async (_, file) => {
    expect(await parse(file)).toEqual([ada(2)]);
  });

  test.each<[what: string, file: string | Buffer]>([
    ['the separator in its first line', 'sep=;\r\nName;Note;Email\r\nÅsa Ö;a,b,c,d;asa@example.com\r\n'],
    ['the separator in quotes, behind a byte order mark', '\ufeff"SEP=\t"\nName\tEmail\nÅsa Ö\tasa@example.com\n'],
    ['the separator | alone', 'sep=|\nName|Email\nÅsa Ö|asa@example.com\n'],
  ])('accepts a file that names %s', async (_, file) => {
    const expected = [{ line: 3, name: 'Åsa Ö', email: 'asa@example.com' }];
    expect(await parse(file)).toEqual(expected);
    expect(await parse(...Array.from(Buffer.from(file), (byte) => Buffer.of(byte)))).toEqual(expected);
  });

  test('accepts UTF-16 with a byte order mark, wherever it is divided', async () => {
    const text = '\ufeffFirst Name\tMiddle Name\tLast Name\tE-mail Address\r\nÅsa\t研究\t🎬\tasa@example.com\r\n';
    const little = Buffer.from(text, 'utf16le');
    for (const file of [little, Buffer.from(little).swap16()]) {
      const expected = [{ line: 2, name: 'Åsa 研究 🎬', email: 'asa@example.com' }];
      for (let cut = 0; cut <= file.length; cut += 1)
        expect(await parse(file.subarray(0, cut), file.subarray(cut))).toEqual(expected);
    }
  });

  test('uses the part of the address before the @, cut to 100 characters, if there is no name', async () => {
    expect(await parse('name,email\n" ",Ada.L@example.com')).toEqual([
      { line: 2, name: 'ada.l', email: 'ada.l@example.com' },
    ]);
    const long = `${'x'.repeat(120)}@example.com`;
    expect(await parse(`email\n${long}\n`)).toEqual([{ line: 2, name: 'x'.repeat(100), email: long }]);
  });

  test('counts lines like an editor, with blank lines, line ends within quotes and mixed line ends', async () => {
    const file =
      '\r\nname,email,note\n\nAda,ada@example.com,"a\r\nb\n\rc"\r\n,,\nAda,ada@example.com\rAda,ada@example.com';
    expect(await parse(file)).toEqual([ada(4), ada(9), ada(10)]);
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
  ])('reports "%s" for one line and continues', async (problem, row) => {
    const contacts = await parse('name,email\n', row, '\n', 'Ada,ada@example.com\n');
    expect(contacts[0]).toEqual({ line: 2, problem });
    expect(contacts.slice(1)).toEqual([ada(String(row).includes('\n') ? 4 : 3)]);
  });

  test('limits names to 100 characters, not bytes', async () => {
    const name = '🎬'.repeat(100);
    expect(await parse(`name,email\n${name},ada@example.com`)).toEqual([{ ...ada(2), name }]);
  });

  test('keeps quotes within a field', async () => {
    expect(await parse('name,email\nAda "A" L,ada@example.com')).toEqual([{ ...ada(2), name: 'Ada "A" L' }]);
    expect(await parse('name,email\n"Ada ""A"", L",ada@example.com')).toEqual([{ ...ada(2), name: 'Ada "A", L' }]);
  });

  test.each<[message: string, chunks: (string | Buffer)[]]>([
    ['CSV must have a column named email', []],
    ['CSV must have a column named email', ['\n \n\r\n']],
    ['CSV must have a column named email', ['Ada,ada@example.com\n']],
    ['CSV must be UTF-8 or UTF-16', [Buffer.from('\ufeffname,email\n', 'utf16le'), Buffer.of(0xff, 0xdf)]],
    ['CSV must be UTF-8 or UTF-16', [Buffer.from('\ufeffname,email\n', 'utf16le'), Buffer.of(0x41)]],
    ['CSV must have a column named email', ['sep=;\r\n']],
    ['CSV must have a column named email', ['sep=;;name,email\nAda,ada@example.com']],
    ['Line 3: unclosed quote', ['name,email\n\n"Ada,ada@example.com\nBea,b@example.com']],
    [
      'Line 4: a record must have at most 1 MiB and 1000 columns',
      ['name,email\n"\r\n",x\n', ...Array<string>(17).fill('x'.repeat(MEBIBYTE / 16))],
    ],
    ['Line 2: a record must have at most 1 MiB and 1000 columns', ['name,email\n', `"${'\n'.repeat(MEBIBYTE + 2)}`]],
    ['Line 2: a record must have at most 1 MiB and 1000 columns', ['name,email\n', ','.repeat(1000)]],
    ['Line 1: a record must have at most 1 MiB and 1000 columns', Array<string>(17).fill('x'.repeat(MEBIBYTE / 16))],
  ])('throws "%s"', async (message, chunks) => {
    const reading = parse(...chunks);
    await expect(reading).rejects.toBeInstanceOf(AppError);
    await expect(reading).rejects.toMatchObject({ code: 'BAD_REQUEST', message, issues: [{ path: '', message }] });
  });

  test('does not depend on the division into chunks', async () => {
    const file = Buffer.from(
      '\ufeffE-mail;Full name;x\r\nada@example.com;"Ädä; ""Ö""";\r\n\r\nada@example.com;🎬;"\r\n"\r\n',
    );
    const whole = await parse(file);
    expect(whole).toHaveLength(2);
    expect(await parse(...Array.from(file, (byte) => Buffer.of(byte)))).toEqual(whole);
    for (let cut = 0; cut <= file.length; cut += 1) {
      expect(await parse(file.subarray(0, cut), Buffer.alloc(0), file.subarray(cut))).toEqual(whole);
    }
  });

  test('throws an error of the source as it is, before and after the header', async () => {
    const failure = new Error('The connection is gone');
    const failing = async function* (...chunks: string[]) {
      yield* chunksOf(...chunks);
      throw failure;
    };
    await expect(collect(parseContactsCsv(failing('name,e')))).rejects.toBe(failure);
    await expect(collect(parseContactsCsv(failing('name,email\nAda,ada@example.com\n')))).rejects.toBe(failure);
  });

  test('reads an endless file only as far as needed, and closes it', async () => {
    let [chunks, isClosed] = [0, false];
    const endless = async function* () {
      try {
        yield Buffer.from('name,email\n');
        for (;;) {
          chunks += 1;
          yield Buffer.from('Ada,ada@example.com\n'.repeat(50));
        }
      } finally {
        isClosed = true;
      }
    };
    let line = 1;
    for await (const contact of parseContactsCsv(endless())) {
      line += 1;
      expect(contact).toEqual(ada(line));
      if (line > 1000) break;
    }
    await expect.poll(() => isClosed).toBe(true);
    expect(chunks).toBeLessThan(200);
  });

  test('stops reading a header that does not end', async () => {
    let chunks = 0;
    const endless = async function* () {
      for (;;) {
        chunks += 1;
        yield Buffer.alloc(MEBIBYTE / 16, 'x');
      }
    };
    await expect(collect(parseContactsCsv(endless()))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(chunks).toBe(17);
  });

  test.each([
    ['empty', '\n'],
    ['blank', ' ,\n'],
    ['invalid', 'x\n'],
  ])('yields to the event loop while it parses many %s rows', async (_, row) => {
    let [turns, isOver] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const rows = await parse('name,email\n', row.repeat(MEBIBYTE / 4 / row.length));
    isOver = true;
    expect(rows).toHaveLength(row === 'x\n' ? MEBIBYTE / 8 : 0);
    // One turn for each 16 KiB.
    expect(turns).toBeGreaterThanOrEqual(16);
  });

  test('creates no error for a row without an address, and counts lines correctly after empty lines', async () => {
    const captured = vi.spyOn(Error, 'captureStackTrace');
    try {
      const rows = await parse('email\n', '\n\r\n\rx\n'.repeat(500), `${'\n'.repeat(9)}"`).catch(
        (error) => error.message,
      );
      expect(rows).toBe('Line 2011: unclosed quote');
      expect(captured.mock.calls.length).toBeLessThan(10);
    } finally {
      captured.mockRestore();
    }
    expect(await parse('\n\nemail\n', '\n\r\n\rx\n'.repeat(3))).toEqual(
      [7, 11, 15].map((line) => ({ line, problem: 'email must be a valid email address' })),
    );
  });

  test('creates no errors for rows of different lengths', async () => {
    const captured = vi.spyOn(Error, 'captureStackTrace');
    try {
      expect(await parse('email,name\n', 'a@example.com\n'.repeat(500))).toHaveLength(500);
      expect(captured.mock.calls.length).toBeLessThan(10);
    } finally {
      captured.mockRestore();
    }
  });

  test.each([
    ['in the header', ['x'.repeat(2 * MEBIBYTE)]],
    ['after the header', ['name,email\n', '"'.padEnd(2 * MEBIBYTE, 'x')]],
  ])('closes an invalid file when it fails %s', async (_, chunks) => {
    const source = Readable.from(chunksOf(...chunks, ...chunks));
    await expect(collect(parseContactsCsv(source))).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect.poll(() => source.destroyed).toBe(true);
  });

  test('yields a contact or a problem per line, or rejects the file, for any bytes', async () => {
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
          for (const contact of await parse(header, ...chunks)) {
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
  /** The rows in batches of different sizes, also empty ones. */
  async function* batchesOf(...rows: ContactCsvRow[]): AsyncGenerator<ContactCsvRow[]> {
    for (let [start, size] = [0, 0]; start < rows.length; start += size, size += 1)
      yield rows.slice(start, start + size);
  }
  const write = (...rows: ContactCsvRow[]): Promise<string> => toText(writeContactsCsv(batchesOf(...rows)));

  test('writes a header, also without rows, and ends every row with CRLF', async () => {
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
  ])('writes the name %j as %j', async (name, cell) => {
    expect(await write(row({ name }))).toBe(`id,name,email,created_at\r\n1,${cell},ada@example.com,1767225600\r\n`);
  });

  test('escapes an email address that starts like a formula', async () => {
    expect(await write(row({ email: '-ada@example.com' }))).toContain(",'-ada@example.com,");
  });

  test('throws an error of the source as it is', async () => {
    const failure = new Error('The database is gone');
    const failing = async function* () {
      yield [row({})];
      throw failure;
    };
    await expect(toText(writeContactsCsv(failing()))).rejects.toBe(failure);
  });

  test('reads nothing from the source before it is needed, nothing more than needed, and closes it', async () => {
    let [batches, isClosed] = [0, false];
    const endless = async function* () {
      try {
        for (;;) {
          batches += 1;
          yield [row({ id: batches })];
        }
      } finally {
        isClosed = true;
      }
    };
    const csv = writeContactsCsv(endless());
    expect(batches).toBe(0);
    await csv.next();
    await csv.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(batches).toBe(1);
    await csv.return();
    await expect.poll(() => isClosed).toBe(true);
  });

  test('writes a file that parses to the same contacts', async () => {
    const anyCharacter = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...`'"=+-@,;\ufeff ＝aé🎬`) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    );
    const anyName = fc
      .array(anyCharacter, { minLength: 1, maxLength: 100 })
      .map((characters) => normalizeName(characters.join('').replace(/\p{Cc}/gu, '')))
      .filter((name) => name !== '' && name.isWellFormed());
    const anyEmail = fc
      .tuple(fc.stringMatching(/^['+_a-z0-9-]{0,5}[a-z0-9+_-]$/), fc.stringMatching(/^[a-z][a-z0-9]{0,5}\.[a-z]{2,4}$/))
      .map((parts) => parts.join('@'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyName, anyEmail), { maxLength: 20 }), async (contacts) => {
        const rows = contacts.map(([name, email], index) => row({ id: index + 1, name, email }));
        const csv = Readable.from(writeContactsCsv(batchesOf(...rows)));
        expect(await collect(parseContactsCsv(csv))).toEqual(
          rows.map(({ name, email }, index) => ({ line: index + 2, name, email })),
        );
      }),
      { numRuns: 500 },
    );
  });
});
