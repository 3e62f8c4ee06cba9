/** An authenticator of WebAuthn in software, so that passkeys can be tested without a browser. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a response is made with. The defaults are those of a browser that has the passkey of a user. */
export type Overrides = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  /** Whether the person was verified, by a PIN or a fingerprint. */
  isUserVerified?: boolean;
  counter?: number;
  userHandle?: string | null;
  /** The attestation statement. */
  attestation?: { fmt: string; attStmt: Cbor };
};

export type Authenticator = {
  credentialId: string;
  /** The answer of `navigator.credentials.create`. */
  create(options: { challenge: string; rp: { id: string }; user: { id: string } }, overrides?: Overrides): Created;
  /** The answer of `navigator.credentials.get`. */
  get(options: { challenge: string; rpId: string }, overrides?: Overrides): Asserted;
};

type Credential<Response> = { id: string; rawId: string; type: 'public-key'; response: Response };
export type Created = Credential<{ clientDataJSON: string; attestationObject: string; transports: string[] }>;
export type Asserted = Credential<{
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
  userHandle?: string | null;
}>;

/** A value of CBOR. Maps are arrays of entries, in their order. */
export type Cbor = number | string | Uint8Array | readonly (readonly [number | string, Cbor])[];

type Options = {
  algorithm?: 'ES256' | 'Ed25519';
  /** Whether it counts its signatures. Passkeys that are synchronized do not. */
  hasCounter?: boolean;
  /** The 32 bytes of an Ed25519 key and of the credential ID, for an authenticator that is the same each time. */
  seed?: Uint8Array;
};

const FLAGS = { userPresent: 1, userVerified: 4, backupEligible: 8, backedUp: 16, attested: 64 };
/** The bytes before a seed in the PKCS #8 form of an Ed25519 key (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creates an authenticator with one passkey. `origin` is that of the page. */
export function createAuthenticator(origin: string, options: Options = {}): Authenticator {
  const { algorithm = 'Ed25519', hasCounter = false, seed } = options;
  const id = Buffer.from(seed ?? randomBytes(32));
  const credentialId = id.toString('base64url');
  const privateKey = createKey(algorithm, seed);
  let counter = 0;
  let knownHandle: string | null = null;

  const clientDataOf = (type: string, challenge: string, overrides: Overrides): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: overrides.type ?? type,
        challenge: overrides.challenge ?? challenge,
        origin: overrides.origin ?? origin,
        crossOrigin: false,
      }),
    );

  const authenticatorDataOf = (rpId: string, attested: Buffer | null, overrides: Overrides): Buffer => {
    if (hasCounter) counter += 1;
    const backup = hasCounter ? 0 : FLAGS.backupEligible | FLAGS.backedUp;
    const verified = (overrides.isUserVerified ?? true) ? FLAGS.userVerified : 0;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(overrides.counter ?? counter);
    return Buffer.concat([
      sha256(Buffer.from(overrides.rpId ?? rpId)),
      Buffer.of(FLAGS.userPresent | verified | backup | (attested ? FLAGS.attested : 0)),
      count,
      attested ?? Buffer.alloc(0),
    ]);
  };

  return {
    credentialId,
    create({ challenge, rp, user }, overrides = {}) {
      knownHandle = user.id;
      const clientData = clientDataOf('webauthn.create', challenge, overrides);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, encode(toCose(privateKey, algorithm))]);
      const { fmt, attStmt } = overrides.attestation ?? { fmt: 'none', attStmt: [] };
      const attestationObject = encode([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authenticatorDataOf(rp.id, attested, overrides)],
      ]);
      return {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientData.toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    get({ challenge, rpId }, overrides = {}) {
      const clientData = clientDataOf('webauthn.get', challenge, overrides);
      const authenticatorData = authenticatorDataOf(rpId, null, overrides);
      const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
      const userHandle = overrides.userHandle === undefined ? knownHandle : overrides.userHandle;
      return {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: sign(algorithm === 'ES256' ? 'sha256' : null, signed, privateKey).toString('base64url'),
          ...(userHandle !== null && { userHandle }),
        },
      };
    },
  };
}

function createKey(algorithm: 'ES256' | 'Ed25519', seed: Uint8Array | undefined): KeyObject {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const key = Buffer.concat([ED25519_PREFIX, seed ?? randomBytes(32)]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

/** The public key in the form of COSE (RFC 9053, sections 7.1 and 7.2). */
function toCose(privateKey: KeyObject, algorithm: 'ES256' | 'Ed25519'): Cbor {
  const { x = '', y = '' } = privateKey.export({ format: 'jwk' });
  const decode = (text: string): Buffer => Buffer.from(text, 'base64url');
  if (algorithm === 'ES256')
    return [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, decode(x)],
      [-3, decode(y)],
    ];
  return [
    [1, 1],
    [3, -8],
    [-1, 6],
    [-2, decode(x)],
  ];
}

/** Encodes a value as CBOR (RFC 8949). */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.length), ...value.flatMap(([key, entry]) => [encode(key), encode(entry)])]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 255);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
