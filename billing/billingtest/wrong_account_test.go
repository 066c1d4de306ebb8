package billingtest_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/radpool/radpool/billing"
)

var accountFaults = []fault{
	{"it counts a record as often as it comes", "repeated", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, before entry, _ bool) {
			e.InputOctets = before.InputOctets + rec.InputOctets
		})
	}},
	{"each Start is a session", "repeated", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			c := *rec
			if w.disk.sessions[rec.UniqueID] != nil && rec.Status == billing.Start {
				c.UniqueID += "'"
			}
			return w.ledger.Account(ctx, &c)
		}
	}},
	{"of three records one is lost, and acknowledged", "any-order", "Account", func(w *wrong) {
		n := 0
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if n++; n%3 == 0 {
				return nil
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"the last record wins", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if rec.Status != billing.Start {
				e.InputOctets, e.OutputOctets, e.SessionTime = rec.InputOctets, rec.OutputOctets, rec.SessionTime
			}
		})
	}},
	{"of two Classes the last to arrive wins", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if len(rec.Class) > 0 {
				e.Class = string(rec.Class)
			}
		})
	}},
	{"a record without Class takes it away", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) { e.Class = string(rec.Class) })
	}},
	{"the Class is that of the first record", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, before entry, known bool) {
			if e.Class = string(rec.Class); known {
				e.Class = before.Class
			}
		})
	}},
	{"a late Interim-Update opens the session again", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if rec.Status == billing.InterimUpdate {
				e.Stop = time.Time{}
			}
		})
	}},
	{"a Stop without Start is nothing", "any-order", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if w.disk.sessions[rec.UniqueID] == nil && rec.Status == billing.Stop {
				return nil
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"what it keeps besides depends on the order", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, before entry, _ bool) {
			e.Detail = before.Detail + rec.Status.String()
		})
	}},
	{"of two Stops the last to arrive wins", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if rec.Status == billing.Stop {
				e.Stop, e.stopped = rec.Time, rec.Time
			}
		})
	}},
	{"of two Starts the last to arrive wins", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if rec.Status == billing.Start {
				e.Start = rec.Time
			}
		})
	}},
	{"sessions are told by Acct-Session-Id alone", "sessions", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			c := *rec
			c.UniqueID = rec.SessionID
			return w.ledger.Account(ctx, &c)
		}
	}},
	{"the time of a session is that of its arrival", "sessions", "Account", func(w *wrong) {
		w.change(func(e *entry, _ *billing.AccountingRecord, _ entry, _ bool) { e.Start = time.Now() })
	}},
	{"octets are 32-bit", "octets", "Account", func(w *wrong) {
		w.change(func(e *entry, _ *billing.AccountingRecord, _ entry, _ bool) {
			e.OutputOctets = uint64(uint32(e.OutputOctets))
		})
	}},
	{"octets are floating-point numbers", "octets", "Account", func(w *wrong) {
		w.change(func(e *entry, _ *billing.AccountingRecord, _ entry, _ bool) {
			e.InputOctets = uint64(float64(e.InputOctets))
		})
	}},
	{"a name that is not UTF-8 is an error", "strange-records", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if strings.ToValidUTF8(rec.UserName, "") != rec.UserName {
				return errors.New(`invalid byte sequence for encoding "UTF8"`)
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"quotes are lost", "strange-records", "Account", func(w *wrong) {
		w.change(func(e *entry, _ *billing.AccountingRecord, _ entry, _ bool) {
			e.UserName = strings.ReplaceAll(e.UserName, "'", "")
		})
	}},
	{"another status is an error", "other-status", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if rec.Status == 15 {
				return errors.New("unknown Acct-Status-Type")
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"another status is an error in a batch", "other-status", "AccountBatch", func(w *wrong) {
		w.accountBatch = func(ctx context.Context, recs []*billing.AccountingRecord, errs []error) {
			w.ledger.AccountBatch(ctx, recs, errs)
			for i, rec := range recs {
				if rec.Status == 9 {
					errs[i] = errors.New("unknown Acct-Status-Type")
				}
			}
		}
	}},
	{"another status opens a session", "other-status", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			c := *rec
			if rec.Status == 9 {
				c.Status = billing.Start
			}
			return w.ledger.Account(ctx, &c)
		}
	}},
	{"another status closes the session", "other-status", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			c := *rec
			if rec.Status == 15 && w.disk.sessions[rec.UniqueID] != nil {
				c.Status = billing.Stop
			}
			return w.ledger.Account(ctx, &c)
		}
	}},
	{"a Start after Accounting-On is open for ever, whenever it was", "nas-restart", "Account", func(w *wrong) {
		w.forgetRestarts(func(rec *billing.AccountingRecord) bool { return rec.Status == billing.Start })
	}},
	{"an Interim-Update after Accounting-Off is of an open session, whenever it was", "nas-restart", "Account", func(w *wrong) {
		w.forgetRestarts(func(rec *billing.AccountingRecord) bool { return rec.Status == billing.InterimUpdate })
	}},
	{"Accounting-On is nothing", "nas-restart", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if rec.Status == billing.AccountingOn {
				return nil
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"Accounting-Off closes the sessions of all NASes", "nas-restart", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if rec.Status == billing.AccountingOff {
				for _, e := range w.disk.sessions {
					e.nas = rec.NASAddr
				}
			}
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"a late Accounting-On closes what began after it", "nas-restart", "Account", func(w *wrong) {
		w.account = func(_ context.Context, rec *billing.AccountingRecord) error {
			c := *rec
			if rec.Status == billing.AccountingOn {
				c.Time = rec.Request.Received
			}
			w.disk.store(&c)
			return nil
		}
	}},
	{"a record that was not stored for want of time is acknowledged", "cancelled-account", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			_ = w.ledger.Account(ctx, rec)
			return nil
		}
	}},
	{"it acknowledges what it only hopes to store", "stalled", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if err := w.ledger.Account(ctx, rec); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return nil
		}
	}},
	{"it acknowledges what is only in memory", "durable", "Account", func(w *wrong) {
		written := w.disk
		w.ledger.disk = newDisk() // the one that Account writes to
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if rec.Status == billing.Start {
				written.store(rec) // the rest waits for the next flush
			}
			return w.ledger.Account(ctx, rec)
		}
		w.left = written
	}},
	{"it keeps records for later", "memory", "Account", func(w *wrong) {
		var waiting []*billing.AccountingRecord
		w.account = func(_ context.Context, rec *billing.AccountingRecord) error {
			for _, old := range waiting {
				w.disk.store(old)
			}
			waiting = append(waiting[:0], rec)
			w.disk.store(rec)
			return nil
		}
	}},
	{"it keeps Class, which is the request's", "memory", "Account", func(w *wrong) {
		classes := make(map[string][]byte)
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			if classes[rec.UniqueID] == nil {
				classes[rec.UniqueID] = rec.Class
			}
			err := w.ledger.Account(ctx, rec)
			for id, class := range classes {
				w.disk.sessions[id].Class = string(class)
			}
			return err
		}
	}},
	{"it sorts out the record it is given", "arguments", "Account", func(w *wrong) {
		w.account = func(ctx context.Context, rec *billing.AccountingRecord) error {
			rec.UserName = strings.ToUpper(rec.UserName)
			return w.ledger.Account(ctx, rec)
		}
	}},
	{"a lost update", "concurrent", "Account", func(w *wrong) {
		w.account = func(_ context.Context, rec *billing.AccountingRecord) error {
			w.disk.mu.Lock()
			before := *w.disk.entry(rec)
			w.disk.mu.Unlock()
			w.meet()
			w.disk.mu.Lock()
			*w.disk.sessions[rec.UniqueID] = before
			w.disk.mu.Unlock()
			w.disk.store(rec)
			return nil
		}
	}},
}
