#!/usr/bin/env python3
"""An Isolde adapter for SQLite: the smallest complete example of the exec protocol.

Isolde starts this program, writes one JSON object per line to its standard input and reads one JSON object
per line from its standard output (docs/formats/exec-protocol.md). To connect another engine, keep the frame
(`main`, `Session.run`) and replace what touches sqlite3.

    isolde probe "exec:python3 examples/exec-sqlite/adapter.py"

Every session is a thread with its own connection, so statements of different sessions run at the same time,
and answers are written in the order the statements finish.
"""
import json
import math
import os
import queue
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

MAX_SAFE_INTEGER = 2**53 - 1

HELLO = {
    "name": "sqlite",
    "version": sqlite3.sqlite_version,
    "dialect": "sqlite",
    "levels": [{"level": "serializable", "contract": "sqlite:serializable+wal", "begin": "BEGIN"}],
    "defaultLevel": "serializable",
    "features": {
        "conflicts": "fail",
        "counts": "matched",
        "lockingReads": False,
        "savepoints": True,
        "errorDoomsTransaction": False,
        "transactionalDdl": True,
        "cancel": True,
    },
    # Isolde then resets a scratch by dropScratch, createScratch and the set-up statements.
    "reset": False,
    "settings": {"journal_mode": "wal", "adapter": "python sqlite3"},
}


def to_value(value):
    """A Python value as Isolde's JSON: what JSON cannot hold exactly is tagged."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        return {"int": str(value)}
    if isinstance(value, float):
        if math.isnan(value):
            return {"double": "NaN"}
        if math.isinf(value):
            return {"double": "Infinity" if value > 0 else "-Infinity"}
        return value if value != 0 else 0
    return value


def error_class(error, session):
    """What an error means for a transaction. Names come from SQLite's extended result codes."""
    name = getattr(error, "sqlite_errorname", "")
    text = str(error)
    if name == "SQLITE_INTERRUPT" or text == "interrupted":
        return "statement-timeout" if session.timed_out else "cancelled"
    if name == "SQLITE_BUSY_SNAPSHOT":
        return "serialization"
    if name.startswith("SQLITE_BUSY") or name.startswith("SQLITE_LOCKED"):
        return "busy"
    if name in ("SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_ROWID"):
        return "duplicate-key"
    if name.startswith("SQLITE_CONSTRAINT"):
        return "constraint"
    if "syntax error" in text or "incomplete input" in text or "unrecognized token" in text:
        return "syntax"
    return "other"


class Session(threading.Thread):
    """One connection. `inbox` holds requests for it; `None` asks it to leave."""

    def __init__(self, number, path, options):
        super().__init__(daemon=True)
        self.number = number
        self.path = path
        self.statement_timeout = options["statementTimeoutMs"] / 1000
        self.inbox = queue.Queue()
        self.connection = None
        self.ready = threading.Event()
        self.running = False
        self.timed_out = False
        self.deadline = 0.0
        self.stop_requested = False
        self.leaving = False
        self.start()
        self.ready.wait()

    def run(self):
        # isolation_level=None: Python opens no transactions of its own. timeout=0: conflicts fail at once.
        connection = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.set_progress_handler(self.should_stop, 1000)
        self.connection = connection
        self.ready.set()
        while (request := self.inbox.get()) is not None:
            reply(request["id"], self.execute(request["sql"]))
        connection.close()

    def should_stop(self):
        """Called by SQLite every thousand steps; a true answer interrupts the statement."""
        if time.monotonic() > self.deadline:
            self.timed_out = True
            return 1
        return 1 if self.stop_requested or self.leaving else 0

    def execute(self, sql):
        was_open = self.connection.in_transaction
        self.timed_out = False
        self.stop_requested = False
        self.deadline = time.monotonic() + self.statement_timeout
        self.running = True
        answer = {}
        try:
            cursor = self.connection.execute(sql)
            if cursor.description is not None:
                answer["columns"] = [column[0] for column in cursor.description]
                answer["rows"] = [[to_value(value) for value in row] for row in cursor]
            elif cursor.rowcount >= 0:
                answer["matched"] = cursor.rowcount
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            answer["error"] = {
                "class": error_class(error, self),
                "code": getattr(error, "sqlite_errorname", ""),
                "message": str(error),
            }
        finally:
            self.running = False
        is_open = self.connection.in_transaction
        answer["transaction"] = "open" if is_open else "none"
        if was_open and not is_open and "error" in answer:
            answer["ended"] = "rollback"
        return answer

    def cancel(self):
        # Only a flag: interrupt() on an idle connection could stop its next statement.
        if self.running:
            self.stop_requested = True

    def leave(self):
        self.leaving = True
        self.inbox.put(None)
        self.join()


class Adapter:
    """The requests that are not for one session."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="isolde_exec_sqlite_")
        self.sessions = {}
        self.keepers = {}

    def path_of(self, namespace):
        if not namespace.startswith("isolde_") or not namespace.replace("_", "").isalnum():
            raise ValueError(f"not a scratch name: {namespace}")
        return os.path.join(self.folder, f"{namespace}.db")

    def hello(self, request):
        return HELLO

    def createScratch(self, request):
        # One connection stays open as long as the scratch. Otherwise the last session to close takes the log away,
        # and while the next one restores it, others that come at the same moment are refused (SQLITE_BUSY_RECOVERY).
        path = self.path_of(request["namespace"])
        connection = sqlite3.connect(path, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("SELECT * FROM sqlite_master").fetchall()
        self.keepers[path] = connection
        return {}

    def dropScratch(self, request):
        path = self.path_of(request["namespace"])
        for number in [n for n, session in self.sessions.items() if session.path == path]:
            self.sessions.pop(number).leave()
        if path in self.keepers:
            self.keepers.pop(path).close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        return {}

    def openSession(self, request):
        path = self.path_of(request["namespace"])
        self.sessions[request["session"]] = Session(request["session"], path, request)
        return {}

    def closeSession(self, request):
        session = self.sessions.pop(request["session"], None)
        if session is not None:
            session.leave()
        return {}

    def cancel(self, request):
        if request["session"] in self.sessions:
            self.sessions[request["session"]].cancel()
        return {}

    def waiting(self, request):
        # SQLite with timeout=0 never waits. An engine that does lists the numbers of its waiting sessions.
        return {"sessions": []}

    def close(self, request=None):
        for session in list(self.sessions.values()):
            session.leave()
        self.sessions.clear()
        for connection in self.keepers.values():
            connection.close()
        self.keepers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        return {}


output_lock = threading.Lock()


def reply(request_id, result=None, error=None):
    message = {"id": request_id, "ok": result} if error is None else {"id": request_id, "error": error}
    with output_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def main():
    adapter = Adapter()
    operations = (
        "hello createScratch dropScratch openSession closeSession cancel waiting close".split()
    )
    try:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                if request["op"] == "execute":
                    # The session's thread replies when the statement is done; other requests go on meanwhile.
                    adapter.sessions[request["session"]].inbox.put(request)
                elif request["op"] in operations:
                    reply(request["id"], getattr(adapter, request["op"])(request))
                else:
                    reply(request["id"], error=f"unknown request {request['op']}")
            except Exception as error:  # every request gets an answer
                reply(request["id"], error=f"{type(error).__name__}: {error}")
    finally:
        adapter.close()


if __name__ == "__main__":
    main()
