import { inWorkspace, type Rows, wrongNames, wrongPages } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

export const apiKeyRows: Rows = {
  'apiKeys.list': { who: 'admin', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
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
    wrong: [
      ...[2, '1'].map((flag) => ({
        input: { is_active: flag },
        message: 'is_active must be one of 0, 1, false, true',
        path: 'is_active',
      })),
      ...[{ name: 'Renamed' }, { active: true }, { Toggle: true }].map((input) => ({
        input,
        message: 'Send is_active or toggle, or an empty body',
        path: 'is_active',
      })),
      { input: { toggle: 1 }, message: 'toggle must be a boolean', path: 'toggle' },
      {
        input: { toggle: true, is_active: 1 },
        message: 'Send either toggle or is_active',
        path: 'is_active',
      },
    ],
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
