#!/usr/bin/env node
/** The command line: parse arguments, call a stage, print. Exit codes: 0 nothing found, 1 found, 2 undecided, 3 error. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { errorText, IsoldeError } from '../errors.js';
import { bugsCommand } from './bugs-command.js';
import { checkCommand } from './check-command.js';
import { type CliContext, type ExitCode, exitCodes, processContext } from './context.js';
import { convertCommand } from './convert-command.js';
import { demoCommand } from './demo-command.js';
import { generateCommand } from './generate-command.js';
import { huntCommand } from './hunt-command.js';
import { probeCommand } from './probe-command.js';
import { reduceCommand } from './reduce-command.js';
import { reproduceCommand } from './reproduce-command.js';
import { runCommand } from './run-command.js';

/** Runs the command line and returns the exit code; everything it prints goes through the context. */
export async function main(args: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.nothingFound;
  const exit = (given: ExitCode) => {
    code = given;
  };
  const program = new Command('isolde')
    .description('finds, reproduces, shrinks and reports transaction-isolation bugs in SQL databases')
    .version('0.1.0')
    .showHelpAfterError('(add --help for usage)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    });
  for (const add of [
    demoCommand,
    huntCommand,
    bugsCommand,
    probeCommand,
    runCommand,
    generateCommand,
    checkCommand,
    convertCommand,
    reproduceCommand,
    reduceCommand,
  ])
    add(program, context, exit);
  program.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.nothingFound : exitCodes.error;
    context.err(describeFailure(error));
    return exitCodes.error;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof IsoldeError) return `isolde: ${error.message}`;
  if (process.env.ISOLDE_DEBUG === '1' && error instanceof Error && error.stack !== undefined)
    return error.stack;
  return `isolde: unexpected failure: ${errorText(error)}\nThis is a fault in Isolde. ISOLDE_DEBUG=1 shows where.`;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2), processContext());
}
