/** Connections to meeting providers. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

journey('an owner connects a provider, sees its first callback, and deletes the connection', async (world) => {
  const { owner, admin, id } = await world.newTeam();
  const page = await world.open(`/w/${id}/connections`, owner);
  await page.getByRole('button', { name: 'New connection' }).click();
  const created = page.getByRole('dialog', { name: 'New connection' });
  await created.getByLabel('API secret').waitFor();
  await created.getByLabel('Provider').selectOption('generic');
  await created.getByLabel('Name', { exact: true }).fill('Video');
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Close without saving?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await created.getByRole('button', { name: 'Connect' }).click();

  const setup = page.getByRole('dialog', { name: 'Set up Video' });
  const url = await setup.getByLabel('URL for callbacks', { exact: true }).inputValue();
  const secret = await setup.getByLabel('Secret', { exact: true }).inputValue();
  await setup.getByText('Waiting for the first callback').waitFor();
  await expectAccessible(page, '[role=dialog]');
  expect(await post(url, secret)).toBe(200);
  await setup.getByText(/The last callback arrived/).waitFor();
  await setup.getByRole('button', { name: 'Done' }).click();
  await setup.waitFor({ state: 'hidden' });
  const row = page.getByRole('row', { name: /Video/ });
  await row.getByText('Connected').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await row.getByRole('button', { name: 'Actions on Video' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete Video?' });
  await asked.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There are no connections yet').waitFor();
  expect(await post(url, secret)).toBe(404);

  const other = await world.open(`/w/${id}/connections`, admin);
  await other.getByText('Your role does not allow this').waitFor();
  expect(await other.getByRole('button', { name: 'New connection' }).count()).toBe(0);
});

/** Sends a callback as Standard Webhooks signs it. Returns the status of the response. */
async function post(url: string, secret: string): Promise<number> {
  const now = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    type: 'participant.joined',
    occurred_at: now,
    room: 'amber-falcon',
    participant: { id: 'connection-1', name: 'Grace Hopper' },
  });
  const messageId = `msg_${now}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${messageId}.${now}.${body}`).digest('base64');
  const { status } = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(now),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  });
  return status;
}
