/** What is published: the program and its library, without measurements, slow twins and tests. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { expect, it } from 'vitest';

const listed = (project: string): string[] =>
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, '--listFilesOnly'], {
    encoding: 'utf8',
  })
    .split('\n')
    .map((file) => relative('.', file.trim()).split(sep).join('/'))
    .filter((file) => file.startsWith('src/'));

const unpublished = /^src\/bench\/|\/slow\/|cross-check|\.(test|case)\.ts$/;

it('the package is built without benchmarks, slow twins and tests, even as imports', () => {
  const files = listed('tsconfig.build.json');
  expect(files).toContain('src/cli/main.ts');
  expect(files.filter((file) => unpublished.test(file))).toEqual([]);
});

it('the tools the scripts run are built beside it', () => {
  const files = listed('tsconfig.tools.json');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const started = Object.values(scripts).flatMap((script) => /\bbuild\/(\S+)\.js/.exec(script)?.[1] ?? []);
  expect(started.length).toBeGreaterThan(2);
  for (const script of started) expect(files).toContain(`src/${script}.ts`);
});

it('holds no map without its sources, and no benchmark', (context) => {
  if (!existsSync('dist/index.js')) return context.skip('nothing is built (npm run build)');
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' }),
  ) as readonly { readonly files: readonly { readonly path: string }[] }[] | Record<string, never>;
  const [{ files } = { files: [] }] = Object.values(packed);
  const paths = files.map(({ path }) => path);
  expect(paths).toContain('package.json');
  expect(paths).toContain('known/study.jsonl');
  expect(paths.filter((path) => /bench\/|\/slow\/|\.test\./.test(path))).toEqual([]);
  for (const path of paths.filter((each) => each.endsWith('.map'))) {
    const { sourcesContent } = JSON.parse(readFileSync(path, 'utf8')) as { sourcesContent?: unknown[] };
    expect(sourcesContent?.length, path).toBeGreaterThan(0);
  }
});
