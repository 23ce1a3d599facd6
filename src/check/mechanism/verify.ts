/**
 * The mechanism verifier: is every answer in a history one that the contract's mechanism can give?
 *
 * It needs no instrumentation, only what a client saw: statements, answers, and when they were sent and answered. From
 * these it mirrors the versions of every row (`row-chain.ts`) and the locks (`locks.ts`), and asks of each read which
 * versions the contract lets it see, of each write which rows it could touch and whether it had to wait or fail
 * (Leopard's four mechanisms; Pisco §6.2.1).
 *
 * 1. A first pass finds out how each transaction ended and when its snapshot was taken (`transactions.ts`).
 * 2. Operations are then taken in the order of their answers. Whatever a statement can see was written by statements
 *    answered before it; autocommitted writes still in flight are the one exception (`in-flight.ts`).
 * 3. Of a history that says it is incomplete, only the part before what is missing is judged (`before-cut.ts`).
 * 4. Versions that no unfinished transaction can see are dropped as it goes, so memory follows concurrency.
 *
 * Sound, not complete: times only enclose the truth, so where several versions are possible all of them are allowed,
 * and what cannot be decided is skipped and counted, with its reason.
 */
import { type Contract, contractForTables } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { History } from '../../histories/index.js';
import { withCatalog } from '../../rows/index.js';
import type { Finding } from '../finding.js';
import { beforeCut } from './before-cut.js';
import { type MechanismResult, Tally } from './result.js';
import { Verifier } from './verifier.js';

export interface VerifyOptions {
  /** The column that names the rows of a table, by table, where neither a key nor the values tell. */
  readonly identity?: Readonly<Record<string, string>>;
  /** Another contract: the result says which findings would appear and vanish under it. */
  readonly compareWith?: Contract;
}

function judge(history: History, contract: Contract, options: VerifyOptions): MechanismResult {
  const run = (some: History): MechanismResult =>
    withCatalog(some, options, (catalog) => new Verifier(some, contract, catalog).run());
  if ((history.header.omitted ?? []).length === 0) return run(history);
  const { history: certain, answered } = beforeCut(history);
  const result = run(certain);
  const known = (finding: Finding) => finding.operations.every(({ index }) => index < answered);
  return { ...result, findings: result.findings.filter(known) };
}

/** Verifies a history against the mechanism of a contract, or of the one that its tables' storage engine has. */
export function verifyMechanism(
  history: History,
  given: Contract,
  options: VerifyOptions = {},
): MechanismResult {
  const { compareWith } = options;
  const found = judgedContract(history, given);
  if ('unjudged' in found) return unjudged(history, given, found.unjudged);
  const { contract } = found;
  if (contract.mechanism === undefined)
    throw new IsoldeError(
      'usage',
      `the contract ${contract.id} does not say how an engine works; choose a vendor's contract`,
    );
  const result = judge(history, contract, options);
  if (compareWith === undefined) return result;
  const other = verifyMechanism(history, compareWith, {
    ...(options.identity && { identity: options.identity }),
  });
  const names = (findings: readonly Finding[]) => new Set(findings.map(identify));
  const [here, there] = [names(result.findings), names(other.findings)];
  return {
    ...result,
    comparison: {
      contract: compareWith.id,
      findings: other.findings.length,
      appear: other.findings.filter((finding) => !here.has(identify(finding))),
      vanish: result.findings.filter((finding) => !there.has(identify(finding))),
    },
  };
}

/** The contract that holds for a history's tables, or why none does. */
export function judgedContract({ header }: History, given: Contract): ReturnType<typeof contractForTables> {
  return contractForTables(given, header.setup ?? [], header.target?.settings);
}

function unjudged({ operations }: History, { id }: Contract, reason: string): MechanismResult {
  const tally = new Tally();
  tally.skip('transaction', reason, new Set(operations.map(({ transaction }) => transaction)).size);
  const { skipped, notes } = tally;
  return { contract: id, findings: [], checked: tally.checked(0), skipped, notes };
}

/** What makes two findings the same: what is wrong, where it shows, on which rows. */
function identify({ kind, operations, versions, cycle }: Finding): string {
  const rows = (versions ?? []).map((version) => version.object);
  return JSON.stringify([kind, operations[0]?.index, rows, cycle?.map((edge) => [edge.from, edge.to])]);
}
