package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

// asFilebackend makes the test binary be filebackend itself.
const asFilebackend = "RADPOOL_TEST_AS_FILEBACKEND"

func TestMain(m *testing.M) {
	if os.Getenv(asFilebackend) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	billingtest.TestHandler(t, func(_ context.Context, subscribers []billingtest.Subscriber) (*billingtest.Backend, error) {
		dir := t.TempDir()
		rows := [][]string{{"name", "password", "Session-Timeout"}}
		for i, s := range subscribers {
			rows = append(rows, []string{s.UserName, s.Password, fmt.Sprint(3600 + i)})
		}
		f, err := os.Create(filepath.Join(dir, "users.csv"))
		if err != nil {
			return nil, err
		}
		if err := errors.Join(csv.NewWriter(f).WriteAll(rows), f.Close()); err != nil {
			return nil, err
		}
		return openIn(dir)
	})
}

// openIn opens what is in dir, for the suite.
func openIn(dir string) (*billingtest.Backend, error) {
	o := &options{users: filepath.Join(dir, "users.csv"), records: filepath.Join(dir, "records")}
	b, _, err := open(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	var disk sync.Mutex
	b.log.sync = func(f *os.File) error {
		disk.Lock()
		defer disk.Unlock()
		return f.Sync()
	}
	return &billingtest.Backend{
		Handler:  b,
		Sessions: func(context.Context) ([]billingtest.Session, error) { return b.sessions(), nil },
		Stall: func(context.Context) (func(), error) {
			disk.Lock()
			return disk.Unlock, nil
		},
		Reopen: func(context.Context) (*billingtest.Backend, error) {
			if err := tear(o.records); err != nil {
				return nil, err
			}
			return openIn(dir)
		},
	}, nil
}

// tear leaves half a record at the end of the newest file, as a crash in the middle of a write does.
func tear(records string) error {
	files, err := filepath.Glob(filepath.Join(records, "acct-*"))
	if err != nil || len(files) == 0 {
		return err
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	half := appendLine(nil, &billing.AccountingRecord{Status: billing.Start, UniqueID: "half", Time: time.Now()})
	_, err = f.Write(half[:len(half)/2])
	return errors.Join(err, f.Close())
}

// sessions are those of Memory, which after a Reopen has what the files tell.
func (b *backend) sessions() (all []billingtest.Session) {
	for s := range b.All() {
		all = append(all, billingtest.Session{
			UniqueID: s.UniqueID, SessionID: s.SessionID, UserName: s.UserName, Start: s.Started, Stop: s.Stopped,
			SessionTime: s.SessionTime, InputOctets: s.InputOctets, OutputOctets: s.OutputOctets,
			Detail: fmt.Sprint(s.NASAddr, s.Updated.UTC(), s.TerminateCause),
		})
	}
	return all
}
