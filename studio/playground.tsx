/** The playground: paste a report or write a schedule, choose databases, run, and compare what they did. */
import { useEffect, useState } from 'preact/hooks';
import type { ComparedAnswer, PlayedRun, PlayPage, ShrinkPage, TargetChoice } from '../src/studio/api.js';
import { post, useResource } from './api.js';
import { Arrangement } from './arrangement.js';
import { Failure, Label, Phrase, Section } from './parts.js';
import { linkTo } from './route.js';
import { RunView } from './run-view.js';
import { Sql } from './sql.js';

const example = `-- T1 deletes a row that T2 has seen; T2 then updates it.
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T2: BEGIN;
T2: SELECT * FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
T1: SELECT * FROM t;
`;

/** What was written outlives a look at another view. */
const kept: { script: string; chosen: readonly string[]; page: PlayPage | undefined } = {
  script: example,
  chosen: [],
  page: undefined,
};

export function Playground() {
  const targets = useResource<readonly TargetChoice[]>('targets');
  const [script, setScript] = useState(kept.script);
  const [chosen, setChosen] = useState(kept.chosen);
  const [page, setPage] = useState(kept.page);
  const [running, setRunning] = useState(false);
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    document.title = 'Playground · Isolde studio';
  }, []);
  useEffect(() => {
    Object.assign(kept, { script, chosen, page });
  }, [script, chosen, page]);
  const choices = targets.value ?? [];
  const used = chosen.length === 0 ? choices.slice(0, 1).map(({ id }) => id) : chosen;
  const run = () => {
    setRunning(true);
    setFailure(undefined);
    post<PlayPage>('run', { script, targets: used })
      .then(setPage, (error: Error) => setFailure(error.message))
      .finally(() => setRunning(false));
  };
  return (
    <>
      <h1>Playground</h1>
      <section class="card" aria-label="case">
        <label class="field">
          <span>
            Set-up, then lines <code>SESSION: statement;</code> in the order they are sent. Tables of bug
            reports work, too.
          </span>
          <textarea
            rows={12}
            spellcheck={false}
            value={script}
            onInput={(event) => setScript(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
            }}
          />
        </label>
        <Targets choices={choices} used={used} choose={setChosen} />
        <button type="button" class="primary" disabled={running || used.length === 0} onClick={run}>
          {running ? 'running …' : 'Run and judge'}
        </button>
      </section>
      <Arrangement script={script} change={setScript} run={run} busy={running} fail={setFailure} />
      <Failure text={failure} />
      <div role="status">
        {page?.runs.map((each) => (
          <p key={each.target}>{oneLine(each)}</p>
        ))}
      </div>
      {page !== undefined && <Compared page={page} />}
      {page?.runs.map((each) => (
        <Played
          key={each.target}
          run={each}
          shrink={() => {
            setFailure(undefined);
            const target = choices.find(({ url }) => url === each.target)?.id ?? '0';
            startShrinking(script, target).catch((error: Error) => setFailure(error.message));
          }}
        />
      ))}
    </>
  );
}

async function startShrinking(script: string, target: string): Promise<void> {
  const { id } = await post<ShrinkPage>('shrink', { script, target });
  location.assign(linkTo('shrink', id));
}

interface TargetsProps {
  readonly choices: readonly TargetChoice[];
  readonly used: readonly string[];
  readonly choose: (ids: readonly string[]) => void;
}

/** The databases to run on. */
function Targets({ choices, used, choose }: TargetsProps) {
  return (
    <fieldset class="targets">
      <legend>on</legend>
      {choices.map(({ id, title, url }) => (
        <label key={id} class="check" title={url}>
          <input
            type="checkbox"
            checked={used.includes(id)}
            onChange={(event) =>
              choose(event.currentTarget.checked ? [...used, id] : used.filter((each) => each !== id))
            }
          />
          {title} <code class="quiet">{url}</code>
        </label>
      ))}
    </fieldset>
  );
}

const verdicts = {
  kept: 'keeps its contract',
  broken: 'breaks its contract',
  undecided: 'could not be decided',
};

function oneLine(run: PlayedRun): string {
  return 'failure' in run
    ? `${run.target} could not run it`
    : `${run.name}, ${run.level}: ${verdicts[run.verdict]}`;
}

/** One column for each database; answers that differ are marked. */
function Compared({ page: { runs, compared } }: { readonly page: PlayPage }) {
  if (compared.length === 0) return null;
  const names = runs.flatMap((run) => ('failure' in run ? [] : [`${run.name}, ${run.level}`]));
  const differing = compared.filter(({ differs }) => differs).length;
  return (
    <Section title="Side by side">
      <p>
        {differing === 0 ? 'All answers are the same.' : `${differing} of ${compared.length} answers differ.`}
      </p>
      <section class="scroll" tabIndex={0} aria-label="answers side by side">
        <table class="side-by-side">
          <thead>
            <tr>
              <th scope="col">session</th>
              <th scope="col">statement</th>
              {names.map((name, i) => (
                <th key={i} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {compared.map(({ session, sql, answers, differs }, i) => (
              <tr key={i} class={differs ? 'differs' : ''}>
                <td>{session}</td>
                <td>
                  <Sql text={sql} /> {differs && <span class="pill outcome-changed">differs</span>}
                </td>
                {answers.map((answer, j) => (
                  <td key={j}>
                    <Answer answer={answer} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Section>
  );
}

function Answer({ answer }: { readonly answer: ComparedAnswer | undefined }) {
  if (answer === undefined) return <span class="quiet">not sent</span>;
  return (
    <>
      {answer.waited && <span class="quiet">waited </span>}
      <code class={answer.failed ? 'result error' : 'result'}>{answer.text}</code>
    </>
  );
}

function Played({ run, shrink }: { readonly run: PlayedRun; readonly shrink: () => void }) {
  if ('failure' in run)
    return (
      <section class="played" aria-label={run.target}>
        <h2>{run.target}</h2>
        <Failure text={run.failure} />
      </section>
    );
  return (
    <section class="played" aria-label={run.name}>
      <h2>
        {run.name}, {run.level} <span class={`pill verdict-${run.verdict}`}>{verdicts[run.verdict]}</span>{' '}
        <small class="quiet">{run.contract}</small>
      </h2>
      {run.unknownReasons.map((why) => (
        <p key={why} class="quiet">
          not decided: {why}
        </p>
      ))}
      {run.findings.map(({ title, label, claim, argument }, i) => (
        <details key={i} class="card" open={i === 0}>
          <summary>
            {title} <Label label={label}>{claim}</Label>
          </summary>
          <ol class="argument">
            {argument.map((parts, j) => (
              <li key={j}>
                <Phrase parts={parts} sessions={run.run.sessions} />
              </li>
            ))}
          </ol>
          {i === 0 && (
            <button type="button" onClick={shrink}>
              Shrink it together
            </button>
          )}
        </details>
      ))}
      <RunView run={run.run} setup={run.setup} />
    </section>
  );
}
