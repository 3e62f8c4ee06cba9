import { toMailbox } from '../core/mailbox.ts';
import { Ok } from '../core/shapes.ts';
import { ResetPassword } from '../features/auth/access-schemas.ts';
import { ForgotPasswordInput, ResetPasswordInput } from '../features/auth/link-schemas.ts';
import { requestPasswordReset, resetPassword } from '../features/auth/reset-password.ts';
import { router, signingIn } from '../trpc/procedures.ts';
import { clientOf, limitGuesses, requesterOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const passwordsRouter = router({
  forgot: signingIn
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/auth/forgot-password',
        tags,
        protect: false,
        summary: 'Ask for a new password',
        successDescription: 'A link will be sent if an account has the address',
        description:
          'Sends a link to set a new password. The response and its timing are the same whether or not an account ' +
          'has the address. The link works only once and expires after an hour. A mailbox gets at most five links ' +
          'in an hour, under all its addresses together.',
      },
    })
    .input(ForgotPasswordInput)
    .output(Ok)
    .mutation(async ({ ctx, input }) => {
      await limitGuesses(ctx, toMailbox(input.email));
      return requestPasswordReset(ctx.services, input);
    }),

  reset: signingIn
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/auth/reset-password',
        tags,
        protect: false,
        summary: 'Set a new password with a link',
        successDescription: 'The new password is set, and all sessions have ended',
        description:
          'Takes the token of a link that was sent by mail. Ends all sessions of the account and, unless ' +
          '`keep_access` is true, its lasting access: the calendar feed, passkeys, linked accounts, API keys, ' +
          'invitations and invite links. Webhooks, connections and keys of a workspace that has other members ' +
          'remain, and so does the second factor. If the address was never confirmed before, everything ends, and ' +
          'the other members of the workspaces of the account are removed. 400 if the link was used or has expired.',
      },
    })
    .input(ResetPasswordInput)
    .output(ResetPassword)
    .mutation(({ ctx, input }) =>
      resetPassword(ctx.services, input, { requester: requesterOf(ctx), client: clientOf(ctx) }),
    ),
});
