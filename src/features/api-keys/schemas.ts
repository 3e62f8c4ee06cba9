import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { flag, id, MAX_NAME_LENGTH, optional, requiredText, unixSeconds } from '../../core/validation.ts';

export const ApiKey = z
  .object({
    id,
    workspace_id: id.describe('The only workspace in which the key works'),
    name: z.string().meta({ example: 'Nightly import' }),
    key_prefix: z.string().describe('The first 8 characters of the key').meta({ example: 'lnx_4fTq' }),
    created_by: id.describe('User ID of the creator; the key acts for this user'),
    created_by_name: z.string(),
    is_active: flag.describe('1: active; 0: calls with the key are rejected with 401'),
    last_used_at: unixSeconds.nullable().describe('Unix timestamp in seconds, accurate to a minute; null until used'),
    created_at: unixSeconds,
  })
  .meta({ id: 'ApiKey', description: 'An API key. The key itself is only returned when it is created' });
export type ApiKey = z.infer<typeof ApiKey>;

/** A key as returned when it is created. */
export const CreatedApiKey = ApiKey.extend({
  full_key: z
    .string()
    .describe('The key itself. Store it: it cannot be retrieved again')
    .meta({ example: 'lnx_4fTqZ0...' }),
}).meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const CreateApiKeyInput = z
  .object({
    name: requiredText(MAX_NAME_LENGTH, 'Name is required')
      .describe('What the key is used for, at most 100 characters')
      .meta({ example: 'Nightly import' }),
  })
  .meta({ id: 'CreateApiKeyRequest' });
export type CreateApiKeyInput = z.infer<typeof CreateApiKeyInput>;

export const ApiKeyInput = z.object({ keyId: id.describe('API key ID') });
export type ApiKeyInput = z.infer<typeof ApiKeyInput>;

/**
 * Unknown fields are kept, so that a body with only unknown fields can be rejected instead of inverting the state.
 */
export const ToggleApiKeyInput = ApiKeyInput.extend({
  toggle: optional(z.boolean().describe('true: inverts `is_active`; false: no effect')),
  is_active: optional(z.literal([0, 1, false, true]).describe('The new state. Cannot be combined with `toggle`')),
})
  .loose()
  .refine(({ toggle, is_active }) => toggle === undefined || is_active === undefined, {
    path: ['is_active'],
    error: 'Send either toggle or is_active',
  })
  .refine((input) => hasStateField(input) || Object.keys(input).every((name) => pathFields.includes(name)), {
    path: ['is_active'],
    error: 'Send is_active or toggle, or an empty body',
  })
  .meta({ id: 'ToggleApiKeyRequest' });
export type ToggleApiKeyInput = z.infer<typeof ToggleApiKeyInput>;

const pathFields = ['id', 'keyId'];

function hasStateField({ toggle, is_active }: { toggle?: unknown; is_active?: unknown }): boolean {
  return toggle !== undefined || is_active !== undefined;
}

export const ApiKeysAnswer = z.object({ apiKeys: z.array(ApiKey), next_cursor: nextCursor }).meta({ id: 'ApiKeyList' });
export const ApiKeyAnswer = z.object({ apiKey: ApiKey }).meta({ id: 'ApiKeyResponse' });
export const CreatedApiKeyAnswer = z.object({ apiKey: CreatedApiKey }).meta({ id: 'CreatedApiKeyResponse' });
