package ledger_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling/ledger"
)

// How authentications ended is in radpool_postauth after Close, without a password, also
// where a name is no text that the database takes.
func TestPostAuth(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		dsn, driver, rawDSN := e.Create(t)
		b, err := ledger.Open(t.Context(), dsn, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		access := &billing.AccessRequest{UserName: "alice", NASAddr: netip.MustParseAddr("192.0.2.1"), CallingStationID: "00-11-22-33-44-55"}
		b.PostAuth(&billing.AuthResult{Access: access, Time: at(1), Accepted: true, Password: []byte("hidden")})
		b.PostAuth(&billing.AuthResult{Access: access, Time: at(2), Reason: billing.ReasonBlocked, Password: []byte("hidden")})
		odd := &billing.AccessRequest{UserName: "\x00\xff" + strings.Repeat("x", 300)}
		b.PostAuth(&billing.AuthResult{Access: odd, Time: at(3), Reason: billing.ReasonUnknownUser})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if st := b.Stats(); st.PostAuthWritten != 3 || st.PostAuthDropped+st.PostAuthFailed != 0 {
			t.Errorf("%+v", st)
		}
		b.PostAuth(&billing.AuthResult{Access: access, Time: time.Now()})
		if st := b.Stats(); st.PostAuthDropped != 1 {
			t.Errorf("after Close: %+v", st)
		}
		f := &fixture{t: t, raw: openRaw(t, driver, rawDSN)}
		if n := f.number(`SELECT COUNT(*) FROM radpool_postauth WHERE username = 'alice' AND nas_address = '192.0.2.1'
			AND calling_station_id = '00-11-22-33-44-55' AND (reply = 'Access-Accept' AND reason = '' AND at = ? OR reply = 'Access-Reject' AND reason = ? AND at = ?)`,
			epoch+1, billing.ReasonBlocked.String(), epoch+2); n != 2 {
			t.Errorf("%d of 2 rows", n)
		}
		if n := f.number("SELECT COUNT(*) FROM radpool_postauth WHERE username LIKE '=00=FFxx%' AND at = ?", epoch+3); n != 1 {
			t.Errorf("%d rows with an odd name", n)
		}
	})
	b, err := ledger.Open(t.Context(), "sqlite::memory:", ledger.Options{PostAuthBuffer: -1})
	if err != nil {
		t.Fatal(err)
	}
	b.PostAuth(&billing.AuthResult{Access: &billing.AccessRequest{}, Time: at(1)})
	if err := b.Close(); err != nil || b.Stats().PostAuthDropped != 0 {
		t.Errorf("%v, %+v", err, b.Stats())
	}
}
