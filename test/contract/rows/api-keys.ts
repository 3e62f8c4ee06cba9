import { scopes } from '../../../src/core/scopes.ts';
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
    wrong: [
      ...wrongNames,
      { input: { belongs_to: 'team' }, message: 'belongs_to must be one of user, workspace', path: 'belongs_to' },
      { input: { scopes: [] }, message: 'scopes must have at least 1 entries', path: 'scopes' },
      { input: { scopes: 'read' }, message: 'scopes must be an array', path: 'scopes' },
      {
        input: { scopes: ['read', 'delete'] },
        message: `scopes.1 must be one of ${scopes.join(', ')}`,
        path: 'scopes.1',
      },
      { input: { expires_at: 1 }, message: 'expires_at must be in the future', path: 'expires_at' },
      {
        input: { allowed_networks: [] },
        message: 'allowed_networks must have at least 1 entries',
        path: 'allowed_networks',
      },
      ...[
        'example.com',
        '10.0.0.1/8',
        '10.0.0.0/33',
        '10.0.0.0/08',
        '',
        '::ffff:10.0.0.1',
        'fe80::1%eth0',
        '2001:db8::1/48',
      ].map((network) => ({
        input: { allowed_networks: ['203.0.113.0/24', network] },
        message: 'allowed_networks.1 must be an IP address, or a network such as 203.0.113.0/24',
        path: 'allowed_networks.1',
      })),
    ],
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
  'apiKeys.rotate': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), keyId: scene.workspaceKeyId }),
    writes: true,
    random: ['key_prefix', 'full_key'],
    children: { keyId: 'API key not found' },
    wrong: [
      ...[-1, 721].map((overlap_hours) => ({
        input: { overlap_hours },
        message: 'overlap_hours must be an integer between 0 and 720',
        path: 'overlap_hours',
      })),
      { input: { expires_at: 1 }, message: 'expires_at must be in the future', path: 'expires_at' },
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
