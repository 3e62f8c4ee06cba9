import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { awaitsFirstAccount } from '../features/auth/registration.ts';
import { completeRequest } from '../features/openid/complete.ts';
import { listIdentities, unlinkIdentity } from '../features/openid/identities.ts';
import { type Started, startRequest } from '../features/openid/requests.ts';
import {
  CompletedOpenid,
  CompleteOpenidInput,
  OpenidIdentitiesAnswer,
  OpenidIdentityInput,
  OpenidProvidersAnswer,
  StartedOpenid,
  StartOpenidInput,
} from '../features/openid/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import { anyone, router, signedInBySession, signingIn } from '../trpc/procedures.ts';
import { clientOf, isOnThisMachine, withCookie } from '../trpc/sign-in.ts';

const tags = ['Signing in'];
/** The maximum sizes of a body with a path in the frontend, and of one with the parameters of a URL. */
const MAX_PATH_BYTES = 16 * 1024;
const MAX_PARAMETERS_BYTES = 40 * 1024;

const startedDescription =
  'Open `url` in the browser that made this call: it gets the cookie `sign_in`, without which nobody can complete ' +
  'the sign-in. The provider sends the person back to `/sign-in/return`, whose page calls `POST ' +
  '/api/auth/openid/complete`.';

export const openidRouter = router({
  providers: anyone
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/auth/openid/providers',
        tags,
        protect: false,
        summary: 'List the OpenID providers',
        successDescription: 'The providers with which people can sign in',
        description:
          'The providers configured by the settings `OIDC_<NAME>_ISSUER`, for a sign-in page to offer. The list ' +
          'is empty if there are no such settings. Also says who may create an account and, to callers on the ' +
          'machine that runs the service, whether there has been none yet.',
      },
    })
    .output(OpenidProvidersAnswer)
    .query(async ({ ctx }) => ({
      providers: ctx.services.openid.list.map(({ id, name }) => ({ id, name })),
      registration: ctx.services.settings.registration,
      registration_domains: [...ctx.services.settings.registrationDomains],
      first_account: (await awaitsFirstAccount(ctx.services, { isLocal: isOnThisMachine(ctx) })) ? 1 : 0,
    })),

  start: signingIn
    .meta({
      maxBodyBytes: MAX_PATH_BYTES,
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/auth/openid/start',
        tags,
        protect: false,
        summary: 'Start signing in with an OpenID provider',
        successDescription: 'Where to send the browser',
        description: `${startedDescription} 404 for an unknown provider, and 503 if the provider does not respond.`,
      },
    })
    .input(StartOpenidInput)
    .output(StartedOpenid)
    .mutation(async ({ ctx, input }) =>
      withBrowserCookie(
        ctx,
        await startRequest(ctx.services, ctx.origin, input, { purpose: 'sign_in', sessionId: null }),
      ),
    ),

  complete: signingIn
    .meta({
      maxBodyBytes: MAX_PARAMETERS_BYTES,
      refusals: [401, 403, 409],
      openapi: {
        method: 'POST',
        path: '/api/auth/openid/complete',
        tags,
        protect: false,
        summary: 'Complete signing in or linking with an OpenID provider',
        successDescription: 'The user, and their new session if they signed in',
        description:
          'The page at `/sign-in/return` calls this with the parameters of its URL. Signing in sets the cookie ' +
          '`session`; a new user gets an account without a password. 401 `SIGN_IN_EXPIRED` if the `state` is ' +
          'unknown, was used or is older than ten minutes, or if another browser started the sign-in; 401 ' +
          '`SIGN_IN_REFUSED` if the user or the provider declined. 409 `ACCOUNT_NOT_LINKED` if an account with ' +
          'this address exists, but does not meet the conditions for linking it.',
      },
    })
    .input(CompleteOpenidInput)
    .output(CompletedOpenid)
    .mutation(async ({ ctx, input }) => {
      const { services, browserToken } = ctx;
      const frontend = appUrlOf(ctx);
      const completed = await completeRequest(services, input, { browserToken, client: clientOf(ctx), frontend });
      const { token, expires_at } = completed;
      if (token !== null && expires_at !== null) withCookie(ctx, { token, expires_at });
      ctx.setBrowserCookie(null);
      return completed;
    }),

  link: signedInBySession
    .meta({
      refusals: [404],
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/openid/link',
        tags,
        summary: 'Start linking an account at an OpenID provider',
        successDescription: 'Where to send the browser',
        description:
          'Once the account is linked, the user can also sign in with it. Needs a recent sign-in. ' +
          startedDescription,
      },
    })
    .input(StartOpenidInput)
    .output(StartedOpenid)
    .mutation(async ({ ctx, input }) => {
      requireRecentSignIn(ctx);
      const { sessionId } = ctx;
      return withBrowserCookie(
        ctx,
        await startRequest(ctx.services, ctx.origin, input, { purpose: 'link', sessionId }),
      );
    }),

  reauthenticate: signedInBySession
    .meta({
      refusals: [404],
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/openid/reauthenticate',
        tags,
        summary: 'Start renewing the sign-in with an OpenID provider',
        successDescription: 'Where to send the browser',
        description: `Asks the provider to make the user sign in again. ${startedDescription}`,
      },
    })
    .input(StartOpenidInput)
    .output(StartedOpenid)
    .mutation(async ({ ctx, input }) => {
      const { sessionId } = ctx;
      return withBrowserCookie(
        ctx,
        await startRequest(ctx.services, ctx.origin, input, { purpose: 'reauthenticate', sessionId }),
      );
    }),

  identities: signedInBySession
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/openid/identities',
        tags,
        summary: 'List the linked accounts at OpenID providers',
        successDescription: 'The linked accounts of the user',
        description: 'The accounts with which the user can sign in, oldest first. At most 20.',
      },
    })
    .input(ListPageInput.default({}))
    .output(OpenidIdentitiesAnswer)
    .query(async ({ ctx, input }) => pageAs('identities', await listIdentities(ctx.services, ctx.caller, input))),

  unlink: signedInBySession
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/openid/identities/{identityId}',
        tags,
        summary: 'Unlink an account at an OpenID provider',
        successDescription: 'The account at the provider is unlinked',
        description:
          'The user can no longer sign in with it. Needs a recent sign-in. 409 if it is the last way to sign in.',
      },
    })
    .input(OpenidIdentityInput)
    .output(Ok)
    .mutation(({ ctx, input }) => {
      requireRecentSignIn(ctx);
      return unlinkIdentity(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) }, input);
    }),
});

function withBrowserCookie(ctx: Context, { browserToken: token, expiresAt, ...started }: Started): StartedOpenid {
  ctx.setBrowserCookie({ token, expiresAt });
  return started;
}
