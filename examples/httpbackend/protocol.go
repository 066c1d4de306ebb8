package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/radpool/radpool/billing"
)

// The messages of docs/http-backend.md.

type authorizeRequest struct {
	Requests []accessQuestion `json:"requests"`
}

type accessQuestion struct {
	UserName       string  `json:"user_name"`
	Method         string  `json:"method"`
	Password       *string `json:"password,omitempty"` // with -send-passwords, of PAP
	CallingStation string  `json:"calling_station,omitempty"`
	CalledStation  string  `json:"called_station,omitempty"`
	NAS            string  `json:"nas"`
	NASIdentifier  string  `json:"nas_identifier,omitempty"`
	NASPort        uint32  `json:"nas_port,omitempty"`
	NASPortID      string  `json:"nas_port_id,omitempty"`
	ServiceType    uint32  `json:"service_type,omitempty"`
}

type authorizeResponse struct {
	Answers []answer `json:"answers"`
}

type answer struct {
	Error           string `json:"error"`
	Reject          string `json:"reject"`
	Message         string `json:"message"`
	Cleartext       string `json:"cleartext"`
	Hash            string `json:"hash"`
	Verified        bool   `json:"verified"`
	NoPassword      bool   `json:"no_password"`
	CallingStation  string `json:"calling_station"`
	Reply           []pair `json:"reply"`
	Restricted      []pair `json:"restricted"`
	Expires         string `json:"expires"`
	SimultaneousUse int    `json:"simultaneous_use"`
	OpenSessions    int    `json:"open_sessions"`
}

// A pair is the name of an attribute and its value, which may be a number.
type pair struct{ name, value string }

// UnmarshalJSON reads ["Session-Timeout", 3600].
func (p *pair) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil || len(parts) != 2 {
		return errors.New("an attribute must be a list of two: its name and its value")
	}
	if err := json.Unmarshal(parts[0], &p.name); err != nil {
		return errors.New("the name of an attribute must be a string")
	}
	if json.Unmarshal(parts[1], &p.value) == nil && string(parts[1]) != "null" {
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(parts[1], &n); err != nil || n == "" {
		return fmt.Errorf("attribute %s: the value must be a string or a number", p.name)
	}
	p.value = n.String()
	return nil
}

type accountRequest struct {
	Records []accountRecord `json:"records"`
}

type accountRecord struct {
	Key            string `json:"key"`
	Status         string `json:"status"`
	UniqueID       string `json:"unique_id"`
	SessionID      string `json:"session_id"`
	UserName       string `json:"user_name"`
	Time           int64  `json:"time"`
	SessionTime    int64  `json:"session_time"`
	InputOctets    uint64 `json:"input_octets,string"`
	OutputOctets   uint64 `json:"output_octets,string"`
	InputPackets   uint64 `json:"input_packets,string"`
	OutputPackets  uint64 `json:"output_packets,string"`
	TerminateCause uint32 `json:"terminate_cause,omitempty"`
	NAS            string `json:"nas"`
	NASIdentifier  string `json:"nas_identifier,omitempty"`
	NASPort        string `json:"nas_port,omitempty"`
	CallingStation string `json:"calling_station,omitempty"`
	CalledStation  string `json:"called_station,omitempty"`
	FramedIP       string `json:"framed_ip,omitempty"`
	Class          string `json:"class,omitempty"`
}

type accountResponse struct {
	Results []result `json:"results"`
}

type result struct {
	OK     bool   `json:"ok"`
	Error  string `json:"error"`
	Refuse string `json:"refuse"`
}

// question is a request as the remote sees it. given is the password to send, or nil.
func question(req *billing.AccessRequest, given *string) accessQuestion {
	return accessQuestion{
		UserName: req.UserName, Method: req.Method.String(), Password: given,
		CallingStation: text(req.CallingStationID), CalledStation: text(req.CalledStationID),
		NAS: req.NASAddr.String(), NASIdentifier: text(req.NASIdentifier),
		NASPort: req.NASPort, NASPortID: text(req.NASPortID), ServiceType: req.ServiceType,
	}
}

// message is a record as the remote sees it.
func message(rec *billing.AccountingRecord) accountRecord {
	r := accountRecord{
		Status: statusName(rec.Status), UniqueID: rec.UniqueID, SessionID: text(rec.SessionID), UserName: text(rec.UserName),
		Time: rec.Time.Unix(), SessionTime: int64(rec.SessionTime.Seconds()),
		InputOctets: rec.InputOctets, OutputOctets: rec.OutputOctets,
		InputPackets: rec.InputPackets, OutputPackets: rec.OutputPackets, TerminateCause: rec.TerminateCause,
		NAS: rec.NASAddr.String(), NASIdentifier: text(rec.NASIdentifier), NASPort: text(rec.NASPort),
		CallingStation: text(rec.CallingStationID), CalledStation: text(rec.CalledStationID), Class: text(string(rec.Class)),
	}
	if rec.FramedAddr.IsValid() {
		r.FramedIP = rec.FramedAddr.String()
	}
	r.Key = key(&r)
	return r
}

func statusName(s billing.StatusType) string {
	switch s {
	case billing.Start, billing.Stop, billing.InterimUpdate, billing.AccountingOn, billing.AccountingOff:
		return s.String()
	}
	return strconv.FormatUint(uint64(s), 10)
}

// key is the same for a record that comes again, and another for any other.
func key(r *accountRecord) string {
	h := sha256.New()
	// What is hashed cannot be wrong: all of it is strings and numbers.
	_ = json.NewEncoder(h).Encode([]any{
		r.Status, r.UniqueID, r.NAS, r.Time, r.SessionTime, r.InputOctets, r.OutputOctets, r.InputPackets, r.OutputPackets, r.TerminateCause,
	})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// text makes octets something that JSON can carry: what is not UTF-8 is written \xFF,
// and a backslash that might be taken for that is doubled.
func text(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02X`, s[0])
		case strings.HasPrefix(s, `\x`):
			b.WriteString(`\\`)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
