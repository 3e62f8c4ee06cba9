/** A real browser, where chromium is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is used of Playwright, whose types are installed outside of this project. */
export type Browser = {
  newPage(options?: { viewport?: { width: number; height: number }; colorScheme?: 'light' | 'dark' }): Promise<Page>;
  close(): Promise<void>;
};
export type Page = {
  setDefaultTimeout(ms: number): void;
  goto(url: string): Promise<unknown>;
  getByLabel(text: string): Locator;
  getByPlaceholder(text: string): Locator;
  getByText(text: string | RegExp): Locator;
  getByRole(role: string, options?: { name?: string }): Locator;
  evaluate(expression: string): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
  on(event: 'request', listener: (request: { url(): string }) => void): void;
  context(): {
    cookies(): Promise<{ name: string; value: string; httpOnly: boolean }[]>;
    newCDPSession(page: Page): Promise<{ send(method: string, params: object): Promise<unknown> }>;
  };
  close(): Promise<void>;
};
export type Locator = {
  fill(text: string): Promise<void>;
  click(): Promise<void>;
  first(): Locator;
  waitFor(): Promise<void>;
  setInputFiles(file: { name: string; mimeType: string; buffer: Buffer }): Promise<void>;
};

/** The path of the program, or undefined. */
export const chromiumPath = (process.env.PATH ?? '')
  .split(':')
  .flatMap((dir) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(dir, name)))
  .find((path) => existsSync(path));

/** Starts chromium with the Playwright that is installed in `dir`. */
export async function startBrowser(dir: string): Promise<Browser> {
  const { chromium } = await import(pathToFileURL(join(dir, 'node_modules/playwright-core/index.mjs')).href);
  // Its sandbox does not work as root.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
}
