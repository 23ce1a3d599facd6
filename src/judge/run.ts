/** Runs a case once in a namespace of its own and judges it: what `isolde run --check` does. */
import type { ScheduledCase } from '../cases/index.js';
import { type JudgedHistory, type OracleName, usualOracle } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import type { Target } from '../targets/index.js';
import { vendorContractAt } from './contract-choice.js';
import { runAndJudge } from './run-and-judge.js';

export interface RunCaseOptions {
  readonly target: Target;
  /** For sessions whose case names no level; default: the target's. */
  readonly level?: Level;
  /** Default: what the vendor promises at that level. */
  readonly contract?: Contract;
  /** Default: the first that can judge by the contract. */
  readonly oracle?: OracleName;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Without a schedule the sessions run freely. */
export async function run(scheduled: ScheduledCase, options: RunCaseOptions): Promise<JudgedHistory> {
  const { target, level, oracle, contract: asked, ...limits } = options;
  const contract = asked ?? vendorContractAt(target, scheduled.case.level ?? level ?? target.defaultLevel);
  const scratch = await target.createScratch();
  try {
    const request = {
      ...scheduled,
      contract,
      oracle: oracle ?? usualOracle(contract).name,
      ...(level !== undefined && { level }),
    };
    return await runAndJudge(request, { target, scratch, ...limits });
  } finally {
    await scratch.drop().catch(() => undefined);
  }
}
