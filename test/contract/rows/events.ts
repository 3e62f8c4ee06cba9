import { inWorkspace, type Rows } from '../row.ts';

const message = 'last_event_id must be the id of an event from an event stream';

export const eventRows: Rows = {
  'events.stream': {
    who: 'member',
    keys: true,
    input: inWorkspace,
    writes: false,
    wrong: [
      { input: { last_event_id: 'x' }, message, path: 'last_event_id' },
      { input: { last_event_id: -1 }, message, path: 'last_event_id' },
    ],
  },
};
