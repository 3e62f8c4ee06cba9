import { z } from 'zod';
import { parseNetwork } from '../../auth/networks.ts';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { scopes } from '../../core/scopes.ts';
import {
  fieldOf,
  flag,
  id,
  integerBetween,
  LAST_SECOND,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  unixSeconds,
  withDefault,
} from '../../core/validation.ts';

/** The longest time for which the previous key works after a rotation. */
const MAX_OVERLAP_HOURS = 30 * 24;
const DEFAULT_OVERLAP_HOURS = 24;
const MAX_NETWORKS = 50;

const owners = ['user', 'workspace'] as const;

const PreviousApiKey = z
  .object({
    key_prefix: z.string().describe('The first 8 characters of the previous key').meta({ example: 'lnx_9aBc' }),
    expires_at: unixSeconds.describe('When the previous key stops working, as a Unix timestamp in seconds'),
    last_used_at: unixSeconds
      .nullable()
      .describe(
        'When the previous key was last used after the rotation, accurate to a minute; null if it was not used',
      ),
    last_used_address: z
      .string()
      .nullable()
      .describe('The network address from which the previous key was last used after the rotation')
      .meta({ example: '203.0.113.7' }),
  })
  .meta({ id: 'PreviousApiKey' });

export const ApiKey = z
  .object({
    id,
    workspace_id: id.describe('The only workspace in which the key works'),
    name: z.string().meta({ example: 'Nightly import' }),
    key_prefix: z.string().describe('The first 8 characters of the key').meta({ example: 'lnx_4fTq' }),
    created_by: id.describe(
      'User ID of the creator. A key of the workspace passes to the workspace owner when its creator leaves',
    ),
    created_by_name: z.string(),
    belongs_to: z
      .enum(owners)
      .describe('user: the key acts for its creator; workspace: it does not act for a person, and has the role admin'),
    scopes: z
      .array(z.string())
      .nullable()
      .describe('The operations that the key allows; null: everything that keys can do'),
    allowed_networks: z
      .array(z.string())
      .nullable()
      .describe('The networks from which the key works, in CIDR notation; null: all'),
    is_active: flag.describe('1: active; 0: calls with the key return 401'),
    expires_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null: the key does not expire'),
    last_used_at: unixSeconds
      .nullable()
      .describe('Unix timestamp in seconds, accurate to a minute; null until the key is used'),
    last_used_address: z
      .string()
      .nullable()
      .describe('The network address from which the key was last used')
      .meta({ example: '203.0.113.7' }),
    created_at: unixSeconds,
    rotated_at: unixSeconds
      .nullable()
      .describe('When the key was last rotated, as a Unix timestamp in seconds; null if never'),
    previous_key: PreviousApiKey.nullable().describe('The key before the last rotation; null if there is none'),
  })
  .meta({ id: 'ApiKey', description: 'An API key. Only the calls that create or rotate the key return `full_key`' });
export type ApiKey = z.infer<typeof ApiKey>;

/** A key with its secret, as returned when it is created or rotated. */
export const CreatedApiKey = ApiKey.extend({
  full_key: z
    .string()
    .describe('The key itself. Store it: it cannot be retrieved later')
    .meta({ example: 'lnx_4fTqZ0...' }),
}).meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

const expiry = integerBetween(0, LAST_SECOND).describe(
  'Unix timestamp in seconds, in the future. Default: the key does not expire',
);

const network = z
  .string()
  .refine((value) => parseNetwork(value) !== null, {
    error: (issue) => `${fieldOf(issue)} must be an IP address, or a network such as 203.0.113.0/24`,
  })
  .check(z.overwrite((value) => parseNetwork(value) ?? value));

export const CreateApiKeyInput = z
  .object({
    name: requiredText(MAX_NAME_LENGTH, 'Name is required')
      .describe('What the key is used for, at most 100 characters')
      .meta({ example: 'Nightly import' }),
    belongs_to: optional(
      z
        .enum(owners)
        .describe(
          'user (default): the key acts for its creator and stops working when the creator leaves. workspace: the ' +
            'key does not act for a person, has the role admin, and keeps working when its creator leaves; the ' +
            'workspace owner is the author of everything that it creates',
        ),
    ),
    scopes: optional(
      z
        .array(z.enum(scopes))
        .min(1)
        .max(scopes.length)
        .check(z.overwrite((list) => [...new Set(list)]))
        .describe(
          '`read`, `write` (includes read) or `admin` (includes write), for all resources or for one ' +
            '(`library:read`). Default: everything that keys can do',
        )
        .meta({ example: ['library:write', 'analytics:read'] }),
    ),
    expires_at: optional(expiry),
    allowed_networks: optional(
      z
        .array(network)
        .min(1)
        .max(MAX_NETWORKS)
        .describe(`At most ${MAX_NETWORKS} addresses or networks in CIDR notation, IPv4 or IPv6. Default: all`)
        .meta({ example: ['203.0.113.0/24', '2001:db8::/48'] }),
    ),
  })
  .meta({ id: 'CreateApiKeyRequest' });
export type CreateApiKeyInput = z.infer<typeof CreateApiKeyInput>;

export const ApiKeyInput = z.object({ keyId: requestedId.describe('API key ID') });
export type ApiKeyInput = z.infer<typeof ApiKeyInput>;

export const RotateApiKeyInput = ApiKeyInput.extend({
  overlap_hours: withDefault(
    integerBetween(0, MAX_OVERLAP_HOURS).describe(
      `For how many hours the previous key keeps working, 0 to ${MAX_OVERLAP_HOURS}. 0: it stops immediately`,
    ),
    DEFAULT_OVERLAP_HOURS,
  ),
  expires_at: optional(
    integerBetween(0, LAST_SECOND).describe(
      'When the new key expires, as a Unix timestamp in seconds. Default: unchanged',
    ),
  ),
}).meta({ id: 'RotateApiKeyRequest' });
export type RotateApiKeyInput = z.infer<typeof RotateApiKeyInput>;

/** Loose, because a body that contains only unknown fields must be rejected instead of inverting the state. */
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
