import { z } from 'zod';
import { accountActions } from '../../audit/account-events.ts';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { integerBetween, integerFrom, unixSeconds } from '../../core/validation.ts';

export const AccountLogInput = z.object({
  limit: integerBetween(1, 100).default(50).describe('Maximum number of events'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of events to skip'),
  cursor,
});
export type AccountLogInput = z.infer<typeof AccountLogInput>;

export const AccountEvent = z
  .object({
    id: integerFrom(1),
    action: z.enum(accountActions),
    created_at: unixSeconds,
    last_at: unixSeconds.describe(
      'When the event last happened, as a Unix timestamp in seconds; differs from `created_at` if `count` is above 1',
    ),
    count: integerFrom(1).describe(
      'How many times the event happened. The failed sign-ins within an hour count as one event',
    ),
    address: z
      .string()
      .nullable()
      .describe('The network address of the caller; null if an operator or the service acted'),
    user_agent: z.string().nullable().describe('The User-Agent header; null if it was not sent'),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('Details of the action, such as the `method` of a sign-in'),
  })
  .meta({ id: 'AccountEvent', description: 'An event in the log of an account' });
export type AccountEvent = z.infer<typeof AccountEvent>;

export const AccountLogPage = z
  .object({ events: z.array(AccountEvent), next_cursor: nextCursor })
  .meta({ id: 'AccountLogPage' });
