/** Hostile SQL does no damage on any kind of URL. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mariadbAvailable, startMariadbServer } from '../mariadb/index.js';
import { mysqlAvailable, startMysqlServer } from '../mysql/index.js';
import { WireConnection } from '../mysql/mysql-wire.js';
import { type AttackResult, attack, attacksOn, makeWorld, type Outcome } from './attack-lab.case.js';
import { urlKinds } from './attack-places.case.js';
import { attacks } from './attacks.case.js';
import { jdbcAttacks } from './jdbc-attacks.case.js';

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';

it('tries at least 300 statements on at least 11 kinds of URL', () => {
  const all = Object.values(attacks).flat();
  expect(new Set(all.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(300);
  expect(urlKinds.length).toBeGreaterThanOrEqual(11);
});

const found = new Map<string, readonly AttackResult[]>();

describe('hostile SQL does no damage on', () => {
  it.for(urlKinds)('$name', { timeout: 180_000 }, async (kind, { skip }) => {
    const missing = kind.available();
    if (missing !== undefined && (kind.optional || !required)) return skip(missing);
    const { target, world, close } = await kind.open();
    let results: readonly AttackResult[] = [];
    try {
      const reach = (await target.reach?.())?.kind ?? 'unknown';
      const expected = kind.allowList === true ? 'unknown' : 'scratch';
      expect(reach).toBe(kind.refusedAtOnce === true ? 'beyond' : expected);
      results = await attack(target, world);
      expect(results.length).toBe(attacksOn(target).length);
    } finally {
      await close();
      await world.close();
    }
    found.set(kind.name, results);
    expect(results.filter(({ damage }) => damage !== undefined)).toEqual([]);
    if (kind.refusedAtOnce === true || kind.allowList === true)
      expect(results.filter((each) => mildest(each) !== 'not sent')).toEqual([]);
    const loud = results.filter(({ kind: what }) => what === 'write to the terminal');
    expect(loud.filter((each) => mildest(each) === 'harmless')).toEqual([]);
  });
});

describe('files of the machine are out of reach, even for the root of', () => {
  it.for([
    ['mariadb:', mariadbAvailable(), startMariadbServer],
    ['mysql:', mysqlAvailable(), startMysqlServer],
  ] as const)('%s', { timeout: 60_000 }, async ([, missing, start], { skip }) => {
    if (missing !== undefined) return skip(missing);
    const server = await start();
    const world = makeWorld();
    const root = await WireConnection.open(server.address);
    try {
      const before = await world.state();
      const canary = join(world.folder, 'canary.txt');
      expect((await root.query(`SELECT LOAD_FILE('${canary}')`)).rows).toEqual([[null]]);
      for (const sql of [
        `SELECT 1 INTO OUTFILE '${world.folder}/out'`,
        `SELECT 1 INTO DUMPFILE '${world.folder}/out'`,
        `LOAD DATA INFILE '${canary}' INTO TABLE mysql.func`,
      ])
        expect((await root.query(sql)).error?.errno, sql).toBe(1290);
      expect(await world.state()).toBe(before);
    } finally {
      await root.quit();
      await server.stop();
      await world.close();
    }
  });
});

/** The page holds what the attacks above gave; ISOLDE_UPDATE_DOCS=1 writes the rows of the engines that are here. */
it('the documentation shows the outcome of every attack', () => {
  const page = 'docs/stages/safety.md';
  const text = readFileSync(page, 'utf8');
  const [before, after] = [text.indexOf(tableStart) + tableStart.length, text.indexOf(tableEnd)];
  const table = `\n\n${renderTable(text.slice(before, after))}\n\n`;
  if (process.env.ISOLDE_UPDATE_DOCS === '1') {
    writeFileSync(page, text.slice(0, before) + table + text.slice(after));
  } else expect(text.slice(before, after)).toBe(table);
});

it('the README says how many there are', () => {
  const text = readFileSync('README.md', 'utf8');
  const shown = text.replace(
    /[\d,]+ attacks\non \d+ kinds of URL|[\d,]+ attacks on \d+ kinds of URL/,
    numbers,
  );
  if (process.env.ISOLDE_UPDATE_DOCS === '1') writeFileSync('README.md', shown);
  else expect(text).toBe(shown);
  expect(shown).toContain(numbers);
});

const statements = [...Object.values(attacks), ...Object.values(jdbcAttacks)].flat().map(({ sql }) => sql);
const numbers = `${new Set(statements).size} attacks on ${urlKinds.length} kinds of URL`;

const tableStart = '<!-- attacks -->';
const tableEnd = '<!-- /attacks -->';

/** The one of the two ways in that got further. */
function mildest({ inSetup, inSession }: AttackResult): Outcome {
  const order: readonly Outcome[] = ['not sent', 'refused', 'harmless'];
  return order[Math.max(order.indexOf(inSetup), order.indexOf(inSession))]!;
}

/** Rows of engines that are not here stay as they are. */
function renderTable(shown: string): string {
  const old = new Map(shown.split('\n').map((line) => [line.split(' | ')[0], line]));
  const kinds = [...new Set(Object.values(attacks).flatMap((list) => list.map(({ kind }) => kind)))];
  const header = ['URL', ...kinds, 'damage'];
  const rows = urlKinds.map(({ name }) => {
    const results = found.get(name);
    if (results === undefined) return old.get(`| \`${name}\``) ?? `| \`${name}\` | not tried |`;
    const cells = kinds.map((kind) => {
      const outcomes = results.filter((each) => each.kind === kind).map(mildest);
      const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length;
      return outcomes.length === 0 ? '' : `${count('not sent')} · ${count('refused')} · ${count('harmless')}`;
    });
    const damage = results.filter((each) => each.damage !== undefined).length;
    return row([`\`${name}\``, ...cells, String(damage)]);
  });
  return [row(header), row(header.map(() => '---')), ...rows].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
