-- radpool's own schema, version 1. @int, @text(N) and @end are what the kind of
-- database calls a 64-bit integer, a text of up to N characters compared octet by
-- octet, and how it ends a table. Times are seconds since 1970, money is whole
-- millionths, 0 and '' are none.
CREATE TABLE IF NOT EXISTS radpool_subscriber (
  username           @text(253) NOT NULL PRIMARY KEY,
  password           @text(253) NOT NULL DEFAULT '',
  password_form      @text(32)  NOT NULL DEFAULT 'Cleartext-Password',
  tariff             @text(64)  NOT NULL,
  profile            @text(64)  NOT NULL DEFAULT '',
  credit             @int NOT NULL DEFAULT 0 CHECK (credit BETWEEN 0 AND 1000000000000000),
  blocked            @int NOT NULL DEFAULT 0,
  expires            @int NOT NULL DEFAULT 0,
  simultaneous_use   @int NOT NULL DEFAULT 0 CHECK (simultaneous_use BETWEEN 0 AND 1000000),
  calling_station_id @text(253) NOT NULL DEFAULT ''
@end;

CREATE TABLE IF NOT EXISTS radpool_tariff (
  name               @text(64) NOT NULL PRIMARY KEY,
  price_input_mb     @int NOT NULL DEFAULT 0,
  price_output_mb    @int NOT NULL DEFAULT 0,
  price_hour         @int NOT NULL DEFAULT 0,
  price_day          @int NOT NULL DEFAULT 0,
  mb_octets          @int NOT NULL DEFAULT 1048576,
  zone               @text(64) NOT NULL DEFAULT 'UTC',
  quota_octets       @int NOT NULL DEFAULT 0 CHECK (quota_octets >= 0),
  profile            @text(64) NOT NULL DEFAULT '',
  quota_profile      @text(64) NOT NULL DEFAULT '',
  restricted_profile @text(64) NOT NULL DEFAULT ''
@end;

CREATE TABLE IF NOT EXISTS radpool_interval (
  tariff          @text(64) NOT NULL,
  position        @int NOT NULL,
  days            @int NOT NULL DEFAULT 0,
  from_minute     @int NOT NULL,
  to_minute       @int NOT NULL,
  price_input_mb  @int NOT NULL DEFAULT 0,
  price_output_mb @int NOT NULL DEFAULT 0,
  price_hour      @int NOT NULL DEFAULT 0,
  profile         @text(64) NOT NULL DEFAULT '',
  PRIMARY KEY (tariff, position)
@end;

CREATE TABLE IF NOT EXISTS radpool_profile (
  profile   @text(64)  NOT NULL,
  position  @int NOT NULL,
  vendor    @text(64)  NOT NULL DEFAULT '',
  attribute @text(64)  NOT NULL,
  value     @text(253) NOT NULL,
  PRIMARY KEY (profile, position)
@end;

CREATE TABLE IF NOT EXISTS radpool_nas (
  address @text(45) NOT NULL PRIMARY KEY,
  vendor  @text(64) NOT NULL DEFAULT ''
@end;

CREATE TABLE IF NOT EXISTS radpool_balance (
  username @text(253) NOT NULL PRIMARY KEY,
  balance  @int NOT NULL CHECK (balance BETWEEN -4000000000000000000 AND 4000000000000000000)
@end;

CREATE TABLE IF NOT EXISTS radpool_ledger (
  username  @text(253) NOT NULL,
  reference @text(128) NOT NULL,
  at        @int NOT NULL,
  amount    @int NOT NULL,
  PRIMARY KEY (username, reference)
@end;

CREATE TABLE IF NOT EXISTS radpool_usage (
  username @text(253) NOT NULL,
  month    @int NOT NULL,
  octets   @int NOT NULL,
  PRIMARY KEY (username, month)
@end;

CREATE TABLE IF NOT EXISTS radpool_session (
  unique_id             @text(32)  NOT NULL PRIMARY KEY,
  session_id            @text(253) NOT NULL,
  username              @text(253) NOT NULL,
  nas_address           @text(45)  NOT NULL,
  nas_port              @text(253) NOT NULL,
  start_time            @int NOT NULL,
  update_time           @int NOT NULL,
  stop_time             @int NOT NULL,
  session_time          @int NOT NULL,
  input_octets          @int NOT NULL,
  output_octets         @int NOT NULL,
  terminate_cause       @text(64)  NOT NULL,
  calling_station_id    @text(253) NOT NULL,
  called_station_id     @text(253) NOT NULL,
  framed_address        @text(45)  NOT NULL,
  framed_ipv6_address   @text(45)  NOT NULL,
  framed_ipv6_prefix    @text(45)  NOT NULL,
  delegated_ipv6_prefix @text(45)  NOT NULL,
  class                 @text(512) NOT NULL,
  account               @text(253) NOT NULL,
  tariff                @text(64)  NOT NULL,
  charged               @int NOT NULL,
  entries               @int NOT NULL,
  counted_month         @int NOT NULL,
  counted_octets        @int NOT NULL
@end;

CREATE INDEX @once radpool_session_open ON radpool_session (account, stop_time);

CREATE INDEX @once radpool_session_nas ON radpool_session (nas_address, stop_time);

CREATE TABLE IF NOT EXISTS radpool_schema (
  version @int NOT NULL PRIMARY KEY
@end;
