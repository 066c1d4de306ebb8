package acct

import (
	"errors"
	"slices"
	"strings"

	"github.com/radpool/radpool/billing"
)

// A Reload is an Accounting-On or Accounting-Off: the NAS lost its sessions.
type Reload struct {
	NAS string
	At  int64
}

// A Record is an accounting record on its way to the database, as the session that
// it tells of or the reload.
type Record struct {
	Session Session
	Reload  Reload // if NAS is set
}

// Key names what r writes to, for group.Start: its session, or its NAS.
func Key(r *Record) string {
	if r.Reload.NAS != "" {
		return r.Reload.NAS
	}
	return r.Session.UniqueID
}

// Kept reports whether there is a place for records of this status in the schema.
// Others, of tunnels and the like, are as good as stored: without an answer the NAS
// would send them for ever.
func Kept(s billing.StatusType) bool {
	switch s {
	case billing.Start, billing.Stop, billing.InterimUpdate, billing.AccountingOn, billing.AccountingOff:
		return true
	}
	return false
}

// Read turns a record into what is to be written, with the user's name as the
// database has it. The error names the field that is not usable.
func Read(rec *billing.AccountingRecord, user string) (Record, error) {
	if rec.Status != billing.AccountingOn && rec.Status != billing.AccountingOff {
		s, err := NewSession(rec)
		s.UserName = user
		return Record{Session: s}, err
	}
	r := Reload{NAS: AddrText(rec.NASAddr), At: rec.Time.Unix()}
	switch {
	case r.NAS == "":
		return Record{}, errors.New("the NASAddr is missing")
	case r.At <= 0:
		return Record{}, errors.New("the Time is missing or before 1970")
	}
	return Record{Reload: r}, nil
}

// Coalesce merges what records say of one session. The sessions come in the order
// in which everybody locks rows, so that two writers cannot wait for each other.
func Coalesce(records []*Record) ([]Session, []Reload) {
	var reloads []Reload
	sessions := make([]Session, 0, len(records))
	at := make(map[string]int, len(records))
	for _, r := range records {
		if r.Reload.NAS != "" {
			reloads = append(reloads, r.Reload)
			continue
		}
		if i, there := at[r.Session.UniqueID]; there {
			sessions[i].Merge(&r.Session)
			continue
		}
		at[r.Session.UniqueID] = len(sessions)
		sessions = append(sessions, r.Session)
	}
	slices.SortFunc(sessions, func(a, b Session) int { return strings.Compare(a.UniqueID, b.UniqueID) })
	return sessions, reloads
}
