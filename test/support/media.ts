/**
 * Makes a small valid PDF 1.4 with A4 pages that each show `text` (Latin-1) in Helvetica, and an exact cross-reference
 * table (ISO 32000-1, section 7.5).
 */
export function makePdf({ pages = 1, text = 'Hello' }: { pages?: number; text?: string } = {}): Buffer {
  const show = `BT /F1 24 Tf 72 760 Td (${text.replaceAll(/[\\()]/g, '\\$&')}) Tj ET`;
  const firstPage = 5;
  const pageNumbers = Array.from({ length: pages }, (_, index) => firstPage + index);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pageNumbers.map((page) => `${page} 0 R`).join(' ')}] /Count ${pages} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${Buffer.byteLength(show, 'latin1')} >>\nstream\n${show}\nendstream`,
    ...pageNumbers.map(() => {
      const resources = '<< /Font << /F1 3 0 R >> >>';
      return `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources ${resources} >>`;
    }),
  ];

  // One character per byte (written as Latin-1), so that lengths are offsets. The comment marks the file as binary.
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const xref = file.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}

export type Mp4Options = {
  durationSeconds: number;
  /** The position of the movie box: before the media data (streamable) or after it (cameras, screen recorders). */
  moov: 'front' | 'back';
  /** The version of the movie header: 0 has 32-bit times, 1 has 64-bit times. */
  version?: 0 | 1;
  /** Units per second. */
  timescale?: number;
  /** The length of the media data, which is all zeros and cannot be played. */
  mdatBytes?: number;
};

/** Makes a structurally valid MP4 without tracks: `ftyp`, `moov` with a complete `mvhd`, `mdat` (ISO/IEC 14496-12). */
export function makeMp4({ durationSeconds, moov, version = 0, timescale = 1000, mdatBytes = 64 }: Mp4Options): Buffer {
  const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1'));
  const movie = box(
    'moov',
    makeMvhd({ version, timescale, duration: BigInt(Math.round(durationSeconds * timescale)) }),
  );
  const mdat = box('mdat', Buffer.alloc(mdatBytes));
  return Buffer.concat(moov === 'front' ? [ftyp, movie, mdat] : [ftyp, mdat, movie]);
}

/** Makes a complete movie header box (section 8.2.2). `duration` is in units of 1/`timescale` seconds. */
export function makeMvhd({
  version,
  timescale,
  duration,
}: {
  version: 0 | 1;
  timescale: number;
  duration: bigint;
}): Buffer {
  return box(
    'mvhd',
    uint32(version << 24),
    time(version, 0n),
    time(version, 0n),
    uint32(timescale),
    time(version, duration),
    mvhdTail(),
  );
}

/** Makes a box with a 32-bit size. */
export function box(type: string, ...body: Buffer[]): Buffer {
  const content = Buffer.concat(body);
  return Buffer.concat([uint32(8 + content.length), Buffer.from(type, 'latin1'), content]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

/** A time or duration field: 4 bytes in version 0 of a box, 8 in version 1. */
function time(version: 0 | 1, value: bigint): Buffer {
  return version === 1 ? uint64(value) : uint32(Number(value));
}

/** The fields after the duration: rate 1.0, volume 1.0, reserved, unity matrix, pre_defined, next_track_ID 1. */
function mvhdTail(): Buffer {
  const tail = Buffer.alloc(80);
  tail.writeUInt32BE(0x0001_0000, 0);
  tail.writeUInt16BE(0x0100, 4);
  tail.writeUInt32BE(0x0001_0000, 16);
  tail.writeUInt32BE(0x0001_0000, 32);
  tail.writeUInt32BE(0x4000_0000, 48);
  tail.writeUInt32BE(1, 76);
  return tail;
}
