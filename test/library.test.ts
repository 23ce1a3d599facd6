/** The library as its users see it: what the pages show compiles, and no exported function has a type that is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { check, hunt, probe, readHistory, reduce, reproduce, run } from '../src/index.js';
import { compile } from './declarations.js';

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
      { noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: 'made', sourceMap: false },
    );
  });

  it('compiles every snippet of the documentation, and tells of one that does not', () => {
    expect(Object.keys(files).length).toBeGreaterThan(15);
    const problems = compiled.problems.trimEnd().split('\n');
    expect(problems.filter((line) => !line.startsWith(' ') && !line.includes('wrong.ts'))).toEqual([]);
    expect(problems[0]).toContain('wrong.ts(2,7)');
  });

  it('covers what the commands do', () => {
    for (const [name, value] of Object.entries({ check, hunt, probe, readHistory, reduce, reproduce, run }))
      expect(typeof value, name).toBe('function');
  });

  it('exports every type that an exported function takes or returns', () => {
    const { made } = compiled;
    expect(made.size).toBeGreaterThan(100);
    const index = [...made].find(([name]) => name.endsWith('src/index.d.ts'))![1];
    const exported = new Set(
      [...index.matchAll(/[{,]\s*(?:type\s+)?(?:\w+\s+as\s+)?(\w+)(?=\s*[,}])/g)].map(([, name]) => name!),
    );
    const missing = new Set<string>();
    for (const [name, text] of made) {
      if (!name.includes('/src/')) continue;
      const known = new Set(
        [
          ...text.matchAll(/(?:interface|type|class)\s+([A-Z]\w+)|[{,]\s*(?:type\s+)?([A-Z]\w+)(?=\s*[,}])/g),
        ].flatMap(([, declared, imported]) => declared ?? imported ?? []),
      );
      for (const [signature, fn] of text.matchAll(/^export declare (?:async )?function (\w+)[\s\S]*?;$/gm)) {
        if (!exported.has(fn!)) continue;
        for (const [type] of signature.matchAll(/\b[A-Z]\w+/g))
          if (known.has(type) && !exported.has(type)) missing.add(`${fn}: ${type}`);
      }
    }
    expect([...missing].sort()).toEqual([]);
  });
});
