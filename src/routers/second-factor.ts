import { Ok } from '../core/shapes.ts';
import {
  confirmSecondFactor,
  createRecoveryCodes,
  readSecondFactor,
  removeSecondFactor,
  setUpSecondFactor,
} from '../features/auth/second-factor.ts';
import {
  ConfirmSecondFactorInput,
  RecoveryCodes,
  SecondFactorAnswer,
  SecondFactorSetup,
} from '../features/auth/second-factor-schemas.ts';
import { router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const secondFactorRouter = router({
  read: signedInBySession
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/second-factor',
        tags,
        summary: 'Get the state of the second factor',
        successDescription: 'Whether it is enabled, and how many recovery codes are left',
        description: 'If it is enabled, signing in with the password also needs a code from an authenticator app.',
      },
    })
    .output(SecondFactorAnswer)
    .query(async ({ ctx }) => ({ second_factor: await readSecondFactor(ctx.services, ctx.caller) })),

  setUp: signedInBySession
    .meta({
      needsRecentSignIn: true,
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/second-factor',
        tags,
        summary: 'Set up a second factor',
        successDescription: 'The secret for the authenticator app',
        description:
          'Needs a recent sign-in. Returns a secret for an authenticator app (TOTP). It has no effect until its ' +
          'first code is confirmed; another call replaces it. 409 if the second factor is enabled.',
      },
    })
    .output(SecondFactorSetup)
    .mutation(({ ctx }) => setUpSecondFactor(ctx.services, ctx)),

  confirm: signedInBySession
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/second-factor/confirm',
        tags,
        summary: 'Enable the second factor',
        successDescription: 'The recovery codes',
        description:
          'Takes the first code from the app. From then on, a sign-in with the password needs `code`. Returns ten ' +
          'recovery codes, each of which replaces a code from the app once. 409 if the second factor has not been ' +
          'set up, or is already enabled.',
      },
    })
    .input(ConfirmSecondFactorInput)
    .output(RecoveryCodes)
    .mutation(({ ctx, input }) =>
      confirmSecondFactor(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) }, input),
    ),

  createRecoveryCodes: signedInBySession
    .meta({
      needsRecentSignIn: true,
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/second-factor/recovery-codes',
        tags,
        summary: 'Replace the recovery codes',
        successDescription: 'The new recovery codes',
        description:
          'Needs a recent sign-in. The old recovery codes no longer work. 409 if the second factor is not enabled.',
      },
    })
    .output(RecoveryCodes)
    .mutation(({ ctx }) => createRecoveryCodes(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) })),

  remove: signedInBySession
    .meta({
      needsRecentSignIn: true,
      openapi: {
        method: 'DELETE',
        path: '/api/auth/second-factor',
        tags,
        summary: 'Switch the second factor off',
        successDescription: 'Signing in with the password no longer needs a code',
        description: 'Needs a recent sign-in. The recovery codes no longer work.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => removeSecondFactor(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) })),
});
