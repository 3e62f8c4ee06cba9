/** What a tab keeps of a visit, so that a reload goes on with it. It ends with the tab. */
import { session } from '../lib/storage.ts';

const tokenKey = (roomName: string): string => `lynxroom.visit.${roomName}`;
const endedKey = (roomName: string): string => `lynxroom.visit.ended.${roomName}`;
const toldKey = (roomName: string): string => `lynxroom.visit.told.${roomName}`;

export type StoredVisit = {
  /** The token of the visit, by which the service knows who was in the room before. */
  token: string;
  /** The visit has ended: a reload does not join again by itself. */
  hasEnded: boolean;
};

export function readVisit(roomName: string): StoredVisit | null {
  const token = session.read(tokenKey(roomName));
  return token === null ? null : { token, hasEnded: session.read(endedKey(roomName)) !== null };
}

export function storeVisit(roomName: string, token: string): void {
  session.write(tokenKey(roomName), token);
  session.write(endedKey(roomName), null);
}

export function forgetVisit(roomName: string): void {
  session.write(tokenKey(roomName), null);
  session.write(endedKey(roomName), null);
}

export function storeEnd(roomName: string): void {
  session.write(endedKey(roomName), 'yes');
}

/** The recording of which this person was told, so that they are asked once. */
export function readToldRecording(roomName: string): number | null {
  const id = session.read(toldKey(roomName));
  return id === null ? null : Number(id);
}

export function storeToldRecording(roomName: string, recordingId: number): void {
  session.write(toldKey(roomName), String(recordingId));
}
