/** Sealing: a sealed value reveals nothing, and opens only with the same key and context. */
import { describe, expect, test } from 'vitest';
import { createEncryptionKey, createSealer, readEncryptionKey, type SealContext } from '../../src/core/sealing.ts';

const context: SealContext = { workspaceId: 7, purpose: 'webhook secret' };
const key = createEncryptionKey();
const sealer = createSealer(key);

test.each(['', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'Ключ 🐈', 'x'.repeat(100_000)])(
  'a sealed value can be opened: %.40s',
  (text) => {
    const sealed = sealer.seal(text, context);
    expect(sealed.length).toBe(8 + 12 + Buffer.byteLength(text) + 16);
    expect(sealer.open(sealed, context)).toBe(text);
    expect(createSealer(Uint8Array.from(key)).open(Buffer.from(sealed), context)).toBe(text);
  },
);

test('the same text is sealed differently each time, and never visible', () => {
  const text = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  const sealed = Array.from({ length: 1_000 }, () => Buffer.from(sealer.seal(text, context)));
  expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(1_000);
  expect(new Set(sealed.map((bytes) => bytes.subarray(8, 20).toString('hex'))).size).toBe(1_000);
  for (const bytes of sealed) expect(bytes.includes('whsec_')).toBe(false);
});

describe('a sealed value does not open', () => {
  const sealed = sealer.seal('whsec_secret', context);

  test('with any one bit changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer.open(changed, context), `bit ${bit}`).toThrow('Failed to open');
    }
  });

  test('cut at any length', () => {
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => sealer.open(sealed.subarray(0, length), context), `${length} bytes`).toThrow(
        /too short|Failed to open/,
      );
  });

  test('with bytes after it', () => {
    expect(() => sealer.open(Uint8Array.from([...sealed, 0]), context)).toThrow('Failed to open');
  });

  test('in another workspace', () => {
    for (const workspaceId of [1, 70, 77]) expect(() => sealer.open(sealed, { ...context, workspaceId })).toThrow();
  });

  test('for another purpose', () => {
    // The cast adds a purpose that does not exist.
    const other = { ...context, purpose: 'another' } as unknown as SealContext;
    expect(() => sealer.open(sealed, other)).toThrow('Failed to open');
  });

  test('under another key', () => {
    expect(() => createSealer(createEncryptionKey()).open(sealed, context)).toThrow('Failed to open');
  });

  test('and the error does not reveal it', () => {
    expect.assertions(1);
    try {
      sealer.open(sealed, { ...context, workspaceId: 8 });
    } catch (error) {
      expect(String((error as Error).stack)).not.toMatch(/whsec_secret/);
    }
  });
});

test('a key is exactly 32 bytes in standard base64', () => {
  const text = Buffer.from(key).toString('base64');
  expect(readEncryptionKey(text)).toEqual(key);
  for (const wrong of [
    '',
    'secret',
    text.slice(0, -1),
    `${text}=`,
    `${text}\n`,
    ` ${text}`,
    Buffer.from(key).toString('hex'),
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${'A'.repeat(42)}B=`,
    `${'_'.repeat(42)}A=`,
  ])
    expect(readEncryptionKey(wrong), wrong).toBeNull();
});
