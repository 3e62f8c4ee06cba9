/**
 * With the typed client: uploads a PDF and a video, then labels, finds and downloads the PDF, and deletes both files.
 *
 *   . .data/demo.env && npm run example
 */
import { readFile } from 'node:fs/promises';
import { createClient, isLynxroomError } from '../packages/client/src/index.ts';

const { LYNXROOM_URL: url, LYNXROOM_TOKEN: token, LYNXROOM_WORKSPACE: workspace } = process.env;
if (!url || !token || !workspace) throw new Error('Load the demo account first: . .data/demo.env');

const client = createClient({ url, token });
const id = Number(workspace);

async function readSample(name: string, type: string): Promise<File> {
  return new File([await readFile(new URL(name, import.meta.url))], name, { type });
}

const pdf = await client.upload({ id, file: await readSample('sample.pdf', 'application/pdf'), name: 'Offer.pdf' });
const video = await client.upload({
  id,
  file: await readSample('sample.mp4', 'video/mp4'),
  description: 'A test pattern',
});
console.log(`Uploaded ${pdf.name} (${pdf.size} bytes) and ${video.name} (${video.duration} s)`);

const { labels } = await client.labels.list.query({ id });
const label =
  labels.find(({ name }) => name === 'Offers') ??
  (await client.labels.create.mutate({ id, name: 'Offers', color: '#f59e0b' })).label;
await client.library.assignLabel.mutate({ id, itemId: pdf.id, labelId: label.id });

const found = await client.library.list.query({ id, search: 'offer', label: label.id });
console.log(`Found ${found.total} item: ${found.items.map((item) => item.name).join(', ')}`);

const download = await client.library.download.query({ id, itemId: pdf.id });
const bytes = await (await fetch(download.url)).arrayBuffer();
console.log(`Downloaded ${bytes.byteLength} bytes`);

for (const item of [pdf, video]) await client.library.delete.mutate({ id, itemId: item.id });
const error = await client.library.read.query({ id, itemId: pdf.id }).catch((reason: unknown) => reason);
console.log(isLynxroomError(error) && error.code === 'NOT_FOUND' ? 'Deleted both' : 'The PDF was not deleted');
