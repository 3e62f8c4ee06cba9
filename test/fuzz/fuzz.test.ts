/**
 * Random requests to every operation, over both transports, by every kind of caller. `npm run fuzz` sends many more.
 * `FUZZ_REQUESTS` and `FUZZ_SEED` set how many, and which. A failure names the seed and the number of the request.
 */
import { Agent, fetch, type Response } from 'undici';
import { expect, test } from 'vitest';
import { rows } from '../contract/operations.ts';
import { isServed, viaTrpc } from '../contract/transports.ts';
import { checkAnswer } from '../support/openapi-check.ts';
import { type FuzzWorld, SECRET_MARK, startFuzzWorld } from './fuzz-world.ts';
import { createProgress } from './progress.ts';
import { createRequest, type FuzzRequest, ROUND } from './requests.ts';

const requests = Number(process.env.FUZZ_REQUESTS ?? 3_000);
const seed = Number(process.env.FUZZ_SEED ?? 1);

const CONCURRENCY = 4;
const TIMEOUT_MS = 120_000 + requests * 50;

/** Statuses that any path may return. The overview of the OpenAPI document describes them. */
const REFUSED_BEFORE_ROUTING = [405, 414, 431];

// A new connection for each request: the server may close one that it keeps alive just when a request is sent on it.
const connections = new Agent({ pipelining: 0 });

const LEAK = /\.ts:\d|node_modules|prisma|\bselect .* from\b|argon2|password_hash|\/tmp\//i;

test('no request is answered with a server error or reaches a foreign workspace', { timeout: TIMEOUT_MS }, async () => {
  const world = await startFuzzWorld();
  const progress = createProgress(requests);
  try {
    const vault = await world.dumpVault();
    expect(vault).toContain(SECRET_MARK);
    for (let first = 0; first < requests; first += ROUND) {
      const numbers = Array.from({ length: Math.min(ROUND, requests - first) }, (_, offset) => first + offset);
      await Promise.all(
        Array.from({ length: CONCURRENCY }, async () => {
          for (let number = numbers.shift(); number !== undefined; number = numbers.shift())
            progress.count(...(await sendAndCheck(world, number)));
        }),
      );
      // Also restores the rows, because requests delete what later ones need.
      await checkWorld(world, vault, first);
    }
    progress.report();
  } finally {
    await world.close();
  }
  expect(progress.titles()).toEqual(expect.arrayContaining(allTitles()));
});

function allTitles(): string[] {
  return Object.keys(rows).flatMap((name) => [
    `${name} over REST`,
    ...(isServed(name, viaTrpc) ? [`${name} over tRPC`] : []),
  ]);
}

/** Resolves with the title of the request and the status of the answer. */
async function sendAndCheck(world: FuzzWorld, number: number): Promise<[string, number]> {
  const request = await createRequest(world, seed, number);
  const { title, method, path, headers, body } = request;
  let answer = 'no answer';
  try {
    const response = await fetch(world.app.url + path, {
      method,
      headers,
      body,
      redirect: 'manual',
      dispatcher: connections,
    });
    const text = await readText(response);
    answer = `${response.status} ${text.slice(0, 2_000)}`;
    checkText(request, response, text);
    return [title, response.status];
  } catch (error) {
    throw new Error(`Request ${number} of seed ${seed} failed: ${describe(request)}\n${answer}`, { cause: error });
  }
}

/** A stream of events does not end by itself, so only its beginning is read. */
async function readText(response: Response): Promise<string> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

function describe({ title, caller, method, path, headers, body }: FuzzRequest): string {
  const text = body === null ? '' : Buffer.from(body).toString('latin1').slice(0, 2_000);
  return `${title} by ${caller}: ${method} ${path.slice(0, 2_000)} ${JSON.stringify(headers)} ${text}`;
}

function checkText({ method, path }: FuzzRequest, response: Response, text: string): void {
  const { status, headers } = response;
  expect(status, text).toBeLessThan(500);
  expect(text).not.toContain(SECRET_MARK);
  if (method === 'HEAD' || method === 'OPTIONS' || path.startsWith('/docs') || path.startsWith('/openapi')) return;
  expect(text).not.toMatch(LEAK);
  const body = headers.get('content-type')?.startsWith('application/json') && text !== '' ? JSON.parse(text) : text;
  if (status >= 400) {
    // A batch has an array of answers, of which some may be refusals.
    const answers: unknown[] = Array.isArray(body) ? body : [body];
    if (path.startsWith('/trpc')) for (const answer of answers) expect(trpcRefusalOf(answer)).toMatchObject(refusal);
    else expect(body).toMatchObject(refusal);
  }
  if (!REFUSED_BEFORE_ROUTING.includes(status))
    checkAnswer(method, new URL(path, response.url).pathname, { status, body });
}

const refusal = {
  error: expect.any(String),
  message: expect.stringMatching(/./),
  code: expect.stringMatching(/^[A-Z_]+$/),
  request_id: expect.stringMatching(/./),
};

/** Requests that do not reach tRPC, such as one with another content type, are refused as over REST. */
function trpcRefusalOf(answer: unknown): unknown {
  const { error } = answer as { error: string | { data: unknown } };
  return typeof error === 'string' ? answer : error.data;
}

async function checkWorld({ app, dumpVault, restorer }: FuzzWorld, vault: string, first: number): Promise<void> {
  const context = `after requests ${first} to ${first + ROUND - 1} of seed ${seed}`;
  expect(await dumpVault(), context).toBe(vault);
  const errors = app.logLines.filter(({ level }) => Number(level) >= 50);
  expect(errors, context).toEqual([]);
  app.logLines.length = 0;
  await restorer.restore();
}
