/** The main job of a client, with web APIs alone, so that it runs in every runtime. Returns what it found. */
import { type Client, createClient, isLynxroomError } from '@lynxroom/client';

export type Task = { url: string; token: string; id: number };

export async function runMainJob({ url, token, id }: Task): Promise<object> {
  const client = createClient({ url, token, retry: { times: 1 } });
  const workspace = client.workspace(id);
  const seen = watch(client, id);
  await seen.opened;
  const { label } = await workspace.labels.create.mutate({ name: 'Red' });
  const refused = await workspace.labels.create.mutate({ name: 'Red' }).catch((error) => error);

  const small = new Blob(['%PDF-1.7'], { type: 'application/pdf' });
  const large = new Blob(['%PDF-1.7', new Uint8Array(9 * 1024 * 1024)], { type: 'application/pdf' });
  const sent: boolean[] = [];
  const onProgress = (progress: { sent: number; total: number }) => sent.push(progress.sent === progress.total);
  await client.upload({ id, file: small, name: 'Whole' });
  await client.upload({ id, file: small, name: 'Streamed' }, { onProgress });
  await client.upload({ id, file: large, name: 'In parts' });
  const names: string[] = [];
  for await (const { name } of client.paginate(workspace.library.list, { limit: 2, sort: 'name', order: 'asc' }))
    names.push(name);
  await client.importContacts({ id, csv: 'email,name\nvera@example.com,Vera' });
  const contacts = await (await client.exportContacts({ id })).text();
  const aborted = await workspace.labels.list
    .query({}, { signal: AbortSignal.abort('enough') })
    .catch((error) => error);
  return {
    label: label.name,
    refused: [isLynxroomError(refused), refused.status, refused.code],
    names,
    sent: sent.at(-1),
    contacts: contacts.includes('vera@example.com'),
    aborted,
    event: await seen.event,
  };
}

/** Follows the events of the workspace until the first upload. */
function watch(client: Client, id: number): { opened: Promise<void>; event: Promise<string> } {
  const opened = Promise.withResolvers<void>();
  const event = Promise.withResolvers<string>();
  const live = client.events.live.subscribe(
    { id },
    {
      onData({ data }) {
        if (data.event === 'stream.opened') opened.resolve();
        if (data.event !== 'library_item.uploaded') return;
        live.unsubscribe();
        event.resolve(data.data.name);
      },
      onError(error) {
        opened.reject(error);
        event.reject(error);
      },
    },
  );
  return { opened: opened.promise, event: event.promise };
}
