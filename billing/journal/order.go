package journal

import (
	"hash/maphash"

	"github.com/radpool/radpool/billing"
)

// keys say which records must stay in order: those of one session, and an
// Accounting-On or Off with every other record of its NAS. They are hashes: two
// sessions that share one wait for each other, and nothing worse.
type keys struct {
	session, nas uint64
	restart      bool // Accounting-On or Accounting-Off
}

// A hasher makes keys. They are alike in one process only.
type hasher struct{ seed maphash.Seed }

func newHasher() hasher { return hasher{maphash.MakeSeed()} }

func (h hasher) keys(rec *billing.AccountingRecord) keys {
	return keys{
		session: maphash.String(h.seed, rec.UniqueID),
		nas:     maphash.Comparable(h.seed, rec.NASAddr),
		restart: rec.Status == billing.AccountingOn || rec.Status == billing.AccountingOff,
	}
}

// waiting counts the records that wait, by what must stay in order. The zero
// waiting is not ready: use newWaiting.
type waiting struct {
	sessions, nases, restarts map[uint64]int
}

func newWaiting() waiting {
	return waiting{make(map[uint64]int), make(map[uint64]int), make(map[uint64]int)}
}

// before reports whether a record waits that must be stored before one with k.
func (w *waiting) before(k keys) bool {
	if k.restart {
		return w.nases[k.nas] > 0
	}
	return w.sessions[k.session] > 0 || w.restarts[k.nas] > 0
}

func (w *waiting) add(k keys) { w.count(k, 1) }

func (w *waiting) remove(k keys) { w.count(k, -1) }

func (w *waiting) count(k keys, n int) {
	tally(w.sessions, k.session, n)
	tally(w.nases, k.nas, n)
	if k.restart {
		tally(w.restarts, k.nas, n)
	}
}

// tally adds n to m[k], and keeps no zeros.
func tally(m map[uint64]int, k uint64, n int) {
	if n += m[k]; n > 0 {
		m[k] = n
	} else {
		delete(m, k)
	}
}

// waves cuts records, which are in order, into groups that may be stored one group
// after the other while the order within a group does not matter: it returns the
// number of each record's group, from 0 on, as low as can be.
func waves(recs []keys) []int {
	wave := make([]int, len(recs))
	sessions, nases, restarts := make(map[uint64]int), make(map[uint64]int), make(map[uint64]int)
	for i, k := range recs {
		n := nases[k.nas] // what follows the last that must be before this one
		if !k.restart {
			n = max(sessions[k.session], restarts[k.nas])
		}
		wave[i] = n
		sessions[k.session] = n + 1
		nases[k.nas] = max(nases[k.nas], n+1)
		if k.restart {
			restarts[k.nas] = n + 1
		}
	}
	return wave
}
