import { z } from 'zod';
import { id, MAX_NAME_LENGTH, requiredText, unixSeconds } from '../../../core/validation.ts';
import { credentialsShape, providerKinds } from '../adapters/index.ts';

export const MeetingConnection = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    provider: z.enum(providerKinds),
    ingest_url: z
      .string()
      .describe('What the provider is to post its callbacks to')
      .meta({ example: 'https://lynxroom.example.com/api/ingest/q0cXyXvG8mZb3nB7tV1sLw4kPdRfJh2E' }),
    created_by: id.nullable().describe('User ID of the creator; null if that user was deleted'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    last_event_at: unixSeconds.nullable().describe('When the last callback came that was new; null before the first'),
  })
  .meta({ id: 'MeetingConnection', description: 'Where a meeting provider tells what happens in rooms' });
export type MeetingConnection = z.infer<typeof MeetingConnection>;

/** A connection as its creation and the rotation of its credentials answer it. */
export const MeetingConnectionWithSecret = MeetingConnection.extend({
  secret: z
    .string()
    .nullable()
    .describe('generic: signs the callbacks; keep it, it cannot be read again. null for other providers')
    .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=' }),
}).meta({ id: 'MeetingConnectionWithSecret' });
export type MeetingConnectionWithSecret = z.infer<typeof MeetingConnectionWithSecret>;

// Which fields it must have depends on the provider, which is looked at together with them.
const credentials = z
  .record(z.string(), z.unknown())
  .describe('What the provider signs with. Required for vonage and livekit; never sent for generic')
  .meta({ anyOf: [jsonSchemaOf('vonage'), jsonSchemaOf('livekit')] });

export const CreateConnectionInput = z.object({
  name: requiredText(MAX_NAME_LENGTH, 'Name is required')
    .describe(`At most ${MAX_NAME_LENGTH} characters`)
    .meta({ example: 'Video in production' }),
  provider: z.enum(providerKinds).describe('Who posts the callbacks; generic: anyone who signs as we document it'),
  credentials: credentials.optional(),
});
export type CreateConnectionInput = z.infer<typeof CreateConnectionInput>;

export const ConnectionInput = z.object({ connectionId: id.describe('Connection ID') });
export type ConnectionInput = z.infer<typeof ConnectionInput>;

export const RotateConnectionInput = ConnectionInput.extend({ credentials: credentials.optional() });
export type RotateConnectionInput = z.infer<typeof RotateConnectionInput>;

export const ConnectionsAnswer = z.object({ connections: z.array(MeetingConnection) });
export const ConnectionWithSecretAnswer = z.object({ connection: MeetingConnectionWithSecret });

function jsonSchemaOf(provider: 'vonage' | 'livekit') {
  const { type, required, properties } = z.toJSONSchema(credentialsShape[provider], { io: 'input' });
  return { title: provider, type, required, properties };
}

export const CallbackParams = z.object({
  connectionId: z.string().describe('The last part of the `ingest_url` of a connection'),
});
