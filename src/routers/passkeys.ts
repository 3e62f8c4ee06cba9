import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { SignedIn } from '../features/auth/schemas.ts';
import { listPasskeys, removePasskey, renamePasskey } from '../features/passkeys/passkeys.ts';
import { registerPasskey, startRegistration } from '../features/passkeys/register-passkey.ts';
import { relyingPartyOf } from '../features/passkeys/relying-party.ts';
import {
  PasskeyAnswer,
  PasskeyInput,
  PasskeySignInInput,
  PasskeysAnswer,
  RegisterPasskeyInput,
  RegistrationOptionsAnswer,
  RenamePasskeyInput,
  SignInOptionsAnswer,
} from '../features/passkeys/schemas.ts';
import {
  reauthenticateWithPasskey,
  signInWithPasskey,
  startReauthentication,
  startSignIn,
} from '../features/passkeys/sign-in.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import { router, signedInBySession, signingIn } from '../trpc/procedures.ts';
import { clientOf, withCookie } from '../trpc/sign-in.ts';

const tags = ['Signing in'];
/** The maximum size of what a browser returns when somebody signs in with a passkey. */
const MAX_RESPONSE_BYTES = 24 * 1024;

export const passkeysRouter = router({
  startSignIn: signingIn
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys/sign-in/options',
        tags,
        protect: false,
        summary: 'Start signing in with a passkey',
        successDescription: 'The options for the browser',
        description:
          'Give `options` to `navigator.credentials.get`. No address is needed: the browser offers the passkeys ' +
          'that it has. 409 if the host is an IP address, because browsers do not allow passkeys for IP addresses.',
      },
    })
    .output(SignInOptionsAnswer)
    .mutation(async ({ ctx }) => ({ options: await startSignIn(ctx.services, relyingPartyOf(ctx)) })),

  signIn: signingIn
    .meta({
      maxBodyBytes: MAX_RESPONSE_BYTES,
      refusals: [401, 409],
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys/sign-in',
        tags,
        protect: false,
        summary: 'Sign in with a passkey',
        successDescription: 'The user and their new session',
        description:
          'Returns a session token and sets it as the cookie `session`. A second factor is not needed. 401 ' +
          '`SIGN_IN_EXPIRED` if the challenge was used or is older than five minutes, 401 `SIGN_IN_REFUSED` if the ' +
          'passkey is unknown or its signature is wrong.',
      },
    })
    .input(PasskeySignInInput)
    .output(SignedIn)
    .mutation(async ({ ctx, input }) => withCookie(ctx, await signInWithPasskey(ctx.services, input, fromOf(ctx)))),

  startRegistration: signedInBySession
    .meta({
      refusals: [409],
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys/options',
        tags,
        summary: 'Start adding a passkey',
        successDescription: 'The options for the browser',
        description:
          'Give `options` to `navigator.credentials.create`. Needs a recent sign-in. 409 if the user has 20 ' +
          'passkeys, or if the host is an IP address.',
      },
    })
    .output(RegistrationOptionsAnswer)
    .mutation(async ({ ctx }) => {
      requireRecentSignIn(ctx);
      return { options: await startRegistration(ctx.services, ctx, relyingPartyOf(ctx)) };
    }),

  register: signedInBySession
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys',
        tags,
        summary: 'Add a passkey',
        successDescription: 'The new passkey',
        description:
          'Takes what `navigator.credentials.create` resolved with. 401 `SIGN_IN_EXPIRED` if the challenge was ' +
          'used, is older than five minutes or belongs to another session. 409 if the passkey is already registered.',
      },
    })
    .input(RegisterPasskeyInput)
    .output(PasskeyAnswer)
    .mutation(async ({ ctx, input }) => ({ passkey: await registerPasskey(ctx.services, ctx, input, fromOf(ctx)) })),

  list: signedInBySession
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/passkeys',
        tags,
        summary: 'List passkeys',
        successDescription: 'The passkeys of the user',
        description: 'The passkeys of the user, oldest first. At most 20.',
      },
    })
    .input(ListPageInput.default({}))
    .output(PasskeysAnswer)
    .query(async ({ ctx, input }) => pageAs('passkeys', await listPasskeys(ctx.services, ctx.caller, input))),

  rename: signedInBySession
    .meta({
      refusals: [404],
      openapi: {
        method: 'PATCH',
        path: '/api/auth/passkeys/{passkeyId}',
        tags,
        summary: 'Rename a passkey',
        successDescription: 'The passkey with its new name',
        description: 'Changes the name by which the user recognizes the passkey.',
      },
    })
    .input(RenamePasskeyInput)
    .output(PasskeyAnswer)
    .mutation(async ({ ctx, input }) => ({ passkey: await renamePasskey(ctx.services, ctx.caller, input) })),

  remove: signedInBySession
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/passkeys/{passkeyId}',
        tags,
        summary: 'Remove a passkey',
        successDescription: 'The passkey is removed',
        description:
          'The user can no longer sign in with it. Needs a recent sign-in. 409 if it is the last way to sign in.',
      },
    })
    .input(PasskeyInput)
    .output(Ok)
    .mutation(({ ctx, input }) => {
      requireRecentSignIn(ctx);
      return removePasskey(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) }, input);
    }),

  startReauthentication: signedInBySession
    .meta({
      refusals: [409],
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys/reauthenticate/options',
        tags,
        summary: 'Start renewing the sign-in with a passkey',
        successDescription: 'The options for the browser',
        description: 'Give `options` to `navigator.credentials.get`. 401 `SIGN_IN_REFUSED` if the user has no passkey.',
      },
    })
    .output(SignInOptionsAnswer)
    .mutation(async ({ ctx }) => ({ options: await startReauthentication(ctx.services, ctx, relyingPartyOf(ctx)) })),

  reauthenticate: signedInBySession
    .meta({
      refusals: [409],
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/passkeys/reauthenticate',
        tags,
        summary: 'Renew the sign-in with a passkey',
        successDescription: 'The sign-in of the session is renewed',
        description:
          'Counts as a new sign-in in this session, so that operations no longer return 403 ' +
          '`REAUTHENTICATION_REQUIRED`. Returns the same errors as signing in.',
      },
    })
    .input(PasskeySignInInput)
    .output(Ok)
    .mutation(({ ctx, input }) => reauthenticateWithPasskey(ctx.services, ctx, input, fromOf(ctx))),
});

function fromOf(ctx: Context) {
  return { relyingParty: relyingPartyOf(ctx), client: clientOf(ctx) };
}
