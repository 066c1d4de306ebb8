package journal_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/billing/journal"
	"github.com/radpool/radpool/radpool"
)

// full returns a record in which no field is zero: one that is forgotten in the
// encoding, now or when it is added, is found out.
func full(tb testing.TB) *billing.AccountingRecord {
	tb.Helper()
	rec := new(billing.AccountingRecord)
	v := reflect.ValueOf(rec).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		switch x := field.Addr().Interface().(type) {
		case **radpool.Request:
			*x = &radpool.Request{
				Packet: &radius.Packet{
					Code: radius.CodeAccountingRequest, Identifier: 7, Authenticator: [16]byte{1, 2, 15: 3},
					Attributes: radius.Attributes{{Type: 1, Attribute: []byte("alice")}, {Type: 26, Attribute: []byte{0, 0, 1, 55, 1, 3, 9}}, {Type: 25, Attribute: []byte{}}},
				},
				Client:     &radpool.Client{Name: "nas", Prefix: netip.MustParsePrefix("192.0.2.0/24")},
				RemoteAddr: netip.MustParseAddrPort("192.0.2.1:1024"), LocalAddr: netip.MustParseAddrPort("[fe80::1%eth0]:1813"),
				Received: time.Unix(1_700_000_000, 987_654_321),
			}
		case *time.Time:
			*x = time.Unix(1_700_000_001, 123)
		case *netip.Addr:
			*x = netip.MustParseAddr([]string{"192.0.2.9", "2001:db8::9", "fe80::2%ppp0"}[i%3])
		case *netip.Prefix:
			*x = netip.MustParsePrefix("2001:db8:1::/56")
		case *[]byte:
			*x = []byte{0, 1, byte(i)}
		default:
			switch field.Kind() {
			case reflect.String:
				field.SetString(strings.Repeat(string(rune('a'+i)), i) + "\x00\xff")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Uint32:
				field.SetUint(1<<32 - 1 - uint64(i))
			case reflect.Uint64:
				field.SetUint(1<<64 - 1 - uint64(i))
			case reflect.Int64:
				field.SetInt(1<<62 + int64(i))
			default:
				tb.Fatalf("the test cannot fill AccountingRecord.%s, of type %v", v.Type().Field(i).Name, field.Type())
			}
		}
		if field.IsZero() {
			tb.Fatalf("AccountingRecord.%s is zero", v.Type().Field(i).Name)
		}
	}
	return rec
}

func roundTrip(tb testing.TB, rec *billing.AccountingRecord) {
	tb.Helper()
	got, err := journal.Decode(journal.Encode(nil, rec))
	if err != nil {
		tb.Fatal(err)
	}
	if !reflect.DeepEqual(got, rec) {
		tb.Fatalf("got %+v\nwant %+v", got, rec)
	}
}

func TestEveryFieldComesBack(t *testing.T) {
	roundTrip(t, full(t))
	rec := full(t)
	rec.Request.Client, rec.Request.Packet = nil, nil
	roundTrip(t, rec)
	rec.Request = nil
	roundTrip(t, rec)
	rec = full(t)
	rec.Request.Attributes = append(rec.Request.Attributes, nil)
	roundTrip(t, rec)

	got, err := journal.Decode(journal.Encode(nil, new(billing.AccountingRecord)))
	if err != nil || !got.Time.IsZero() {
		t.Fatalf("the zero record: %+v, %v", got, err)
	}
	got.Time = time.Time{} // the same moment, in another zone
	if !reflect.DeepEqual(got, new(billing.AccountingRecord)) {
		t.Errorf("the zero record came back as %+v", got)
	}
}

// What a server hands on comes back, but for the secret.
func TestRecordOfAPacket(t *testing.T) {
	var r billingtest.Recorder
	req := billingtest.Stop("alice", "s1").Octets(1<<40, 7).Class("c").FramedAddr("198.51.100.7").EventTime(time.Unix(1_700_000_000, 0))
	if _, err := billingtest.Do(t.Context(), &billing.Processor{Handler: &r}, req); err != nil {
		t.Fatal(err)
	}
	rec := r.Records()[0]
	if len(rec.Request.Secret) == 0 {
		t.Fatal("the record has no secret to leave out")
	}
	encoded := journal.Encode(nil, rec)
	if bytes.Contains(encoded, rec.Request.Secret) {
		t.Error("the secret is in the encoding")
	}
	got, err := journal.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	rec.Request.Secret = nil
	if c := rec.Request.Client; c != nil {
		rec.Request.Client = &radpool.Client{Name: c.Name, Prefix: c.Prefix}
	}
	rec.Request.Received = rec.Request.Received.Round(0) // without the monotonic clock
	rec.Time = rec.Time.Round(0)
	if !reflect.DeepEqual(got, rec) {
		t.Errorf("got %+v\nwant %+v", got, rec)
	}
}

// A record that is not as it was written is an error, whichever octet it is.
func TestDamageIsNoticed(t *testing.T) {
	good := journal.Encode([]byte("before"), full(t))[len("before"):]
	if _, err := journal.Decode(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x40
		if _, err := journal.Decode(bad); err == nil {
			t.Errorf("octet %d changed: no error", i)
		}
		if _, err := journal.Decode(good[:i]); err == nil {
			t.Errorf("cut to %d octets: no error", i)
		}
	}
	newer := slices.Clone(good)
	newer[0] = 2
	if _, err := journal.Decode(newer); err == nil || !strings.Contains(err.Error(), "encoding 2") || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer version: %v", err)
	}
}

// sealed gives body a version and a checksum.
func sealed(body []byte) []byte {
	b := append([]byte{1}, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func FuzzDecode(f *testing.F) {
	good := journal.Encode(nil, full(f))
	f.Add(good[1 : len(good)-4])
	zero := journal.Encode(nil, new(billing.AccountingRecord))
	f.Add(zero[1 : len(zero)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		rec, err := journal.Decode(sealed(body))
		if _, raw := journal.Decode(body); raw == nil {
			return // a record with a checksum of its own
		}
		if err != nil {
			return
		}
		again, err := journal.Decode(journal.Encode(nil, rec))
		if err != nil || !reflect.DeepEqual(again, rec) {
			t.Errorf("%+v\ncame back as %+v, %v", rec, again, err)
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("s1", "alice", []byte("class"), int64(1_700_000_000), uint64(5), uint32(1), []byte{192, 0, 2, 1})
	f.Fuzz(func(t *testing.T, session, user string, class []byte, sec int64, octets uint64, n uint32, addr []byte) {
		rec := full(t)
		rec.SessionID, rec.UserName, rec.CalledStationID, rec.Class = session, user, user+session, class
		if len(class) == 0 {
			rec.Class = nil
		}
		rec.Time = time.Unix(sec, int64(n%1e9))
		rec.SessionTime = time.Duration(sec)
		rec.InputOctets, rec.OutputPackets, rec.Status, rec.TerminateCause = octets, octets>>7, billing.StatusType(n), n>>3
		rec.FramedAddr, _ = netip.AddrFromSlice(addr)
		rec.Request.Attributes = append(rec.Request.Attributes, &radius.AVP{Type: radius.Type(n & 255), Attribute: append([]byte{}, addr...)})
		roundTrip(t, rec)
	})
}
