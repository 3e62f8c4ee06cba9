import { inWorkspace, type Rows, wrongPages } from '../row.ts';

export const embedTokenRows: Rows = {
  'embedTokens.list': { who: 'admin', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
  'embedTokens.current': { who: 'member', keys: true, input: inWorkspace, writes: false },
  'embedTokens.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), kind: 'library', access: 'upload', expires_in: 600 }),
    writes: true,
    random: ['token'],
    wrong: [
      { input: { kind: undefined }, message: 'kind is required', path: 'kind' },
      { input: { kind: 'rooms' }, message: 'kind must be one of library, webhooks', path: 'kind' },
      {
        input: { kind: 'webhooks', access: undefined, label_id: 1 },
        message: 'label_id is only for the kind library',
        path: 'label_id',
      },
      { input: { access: 'admin' }, message: 'access must be one of read, upload', path: 'access' },
      { input: { kind: 'webhooks' }, message: 'access is only for the kind library', path: 'access' },
      ...[59, 86_401, '600'].map((expires_in) => ({
        input: { expires_in },
        message: 'expires_in must be an integer between 60 and 86400',
        path: 'expires_in',
      })),
    ],
  },
  'embedTokens.revoke': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), tokenId: scene.tokenId }),
    writes: true,
    children: { tokenId: 'Embed token not found' },
  },
};
