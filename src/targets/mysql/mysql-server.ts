/**
 * A server we are connected to: which engine it is, how connections to it are made, and the *monitor*, one
 * connection kept aside for KILL and for asking who waits, so that neither ever queues behind a reset.
 *
 * On a private server only the monitor is root. Everything a case wrote, set-up and the data put back included, runs as a user
 * with rights on the databases of its scratches and nothing else, so the server itself refuses files, accounts and other databases. What is
 * left to such a user, its own password and prepared transactions that outlive their session, is undone when it is in the way.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../../errors.js';
import type { SessionOptions, TargetReach } from '../target.js';
import { isConnectionError, type MysqlError } from './mysql-errors.js';
import { flavorOf, isolationSettings, type MysqlFlavor } from './mysql-flavor.js';
import { reachOfGrants } from './mysql-reach.js';
import { type MysqlAddress, setVariable, showAddress } from './mysql-url.js';
import { type ConnectOptions, type Reply, serverAnswers, WireConnection } from './mysql-wire.js';

export interface ServerOptions {
  readonly address: MysqlAddress;
  readonly variables: Readonly<Record<string, string>>;
  /** We started it for ourselves: nobody else's data is on it, and global variables were given at its start. */
  readonly isPrivate: boolean;
  readonly connectTimeoutMs?: number | undefined;
  /** The login that runs the SQL of cases on a private server; default: a new one. */
  readonly caseLogin?: CaseLogin & {
    /** Another node of the cluster has created it. */ readonly exists: boolean;
  };
}

export interface CaseLogin {
  readonly user: string;
  readonly password: string;
}

export function newCaseLogin(): CaseLogin {
  return { user: 'isolde_case', password: randomBytes(18).toString('base64url') };
}

/** How long a node may take to learn of a user that another one has created. */
const userLimitMs = 30_000;
/** How long a reset waits for locks that somebody holds in the scratch. */
const controlLockSeconds = 2;
/** The variable is global, or read-only. */
const globalOnly: ReadonlySet<number | undefined> = new Set([1229, 1238]);
/** … or only an administrator may change it. */
const notForSessions: ReadonlySet<number | undefined> = new Set([...globalOnly, 1227]);

export class MysqlServer {
  readonly isPrivate: boolean;
  #options: ServerOptions;
  /** The login that runs the SQL of cases. */
  #cases: MysqlAddress;
  #monitor: WireConnection;
  #sessionVariables: readonly string[] = [];
  #settings: Record<string, string> = {};
  #version = '';
  #flavor: MysqlFlavor = flavorOf('');

  private constructor(options: ServerOptions, monitor: WireConnection) {
    this.#options = options;
    this.#cases = options.address;
    this.#monitor = monitor;
    this.isPrivate = options.isPrivate;
  }

  static async connect(options: ServerOptions): Promise<MysqlServer> {
    const { address, connectTimeoutMs } = options;
    const monitor = await WireConnection.open(address, { connectTimeoutMs }).catch((error) => {
      throw connectError(error, address);
    });
    const server = new MysqlServer(options, monitor);
    try {
      await server.#learn();
    } catch (error) {
      await monitor.quit();
      throw error;
    }
    return server;
  }

  get version(): string {
    return this.#version;
  }

  get flavor(): MysqlFlavor {
    return this.#flavor;
  }

  /** Variables that matter to isolation, as sessions will have them. */
  get settings(): Readonly<Record<string, string>> {
    return this.#settings;
  }

  get hasDatabaseComments(): boolean {
    return this.#flavor.hasDatabaseComments(this.#version);
  }

  /** Sends a statement on the monitor, reconnecting when the server had closed it (`wait_timeout`). */
  async askMonitor(sql: string): Promise<Reply> {
    if (this.#monitor.lost) {
      try {
        this.#monitor = await this.#open(this.#options.address, {});
      } catch (error) {
        return { error: { code: 'LOST', message: (error as Error).message } };
      }
    }
    return this.#monitor.query(sql);
  }

  /** Sends a statement on a connection of its own, which ends with it. */
  async askApart(sql: string): Promise<Reply> {
    const wire = await this.#open(this.#options.address, {});
    try {
      return await wire.query(sql);
    } finally {
      await wire.quit();
    }
  }

  async kill(what: 'QUERY' | 'CONNECTION', id: number): Promise<void> {
    // An error means that the connection is gone already.
    await this.askMonitor(this.#flavor.kill(what, id));
  }

  async waiting(candidates: readonly number[]): Promise<ReadonlySet<number>> {
    if (this.#monitor.lost) await this.askMonitor('DO 0');
    return this.#flavor.waiting(this.#monitor, candidates);
  }

  async isDown(): Promise<boolean> {
    return !(await serverAnswers(this.#options.address));
  }

  async openSession(
    database: string,
    options: SessionOptions,
  ): Promise<{ readonly wire: WireConnection; readonly id: number }> {
    const wire = await this.#openForCases({ database });
    await this.#prepare(wire, [
      ...this.#flavor.sessionSetup(options, this.#settings),
      ...this.#sessionVariables,
    ]);
    if (!this.#flavor.asksConnectionId) return { wire, id: wire.id };
    const { rows } = await wire.query('SELECT CONNECTION_ID()');
    return { wire, id: Number(rows?.[0]?.[0]?.toString() ?? wire.id) };
  }

  /** A connection for building and restoring: the user's variables, and short patience with locks. */
  async openControl(database: string | undefined, options: ConnectOptions): Promise<WireConnection> {
    const wire = await this.#openForCases({ ...options, database });
    await this.#prepare(wire, [
      `SET SESSION time_zone = '+00:00', innodb_lock_wait_timeout = ${controlLockSeconds}, ` +
        `lock_wait_timeout = ${controlLockSeconds}`,
      ...this.#sessionVariables,
    ]);
    return wire;
  }

  /** What the login of the URL may write besides `isolde_…` databases. */
  async reach(): Promise<TargetReach> {
    const granted: string[] = [];
    const own = await this.askMonitor('SHOW GRANTS');
    // Rights that MariaDB gives to everybody; other servers do not know the word.
    const everybody = await this.askMonitor('SHOW GRANTS FOR PUBLIC');
    for (const { rows } of [own, everybody]) {
      for (const row of rows ?? []) granted.push(row[0]?.toString() ?? '');
    }
    return reachOfGrants(own.error === undefined ? granted : undefined, this.#options.address.user);
  }

  /** On a private server: lets cases use this database, or no longer. */
  async permit(database: string, what: 'GRANT' | 'REVOKE'): Promise<MysqlError | undefined> {
    if (!this.isPrivate) return undefined;
    const place = `\`${database.replaceAll('_', '\\_')}\`.*`;
    const whom = `${what === 'GRANT' ? 'TO' : 'FROM'} ${this.#cases.user}@localhost`;
    return (await this.askMonitor(`${what} ALL ON ${place} ${whom}`)).error;
  }

  /** On a private server: ends transactions that were prepared and left; true if there were any. */
  async rollBackPrepared(): Promise<boolean> {
    if (!this.isPrivate) return false;
    const { rows = [] } = await this.askMonitor('XA RECOVER');
    for (const row of rows) {
      const [format, length, , data] = row.map((cell) => Buffer.from(cell ?? ''));
      const [global, branch] = [data!.subarray(0, Number(length)), data!.subarray(Number(length))];
      const id = `X'${global.toString('hex')}', X'${branch.toString('hex')}', ${Number(format)}`;
      await this.askMonitor(`XA ROLLBACK ${id}`);
    }
    return rows.length > 0;
  }

  /** Why a scratch database could not be created. */
  scratchError(error: MysqlError): IsoldeError {
    const { address } = this.#options;
    if (error.errno === 1044 || error.errno === 1142 || error.errno === 1227) {
      return new IsoldeError(
        'connect',
        `${showAddress(address)} may not create databases. Isolde works in databases of its own, named isolde_…: ` +
          `GRANT ALL ON \`isolde\\_%\`.* TO '${address.user}'@'…'; (${error.message})`,
      );
    }
    return new IsoldeError('target', `No scratch database on ${showAddress(address)}: ${error.message}`);
  }

  async close(): Promise<void> {
    await this.#monitor.quit();
  }

  async #open(address: MysqlAddress, options: ConnectOptions): Promise<WireConnection> {
    const { connectTimeoutMs } = this.#options;
    return WireConnection.open(address, { ...options, connectTimeoutMs }).catch((error) => {
      throw connectError(error, address);
    });
  }

  /** Whoever may log in may change his password; on a private server it is then what it was. */
  async #openForCases(options: ConnectOptions): Promise<WireConnection> {
    return this.#open(this.#cases, options).catch(async (refused: IsoldeError) => {
      if (!this.isPrivate || !isWrongPassword(refused)) throw refused;
      const { user, password } = this.#cases;
      const { error } = await this.askMonitor(`ALTER USER ${user}@localhost IDENTIFIED BY '${password}'`);
      if (error !== undefined) throw refused;
      return this.#open(this.#cases, options);
    });
  }

  async #prepare(wire: WireConnection, statements: readonly string[]): Promise<void> {
    for (const sql of statements) {
      const { error } = await wire.query(sql);
      if (error === undefined) continue;
      wire.destroy();
      throw new IsoldeError('target', `A new session refuses "${sql}": ${error.message}`);
    }
  }

  /** May log in. What it may do is granted with every scratch. */
  async #createCaseUser(): Promise<void> {
    const { exists, ...login } = this.#options.caseLogin ?? { ...newCaseLogin(), exists: false };
    const account = `${login.user}@localhost`;
    const { error } = exists
      ? await this.#awaitUser(account)
      : await this.askMonitor(`CREATE USER ${account} IDENTIFIED BY '${login.password}'`);
    if (error !== undefined) throw new IsoldeError('target', `No user for cases: ${error.message}`);
    this.#cases = { ...this.#options.address, ...login };
  }

  /** A node that has just joined answers before it has caught up with the node that created the user. */
  async #awaitUser(account: string): Promise<Reply> {
    const deadline = performance.now() + userLimitMs;
    for (;;) {
      const reply = await this.askMonitor(`SHOW CREATE USER ${account}`);
      if (reply.error === undefined || performance.now() > deadline) return reply;
      await delay(10);
    }
  }

  /** The statements that give a session the URL's variables, tried with the rights a session has. */
  async #acceptedVariables(): Promise<readonly string[]> {
    const variables = Object.entries(this.#options.variables);
    if (variables.length === 0) return [];
    const accepted: string[] = [];
    const session = await this.#open(this.#cases, {});
    for (const [name, value] of variables) {
      const sql = setVariable(name, value);
      const { error } = await session.query(sql);
      if (error === undefined) accepted.push(sql);
      // A private server was started with it.
      else if (!(this.isPrivate && notForSessions.has(error.errno))) {
        await session.quit();
        throw variableError(name, value, error);
      }
    }
    await session.quit();
    return accepted;
  }

  async #learn(): Promise<void> {
    const { rows, error } = await this.askMonitor('SELECT VERSION()');
    if (error !== undefined) throw new IsoldeError('connect', `The server does not answer: ${error.message}`);
    this.#version = rows?.[0]?.[0]?.toString() ?? 'unknown';
    this.#flavor = flavorOf(this.#version);
    if (this.isPrivate) await this.#createCaseUser();
    this.#sessionVariables = await this.#acceptedVariables();
    // So that the values shown next are those that sessions have.
    for (const sql of this.#sessionVariables) await this.askMonitor(sql);
    const names = [...new Set([...isolationSettings, ...Object.keys(this.#options.variables)])];
    const list = names.map((name) => `'${name}'`).join(', ');
    const shown = await this.askMonitor(`SHOW VARIABLES WHERE Variable_name IN (${list})`);
    for (const row of shown.rows ?? []) {
      this.#settings[row[0]!.toString().toLowerCase()] = row[1]?.toString() ?? '';
    }
    if (
      this.#flavor.name !== 'tidb' &&
      (await this.askMonitor('SHOW ENGINE INNODB STATUS')).error !== undefined
    ) {
      this.#settings.isolde_block_detection = 'estimated: the user lacks the PROCESS privilege';
    }
  }
}

const wrongPassword = 1045;

function isWrongPassword({ cause }: IsoldeError): boolean {
  return (cause as MysqlError | undefined)?.errno === wrongPassword;
}

/** A failed connection in words; the password is in none of them. */
export function connectError(error: MysqlError, address: MysqlAddress): IsoldeError {
  if (error instanceof IsoldeError) return error;
  const where = address.socket ?? `${address.host}:${address.port}`;
  const options = { cause: error };
  const text = error.message || error.code || 'no reason given';
  switch (error.errno) {
    case wrongPassword:
    case 1698:
      return new IsoldeError(
        'connect',
        `The server at ${where} refuses user "${address.user}" ` +
          `(${address.password === undefined ? 'no password given' : 'wrong password, or no such user'}): ${text}`,
        options,
      );
    case 1044:
    case 1049:
      return new IsoldeError(
        'connect',
        `The server at ${where} has no database "${address.database ?? ''}" for user "${address.user}": ${text}. ` +
          'The URL needs no database: Isolde makes its own.',
        options,
      );
    case 1040:
    case 1203:
    case 1226:
      return new IsoldeError('connect', `The server at ${where} takes no more connections: ${text}`, options);
    default:
      return new IsoldeError(
        'connect',
        isConnectionError(error)
          ? `No server answers at ${where}: ${text}`
          : `The server at ${where} refuses the connection: ${text}`,
        options,
      );
  }
}

function variableError(name: string, value: string, error: MysqlError): IsoldeError {
  const hint = globalOnly.has(error.errno) ? ' It is global: set it on the server.' : '';
  return new IsoldeError(
    'usage',
    `The server does not take ${name}=${value} from the URL: ${error.message}.${hint}`,
  );
}
