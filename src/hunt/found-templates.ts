/**
 * Bugs of the store as templates: what broke once is varied by later hunts, like the cases of `probe` (`generate/template.ts`).
 *
 * Which bugs a store holds changes from hunt to hunt, and a seed must still give the same rounds. So the set a hunt uses is
 * fixed when it begins, kept beside the bugs under the hash of its text, and named by that hash in every replay line:
 *
 *     .isolde/templates/<hash>.json      beside a store that machines share: `notes-folder.ts`
 *
 * SQL that is not on the allow-list (`sql/allow-list.ts`) is left out: the folder may come from anybody.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Case, parseCaseFile, printCaseFile, type ScheduledCase } from '../cases/index.js';
import { isServerFailure } from '../check/index.js';
import { errorText, FileError, IsoldeError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { checkFormat, parseJson } from '../json.js';
import { hideSecrets } from '../secrets.js';
import { type BugStore, diskFiles, openBugStore, readText } from '../store/index.js';
import { findForbiddenStatement, sqlOfCase } from '../targets/index.js';
import { notesFolder } from './notes-folder.js';

export interface FoundTemplates {
  readonly hash: string;
  /** Named after their bugs. */
  readonly templates: readonly ScheduledCase[];
}

const format = 'isolde-templates';
const version = 1;
/** More bugs than these are not varied: the last ones seen. */
const mostTemplates = 64;

/**
 * The store's bugs as a set of templates, kept for replays; undefined when there is none. A bug that cannot be read is
 * reported and left out.
 */
export async function templatesOfStore(
  place: string,
  onProblem: (why: string) => void = () => undefined,
): Promise<FoundTemplates | undefined> {
  const store = await openBugStore(place);
  const templates = await readHarmless(store, onProblem).finally(() => store.close());
  if (templates.length === 0) return undefined;
  templates.sort((a, b) => (a.case.name < b.case.name ? -1 : 1));
  const text = print(templates);
  const hash = hashOf(text);
  const path = pathOf(place, hash);
  if ((await readText(path)) === undefined) await write(path, text);
  return { hash, templates };
}

async function readHarmless(store: BugStore, onProblem: (why: string) => void): Promise<ScheduledCase[]> {
  const { bugs, problems } = await store.list();
  for (const problem of problems) onProblem(problem);
  const templates: ScheduledCase[] = [];
  for (const { id } of bugs.slice(0, mostTemplates)) {
    const bug = await store.get(id).catch((error: unknown) => {
      onProblem(errorText(error));
      return undefined;
    });
    if (bug === undefined || isServerFailure(bug.finding) || !isHarmless(bug.case)) continue;
    templates.push({ case: { ...bug.case, name: id }, schedule: { batches: bug.schedule.batches } });
  }
  return templates;
}

/** The set of a hash, as a replay line names it. */
export async function readTemplates(place: string, hash: string): Promise<FoundTemplates> {
  if (!/^[0-9a-f]{12}$/.test(hash)) {
    throw new IsoldeError(
      'usage',
      `--reuse takes the name of a set of templates (12 hexadecimal digits), not "${hash}"`,
    );
  }
  const path = pathOf(place, hash);
  const text = await readText(path);
  if (text === undefined) {
    throw new IsoldeError(
      'usage',
      `there is no set of templates ${hash} in ${hideSecrets(place)}; without it these rounds cannot be run again`,
    );
  }
  if (hashOf(text) !== hash) {
    throw new FileError(
      { file: path },
      'its text was changed: it is not the set of templates that its name says',
    );
  }
  const node = parseJson(text, path);
  checkFormat(node, format, version);
  node.object(['format', 'version', 'templates']);
  const templates = node
    .at('templates')
    .items()
    .map((each) => parseCaseFile(JSON.stringify(each.value), path));
  const harmful = templates.find(({ case: program }) => !isHarmless(program));
  if (harmful !== undefined) {
    throw new FileError(
      { file: path },
      `the SQL of ${harmful.case.name} is not on the list of harmless statements`,
    );
  }
  return { hash, templates };
}

function isHarmless(program: Case): boolean {
  return findForbiddenStatement(sqlOfCase(program), program.dialect) === undefined;
}

function print(templates: readonly ScheduledCase[]): string {
  const cases = templates.map((template) => printCaseFile(template).trimEnd());
  return `{"format": "${format}", "version": ${version}, "templates": [\n${cases.join(',\n')}\n]}\n`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function pathOf(store: string, hash: string): string {
  return join(notesFolder(store), 'templates', `${hash}.json`);
}

/** Beside first, then renamed: another hunt may write the same set at the same moment. */
async function write(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.new`;
  try {
    await diskFiles.makeFolder(join(path, '..'));
    await diskFiles.remove(beside);
    await diskFiles.write(beside, text);
    await diskFiles.rename(beside, path);
  } catch (error) {
    await diskFiles.remove(beside).catch(() => undefined);
    throw fileProblem('write', path, error);
  }
}
