/** Makes long videos from a short sample, without an encoder, by repeating its frames. */

type Box = { type: string; body: Buffer };

const HEADER_BYTES = 8;

const CONTAINERS = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts'];

/**
 * Returns an MP4 that plays the video `sample` as many times as `times` says. The video must have the structure of
 * examples/sample.mp4: one track, with all frames in one chunk, of which only the first is a key frame. The frames are
 * stored once, so an hour takes about 75 kB.
 */
export function loopMp4(sample: Buffer, times: number): Buffer {
  const boxes = readBoxes(sample);
  const findBody = (type: string): Buffer => {
    const box = boxes.find((candidate) => candidate.type === type);
    if (!box) throw new Error(`The sample has no ${type} box`);
    return box.body;
  };
  const fileType = writeBox({ type: 'ftyp', body: findBody('ftyp') });
  const media = writeBox({ type: 'mdat', body: findBody('mdat') });
  const movie = readBoxes(findBody('moov'));
  // The only entry of stsc contains the number of frames in the chunk (the standard calls them samples).
  const stsc = sample.indexOf('stsc');
  const samples = sample.readUInt32BE(stsc + 4 + 8 + 4);
  const looped = loopBoxes(movie, times, fileType.length + HEADER_BYTES, samples);
  return Buffer.concat([fileType, media, writeBox({ type: 'moov', body: writeBoxes(looped) })]);
}

function readBoxes(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const size = bytes.readUInt32BE(offset);
    const type = bytes.toString('latin1', offset + 4, offset + HEADER_BYTES);
    boxes.push({ type, body: bytes.subarray(offset + HEADER_BYTES, offset + size) });
    offset += size;
  }
  return boxes;
}

function writeBox({ type, body }: Box): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(HEADER_BYTES + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

function writeBoxes(boxes: readonly Box[]): Buffer {
  return Buffer.concat(boxes.map(writeBox));
}

function loopBoxes(boxes: readonly Box[], times: number, mediaOffset: number, samples: number): Box[] {
  return boxes.map((box) =>
    CONTAINERS.includes(box.type)
      ? { type: box.type, body: writeBoxes(loopBoxes(readBoxes(box.body), times, mediaOffset, samples)) }
      : { type: box.type, body: loopBox(box, times, mediaOffset, samples) },
  );
}

/** Multiplies the duration, or repeats the table, in the body of a box (version 0, ISO/IEC 14496-12). */
function loopBox({ type, body }: Box, times: number, mediaOffset: number, samples: number): Buffer {
  switch (type) {
    case 'mvhd':
      return multiply(body, 16, times);
    case 'tkhd':
      return multiply(body, 20, times);
    case 'mdhd':
      return multiply(body, 16, times);
    case 'elst':
      return multiply(body, 8, times);
    case 'stts':
    case 'ctts':
      return repeatTable(body, 8, times);
    case 'stsz':
      return repeatTable(body, 4, times, 12);
    case 'stss':
      return Buffer.concat([
        uint32s([0, times]),
        uint32s(Array.from({ length: times }, (_, index) => index * samples + 1)),
      ]);
    // Every chunk is at the same position in the file.
    case 'stco':
      return Buffer.concat([uint32s([0, times]), uint32s(Array.from({ length: times }, () => mediaOffset))]);
    default:
      return body;
  }
}

/** Multiplies the 32-bit number at `offset`. */
function multiply(body: Buffer, offset: number, times: number): Buffer {
  const changed = Buffer.from(body);
  changed.writeUInt32BE(changed.readUInt32BE(offset) * times, offset);
  return changed;
}

/** Repeats the entries of a table. They follow a head of `headBytes`, which ends with the number of entries. */
function repeatTable(body: Buffer, entryBytes: number, times: number, headBytes = 8): Buffer {
  const head = Buffer.from(body.subarray(0, headBytes));
  const entries = body.subarray(headBytes);
  head.writeUInt32BE((entries.length / entryBytes) * times, headBytes - 4);
  return Buffer.concat([head, ...Array.from({ length: times }, () => entries)]);
}

function uint32s(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
