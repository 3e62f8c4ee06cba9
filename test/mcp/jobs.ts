/** The jobs that agents do in tests. They use only what the server tells them. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { TestApp } from '../support/test-app.ts';
import type { Agent } from './mcp-client.ts';

/** The main job of the README: upload a file, label it, search for it, and download it. */
export async function shareFile(agent: Agent, name: string): Promise<void> {
  const bytes = await readFile(new URL('../../examples/sample.pdf', import.meta.url));
  const upload = { name, content_base64: bytes.toString('base64'), idempotency_key: `upload-${name}` };
  const { data: uploaded } = await agent.call('library_upload', upload);
  expect(uploaded.item).toMatchObject({ name, size: bytes.length, mime_type: 'application/pdf' });
  const again = await agent.call('library_upload', upload);
  expect(again).toMatchObject({ replayed: true, data: { item: { id: uploaded.item.id } } });

  const { data: labelled } = await agent.call('labels_create', { name: `Contracts of ${name}` });
  const labelId = labelled.label.id;
  await agent.call('library_assign_label', { itemId: uploaded.item.id, labelId });
  const { data: found } = await agent.call('library_list', { search: name, label: labelId });
  expect(found.items.map(({ id }: { id: number }) => id)).toEqual([uploaded.item.id]);
  const { data: download } = await agent.call('library_download', { itemId: uploaded.item.id });
  const response = await fetch(download.url);
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
}

/** Creates a booking page, which is no tool of its own, books a meeting on it, and cancels the meeting. */
export async function bookMeeting(app: Pick<TestApp, 'clock'>, agent: Agent, slug: string): Promise<void> {
  const { operations } = await agent.call('search_operations', { query: 'create a booking page' });
  const [{ operation, arguments: schema }] = operations;
  expect([operation, schema.required]).toEqual(['bookingPages.create', ['title', 'time_zone', 'hours']]);
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
  const page = {
    title: 'Consultation',
    slug,
    duration_minutes: 30,
    time_zone: 'UTC',
    hours: days.map((day) => ({ day, from: '09:00', to: '17:00' })),
  };
  await agent.call('call_operation', { operation, arguments: page, idempotency_key: `page-${slug}` });
  const now = Math.floor(app.clock.now().getTime() / 1000);
  const { data: free } = await agent.call('bookings_times', { slug, from: now + 86_400, to: now + 3 * 86_400 });
  const [time] = free.times;
  const guest = { slug, name: 'Grace Guest', email: `${slug}@example.com`, starts_at: time };
  const booking = { ...guest, time_zone: 'UTC', idempotency_key: `book-${slug}` };
  const { data: booked } = await agent.call('bookings_book', booking);
  const repeated = await agent.call('bookings_book', booking);
  expect(repeated).toMatchObject({ replayed: true, data: { booking: { cancel_token: booked.booking.cancel_token } } });
  expect(await agent.fail('bookings_book', { ...booking, idempotency_key: `second-${slug}` })).toMatchObject({
    code: 'CONFLICT',
    next: expect.stringContaining('current state'),
  });
  const { data: list } = await agent.call('bookings_list', { from: now, status: 'confirmed' });
  const own = list.bookings.filter(({ email }: { email: string }) => email === guest.email);
  expect(own).toHaveLength(1);
  await agent.call('bookings_cancel_by_team', { bookingId: own[0].id });
}
