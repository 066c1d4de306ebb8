//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing/billingtest"
)

func cleartext(password string) string { return password }

// The suite for back ends holds for the two halves together: a directory for
// subscribers, a database for accounting.
func TestConformance(t *testing.T) {
	s := startSlapd(t, "")
	for name, test := range map[string]struct {
		mode  string
		store func(string) string
	}{
		"hash, in cleartext": {modeHash, cleartext},
		"hash, as SSHA":      {modeHash, ssha},
		"bind":               {modeBind, ssha},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			billingtest.TestHandler(t, func(ctx context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
				n++
				base := fmt.Sprintf("ou=%s %d,%s", strings.ReplaceAll(name, ",", ""), n, suffix)
				if err := s.add(base, subscribers, test.store); err != nil {
					return nil, err
				}
				dir := t.TempDir()
				o := s.options(t, "-mode", test.mode, "-base", base)
				return s.suite(ctx, t, o, dir)
			})
		})
	}
}

// add adds people in a branch of their own.
func (s *slapd) add(base string, people []billingtest.Subscriber, store func(string) string) error {
	c, err := ldap.DialURL(s.url)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Bind(adminDN, secret); err != nil {
		return err
	}
	branch := ldap.NewAddRequest(base, nil)
	branch.Attribute("objectClass", []string{"organizationalUnit"})
	if err := c.Add(branch); err != nil {
		return err
	}
	for i, sub := range people {
		one := ldap.NewAddRequest(fmt.Sprintf("cn=person %d,%s", i, base), nil)
		one.Attribute("objectClass", []string{"inetOrgPerson", "radiusprofile"})
		one.Attribute("sn", []string{"person"})
		one.Attribute("uid", []string{sub.UserName})
		one.Attribute("userPassword", []string{store(sub.Password)})
		one.Attribute("radiusReplyAttribute", []string{"Framed-IP-Address := 10.0.0." + fmt.Sprint(i)})
		if err := c.Add(one); err != nil {
			return fmt.Errorf("%q: %w", sub.UserName, err)
		}
	}
	return nil
}

// suite opens what o says, with accounting in dir.
func (s *slapd) suite(ctx context.Context, t *testing.T, o *options, dir string) (*billingtest.Backend, error) {
	file := filepath.Join(dir, "radacct.db")
	o.db = "sqlite:" + file
	b, err := open(ctx, o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	raw, err := sqlx.Open("sqlite", "file:"+file)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	closeBoth := func() error { return errors.Join(raw.Close(), b.close()) }
	return &billingtest.Backend{
		Handler:  b.Handler,
		Sessions: func(ctx context.Context) ([]billingtest.Session, error) { return sessions(ctx, raw) },
		Close:    closeBoth,
		Stall: func(context.Context) (func(), error) {
			s.signal(t, syscall.SIGSTOP)
			return func() { s.signal(t, syscall.SIGCONT) }, nil
		},
		Reopen: func(ctx context.Context) (*billingtest.Backend, error) {
			// What a crash leaves: the files as they are now.
			again := filepath.Join(t.TempDir(), "again")
			if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
				return nil, err
			}
			if err := closeBoth(); err != nil {
				return nil, err
			}
			return s.suite(ctx, t, o, again)
		},
	}, nil
}

func sessions(ctx context.Context, raw *sqlx.DB) ([]billingtest.Session, error) {
	var rows []struct {
		Unique  string `db:"acctuniqueid"`
		Session string `db:"acctsessionid"`
		User    string `db:"username"`
		Start   int64  `db:"acctstarttime"`
		Stop    *int64 `db:"acctstoptime"`
		Time    int64  `db:"acctsessiontime"`
		Input   int64  `db:"acctinputoctets"`
		Output  int64  `db:"acctoutputoctets"`
	}
	err := raw.SelectContext(ctx, &rows, `SELECT acctuniqueid, acctsessionid, username, acctstarttime, acctstoptime, acctsessiontime,
		acctinputoctets, acctoutputoctets FROM radacct`)
	var list []billingtest.Session
	for _, r := range rows {
		s := billingtest.Session{
			UniqueID: r.Unique, SessionID: r.Session, UserName: r.User, Start: time.Unix(r.Start, 0),
			SessionTime: time.Duration(r.Time) * time.Second, InputOctets: uint64(r.Input), OutputOctets: uint64(r.Output),
		}
		if r.Stop != nil {
			s.Stop = time.Unix(*r.Stop, 0)
		}
		list = append(list, s)
	}
	return list, err
}
