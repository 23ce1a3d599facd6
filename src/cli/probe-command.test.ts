import { Command } from 'commander';
import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { CliWorld, ExitCode } from './context.js';
import { guardOutput } from './guarded-output.js';
import { probeCommand } from './probe-command.js';

/** Runs `isolde probe …` on the embedded default and collects what it prints. */
async function isolde(args: readonly string[], terminal = false) {
  const out: string[] = [];
  const err: string[] = [];
  const context: CliWorld = {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: terminal,
    errIsTerminal: terminal,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
  };
  let code: ExitCode | undefined;
  const program = new Command('isolde').exitOverride();
  probeCommand(program, guardOutput(context), (given) => {
    code = given;
  });
  await program.parseAsync(['probe', ...args], { from: 'user' });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('isolde probe', () => {
  it('prints the matrix of the embedded default and ends with 1, for it breaks its contract', async () => {
    const { code, out, err } = await isolde([]);
    expect(code).toBe(1);
    expect(out).toMatch(/^duckdb /);
    expect(out).toContain('✗ VIOLATED');
    expect(err).toBe('');
  });

  it('ends with 0 when every promise asked about is kept', async () => {
    const { code, out } = await isolde(['duckdb:', '--anomaly', 'write-skew', '-a', 'G0', '--level', 'SI']);
    expect(code).toBe(0);
    expect(out).toContain('No level allows what its contract forbids.');
    expect(out).not.toContain('OTV');
  });

  it('explains an anomaly with its interleaving', async () => {
    const { code, out } = await isolde(['--explain', 'write-skew']);
    expect(code).toBe(0);
    expect(out).toContain('T1 read (1, 10) (2, 20), T2 read (1, 10) (2, 20)');
    expect(out).toMatch(/T1 +│ T2 +│ after/);
  });

  it('keeps machine-readable output clean', async () => {
    const { out } = await isolde(['--json', '-a', 'G0']);
    expect(JSON.parse(out)).toMatchObject({ format: 'isolde-probe/1', outcome: 'kept' });
    const { out: markdown } = await isolde(['--markdown', '-a', 'G0']);
    expect(markdown).toMatch(/^## duckdb .*\n/);
  });

  it('shows progress on standard error when that is a terminal', async () => {
    const { err } = await isolde(['-a', 'G0'], true);
    expect(err).toContain('1 of 1: G0 at snapshot');
  });

  it.each([
    [['--anomaly', 'G17'], 'there is no anomaly "G17"; there are G0, G1a'],
    [['--level', 'chaos'], '"chaos" is no isolation level'],
    [['--level', 'RC'], 'duckdb has no level "read committed"; it has snapshot'],
  ])('refuses %j and says what would be accepted', async (args, message) => {
    await expect(isolde(args)).rejects.toThrow(message);
  });
});
