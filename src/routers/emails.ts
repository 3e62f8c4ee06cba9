import { Ok } from '../core/shapes.ts';
import { ChangeEmailInput, VerifiedEmail, VerifyEmailInput } from '../features/auth/link-schemas.ts';
import { requestEmailChange, resendVerification, verifyEmail } from '../features/auth/verify-email.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import { anyoneOrInSession, router, signedInBySession, signedInUnconfirmed } from '../trpc/procedures.ts';
import { clientOf, limitGuesses, requesterOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const emailsRouter = router({
  verify: anyoneOrInSession('token', { takesUnconfirmed: true })
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
          'Takes the token from a link that was sent by mail, and either a session or the `password` of the account. ' +
          'If the link confirms a new address, that address replaces the old one, and a notice is sent to the old ' +
          'address. 400 if the link was used or has expired. 400 if the password is missing or wrong; the link ' +
          'then still works. 409 if another account has the address.',
      },
    })
    .input(VerifyEmailInput)
    .output(VerifiedEmail)
    .mutation(({ ctx, input }) => {
      const { services, caller } = ctx;
      const guesses = { requester: requesterOf(ctx), limitGuesses: (email: string) => limitGuesses(ctx, email) };
      return verifyEmail(services, input, { caller, client: clientOf(ctx), ...guesses });
    }),

  resend: signedInUnconfirmed
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/auth/verify-email/resend',
        tags,
        summary: 'Resend the link that confirms the email address',
        successDescription: 'The link will be sent',
        description:
          'A link works for a day. At most five links work at a time. 409 if the address is already confirmed. 429 ' +
          'if too many links were sent.',
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
          'Requires a recent sign-in. Sends a link to the new address. The address of the account changes when the ' +
          'link is used. The response does not show whether another account has the address. 429 if too many links ' +
          'were sent.',
      },
    })
    .input(ChangeEmailInput)
    .output(Ok)
    .mutation(({ ctx, input }) => {
      requireRecentSignIn(ctx);
      return requestEmailChange(ctx.services, { sessionId: ctx.sessionId, client: clientOf(ctx) }, input);
    }),
});
