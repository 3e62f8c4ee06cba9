/** Pages for guests in the languages of guests, from right to left too. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey, PHONE } from './support/journey.ts';
import { expectNoEnglish } from './support/page-texts.ts';

const SWISS = `Object.defineProperty(navigator, 'languages', { value: ['it', 'de-CH', 'en'] })`;

async function openAs(page: Page, path: string, script: string): Promise<void> {
  await page.addInitScript(script);
  await page.goto(path);
}

function readLanguage(page: Page): Promise<unknown> {
  return page.evaluate('[document.documentElement.lang, document.documentElement.dir]');
}

journey('a guest reads a room in the language of the browser, and chooses another', async ({ newTeam, open }) => {
  const { owner, id } = await newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id, display_name: 'Ταξίδι' });
  const page = await open('/robots.txt');
  await openAs(page, `/room/${room.name}`, SWISS);
  await page.getByRole('button', { name: 'Beitreten', exact: true }).waitFor();
  expect(await readLanguage(page)).toEqual(['de', 'ltr']);
  await page.getByLabel('Sprache').selectOption('ar');
  await page.getByRole('button', { name: 'انضمام', exact: true }).waitFor();
  await expect.poll(() => readLanguage(page)).toEqual(['ar', 'rtl']);
  await expectNoEnglish(page, [
    'Ταξίδι',
    'Fake Default Audio Input',
    'Fake Default Audio Output',
    'Fake Audio Input',
    'Fake Audio Output',
    'fake_device_0',
  ]);
  await expectAccessible(page);
  await expectFitsPhone(page);
  // The choice outlives the page, and the meeting has the same language.
  await page.reload();
  await page.getByLabel('الاسم').fill('Vera');
  await page.setViewportSize(PHONE);
  await page.getByRole('button', { name: 'انضمام', exact: true }).click();
  await page.getByRole('button', { name: 'الحاضرون' }).click();
  await page.getByText('في الاجتماع (1)').waitFor();
  await expectNoEnglish(page, ['Ταξίδι', 'Vera']);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'مغادرة' }).click();
  await page.getByText('لقد غادرت الغرفة').waitFor();
  await expectNoEnglish(page, ['Ταξίδι', 'Vera']);
  const unknown = await page.context().newPage();
  await unknown.goto('/room/there-is-none');
  await unknown.getByText('هذا غير موجود').waitFor();
  await expectNoEnglish(unknown, ['there-is-none']);
});
