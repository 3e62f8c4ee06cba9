import { inWorkspace, type Rows, wrongPages } from '../row.ts';

export const memberRows: Rows = {
  'members.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), search: 'a', sort: 'name', order: 'desc' }),
    writes: false,
    wrong: [
      ...wrongPages,
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
      { input: { search: 'a\u0000' }, message: 'search must not contain NUL or invalid Unicode', path: 'search' },
      { input: { sort: 'email' }, message: 'sort must be one of joined_at, name', path: 'sort' },
      { input: { order: 'up' }, message: 'order must be one of asc, desc', path: 'order' },
    ],
  },
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
