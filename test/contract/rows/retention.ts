import { inWorkspace, type Rows } from '../row.ts';

export const retentionRows: Rows = {
  'retention.read': { who: 'owner', keys: true, input: inWorkspace, writes: false },
  'retention.set': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), media_retention_days: 30 }),
    writes: true,
    wrong: [8, 0, -7, 7.5, '7', true, undefined].map((days) => ({
      input: { media_retention_days: days },
      message: 'media_retention_days must be one of 7, 30, 60, 90, 180, 365 or null',
      path: 'media_retention_days',
    })),
  },
  'retention.preview': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), days: 30 }),
    writes: false,
    wrong: [8, 0, undefined].map((days) => ({
      input: { days },
      message: 'days must be one of 7, 30, 60, 90, 180, 365',
      path: 'days',
    })),
  },
  'retention.readRecordings': { who: 'owner', keys: true, input: inWorkspace, writes: false },
  'retention.setRecordings': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), recording_retention_days: 30 }),
    writes: true,
    wrong: [8, 0, -7, 7.5, '7', true, undefined].map((days) => ({
      input: { recording_retention_days: days },
      message: 'recording_retention_days must be one of 7, 30, 60, 90, 180, 365 or null',
      path: 'recording_retention_days',
    })),
  },
  'retention.previewRecordings': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), days: 30 }),
    writes: false,
    wrong: [8, 0, undefined].map((days) => ({
      input: { days },
      message: 'days must be one of 7, 30, 60, 90, 180, 365',
      path: 'days',
    })),
  },
};
