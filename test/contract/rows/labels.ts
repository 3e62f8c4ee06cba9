import { inWorkspace, type Rows, wrongColors, wrongNames, wrongPages } from '../row.ts';

export const labelRows: Rows = {
  'labels.list': { who: 'member', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
  'labels.create': {
    who: 'admin',
    keys: true,
    scope: 'write',
    forbidden: 'Only owners and admins can create labels',
    input: (scene) => ({ ...inWorkspace(scene), name: 'Green', color: '#0f0' }),
    writes: true,
    wrong: [...wrongNames, ...wrongColors],
    conflict: {
      input: (scene) => ({ ...inWorkspace(scene), name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.update': {
    who: 'admin',
    keys: true,
    scope: 'write',
    forbidden: 'Only owners and admins can update labels',
    input: (scene) => ({ ...inWorkspace(scene), labelId: scene.redId, name: 'Crimson', color: '#DC143C' }),
    writes: true,
    children: { labelId: 'Label not found' },
    wrong: [...wrongNames.filter(({ input }) => Object.values(input)[0] != null), ...wrongColors],
    conflict: {
      input: (scene) => ({ ...inWorkspace(scene), labelId: scene.redId, name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.delete': {
    who: 'admin',
    keys: true,
    scope: 'write',
    forbidden: 'Only owners and admins can delete labels',
    input: (scene) => ({ ...inWorkspace(scene), labelId: scene.redId }),
    writes: true,
    children: { labelId: 'Label not found' },
  },
};
