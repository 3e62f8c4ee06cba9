/** The writes of the server with the same duties. */
import { createHmac, randomBytes } from 'node:crypto';
import { createToken } from '../../src/auth/tokens.ts';
import { toMailbox } from '../../src/core/mailbox.ts';
import { createEncryptionKey, createSealer } from '../../src/core/sealing.ts';
import { fromUnixSeconds, MINUTE_MS, toUnixSeconds } from '../../src/core/time.ts';
import { toOpeningHours } from '../../src/features/booking-pages/present.ts';
import { isAvailable } from '../../src/features/bookings/available-times.ts';
import type { BookablePage } from '../../src/features/bookings/bookable-page.ts';
import { toGuestLinks } from '../../src/features/bookings/present.ts';
import { BookInput, BookingAnswer } from '../../src/features/bookings/schemas.ts';
import { ContactAnswer, CreateContactInput } from '../../src/features/contacts/schemas.ts';
import { CreateLabelInput, LabelAnswer } from '../../src/features/labels/schemas.ts';
import { AssignLabelInput, ItemLabelsAnswer } from '../../src/features/library/schemas.ts';
import { JoinAnswer, JoinInput } from '../../src/features/participants/schemas.ts';
import { CreateRoomInput, DEFAULT_COLOR, RoomAnswer } from '../../src/features/rooms/schemas.ts';
import { mailSeal } from '../../src/mail/queue-mail.ts';
import { toWorkspaceId } from './reads.ts';
import { app, countCall, hashToken, Refusal, requireCaller, run, send } from './server.ts';
import * as statements from './statements.ts';

/** The media of a room whose workspace has no meeting connection. */
const MEDIA = {
  kind: 'mesh',
  ice_servers: [],
  ice_transport_policy: 'all',
  max_participants: 8,
  credentials_expire_at: null,
};

/** Signs the references of participants. */
const REFERENCE_KEY = randomBytes(32);

type Id = { id: number };
type InWorkspace = { Params: { id: string }; Body: Record<string, unknown> };

const sealer = createSealer(createEncryptionKey());

const admins = ['owner', 'admin'];
const everyone = [...admins, 'member'];
const MAX_UPCOMING = 3;
const MAX_DISPLAY_NAME = 100;

app.post<{ Body: Record<string, unknown> }>('/api/dashboard/rooms', async (request, reply) => {
  const input = CreateRoomInput.parse(request.body);
  const caller = await requireCaller(request, reply, input.workspace_id ?? null, admins);
  const { name, accent_color = DEFAULT_COLOR, waiting_room_enabled = 0, waiting_room_message, scheduled_at } = input;
  const settings = [accent_color, waiting_room_enabled === 1, waiting_room_message ?? null, scheduled_at ?? null];
  const values = [caller.workspaceId, caller.userId, name, ...settings, input.display_name ?? null, caller.name];
  const [room] = await run<Id & { role: string }>(statements.CREATE_ROOM, values);
  if (room === undefined || !admins.includes(room.role)) throw new Refusal(403, 'Forbidden');
  if (room.id === null) throw new Refusal(409, 'Room name already taken');
  return send(request, reply, RoomAnswer.parse({ room }), 201);
});

app.post<InWorkspace>('/api/workspaces/:id/labels', async (request, reply) => {
  const caller = await requireCaller(request, reply, toWorkspaceId(request.params.id), admins);
  const { name, color } = CreateLabelInput.parse(request.body);
  const [row] = await run<Id>(statements.CREATE_LABEL, [caller.workspaceId, name, color, caller.userId]);
  if (row === undefined) throw new Refusal(409, 'A label with this name already exists');
  return send(request, reply, LabelAnswer.parse({ label: { ...row, created_by_name: caller.name } }));
});

app.post<{ Params: { id: string; itemId: string }; Body: Record<string, unknown> }>(
  '/api/workspaces/:id/library/:itemId/labels',
  async (request, reply) => {
    const caller = await requireCaller(request, reply, toWorkspaceId(request.params.id), everyone);
    const { itemId, labelId } = AssignLabelInput.parse({ ...request.body, itemId: Number(request.params.itemId) });
    const values = [caller.workspaceId, itemId, labelId];
    const labels = await run<Id & { items: number; found: number }>(statements.ASSIGN_LABEL, values);
    if (labels[0]?.items !== 1) throw new Refusal(404, 'Item not found');
    if (labels[0].found !== 1) throw new Refusal(404, 'Label not found');
    return send(request, reply, ItemLabelsAnswer.parse({ labels }));
  },
);

app.post<InWorkspace>('/api/workspaces/:id/contacts', async (request, reply) => {
  const caller = await requireCaller(request, reply, toWorkspaceId(request.params.id), admins);
  const { name, email } = CreateContactInput.parse(request.body);
  const values = [caller.workspaceId, caller.userId, name, email];
  const [contact] = await run<Id & { role: string }>(statements.CREATE_CONTACT, values);
  if (contact === undefined || !admins.includes(contact.role)) throw new Refusal(403, 'Forbidden');
  if (contact.id === null) throw new Refusal(409, 'A contact with this email already exists');
  return send(request, reply, ContactAnswer.parse({ contact }));
});

app.post<{ Params: { name: string }; Body: Record<string, unknown> }>(
  '/api/rooms/:name/join',
  async (request, reply) => {
    countCall(`network:${request.ip}`, reply);
    const input = JoinInput.parse({ ...request.body, roomName: request.params.name });
    if (!input.name) throw new Refusal(400, 'name is required');
    const token = createToken('lnp_');
    const values = [input.roomName, input.name, input.email ?? null, hashToken(token)];
    const [participant] = await run<Id>(statements.JOIN, values);
    if (participant === undefined) throw new Refusal(404, 'Room not found');
    const hmac = createHmac('sha256', REFERENCE_KEY).update(`participant ${participant.id}`).digest('base64url');
    const reference = `ref_${participant.id}_${hmac}`;
    return send(request, reply, JoinAnswer.parse({ participant: { ...participant, token, reference }, media: MEDIA }));
  },
);

app.post<{ Params: { name: string }; Body: { token: string } }>('/api/rooms/:name/leave', async (request, reply) => {
  const { token } = request.body;
  countCall(`participant:${token}`, reply);
  const [row] = await run<{ found: number }>(statements.LEAVE, [request.params.name, hashToken(token)]);
  if (row?.found !== 1) throw new Refusal(404, 'Participant not found');
  return send(request, reply, { ok: true });
});

app.post<{ Params: { slug: string }; Body: Record<string, unknown> }>('/api/book/:slug', async (request, reply) => {
  countCall(`network:${request.ip}`, reply);
  const { slug, name, email, starts_at } = BookInput.parse({ ...request.body, slug: request.params.slug });
  const [page] = await run<BookablePage>(statements.BOOKING_PAGE, [slug]);
  if (page === undefined) throw new Refusal(404, 'Booking page not found');
  const startsAt = fromUnixSeconds(starts_at);
  const endsAt = new Date(startsAt.getTime() + page.duration * MINUTE_MS);
  const offered = { openingHours: toOpeningHours(page), durationMinutes: page.duration, taken: [], now: new Date() };
  if (!isAvailable(offered, startsAt)) throw new Refusal(409, 'This time is not available');
  const token = createToken('lnb_');
  const roomName = `${slug}-${token
    .slice(4, 12)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, 'x')}`;
  const title = `${page.title}: ${name}`.slice(0, MAX_DISPLAY_NAME);
  const facts = { title, token, roomName, startsAt, endsAt, guest: { name, email }, host: page.userName };
  const [booked] = await run<Id & { uid: string; upcoming: number; room_name: string }>(statements.BOOK, [
    ...[page.workspaceId, page.id, page.userId, name, email, toMailbox(email), roomName, title],
    ...[startsAt, hashToken(token), endsAt, page.userName, page.title],
    JSON.stringify([toMail('booking-for-guest', email, facts), toMail('booking-for-host', page.userEmail, facts)]),
  ]);
  if (booked === undefined || booked.upcoming >= MAX_UPCOMING) throw new Refusal(409, 'Too many upcoming bookings');
  const booking = {
    id: booked.id,
    uid: booked.uid,
    title: page.title,
    starts_at,
    ends_at: toUnixSeconds(endsAt),
    name,
    slug,
    host_name: page.userName,
    time_zone: null,
    room_name: booked.room_name,
    status: 'confirmed',
    awaits: null,
    cancelled_at: null,
    sequence: 0,
    ...toGuestLinks('http://localhost', slug, token),
    cancel_token: token,
  };
  return send(request, reply, BookingAnswer.parse({ booking }));
});

/** A message as it is queued, with its data sealed. */
function toMail(kind: string, to: string, facts: object) {
  const messageId = randomBytes(16).toString('hex');
  const data = sealer.seal(JSON.stringify(facts), mailSeal(messageId));
  return { message_id: messageId, kind, to_address: to, data: Buffer.from(data).toString('base64') };
}
