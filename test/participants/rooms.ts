/** Rooms and guests for the tests of participants. */
import { expect } from 'vitest';
import { eventsOf } from '../support/events.ts';
import type { Answer } from '../support/http.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Person, Team } from '../support/world.ts';

export const HELD_AT = new Date('2026-06-15T12:00:00Z');
export const HELD_SECONDS = HELD_AT.getTime() / 1000;

let rooms = 0;

export type TestRoom = { id: number; name: string };

/** Creates a room in the team's workspace. */
export async function addRoom(app: TestApp, team: Team, by: Person, settings: object = {}): Promise<TestRoom> {
  rooms += 1;
  const input = { name: `meeting-${rooms}`, workspace_id: team.id, ...settings };
  const { status, body } = await app.http.post('/api/dashboard/rooms', by.token, input);
  expect(status).toBe(201);
  return { id: body.room.id, name: body.room.name };
}

export function addWaitingRoom(app: TestApp, team: Team, by: Person): Promise<TestRoom> {
  return addRoom(app, team, by, { waiting_room_enabled: 1, waiting_room_message: 'One moment, please' });
}

/** Joins a room, as a guest without `token`. */
export function join(app: TestApp, room: string, json?: unknown, token?: string): Promise<Answer> {
  return app.http.post(`/api/rooms/${room}/join`, token, json);
}

/** Adds a guest who has joined or waits. Returns their id and token. */
export async function addGuest(
  app: TestApp,
  room: string,
  json: object = { name: 'Gina' },
): Promise<{ id: number; token: string }> {
  const { status, body } = await join(app, room, json);
  expect(status).toBe(200);
  return body.participant;
}

export function presence(app: TestApp, room: string, token: string): Promise<Answer> {
  return app.http.post(`/api/rooms/${room}/presence`, undefined, { token });
}

export function leave(app: TestApp, room: string, token: string): Promise<Answer> {
  return app.http.post(`/api/rooms/${room}/leave`, undefined, { token });
}

export function decide(
  app: TestApp,
  decision: 'admit' | 'refuse',
  room: string,
  participantId: unknown,
  token: string | undefined,
): Promise<Answer> {
  return app.http.post(`/api/dashboard/rooms/${room}/participants/${participantId}/${decision}`, token);
}

export function list(app: TestApp, room: string, token: string | undefined, query = ''): Promise<Answer> {
  return app.http.get(`/api/dashboard/rooms/${room}/participants${query}`, token);
}

/** The data of the events of one type and of one room. */
export async function roomEvents(app: TestApp, workspaceId: number, roomId: number, type: string): Promise<unknown[]> {
  return (await eventsOf(app, workspaceId, type))
    .map(({ data }) => data)
    .filter((data) => (data as { room_id?: number }).room_id === roomId);
}

export function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}
