/** Every view of the studio without a mouse, in light, dark and on a phone, with hostile cases. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { looks, openStudioBrowser, type StudioBrowser, soon } from './studio-browser.js';
import { fillStore, hostileScript, noBrowser } from './studio-lab.js';

const smallCase = `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
`;

/** Presses Tab until what has the keyboard fits. */
async function tabTo(page: Page, selector: string, most = 80): Promise<void> {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`Tab does not lead to ${selector}`);
}

async function tabToText(page: Page, text: string, most = 80): Promise<void> {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    if (String(await page.evaluate('document.activeElement.textContent')).trim() === text) return;
  }
  throw new Error(`Tab does not lead to "${text}"`);
}

describe.skipIf(noBrowser !== undefined)(
  `the studio by keyboard${noBrowser === undefined ? '' : `: ${noBrowser}`}`,
  { timeout: 180_000 },
  () => {
    let stage: StudioBrowser;
    beforeAll(async () => {
      stage = await openStudioBrowser(async ({ store }) => {
        await fillStore(store);
        return {};
      });
    }, 300_000);
    afterAll(() => stage?.close());

    /** The page as it is, in all looks. */
    const inAllLooks = async (page: Page, name: string): Promise<void> => {
      for (const [look, { dark = false, width = 1360 }] of looks as readonly (readonly [
        string,
        { readonly dark?: boolean; readonly width?: number },
      ])[]) {
        await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
        await page.setViewportSize({ width, height: 900 });
        await stage.picture(page, `${name}-${look}`);
        await stage.isSound(page);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1360, height: 900 });
    };

    it('plays, moves an operation, and shrinks together', async () => {
      const page = await stage.open('#/bugs');
      await page.locator('nav a').first().waitFor();
      await tabToText(page, 'Playground');
      await page.keyboard.press('Enter');
      await tabTo(page, 'textarea');
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(smallCase);
      await page.keyboard.press('Control+Enter');
      const status = page.locator('[role=status]');
      await soon(() => status.textContent()).toMatch(/duckdb.*breaks its contract/);
      await inAllLooks(page, 'keyboard-playground');
      // The UPDATE goes before the DELETE, and back.
      await page.locator('textarea').focus();
      await tabTo(page, '[aria-label="operation 4 earlier"]');
      await page.keyboard.press('Enter');
      await soon(() => page.locator('textarea').inputValue()).toMatch(/UPDATE[\s\S]*DELETE/);
      await soon(() => page.evaluate('document.activeElement.ariaLabel')).toBe('operation 3 earlier');
      await tabTo(page, '[aria-label="operation 3 later"]');
      await page.keyboard.press('Space');
      await soon(() => page.locator('textarea').inputValue()).toMatch(/DELETE[\s\S]*UPDATE/);
      await tabToText(page, 'Shrink it together');
      await page.keyboard.press('Enter');
      const trial = page.locator('.trial');
      await soon(() => trial.textContent()).toBe('the same finding');
      await inAllLooks(page, 'keyboard-shrink');
      await tabTo(page, '[aria-label="line 2 is sent"]');
      await page.keyboard.press('Space');
      await soon(() => trial.textContent()).toBe('not tried yet');
      await tabToText(page, 'Try');
      await page.keyboard.press('Enter');
      await soon(() => trial.textContent()).toBe('nothing is wrong any more');
      // Back in the tree of states, then another value, and another place.
      await tabTo(page, '.tree-node');
      await page.keyboard.press('Enter');
      await soon(() => trial.textContent()).toBe('the same finding');
      await tabTo(page, '[aria-label="edit line 4"]');
      await page.keyboard.press('Enter');
      await page.locator('[aria-label="text of line 4"]').waitFor();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText('UPDATE t SET v = 77 WHERE id = 1');
      await page.keyboard.press('Control+Enter');
      await soon(() => page.locator('.lines').textContent()).toContain('v = 77');
      await tabToText(page, 'Try');
      await page.keyboard.press('Enter');
      await soon(() => trial.textContent()).toBe('the same finding');
      await tabTo(page, '[aria-label="move line 4 up"]');
      await page.keyboard.press('Enter');
      await soon(() => page.locator('.lines').textContent()).toMatch(/v = 77[\s\S]*DELETE/);
      await tabToText(page, 'Try');
      await page.keyboard.press('Enter');
      await soon(() => trial.textContent()).toMatch(/nothing is wrong any more|another finding/);
      await tabToText(page, 'Undo');
      await page.keyboard.press('Enter');
      await soon(() => page.locator('.lines').textContent()).toMatch(/DELETE[\s\S]*v = 77/);
      await page.close();
    });

    it('lists, filters and opens bugs', async () => {
      const page = await stage.open('#/bugs');
      await page.locator('.bug').first().waitFor();
      await tabTo(page, 'input[type=search]');
      await page.keyboard.insertText('write skew');
      await soon(() => page.locator('.bug').count()).toBe(1);
      await tabTo(page, '.bug a');
      await page.keyboard.press('Enter');
      await page.locator('.bug-page').waitFor();
      await page.close();
    });

    it('hunts and probes', async () => {
      const page = await stage.open('#/hunt');
      await tabTo(page, 'input[name=seed]');
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText('start');
      await page.keyboard.press('Enter');
      const status = page.locator('[role=status]');
      await soon(() => status.textContent()).toBe('running');
      await soon(() => page.locator('.counters').textContent()).toMatch(/rounds[1-9]/);
      await tabToText(page, 'Stop');
      await page.keyboard.press('Enter');
      await soon(() => status.textContent()).toBe('ended');
      await inAllLooks(page, 'keyboard-hunt');
      await page.goto(`${stage.studio.url}#/probe`);
      await tabToText(page, 'Probe it');
      await page.keyboard.press('Enter');
      await page.locator('.cell-allowed').first().waitFor({ timeout: 120_000 });
      await tabTo(page, '.cell');
      await page.keyboard.press('Enter');
      await page.locator('.lanes').waitFor({ timeout: 120_000 });
      await inAllLooks(page, 'keyboard-probe');
      await page.close();
    });

    it('plays and shrinks hostile cases as text', async () => {
      const page = await stage.open('#/playground');
      await page.locator('textarea').fill(hostileScript);
      await page.getByRole('button', { name: 'Run and judge' }).click();
      await soon(() => page.locator('[role=status]').textContent()).toMatch(/duckdb.*contract/);
      await page.locator('.lanes').waitFor();
      await stage.picture(page, 'hostile-playground');
      await stage.isSound(page);
      await page.getByRole('button', { name: 'Shrink it together' }).click();
      await page.locator('.trial').waitFor();
      await soon(() => page.locator('.lines').textContent()).toContain('<img src=x');
      await stage.picture(page, 'hostile-shrink');
      await stage.isSound(page);
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      await page.close();
    });
  },
);
