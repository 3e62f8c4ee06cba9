import { AccessList, EndedAccess } from '../features/auth/access-schemas.ts';
import { endLastingAccess } from '../features/auth/end-access.ts';
import { listAccess } from '../features/auth/lasting-access.ts';
import { router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const accessRouter = router({
  list: signedInBySession
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/auth/access',
        tags,
        summary: 'List your lasting access',
        successDescription: 'The lasting access of the account',
        description:
          'What gives access for longer than a session: the calendar feed, passkeys and linked accounts of the ' +
          'caller, and in each workspace the API keys, webhooks, connections and invitations that they created. ' +
          'Owners and admins also see the invite link. A thief who had a session may have created any of it.',
      },
    })
    .output(AccessList)
    .query(({ ctx: { services, caller } }) => listAccess(services.db.sql, caller.userId, services.clock.now())),

  end: signedInBySession
    .meta({
      needsRecentSignIn: true,
      refusals: [409],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/access',
        tags,
        summary: 'End your lasting access',
        successDescription: 'How much has ended',
        description:
          'Ends what a reset of the password would end: everything whose `ends_on_reset` is true. Sessions and the ' +
          'second factor remain. 409 if the caller could then no longer sign in, because the account has no ' +
          'password. Requires a recent sign-in.',
      },
    })
    .output(EndedAccess)
    .mutation(({ ctx }) =>
      endLastingAccess(ctx.services, { sessionId: ctx.sessionId, caller: ctx.caller, client: clientOf(ctx) }),
    ),
});
