/** The probe's matrix: anomalies down, levels across; each cell opens the run behind it. */
import { useEffect, useState } from 'preact/hooks';
import type { ProbeCellPage, ProbePage, TargetChoice } from '../src/studio/api.js';
import { get, post, useResource } from './api.js';
import { Failure, Loading } from './parts.js';
import { RunView } from './run-view.js';

interface OpenCell {
  readonly level: string;
  readonly case: string;
  readonly page?: ProbeCellPage;
}

const signs = {
  prevented: 'prevented',
  blocked: 'prevented (waits)',
  allowed: 'allowed',
  unknown: 'unknown',
};

export function Probe() {
  const page = useResource<ProbePage>('probe', ['probe']);
  const targets = useResource<readonly TargetChoice[]>('targets');
  const [failure, setFailure] = useState<string>();
  const [cell, setCell] = useState<OpenCell>();
  useEffect(() => {
    document.title = 'Probe · Isolde studio';
  }, []);
  const { value } = page;
  if (value === undefined) return <Loading of={page} />;
  const running = value.state === 'running';
  const act = (path: string, body: unknown = {}) => {
    setFailure(undefined);
    setCell(undefined);
    post<ProbePage>(path, body).then(page.set, (error: Error) => setFailure(error.message));
  };
  const open = (level: string, name: string) => {
    setCell({ level, case: name });
    get<ProbeCellPage>(`probe/cell/${encodeURIComponent(level)}/${encodeURIComponent(name)}`).then(
      (opened) => setCell({ level, case: name, page: opened }),
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      <h1>Probe</h1>
      <form
        class="card filters"
        onSubmit={(event) => {
          event.preventDefault();
          act('probe/start', { target: String(new FormData(event.currentTarget).get('target')) });
        }}
      >
        <select name="target" aria-label="database" disabled={running}>
          {(targets.value ?? []).map(({ id, title, url }) => (
            <option key={id} value={id}>
              {title} ({url})
            </option>
          ))}
        </select>
        <button type="submit" class="primary" disabled={running}>
          Probe it
        </button>
        {running && (
          <button type="button" onClick={() => act('probe/stop')}>
            Stop
          </button>
        )}
        <span role="status">{describe(value)}</span>
      </form>
      <Failure text={failure ?? value.failure} />
      {value.levels.length > 0 && <Matrix page={value} cell={cell} open={open} />}
      {cell !== undefined && (
        <section aria-label="cell">
          <h2>
            {cell.case}, {cell.level}: {reasonOf(value, cell)}
          </h2>
          {cell.page !== undefined && (
            <RunView key={`${cell.level} ${cell.case}`} run={cell.page.run} setup={cell.page.setup} />
          )}
        </section>
      )}
    </>
  );
}

function describe({ state, progress, name }: ProbePage): string {
  if (progress !== undefined) return `${progress.done} of ${progress.total}: ${progress.what}`;
  return { never: 'what does each level of a database allow?', running: 'starting …', done: name ?? 'done' }[
    state
  ];
}

function reasonOf({ levels }: ProbePage, cell: OpenCell): string {
  return (
    levels.find(({ level }) => level === cell.level)?.cells.find((each) => each.case === cell.case)?.reason ??
    ''
  );
}

interface MatrixProps {
  readonly page: ProbePage;
  readonly cell: OpenCell | undefined;
  readonly open: (level: string, name: string) => void;
}

function Matrix({ page, cell, open }: MatrixProps) {
  return (
    <section class="card scroll" tabIndex={0} aria-label="matrix">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">anomaly</th>
            {page.levels.map(({ level, contract }) => (
              <th key={level} scope="col" title={contract}>
                {level}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {page.cases.map(({ id, title, anomaly }) => (
            <tr key={id}>
              <th scope="row">
                {anomaly} <small class="quiet">{title}</small>
              </th>
              {page.levels.map(({ level, cells }) => {
                const found = cells.find((each) => each.case === id);
                if (found === undefined) return <td key={level}>–</td>;
                return (
                  <td key={level}>
                    <button
                      type="button"
                      class={`cell cell-${found.violation ? 'violation' : found.verdict}`}
                      aria-current={cell?.level === level && cell.case === id ? 'true' : undefined}
                      aria-label={`${signs[found.verdict]}${found.violation ? ', a violation' : ''}: ${anomaly}, ${id}, ${level}`}
                      title={found.reason}
                      onClick={() => open(level, id)}
                    >
                      {signs[found.verdict]}
                      {found.violation && ', a violation'}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
