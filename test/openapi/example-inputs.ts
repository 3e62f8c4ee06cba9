/** Inputs that read better in the documentation than those of the contract tests, which they replace in part. */
import type { Input } from '../contract/transports.ts';

export const exampleInputs: Readonly<Record<string, Input>> = {
  'auth.register': { name: 'Ada Lovelace', email: 'ada@example.com' },
  'auth.updateMe': { name: 'Ada King' },
  'emails.change': { email: 'ada.king@example.com' },
  'passwords.forgot': { email: 'ada@example.com' },
  'passwords.reset': { password: 'correct horse battery staple' },
  'workspaces.create': { name: 'Design team' },
  'workspaces.rename': { name: 'Product team' },
  // Turning it on needs a session that satisfies it.
  'workspaces.setSignInRequirement': { required: null },
  // The example is of an owner without a confirmed address.
  'workspaces.setJoinDomain': { domain: null },
  'invitations.create': { email: 'grace@example.com', role: 'admin' },
  'rooms.create': {
    name: 'weekly-sync',
    display_name: 'Weekly sync',
    scheduled_at: 1_781_600_400,
    accent_color: '#6366f1',
    waiting_room_message: 'We start in a minute',
  },
  'rooms.update': { display_name: 'Weekly sync' },
  'participants.signal': { data: '{"description":{"type":"offer","sdp":"v=0..."}}' },
  'participants.join': { name: 'Vera Novak', email: 'vera@example.com' },
  'labels.create': { name: 'Contracts', color: '#6366f1' },
  'labels.update': { name: 'Invoices' },
  'library.list': { search: 'contract' },
  'library.update': { name: 'Contract 2026.pdf', description: 'Signed by both sides' },
  'contacts.create': { name: 'Walt Weber', email: 'walt@example.com' },
  'contacts.update': { name: 'Vera Novak' },
  'bookings.book': { name: 'Walt Weber', email: 'walt@example.com' },
  'bookingPages.create': { title: 'Intro call' },
  'apiKeys.create': { name: 'Nightly import', scopes: ['library:write'] },
  'apiKeys.rotate': { overlap_hours: 24 },
  'recordings.start': { title: 'Kick-off' },
  'recordings.startInRoom': { title: 'Kick-off' },
  'recordings.rename': { title: 'Weekly sync' },
  'webhooks.create': { name: 'Chat announcements', url: 'https://example.com/hooks/lynxroom' },
};
