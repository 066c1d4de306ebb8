package journal_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// A disk that is full in earnest: accounting is not answered, what was acknowledged
// is there after opening again, and the journal can be emptied on it and used again.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("journal", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("this test mounts a small file system, which only root may: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(dir, "journal.db")
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		j := open(t, file, batchCore{c}, journal.Options{})
		opens(t, j, c)
		for round := range 3 {
			acked, err := fill(t, j)
			if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("the error is %v", err)
			}
			closeJournal(t, j)
			j = open(t, file, batchCore{c}, journal.Options{})
			if s := j.Stats(); s.Queued < acked || acked < 5000 {
				t.Errorf("%d were acknowledged, %+v", acked, s)
			}
			before := len(c.lines())
			c.set(func(c *core) { c.down = false })
			time.Sleep(10 * time.Second)
			if s := j.Stats(); s.Queued != 0 || s.Errors != 0 || len(c.lines())-before < acked {
				t.Errorf("round %d: %+v, %d of %d are stored", round, s, len(c.lines())-before, acked)
			}
			account(t, j, record(fmt.Sprint("room", round), billing.Start, 0))
			opens(t, j, c)
		}
	})
}
