import { Ok } from '../core/shapes.ts';
import { joinRoom } from '../features/participants/join.ts';
import { listParticipants } from '../features/participants/list-participants.ts';
import { leaveRoom, recordPresence } from '../features/participants/presence.ts';
import {
  JoinAnswer,
  JoinInput,
  ListParticipantsInput,
  ParticipantAnswer,
  ParticipantInput,
  ParticipantsAnswer,
  PresenceAnswer,
} from '../features/participants/schemas.ts';
import { admit, refuse } from '../features/participants/waiting-room.ts';
import { anyoneOrSignedIn, inRoom, router, signedIn } from '../trpc/procedures.ts';

const tags = ['Participants'];

export const participantsRouter = router({
  join: anyoneOrSignedIn
    .meta({
      credential: 'optional',
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/join',
        tags,
        protect: false,
        summary: 'Join a room',
        description:
          'Anyone may, signed in or as a guest with a name; an `Authorization` header that is no valid credential is refused. Where the room has a waiting room, all but its user and the owner and admins of its workspace wait until they are let in: ask `presence` how it stands. Emits `room.joined` on entering.',
      },
    })
    .input(JoinInput)
    .output(JoinAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await joinRoom(ctx.services, ctx.caller, input) })),

  presence: inRoom
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/presence',
        tags,
        protect: false,
        summary: 'Say that you are there',
        description:
          'By the token of joining. Send it every minute or so: who is silent for five minutes (the default) counts as gone. Who waits learns here that they were let in, or not.',
      },
    })
    .output(PresenceAnswer)
    .mutation(async ({ ctx }) => ({ participant: await recordPresence(ctx.services, ctx.participant) })),

  leave: inRoom
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/leave',
        tags,
        protect: false,
        summary: 'Leave a room',
        description:
          'By the token of joining; also for who still waits. Emits `room.left` for who had joined. Leaving twice changes nothing.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => leaveRoom(ctx.services, ctx.participant)),

  list: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms/{name}/participants',
        tags,
        summary: 'List the participants of a room',
        description:
          "For the room's user, and owner and admins of its workspace. Who came last first: those who wait and who joined, or those of one status.",
      },
    })
    .input(ListParticipantsInput)
    .output(ParticipantsAnswer)
    .query(async ({ ctx, input }) => ({ participants: await listParticipants(ctx.services, ctx.caller, input) })),

  admit: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/participants/{participantId}/admit',
        tags,
        summary: 'Let a participant in',
        description:
          "For the room's user, and owner and admins of its workspace. Emits `room.joined`; who is in already stays so. 409 for who was refused or has left.",
      },
    })
    .input(ParticipantInput)
    .output(ParticipantAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await admit(ctx.services, ctx.caller, input) })),

  refuse: signedIn
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/participants/{participantId}/refuse',
        tags,
        summary: 'Refuse a participant',
        description:
          "For the room's user, and owner and admins of its workspace. They learn it by `presence`, and may ask to join again. 409 for who has joined or left.",
      },
    })
    .input(ParticipantInput)
    .output(ParticipantAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await refuse(ctx.services, ctx.caller, input) })),
});
