-- The pools of addresses: one row an address. Rows are inserted by the operator, with
-- pool_name and framedipaddress; the other columns say who has the address, or had
-- it last. The table is FreeRADIUS's, and its name and columns are as they are there.

CREATE TABLE IF NOT EXISTS radippool (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  pool_name        varchar(64) NOT NULL,
  framedipaddress  varchar(15) NOT NULL DEFAULT '',
  nasipaddress     varchar(45) NOT NULL DEFAULT '',
  calledstationid  varchar(64) NOT NULL DEFAULT '',
  callingstationid varchar(64) NOT NULL DEFAULT '',
  expiry_time      DATETIME NOT NULL DEFAULT (datetime('now')),
  username         varchar(64) NOT NULL DEFAULT '',
  pool_key         varchar(64) NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS radippool_poolname_expire ON radippool (pool_name, expiry_time);
CREATE INDEX IF NOT EXISTS radippool_poolname_username ON radippool (pool_name, username);
CREATE INDEX IF NOT EXISTS radippool_framedipaddress ON radippool (framedipaddress);
CREATE INDEX IF NOT EXISTS radippool_nasip_poolkey_ipaddress ON radippool (nasipaddress, pool_key, framedipaddress);
