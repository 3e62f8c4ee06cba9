/**
 * The baseline of the webhook bench, as a process of its own: posts the same bodies with the same signatures and does
 * nothing else (WAY=bare), or also inserts a row for each attempt, in batches (WAY=batch). Prints its figures.
 */
import pg from 'pg';
import { Agent, request } from 'undici';
import { toBody } from '../src/events/envelope.ts';
import { createMessageId } from '../src/webhook-delivery/message-id.ts';
import { signedHeaders } from '../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../src/webhook-delivery/signing-keys.ts';
import { roomCreated, type SenderFigures } from './webhook-world.ts';

const BATCH = 64;
const BATCH_MS = 5;
const WARM_UP_SECONDS = 1;
const { WAY = 'bare', RECEIVER_URL = '', DATABASE_URL = '' } = process.env;
const seconds = Number(process.env.SECONDS);
const concurrency = Number(process.env.CONCURRENCY);
const keys = [createSigningKey(`whsec_${'k'.repeat(32)}`)];

const agent = new Agent({ connections: concurrency, pipelining: 1 });
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });

type Row = [webhookId: number, event: string, payload: string, status: number, text: string];
let rows: Row[] = [];
let pending: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;

async function flush(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  const batch = rows;
  const callbacks = pending;
  rows = [];
  pending = [];
  if (batch.length === 0) return;
  await pool.query({
    name: 'batch',
    text: `insert into bench_attempts (webhook_id, event, payload, response_status, response_body)
      select * from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::text[])`,
    values: [0, 1, 2, 3, 4].map((column) => batch.map((row) => row[column])),
  });
  for (const resolve of callbacks) resolve();
}

function record(row: Row): Promise<void> {
  return new Promise((resolve, reject) => {
    rows.push(row);
    pending.push(resolve);
    if (rows.length >= BATCH) flush().catch(reject);
    else timer ??= setTimeout(() => void flush().catch(reject), BATCH_MS);
  });
}

let sent = 0;

async function post(index: number): Promise<void> {
  const now = new Date();
  const { type: event, data } = roomCreated(1, index);
  const body = toBody({ event, timestamp: now, data });
  const messageId = createMessageId(now);
  const timestamp = now.toISOString();
  const headers = signedHeaders({ messageId, event, timestamp, attemptAt: now, body, keys });
  const response = await request(RECEIVER_URL, { method: 'POST', headers, body, dispatcher: agent });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`The receiver responded with ${response.statusCode}`);
  if (WAY === 'batch') await record([1, event, body, response.statusCode, text]);
  sent += 1;
}

async function run(forSeconds: number): Promise<void> {
  const end = performance.now() + forSeconds * 1000;
  const postUntilEnd = async (): Promise<void> => {
    while (performance.now() < end) await post(sent);
  };
  await Promise.all(Array.from({ length: concurrency }, postUntilEnd));
}

await run(WARM_UP_SECONDS);
sent = 0;
const cpu = process.cpuUsage();
const start = performance.now();
await run(seconds);
const took = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage(cpu);
const figures: SenderFigures = { perSecond: sent / took, cpuUs: (user + system) / sent };
console.log(JSON.stringify(figures));
process.exit(0);
