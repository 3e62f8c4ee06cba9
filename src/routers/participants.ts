import type { RoomCaller } from '../auth/participants.ts';
import { keyIsNoPerson } from '../core/errors.ts';
import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { removeParticipant } from '../features/moderation/remove-participant.ts';
import { joinRoom } from '../features/participants/join.ts';
import { listParticipants, listWaiting } from '../features/participants/list-participants.ts';
import { leaveRoom, recordPresence } from '../features/participants/presence.ts';
import { openPresenceStream } from '../features/participants/presence-stream.ts';
import {
  FOR_HOSTS,
  JoinAnswer,
  JoinInput,
  ListParticipantsInput,
  LiveInput,
  ParticipantAnswer,
  ParticipantInput,
  ParticipantsAnswer,
  PresenceAnswer,
  PresenceInput,
  type PresenceMessage,
  PresenceStreamParams,
  PresenceStreamQuery,
  WaitingParticipantsAnswer,
} from '../features/participants/schemas.ts';
import { admitParticipant, refuseParticipant } from '../features/participants/waiting-room.ts';
import { MAX_SIGNAL_BYTES, SignalInput } from '../features/peers/schemas.ts';
import { sendSignal } from '../features/peers/signals.ts';
import { createPass } from '../features/room-passes/create-pass.ts';
import { exchangeLink } from '../features/room-passes/exchange-link.ts';
import { listPasses, revokePass } from '../features/room-passes/passes.ts';
import {
  CreatedParticipant,
  CreateParticipantInput,
  ExchangeInput,
  ListPassesInput,
  PassInput,
  RoomPassesAnswer,
} from '../features/room-passes/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { limitedNetworkOf, requireParticipant } from '../trpc/access.ts';
import type { Context } from '../trpc/context.ts';
import { anyoneNaming, anyoneOrInSession, asRoomHost, inRoom, inWorkspace, router } from '../trpc/procedures.ts';
import { type RawAccess, rawOperation } from '../trpc/raw-operation.ts';
import { toSubscription } from '../trpc/subscription.ts';

const tags = ['Participants'];

/** A signal, in which JSON may escape every character, and the other fields. */
const MAX_SIGNAL_BODY_BYTES = 6 * MAX_SIGNAL_BYTES + 4 * 1024;

const JOIN_AS_PERSON = 'Join with a session, or as a guest without the Authorization header';

export const participantsRouter = router({
  join: anyoneOrInSession('roomName', { refuseKey: () => keyIsNoPerson(JOIN_AS_PERSON) })
    .meta({
      credential: 'optional',
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/join',
        tags,
        protect: false,
        summary: 'Join a room',
        successDescription: 'The participant, who has joined or is waiting, and their token',
        description:
          'For anyone, either with a session or as a guest with a name. An invalid `Authorization` header is ' +
          'rejected. An API key gets 403 with the code `KEY_IS_NO_PERSON`, because it would make everyone for whom a ' +
          'program calls the same participant. If the room has a waiting room, everyone waits to be admitted, except ' +
          'the hosts of the room and the members of its workspace; `presence` returns the current status. Emits ' +
          '`room.joined` when the participant enters. If a user, or a guest with the `token` of an earlier join, ' +
          'joins again while still present, they remain the same participant. While the room is locked by a host, ' +
          'everyone except its hosts and those who were in it gets 403 with the code `ROOM_LOCKED`. If the room is ' +
          'only for members of the workspace, others get 403 with the code `MEMBERS_ONLY`, also where they would ' +
          'wait. 409 with the code `ROOM_FULL` if `max_participants` people are in the room, except for its hosts.',
      },
    })
    .input(JoinInput)
    .output(JoinAnswer)
    .mutation(({ ctx, input }) => joinRoom(ctx.services, ctx.caller, input)),

  create: inWorkspace('admin')
    .meta({
      scopeLevel: 'write',
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/rooms/{roomName}/participants',
        tags,
        summary: 'Let a person of your product into a room',
        successDescription: 'The person, a token that works once, and a link with it',
        description:
          'For owners and admins, by session or by an API key with `rooms:write`. Makes a pass: the person enters ' +
          'with the link, under this name, also if the room is only for members. A lock, a full room and a removal ' +
          'hold for them. With `is_host`, they pass the waiting room, record, have the place of a host, and admit, ' +
          'refuse and remove others, lock the room and close the meeting with their own token. Events and lists ' +
          'repeat `external_id` and `metadata`. Another call for the same `external_id` replaces the pass: an ' +
          'earlier link that was not used ends, and the visit goes on. 409 for more than 5,000 passes of a room that ' +
          'have not expired.',
      },
    })
    .input(CreateParticipantInput)
    .output(CreatedParticipant)
    .mutation(({ ctx, input }) => createPass(ctx.services, ctx.actor, input, appUrlOf(ctx))),

  listPasses: inWorkspace('admin')
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/rooms/{roomName}/passes',
        tags,
        summary: 'List passes of a room',
        successDescription: 'The passes of the room',
        description:
          'Owner or admin. Returns the passes that have not expired, oldest first, without their links. `is_used` ' +
          'says whether the link has been used, `created_by` who made the pass.',
      },
    })
    .input(ListPassesInput)
    .output(RoomPassesAnswer)
    .query(async ({ ctx, input }) => pageAs('passes', await listPasses(ctx.services, ctx.actor, input))),

  revokePass: inWorkspace('admin')
    .meta({
      scopeLevel: 'write',
      refusals: [404],
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/rooms/{roomName}/passes/{passId}',
        tags,
        summary: 'Revoke a pass',
        successDescription: 'The pass is revoked',
        description:
          'For owners and admins, by session or by an API key with `rooms:write`. The pass ends as if it had ' +
          'expired: its link no longer works, and a person who used it cannot come back. A visit that has begun goes ' +
          'on, without the rights of a host; removing the participant ends it.',
      },
    })
    .input(PassInput)
    .output(Ok)
    .mutation(({ ctx, input }) => revokePass(ctx.services, ctx.actor, input)),

  exchange: anyoneNaming('token')
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/exchange',
        tags,
        protect: false,
        summary: 'Join a room with a link',
        successDescription: 'The participant, who has joined or is waiting, and their token',
        description:
          'Exchanges the `token` of a link (`lnj_...`) for the own token of the participant, as joining does. With ' +
          'that token the person joins again, after a reload or later, until their pass expires. 404 "Link not ' +
          'found" once the link has been used, or if it was replaced, has expired or is for another room. If the ' +
          'room refuses the person, as `join` does, the link still works.',
      },
    })
    .input(ExchangeInput)
    .output(JoinAnswer)
    .mutation(({ ctx, input }) => exchangeLink(ctx.services, input)),

  presence: inRoom
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/presence',
        tags,
        protect: false,
        summary: 'Send a heartbeat',
        successDescription: 'The participant and their status',
        description:
          'Requires the `token` that joining returned. Send a heartbeat about once a minute: after five minutes ' +
          'without one (by default) a participant gets the status `left`. Returns the status, so a waiting ' +
          'participant learns whether they were admitted or refused. 403 with the code `PARTICIPANT_REMOVED` once a ' +
          'host has removed the participant. A page that exchanges media says with its `connection_id` whether its ' +
          'microphone, camera and shared screen are on, which the others see at once: 409 `CONNECTION_REPLACED` if ' +
          'another page of the participant has taken over, and `CONNECTION_NOT_OPEN` if it has opened no stream.',
      },
    })
    .input(PresenceInput)
    .output(PresenceAnswer)
    .mutation(({ ctx, input }) => recordPresence(ctx.services, ctx.participant, input)),

  signal: inRoom
    .meta({
      maxBodyBytes: MAX_SIGNAL_BODY_BYTES,
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/signals',
        tags,
        protect: false,
        summary: 'Send a signal to another participant',
        successDescription: 'The signal is stored for the other page',
        description:
          'For participants who have joined, with their `token`; others get 403. The stream of the other page, if ' +
          'opened with `peers=1`, sends the signal, if necessary again after a reconnect within a minute. Both must ' +
          'have joined the same room: 404 "Participant not found", or "Connection not found" if a page does not ' +
          'exchange media (any more). 409 `CONNECTION_REPLACED` from a page that another page of the participant has ' +
          'replaced, and `MEETING_FULL` while all places are taken. 429 for too many calls, or while more than 512 ' +
          'KiB from the sender are stored for the other page.',
      },
    })
    .input(SignalInput)
    .output(Ok)
    .mutation(({ ctx, input }) => sendSignal(ctx.services, ctx.participant, input)),

  leave: inRoom
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/rooms/{roomName}/leave',
        tags,
        protect: false,
        summary: 'Leave a room',
        successDescription: 'The participant has left',
        description:
          'Requires the `token` that joining returned; also works while waiting. Emits `room.left` if the ' +
          'participant had joined. Leaving again changes nothing.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => leaveRoom(ctx.services, ctx.participant)),

  live: inRoom
    .input(LiveInput)
    .subscription(({ ctx, input }) =>
      toSubscription<PresenceMessage>(openPresenceStream(ctx.services, ctx.participant, input, readerOf(ctx))),
    ),

  list: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms/{name}/participants',
        tags,
        summary: 'List the participants of a room',
        successDescription: 'The participants of the room',
        description:
          `${FOR_HOSTS} ` +
          'Returns the participants with the given `status` or, without `status`, those who are waiting or have ' +
          'joined, newest first.',
      },
    })
    .input(ListParticipantsInput)
    .output(ParticipantsAnswer)
    .query(async ({ ctx, input }) => pageAs('participants', await listParticipants(ctx.services, ctx.host, input))),

  listWaiting: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/participants/waiting',
        tags,
        summary: 'List who waits in the rooms of a workspace',
        successDescription: 'The waiting participants',
        description:
          'Any member. Returns the participants who are waiting in the rooms of which the caller is a host: all ' +
          'rooms for the owner and admins, and for a member the rooms that belong to them. They are in the ' +
          'order of their arrival.',
      },
    })
    .input(ListPageInput)
    .output(WaitingParticipantsAnswer)
    .query(async ({ ctx, input }) => pageAs('participants', await listWaiting(ctx.services, ctx.actor, input))),

  admit: asRoomHost
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/participants/{participantId}/admit',
        tags,
        summary: 'Admit a participant',
        successDescription: 'The participant, who has now joined',
        description:
          `${FOR_HOSTS} ` +
          'Emits `room.joined`. Admitting a participant again changes nothing. 409 for a participant who was ' +
          'refused or has left, with the code `MEETING_FULL` while all places in the meeting are taken, and with ' +
          'the code `ROOM_FULL` if the room is full. 403 with the code `MEMBERS_ONLY` if the room is only for ' +
          'members and the participant is not one.',
      },
    })
    .input(ParticipantInput)
    .output(ParticipantAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await admitParticipant(ctx.services, ctx.host, input) })),

  refuse: asRoomHost
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/participants/{participantId}/refuse',
        tags,
        summary: 'Refuse a participant',
        successDescription: 'The participant, who has now been refused',
        description:
          `${FOR_HOSTS} ` +
          'The participant learns this from `presence` and may join again. 409 for a participant who has joined or ' +
          'left.',
      },
    })
    .input(ParticipantInput)
    .output(ParticipantAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await refuseParticipant(ctx.services, ctx.host, input) })),

  remove: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/participants/{participantId}/remove',
        tags,
        summary: 'Remove a participant',
        successDescription: 'The participant, who is no longer in the room',
        description:
          `${FOR_HOSTS} ` +
          'Emits `room.left` if the participant had joined. Their token is no longer valid. Until the meeting is ' +
          'closed, but at most for 24 hours, the person waits to be admitted if they join again, even in a room ' +
          'without a waiting room.',
      },
    })
    .input(ParticipantInput)
    .output(ParticipantAnswer)
    .mutation(async ({ ctx, input }) => ({ participant: await removeParticipant(ctx.services, ctx.host, input) })),
});

type PresenceReader = ReturnType<typeof readerOf> & { participant: RoomCaller };

function readerOf(context: Context) {
  return { network: limitedNetworkOf(context), hungUp: context.bounds.hungUp };
}

/**
 * A participant of the room, identified by the token that they received on joining. An `EventSource` sends this token
 * in the query.
 */
const participantByToken: RawAccess<PresenceReader> = {
  credential: { schemes: {} },
  async admit({ context, token, params, query }) {
    // If the participant is a signed-in user, the header may contain their session token instead.
    const own = typeof query.token === 'string' ? query.token : (token ?? '');
    const participant = await requireParticipant(context, params.roomName ?? '', own);
    return { ...readerOf(context), participant };
  },
};

export const presenceStream = rawOperation({
  name: 'participants.stream',
  method: 'GET',
  path: '/api/rooms/{roomName}/presence/stream',
  params: PresenceStreamParams,
  query: PresenceStreamQuery,
  tags,
  summary: 'Stream the status of a participant',
  description:
    'Requires the `token` that joining returned: in the query, or as `Authorization: Bearer lnp_...`. Sends ' +
    'Server-Sent Events: the current status at once, and then each change. With `peers=1` and the `connection_id` of ' +
    'the page, it also sends the others in the room (`peers`), their signals (`signal`) and `mute.requested`, and ' +
    'ends with `connection.replaced` once another page of the participant has taken over. `participant.waiting` and ' +
    '`participant.joined` can be followed by other messages; `participant.refused`, `participant.left`, ' +
    '`participant.removed`, `room.closed` and `room.deleted` end the stream. The data contains the participant, ' +
    'in the form that `presence` returns. The stream does not replace heartbeats.',
  access: participantByToken,
  request: { kind: 'none' },
  response: { kind: 'events', description: 'The status, and each change to it, until the visit ends' },
  refusals: [403, 404],
  handle: async ({ services, caller, query }) =>
    openPresenceStream(services, caller.participant, { ...query, peers: query.peers === '1' }, caller),
});
