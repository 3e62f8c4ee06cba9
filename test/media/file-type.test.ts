import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginsWithMp4Box,
  contradicts,
  HEAD_BYTES,
  type MediaType,
  readDeclaredType,
} from '../../src/media/file-type.ts';
import { box, makeMp4, makePdf } from '../support/media.ts';

const kinds: MediaType[] = ['application/pdf', 'video/mp4'];
function latin1(text: string) {
  return Buffer.from(text, 'latin1');
}

/** Pads the bytes with letters to the head of a larger file. */
function headOf(...start: (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(start.map((part) => (typeof part === 'string' ? latin1(part) : part)));
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, HEAD_BYTES - bytes.length), 'x')]);
}

/** The head of a box file with this major brand. */
function branded(brand: string) {
  return headOf(box('ftyp', latin1(`${brand.padEnd(4)}\0\0\0\0isom`)), '\0\0\x10\0moov');
}

describe('the declared type', () => {
  test.each([
    ['application/pdf', 'video.mp4', 'application/pdf'],
    ['video/mp4', 'document.pdf', 'video/mp4'],
    ['Application/PDF', 'a', 'application/pdf'],
    [' video/mp4 ; codecs="avc1"', 'a', 'video/mp4'],
    ['image/png', 'document.pdf', null],
    ['text/html', 'document.pdf', null],
    ['application/x-pdf', 'document.pdf', null],
    ['video/quicktime', 'video.mp4', null],
    ['application/pdfx', 'document.pdf', null],
  ])('of type %j is decided by it, whatever the name %j', (type, filename, expected) => {
    expect(readDeclaredType(type, filename)).toBe(expected);
  });

  describe.each([
    undefined,
    '',
    'application/octet-stream',
    'Application/Octet-Stream; x=y',
    'text/plain',
    'text/plain; charset=utf-8',
  ])('of type %j', (type) => {
    test.each([
      ['a.pdf', 'application/pdf'],
      ['A.PDF', 'application/pdf'],
      ['a.mp4', 'video/mp4'],
      ['a.pdf.Mp4', 'video/mp4'],
      ['a.mp4.pdf', 'application/pdf'],
      ['.pdf', 'application/pdf'],
      ['a.pdf.exe', null],
      ['apdf', null],
      ['a.mp4 ', 'video/mp4'],
      ['a.pdf\n', 'application/pdf'],
      ['a.m4v', null],
      ['a', null],
      ['', null],
    ])('is decided by the extension of %j', (filename, expected) => {
      expect(readDeclaredType(type, filename)).toBe(expected);
    });
  });
});

describe('bytes of the declared type are accepted', () => {
  test('a PDF, also after a byte order mark or other bytes', async () => {
    expect(await contradicts('application/pdf', makePdf())).toBe(false);
    expect(await contradicts('application/pdf', headOf('\xef\xbb\xbf%PDF-1.7\n'))).toBe(false);
    expect(await contradicts('application/pdf', headOf('x'.repeat(900), '%PDF-1.7\n'))).toBe(false);
  });

  test.each(['front', 'back'] as const)('an MP4 with moov at the %s', async (moov) => {
    expect(await contradicts('video/mp4', makeMp4({ durationSeconds: 1, moov }))).toBe(false);
  });

  test.each([
    ...['isom', 'iso2', 'iso3', 'iso4', 'iso5', 'iso6', 'iso8', 'mp41', 'mp42', 'avc1', 'hvc1', 'dash', 'cmfc'],
    ...['MSNV', 'XAVC', 'M4V', 'M4VH', 'M4VP', '3gp4', '3gp5', '3gp6', '3gp7', 'F4V', 'f4v'],
  ])('an MP4 of brand %s', async (brand) => {
    expect(await contradicts('video/mp4', branded(brand))).toBe(false);
  });

  test.each(['moov', 'mdat', 'free', 'skip'])('an MP4 that begins with %s instead of ftyp', async (type) => {
    expect(await contradicts('video/mp4', headOf('\0\0\x20\0', type))).toBe(false);
  });

  test('a PDF or MP4 signature, whatever follows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: HEAD_BYTES }), async (rest) => {
        const pdf = Buffer.concat([latin1('%PDF-'), rest]);
        const mp4 = Buffer.concat([branded('isom').subarray(0, 20), rest]);
        expect(await Promise.all([contradicts('application/pdf', pdf), contradicts('video/mp4', mp4)])).toEqual([
          false,
          false,
        ]);
        expect(await Promise.all([contradicts('video/mp4', pdf), contradicts('application/pdf', mp4)])).toEqual([
          true,
          true,
        ]);
      }),
    );
  });
});

describe.each(kinds)('bytes that nothing recognises pass as %s', (kind) => {
  test.each<[string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['one byte', Buffer.alloc(1)],
    ['half a signature', latin1('%PD')],
    ['zeros', Buffer.alloc(HEAD_BYTES)],
    ['plain text', headOf('Dear reader, 1 < 2 and <b is not a tag\n')],
    ['a tag that is not in the list', headOf('<article>')],
    ['a longer name that begins with a listed one', headOf('<bodyguard>')],
    ['markup after text', headOf('hello <html>')],
    ['JSON', headOf('{"a": 1}')],
  ])('%s', async (_, head) => {
    expect(await contradicts(kind, head)).toBe(false);
  });

  test('bytes after the head are ignored', async () => {
    const head = Buffer.concat([Buffer.alloc(HEAD_BYTES, ' '), latin1('<html>')]);
    expect(await contradicts(kind, head)).toBe(false);
  });
});

function utf16le(text: string) {
  return Buffer.from(`\ufeff${text}`, 'utf16le');
}

describe.each(kinds)('markup is refused as %s', (kind) => {
  test.each([
    ...['<!DOCTYPE HTML', '<html', '<head', '<script', '<iframe', '<h1', '<div', '<font', '<table', '<a', '<style'],
    ...['<title', '<b', '<body', '<br', '<p', '<!--', '<svg', '<!doctype svg'],
  ])('%s, in either case, with each way to end it', async (start) => {
    for (const tag of [start, start.toLowerCase(), start.toUpperCase()]) {
      for (const end of ['>', ' a', '\n', '\t', '\r\n', '/>']) {
        expect(await contradicts(kind, headOf(tag, end)), tag + end).toBe(true);
      }
    }
  });

  test.each<[string, Buffer]>([
    ['an XML declaration', headOf('<?xml version="1.0"?><svg>')],
    ['an XML declaration after whitespace', headOf(' \r\n<?xml\tversion="1.0"?>')],
    ['after whitespace', headOf('\t\n\f\r <html>')],
    ['after much whitespace', headOf(' '.repeat(4000), '<script>')],
    ['after a byte order mark', headOf('\xef\xbb\xbf<html>')],
    ['after a byte order mark and whitespace', headOf('\xef\xbb\xbf\n <svg\n')],
    ['in UTF-16, little-endian', utf16le('\n<html>')],
    ['in UTF-16, big-endian', utf16le('<!DOCTYPE html>').swap16()],
    ['as the whole file', latin1('<p>')],
    ['before a PDF', headOf('<html><!--', makePdf())],
  ])('%s', async (_, head) => {
    expect(await contradicts(kind, head)).toBe(true);
  });
});

describe.each(kinds)('other kinds are refused as %s', (kind) => {
  const id3 = 'ID3\x04\0\0';
  test.each<[string, Buffer]>([
    ['a Windows executable', headOf('MZ\x90\0')],
    ['an ELF executable', headOf('\x7fELF\x02\x01\x01')],
    ['a Mach-O executable', headOf('\xcf\xfa\xed\xfe')],
    ['a Java class', headOf('\xca\xfe\xba\xbe\0\0\0\x34')],
    ['a shell script', headOf('#!/bin/sh\n')],
    ['a PHP script', headOf('<?php system($_GET[0]);')],
    ['a ZIP', headOf('PK\x03\x04')],
    ['a ZIP signature alone', latin1('PK\x03\x04')],
    ['an empty ZIP', latin1(`PK\x05\x06${'\0'.repeat(18)}`)],
    ['a gzip', gzipSync(Buffer.alloc(100_000)).subarray(0, HEAD_BYTES)],
    ['a RAR', headOf('Rar!\x1a\x07\0')],
    ['a 7z', headOf('7z\xbc\xaf\x27\x1c')],
    ['a deb', headOf('!<arch>\ndebian-binary ')],
    ['a PNG signature alone', latin1('\x89PNG\r\n\x1a\n')],
    ['a JPEG', headOf('\xff\xd8\xff\xe0')],
    ['a GIF', headOf('GIF89a')],
    ['a TIFF whose directory is after the head', headOf('II*\0\0\0\x10\0')],
    ['a big-endian TIFF whose directory is after the head', headOf('MM\0*\0\x10\0\0')],
    ['an MP3 whose tag fills the head', headOf(id3, '\0\0\x7f\x7f')],
    ['an MP3 with a short tag', headOf(id3, '\0\0\0\x10')],
    ['an Ogg signature alone', latin1('OggS\0')],
    ['a WebM', headOf('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01')],
    ['an ar signature alone', latin1('!<arch>\n')],
    ['a Matroska signature alone', latin1('\x1a\x45\xdf\xa3')],
    ['an AVI', headOf('RIFF\0\0\0\0AVI LIST')],
    ['PostScript', headOf('%!PS-Adobe-3.0')],
    ['RTF', headOf('{\\rtf1')],
    ['an Office 97 document', headOf('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')],
    ['a QuickTime file with its own first box', headOf('\0\0\0\x08wide')],
    ...['qt', '3gp1', '3gr6', '3g2a', 'M4A', 'M4B', 'F4A', 'heic', 'mif1', 'avif', 'crx'].map(
      (brand): [string, Buffer] => [`a box file of brand ${brand}`, branded(brand)],
    ),
  ])('%s', async (_, head) => {
    expect(await contradicts(kind, head)).toBe(true);
  });
});

test('PDF and MP4 contradict each other', async () => {
  expect(await contradicts('video/mp4', makePdf())).toBe(true);
  expect(await contradicts('application/pdf', makeMp4({ durationSeconds: 1, moov: 'back' }))).toBe(true);
  expect(await contradicts('application/pdf', headOf('\0\0\x20\0moov'))).toBe(true);
});

test('a hostile head never makes it reject, and takes bounded time', async () => {
  const signatures = [
    '',
    'PK\x03\x04',
    '\x1f\x8b\x08',
    '\x1a\x45\xdf\xa3',
    'II*\0',
    '\x89PNG\r\n\x1a\n',
    'OggS',
    'ID3',
  ];
  const asf = '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9';
  const head = fc
    .tuple(
      fc.constantFrom(...signatures, asf, '\xef\xbb\xbf', '\x04\0\0\0', '<', '\xff\xfe', '\xfe\xff'),
      fc.uint8Array({ maxLength: HEAD_BYTES, size: 'max' }),
    )
    .map(([signature, rest]) => Buffer.concat([latin1(signature), rest]));
  const bomb = gzipSync(Buffer.alloc(4_000_000));
  const marks = Buffer.alloc(HEAD_BYTES, latin1('\xef\xbb\xbf'));
  const tags = Buffer.alloc(HEAD_BYTES, latin1('ID3\x04\0\0\0\0\0\0'));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(head, fc.constantFrom(bomb, marks, tags)),
      fc.constantFrom(...kinds),
      async (bytes, kind) => {
        // The time on a CPU, which does not depend on what else the machine does.
        const started = process.cpuUsage();
        expect(typeof (await contradicts(kind, bytes))).toBe('boolean');
        expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
      },
    ),
    { numRuns: 500 },
  );
});

test('a head that is a view of a larger buffer is read within its bounds', async () => {
  const buffer = Buffer.concat([latin1('MZ'), makePdf()]);
  expect(await contradicts('application/pdf', new Uint8Array(buffer.buffer, buffer.byteOffset + 2, 100))).toBe(false);
  expect(await contradicts('application/pdf', new Uint8Array(buffer.buffer, buffer.byteOffset, 100))).toBe(true);
});

describe('an MP4 begins with one of its boxes', () => {
  test.each([
    ['ftyp', box('ftyp', latin1('isom'))],
    ['a movie without a brand', box('moov')],
    ['media data without a brand', box('mdat')],
    ['a segment', box('styp')],
    ['a box with a 64-bit size', latin1('\0\0\0\x01mdat\0\0\0\0\0\0\0\x10')],
    ['a box that ends with the file', latin1('\0\0\0\0mdat')],
    ['a whole file', makeMp4({ durationSeconds: 1, moov: 'back' })],
  ])('%s', (_, bytes) => expect(beginsWithMp4Box(bytes)).toBe(true));

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['less than a header', latin1('\0\0\0\x08fty')],
    ['a size below that of the header', latin1('\0\0\0\x07ftypisom')],
    ['another box', box('wide')],
    ['JSON', latin1('{"ftyp":"isom"}')],
    ['the type at another place', latin1('ftypisom')],
  ])('not %s', (_, bytes) => expect(beginsWithMp4Box(bytes)).toBe(false));
});
