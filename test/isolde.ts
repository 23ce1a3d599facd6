/** Runs the command line in this process and collects what it prints. */
import pc from 'picocolors';
import type { CliWorld, ExitCode } from '../src/cli/context.js';
import { main } from '../src/cli/main.js';

export interface Printed {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export async function isolde(args: readonly string[], overrides: Partial<CliWorld> = {}): Promise<Printed> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 120,
    signal: new AbortController().signal,
    ...overrides,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Whether missing engines are failures. */
export const enginesRequired = process.env.ISOLDE_REQUIRE_ENGINES === '1';
