-- The standard FreeRADIUS schema for PostgreSQL. The indexes of radacct are those
-- that are used.
CREATE TABLE radcheck (
  id        serial PRIMARY KEY,
  username  text NOT NULL DEFAULT '',
  attribute text NOT NULL DEFAULT '',
  op        varchar(2) NOT NULL DEFAULT '==',
  value     text NOT NULL DEFAULT ''
);
CREATE INDEX radcheck_username ON radcheck (username, attribute);

CREATE TABLE radreply (
  id        serial PRIMARY KEY,
  username  text NOT NULL DEFAULT '',
  attribute text NOT NULL DEFAULT '',
  op        varchar(2) NOT NULL DEFAULT '=',
  value     text NOT NULL DEFAULT ''
);
CREATE INDEX radreply_username ON radreply (username, attribute);

CREATE TABLE radgroupcheck (
  id        serial PRIMARY KEY,
  groupname text NOT NULL DEFAULT '',
  attribute text NOT NULL DEFAULT '',
  op        varchar(2) NOT NULL DEFAULT '==',
  value     text NOT NULL DEFAULT ''
);
CREATE INDEX radgroupcheck_groupname ON radgroupcheck (groupname, attribute);

CREATE TABLE radgroupreply (
  id        serial PRIMARY KEY,
  groupname text NOT NULL DEFAULT '',
  attribute text NOT NULL DEFAULT '',
  op        varchar(2) NOT NULL DEFAULT '=',
  value     text NOT NULL DEFAULT ''
);
CREATE INDEX radgroupreply_groupname ON radgroupreply (groupname, attribute);

CREATE TABLE radusergroup (
  id        serial PRIMARY KEY,
  username  text NOT NULL DEFAULT '',
  groupname text NOT NULL DEFAULT '',
  priority  integer NOT NULL DEFAULT 0
);
CREATE INDEX radusergroup_username ON radusergroup (username);

CREATE TABLE radacct (
  radacctid           bigserial PRIMARY KEY,
  acctsessionid       text NOT NULL,
  acctuniqueid        text NOT NULL UNIQUE,
  username            text,
  realm               text,
  nasipaddress        inet NOT NULL,
  nasportid           text,
  nasporttype         text,
  acctstarttime       timestamp with time zone,
  acctupdatetime      timestamp with time zone,
  acctstoptime        timestamp with time zone,
  acctinterval        bigint,
  acctsessiontime     bigint,
  acctauthentic       text,
  connectinfo_start   text,
  connectinfo_stop    text,
  acctinputoctets     bigint,
  acctoutputoctets    bigint,
  calledstationid     text,
  callingstationid    text,
  acctterminatecause  text,
  servicetype         text,
  framedprotocol      text,
  framedipaddress     inet,
  framedipv6address   inet,
  framedipv6prefix    inet,
  framedinterfaceid   text,
  delegatedipv6prefix inet,
  class               text
);
CREATE INDEX radacct_open ON radacct (username) WHERE acctstoptime IS NULL;
CREATE INDEX radacct_nas_open ON radacct (nasipaddress) WHERE acctstoptime IS NULL;
CREATE INDEX radacct_start_username ON radacct (acctstarttime, username);

CREATE TABLE radpostauth (
  id               bigserial PRIMARY KEY,
  username         text NOT NULL,
  pass             text,
  reply            text,
  calledstationid  text,
  callingstationid text,
  authdate         timestamp with time zone NOT NULL DEFAULT now(),
  class            text,
  reason           text NOT NULL DEFAULT ''
);
CREATE INDEX radpostauth_username ON radpostauth (username, authdate);

CREATE TABLE nas (
  id          serial PRIMARY KEY,
  nasname     text NOT NULL,
  shortname   text NOT NULL,
  type        text NOT NULL DEFAULT 'other',
  ports       integer,
  secret      text NOT NULL,
  server      text,
  community   text,
  description text
);
CREATE INDEX nas_nasname ON nas (nasname);

CREATE TABLE nasreload (
  nasipaddress inet PRIMARY KEY,
  reloadtime   timestamp with time zone NOT NULL
);
