import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { id, integerBetween, unixSeconds, withDefault } from '../../core/validation.ts';

export const MAX_EMBED_SECONDS = 86_400;
const MIN_EMBED_SECONDS = 60;
const DEFAULT_EMBED_SECONDS = 3_600;

const kind = z
  .enum(['library', 'webhooks'])
  .describe(
    'What the token shows: `library`: lists, reads and downloads items. `webhooks`: lists, creates, changes and ' +
      'tests endpoints, and reads and resends messages',
  );

const access = z.enum(['read', 'upload']).describe('Only for `library`: `read`, or `upload`, which also uploads files');

export const CreateEmbedTokenInput = z
  .object({
    kind,
    label_id: id
      .optional()
      .describe('Only for `library`: only items with this label (label ID). Uploads get the label'),
    access: access.optional().describe('Only for `library`: `read` (default), or `upload`, which also uploads files'),
    expires_in: withDefault(
      integerBetween(MIN_EMBED_SECONDS, MAX_EMBED_SECONDS).describe(
        'For how many seconds the token works, from a minute to a day',
      ),
      DEFAULT_EMBED_SECONDS,
    ),
  })
  .refine((input) => input.kind === 'library' || input.access === undefined, {
    path: ['access'],
    error: 'access is only for the kind library',
  })
  .refine((input) => input.kind === 'library' || input.label_id === undefined, {
    path: ['label_id'],
    error: 'label_id is only for the kind library',
  })
  .meta({ id: 'CreateEmbedTokenRequest' });
export type CreateEmbedTokenInput = z.infer<typeof CreateEmbedTokenInput>;

export const EmbedTokenInput = z.object({ tokenId: requestedId.describe('Embed token ID') });
export type EmbedTokenInput = z.infer<typeof EmbedTokenInput>;

export const EmbedToken = z
  .object({
    id: id.describe('Embed token ID'),
    kind,
    access: access.nullable(),
    label_id: id.nullable().describe('Only items with this label (label ID); null without such a limit'),
    label_name: z.string().nullable().describe('Name of the label'),
    created_by: id.describe('ID of the user who made it, or whose key did'),
    created_by_name: z.string().describe('Display name of that user'),
    created_at: unixSeconds.describe('When it was made, as a Unix timestamp in seconds'),
    expires_at: unixSeconds.describe('When it expires, as a Unix timestamp in seconds'),
  })
  .meta({ id: 'EmbedToken' });
export type EmbedToken = z.infer<typeof EmbedToken>;

export const CreatedEmbedToken = z
  .object({
    embed_token: EmbedToken,
    token: z
      .string()
      .describe('Send it as `Authorization: Bearer`. Only this response contains it. Begins with `lne_`')
      .meta({ example: `lne_${'A'.repeat(43)}` }),
  })
  .meta({ id: 'CreatedEmbedTokenResponse' });
export type CreatedEmbedToken = z.infer<typeof CreatedEmbedToken>;

export const EmbedTokensAnswer = z
  .object({ embed_tokens: z.array(EmbedToken), next_cursor: nextCursor })
  .meta({ id: 'EmbedTokenList' });

export const CurrentEmbedTokenAnswer = z
  .object({
    scope: EmbedToken.pick({ kind: true, access: true, label_id: true }).meta({ id: 'EmbedScope' }).nullable(),
  })
  .meta({ id: 'CurrentEmbedTokenResponse' });
export type CurrentEmbedTokenAnswer = z.infer<typeof CurrentEmbedTokenAnswer>;
