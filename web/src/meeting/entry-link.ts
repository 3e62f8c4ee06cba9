/** The link that lets a person of another product into a room: its token is in the fragment of the address. */
import { session } from '../lib/storage.ts';
import { forgetVisit, readVisit } from './visit-storage.ts';

const PREFIX = 'lnj_';

const linkKey = (roomName: string): string => `lynxroom.link.${roomName}`;
const usedKey = (roomName: string): string => `lynxroom.link.used.${roomName}`;

/**
 * Takes the token out of the address, so that neither the history nor a copied address has it, and keeps it until the
 * person has joined. A visit of somebody else in this tab is forgotten. The link with which the visit in this tab began
 * leads back to it.
 */
export function takeLink(roomName: string): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token?.startsWith(PREFIX)) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  if (session.read(usedKey(roomName)) === token) return;
  session.write(linkKey(roomName), token);
  forgetVisit(roomName);
}

/** The token of a link that has not been used here. */
export function readLink(roomName: string): string | null {
  return session.read(linkKey(roomName));
}

/** Whether a link says who the person is: one that is to be used, or that of an earlier visit in this tab. */
export function namesPerson(roomName: string): boolean {
  return readLink(roomName) !== null || (session.read(usedKey(roomName)) !== null && readVisit(roomName) !== null);
}

/** The person has joined with the link. */
export function endLink(roomName: string): void {
  const token = readLink(roomName);
  if (token === null) return;
  session.write(usedKey(roomName), token);
  session.write(linkKey(roomName), null);
}

/** The link no longer works, or the pass has expired: the person can only join as a guest. */
export function forgetLink(roomName: string): void {
  session.write(usedKey(roomName), null);
  session.write(linkKey(roomName), null);
}
