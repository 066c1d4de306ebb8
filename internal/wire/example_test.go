package wire_test

import (
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/radpool/radpool/arena"
	"github.com/radpool/radpool/internal/wire"
)

// One request on its way through the codec of a server, and its reply on its way
// through that of the client.
func Example() {
	secret := wire.NewSecret([]byte("xyzzy5461"))
	pool, err := arena.NewPool(arena.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The client.
	request := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: 42, Authenticator: [16]byte{1, 2, 3}}
	_ = rfc2865.UserName_SetString(request, "nemo")
	hidden, _ := wire.HidePassword(nil, []byte("arctangent"), request.Authenticator, secret)
	request.Add(rfc2865.UserPassword_Type, hidden)
	datagram, err := wire.EncodeRequest(nil, request, secret)
	if err != nil {
		fmt.Println(err)
		return
	}

	// The server.
	a := pool.Get()
	defer a.Release()
	b := a.Copy(datagram)
	shape, fault := wire.Parse(b, 200)
	if fault != wire.WellFormed || !wire.Verify(b, &shape, secret) {
		fmt.Println("dropped:", shape.Explain(fault))
		return
	}
	var p radius.Packet
	wire.Decode(a, b, &shape, &p)
	password, _ := wire.RevealPassword(a.Bytes(128)[:0], p.Get(rfc2865.UserPassword_Type), wire.Authenticator(b), secret)
	fmt.Printf("%v of %s, password %s\n", p.Code, rfc2865.UserName_GetString(&p), password)

	response := &radius.Packet{Code: radius.CodeAccessAccept}
	_ = rfc2865.ReplyMessage_SetString(response, "welcome")
	reply, err := wire.Encode(nil, response, b, &shape, secret)
	if err != nil {
		fmt.Println(err)
		return
	}

	// The client again.
	shape, fault = wire.Parse(reply, 200)
	fmt.Println(shape.Code, fault, wire.VerifyResponse(reply, &shape, wire.Authenticator(datagram), secret))
	fmt.Println("Message-Authenticator at octet", shape.MessageAuthenticator)
	// Output:
	// Access-Request of nemo, password arctangent
	// Access-Accept well-formed true
	// Message-Authenticator at octet 20
}

func ExampleParse() {
	datagram := []byte{
		1, 7, 0, 26, // Access-Request
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		31, 7, 'N', 'A', 'S', '1', // Calling-Station-Id says that it is 7 octets long
	}
	shape, fault := wire.Parse(datagram, 200)
	fmt.Println(fault)
	fmt.Println(shape.Explain(fault))
	// Output:
	// attribute longer than the rest of the packet
	// attribute longer than the rest of the packet: attribute 31 (Calling-Station-Id) at octet 20
}

func ExampleEncode_error() {
	secret := wire.NewSecret([]byte("xyzzy5461"))
	request := make([]byte, 20)
	request[0], request[3] = 1, 20
	shape, _ := wire.Parse(request, 200)

	response := &radius.Packet{Code: radius.CodeAccessReject}
	response.Add(rfc2865.ReplyMessage_Type, make([]byte, 300))
	_, err := wire.Encode(nil, response, request, &shape, secret)
	fmt.Println(err)
	// Output:
	// wire: attribute value over 253 octets: attribute 18 (Reply-Message) has 300
}
