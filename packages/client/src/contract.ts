/**
 * The server's types on which the client's types are based. Only types are imported, and the build prints them in full,
 * so the installed package needs nothing from the server.
 */
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { ErrorCode as ServerErrorCode } from '../../../src/core/errors.ts';
import type { WebhookBody as ServerWebhookBody } from '../../../src/events/catalogue.ts';
import type { ImportAnswer as ServerImportAnswer } from '../../../src/features/contacts/schemas.ts';
import type { AppRouter } from '../../../src/routers/index.ts';

export type { AppRouter };

/**
 * A declaration file refers to an alias by its name, but contains an inferred type in full. `Plain` makes it an
 * inferred type, which is printed in full.
 */
type Plain<Type> = Type extends string | number | boolean | null | undefined
  ? Type
  : Type extends readonly (infer Element)[]
    ? Plain<Element>[]
    : { [Key in keyof Type]: Plain<Type[Key]> };

// Never called: the build reads the types of these values.
const print = <Type>(): Plain<Type> => null as unknown as Plain<Type>;
export const webhookBody = print<ServerWebhookBody>();
export const importAnswer = print<ServerImportAnswer>();
export const errorCode = print<ServerErrorCode>();

/** The body of a webhook request. `event` determines the type of `data`. */
export type WebhookBody = typeof webhookBody;
/** How many rows of a CSV file were imported, and which were skipped. */
export type ImportAnswer = typeof importAnswer;
/** The codes of the service's errors. */
export type ErrorCode = typeof errorCode;

/** The input of every procedure, such as `Inputs['rooms']['create']`. */
export type Inputs = inferRouterInputs<AppRouter>;
/** The output of every procedure, such as `Outputs['rooms']['create']`. */
export type Outputs = inferRouterOutputs<AppRouter>;
/** An item of the media library. */
export type LibraryItem = Outputs['library']['read']['item'];
/** How a workspace looks to its guests. */
export type Branding = Outputs['branding']['read']['branding'];
/** A recording of a room. */
export type Recording = Outputs['recordings']['list']['recordings'][number];
/**
 * The `data` that `client.events.live` passes to `onData`. Its field `event` determines the type of its field `data`.
 */
export type LiveEvent = Outputs['events']['live'] extends AsyncIterable<{ data: infer Event }> ? Event : never;
