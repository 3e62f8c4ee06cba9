/** The samples of each operation in the OpenAPI document (`x-codeSamples`): curl, TypeScript and Python. */
import type { RawRequest, RawResponse } from '../trpc/raw-operation.ts';
import { bodyOf, type Example } from './examples.ts';

export type SampledOperation = {
  name: string;
  method: string;
  path: string;
  /** Whether the call sends a token. */
  isSigned: boolean;
  /** What a raw operation receives. Null for a procedure, which takes JSON in POST, PATCH and PUT. */
  request: RawRequest | null;
  /** Headers that the caller sends, in addition to those that the kind of request implies. */
  headers?: Readonly<Record<string, string>>;
  /** What a raw operation sends. */
  response?: Pick<RawResponse, 'kind'>;
};

/** The HTTP request that the samples send. */
type Request = {
  method: string;
  url: string;
  headers: Record<string, string>;
  query: Record<string, unknown>;
  json: Record<string, unknown> | null;
  /** The path and type of a file to send, as a part of a form or as the body. */
  file: { name: string; type: string; isPart: boolean } | null;
  answer: 'json' | 'text' | 'image' | 'stream';
};

const TOKEN = 'lnx_EXAMPLE_TOKEN';
const EXAMPLE_URL = 'https://lynxroom.example.com';

/** The operations that send or receive a file, with the method of the client for each. */
const clientMethods: Record<string, string> = {
  'library.upload': 'upload',
  'recordings.upload': 'uploadRecording',
  'contacts.export': 'exportContacts',
  'contacts.import': 'importContacts',
};

/** The streams, with the subscription of the client for each. */
const clientSubscriptions: Record<string, string> = {
  'events.stream': 'events.live',
  'participants.stream': 'participants.live',
};

/**
 * Creates the samples of an operation. `serverUrl` is the URL in the document. If it is `/`, the samples have an
 * example URL.
 */
export function createCodeSamples(operation: SampledOperation, { input }: Example, serverUrl: string): object[] {
  const baseUrl = serverUrl === '/' ? EXAMPLE_URL : serverUrl;
  const request = toRequest(operation, input, baseUrl);
  return [
    { lang: 'Shell', label: 'curl', source: toCurl(request) },
    { lang: 'TypeScript', label: '@lynxroom/client', source: toTypeScript(operation, input, request, baseUrl) },
    { lang: 'Python', label: 'requests', source: toPython(request) },
  ];
}

function toRequest(operation: SampledOperation, input: Example['input'], baseUrl: string): Request {
  const { method, path, isSigned, request, headers = {} } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const rest = bodyOf(input, path);
  const takesJson =
    request === null ? ['POST', 'PATCH', 'PUT'].includes(method) : request.kind === 'bytes' && !request.types;
  const isEmpty = Object.keys(rest).length === 0;
  return {
    method,
    url: baseUrl + filled,
    headers: { ...(isSigned && { Authorization: `Bearer ${TOKEN}` }), ...headers },
    query: takesJson ? {} : rest,
    json: takesJson && !isEmpty ? rest : null,
    file: toFile(request),
    answer: answerOf(operation.response?.kind, filled),
  };
}

function answerOf(kind: RawResponse['kind'] | undefined, path: string): Request['answer'] {
  if (kind === 'events') return 'stream';
  if (kind === 'image') return 'image';
  return /\.(?:csv|jsonl)$/.test(path) ? 'text' : 'json';
}

function toFile(request: RawRequest | null): Request['file'] {
  if (request?.kind === 'csv') return { name: 'contacts.csv', type: 'text/csv', isPart: false };
  if (request?.kind === 'bytes' && request.types) return { name: 'poster.jpg', type: 'image/jpeg', isPart: false };
  if (request?.kind !== 'multipart') return null;
  const { exampleFile } = request;
  return { name: exampleFile, type: exampleFile.endsWith('.pdf') ? 'application/pdf' : 'video/mp4', isPart: true };
}

function toCurl({ method, url, headers, query, json, file, answer }: Request): string {
  const types = {
    ...(json && { 'Content-Type': 'application/json' }),
    ...(file?.isPart === false && { 'Content-Type': file.type }),
  };
  const flags = `${answer === 'stream' ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`}`;
  return [
    `curl${flags} ${quote(withQuery(url, query))}`,
    ...Object.entries({ ...headers, ...types }).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(json ? [`-d ${quote(JSON.stringify(json))}`] : []),
    ...(file
      ? [file.isPart ? `-F ${quote(`file=@${file.name};type=${file.type}`)}` : `--data-binary @${file.name}`]
      : []),
  ].join(' \\\n  ');
}

function withQuery(url: string, query: Request['query']): string {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(parameters).toString();
  return text === '' ? url : `${url}?${text}`;
}

/** Quotes a string as a single shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function toTypeScript(
  { name, method, isSigned, request }: SampledOperation,
  input: Example['input'],
  { url, headers, query, json, file, answer }: Request,
  baseUrl: string,
): string {
  const clientMethod = clientMethods[name];
  const subscription = clientSubscriptions[name];
  if (subscription !== undefined)
    return [
      "import { createClient } from '@lynxroom/client';",
      '',
      `const client = createClient({ url: '${baseUrl}'${isSigned ? `, token: '${TOKEN}'` : ''} });`,
      `client.${subscription}.subscribe(${toObject(input)}, { onData: (message) => console.log(message) });`,
    ].join('\n');
  if (request !== null && clientMethod === undefined) {
    const options = json
      ? { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(json) }
      : { method, headers: { ...headers, ...(file && { 'Content-Type': file.type }) } };
    const read = answer === 'image' ? 'blob' : answer;
    const address = withQuery(url, query);
    const argument = file ? toObject({ ...options, body: 'FILE' }).replace(/['"]FILE['"]/, 'file') : toObject(options);
    return [
      ...(file ? ["import { openAsBlob } from 'node:fs';", '', `const file = await openAsBlob('${file.name}');`] : []),
      `const response = await fetch('${address}', ${argument});`,
      `console.log(await response.${read}());`,
    ].join('\n');
  }
  const call = clientMethod ?? `${name}.${method === 'GET' ? 'query' : 'mutate'}`;
  const argument = Object.keys(input).length === 0 && !file ? '' : toObject(input);
  const withFile = file
    ? argument.replace(/^\{ (.*?),? \}$/, `{ $1, ${file.isPart ? 'file' : 'csv: file'} }`)
    : argument;
  return [
    ...(file ? ["import { openAsBlob } from 'node:fs';"] : []),
    "import { createClient } from '@lynxroom/client';",
    '',
    `const client = createClient({ url: '${baseUrl}'${isSigned ? `, token: '${TOKEN}'` : ''} });`,
    ...(file ? [`const file = await openAsBlob('${file.name}', { type: '${file.type}' });`] : []),
    `const result = await client.${call}(${withFile});`,
  ].join('\n');
}

/** Writes a JSON value as TypeScript: without quotes around the names, and on one line if it is short. */
function toObject(value: unknown): string {
  const lines = JSON.stringify(value, null, 2).replace(/^( *)"(\w+)":/gm, '$1$2:');
  const line = lines.replace(/\n */g, ' ');
  return line.length <= 80 ? line : lines;
}

function toPython({ method, url, headers, query, json, file, answer }: Request): string {
  const types = file?.isPart === false ? { 'Content-Type': file.type } : {};
  const all = { ...headers, ...types };
  const open = file && `open("${file.name}", "rb")`;
  return [
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${toPythonLiteral(url)},`,
    ...(Object.keys(all).length > 0 ? [`    headers=${toPythonLiteral(all)},`] : []),
    ...(Object.keys(query).length > 0 ? [`    params=${toPythonLiteral(query)},`] : []),
    ...(json ? [`    json=${toPythonLiteral(json)},`] : []),
    ...(file?.isPart ? [`    files={"file": ("${file.name}", ${open}, "${file.type}")},`] : []),
    ...(file?.isPart === false ? [`    data=${open},`] : []),
    ...(answer === 'stream' ? ['    stream=True,'] : []),
    '    timeout=30,',
    ')',
    'response.raise_for_status()',
    ...pythonReads[answer],
  ].join('\n');
}

const pythonReads: Record<Request['answer'], string[]> = {
  json: ['print(response.json())'],
  text: ['print(response.text)'],
  image: ['open("image", "wb").write(response.content)'],
  stream: ['for line in response.iter_lines(decode_unicode=True):', '    print(line)'],
};

function toPythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(toPythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value as object);
  return `{${entries.map(([name, field]) => `${JSON.stringify(name)}: ${toPythonLiteral(field)}`).join(', ')}}`;
}
