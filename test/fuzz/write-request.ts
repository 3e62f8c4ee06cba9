/** Writes a call as an HTTP request over one of the transports, sometimes not well-formed. */
import { contentOf, type Row } from '../contract/row.ts';
import type { Scene } from '../contract/scene.ts';
import { findOperation, findRawOperation, type Input, isQuery } from '../contract/transports.ts';
import type { Random } from './random.ts';
import { hostileValue } from './values.ts';

export type WrittenRequest = {
  /** The operation and the transport, such as `labels.create over tRPC`. */
  title: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | null;
};

type OperationCall = { name: string; row: Row; input: Input };

export async function writeRequest(
  random: Random,
  scene: Scene,
  { name, row, input }: OperationCall,
): Promise<WrittenRequest> {
  if (findRawOperation(name)) return writeRaw(random, scene, { name, row, input });
  return random.chance(0.5) ? writeRest(random, name, input) : writeTrpc(random, name, input);
}

function writeRest(random: Random, name: string, input: Input): WrittenRequest {
  const { method, path, takesBody } = findOperation(name);
  const used = new Set<string>();
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    used.add(parameter);
    return encodeText(input[parameter]);
  });
  const rest = Object.entries(input).filter(([field]) => !used.has(field));
  const title = `${name} over REST`;
  if (takesBody)
    return { title, method, path: filled, headers: jsonType, body: writeJson(random, Object.fromEntries(rest)) };
  const query = rest.map(([field, value]) => `${encodeText(field)}=${encodeText(value)}`).join('&');
  return { title, method, path: query === '' ? filled : `${filled}?${query}`, headers: {}, body: null };
}

const jsonType = { 'content-type': 'application/json' };

/** Sometimes text that is not JSON, or JSON that is not an object. */
function writeJson(random: Random, value: unknown): string {
  if (random.chance(0.03)) return JSON.stringify(hostileValue(random)) ?? '';
  const text = JSON.stringify(value);
  if (random.chance(0.02)) return text.slice(0, random.integer(text.length));
  return random.chance(0.02) ? text.replace('{', '{"__proto__":{"role":"owner"},"constructor":1,') : text;
}

function writeTrpc(random: Random, name: string, input: Input): WrittenRequest {
  const title = `${name} over tRPC`;
  const isBatch = random.chance(0.1);
  const size = isBatch ? random.pick([1, 2, 3, 51]) : 1;
  const path = `/trpc/${Array(size).fill(name).join(',')}${isBatch ? '?batch=1' : ''}`;
  const single = writeJson(random, input);
  const text = isBatch ? `{${Array.from({ length: size }, (_, call) => `"${call}":${single}`).join(',')}}` : single;
  if (!isQuery(name)) return { title, method: 'POST', path, headers: jsonType, body: text };
  const separator = isBatch ? '&' : '?';
  // Longer request lines are refused by Node.
  const query = encodeText(text).slice(0, 12_000);
  return { title, method: 'GET', path: `${path}${separator}input=${query}`, headers: {}, body: null };
}

async function writeRaw(random: Random, scene: Scene, { name, row, input }: OperationCall): Promise<WrittenRequest> {
  const { method, path } = findOperation(name);
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeText(input[parameter]));
  const title = `${name} over REST`;
  const { content } = contentOf(row, scene);
  if (content?.body === undefined) return { title, method, path: filled, headers: { ...content?.headers }, body: null };
  // A Response writes a form as the bytes of multipart/form-data.
  const response = new Response(content.body);
  const type = response.headers.get('content-type');
  const body = changeBytes(random, new Uint8Array(await response.arrayBuffer()));
  return {
    title,
    method,
    path: filled,
    headers: { ...(type !== null && { 'content-type': type }), ...content.headers },
    body,
  };
}

/** Half of the time unchanged; otherwise cut short, repeated, or with some bytes replaced. */
function changeBytes(random: Random, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const kind = random.next();
  if (kind < 0.5) return bytes;
  if (kind < 0.65) return bytes.slice(0, random.integer(bytes.length));
  if (kind < 0.7) return new Uint8Array([...bytes, ...bytes]);
  const changed = bytes.slice();
  for (let change = 0; change <= random.integer(8); change += 1)
    changed[random.integer(Math.max(changed.length - 1, 0))] = random.integer(255);
  return changed;
}

/** `encodeURIComponent` for any value. Lone surrogates, which it does not accept, are replaced. */
function encodeText(value: unknown): string {
  const text = typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value);
  return encodeURIComponent(text.toWellFormed()).slice(0, 12_000);
}
