-- What authorize.sql reads, for one user, whose name is the first parameter. It
-- comes without temporary tables, which cost more than the rows of one user. A
-- row of a profile may come twice.
WITH
p(name) AS NOT MATERIALIZED (
  SELECT NULLIF(CASE WHEN value LIKE '"%"' OR value LIKE '''%''' THEN substr(value, 2, length(value) - 2) ELSE value END, '')
    FROM radcheck WHERE username = ?1 AND trim(attribute) = 'User-Profile' COLLATE NOCASE
  UNION ALL
  SELECT NULLIF(CASE WHEN r.value LIKE '"%"' OR r.value LIKE '''%''' THEN substr(r.value, 2, length(r.value) - 2) ELSE r.value END, '')
    FROM radusergroup m CROSS JOIN radgroupcheck r ON r.groupname = m.groupname
    WHERE m.username = ?1 AND trim(r.attribute) = 'User-Profile' COLLATE NOCASE
  UNION ALL SELECT ?2 WHERE ?2 <> ''),
k(attribute) AS NOT MATERIALIZED (
  SELECT attribute FROM radcheck WHERE username = ?1
  UNION ALL
  SELECT r.attribute FROM radusergroup m CROSS JOIN radgroupcheck r ON r.groupname = m.groupname WHERE m.username = ?1
  UNION ALL
  SELECT r.attribute FROM p CROSS JOIN radusergroup m ON m.username = p.name
    CROSS JOIN radgroupcheck r ON r.groupname = m.groupname)
SELECT 0, 1, '', 0, 0, '', rowid, attribute, op, value FROM radcheck WHERE username = ?1
UNION ALL
SELECT 0, 2, '', 0, 0, '', rowid, attribute, op, value FROM radreply WHERE username = ?1
UNION ALL
SELECT 0, 3, '', priority, rowid, groupname, 0, '', '', '' FROM radusergroup WHERE username = ?1
UNION ALL
SELECT 0, 4, '', m.priority, m.rowid, m.groupname, r.rowid, r.attribute, r.op, r.value
  FROM radusergroup m CROSS JOIN radgroupcheck r ON r.groupname = m.groupname WHERE m.username = ?1
UNION ALL
SELECT 0, 5, '', m.priority, m.rowid, m.groupname, r.rowid, r.attribute, r.op, r.value
  FROM radusergroup m CROSS JOIN radgroupreply r ON r.groupname = m.groupname WHERE m.username = ?1
UNION ALL
SELECT 0, 3, p.name, m.priority, m.rowid, m.groupname, 0, '', '', ''
  FROM p CROSS JOIN radusergroup m ON m.username = p.name
UNION ALL
SELECT 0, 4, p.name, m.priority, m.rowid, m.groupname, r.rowid, r.attribute, r.op, r.value
  FROM p CROSS JOIN radusergroup m ON m.username = p.name CROSS JOIN radgroupcheck r ON r.groupname = m.groupname
UNION ALL
SELECT 0, 5, p.name, m.priority, m.rowid, m.groupname, r.rowid, r.attribute, r.op, r.value
  FROM p CROSS JOIN radusergroup m ON m.username = p.name CROSS JOIN radgroupreply r ON r.groupname = m.groupname
UNION ALL
SELECT 0, 6, '', 0, 0, '',
  (SELECT count(*) FROM radacct a WHERE a.username = ?1 AND a.acctstoptime IS NULL), '', '', ''
  WHERE EXISTS (SELECT 1 FROM k WHERE trim(attribute) = 'Simultaneous-Use' COLLATE NOCASE)
UNION ALL
SELECT -1, 7, '', 0, 0, '', r.rowid, r.attribute, r.op, r.value
  FROM radgroupreply r WHERE r.groupname = ?3
  AND EXISTS (SELECT 1 FROM k WHERE trim(attribute) = 'Radpool-Balance' COLLATE NOCASE)
