-- The pools of addresses: one row an address. Rows are inserted by the operator, with
-- pool_name and framedipaddress; the other columns say who has the address, or had
-- it last. The table is FreeRADIUS's, and its name and columns are as they are there.

DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(82658467);
  CREATE TABLE IF NOT EXISTS radippool (
    id               bigserial PRIMARY KEY,
    pool_name        text NOT NULL,
    framedipaddress  inet NOT NULL,
    nasipaddress     text NOT NULL DEFAULT '',
    pool_key         text NOT NULL DEFAULT '',
    calledstationid  text NOT NULL DEFAULT '',
    callingstationid text NOT NULL DEFAULT '',
    expiry_time      timestamp(0) without time zone NOT NULL DEFAULT now(),
    username         text NOT NULL DEFAULT ''
  );
  CREATE INDEX IF NOT EXISTS radippool_poolname_expire ON radippool (pool_name, expiry_time);
  CREATE INDEX IF NOT EXISTS radippool_poolname_username ON radippool (pool_name, username);
  CREATE INDEX IF NOT EXISTS radippool_framedipaddress ON radippool (framedipaddress);
  CREATE INDEX IF NOT EXISTS radippool_nasip_poolkey_ipaddress ON radippool (nasipaddress, pool_key, framedipaddress);
END $$
