/**
 * A meeting in a room, and a booking. A guest waits and is admitted, the meeting is recorded, the recording is uploaded
 * and downloaded, and the guest leaves. Then the guest books a time and cancels it.
 *
 *   . .data/demo.env && npm run example:rooms
 */
import { openAsBlob } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, isLynxroomError } from '../packages/client/src/index.ts';

const { LYNXROOM_URL: url, LYNXROOM_TOKEN: token, LYNXROOM_WORKSPACE: workspace } = process.env;
if (!url || !token || !workspace) throw new Error('Load the demo account first: . .data/demo.env');

const host = createClient({ url, token });
const guest = createClient({ url });
const id = Number(workspace);

const { room } = await host.rooms.create.mutate({
  workspace_id: id,
  waiting_room_enabled: 1,
  waiting_room_message: 'We start in a moment',
});
const roomName = room.name;
// A new address, so that the example deletes only its own contact at the end.
const vera = { name: 'Vera Novak', email: `vera+${roomName}@example.com` };
const { participant } = await guest.participants.join.mutate({ roomName, ...vera });
console.log(`${participant.name} is ${participant.status} for ${roomName}: ${participant.waiting_room_message}`);

const { participants } = await host.participants.list.query({ name: roomName, status: 'waiting' });
for (const { id: participantId } of participants)
  await host.participants.admit.mutate({ name: roomName, participantId });
const { participant: present } = await guest.participants.presence.mutate({ roomName, token: participant.token });
console.log(`Admitted ${present.name}: ${present.status}`);

const { recording, upload_token: uploadToken } = await host.recordings.start.mutate({
  name: roomName,
  title: 'Example',
});
await host.recordings.stop.mutate({ name: roomName, recordingId: recording.id });
const file = await openAsBlob(fileURLToPath(new URL('sample.mp4', import.meta.url)), { type: 'video/mp4' });
const available = await guest.uploadRecording({ recordingId: recording.id, uploadToken, file });
console.log(`Uploaded the recording: ${available.status}, ${available.duration} s, ${available.size} bytes`);

const download = await host.recordings.download.query({ recordingId: recording.id });
const bytes = await (await fetch(download.url)).arrayBuffer();
console.log(`Downloaded ${bytes.byteLength} bytes`);

await guest.participants.leave.mutate({ roomName, token: participant.token });
console.log(`${participant.name} left`);

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const { bookingPage } = await host.bookingPages.create.mutate({
  id,
  title: 'Example call',
  duration_minutes: 30,
  time_zone: 'Europe/Berlin',
  hours: weekdays.map((day) => ({ day, from: '09:00', to: '17:00' })),
});
const { slug } = bookingPage;
console.log(`Created a booking page, which a frontend shows at ${bookingPage.url}`);

const { times } = await guest.bookings.times.query({ slug });
const startsAt = times.at(-1);
if (startsAt === undefined) throw new Error('No time is free');
const { booking } = await guest.bookings.book.mutate({ slug, ...vera, starts_at: startsAt });
const day = new Date(booking.starts_at * 1_000).toISOString();
console.log(`Booked the last of ${times.length} free times, ${day}, in the room ${booking.room_name}`);

const again = await guest.bookings.book.mutate({ slug, ...vera, starts_at: startsAt }).catch((error: unknown) => error);
console.log(`  again: ${isLynxroomError(again) ? again.message : 'booked twice'}`);

await guest.bookings.cancel.mutate({ slug, token: booking.cancel_token });
console.log('Cancelled the booking: its room is deleted, and the time is free again');

await host.bookingPages.delete.mutate({ id, pageId: bookingPage.id });
await host.rooms.delete.mutate({ name: roomName });
const { contacts } = await host.contacts.list.query({ id, search: vera.email });
for (const { id: contactId } of contacts) await host.contacts.delete.mutate({ id, contactId });
