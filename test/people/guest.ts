/** Plants a person everywhere in a workspace: each place has their marker. */

import { onlyRow } from '../../src/db/only-row.ts';
import { toBody } from '../../src/events/envelope.ts';
import { createPage } from '../bookings/pages.ts';
import { addRoom } from '../participants/rooms.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Team } from '../support/world.ts';

export type Guest = {
  /** In lower case, so that no normalization changes it. */
  marker: string;
  name: string;
  email: string;
  contactId: number;
  participantId: number;
  /** A visit of somebody without an address. */
  namelessId: number;
  roomName: string;
  bookingId: number;
  /** The token for cancelling the booking. */
  bookingToken: string;
  pageSlug: string;
  webhookId: number;
};

/** Stored beside the data of the person. No export may have one. */
export const SECRETS = ['sealed-webhook-secret', 'sealed-credentials', 'sealed-participant-token'];

export async function addGuest(app: TestApp, team: Team, word: string): Promise<Guest> {
  const { db } = app.services;
  const marker = `${word}-marker-${crypto.randomUUID()}`;
  const [name, email] = [`Vera ${marker}`, `${marker}@example.com`];
  const room = await addRoom(app, team, team.admin);
  const page = await createPage(app, team, { title: `Talk with ${word}` });
  const participantId = await joinAs(app, room.name, { name, email: email.toUpperCase() });
  const namelessId = await joinAs(app, room.name, { name: 'Nobody' });
  for (const other of ['other@example.com', email.replace('@', '+tag@').replace(marker, 'vera')])
    await joinAs(app, room.name, { name: 'Other', email: other });
  const booking = await book(app, page.slug, { name, email });
  await team.admin.client.invitations.create.mutate({ id: team.id, email, role: 'member' });
  const pass = { name, email: email.toUpperCase(), external_id: marker, metadata: { note: marker } };
  await team.admin.client.participants.create.mutate({ id: team.id, roomName: room.name, ...pass });
  await plantCallbacks(app, team, { name, email, marker, roomId: room.id });
  const webhookId = await plantMessage(app, team, { marker, participantId });
  const contact = await db.contact.findFirstOrThrow({ where: { workspaceId: team.id, email } });
  return {
    marker,
    name,
    email,
    contactId: contact.id,
    participantId,
    namelessId,
    roomName: room.name,
    bookingId: booking.id,
    bookingToken: booking.cancel_token,
    pageSlug: page.slug,
    webhookId,
  };
}

async function joinAs(app: TestApp, room: string, person: { name: string; email?: string }): Promise<number> {
  const { status, body } = await app.http.post(`/api/rooms/${room}/join`, undefined, person);
  if (status !== 200) throw new Error(`Failed to join: ${JSON.stringify(body)}`);
  return body.participant.id;
}

async function book(app: TestApp, slug: string, person: { name: string; email: string }) {
  const { body: offered } = await app.http.get(`/api/book/${slug}`);
  const { status, body } = await app.http.post(`/api/book/${slug}`, undefined, {
    ...person,
    starts_at: offered.times[Math.floor(Math.random() * offered.times.length)],
  });
  if (status !== 200) throw new Error(`Failed to book: ${JSON.stringify(body)}`);
  return body.booking;
}

type Planted = { name: string; email: string; marker: string; roomId: number };

/** What a meeting provider reported: a visit with an address as it was typed, and callbacks. */
async function plantCallbacks(app: TestApp, { id }: Team, { name, email, marker, roomId }: Planted): Promise<void> {
  const { db } = app.services;
  const now = app.clock.now();
  const connection = await db.meetingConnection.create({
    data: {
      workspaceId: id,
      ingestId: crypto.randomUUID(),
      name: 'Provider',
      provider: 'generic',
      sealedCredentials: Buffer.from('sealed-credentials'),
      createdAt: now,
      updatedAt: now,
    },
  });
  const of = { workspaceId: id, connectionId: connection.id, meeting: 'meeting' };
  await db.participant.create({
    data: {
      ...of,
      roomId,
      name,
      email: ` ${email.toUpperCase()} `,
      status: 'left',
      joinedAt: now,
      leftAt: now,
      participantReference: `ref-${marker}`,
      sealedToken: Buffer.from('sealed-participant-token'),
      createdAt: now,
      lastSeenAt: now,
    },
  });
  const room = { kind: 'name', name: 'meeting' };
  const joined = { kind: 'participant.joined', room, participantReference: `ref-${marker}`, name, email, at: now };
  const other = { ...joined, participantReference: 'other', name: 'Other', email: 'other@example.com' };
  await db.ingestEvent.create({
    data: {
      workspaceId: id,
      connectionId: connection.id,
      dedupeKey: crypto.randomUUID(),
      facts: JSON.parse(JSON.stringify([joined, other])),
      receivedAt: now,
      appliedAt: now,
    },
  });
  const unmatched = { kind: 'participant.left', reason: 'unknown_participant', occurredAt: now, receivedAt: now };
  await db.unmatchedCallback.create({ data: { ...of, ...unmatched, reference: `ref-${marker}` } });
}

/** A message that was attempted, whose receiver repeated the name. */
async function plantMessage(
  app: TestApp,
  { id }: Team,
  { marker, participantId }: { marker: string; participantId: number },
): Promise<number> {
  const { db } = app.services;
  const now = app.clock.now();
  const webhook = await db.webhook.create({
    data: {
      workspaceId: id,
      name: 'Receiver',
      url: 'https://example.com/hook',
      sealedSecret: Buffer.from('sealed-webhook-secret'),
      events: ['room.joined'],
      isActive: false,
      createdAt: now,
      updatedAt: now,
    },
  });
  const event = await db.event.findFirstOrThrow({
    where: { workspaceId: id, type: 'room.joined', data: { path: ['participant_id'], equals: participantId } },
  });
  const message = { workspaceId: id, webhookId: webhook.id, createdAt: now };
  const { id: messageId } = await db.webhookMessage.create({
    data: {
      ...message,
      id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
      eventId: event.id,
      event: event.type,
      payload: toBody({ event: event.type, timestamp: event.createdAt, data: event.data }),
      status: 'delivered',
      attempts: 1,
      updatedAt: now,
    },
  });
  await db.webhookDelivery.create({
    data: {
      ...message,
      messageId,
      attempt: 1,
      responseStatus: 200,
      responseBody: `Hello ${marker}`,
      success: true,
      durationMs: 5,
    },
  });
  return webhook.id;
}

/** The columns of all tables, as `schema.table.column`, in which a row contains the text. Bytes are read as UTF-8. */
export async function columnsWith({ services: { db } }: TestApp, text: string): Promise<string[]> {
  const columns = await db.$queryRaw<{ schema: string; name: string; column: string; type: string }[]>`
    select c.table_schema as schema, c.table_name as name, c.column_name as column, c.data_type as type
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')
      and c.data_type in ('text', 'json', 'jsonb', 'bytea', 'ARRAY', 'character varying')
    order by 1, 2, 3`;
  const found: string[] = [];
  for (const { schema, name, column, type } of columns) {
    const value = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
    // The names come from the catalog of PostgreSQL.
    const rows = await db.$queryRawUnsafe<{ count: number }[]>(
      `select count(*)::int as count from "${schema}"."${name}" where strpos(lower(${value}), $1) > 0`,
      text,
    );
    if (onlyRow(rows).count > 0) found.push(`${schema}.${name}.${column}`);
  }
  return found;
}
