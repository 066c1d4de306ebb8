#!/usr/bin/env python3
"""A billing system behind httpbackend, to copy from: docs/http-backend.md is the protocol.

    python3 remote.py billing.db 8080

It needs nothing but Python 3.8. Put it behind a web server with TLS, or keep it on
the machine of httpbackend: what it answers has passwords in it. With the environment
variable TOKEN it serves only those who know that.
"""
import hmac
import json
import os
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MAX_BODY = 8 << 20  # octets
MAX_INTEGER = 2**63 - 1  # of SQLite

local = threading.local()  # a connection to the database for each thread


def database():
    if not hasattr(local, "db"):
        # Transactions are begun below. FULL: what is committed outlives a power failure.
        local.db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
        local.db.execute("PRAGMA synchronous=FULL")
    return local.db


def authorize(requests):
    """One query for all, one answer for each, in their order."""
    names = list({r["user_name"] for r in requests})
    marks = ",".join("?" * len(names))
    rows = database().execute(f"SELECT name, cleartext, hash, address, blocked FROM subscribers WHERE name IN ({marks})", names)
    known = {row[0]: row for row in rows}
    return {"answers": [answer(known.get(r["user_name"])) for r in requests]}


def answer(row):
    if row is None:
        return {"reject": "unknown-user"}
    _, cleartext, hashed, address, blocked = row
    a = {"reply": [["Session-Timeout", 3600]]}
    if hashed:
        a["hash"] = hashed
    elif cleartext:
        a["cleartext"] = cleartext
    if address:
        a["reply"].append(["Framed-IP-Address", address])
    if blocked:
        a["reject"] = "blocked"
    return a


RECORD = """INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (unique_id) DO UPDATE SET
  start = min(start, excluded.start),
  stop = coalesce(min(stop, excluded.stop), stop, excluded.stop),
  session_time = max(session_time, excluded.session_time),
  input_octets = max(input_octets, excluded.input_octets),
  output_octets = max(output_octets, excluded.output_octets)"""


def account(records):
    """One transaction for all; after it each is durable, or has its own error."""
    db = database()
    db.execute("BEGIN IMMEDIATE")
    try:
        results = [keep(db, r) for r in records]
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return {"results": results}


def keep(db, r):
    octets = int(r["input_octets"]), int(r["output_octets"])  # strings, since they have 64 bits
    if max(octets) > MAX_INTEGER:
        return {"refuse": "more octets than the database can count"}
    if r["status"] in ("Accounting-On", "Accounting-Off"):
        db.execute("INSERT OR IGNORE INTO restarts VALUES (?, ?)", (r["nas"], r["time"]))
    elif r["status"] in ("Start", "Interim-Update", "Stop"):
        stop = r["time"] if r["status"] == "Stop" else None
        db.execute(RECORD, (r["unique_id"], r["session_id"], r["user_name"], r["nas"],
                            r["time"] - r["session_time"], stop, r["session_time"], *octets))
    return {"ok": True}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    timeout = 120  # seconds that one may be idle
    disable_nagle_algorithm = True  # head and body are two writes

    def do_POST(self):
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MAX_BODY:
            self.close_connection = True
            return self.reply(413, {})
        body = self.rfile.read(length)
        token = os.environ.get("TOKEN", "")
        if token and not hmac.compare_digest(self.headers.get("Authorization", "").encode(), b"Bearer " + token.encode()):
            return self.reply(401, {})
        try:
            if self.path == "/authorize":
                return self.reply(200, authorize(json.loads(body)["requests"]))
            if self.path == "/account":
                return self.reply(200, account(json.loads(body)["records"]))
        except (ValueError, KeyError, TypeError) as e:
            self.log_error("%s: %r", self.path, e)
            return self.reply(400, {})
        except sqlite3.Error as e:  # such as a database that is locked: it may go better later
            self.log_error("%s: %r", self.path, e)
            return self.reply(503, {}, ("Retry-After", "1"))
        return self.reply(404, {})

    def reply(self, status, content, *headers):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for header in headers:
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        pass  # only errors are logged


def main():
    db = database()
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript((Path(__file__).parent.parent / "schema.sql").read_text())
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.daemon_threads = True
    print("ready", server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
