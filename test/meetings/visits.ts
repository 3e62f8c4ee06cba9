/** Visits at given times, for the tests of meetings. */
import type { Meeting } from '../../src/features/meetings/schemas.ts';
import { HELD_AT, HELD_SECONDS } from '../participants/rooms.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Person, Team } from '../support/world.ts';

type Visit = {
  name?: string;
  email?: string | null;
  userId?: number;
  contactId?: number;
  firstVisitId?: number;
  /** Minutes after `HELD_AT`. */
  from: number;
  /** Null while the participant is in the room. */
  to: number | null;
};

/** The time as Unix seconds. */
export function secondsAt(minutes: number): number {
  return HELD_SECONDS + minutes * 60;
}

/** Adds a visit and returns its participant ID. */
export async function addVisit(
  app: TestApp,
  team: Pick<Team, 'id'>,
  roomId: number,
  { name = 'Gina', from, to, ...visit }: Visit,
): Promise<number> {
  const { id } = await app.services.db.participant.create({ data: toRow(team, roomId, { name, from, to, ...visit }) });
  return id;
}

export function toRow(team: Pick<Team, 'id'>, roomId: number, { name = 'Gina', from, to, ...visit }: Visit) {
  const joinedAt = dateAt(from);
  const leftAt = to === null ? null : dateAt(to);
  const lifecycle = { status: leftAt === null ? 'joined' : 'left', createdAt: joinedAt, joinedAt, leftAt };
  return { ...visit, ...lifecycle, workspaceId: team.id, roomId, name, lastSeenAt: leftAt ?? joinedAt };
}

function dateAt(minutes: number): Date {
  return new Date(HELD_AT.getTime() + Math.round(minutes * 60_000));
}

type Query = Record<string, string | number>;

/** Lists meetings over REST. */
export async function listMeetings(app: TestApp, team: Team, by: Person, query: Query = {}): Promise<Meeting[]> {
  return (await listPage(app, team, by, query)).meetings;
}

export async function listPage(
  app: TestApp,
  team: Team,
  by: Person,
  query: Query = {},
): Promise<{ meetings: Meeting[]; next_cursor?: string }> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const { status, body } = await app.http.get(`${team.path}/meetings?${search}`, by.token);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** What a test compares: when meetings began and ended, in minutes after `HELD_AT`, and who took part. */
export function summarize(meetings: readonly Meeting[]) {
  return meetings.map(({ started_at, ended_at, participants }) => ({
    from: toMinutes(started_at),
    to: ended_at === null ? null : toMinutes(ended_at),
    names: participants.map(({ name }) => name),
  }));
}

function toMinutes(seconds: number): number {
  return (seconds - HELD_SECONDS) / 60;
}
