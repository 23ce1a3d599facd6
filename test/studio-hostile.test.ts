/** The studio with a database whose every word is hostile, and with several tabs at work while a hunt runs. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { looks, openStudioBrowser, type StudioBrowser, soon } from './studio-browser.js';
import { deletedRow, fillStore, hostile, noBrowser } from './studio-lab.js';

/** SQLite's adapter, calling itself something else. */
function hostileAdapter(folder: string): string {
  const file = join(folder, 'hostile.sh');
  const version = `3 ${hostile.script} ${hostile.style} \\\\u202egnp.exe`.replaceAll('/', String.raw`\/`);
  const adapter = resolve('examples/exec-sqlite/adapter.py');
  const rewrite = `s/"version": "[^"]*"/"version": "${version}"/`;
  writeFileSync(file, `python3 '${adapter}' | sed -u '${rewrite}'\n`);
  return `exec:bash ${file}`;
}

describe.skipIf(noBrowser !== undefined)(
  `the studio among strangers${noBrowser === undefined ? '' : `: ${noBrowser}`}`,
  { timeout: 240_000 },
  () => {
    let stage: StudioBrowser;
    beforeAll(async () => {
      stage = await openStudioBrowser(async ({ folder, store }) => {
        await fillStore(store);
        return { targets: ['duckdb:', hostileAdapter(folder)] };
      });
    }, 300_000);
    afterAll(() => stage?.close());

    it('shows what a hostile server says of itself as text, in every view that names it', async () => {
      for (const [name, look] of looks) {
        const page = await stage.open('#/hunt', look);
        await page.getByLabel('database').selectOption('1');
        await page.getByRole('button', { name: 'Start' }).click();
        await soon(() => page.locator('.counters').textContent()).toMatch(/rounds[1-9]/);
        await page.getByText('Log', { exact: true }).click();
        await soon(() => page.locator('.log').textContent()).toContain(hostile.script);
        expect(await page.locator('.log').textContent()).toContain(String.raw`\u202egnp.exe`);
        await page.getByRole('button', { name: 'Stop' }).click();
        await soon(() => page.locator('[role=status]').first().textContent()).toBe('ended');
        await stage.picture(page, `hostile-hunt-${name}`);
        await stage.isSound(page);
        await page.close();
      }
      const page = await stage.open('#/probe');
      await page.getByLabel('database').selectOption('1');
      await page.getByRole('button', { name: 'Probe it' }).click();
      await page.locator('.cell').first().waitFor({ timeout: 120_000 });
      await soon(() => page.locator('main').textContent()).toContain(hostile.script);
      await stage.picture(page, 'hostile-probe');
      await stage.isSound(page);
      await page.goto(`${stage.studio.url}#/playground`);
      await page.getByRole('textbox').fill(deletedRow);
      await page.locator('.targets input').nth(1).check();
      await page.locator('.targets input').first().uncheck();
      await page.getByRole('button', { name: 'Run and judge' }).click();
      await soon(() => page.locator('[role=status]').textContent()).toContain(hostile.script);
      await stage.isSound(page);
      await page.close();
    });

    it('lets two tabs work while a hunt runs, none of them disturbed', async () => {
      const [hunt, play, bugs] = await Promise.all([
        stage.open('#/hunt'),
        stage.open('#/playground'),
        stage.open('#/bugs'),
      ]);
      await hunt.getByLabel('seed').fill('tabs');
      await hunt.getByRole('button', { name: 'Start' }).click();
      await soon(() => hunt.locator('[role=status]').first().textContent()).toBe('running');
      await soon(() => hunt.locator('.counters').textContent()).toMatch(/rounds[1-9]/);
      await play.getByRole('textbox').fill(deletedRow);
      await play.getByRole('button', { name: 'Run and judge' }).click();
      await soon(() => play.locator('[role=status]').textContent()).toMatch(/duckdb.*breaks its contract/);
      await bugs.locator('.bug a').first().click();
      await bugs.locator('.bug-page').waitFor();
      // Shrinking in one tab, the debugger in another, and the hunt has not stopped.
      await play.getByRole('button', { name: 'Shrink it together' }).click();
      const trial = play.locator('.trial');
      await soon(() => trial.textContent()).toBe('the same finding');
      await play.getByLabel('line 2 is sent', { exact: true }).uncheck();
      await play.getByRole('button', { name: 'Try' }).click();
      await soon(() => trial.textContent()).toBe('nothing is wrong any more');
      await bugs.keyboard.press('Tab');
      expect(await hunt.locator('[role=status]').first().textContent()).toBe('running');
      const rounds = async () =>
        Number(/rounds(\d+)/.exec((await hunt.locator('.counters').textContent())!)![1]);
      const before = await rounds();
      await soon(rounds).toBeGreaterThan(before);
      await hunt.getByRole('button', { name: 'Stop' }).click();
      await soon(() => hunt.locator('[role=status]').first().textContent()).toBe('ended');
      for (const page of [hunt, play, bugs]) {
        await stage.isSound(page);
        await page.close();
      }
    });

    it('writes a pasted report as a script whose lines can be moved', async () => {
      const page = await stage.open('#/playground');
      // The notation of a tracker: two columns.
      await page
        .getByRole('textbox')
        .fill(
          [
            'CREATE TABLE t (id INT, v INT);',
            'INSERT INTO t VALUES (1, 10);',
            '',
            '| session 1 | session 2 |',
            '|---|---|',
            '| BEGIN; | |',
            '| SELECT * FROM t; | |',
            '| | DELETE FROM t WHERE id = 1; |',
            '| UPDATE t SET v = 5 WHERE id = 1; | |',
            '| COMMIT; | |',
          ].join('\n'),
        );
      await page.getByRole('button', { name: 'Write it as a script' }).click();
      await soon(() => page.getByRole('textbox').inputValue()).toMatch(/^\w+: BEGIN;$/m);
      await soon(() => page.locator('.arrangement li').count()).toBe(5);
      await page.getByRole('button', { name: 'Run and judge' }).click();
      await soon(() => page.locator('[role=status]').textContent()).toMatch(/duckdb.*breaks its contract/);
      await stage.isSound(page);
      await page.close();
    });
  },
);
