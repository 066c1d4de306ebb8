package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/journal"
)

// asVictim makes the test binary write to a journal until it is killed.
const asVictim = "RADPOOL_TEST_JOURNAL_VICTIM"

// victim stores records through a back end that comes and goes, and never keeps
// anything, and prints each that is acknowledged and each that the back end stores.
func victim(spec string) {
	file, round, _ := strings.Cut(spec, "|")
	var out sync.Mutex
	say := func(kind, line string) {
		out.Lock()
		defer out.Unlock()
		_, _ = fmt.Printf("%s %s\n", kind, line)
	}
	c := newCore()
	n := 0
	c.refuse = func(rec *billing.AccountingRecord) error { // called with the lock
		if n++; n/300%3 != 0 {
			return errDown
		}
		say("stored", line(rec)) // before it is removed from the journal
		return nil
	}
	j, err := journal.Open(context.Background(), file, batchCore{c}, journal.Options{ProbeInterval: 1_000_000})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for s := range 16 {
		go func() {
			for n := 0; ; n++ {
				rec := record(fmt.Sprintf("r%s-%d-%d", round, s, n/8), billing.InterimUpdate, n)
				if err := j.Handler().Account(context.Background(), rec); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				say("acked", line(rec))
			}
		}()
	}
	select {}
}

// Whatever was acknowledged before kill -9, at a moment that nobody chose, is stored
// or still in the journal.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	file := newFile(t)
	acked, stored := make(map[string]bool), make(map[string]bool)
	for round := range 10 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", asVictim, file, round))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		life := 200 + rand.IntN(3000) // in lines
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			kind, what, _ := strings.Cut(lines.Text(), " ")
			switch kind {
			case "acked":
				acked[what] = true
			case "stored":
				stored[what] = true
			default:
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			if n == life {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("round %d: it was not killed: %v", round, err)
		}
	}
	c := newCore()
	c.down = true // until it is known how many are left
	j := open(t, file, batchCore{c}, journal.Options{})
	left := j.Stats()
	c.set(func(c *core) { c.down = false })
	c.wait(func(all []string) bool { return len(all) >= left.Queued })
	for _, l := range c.lines() {
		stored[l] = true
	}
	for l := range acked {
		if !stored[l] {
			t.Errorf("%q was acknowledged, and is lost", l)
		}
	}
	if len(acked) < 1000 || left.Parked != 0 {
		t.Errorf("%d were acknowledged, %+v: the test proves nothing", len(acked), left)
	}
	t.Logf("%d acknowledged, %d left in the journal at the end", len(acked), left.Queued)
}
