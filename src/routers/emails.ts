import { Ok } from '../core/shapes.ts';
import { ChangeEmailInput, VerifiedEmail, VerifyEmailInput } from '../features/auth/link-schemas.ts';
import { requestEmailChange, resendVerification, verifyEmail } from '../features/auth/verify-email.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import { anyoneOrInSession, router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf, limitGuesses, requesterOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const emailsRouter = router({
  verify: anyoneOrInSession
    .meta({
      credential: 'optional',
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/verify-email',
        tags,
        protect: false,
        summary: 'Confirm an email address',
        successDescription: 'The confirmed address',
        description:
          'Takes the token of a link that was sent by mail, and either a session of the account or its `password`. ' +
          'If the link was for a new address, the account now has it, and the old address gets a notice. 400 if the ' +
          'link was used or has expired, or if the password is missing or wrong, after which the link still works. ' +
          '409 if another account has the address.',
      },
    })
    .input(VerifyEmailInput)
    .output(VerifiedEmail)
    .mutation(({ ctx, input }) => {
      const { services, caller } = ctx;
      const guesses = { requester: requesterOf(ctx), limitGuesses: (email: string) => limitGuesses(ctx, email) };
      return verifyEmail(services, input, { caller, client: clientOf(ctx), ...guesses });
    }),

  resend: signedInBySession
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/verify-email/resend',
        tags,
        summary: 'Send the link to confirm the email address again',
        successDescription: 'The link will be sent',
        description:
          'A link works for a day; at most five work at a time. 409 if the address is already confirmed; 429 if too ' +
          'many were sent.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => resendVerification(ctx.services, ctx.caller)),

  change: signedInBySession
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/auth/change-email',
        tags,
        summary: 'Change the email address',
        successDescription: 'A link will be sent to the new address',
        description:
          'Needs a recent sign-in. Sends a link to the new address; the address of the account changes when the ' +
          'link is used. The response is the same if another account has the address. 429 if too many links were ' +
          'sent.',
      },
    })
    .input(ChangeEmailInput)
    .output(Ok)
    .mutation(({ ctx, input }) => {
      requireRecentSignIn(ctx);
      return requestEmailChange(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) }, input);
    }),
});
