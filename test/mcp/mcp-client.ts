/** Clients of `/mcp`, made with the SDK. */
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from '../support/test-app.ts';

/** The two kinds of client: those that begin with `initialize`, and those that send the version with each request. */
export const generations = ['legacy', { pin: '2026-07-28' }] as const;

export type Generation = (typeof generations)[number];

export type Agent = {
  client: Client;
  /** Calls a tool. Returns its structured content. Throws if the result is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: results have any shape, and tests check what they expect
  call(name: string, args?: Record<string, unknown>): Promise<any>;
  /** Calls a tool whose result is an error. Returns the error. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  fail(name: string, args?: Record<string, unknown>): Promise<any>;
  toolNames(): Promise<string[]>;
};

export async function connectAgent(
  app: Pick<TestApp, 'url'>,
  key: string,
  { query = '', mode = 'legacy' }: { query?: string; mode?: Generation } = {},
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp${query}`), { requestInit }));
  return toAgent(client);
}

export function toAgent(client: Client): Agent {
  const run = async (name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: args });
  return {
    client,
    async call(name, args) {
      const { isError, structuredContent, content } = await run(name, args);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(content)}`);
      return structuredContent;
    },
    async fail(name, args) {
      const { isError, structuredContent } = await run(name, args);
      if (!isError) throw new Error(`${name} succeeded: ${JSON.stringify(structuredContent)}`);
      // `as`: an error has this shape.
      return (structuredContent as { error: unknown }).error;
    },
    async toolNames() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
  };
}
