import { inWorkspace, type Refusal, type Rows, wrongPages } from '../row.ts';

const wrongTimes: readonly Refusal[] = ['from', 'to'].flatMap((field) =>
  [-1, 1.5].map((value) => ({
    input: { [field]: value },
    message: `${field} must be an integer between 0 and 253402300799`,
    path: field,
  })),
);

const wrongFilters: readonly Refusal[] = [
  ...wrongTimes,
  {
    input: { actor_kind: 'robot' },
    message: 'actor_kind must be one of user, key, participant, system',
    path: 'actor_kind',
  },
  {
    input: { actor_user_id: 0 },
    message: 'actor_user_id must be a positive 32-bit integer',
    path: 'actor_user_id',
  },
];

export const auditRows: Rows = {
  'audit.list': {
    who: 'admin',
    keys: true,
    input: inWorkspace,
    writes: false,
    wrong: [...wrongPages, ...wrongFilters],
  },
  'audit.verify': {
    who: 'admin',
    keys: true,
    input: inWorkspace,
    writes: false,
    wrong: [{ input: { after: 'x' }, message: 'after must be the position of an earlier verification', path: 'after' }],
  },
  'audit.erase': {
    who: 'owner',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), user_id: scene.member.id }),
    writes: true,
    wrong: [{ input: { user_id: 0 }, message: 'user_id must be a positive 32-bit integer', path: 'user_id' }],
  },
  'audit.export': { who: 'admin', keys: true, input: inWorkspace, writes: true, wrong: wrongFilters },
  'audit.exportLines': { who: 'admin', keys: true, input: inWorkspace, writes: true, wrong: wrongFilters },
};
