import type { Rows } from '../row.ts';

export const analyticsRows: Rows = {
  'analytics.read': {
    who: 'member',
    keys: true,
    workspace: 'workspaceId',
    input: ({ workspaceId }) => ({ workspaceId }),
    writes: false,
  },
};
