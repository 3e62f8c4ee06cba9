/** Encryption of secrets that are stored in the database: AES-256-GCM with a key that is stored elsewhere. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export type SealPurpose =
  | 'webhook secret'
  | 'meeting credentials'
  | 'recording link'
  | 'participant token'
  | 'booking token'
  | 'invite link'
  | 'stored answer'
  | 'audit chain'
  | 'mail'
  | 'second factor';

/**
 * The owner of a sealed value. A value opens only with the context that it was sealed with, so copying it to another
 * row is useless.
 */
export type SealContext =
  | { workspaceId: number; purpose: SealPurpose }
  /** For values that belong to a caller instead of a workspace. */
  | { owner: string; purpose: SealPurpose };

export type Sealer = {
  /** The ids of the keys, newest first. Only the newest key seals values. Every key can open them. */
  keyIds: readonly string[];
  /** Returns the header, the nonce, the ciphertext and the tag, in this order. Each call returns a different result. */
  seal(text: string, context: SealContext): Uint8Array<ArrayBuffer>;
  /**
   * Returns the original text. Throws if the sealer does not have the key, the context differs, or any byte was
   * changed. The error names the purpose and the key.
   */
  open(sealed: Uint8Array, context: SealContext): string;
  /**
   * Returns a hash that can be computed only with the newest key, so that nobody without the key can guess short values
   * from it.
   */
  fingerprint(text: string): Uint8Array<ArrayBuffer>;
  /** Whether `fingerprint` was computed from the text with any of the keys. */
  hasFingerprint(text: string, fingerprint: Uint8Array): boolean;
};

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 random bits (NIST SP 800-38D, section 8.2.2) allow 2^32 values per key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FINGERPRINT_BYTES = 32;

/**
 * A sealed value begins with these bytes and the ID of its key. Version 0.2 wrote neither: its values begin with a
 * random nonce.
 */
export const SEAL_MARK = Buffer.from('LxS1', 'latin1');
const KEY_ID_BYTES = 4;
export const HEADER_BYTES = SEAL_MARK.length + KEY_ID_BYTES;

/** Creating a cipher from a `KeyObject` is three times as fast as creating it from the bytes of the key. */
type Key = { id: string; header: Buffer; cipherKey: KeyObject; hashKey: KeyObject };

/** Creates a random key. */
export function createEncryptionKey(): Uint8Array {
  return new Uint8Array(randomBytes(KEY_BYTES));
}

/** Reads a base64 key, such as the output of `openssl rand -base64 32`. Returns null for any other string. */
export function readEncryptionKey(text: string): Uint8Array | null {
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text ? new Uint8Array(key) : null;
}

/** Creates a sealer with one or more 32-byte keys, newest first. */
export function createSealer(newest: Uint8Array, ...previous: readonly Uint8Array[]): Sealer {
  const current = toKey(newest);
  const keys = [current, ...previous.map(toKey)];
  return {
    keyIds: [...new Set(keys.map(({ id }) => id))],

    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.cipherKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([current.header, nonce, ciphertext, cipher.getAuthTag()]));
    },

    open(sealed, context) {
      const id = keyIdOf(sealed);
      const key = keys.find((one) => one.id === id);
      const text = key && decrypt(key, sealed.subarray(HEADER_BYTES), context);
      // The random nonce of a value without a header looks like a header one time in 2^32.
      const opened = text ?? firstOf(keys, (one) => decrypt(one, sealed, context));
      if (opened === null) throw new Error(describeFailure(context, id, key !== undefined));
      return opened;
    },

    fingerprint: (text) => fingerprintWith(current, text),
    hasFingerprint: (text, fingerprint) =>
      fingerprint.length === FINGERPRINT_BYTES &&
      keys.some((key) => timingSafeEqual(fingerprintWith(key, text), fingerprint)),
  };
}

/** Returns the ID of the key that sealed a value, or null if the value names no key. */
export function keyIdOf(sealed: Uint8Array): string | null {
  const header = Buffer.from(sealed.subarray(0, HEADER_BYTES));
  return header.length === HEADER_BYTES && header.subarray(0, SEAL_MARK.length).equals(SEAL_MARK)
    ? header.subarray(SEAL_MARK.length).toString('hex')
    : null;
}

/** Returns the first bytes of all values that the key has sealed. */
export function sealHeaderOf(keyId: string): Buffer {
  return Buffer.concat([SEAL_MARK, Buffer.from(keyId, 'hex')]);
}

function toKey(bytes: Uint8Array): Key {
  const derive = (purpose: string, length: number) => Buffer.from(hkdfSync('sha256', bytes, '', purpose, length));
  const id = derive('key id', KEY_ID_BYTES).toString('hex');
  const hashKey = createSecretKey(derive('fingerprint', KEY_BYTES));
  return { id, header: sealHeaderOf(id), cipherKey: createSecretKey(bytes), hashKey };
}

/** Returns null if the key or the context differs, or if any byte was changed. */
function decrypt({ cipherKey }: Key, sealed: Uint8Array, context: SealContext): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, cipherKey, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(context));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

function describeFailure({ purpose }: SealContext, id: string | null, isKnown: boolean): string {
  const what = `Failed to open a sealed value (${purpose})`;
  if (id !== null && !isKnown)
    return `${what}: it is sealed with the key ${id}, which is in neither ENCRYPTION_KEY nor ENCRYPTION_KEY_PREVIOUS`;
  const reason = 'the context differs or the value was changed';
  return id === null ? `${what}: no key opens it, or ${reason}` : `${what} with the key ${id}: ${reason}`;
}

function fingerprintWith({ hashKey }: Key, text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', hashKey).update(text).digest());
}

/** Encoded as a JSON array, so that different contexts never result in the same bytes. */
function associatedData(context: SealContext): Buffer {
  const owner = 'owner' in context ? context.owner : context.workspaceId;
  return Buffer.from(JSON.stringify([context.purpose, owner]));
}
