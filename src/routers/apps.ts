import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { disconnectApp, listApps } from '../features/apps/apps.ts';
import { connectApp, describeAuthorization, endpointsOf } from '../features/apps/connect-app.ts';
import {
  AppInput,
  AuthorizationAnswer,
  AuthorizationInput,
  ConnectAppInput,
  ConnectedAppAnswer,
  ConnectedAppList,
} from '../features/apps/schemas.ts';
import { inWorkspaceBySession, router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Connected apps'];

export const appsRouter = router({
  list: signedInBySession
    .meta({
      refusals: [403],
      openapi: {
        method: 'GET',
        path: '/api/auth/apps',
        tags,
        summary: 'List your connected apps',
        successDescription: 'The connected apps of the caller',
        description:
          'The apps that the caller has connected with OAuth, in all workspaces, newest first. They use `/mcp`.',
      },
    })
    .input(ListPageInput.default({}))
    .output(ConnectedAppList)
    .query(async ({ ctx, input }) => pageAs('apps', await listApps(ctx.services, ctx.caller, input))),

  describe: signedInBySession
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/auth/apps/request',
        tags,
        summary: 'Describe what an app asks for',
        successDescription: 'The app and the scopes that it asks for',
        description:
          'For a consent page, which passes on the parameters of its URL. 400 if the app is not registered, or if a ' +
          'parameter is wrong; the browser must then not return to the app.',
      },
    })
    .input(AuthorizationInput)
    .output(AuthorizationAnswer)
    .query(({ ctx, input }) => describeAuthorization(ctx.services, input, endpointsOf(ctx.origin))),

  connect: inWorkspaceBySession('member')
    .meta({
      needsRecentSignIn: true,
      idempotencyKey: 'ignored',
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/apps',
        tags,
        summary: 'Connect an app to a workspace',
        successDescription: 'Where to send the browser',
        description:
          'For a consent page, when the person allows what the app asks for. The app acts for the person in this ' +
          'workspace, with their current role, and only within `scopes`, for 30 days. A change of the password and ' +
          'the end of the membership end it earlier. Another connection of the same app to the workspace ends. ' +
          'Requires a recent sign-in. 409 if the person has connected too many apps.',
      },
    })
    .input(ConnectAppInput)
    .output(ConnectedAppAnswer)
    .mutation(({ ctx, input }) => {
      const { caller, actor, sessionId } = ctx;
      const call = { caller, actor, sessionId, client: clientOf(ctx) };
      return connectApp(ctx.services, call, input, endpointsOf(ctx.origin));
    }),

  disconnect: signedInBySession
    .meta({
      refusals: [404],
      openapi: {
        method: 'DELETE',
        path: '/api/auth/apps/{appId}',
        tags,
        summary: 'Disconnect an app',
        successDescription: 'The app is disconnected',
        description: 'The tokens of the app stop working at once.',
      },
    })
    .input(AppInput)
    .output(Ok)
    .mutation(({ ctx, input }) => disconnectApp(ctx.services, { caller: ctx.caller, client: clientOf(ctx) }, input)),
});
