import { inWorkspace, type Refusal, type Rows } from '../row.ts';

const wrongDays: readonly Refusal[] = [
  { input: { from: 'yesterday' }, message: 'from must be a day such as 2026-11-20', path: 'from' },
  { input: { to: '2026-02-30' }, message: 'to must be a day such as 2026-11-20', path: 'to' },
  { input: { from: '1969-12-31' }, message: 'from must be 1970-01-01 or later', path: 'from' },
  { input: { from: '2026-11-20', to: '2026-11-19' }, message: 'to must not be before from', path: 'to' },
  { input: { from: '2999-01-01' }, message: 'from must not be after today', path: 'from' },
  {
    input: { from: '2025-01-01', to: '2026-01-02' },
    message: 'from must be at most 365 days before to',
    path: 'from',
  },
  {
    input: { time_zone: 'Mars/Olympus' },
    message: 'time_zone must be an IANA time zone such as Europe/Berlin, or an offset such as +05:30',
    path: 'time_zone',
  },
];

export const analyticsRows: Rows = {
  'analytics.read': {
    who: 'member',
    keys: true,
    workspace: 'workspaceId',
    input: ({ workspaceId }) => ({ workspaceId }),
    writes: false,
  },
  'analytics.readRange': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), time_zone: 'Europe/Berlin', compare: true }),
    writes: false,
    wrong: wrongDays,
  },
  'analytics.export': { who: 'member', keys: true, input: inWorkspace, writes: false, wrong: wrongDays },
};
