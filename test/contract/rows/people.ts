import { inWorkspace, type Rows } from '../row.ts';

export const peopleRows: Rows = {
  // The log of the account records it.
  'people.exportAccount': { who: 'user', keys: false, input: () => ({}), writes: true },
  // The audit log records the others.
  'people.export': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), email: 'vera@example.com' }),
    writes: true,
    wrong: [{ input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' }],
  },
  'people.erase': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), email: 'vera@example.com' }),
    writes: true,
    wrong: [
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { email: undefined }, message: 'email is required', path: 'email' },
    ],
  },
  'people.exportContact': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), contactId: scene.contactId }),
    writes: true,
    children: { contactId: 'Contact not found' },
  },
  'people.exportParticipant': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), participantId: scene.participantId }),
    writes: true,
    children: { participantId: 'Participant not found' },
  },
};
