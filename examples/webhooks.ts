/**
 * The life of a webhook: registers a receiver on this machine, causes an event, verifies its signature, breaks the
 * receiver, reads the failed attempt, repairs the receiver and resends the message.
 *
 *   . .data/demo.env && npm run example:webhooks
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Outputs } from '../packages/client/src/index.ts';

const { LYNXROOM_URL: url, LYNXROOM_TOKEN: token, LYNXROOM_WORKSPACE: workspace } = process.env;
if (!url || !token || !workspace) throw new Error('Load the demo account first: . .data/demo.env');

const client = createClient({ url, token });
const id = Number(workspace);

let secret = '';
let isBroken = false;

function isSigned(signature: unknown, body: Buffer): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return (
    typeof signature === 'string' &&
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

const receiver = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (isBroken) return response.writeHead(500).end('broken');
  if (!isSigned(request.headers['x-webhook-signature'], body)) return response.writeHead(401).end();
  const { event, data } = JSON.parse(body.toString());
  console.log(`  received ${event} ${data.room_name}, signed by the service`);
  response.writeHead(204).end();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
// The cast: the address of a server that listens on TCP is an object.
const { port } = receiver.address() as AddressInfo;

const { webhook } = await client.webhooks.create.mutate({
  id,
  name: 'Example',
  url: `http://127.0.0.1:${port}/hook`,
  events: ['room.created'],
});
secret = webhook.secret;
console.log(`Registered ${webhook.url}`);

type Deliveries = Outputs['webhooks']['deliveries']['deliveries'];

async function waitForDeliveries(count: number): Promise<Deliveries> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { deliveries } = await client.webhooks.deliveries.query({ id, webhookId: webhook.id });
    if (deliveries.length >= count) return deliveries;
    await sleep(20);
  }
  throw new Error(`There are fewer than ${count} deliveries after 10 s`);
}

function createRoom() {
  return client.rooms.create.mutate({ workspace_id: id });
}
const rooms = [await createRoom()];
await waitForDeliveries(1);

isBroken = true;
console.log('The receiver fails from now on');
rooms.push(await createRoom());
const [failed] = await waitForDeliveries(2);
if (!failed) throw new Error('The attempt was not recorded');
console.log(`  attempt ${failed.attempt}: ${failed.response_status} ${failed.response_body}`);
const { message } = await client.webhooks.message.query({ id, webhookId: webhook.id, messageId: failed.delivery_id });
const seconds = (message.next_attempt_at ?? 0) - failed.created_at;
console.log(`  ${message.status}: the next attempt follows in about ${seconds} s`);

isBroken = false;
console.log('The receiver works again, and the message is resent');
await client.webhooks.resend.mutate({ id, webhookId: webhook.id, deliveryId: failed.id });
const [resent] = await waitForDeliveries(3);
console.log(`  attempt ${resent?.attempt}: ${resent?.response_status}`);

await client.webhooks.delete.mutate({ id, webhookId: webhook.id });
for (const { room } of rooms) await client.rooms.delete.mutate({ name: room.name });
receiver.close();
