import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attachmentDisposition } from '../../src/storage/content-disposition.ts';

/** Reads the file name as a client that supports RFC 6266 does. Throws if the header has another format. */
function readFilename(header: string): string {
  const match = /^attachment; filename="([^"\\%]*)"(?:; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]+))?$/.exec(header);
  if (match === null) throw new Error(`Not RFC 6266: ${header}`);
  return match[2] === undefined ? (match[1] ?? '') : decodeURIComponent(match[2]);
}

describe('attachmentDisposition', () => {
  test.each([
    ['report.pdf', 'attachment; filename="report.pdf"'],
    ['my report (1).pdf', 'attachment; filename="my report (1).pdf"'],
    ['Übersicht.pdf', `attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`],
    ["it's (1)é.pdf", `attachment; filename="it's (1)_.pdf"; filename*=UTF-8''it%27s%20%281%29%C3%A9.pdf`],
    ['100%.pdf', `attachment; filename="100_.pdf"; filename*=UTF-8''100%25.pdf`],
    ['🎬.mp4', `attachment; filename="_.mp4"; filename*=UTF-8''%F0%9F%8E%AC.mp4`],
  ])('%s', (name, header) => {
    expect(attachmentDisposition(name)).toBe(header);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\a.pdf', 'a.pdf'],
    ['a\r\nSet-Cookie: x=1.pdf', 'aSet-Cookie_ x=1.pdf'],
    ['a".pdf', 'a_.pdf'],
    ['invoice\u202egpj.exe', 'invoicegpj.exe'],
    ['.htaccess', 'htaccess'],
    ['a.pdf. . ', 'a.pdf'],
    ['CON.pdf', '_CON.pdf'],
    ['con', '_con'],
    ['..', 'download'],
    ['', 'download'],
    ['/', 'download'],
    ['\u0000', 'download'],
    ['\ud800.pdf', '\ufffd.pdf'],
    [`${'é'.repeat(300)}.pdf`, `${'é'.repeat(98)}.pdf`],
    ['x'.repeat(300), 'x'.repeat(200)],
  ])('%j is saved as %j', (name, saved) => {
    expect(readFilename(attachmentDisposition(name))).toBe(saved);
  });

  test('for every name the header is well-formed ASCII and the saved name is safe', () => {
    const anyName = string({ unit: 'binary', maxLength: 300 });
    assert(
      property(anyName, (name) => {
        const header = attachmentDisposition(name);
        const saved = readFilename(header);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(saved).not.toBe('');
        expect(Buffer.byteLength(saved)).toBeLessThanOrEqual(201);
        expect(saved).not.toMatch(/[/\\<>:"|?*\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]|^[.\s]|[.\s]$/u);
      }),
      { numRuns: 3000 },
    );
  });

  test('combinations of special characters are handled', () => {
    const nasty = string({ unit: constantFrom(...'\r\n";\\/.:%*\'=\u202e\u0000 aé'), maxLength: 30 });
    assert(
      property(nasty, (name) => {
        expect(readFilename(attachmentDisposition(name))).not.toBe('');
      }),
      { numRuns: 2000 },
    );
  });

  test('a cleaned name is not changed again', () => {
    assert(
      property(string({ unit: 'grapheme', maxLength: 120 }), (name) => {
        const once = readFilename(attachmentDisposition(name));
        expect(readFilename(attachmentDisposition(once))).toBe(once);
      }),
    );
  });
});
