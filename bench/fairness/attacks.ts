/** What one account does with many connections at once, while the others go on working. All calls only read. */
import type { Call } from '../load.ts';
import { workspaces } from '../world.ts';

export type Attack = { title: string; call: Omit<Call, 'token'>; isPublic?: true };

const BATCH = 50;
const at = `/api/workspaces/${workspaces.read}`;

/** The maximum range of free times, from now on. */
function longestRange(): string {
  const from = Math.floor(Date.now() / 1000);
  return `from=${from}&to=${from + 62 * 86_400}`;
}

function batchOf(procedure: string, input: object): string {
  const names = Array.from({ length: BATCH }, () => procedure).join(',');
  const inputs = Object.fromEntries(Array.from({ length: BATCH }, (_, index) => [index, input]));
  return `/trpc/${names}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`;
}

function get(path: string): Omit<Call, 'token'> {
  return { method: 'GET', path };
}

export const attacks: Record<string, Attack> = {
  contacts: { title: 'contacts.csv, 10,000 contacts', call: get(`${at}/contacts.csv`) },
  account: { title: 'export of the account', call: get('/api/auth/export') },
  search: { title: 'library search', call: get(`${at}/library?limit=50&search=harbor%20invo`) },
  short: { title: 'library search for one letter', call: get(`${at}/library?limit=50&search=q`) },
  times: { title: '62 days of booking times', call: get(`/api/book/page-1?${longestRange()}`), isPublic: true },
  batch: { title: 'batch of 50 lists of 200 labels', call: get(batchOf('labels.list', { id: workspaces.read })) },
  pages: { title: 'list of 1,000 booking pages', call: get(`${at}/booking-pages`) },
  labels: { title: 'list of 200 labels', call: get(`${at}/labels`) },
  list: { title: 'library, 50 by date', call: get(`${at}/library?limit=50`) },
};
