package billing_test

import (
	"context"
	"errors"
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/radpool"
)

// logged is a back end that hears how each authentication ended.
type logged struct{ *billing.Memory }

func (l logged) PostAuth(res *billing.AuthResult) {
	fmt.Println(res.Access.UserName, res.Access.Method, res.Accepted, res.Reason)
}

// What FreeRADIUS's post-auth section sees: who was let in, and why the others were not.
func ExamplePostAuther() {
	memory := billing.NewMemory(0)
	memory.Put("alice", billing.Grant{Password: billing.Cleartext("wonderland")})
	memory.Put("bob", billing.Grant{Password: billing.Cleartext("builder"), Reason: billing.ReasonNoMoney})
	p := &billing.Processor{Handler: logged{memory}}

	for _, row := range [][2]string{{"alice", "wonderland"}, {"alice", "looking-glass"}, {"bob", "builder"}, {"mallory", "x"}} {
		packet := radius.New(radius.CodeAccessRequest, []byte("secret"))
		_ = rfc2865.UserName_SetString(packet, row[0])
		_ = rfc2865.UserPassword_SetString(packet, row[1])
		req := radpool.NewRequest(packet, nil)
		p.Handle(context.Background(), req, radpool.NewResponse(req))
	}
	// Output:
	// alice PAP true none
	// alice PAP false wrong-password
	// bob PAP false no-money
	// mallory PAP false unknown-user
}

// away is a back end whose database does not answer.
type away struct{ *billing.Memory }

func (away) Authorize(context.Context, *billing.AccessRequest) (billing.Grant, error) {
	return billing.Grant{}, errors.New("connection refused")
}

// An error is no answer, so that the NAS asks another server. It is never an Access-Accept.
func ExampleFailurePolicy() {
	for _, policy := range []billing.FailurePolicy{billing.FailSilent, billing.FailReject} {
		p := &billing.Processor{Handler: away{billing.NewMemory(0)}, OnError: policy}
		packet := radius.New(radius.CodeAccessRequest, []byte("secret"))
		_ = rfc2865.UserName_SetString(packet, "alice")
		_ = rfc2865.UserPassword_SetString(packet, "wonderland")
		req := radpool.NewRequest(packet, nil)
		resp := radpool.NewResponse(req)
		p.Handle(context.Background(), req, resp)
		if resp.Err() != nil {
			fmt.Println("no answer:", resp.Err())
			continue
		}
		fmt.Println(resp.Code)
	}
	// Output:
	// no answer: billing: authorize: connection refused
	// Access-Reject
}
