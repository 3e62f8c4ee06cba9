import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { toUnixSeconds } from '../core/time.ts';
import { deleteMe, register, updateMe } from '../features/auth/account.ts';
import { listAccountLog } from '../features/auth/account-log.ts';
import { AccountLogInput, AccountLogPage } from '../features/auth/account-log-schemas.ts';
import { logout } from '../features/auth/own-sessions.ts';
import { reauthenticate } from '../features/auth/reauthenticate.ts';
import {
  LoginInput,
  ReauthenticateInput,
  RegisterInput,
  SignedIn,
  UpdatedUser,
  UpdateMeInput,
  UserAnswer,
} from '../features/auth/schemas.ts';
import { login } from '../features/auth/sessions.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import { router, signedInBySession, signedInUnconfirmed, signingIn } from '../trpc/procedures.ts';
import { clientOf, isOnThisMachine, limitGuesses, requesterOf, withCookie } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const authRouter = router({
  register: signingIn
    .meta({
      refusals: [403, 409],
      openapi: {
        method: 'POST',
        path: '/api/auth/register',
        tags,
        protect: false,
        summary: 'Create an account',
        successDescription: 'The new user and their session',
        description:
          'Creates a user with a workspace named Personal, and signs them in. 409 if the email address already has ' +
          'an account. 403 if the operator takes new accounts by invitation only (`REGISTRATION=invited`) and ' +
          '`invitation` is not valid, or takes none (`REGISTRATION=closed`). If only the domain of the address ' +
          'admits the person (`REGISTRATION_DOMAINS`), other operations return 403 with the code ' +
          '`EMAIL_NOT_CONFIRMED` until the address is confirmed.',
      },
    })
    .input(RegisterInput)
    .output(SignedIn)
    .mutation(async ({ ctx, input }) =>
      withCookie(
        ctx,
        await register(ctx.services, input, requesterOf(ctx), clientOf(ctx), {
          isLocal: isOnThisMachine(ctx),
        }),
      ),
    ),

  login: signingIn
    .meta({
      refusals: [401],
      openapi: {
        method: 'POST',
        path: '/api/auth/login',
        tags,
        protect: false,
        summary: 'Sign in',
        successDescription: 'The user and their new session',
        description:
          'Returns a session token and sets it as the cookie `session`. 401 for a wrong email address or password.',
      },
    })
    .input(LoginInput)
    .output(SignedIn)
    .mutation(async ({ ctx, input }) => {
      await limitGuesses(ctx, input.email);
      return withCookie(ctx, await login(ctx.services, input, requesterOf(ctx), clientOf(ctx)));
    }),

  logout: signedInUnconfirmed
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/auth/logout',
        tags,
        summary: 'Sign out',
        successDescription: 'The session has ended',
        description: 'Ends the current session and clears its cookie.',
      },
    })
    .output(Ok)
    .mutation(async ({ ctx }) => {
      const { caller, sessionId } = ctx;
      const answer = await logout(ctx.services, { caller, sessionId, client: clientOf(ctx) });
      ctx.setSessionCookie(null);
      return answer;
    }),

  me: signedInUnconfirmed
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/me',
        tags,
        summary: 'Get the signed-in user',
        successDescription: 'The user of the session',
        description: 'Returns the user of the session.',
      },
    })
    .output(UserAnswer)
    .query(({ ctx: { caller } }) => ({
      user: {
        id: caller.userId,
        name: caller.name,
        email: caller.email,
        email_verified: caller.emailVerified,
        recording_mail: caller.recordingMail,
        created_at: toUnixSeconds(caller.createdAt),
      },
    })),

  log: signedInBySession
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/auth/log',
        tags,
        summary: 'List the account log',
        successDescription: 'A page of events',
        description:
          'Returns sign-ins, failed sign-ins, ended sessions, and changes to the password, the email address, other ' +
          'sign-in methods and API keys, newest first.',
      },
    })
    .input(AccountLogInput.default({ limit: 50, offset: 0 }))
    .output(AccountLogPage)
    .query(async ({ ctx, input }) => pageAs('events', await listAccountLog(ctx.services, ctx.caller, input))),

  reauthenticate: signedInUnconfirmed
    .meta({
      idempotencyKey: 'ignored',
      openapi: {
        method: 'POST',
        path: '/api/auth/reauthenticate',
        tags,
        summary: 'Confirm who you are',
        successDescription: 'The sign-in of the session is renewed',
        description:
          'Counts as a new sign-in for this session. Use it when an operation returns 403 with the code ' +
          '`REAUTHENTICATION_REQUIRED`.',
      },
    })
    .input(ReauthenticateInput)
    .output(Ok)
    .mutation(async ({ ctx, input }) => {
      const { caller, sessionId } = ctx;
      await limitPasswords(ctx, sessionId);
      const call = { caller, sessionId, requester: requesterOf(ctx), client: clientOf(ctx) };
      return reauthenticate(ctx.services, call, input);
    }),

  updateMe: signedInBySession
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/auth/me',
        tags,
        summary: 'Change the name, the password or the mail about recordings',
        successDescription: 'The updated user',
        description:
          'Changes only the fields that are sent. A new password requires `current_password` and ends all other ' +
          'sessions. The response then lists the lasting access of the account, which remains. With ' +
          '`end_api_keys: true`, it also revokes the API keys that the user created.',
      },
    })
    .input(UpdateMeInput)
    .output(UpdatedUser)
    .mutation(async ({ ctx, input }) => {
      const { caller, sessionId } = ctx;
      if (input.password !== undefined) await limitPasswords(ctx, sessionId);
      const call = { caller, sessionId, requester: requesterOf(ctx), client: clientOf(ctx) };
      return updateMe(ctx.services, call, input);
    }),

  deleteMe: signedInUnconfirmed
    .meta({
      refusals: [409],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/me',
        tags,
        summary: 'Delete the account',
        successDescription: 'The account is deleted',
        description:
          'Requires a recent sign-in. Deletes the user, their Personal workspace, and every workspace that has no ' +
          'other members. In other workspaces, the API keys of the user are deleted, their rooms and booking pages ' +
          'pass to the workspace owner, and everything else they created remains without an author. 409 if the user ' +
          'owns a workspace that has other members.',
      },
    })
    .output(Ok)
    .mutation(async ({ ctx }) => {
      requireRecentSignIn(ctx);
      const answer = await deleteMe(ctx.services, ctx.caller);
      ctx.setSessionCookie(null);
      return answer;
    }),
});

/**
 * Limits how often the password can be guessed with a stolen session. The limit is per session, so that failed sign-ins
 * by others do not use it up.
 */
async function limitPasswords(ctx: Context, sessionId: number): Promise<void> {
  await ctx.services.limits.consumeExactly('passwordPerSession', String(sessionId), ctx);
}
