import type { Rows } from '../row.ts';

export const accessRows: Rows = {
  'access.list': { who: 'user', keys: false, input: () => ({}), writes: false },
  'access.end': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: async (world) => {
      const user = await world.addUser('Solo');
      await world.app.http.post('/api/auth/calendar-feed', user.token);
      return user;
    },
  },
};
