/** The names that participants have on a LiveKit server. Without types of browsers, so that it can be tested. */
import { isRecord } from './kinds.ts';

/** The service signs these names into the tokens: the reference of a participant, a dot and the ID of their page. */
const IDENTITY = /^ref_([1-9]\d*)_[\w-]+\.([\w-]{8,64})$/;

/** Returns the page of a participant as `pageKey` writes it; null for what is no participant, such as a recorder. */
export function readIdentity(identity: string): string | null {
  const [, id, connectionId] = IDENTITY.exec(identity) ?? [];
  return id === undefined || connectionId === undefined ? null : pageKey(Number(id), connectionId);
}

export function pageKey(participantId: number, connectionId: string): string {
  return `${participantId} ${connectionId}`;
}

/**
 * Whether a token is for the page with this ID. Answers to calls that name no page have a token for a page that nobody
 * knows, which the others would not recognize.
 */
export function isTokenOf(token: string, connectionId: string): boolean {
  const [, claims = ''] = token.split('.');
  try {
    const payload: unknown = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
    return isRecord(payload) && typeof payload.sub === 'string' && payload.sub.endsWith(`.${connectionId}`);
  } catch {
    return false;
  }
}
