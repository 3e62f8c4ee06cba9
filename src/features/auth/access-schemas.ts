import { z } from 'zod';
import { count, id, unixSeconds } from '../../core/validation.ts';

export const accessKinds = [
  'calendar_feed',
  'passkey',
  'identity',
  'api_key',
  'webhook',
  'connection',
  'invite_link',
  'invitation',
  'app',
] as const;
export type AccessKind = (typeof accessKinds)[number];

export const LastingAccess = z
  .object({
    kind: z
      .enum(accessKinds)
      .describe(
        '`identity` is a linked account at an OpenID provider, `connection` one to a meeting provider, and `app` a ' +
          'connected app',
      ),
    id: id.nullable().describe('The ID of the key, webhook and so on; null for a calendar feed and an invite link'),
    workspace_id: id.nullable().describe('null if it belongs to no workspace'),
    workspace_name: z.string().nullable(),
    name: z.string().nullable().describe('The name, or the address of an invited person'),
    created_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null for an invite link'),
    last_used_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null if unknown'),
    ends_on_reset: z
      .boolean()
      .describe(
        'Whether a reset of the password ends it. false for webhooks, connections and keys of a workspace that has ' +
          'other members',
      ),
  })
  .meta({ id: 'LastingAccess', description: 'Something that gives access for longer than a session' });
export type LastingAccess = z.infer<typeof LastingAccess>;

export const AccessList = z
  .object({
    access: z.array(LastingAccess).describe('The newest 200'),
    total: count.describe('How many there are'),
  })
  .meta({ id: 'AccessList' });
export type AccessList = z.infer<typeof AccessList>;

export const EndedAccess = z
  .object({
    ended: count.describe('How much lasting access has ended'),
    remaining: count.describe('How much remains'),
  })
  .meta({ id: 'EndedAccess' });
export type EndedAccess = z.infer<typeof EndedAccess>;

export const ResetPassword = EndedAccess.extend({ ok: z.literal(true) }).meta({ id: 'PasswordResetResponse' });
export type ResetPassword = z.infer<typeof ResetPassword>;
