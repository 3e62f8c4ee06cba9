import { z } from 'zod';
import { cursor, nextCursor } from '../../../core/list-page.ts';
import { requestedId } from '../../../core/requested-id.ts';
import {
  id,
  integerBetween,
  integerFrom,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  unixSeconds,
} from '../../../core/validation.ts';
import { credentialsSchemas, providerKinds } from '../adapters/index.ts';
import { eventKinds } from '../adapters/provider-event.ts';

export const MeetingConnection = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    provider: z.enum(providerKinds),
    ingest_url: z
      .string()
      .describe('The URL that the provider posts its callbacks to')
      .meta({ example: 'https://lynxroom.example.com/api/ingest/q0cXyXvG8mZb3nB7tV1sLw4kPdRfJh2E' }),
    media_url: z
      .string()
      .nullable()
      .describe(
        'Origin of the LiveKit server that carries the media of the workspace; null if the provider only reports',
      )
      .meta({ example: 'https://livekit.example.com' }),
    created_by: id.nullable().describe('User ID of the creator; null if that user was deleted'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    last_event_at: unixSeconds
      .nullable()
      .describe('When the last new callback arrived, Unix timestamp in seconds; null before the first'),
  })
  .meta({
    id: 'MeetingConnection',
    description: 'A connection that a meeting provider uses to report events in rooms',
  });
export type MeetingConnection = z.infer<typeof MeetingConnection>;

/** The response to creating a connection, and to rotating its credentials. */
export const MeetingConnectionWithSecret = MeetingConnection.extend({
  secret: z
    .string()
    .nullable()
    .describe(
      'For the `generic` provider, the secret that signs the callbacks. It cannot be read again. null for other ' +
        'providers',
    )
    .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=' }),
}).meta({ id: 'MeetingConnectionWithSecret' });
export type MeetingConnectionWithSecret = z.infer<typeof MeetingConnectionWithSecret>;

// The required fields depend on the provider, so `readNewCredentials` checks them.
const credentials = z
  .record(z.string(), z.unknown())
  .describe(
    'The credentials that the provider signs with. Required for vonage and livekit; must be omitted for generic',
  )
  .meta({ anyOf: [jsonSchemaOf('vonage', 'VonageCredentials'), jsonSchemaOf('livekit', 'LiveKitCredentials')] });

export const CreateConnectionInput = z
  .object({
    name: requiredText(MAX_NAME_LENGTH, 'Name is required')
      .describe(`At most ${MAX_NAME_LENGTH} characters`)
      .meta({ example: 'Video in production' }),
    provider: z
      .enum(providerKinds)
      .describe(
        'The provider that posts the callbacks; generic stands for any other provider that signs as documented',
      ),
    credentials: optional(credentials),
  })
  .meta({ id: 'CreateMeetingConnectionRequest' });
export type CreateConnectionInput = z.infer<typeof CreateConnectionInput>;

export const ConnectionInput = z.object({ connectionId: requestedId.describe('Connection ID') });
export type ConnectionInput = z.infer<typeof ConnectionInput>;

export const RotateConnectionInput = ConnectionInput.extend({ credentials: optional(credentials) }).meta({
  id: 'RotateMeetingConnectionRequest',
});
export type RotateConnectionInput = z.infer<typeof RotateConnectionInput>;

export const ConnectionsAnswer = z
  .object({ connections: z.array(MeetingConnection), next_cursor: nextCursor })
  .meta({ id: 'MeetingConnectionList' });
export const ConnectionWithSecretAnswer = z
  .object({ connection: MeetingConnectionWithSecret })
  .meta({ id: 'MeetingConnectionWithSecretResponse' });

export const unmatchedReasons = ['unknown_room', 'unknown_participant'] as const;
export type UnmatchedReason = (typeof unmatchedReasons)[number];

export const UnmatchedCallback = z
  .object({
    id: integerFrom(1),
    event: z.enum(eventKinds).describe('An event type of the generic provider, or `meeting.ended`'),
    room: z.string().nullable().describe('The room name that the provider sent; null for vonage'),
    session_id: z.string().nullable().describe('The session ID that vonage sent; null for other providers'),
    participant_id: z.string().nullable().describe("The provider's ID for the participant"),
    archive_id: z.string().nullable().describe("The provider's ID for the recording"),
    reason: z
      .enum(unmatchedReasons)
      .describe(
        '`unknown_room`: no room of the workspace has this name or session. `unknown_participant`: the participant ' +
          'left without having joined; the entry disappears if the join arrives later',
      ),
    occurred_at: unixSeconds.describe('When the event happened, Unix timestamp in seconds'),
    received_at: unixSeconds.describe('When the callback was applied, Unix timestamp in seconds'),
  })
  .meta({ id: 'UnmatchedCallback', description: 'An event that matched no room or participant' });
export type UnmatchedCallback = z.infer<typeof UnmatchedCallback>;

export const UnmatchedInput = ConnectionInput.extend({
  limit: integerBetween(1, 100).default(50).describe('Maximum number of entries'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('How many entries to skip'),
  cursor,
});
export type UnmatchedInput = z.infer<typeof UnmatchedInput>;

export const UnmatchedAnswer = z
  .object({ unmatched: z.array(UnmatchedCallback), next_cursor: nextCursor })
  .meta({ id: 'UnmatchedCallbackList' });

function jsonSchemaOf(provider: 'vonage' | 'livekit', title: string) {
  const { type, required, properties } = z.toJSONSchema(credentialsSchemas[provider], { io: 'input' });
  return { title, type, required, properties };
}

export const CallbackParams = z.object({
  connectionId: z.string().describe('The last part of the `ingest_url` of a connection'),
});
