package record_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool"
	"github.com/radpool/radpool/radpool/record"
)

var accept = radpool.HandlerFunc(func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
	resp.Code = radius.CodeAccessAccept
})

func create(t *testing.T, o record.Options) (r *record.Recorder, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "f.txtar")
	r, err := record.Create(file, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, file
}

// What cannot end in the same again is not written.
func TestSkips(t *testing.T) {
	pap := billingtest.PAP("alice", "pw")
	for what, c := range map[string]struct {
		req     billingtest.Request
		h       radpool.HandlerFunc
		skipped uint64
	}{
		"accepted":  {pap, accept, 0},
		"no answer": {pap, func(context.Context, *radpool.Request, *radpool.Response) {}, 0},
		"a failure": {pap, func(_ context.Context, _ *radpool.Request, resp *radpool.Response) { resp.Fail(nil) }, 1},
		"a challenge": {pap, func(_ context.Context, _ *radpool.Request, resp *radpool.Response) {
			resp.Code = radius.CodeAccessChallenge
		}, 1},
		"State": {pap.String(24, "x"), accept, 1},
		"EAP":   {billingtest.AccessRequest().User("alice").Bytes(79, []byte{2, 1, 0, 4}), accept, 1},
	} {
		r, _ := create(t, record.Options{})
		billingtest.Run(t, r.Middleware(c.h), c.req)
		if s := r.Stats(); s.Skipped != c.skipped || s.Cases != 1-c.skipped {
			t.Errorf("%s: %+v", what, s)
		}
	}
}

// The file has its bounds, and nothing is written after Close.
func TestBounds(t *testing.T) {
	for what, o := range map[string]record.Options{"cases": {MaxCases: 2}, "octets": {MaxOctets: 450}} {
		r, file := create(t, o)
		h := r.Middleware(accept)
		for range 5 {
			billingtest.Run(t, h, billingtest.PAP("alice", "pw"))
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Stats(); s.Cases != 2 || s.Dropped != 3 || o.MaxOctets > 0 && info.Size() > int64(o.MaxOctets) {
			t.Errorf("%s: %+v, %d octets", what, s, info.Size())
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%v", info.Mode())
		}
	}
	r, _ := create(t, record.Options{})
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	billingtest.Run(t, r.Middleware(accept), billingtest.PAP("alice", "pw"))
	if s := r.Stats(); s.Dropped != 1 || s.Err != nil {
		t.Errorf("%+v", s)
	}
}

func TestCreateRefuses(t *testing.T) {
	_, there := create(t, record.Options{})
	for want, c := range map[string]struct {
		file string
		o    record.Options
	}{
		"file exists":                                 {there, record.Options{}},
		"MaxCases is -1, must be 1 to 100000":         {there + "2", record.Options{MaxCases: -1}},
		"MaxOctets is -1":                             {there + "2", record.Options{MaxOctets: -1}},
		"Password is 200 octets, must be at most 124": {there + "2", record.Options{Password: strings.Repeat("x", 200)}},
	} {
		if _, err := record.Create(c.file, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A device that is authenticated by its MAC address has that for a password.
func TestMAC(t *testing.T) {
	r, file := create(t, record.Options{Password: "pw"})
	billingtest.Run(t, r.Middleware(accept), billingtest.MAC("02-00-00-00-00-01"))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `User-Password = "02-00-00-00-00-01"`) {
		t.Errorf("%s", text)
	}
}
