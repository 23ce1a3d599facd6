/**
 * A second look on another engine, or another version of it: the case of a finding runs there, held to what that engine promises. If it does
 * not show, the finding is this engine's own, and the sibling agrees. If it shows there, too, either both have the bug or neither has: undecided,
 * as is whatever the sibling cannot run (a level it lacks, statements it does not understand).
 */
import { type Finding, oraclesFor } from '../check/index.js';
import { errorText } from '../errors.js';
import type { Operation } from '../histories/index.js';
import { Database, vendorContract } from '../judge/index.js';
import type { SecondLook } from '../report/index.js';
import type { Target } from '../targets/index.js';
import type { HuntRequest } from './hunt-request.js';

/** The sibling of a hunt's database; it is opened when it is first asked. */
export class Sibling {
  #database: Promise<Database> | undefined;

  constructor(private readonly open: () => Promise<Target>) {}

  /** What it says of a finding that a request shows; lanes as in the hunt. */
  async look(request: HuntRequest, finding: Finding, lane: number): Promise<SecondLook> {
    try {
      this.#database ??= Database.open({ open: this.open });
      return await lookAt(await this.#database, request, finding, lane);
    } catch (error) {
      return { by: 'sibling', says: 'undecided', note: `could not be asked: ${errorText(error)}` };
    }
  }

  async close(): Promise<void> {
    const database = await this.#database?.catch(() => undefined);
    await database?.close().catch(() => undefined);
  }
}

async function lookAt(
  database: Pick<Database, 'target' | 'observe'>,
  request: HuntRequest,
  finding: Finding,
  lane: number,
): Promise<SecondLook> {
  const { target } = database;
  const by = `${target.stamp.name} ${target.stamp.version}`;
  const undecided = (note: string): SecondLook => ({ by, says: 'undecided', note });
  const levels = [request.level, ...request.case.sessions.flatMap(({ level = [] }) => level)];
  const lacks = levels.find((level) => !target.levels.some((offered) => offered.level === level));
  if (lacks !== undefined) return undecided(`has no level ${lacks}`);
  const contract = vendorContract(target, request.level);
  const able = contract !== undefined && oraclesFor(contract).some(({ name }) => name === request.oracle);
  if (!able) return undecided(`${request.oracle} cannot judge it`);
  const observed = await database.observe({ ...request, contract }, lane);
  if (observed.kind !== 'ran') return undecided('could not run the case');
  if (observed.findings.some(({ kind }) => kind === finding.kind))
    return undecided('shows it, too: a bug of both, or of neither');
  const refused = observed.history.operations.find(isNotUnderstood);
  if (refused !== undefined) return undecided(`does not understand ${refused.sql}`);
  return { by, says: 'agrees', note: 'does not show it' };
}

const isNotUnderstood = ({ error }: Operation): boolean =>
  error?.class === 'syntax' || error?.class === 'unsupported' || error?.class === 'other';
