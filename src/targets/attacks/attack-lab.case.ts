/**
 * Sends attacks to a target and looks at what they must not touch.
 *
 * A *world* is everything outside the scratch that an attack could harm: a folder of canary files, open to everybody, and on
 * servers the tables of a user. It is looked at after every single statement, so a failure names the statement.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { admit } from '../admit.js';
import type { Answer, Scratch, Target, TargetReach } from '../target.js';
import { type Attack, attacks } from './attacks.case.js';
import { jdbcAttacks } from './jdbc-attacks.case.js';

/** What became of an attack: never sent, refused by the engine, or run without touching anything outside. */
export type Outcome = 'not sent' | 'refused' | 'harmless';

export interface AttackResult extends Attack {
  readonly inSetup: Outcome;
  readonly inSession: Outcome;
  /** What was otherwise afterwards. */
  readonly damage?: string;
}

export interface World {
  readonly folder: string;
  /** What an attack must not change, as one text. */
  state(): Promise<string>;
  close(): Promise<void>;
}

const secret = 'canary-5f1c9be2';

/** A folder of canary files; `more` adds what else must stay as it is. */
export function makeWorld(more: () => Promise<string> = async () => ''): World {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-canary-'));
  // A server that runs as another user could write here, if it were asked to and did.
  chmodSync(folder, 0o777);
  const canary = join(folder, 'canary.txt');
  writeFileSync(canary, secret);
  chmodSync(canary, 0o666);
  return {
    folder,
    state: async () => {
      const files = readdirSync(folder, { recursive: true }).map(String).sort();
      return `${files.join(' ')} ${readFileSync(canary, 'utf8')} ${await more()}`;
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

/** The attacks for a target: those of its dialect, and its own. */
export function attacksOn({ name, dialect }: Target): readonly Attack[] {
  return [...attacks[dialect], ...(jdbcAttacks[name] ?? [])];
}

/** Tries every attack on the target; throws at the first that shows the secret. */
export async function attack(target: Target, world: World): Promise<readonly AttackResult[]> {
  let before = await world.state();
  const reach = await target.reach?.();
  // Asking takes as long as an attack; whether one changes the answer is asked at the end.
  const asked = reach === undefined ? target : withReach(target, reach);
  const scratch = await target.createScratch();
  const results: AttackResult[] = [];
  try {
    for (const each of attacksOn(target)) {
      const sql = place(each.sql, world.folder);
      if (!(await isAdmitted(asked, sql))) {
        results.push({ ...each, inSetup: 'not sent', inSession: 'not sent' });
        continue;
      }
      const inSetup = await trySetup(scratch, sql);
      const result = { inSetup, inSession: await trySession(target, scratch, sql) };
      const after = await world.state();
      results.push({ ...each, ...result, ...(after !== before && { damage: difference(before, after) }) });
      before = after;
    }
    const now = await target.reach?.();
    if (now?.kind !== reach?.kind)
      throw new Error(`an attack changed what the target reaches: ${now?.kind}, not ${reach?.kind}`);
  } finally {
    await scratch.drop();
  }
  return results;
}

/** What `admit` looks at of a target, whose reach is known. */
function withReach({ name, dialect, stamp }: Target, reach: TargetReach): Target {
  return { name, dialect, stamp, reach: async () => reach } as Partial<Target> as Target;
}

function difference(before: string, after: string): string {
  const lines = new Set(before.split('\n'));
  return after
    .split('\n')
    .filter((line) => !lines.has(line))
    .join('\n');
}

function place(sql: string, folder: string): string {
  return sql
    .replaceAll('{out}', join(folder, 'out'))
    .replaceAll('{canary}', join(folder, 'canary.txt'))
    .replaceAll('{folder}', folder);
}

/** As the commands ask before they run a file. */
async function isAdmitted(target: Target, sql: string): Promise<boolean> {
  return admit(target, { setup, statements: [sql] }, { trust: false, source: 'attack.sql' }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof IsoldeError && error.code === 'safety') return false;
      throw error;
    },
  );
}

async function trySetup(scratch: Scratch, sql: string): Promise<Outcome> {
  try {
    await scratch.reset([...setup, sql]);
    return 'harmless';
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
    return error.code === 'safety' ? 'not sent' : 'refused';
  }
}

async function trySession(target: Target, scratch: Scratch, sql: string): Promise<Outcome> {
  await scratch.reset(setup);
  const session = await scratch.openSession({
    level: target.defaultLevel,
    statementTimeoutMs: 5000,
    lockTimeoutMs: 1000,
  });
  try {
    const answer = await session.execute(sql);
    checkSecret(answer, sql);
    // What a statement prepared or defined is used here.
    for (const use of ['CALL p()', 'EXECUTE p', 'INSERT INTO t VALUES (3, 30)', 'SELECT * FROM v']) {
      checkSecret(await session.execute(use), `${sql}; ${use}`);
    }
    return outcomeOf(answer);
  } finally {
    await session.close();
  }
}

function outcomeOf({ error }: Answer): Outcome {
  if (error === undefined) return 'harmless';
  return error.code === 'isolde' ? 'not sent' : 'refused';
}

function checkSecret(answer: Answer, sql: string): void {
  const shown = JSON.stringify(answer.rows ?? []);
  const hex = Buffer.from(secret).toString('hex');
  if (shown.includes(secret) || shown.toLowerCase().includes(hex))
    throw new Error(`a file was read by: ${sql}`);
}
