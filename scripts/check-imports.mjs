// Import direction between stages: a stage may import only stages above it in this list, and only their index.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';

const order = [
  'sql',
  'contracts',
  'cases',
  'histories',
  'targets',
  'generate',
  'execute',
  'probe',
  'check',
  'reproduce',
  'reduce',
  'dedupe',
  'report',
  'properties',
  'store',
  'hunt',
  'studio',
  'bench',
  'cli',
];

const problems = [];
for (const file of readdirSync('src', { recursive: true }).map(String)) {
  if (!/\.tsx?$/.test(file)) continue;
  const stage = file.includes(sep) ? file.split(sep)[0] : undefined;
  if (stage !== undefined && !order.includes(stage)) {
    problems.push(
      `src/${file}: the folder ${stage} is not in the list of stages (scripts/check-imports.mjs)`,
    );
    continue;
  }
  const text = readFileSync(join('src', file), 'utf8');
  for (const [, path] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
    const imported = relative('src', normalize(join('src', dirname(file), path)));
    const [other, ...rest] = imported.split(sep);
    if (stage === undefined || other === stage || !order.includes(other)) continue;
    if (order.indexOf(other) > order.indexOf(stage)) {
      problems.push(`src/${file}: ${stage} must not import ${other}, which comes after it`);
    } else if (rest.at(-1) !== 'index.js' && !/\.(test|case)\.ts$/.test(file)) {
      problems.push(`src/${file}: import ${other}/index.js, not ${imported}`);
    }
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
