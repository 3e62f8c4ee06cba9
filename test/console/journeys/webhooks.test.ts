/** Webhooks: one breaks, its attempts are read, it is repaired, and its message is sent again. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { accept, type Handler, respond, startReceiver } from '../../support/receiver.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

/** Fails the first attempt, and responds to the retry, five seconds later, that it is gone for ever. */
const breakDown: Handler = (request, response, index) => {
  const [status, text] = index === 0 ? [500, 'The disk is full'] : [410, 'Moved away'];
  respond(status, JSON.stringify({ error: text }))(request, response, index);
};

journey('a webhook breaks, its attempts are read, it is repaired and sent again', async ({ newTeam, open }) => {
  const team = await newTeam();
  const receiver = await startReceiver(breakDown);
  try {
    const page = await open(`/w/${team.id}/webhooks`, team.owner);
    await page.getByText('There are no webhooks yet').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const form = page.getByRole('dialog', { name: 'New webhook' });
    await form.getByLabel('Name', { exact: true }).fill('Chat announcements');
    await form.getByLabel('URL', { exact: true }).fill('http://10.0.0.1/hook');
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await form.getByText('Choose at least one event').waitFor();
    // The message is above the list of events, and the focus brings it into sight.
    await expect.poll(() => form.evaluate('document.activeElement.tagName')).toBe('FIELDSET');
    await form.getByRole('checkbox', { name: /^room\.created/ }).check();
    await form.locator('summary', { hasText: 'room.created' }).click();
    await form.getByRole('region', { name: 'Example of room.created' }).waitFor();
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await form.getByText(/must point to a public address or to this machine/).waitFor();
    await expectAccessible(page);
    await form.getByLabel('URL', { exact: true }).fill(`${receiver.url}/hook`);
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = page.getByRole('textbox', { name: 'secret' });
    const secret = await shown.inputValue();
    expect(secret).toMatch(/^whsec_/);
    await form.getByText(`WEBHOOK_SECRET=${secret} node receive-webhooks.mjs`).waitFor();
    await form.getByRole('tab', { name: 'Python' }).click();
    await form.getByText(`WEBHOOK_SECRET=${secret} python3 receive_webhooks.py`).waitFor();
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Done' }).click();
    await form.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Chat announcements' }).click();
    await page.getByRole('heading', { name: 'Chat announcements' }).waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    const message = page.getByRole('button', { name: /webhook\.test/ });
    await message.click();
    await page.getByRole('region', { name: 'Response to attempt 1' }).getByText('The disk is full').waitFor();
    await page.getByRole('article').getByText('Status 500').waitFor();
    await page.getByRole('region', { name: 'Request body' }).getByText('"sent_by": "Olive Owner"').waitFor();
    await page.getByRole('heading', { name: 'The service has switched this webhook off' }).waitFor();
    await page.getByText('Reason: The receiver responded with 410 Gone').waitFor();
    await page.getByRole('article').getByText('Status 410').waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    receiver.respondWith(accept);
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('button', { name: 'Send missed' }).click();
    const resend = page.getByRole('dialog', { name: 'Send what was missed' });
    await resend.getByLabel('Period').selectOption('In the last hour');
    await resend.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('1 message is being sent').waitFor();
    await resend.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Delivered webhook\.test/ }).waitFor();
    await page.getByRole('article').getByText('Status 200').waitFor();
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    const requests = await receiver.waitFor(4);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const { body, headers } = requests[3] ?? {};
    expect(headers?.['x-webhook-signature']).toBe(createHmac('sha256', secret).update(String(body)).digest('hex'));
    await page.getByRole('region', { name: 'Attempts' }).getByText('Attempt 4').waitFor();
    await page.getByRole('checkbox', { name: /^Choose webhook\.test/ }).check();
    await page.getByRole('button', { name: 'Send the chosen message again' }).click();
    await receiver.waitFor(5);
    await page.getByRole('region', { name: 'Attempts' }).getByText('Attempt 5').waitFor();

    await page.getByLabel('Outcome').selectOption('Cancelled');
    await page.getByText('Nothing matches').waitFor();
    expect(page.url()).toContain('status=cancelled');
    await page.getByRole('button', { name: 'Clear' }).click();
    await message.waitFor();

    const act = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await act('Rotate the secret');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    expect(await shown.inputValue()).not.toBe(secret);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Messages are also signed with the previous secret').waitFor();
    await act('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no webhooks yet').waitFor();

    const member = await open(`/w/${team.id}/webhooks`, team.member);
    await member.getByText('Your role does not allow this').waitFor();
  } finally {
    await receiver.close();
  }
});
