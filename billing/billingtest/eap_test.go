package billingtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
	"github.com/radpool/radpool/eap"
	"github.com/radpool/radpool/radpool"
)

// eapServer is a Processor that knows alice.
func eapServer() *billing.Processor {
	back := billing.NewMemory(0)
	back.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})
	return &billing.Processor{Handler: back}
}

// Two conversations, a packet of the one and a packet of the other.
func ExampleEAPPeer_Next() {
	handler := eapServer()
	peers := []*billingtest.EAPPeer{
		billingtest.EAPMSCHAPv2("alice", "wonderland"),
		billingtest.EAPMSCHAPv2("alice", "looking-glass"),
	}
	last := make([]*billingtest.Reply, len(peers))
	for range 3 {
		for i, peer := range peers {
			request, _, err := peer.Next(last[i])
			if err != nil {
				panic(err)
			}
			if last[i], err = billingtest.Do(context.Background(), handler, request); err != nil {
				panic(err)
			}
			fmt.Println(i, last[i].Outcome())
		}
	}
	// Output:
	// 0 Access-Challenge
	// 1 Access-Challenge
	// 0 Access-Challenge
	// 1 Access-Challenge
	// 0 Access-Accept
	// 1 Access-Reject
}

// TestEAPOverNetwork: what is sent again on a network that loses and duplicates is
// answered by the reply cache, and does not disturb the conversation.
func TestEAPOverNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := eapServer()
		c := billingtest.Serve(t, p, billingtest.ServiceConfig{
			Network: billingtest.NetworkConfig{Seed: 7, Loss: 0.2, Duplicate: 0.2}, Timeout: time.Second / 2, Tries: 20,
		})
		for range 20 {
			for password, want := range map[string]bool{"wonderland": true, "wrong": false} {
				for _, peer := range []*billingtest.EAPPeer{billingtest.EAPMD5("alice", password), billingtest.EAPMSCHAPv2("alice", password)} {
					reply, err := c.DoEAP(t.Context(), peer)
					if err != nil || reply.Accepted() != want {
						t.Errorf("%s: %v, %v", password, reply, err)
					}
				}
			}
		}
		if s := p.Stats(); s.EAPUnknown != 0 || s.EAPIgnored != 0 || s.Accepted != 40 {
			t.Errorf("%+v", s)
		}
	})
}

// TestEAPFindsWrongServers: what a supplicant or a NAS would not stand is an error.
func TestEAPFindsWrongServers(t *testing.T) {
	replace := func(typ radius.Type, value []byte) func(*radpool.Response) {
		return func(resp *radpool.Response) { resp.Set(typ, value) }
	}
	packet := func(code eap.Code, id byte, data string) []byte {
		return eap.Packet{Code: code, Identifier: id, Type: eap.TypeMSCHAPv2, Data: []byte(data)}.Append(nil)
	}
	for want, c := range map[string]struct {
		round int
		edit  func(*radpool.Response)
	}{
		"without an EAP packet":              {1, replace(rfc2869.EAPMessage_Type, nil)},
		"an Access-Challenge with an EAP-Su": {1, replace(rfc2869.EAPMessage_Type, packet(eap.CodeSuccess, 0, ""))},
		"the Identifier of the one before":   {1, replace(rfc2869.EAPMessage_Type, packet(eap.CodeRequest, 0, "\x01\x01\x00\x04"))},
		"whose MS-Length is wrong":           {1, replace(rfc2869.EAPMessage_Type, packet(eap.CodeRequest, 9, "\x01\x01\x00\x05"))},
		"with OpCode 1 that is none":         {1, replace(rfc2869.EAPMessage_Type, packet(eap.CodeRequest, 9, "\x01\x01\x00\x04"))},
		"the server's proof is wrong":        {2, replace(rfc2869.EAPMessage_Type, packet(eap.CodeRequest, 9, "\x03\x01\x00\x08S=AA"))},
		"Reply-Message beside EAP-Message":   {2, replace(rfc2865.ReplyMessage_Type, []byte("hello"))},
		"Access-Accept with an EAP-Failure":  {3, replace(rfc2869.EAPMessage_Type, packet(eap.CodeFailure, 2, ""))},
		"has the Identifier 77":              {3, replace(rfc2869.EAPMessage_Type, packet(eap.CodeSuccess, 77, ""))},
		"that did not prove to know the pas": {2, func(resp *radpool.Response) {
			resp.Code = radius.CodeAccessAccept
			resp.Set(rfc2869.EAPMessage_Type, packet(eap.CodeSuccess, 1, ""))
		}},
		"the keys in the Access-Accept are": {3, func(resp *radpool.Response) {
			for i, a := range resp.Attributes {
				if a.Type == rfc2865.VendorSpecific_Type && a.Attribute[4] == 17 {
					resp.Attributes = append(resp.Attributes[:i:i], resp.Attributes[i+1:]...)
					return
				}
			}
		}},
	} {
		p, round := eapServer(), 0
		h := radpool.HandlerFunc(func(ctx context.Context, req *radpool.Request, resp *radpool.Response) {
			p.Handle(ctx, req, resp)
			if round++; round == c.round {
				c.edit(resp)
			}
		})
		_, err := billingtest.DoEAP(t.Context(), h, billingtest.EAPMSCHAPv2("alice", "wonderland"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
