package main

import (
	"encoding"
	"encoding/json"
	"errors"
	"net/netip"
	"strconv"
	"time"

	"github.com/radpool/radpool/billing"
)

// record is what is kept of a record. More may be added: old files stay readable.
type record struct {
	Time         time.Time          `json:"time"`   // of the event
	Status       billing.StatusType `json:"status"` // Acct-Status-Type: 1 Start, 2 Stop, 3 Interim-Update, 7 On, 8 Off
	UniqueID     string             `json:"unique_id"`
	SessionID    text               `json:"session_id"`
	User         text               `json:"user"`
	NAS          netip.Addr         `json:"nas"`
	Seconds      uint32             `json:"seconds"` // since the session began, as octets are
	InputOctets  uint64             `json:"input_octets"`
	OutputOctets uint64             `json:"output_octets"`
	Cause        uint32             `json:"cause,omitzero"`
	FramedIP     netip.Addr         `json:"framed_ip,omitzero"`
	Class        text               `json:"class,omitzero"`
}

func appendLine(lines []byte, rec *billing.AccountingRecord) []byte {
	line, err := json.Marshal(record{
		rec.Time.UTC(), rec.Status, rec.UniqueID, text(rec.SessionID), text(rec.UserName), rec.NASAddr, uint32(rec.SessionTime / time.Second),
		rec.InputOctets, rec.OutputOctets, rec.TerminateCause, rec.FramedAddr, text(rec.Class),
	})
	if err != nil {
		panic(err) // of text and numbers nothing can fail
	}
	return append(append(lines, line...), '\n')
}

// parseLine undoes appendLine, as far as Memory needs it.
func parseLine(line []byte) (*billing.AccountingRecord, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	if r.UniqueID == "" || r.Status == 0 || r.Time.IsZero() {
		return nil, errors.New("unique_id, status or time is missing")
	}
	return &billing.AccountingRecord{
		Time: r.Time, Status: r.Status, UniqueID: r.UniqueID, SessionID: string(r.SessionID), UserName: string(r.User), NASAddr: r.NAS,
		SessionTime: time.Duration(r.Seconds) * time.Second, InputOctets: r.InputOctets, OutputOctets: r.OutputOctets, TerminateCause: r.Cause,
	}, nil
}

// text is octets from a NAS, which need not be the UTF-8 that JSON is: others are escaped as in Go.
type text string

var _ encoding.TextMarshaler = text("")

func (t text) MarshalText() ([]byte, error) {
	quoted := strconv.Quote(string(t))
	return []byte(quoted[1 : len(quoted)-1]), nil
}

func (t *text) UnmarshalText(b []byte) error {
	s, err := strconv.Unquote(`"` + string(b) + `"`)
	*t = text(s)
	return err
}
