/*
 * An Isolde adapter for JDBC databases: the exec protocol (docs/formats/exec-protocol.md) on one side, java.sql on the other.
 *
 *     java -cp h2.jar Jdbc.java --engine h2
 *     java -cp driver.jar Jdbc.java --engine jdbc --url jdbc:… --driver com.example.Driver
 *
 * Every session is a thread with a connection of its own, so a statement that waits holds up nobody; requests that belong to no
 * statement run on other threads. What differs between databases is in `Engine` and its subclasses at the end: where a scratch
 * lives, what is refused, how a wait is recognised, and what an error did to the transaction.
 *
 * JDBC has no BEGIN. A transaction is auto-commit switched off, so the adapter reads BEGIN, COMMIT, ROLLBACK and savepoints itself
 * and calls the connection's methods; all other statements are sent as they are.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Jdbc {
  private static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
  private static final ExecutorService pool =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "request");
            thread.setDaemon(true);
            return thread;
          });

  private final Engine engine;
  private final Map<String, Scratch> scratches = new ConcurrentHashMap<>();
  private final Map<Long, Session> sessions = new ConcurrentHashMap<>();

  private Jdbc(Engine engine) {
    this.engine = engine;
  }

  public static void main(String[] args) throws Exception {
    // Drivers that print would break the protocol.
    System.setOut(System.err);
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i + 1 < args.length; i += 2) options.put(args[i].replaceFirst("^--", ""), args[i + 1]);
    Jdbc adapter = new Jdbc(Engine.of(options));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        Map<?, ?> request = (Map<?, ?>) new Json(line).read();
        Session session = "execute".equals(request.get("op")) ? adapter.sessions.get(request.get("session")) : null;
        // In the order they came; the session's thread answers when the statement is done.
        if (session != null) session.submit(() -> answer(request, () -> session.execute((String) request.get("sql"))));
        else pool.execute(() -> answer(request, () -> adapter.handle(request)));
      }
    } finally {
      // Whoever started us is gone. A statement that cannot be stopped must not keep the process: HSQLDB waits for it.
      Thread end = new Thread(() -> {
        try {
          Thread.sleep(endMs);
        } catch (InterruptedException interrupted) {
          // Then it ends at once.
        }
        Runtime.getRuntime().halt(0);
      }, "end");
      end.setDaemon(true);
      end.start();
      adapter.close();
      Runtime.getRuntime().halt(0);
    }
  }

  /** How long databases have to close at the end. */
  private static final int endMs = 3_000;

  private interface Task {
    Object run() throws Exception;
  }

  /** Runs a request and writes its one answer. */
  private static void answer(Map<?, ?> request, Task task) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", request.get("id"));
    try {
      answer.put("ok", task.run());
    } catch (SetupFailure failure) {
      answer.put("error", failure.getMessage());
      answer.put("statement", failure.statement);
    } catch (Throwable thrown) {
      answer.put("error", thrown instanceof SQLException ? thrown.getMessage() : thrown.toString());
    }
    String line = Json.write(answer);
    synchronized (out) {
      out.println(line);
      out.flush();
    }
  }

  private Object handle(Map<?, ?> request) throws Exception {
    switch ((String) request.get("op")) {
      case "hello":
        return engine.hello();
      case "createScratch": {
        String name = (String) request.get("namespace");
        if (!name.matches("isolde_[a-z0-9_]+")) throw new IllegalArgumentException("not a scratch name: " + name);
        scratches.put(name, engine.createScratch(name));
        return Map.of();
      }
      case "dropScratch": {
        Scratch scratch = scratches.remove(request.get("namespace"));
        if (scratch == null) return Map.of();
        for (Session session : sessionsOf(scratch)) session.leave();
        scratch.drop();
        return Map.of();
      }
      case "openSession": {
        Scratch scratch = scratch(request);
        Session session = new Session(scratch, (Long) request.get("session"), request);
        sessions.put(session.number, session);
        try {
          session.open();
        } catch (Exception thrown) {
          sessions.remove(session.number);
          session.leave();
          throw thrown;
        }
        return Map.of();
      }
      case "execute":
        throw new IllegalStateException("there is no session " + request.get("session"));
      case "closeSession": {
        Session session = sessions.remove(request.get("session"));
        if (session != null) session.leave();
        return Map.of();
      }
      case "cancel": {
        Session session = sessions.get(request.get("session"));
        if (session != null) session.stop(Stop.CANCELLED);
        return Map.of();
      }
      case "waiting": {
        List<Object> waiting = new ArrayList<>();
        for (Session session : sessionsOf(scratch(request))) if (session.isWaiting()) waiting.add(session.number);
        return Map.of("sessions", waiting);
      }
      case "reset":
        reset(scratch(request), (List<?>) request.get("setup"));
        return Map.of();
      case "close":
        return Map.of();
      default:
        throw new IllegalArgumentException("there is no request " + request.get("op"));
    }
  }

  /** Sessions end what they have open, the schema is made anew, and they go on. */
  private void reset(Scratch scratch, List<?> setup) throws Exception {
    List<Session> open = sessionsOf(scratch);
    for (Session session : open) session.stop(Stop.CANCELLED);
    for (Session session : open) session.call(session::rollback);
    scratch.clear();
    Session builder = new Session(scratch, -1, Map.of("level", engine.defaultLevel, "statementTimeoutMs", 60_000L, "lockTimeoutMs", 10_000L));
    try {
      builder.open();
      for (int i = 0; i < setup.size(); i++) {
        int index = i;
        Map<?, ?> result = (Map<?, ?>) builder.call(() -> builder.execute((String) setup.get(index)));
        Map<?, ?> error = (Map<?, ?>) result.get("error");
        if (error != null) throw new SetupFailure((String) error.get("message"), i);
      }
    } finally {
      builder.leave();
    }
    for (Session session : open) session.call(session::enterSchema);
  }

  private static final class SetupFailure extends Exception {
    private static final long serialVersionUID = 1;
    final int statement;

    SetupFailure(String message, int statement) {
      super(message);
      this.statement = statement;
    }
  }

  private Scratch scratch(Map<?, ?> request) {
    Scratch scratch = scratches.get(request.get("namespace"));
    if (scratch == null) throw new IllegalStateException("there is no scratch " + request.get("namespace"));
    return scratch;
  }

  private List<Session> sessionsOf(Scratch scratch) {
    List<Session> found = new ArrayList<>();
    for (Session session : sessions.values()) if (session.scratch == scratch) found.add(session);
    return found;
  }

  private void close() {
    for (Session session : sessions.values()) session.leave();
    for (Scratch scratch : scratches.values()) {
      try {
        scratch.drop();
      } catch (Exception gone) {
        // It is in memory, and ends with us.
      }
    }
    engine.close();
  }

  // ── sessions ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Why a statement was stopped from outside. */
  private enum Stop { CANCELLED, STATEMENT_TIMEOUT, LOCK_TIMEOUT }

  private static final class Session {
    final Scratch scratch;
    final long number;
    private final Engine engine;
    private final String level;
    private final long statementTimeoutMs;
    private final long lockTimeoutMs;
    private final LinkedBlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
    private final Thread thread;
    private final List<Map.Entry<String, Savepoint>> savepoints = new ArrayList<>();
    private Connection connection;
    private boolean inTransaction;
    /** The engine itself had a transaction open before the statement that runs. */
    private boolean held;
    private boolean lost;
    private volatile boolean leaving;
    private String nextLevel;
    private int savepointCount;
    /** Guards the statement that runs, and why it is to end. */
    private final Object running = new Object();
    private Statement statement;
    private Stop stopped;

    Session(Scratch scratch, long number, Map<?, ?> options) {
      this.scratch = scratch;
      this.number = number;
      this.engine = scratch.engine;
      this.level = (String) options.get("level");
      this.statementTimeoutMs = (Long) options.get("statementTimeoutMs");
      this.lockTimeoutMs = (Long) options.get("lockTimeoutMs");
      this.thread = new Thread(this::work, "session " + number);
      thread.setDaemon(true);
      thread.start();
    }

    private void work() {
      try {
        while (!leaving || !inbox.isEmpty()) inbox.take().run();
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    }

    void submit(Runnable task) {
      inbox.add(task);
    }

    /** Runs something on the session's thread and waits for it. */
    Object call(Task task) throws Exception {
      CompletableFuture<Object> result = new CompletableFuture<>();
      submit(
          () -> {
            try {
              result.complete(task.run());
            } catch (Throwable thrown) {
              result.completeExceptionally(thrown);
            }
          });
      try {
        return result.get();
      } catch (java.util.concurrent.ExecutionException wrapped) {
        if (wrapped.getCause() instanceof Exception cause) throw cause;
        throw wrapped;
      }
    }

    void open() throws Exception {
      call(
          () -> {
            connection = engine.connect(scratch, lockTimeoutMs);
            connection.setAutoCommit(true);
            connection.setTransactionIsolation(engine.levelNumber(level));
            return enterSchema();
          });
    }

    Object enterSchema() throws SQLException {
      if (!lost) engine.enterSchema(connection, scratch);
      return null;
    }

    Object rollback() throws SQLException {
      if (!lost && inTransaction) {
        connection.rollback();
        end();
      }
      return null;
    }

    /** Ends what runs, rolls back, and ends the thread. */
    void leave() {
      stop(Stop.CANCELLED);
      submit(
          () -> {
            leaving = true;
            try {
              if (connection == null) return;
              rollback();
              connection.close();
            } catch (SQLException gone) {
              // Closed is closed.
            }
          });
      try {
        thread.join(5000);
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    }

    boolean isWaiting() {
      synchronized (running) {
        if (statement == null) return false;
      }
      return engine.isWaiting(thread, connection);
    }

    boolean isStopped() {
      synchronized (running) {
        return stopped != null;
      }
    }

    /** Stops the running statement; between statements it does nothing. The first reason counts. */
    void stop(Stop why) {
      synchronized (running) {
        if (statement == null) return;
        if (stopped == null) stopped = why;
        try {
          engine.cancel(statement, connection, thread);
        } catch (SQLException ended) {
          // It ended by itself just now.
        }
      }
    }

    // ── one statement ──

    Object execute(String sql) {
      Map<String, Object> answer = new LinkedHashMap<>();
      if (lost) return failed(answer, "connection-lost", "", "the connection is gone");
      boolean wasOpen = inTransaction;
      held = wasOpen && engine.holdsTransaction(connection);
      try {
        String refused = engine.refusal(sql);
        if (refused != null)
          failed(answer, Sql.isKnown(sql) ? "unsupported" : "syntax", "isolde", "Isolde does not send this statement: " + refused + ".");
        else if (!control(sql, answer)) run(sql, answer);
      } catch (SQLException error) {
        settle(error, wasOpen, answer);
      } catch (RuntimeException | StackOverflowError | OutOfMemoryError error) {
        // The driver itself failed: what is left of the transaction is unknown, so it is ended.
        failed(answer, "other", "", error.toString());
        if (wasOpen) abandon(answer);
      }
      answer.put("transaction", lost ? "lost" : inTransaction ? "open" : "none");
      return answer;
    }

    private Map<String, Object> failed(Map<String, Object> answer, String errorClass, String code, String message) {
      answer.keySet().removeAll(List.of("columns", "rows", "matched"));
      Map<String, Object> error = new LinkedHashMap<>();
      error.put("class", errorClass);
      error.put("code", code);
      error.put("message", message);
      answer.put("error", error);
      answer.put("transaction", lost ? "lost" : inTransaction ? "open" : "none");
      return answer;
    }

    /** What an error means, and what it did to the transaction: the connection is asked. */
    private void settle(SQLException error, boolean wasOpen, Map<String, Object> answer) {
      Stop why;
      synchronized (running) {
        why = stopped;
      }
      String errorClass = engine.errorClass(error, why);
      String message = error.getMessage() == null ? error.toString() : error.getMessage();
      failed(answer, errorClass, code(error), message);
      try {
        if (connection.isClosed() || errorClass.equals("connection-lost")) {
          lost = true;
          if (wasOpen) answer.put("ended", "rollback");
          inTransaction = false;
        } else if (inTransaction && (engine.endsTransaction(error) || (held && !engine.holdsTransaction(connection)))) {
          // The engine ended it; auto-commit stays off until we say so.
          connection.rollback();
          end();
          answer.put("ended", "rollback");
        }
      } catch (SQLException again) {
        abandon(answer);
      }
    }

    private static String code(SQLException error) {
      return error.getSQLState() + "/" + error.getErrorCode();
    }

    /** Nobody can tell what became of the connection: it is closed, which rolls back. */
    private void abandon(Map<String, Object> answer) {
      try {
        connection.close();
      } catch (SQLException | RuntimeException gone) {
        // Closed is closed.
      }
      lost = true;
      inTransaction = false;
      answer.put("ended", "unknown");
    }

    private void run(String sql, Map<String, Object> answer) throws SQLException {
      String sent = engine.rewrite(sql);
      boolean ddl = Sql.isDdl(sql);
      if (ddl && inTransaction && !engine.transactionalDdl) {
        // Such DDL commits first, whether it then works or not. What is no statement at all commits nothing.
        connection.prepareStatement(sent).close();
        connection.commit();
        end();
        answer.put("ended", "commit");
      }
      try (Statement made = connection.createStatement()) {
        made.setEscapeProcessing(false);
        Watch watch = begin(made);
        try {
          boolean rows = made.execute(sent);
          if (rows) {
            try (ResultSet result = made.getResultSet()) {
              readRows(result, answer);
            }
          } else if (!ddl && Sql.isRowWrite(sql)) answer.put("matched", (long) Math.max(0, made.getUpdateCount()));
        } finally {
          synchronized (running) {
            statement = null;
          }
          watch.end();
        }
      }
    }

    private Watch begin(Statement made) {
      synchronized (running) {
        statement = made;
        stopped = null;
      }
      return new Watch(this);
    }

    private void readRows(ResultSet result, Map<String, Object> answer) throws SQLException {
      ResultSetMetaData shape = result.getMetaData();
      int width = shape.getColumnCount();
      List<Object> columns = new ArrayList<>();
      int[] types = new int[width];
      for (int i = 0; i < width; i++) {
        columns.add(engine.label(shape.getColumnLabel(i + 1)));
        types[i] = shape.getColumnType(i + 1);
      }
      List<Object> rows = new ArrayList<>();
      while (result.next()) {
        List<Object> row = new ArrayList<>(width);
        for (int i = 0; i < width; i++) row.add(Values.read(result, i + 1, types[i]));
        rows.add(row);
      }
      answer.put("columns", columns);
      answer.put("rows", rows);
    }

    // ── transaction control ──

    private static final String LEVEL = "ISOLATION LEVEL (READ UNCOMMITTED|READ COMMITTED|REPEATABLE READ|SNAPSHOT|SERIALIZABLE)";
    private static final Pattern BEGIN =
        Pattern.compile("(?:BEGIN(?: WORK| TRANSACTION)?|START TRANSACTION)(?: " + LEVEL + ")?(?: ?,? ?(READ ONLY|READ WRITE))?");
    private static final Pattern SET_LEVEL = Pattern.compile("SET (SESSION CHARACTERISTICS AS )?TRANSACTION " + LEVEL);
    private static final Pattern END = Pattern.compile("(COMMIT|END|ROLLBACK|ABORT)(?: WORK| TRANSACTION)?");
    private static final Pattern SAVE = Pattern.compile("(SAVEPOINT|ROLLBACK(?: WORK| TRANSACTION)? TO(?: SAVEPOINT)?|RELEASE(?: SAVEPOINT)?) (\\S+)");

    /** Carries out BEGIN, COMMIT, ROLLBACK and their like; false: it is another statement. */
    private boolean control(String sql, Map<String, Object> answer) throws SQLException {
      String words = Sql.controlWords(sql);
      if (words == null) return false;
      Matcher match = BEGIN.matcher(words);
      if (match.matches()) {
        begin(match.group(1), match.group(2), answer);
        return true;
      }
      match = END.matcher(words);
      if (match.matches()) {
        boolean commit = match.group(1).equals("COMMIT") || match.group(1).equals("END");
        if (!inTransaction) return true;
        if (commit) connection.commit();
        else connection.rollback();
        end();
        return true;
      }
      match = SAVE.matcher(words);
      if (match.matches()) {
        savepoint(match.group(1), match.group(2), answer);
        return true;
      }
      match = SET_LEVEL.matcher(words);
      if (!match.matches()) return false;
      if (inTransaction) failed(answer, "unsupported", "isolde", "the level of an open transaction cannot be changed");
      else if (match.group(1) == null) nextLevel = match.group(2).toLowerCase(Locale.ROOT);
      else connection.setTransactionIsolation(engine.levelNumber(match.group(2).toLowerCase(Locale.ROOT)));
      return true;
    }

    private void begin(String asked, String access, Map<String, Object> answer) throws SQLException {
      if (inTransaction) {
        failed(answer, "other", "isolde", "a transaction is open already");
        return;
      }
      String chosen = asked != null ? asked.toLowerCase(Locale.ROOT) : nextLevel;
      nextLevel = null;
      if (chosen != null) connection.setTransactionIsolation(engine.levelNumber(chosen));
      if ("READ ONLY".equals(access)) connection.setReadOnly(true);
      connection.setAutoCommit(false);
      inTransaction = true;
    }

    /** The transaction is over: back to auto-commit and to the session's own level. */
    private void end() throws SQLException {
      inTransaction = false;
      savepoints.clear();
      connection.setAutoCommit(true);
      if (connection.isReadOnly()) connection.setReadOnly(false);
      int own = engine.levelNumber(level);
      if (connection.getTransactionIsolation() != own) connection.setTransactionIsolation(own);
    }

    private void savepoint(String verb, String name, Map<String, Object> answer) throws SQLException {
      if (!inTransaction) {
        failed(answer, "other", "isolde", "there is no transaction");
        return;
      }
      if (verb.equals("SAVEPOINT")) {
        // A name of ours for each: engines differ in what a second savepoint of the same name does.
        savepoints.add(Map.entry(name, connection.setSavepoint("ISOLDE_" + savepointCount++)));
        return;
      }
      int found = savepoints.size() - 1;
      while (found >= 0 && !savepoints.get(found).getKey().equals(name)) found--;
      if (found < 0) {
        failed(answer, "other", "isolde", "there is no savepoint " + name);
        return;
      }
      boolean release = verb.startsWith("RELEASE");
      if (release) connection.releaseSavepoint(savepoints.get(found).getValue());
      else connection.rollback(savepoints.get(found).getValue());
      savepoints.subList(found, savepoints.size()).clear();
      // HSQLDB forgets a savepoint that was rolled back to: there is a new one in its place.
      if (!release) savepoints.add(Map.entry(name, connection.setSavepoint("ISOLDE_" + savepointCount++)));
    }
  }

  /** Ends statements that run or wait too long, where the engine has no such limit of its own. */
  private static final class Watch implements Runnable {
    private static final java.util.concurrent.ScheduledExecutorService clock =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "watch");
              thread.setDaemon(true);
              return thread;
            });
    private static final long INTERVAL_MS = 20;

    private final Session session;
    private final long started = System.nanoTime();
    private final java.util.concurrent.ScheduledFuture<?> ticks;
    private long waitingSince = -1;

    Watch(Session session) {
      this.session = session;
      this.ticks = clock.scheduleAtFixedRate(this, INTERVAL_MS, INTERVAL_MS, java.util.concurrent.TimeUnit.MILLISECONDS);
    }

    @Override
    public void run() {
      long now = System.nanoTime();
      // Again: a cancel that came before the engine had begun stopped nothing.
      if (session.isStopped()) {
        session.stop(Stop.CANCELLED);
        return;
      }
      if (now - started > session.statementTimeoutMs * 1_000_000L) {
        session.stop(Stop.STATEMENT_TIMEOUT);
        return;
      }
      if (session.engine.hasLockTimeout) return;
      if (!session.isWaiting()) waitingSince = -1;
      else if (waitingSince < 0) waitingSince = now;
      else if (now - waitingSince > session.lockTimeoutMs * 1_000_000L) session.stop(Stop.LOCK_TIMEOUT);
    }

    void end() {
      ticks.cancel(false);
    }
  }

  // ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Values as the protocol has them: what JSON cannot hold exactly is tagged. */
  private static final class Values {
    private static final long MAX_SAFE = (1L << 53) - 1;

    static Object read(ResultSet rows, int i, int type) throws SQLException {
      switch (type) {
        case Types.BOOLEAN:
        case Types.BIT: {
          boolean value = rows.getBoolean(i);
          return rows.wasNull() ? null : value;
        }
        case Types.TINYINT:
        case Types.SMALLINT:
        case Types.INTEGER:
        case Types.BIGINT: {
          long value = rows.getLong(i);
          if (rows.wasNull()) return null;
          return Math.abs(value) <= MAX_SAFE && value != Long.MIN_VALUE ? value : Map.of("int", Long.toString(value));
        }
        case Types.NUMERIC:
        case Types.DECIMAL:
        // DECFLOAT, as H2 numbers it.
        case 2015: {
          BigDecimal value = rows.getBigDecimal(i);
          return value == null ? null : Map.of("decimal", value.toPlainString());
        }
        case Types.REAL: {
          float value = rows.getFloat(i);
          return rows.wasNull() ? null : real(Double.parseDouble(Float.toString(value)));
        }
        case Types.FLOAT:
        case Types.DOUBLE: {
          double value = rows.getDouble(i);
          return rows.wasNull() ? null : real(value);
        }
        case Types.CHAR:
        case Types.VARCHAR:
        case Types.LONGVARCHAR:
        case Types.NCHAR:
        case Types.NVARCHAR:
        case Types.LONGNVARCHAR:
        case Types.CLOB:
        case Types.NCLOB:
        case Types.NULL:
          return rows.getString(i);
        case Types.BINARY:
        case Types.VARBINARY:
        case Types.LONGVARBINARY:
        case Types.BLOB: {
          byte[] value = rows.getBytes(i);
          return value == null ? null : Map.of("bytes", java.util.HexFormat.of().formatHex(value));
        }
        case Types.DATE:
          return tagged("date", momentText(rows, i));
        case Types.TIME:
          return tagged("time", timeText(momentText(rows, i)));
        case Types.TIMESTAMP:
          return tagged("timestamp", timeText(momentText(rows, i)));
        default:
          return tagged("other", rows.getString(i));
      }
    }

    /**
     * One at a time in the whole JVM: HSQLDB spells dates and timestamps through one object that both change under different locks, so a
     * DATE can come out as the TIMESTAMP that another session, even of another database, reads at that moment.
     */
    private static synchronized String momentText(ResultSet rows, int i) throws SQLException {
      return rows.getString(i);
    }

    private static Object tagged(String tag, String text) {
      return text == null ? null : Map.of(tag, text);
    }

    /** Hours of two digits (HSQLDB writes midnight as 0:00:00), fractions without zeros at their end. */
    private static String timeText(String text) {
      String trimmed = withoutTrailingZeros(text);
      return trimmed == null ? null : trimmed.replaceFirst("(^|[ T])(?=\\d:)", "$10");
    }

    private static String withoutTrailingZeros(String text) {
      return text == null ? null : text.replaceFirst("(\\.\\d*?)0+$", "$1").replaceFirst("\\.$", "");
    }

    private static Object real(double value) {
      if (Double.isNaN(value)) return Map.of("double", "NaN");
      if (Double.isInfinite(value)) return Map.of("double", value > 0 ? "Infinity" : "-Infinity");
      return value == 0 ? 0L : (Object) value;
    }
  }

  // ── SQL, as far as it must be looked at ─────────────────────────────────────────────────────────────────────────

  private static final class Sql {
    private static final Pattern BLANK = Pattern.compile("\\A(?:\\s|--[^\\n]*(?:\\n|\\z)|/\\*.*?\\*/)+", Pattern.DOTALL);
    private static final Pattern MODULO =
        Pattern.compile("'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\\n]*|/\\*.*?\\*/|\\b([A-Za-z_][\\w.]*) ?% ?(\\d+)", Pattern.DOTALL);
    private static final Pattern CONTROL = Pattern.compile("(?i)(BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|SET)\\b.*", Pattern.DOTALL);

    /** `column % number` as MOD(column, number), for engines that have no such operator. */
    static String withMod(String sql) {
      if (sql.indexOf('%') < 0) return sql;
      return MODULO.matcher(sql).replaceAll(found -> Matcher.quoteReplacement(
          found.group(1) == null ? found.group() : "MOD(" + found.group(1) + ", " + found.group(2) + ")"));
    }

    /** Without the spaces and comments at its beginning. */
    static String trimmed(String sql) {
      return BLANK.matcher(sql).replaceFirst("");
    }

    static String firstWord(String sql) {
      Matcher word = Pattern.compile("\\A\\(*\\s*(\\w+)").matcher(trimmed(sql));
      return word.find() ? word.group(1).toUpperCase(Locale.ROOT) : "";
    }

    /** A statement that may be transaction control as upper-case words, names in quotes kept; otherwise null. */
    static String controlWords(String sql) {
      String text = trimmed(sql);
      if (!CONTROL.matcher(text).matches()) return null;
      String plain = text.replaceAll("(?s)/\\*.*?\\*/|--[^\\n]*", " ").strip().replaceFirst(";$", "").strip().replaceAll("\\s+", " ");
      return plain.contains("\"") ? plain : plain.toUpperCase(Locale.ROOT);
    }

    private static final java.util.Set<String> VERBS =
        java.util.Set.of(
            "ALTER", "ANALYZE", "BACKUP", "CALL", "CHECKPOINT", "COMMENT", "CONNECT", "CREATE", "DECLARE", "DISCONNECT", "DROP",
            "EXECUTE", "EXPORT", "GRANT", "HELP", "IMPORT", "PERFORM", "PREPARE", "RENAME", "REVOKE", "RUNSCRIPT", "SCRIPT", "SET",
            "SHOW", "SHUTDOWN", "USE");

    /** Whether a statement that is not sent begins as statements do; otherwise it is taken for a mistake in writing. */
    static boolean isKnown(String sql) {
      return VERBS.contains(firstWord(sql)) || isRowWrite(sql) || firstWord(sql).equals("SELECT");
    }

    static boolean isDdl(String sql) {
      return switch (firstWord(sql)) {
        case "CREATE", "DROP", "ALTER", "TRUNCATE", "COMMENT", "GRANT", "REVOKE", "RENAME", "ANALYZE" -> true;
        default -> false;
      };
    }

    static boolean isRowWrite(String sql) {
      return switch (firstWord(sql)) {
        case "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH" -> true;
        default -> false;
      };
    }

    /**
     * A statement without its texts and comments, in upper case, with single spaces; quoted names are kept. Null where two readers
     * could disagree about where a text or a comment ends, or about how many statements these are.
     */
    static String code(String sql) {
      StringBuilder code = new StringBuilder();
      for (int i = 0; i < sql.length(); i++) {
        char c = sql.charAt(i);
        String two = sql.substring(i, Math.min(sql.length(), i + 2));
        if (two.equals("--") || two.equals("/*")) {
          int end = two.equals("--") ? sql.indexOf('\n', i) : sql.indexOf("*/", i + 2);
          if (two.equals("--") && end < 0) end = sql.length();
          if (end < 0 || sql.substring(i + 2, end).contains("/*")) return null;
          i = two.equals("--") ? end : end + 1;
          code.append(' ');
        } else if (c == '\'' || c == '"') {
          int end = sql.indexOf(c, i + 1);
          if (end < 0) return null;
          code.append(c == '"' ? sql.substring(i, end + 1) : "''");
          i = end;
        } else if (two.equals("//") || two.equals("$$") || c == '`' || c == '{' || two.equalsIgnoreCase("U&")) return null;
        else if (c == ';') {
          if (!trimmed(sql.substring(i + 1)).isEmpty()) return null;
          break;
        }
        else code.append(Character.isWhitespace(c) ? ' ' : Character.toUpperCase(c));
      }
      return code.toString().strip().replaceAll(" +", " ");
    }
  }

  // ── engines ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A namespace of ours, and the connection with all rights that made it. */
  private static final class Scratch {
    final Engine engine;
    final String name;
    final Connection admin;

    Scratch(Engine engine, String name, Connection admin) {
      this.engine = engine;
      this.name = name;
      this.admin = admin;
    }

    synchronized void clear() throws SQLException {
      engine.clear(this);
    }

    synchronized void drop() throws SQLException {
      engine.dropScratch(this);
    }
  }

  /** A level of the engine: its name, its number in JDBC, and the contract it is judged by. */
  private record Level(String name, int number, String contract) {}

  private abstract static class Engine {
    static final String USER = "ISOLDE_USER";
    /** Statements that only touch the tables of the schema; the rest is refused where the engine would run it with our rights. */
    private static final Pattern HARMLESS =
        Pattern.compile(
            "\\(*\\s*(?:SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE|MERGE|REPLACE|TRUNCATE|EXPLAIN|BEGIN|START TRANSACTION|COMMIT|END|ROLLBACK"
                + "|ABORT|SAVEPOINT|RELEASE|SET (?:SESSION CHARACTERISTICS AS )?TRANSACTION|LOCK TABLE|ANALYZE"
                + "|(?:CREATE|ALTER|DROP) (?:(?:OR REPLACE|UNIQUE|MEMORY|CACHED|GLOBAL|LOCAL|TEMPORARY|TEMP|RECURSIVE) )*(?:TABLE|INDEX|VIEW|SEQUENCE))\\b.*",
            Pattern.DOTALL);

    private static final Pattern FOR_UPDATE = Pattern.compile("(?<!\\bPLAN\\s)\\bFOR (UPDATE|SHARE)\\b");

    List<Level> levels;
    String defaultLevel;
    boolean transactionalDdl;
    /** SELECT … FOR UPDATE locks what it returns to the end of the transaction. */
    boolean lockingReads;
    /** The engine itself ends a wait that takes too long. */
    boolean hasLockTimeout;
    final Map<String, Object> settings = new LinkedHashMap<>();

    static Engine of(Map<String, String> options) throws Exception {
      String name = options.getOrDefault("engine", "jdbc");
      return switch (name) {
        case "h2" -> new H2(options);
        case "hsqldb" -> new Hsqldb(options);
        case "derby" -> new Derby(options);
        default -> new General(options);
      };
    }

    abstract String name();

    abstract String version() throws Exception;

    abstract Connection openAdmin(String scratch) throws SQLException;

    abstract Connection connect(Scratch scratch, long lockTimeoutMs) throws SQLException;

    /** Removes everything in the scratch's schema. */
    abstract void clear(Scratch scratch) throws SQLException;

    abstract void dropScratch(Scratch scratch) throws SQLException;

    /** Whether the session's thread waits for another session, inside the engine. */
    abstract boolean isWaiting(Thread thread, Connection connection);

    /** Whether the engine has a transaction open on this connection; it opens one with the first statement. */
    boolean holdsTransaction(Connection connection) {
      return false;
    }

    /** Whether the error itself says that the transaction was rolled back. */
    boolean endsTransaction(SQLException error) {
      return false;
    }

    Scratch createScratch(String name) throws SQLException {
      Scratch scratch = new Scratch(this, name, openAdmin(name));
      clear(scratch);
      return scratch;
    }

    String dialect() {
      return "postgres";
    }

    Map<String, Object> hello() throws Exception {
      List<Object> told = new ArrayList<>();
      for (Level level : levels)
        told.add(
            Map.of(
                "level", level.name,
                "contract", level.contract,
                "begin", "START TRANSACTION ISOLATION LEVEL " + level.name.toUpperCase(Locale.ROOT)));
      Map<String, Object> hello = new LinkedHashMap<>();
      hello.put("name", name());
      hello.put("version", version());
      hello.put("dialect", dialect());
      hello.put("levels", told);
      hello.put("defaultLevel", defaultLevel);
      hello.put("features", features());
      hello.put("reset", true);
      hello.put("settings", settings);
      return hello;
    }

    Map<String, Object> features() {
      Map<String, Object> features = new LinkedHashMap<>();
      features.put("conflicts", "wait");
      features.put("counts", "matched");
      features.put("lockingReads", lockingReads);
      features.put("savepoints", true);
      features.put("errorDoomsTransaction", false);
      features.put("transactionalDdl", transactionalDdl);
      features.put("cancel", true);
      return features;
    }

    int levelNumber(String name) throws SQLException {
      for (Level level : levels) if (level.name.equals(name)) return level.number;
      throw new SQLException("the engine has no level " + name, "0A000");
    }

    void enterSchema(Connection connection, Scratch scratch) throws SQLException {
      connection.setSchema(schemaOf(scratch));
    }

    String schemaOf(Scratch scratch) {
      return scratch.name.toUpperCase(Locale.ROOT);
    }

    void cancel(Statement statement, Connection connection, Thread thread) throws SQLException {
      statement.cancel();
    }

    /** Engines that fold names to upper case get their labels folded to lower case: the dialect does so. */
    String label(String label) {
      return label.equals(label.toUpperCase(Locale.ROOT)) ? label.toLowerCase(Locale.ROOT) : label;
    }

    String rewrite(String sql) {
      return sql;
    }

    /** Why a statement is not sent, or null. */
    String refusal(String sql) {
      String code = Sql.code(sql);
      if (code == null) return "it may be several statements, or other ones than it seems";
      if (!HARMLESS.matcher(code).matches()) return "it is not a query, a write, a definition of a table, or transaction control";
      return !lockingReads && FOR_UPDATE.matcher(code).find() ? "FOR UPDATE is for cursors here, and locks nothing that lasts" : null;
    }

    String errorClass(SQLException error, Stop stopped) {
      String state = error.getSQLState() == null ? "" : error.getSQLState();
      if (stopped != null && isInterruption(error, state))
        return switch (stopped) {
          case CANCELLED -> "cancelled";
          case STATEMENT_TIMEOUT -> "statement-timeout";
          case LOCK_TIMEOUT -> "lock-timeout";
        };
      if (state.startsWith("40")) return "serialization";
      if (state.equals("HYT00")) return "lock-timeout";
      if (state.equals("57014")) return "cancelled";
      if (state.equals("23505")) return "duplicate-key";
      if (state.startsWith("23")) return "constraint";
      if (state.startsWith("22")) return "data";
      if (state.startsWith("0A") || state.equals("HYC00")) return "unsupported";
      if (state.startsWith("08")) return "connection-lost";
      if (state.startsWith("42")) return "syntax";
      return "other";
    }

    /** Whether this is what a stopped statement says. */
    boolean isInterruption(SQLException error, String state) {
      return state.equals("57014") || state.equals("HYT00");
    }

    void close() {}

    static Connection connectAs(String url, String user, String password) throws SQLException {
      Properties login = new Properties();
      login.put("user", user);
      login.put("password", password);
      return DriverManager.getConnection(url, login);
    }

    static void send(Connection connection, String... statements) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        for (String sql : statements) statement.execute(sql);
      }
    }

    static boolean isParked(Thread thread, String className, String method) {
      Thread.State state = thread.getState();
      if (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) return false;
      for (StackTraceElement frame : thread.getStackTrace())
        if (frame.getMethodName().startsWith(method) && frame.getClassName().equals(className)) return true;
      return false;
    }

    /** A public method of the driver that JDBC does not have. */
    static Object ask(Object subject, String method) {
      try {
        java.lang.reflect.Method found = subject.getClass().getMethod(method);
        // A public method of a class that is not.
        found.setAccessible(true);
        return found.invoke(subject);
      } catch (ReflectiveOperationException missing) {
        throw new IllegalStateException("the driver has no " + method + ": " + missing);
      }
    }

    static Object field(Object subject, String name) {
      for (Class<?> type = subject.getClass(); type != null; type = type.getSuperclass()) {
        try {
          java.lang.reflect.Field field = type.getDeclaredField(name);
          field.setAccessible(true);
          return field.get(subject);
        } catch (NoSuchFieldException above) {
          // One of its superclasses has it.
        } catch (IllegalAccessException refused) {
          break;
        }
      }
      throw new IllegalStateException("the driver has no " + name);
    }
  }

  /** H2: a database in memory for each scratch; sessions are a user without admin rights who owns the one schema. */
  private static final class H2 extends Engine {
    private static final String SETTINGS = ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH;DB_CLOSE_DELAY=-1";

    H2(Map<String, String> options) throws Exception {
      Class.forName("org.h2.Driver");
      levels =
          List.of(
              new Level("read uncommitted", Connection.TRANSACTION_READ_UNCOMMITTED, "h2:read-uncommitted"),
              new Level("read committed", Connection.TRANSACTION_READ_COMMITTED, "h2:read-committed"),
              new Level("repeatable read", Connection.TRANSACTION_REPEATABLE_READ, "h2:repeatable-read"),
              // As H2 numbers it: JDBC has none.
              new Level("snapshot", 6, "h2:snapshot"),
              new Level("serializable", Connection.TRANSACTION_SERIALIZABLE, "h2:serializable"));
      defaultLevel = "read committed";
      lockingReads = true;
      hasLockTimeout = true;
      settings.put("mode", "PostgreSQL");
    }

    @Override
    String name() {
      return "h2";
    }

    @Override
    String version() throws Exception {
      try (Connection connection = connectAs("jdbc:h2:mem:", "sa", "")) {
        return connection.getMetaData().getDatabaseProductVersion().replaceFirst(" .*", "");
      }
    }

    @Override
    Connection openAdmin(String scratch) throws SQLException {
      Connection admin = connectAs("jdbc:h2:mem:" + scratch + SETTINGS, "sa", "");
      send(admin, "CREATE USER " + USER + " PASSWORD ''");
      return admin;
    }

    @Override
    Connection connect(Scratch scratch, long lockTimeoutMs) throws SQLException {
      Connection connection = connectAs("jdbc:h2:mem:" + scratch.name, USER, "");
      // Words that only H2 reserves.
      send(connection, "SET LOCK_TIMEOUT " + Math.min(lockTimeoutMs, Integer.MAX_VALUE), "SET NON_KEYWORDS VALUE, KEY");
      return connection;
    }

    @Override
    void clear(Scratch scratch) throws SQLException {
      send(scratch.admin, "DROP SCHEMA IF EXISTS " + scratch.name + " CASCADE", "CREATE SCHEMA " + scratch.name + " AUTHORIZATION " + USER);
    }

    @Override
    void dropScratch(Scratch scratch) throws SQLException {
      send(scratch.admin, "SHUTDOWN IMMEDIATELY");
    }

    @Override
    String schemaOf(Scratch scratch) {
      return scratch.name;
    }

    @Override
    String label(String label) {
      return label;
    }

    @Override
    boolean isWaiting(Thread thread, Connection connection) {
      return isParked(thread, "org.h2.mvstore.tx.Transaction", "waitFor") || isParked(thread, "org.h2.mvstore.db.MVTable", "doLock");
    }

    @Override
    boolean holdsTransaction(Connection connection) {
      return field(ask(connection, "getSession"), "transaction") != null;
    }

    @Override
    String errorClass(SQLException error, Stop stopped) {
      if (error.getErrorCode() == 40001) return "deadlock";
      return super.errorClass(error, stopped);
    }
  }

  /** HyperSQL: a database in memory for each scratch, in one of its three transaction models. */
  private static final class Hsqldb extends Engine {
    private final String model;

    Hsqldb(Map<String, String> options) throws Exception {
      Class.forName("org.hsqldb.jdbc.JDBCDriver");
      model = options.getOrDefault("model", "locks");
      String contract = "hsqldb:%s+" + model;
      levels = new ArrayList<>();
      levels.add(new Level("read committed", Connection.TRANSACTION_READ_COMMITTED, contract.formatted("read-committed")));
      levels.add(new Level("repeatable read", Connection.TRANSACTION_REPEATABLE_READ, contract.formatted("repeatable-read")));
      levels.add(new Level("serializable", Connection.TRANSACTION_SERIALIZABLE, contract.formatted("serializable")));
      defaultLevel = "read committed";
      settings.put("hsqldb.tx", model);
    }

    @Override
    String name() {
      return "hsqldb";
    }

    @Override
    String version() throws Exception {
      try (Connection connection = connectAs("jdbc:hsqldb:mem:isolde_version;shutdown=true", "SA", "")) {
        return connection.getMetaData().getDatabaseProductVersion();
      }
    }

    @Override
    Connection openAdmin(String scratch) throws SQLException {
      Connection admin = connectAs("jdbc:hsqldb:mem:" + scratch + ";sql.syntax_pgs=true;sql.char_literal=false;sql.longvar_is_lob=false", "SA", "");
      send(admin, "SET DATABASE TRANSACTION CONTROL " + model.toUpperCase(Locale.ROOT), "CREATE USER " + USER + " PASSWORD ''");
      return admin;
    }

    @Override
    Connection connect(Scratch scratch, long lockTimeoutMs) throws SQLException {
      return connectAs("jdbc:hsqldb:mem:" + scratch.name, USER, "");
    }

    @Override
    void clear(Scratch scratch) throws SQLException {
      String schema = schemaOf(scratch);
      send(scratch.admin, "DROP SCHEMA IF EXISTS " + schema + " CASCADE", "CREATE SCHEMA " + schema + " AUTHORIZATION " + USER);
    }

    @Override
    void dropScratch(Scratch scratch) throws SQLException {
      send(scratch.admin, "SHUTDOWN IMMEDIATELY");
    }

    @Override
    boolean isWaiting(Thread thread, Connection connection) {
      if (!isParked(thread, "org.hsqldb.lib.CountUpDownLatch", "await")) return false;
      // A thread that was let go counts as parked until it runs: the latch knows better.
      return ((Number) ask(field(ask(connection, "getSession"), "latch"), "getCount")).longValue() > 0;
    }

    @Override
    boolean holdsTransaction(Connection connection) {
      return (Boolean) ask(ask(connection, "getSession"), "isInMidTransaction");
    }

    @Override
    String rewrite(String sql) {
      return Sql.withMod(sql);
    }

    /**
     * The driver's cancel does nothing for the first statement of a transaction while it waits: HSQLDB takes the session for idle. So
     * the same is done to it as to any other.
     */
    @Override
    void cancel(Statement statement, Connection connection, Thread thread) throws SQLException {
      Object session = ask(connection, "getSession");
      if (holdsTransaction(connection) || !isWaiting(thread, connection)) {
        statement.cancel();
        return;
      }
      Object manager = field(field(session, "database"), "txManager");
      java.util.concurrent.locks.Lock lock = (java.util.concurrent.locks.Lock) field(manager, "writeLock");
      lock.lock();
      try {
        if (!isWaiting(thread, connection)) return;
        java.lang.reflect.Method prepare = manager.getClass().getSuperclass().getDeclaredMethod("prepareReset", session.getClass());
        prepare.setAccessible(true);
        prepare.invoke(manager, session);
        java.lang.reflect.Field abort = session.getClass().getDeclaredField("abortAction");
        abort.setAccessible(true);
        abort.setBoolean(session, true);
        Object latch = field(session, "latch");
        latch.getClass().getMethod("setCount", int.class).invoke(latch, 0);
      } catch (ReflectiveOperationException missing) {
        throw new IllegalStateException("this HSQLDB cannot be cancelled: " + missing);
      } finally {
        lock.unlock();
      }
    }

    @Override
    boolean isInterruption(SQLException error, String state) {
      return state.equals("40502") || super.isInterruption(error, state);
    }
  }

  /** Derby: a database in memory for each scratch, with SQL authorization, so that only its owner may call system procedures. */
  private static final class Derby extends Engine {
    Derby(Map<String, String> options) throws Exception {
      System.setProperty("derby.stream.error.file", "/dev/null");
      System.setProperty("derby.database.sqlAuthorization", "true");
      System.setProperty("derby.locks.deadlockTimeout", "1");
      System.setProperty("derby.system.home", System.getProperty("java.io.tmpdir"));
      levels =
          List.of(
              new Level("read uncommitted", Connection.TRANSACTION_READ_UNCOMMITTED, "derby:read-uncommitted"),
              new Level("read committed", Connection.TRANSACTION_READ_COMMITTED, "derby:read-committed"),
              new Level("repeatable read", Connection.TRANSACTION_REPEATABLE_READ, "derby:repeatable-read"),
              new Level("serializable", Connection.TRANSACTION_SERIALIZABLE, "derby:serializable"));
      defaultLevel = "read committed";
      transactionalDdl = true;
      hasLockTimeout = true;
    }

    @Override
    String name() {
      return "derby";
    }

    @Override
    String version() throws Exception {
      // A database would take a second to make.
      java.sql.Driver driver = DriverManager.getDriver("jdbc:derby:");
      String whole = driver.getClass().getPackage().getImplementationVersion();
      return whole != null ? whole.replaceFirst(" .*", "") : driver.getMajorVersion() + "." + driver.getMinorVersion();
    }

    @Override
    Connection openAdmin(String scratch) throws SQLException {
      return connectAs("jdbc:derby:memory:" + scratch + ";create=true", "OWNER", "x");
    }

    @Override
    Connection connect(Scratch scratch, long lockTimeoutMs) throws SQLException {
      long seconds = Math.max(1, (lockTimeoutMs + 999) / 1000);
      send(scratch.admin, "CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.locks.waitTimeout', '" + seconds + "')");
      return connectAs("jdbc:derby:memory:" + scratch.name, USER, "x");
    }

    @Override
    void clear(Scratch scratch) throws SQLException {
      String schema = schemaOf(scratch);
      List<String> drops = new ArrayList<>();
      try (Statement statement = scratch.admin.createStatement()) {
        collect(statement, drops, "SELECT 'ALTER TABLE ' || S.SCHEMANAME || '.\"' || T.TABLENAME || '\" DROP CONSTRAINT \"' || C.CONSTRAINTNAME || '\"'"
            + " FROM SYS.SYSCONSTRAINTS C JOIN SYS.SYSTABLES T ON T.TABLEID = C.TABLEID JOIN SYS.SYSSCHEMAS S ON S.SCHEMAID = T.SCHEMAID"
            + " WHERE C.TYPE = 'F' AND S.SCHEMANAME = '" + schema + "'");
        collect(statement, drops, "SELECT 'DROP ' || CASE T.TABLETYPE WHEN 'V' THEN 'VIEW ' ELSE 'TABLE ' END || S.SCHEMANAME || '.\"' || T.TABLENAME || '\"'"
            + " FROM SYS.SYSTABLES T JOIN SYS.SYSSCHEMAS S ON S.SCHEMAID = T.SCHEMAID WHERE S.SCHEMANAME = '" + schema + "'"
            + " ORDER BY T.TABLETYPE DESC");
        collect(statement, drops, "SELECT 'DROP SEQUENCE ' || S.SCHEMANAME || '.\"' || Q.SEQUENCENAME || '\" RESTRICT'"
            + " FROM SYS.SYSSEQUENCES Q JOIN SYS.SYSSCHEMAS S ON S.SCHEMAID = Q.SCHEMAID WHERE S.SCHEMANAME = '" + schema + "'");
        for (String drop : drops) statement.execute(drop);
        boolean there;
        try (ResultSet found = statement.executeQuery("SELECT 1 FROM SYS.SYSSCHEMAS WHERE SCHEMANAME = '" + schema + "'")) {
          there = found.next();
        }
        if (!there) statement.execute("CREATE SCHEMA " + schema + " AUTHORIZATION " + USER);
      }
    }

    private static void collect(Statement statement, List<String> into, String query) throws SQLException {
      try (ResultSet rows = statement.executeQuery(query)) {
        while (rows.next()) into.add(rows.getString(1));
      }
    }

    @Override
    void dropScratch(Scratch scratch) throws SQLException {
      scratch.admin.close();
      try {
        connectAs("jdbc:derby:memory:" + scratch.name + ";drop=true", "OWNER", "x").close();
      } catch (SQLException dropped) {
        // That is how Derby says that it worked (08006).
        if (!"08006".equals(dropped.getSQLState())) throw dropped;
      }
    }

    @Override
    boolean isWaiting(Thread thread, Connection connection) {
      return isParked(thread, "org.apache.derby.impl.services.locks.ActiveLock", "waitForGrant");
    }

    /** Derby's driver cannot cancel; the context of the running statement can. */
    @Override
    void cancel(Statement statement, Connection connection, Thread thread) throws SQLException {
      Object context = ask(ask(connection, "getLanguageConnection"), "getStatementContext");
      if (context != null) ask(context, "cancel");
    }

    /** Derby's error code is the severity: from 30000 on the transaction has been rolled back. */
    @Override
    boolean endsTransaction(SQLException error) {
      return error.getErrorCode() >= 30000;
    }

    @Override
    String errorClass(SQLException error, Stop stopped) {
      String state = error.getSQLState() == null ? "" : error.getSQLState();
      if (state.equals("40001")) return "deadlock";
      if (state.equals("40XL1") || state.equals("40XL2")) return "lock-timeout";
      if (state.startsWith("X0X") || state.startsWith("X0Y")) return "syntax";
      return super.errorClass(error, stopped);
    }

    @Override
    boolean isInterruption(SQLException error, String state) {
      return state.equals("XCL52") || super.isInterruption(error, state);
    }

    @Override
    String refusal(String sql) {
      String refused = super.refusal(sql);
      if (refused != null) return refused;
      // A table function of any Java class, or of the diagnostics that read files.
      return Pattern.compile("\\bNEW\\b|::|SYSCS_").matcher(Sql.code(sql)).find() ? "it may call Java" : null;
    }

    /** Derby wants a FROM in every SELECT. */
    @Override
    String rewrite(String sql) {
      if (!Sql.firstWord(sql).equals("SELECT") || Pattern.compile("\\b(FROM|UNION|INTERSECT|EXCEPT)\\b").matcher(Sql.code(sql)).find()) return Sql.withMod(sql);
      return Sql.withMod(sql).strip().replaceFirst(";$", "") + " FROM SYSIBM.SYSDUMMY1";
    }
  }

  /** Any other database: a schema of our own in the database of the URL. What it does is not known beyond JDBC. */
  private static final class General extends Engine {
    private final String url;
    private final String dialect;

    General(Map<String, String> options) throws Exception {
      // In the list of processes everybody could read it.
      url = options.getOrDefault("url", System.getenv("ISOLDE_JDBC_URL"));
      dialect = options.getOrDefault("dialect", "postgres");
      if (options.containsKey("driver")) Class.forName(options.get("driver"));
      levels = new ArrayList<>();
      try (Connection connection = DriverManager.getConnection(url)) {
        String[] names = {"read uncommitted", "read committed", "repeatable read", "serializable"};
        int[] numbers = {1, 2, 4, 8};
        for (int i = 0; i < names.length; i++)
          if (connection.getMetaData().supportsTransactionIsolationLevel(numbers[i]))
            levels.add(new Level(names[i], numbers[i], "ansi:" + names[i].replace(' ', '-')));
        int usual = connection.getTransactionIsolation();
        for (Level level : levels) if (level.number == usual) defaultLevel = level.name;
        if (defaultLevel == null) defaultLevel = levels.get(0).name;
        transactionalDdl = !connection.getMetaData().dataDefinitionCausesTransactionCommit();
        settings.put("product", connection.getMetaData().getDatabaseProductName());
        settings.put("driver", connection.getMetaData().getDriverName());
      }
    }

    @Override
    String name() {
      return "jdbc";
    }

    @Override
    String dialect() {
      return dialect;
    }

    @Override
    String version() throws Exception {
      try (Connection connection = DriverManager.getConnection(url)) {
        return connection.getMetaData().getDatabaseProductVersion();
      }
    }

    @Override
    Connection openAdmin(String scratch) throws SQLException {
      return DriverManager.getConnection(url);
    }

    @Override
    Connection connect(Scratch scratch, long lockTimeoutMs) throws SQLException {
      return DriverManager.getConnection(url);
    }

    @Override
    void clear(Scratch scratch) throws SQLException {
      try {
        send(scratch.admin, "DROP SCHEMA " + scratch.name + " CASCADE");
      } catch (SQLException missing) {
        // The first time there is none; that one cannot be made is told below.
      }
      send(scratch.admin, "CREATE SCHEMA " + scratch.name);
    }

    @Override
    void dropScratch(Scratch scratch) throws SQLException {
      send(scratch.admin, "DROP SCHEMA " + scratch.name + " CASCADE");
      scratch.admin.close();
    }

    @Override
    String schemaOf(Scratch scratch) {
      try {
        return scratch.admin.getMetaData().storesUpperCaseIdentifiers() ? scratch.name.toUpperCase(Locale.ROOT) : scratch.name;
      } catch (SQLException unknown) {
        return scratch.name;
      }
    }

    @Override
    boolean isWaiting(Thread thread, Connection connection) {
      return false;
    }

    @Override
    boolean endsTransaction(SQLException error) {
      return error.getSQLState() != null && error.getSQLState().startsWith("40");
    }

    @Override
    String refusal(String sql) {
      // The allow-list of Isolde decides.
      return null;
    }
  }

  // ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** As much of JSON as the protocol needs; numbers without a fraction are Long. */
  private static final class Json {
    private final String text;
    private int at;

    Json(String text) {
      this.text = text;
    }

    Object read() {
      skip();
      char c = text.charAt(at);
      switch (c) {
        case '{': {
          Map<String, Object> map = new LinkedHashMap<>();
          for (at++; peek() != '}'; ) {
            if (peek() == ',') at++;
            skip();
            String key = string();
            peek();
            at++;
            map.put(key, read());
          }
          at++;
          return map;
        }
        case '[': {
          List<Object> list = new ArrayList<>();
          for (at++; peek() != ']'; ) {
            if (peek() == ',') at++;
            list.add(read());
          }
          at++;
          return list;
        }
        case '"':
          return string();
        case 't':
          at += 4;
          return true;
        case 'f':
          at += 5;
          return false;
        case 'n':
          at += 4;
          return null;
        default: {
          int from = at;
          while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
          String number = text.substring(from, at);
          return number.matches("-?\\d+") ? (Object) Long.valueOf(number) : Double.valueOf(number);
        }
      }
    }

    private char peek() {
      skip();
      return text.charAt(at);
    }

    private void skip() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    private String string() {
      StringBuilder made = new StringBuilder();
      for (at++; text.charAt(at) != '"'; at++) {
        char c = text.charAt(at);
        if (c != '\\') {
          made.append(c);
          continue;
        }
        switch (c = text.charAt(++at)) {
          case 'n' -> made.append('\n');
          case 't' -> made.append('\t');
          case 'r' -> made.append('\r');
          case 'b' -> made.append('\b');
          case 'f' -> made.append('\f');
          case 'u' -> {
            made.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
            at += 4;
          }
          default -> made.append(c);
        }
      }
      at++;
      return made.toString();
    }

    static String write(Object value) {
      StringBuilder to = new StringBuilder();
      write(value, to);
      return to.toString();
    }

    private static void write(Object value, StringBuilder to) {
      if (value instanceof Map<?, ?> map) {
        to.append('{');
        String comma = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          to.append(comma);
          quote((String) entry.getKey(), to);
          to.append(':');
          write(entry.getValue(), to);
          comma = ",";
        }
        to.append('}');
      } else if (value instanceof List<?> list) {
        to.append('[');
        String comma = "";
        for (Object item : list) {
          to.append(comma);
          write(item, to);
          comma = ",";
        }
        to.append(']');
      } else if (value instanceof String string) quote(string, to);
      else to.append(value);
    }

    /** Everything but printable ASCII is escaped: half a surrogate pair survives. */
    private static void quote(String string, StringBuilder to) {
      to.append('"');
      for (int i = 0; i < string.length(); i++) {
        char c = string.charAt(i);
        if (c == '"' || c == '\\') to.append('\\').append(c);
        else if (c >= 0x20 && c < 0x7f) to.append(c);
        else to.append(String.format("\\u%04x", (int) c));
      }
      to.append('"');
    }
  }
}
