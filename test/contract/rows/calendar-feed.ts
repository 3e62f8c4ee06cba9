import type { TestApp } from '../../support/test-app.ts';
import type { Rows } from '../row.ts';
import type { User } from '../scene.ts';

export const calendarFeedRows: Rows = {
  'calendarFeed.read': { who: 'user', keys: false, input: () => ({}), writes: false },
  'calendarFeed.create': { who: 'user', keys: false, input: () => ({}), writes: true, random: ['url'] },
  'calendarFeed.delete': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    prepare: addFeed,
    async caller(world) {
      const user = await world.addUser('Solo');
      await addFeed(world.app, user);
      return user;
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

async function addFeed({ http }: TestApp, { token }: User): Promise<void> {
  await http.post('/api/auth/calendar-feed', token);
}
