import { csvContent } from '../content.ts';
import { inWorkspace, type Refusal, type Rows, wrongNames, wrongPages, wrongRanges } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const children = { contactId: 'Contact not found' };

const wrongEmails: readonly Refusal[] = [
  { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
  { input: { email: 5 }, message: 'email must be a string', path: 'email' },
  {
    input: { email: `${'x'.repeat(250)}@example.com` },
    message: 'email must have at most 254 characters',
    path: 'email',
  },
];
const wrongNameTexts: readonly Refusal[] = [
  { input: { name: 'x'.repeat(101) }, message: 'name must have at most 100 characters', path: 'name' },
  ...['a\u0000', 'a\nb', '\ud800'].map((name) => ({
    input: { name },
    message: 'name must not contain control characters or invalid Unicode',
    path: 'name',
  })),
];

export const contactRows: Rows = {
  'contacts.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), search: 'VERA', limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongRanges,
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
    ],
  },
  'contacts.listEvents': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), type: 'room_join', limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongRanges.filter(({ input }) => !('search' in input)),
      { input: { type: 'x'.repeat(65) }, message: 'type must have at most 64 characters', path: 'type' },
    ],
  },
  'contacts.read': { who: 'member', keys: true, input: contact, writes: false, children },
  'contacts.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), name: ' Wanda ', email: ' Wanda@Example.com ' }),
    writes: true,
    wrong: [
      ...wrongNames,
      ...wrongNameTexts,
      ...wrongEmails,
      { input: { email: undefined }, message: 'email is required', path: 'email' },
    ],
    conflict: {
      input: (scene) => ({ ...inWorkspace(scene), name: 'Vera II', email: 'VERA@example.com' }),
      message: 'A contact with this email already exists',
    },
  },
  'contacts.update': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...contact(scene), name: 'Vera Novak', email: 'novak@example.com' }),
    writes: true,
    children,
    wrong: [...wrongNames.filter(({ input }) => Object.values(input)[0] != null), ...wrongNameTexts, ...wrongEmails],
  },
  'contacts.delete': { who: 'admin', keys: true, input: contact, writes: true, children },
  // The audit log records it.
  'contacts.export': { who: 'admin', keys: true, input: inWorkspace, writes: true },
  'contacts.import': {
    who: 'admin',
    keys: true,
    input: inWorkspace,
    content: () => csvContent('email\nwanda@example.com\n'),
    writes: true,
  },
};

function contact(scene: Scene): Input {
  return { ...inWorkspace(scene), contactId: scene.contactId };
}
