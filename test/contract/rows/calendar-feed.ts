import type { Rows } from '../row.ts';

export const calendarFeedRows: Rows = {
  'calendarFeed.read': { who: 'user', keys: false, input: () => ({}), writes: false },
  'calendarFeed.create': { who: 'user', keys: false, input: () => ({}), writes: true, random: ['url'] },
  'calendarFeed.delete': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    async prepare({ http }, { token }) {
      await http.post('/api/auth/calendar-feed', token);
    },
  },
  'calendarFeed.download': {
    who: 'anyone',
    keys: true,
    input: ({ feedToken }) => ({ token: `${feedToken}.ics` }),
    writes: false,
    children: { token: 'Calendar feed not found' },
  },
};
