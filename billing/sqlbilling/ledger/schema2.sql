-- radpool's own schema, version 2: what a NAS is asked for about sessions in progress, who
-- may send requests, and how authentications ended. @column comes before the name of a
-- column that is added.
ALTER TABLE radpool_nas ADD COLUMN @column name @text(64) NOT NULL DEFAULT '';

ALTER TABLE radpool_nas ADD COLUMN @column secret @text(253) NOT NULL DEFAULT '';

ALTER TABLE radpool_nas ADD COLUMN @column coa_port @int NOT NULL DEFAULT 0;

ALTER TABLE radpool_nas ADD COLUMN @column coa_secret @text(253) NOT NULL DEFAULT '';

CREATE TABLE IF NOT EXISTS radpool_control (
  unique_id  @text(32) NOT NULL PRIMARY KEY,
  version    @int NOT NULL,
  applied    @int NOT NULL,
  wanted     @int NOT NULL,
  phase      @int NOT NULL,
  instead    @int NOT NULL,
  unsure     @int NOT NULL,
  tries      @int NOT NULL,
  next_at    @int NOT NULL
@end;

CREATE INDEX @once radpool_session_live ON radpool_session (stop_time, unique_id);

CREATE TABLE IF NOT EXISTS radpool_postauth (
  id                 @text(32)  NOT NULL PRIMARY KEY,
  username           @text(253) NOT NULL,
  reply              @text(32)  NOT NULL,
  reason             @text(64)  NOT NULL,
  at                 @int NOT NULL,
  nas_address        @text(45)  NOT NULL,
  calling_station_id @text(253) NOT NULL
@end;

CREATE INDEX @once radpool_postauth_user ON radpool_postauth (username, at);

CREATE INDEX @once radpool_postauth_at ON radpool_postauth (at);
