// WEBHOOK_SECRET=whsec_... node receive-webhooks.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
if (!secret?.startsWith('whsec_')) {
  console.error('Set WEBHOOK_SECRET to the secret of the webhook: it begins with whsec_');
  process.exit(1);
}
const TOLERANCE_SECONDS = 5 * 60;
const MAX_BYTES = 1024 * 1024;

const isEqual = (one, other) => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

// X-Webhook-Signature and, for 24 hours after a rotation, X-Webhook-Signature-Previous with the old secret.
const isSigned = (headers, body) => {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  const given = [headers['x-webhook-signature'], headers['x-webhook-signature-previous']];
  return given.some((signature) => signature !== undefined && isEqual(signature, expected));
};

// Standard Webhooks: signs id, time and body. The key is the base64-decoded part of the secret after whsec_.
const isSignedByStandard = (headers, body) => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
  if (id === undefined || time === undefined || signatures === undefined) return false;
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
  return signatures.split(' ').some((signature) => isEqual(signature, `v1,${expected}`));
};

// Throws if the client disconnects early or sends too much.
const readBody = async (request) => {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('Body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const processMessage = async ({ event, timestamp, data }) => {
  console.log(event, timestamp, data);
};

const handled = new Set(); // In production, use a database table.

const receive = async (request, response) => {
  const isTooLarge = Number(request.headers['content-length']) > MAX_BYTES;
  if (isTooLarge) return response.writeHead(413, { connection: 'close' }).end();
  const body = await readBody(request);
  const verify = request.url === '/standard' ? isSignedByStandard : isSigned;
  if (!verify(request.headers, body)) return response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  const message = JSON.parse(body);
  const isNew = !handled.has(id);
  handled.add(id);
  // In production, write the message to a queue first: after a 2xx response it is not sent again.
  response.writeHead(204).end();
  if (isNew) processMessage(message).catch((error) => console.error(id, error));
};

const port = Number(process.env.PORT ?? 4000);
createServer((request, response) => {
  receive(request, response).catch(() => response.writeHead(400, { connection: 'close' }).end());
}).listen(port, () => console.log(`Listening on port ${port}`));
