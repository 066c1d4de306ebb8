-- Everything that is known of some users, in one statement. The columns are: the
-- user's place in the list (-1: of no user), the kind of the row, the profile it
-- comes through, the membership's priority and id, the group, and the row itself.
-- Kinds: 1 radcheck, 2 radreply, 3 membership, 4 radgroupcheck, 5 radgroupreply,
-- 6 number of open sessions (in the place of the row's id), 7 restricted profile.
WITH
q(i, u) AS MATERIALIZED (
  SELECT key, CAST(unhex(value) AS TEXT) FROM json_each(?1)),
c AS MATERIALIZED (
  SELECT q.i, r.rowid AS id, r.attribute, r.op, r.value
  FROM q CROSS JOIN radcheck r ON r.username = q.u),
g AS MATERIALIZED (
  SELECT q.i, m.priority, m.rowid AS mid, m.groupname
  FROM q CROSS JOIN radusergroup m ON m.username = q.u),
gc AS MATERIALIZED (
  SELECT g.i, g.priority, g.mid, g.groupname, r.rowid AS id, r.attribute, r.op, r.value
  FROM g CROSS JOIN radgroupcheck r ON r.groupname = g.groupname),
p(i, name) AS MATERIALIZED (
  SELECT i, NULLIF(CASE WHEN value LIKE '"%"' OR value LIKE '''%''' THEN substr(value, 2, length(value) - 2) ELSE value END, '')
    FROM c WHERE trim(attribute) = 'User-Profile' COLLATE NOCASE
  UNION SELECT i, NULLIF(CASE WHEN value LIKE '"%"' OR value LIKE '''%''' THEN substr(value, 2, length(value) - 2) ELSE value END, '')
    FROM gc WHERE trim(attribute) = 'User-Profile' COLLATE NOCASE
  UNION SELECT i, ?2 FROM q WHERE ?2 <> ''),
pg AS MATERIALIZED (
  SELECT p.i, p.name, m.priority, m.rowid AS mid, m.groupname
  FROM p CROSS JOIN radusergroup m ON m.username = p.name),
pc AS MATERIALIZED (
  SELECT pg.i, pg.name, pg.priority, pg.mid, pg.groupname, r.rowid AS id, r.attribute, r.op, r.value
  FROM pg CROSS JOIN radgroupcheck r ON r.groupname = pg.groupname),
k(i, attribute) AS MATERIALIZED (
  SELECT i, lower(attribute) FROM c UNION SELECT i, lower(attribute) FROM gc UNION SELECT i, lower(attribute) FROM pc)
SELECT i, 1, '', 0, 0, '', id, attribute, op, value FROM c
UNION ALL
SELECT q.i, 2, '', 0, 0, '', r.rowid, r.attribute, r.op, r.value
  FROM q CROSS JOIN radreply r ON r.username = q.u
UNION ALL
SELECT i, 3, '', priority, mid, groupname, 0, '', '', '' FROM g
UNION ALL
SELECT i, 4, '', priority, mid, groupname, id, attribute, op, value FROM gc
UNION ALL
SELECT g.i, 5, '', g.priority, g.mid, g.groupname, r.rowid, r.attribute, r.op, r.value
  FROM g CROSS JOIN radgroupreply r ON r.groupname = g.groupname
UNION ALL
SELECT i, 3, name, priority, mid, groupname, 0, '', '', '' FROM pg
UNION ALL
SELECT i, 4, name, priority, mid, groupname, id, attribute, op, value FROM pc
UNION ALL
SELECT pg.i, 5, pg.name, pg.priority, pg.mid, pg.groupname, r.rowid, r.attribute, r.op, r.value
  FROM pg CROSS JOIN radgroupreply r ON r.groupname = pg.groupname
UNION ALL
SELECT q.i, 6, '', 0, 0, '',
  (SELECT count(*) FROM radacct a WHERE a.username = q.u AND a.acctstoptime IS NULL), '', '', ''
  FROM k CROSS JOIN q ON q.i = k.i WHERE trim(k.attribute) = 'simultaneous-use'
UNION ALL
SELECT -1, 7, '', 0, 0, '', r.rowid, r.attribute, r.op, r.value
  FROM radgroupreply r WHERE r.groupname = ?3
  AND EXISTS (SELECT 1 FROM k WHERE trim(attribute) = 'radpool-balance')
