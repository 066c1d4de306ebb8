package dialect_test

import (
	"context"
	"errors"
	"testing"

	"github.com/radpool/radpool/billing/sqlbilling/internal/dialect"
)

type fakeConn struct{ open, cut bool }

var errCut, errOther = errors.New("cut off"), errors.New("a syntax error")

// What was cut off while it was idle costs nobody anything; any other error is the
// caller's, and nothing stays open in the end.
func TestConns(t *testing.T) {
	var all []*fakeConn
	away := false
	conns := &dialect.Conns[*fakeConn]{
		Open: func(context.Context) (*fakeConn, error) {
			if away {
				return nil, errOther
			}
			c := &fakeConn{open: true}
			all = append(all, c)
			return c, nil
		},
		Close: func(c *fakeConn) { c.open = false },
		Gone:  func(_ *fakeConn, err error) bool { return errors.Is(err, errCut) },
		Lost:  func(err error) bool { return errors.Is(err, errCut) },
	}
	runs := 0
	use := func(c *fakeConn) error {
		if runs++; !c.open {
			t.Error("a connection was used after it was closed")
		}
		if c.cut {
			return errCut
		}
		return nil
	}
	do := func(want error, wantRuns, wantOpened int) {
		t.Helper()
		runs = 0
		if err := conns.Do(t.Context(), use); !errors.Is(err, want) || runs != wantRuns || len(all) != wantOpened {
			t.Errorf("%v after %d runs, %d connections were opened; want %v, %d, %d", err, runs, len(all), want, wantRuns, wantOpened)
		}
	}
	do(nil, 1, 1)
	do(nil, 1, 1) // the same again
	if err := conns.Do(t.Context(), func(*fakeConn) error { return use(&fakeConn{open: true}) }); err != nil {
		t.Error(err)
	}
	// Two at once, and both are cut off.
	if err := conns.Do(t.Context(), func(*fakeConn) error { return conns.Do(t.Context(), use) }); err != nil || len(all) != 2 {
		t.Error(err, len(all))
	}
	all[0].cut, all[1].cut = true, true
	do(nil, 2, 3)
	if all[0].open || all[1].open {
		t.Error("what was cut off is still open")
	}
	all[2].cut, away = true, true
	do(errOther, 1, 3)
	do(errOther, 0, 3)
	away = false
	if err := conns.Do(t.Context(), func(c *fakeConn) error { c.cut = true; return use(c) }); !errors.Is(err, errCut) {
		t.Errorf("one that is cut off as it is new: %v", err)
	}
	if err := conns.Do(t.Context(), func(*fakeConn) error { return errOther }); !errors.Is(err, errOther) {
		t.Error(err)
	}
	conns.Shut()
	if err := conns.Do(t.Context(), use); err == nil {
		t.Error("used after Shut")
	}
	for i, c := range all {
		if c.open {
			t.Errorf("connection %d is still open", i)
		}
	}
}
