import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { type Scope, scopes } from '../../core/scopes.ts';
import { fieldOf, flag, id, integerFrom, unixSeconds } from '../../core/validation.ts';

/** The maximum lengths of parameters of OAuth. Apps put their own data into `state`. */
const MAX_URL_LENGTH = 2_000;
const MAX_STATE_LENGTH = 1_500;
const MAX_SCOPE_LENGTH = 1_000;

/** 32 random bytes in base64url (RFC 7636 section 4.2: S256). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

const scope = z.enum(scopes as [Scope, ...Scope[]]);

const redirectUri = z.string().max(MAX_URL_LENGTH);

/** The parameters of the consent page (RFC 6749 section 4.1.1, RFC 7636 section 4.3, RFC 8707 section 2.1). */
export const AuthorizationParameters = z.object({
  response_type: z
    .string()
    .refine((type) => type === 'code', { error: 'response_type must be code' })
    .describe('`code`'),
  client_id: z.string().max(100).describe('The ID that the app got when it registered'),
  redirect_uri: redirectUri.describe('Where the browser returns to: an address that the app has registered'),
  code_challenge: z
    .string()
    .regex(CHALLENGE, { error: 'code_challenge must be a SHA-256 in base64url' })
    .describe('The SHA-256 of the code verifier, in base64url'),
  // Without the parameter, RFC 7636 means `plain`, which protects nothing.
  code_challenge_method: z
    .string({ error: (issue) => `${fieldOf(issue)} must be S256` })
    .refine((method) => method === 'S256', { error: 'code_challenge_method must be S256' })
    .describe('`S256`'),
  resource: z.string().max(MAX_URL_LENGTH).describe('The URL of `/mcp`; default: that one').optional(),
  scope: z.string().max(MAX_SCOPE_LENGTH).describe('The scopes, separated by spaces; default: `write`').optional(),
  state: z.string().max(MAX_STATE_LENGTH).describe('Returned to the app unchanged').optional(),
});
export type AuthorizationParameters = z.infer<typeof AuthorizationParameters>;

export const AuthorizationInput = AuthorizationParameters.meta({ id: 'AuthorizationRequest' });

export const AuthorizationAnswer = z
  .object({
    app: z.object({
      name: z.string().describe('What the app calls itself. Nothing proves it').meta({ example: 'Example Agent' }),
      redirect_host: z
        .string()
        .describe('The host to which the browser returns: it gets the access')
        .meta({ example: 'agent.example.com' }),
      is_local: flag.describe('1 if it is a program on the computer of the person'),
    }),
    scopes: z.array(scope).describe('What the app asks for'),
    days: integerFrom(1).describe('After how many days the app has to ask again'),
    decline_url: z.string().describe('Where to send the browser if the person declines'),
  })
  .meta({ id: 'Authorization' });
export type AuthorizationAnswer = z.infer<typeof AuthorizationAnswer>;

export const ConnectAppInput = AuthorizationParameters.extend({
  scopes: z
    .array(scope)
    .min(1, { error: 'scopes must have at least one entry' })
    .max(scopes.length)
    .describe('What the person allows: some or all of what the app asks for'),
}).meta({ id: 'ConnectAppRequest' });
export type ConnectAppInput = z.infer<typeof ConnectAppInput>;

export const ConnectedAppAnswer = z
  .object({ url: z.string().describe('Where to send the browser, with the code for the app') })
  .meta({ id: 'ConnectedAppResponse' });
export type ConnectedAppAnswer = z.infer<typeof ConnectedAppAnswer>;

export const ConnectedApp = z
  .object({
    id,
    name: z.string().describe('What the app calls itself. Nothing proves it').meta({ example: 'Example Agent' }),
    redirect_host: z.string().describe('The host that got the access').meta({ example: 'agent.example.com' }),
    workspace_id: id.describe('The only workspace in which the app works'),
    workspace_name: z.string(),
    scopes: z.array(z.string()).describe('What the app may do, at most with your current role'),
    created_at: unixSeconds,
    expires_at: unixSeconds.describe('When the app has to ask again, as a Unix timestamp in seconds'),
    last_used_at: unixSeconds.nullable().describe('Unix timestamp in seconds, accurate to a minute; null until used'),
    last_used_address: z.string().nullable().meta({ example: '203.0.113.7' }),
  })
  .meta({ id: 'ConnectedApp' });
export type ConnectedApp = z.infer<typeof ConnectedApp>;

export const ConnectedAppList = z
  .object({ apps: z.array(ConnectedApp), next_cursor: nextCursor })
  .meta({ id: 'ConnectedAppList' });

export const AppInput = z.object({ appId: requestedId.describe('ID of the connected app') });
export type AppInput = z.infer<typeof AppInput>;
