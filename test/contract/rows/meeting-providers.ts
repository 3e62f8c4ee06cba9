import { DAY_MS } from '../../../src/core/time.ts';
import { bodyOf, genericEvent, signGeneric } from '../../meeting-providers/adapters/callbacks.ts';
import { inWorkspace, type Refusal, type Rows, wrongNames, wrongPages } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Content, Input } from '../transports.ts';

const livekit = { api_key: 'APIabc', api_secret: 'a secret of LiveKit' };

const wrongCredentials: readonly Refusal[] = [
  { input: { credentials: 'secret' }, message: 'credentials must be an object', path: 'credentials' },
  { input: { credentials: [] }, message: 'credentials must be an object', path: 'credentials' },
  { input: { credentials: undefined }, message: 'credentials is required', path: 'credentials' },
  {
    input: { credentials: { api_key: 'APIabc' } },
    message: 'credentials.api_secret is required',
    path: 'credentials.api_secret',
  },
  {
    input: { credentials: { ...livekit, api_secret: 'short' } },
    message: 'credentials.api_secret must have at least 8 characters',
    path: 'credentials.api_secret',
  },
  {
    input: { credentials: { ...livekit, api_key: 5 } },
    message: 'credentials.api_key must be a string',
    path: 'credentials.api_key',
  },
];

export const meetingProviderRows: Rows = {
  'connections.list': {
    who: 'owner',
    keys: true,
    input: inWorkspace,
    writes: false,
    wrong: wrongPages,
    random: ['ingest_url'],
  },
  'connections.create': {
    who: 'owner',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), name: 'Video', provider: 'livekit', credentials: livekit }),
    writes: true,
    random: ['ingest_url'],
    wrong: [
      ...wrongNames,
      { input: { name: 'x'.repeat(101) }, message: 'name must have at most 100 characters', path: 'name' },
      {
        input: { name: 'a\u0000' },
        message: 'name must not contain control characters or invalid Unicode',
        path: 'name',
      },
      { input: { provider: undefined }, message: 'provider is required', path: 'provider' },
      ...['zoom', 5, null].map((provider) => ({
        input: { provider },
        message: 'provider must be one of vonage, livekit, generic',
        path: 'provider',
      })),
      ...wrongCredentials,
      {
        input: { provider: 'generic' },
        message: 'credentials must be omitted for the generic provider: the service creates the secret',
        path: 'credentials',
      },
      {
        input: { provider: 'vonage' },
        message: 'credentials.signature_secret is required',
        path: 'credentials.signature_secret',
      },
    ],
  },
  'connections.rotate': {
    who: 'owner',
    keys: false,
    input: (scene) => ({ ...connection(scene), credentials: { ...livekit, api_secret: 'another secret' } }),
    writes: true,
    random: ['ingest_url'],
    children: { connectionId: 'Connection not found' },
    wrong: wrongCredentials,
  },
  'connections.listUnmatched': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...connection(scene), limit: 10, offset: 0 }),
    writes: false,
    children: { connectionId: 'Connection not found' },
    wrong: wrongPages,
  },
  'connections.delete': {
    who: 'owner',
    keys: false,
    input: connection,
    writes: true,
    children: { connectionId: 'Connection not found' },
  },
  'ingest.callback': {
    who: 'provider',
    keys: false,
    unauthorized: 'webhook-id, webhook-timestamp and webhook-signature are required',
    input: ({ provider }) => ({ connectionId: provider.ingestId }),
    content: (scene) => sign(scene, callback(scene)),
    writes: true,
    cases: {
      'a signature and a session, which counts for nothing': {
        call: ({ outsider }) => ({ token: outsider.token }),
        status: 200,
      },
      'the signature of another connection': {
        call: (scene) => ({ content: sign({ ...scene, provider: scene.foreign.provider }, callback(scene)) }),
        status: 401,
        message: 'The signature is not valid',
      },
      'the signature of another body': {
        call: (scene) => ({ content: { ...sign(scene, callback(scene)), body: '{}' } }),
        status: 401,
        message: 'The signature is not valid',
      },
      'a signature of yesterday': {
        call: (scene) => ({
          content: sign(scene, callback(scene), new Date(scene.app.clock.now().getTime() - DAY_MS)),
        }),
        status: 401,
        message: 'webhook-timestamp must be within 5 minutes of now',
      },
      'a signature for the connection of another workspace': {
        call: ({ foreign }) => ({ input: { connectionId: foreign.provider.ingestId } }),
        status: 401,
        message: 'The signature is not valid',
      },
      'a signature for an unknown connection': {
        call: () => ({ input: { connectionId: 'A'.repeat(32) } }),
        status: 404,
        message: 'Connection not found',
      },
      'no signature, for an unknown connection': {
        call: () => ({ input: { connectionId: 'x' }, content: {} }),
        status: 404,
        message: 'Connection not found',
      },
    },
  },
};

function connection(scene: Scene): Input {
  return { ...inWorkspace(scene), connectionId: scene.connectionId };
}

/** A participant joins the room of the scene. */
function callback({ roomName }: Scene): Buffer {
  return bodyOf(genericEvent('participant.joined', { name: 'Grace' }, { room: roomName }));
}

function sign({ app, provider }: Scene, body: Buffer, at = app.clock.now()): Content {
  return { body: new Uint8Array(body), headers: signGeneric(body, provider.secret, { at }) };
}
