/** A hunt, started and stopped here, with how it goes. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Counted, HuntCoverage, HuntPage, HuntSample, TargetChoice } from '../src/studio/api.js';
import { post, useResource } from './api.js';
import { Chart } from './chart.js';
import { Failure, Loading } from './parts.js';
import { linkTo } from './route.js';

export function Hunt() {
  const page = useResource<HuntPage>('hunt', ['hunt']);
  const targets = useResource<readonly TargetChoice[]>('targets');
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    document.title = 'Hunt · Isolde studio';
  }, []);
  const { value } = page;
  if (value === undefined) return <Loading of={page} />;
  const running = value.state === 'running' || value.state === 'stopping';
  const act = (path: string, body: unknown = {}) => {
    setFailure(undefined);
    post<HuntPage>(path, body).then(page.set, (error: Error) => setFailure(error.message));
  };
  return (
    <>
      <h1>Hunt</h1>
      <form
        class="card filters"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const text = (name: string) => String(data.get(name) ?? '') || undefined;
          act('hunt/start', {
            target: text('target'),
            profile: text('profile'),
            level: text('level'),
            seed: text('seed'),
          });
        }}
      >
        <select name="target" aria-label="database" disabled={running}>
          {(targets.value ?? []).map(({ id, title, url }) => (
            <option key={id} value={id}>
              {title} ({url})
            </option>
          ))}
        </select>
        <select name="profile" aria-label="workload" disabled={running}>
          <option value="">all workloads</option>
          {value.profiles.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select name="level" aria-label="level" disabled={running}>
          <option value="">its default level</option>
          {value.levels.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
        <label class="check">
          seed <input name="seed" size={6} defaultValue="1" disabled={running} />
        </label>
        <button type="submit" class="primary" disabled={running}>
          Start
        </button>
        <button type="button" disabled={value.state !== 'running'} onClick={() => act('hunt/stop')}>
          Stop
        </button>
        <span role="status">{states[value.state]}</span>
      </form>
      <Failure text={failure ?? value.failure} />
      {value.state !== 'never' && <Progress page={value} />}
    </>
  );
}

const states = { never: 'no hunt yet', running: 'running', stopping: 'stopping …', done: 'ended' };

function Progress({ page }: { readonly page: HuntPage }) {
  const { counters, samples, bugs, log } = page;
  const share = (part: number, of: number) => `${part} (${Math.round((100 * part) / Math.max(1, of))} %)`;
  const facts: readonly (readonly [string, string | number])[] = [
    ['rounds', counters.rounds],
    ['rounds/s', (counters.rounds / Math.max(0.001, counters.seconds)).toFixed(1)],
    ['transactions', counters.transactions],
    ['statements', counters.statements],
    ['with conflicts', share(counters.conflicts, counters.rounds)],
    ['waited or refused', share(counters.clashes, counters.rounds)],
    ['findings', counters.raw],
    ['confirmed', counters.confirmed],
    ['not confirmed', counters.unconfirmed],
    ['bugs', bugs.length],
  ];
  return (
    <>
      <dl class="counters card">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Charts samples={samples} />
      <BugsOfHunt bugs={bugs} />
      <Coverage coverage={page.coverage} />
      <details class="card">
        <summary>Log</summary>
        <ul class="log">
          {log.map((text, i) => (
            <li key={i}>{text}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Charts({ samples }: Pick<HuntPage, 'samples'>) {
  const seconds = useMemo(() => samples.map(([at]) => at), [samples]);
  const rounds = useMemo(
    () => [{ name: 'rounds per second', color: '--s0', values: samples.map((_, i) => rateAt(samples, i)) }],
    [samples],
  );
  const found = useMemo(
    () => [
      { name: 'findings', color: '--s0', values: samples.map((sample) => sample[3]) },
      { name: 'bugs', color: '--bad', values: samples.map((sample) => sample[4]) },
    ],
    [samples],
  );
  const conflicts = useMemo(
    () => [
      {
        name: 'rounds with a conflict, %',
        color: '--s2',
        values: samples.map(([, all, some]) => Math.round((100 * some) / Math.max(1, all))),
      },
    ],
    [samples],
  );
  return (
    <div class="charts">
      <section class="card" aria-label="speed">
        <Chart title="Rounds per second" seconds={seconds} series={rounds} />
      </section>
      <section class="card" aria-label="conflicts">
        <Chart title="Rounds with a conflict" seconds={seconds} series={conflicts} />
      </section>
      <section class="card" aria-label="findings over time">
        <Chart title="Findings over time" seconds={seconds} series={found} />
      </section>
    </div>
  );
}

function BugsOfHunt({ bugs }: Pick<HuntPage, 'bugs'>) {
  return (
    <section class="card" aria-label="bugs of this hunt">
      <h2>Bugs of this hunt</h2>
      {bugs.length === 0 && <p class="quiet">None yet.</p>}
      <ul>
        {bugs.map(({ id, title, seconds: at, isNew }, i) => (
          <li key={i}>
            <a href={linkTo('bug', id)}>{title}</a>{' '}
            <span class="quiet">
              after {at.toFixed(0)} s{isNew ? '' : ', known to the store'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What was sent and answered, in tables. */
function Coverage({ coverage }: { readonly coverage: HuntCoverage }) {
  const { statements, sources, levels, oracles, orders, errors } = coverage;
  return (
    <section class="card" aria-label="what the generator covered">
      <h2>What the generator covered</h2>
      <div class="coverage">
        <table>
          <thead>
            <tr>
              <th scope="col">statements</th>
              <th scope="col">sent</th>
              <th scope="col">failed</th>
              <th scope="col">waited</th>
            </tr>
          </thead>
          <tbody>
            {statements.map(({ name, count, failed, waited }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{count}</td>
                <td>{failed}</td>
                <td>{waited}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <CountTable title="programs from" list={sources} of="rounds" />
        <CountTable title="errors" list={errors} of="statements" />
        <div>
          <CountTable title="levels" list={levels} of="rounds" />
          <CountTable title="judged by" list={oracles} of="rounds" />
          <CountTable title="order" list={orders} of="rounds" />
        </div>
      </div>
    </section>
  );
}

function CountTable({
  title,
  list,
  of,
}: {
  readonly title: string;
  readonly list: readonly Counted[];
  readonly of: string;
}) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">{of}</th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ name, count }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Over the last few samples: single seconds jump. */
function rateAt(samples: readonly HuntSample[], at: number): number {
  const [before, now] = [samples[Math.max(0, at - 5)]!, samples[at]!];
  const seconds = now[0] - before[0];
  return seconds <= 0
    ? Math.round(now[1] / Math.max(0.5, now[0]))
    : Math.round((10 * (now[1] - before[1])) / seconds) / 10;
}
