/** The service, which this server calls with an API key. Browsers never get the key: they get a pass for one room. */
import 'server-only';
import { createClient } from '@lynxroom/client';

export function createLynxroom() {
  return createClient({ url: read('LYNXROOM_URL'), token: read('LYNXROOM_API_KEY') });
}

/** What README.md sets up. Read for each request, so that the build needs none of it. */
export function readSettings() {
  return {
    service: read('LYNXROOM_URL'),
    workspace: Number(read('LYNXROOM_WORKSPACE')),
    room: read('LYNXROOM_ROOM'),
    bookingPage: read('LYNXROOM_BOOKING_PAGE'),
    webhookSecret: read('LYNXROOM_WEBHOOK_SECRET'),
  };
}

function read(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: see README.md`);
  return value;
}
