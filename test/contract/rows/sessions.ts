import { type Rows, wrongPages } from '../row.ts';

export const sessionRows: Rows = {
  'sessions.list': { who: 'user', keys: false, input: () => ({}), writes: false, wrong: wrongPages },
  'sessions.end': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ sessionId: by.sessionId }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    children: { sessionId: 'Session not found' },
  },
  'sessions.endOthers': { who: 'user', keys: false, input: () => ({}), writes: true },
};
