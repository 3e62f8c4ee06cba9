import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeMp4, makePdf } from '../../support/media.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { expectItems, expectNoTrace } from './traces.ts';
import { type FilePart, filePart, multipart, send } from './wire.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const PDF = makePdf();
const MP4 = makeMp4({ durationSeconds: 2, moov: 'front' });
const UNSUPPORTED = 'Only PDF and MP4 files are supported';

function post(team: Team, part: FilePart) {
  return send(`${app.url}${team.path}/library`, [multipart(filePart(part))], { token: team.member.token });
}

describe('the declared type decides between PDF and MP4, and the filename only without one', () => {
  const accepted: [string, FilePart, string][] = [
    ['a PDF', { bytes: PDF }, 'application/pdf'],
    ['a video', { bytes: MP4, filename: 'v.mp4', type: 'video/mp4' }, 'video/mp4'],
    ['a PDF with an unknown extension', { bytes: PDF, filename: 'Report v1.2 final' }, 'application/pdf'],
    ['a PDF whose name ends with a dot', { bytes: PDF, filename: 'Report.' }, 'application/pdf'],
    ['a PDF without extension', { bytes: PDF, filename: 'report' }, 'application/pdf'],
    ['a type in mixed case', { bytes: PDF, type: 'Application/PDF' }, 'application/pdf'],
    ['a type with parameters', { bytes: PDF, type: 'application/pdf; charset=binary' }, 'application/pdf'],
    ['a generic type, by the extension', { bytes: PDF, type: 'application/octet-stream' }, 'application/pdf'],
    ['text/plain, by the extension', { bytes: MP4, filename: 'v.mp4', type: 'text/plain' }, 'video/mp4'],
    ['no type, by the extension', { bytes: MP4, filename: 'V.MP4', type: null }, 'video/mp4'],
    ['a malformed type, by the extension', { bytes: PDF, type: ';;' }, 'application/pdf'],
    ['content of unknown type', { bytes: Buffer.alloc(5000, 7) }, 'application/pdf'],
    ['a PDF after leading white space', { bytes: Buffer.concat([Buffer.alloc(900, 10), PDF]) }, 'application/pdf'],
    [
      'a video whose ftyp is not first',
      { bytes: MP4.subarray(MP4.readUInt32BE(0)), filename: 'v.mp4', type: 'video/mp4' },
      'video/mp4',
    ],
  ];
  for (const [label, part, type] of accepted) {
    test(`${label} is accepted as ${type}`, async () => {
      const team = await addTeam(app);
      const answer = await post(team, part);
      expect([answer.status, answer.body.item?.mime_type]).toEqual([200, type]);
      await expectItems(app, team.id, 1);
    });
  }
});

describe('a file of another type or with the content of another type is rejected and leaves nothing behind', () => {
  const html = '<!DOCTYPE html><script>alert(1)</script>';
  const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';
  const rejected: [string, FilePart][] = [
    ['an image type', { bytes: PDF, type: 'image/png' }],
    ['an alias of the PDF type', { bytes: PDF, type: 'application/x-pdf' }],
    ['a QuickTime type', { bytes: MP4, filename: 'v.mp4', type: 'video/quicktime' }],
    ['HTML', { bytes: html, filename: 'a.html', type: 'text/html' }],
    ['the extension of a program', { bytes: PDF, filename: 'a.exe' }],
    ['the extension of a web page', { bytes: PDF, filename: 'invoice.HTML' }],
    ['the extension of a document', { bytes: PDF, filename: 'report.pdf.docx' }],
    ['the extension of a text', { bytes: PDF, filename: 'report.txt' }],
    ['the extension of another video', { bytes: MP4, filename: 'v.mov', type: 'video/mp4' }],
    ['the extension of a program before dots and spaces', { bytes: PDF, filename: 'a.exe. .' }],
    ['the extension of a program before an invisible character', { bytes: PDF, filename: 'a.exe\u200b' }],
    ['a generic type with another extension', { bytes: PDF, filename: 'a.exe', type: 'application/octet-stream' }],
    ['no type and no extension', { bytes: PDF, filename: 'report', type: null }],
    ['no type and no filename', { bytes: PDF, filename: null, type: 'application/octet-stream' }],
    ['a PDF named and declared as video', { bytes: PDF, filename: 'a.mp4', type: 'video/mp4' }],
    ['a PDF named as video, without a type', { bytes: PDF, filename: 'a.mp4', type: null }],
    ['a video declared as PDF', { bytes: MP4 }],
    ['HTML as PDF', { bytes: html }],
    ['HTML as PDF, after white space', { bytes: `\n\t ${html}` }],
    ['SVG as PDF', { bytes: svg }],
    ['SVG as video', { bytes: svg, filename: 'v.mp4', type: 'video/mp4' }],
    ['an ELF executable', { bytes: Buffer.from('\x7fELF\x02\x01\x01'.padEnd(64, '\0'), 'latin1') }],
    ['a Windows executable', { bytes: Buffer.from('MZ\x90\0\x03'.padEnd(128, '\0'), 'latin1') }],
    ['a ZIP', { bytes: Buffer.from(`PK\x03\x04\x14${'\0'.repeat(60)}`, 'latin1') }],
    ['a PNG', { bytes: Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0'.repeat(40)}`, 'latin1') }],
    ['a script', { bytes: '#!/bin/sh\nrm -rf /\n' }],
  ];
  for (const [label, part] of rejected) {
    test(label, async () => {
      const team = await addTeam(app);
      const { status, body } = await post(team, part);
      expect([status, body.error, body.code]).toEqual([400, UNSUPPORTED, 'BAD_REQUEST']);
      expect(body.issues[0]).toEqual({ path: 'file', message: UNSUPPORTED });
      await expectNoTrace(app, team.id);
    });
  }

  test.each([
    ['a QuickTime file', Buffer.from('\0\0\0\x14ftypqt  \0\0\0\0qt  ', 'latin1')],
    ['an HTML, SVG or XML file', Buffer.from(html)],
    ['a PNG file', Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0'.repeat(40)}`, 'latin1')],
    ['a ZIP file', Buffer.from(`PK\x03\x04\x14${'\0'.repeat(60)}`, 'latin1')],
  ])('the error names %s', async (kind, bytes) => {
    const team = await addTeam(app);
    const { status, body } = await post(team, { bytes, filename: 'v.mp4', type: 'video/mp4' });
    expect([status, body.error]).toEqual([400, UNSUPPORTED]);
    expect(body.issues).toEqual([UNSUPPORTED, `This is ${kind}`].map((message) => ({ path: 'file', message })));
  });

  test.each([
    ['a.mp4', 'application/pdf', 'video/mp4', PDF],
    ['A.MP4. .', 'application/pdf', 'video/mp4', PDF],
    ['v.pdf', 'video/mp4', 'application/pdf', MP4],
    [`${'.'.repeat(2_000)}v.pdf`, 'video/mp4', 'application/pdf', MP4],
  ])('the name %s for a file of type %s is that of another type', async (filename, type, named, bytes) => {
    const team = await addTeam(app);
    const { status, body } = await post(team, { bytes, filename, type });
    const message = `The file is declared as ${type}, but its name has the extension of ${named}`;
    expect([status, body.error, body.issues]).toEqual([400, message, [{ path: 'file', message }]]);
    await expectNoTrace(app, team.id);
  });

  test('the content is recognized however it is divided into chunks', async () => {
    const team = await addTeam(app);
    const bytes = [...multipart(filePart({ bytes: html }))].map((byte) => Buffer.from([byte]));
    const { status, body } = await send(`${app.url}${team.path}/library`, bytes, { token: team.member.token });
    expect([status, body.error]).toEqual([400, UNSUPPORTED]);
    await expectNoTrace(app, team.id);
  });

  test('a connection can be reused after a rejected file, however much of it was unread', async () => {
    const team = await addTeam(app);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const size of [100, 100_000, 700_000, 3_000_000]) {
      const whole = multipart(filePart({ bytes: Buffer.concat([Buffer.from(html), Buffer.alloc(size)]) }));
      const options = { token: team.member.token, agent, length: whole.length };
      const refused = await send(`${app.url}${team.path}/library`, [whole], options);
      expect(refused.status).toBe(400);
    }
    const next = await send(`${app.url}${team.path}/library`, [multipart(filePart({ bytes: PDF }))], {
      token: team.member.token,
      agent,
    });
    expect(next.status).toBe(200);
    agent.destroy();
  });
});
