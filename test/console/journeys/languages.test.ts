/** Pages for guests in the languages of guests, from right to left too. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible, expectFitsPhone, journey, linkTo, PHONE, readMail } from './support/journey.ts';
import { expectNoEnglish } from './support/page-texts.ts';

const SWISS = `Object.defineProperty(navigator, 'languages', { value: ['it', 'de-CH', 'en'] })`;

async function openAs(page: Page, path: string, script: string): Promise<void> {
  await page.addInitScript(script);
  await page.goto(path);
}

function weekdaysOf(locale: string): string[] {
  const name = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, day) => name.format(day * 86_400_000));
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

journey('a guest books and moves a meeting in the language of the page, and gets mail in it', async (world) => {
  const { owner, id } = await world.newTeam();
  const slug = `arabic-${id}`;
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
  await owner.client.bookingPages.create.mutate({
    id,
    title: 'Ταξίδι',
    description: 'Ένα',
    slug,
    duration_minutes: 60,
    time_zone: 'UTC',
    confirm_email: true,
    hours: days.map((day) => ({ day, from: '08:00', to: '18:00' })),
  });
  const given = ['Ταξίδι', 'Ένα', 'UTC', 'Olive Owner', 'OO', 'Vera', 'Google', 'Outlook', 'Office 365'];
  const page = await world.open('/robots.txt');
  await page.setViewportSize(PHONE);
  await openAs(page, `/book/${slug}`, SWISS);
  await page.getByText('60 Minuten').waitFor();
  await page.getByRole('group', { name: 'Tag' }).waitFor();
  expect(await page.getByRole('group', { name: 'Tag' }).innerText()).toMatch(/^Mo\s+Di\s+Mi/);
  await page.getByLabel('Sprache').selectOption('ar');
  const second = page.getByRole('group', { name: 'اليوم' }).getByRole('button').nth(1);
  await second.click();
  expect(await second.getAttribute('aria-label')).toMatch(new RegExp(`^(${weekdaysOf('ar').join('|')})`));
  await page.getByRole('group', { name: 'الوقت' }).getByRole('button').first().click();
  await page.getByRole('button', { name: /^عرض الكل/ }).waitFor();
  await expectNoEnglish(page, given);
  await expectAccessible(page);
  await expectFitsPhone(page);
  const email = `vera.${id}@example.com`;
  await page.getByLabel('الاسم').fill('Vera');
  await page.getByLabel('البريد الإلكتروني').fill('vera@example');
  await page.getByRole('button', { name: 'حجز الاجتماع' }).click();
  await page.getByText('لا يمكن قبول هذا الإدخال').waitFor();
  await page.getByLabel('البريد الإلكتروني').fill(email);
  await page.getByRole('button', { name: 'حجز الاجتماع' }).click();
  await page.getByRole('heading', { name: 'افتح بريدك الإلكتروني لتأكيد الاجتماع' }).waitFor();
  await expectNoEnglish(page, given);
  await expectAccessible(page);

  // The mail is in the language of the page, not in that of the browser.
  await page.goto(await linkTo(world.url, email, `/book/${slug}/booking`));
  await page.getByRole('button', { name: 'تأكيد الاجتماع' }).click();
  await page.getByText('تم تأكيد الاجتماع.').waitFor();
  await page.getByRole('button', { name: 'إضافة إلى التقويم' }).waitFor();
  await expectNoEnglish(page, given);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'نقل', exact: true }).click();
  await page.getByRole('group', { name: 'الوقت' }).getByRole('button').nth(1).click();
  await page.getByRole('button', { name: /^نقل إلى/ }).click();
  await page.getByRole('button', { name: 'إلغاء الاجتماع' }).click();
  const asked = page.getByRole('dialog', { name: 'هل تريد إلغاء الاجتماع؟' });
  await asked.waitFor();
  await expectNoEnglish(page, given);
  await asked.getByRole('button', { name: 'إلغاء الاجتماع' }).click();
  await page.getByText('أُلغي', { exact: true }).waitFor();
  expect(await readMail(world.url, email)).toContain('أُلغي اجتماعك ولن يُعقد.');

  await page.goto(`/embed/book/${slug}`);
  await page.getByRole('group', { name: 'اليوم' }).waitFor();
  await expectNoEnglish(page, given);
  await page.goto('/book/there-is-none');
  await page.getByText('تعذّر فتح هذه الصفحة').waitFor();
  await expectNoEnglish(page, ['there-is-none']);
});

journey('people who are invited read who invites them in their language', async ({ newTeam, newPerson, open, url }) => {
  const { owner, id } = await newTeam('Ομάδα');
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  const given = ['Ομάδα', 'Olive Owner', 'Nora New'];
  const person = await newPerson('Nora New');
  const page = await open('/robots.txt', person);
  await page.setViewportSize(PHONE);
  await openAs(page, `/join/${token}`, SWISS);
  await page.getByRole('heading', { name: 'Ομάδα beitreten' }).waitFor();
  await page.getByLabel('Sprache').selectOption('ar');
  await page.getByText('يدعوك').waitFor();
  expect(await readLanguage(page)).toEqual(['ar', 'rtl']);
  await expectNoEnglish(page, [person.email, ...given]);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'الانضمام إلى مساحة العمل' }).click();
  await page.getByText('أنت الآن عضو في').waitFor();

  const email = `invited.in.arabic.${id}@example.com`;
  await owner.client.invitations.create.mutate({ id, email, role: 'admin' });
  const link = await linkTo(url, email, '/invitation');
  const invited = await open('/robots.txt');
  await invited.setViewportSize(PHONE);
  await openAs(invited, link, SWISS);
  await invited.getByRole('heading', { name: 'Einladung' }).waitFor();
  expect(await readLanguage(invited)).toEqual(['de', 'ltr']);
  // The choice is that of all pages, and what has been shown is written again.
  await invited.getByLabel('Sprache').selectOption('ar');
  await invited.getByRole('heading', { name: 'دعوة' }).waitFor();
  expect(await readLanguage(invited)).toEqual(['ar', 'rtl']);
  await expectNoEnglish(invited, [email, ...given]);
  await expectAccessible(invited);
  await expectFitsPhone(invited);
  await invited.getByLabel('كلمة المرور').fill('wrong password');
  await invited.getByRole('button', { name: 'انضمام إلى مساحة العمل' }).click();
  await invited.getByText('كلمة المرور غير صحيحة').waitFor();
  await invited.getByLabel('ليس لدي حساب بعد').check();
  await invited.getByLabel('الاسم').fill('Ines');
  await invited.getByLabel('كلمة المرور').fill('correct horse battery');
  await invited.getByRole('button', { name: 'انضمام إلى مساحة العمل' }).click();
  await invited.getByRole('link', { name: 'فتح مساحة العمل' }).waitFor();
  await expectNoEnglish(invited, given);
  // Without a choice and a language of the browser, it is that of the workspace.
  await owner.client.branding.change.mutate({ id, language: 'es' });
  const other = `${email}.es`;
  await owner.client.invitations.create.mutate({ id, email: other, role: 'member' });
  for (const path of [`/join/${token}`, await linkTo(url, other, '/invitation')]) {
    const silent = await open('/robots.txt');
    await openAs(silent, path, `Object.defineProperty(navigator, 'languages', { value: ['it'] })`);
    await silent.getByRole('heading', { name: /^(Unirse a Ομάδα|Invitación)$/ }).waitFor();
    expect(await readLanguage(silent)).toEqual(['es', 'ltr']);
  }
  const unknown = await invited.context().newPage();
  await unknown.goto('/join/unknown');
  await unknown.getByText('هذا الرابط لا يعمل').waitFor();
  await expectNoEnglish(unknown, []);
  await unknown.goto('/invitation');
  await unknown.getByText('هذا الرابط غير مكتمل').waitFor();
  await expectNoEnglish(unknown, []);
});
