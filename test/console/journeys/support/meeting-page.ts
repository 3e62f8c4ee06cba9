/** Pages in which meetings run. The same in both browsers. */
import { expect } from 'vitest';
import type { MeetingSite } from './meeting-site.ts';

/** A page of Playwright or of Puppeteer. */
export type BrowserPage = { evaluate(script: string): Promise<unknown>; reload(): Promise<unknown> };

export type MeetingPage = {
  /** Runs a script in the page. `meeting` is the meeting. */
  // biome-ignore lint/suspicious/noExplicitAny: tests check what they read
  run(script: string): Promise<any>;
  /** Joins, again with the token of an earlier `join`. Resolves with the participant's ID and token. */
  join(token?: string): Promise<{ id: number; token: string }>;
  /** Loads the page again, as a person does, and joins as the same participant. */
  reload(): Promise<void>;
  /** Waits until pictures and sound arrive from so many others, and nobody else is there. Returns milliseconds. */
  receiveFrom(count: number): Promise<number>;
};

export type MeetingPageOptions = { site: MeetingSite; url: string; roomName: string; name: string };

/** `page` must show `/blank.html` of the site. */
export function toMeetingPage(page: BrowserPage, { url, roomName, name }: MeetingPageOptions): MeetingPage {
  let token: string | undefined;
  const run = (script: string) => page.evaluate(script);
  const join: MeetingPage['join'] = async (earlier = token) => {
    await expect.poll(() => page.evaluate('globalThis.isReady === true')).toBe(true);
    const options = JSON.stringify({ url, roomName, name, token: earlier });
    // `as`: what the script of the page returns.
    const joined = (await page.evaluate(`startMeeting(${options})`)) as { id: number; token: string };
    token = joined.token;
    return joined;
  };
  return {
    run,
    join,
    async reload() {
      await page.reload();
      await join();
    },
    // `as`: what the script of the page returns.
    receiveFrom: (count) => page.evaluate(`receiveFrom(${count})`) as Promise<number>,
  };
}
