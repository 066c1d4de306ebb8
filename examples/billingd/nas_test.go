package main

import (
	"crypto/rand"
	"net"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/internal/wire"
)

var testSecret = wire.NewSecret([]byte("testing123"))

// nas is a NAS with one socket.
type nas struct {
	t    *testing.T
	conn net.Conn
}

func dial(t *testing.T, addr string) *nas {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &nas{t, conn}
}

// send is like a NAS's: it does not know whether anybody listens.
func (n *nas) send(b []byte) { _, _ = n.conn.Write(b) }

// receive returns the next reply, or nil when none comes: in time, or since the
// server is gone.
func (n *nas) receive(wait time.Duration) []byte {
	b := make([]byte, wire.MaxPacketLength)
	if n.conn.SetReadDeadline(time.Now().Add(wait)) != nil {
		return nil // closed by the test
	}
	size, err := n.conn.Read(b)
	if err != nil {
		return nil
	}
	return b[:size]
}

func encode(p *radius.Packet) []byte {
	b, err := wire.EncodeRequest(nil, p, testSecret)
	if err != nil {
		panic(err) // a test that cannot be meant
	}
	return b
}

func accessRequest(id byte, user, password string) []byte {
	p := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: id}
	_, _ = rand.Read(p.Authenticator[:])
	hidden, err := wire.HidePassword(nil, []byte(password), p.Authenticator, testSecret)
	if err != nil {
		panic(err)
	}
	p.Add(rfc2865.UserName_Type, radius.Attribute(user))
	p.Add(rfc2865.UserPassword_Type, hidden)
	return encode(p)
}

func accountingRequest(id byte, session string, status rfc2866.AcctStatusType) []byte {
	p := &radius.Packet{Code: radius.CodeAccountingRequest, Identifier: id}
	p.Add(rfc2865.UserName_Type, radius.Attribute("user1"))
	p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(uint32(status)))
	p.Add(rfc2866.AcctSessionID_Type, radius.Attribute(session))
	p.Add(rfc2866.AcctInputOctets_Type, radius.NewInteger(uint32(status)*1000))
	return encode(p)
}

// probe asks with a Status-Server whether the server is there. Its answer needs
// no worker.
func (b *billingd) probe() {
	b.t.Helper()
	n := dial(b.t, b.auth)
	n.send(encode(&radius.Packet{Code: radius.CodeStatusServer}))
	reply := n.receive(10 * time.Second)
	if reply == nil {
		b.t.Fatal("billingd does not answer a Status-Server")
	}
}
