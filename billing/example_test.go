package billing_test

import (
	"context"
	"fmt"
	"sync"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// shop is a billing system over a map.
type shop struct {
	passwords map[string]string

	mu      sync.Mutex
	traffic map[string]uint64 // octets by session
}

func (s *shop) Authorize(_ context.Context, req *billing.AccessRequest) (billing.Grant, error) {
	password, ok := s.passwords[req.UserName]
	if !ok {
		return billing.Grant{Reason: billing.ReasonUnknownUser}, nil
	}
	return billing.Grant{
		Password: billing.Cleartext(password),
		Reply:    radius.Attributes{{Type: rfc2865.FilterID_Type, Attribute: radius.Attribute("10mbit")}},
	}, nil
}

func (s *shop) Account(_ context.Context, rec *billing.AccountingRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The greatest wins, so the order of the records does not matter.
	s.traffic[rec.UniqueID] = max(s.traffic[rec.UniqueID], rec.InputOctets+rec.OutputOctets)
	return nil
}

// A billing system in a few lines, asked without a socket.
func Example() {
	s := &shop{passwords: map[string]string{"alice": "wonderland"}, traffic: map[string]uint64{}}
	p := &billing.Processor{Handler: s}

	for _, password := range []string{"wonderland", "looking-glass"} {
		packet := radius.New(radius.CodeAccessRequest, []byte("secret"))
		_ = rfc2865.UserName_SetString(packet, "alice")
		_ = rfc2865.UserPassword_SetString(packet, password)
		req := radpool.NewRequest(packet, nil)
		resp := radpool.NewResponse(req)
		p.Handle(context.Background(), req, resp)
		fmt.Printf("%v %q %q\n", resp.Code,
			rfc2865.FilterID_GetString(resp.Packet), rfc2865.ReplyMessage_GetString(resp.Packet))
	}

	packet := radius.New(radius.CodeAccountingRequest, []byte("secret"))
	_ = rfc2866.AcctStatusType_Set(packet, rfc2866.AcctStatusType_Value_Stop)
	_ = rfc2866.AcctSessionID_SetString(packet, "8000001F")
	_ = rfc2866.AcctInputOctets_Set(packet, 1000)
	_ = rfc2866.AcctOutputOctets_Set(packet, 9000)
	req := radpool.NewRequest(packet, nil)
	resp := radpool.NewResponse(req)
	p.Handle(context.Background(), req, resp)
	for _, octets := range s.traffic {
		fmt.Println(resp.Code, octets)
	}
	// Output:
	// Access-Accept "10mbit" ""
	// Access-Reject "" "Invalid user name or password"
	// Accounting-Response 10000
}

func ExampleParsePasswordWithHeader() {
	p, err := billing.ParsePasswordWithHeader("{SSHA}bUAHuN4YxHbFxXEqNaQmzpCF4ExzYWx0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p) // the password itself is never shown
	fmt.Println(p.VerifyPAP([]byte("wrong")), p.VerifyCHAP(1, make([]byte, 16), make([]byte, 16)))

	_, err = billing.ParsePasswordWithHeader("{SSHA}too-short")
	fmt.Println(err)
	// Output:
	// [SSHA-Password]
	// wrong-password password-form
	// billing: Password-With-Header: SSHA-Password: 9 octets after decoding, want more than 20
}

func ExampleMemory() {
	m := billing.NewMemory(0)
	m.Put("bob", billing.Grant{Password: billing.Cleartext("builder"), SimultaneousUse: 1})
	p := &billing.Processor{Handler: m}

	for _, mac := range []string{"02-00-00-00-00-01", "02-00-00-00-00-02"} {
		packet := radius.New(radius.CodeAccessRequest, []byte("secret"))
		_ = rfc2865.UserName_SetString(packet, "bob")
		_ = rfc2865.UserPassword_SetString(packet, "builder")
		_ = rfc2865.CallingStationID_SetString(packet, mac)
		req := radpool.NewRequest(packet, nil)
		resp := radpool.NewResponse(req)
		p.Handle(context.Background(), req, resp)
		fmt.Printf("%v %q\n", resp.Code, rfc2865.ReplyMessage_GetString(resp.Packet))
	}
	// Output:
	// Access-Accept ""
	// Access-Reject "Too many sessions"
}
