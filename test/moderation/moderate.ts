/** Calls of the hosts of a room. */
import type { Answer } from '../support/http.ts';
import type { TestApp } from '../support/test-app.ts';

export function remove(app: TestApp, room: string, participantId: number, token: string): Promise<Answer> {
  return app.http.post(`/api/dashboard/rooms/${room}/participants/${participantId}/remove`, token);
}

export function lock(app: TestApp, room: string, token: string): Promise<Answer> {
  return app.http.post(`/api/dashboard/rooms/${room}/lock`, token);
}

export function unlock(app: TestApp, room: string, token: string): Promise<Answer> {
  return app.http.post(`/api/dashboard/rooms/${room}/unlock`, token);
}

export function close(app: TestApp, room: string, token: string): Promise<Answer> {
  return app.http.post(`/api/dashboard/rooms/${room}/close`, token);
}

/** Expects that the room is locked for the caller. */
export const lockedOut = { status: 403, body: { code: 'ROOM_LOCKED' } };
