import { inWorkspace, type Rows } from '../row.ts';

export const memberRows: Rows = {
  'members.changeRole': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), userId: scene.member.id, role: 'admin' }),
    writes: true,
    children: { userId: 'Member not found' },
    wrong: [
      { input: { role: undefined }, message: 'role is required', path: 'role' },
      { input: { role: 'Owner' }, message: 'role must be one of owner, admin, member', path: 'role' },
      { input: { role: ['admin'] }, message: 'role must be one of owner, admin, member', path: 'role' },
    ],
  },
  'members.remove': {
    who: 'member',
    keys: false,
    // The owner cannot leave, so the owner removes the admin.
    input: (scene, by) => ({ ...inWorkspace(scene), userId: by.id === scene.owner.id ? scene.admin.id : by.id }),
    writes: true,
    children: { userId: 'Member not found' },
  },
};
