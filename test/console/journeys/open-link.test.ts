/** The link that `npm start` prints. */
import { rm } from 'node:fs/promises';
import { startServer, stopServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

journey('the link of a first start leads to the demo account with one click, and no second time', async ({ open }) => {
  const dataDir = await makeTempDir();
  const server = startServer({ DATA_DIR: dataDir });
  try {
    const url = await server.ready;
    const link = /http:\S+\/open#token=\S+/.exec(server.messages().join('\n'))?.[0] ?? '';
    const page = await open(link);
    await page.getByRole('heading', { name: 'Open Lynxroom' }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('button', { name: 'Workspace: Personal' }).waitFor();
    await page.getByRole('button', { name: 'Start a meeting' }).click();
    await page.getByRole('heading', { name: "Demo's room" }).waitFor();

    const again = await open(link);
    await again.getByRole('button', { name: 'Open' }).click();
    await again.getByText('npm run -s lynxroom -- open').waitFor();
    await again.goto(url);
    await again.getByText('your terminal shows a link that signs you in').waitFor();
  } finally {
    await stopServer(server);
    await rm(dataDir, { recursive: true, force: true });
  }
});
