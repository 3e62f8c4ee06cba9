/**
 * Measures how the time of the main reads and writes grows with the data of a workspace, one call at a time:
 *   npm run bench -- growth [sizes=10000,100000,1000000] [calls=30]
 * A size is the number of items, of deliveries, of visits, and of three kinds of events. There are 2,000 labels at the
 * last size, and at most 200,000 contacts, which is the quota. A million needs 5 GB of disk and about five minutes to
 * load.
 */
import { type Call, type Connection, openConnection } from './load.ts';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import { startOurs } from './requests/targets.ts';
import { median } from './upload-servers.ts';
import { quantile } from './webhook-world.ts';
import { openWorld, query, runFile, seedOurs, workspaces } from './world.ts';

type Row = { title: string; call: (n: number, world: Ids) => Omit<Call, 'token'> };
/** What the calls refer to. `size` is the number of items. */
type Ids = { size: number; item: number; label: number; contact: number; webhook: number };

const BASE = 1_000;
const WARM_UP_CALLS = 20;
const PAGE = 50;
const LABEL_SIZES = [20, 200, 2_000];
const stamp = Date.now().toString(36);
const at = `/api/workspaces/${workspaces.read}`;

const rows: readonly Row[] = [
  get('labels (20, 200, 2,000; at most 1,000 listed)', () => '/labels'),
  get('library, first page', () => `/library?limit=${PAGE}`),
  get('library, page in the middle', ({ size }) => `/library?limit=${PAGE}&offset=${size / 2}`),
  get('library, last page', ({ size }) => `/library?limit=${PAGE}&offset=${size - PAGE}`),
  get('library by name, first page', () => `/library?limit=${PAGE}&sort=name&order=asc`),
  get('library by size, last page', ({ size }) => `/library?limit=${PAGE}&sort=size&offset=${size - PAGE}`),
  get('library with a label (a tenth to a thousandth)', ({ label }) => `/library?limit=${PAGE}&label=${label}`),
  get('search, 1 hit', () => `/library?limit=${PAGE}&search=0000777`),
  get('search, hits grow with the items (1 in 2,500)', () => `/library?limit=${PAGE}&search=harbor%20invo`),
  get('one item', ({ item }) => `/library/${item}`),
  get('contacts, first page', () => `/contacts?limit=${PAGE}`),
  get('contacts, search', () => `/contacts?limit=${PAGE}&search=g5000%40`),
  get('one contact with its events', ({ contact }) => `/contacts/${contact}`),
  get('deliveries, first page', ({ webhook }) => `/webhooks/${webhook}/deliveries?limit=${PAGE}`),
  get(
    'deliveries, last page',
    ({ webhook, size }) => `/webhooks/${webhook}/deliveries?limit=${PAGE}&offset=${size - PAGE}`,
  ),
  get('messages, first page', ({ webhook }) => `/webhooks/${webhook}/messages?limit=${PAGE}`),
  get('meetings, first page', () => `/meetings?limit=${PAGE}`),
  get('meetings with a guest, by name (1 in 5,000)', () => `/meetings?limit=${PAGE}&search=guest%20777`),
  get('analytics', () => '/analytics'),
  {
    title: 'create a room',
    call: (n) => ({
      method: 'POST',
      path: '/api/dashboard/rooms',
      json: { name: `growth-${stamp}-${n}`, workspace_id: workspaces.read },
    }),
  },
  post('create a label', '/labels', (n) => ({ name: `Growth ${stamp} ${n}` })),
  post('create a contact', '/contacts', (n) => ({ name: 'Vera', email: `growth-${stamp}-${n}@example.org` })),
  {
    title: 'assign a label',
    call: (n, { item, label }) => ({
      method: 'POST',
      path: `${at}/library/${item - (n % BASE)}/labels`,
      json: { labelId: label },
    }),
  },
  {
    title: 'rename an item',
    call: (n, { item }) => ({ method: 'PATCH', path: `${at}/library/${item - (n % BASE)}`, json: { name: `N ${n}` } }),
  },
];

export async function run(): Promise<void> {
  const options = readOptions();
  const sizes = (options.sizes ?? '10000,100000,1000000').split(',').map(Number);
  const calls = Number(options.calls ?? 30);
  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld();
  cleanup.defer(() => world.close());
  const database = await world.createDatabase('bench_growth');
  const tokens = await seedOurs(database, { items: BASE, labels: 10, contacts: BASE, contactEvents: BASE }, 'key');
  const server = await startOurs(database, world.folder);
  cleanup.defer(server.stop);
  const token = tokens.get(workspaces.read);
  const cells = new Map<Row, string[]>(rows.map((row) => [row, []]));
  let loaded = { size: BASE, labels: 10 };
  for (const [index, size] of sizes.entries()) {
    const next = { size, labels: LABEL_SIZES[index] ?? loaded.labels };
    console.log(`Loading ${size.toLocaleString('en')} …`);
    await load(database, loaded, next);
    await world.settle();
    loaded = next;
    const ids = { size, ...(await readIds(database)) };
    const connection = await openConnection(server.url);
    for (const row of rows) {
      const took = await time(connection, calls, (n) => ({ ...row.call(index * 10_000 + n, ids), token }));
      cells.get(row)?.push(`${median(took).toFixed(1)} (${quantile(took, 0.95).toFixed(1)})`);
    }
    connection.close();
  }
  const head = ['Call', ...sizes.map((size) => size.toLocaleString('en'))];
  const table = toTable(
    head,
    rows.map((row) => [row.title, ...(cells.get(row) ?? [])]),
  );
  const details = `${calls} calls, one at a time, over REST; p50 (p95) in milliseconds.`;
  await writeSection('performance.md', 'growth', `${describeRun(details)}\n\n${table}`, options.write !== '0');
}

function get(title: string, pathOf: (ids: Ids) => string): Row {
  return { title, call: (_, ids) => ({ method: 'GET', path: at + pathOf(ids) }) };
}

function post(title: string, path: string, bodyOf: (n: number) => object): Row {
  return { title, call: (n) => ({ method: 'POST', path: at + path, json: bodyOf(n) }) };
}

async function load(
  database: string,
  before: { size: number; labels: number },
  after: { size: number; labels: number },
): Promise<void> {
  await runFile(database, 'seed-growth.sql', {
    base: BASE,
    from: before.size + 1,
    to: after.size,
    from_label: before.labels + 1,
    to_label: after.labels,
  });
  await query(database, 'vacuum analyze');
}

async function readIds(database: string): Promise<Omit<Ids, 'size'>> {
  const [row] = await query(
    database,
    `select (select max(id) from library_items where workspace_id = $1) as item,
      (select min(id) from labels where workspace_id = $1) as label,
      (select min(id) from contacts where workspace_id = $1) as contact,
      (select min(id) from webhooks where workspace_id = $1) as webhook`,
    [workspaces.read],
  );
  return row as Omit<Ids, 'size'>; // The columns of the statement.
}

/** Sends calls one after another. Returns the milliseconds of each, without the first ones. Throws if one fails. */
async function time(connection: Connection, calls: number, makeCall: (n: number) => Call): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < WARM_UP_CALLS + calls; n += 1) {
    const call = makeCall(n);
    const start = performance.now();
    const { status, body } = await connection.send(call);
    if (n >= WARM_UP_CALLS) took.push(performance.now() - start);
    if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${body.slice(0, 300)}`);
  }
  return took;
}
