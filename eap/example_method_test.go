package eap_test

import (
	"fmt"

	"github.com/radpool/radpool/eap"
)

// gtc is EAP-GTC (RFC 3748 section 5.6): the peer is asked for its password and sends it as it
// is, which only a tunnel or a wire of one's own makes tolerable.
type gtc struct{}

func (gtc) Type() eap.Type { return eap.TypeGTC }

func (gtc) Begin(eap.Peer) eap.Exchange { return new(gtcExchange) }

type gtcExchange struct{ password []byte }

func (*gtcExchange) Start(uint8) ([]byte, error) { return []byte("Password: "), nil }

func (x *gtcExchange) Respond(_ uint8, data []byte) eap.Step {
	x.password = append(x.password, data...) // data is not ours
	return eap.Ask()
}

func (x *gtcExchange) Verify(c eap.Credentials) eap.Step {
	if !c.Password(x.password) {
		return eap.Fail(eap.ErrCredentials)
	}
	return eap.Succeed(nil) // without keys
}

func (x *gtcExchange) Close() { clear(x.password) }

// A method of one's own. In a server it is among billing.EAPConfig.Methods.
func ExampleMethod() {
	config := &eap.Config{Methods: []eap.Method{gtc{}}}
	for _, password := range []string{"secret", "guess"} {
		identity := eap.Packet{Code: eap.CodeResponse, Identifier: 1, Type: eap.TypeIdentity, Data: []byte("alice")}
		conversation, result := eap.Begin(config, identity, 0)
		request, err := eap.Parse(result.Packet)
		if err != nil {
			fmt.Println(err)
			return
		}
		result = conversation.Receive(eap.Packet{
			Code: eap.CodeResponse, Identifier: request.Identifier, Type: eap.TypeGTC, Data: []byte(password),
		})
		if result.Verdict == eap.Verify {
			result = conversation.Verify(alice{})
		}
		fmt.Printf("%s%v %v\n", request.Data, result.Verdict == eap.Success, result.Err)
		conversation.Close()
	}
	// Output:
	// Password: true <nil>
	// Password: false the credentials are wrong
}
