/**
 * Connects an agent on this machine, which speaks MCP over standard input and output, to the endpoint `/mcp` of the
 * service. Messages pass unchanged, one JSON object in each line.
 */
import type { Readable, Writable } from 'node:stream';
import { describeFailure } from '../failures.ts';
import { readLines, TOO_LONG } from './lines.ts';
import { headersOf } from './protocol-headers.ts';

export type Bridge = {
  /** Sends one message, with the credential. */
  send(init: RequestInit): Promise<Response>;
  input: Readable;
  output: Writable;
  signal: AbortSignal;
};

type Message = { id?: unknown; method?: unknown; params?: unknown; result?: unknown };

/** A message of the service has at most 1 MiB. */
const MAX_LINE_BYTES = 1024 * 1024;
/** Further lines are read only when an earlier message has been answered. */
const MAX_IN_PROGRESS = 16;

/** JSON-RPC 2.0, section 5.1. The last one is free for the use of servers. */
const codes = { notJson: -32_700, noRequest: -32_600, failed: -32_000 } as const;

/**
 * Resolves when the input has ended and all its messages are answered. Every request gets an answer: if the service
 * refuses it or cannot be reached, the answer is an error. A request that the agent cancels gets none.
 */
export async function bridge({ send, input, output, signal }: Bridge): Promise<void> {
  const inProgress = new Set<Promise<void>>();
  const cancels = new Map<unknown, AbortController>();
  let negotiated: string | undefined;

  const write = (message: object): void => void output.write(`${JSON.stringify(message)}\n`);
  const refuse = (id: unknown, code: number, message: string, data?: object): void =>
    write({ jsonrpc: '2.0', id: id ?? null, error: { code, message, ...(data && { data }) } });

  const forward = async (message: Message, line: string): Promise<void> => {
    const isRequest = message.method !== undefined && message.id !== undefined;
    const cancel = new AbortController();
    if (isRequest) cancels.set(message.id, cancel);
    try {
      const headers = { 'content-type': 'application/json', ...headersOf(message, negotiated) };
      const response = await send({ method: 'POST', headers, body: line, signal: cancel.signal });
      const text = await response.text();
      if (!isRequest) return;
      const answer = parse(text);
      if (answer !== null && 'jsonrpc' in answer) {
        if (message.method === 'initialize') negotiated = versionOf(answer) ?? negotiated;
        return write(answer);
      }
      const problem = describeProblem(answer, response.status);
      refuse(message.id, codes.failed, problem.message, problem.data);
    } catch (error) {
      if (isRequest && !cancel.signal.aborted) refuse(message.id, codes.failed, describeFailure(error).message);
    } finally {
      if (isRequest) cancels.delete(message.id);
    }
  };

  for await (const line of readLines(input, MAX_LINE_BYTES, signal)) {
    if (line === TOO_LONG) refuse(null, codes.noRequest, `A message has at most ${MAX_LINE_BYTES} bytes`);
    else if (line.trim() !== '') {
      const message = parse(line);
      if (message === null) refuse(null, codes.notJson, 'Each line must be one JSON object');
      else {
        if (message.method === 'notifications/cancelled') cancels.get(cancelledId(message))?.abort();
        const sent = forward(message, line).finally(() => inProgress.delete(sent));
        inProgress.add(sent);
        if (inProgress.size >= MAX_IN_PROGRESS) await Promise.race(inProgress);
      }
    }
  }
  await Promise.all(inProgress);
}

function parse(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function versionOf({ result }: Message): string | undefined {
  const isObject = typeof result === 'object' && result !== null && 'protocolVersion' in result;
  return isObject && typeof result.protocolVersion === 'string' ? result.protocolVersion : undefined;
}

function cancelledId({ params }: Message): unknown {
  return typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
}

/** Before the protocol, for example for a wrong key, the service responds with an error of the API. */
function describeProblem(answer: object | null, status: number): { message: string; data: object } {
  const { message, code } = { message: undefined, code: undefined, ...answer };
  const text = typeof message === 'string' ? message : 'The response did not come from a Lynxroom service';
  return { message: `${text} (HTTP ${status})`, data: { status, ...(typeof code === 'string' && { code }) } };
}
