package sqlbilling_test

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/internal/dict"
)

// reference says what radacct must hold after these records, in whatever order
// they came: each column by its definition, over all records of the session.
func reference(recs []*billing.AccountingRecord) string {
	sessions := make(map[string][]*billing.AccountingRecord)
	for _, rec := range recs {
		if rec.Status != billing.AccountingOn && rec.Status != billing.AccountingOff {
			sessions[rec.UniqueID] = append(sessions[rec.UniqueID], rec)
		}
	}
	var lines []string
	for id, list := range sessions {
		lines = append(lines, referenceRow(id, list, recs))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func referenceRow(id string, list, all []*billing.AccountingRecord) string {
	start, update := int64(math.MaxInt64), int64(0)
	var seconds, input, output, interval int64
	var addr, connectStart, connectStop string
	type end struct {
		at    int64
		cause string
	}
	var own, reboots []end
	for _, rec := range list {
		t, took := rec.Time.Unix(), int64(rec.SessionTime.Seconds())
		update = max(update, t)
		seconds = max(seconds, took)
		input = max(input, int64(min(rec.InputOctets, math.MaxInt64)))
		output = max(output, int64(min(rec.OutputOctets, math.MaxInt64)))
		if rec.FramedAddr.IsValid() {
			addr = max(addr, rec.FramedAddr.String())
		}
		if rec.Status == billing.Start {
			took = 0
		}
		start = min(start, t-took)
		if rec.Status != billing.Stop {
			connectStart = max(connectStart, rec.ConnectInfo)
			continue
		}
		connectStop = max(connectStop, rec.ConnectInfo)
		cause := ""
		if rec.TerminateCause != 0 {
			cause = dict.ValueName("Acct-Terminate-Cause", uint64(rec.TerminateCause))
		}
		if cause == "NAS-Reboot" {
			reboots = append(reboots, end{t, cause})
		} else {
			own = append(own, end{t, cause})
		}
	}
	for _, rec := range list {
		if t := rec.Time.Unix(); t < update && (interval == 0 || update-t < interval) {
			interval = update - t
		}
	}
	for _, rec := range all {
		restart := rec.Status == billing.AccountingOn || rec.Status == billing.AccountingOff
		if restart && rec.NASAddr == list[0].NASAddr && rec.Time.Unix() >= start {
			reboots = append(reboots, end{rec.Time.Unix(), "NAS-Reboot"})
		}
	}
	ends := own
	if len(ends) == 0 {
		ends = reboots
	}
	slices.SortFunc(ends, func(a, b end) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return -strings.Compare(a.cause, b.cause)
	})
	var last end
	if len(ends) > 0 {
		last = ends[0]
	}
	return fmt.Sprint(id, start, update, interval, last.at, last.cause, seconds, input, output, addr, connectStart, connectStop)
}

// referenceRows is what reference is compared with.
func (f *fixture) referenceRows() string {
	f.t.Helper()
	sec := f.e.seconds
	rows, err := f.raw.Query(`SELECT acctuniqueid, ` + sec("acctstarttime") + `, ` + sec("acctupdatetime") + `, COALESCE(acctinterval, 0), COALESCE(` + sec("acctstoptime") + `, 0),
		COALESCE(acctterminatecause, ''), acctsessiontime, acctinputoctets, acctoutputoctets, framedipaddress, COALESCE(connectinfo_start, ''),
		COALESCE(connectinfo_stop, '') FROM radacct`)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var id, cause, connectStart, connectStop string
		var addr sql.NullString
		var start, update, interval, stop, seconds, input, output int64
		if err := rows.Scan(&id, &start, &update, &interval, &stop, &cause, &seconds, &input, &output, &addr, &connectStart, &connectStop); err != nil {
			f.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(id, start, update, interval, stop, cause, seconds, input, output, addr.String, connectStart, connectStop))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
