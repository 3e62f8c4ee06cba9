import { inWorkspace, type Refusal, type Rows, wrongPages, wrongRanges } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const wrongTitles: readonly Refusal[] = [
  { input: { title: 5 }, message: 'title must be a string', path: 'title' },
  { input: { title: 'x'.repeat(201) }, message: 'title must have at most 200 characters', path: 'title' },
  {
    input: { title: 'a\u0000' },
    message: 'title must not contain control characters or invalid Unicode',
    path: 'title',
  },
];

const wrongFilters: readonly Refusal[] = [
  {
    input: { status: 'lost' },
    message: 'status must be one of started, uploaded, available, failed',
    path: 'status',
  },
];

const wrongTokens: readonly Refusal[] = [
  { input: { token: undefined }, message: 'token is required', path: 'token' },
  { input: { token: 5 }, message: 'token must be a string', path: 'token' },
];

const byToken = { roomName: 'Participant not found', token: 'Participant not found' };

export const recordingRows: Rows = {
  'recordings.list': {
    who: 'user',
    keys: true,
    input: () => ({ limit: 10, offset: 0 }),
    writes: false,
    wrong: [...wrongPages, ...wrongRanges, ...wrongFilters],
  },
  'recordings.listInRoom': {
    who: 'room host',
    keys: true,
    input: (scene) => ({ ...room(scene), limit: 10, offset: 0 }),
    writes: false,
    children: { name: 'Room not found' },
    wrong: [...wrongPages, ...wrongRanges, ...wrongFilters],
  },
  'recordings.listInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), limit: 10, offset: 0, search: 'a', from: 1, to: 4_000_000_000 }),
    writes: false,
    wrong: [...wrongPages, ...wrongRanges, ...wrongFilters],
  },
  'recordings.readInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), ...recording(scene) }),
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.downloadInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), ...recording(scene) }),
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.download': {
    who: 'room host',
    keys: true,
    input: recording,
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.start': {
    who: 'room host',
    keys: true,
    input: ({ roomName }) => ({ name: roomName, title: ' Kick-off ', archive_id: 'archive-2' }),
    writes: true,
    random: ['upload_token'],
    children: { name: 'Room not found' },
    wrong: [
      ...wrongTitles,
      { input: { archive_id: 5 }, message: 'archive_id must be a string', path: 'archive_id' },
      { input: { archive_id: ' ' }, message: 'archive_id cannot be empty', path: 'archive_id' },
      {
        input: { archive_id: 'x'.repeat(201) },
        message: 'archive_id must have at most 200 characters',
        path: 'archive_id',
      },
    ],
    conflict: {
      input: ({ roomName }) => ({ name: roomName, archive_id: 'archive' }),
      message: 'A recording with this archive_id already exists',
    },
  },
  'recordings.startInRoom': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...inRoom(scene), title: 'Kick-off' }),
    writes: true,
    random: ['upload_token', 'archive_id'],
    children: byToken,
    wrong: [...wrongTokens, ...wrongTitles],
  },
  // The recording of a scene already has its file. Stopping it succeeds and changes nothing.
  'recordings.stop': {
    who: 'room host',
    keys: true,
    input: (scene) => ({ name: scene.roomName, ...recording(scene) }),
    writes: false,
    children: { name: 'Room not found', recordingId: 'Recording not found' },
  },
  'recordings.stopInRoom': {
    who: 'anyone',
    keys: true,
    input: (scene) => ({ ...inRoom(scene), ...recording(scene) }),
    writes: false,
    children: { ...byToken, recordingId: 'Recording not found' },
    wrong: wrongTokens,
  },
  'recordings.rename': {
    who: 'room host',
    keys: true,
    input: (scene) => ({ ...recording(scene), title: 'Retrospective' }),
    writes: true,
    children: { recordingId: 'Recording not found' },
    wrong: [{ input: { title: undefined }, message: 'title is required', path: 'title' }, ...wrongTitles],
  },
  // The recording of a scene already has its file, so nothing changes.
  'recordings.retryCopy': {
    who: 'room host',
    keys: true,
    input: recording,
    writes: false,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.delete': {
    who: 'room host',
    keys: true,
    input: recording,
    writes: true,
    children: { recordingId: 'Recording not found' },
  },
  'recordings.saveToLibrary': {
    who: 'room host',
    keys: true,
    input: (scene) => ({ ...recording(scene), name: 'Kept.mp4', description: 'From the room' }),
    writes: true,
    children: { recordingId: 'Recording not found' },
    wrong: [
      { input: { name: 5 }, message: 'name must be a string', path: 'name' },
      { input: { name: 'x'.repeat(256) }, message: 'name must have at most 255 characters', path: 'name' },
      { input: { description: 5 }, message: 'description must be a string', path: 'description' },
    ],
  },
};

function room({ roomName }: Scene): Input {
  return { name: roomName };
}

function recording({ recordingId }: Scene): Input {
  return { recordingId };
}

function inRoom({ roomName, participantToken }: Scene): Input {
  return { roomName, token: participantToken };
}
