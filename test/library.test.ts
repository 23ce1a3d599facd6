/** The library as its users see it: what the pages show compiles, and every type that they meet has a name that they can import. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  check,
  convert,
  hunt,
  probe,
  readHistory,
  reduce,
  reproduce,
  run,
  runMatrix,
  verifyCertificate,
} from '../src/index.js';
import { compile, ExportedTypes } from './declarations.js';

/** Pages with snippets. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].sort();

/** What a snippet may take for given; whatever it declares itself hides these. */
const given = `
declare const scheduledCase: import('isolde-db').ScheduledCase;
declare const scheduled: import('isolde-db').ScheduledCase;
declare const program: import('isolde-db').Case;
declare const schedule: import('isolde-db').Schedule;
declare const history: import('isolde-db').History;
declare const finding: import('isolde-db').Finding;
declare const contract: import('isolde-db').Contract;
declare const bug: import('isolde-db').Bug;
declare const target: import('isolde-db').Target;
declare const scratch: import('isolde-db').Scratch;
declare const repeatedRead: import('isolde-db').Oracle;
declare let capabilities: import('isolde-db').Capabilities;
`;

function snippets(): Record<string, string> {
  const found: Record<string, string> = { 'given.d.ts': given };
  for (const page of pages) {
    const text = readFileSync(page, 'utf8');
    for (const match of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
      const line = text.slice(0, match.index).split('\n').length + 1;
      const name = `${page.replaceAll(/\W+/g, '-')}-${line}.ts`;
      found[name] = `${match[1]!.replaceAll(/'\.\/src\//g, `'${resolve('src')}/`)}\nexport {};\n`;
    }
  }
  return found;
}

describe('the library', () => {
  const files = snippets();
  const wrong = "import { check } from 'isolde-db';\ncheck(1);\n";
  let compiled: Awaited<ReturnType<typeof compile>>;
  beforeAll(async () => {
    const root = "export * from 'isolde-db';\n";
    compiled = await compile(
      { ...files, 'wrong.ts': wrong, 'root.ts': root },
      {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: 'made',
        sourceMap: false,
        stripInternal: true,
      },
    );
  });

  it('compiles every snippet of the documentation, and tells of one that does not', () => {
    expect(Object.keys(files).length).toBeGreaterThan(15);
    const problems = compiled.problems.trimEnd().split('\n');
    expect(problems.filter((line) => !line.startsWith(' ') && !line.includes('wrong.ts'))).toEqual([]);
    expect(problems[0]).toContain('wrong.ts(2,7)');
  });

  it('covers what the commands do', () => {
    const commands = {
      check,
      convert,
      hunt,
      probe,
      readHistory,
      reduce,
      reproduce,
      run,
      runMatrix,
      verifyCertificate,
    };
    for (const [name, value] of Object.entries(commands)) expect(typeof value, name).toBe('function');
  });

  it('exports every type that what it exports mentions, however deep', () => {
    const { made } = compiled;
    expect(made.size).toBeGreaterThan(100);
    const index = [...made.keys()].find((name) => name.endsWith('src/index.d.ts'))!;
    expect(new ExportedTypes(made, index).missing()).toEqual([]);
  });
});

describe('the walk over declarations', () => {
  const missing = (files: Readonly<Record<string, string>>) =>
    new ExportedTypes(new Map(Object.entries(files)), 'index.d.ts').missing();
  const index = "export { f, type A as Renamed } from './a.js';\n";

  it('finds what a field of a field of a result is of', () => {
    const a = `import type { B } from './b.js';
export interface A { readonly b: B; }
export declare function f(a: A): void;
`;
    const b = 'export interface B { readonly c: readonly C[]; }\nexport type C = 1;\n';
    expect(missing({ 'index.d.ts': index, 'a.d.ts': a, 'b.d.ts': b })).toEqual([
      'B, which A mentions (b.d.ts)',
      'C, which B mentions (b.d.ts)',
    ]);
    const all = `${index}export { type B, type C } from './b.js';\n`;
    expect(missing({ 'index.d.ts': all, 'a.d.ts': a, 'b.d.ts': b })).toEqual([]);
    const whole = `${index}export type * as b from './b.js';\n`;
    expect(missing({ 'index.d.ts': whole, 'a.d.ts': a, 'b.d.ts': b })).toEqual([]);
  });

  it('looks through types that a module keeps to itself, and at inferred ones, not at private members or comments', () => {
    const a = `interface Own { readonly d: D; }
export interface D {}
export interface A extends Own {}
/** Says nothing of E. */
export interface E {}
export declare class K {
    private readonly e: E;
}
export declare function f(): Promise<import("./b.js").B>;
`;
    const files = { 'a.d.ts': a, 'b.d.ts': 'export interface B {}\n' };
    expect(missing({ ...files, 'index.d.ts': `${index}export { K } from './a.js';\n` })).toEqual([
      'B, which f mentions (b.d.ts)',
      'D, which Own mentions (a.d.ts)',
    ]);
  });
});
