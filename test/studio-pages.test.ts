/** The studio in a real browser: every view, in light, dark and on a phone, by mouse and keyboard, with hostile bugs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bug, readParts, reportHtml } from '../src/report/index.js';
import { exportSite } from '../src/studio/index.js';
import {
  isSound as isSoundPage,
  type Look,
  looks,
  openStudioBrowser,
  pageOptions,
  type StudioBrowser,
  soon,
} from './studio-browser.js';
import { type FilledStore, fillStore, type Lab, noBrowser } from './studio-lab.js';

describe.skipIf(noBrowser !== undefined)(
  `the studio in Chromium${noBrowser === undefined ? '' : `: ${noBrowser}`}`,
  { timeout: 180_000 },
  () => {
    let stage: StudioBrowser;
    let lab: Lab;
    let bugs: FilledStore;
    beforeAll(async () => {
      stage = await openStudioBrowser(async ({ store }) => {
        bugs = await fillStore(store);
        return {};
      });
      lab = stage.lab;
    }, 300_000);
    afterAll(() => stage?.close());

    const open = (hash: string, look?: Look): Promise<Page> => stage.open(hash, look);
    const picture = (page: Page, name: string) => stage.picture(page, name);
    const isSound = (page: Page): Promise<void> => stage.isSound(page);

    it('lists bugs, and filters them', async () => {
      for (const [name, options] of looks) {
        const page = await open('#/bugs', options);
        await page.locator('.bug').nth(2).waitFor();
        await picture(page, `bugs-${name}`);
        await isSound(page);
        await page.close();
      }
      const page = await open('#/bugs');
      await page.getByLabel('claim').selectOption('theory');
      await soon(() => page.locator('.bug').count()).toBe(1);
      await page.getByLabel('claim').selectOption('');
      await page.getByLabel('search').fill('delete update');
      await soon(() => page.locator('[role=status]').textContent()).toContain('2 of 3');
      await page.locator('.bug a').last().click();
      await page.locator('.lanes').waitFor();
      await page.close();
    });

    it('shows a bug with its debugger, and links it by pointing', async () => {
      const page = await open(`#/bug/${bugs.deleted.id}`);
      // It begins where the damage is done.
      const verdict = page.locator('.verdict');
      await verdict.waitFor();
      await soon(() => verdict.textContent()).toContain('serialization error');
      await soon(() => page.locator('.stepper output').textContent()).toBe('step 4 of 6');
      const chain = page.locator('.row-chain', { has: page.getByText('t/1', { exact: true }) });
      await soon(() => chain.locator('.version').allTextContents()).toEqual([
        expect.stringContaining('(1, 10)initial'),
        expect.stringContaining('no rowT1 committed (#2)'),
        expect.stringContaining('T2 not committed (#3)'),
      ]);
      await soon(() => chain.locator('.version').first().textContent()).toContain('seen by T2');
      await soon(() => chain.locator('.lock').textContent()).toContain('exclusive T2');
      await chain.locator('.version').nth(1).hover();
      await soon(() => page.locator('.lanes tr.lit').textContent()).toContain('DELETE FROM t');
      await page.getByLabel('one step on').click();
      await soon(() => chain.locator('.version').last().textContent()).toContain('T2 committed');
      // A read: what it returned, and what the contract allows.
      // What each operation met and should have met, and where the bug was tried.
      const access = page.locator('section[aria-label="Expected access"]');
      await soon(() => access.locator('tr').count()).toBeGreaterThan(2);
      const tried = page.locator('table.tried');
      await soon(() => tried.textContent()).toContain('shows it');
      await page.getByLabel('operation 1', { exact: true }).click();
      await soon(() => chain.locator('.read').textContent()).toBe(
        '#1 returned (1, 10), as the contract allows',
      );
      await page.close();
    });

    it('can be stepped through by keyboard alone', async () => {
      const page = await open(`#/bug/${bugs.deleted.id}`);
      const output = page.locator('.stepper output');
      await output.waitFor();
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      await page.locator('.stepper').waitFor();
      for (let i = 0; i < 12; i++) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate('document.activeElement.ariaLabel')) === 'one step back') break;
      }
      await page.keyboard.press('Enter');
      await soon(() => output.textContent()).toBe('step 3 of 6');
      await page.keyboard.press('ArrowLeft');
      await soon(() => output.textContent()).toBe('step 2 of 6');
      await page.keyboard.press('Home');
      await soon(() => output.textContent()).toBe('before the first step');
      await page.close();
    });

    it('draws the dependencies of a cycle, linked with the lanes', async () => {
      for (const [name, options] of looks) {
        const page = await open(`#/bug/${bugs.skew.id}`, options);
        await page.locator('.graph svg').waitFor();
        // What should have been printed is in view, without scrolling sideways.
        const { x, width } = (await page.locator('.comparison td.expected').boundingBox())!;
        expect(x + width).toBeLessThanOrEqual(page.viewportSize()!.width);
        await picture(page, `skew-${name}`);
        await isSound(page);
        await page.close();
      }
      const page = await open(`#/bug/${bugs.skew.id}`);
      await soon(() => page.locator('.graph .edge text').allTextContents()).toEqual([
        'rw duty[id=2]',
        'rw duty[id=1]',
      ]);
      await page.locator('.graph .node').first().hover();
      await soon(() => page.locator('.lanes tr.lit').count()).toBe(4);
      await page.close();
    });

    it('shows hostile bugs as text', async () => {
      for (const [name, options] of [looks[0], looks[2]]) {
        const page = await open(`#/bug/${bugs.attack.id}`, options);
        await page.locator('.lanes').waitFor();
        // A cell of a megabyte does not push everything else off the first screen.
        expect((await page.locator('.summary').boundingBox())!.height).toBeLessThan(900);
        await picture(page, `hostile-${name}`);
        await isSound(page);
        await soon(() => page.locator('.lanes').textContent()).toContain(
          '<script>globalThis.hacked = 1</script>',
        );
        await soon(() => page.locator('h1').textContent()).toContain(String.raw`\u202egnp.exe`);
        await page.close();
      }
    });

    const sixStatements = `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: SELECT v FROM t WHERE id = 2;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
`;

    it('runs a case of the playground on two engines, and says what each did', async () => {
      const page = await open('#/playground');
      await page.getByRole('textbox').fill(sixStatements);
      await page.getByLabel('SQLite').check();
      await page.getByRole('button', { name: 'Run and judge' }).click();
      const status = page.locator('[role=status]');
      await soon(() => status.textContent()).toMatch(/duckdb.*breaks its contract/);
      await soon(() => status.textContent()).toMatch(/sqlite.*keeps its contract/);
      expect(await page.locator('.played .lanes').count()).toBe(2);
      // Side by side: the databases differ in what the UPDATE of a deleted row gives.
      const differing = page.locator('.side-by-side tr.differs');
      await soon(() => differing.allTextContents()).toEqual(
        expect.arrayContaining([expect.stringContaining('UPDATE t SET v = 55')]),
      );
      await picture(page, 'playground-light');
      await isSound(page);
      // The DELETE is dragged behind the COMMIT: nothing is wrong any more.
      const order = page.locator('.arrangement li');
      expect(await order.count()).toBe(6);
      await order.nth(3).dragTo(order.nth(5));
      await soon(() => order.last().textContent()).toContain('DELETE FROM t');
      await page.getByRole('button', { name: 'Run again' }).click();
      await soon(() => status.textContent()).toMatch(/duckdb.*keeps its contract/);
      // What cannot be run is said in place.
      await page.getByRole('textbox').fill('T1: SELEC 1;');
      await page.getByRole('button', { name: 'Run and judge' }).click();
      await soon(() => page.locator('.played').first().textContent()).toContain('SELEC');
      await page.close();
    });

    it('replays the story of D4’s Figure 4 by clicks on a live engine', async () => {
      const page = await open('#/playground');
      await page.getByRole('textbox').fill(sixStatements);
      await page.getByRole('button', { name: 'Run and judge' }).click();
      await page.getByRole('button', { name: 'Shrink it together' }).click();
      const trial = page.locator('.trial');
      await soon(() => trial.textContent()).toBe('the same finding');
      await soon(() => page.locator('.hint-named').count()).toBeGreaterThan(1);
      // Take the second of six away: the finding is gone. Take that back.
      await page.getByLabel('line 2 is sent', { exact: true }).uncheck();
      await soon(() => trial.textContent()).toBe('not tried yet');
      await page.getByRole('button', { name: 'Try' }).click();
      await soon(() => trial.textContent()).toBe('nothing is wrong any more');
      await page.getByRole('button', { name: 'Undo' }).click();
      await soon(() => trial.textContent()).toBe('the same finding');
      // Take the third away: five are left.
      await page.getByLabel('line 3 is sent', { exact: true }).uncheck();
      await soon(() => trial.textContent()).toBe('not tried yet');
      await page.getByRole('button', { name: 'Try' }).click();
      await soon(() => trial.textContent()).toBe('the same finding');
      const current = page.locator('.tree-node[aria-current]');
      await soon(() => current.textContent()).toContain('5 statements, the same finding');
      // A statement that does not run says why.
      await page.getByLabel('edit line 5', { exact: true }).click();
      await page.getByLabel('text of line 5', { exact: true }).fill('UPDATE nowhere SET v = 1');
      await page.keyboard.press('Control+Enter');
      await soon(() => current.textContent()).toContain('edited line 5');
      await page.getByRole('button', { name: 'Try' }).click();
      await soon(() => trial.textContent()).toMatch(/it does not run: .*nowhere/s);
      await page.getByRole('button', { name: 'Undo' }).click();
      await soon(() => current.textContent()).toContain('switched off line 3');
      // The shrinker goes on from here, and gives it back.
      await page.getByRole('button', { name: 'Shrink automatically' }).click();
      await soon(() => current.textContent()).toMatch(/automatic: 5 → \d statements.*the same finding/);
      await picture(page, 'shrink-light');
      await isSound(page);
      await page.getByRole('button', { name: 'Undo' }).click();
      await soon(() => current.textContent()).toContain('switched off line 3');
      await page.getByRole('button', { name: 'Redo' }).click();
      await soon(() => current.textContent()).toContain('automatic');
      await page.setViewportSize({ width: 390, height: 900 });
      await picture(page, 'shrink-phone');
      await isSound(page);
      await page.close();
    });

    it('starts shrinking at a stored bug, in two tabs that do not disturb each other', async () => {
      const [one, other] = await Promise.all([
        open(`#/shrink?bug=${bugs.deleted.id}`),
        open(`#/shrink?bug=${bugs.deleted.id}`),
      ]);
      for (const page of [one, other])
        await soon(() => page.locator('.trial').textContent()).toBe('the same finding');
      await one.getByLabel('line 6 is sent', { exact: true }).uncheck();
      await soon(() => one.locator('.tree-node').count()).toBe(2);
      expect(await other.locator('.tree-node').count()).toBe(1);
      await one.close();
      await other.close();
    });

    it('exports a site that works from a disk', async () => {
      const folder = join(lab.folder, 'site');
      const exported = await exportSite({ store: lab.store, folder, client: lab.client });
      expect(exported).toEqual({ bugs: 3, problems: [] });
      const page = await stage.browser.newPage({ viewport: { width: 1360, height: 900 } });
      const seen: string[] = [];
      page.on('pageerror', (error) => seen.push(String(error)));
      page.on('request', (request) => {
        if (!request.url().startsWith('file:')) seen.push(request.url());
      });
      await page.goto(`file://${folder}/index.html`);
      await page.getByText('Write skew').click();
      await page.locator('.graph svg').waitFor();
      expect(await page.getByText('Shrink it together').count()).toBe(0);
      expect(await page.locator('nav a').allTextContents()).toEqual(['Bugs']);
      await page.goto(`file://${folder}/index.html#/bug/${bugs.attack.id}`);
      await page.locator('.lanes').waitFor();
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
      expect(seen).toEqual([]);
      await page.close();
    });

    it('writes a report that is the same page, alone, from a disk', async () => {
      const parts = readParts(lab.client);
      const written = new Map(
        [bugs.deleted, bugs.attack, bugs.skew].map((bug) => {
          const file = join(lab.folder, `${bug.id}.html`);
          writeFileSync(file, reportHtml(bug, parts));
          return [bug, pathToFileURL(file).href];
        }),
      );
      const urlOfReport = (bug: Bug) => written.get(bug)!;
      const problems: string[] = [];
      const shown = {
        light: [bugs.deleted, bugs.attack],
        dark: [bugs.skew],
        phone: [bugs.skew, bugs.attack],
      };
      for (const [name, look] of looks) {
        for (const bug of shown[name]) {
          const page = await stage.browser.newPage(pageOptions(look));
          page.on('pageerror', (error) => problems.push(String(error)));
          // What the policy forbids is told there, too.
          page.on('console', (message) => {
            if (message.type() === 'error') problems.push(message.text());
          });
          page.on('request', (request) => {
            if (!request.url().startsWith('file:')) problems.push(`a request to ${request.url()}`);
          });
          await page.goto(urlOfReport(bug));
          await soon(() => page.locator('h1').textContent()).toContain('DuckDB');
          await page.locator('.stepper').waitFor();
          await picture(page, `report-${bugs.attack === bug ? 'hostile-' : ''}${name}`);
          await isSoundPage(page);
          await page.emulateMedia({ media: 'print' });
          await soon(() => page.locator('.stepper').isVisible()).toBe(false);
          expect(await page.locator('details dl').isVisible()).toBe(true);
          await page.close();
        }
      }
      expect(problems).toEqual([]);
      const page = await stage.browser.newPage({ viewport: { width: 1360, height: 900 } });
      await page.goto(urlOfReport(bugs.deleted));
      await page.keyboard.press('Tab');
      await page.locator('.stepper button').first().focus();
      await page.keyboard.press('Home');
      await soon(() => page.locator('.stepper output').textContent()).toBe('before the first step');
      await page.keyboard.press('ArrowRight');
      await soon(() => page.locator('.stepper output').textContent()).toBe('step 1 of 6');
      await page.close();
      // Where scripts do not run, the report stands there as text.
      const plain = await stage.browser.newPage({ javaScriptEnabled: false });
      await plain.goto(urlOfReport(bugs.deleted));
      expect(await plain.locator('noscript, body').first().textContent()).toContain('## Why this is wrong');
      await plain.close();
    });

    it('starts and stops a hunt, which fills the list in another tab', async () => {
      const [page, list] = await Promise.all([open('#/hunt'), open('#/bugs')]);
      await list.locator('.bug').nth(2).waitFor();
      const before = await list.locator('.bugs').textContent();
      // The demo's seed: it meets a bug within a few rounds.
      await page.getByLabel('seed').fill('start');
      await page.getByRole('button', { name: 'Start' }).click();
      await soon(() => page.locator('[role=status]').textContent()).toBe('running');
      const counters = page.locator('.counters');
      await soon(() => counters.textContent()).toMatch(/rounds[1-9]/);
      await expect
        .poll(() => page.locator('[aria-label="bugs of this hunt"] li').count(), { timeout: 120_000 })
        .toBeGreaterThan(0);
      // What was sent, in numbers.
      const covered = page.locator('[aria-label="what the generator covered"]');
      await soon(() => covered.textContent()).toMatch(/select[1-9]/);
      await soon(() => covered.textContent()).toContain('mechanism');
      // Charts say their last value to whoever cannot see them, and are drawn.
      const charts = page.locator('.chart [role=img]');
      await soon(() => charts.nth(0).getAttribute('aria-label')).toMatch(/^Rounds per second: .* [1-9]/);
      await soon(() => charts.nth(1).getAttribute('aria-label')).toMatch(/^Rounds with a conflict: .* \d+$/);
      await soon(() => charts.nth(2).getAttribute('aria-label')).toMatch(/findings [1-9]\d*, bugs [1-9]/);
      for (let i = 0; i < 3; i++) expect(await inkOf(page, i)).toBeGreaterThan(100);
      await page.getByRole('button', { name: 'Stop' }).click();
      await soon(() => page.locator('[role=status]').textContent()).toBe('ended');
      await soon(() => list.locator('.bugs').textContent()).not.toBe(before);
      await picture(page, 'hunt-light');
      await isSound(page);
      await page.setViewportSize({ width: 390, height: 900 });
      await isSound(page);
      await page.close();
      await list.close();
    });

    it('probes a database, and opens the run behind a cell', async () => {
      const page = await open('#/probe');
      await page.getByRole('button', { name: 'Probe it' }).click();
      await page.locator('.cell-allowed').first().waitFor({ timeout: 120_000 });
      await page.locator('.cell-allowed').first().click();
      await page.locator('.lanes').waitFor();
      await picture(page, 'probe-light');
      await isSound(page);
      await page.setViewportSize({ width: 390, height: 900 });
      await isSound(page);
      await page.close();
    });

    it('follows the store while others write to it', async () => {
      const pages = await Promise.all([open('#/bugs'), open('#/bugs')]);
      for (const page of pages) await page.locator('.bug').nth(2).waitFor();
      const { openStore } = await import('../src/store/index.js');
      const store = await openStore(lab.store);
      // One that the hunt before does not find.
      await store.add({ ...bugs.skew, count: 41 });
      for (const page of pages) await page.getByText('seen 42×').waitFor();
      for (const page of pages) await page.close();
    });
  },
);

/** How many points of a chart are painted. */
function inkOf(page: Page, chart: number): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelectorAll('.chart canvas')[${chart}];
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  })()`);
}
