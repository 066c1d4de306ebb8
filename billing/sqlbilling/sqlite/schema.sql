-- The standard FreeRADIUS schema for SQLite. Times are seconds since 1970.
CREATE TABLE radcheck (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  username  TEXT NOT NULL DEFAULT '',
  attribute TEXT NOT NULL DEFAULT '',
  op        TEXT NOT NULL DEFAULT '==',
  value     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX radcheck_username ON radcheck (username);

CREATE TABLE radreply (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  username  TEXT NOT NULL DEFAULT '',
  attribute TEXT NOT NULL DEFAULT '',
  op        TEXT NOT NULL DEFAULT '=',
  value     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX radreply_username ON radreply (username);

CREATE TABLE radgroupcheck (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  groupname TEXT NOT NULL DEFAULT '',
  attribute TEXT NOT NULL DEFAULT '',
  op        TEXT NOT NULL DEFAULT '==',
  value     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX radgroupcheck_groupname ON radgroupcheck (groupname);

CREATE TABLE radgroupreply (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  groupname TEXT NOT NULL DEFAULT '',
  attribute TEXT NOT NULL DEFAULT '',
  op        TEXT NOT NULL DEFAULT '=',
  value     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX radgroupreply_groupname ON radgroupreply (groupname);

CREATE TABLE radusergroup (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  username  TEXT NOT NULL DEFAULT '',
  groupname TEXT NOT NULL DEFAULT '',
  priority  INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX radusergroup_username ON radusergroup (username);

CREATE TABLE radacct (
  radacctid           INTEGER PRIMARY KEY AUTOINCREMENT,
  acctsessionid       TEXT NOT NULL DEFAULT '',
  acctuniqueid        TEXT NOT NULL DEFAULT '',
  username            TEXT NOT NULL DEFAULT '',
  realm               TEXT NOT NULL DEFAULT '',
  nasipaddress        TEXT NOT NULL DEFAULT '',
  nasportid           TEXT,
  nasporttype         TEXT,
  acctstarttime       INTEGER,
  acctupdatetime      INTEGER,
  acctstoptime        INTEGER,
  acctinterval        INTEGER,
  acctsessiontime     INTEGER,
  acctauthentic       TEXT,
  connectinfo_start   TEXT,
  connectinfo_stop    TEXT,
  acctinputoctets     INTEGER,
  acctoutputoctets    INTEGER,
  calledstationid     TEXT NOT NULL DEFAULT '',
  callingstationid    TEXT NOT NULL DEFAULT '',
  acctterminatecause  TEXT NOT NULL DEFAULT '',
  servicetype         TEXT,
  framedprotocol      TEXT,
  framedipaddress     TEXT NOT NULL DEFAULT '',
  framedipv6address   TEXT NOT NULL DEFAULT '',
  framedipv6prefix    TEXT NOT NULL DEFAULT '',
  framedinterfaceid   TEXT NOT NULL DEFAULT '',
  delegatedipv6prefix TEXT NOT NULL DEFAULT '',
  class               TEXT
);
CREATE UNIQUE INDEX radacct_acctuniqueid ON radacct (acctuniqueid);
CREATE INDEX radacct_open ON radacct (username) WHERE acctstoptime IS NULL;
CREATE INDEX radacct_username_start ON radacct (username, acctstarttime);
CREATE INDEX radacct_nas_stop ON radacct (nasipaddress, acctstoptime);

CREATE TABLE radpostauth (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL DEFAULT '',
  pass     TEXT NOT NULL DEFAULT '',
  reply    TEXT NOT NULL DEFAULT '',
  authdate INTEGER NOT NULL,
  class    TEXT,
  reason   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX radpostauth_username ON radpostauth (username, authdate);

CREATE TABLE nas (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  nasname     TEXT NOT NULL DEFAULT '',
  shortname   TEXT,
  type        TEXT DEFAULT 'other',
  ports       INTEGER,
  secret      TEXT NOT NULL DEFAULT '',
  server      TEXT,
  community   TEXT,
  description TEXT DEFAULT 'RADIUS Client'
);
CREATE INDEX nas_nasname ON nas (nasname);

CREATE TABLE nasreload (
  nasipaddress TEXT NOT NULL PRIMARY KEY,
  reloadtime   INTEGER NOT NULL
);
