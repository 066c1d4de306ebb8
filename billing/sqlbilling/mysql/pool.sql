-- The pools of addresses: one row an address. Rows are inserted by the operator, with
-- pool_name and framedipaddress; the other columns say who has the address, or had
-- it last. The table is FreeRADIUS's, and its name and columns are as they are there.

CREATE TABLE IF NOT EXISTS radippool (
  id               INT UNSIGNED NOT NULL AUTO_INCREMENT,
  pool_name        VARCHAR(64) NOT NULL,
  framedipaddress  VARCHAR(15) NOT NULL DEFAULT '',
  nasipaddress     VARCHAR(45) NOT NULL DEFAULT '',
  calledstationid  VARCHAR(64) NOT NULL DEFAULT '',
  callingstationid VARCHAR(64) NOT NULL DEFAULT '',
  expiry_time      DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  username         VARCHAR(64) NOT NULL DEFAULT '',
  pool_key         VARCHAR(64) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY radippool_poolname_expire (pool_name, expiry_time),
  KEY radippool_poolname_username (pool_name, username),
  KEY radippool_framedipaddress (framedipaddress),
  KEY radippool_nasip_poolkey_ipaddress (nasipaddress, pool_key, framedipaddress)
) ENGINE = InnoDB
