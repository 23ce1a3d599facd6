/**
 * isolationtester and Isolde on the same files: both get the same rows and errors, and what they print stands in docs/comparison.md.
 * `npx vitest run test/comparison.test.ts -u` writes it there.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findTester, runProgram } from '../src/report/exports/run-export.case.js';
import { describePostgres, startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { enginesRequired, isolde } from './isolde.js';

const tester = findTester();
const page = 'docs/comparison.md';
const section = /(?<=<!-- the same specs -->\n)[\s\S]*(?=<!-- end of the same specs -->)/;

const peers = [
  {
    file: 'examples/peers/write-skew.spec',
    options: ['--level', 'RR', '--check', '--contract', 'adya:PL-2.99'],
    code: 1,
  },
  { file: 'examples/peers/lost-update.spec', options: ['--level', 'RR', '--check'], code: 0 },
] as const;

describePostgres('isolationtester and Isolde', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.stop());

  const both = async ({ file, options, code }: (typeof peers)[number]) => {
    const theirs = await runProgram(tester!, [urlOf(server)], { input: readFileSync(file, 'utf8') });
    expect({ code: theirs.code, err: theirs.err }).toEqual({ code: 0, err: '' });
    const ours = await isolde(['run', file, '--target', 'postgres:', ...options], { width: 110 });
    expect(ours.code, ours.err).toBe(code);
    return { theirs: theirs.out.trimEnd(), ours: ours.out.trimEnd() };
  };

  it.skipIf(tester === undefined && !enginesRequired)(
    `get the same from the same specs${tester === undefined ? ' (isolationtester not found)' : ''}`,
    async () => {
      const printed: string[] = [];
      for (const peer of peers) {
        const { theirs, ours } = await both(peer);
        const json = await isolde(['run', peer.file, '--target', 'postgres:', '--json']);
        expect(rowsInTester(theirs)).toEqual(rowsInHistory(json.out));
        expect(/could not serialize access/.test(ours)).toBe(/could not serialize access/.test(theirs));
        const command = `npx isolde run ${peer.file} --target postgres: ${peer.options.join(' ')}`;
        printed.push(block(`isolationtester < ${peer.file}`, theirs), block(command, ours));
      }
      const text = readFileSync(page, 'utf8').replace(section, () => `\n${printed.join('\n')}\n`);
      // The release that runs here may be another one than on the page. Operations are numbered as they are answered, and a
      // COMMIT and the statement it wakes are answered in either order.
      const plain = (written: string) =>
        written.replaceAll(/postgres \d+\.\d+/g, 'postgres').replaceAll(/^ *\d+ (?=│)/gm, '# ');
      if (plain(text) !== plain(readFileSync(page, 'utf8')))
        await expect(text).toMatchFileSnapshot(`../${page}`);
    },
    60_000,
  );
});

function block(title: string, text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return `\`${title}\`\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
}

/** The rows of each SELECT, one list for each permutation. */
function rowsInTester(out: string): string[][] {
  return out
    .split('starting permutation:')
    .slice(1)
    .map((part) =>
      [...part.matchAll(/^-+(?:\+-+)*\n((?:.*\n)*?)\(\d+ rows?\)/gm)].map(([, body]) =>
        body!
          .trim()
          .split('\n')
          .map((line) =>
            line
              .split('|')
              .map((cell) => cell.trim())
              .join(', '),
          )
          .join('; '),
      ),
    );
}

function rowsInHistory(json: string): string[][] {
  return json
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { readonly operations: readonly { readonly rows?: readonly unknown[][] }[] },
    )
    .map(({ operations }) =>
      operations.flatMap(({ rows }) =>
        rows === undefined ? [] : [rows.map((row) => row.join(', ')).join('; ')],
      ),
    );
}
