import { inWorkspace, type Rows, wrongNames } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

export const apiKeyRows: Rows = {
  'apiKeys.list': { who: 'admin', keys: true, input: inWorkspace, writes: false },
  'apiKeys.create': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), name: 'Another' }),
    writes: true,
    wrong: wrongNames,
  },
  'apiKeys.toggle': {
    who: 'admin',
    keys: false,
    input: key,
    writes: true,
    children: { keyId: 'API key not found' },
    wrong: [2, '1', null].map((flag) => ({
      input: { is_active: flag },
      message: 'is_active must be one of 0, 1, false, true',
      path: 'is_active',
    })),
  },
  'apiKeys.delete': {
    who: 'owner',
    keys: false,
    input: key,
    writes: true,
    children: { keyId: 'API key not found' },
  },
};

function key(scene: Scene): Input {
  return { ...inWorkspace(scene), keyId: scene.keyId };
}
