/**
 * Every operation of the router with what it takes, who may call it and how it refuses. The tests walk this table, so
 * that an operation without a row is seen.
 */
import type { Role } from '../../src/core/roles.ts';
import { PASSWORD } from '../support/world.ts';
import type { Input } from './doors.ts';
import type { Scene, Someone, World } from './scene.ts';

type Refusal = { input: Input; message: string; path: string };

export type Row = {
  /** Who may at least call it. `anyone`: without a credential; `user`: any signed-in user. */
  who: 'anyone' | 'user' | Role;
  /** The text of 403, where it is not "Forbidden". */
  forbidden?: string;
  /** A valid input. `by` is who calls. */
  input(scene: Scene, by: Someone): Input;
  /** Whether a successful call changes rows. */
  writes: boolean;
  /** Someone who can call it without harm to later calls, where that is not one of the scene. */
  caller?(world: World): Promise<Someone>;
  /** Parts of the input that name a child of the workspace, with the 404 text for one that is not there. */
  children?: Partial<Record<'labelId' | 'itemId' | 'userId', string>>;
  /** Wrong input, laid over the valid one, with the first issue that names it. */
  wrong?: readonly Refusal[];
  /** An input that stands against what is there already. */
  conflict?: { input(scene: Scene, by: Someone): Input; message: string };
};

const id = ({ workspaceId }: Scene): Input => ({ id: workspaceId });
const item = (scene: Scene): Input => ({ ...id(scene), itemId: scene.itemId });

const nameRequired = (name: unknown): Refusal => ({ input: { name }, message: 'Name is required', path: 'name' });
const wrongNames: readonly Refusal[] = [
  nameRequired(undefined),
  nameRequired(''),
  nameRequired(' \t '),
  nameRequired(null),
  { input: { name: 5 }, message: 'name must be a string', path: 'name' },
  { input: { name: ['a'] }, message: 'name must be a string', path: 'name' },
];
const wrongColors: readonly Refusal[] = ['#GGGGGG', 'red', '#12345', ''].map((color) => ({
  input: { color },
  message: 'color must be a hex color such as #6366f1',
  path: 'color',
}));
const alone = (world: World): Promise<Someone> => world.addSomeone('Solo');

export const rows: Record<string, Row> = {
  'auth.register': {
    who: 'anyone',
    input: ({ number }) => ({ name: 'New', email: `new${number}@example.com`, password: PASSWORD }),
    writes: true,
    wrong: [
      ...wrongNames,
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { password: 'short' }, message: 'password must have 8 to 200 characters', path: 'password' },
      { input: { password: undefined }, message: 'password is required', path: 'password' },
    ],
    conflict: {
      input: ({ owner }) => ({ name: 'Twin', email: owner.email, password: PASSWORD }),
      message: 'An account with this email address already exists',
    },
  },
  'auth.login': {
    who: 'anyone',
    input: ({ member }) => ({ email: member.email, password: PASSWORD }),
    writes: true,
    wrong: [
      { input: { email: undefined }, message: 'email is required', path: 'email' },
      { input: { email: 5 }, message: 'email must be a string', path: 'email' },
      { input: { password: null }, message: 'password must be a string', path: 'password' },
    ],
  },
  'auth.logout': { who: 'user', input: () => ({}), writes: true, caller: alone },
  'auth.me': { who: 'user', input: () => ({}), writes: false },
  'auth.updateMe': {
    who: 'user',
    input: () => ({ name: 'Renamed' }),
    writes: true,
    caller: alone,
    wrong: [
      ...wrongNames.slice(1),
      {
        input: { password: 'another password' },
        message: 'current_password is required to set a new password',
        path: 'current_password',
      },
      {
        input: { password: 'another password', current_password: 'not the current one' },
        message: 'current_password is wrong',
        path: 'current_password',
      },
      {
        input: { password: '1234567', current_password: PASSWORD },
        message: 'password must have 8 to 200 characters',
        path: 'password',
      },
    ],
  },
  'auth.deleteMe': {
    who: 'user',
    input: () => ({}),
    writes: true,
    caller: alone,
    conflict: {
      input: () => ({}),
      message: 'Transfer or delete the workspaces that you own with other members first',
    },
  },

  'workspaces.list': { who: 'user', input: () => ({}), writes: false },
  'workspaces.create': { who: 'user', input: () => ({ name: 'Crème brûlée' }), writes: true, wrong: wrongNames },
  'workspaces.read': { who: 'member', input: id, writes: false },
  'workspaces.rename': {
    who: 'owner',
    input: (scene) => ({ ...id(scene), name: 'Renamed' }),
    writes: true,
    wrong: wrongNames,
  },
  'workspaces.delete': { who: 'owner', input: id, writes: true },
  'workspaces.invite': { who: 'admin', input: id, writes: false },
  'workspaces.revokeInvite': { who: 'admin', input: id, writes: true },
  'workspaces.join': { who: 'user', input: ({ inviteToken }) => ({ token: inviteToken }), writes: true, caller: alone },

  'members.changeRole': {
    who: 'admin',
    input: (scene) => ({ ...id(scene), userId: scene.member.id, role: 'admin' }),
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
    // The owner cannot leave: he removes the admin.
    input: (scene, by) => ({ ...id(scene), userId: by.id === scene.owner.id ? scene.admin.id : by.id }),
    writes: true,
    children: { userId: 'Member not found' },
  },

  'labels.list': { who: 'member', input: id, writes: false },
  'labels.create': {
    who: 'admin',
    forbidden: 'Only owners and admins can create labels',
    input: (scene) => ({ ...id(scene), name: 'Green', color: '#0f0' }),
    writes: true,
    wrong: [...wrongNames, ...wrongColors],
    conflict: {
      input: (scene) => ({ ...id(scene), name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.update': {
    who: 'admin',
    forbidden: 'Only owners and admins can update labels',
    input: (scene) => ({ ...id(scene), labelId: scene.redId, name: 'Crimson', color: '#DC143C' }),
    writes: true,
    children: { labelId: 'Label not found' },
    wrong: [...wrongNames.slice(1), ...wrongColors],
    conflict: {
      input: (scene) => ({ ...id(scene), labelId: scene.redId, name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.delete': {
    who: 'admin',
    forbidden: 'Only owners and admins can delete labels',
    input: (scene) => ({ ...id(scene), labelId: scene.redId }),
    writes: true,
    children: { labelId: 'Label not found' },
  },

  'library.list': {
    who: 'member',
    input: (scene) => ({ ...id(scene), search: 'CONTRACT', sort: 'name', order: 'asc', limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...[0, 101, -1, 1.5, 'abc', '1e1', ''].map((limit) => ({
        input: { limit },
        message: 'limit must be an integer from 1 to 100',
        path: 'limit',
      })),
      { input: { offset: -1 }, message: 'offset must be an integer from 0 to 2147483647', path: 'offset' },
      { input: { sort: 'colour' }, message: 'sort must be one of date, name, size', path: 'sort' },
      { input: { order: 'DESC' }, message: 'order must be one of asc, desc', path: 'order' },
      { input: { label: 0 }, message: 'label must be a positive 32-bit integer', path: 'label' },
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
    ],
  },
  'library.read': { who: 'member', input: item, writes: false, children: { itemId: 'Item not found' } },
  'library.download': { who: 'member', input: item, writes: false, children: { itemId: 'Item not found' } },
  'library.update': {
    who: 'member',
    input: (scene) => ({ ...item(scene), name: 'Renamed.pdf', description: 'Two\nlines' }),
    writes: true,
    children: { itemId: 'Item not found' },
    wrong: [
      { input: { name: '' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: '  ' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: null }, message: 'name must be a string', path: 'name' },
      { input: { description: 7 }, message: 'description must be a string', path: 'description' },
    ],
  },
  'library.delete': { who: 'member', input: item, writes: true, children: { itemId: 'Item not found' } },
  'library.assignLabel': {
    who: 'member',
    input: (scene) => ({ ...item(scene), labelId: scene.blueId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
    wrong: [
      { input: { labelId: undefined }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: null }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: true }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
      { input: { labelId: '1' }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
    ],
  },
  'library.unassignLabel': {
    who: 'member',
    input: (scene) => ({ ...item(scene), labelId: scene.redId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
  },
};
