/** One bug: what happened, on one screen; then the debugger, why it is wrong, and how to see it elsewhere. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { BugPage } from '../src/studio/api.js';
import { isExport, useResource } from './api.js';
import { Label, Loading, Phrase, Section, Source, Time } from './parts.js';
import { linkTo, type Route } from './route.js';
import { RunView } from './run-view.js';
import { Sql } from './sql.js';

export function Bug({ route }: { readonly route: Route }) {
  const page = useResource<BugPage>(`bugs/${encodeURIComponent(route.id)}`, ['bugs']);
  const { value } = page;
  useEffect(() => {
    if (value !== undefined) document.title = `${value.report.title} · Isolde studio`;
  }, [value]);
  if (value === undefined) return <Loading of={page} />;
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('bugs')}>Bugs</a> / {value.id}
      </p>
      <BugArticle page={value}>
        {!isExport && (
          <p>
            <a class="button" href={`#/shrink?bug=${encodeURIComponent(value.id)}`}>
              Shrink it together
            </a>
          </p>
        )}
      </BugArticle>
      {!isExport && (
        <p class="quiet">
          Everything here is in the bug’s folder, too: report.md, report.html and exports to file it with.
        </p>
      )}
    </>
  );
}

/** All of a bug: a view of the studio, and, alone on its page, `report.html`. */
export function BugArticle({
  page: { report, run },
  children,
}: {
  readonly page: BugPage;
  readonly children?: ComponentChildren;
}) {
  const { sessions } = run;
  return (
    <article class="bug-page">
      <h1>{report.title}</h1>
      <p class="standing">
        <Label label={report.label}>{report.standing}</Label>
      </p>
      <Summary report={report} sessions={sessions} />
      {report.known !== undefined && <Known known={report.known} />}
      {children}
      <RunView run={run} setup={report.setup}>
        <Comparisons list={report.comparisons} />
      </RunView>
      <Argument report={report} sessions={sessions} />
      <Access rows={report.access} by={report.accessBy ?? ''} />
      <Versions report={report} />
      <Section title="To reproduce">
        <p>Save this as repro.sql, then run and judge it:</p>
        <pre class="code" tabIndex={0}>
          <Sql text={report.reproduction.script} />
        </pre>
        <pre class="code" tabIndex={0}>
          {report.reproduction.command}
        </pre>
        {report.reproduction.standalone !== undefined && (
          <>
            <p>
              Or without Isolde, by the attached {report.reproduction.standalone.file}, which needs Node 20
              and: {report.reproduction.standalone.needs}
            </p>
            <pre class="code" tabIndex={0}>
              {report.reproduction.standalone.command}
            </pre>
          </>
        )}
      </Section>
      <details class="card">
        <summary>Details</summary>
        <dl>
          {report.details.map(({ label, value: text }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
          {report.reproduction.hunt !== undefined && (
            <div>
              <dt>Found by</dt>
              <dd>
                <code>{report.reproduction.hunt}</code>
              </dd>
            </div>
          )}
        </dl>
        <pre class="code" tabIndex={0}>
          {report.behaviour}
        </pre>
      </details>
    </article>
  );
}

interface ReportPart {
  readonly report: BugPage['report'];
  readonly sessions: BugPage['run']['sessions'];
}

function Summary({ report, sessions }: ReportPart) {
  return (
    <p class="summary">
      {report.summary.map((parts, i) => (
        <span key={i}>
          <Phrase parts={parts} sessions={sessions} />{' '}
        </span>
      ))}
    </p>
  );
}

function Argument({ report, sessions }: ReportPart) {
  return (
    <Section title="Why this is wrong">
      <ol class="argument">
        {report.argument.map((parts, i) => (
          <li key={i}>
            <Phrase parts={parts} sessions={sessions} />
          </li>
        ))}
      </ol>
      {report.assumes.map((text) => (
        <p key={text}>Assumes: {text}</p>
      ))}
      {report.sources.length > 0 && (
        <ul>
          {report.sources.map(({ title, url }) => (
            <li key={url}>
              <Source title={title} url={url} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Known({ known }: { readonly known: NonNullable<BugPage['report']['known']> }) {
  const words = { duplicate: 'Known as', undecided: 'Perhaps known as', unique: 'Not known' }[known.verdict];
  return (
    <p class="known-line">
      {words}{' '}
      {known.reports.map(({ name, url }, i) => (
        <span key={name}>
          {i > 0 && ', '}
          <Source title={name} url={url ?? ''} />
        </span>
      ))}{' '}
      <span class="quiet">({known.why})</span>
    </p>
  );
}

function Comparisons({ list }: { readonly list: BugPage['report']['comparisons'] }) {
  if (list.length === 0) return null;
  return (
    <Section title="Expected and actual">
      <section class="scroll" tabIndex={0} aria-label="expected and actual">
        <table class="comparison stack">
          <thead>
            <tr>
              <th scope="col">transaction</th>
              <th scope="col">statement</th>
              <th scope="col">actual</th>
              <th scope="col">expected</th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ transaction, statement, actual, expected }, i) => (
              <tr key={i}>
                <td data-head="transaction">{transaction}</td>
                <td data-head="statement">
                  <Sql text={statement} />
                </td>
                <td class="actual" data-head="actual">
                  <code>{actual}</code>
                </td>
                <td class="expected" data-head="expected">
                  <code>{expected}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Section>
  );
}

/** For each operation what it met, and what its contract lets it meet. */
function Access({ rows, by }: { readonly rows: BugPage['report']['access']; readonly by: string }) {
  if (rows.length === 0) return null;
  return (
    <Section title="Expected access">
      <p class="quiet">What each statement met, and what {by} lets it meet.</p>
      <section class="scroll" tabIndex={0} aria-label="expected access">
        <table class="access stack">
          <thead>
            <tr>
              {['#', 'transaction', 'statement', 'sees', 'row', 'actual', 'expected'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ operation, transaction, statement, sees, row, actual, expected, wrong }, i) => {
              // What an operation says of several rows is said once.
              const again = rows[i - 1]?.operation === operation;
              return (
                <tr key={i} class={wrong ? 'wrong' : again ? 'again' : ''}>
                  <td data-head="#">{again ? '' : operation}</td>
                  <td data-head="transaction">{again ? '' : transaction}</td>
                  <td data-head="statement">{again ? '' : <Sql text={statement} />}</td>
                  <td data-head="sees">{again ? '' : sees}</td>
                  <td data-head="row">
                    <code>{row}</code>
                  </td>
                  <td class={wrong ? 'actual' : ''} data-head="actual">
                    <code>{actual}</code>
                    {wrong && <span class="pill label-breaks-manual">wrong</span>}
                  </td>
                  <td class={wrong ? 'expected' : ''} data-head="expected">
                    <code>{expected}</code>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </Section>
  );
}

const outcomes = {
  alive: 'shows it',
  fixed: 'does not show it',
  changed: 'shows something else',
  'not-run': 'could not be run',
};

type Tried = BugPage['report']['versions'][number];

/** Where else it was tried: versions down, settings across. */
function Versions({ report: { versions } }: { readonly report: BugPage['report'] }) {
  const settings = [...new Set(versions.map(settingsOf))];
  const engines = [...new Set(versions.map(({ target }) => JSON.stringify([target.name, target.version])))];
  const cell = (engine: string, setting: string): Tried | undefined =>
    versions.findLast(
      (tried) =>
        JSON.stringify([tried.target.name, tried.target.version]) === engine && settingsOf(tried) === setting,
    );
  return (
    <Section title="Versions and settings tried">
      <section class="scroll" tabIndex={0} aria-label="versions and settings tried">
        <table class="tried">
          <thead>
            <tr>
              <th scope="col">version</th>
              {settings.map((setting) => (
                <th key={setting} scope="col">
                  {setting === '' ? 'default settings' : setting}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {engines.map((engine) => (
              <tr key={engine}>
                <th scope="row">{(JSON.parse(engine) as string[]).join(' ')}</th>
                {settings.map((setting) => (
                  <td key={setting}>
                    <TriedCell tried={cell(engine, setting)} />
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

function settingsOf({ target }: Tried): string {
  return Object.entries(target.settings ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

function TriedCell({ tried }: { readonly tried: Tried | undefined }) {
  if (tried === undefined) return <span class="quiet">not tried</span>;
  const { outcome, shown, runs, at } = tried;
  return (
    <>
      <span class={`pill outcome-${outcome}`}>{outcomes[outcome]}</span>{' '}
      <span class="quiet">
        {shown} of {runs} runs, <Time at={at} />
      </span>
    </>
  );
}
