/** Calls over real HTTP. Every answer is validated against the OpenAPI document. */
import { checkAnswer } from './openapi-check.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies have any shape, and tests check what they expect
export type Answer<Body = any> = { status: number; headers: Headers; body: Body };

export type CallOptions = {
  token?: string | undefined;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged. */
  body?: NonNullable<RequestInit['body']>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type Http = {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** GET with `Accept: application/json`, without which a download redirects. */
  getJson(path: string, token?: string): Promise<Answer>;
  post(path: string, token?: string, json?: unknown): Promise<Answer>;
  patch(path: string, token?: string, json?: unknown): Promise<Answer>;
  delete(path: string, token?: string): Promise<Answer>;
};

async function readBody(response: Response): Promise<unknown> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return readFirstEvent(response);
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('application/json')) return text;
  return text === '' ? undefined : JSON.parse(text);
}

/** Reads a stream until its first event, and hangs up. The time after which readers come back is random. */
async function readFirstEvent({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (/^data: .*\n\n/m.test(text)) break;
  }
  return text.replace(/^retry: \d+\n\n/, '');
}

export function createHttp(url: string): Http {
  const call: Http['call'] = async (method, path, { token, json, body, headers, signal } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? (body ?? null) : JSON.stringify(json),
      redirect: 'manual',
      ...(signal && { signal }),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit);
    const answer = { status: response.status, headers: response.headers, body: await readBody(response) };
    checkAnswer(method, new URL(url + path).pathname, answer);
    return answer;
  };
  return {
    call,
    get: (path, token) => call('GET', path, { token }),
    getJson: (path, token) => call('GET', path, { token, headers: { accept: 'application/json' } }),
    post: (path, token, json) => call('POST', path, { token, json }),
    patch: (path, token, json) => call('PATCH', path, { token, json }),
    delete: (path, token) => call('DELETE', path, { token }),
  };
}
