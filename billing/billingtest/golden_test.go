package billingtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2868"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/radpool/record"
)

// wonderland knows alice, with these passwords, and bob, who is blocked.
func wonderland(alice, bob string) *billing.Processor {
	m := billing.NewMemory(0)
	var p radius.Packet
	_ = rfc2865.FramedIPAddress_Add(&p, []byte{10, 0, 0, 7})
	_ = rfc2865.SessionTimeout_Add(&p, 3600)
	_ = rfc2865.ReplyMessage_AddString(&p, "one")
	_ = rfc2865.ReplyMessage_AddString(&p, `say "two"`)
	_ = rfc2868.TunnelType_Add(&p, 1, 13)
	_ = rfc2868.TunnelPrivateGroupID_AddString(&p, 1, "77")
	p.Add(26, append([]byte{0, 0, 0x3a, 0x8c, 8, 9}, "10M/10M"...))
	m.Put("alice", billing.Grant{Password: billing.Cleartext(alice), Reply: p.Attributes})
	m.Put("bob", billing.Grant{Password: billing.Cleartext(bob), Reason: billing.ReasonBlocked})
	return &billing.Processor{Handler: m}
}

func TestGolden(t *testing.T) {
	billingtest.Golden(t, wonderland("wonderland", "secret"), "testdata/golden/*.txtar")
}

// Each difference has its line, and the text with what came passes.
func TestGoldenDiffersAndIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := wonderland("wonderland", "secret")
		const text = `-- a.request --
User-Name = alice
User-Password = wonderland
-- a.reply --
Access-Accept
Session-Timeout = 7200
Reply-Message = "say \"two\""
Reply-Message = "one"
Framed-IP-Address = *
Idle-Timeout = 60
Tunnel-Type:1 = VLAN, Tunnel-Private-Group-Id:1 = *
-- b.request --
User-Name = nobody
User-Password = x
-- b.reply --
silence
`
		updated, err := billingtest.CheckGolden(t.Context(), h, "f.txtar", []byte(text))
		want := `a: f.txtar:6: Session-Timeout is 3600, want 7200
a: f.txtar:7: Reply-Message is "one", want "say \"two\""
a: f.txtar:8: Reply-Message is "say \"two\"", want "one"
a: f.txtar:10: Idle-Timeout is missing
a: f.txtar:5: Mikrotik-Rate-Limit = "10M/10M" is not expected
b: f.txtar:16: it is Access-Reject, want silence
b: f.txtar:16: Reply-Message = "Invalid user name or password" is not expected`
		if err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
		if !strings.Contains(string(updated), "Framed-IP-Address = *\n") || strings.Contains(string(updated), "Idle-Timeout") {
			t.Errorf("updated:\n%s", updated)
		}
		if _, err := billingtest.CheckGolden(t.Context(), h, "f.txtar", updated); err != nil {
			t.Error(err)
		}
	})
}

// What is wrong in a file has its line.
func TestGoldenFaults(t *testing.T) {
	const request, reply = "-- a.request --\nUser-Name = bob\n", "-- a.reply --\nsilence\n"
	for text, want := range map[string]string{
		request:                     "f:1: a.reply is missing behind a.request",
		reply:                       "f:1: a.reply: must be NAME.request, or NAME.reply behind NAME.request",
		request + "-- a.reply --\n": "f:3: a.reply: the first line must be what is expected",
		"-- a.request --\n\nNo-Such = 1\n" + reply:                          "f:3: ",
		"-- a.request --\nUser-Name = \"bob\n" + reply:                      "f:2: User-Name: the quote is not closed",
		"-- a.request --\nUser-Name =\n" + reply:                            "f:2: User-Name: there is no value",
		"-- a.request --\nUser-Name == bob\n" + reply:                       "f:2: User-Name: the operator must be =",
		"-- a.request --\nUser-Name = *\n" + reply:                          "f:2: User-Name: * stands for a value in a reply",
		"-- a.request --\nNAS-Port = many\n" + reply:                        "f:2: ",
		"-- a.request --\nUser-Password = a\nCHAP-Password = a\n" + reply:   "f:3: CHAP-Password: there is another password before it",
		"-- a.request --\nPacket-Type = CoA-Request\n" + reply:              "f:2: \"CoA-Request\" is neither",
		"-- a.request --\nPacket-Src-IP-Address = here\n" + reply:           "f:2: Packet-Src-IP-Address: ",
		request + "-- a.reply --\nAccess-Accept\nMS-MPPE-Send-Key = 0x00\n": "f:5: MS-MPPE-Send-Key is encrypted on the wire",
		request + "-- a.reply --\nAccess-Accept\nAccess-Reject\n":           "f:5: \"Access-Reject\": an attribute has =",
		"-- a.request --\nCleartext-Password = x\n" + reply:                 "f:2: attribute Cleartext-Password is internal",
	} {
		_, err := billingtest.CheckGolden(t.Context(), wonderland("a", "b"), "f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// What is recorded of live traffic runs as golden packets against subscribers with the test
// password; and no password is in it.
func TestRecordedTrafficIsGolden(t *testing.T) {
	for _, hash := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "traffic.txtar")
		r, err := record.Create(file, record.Options{HashNames: hash})
		if err != nil {
			t.Fatal(err)
		}
		live := billingtest.Serve(t, r.Middleware(wonderland("wonderland", "sesame")), billingtest.ServiceConfig{})
		for _, req := range []billingtest.Request{
			billingtest.PAP("alice", "wonderland").CallingStation("02-00-00-00-00-01"), billingtest.PAP("alice", "guess"), billingtest.CHAP("alice", "wonderland"),
			billingtest.MSCHAP("alice", "wonderland"), billingtest.MSCHAPv2("alice", "wonderland"), billingtest.PAP("bob", "sesame"),
			billingtest.CHAP("bob", "guess"), billingtest.PAP("nobody", "guess"), billingtest.AccessRequest().User("alice"),
			billingtest.Start("alice", "s\x00\xff\"1\n-- x --"), billingtest.Interim("alice", "s1").Octets(1<<40, 7), billingtest.On("192.0.2.9"),
			billingtest.PAP("alice", "wonderland").Vendor(9, 1, []byte("x:password=wonderland")),
		} {
			live.Run(t, req.Seed(7))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if s := r.Stats(); s.Cases != 13 || s.Skipped != 0 || s.Dropped != 0 {
			t.Errorf("%+v", s)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"wonderland", "sesame", "guess", billingtest.Secret} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s is in the file", secret)
			}
		}
		if hash {
			for _, name := range []string{`"alice"`, `"bob"`, "02-00-00"} {
				if strings.Contains(string(text), name) {
					t.Errorf("%s is in the file", name)
				}
			}
			continue // nobody has such names
		}
		if _, err := billingtest.CheckGolden(t.Context(), wonderland(record.DefaultPassword, record.DefaultPassword), file, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
