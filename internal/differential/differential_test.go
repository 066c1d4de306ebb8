package differential_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"
	"github.com/radpool/radpool/internal/need"
	"github.com/radpool/radpool/radpool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Both servers give each user the same answer, from the same rows, but for what
// is listed.
func TestAgainstFreeRADIUS(t *testing.T) {
	path := needFreeRADIUS(t)
	dsn, db := createDatabase(t)
	users := allUsers()
	load(t, db, users)
	theirs, ours := peer{startFreeRADIUS(t, path, dsn)}, peer{startOurs(t, dsn)}

	asked := 0
	listed := make(map[[2]string]difference)
	for _, d := range differences {
		listed[[2]string{d.user, d.words}] = d
	}
	for _, u := range users {
		for _, words := range u.words() {
			asked++
			req := request(t, u.name, words)
			want, got := theirs.ask(t, req, u.message), ours.ask(t, req, u.message)
			if u.clock > 0 {
				sameClock(want, got, u.clock)
			}
			w, g := strings.Join(want, ", "), strings.Join(got, ", ")
			d, known := listed[[2]string{u.name, words}]
			delete(listed, [2]string{u.name, words})
			switch {
			case known && (w != d.upstream || g != d.radpool):
				t.Errorf("%s, %q is listed as a difference, and is another:\n\tFreeRADIUS %s\n\t    listed %s\n\t   radpool %s\n\t    listed %s",
					u.name, words, w, d.upstream, g, d.radpool)
			case !known && w != g:
				t.Errorf("%s, %q:\n\tFreeRADIUS %s\n\t   radpool %s", u.name, words, w, g)
			}
		}
	}
	for _, d := range listed {
		t.Errorf("%s, %q is listed as a difference, and nobody asks", d.user, d.words)
	}
	t.Logf("%d users, %d requests, %d differences, each listed", len(users), asked, len(differences))
	if len(users) < 120 {
		t.Errorf("%d users are too few to cover the rules", len(users))
	}
}

// createDatabase makes a database with Debian's schema, which goes with the test.
func createDatabase(t *testing.T) (dsn string, db *sql.DB) {
	t.Helper()
	server := os.Getenv("RADPOOL_TEST_MYSQL")
	if server == "" {
		need.Missing(t, "a MariaDB that RADPOOL_TEST_MYSQL names (with .ci/databases, which starts a throw-away one)")
	}
	cfg, err := mysqldriver.ParseDSN(server)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = ""
	cfg.MultiStatements = true
	admin, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("radpool_differential_%d", os.Getpid())
	insert(t, admin, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	t.Cleanup(func() {
		_, err := admin.Exec("DROP DATABASE " + name)
		if err = errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	cfg.DBName = name
	db, err = sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	insert(t, db, string(schema))
	for _, table := range []string{"radcheck", "radreply"} { // as in older schemas
		insert(t, db, "ALTER TABLE "+table+" MODIFY op CHAR(2) NULL")
	}
	cfg.MultiStatements = false
	return cfg.FormatDSN(), db
}

func insert(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// startOurs starts a server of this module on the database and returns its
// address. It ends with the test.
func startOurs(t *testing.T, dsn string) string {
	t.Helper()
	backend, err := sqlbilling.Open(t.Context(), "mysql:"+dsn, sqlbilling.Options{DefaultProfile: defaultProfile, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{Name: "nas", Prefix: netip.MustParsePrefix("127.0.0.1/32"), Secret: []byte(secret)})
	if err != nil {
		t.Fatal(err)
	}
	// A user who has just been let in is counted although there is no Start yet.
	// FreeRADIUS does not, so that two who come together are both let in; here each
	// request is to find what the database says.
	processor := &billing.Processor{Handler: backend, ReservationTime: -1}
	s := &radpool.Server{Handler: processor, Clients: clients}
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.ServeServices(socket, radpool.Auth) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := s.Shutdown(ctx)
		if e := <-served; !errors.Is(e, radpool.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		if err = errors.Join(err, backend.Close()); err != nil {
			t.Error(err)
		}
	})
	return socket.LocalAddr().String()
}

// sameClock makes one of two Session-Timeouts that are within so many seconds. One
// that the other answer does not have gets the same text, so that it can be listed.
func sameClock(want, got []string, within int64) {
	const timeout, clock = "Session-Timeout = ", "Session-Timeout = as the clock says"
	find := func(answer []string) (at int, seconds int64) {
		for i, a := range answer {
			if _, err := fmt.Sscanf(a, timeout+"%x ", &seconds); err == nil {
				return i, seconds
			}
		}
		return -1, 0
	}
	w, theirs := find(want)
	g, ours := find(got)
	if w >= 0 && g >= 0 && max(theirs-ours, ours-theirs) > within {
		return
	}
	if w >= 0 {
		want[w] = clock
	}
	if g >= 0 {
		got[g] = clock
	}
}
