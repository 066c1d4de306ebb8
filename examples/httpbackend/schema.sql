-- What the samples in Python and in PHP keep, in SQLite. All that an accounting
-- record changes is a least or a greatest, so records may come in any order and any
-- number of times; what a restart of a NAS ended is found out when it is looked at.
CREATE TABLE IF NOT EXISTS subscribers (
  name TEXT PRIMARY KEY,
  cleartext TEXT,
  hash TEXT,
  address TEXT,
  blocked INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS records (
  unique_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  user_name TEXT NOT NULL,
  nas TEXT NOT NULL,
  start INTEGER NOT NULL,
  stop INTEGER,
  session_time INTEGER NOT NULL,
  input_octets INTEGER NOT NULL,
  output_octets INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS restarts (
  nas TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (nas, time)
);
CREATE VIEW IF NOT EXISTS sessions AS
SELECT unique_id, session_id, user_name, nas, start, session_time, input_octets, output_octets,
  (SELECT min(time) FROM (
    SELECT records.stop AS time WHERE records.stop IS NOT NULL
    UNION ALL
    SELECT restarts.time FROM restarts WHERE restarts.nas = records.nas AND restarts.time > records.start)) AS stop
FROM records;
