package radpool

import (
	"fmt"
	"strings"
	"time"

	"github.com/radpool/radpool/internal/radiusconf"
)

// confDatabase is a sql section while it is read.
type confDatabase struct {
	ConfSQL
	driver, dialect string // as they stand
	file            string // of sqlite
	timeout         int    // query_timeout
}

// confDrivers are those of FreeRADIUS, with our name for those that can be used.
var confDrivers = map[string]string{
	"mysql": "mysql", "postgresql": "postgresql", "sqlite": "sqlite",
	"null": "", "oracle": "", "freetds": "", "mssql": "", "unixodbc": "", "iodbc": "", "firebird": "", "db2": "", "cassandra": "", "mongo": "", "sybase": "",
}

// readSQL reads sql { } or sql NAME { }.
func (r *confReader) readSQL(s *radiusconf.Section) {
	q := &confDatabase{ConfSQL: ConfSQL{Name: s.Name}}
	if s.Instance != "" {
		q.Name = s.Instance
	}
	r.database = q
	before := len(r.errs)
	r.read(s, r.kinds.sql)
	if len(r.errs) > before || len(r.errs) >= MaxConfErrors {
		return
	}
	driver := strings.TrimPrefix(q.driver, "rlm_sql_")
	if driver == "" {
		driver = q.dialect
	}
	ours, known := confDrivers[driver]
	switch {
	case driver == "":
		r.fail(s.Pos, s.Title(), "has no driver: rlm_sql_mysql, rlm_sql_postgresql or rlm_sql_sqlite")
		return
	case !known:
		r.fail(s.Pos, s.Title(), fmt.Sprintf("has driver %.32q: must be rlm_sql_mysql, rlm_sql_postgresql or rlm_sql_sqlite", driver))
		return
	case ours == "":
		r.pass(s.Pos, s.Title()+" with driver "+driver, lost("databases are MySQL, PostgreSQL and SQLite"))
		return
	}
	q.Driver = ours
	q.QueryTimeout = time.Duration(q.timeout) * time.Second
	if ours == "sqlite" {
		q.Database = q.file
	}
	if q.Database == "" {
		name := "radius_db"
		if ours == "sqlite" {
			name = "filename in its sqlite { }"
		}
		r.fail(s.Pos, s.Title(), "has no "+name)
		return
	}
	r.conf.SQL = append(r.conf.SQL, q.ConfSQL)
}

func sqlKind() *confKind {
	text := func(dst func(*confDatabase) *string) confTake {
		return func(r *confReader, _ *radiusconf.Pair, value string) string {
			*dst(r.database) = value
			return ""
		}
	}
	table := func(name string) confTake { return confOneOf("the tables are those of FreeRADIUS's schema", name) }
	dialect := text(func(q *confDatabase) *string { return &q.dialect })
	readClients := confYesNo(func(r *confReader) *bool { return &r.database.ReadClients })
	return &confKind{
		title: "sql.",
		pairs: map[string]confTake{
			"driver":  text(func(q *confDatabase) *string { return &q.driver }),
			"dialect": dialect, "database": dialect,
			"server":        text(func(q *confDatabase) *string { return &q.Server }),
			"login":         text(func(q *confDatabase) *string { return &q.Login }),
			"password":      text(func(q *confDatabase) *string { return &q.Password }),
			"port":          sqlPort,
			"radius_db":     sqlDatabase,
			"num_sql_socks": confWithin(1, MaxWorkers, sqlConns),
			"readclients":   readClients, "read_clients": readClients,
			"default_user_profile": text(func(q *confDatabase) *string { return &q.DefaultProfile }),
			"read_groups":          confNot(func(q *confDatabase) *bool { return &q.GroupsByFallThrough }),
			"read_profiles":        confNot(func(q *confDatabase) *bool { return &q.ProfilesByFallThrough }),
			"query_timeout":        confWithin(0, 600, func(r *confReader) *int { return &r.database.timeout }),
			"acct_table1":          table("radacct"), "acct_table2": table("radacct"),
			"postauth_table": table("radpostauth"), "usergroup_table": table("radusergroup"),
			"authcheck_table": table("radcheck"), "authreply_table": table("radreply"),
			"groupcheck_table": table("radgroupcheck"), "groupreply_table": table("radgroupreply"),
			"client_table": table("nas"), "nas_table": table("nas"),
		},
		sections: map[string]func(*confReader, *radiusconf.Section){
			"pool":   func(r *confReader, s *radiusconf.Section) { r.read(s, r.kinds.sqlPool) },
			"sqlite": func(r *confReader, s *radiusconf.Section) { r.read(s, r.kinds.sqlite) },
		},
		pass: passAll(map[confReason]string{
			lost("it is about another database or TLS, which -db of billingd says"): "mysql postgresql oracle mongo cassandra freetds mssql unixodbc iodbc firebird db2 null",
			lost("a user is looked for by the User-Name as it came"):                "sql_user_name",
			harmless(confSQLDecides): "group_attribute delete_stale_sessions deletestalesessions " +
				"sqltrace sqltracefile logfile auto_escape insert_acct_class",
			lost("see -escape-names of billingd"): "safe_characters safe-characters",
			harmless(confSQLConns):                "lifetime max_queries connect_failure_retry_delay",
		}),
		other: isQuery,
	}
}

// Reasons of sql { }.
const (
	confSQLDecides = "billingd decides it by itself"
	confSQLConns   = "connections are opened as they are needed, and tried again by themselves"
)

func sqlPoolKind() *confKind {
	return &confKind{
		title: "sql.pool.",
		pairs: map[string]confTake{"max": confWithin(1, MaxWorkers, sqlConns)},
		pass: passAll(map[confReason]string{
			harmless(confSQLConns): "start min spare uses retry_delay lifetime idle_timeout connect_timeout max_retries spread cleanup_interval cleanup_delay " +
				"held_trigger_min held_trigger_max lifetime_jitter pending",
		}),
	}
}

func sqliteKind() *confKind {
	return &confKind{
		title: "sql.sqlite.",
		pairs: map[string]confTake{"filename": func(r *confReader, _ *radiusconf.Pair, value string) string {
			r.database.file = value
			return ""
		}},
		pass: passAll(map[confReason]string{harmless(confSQLDecides): "busy_timeout bootstrap"}),
	}
}

// confNot takes a truth value whose opposite is kept.
func confNot(dst func(*confDatabase) *bool) confTake {
	return func(r *confReader, p *radiusconf.Pair, value string) string {
		var yes bool
		problem := confYesNo(func(*confReader) *bool { return &yes })(r, p, value)
		*dst(r.database) = problem == "" && !yes
		return problem
	}
}

// sqlConns is how many connections there may be at most.
func sqlConns(r *confReader) *int { return &r.database.MaxConns }

func sqlPort(r *confReader, p *radiusconf.Pair, value string) string {
	if value == "" {
		return ""
	}
	return confWithin(0, 65535, func(r *confReader) *int { return &r.database.Port })(r, p, value)
}

func sqlDatabase(r *confReader, _ *radiusconf.Pair, value string) string {
	if strings.Contains(value, "=") { // and perhaps a password in it
		return "must be the name of a database: write the rest in server, port, login and password"
	}
	r.database.Database = value
	return ""
}

// isQuery passes over the statements, in whatever pairs and sections they stand, and the
// parts of them that have names.
func isQuery(r *confReader, item radiusconf.Item) bool {
	const why = "your own statements are not run: those of billingd are for FreeRADIUS's tables as they are"
	switch {
	case item.Pair != nil && (strings.Contains(item.Pair.Name, "query") || strings.HasPrefix(item.Pair.Name, "event_timestamp")):
		r.pass(item.Pair.Pos, "sql queries", lost(why))
		return true
	case item.Section != nil && (item.Section.Name == "accounting" || item.Section.Name == "post-auth" || item.Section.Name == "class"):
		r.pass(item.Section.Pos, "sql queries", lost(why))
		return true
	}
	return false
}
