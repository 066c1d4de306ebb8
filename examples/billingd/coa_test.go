package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/radpool"
)

// serveNAS is the side of a NAS that is asked: it does everything, and says what that was.
func serveNAS(t *testing.T) (port int, asked <-chan string) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	clients, err := radpool.NewClients(radpool.Client{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Secret: []byte("other-secret"), EventTimestamp: radpool.Yes})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 100)
	server := &radpool.Server{Clients: clients, Handler: radpool.HandlerFunc(func(_ context.Context, req *radpool.Request, resp *radpool.Response) {
		told <- fmt.Sprintf("%v %s %s", req.Code, rfc2866.AcctSessionID_GetString(req.Packet), rfc2865.FilterID_GetString(req.Packet))
		resp.ACK()
	})}
	served := make(chan error, 1)
	go func() { served <- server.ServeServices(pc, radpool.CoA) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return pc.LocalAddr().(*net.UDPAddr).Port, told
}

// A session whose money ends while it is in progress is restricted by its NAS, and one that
// is blocked is ended.
func TestMoneyEndsInMidSession(t *testing.T) {
	port, asked := serveNAS(t)
	file := filepath.Join(t.TempDir(), "isp.db")
	b := start(t, "-db", "sqlite:"+file, "-schema", "radpool", "-demo", "2")
	b.end(syscall.SIGTERM)
	db := openDB(t, file)
	db.SetMaxOpenConns(1)
	db.MustExec("PRAGMA busy_timeout = 10000")
	db.MustExec("UPDATE radpool_tariff SET price_input_mb = 1000000, restricted_profile = 'pay'")
	db.MustExec("UPDATE radpool_subscriber SET credit = 5000000")
	db.MustExec("INSERT INTO radpool_profile (profile, position, attribute, value) VALUES ('pay', 1, 'Filter-Id', 'walled-garden')")
	db.MustExec("INSERT INTO radpool_nas (address, name, vendor, secret, coa_port, coa_secret) VALUES ('127.0.0.1', 'nas1', 'mikrotik', 'testing123', ?, 'other-secret')", port)
	b = start(t, "-db", "sqlite:"+file, "-schema", "radpool", "-coa", "-read-clients", "-secret", "not-this-one")
	n := dial(t, b.auth)
	n.send(accessRequest(1, "user1", "pass1"))
	accept, err := radius.Parse(n.receive(time.Minute), []byte("testing123"))
	if err != nil || accept.Code != radius.CodeAccessAccept {
		t.Fatal(accept, err)
	}
	class := accept.Get(rfc2865.Class_Type)
	if len(class) == 0 {
		t.Error("an Access-Accept without a Class")
	}
	n = dial(t, b.acct)
	account := func(id byte, status rfc2866.AcctStatusType, octets uint32) {
		t.Helper()
		p := &radius.Packet{Code: radius.CodeAccountingRequest, Identifier: id}
		p.Add(rfc2865.UserName_Type, radius.Attribute("user1"))
		p.Add(rfc2865.Class_Type, class)
		p.Add(rfc2866.AcctSessionID_Type, radius.Attribute("s1"))
		p.Add(rfc2866.AcctStatusType_Type, radius.NewInteger(uint32(status)))
		p.Add(rfc2866.AcctInputOctets_Type, radius.NewInteger(octets))
		n.send(encode(p))
		if n.receive(time.Minute) == nil {
			t.Fatal("no Accounting-Response")
		}
	}
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-asked:
			if got != want {
				t.Errorf("the NAS was asked for %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the NAS was not asked for %q\n%s", want, b.log)
		}
	}
	account(1, rfc2866.AcctStatusType_Value_Start, 0)
	account(2, rfc2866.AcctStatusType_Value_InterimUpdate, 10<<20)
	expect("CoA-Request s1 walled-garden")
	db.MustExec("UPDATE radpool_subscriber SET blocked = 1 WHERE username = 'user1'")
	account(3, rfc2866.AcctStatusType_Value_InterimUpdate, 11<<20)
	expect("Disconnect-Request s1 ")
	account(4, rfc2866.AcctStatusType_Value_Stop, 12<<20)
	b.end(syscall.SIGTERM)
	if log := b.log.String(); strings.Contains(log, "secret") || !strings.Contains(log, `"disconnected": 1`) {
		t.Errorf("the log is\n%s", log)
	}
	select {
	case more := <-asked:
		t.Errorf("the NAS was asked for %q as well", more)
	default:
	}
}
