/** A studio in a real browser, for tests of its pages: opens views, keeps pictures, and looks for what no page may do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Studio, StudioOptions } from '../src/studio/index.js';
import { type Lab, openBrowser, openLab } from './studio-lab.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeViolation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

export interface Look {
  readonly dark?: boolean;
  readonly width?: number;
}

export function pageOptions({ dark = false, width = 1360 }: Look = {}): BrowserContextOptions {
  return { colorScheme: dark ? 'dark' : 'light', viewport: { width, height: 900 } };
}

export const looks = [
  ['light', {}],
  ['dark', { dark: true }],
  ['phone', { width: 390 }],
] as const satisfies readonly (readonly [string, Look])[];

/** What the page shows once it has drawn: never what it shows at once. */
export function soon(what: () => Promise<unknown>): ReturnType<typeof expect.poll> {
  return expect.poll(what, { timeout: 60_000 });
}

export interface StudioBrowser {
  readonly lab: Lab;
  readonly studio: Studio;
  readonly browser: Browser;
  open(hash: string, look?: Look): Promise<Page>;
  picture(page: Page, name: string): Promise<unknown>;
  /** No script of a bug ran, nothing is wider than the window, nothing failed; axe finds nothing serious. */
  isSound(page: Page): Promise<void>;
  close(): Promise<void>;
}

/** `fill` puts into the store what the pages are to show, before the server starts. */
export async function openStudioBrowser(
  fill: (lab: Lab) => Promise<Partial<StudioOptions>>,
): Promise<StudioBrowser> {
  const lab = await openLab();
  const studio = await lab.start(await fill(lab));
  const browser = await openBrowser();
  const problems: string[] = [];
  return {
    ...{ lab, studio, browser },
    open: async (hash, look) => {
      const page = await browser.newPage(pageOptions(look));
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(studio.url)) problems.push(`a request to ${request.url()}`);
      });
      await page.goto(`${studio.url}${hash}`);
      return page;
    },
    picture: (page, name) => page.screenshot({ path: join(lab.pictures, `${name}.png`), fullPage: true }),
    isSound: async (page) => {
      await isSound(page);
      expect(problems).toEqual([]);
    },
    close: async () => {
      await browser.close();
      await studio.close();
      lab.remove();
    },
  };
}

/** The same for a page without a server. */
export async function isSound(page: Page): Promise<void> {
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  // Charts follow the width of the window a frame later.
  await soon(() => page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)')).toBe(0);
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as AxeViolation[];
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(
    serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`),
  ).toEqual([]);
}
