#!/usr/bin/env node
/** The command line: parse arguments, call a stage, print. Exit codes: 0 nothing found, 1 found, 2 undecided, 3 error. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { errorText, IsoldeError } from '../errors.js';
import { type CliContext, type CliWorld, type ExitCode, exitCodes, processContext } from './context.js';
import { guardOutput } from './guarded-output.js';

type AddCommand = (program: Command, context: CliContext, exit: (code: ExitCode) => void) => void;

/** Every command, loaded when it is asked for: stages are large, and `isolde check` needs no hunt. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  demo: async () => (await import('./demo-command.js')).demoCommand,
  hunt: async () => (await import('./hunt-command.js')).huntCommand,
  property: async () => (await import('./property-command.js')).propertyCommand,
  capabilities: async () => (await import('./capabilities-command.js')).capabilitiesCommand,
  bugs: async () => (await import('./bugs-command.js')).bugsCommand,
  dedupe: async () => (await import('./dedupe-command.js')).dedupeCommand,
  known: async () => (await import('./known-command.js')).knownCommand,
  probe: async () => (await import('./probe-command.js')).probeCommand,
  run: async () => (await import('./run-command.js')).runCommand,
  generate: async () => (await import('./generate-command.js')).generateCommand,
  check: async () => (await import('./check-command.js')).checkCommand,
  'verify-certificate': async () =>
    (await import('./verify-certificate-command.js')).verifyCertificateCommand,
  convert: async () => (await import('./convert-command.js')).convertCommand,
  reproduce: async () => (await import('./reproduce-command.js')).reproduceCommand,
  clean: async () => (await import('./clean-command.js')).cleanCommand,
  reduce: async () => (await import('./reduce-command.js')).reduceCommand,
};

/** Runs the command line and returns the exit code; everything it prints goes through the context. */
export async function main(args: readonly string[], world: CliWorld): Promise<ExitCode> {
  const context = guardOutput(world, args);
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
  const [asked = ''] = args;
  const wanted = Object.hasOwn(commands, asked) ? [asked] : Object.keys(commands);
  for (const name of wanted) (await commands[name]!())(program, context, exit);
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
  if (process.env.ISOLDE_DEBUG === '1') process.setSourceMapsEnabled(true);
  process.exitCode = await main(process.argv.slice(2), processContext());
}
