/** A sealer with several keys: the newest seals, all open, and what has no key id still opens. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createEncryptionKey, createSealer, keyIdOf, type SealContext } from '../../src/core/sealing.ts';

const context: SealContext = { workspaceId: 7, purpose: 'webhook secret' };
const [oldKey, newKey] = [createEncryptionKey(), createEncryptionKey()];
const [before, during, after] = [createSealer(oldKey), createSealer(newKey, oldKey), createSealer(newKey)];
const [oldId, newId] = [before.keyIds[0], after.keyIds[0]];

/** Seals as version 0.2 did: without a key id. */
function sealAs02(key: Uint8Array, text: string, nonce = randomBytes(12)): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(Buffer.from(JSON.stringify(['webhook secret', 7])));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

test('the newest key seals, and its id is in what is sealed', () => {
  expect(during.keyIds).toEqual([newId, oldId]);
  expect(keyIdOf(during.seal('a secret', context))).toBe(newId);
  expect(keyIdOf(before.seal('a secret', context))).toBe(oldId);
  expect(newId).toMatch(/^[0-9a-f]{8}$/);
});

test('all keys open', () => {
  for (const sealer of [before, after, during])
    expect(during.open(sealer.seal('a secret', context), context)).toBe('a secret');
});

describe('what was sealed without a key id', () => {
  test('opens with each of the keys', () => {
    for (const key of [oldKey, newKey]) {
      const sealed = sealAs02(key, 'a secret');
      expect(keyIdOf(sealed)).toBeNull();
      expect(during.open(sealed, context)).toBe('a secret');
    }
    expect(() => after.open(sealAs02(oldKey, 'a secret'), context)).toThrow(
      'Failed to open a sealed value (webhook secret): ' +
        'no key opens it, or the context differs or the value was changed',
    );
  });

  test('opens although its nonce looks like the id of a key', () => {
    const header = Buffer.from(during.seal('', context).subarray(0, 8));
    const sealed = sealAs02(oldKey, 'a secret', Buffer.concat([header, randomBytes(4)]));
    expect(keyIdOf(sealed)).toBe(newId);
    expect(during.open(sealed, context)).toBe('a secret');
  });
});

test('a missing key is named, with what cannot be opened', () => {
  expect(() => after.open(before.seal('a secret', context), context)).toThrow(
    `Failed to open a sealed value (webhook secret): it is sealed with the key ${oldId}, ` +
      'which is in neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS',
  );
});

test('fingerprints of earlier keys are recognized', () => {
  const fingerprint = before.fingerprint('a request');
  expect(during.hasFingerprint('a request', fingerprint)).toBe(true);
  expect(during.hasFingerprint('a request', during.fingerprint('a request'))).toBe(true);
  expect(during.hasFingerprint('another', fingerprint)).toBe(false);
  expect(after.hasFingerprint('a request', fingerprint)).toBe(false);
});
