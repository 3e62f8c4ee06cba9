/**
 * The references by which meeting providers name participants. Providers show what they are given to everyone in a
 * meeting, so a reference is no credential: only callbacks with a provider's signature accept it.
 */
import type { Sealer } from '../../core/sealing.ts';
import type { Visitor } from '../peers/media.ts';

const REFERENCE = /^ref_([1-9]\d{0,9})_([A-Za-z0-9_-]{43})$/;

/** Returns the reference of a participant: their id, and a keyed hash without which ids could be guessed. */
export function createReference(sealer: Sealer, workspaceId: number, participantId: number): string {
  const fingerprint = sealer.fingerprint(toSignedText(workspaceId, participantId));
  return `ref_${participantId}_${Buffer.from(fingerprint).toString('base64url')}`;
}

/** How a participant is named to others and to a media server. */
export function toVisitor(
  sealer: Sealer,
  participant: {
    id: number;
    workspaceId: number;
    roomId: number;
    roomName: string;
    name: string;
    status: string;
    isHost: boolean;
    isMember: boolean;
  },
  connectionId?: string,
): Visitor {
  const { id, workspaceId, roomId, roomName, name, status, isHost, isMember } = participant;
  const reference = createReference(sealer, workspaceId, id);
  const memberOrGuest = isMember ? 'member' : 'guest';
  const role = isHost ? 'host' : memberOrGuest;
  return { id, workspaceId, roomId, status, isHost, reference, roomName, name, role, connectionId };
}

/** Returns the id of the participant, or null if the text is not the reference of one of the workspace. */
export function readReference(sealer: Sealer, workspaceId: number, text: string): number | null {
  const [, id, fingerprint] = REFERENCE.exec(text) ?? [];
  if (id === undefined || fingerprint === undefined) return null;
  const isOurs = sealer.hasFingerprint(toSignedText(workspaceId, Number(id)), Buffer.from(fingerprint, 'base64url'));
  return isOurs ? Number(id) : null;
}

function toSignedText(workspaceId: number, participantId: number): string {
  return `participant reference ${workspaceId} ${participantId}`;
}
