/** Encryption of secrets that are stored in the database: AES-256-GCM with a key that is stored elsewhere. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export type SealPurpose =
  | 'webhook secret'
  | 'meeting credentials'
  | 'recording link'
  | 'participant token'
  | 'stored answer'
  | 'audit chain'
  | 'mail';

/** What a sealed text belongs to. It can be opened only with the same context, so copying it elsewhere is useless. */
export type SealContext =
  | { workspaceId: number; purpose: SealPurpose }
  /** For what belongs to a caller instead of a workspace. */
  | { owner: string; purpose: SealPurpose };

export type Sealer = {
  /** Returns the nonce, the ciphertext and the tag, in this order. The result differs each time. */
  seal(text: string, context: SealContext): Uint8Array<ArrayBuffer>;
  /** Returns the original text. Throws if the key or the context differ, or if any byte was changed. */
  open(sealed: Uint8Array, context: SealContext): string;
  /** Returns a hash that only holders of the key can compute, so that short texts cannot be guessed from it. */
  fingerprint(text: string): Uint8Array<ArrayBuffer>;
};

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 random bits (NIST SP 800-38D, section 8.2.2) allow 2^32 texts per key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Creates a random key. */
export function createEncryptionKey(): Uint8Array {
  return new Uint8Array(randomBytes(KEY_BYTES));
}

/** Reads a base64 key, such as the output of `openssl rand -base64 32`. Returns null for any other text. */
export function readEncryptionKey(text: string): Uint8Array | null {
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text ? new Uint8Array(key) : null;
}

/** Creates a sealer with a 32-byte key. */
export function createSealer(key: Uint8Array): Sealer {
  const hashKey = Buffer.from(hkdfSync('sha256', key, '', 'fingerprint', KEY_BYTES));
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]));
    },

    open(sealed, context) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('The sealed text is too short');
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(context));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error('Failed to open a sealed text: the key or the context differs, or the text was changed', {
          cause,
        });
      }
    },

    fingerprint: (text) => new Uint8Array(createHmac('sha256', hashKey).update(text).digest()),
  };
}

/** Encoded as a JSON array, so that different contexts never result in the same bytes. */
function associatedData(context: SealContext): Buffer {
  const owner = 'owner' in context ? context.owner : context.workspaceId;
  return Buffer.from(JSON.stringify([context.purpose, owner]));
}
