package browser_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

const secret = "testing123"

// nas is a NAS with one port.
type nas struct {
	t    *testing.T
	conn net.Conn
	id   byte
}

func dial(t *testing.T, addr string) *nas {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &nas{t: t, conn: conn}
}

// packet returns a request with the next Identifier.
func (n *nas) packet(code radius.Code, secret string) *radius.Packet {
	n.id++
	p := radius.New(code, []byte(secret))
	p.Identifier = n.id
	return p
}

// send sends p, and returns its octets.
func (n *nas) send(p *radius.Packet) []byte {
	n.t.Helper()
	b, err := p.Encode()
	if err == nil {
		_, err = n.conn.Write(b)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return b
}

// reply is the code of the next reply.
func (n *nas) reply() radius.Code {
	n.t.Helper()
	b := make([]byte, radius.MaxPacketLength)
	if err := n.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		n.t.Fatal(err)
	}
	size, err := n.conn.Read(b)
	if err != nil || size < 20 {
		n.t.Fatalf("%d octets, %v", size, err)
	}
	return radius.Code(b[0])
}

// login asks for user and password, and wants that code.
func (n *nas) login(user, password string, want radius.Code) {
	n.t.Helper()
	p := n.packet(radius.CodeAccessRequest, secret)
	_ = rfc2865.UserName_SetString(p, user)
	_ = rfc2865.UserPassword_SetString(p, password)
	n.send(p)
	if got := n.reply(); got != want {
		n.t.Fatalf("%s is answered with %v, want %v", user, got, want)
	}
}

func (n *nas) record(session int, secret string) []byte {
	n.t.Helper()
	p := n.packet(radius.CodeAccountingRequest, secret)
	_ = rfc2865.UserName_SetString(p, "user1")
	_ = rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_Start)
	_ = rfc2866.AcctSessionID_SetString(p, fmt.Sprintf("session%d", session))
	return n.send(p)
}

// traffic sends some of each kind, and returns what must be counted: how many were
// received, and how many came to each outcome that is not none.
func traffic(t *testing.T, b *billingd) map[string]float64 {
	t.Helper()
	const accepts, rejects, records, copies, forged, malformed = 120, 9, 30, 4, 3, 2
	auth, acct := dial(t, b.auth), dial(t, b.acct)
	for i := range accepts {
		auth.login(fmt.Sprintf("user%d", i%50), fmt.Sprintf("pass%d", i%50), radius.CodeAccessAccept)
	}
	for range rejects {
		auth.login("user1", "wrong", radius.CodeAccessReject)
	}
	var last []byte
	for i := range records {
		last = acct.record(i, secret)
		acct.reply()
	}
	for range copies {
		if _, err := acct.conn.Write(last); err != nil {
			t.Fatal(err)
		}
		acct.reply()
	}
	for i := range forged {
		acct.record(i, "another secret")
	}
	for range malformed {
		if _, err := acct.conn.Write([]byte("this is no packet of RADIUS")); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]float64{
		"received": accepts + rejects + records + copies + forged + malformed,
		"replied":  accepts + rejects + records, "replayed": copies, "unauthentic": forged, "malformed": malformed,
	}
}
