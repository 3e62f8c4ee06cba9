/** Texts that the database must hold but not tell: AES-256-GCM under a key that is kept elsewhere. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export type SealPurpose = 'webhook secret' | 'meeting credentials' | 'recording link';

/** What a sealed text belongs to. It opens only under the same context: moved elsewhere it is worthless. */
export type SealContext = { workspaceId: number; purpose: SealPurpose };

export type Sealer = {
  /** Nonce, ciphertext and tag, in this order. The same text is sealed differently each time. */
  seal(text: string, context: SealContext): Uint8Array<ArrayBuffer>;
  /** The text again. Throws for another key, another context, and for bytes that were changed in any way. */
  open(sealed: Uint8Array, context: SealContext): string;
};

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 random bits, as NIST SP 800-38D, section 8.2.2 has it: good for 2^32 texts under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A new key. */
export function createEncryptionKey(): Uint8Array {
  return new Uint8Array(randomBytes(KEY_BYTES));
}

/** Reads a key from its base64, as `openssl rand -base64 32` prints it; null for any other text. */
export function readEncryptionKey(text: string): Uint8Array | null {
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text ? new Uint8Array(key) : null;
}

/** Seals under a key of 32 bytes. */
export function createSealer(key: Uint8Array): Sealer {
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]));
    },

    open(sealed, context) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('A sealed text is too short');
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(context));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error('A sealed text does not open: another key, another context or changed bytes', { cause });
      }
    },
  };
}

/** A JSON array is unambiguous: no value can spill into its neighbour. */
function associatedData({ purpose, workspaceId }: SealContext): Buffer {
  return Buffer.from(JSON.stringify([purpose, workspaceId]));
}
