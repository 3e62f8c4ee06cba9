import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { endOtherSessions, endSession, listSessions } from '../features/auth/own-sessions.ts';
import { EndedSessions, EndSessionInput, SessionList } from '../features/auth/schemas.ts';
import { router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Signing in'];

export const sessionsRouter = router({
  list: signedInBySession
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/sessions',
        tags,
        summary: 'List your sessions',
        successDescription: 'The sessions of the caller',
        description: 'The sessions in which the caller is signed in, newest first.',
      },
    })
    .input(ListPageInput.default({}))
    .output(SessionList)
    .query(async ({ ctx, input }) => pageAs('sessions', await listSessions(ctx.services, ctx, input))),

  end: signedInBySession
    .meta({
      refusals: [404],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/sessions/{sessionId}',
        tags,
        summary: 'End one of your sessions',
        successDescription: 'The session has ended',
        description: 'Signs the caller out of the session, which may be the one that this call uses.',
      },
    })
    .input(EndSessionInput)
    .output(Ok)
    .mutation(async ({ ctx, input }) => {
      const { caller, sessionId } = ctx;
      const answer = await endSession(ctx.services, { caller, sessionId, client: clientOf(ctx) }, input);
      if (input.sessionId === sessionId) ctx.setSessionCookie(null);
      return answer;
    }),

  endOthers: signedInBySession
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/auth/sessions',
        tags,
        summary: 'End all your other sessions',
        successDescription: 'How many sessions were ended',
        description: 'Signs the caller out everywhere except in the session of this call. API keys keep working.',
      },
    })
    .output(EndedSessions)
    .mutation(({ ctx }) =>
      endOtherSessions(ctx.services, { caller: ctx.caller, sessionId: ctx.sessionId, client: clientOf(ctx) }),
    ),
});
