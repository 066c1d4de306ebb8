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
	{"the last record wins", "any-order", "Account", func(w *wrong) {
		w.change(func(e *entry, rec *billing.AccountingRecord, _ entry, _ bool) {
			if rec.Status != billing.Start {
				e.InputOctets, e.OutputOctets, e.SessionTime = rec.InputOctets, rec.OutputOctets, rec.SessionTime
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
		w.ledger.disk = &disk{sessions: make(map[string]*entry)} // the one that Account writes to
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
