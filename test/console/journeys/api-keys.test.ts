/** API keys: shown once, copied, switched off, rotated, deleted. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createClient } from '../../../packages/client/src/index.ts';
import { expectAccessible, expectFitsPhone, journey, loseAnswerOnce, refuseOnce } from './support/journey.ts';

journey('a key is created, works, is rotated, switched off, and deleted', async ({ newTeam, open, url }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/api-keys`, team.owner);
  await page.getByText('There are no API keys yet').waitFor();
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name').fill('Nightly import');
  await page.getByLabel('Rights').selectOption('Read only');
  await page.getByLabel('Allowed networks').fill('not a network');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(/must be an IP address/).waitFor();
  await expectAccessible(page);
  await page.getByLabel('Allowed networks').fill('127.0.0.0/8');
  await page.getByLabel('Expires').selectOption({ index: 1 });
  await loseAnswerOnce(page, 'apiKeys.create');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('The service cannot be reached').waitFor();
  // The second press is later than the first.
  await page.evaluate('Date.now = ((now) => () => now() + 2_000)(Date.now)');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const shown = page.getByRole('textbox', { name: 'API key' });
  const token = await shown.inputValue();
  expect(token).toMatch(/^lnx_/);
  await expectAccessible(page);
  const sampleOf = async (language: string) => {
    await page.getByRole('tab', { name: language }).click();
    const sample = page.getByRole('region', { name: `Sample for ${language}` });
    await page.getByRole('button', { name: `Copy: Sample for ${language}` }).waitFor();
    return (await sample.textContent()) ?? '';
  };
  const python = await sampleOf('Python');
  const { stdout } = await promisify(execFile)('python3', ['-c', python]);
  expect(stdout.trim()).toBe('[]');
  expect(await sampleOf('TypeScript')).toContain(`url: '${url}',\n  token: '${token}'`);
  const curl = await sampleOf('curl');
  expect((await promisify(execFile)('sh', ['-c', curl])).stdout).toContain('"labels":[]');
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Done' }).click();
  const read = (key: string) => createClient({ url, token: key }).labels.list.query({ id: team.id });
  expect((await read(token)).labels).toEqual([]);
  expect((await team.owner.client.apiKeys.list.query({ id: team.id })).apiKeys.length).toBe(1);

  const act = async (item: string) => {
    await page.getByRole('button', { name: 'Actions on Nightly import' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await act('Rotate');
  await refuseOnce(page, 'apiKeys.rotate', 503, 'SERVICE_UNAVAILABLE');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByText('The test refuses this').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const rotated = await shown.inputValue();
  expect(rotated).not.toBe(token);
  expect((await read(rotated)).labels).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();

  await act('Switch off');
  await page.getByText('Off', { exact: true }).waitFor();
  await expect.poll(() => read(rotated).then(Object, ({ status }) => status)).toBe(401);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await act('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There are no API keys yet').waitFor();

  const member = await open(`/w/${team.id}/api-keys`, team.member);
  await member.getByText('Your role does not allow this').waitFor();
});
