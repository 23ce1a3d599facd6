/**
 * The structure of src/, checked by `npm run check`:
 *
 * 1. Direction: a stage imports only stages above it in `order`, and only their index.
 * 2. No cycles between files, type imports included.
 * 3. No function over 70 lines. Files are formatted, so a function ends at the first line that closes its indentation and
 *    is none of its parameter list.
 * 4. No function with five or more parameters: they take an options object, but for those listed in `manyParameters`.
 * 5. docs/architecture.md holds the folder graph as it is. `--write` brings it up to date.
 *
 * `--figures` prints lines of source and tests per folder, cycles and functions that are too long (`--json`: as data). With `--beside FOLDER` it
 * compares them with those of another checkout, and `--write` puts that into docs/decisions/rows-kernel.md:
 *
 *     mkdir before && git archive 115aaf5 | tar -x -C before
 *     node scripts/check-structure.mjs --figures --beside before --write
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From the bottom up. */
const order = [
  ['sql', 'statements as data: parse, print, evaluate, features used'],
  ['contracts', 'what vendors and theories promise, as data'],
  ['cases', 'Case and Schedule, their file forms, the script people write by hand'],
  ['histories', 'what happened when a case ran; one file per trace format'],
  ['rows', 'row versions: catalog, identity, plans, version chains, locks, savepoints'],
  ['targets', 'one folder per database behind one contract; the fault-injecting wrapper'],
  ['generate', 'schemas, rows and transactions from a seed'],
  ['execute', 'run a case freely or by schedule'],
  ['probe', 'the matrix of known anomalies, independent of check'],
  ['check', 'one folder per oracle behind one interface; findings and verdicts'],
  ['judge', 'run a case and have an oracle judge it: the one way'],
  ['reproduce', 'the order behind a raw history, and replays in it'],
  ['reduce', 'the fewest statements that still show a finding'],
  ['dedupe', 'behaviour signatures: which findings are one bug'],
  ['known', 'bugs that others have reported: facts, features, cases that show them'],
  ['report', 'one bug as Markdown, HTML, scripts and vendor forms'],
  ['experts', 'four experts on a model’s endpoint, for what running leaves open'],
  ['properties', 'generation actions and shipped properties'],
  ['store', 'one folder per bug on disk'],
  ['matrix', 'cases over versions, settings and levels: where a bug shows, and whether two are one'],
  ['hunt', 'the loop: generate, run, judge, confirm, reduce, group, report'],
  ['fleet', 'jobs over many machines on a queue in PostgreSQL'],
  ['studio', 'the web interface'],
  ['bench', 'measurements; not in the package'],
  ['cli', 'commands: parse arguments, call a stage, print'],
];
const stages = order.map(([name]) => name);
const longest = 70;

const files = readdirSync('src', { recursive: true })
  .map(String)
  .filter((file) => /\.tsx?$/.test(file));
const isTest = (file) => /\.(test|case)\.tsx?$/.test(file);
const texts = new Map(files.map((file) => [file, readFileSync(join('src', file), 'utf8')]));
const stageOf = (file) => (file.includes(sep) ? file.split(sep)[0] : undefined);

/** The files of src/ that a file imports, statically or on demand. */
function importsOf(file) {
  const found = texts.get(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  return [...found].map(([, path]) => relative('src', normalize(join('src', dirname(file), path))));
}

function checkDirection(problems) {
  for (const file of files) {
    const stage = stageOf(file);
    if (stage !== undefined && !stages.includes(stage)) {
      problems.push(
        `src/${file}: the folder ${stage} is not in the list of stages (scripts/check-structure.mjs)`,
      );
      continue;
    }
    for (const imported of importsOf(file)) {
      const [other, ...rest] = imported.split(sep);
      if (stage === undefined || other === stage || !stages.includes(other)) continue;
      if (stages.indexOf(other) > stages.indexOf(stage))
        problems.push(`src/${file}: ${stage} must not import ${other}, which comes after it`);
      else if (rest.at(-1) !== 'index.js' && !isTest(file))
        problems.push(`src/${file}: import ${other}/index.js, not ${imported}`);
    }
  }
}

/** Tarjan's algorithm over static imports; an import on demand cannot deadlock the loading of modules. */
function checkCycles(problems) {
  const next = new Map(
    files.map((file) => {
      const found = texts.get(file).matchAll(/from\s*'(\.[^']+)'/g);
      const paths = [...found].map(([, path]) =>
        relative('src', normalize(join('src', dirname(file), path))),
      );
      return [file, paths.map((path) => path.replace(/\.js$/, '.ts')).filter((path) => texts.has(path))];
    }),
  );
  const index = new Map();
  const low = new Map();
  const stack = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const other of next.get(file)) {
      if (!index.has(other)) visit(other);
      if (stack.includes(other)) low.set(file, Math.min(low.get(file), low.get(other)));
    }
    if (low.get(file) !== index.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    if (component.length > 1) problems.push(`files import each other: ${component.sort().join(', ')}`);
  };
  for (const file of files) if (!index.has(file)) visit(file);
}

const opensFunction =
  /^(\s*)(?:export )?(?:default )?(?:(?:private |readonly |static |async |override |get |set )*(?:function\*? |#?[\w$]+\s*(?:<.*>)?\(|\*?\[)|(?:const|let) [\w$]+.*=>)/;
const notFunction = /^\s*(?:if|for|while|switch|return|catch|else|describe|it|test|expect)\b/;

/** A line that closes a pattern or a type of a parameter list, and opens what comes next: `}: {`, `}: Props) {`, `}) {`. */
const goesOn = /^\}(?:: |\)|, ).*\{$/;

/** Files whose functions are counted: the sources, and the pages of the studio. */
const code = new Map([
  ...files.map((file) => [join('src', file), texts.get(file)]),
  ...(existsSync('studio') ? readdirSync('studio') : [])
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [join('studio', file), readFileSync(join('studio', file), 'utf8')]),
]);

function functionsOf(file) {
  const lines = code.get(file).split('\n');
  const found = [];
  for (let at = 0; at < lines.length; at++) {
    if (!opensFunction.test(lines[at]) || notFunction.test(lines[at])) continue;
    const indent = /^\s*/.exec(lines[at])[0];
    let body = at;
    while (body < lines.length && !lines[body].endsWith('{') && !lines[body].endsWith(';')) body++;
    if (!lines[body]?.endsWith('{')) continue;
    const end = lines.findIndex(
      (line, i) => i > body && line.startsWith(`${indent}}`) && !goesOn.test(line.slice(indent.length)),
    );
    if (end > 0) found.push({ file, line: at + 1, length: end - at + 1, text: lines[at].trim() });
  }
  return found;
}

function checkFunctions(problems) {
  for (const { file, line, length, text } of longFunctions())
    problems.push(`${file}:${line}: a function of ${length} lines, over ${longest}: ${text}`);
}

const longFunctions = () =>
  [...code.keys()]
    .filter((file) => !isTest(file))
    .flatMap(functionsOf)
    .filter(({ length }) => length > longest)
    .sort((a, b) => b.length - a.length);

/** Hot paths, measured: an object for each of their calls shows in a benchmark. */
const manyParameters = new Set([
  // Called for every token of every statement.
  'src/sql/parse/cursor.ts accept',
  // An inner loop of the search for cycles.
  'src/check/graph/families.ts step',
]);
const mostParameters = 4;

/** Every parameter list that a body or an arrow follows, comments and strings left out. */
function parameterLists(text) {
  const code = text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(?<=^|\s)\/\/.*/gm, '');
  const found = [];
  for (const head of code.matchAll(
    /(?:\bfunction\*? +([\w$]+)|^ {2,}(?:(?:private|public|protected|static|async|override|get|set) +)*\*?(#?[\w$]+)|\b(?:const|let) +([\w$]+)(?:: [^=\n]+)? = (?:async )?)(?:<[^()\n]*>)?\(/gm,
  )) {
    const open = head.index + head[0].length;
    const list = closed(code, open);
    if (list === undefined) continue;
    const after = code.slice(open + list.length + 1, open + list.length + 2000);
    const isFunction =
      /^(?:: [^;]*?)? (?:\{|=>)/.test(after) && !/^ {2,}(?:if|for|while|switch|catch|return)\b/.test(head[0]);
    if (!isFunction) continue;
    const line = code.slice(0, head.index).split('\n').length;
    found.push({ name: head[1] ?? head[2] ?? head[3], line, count: partsOf(list) });
  }
  return found;
}

/** The text up to the bracket that closes the one before `from`. */
function closed(code, from) {
  let depth = 1;
  for (let at = from; at < code.length && at < from + 4000; at++) {
    if ('([{'.includes(code[at])) depth++;
    else if (')]}'.includes(code[at]) && --depth === 0) return code.slice(from, at);
  }
  return undefined;
}

/** How many parameters a list has: commas outside of all brackets. */
function partsOf(list) {
  let depth = 0;
  const commas = [];
  for (let at = 0; at < list.length; at++) {
    if ('([{<'.includes(list[at])) depth++;
    else if (')]}'.includes(list[at]) || (list[at] === '>' && list[at - 1] !== '=')) depth--;
    else if (list[at] === ',' && depth === 0) commas.push(at);
  }
  return list.trim() === '' ? 0 : commas.filter((at) => list.slice(at + 1).trim() !== '').length + 1;
}

function checkParameters(problems) {
  for (const [file, text] of code) {
    if (isTest(file)) continue;
    for (const { name, line, count } of parameterLists(text)) {
      if (count <= mostParameters || manyParameters.has(`${file.split(sep).join('/')} ${name}`)) continue;
      problems.push(`${file}:${line}: ${name} has ${count} parameters; give it an options object`);
    }
  }
}

/** Which stages each stage imports, as a table. */
function folderGraph() {
  const rows = order.flatMap(([name, what]) => {
    const own = files.filter((file) => stageOf(file) === name && !isTest(file));
    if (own.length === 0) return [];
    const used = new Set(own.flatMap(importsOf).map((path) => path.split(sep)[0]));
    const below = stages.filter((stage) => stage !== name && used.has(stage));
    return [`| \`${name}/\` | ${what} | ${below.map((stage) => `\`${stage}\``).join(', ') || '–'} |`];
  });
  return ['| folder | what it does | imports |', '|---|---|---|', ...rows].join('\n');
}

const architecture = 'docs/architecture.md';
const [opening, closing] = ['<!-- folder graph -->', '<!-- end of folder graph -->'];

function checkArchitecture(problems, write) {
  if (!existsSync(architecture)) return;
  const text = readFileSync(architecture, 'utf8');
  const wanted = text.replace(
    new RegExp(`${opening}[\\s\\S]*?${closing}`),
    () => `${opening}\n${folderGraph()}\n${closing}`,
  );
  if (wanted === text) return;
  if (write) writeFileSync(architecture, wanted);
  else
    problems.push(`${architecture}: the folder graph changed; run node scripts/check-structure.mjs --write`);
}

/** Slow twins and what holds checkers against them exist for tests alone; no command reaches them. */
const isTwin = (file) => /(^|\/)slow\/|(^|\/)cross-check(-main)?\.ts$/.test(file.split(sep).join('/'));

/** The folders that hold the kernel of row versions and what was written twice before there was one. */
const kernel = /^(?:rows|reproduce|check[/\\]mechanism)[/\\]/;

/** Lines per folder, and what counts the structure. Benchmarks are neither source nor tests. */
function figures() {
  const count = (list) => list.reduce((sum, file) => sum + texts.get(file).split('\n').length - 1, 0);
  const forTests = (file) => isTest(file) || isTwin(file);
  const linesOf = (own) => ({
    source: count(own.filter((file) => !forTests(file))),
    tests: count(own.filter(forTests)),
  });
  const lines = {};
  for (const name of stages) {
    const own = files.filter((file) => stageOf(file) === name);
    if (own.length > 0) lines[name] = linesOf(own);
  }
  const counted = linesOf(files.filter((file) => stageOf(file) !== 'bench'));
  const outside = readdirSync('test', { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts'))
    .reduce((sum, file) => sum + readFileSync(join('test', file), 'utf8').split('\n').length - 1, 0);
  const cycles = [];
  checkCycles(cycles);
  const planners = files.filter((file) => !isTest(file) && /^export class Planner\b/m.test(texts.get(file)));
  return {
    lines,
    kernel: count(files.filter((file) => kernel.test(file) && !forTests(file))),
    source: counted.source,
    tests: counted.tests + outside,
    outside,
    cycles: cycles.length,
    planners: planners.length,
    long: longFunctions().map(({ file, line, length }) => `${length} lines: ${file}:${line}`),
  };
}

function printFigures({ lines, source, tests, outside, cycles, long }) {
  for (const [name, own] of Object.entries(lines)) {
    if (name === 'bench') {
      console.log(`${name.padEnd(12)}${String(own.source + own.tests).padStart(7)} lines, not counted below`);
      continue;
    }
    const ratio = (own.tests / own.source).toFixed(2);
    console.log(
      `${name.padEnd(12)}${String(own.source).padStart(7)} source ${String(own.tests).padStart(7)} tests ${ratio.padStart(6)}`,
    );
  }
  const ratio = (tests / source).toFixed(2);
  console.log(`all: ${source} source, ${tests} tests (${outside} in test/), tests ÷ source ${ratio}`);
  console.log(`${cycles} cycles between files`);
  for (const one of long) console.log(one);
}

/** The figures of another checkout of this repository, by this very script. */
function figuresOf(folder) {
  const run = spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--figures', '--json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return JSON.parse(run.stdout);
}

/** Both as a table; source without tests. */
function compared(before, after) {
  const names = [...new Set([...Object.keys(before.lines), ...Object.keys(after.lines)])];
  const inOrder = stages.filter((name) => names.includes(name) && name !== 'bench');
  const ratio = ({ tests, source }) => (tests / source).toFixed(2);
  const rows = [
    ...inOrder.map((name) => [
      `lines of \`${name}/\``,
      ...[before, after].map(({ lines }) => lines[name]?.source ?? '–'),
    ]),
    ['lines of `rows/`, `reproduce/` and `check/mechanism/`', before.kernel, after.kernel],
    ['lines of source in all', before.source, after.source],
    ['tests ÷ source', ratio(before), ratio(after)],
    ['planners of statements', before.planners, after.planners],
    ['cycles between files', before.cycles, after.cycles],
    [`functions over ${longest} lines`, before.long.length, after.long.length],
  ];
  return ['| | before | after |', '|---|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

/** `--figures --beside FOLDER`: compares; with `--write`, in the page of the decision. */
function compare(folder, write) {
  const table = compared(figuresOf(folder), figures());
  console.log(table);
  if (!write) return;
  const page = 'docs/decisions/rows-kernel.md';
  const text = readFileSync(page, 'utf8');
  const section = /(<!-- figures -->\n)[\s\S]*?(\n<!-- end of figures -->)/;
  writeFileSync(
    page,
    text.replace(section, (_, start, end) => `${start}${table}${end}`),
  );
}

const problems = [];
checkDirection(problems);
checkCycles(problems);
checkFunctions(problems);
checkParameters(problems);
checkArchitecture(problems, process.argv.includes('--write'));
const beside = process.argv.indexOf('--beside');
if (process.argv.includes('--figures')) {
  if (beside > 0) compare(process.argv[beside + 1], process.argv.includes('--write'));
  else if (process.argv.includes('--json')) console.log(JSON.stringify(figures()));
  else printFigures(figures());
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
