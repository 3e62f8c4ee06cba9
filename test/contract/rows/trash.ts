import { inWorkspace, type Refusal, type Rows, wrongPages } from '../row.ts';

const wrongIds = (field: string, one: string, max = 100): readonly Refusal[] => [
  { input: { [field]: undefined }, message: `${field} is required`, path: field },
  { input: { [field]: [] }, message: `${field} must name at least one ${one}`, path: field },
  {
    input: { [field]: Array.from({ length: max + 1 }, (_, index) => index + 1) },
    message: `${field} must have at most ${max} entries`,
    path: field,
  },
  { input: { [field]: ['1'] }, message: `${field}.0 must be a positive 32-bit integer`, path: `${field}.0` },
];

export const trashRows: Rows = {
  'trash.list': { who: 'member', keys: false, input: inWorkspace, writes: false, wrong: wrongPages },
  'trash.addItems': {
    who: 'member',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), item_ids: [scene.itemId, 2_000_000_000] }),
    writes: true,
    wrong: wrongIds('item_ids', 'item'),
  },
  'trash.addRecordings': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), recording_ids: [scene.recordingId, 2_000_000_000] }),
    writes: true,
    wrong: wrongIds('recording_ids', 'recording', 20),
    conflict: {
      input: (scene) => ({ ...inWorkspace(scene), recording_ids: [scene.stoppedRecording.recordingId] }),
      message: 'A recording that is not finished cannot be moved to the trash',
    },
  },
  'trash.addRoom': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), room_name: scene.quietRoomName }),
    writes: true,
    wrong: [
      { input: { room_name: undefined }, message: 'room_name is required', path: 'room_name' },
      { input: { room_name: ' ' }, message: 'Room name is required', path: 'room_name' },
    ],
  },
  'trash.restore': {
    who: 'member',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), entry_ids: [scene.entryId, 2_000_000_000] }),
    writes: true,
    wrong: wrongIds('entry_ids', 'entry'),
  },
  'trash.delete': {
    who: 'member',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), entryId: scene.entryId }),
    writes: true,
    children: { entryId: 'Trash entry not found' },
  },
  'trash.empty': { who: 'member', keys: false, input: inWorkspace, writes: true },
};
