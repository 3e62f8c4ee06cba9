/** The keys with which messages are signed, one for each secret of a webhook. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Sealer } from '../core/sealing.ts';

export type SigningKey = {
  /** The whole text of the secret. */
  text: KeyObject;
  /** The bytes that the secret encodes in base64. */
  bytes: KeyObject;
};

/** Returns the key of a sealed secret. Throws if it cannot be opened. */
export type OpenSigningKey = (workspaceId: number, sealed: Uint8Array) => SigningKey;

const SECRET_PREFIX = /^whsec_/;
const MAX_OPENED = 1_000;

export function createSigningKey(secret: string): SigningKey {
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(secret.replace(SECRET_PREFIX, ''), 'base64'),
  };
}

/**
 * Returns a function that opens sealed secrets, and caches the keys of the last MAX_OPENED. Every message of a webhook
 * needs the same key, and creating it costs more than signing the message.
 */
export function createKeyRing(sealer: Pick<Sealer, 'open'>): OpenSigningKey {
  const opened = new Map<string, SigningKey>();
  return (workspaceId, sealed) => {
    const id = `${workspaceId}:${Buffer.from(sealed).toString('latin1')}`;
    const known = opened.get(id);
    if (known !== undefined) return known;
    const key = createSigningKey(sealer.open(sealed, { workspaceId, purpose: 'webhook secret' }));
    const [oldest] = opened.keys();
    if (opened.size === MAX_OPENED && oldest !== undefined) opened.delete(oldest);
    opened.set(id, key);
    return key;
  };
}
