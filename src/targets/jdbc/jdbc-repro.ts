/**
 * How a stand-alone script talks to a JDBC database: it writes a Java program of one file, which the JDK's launcher compiles and starts with the
 * engine's jar. Lines go in, `ID SESSION SQL` with the SQL in base 64, and one JSON object a line comes out. Each session is a
 * thread with a connection of its own, as in the adapter (`adapters/jdbc/Jdbc.java`); the database is in memory.
 */
import type { ReproDriver } from '../declaration.js';

const bridge = String.raw`
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

public class Bridge {
  static final Map<String, ExecutorService> threads = new HashMap<>();
  static final Map<String, Connection> connections = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      String[] part = line.split(" ");
      String sql = new String(Base64.getDecoder().decode(part[2]), StandardCharsets.UTF_8);
      threads.computeIfAbsent(part[1], name -> Executors.newSingleThreadExecutor()).execute(() -> {
        String answer;
        try {
          answer = run(args[0], part[1], sql);
        } catch (Throwable error) {
          answer = "\"error\":" + quote(String.valueOf(error.getMessage()));
        }
        synchronized (out) {
          out.println("{\"id\":" + part[0] + "," + answer + "}");
          out.flush();
        }
      });
    }
    Runtime.getRuntime().halt(0);
  }

  static String run(String url, String session, String sql) throws SQLException {
    if (sql.startsWith("LEVEL ")) {
      Connection made = DriverManager.getConnection(url);
      made.setTransactionIsolation(List.of("read uncommitted", "read committed", "", "repeatable read", "", "snapshot", "", "serializable").indexOf(sql.substring(6)) + 1);
      connections.put(session, made);
      return "\"ok\":true";
    }
    Connection connection = connections.get(session);
    String words = sql.strip().toUpperCase(Locale.ROOT);
    if (words.matches("(?s)(BEGIN|START\\s+TRANSACTION)\\b.*")) connection.setAutoCommit(false);
    else if (words.matches("(?s)(COMMIT|END)\\b.*")) end(connection, true);
    else if (words.matches("(?s)(ROLLBACK|ABORT)\\b.*") && !words.matches("(?s).*\\bTO\\b.*")) end(connection, false);
    else return send(connection, sql);
    return "\"ok\":true";
  }

  static void end(Connection connection, boolean commit) throws SQLException {
    if (connection.getAutoCommit()) return;
    if (commit) connection.commit();
    else connection.rollback();
    connection.setAutoCommit(true);
  }

  static String send(Connection connection, String sql) throws SQLException {
    // H2 alone has the operator %.
    boolean hasModulo = connection.getMetaData().getDatabaseProductName().equals("H2");
    Pattern modulo = Pattern.compile("'(?:[^']|'')*'|\\b([A-Za-z_][\\w.]*) ?% ?(\\d+)");
    String sent = hasModulo ? sql : modulo.matcher(sql).replaceAll(found -> Matcher.quoteReplacement(
        found.group(1) == null ? found.group() : "MOD(" + found.group(1) + ", " + found.group(2) + ")"));
    try (Statement statement = connection.createStatement()) {
      if (!statement.execute(sent)) return "\"count\":" + Math.max(0, statement.getUpdateCount());
      List<String> rows = new ArrayList<>();
      ResultSet result = statement.getResultSet();
      while (result.next()) {
        List<String> cells = new ArrayList<>();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) cells.add(quote(result.getString(i)));
        rows.add("[" + String.join(",", cells) + "]");
      }
      return "\"rows\":[" + String.join(",", rows) + "]";
    } catch (SQLException error) {
      // Such an error has rolled back the transaction.
      if (String.valueOf(error.getSQLState()).startsWith("40")) end(connection, false);
      throw error;
    }
  }

  static String quote(String text) {
    if (text == null) return "null";
    StringBuilder made = new StringBuilder("\"");
    for (char c : text.toCharArray()) made.append(String.format("\\u%04x", (int) c));
    return made.append('"').toString();
  }
}
`;

/** `jar`: the file's name in messages; `url`: an expression of the script, which may use its `settings`. */
export function jdbcRepro(jar: string, url: string): ReproDriver {
  return {
    packages: [],
    needs: `a JDK (17 or newer) in PATH, and ${jar} from Maven`,
    argument: jar,
    code: `import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const jars = process.argv[2];
if (jars === undefined) {
  console.error('usage: node repro.mjs ${jar}');
  process.exit(2);
}
const classPath = jars.split(delimiter).map((jar) => resolve(jar)).join(delimiter);
const bridge = ${JSON.stringify(bridge)};

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-repro-'));
  const program = join(folder, 'Bridge.java');
  writeFileSync(program, bridge);
  const java = spawn('java', ['-cp', classPath, program, ${url}], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const open = new Map();
  const ended = new Promise((resolve) => {
    const end = (why) => {
      for (const answer of open.values()) answer({ error: 'java ended: ' + why });
      resolve();
    };
    java.once('error', end);
    java.once('exit', end);
  });
  createInterface({ input: java.stdout }).on('line', (line) => {
    const { id, ...answer } = JSON.parse(line);
    open.get(id)?.(answer);
    open.delete(id);
  });
  java.stdin.on('error', () => {});
  let asked = 0;
  const ask = async (session, sql) => {
    const answer = await new Promise((resolve) => {
      open.set(++asked, resolve);
      java.stdin.write(asked + ' ' + session + ' ' + Buffer.from(sql).toString('base64') + '\\n');
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  };
  let sessions = 0;
  const session = async (level) => {
    const number = sessions++;
    await ask(number, 'LEVEL ' + level);
    return { run: (sql) => ask(number, sql) };
  };
  const close = async () => {
    java.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { session, close };
}`,
  };
}
