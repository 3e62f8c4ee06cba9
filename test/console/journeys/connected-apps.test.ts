/** A person allows an agent to use a workspace, sees it in the account, and disconnects it. */
import { expect } from 'vitest';
import { exchange, register, statusOf } from '../../mcp/oauth-client.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

/** No program listens there, so that the browser shows an error with this address. */
const LOCAL = 'http://localhost:9/callback';

journey('a person connects an agent, and disconnects it', async ({ newPerson, open, url }) => {
  const ada = await newPerson('Ada Agent');
  // A router that reads numbers as numbers would change this state.
  const state = '12345678901234567890';
  const registration = await register({ url }, { state, scope: 'read write admin' }, LOCAL);
  const page = await open('/account', ada);
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().includes('/authorize?request=')),
    page.goto(registration.url.href),
  ]);
  expect(answer.headers()).toMatchObject({ 'x-frame-options': 'DENY' });
  expect(answer.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
  await page.getByText('An app that calls itself Example Agent').waitFor();
  await page.getByText('localhost:9', { exact: true }).waitFor();
  expect(await page.getByLabel(/^Also create/).isChecked()).toBe(true);
  expect(await page.getByLabel(/^Also manage/).isChecked()).toBe(false);
  await expectAccessible(page);
  await expectFitsPhone(page);
  const [returned] = await Promise.all([
    page.waitForRequest((request) => request.url().startsWith(LOCAL)),
    page.getByRole('button', { name: 'Allow' }).click(),
  ]);
  const back = new URL(returned.url());
  expect(back.searchParams.get('state')).toBe(state);
  const { status, body } = await exchange({ url }, registration, back, { redirect_uri: LOCAL });
  expect([status, body.scope]).toEqual([200, 'read write']);
  expect(await statusOf({ url }, body.access_token)).toBe(200);

  await page.goto(`${url}/account/apps`);
  await page.getByText('Example Agent').waitFor();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Disconnect Example Agent' }).click();
  await page.getByText('Example Agent was disconnected').waitFor();
  await page.getByText('No app is connected').waitFor();
  expect(await statusOf({ url }, body.access_token)).toBe(401);

  // A link that is wrong leads nowhere else.
  const wrong = await register({ url }, { code_challenge_method: 'plain' }, LOCAL);
  await page.goto(wrong.url.href);
  await page.getByText('code_challenge_method must be S256').waitFor();
  await expectAccessible(page);

  // Apps put JSON into their state, of which nothing may get lost. Quotes are its longest characters in URLs.
  const [long, longer] = ['"'.repeat(1_500), '"'.repeat(1_501)];
  await page.goto((await register({ url }, { state: long }, LOCAL)).url.href);
  const [declined] = await Promise.all([
    page.waitForRequest((request) => request.url().startsWith(LOCAL)),
    page.getByRole('button', { name: 'Decline' }).click(),
  ]);
  const { searchParams } = new URL(declined.url());
  expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['access_denied', long]);
  await page.goto((await register({ url }, { state: longer }, LOCAL)).url.href);
  await page.getByText('The app sends a state of more than 1500 characters').waitFor();
});
