/** Test helpers for creating booking pages, and for booking and cancelling meetings. */
import type { Answer } from '../support/http.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Team } from '../support/world.ts';

type Page = { id: number; slug: string; url: string };

export type PageInput = Record<string, unknown>;

/** Open every day from 09:00 to 17:00 in UTC, for meetings of half an hour. */
export const officeHours: PageInput = {
  title: 'Intro call',
  duration_minutes: 30,
  time_zone: 'UTC',
  hours: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => ({
    day,
    from: '09:00',
    to: '17:00',
  })),
};

export async function createPage(app: TestApp, team: Team, input: PageInput = {}, by = team.admin): Promise<Page> {
  const { status, body } = await app.http.post(`${team.path}/booking-pages`, by.token, { ...officeHours, ...input });
  if (status !== 200) throw new Error(`Failed to create a booking page: ${JSON.stringify(body)}`);
  return body.bookingPage;
}

/** Converts a time such as `2026-06-16T09:00:00Z` to Unix seconds. */
export function at(time: string): number {
  return Date.parse(time) / 1000;
}

export function book(app: TestApp, slug: string, startsAt: number, name = 'Vera'): Promise<Answer> {
  return app.http.post(`/api/book/${slug}`, undefined, {
    name,
    email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com`,
    starts_at: startsAt,
  });
}

export function cancel(app: TestApp, slug: string, token: string): Promise<Answer> {
  return app.http.post(`/api/book/${slug}/cancel`, undefined, { token });
}

export function reschedule(app: TestApp, slug: string, token: string, startsAt: number): Promise<Answer> {
  return app.http.post(`/api/book/${slug}/reschedule`, undefined, { token, starts_at: startsAt });
}

export function lookUp(app: TestApp, slug: string, token: string): Promise<Answer> {
  return app.http.post(`/api/book/${slug}/booking`, undefined, { token });
}

/** The times to which the booking can be moved. */
export async function timesToMove(app: TestApp, token: string, range: object = {}): Promise<number[]> {
  const { status, body } = await app.http.post('/api/book/any/booking/times', undefined, { token, ...range });
  if (status !== 200) throw new Error(`Failed to list times: ${JSON.stringify(body)}`);
  return body.times;
}
