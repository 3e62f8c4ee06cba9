/** Firefox, where it is installed. The journeys in it are few: what one browser makes must work in the other. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { firefoxPath } from './firefox-path.ts';
import { TOOLS } from './journey.ts';

/** Starts Firefox with a camera and a microphone that only exist in it. */
export async function startFirefox(): Promise<Browser> {
  const path = join(TOOLS, 'puppeteer-core/lib/puppeteer/puppeteer-core.js');
  const { launch }: typeof import('puppeteer-core') = await import(pathToFileURL(path).href);
  return launch({
    browser: 'firefox',
    ...(firefoxPath !== undefined && { executablePath: firefoxPath }),
    protocolTimeout: 120_000,
    extraPrefsFirefox: {
      'media.navigator.streams.fake': true,
      'media.navigator.permission.disabled': true,
      'media.autoplay.default': 0,
      // Sounds are mixed only where there is a sound output.
      'media.cubeb.force_mock_context': true,
      // Meetings connect where only loopback exists, and no service resolves the names that hide addresses.
      'media.peerconnection.ice.loopback': true,
      'media.peerconnection.ice.obfuscate_host_addresses': false,
    },
  });
}

/** Opens a page of the service, signed in with the token of a session. */
export async function openInFirefox(browser: Browser, url: string, token: string): Promise<Page> {
  await browser.setCookie({ name: 'session', value: token, domain: new URL(url).hostname, path: '/', httpOnly: true });
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  return page;
}
