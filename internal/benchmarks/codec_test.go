package benchmarks

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"
	"testing"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

const (
	sharedSecret = "testing123"
	userName     = "subscriber-1234"
)

// request returns an encoded request as a BRAS sends it, with n in its
// Authenticator. An Access-Request has a Message-Authenticator.
func request(b *testing.B, code radius.Code, n int) []byte {
	b.Helper()
	secret := wire.NewSecret([]byte(sharedSecret))
	p := &radius.Packet{Code: code, Identifier: byte(n)}
	binary.BigEndian.PutUint64(p.Authenticator[:], uint64(n)+1)
	add := func(t radius.Type, value string) { p.Add(t, radius.Attribute(value)) }
	number := func(t radius.Type, value uint32) { p.Add(t, radius.NewInteger(value)) }
	add(rfc2865.UserName_Type, userName)
	if code == radius.CodeAccessRequest {
		hidden, err := wire.HidePassword(nil, []byte("wonderland"), p.Authenticator, secret)
		if err != nil {
			b.Fatal(err)
		}
		p.Add(rfc2865.UserPassword_Type, hidden)
	} else {
		number(rfc2866.AcctStatusType_Type, 3)
		number(rfc2866.AcctInputOctets_Type, uint32(n))
		number(rfc2866.AcctOutputOctets_Type, 1<<30)
		number(rfc2866.AcctInputPackets_Type, 1000)
		number(rfc2866.AcctOutputPackets_Type, 1_000_000)
		number(rfc2866.AcctSessionTime_Type, 3600)
		number(rfc2869.AcctInputGigawords_Type, 1)
		number(rfc2869.AcctOutputGigawords_Type, 20)
	}
	add(rfc2865.NASIPAddress_Type, "\x0a\x00\x00\x01")
	number(rfc2865.NASPort_Type, 7)
	number(rfc2865.ServiceType_Type, 2)
	number(rfc2865.FramedProtocol_Type, 1)
	add(rfc2865.CalledStationID_Type, "bras-1:pppoe")
	add(rfc2865.CallingStationID_Type, "00-11-22-33-44-55")
	add(rfc2865.NASIdentifier_Type, "bras-1.example.net")
	add(rfc2866.AcctSessionID_Type, "0000002a-1b7c")
	number(rfc2865.NASPortType_Type, 5)
	add(rfc2869.NASPortID_Type, "ge-0/0/1.100:200")
	d, err := wire.EncodeRequest(nil, p, secret)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// shortRequest returns an Access-Request with no more in it than a login needs.
func shortRequest(b *testing.B, n int) []byte {
	b.Helper()
	secret := wire.NewSecret([]byte(sharedSecret))
	p := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: byte(n)}
	binary.BigEndian.PutUint64(p.Authenticator[:], uint64(n)+1)
	hidden, err := wire.HidePassword(nil, []byte("wonderland"), p.Authenticator, secret)
	if err != nil {
		b.Fatal(err)
	}
	p.Add(rfc2865.UserName_Type, radius.Attribute(userName))
	p.Add(rfc2865.UserPassword_Type, hidden)
	p.Add(rfc2865.NASIPAddress_Type, radius.Attribute("\x0a\x00\x00\x01"))
	p.Add(rfc2865.NASPort_Type, radius.NewInteger(7))
	d, err := wire.EncodeRequest(nil, p, secret)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// verifyMA is what layeh.com/radius leaves to its users: whether the
// Message-Authenticator, the first attribute of the benchmarks' Access-Requests,
// is right.
func verifyMA(datagram, key []byte) bool {
	if len(datagram) < 38 || datagram[20] != byte(rfc2869.MessageAuthenticator_Type) || datagram[21] != 18 {
		return false
	}
	unsigned := bytes.Clone(datagram)
	clear(unsigned[22:38])
	mac := hmac.New(md5.New, key)
	mac.Write(unsigned)
	return hmac.Equal(mac.Sum(nil), datagram[22:38])
}

// encodeMA is Encode of layeh.com/radius, and a Message-Authenticator as the
// first attribute.
func encodeMA(p *radius.Packet) ([]byte, error) {
	signed := *p
	signed.Attributes = append(radius.Attributes{
		{Type: rfc2869.MessageAuthenticator_Type, Attribute: make(radius.Attribute, 16)},
	}, p.Attributes...)
	d, err := signed.MarshalBinary() // with the Request Authenticator
	if err != nil {
		return nil, err
	}
	mac := hmac.New(md5.New, p.Secret)
	mac.Write(d)
	copy(signed.Attributes[0].Attribute, mac.Sum(nil))
	return signed.Encode()
}

var codes = []struct {
	name           string
	request, reply radius.Code
}{
	{"Access", radius.CodeAccessRequest, radius.CodeAccessAccept},
	{"Accounting", radius.CodeAccountingRequest, radius.CodeAccountingResponse},
}

func layehRequest(datagram, key []byte) (*radius.Packet, bool) {
	if !radius.IsAuthenticRequest(datagram, key) {
		return nil, false
	}
	p, err := radius.Parse(datagram, key)
	return p, err == nil
}

// BenchmarkRequest is from the datagram to a packet whose authenticators were
// verified. layeh verifies the Request Authenticator of accounting, and nothing
// of an Access-Request; layeh-ma its Message-Authenticator too, as radpool does.
func BenchmarkRequest(b *testing.B) {
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		b.Fatal(err)
	}
	key := []byte(sharedSecret)
	secret := wire.NewSecret(key)
	for _, c := range codes {
		datagram := request(b, c.request, 7)
		want, ok := layehRequest(datagram, key)
		if !ok || c.request == radius.CodeAccessRequest && !verifyMA(datagram, key) {
			b.Fatal("the request is not authentic")
		}
		same := func(b *testing.B, ok bool, p *radius.Packet) {
			if !ok || len(p.Attributes) != len(want.Attributes) ||
				string(p.Get(rfc2865.UserName_Type)) != userName {
				b.Fatal("not the packet that was sent")
			}
		}
		b.Run("code="+c.name+"/impl=radpool", func(b *testing.B) {
			var p radius.Packet
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				shape, fault := wire.Parse(datagram, 200)
				ok := fault == wire.WellFormed && wire.Verify(datagram, &shape, secret)
				a := pool.Get()
				wire.Decode(a, datagram, &shape, &p)
				same(b, ok, &p)
				a.Release()
			}
			report()
		})
		b.Run("code="+c.name+"/impl=layeh", func(b *testing.B) {
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				p, ok := layehRequest(datagram, key)
				same(b, ok, p)
			}
			report()
		})
		if c.request != radius.CodeAccessRequest {
			continue
		}
		b.Run("code="+c.name+"/impl=layeh-ma", func(b *testing.B) {
			b.ReportAllocs()
			report := measure(b)
			for b.Loop() {
				ok := verifyMA(datagram, key)
				p, parsed := layehRequest(datagram, key)
				same(b, ok && parsed, p)
			}
			report()
		})
	}
}

// BenchmarkReply is from a packet to the signed datagram. layeh signs no
// Message-Authenticator into an Access-Accept, which CVE-2024-3596 makes
// necessary; layeh-ma does, as radpool does, and gives the same octets.
func BenchmarkReply(b *testing.B) {
	key := []byte(sharedSecret)
	secret := wire.NewSecret(key)
	for _, c := range codes {
		datagram := request(b, c.request, 7)
		shape, fault := wire.Parse(datagram, 200)
		asked, err := radius.Parse(datagram, key)
		if fault != wire.WellFormed || err != nil {
			b.Fatal(fault, err)
		}
		resp := asked.Response(c.reply)
		if c.reply == radius.CodeAccessAccept {
			resp.Add(rfc2865.FramedIPAddress_Type, radius.Attribute("\x0a\x01\x02\x03"))
			resp.Add(rfc2865.SessionTimeout_Type, radius.NewInteger(3600))
			resp.Add(rfc2865.Class_Type, radius.Attribute("session-0001"))
			resp.Add(rfc2869.AcctInterimInterval_Type, radius.NewInteger(300))
		}
		dst := make([]byte, 0, wire.MaxPacketLength)
		byRadpool := func() ([]byte, error) { return wire.Encode(dst, resp, datagram, &shape, secret) }
		byLayeh := resp.Encode
		if c.reply == radius.CodeAccessAccept {
			byLayeh = func() ([]byte, error) { return encodeMA(resp) }
		}
		want, err := byRadpool()
		other, err2 := byLayeh()
		if err != nil || err2 != nil || !bytes.Equal(want, other) {
			b.Fatalf("they do not agree: %x (%v), %x (%v)", want, err, other, err2)
		}
		want = bytes.Clone(want)
		measure := func(name string, encode func() ([]byte, error), want []byte) {
			b.Run("code="+c.name+"/impl="+name, func(b *testing.B) {
				b.ReportAllocs()
				report := measure(b)
				for b.Loop() {
					if d, err := encode(); err != nil || !bytes.Equal(d, want) {
						b.Fatal("wrong reply", err)
					}
				}
				report()
			})
		}
		unsigned, err := resp.Encode()
		if err != nil || !radius.IsAuthenticResponse(unsigned, datagram, key) {
			b.Fatal("layeh's reply is not authentic", err)
		}
		measure("radpool", byRadpool, want)
		measure("layeh", resp.Encode, unsigned)
		if c.reply == radius.CodeAccessAccept {
			measure("layeh-ma", byLayeh, want)
		}
	}
}
