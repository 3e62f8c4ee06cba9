import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { closeMeeting } from '../features/moderation/close-meeting.ts';
import { lockRoom, unlockRoom } from '../features/moderation/lock-room.ts';
import { muteAll } from '../features/moderation/mute-all.ts';
import { ClosedMeeting } from '../features/moderation/schemas.ts';
import { FOR_HOSTS } from '../features/participants/schemas.ts';
import { createRoom } from '../features/rooms/create-room.ts';
import { deleteRoom, updateRoom } from '../features/rooms/manage-rooms.ts';
import {
  listOwnRooms,
  listWorkspaceRooms,
  readPublicRoom,
  readRoom,
  readWorkspaceRoom,
} from '../features/rooms/read-rooms.ts';
import {
  CreateRoomInput,
  ListRoomsInput,
  ListWorkspaceRoomsInput,
  PublicRoomAnswer,
  PublicRoomInput,
  RecordingsVisibility,
  RecordingsVisibilityInput,
  RoomAnswer,
  RoomInput,
  RoomName,
  RoomsAnswer,
  UpdateRoomInput,
} from '../features/rooms/schemas.ts';
import { setRecordingsVisibility } from '../features/rooms/set-recordings-visibility.ts';
import { suggestRoomName } from '../features/rooms/suggest-room-name.ts';
import { anyone, anyoneRecognized, asRoomHost, inWorkspace, router, signedIn } from '../trpc/procedures.ts';

const tags = ['Rooms'];

export const roomsRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms',
        tags,
        summary: 'List my rooms',
        successDescription: 'The rooms of the caller',
        description:
          'The rooms that belong to the caller, newest first, or those of them that the filters select. `from` and ' +
          '`to` refer to `created_at`. With an API key, only those in its workspace.',
      },
    })
    .input(ListRoomsInput.default({}))
    .output(RoomsAnswer)
    .query(async ({ ctx, input }) => pageAs('rooms', await listOwnRooms(ctx.services, ctx.caller, input))),

  create: signedIn
    .meta({
      successStatus: 201,
      refusals: [403, 404, 409],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms',
        tags,
        summary: 'Create a room',
        successDescription: 'The new room',
        description:
          'Requires the role owner or admin in the workspace; everyone is the owner of their Personal workspace. 400 ' +
          '"Invalid room name" if the name has the wrong format. 409 if the name is taken, or if another room of the ' +
          'workspace has the `session_id`. Emits `room.created`.',
      },
    })
    .input(CreateRoomInput)
    .output(RoomAnswer)
    .mutation(async ({ ctx, input }) => ({ room: await createRoom(ctx.services, ctx.caller, input) })),

  read: signedIn
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/dashboard/rooms/{name}',
        tags,
        summary: 'Read a room',
        successDescription: 'The room',
        description: 'The room must belong to the caller, or they must be owner or admin of its workspace.',
      },
    })
    .input(RoomInput)
    .output(RoomAnswer)
    .query(async ({ ctx, input }) => ({ room: await readRoom(ctx.services.db.sql, ctx.caller, input) })),

  update: signedIn
    .meta({
      refusals: [403, 404, 409],
      openapi: {
        method: 'PATCH',
        path: '/api/dashboard/rooms/{name}',
        tags,
        summary: 'Update a room',
        successDescription: 'The room with the changes',
        description:
          'Requires the role owner or admin in the workspace of the room. Only the fields that are sent change; the ' +
          'name cannot be changed. 409 if another room of the workspace has the `session_id`. Switching the waiting ' +
          'room off admits everyone who is waiting, as long as the room has places. Nobody who is in the room has ' +
          'to leave because a setting changes: `max_participants` and `members_only` apply to people who join or ' +
          'are admitted afterwards. `members_only` refuses those who are waiting and are no members.',
      },
    })
    .input(UpdateRoomInput)
    .output(RoomAnswer)
    .mutation(async ({ ctx, input }) => ({ room: await updateRoom(ctx.services, ctx.caller, input) })),

  delete: signedIn
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'DELETE',
        path: '/api/dashboard/rooms/{name}',
        tags,
        summary: 'Delete a room',
        successDescription: 'The room and its recordings are deleted',
        description:
          'Requires the role owner or admin in the workspace of the room. Deletes the room with its ' +
          'recordings and their files. Emits `room.left` for each participant in the room.',
      },
    })
    .input(RoomInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteRoom(ctx.services, ctx.caller, input)),

  lock: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/lock',
        tags,
        summary: 'Lock a room',
        successDescription: 'The locked room',
        description:
          `${FOR_HOSTS} ` +
          'Nobody new can join until it is unlocked or the meeting is closed. Participants who are in it stay, and ' +
          'can come back if they leave. Those who are waiting can still be admitted. Locking it again changes ' +
          'nothing.',
      },
    })
    .input(RoomInput)
    .output(RoomAnswer)
    .mutation(async ({ ctx, input }) => ({ room: await lockRoom(ctx.services, ctx.host, input) })),

  unlock: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/unlock',
        tags,
        summary: 'Unlock a room',
        successDescription: 'The unlocked room',
        description: `${FOR_HOSTS} Unlocking it again changes nothing.`,
      },
    })
    .input(RoomInput)
    .output(RoomAnswer)
    .mutation(async ({ ctx, input }) => ({ room: await unlockRoom(ctx.services, ctx.host, input) })),

  close: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/close',
        tags,
        summary: 'Close the meeting in a room',
        successDescription: 'How many visits and recordings ended',
        description:
          `${FOR_HOSTS} ` +
          'Ends the visits of everyone in the room and emits `room.left` for each, refuses everyone who is waiting, ' +
          'stops running recordings, and unlocks the room. The room remains: people can join it again.',
      },
    })
    .input(RoomInput)
    .output(ClosedMeeting)
    .mutation(({ ctx, input }) => closeMeeting(ctx.services, ctx.host, input)),

  muteAll: asRoomHost
    .meta({
      refusals: [403, 404],
      openapi: {
        method: 'POST',
        path: '/api/dashboard/rooms/{name}/mute-all',
        tags,
        summary: 'Ask everybody to mute',
        successDescription: 'The others are asked to mute',
        description:
          `${FOR_HOSTS} ` +
          'The pages of all others in the meeting get `mute.requested` from their streams. They can unmute ' +
          'themselves again.',
      },
    })
    .input(RoomInput)
    .output(Ok)
    .mutation(({ ctx, input }) => muteAll(ctx.services, ctx.host, input)),

  listInWorkspace: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/rooms',
        tags,
        summary: 'List the rooms of a workspace',
        successDescription: 'The rooms of the workspace',
        description:
          'The rooms of all users in the workspace, newest first, or those that the filters select. `from` and `to` ' +
          'refer to `created_at`.',
      },
    })
    .input(ListWorkspaceRoomsInput)
    .output(RoomsAnswer)
    .query(async ({ ctx, input }) => pageAs('rooms', await listWorkspaceRooms(ctx.services, ctx.actor, input))),

  readInWorkspace: inWorkspace('member')
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/rooms/{name}',
        tags,
        summary: 'Read a room of a workspace',
        successDescription: 'The room',
        description: 'Any member, with the fields that the list of rooms has.',
      },
    })
    .input(RoomInput)
    .output(RoomAnswer)
    .query(async ({ ctx, input }) => ({ room: await readWorkspaceRoom(ctx.services, ctx.actor, input) })),

  setRecordingsVisibility: inWorkspace('admin')
    .meta({
      scopeLevel: 'write',
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/recordings-visibility',
        tags,
        summary: 'Set who can watch the recordings of all rooms',
        successDescription: 'The value that all rooms have now',
        description:
          'Owner or admin. Sets `recordings_visible_to` of every room that the workspace has. A room that is created ' +
          'later has `members`, unless it is created with another value.',
      },
    })
    .input(RecordingsVisibilityInput)
    .output(RecordingsVisibility)
    .mutation(({ ctx, input }) => setRecordingsVisibility(ctx.services, ctx.actor, input)),

  readPublic: anyoneRecognized('roomName')
    .meta({
      credential: 'recognized',
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/rooms/{roomName}',
        tags,
        protect: false,
        summary: 'Read the public fields of a room',
        successDescription: 'The public fields of the room',
        description:
          'For a page where people join. Returns the name, the display name, the color, the scheduled time, whether ' +
          'there is a waiting room, who may join, record and watch the recordings, and whether the meeting is full ' +
          'or being recorded. With a session, `must_wait` and `is_member` are about its user. An expired session ' +
          'and an API key count as no credential.',
      },
    })
    .input(PublicRoomInput)
    .output(PublicRoomAnswer)
    .query(async ({ ctx, input }) => ({ room: await readPublicRoom(ctx.services, ctx.caller, input, ctx.origin) })),

  generateName: anyone
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/dashboard/generate-name',
        tags,
        protect: false,
        summary: 'Suggest a room name',
        successDescription: 'A name that no room has',
        description: 'Returns a random name that no room currently has. The name is not reserved.',
      },
    })
    .output(RoomName)
    .query(async ({ ctx }) => ({ name: await suggestRoomName(ctx.services.db.sql) })),
});
