/** Calls, uploads and reads all pages of a list, as programs do that were written for version 0.2.0. */
import { createClient, isLynxroomError } from '@lynxroom/client';

const { LYNXROOM_URL: url = '', LYNXROOM_TOKEN: token } = process.env;
const print = (line: string) => process.stdout.write(`${line}\n`);
const client = createClient({ url, token });
const { workspace } = await client.workspaces.create.mutate({ name: 'Pages' });
const { id } = workspace;
for (const name of ['Red', 'Green', 'Blue']) await client.labels.create.mutate({ id, name });
let cursor: string | undefined;
do {
  const page = await client.labels.list.query({ id, limit: 2, cursor });
  print(page.labels.map(({ name }) => name).join(', '));
  cursor = page.next_cursor ?? undefined;
} while (cursor);

const file = new Blob(['%PDF-1.7'], { type: 'application/pdf' });
const item = await client.upload({ id, file, filename: 'offer.pdf' });
const { items } = await client.library.list.query({ id, cursor: null });
print(`${item.name} ${items.length}`);
const error = await client.labels.create.mutate({ id, name: 'Red' }).catch((reason: unknown) => reason);
print(`${isLynxroomError(error) && error.code}`);
