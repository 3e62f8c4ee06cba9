import { z } from 'zod';
import { requestedId } from '../../core/requested-id.ts';
import { flag, id, integerFrom, unixSeconds } from '../../core/validation.ts';

/** The maximum size of a signal, in bytes of UTF-8. */
export const MAX_SIGNAL_BYTES = 16_384;

const CONNECTION_ID = /^[A-Za-z0-9_-]{8,64}$/;

/** The ID that a page chooses for itself. */
export const connectionId = z
  .string()
  .regex(CONNECTION_ID, { error: 'connection_id must have 8 to 64 characters of A-Z, a-z, 0-9, _ and -' })
  .describe('Chosen at random by the page, new for each load: 8 to 64 characters of A-Z, a-z, 0-9, _ and -');

export const IceServer = z
  .object({
    urls: z.array(z.string()).describe('URLs that begin with `stun:`, `stuns:`, `turn:` or `turns:`'),
    username: z.string().describe('Only for TURN servers').optional(),
    credential: z.string().describe('Only for TURN servers').optional(),
  })
  .meta({ id: 'IceServer', description: 'An entry of the `iceServers` of an `RTCPeerConnection`' });
export type IceServer = z.infer<typeof IceServer>;

const maxParticipants = integerFrom(1).describe('How many participants can exchange media');

export const Media = z
  .discriminatedUnion('kind', [
    z
      .object({
        kind: z.literal('mesh'),
        ice_servers: z.array(IceServer),
        ice_transport_policy: z
          .enum(['all', 'relay'])
          .describe('`relay`: browsers connect only through TURN servers, so that nobody sees the address of another'),
        max_participants: maxParticipants,
        credentials_expire_at: unixSeconds
          .nullable()
          .describe('When the credentials of the TURN servers expire, Unix timestamp in seconds; null without any'),
      })
      .meta({ id: 'MeshMedia', description: 'Browsers connect to each other' }),
    z
      .object({
        kind: z.literal('livekit'),
        url: z.string().describe('The URL that browsers connect to').meta({ example: 'wss://livekit.example.com' }),
        token: z
          .string()
          .describe(
            'The token for this server. It works in this room only, for 5 to 10 minutes; presence returns the next ' +
              'one. Its identity is the `reference` of the participant, a dot and the ID of the page',
          ),
        token_expires_at: unixSeconds.describe('When the token expires, Unix timestamp in seconds'),
        egress: flag.describe(
          '1 if the server records when the participant starts a recording with `egress: 1`; otherwise 0',
        ),
      })
      .meta({ id: 'LiveKitMedia', description: 'A LiveKit server carries the media' }),
    z
      .object({ kind: z.literal('full'), max_participants: maxParticipants })
      .meta({ id: 'FullMedia', description: 'All places in the meeting are taken; the stream reports a free one' }),
    z
      .object({ kind: z.literal('none') })
      .meta({ id: 'NoMedia', description: 'A meeting provider carries the media, not this service' }),
  ])
  .meta({ id: 'Media', description: 'How the participants of a room exchange sound and pictures' });
export type Media = z.infer<typeof Media>;

export const nullableMedia = Media.nullable().describe('null unless the participant has joined');

/** Another participant, as shown to those who have joined the same room. */
export const Peer = z
  .object({
    id,
    name: z.string(),
    is_host: flag,
    is_member: flag,
    connection_id: z
      .string()
      .nullable()
      .describe('The page that exchanges media for the participant; null if there is none'),
    microphone: flag.describe('1 while their microphone is on'),
    camera: flag.describe('1 while their camera is on'),
    screen: flag.describe('1 while they share their screen'),
    recording: flag.describe('1 while a recording that they started is running'),
  })
  .meta({ id: 'Peer', description: 'Another participant in the room' });
export type Peer = z.infer<typeof Peer>;

export const RunningRecording = z
  .object({
    id,
    participant_id: id.nullable().describe('Who started it; null if the user of the room or a meeting provider did'),
    name: z.string().nullable().describe('The name of this participant'),
    started_at: unixSeconds,
  })
  .meta({ id: 'RunningRecording' });
export type RunningRecording = z.infer<typeof RunningRecording>;

/** A recording that people believed to be made. */
export const FailedRecording = RunningRecording.extend({ failed_at: unixSeconds }).meta({ id: 'FailedRecording' });
export type FailedRecording = z.infer<typeof FailedRecording>;

const signalData = z
  .string({ error: (issue) => (issue.input === undefined ? 'data is required' : 'data must be a string') })
  .refine((data) => Buffer.byteLength(data) <= MAX_SIGNAL_BYTES, {
    error: `data must have at most ${MAX_SIGNAL_BYTES} bytes`,
  })
  .refine((data) => data.isWellFormed() && !data.includes('\u0000'), {
    error: 'data must not contain NUL or invalid Unicode',
  })
  .describe(`Text for the other page, at most ${MAX_SIGNAL_BYTES} bytes of UTF-8. The service does not read it`)
  .meta({ maxLength: MAX_SIGNAL_BYTES });

export const SignalInput = z
  .object({
    connection_id: connectionId,
    to: requestedId.describe('The ID of the other participant'),
    to_connection_id: z
      .string()
      .regex(CONNECTION_ID, { error: 'to_connection_id must have 8 to 64 characters of A-Z, a-z, 0-9, _ and -' })
      .describe('The `connection_id` of their page'),
    data: signalData,
  })
  .meta({ id: 'SignalRequest' });
export type SignalInput = z.infer<typeof SignalInput>;
