/** The headers that the Streamable HTTP transport of MCP requires, and that stdio does not have. */

type Message = { method?: unknown; params?: unknown };

const VERSION_FIELD = 'io.modelcontextprotocol/protocolVersion';
/** What the header `Mcp-Name` repeats. */
const nameFields: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
/** Visible ASCII characters, with spaces only inside. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/**
 * Newer clients name the version in each message. Others agreed on `negotiated` with `initialize`. See
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export function headersOf({ method, params }: Message, negotiated: string | undefined): Record<string, string> {
  const accept = { accept: 'application/json, text/event-stream' };
  const fields = toRecord(params);
  const version = toRecord(fields._meta)[VERSION_FIELD];
  if (typeof version !== 'string' || typeof method !== 'string')
    return { ...accept, ...(negotiated !== undefined && { 'mcp-protocol-version': negotiated }) };
  const name = fields[nameFields[method] ?? ''];
  return {
    ...accept,
    'mcp-protocol-version': encode(version),
    'mcp-method': encode(method),
    ...(typeof name === 'string' && { 'mcp-name': encode(name) }),
  };
}

/** A header has only ASCII characters, so other text is sent in base64, with a mark. */
function encode(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
