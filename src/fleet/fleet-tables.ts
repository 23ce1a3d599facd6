/**
 * The tables of a fleet, beside those of the shared store, and the roles that work on them.
 *
 *     batches     what somebody submitted: one command, many jobs
 *     jobs        one row a job; `needs` is the one thing that a worker must have for it
 *     job_inputs  files that jobs read
 *     workers     who is there, since when, and when it was last heard of
 *     batch_bugs  which bugs a batch found
 *     events      what happened, for `isolde fleet logs`
 *
 * A job is leased to a worker as long as the worker is heard of: a heartbeat is one small update a worker, whatever the number of its jobs,
 * and a job's row changes only when it is taken and when it is done. `attempt` counts how often it was taken and fences off a worker
 * that comes back after its job went to another.
 *
 * `claim` takes the first job of the first of several needs, each by an index that holds ready jobs alone, and skips what others are taking
 * at the same moment: jobs for engines that nobody has do not slow down the others.
 */
import { sharedSchema, type TableSet } from '../store/index.js';

export const fleetTables: TableSet = {
  format: 'isolde-fleet',
  version: 1,
  statements: [
    `CREATE TABLE IF NOT EXISTS isolde_shared.batches (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      submission text NOT NULL UNIQUE,
      kind text NOT NULL,
      title text NOT NULL,
      created timestamptz NOT NULL DEFAULT now()
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.workers (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL,
      has text[] NOT NULL,
      slots integer NOT NULL,
      lease interval NOT NULL,
      started timestamptz NOT NULL DEFAULT now(),
      seen timestamptz NOT NULL DEFAULT now(),
      ended timestamptz
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.jobs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      batch bigint NOT NULL REFERENCES isolde_shared.batches,
      key text NOT NULL,
      kind text NOT NULL,
      needs text NOT NULL,
      payload text NOT NULL,
      state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'failed', 'cancelled')),
      worker bigint,
      attempt integer NOT NULL DEFAULT 0,
      lost integer NOT NULL DEFAULT 0,
      failures integer NOT NULL DEFAULT 0,
      result text,
      problem text,
      started timestamptz,
      finished timestamptz,
      UNIQUE (batch, key)
    )`,
    `CREATE INDEX IF NOT EXISTS jobs_ready ON isolde_shared.jobs (needs, id) WHERE state = 'ready'`,
    `CREATE INDEX IF NOT EXISTS jobs_running ON isolde_shared.jobs (worker) WHERE state = 'running'`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.job_inputs (
      job bigint PRIMARY KEY REFERENCES isolde_shared.jobs,
      name text NOT NULL,
      content bytea NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.batch_bugs (
      batch bigint NOT NULL REFERENCES isolde_shared.batches,
      bug text NOT NULL REFERENCES isolde_shared.bugs,
      jobs integer NOT NULL,
      is_new boolean NOT NULL,
      PRIMARY KEY (batch, bug)
    )`,
    `CREATE TABLE IF NOT EXISTS isolde_shared.events (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      batch bigint,
      job bigint,
      worker bigint,
      line text NOT NULL
    )`,
    'CREATE INDEX IF NOT EXISTS events_batch ON isolde_shared.events (batch, id)',
    `CREATE OR REPLACE FUNCTION isolde_shared.claim(claimant bigint, has text[])
      RETURNS SETOF isolde_shared.jobs LANGUAGE plpgsql AS $$
      DECLARE
        need text;
      BEGIN
        FOREACH need IN ARRAY has LOOP
          RETURN QUERY UPDATE isolde_shared.jobs AS taken
            SET state = 'running', worker = claimant, attempt = taken.attempt + 1, started = now()
            WHERE taken.id = (
              SELECT ready.id FROM isolde_shared.jobs AS ready
              WHERE ready.state = 'ready' AND ready.needs = need
              ORDER BY ready.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING taken.*;
          IF FOUND THEN
            RETURN;
          END IF;
        END LOOP;
      END $$`,
  ],
};

/** What each role may do; each is a line of what the code does. */
const grants: readonly (readonly [role: string, what: string])[] = [
  ['isolde_worker', `USAGE ON SCHEMA ${sharedSchema}`],
  ['isolde_worker', `SELECT ON ALL TABLES IN SCHEMA ${sharedSchema}`],
  ['isolde_worker', `EXECUTE ON FUNCTION ${sharedSchema}.claim`],
  [
    'isolde_worker',
    `UPDATE (state, worker, attempt, lost, failures, result, problem, started, finished) ON ${sharedSchema}.jobs`,
  ],
  ['isolde_worker', `INSERT (batch, key, kind, needs, payload) ON ${sharedSchema}.jobs`],
  ['isolde_worker', `INSERT ON ${sharedSchema}.workers`],
  ['isolde_worker', `UPDATE (seen, ended) ON ${sharedSchema}.workers`],
  ['isolde_worker', `INSERT, UPDATE ON ${sharedSchema}.batch_bugs`],
  ['isolde_worker', `INSERT ON ${sharedSchema}.events`],
  ['isolde_worker', `INSERT, UPDATE (record) ON ${sharedSchema}.bugs`],
  ['isolde_worker', `INSERT, UPDATE (content) ON ${sharedSchema}.bug_files`],
  ['isolde_worker', `INSERT ON ${sharedSchema}.bug_runs`],
  ['isolde_submitter', `USAGE ON SCHEMA ${sharedSchema}`],
  ['isolde_submitter', `SELECT ON ALL TABLES IN SCHEMA ${sharedSchema}`],
  ['isolde_submitter', `INSERT ON ${sharedSchema}.batches`],
  ['isolde_submitter', `INSERT (batch, key, kind, needs, payload) ON ${sharedSchema}.jobs`],
  ['isolde_submitter', `UPDATE (state, problem, finished) ON ${sharedSchema}.jobs`],
  ['isolde_submitter', `INSERT ON ${sharedSchema}.job_inputs`],
  ['isolde_submitter', `INSERT ON ${sharedSchema}.events`],
  ['isolde_submitter', `INSERT ON ${sharedSchema}.bug_runs`],
  ['isolde_keeper', `USAGE ON SCHEMA ${sharedSchema}`],
  ['isolde_keeper', `SELECT ON ALL TABLES IN SCHEMA ${sharedSchema}`],
  ['isolde_keeper', `INSERT, UPDATE (record) ON ${sharedSchema}.bugs`],
  ['isolde_keeper', `INSERT, UPDATE (content) ON ${sharedSchema}.bug_files`],
  ['isolde_keeper', `INSERT ON ${sharedSchema}.bug_runs`],
  ['isolde_keeper', `INSERT, UPDATE (since, reason), DELETE ON ${sharedSchema}.ignored`],
];

/** SQL for the owner of the tables: a role for workers, one for those who submit, one for who keeps the bugs, nothing for anybody else. */
export function roleScript(): string {
  const roles = [...new Set(grants.map(([role]) => role))];
  return [
    '-- Roles of an Isolde fleet. Run this as the owner of the tables, after isolde fleet serve has made them, and give each machine',
    "-- a login of its own:  CREATE ROLE machine1 LOGIN PASSWORD '…' IN ROLE isolde_worker;",
    ...roles.map(
      (role) => `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`,
    ),
    `REVOKE ALL ON SCHEMA ${sharedSchema} FROM PUBLIC;`,
    `REVOKE ALL ON FUNCTION ${sharedSchema}.claim FROM PUBLIC;`,
    ...grants.map(([role, what]) => `GRANT ${what} TO ${role};`),
    '',
  ].join('\n');
}
