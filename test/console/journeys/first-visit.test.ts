/** The first visit of a person who uses the keyboard alone: from the registration to the link for guests. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { journey } from './support/journey.ts';

/** More than the controls of any page that the journey opens. */
const MAX_TABS = 60;

/** The role and the name of what has the focus. */
const FOCUSED = `(() => {
  const { activeElement: element } = document;
  const label = element.labels?.[0]?.textContent ?? element.ariaLabel ?? element.textContent;
  return [element.tagName.toLowerCase(), label.replace(/\\s+/g, ' ').trim()].join(' ');
})()`;

const readFocus = (page: Page): Promise<string> => page.evaluate(FOCUSED);

/** Presses Tab until the focus is where it is wanted, such as `button Create`. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  const seen: string[] = [];
  while (seen.length < MAX_TABS) {
    await page.keyboard.press('Tab');
    const focused = await readFocus(page);
    if (focused === wanted) return;
    seen.push(focused);
  }
  throw new Error(`Tab does not reach "${wanted}", but: ${seen.join(', ')}`);
}

async function press(page: Page, control: string): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press('Enter');
}

async function type(page: Page, label: string, value: string): Promise<void> {
  await tabTo(page, `input ${label}`);
  await page.keyboard.type(value);
}

journey('with the keyboard alone, a person registers, uploads a file, and sends a guest a link', async ({ open }) => {
  const page = await open('/');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await press(page, 'a Create one');
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await type(page, 'Name', 'Kay Keyboard');
  await type(page, 'Email', 'kay.keyboard@example.com');
  await type(page, 'Password', 'arrows and enter');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Home' }).waitFor();

  // A menu that was opened with a key has the focus on its first item, and a dialog has it in its first field.
  await press(page, 'button Workspace: Personal');
  await expect.poll(() => readFocus(page)).toBe('div Personal');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => readFocus(page)).toBe('input Name');
  await page.keyboard.type('Keyboard Works');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Workspace: Keyboard Works' }).waitFor();
  await page.getByText('0 of 6').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
  await press(page, 'a Upload a file');
  await page.getByText('The library is empty').waitFor();

  const chooser = page.waitForEvent('filechooser');
  await press(page, 'button Upload files');
  await (await chooser).setFiles(join(root, 'examples/sample.pdf'));
  await page.getByText('1 of 1 uploaded').waitFor();
  await press(page, 'button sample.pdf');
  await page.getByRole('dialog').getByTitle('PDF sample.pdf').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => readFocus(page)).toBe('button sample.pdf');

  await page.keyboard.press('Control+K');
  await expect.poll(() => readFocus(page)).toBe('input Go to');
  await page.keyboard.type('Rooms');
  await page.getByRole('option', { name: 'Rooms' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('There are no rooms yet').waitFor();
  await press(page, 'button New room');
  await expect.poll(() => readFocus(page)).toBe('input Title');
  await page.keyboard.type('Weekly meeting');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Weekly meeting' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
  await press(page, 'button Copy the link of the room');
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('/room/');

  const guest = await open(await page.evaluate<string>('navigator.clipboard.readText()'));
  // The heading is there before the page works.
  await guest.getByLabel('Name').waitFor();
  await type(guest, 'Name', 'Gus Guest');
  await press(guest, 'button Ask to join');
  await guest.getByText('A host will let you in').waitFor();
  await page.getByRole('button', { name: 'Admit Gus Guest' }).waitFor();
  await press(page, 'button Admit Gus Guest');
  await guest.getByText('You are in the room').waitFor();
});
