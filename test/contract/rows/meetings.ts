import { inWorkspace, type Refusal, type Rows, wrongPages } from '../row.ts';

const LAST_SECOND = 253_402_300_799;

const wrongRanges: readonly Refusal[] = [
  ...['from', 'to'].flatMap((field) =>
    [-1, 1.5, LAST_SECOND + 1, 'soon'].map((value) => ({
      input: { [field]: value },
      message: `${field} must be an integer between 0 and ${LAST_SECOND}`,
      path: field,
    })),
  ),
  { input: { from: 2_000, to: 2_000 }, message: '`to` must be after `from`', path: 'to' },
];

export const meetingRows: Rows = {
  'meetings.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), room: scene.roomName, from: 1_000, limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongRanges,
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { user_id: 1.5 }, message: 'user_id must be a positive 32-bit integer', path: 'user_id' },
      { input: { contact_id: 'me' }, message: 'contact_id must be a positive 32-bit integer', path: 'contact_id' },
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
    ],
  },
  'meetings.read': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), meetingId: scene.meetingId, limit: 10, offset: 0 }),
    writes: false,
    children: { meetingId: 'Meeting not found' },
    wrong: wrongPages,
  },
};
