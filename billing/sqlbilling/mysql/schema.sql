-- The standard FreeRADIUS schema for MariaDB and MySQL. Names and addresses have
-- the length that RADIUS allows; the indexes of radacct are those that are used.
CREATE TABLE IF NOT EXISTS radcheck (
  id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  username  VARCHAR(253) NOT NULL DEFAULT '',
  attribute VARCHAR(64)  NOT NULL DEFAULT '',
  op        CHAR(2)      NOT NULL DEFAULT '==',
  value     VARCHAR(253) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY username (username)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radreply (
  id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  username  VARCHAR(253) NOT NULL DEFAULT '',
  attribute VARCHAR(64)  NOT NULL DEFAULT '',
  op        CHAR(2)      NOT NULL DEFAULT '=',
  value     VARCHAR(253) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY username (username)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radgroupcheck (
  id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  groupname VARCHAR(64)  NOT NULL DEFAULT '',
  attribute VARCHAR(64)  NOT NULL DEFAULT '',
  op        CHAR(2)      NOT NULL DEFAULT '==',
  value     VARCHAR(253) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY groupname (groupname)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radgroupreply (
  id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  groupname VARCHAR(64)  NOT NULL DEFAULT '',
  attribute VARCHAR(64)  NOT NULL DEFAULT '',
  op        CHAR(2)      NOT NULL DEFAULT '=',
  value     VARCHAR(253) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY groupname (groupname)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radusergroup (
  id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  username  VARCHAR(253) NOT NULL DEFAULT '',
  groupname VARCHAR(64)  NOT NULL DEFAULT '',
  priority  INT          NOT NULL DEFAULT 1,
  PRIMARY KEY (id),
  KEY username (username)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radacct (
  radacctid           BIGINT       NOT NULL AUTO_INCREMENT,
  acctsessionid       VARCHAR(64)  NOT NULL DEFAULT '',
  acctuniqueid        VARCHAR(32)  NOT NULL DEFAULT '',
  username            VARCHAR(253) NOT NULL DEFAULT '',
  realm               VARCHAR(64)  DEFAULT '',
  nasipaddress        VARCHAR(45)  NOT NULL DEFAULT '',
  nasportid           VARCHAR(253) DEFAULT NULL,
  nasporttype         VARCHAR(32)  DEFAULT NULL,
  acctstarttime       DATETIME     DEFAULT NULL,
  acctupdatetime      DATETIME     DEFAULT NULL,
  acctstoptime        DATETIME     DEFAULT NULL,
  acctinterval        INT          DEFAULT NULL,
  acctsessiontime     BIGINT       DEFAULT NULL,
  acctauthentic       VARCHAR(32)  DEFAULT NULL,
  connectinfo_start   VARCHAR(253) DEFAULT NULL,
  connectinfo_stop    VARCHAR(253) DEFAULT NULL,
  acctinputoctets     BIGINT       DEFAULT NULL,
  acctoutputoctets    BIGINT       DEFAULT NULL,
  calledstationid     VARCHAR(253) NOT NULL DEFAULT '',
  callingstationid    VARCHAR(253) NOT NULL DEFAULT '',
  acctterminatecause  VARCHAR(32)  NOT NULL DEFAULT '',
  servicetype         VARCHAR(32)  DEFAULT NULL,
  framedprotocol      VARCHAR(32)  DEFAULT NULL,
  framedipaddress     VARCHAR(15)  NOT NULL DEFAULT '',
  framedipv6address   VARCHAR(45)  NOT NULL DEFAULT '',
  framedipv6prefix    VARCHAR(45)  NOT NULL DEFAULT '',
  framedinterfaceid   VARCHAR(44)  NOT NULL DEFAULT '',
  delegatedipv6prefix VARCHAR(45)  NOT NULL DEFAULT '',
  class               VARCHAR(512) DEFAULT NULL,
  PRIMARY KEY (radacctid),
  UNIQUE KEY acctuniqueid (acctuniqueid),
  KEY username_stop (username, acctstoptime),
  KEY nas_stop (nasipaddress, acctstoptime),
  KEY acctstarttime (acctstarttime),
  KEY framedipaddress (framedipaddress)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS radpostauth (
  id       BIGINT       NOT NULL AUTO_INCREMENT,
  username VARCHAR(253) NOT NULL DEFAULT '',
  pass     VARCHAR(253) NOT NULL DEFAULT '',
  reply    VARCHAR(32)  NOT NULL DEFAULT '',
  authdate DATETIME     NOT NULL,
  class    VARCHAR(512) DEFAULT NULL,
  reason   VARCHAR(32)  NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY username (username, authdate)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS nas (
  id          INT          NOT NULL AUTO_INCREMENT,
  nasname     VARCHAR(128) NOT NULL,
  shortname   VARCHAR(32)  DEFAULT NULL,
  type        VARCHAR(30)  DEFAULT 'other',
  ports       INT          DEFAULT NULL,
  secret      VARCHAR(60)  NOT NULL DEFAULT 'secret',
  server      VARCHAR(64)  DEFAULT NULL,
  community   VARCHAR(50)  DEFAULT NULL,
  description VARCHAR(200) DEFAULT 'RADIUS Client',
  PRIMARY KEY (id),
  KEY nasname (nasname)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS nasreload (
  nasipaddress VARCHAR(45) NOT NULL,
  reloadtime   DATETIME    NOT NULL,
  PRIMARY KEY (nasipaddress)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
